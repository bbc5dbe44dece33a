"""The Textual app: global key bindings, the command palette, exit and crash reports."""

import asyncio
import gc
import re
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import RenderableType
from rich.text import Text
from textual import events, on
from textual._xterm_parser import XTermParser
from textual.binding import Binding
from textual.command import CommandList, CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.driver import Driver
from textual.message import Message
from textual.screen import Screen
from textual.theme import Theme
from textual.widget import Widget
from textual.worker import WorkerFailed

from contextui.errors import ContextUIError
from contextui.secrets import mask
from contextui.text import one_line
from contextui.tui.conversation.prompt import MOST_PASTED, too_large
from contextui.tui.dialogs.help import QUESTION, GoTo, HelpScreen
from contextui.tui.dialogs.unsaved import QuitScreen, unsaved_words
from contextui.tui.keys import KeyLine
from contextui.tui.lines import line
from contextui.tui.main import MainScreen
from contextui.tui.shutdown import Shutdown, Signals
from contextui.tui.switch import Reopen, Switcher
from contextui.tui.themes import DARK
from contextui.windowing.error_text import reason_of
from contextui.words import Lang, Words

if TYPE_CHECKING:
    from contextui.tui.app_session import AppSession
    from contextui.tui.attention import Attention
    from contextui.tui.conversation.recent import ResumeRow
    from contextui.tui.desktop.widgets import Guard
    from contextui.tui.dialogs.timing import Asker


class Crash(Exception):  # noqa: N818  wraps another error
    """Wraps an unexpected error in a message for the person."""

    def __init__(
        self, error: BaseException, report: Path | None, words: Words, lost: str = ""
    ) -> None:
        parts = [
            words("contextui crashed because of a bug: {reason}.", reason=_reason(error)),
            words("The report is in {file}.", file=report) if report is not None else "",
            lost or words("The conversation is saved: contextui -c resumes it."),
        ]
        super().__init__(" ".join(part for part in parts if part))

    def __rich__(self) -> Text:
        return Text(str(self))


def _reason(error: BaseException) -> str:
    return one_line(f"{type(error).__name__}: {mask(str(error))}", 300)


def _guard(error: Exception) -> "Guard | None":
    from contextui.tui.desktop.widgets import guard_of  # noqa: PLC0415  (heavy: the windows)

    return guard_of(error)


def write_report(error: BaseException) -> Path | None:
    """Write the traceback to a file only the person can read; return None if that fails."""
    from contextui.plain_file import make_private  # noqa: PLC0415  (for a crash alone)
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


def _plain(about: str) -> Any:
    """Return a help text that the palette does not parse as markup."""
    return Content(about) if about else None


_FIT = 10_000.0  # above any score of letters, and any place in the list
_FIRST = (
    *("open", "goto", "sessions", "new", "model", "theme", "lang", "help", "inspector", "copy"),
    *("undo", "rewind", "compact", "config", "login", "export"),
)
"""The commands with which the palette begins; the others follow by name."""
_FILES = 10  # files that the palette shows
_AT_LINE = re.compile(r"(.+):0*([1-9]\d{0,8})")


def fit(query: str, title: str) -> float:
    """Return how well the words of a query fit a title; 0 if one does not occur in it.

    A whole word is worth 3, the beginning of a word 2, any other part 1. In the description, after
    a colon, each is worth a little less.

    Example:
        >>> [fit("files", one) for one in ("open files", "approval: ask before writing files")]
        [3.0, 2.5]
    """
    name, _, about = title.casefold().partition(": ")
    values = [max(_worth(one, name), _worth(one, about) - 0.5) for one in query.casefold().split()]
    return sum(values) / len(values) if values and min(values) > 0 else 0.0


def _worth(word: str, text: str) -> float:
    there = re.findall(r"[^\W_]+", text)
    if word in there:
        return 3.0
    return 2.0 if any(one.startswith(word) for one in there) else float(word in text)


