"""How the app draws when it is served."""

from contextlib import suppress

from textual import messages
from textual.drivers.web_driver import WebDriver


class ServedDriver(WebDriver):
    """Draws for a page, and ends the app when the server is gone."""

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
        super().run_input_thread()
        if not self.exit_event.is_set():
            self.send_message(messages.ExitApp())
