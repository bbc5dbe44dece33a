"""Access control: a token, the host name and the origin of a request."""

import asyncio
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from aiohttp import ClientSession, WSServerHandshakeError
from yarl import URL

from contextui.cli.flags import UsageError
from contextui.cli.serve.access import AccessCheck, Address
from tests.cli.serve.serving import Serving

TAB = "A" * 22
HERE, EVERYWHERE = Address.of("127.0.0.1", 0), Address.of("0.0.0.0", 0)


def has_ipv6() -> bool:
    """Whether this machine can listen on its IPv6 loopback address."""
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with Serving(tmp_path_factory.mktemp("serving") / "work") as serving:
        yield serving


def get(url: URL, **headers: str) -> tuple[int, str, dict[str, str]]:
    async def ask() -> tuple[int, str, dict[str, str]]:
        async with (
            ClientSession() as session,
            session.get(url, headers=headers, allow_redirects=False) as response,
        ):
            return response.status, await response.text(), dict(response.headers)

    return asyncio.run(ask())


def status_of_socket(url: URL, **headers: str) -> int:
    """The status of a websocket that the server refuses."""

    async def ask() -> int:
        async with ClientSession() as session:
            try:
                async with session.ws_connect(url, headers=headers):
                    return 101
            except WSServerHandshakeError as error:
                return error.status

    return asyncio.run(ask())


def test_the_link_leads_to_the_page_and_to_all_that_it_needs(serving: Serving) -> None:
    assert serving.url.host == "127.0.0.1"
    status, _, headers = get(serving.url)
    assert status == 303
    page = serving.url.join(URL(headers["Location"]))
    status, text, headers = get(page)
    assert (status, "<title>contextui</title>" in text) == (200, True)
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert headers["Referrer-Policy"] == "no-referrer"
    assert "://" not in text  # nothing comes from elsewhere
    for path in ("page/page.js", "page/page.css", "static/js/textual.js", "static/css/xterm.css"):
        assert f'"../{path}"' in text
        assert get(page.join(URL(f"../{path}")))[0] == 200
    for path in ("nothing", "static/", "static/nothing", "static/" + "a" * 5_000, "short/"):
        assert get(serving.url / path)[0] == 404


def test_a_link_without_its_last_slash_leads_there_too(serving: Serving) -> None:
    status, _, headers = get(URL(str(serving.url).rstrip("/")))
    assert (status, headers["Location"]) == (308, serving.url.path)


def test_without_the_token_nothing_is_revealed(serving: Serving) -> None:
    for path in ("", "socket", "page/page.js", "static/js/textual.js", "nothing"):
        token = serving.url.parts[1]
        assert len(token) > 30, path
        other = token[:-1] + ("A" if token[-1] != "A" else "B")
        for wrong in ("", other, token[:-1], token.upper(), "%F0%9F", "é"):
            url = URL(f"{serving.origin}/{wrong}/{path}" if wrong else f"{serving.origin}/{path}")
            status, text, _ = get(url, Origin=serving.origin)
            assert (status, text) == (403, "Open the link that contextui serve has printed.\n"), (
                path
            )
        inside = URL(f"{serving.origin}/{other}/{TAB}/socket")
        assert status_of_socket(inside, Origin=serving.origin) == 403, path
        assert serving.apps() == [], path


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1", "https://127.0.0.1:{port}"]
)
def test_a_foreign_page_is_refused(serving: Serving, origin: str) -> None:
    origin = origin.format(port=serving.url.port)
    assert status_of_socket(serving.url / TAB / "socket", Origin=origin) == 403
    assert get(serving.url, Origin=origin)[0] == 403
    assert serving.apps() == []


def test_a_socket_without_an_origin_is_refused(serving: Serving) -> None:
    assert status_of_socket(serving.url / TAB / "socket") == 403
    assert serving.apps() == []


def test_a_foreign_host_name_is_refused(serving: Serving) -> None:
    for name in ("evil.example", "127.0.0.1.evil.example", "192.168.0.9", ""):
        host = f"{name}:{serving.url.port}"
        assert get(serving.url, Host=host)[0] == 403, name
        inside = serving.url / TAB / "socket"
        assert status_of_socket(inside, Host=host, Origin=f"http://{host}") == 403, name
        assert serving.apps() == [], name


def test_own_host_names_are_accepted() -> None:
    for address, host, is_ours in (
        (HERE, "127.0.0.1:80", True),
        (HERE, "LOCALHOST:80", True),
        (HERE, "[::1]:80", True),
        (HERE, "[::1", False),
        (HERE, "127.0.0.1:80x", False),
        (HERE, "10.0.0.7:80", False),
        (EVERYWHERE, "10.0.0.7:80", True),  # no name is looked up for it
        (EVERYWHERE, "evil.example", False),
    ):
        assert AccessCheck(address).is_own_host(host) is is_ours, address


def test_the_given_host_name_and_the_machines_name_are_accepted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("socket.gethostname", lambda: "Desk")
    access = AccessCheck(Address("office.example", "10.0.0.7", 0, HERE.family))
    assert access.is_own_host("office.example:80")
    assert access.is_own_host("desk:80")
    assert not access.is_own_host("other.example:80")


def test_every_server_has_a_token_of_its_own_and_does_not_show_it() -> None:
    checks = [AccessCheck(HERE) for _ in range(20)]
    assert len({check.token for check in checks}) == 20
    assert checks[0].token not in repr(checks[0])


def test_an_invalid_address_is_an_error() -> None:
    for host, port in (("127.0.0.1", -1), ("127.0.0.1", 65_536), ("no such host", 0), ("", 70_000)):
        with pytest.raises(UsageError):
            Address.of(host, port)


def test_only_loopback_addresses_are_local() -> None:
    assert HERE.is_loopback
    assert Address.of("localhost", 0).is_loopback
    assert not EVERYWHERE.is_loopback


def test_a_port_in_use_is_an_error() -> None:
    with HERE.listen() as taken:
        address = Address.of("127.0.0.1", taken.getsockname()[1])
        with pytest.raises(UsageError, match="Choose another --port"):
            address.listen()


def test_a_link_leads_to_the_server_from_this_machine() -> None:
    for host, family, link in (
        ("0.0.0.0", socket.AF_INET, "127.0.0.1"),
        ("::", socket.AF_INET6, "[::1]"),
        ("::1", socket.AF_INET6, "[::1]"),
        ("127.0.0.1", socket.AF_INET, "127.0.0.1"),
    ):
        first, *others = Address(host, host, 0, family).shown
        assert first == link, host
        assert not {"0.0.0.0", "[::]", link} & set(others), host


@pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6")
@pytest.mark.parametrize("host", ["::", "::1"])
def test_the_link_of_an_ipv6_address_works(tmp_path: Path, host: str) -> None:
    with Serving(tmp_path / "work", "--host", host) as serving:
        assert serving.url.host == "::1"
        assert get(serving.url)[0] == 303
        if host == "::":  # all addresses of this machine, as other servers understand it
            assert get(serving.url.with_host("127.0.0.1"))[0] == 303
