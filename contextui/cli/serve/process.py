"""The app's process behind a page."""

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from threading import Event
from typing import Any

from textual import messages
from textual.drivers.web_driver import WebDriver

_DRIVER = "contextui.cli.serve.process:ServedDriver"
_READY = b"__GANGLION__\n"  # Textual's word for it
_DRAWN, _TOLD = b"D", b"M"
_GRACE = 5.0  # seconds to write what is not written yet
_LARGEST = 500  # columns or rows of any terminal


@dataclass(frozen=True, slots=True)
class Size:
    """How large the page is, in cells; never so large that drawing it would be an attack."""

    columns: int = 80
    rows: int = 24

    @classmethod
    def of(cls, columns: int, rows: int) -> "Size":
        """The size that was asked for, within reason."""
        return cls(*(min(max(number, 1), _LARGEST) for number in (columns, rows)))


class PageProcess:
    """The app in a process of its own, which leads a process group of its own.

    Attributes:
        status: Its exit status, once it has ended.
    """

    def __init__(self, process: Process) -> None:
        self._process = process
        self._ended: asyncio.Task[None] | None = None

    @classmethod
    async def start(cls, flags: Sequence[str], size: Size) -> "PageProcess":
        """Start the app with these flags."""
        environment = {
            **os.environ,
            "TEXTUAL_DRIVER": _DRIVER,
            "TEXTUAL_COLOR_SYSTEM": "truecolor",
            "COLUMNS": str(size.columns),
            "ROWS": str(size.rows),
        }
        # -P: the current folder may be a stranger's, and none of its modules may be found.
        command = [sys.executable, "-P", "-m", "contextui", *flags]
        return cls(
            await asyncio.create_subprocess_exec(
                *command, stdin=PIPE, stdout=PIPE, env=environment, start_new_session=True
            )
        )

    async def relay(
        self, draw: Callable[[bytes], Awaitable[None]], session: Callable[[str], object]
    ) -> None:
        """Hand on what it draws, and the id of each session that it opens, until it leaves."""
        reader = self._process.stdout
        assert reader is not None
        with suppress(asyncio.IncompleteReadError, asyncio.LimitOverrunError):  # no app at all
            await reader.readuntil(_READY)
            while True:
                kind = await reader.readexactly(1)
                payload = await reader.readexactly(int.from_bytes(await reader.readexactly(4)))
                if kind == _DRAWN:
                    await draw(payload)
                elif kind == _TOLD:
                    match json.loads(payload):
                        case {"type": "exit"}:
                            return
                        case {"type": "session", "id": str(session_id)}:
                            session(session_id)

    async def type(self, text: str) -> None:
        """Press keys."""
        await self._write(_DRAWN, text.encode("utf-8", "replace"))

    async def resize(self, size: Size) -> None:
        """Say how large the page is now."""
        told = {"type": "resize", "width": size.columns, "height": size.rows}
        await self._write(_TOLD, json.dumps(told).encode())

    async def focus(self, has_focus: bool) -> None:
        """Say whether the page has the focus."""
        await self._write(_TOLD, json.dumps({"type": "focus" if has_focus else "blur"}).encode())

    async def end(self) -> None:
        """End it and all that it started; whoever asks again waits for the same end."""
        if self._ended is None:
            self._ended = asyncio.create_task(self._end())
        await asyncio.shield(self._ended)

    async def _end(self) -> None:
        self._signal(signal.SIGHUP)  # as a terminal does that is closed: the app leaves in order
        with suppress(TimeoutError):
            await asyncio.wait_for(self._drain(), _GRACE)
        self._signal(signal.SIGKILL)
        await self._process.wait()

    async def _drain(self) -> None:
        """Wait for its end; what it draws meanwhile would hold it up if nobody took it."""
        reader = self._process.stdout
        assert reader is not None
        while await reader.read(65_536):
            pass
        await self._process.wait()

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)

    async def _write(self, kind: bytes, payload: bytes) -> None:
        writer = self._process.stdin
        assert writer is not None
        with suppress(ConnectionError):  # it is about to end, which `relay` sees
            writer.write(kind + len(payload).to_bytes(4) + payload)
            await writer.drain()


class ServedDriver(WebDriver):
    """Draws for a page, and ends the app when the server is gone."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._has_started = Event()

    def start_application_mode(self) -> None:
        """Begin to draw and to read.

        Textual takes a page for blurred until it hears of the focus, and announces that with some
        delay. What the page says of its focus must come after that.
        """
        super().start_application_mode()
        self._app.call_later(self._has_started.set)

    def stop_application_mode(self) -> None:
        """End drawing and reading."""
        super().stop_application_mode()
        self._has_started.set()

    def report_session(self, session_id: str) -> None:
        """Name the session to the server, which resumes it when the page is reloaded."""
        self.write_meta({"type": "session", "id": session_id})

    def write(self, data: str) -> None:
        """Draw; without anybody who looks, do nothing."""
        with suppress(BrokenPipeError):
            super().write(data)

    def write_meta(self, data: dict[str, object]) -> None:
        """Tell the server something; without a server, do nothing."""
        with suppress(BrokenPipeError):
            super().write_meta(data)

    def run_input_thread(self) -> None:
        """Read what is typed; when that ends, there is nobody any more."""
        self._has_started.wait()
        super().run_input_thread()
        if not self.exit_event.is_set():
            self.send_message(messages.ExitApp())