class Palette(Provider):
    """Provides the slash commands, their choices, and files to the command palette."""

    async def discover(self) -> Hits:
        found = sorted(self._all(), key=lambda one: one[2].count(" ", 0, -1))
        for title, about, text in found:
            yield DiscoveryHit(Content(title), partial(self._run, text), help=_plain(about))

    async def search(self, query: str) -> Hits:
        """Yield what matches; scattered letters do only where nothing has the query's words."""
        matcher = self.matcher(query)
        found = [(matcher.match(title), title, about, text) for title, about, text in self._all()]
        fits = [fit(query, f"{title}: {about}" if about else title) for _, title, about, _ in found]
        files = await self._files(query)
        found, fits = found + files, fits + [fit(query, title) for _, title, _, _ in files]
        for place, (value, (score, title, about, text)) in enumerate(zip(fits, found, strict=True)):
            if value or (score > 0 and not any(fits)):
                rank = _FIT * value - place if value else score
                yield Hit(rank, Content(title), partial(self._run, text), help=_plain(about))

    async def _files(self, query: str) -> list[tuple[float, str, str, str]]:
        from contextui.files.index import PathIndex  # noqa: PLC0415  (heavy: the files)

        main = self.screen
        if not isinstance(main, MainScreen) or main.desk is None:
            return []
        windows = main.desk.session.windows
        if (workspace := windows.workspace) is None or "editor" not in windows.classes:
            return []
        index = PathIndex.of(workspace)
        await asyncio.to_thread(lambda: index.refresh(only_if_stale=True))
        found, place, given = index.match(query, _FILES), "", ""
        if not found and (at_line := _AT_LINE.fullmatch(query)):
            name, number = at_line.groups()
            found, place, given = index.match(name, _FILES), f":{number}", f" line={number}"
        about = main.words("open in the editor")
        return [
            (1 / (at + 1), line(one.path) + place, about, f"/open editor path={one.path}{given}")
            for at, one in enumerate(found)
        ]

    def _all(self) -> Iterator[tuple[str, str, str]]:
        main = self.screen
        if not isinstance(main, MainScreen) or main.desk is None:
            return
        words = main.words
        places = {name: place for place, name in enumerate(_FIRST)}
        known = main.writing.commands.all
        for command in sorted(known, key=lambda one: places.get(one.name, len(places))):
            needs = f"/{command.name} " if command.takes else f"/{command.name}"
            names = ", ".join([command.name, *command.aliases])
            yield f"{names}: {words(command.about)}", "", needs
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
    ".attention",
    *(".conversation.pane", ".conversation.status", ".desktop.pane", ".inspector.pane"),
    *(".dialogs.timing", ".slash_commands"),
)
"""Everything that shows a session, imported on the thread that opens it."""


