"""The Textual app: global key bindings, the command palette, exit and crash reports."""

import asyncio
import gc
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.text import Text
from textual import events, on
from textual.binding import Binding
from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.message import Message
from textual.reactive import Reactive
from textual.theme import Theme

from contextui.errors import ContextUIError
from contextui.secrets import mask
from contextui.text import one_line
from contextui.tui.dialogs.help import QUESTION, GoTo, HelpScreen
from contextui.tui.dialogs.unsaved import QuitScreen, unsaved_words
from contextui.tui.keys import KeyLine
from contextui.tui.lines import line
from contextui.tui.main import MainScreen
from contextui.tui.shutdown import Shutdown, Signals
from contextui.tui.themes import DARK, THEMES
from contextui.windowing.trouble import reason_of
from contextui.words import Lang, Words

if TYPE_CHECKING:
    from contextui.tui.dialogs.timing import Asker
    from contextui.tui.link import Desk


class Crash(Exception):  # noqa: N818  wraps another error
    """Wraps an unexpected error in a message for the person."""

    def __init__(
        self, error: BaseException, report: Path | None, words: Words, lost: str = ""
    ) -> None:
        reason = one_line(f"{type(error).__name__}: {mask(str(error))}", 300)
        parts = [
            words("contextui crashed because of a bug: {reason}.", reason=reason),
            words("The report is in {file}.", file=report) if report is not None else "",
            lost or words("The conversation is saved: contextui -c resumes it."),
        ]
        super().__init__(" ".join(part for part in parts if part))

    def __rich__(self) -> Text:
        return Text(str(self))


def write_report(error: BaseException) -> Path | None:
    """Write the traceback to a file only the person can read; return None if that fails."""
    from contextui.files.protection import make_private  # noqa: PLC0415  (heavy: the files)
    from contextui.session.paths import contextui_home  # noqa: PLC0415

    path = contextui_home() / "crash.log"
    report = mask("".join(traceback.format_exception(error)))
    try:
        make_private(path.parent)
        path.touch(mode=0o600)
        path.write_text(report, encoding="utf-8", errors="replace")
    except OSError:
        return None
    return path


class Palette(Provider):
    """Provides the slash commands and their choices to the command palette."""

    async def discover(self) -> Hits:
        """Yield all commands while the search field is empty."""
        for title, about, text in self._all():
            yield DiscoveryHit(Content(title), partial(self._run, text), help=about or None)

    async def search(self, query: str) -> Hits:
        """Yield the commands that match the query."""
        matcher = self.matcher(query)
        for title, about, text in self._all():
            if (score := matcher.match(title)) > 0:
                yield Hit(score, Content(title), partial(self._run, text), help=about or None)

    def _all(self) -> Iterator[tuple[str, str, str]]:
        main = self.screen
        if not isinstance(main, MainScreen) or main.desk is None:
            return
        words = main.words
        for command in main.commands.all:
            needs = f"/{command.name} " if command.takes else f"/{command.name}"
            yield f"{command.name}: {words(command.about)}", "", needs
            for choice in command.choices():
                title = line(f"{command.name} {choice.name} {choice.needs}".rstrip())
                text = f"/{command.name} {choice.name}{' ' if choice.needs else ''}"
                yield title, line(choice.about), text

    def _run(self, text: str) -> None:
        main = self.screen
        assert isinstance(main, MainScreen)
        if text.endswith(" "):
            main.prompt.put(text)
        else:
            main.run_command(text)


_PANES = (
    *(".conversation.pane", ".conversation.status", ".desktop.pane", ".inspector.pane"),
    *(".dialogs.timing", ".menu"),
)


def _load_panes() -> None:
    """Import everything that shows a session, on the thread that opens it."""
    for name in _PANES:
        import_module(name, "contextui.tui")


LOST = 1
"""Exit status when something could not be saved."""
WRONG_SETTINGS = 2
HUNG_UP = 129
_STUCK = 2.0  # seconds to wait for the quit dialog before leaving without it


