"""How the app draws when it is served."""

from contextlib import suppress
from threading import Event
from typing import Any

from textual import messages
from textual.drivers.web_driver import WebDriver


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
