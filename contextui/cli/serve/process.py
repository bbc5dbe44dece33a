"""The app's process of a page, and the Textual driver it runs with."""

import asyncio
import json
import os
import re
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from threading import Event
from typing import Any

from textual import events, messages
from textual.drivers.web_driver import WebDriver

_DRIVER = "contextui.cli.serve.process:ServedDriver"
_READY = b"__GANGLION__\n"  # Textual's marker
_DATA, _META = b"D", b"M"  # the kinds of Textual's packets
_GRACE = 5.0  # seconds to save pending changes
_LARGEST = 500  # maximum columns or rows
# Control sequences that only a page itself can obey.
_FOR_PAGE = re.compile(r"\x1b\](2|11|777;notify);([^\x1b]*)\x1b\\")
_NAMES = {"2": "title", "11": "background", "777;notify": "notify"}


def limited(columns: int = 80, rows: int = 24) -> tuple[int, int]:
    """Return the size of a page in cells; to draw a larger one could exhaust the machine."""
    return min(max(columns, 1), _LARGEST), min(max(rows, 1), _LARGEST)


class PageProcess:
    """The app in its own process and process group."""

    def __init__(self, process: Process) -> None:
        assert process.stdout is not None
        assert process.stdin is not None
        self._process, self._reader, self._writer = process, process.stdout, process.stdin
        self._ended: asyncio.Task[None] | None = None

    @classmethod
    async def start(cls, flags: Sequence[str], size: tuple[int, int]) -> "PageProcess":
        """Start the app with these flags, on a page of so many columns and rows."""
        environment = {
            **os.environ,
            "TEXTUAL_DRIVER": _DRIVER,
            "TEXTUAL_COLOR_SYSTEM": "truecolor",
            "COLUMNS": str(size[0]),
            "ROWS": str(size[1]),
        }
        # -P: the current folder may be untrusted; no module is imported from it.
        command = [sys.executable, "-P", "-m", "contextui", *flags]
        return cls(
            await asyncio.create_subprocess_exec(
                *command, stdin=PIPE, stdout=PIPE, env=environment, start_new_session=True
            )
        )

    async def relay(
        self,
        draw: Callable[[bytes], Awaitable[None]],
        session: Callable[[str], object],
        send: Callable[[list[str]], Awaitable[None]],
    ) -> None:
        """Forward what the app draws, the ids of its sessions and its messages, until it exits."""
        reader = self._reader
        with suppress(asyncio.IncompleteReadError, asyncio.LimitOverrunError):  # no app started
            await reader.readuntil(_READY)
            while True:
                kind = await reader.readexactly(1)
                payload = await reader.readexactly(int.from_bytes(await reader.readexactly(4)))
                if kind == _DATA:
                    await draw(payload)
                elif kind == _META:
                    match json.loads(payload):
                        case {"type": "exit"}:
                            return
                        case {"type": "session", "id": str(session_id)}:
                            session(session_id)
                        case {"type": "title" | "background" | "notify" as name, "text": str(text)}:
                            await send([name, text])

    async def type(self, text: str) -> None:
        """Send typed text."""
        await self._write(_DATA, text.encode("utf-8", "replace"))

    async def send(self, **message: str | int) -> None:
        """Send a message of Textual's protocol, such as pasted text or the page's new size."""
        await self._write(_META, json.dumps(message).encode())

    async def end(self) -> None:
        """End the app and all that it started; repeated calls wait for the same end."""
        if self._ended is None:
            self._ended = asyncio.create_task(self._end())
        await asyncio.shield(self._ended)

    async def _end(self) -> None:
        self._signal(signal.SIGHUP)  # as a closed terminal does: the app exits cleanly
        with suppress(TimeoutError):
            await asyncio.wait_for(self._drain(), _GRACE)
        self._signal(signal.SIGKILL)
        await self._process.wait()

    async def _drain(self) -> None:
        """Wait for its end, and discard its output, which would block it otherwise."""
        while await self._reader.read(65_536):
            pass
        await self._process.wait()

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)

    async def _write(self, kind: bytes, payload: bytes) -> None:
        with suppress(ConnectionError):  # it is about to end, which `relay` notices
            self._writer.write(kind + len(payload).to_bytes(4) + payload)
            await self._writer.drain()


class ServedDriver(WebDriver):
    """Draws for a page, and exits the app when the server is gone."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._has_started = Event()

    def start_application_mode(self) -> None:
        """Start drawing and reading.

        Textual assumes that a page is blurred until it receives a focus event, and announces that
        with some delay. The page's focus events must come after that.
        """
        super().start_application_mode()
        self._app.call_later(self._has_started.set)

    def stop_application_mode(self) -> None:
        """Stop drawing and reading."""
        super().stop_application_mode()
        self._has_started.set()

    def report_session(self, session_id: str) -> None:
        """Report the session to the server, which resumes it when the page is reloaded."""
        self.write_meta({"type": "session", "id": session_id})

    def write(self, data: str) -> None:
        """Draw; do nothing if the server is gone.

        A title, a background and a notification are messages to the page.
        """
        if data.startswith("\x1b]") and (found := _FOR_PAGE.fullmatch(data)):
            self.write_meta({"type": _NAMES[found[1]], "text": found[2]})
            return
        with suppress(BrokenPipeError):
            super().write(data)

    def write_meta(self, data: dict[str, object]) -> None:
        """Send the server a message; do nothing if it is gone."""
        with suppress(BrokenPipeError):
            super().write_meta(data)

    def on_meta(self, packet_type: str, payload: dict[str, object]) -> None:
        """Handle a message of the server."""
        if packet_type == "paste":
            self.process_message(events.Paste(str(payload["text"]).replace("\0", "")))
        else:
            super().on_meta(packet_type, payload)

    def run_input_thread(self) -> None:
        """Read input; exit the app at its end, as the server is gone."""
        self._has_started.wait()
        super().run_input_thread()
        if not self.exit_event.is_set():
            self.send_message(messages.ExitApp())