class ContextUIApp(KeyLine[int]):
    """The contextui terminal app.

    The first frame is rendered before the session is opened, because opening imports heavy modules.

    Args:
        open_desk: Opens the session; runs on its own thread.
        folder: The session's folder, as displayed.
        lang: The locale of the UI.
        theme: The initial theme.
        first_words: The message given on the command line.
    """

    TITLE = "contextui"
    CSS_PATH = [
        "app.tcss",
        "conversation/conversation.tcss",
        "desktop/desktop.tcss",
        "inspector/inspector.tcss",
    ]
    # The default, since a theme that is set later parses all style sheets a second time.
    theme: Reactive[str] = Reactive(DARK.name)
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-normal"), (160, "-wide")]
    VERTICAL_BREAKPOINTS = [(0, "-low"), (12, "-tall")]
    COMMANDS = {Palette}
    BINDINGS = [
        Binding("ctrl+q", "leave", "quit", show=False, priority=True),
        Binding("ctrl+p", "command_palette", "palette", key_display="^p", priority=True),
        Binding("f1", "help", "help", priority=True),
        Binding("ctrl+g", "go_to_question", show=False, priority=True),
    ]

    class Opened(Message):
        """Posted when the session is open."""

        def __init__(self, desk: "Desk") -> None:
            super().__init__()
            self.desk = desk

    class NotOpened(Message):
        """Posted when the session could not be opened."""

        def __init__(self, reason: str) -> None:
            super().__init__()
            self.reason = reason

    def __init__(
        self,
        open_desk: "Callable[[], Desk]",
        *,
        folder: Path | None = None,
        lang: Lang = "en",
        theme: str = DARK.name,
        first_words: str = "",
    ) -> None:
        super().__init__()
        self.words = Words(lang)
        self.desk: Desk | None = None
        self.asker: Asker | None = None
        self.shutdown = Shutdown(self.words, self._report_blocking_windows, self._close_by_force)
        """Limits how long quitting may take."""
        self.signals = Signals(self._leave_with, self.shutdown.end_within)
        """Quits the app on a signal; a context manager to enter around `run`."""
        self._is_exiting = False
        self._open_desk, self._first_words = open_desk, first_words
        self.main = MainScreen(self.words, folder or Path.cwd(), self.hold)
        self.theme = theme

    @property
    def available_themes(self) -> dict[str, Theme]:
        """The built-in themes and our own."""
        return {**super().available_themes, **{one.name: one for one in THEMES}}

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Return the colors that themes of others do not have."""
        return {"outdated": "#808080"}

    def get_default_screen(self) -> MainScreen:
        """Return the main screen; an empty one below it would be styled and laid out as well."""
        return self.main

    def on_mount(self) -> None:
        """Show the frame, and open the session after the first refresh."""
        with suppress(ValueError, RuntimeError, NotImplementedError):  # not on the main thread
            self.signals.listen()
        self.call_after_refresh(self._start_opening)

    async def on_unmount(self) -> None:
        """Close the model's connections while the event loop still runs."""
        if self.desk is not None:
            await self.desk.controller.aclose()
        self.shutdown.closed()

    def _start_opening(self) -> None:
        # A daemon thread, so that quitting does not wait for a session that is still opening.
        threading.Thread(target=self._opening, daemon=True, name="opening").start()

    def _opening(self) -> None:
        try:
            desk = self._open_desk()
            _load_panes()
            self.post_message(self.Opened(desk))
            if (preload := getattr(desk.controller.model, "preload", None)) is not None:
                preload()  # after the first frame, and before the person has typed a message
        except ContextUIError as error:
            self.post_message(self.NotOpened(self.words(error)))
        except Exception as error:
            self.post_message(self.NotOpened(reason_of(error)))

    @on(Opened)
    async def _show(self, message: Opened) -> None:
        """Attach the opened session to the screen."""
        from contextui.tui.dialogs.timing import Asker  # noqa: PLC0415  (heavy: the agent)

        await self.main.open_panes()
        # What is loaded so far stays. Scanning it for garbage would block the screen for a tenth of
        # a second each time.
        if not self.is_headless:
            gc.freeze()
        self.desk = message.desk
        self.asker = Asker(self, self.words, lambda: self.main.prompt, self.main.wait_for_person)
        message.desk.controller.tools.gate.ask = self.asker.ask
        self.main.attach(message.desk, self, self.asker)
        if self._first_words:
            self.main.send(self._first_words)

    @on(NotOpened)
    def _give_up(self, message: NotOpened) -> None:
        """Exit and print the reason on the terminal."""
        self.exit(WRONG_SETTINGS, return_code=WRONG_SETTINGS, message=message.reason)

    def action_leave(self) -> None:
        """Quit; ask first if something cannot be saved."""
        if isinstance(self.screen, QuitScreen):
            return
        if self.desk is None or self.desk.session.save():
            self._leave_with(0)
        else:
            self.push_screen(QuitScreen(self.words, self.desk.session), self._leave_unsaved)

    async def action_quit(self) -> None:
        """Quit, as ctrl+q does."""
        self.action_leave()

    def _leave_unsaved(self, wanted: bool | None) -> None:
        if wanted:
            self._leave_with(0)

    def action_command_palette(self) -> None:
        """Open the command palette."""
        if self.screen is self.main:  # commands only apply to the main screen
            self.push_screen(CommandPalette(placeholder=self.words("Search commands…")))

    def action_help(self) -> None:
        """Open the help screen with all keys and commands."""
        if not isinstance(self.screen, HelpScreen):
            self.push_screen(HelpScreen(self.words, self.main.commands))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Enable `go_to_question` for a pending question; the main screen has its own ctrl+g."""
        if action == "go_to_question":
            waits = self.asker is not None and self.asker.is_waiting
            return waits and not isinstance(self.screen, MainScreen | GoTo)
        if action in ("command_palette", "help") and isinstance(self.screen, MainScreen):
            return not self.screen.keeps_keys()
        return super().check_action(action, parameters)

    def action_go_to_question(self) -> None:
        """Show the go-to menu, which offers the pending question."""
        self.push_screen(GoTo(self.words, lambda _: None, [QUESTION]), self._go_to_question)

    def _go_to_question(self, key: str | None) -> None:
        if key == QUESTION[0]:
            self.main.open_question()

    def on_waiting_line_clicked(self) -> None:
        """Open the pending question."""
        self.main.open_question()

    @contextmanager
    def batch_update(self) -> Iterator[None]:
        """Suspend rendering for a batch, then refresh everything if the layout changed.

        The base class discards a layout made within a batch: a dialog that closes while a
        response streams would leave stale lines on the terminal.
        """
        before = self._laid_out()
        with super().batch_update():
            yield
        if self._laid_out() != before:
            self.screen.refresh()

    def _laid_out(self) -> tuple[int, int]:
        """Return the number of open screens and of main-screen layouts."""
        return len(self.screen_stack), self.main.layouts

    def exit(
        self,
        result: int | None = None,
        return_code: int = 0,
        message: RenderableType | None = None,
    ) -> None:
        """Quit; print what could not be saved, or how to resume the conversation."""
        self._is_exiting = True
        self.shutdown.begin()
        self.main.keep_draft()
        lost = self._lost()
        if lost and not return_code:
            result = return_code = LOST
        if message is None and return_code != HUNG_UP:  # on hangup there is no terminal to print to
            message = lost or (None if return_code else self._farewell())
        super().exit(result, return_code, message)

    def _lost(self) -> Text | None:
        """Return a message about unsaved data, or None if everything is saved."""
        if self.desk is None or self.desk.session.save():
            return None
        lost = unsaved_words(self.desk.session, self.words)
        return Text(f"{lost} {self.words('contextui -c resumes without them.')}")

    def _farewell(self) -> Text | None:
        if self.desk is None or not self.desk.has_messages:
            return None
        return Text(self.words("contextui -c resumes this conversation."))

    def _leave_with(self, status: int) -> None:
        self.exit(status, return_code=status)

    def post_message(self, message: Message) -> bool:
        """Queue a message; on ctrl+q, start the exit timer even if a window blocks all keys."""
        if isinstance(message, events.Key) and message.key == "ctrl+q":
            if self.desk is not None and self.desk.session.unsaved:  # the quit dialog asks first
                asyncio.get_running_loop().call_later(_STUCK, self._begin_shutdown_if_stuck)
            else:
                self.shutdown.begin()
        return super().post_message(message)

    def _begin_shutdown_if_stuck(self) -> None:
        """Start the exit timer if a window blocks the key queue, so that the dialog cannot open."""
        if self._waiting:
            self.shutdown.begin()

    def _report_blocking_windows(self, message: str) -> None:
        """Exit, if not already exiting, and print which window blocked the exit."""
        code = self.return_code or 0
        if message or not self._is_exiting:
            self._is_exiting = True
            super().exit(code, return_code=code, message=Text(message) if message else None)

    def _close_by_force(self) -> int:
        """Restore the terminal and close the session before the process is killed.

        Returns:
            The exit status.
        """
        self.signals.restore_attributes()  # the driver may be blocked
        try:
            # Without a terminal the driver's writer has ended, and writing to it waits for ever.
            if self._driver is not None and not self.signals.is_hung_up:
                self._driver.stop_application_mode()
        finally:
            self.signals.restore()  # its writer may not get to run before the process ends
        if self.desk is not None:
            self.desk.close()
        return LOST if self.desk is not None and self.desk.session.unsaved else 0

    def _handle_exception(self, error: Exception) -> None:
        """Replace Textual's crash handler, which prints local variables, API keys included."""
        from contextui.tui.desktop.widgets import (  # noqa: PLC0415  (heavy: the windows)
            cause_of,
            guard_of,
        )

        if (guard := guard_of(error)) is not None:  # a third-party widget: drop it
            write_report(error)
            guard.guarded_failed(cause_of(error))
            return
        if self._is_exiting:  # errors during teardown are logged and ignored
            write_report(error)
            return
        crash = (
            error
            if isinstance(error, Crash)
            else Crash(error, write_report(error), self.words, str(self._lost() or ""))
        )
        crash.__cause__ = error
        super()._handle_exception(crash)
