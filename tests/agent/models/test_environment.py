"""What the environment says about the way to a server: named where it is wrong, and where it fails.

The HTTP library reads these variables itself; the tests run the real one.
"""

import socket
import sys
from pathlib import Path

import pytest

from contextui.agent.models import connection
from contextui.agent.models.connection import proxy_for
from contextui.model import ModelError
from tests.agent.models.client import answers, failure, model_of
from tests.agent.server import Reply, Server, answer

Patch = pytest.MonkeyPatch


@pytest.mark.parametrize(
    ("variable", "value", "words"),
    [
        ("SSL_CERT_FILE", "/nope", 'SSL_CERT_FILE is "/nope"'),
        ("SSL_CERT_FILE", "/", 'SSL_CERT_FILE is "/"'),
        ("SSL_CERT_FILE", __file__, "no certificates can be read"),
        ("SSL_CERT_DIR", "/nope", 'SSL_CERT_DIR is "/nope"'),
        ("HTTPS_PROXY", "http://[::1", 'HTTPS_PROXY is "http://[::1"'),
        ("HTTPS_PROXY", "ftp://x", 'HTTPS_PROXY is "ftp://x"'),
        ("https_proxy", "http://x:99999", 'https_proxy is "http://x:99999"'),
        ("HTTP_PROXY", "http://", 'HTTP_PROXY is "http://"'),
        ("ALL_PROXY", "socks5://x:1080", "pip install socksio"),
        ("ALL_PROXY", "socks4://joe:hunter2@x", 'ALL_PROXY is "socks4://x"'),
        ("HTTPS_PROXY", "http://x\u0130\u2028:1", "HTTPS_PROXY"),
    ],
)
def test_what_cannot_be_used_is_named(
    monkeypatch: Patch, capfd: pytest.CaptureFixture[str], variable: str, value: str, words: str
) -> None:
    monkeypatch.setitem(sys.modules, "socksio", None)  # as if it were not installed
    monkeypatch.setenv(variable, value)
    with Server() as server:
        caught = failure(server)
        assert (caught.kind, caught.is_transient, server.requests) == ("settings", False, [])
    assert words in str(caught)
    assert "hunter2" not in str(caught)
    assert capfd.readouterr().err == ""  # not even of what was made by halves


def test_what_is_not_set_is_no_problem(monkeypatch: Patch, tmp_path: Path) -> None:
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "")
    assert connection.problem() is None
    monkeypatch.setenv("SSL_CERT_DIR", f"/nope:{tmp_path}")
    assert connection.problem() is None
    assert connection.variables() == ["SSL_CERT_DIR"]


def test_unusable_settings_are_reported_in_chinese(monkeypatch: Patch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/nope")
    with Server() as server, pytest.raises(ModelError) as caught:
        model_of(server).check()
    assert 'SSL_CERT_FILE 是 "/nope"' in caught.value.text("zh")


def test_a_proxy_is_the_one_that_applies(monkeypatch: Patch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://one:1")
    monkeypatch.setenv("ALL_PROXY", "joe:pw@two:2")
    monkeypatch.setenv("NO_PROXY", "example.com,localhost")
    assert str(proxy_for("http://10.0.0.1:80")) == "http://one:1"
    assert str(proxy_for("https://api.anthropic.com")) == "http://two:2"
    assert proxy_for("https://example.com") is proxy_for("http://localhost:11434") is None


def test_a_proxy_that_is_not_there_is_blamed_itself(monkeypatch: Patch, closed: str) -> None:
    monkeypatch.setenv("HTTP_PROXY", closed)
    with Server(answer("Hi.")) as server:
        caught = failure(server)
        assert caught.kind == "unreached"
        assert f"The proxy at {closed} (HTTP_PROXY) cannot be reached" in str(caught)
        assert "HTTP_PROXY, or add the host of" in str(caught)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        assert answers(server)


def test_a_proxy_that_passes_nothing_on_is_blamed_itself(monkeypatch: Patch) -> None:
    secure = "https://models.invalid"
    with Server(Reply(403, "No."), Reply(407, "Who?"), Reply(502)) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.url.replace("//", "//joe:hunter2@"))
        refused, asked, failed = (failure(proxy, base_url=secure) for _ in range(3))
    for caught in (refused, asked, failed):
        assert f"The proxy at {proxy.url} (HTTPS_PROXY) " in str(caught)
        assert "hunter2" not in str(caught)
    assert (refused.kind, asked.kind, failed.kind) == ("settings", "settings", "connection")
    assert f"does not forward the request to {secure}: 403" in str(refused)
    assert "http://name:password@host:port" in str(asked)


def test_a_reply_that_may_be_the_proxys_own_says_so(monkeypatch: Patch) -> None:
    with Server(Reply(407, "Who?"), Reply(503, "<html>"), Reply(200, "<html>")) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        asked, failed, odd = (failure(proxy, base_url="http://models.invalid") for _ in range(3))
    assert (asked.kind, failed.kind, odd.kind) == ("settings", "server", "not_found")
    assert str(asked).startswith(f"The proxy at {proxy.url} (HTTP_PROXY) requires a user name")
    through = f"http://models.invalid, via the proxy at {proxy.url} (HTTP_PROXY), "
    assert through in str(failed)
    assert through in str(odd)


def test_an_unknown_host_name_is_reported(monkeypatch: Patch) -> None:
    def nobody(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    with Server() as server:
        monkeypatch.setattr(socket, "getaddrinfo", nobody)  # no test asks a network
        caught = failure(server, base_url="http://models.invalid")
    assert caught.kind == "unreached"
    assert "http://models.invalid cannot be reached: Name or service not known." in str(caught)


def test_only_this_machine_is_reached_unencrypted_without_a_warning() -> None:
    for url, host in (
        ("http://example.org/v1", "example.org"),
        ("http://10.0.0.5:8080", "10.0.0.5"),
        ("http://[fe80::1]:8080", "fe80::1"),
        ("http://localhost:1@example.org", "example.org"),
        ("http://127.0.0.1.example.org", "127.0.0.1.example.org"),
        ("http://localhost.example.org", "localhost.example.org"),
        ("HTTP://EXAMPLE.ORG", "example.org"),
        ("https://example.org", ""),
        ("http://localhost:11434/v1", ""),
        ("http://LOCALHOST", ""),
        ("http://127.0.0.1:8080", ""),
        ("http://127.8.8.8", ""),
        ("http://[::1]:8080", ""),
        ("http://[::1", ""),
    ):
        assert connection.exposed_host(url) == host, url


def test_a_proxy_elsewhere_exposes_even_what_is_for_this_machine(monkeypatch: Patch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://joe:hunter2@proxy.example:3128")
    assert connection.exposed_host("http://localhost:8080") == "proxy.example"
    assert connection.exposed_host("https://example.org") == ""
    monkeypatch.setenv("NO_PROXY", "localhost")
    assert connection.exposed_host("http://localhost:8080") == ""
