"""Real servers: of the newer generation over stdio and HTTP, and those that others publish."""

import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("mcp")

from contextui.config.servers import Server
from tests.windows.mcp.servers import (
    HERE,
    PATIENCE,
    answer_as_person,
    attend,
    free_port,
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
        return Server("modern", kind="http", url=url, timeout=PATIENCE)
    args = (str(HERE / "server.py"),)
    return Server("modern", command=sys.executable, args=args, timeout=PATIENCE)


def test_a_server_of_the_newer_generation(modern: Server, tmp_path: Path) -> None:
    with opened(modern, tmp_path) as window:
        assert window.window._connection._client.protocol_version == "2026-07-28"
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
        opened(Server("x", kind="http", url=url, timeout=PATIENCE), tmp_path),
    ):
        pass