def collect_less() -> None:
    """Scan for garbage less often, and never what is loaded so far: both block the screen."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


LOST = 1
"""Exit status when something could not be saved."""
WRONG_SETTINGS = 2
HUNG_UP = 129
_FIRST_KEYS = 0.1  # seconds after the first frame in which keys have the processor for themselves
_STUCK = 2.0  # seconds to wait for the quit dialog before leaving without it


class ContextUIApp(KeyLine[int]):
    """The contextui terminal app.

    The first frame is rendered before the session is opened, because opening imports heavy modules.
    """

    TITLE = "contextui"
    CSS_PATH = [
        "app.tcss",
        "conversation/conversation.tcss",
        "desktop/desktop.tcss",
        "inspector/inspector.tcss",
    ]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-normal"), (160, "-wide")]
    VERTICAL_BREAKPOINTS = [(0, "-low"), (12, "-tall")]
    COMMANDS = {Palette}
    BINDINGS = [
        Binding("ctrl+q", "quit", "quit", show=False, priority=True),
        Binding("ctrl+p", "command_palette", "palette", key_display="^p", priority=True),
        Binding("f1", "help", "help", priority=True),
        Binding("ctrl+g", "go_to_question", show=False, priority=True),
    ]

    def __init__(
        self,
        open_desk: "Callable[[], AppSession]",
        *,
        folder: Path | None = None,
        lang: Lang = "en",
        theme: str = DARK.name,
        first_words: str = "",
        reopen: Reopen | None = None,
        resumes: str | None = None,
    ) -> None:
        super().__init__()
        self.words = Words(lang)
        self.asker: Asker | None = None
        self.attention: Attention | None = None
        self.shutdown = Shutdown(self.words, self._close_by_force)
        """Limits how long quitting may take."""
        self.signals = Signals(self._leave_with, self.shutdown)
        """Quits the app on a signal; a context manager to enter around `run`."""
        self._is_exiting = False
        self._open_desk, self._first_words = open_desk, first_words
        self.typed_ahead = ""
        """What was typed before the app read the terminal."""
        main = MainScreen(self.words, folder or Path.cwd(), self.hold, resumes)
        self.switcher = Switcher(self, self.words, main, self._show_session, reopen)
        """Replaces the session by another one."""
        self.theme = theme

    @property
    def main(self) -> MainScreen:
        return self.switcher.main

    @property
    def desk(self) -> "AppSession | None":
        return self.switcher.desk

    def get_driver_class(self) -> type[Driver]:
        """Return a driver that also notes Ctrl+C on its own thread, while the app is blocked."""
        app, base = self, super().get_driver_class()

        class WatchedDriver(base):  # type: ignore[misc,valid-type]  # chosen by the platform
            def process_message(self, message: Message) -> None:
                if isinstance(message, events.Key):
                    app.signals.watch_key(message.key)
                super().process_message(message)

        return WatchedDriver

    def accepts(self, paste: events.Paste) -> bool:
        """Refuse a paste that no field can hold, with a notice."""
        if len(paste.text) <= MOST_PASTED:
            return True
        self.notify(too_large(paste.text, self.words), severity="warning", markup=False)
        return False

    def get_default_screen(self) -> MainScreen:
        """Return the main screen; an empty one below it would be styled and laid out as well."""
        return self.main

    def on_mount(self) -> None:
        with suppress(ValueError, RuntimeError, NotImplementedError):  # not on the main thread
            self.signals.listen(self._driver)
        # A daemon thread, so that quitting does not wait for a session that is still opening.
        opening = threading.Thread(target=self._opening, daemon=True, name="opening")
        self.call_after_refresh(self.set_timer, _FIRST_KEYS, opening.start)
        parser = XTermParser()
        for event in parser.feed(self.typed_ahead) if self.typed_ahead else ():
            self.post_message(event)
        if self.is_web:
            self._color_page(self.current_theme)
            self.theme_changed_signal.subscribe(self, self._color_page)

    def _color_page(self, _: Theme) -> None:
        """Give the page around the cells the theme's background."""
        self.write_control(f"\x1b]11;{self.theme_variables['background']}\x1b\\")

    async def on_unmount(self) -> None:
        """Close the model's connections while the event loop still runs."""
        if self.attention is not None:
            self.attention.close()
        if self.desk is not None:
            await self.desk.controller.aclose()

    def _opening(self) -> None:
        try:
            desk = self._open_desk()
            for name in _PANES:
                import_module(name, "contextui.tui")
            self.call_later(self._show, desk)
            if (preload := getattr(desk.controller.model, "preload", None)) is not None:
                preload()  # after the first frame, and before the person has typed a message
        except ContextUIError as error:
            self.call_later(self._give_up, self.words(error))
        except Exception as error:
            self.call_later(self._give_up, reason_of(error))

    async def _show(self, desk: "AppSession") -> None:
        await self.main.open_panes(desk)
        if not self.is_headless:
            collect_less()
        self._attach_session(desk)
        if self._first_words:
            self.main.send(self._first_words)

    def _attach_session(self, desk: "AppSession") -> None:
        from contextui.tui.attention import Attention  # noqa: PLC0415  (heavy: the events)
        from contextui.tui.dialogs.timing import Asker  # noqa: PLC0415  (heavy: the agent)
        from contextui.tui.slash_commands import all_commands  # noqa: PLC0415

        main = self.main
        self.switcher.desk = desk
        self.asker = Asker(self, self.words, lambda: main.prompt, main.wait_for_person)
        desk.controller.tools.gate.ask = self.asker.ask
        self.attention = self.attention or Attention(self, self.words)
        self.attention.follow(Path(desk.session.cwd).name, desk.notify)
        self.asker.announce = self.attention.ask
        main.writing.commands = all_commands(main, desk, self.switcher)
        main.attach(desk, self.asker, self.attention)
        done = self.switcher.rewound
        if done is not None and done.rewind and done.parent == desk.session.id:
            main.note(self.words("The files are as the rewind left them. /undo puts them back."))

    async def _show_session(self, desk: "AppSession") -> MainScreen:
        old = self.main
        self.hold(lambda: not self.switcher.is_under_way)  # keys are for what is put there first
        while self.screen is not old:  # dialogs of the old session
            self.pop_screen()
        main = MainScreen(self.words, Path(desk.session.cwd), self.hold)
        main.set_class(old.has_class("-no-inspector"), "-no-inspector")
        if not old._result_callbacks:  # the default screen was not pushed, and has none to pop
            old._push_result_callback(old, None)
        with self.batch_update():
            await self.switch_screen(main)
            await main.composed.wait()
            self.switcher.main = main
            await main.open_panes(desk)
            self._attach_session(desk)
        main.prompt.focus()
        for message in old.early:
            main.submit(message)
        return main

    def on_resume_row_chosen(self, message: "ResumeRow.Chosen") -> None:
        self.main.prompt.focus()
        try:
            self.switcher.switch(message.session_id)
        except ContextUIError as error:
            self.main.note(error, is_error=True)

    @on(MainScreen.CommandFailed)
    def _survive(self, message: MainScreen.CommandFailed) -> None:
        self.survive(message.error)

    def _give_up(self, reason: str) -> None:
        self.exit(WRONG_SETTINGS, return_code=WRONG_SETTINGS, message=reason)

    async def action_quit(self) -> None:
        if isinstance(self.screen, QuitScreen):
            return
        if self.desk is None or self.desk.session.save():
            self._leave_with(0)
        else:
            screen = QuitScreen(self.words, self.desk.session)
            self.push_screen(screen, lambda wanted: self._leave_with(0) if wanted else None)

    def action_command_palette(self) -> None:
        # Commands only apply to the main screen, and it is about to be another one.
        is_tiny = self.main.has_class("-tiny")  # its list could not have a row
        if self.screen is self.main and not self.switcher.is_under_way and not is_tiny:
            hint = self.words("Search commands   ↑↓ move   enter run   esc close")
            palette = CommandPalette(placeholder=hint)
            self.push_screen(palette)  # its list takes no keys before it has rows
            self.hold(lambda: any(one.size for one in palette.query(CommandList)))

    def action_help(self) -> None:
        if not isinstance(self.screen, HelpScreen):
            self.push_screen(HelpScreen(self.words, self.main.writing.commands))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Enable `go_to_question` for a pending question; the main screen has its own ctrl+g."""
        if action == "go_to_question":
            waits = self.asker is not None and self.asker.is_waiting
            return waits and not isinstance(self.screen, MainScreen | GoTo)
        if action in ("command_palette", "help") and isinstance(self.screen, MainScreen):
            return not self.screen.keeps_keys()
        return super().check_action(action, parameters)

    def action_go_to_question(self) -> None:
        menu, asked = GoTo(self.words, lambda _: None, [QUESTION]), QUESTION[0]
        self.push_screen(menu, lambda key: self.main.open_question() if key == asked else None)

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
        return len(self.screen_stack), self.main.layouts

    def write_control(self, text: str) -> None:
        if self._driver is not None:
            self._driver.write(text)

    def exit(
        self,
        result: int | None = None,
        return_code: int = 0,
        message: RenderableType | None = None,
    ) -> None:
        """Quit; print what could not be saved, or how to resume the conversation."""
        self._is_exiting = True
        self.shutdown.end_within()
        if self.attention is not None:
            self.attention.close()
        self.main.keep_draft()
        lost = self._lost()
        if lost and not return_code:
            result = return_code = LOST
        if message is None and return_code != HUNG_UP:  # on hangup there is no terminal to print to
            message = lost
            if not lost and not return_code and self.desk is not None and self.desk.has_messages:
                message = Text(self.words("contextui -c resumes this conversation."))
        super().exit(result, return_code, message)

    def _lost(self) -> Text | None:
        if self.desk is None or self.desk.session.save():
            return None
        lost = unsaved_words(self.desk.session, self.words)
        return Text(f"{lost} {self.words('contextui -c resumes without them.')}")

    def _leave_with(self, status: int) -> None:
        self.exit(status, return_code=status)

    def post_message(self, message: Message) -> bool:
        """Queue a message; on ctrl+q, end the program even if a window blocks all keys."""
        if isinstance(message, events.Key) and message.key == "ctrl+q":
            asyncio.get_running_loop().call_later(_STUCK, self._end_if_stuck, message)
        return super().post_message(message)

    def _end_if_stuck(self, quit_key: events.Key) -> None:
        if quit_key in self._waiting:
            self.shutdown.end_within()

    def _close_by_force(self) -> int:
        """Restore the terminal and close the session before the process is killed."""
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

    async def run_action(self, *given: Any, **named: Any) -> bool:
        """Run an action of a key or a link; one that fails does not end the app."""
        try:
            return await super().run_action(*given, **named)
        except Exception as error:
            if _guard(error) is not None or self._is_exiting:
                raise
            self.survive(error)
            return True

    def survive(self, error: BaseException) -> None:
        """Say in one line that a command or a dialog failed, and go on; the report is written."""
        report, words = write_report(error), self.words
        while self.screen is not self.main and self.main in self.screen_stack:
            super().pop_screen()
        parts = [words("This failed because of a bug: {reason}.", reason=_reason(error))]
        if report is not None:
            parts.append(words("The report is in {file}.", file=report))
        self.main.note(" ".join(parts), is_error=True)

    def _can_survive(self, error: Exception) -> bool:
        """Whether only a dialog failed, or a command that goes on beside the screen."""
        from contextui.tui.desktop.widgets import nodes_of  # noqa: PLC0415  (heavy: the windows)

        if self.desk is None or self.main not in self.screen_stack:
            return False
        nodes = nodes_of(error)
        is_command = isinstance(error, WorkerFailed) and nodes[:1] == [self]
        around = (up for one in nodes if isinstance(one, Widget) for up in one.ancestors_with_self)
        return is_command or any(isinstance(one, Screen) and one is not self.main for one in around)

    def _handle_exception(self, error: Exception) -> None:
        """Replace Textual's crash handler, which prints local variables, API keys included."""
        from contextui.tui.desktop.widgets import cause_of  # noqa: PLC0415  (heavy: the windows)

        if (guard := _guard(error)) is not None:  # a third-party widget: drop it
            write_report(error)
            guard.guarded_failed(cause_of(error))
            return
        if self._is_exiting:  # errors during teardown are logged and ignored
            write_report(error)
            return
        if self._can_survive(error):
            self.survive(cause_of(error))
            return
        crash = error
        if not isinstance(error, Crash):
            crash = Crash(error, write_report(error), self.words, str(self._lost() or ""))
        crash.__cause__ = error
        super()._handle_exception(crash)
