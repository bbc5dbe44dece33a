"""Real servers: of the newer generation over stdio and HTTP, and those that others publish."""

import http.server
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp")

from contextui.config.servers import Server
from tests.windows.mcp.servers import (
    HERE,
    PATIENCE,
    answer_as_person,
    attend,
    free_port,
    module,
    opened,
    until,
)


@pytest.fixture
def address() -> Iterator[str]:
    """The server over HTTP, in a thread of this process: it has imported the library already."""
    import uvicorn

    from tests.windows.mcp.server import server

    port = free_port()
    app = server.streamable_http_app(host="127.0.0.1")
    running = uvicorn.Server(uvicorn.Config(app, port=port, log_level="error", ws="none"))
    thread = threading.Thread(target=running.run)
    thread.start()
    until(lambda: running.started)
    yield f"http://127.0.0.1:{port}/mcp"
    running.should_exit = running.force_exit = True
    thread.join(PATIENCE)


@pytest.fixture(params=["stdio", "http"])
def modern(request: pytest.FixtureRequest) -> Server:
    if request.param == "http":
        url = request.getfixturevalue("address")
        return Server("modern", kind="http", url=url, timeout=20.0)
    return Server("modern", command=sys.executable, args=(str(HERE / "server.py"),), timeout=20.0)


def test_a_server_of_the_newer_generation(modern: Server, tmp_path: Path) -> None:
    with opened(modern, tmp_path) as window:
        assert window.window.state.info.protocol == "2026-07-28"
        assert window.act("issues", count=2) == "number\ttitle\n0\tIssue 0\n1\tIssue 1"
        assert window.act("count") == "counted to 3"
        assert window.act("prompt", name="review", arguments={"topic": "it"}) == "Review it."
        window.act("read", uri="notes://all", keep=True)
        assert "(none)" in window.content()
        assert window.act("note", text="Buy milk") == "1 notes"
        until(lambda: "Buy milk" in window.content())
        window.act("grow")
        until(lambda: "grown" in window.window.actions)
        attend(window)  # it asks the person
        said: list[str] = []
        thread = threading.Thread(target=lambda: said.append(window.act("greet")))
        thread.start()
        until(lambda: "answer" in window.window.actions)
        answer_as_person(window, name="Momo")
        thread.join(PATIENCE)
        assert said == ["Hello Momo"]


def test_an_address_where_nothing_is_says_so(tmp_path: Path) -> None:
    url = f"http://127.0.0.1:{free_port()}/mcp"
    with (
        pytest.raises(Exception, match=r"cannot be reached|failed|refused"),
        opened(Server("x", kind="http", url=url, timeout=5.0), tmp_path),
    ):
        pass


@pytest.mark.long
def test_the_time_server(tmp_path: Path) -> None:
    pytest.importorskip("mcp_server_time")
    with opened(module("mcp_server_time"), tmp_path) as window:
        assert "Europe/Berlin" in window.act("get_current_time", timezone="Europe/Berlin")
        said = window.result("get_current_time", timezone="Nowhere")
        assert not said.ok
        assert "Invalid timezone" in said.text


@pytest.mark.long
def test_the_git_server(tmp_path: Path) -> None:
    pytest.importorskip("mcp_server_git")
    for argv in (
        ["git", "init", "-q"],
        [
            *("git", "-c", "user.name=a", "-c", "user.email=a@b"),
            *("commit", "-q", "--allow-empty", "-m", "First"),
        ],
    ):
        subprocess.run(argv, cwd=tmp_path, check=True)
    with opened(module("mcp_server_git"), tmp_path / "home", folder=tmp_path) as window:
        assert "Message: First" in window.act("git_log", repo_path=str(tmp_path))


@pytest.mark.long
def test_the_fetch_server(tmp_path: Path) -> None:
    pytest.importorskip("mcp_server_fetch")

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = b"<html><body><h1>Momo</h1><p>and the grey men</p></body></html>"
            self.send_response(404 if self.path == "/robots.txt" else 200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None: ...

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page) as site:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{site.server_port}/"
        urllib.request.urlopen(url).close()
        with opened(module("mcp_server_fetch", "--allow-private-ips"), tmp_path) as window:
            said = window.result("fetch", url=url, raw=True)  # else it runs npm
            assert "grey men" in said.text
        site.shutdown()
