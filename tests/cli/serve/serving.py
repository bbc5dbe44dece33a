"""`contextui serve` in a process of its own, and a browser's side of it."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
import pyte
from aiohttp import ClientSession, ClientWebSocketResponse, WSMsgType
from yarl import URL

from tests import forkserver

PATIENCE = 300  # timeout in seconds


class Serving:
    """The server, started in a folder.

    Attributes:
        url: The link that it printed.
    """

    def __init__(
        self,
        folder: Path,
        *words: str,
        command: list[str] | None = None,
        environ: dict[str, str] | None = None,
    ) -> None:
        names = ("PATH", "PYTHONPATH")
        kept = {name: os.environ[name] for name in names if name in os.environ}
        folder.mkdir(exist_ok=True)
        start = subprocess.Popen if command else forkserver.Popen
        self.process = start(
            [*(command or [sys.executable, "-m", "contextui"]), "serve", *words],
            cwd=folder,
            env={**kept, "HOME": str(folder.parent), "LC_ALL": "C.UTF-8", **(environ or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        self.url = URL(self.process.stdout.readline().strip())

    def __enter__(self) -> "Serving":
        return self

    def __exit__(self, *_: object) -> None:
        for one in self.apps():
            with suppress(psutil.NoSuchProcess):
                one.kill()
        self.process.kill()
        self.process.communicate(timeout=PATIENCE)

    @property
    def origin(self) -> str:
        """The Origin header of its page."""
        return str(self.url.origin())

    def apps(self) -> list[psutil.Process]:
        """All processes that it started, and that those started."""
        try:
            return psutil.Process(self.process.pid).children(recursive=True)
        except psutil.NoSuchProcess:
            return []

    def end(self, number: signal.Signals) -> tuple[int, str]:
        """Send a signal; the status that it ends with, and what it printed on stderr."""
        self.process.send_signal(number)
        _, err = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, err


@dataclass(frozen=True)
class Page:
    """What a browser shows.

    Attributes:
        link: The address of the tab.
    """

    link: URL
    socket: ClientWebSocketResponse
    screen: pyte.Screen
    stream: pyte.ByteStream

    async def close_code(self) -> int | None:
        """Receive what the app draws until the server closes the page; return the close code."""
        async with asyncio.timeout(PATIENCE):
            while not self.socket.closed:
                await self.socket.receive()
        return self.socket.close_code

    async def type(self, text: str) -> None:
        await self.socket.send_json(["stdin", text])

    async def until(self, condition: Callable[[list[str]], object]) -> None:
        """Receive what the app draws until a text is shown, with a timeout."""
        try:
            async with asyncio.timeout(PATIENCE):
                while not condition(self.screen.display):
                    message = await self.socket.receive()
                    if message.type is WSMsgType.TEXT:  # the title, or a notification
                        continue
                    assert message.type is WSMsgType.BINARY, message
                    self.stream.feed(message.data)
        except TimeoutError:
            raise AssertionError("\n".join(["Never shown:", *self.screen.display])) from None

    async def until_shown(self, text: str) -> None:
        await self.until(lambda lines: any(text in line for line in lines))


@asynccontextmanager
async def opened(serving: Serving, link: URL | None = None) -> AsyncIterator[Page]:
    """The page of a link, as a browser opens it; by default the link that the server printed."""
    screen = pyte.Screen(120, 40)
    async with ClientSession() as session:
        async with session.get(link or serving.url) as page:  # leads to a link of the tab's own
            assert page.status == 200
        query = (page.url / "socket").with_query(width=120, height=40)
        async with session.ws_connect(query, origin=serving.origin) as socket:
            yield Page(page.url, socket, screen, pyte.ByteStream(screen))


def all_gone(processes: list[psutil.Process]) -> bool:
    """Whether all of them end within the timeout."""
    _, alive = psutil.wait_procs(processes, timeout=PATIENCE)
    return not alive
