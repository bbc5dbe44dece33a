"""Windows of real servers, for tests."""

import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from contextui.config.servers import Server
from contextui.testing import WindowTester, run_in_thread
from contextui.windowing.runtime import runtime_of
from contextui.windows.mcp.window import server_window

HERE = Path(__file__).parent
PATIENCE = 60.0


def plain(mode: str = "", **options: Any) -> Server:
    """The server of the older generation."""
    args = ("-S", "-u", str(HERE / "plain.py"), mode)  # it needs no packages
    return Server("plain", command=sys.executable, args=args, **{"timeout": PATIENCE, **options})


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def listens(port: int) -> bool:
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


def until(check: Callable[[], Any], seconds: float = PATIENCE) -> Any:
    """Wait until something is true, and return it."""
    end = time.monotonic() + seconds
    while not (found := check()):
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.02)
    return found


@contextmanager
def opened(server: Server, home: Path, **options: Any) -> Iterator[WindowTester[Any]]:
    """Open the window of a server, as the program does, and wait until it is open."""
    tester: WindowTester[Any] = WindowTester(server_window(server, "server", home), **options)
    try:
        until(lambda: not tester.window.is_opening)
        until(lambda: tester.window.state.status != "connecting")
        yield tester
    finally:
        tester.close()


def answer_as_person(tester: WindowTester[Any], **content: Any) -> str:
    """Be the person who answers the server's question."""
    window = tester.window
    done = tester.windows.act(window.id, "answer", content, actor="person")
    return run_in_thread(done).text


def attend(tester: WindowTester[Any]) -> None:
    """Be the person who sees the window."""
    window: Any = tester.window
    runtime_of(window).worker.call_soon(window.attended.set)
