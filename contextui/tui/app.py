"""`ContextUIApp`: bindings and wiring. It holds no logic."""

import asyncio
import gc
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from rich.console import RenderableType
from rich.text import Text
from textual import events, on
from textual.binding import Binding
from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.message import Message

from contextui.config.settings import Lang
from contextui.context.item import ItemType
from contextui.errors import ContextUIError
from contextui.files.protection import make_private
from contextui.secrets import mask
from contextui.session.paths import contextui_home
from contextui.text import one_line
from contextui.tui.desktop.widgets import cause_of, guard_of
from contextui.tui.dialogs.disk import QuitScreen, unsaved_words
from contextui.tui.dialogs.help import QUESTION, GoTo, HelpScreen
from contextui.tui.dialogs.timing import Asker, WaitingLine
from contextui.tui.keys import KeyLine
from contextui.tui.lines import line
from contextui.tui.link import Desk
from contextui.tui.main import MainScreen
from contextui.tui.shutdown import Leaving, Signals
from contextui.tui.themes import THEMES
from contextui.tui.words import Words
from contextui.windowing.trouble import reason_of


class Crash(Exception):  # noqa: N818  it tells of an error, it is none of its own
    """Stands for an error that nobody expected, in words for the person."""

    def __init__(self, error: BaseException, report: Path | None, lost: str = "") -> None:
        reason = one_line(f"{type(error).__name__}: {mask(str(error))}", 300)
        kept = f" The report is in {report}." if report is not None else ""
        super().__init__(
            f"contextui stopped because of a mistake of its own: {reason}.{kept} "
            f"{lost or 'Everything said is kept: contextui -c goes on.'}"
        )

    def __rich__(self) -> Text:
        return Text(str(self))


def write_report(error: BaseException) -> Path | None:
    """Keep the traceback in a file that only the person can read; None if that fails too."""
    path = contextui_home() / "crash.log"
    told = mask("".join(traceback.format_exception(error)))
    try:
        make_private(path.parent)
        path.touch(mode=0o600)
        path.write_text(told, encoding="utf-8", errors="replace")
    except OSError:
        return None
    return path


class Palette(Provider):
    """Offers what can be done now."""

    async def discover(self) -> Hits:
        """All of it, while nothing was typed."""
        for title, about, text in self._all():
            yield DiscoveryHit(Content(title), partial(self._run, text), help=about or None)

    async def search(self, query: str) -> Hits:
        """What fits the words that were typed."""
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
            main.do(text)


LOST = 1
"""The exit status if something could not be saved."""
WRONG_SETTINGS = 2
HUNG_UP = 129
_STUCK = 2.0  # seconds after which a question that does not open is not waited for


class ContextUIApp(KeyLine[int]):
    """The program in a terminal.

    The first frame is drawn before the session is opened: opening imports what is heavy.

    Args:
        open_desk: Opens the session; called on a thread of its own.
        folder: The folder it belongs to, as it is shown.
        lang: The language of the screen.
        theme: The theme to begin with.
        first_words: What the person said on the command line already.
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
        Binding("ctrl+q", "leave", "quit", show=False, priority=True),
        Binding("ctrl+p", "command_palette", "palette", key_display="^p", priority=True),
        Binding("f1", "help", "help", priority=True),
        Binding("ctrl+g", "go_to_question", show=False, priority=True),
    ]

    class Opened(Message):
        """The session is open."""

        def __init__(self, desk: Desk) -> None:
            super().__init__()
            self.desk = desk

    class NotOpened(Message):
        """The session could not be opened."""

        def __init__(self, reason: str) -> None:
            super().__init__()
            self.reason = reason

    def __init__(
        self,
        open_desk: Callable[[], Desk],
        *,
        folder: Path | None = None,
        lang: Lang = "en",
        theme: str = "contextui-dark",
        first_words: str = "",
    ) -> None:
        super().__init__()
        self.words = Words(lang)
        self.desk: Desk | None = None
        self.asker: Asker | None = None
        self.leaving = Leaving(self.words, self._say_who_held_up, self._close_by_force)
        """Sees to it that leaving takes no longer than some seconds."""
        self.signals = Signals(self._leave_with, self.leaving.end_within)
        """Quits when a signal asks for it; to be entered around `run`."""
        self._is_leaving = False
        self._open_desk, self._first_words = open_desk, first_words
        self.main = MainScreen(self.words, folder or Path.cwd(), self.hold)
        for one in THEMES:
            self.register_theme(one)
        self.theme = theme

    def on_mount(self) -> None:
        """Show the frame, and open the session once it is on the screen."""
        with suppress(ValueError, RuntimeError, NotImplementedError):  # not on the main thread
            self.signals.listen()
        self.push_screen(self.main)
        self.call_after_refresh(self._start_opening)

    async def on_unmount(self) -> None:
        """Let go of the model's connections while there is an event loop to do it in."""
        if self.desk is not None:
            await self.desk.controller.aclose()
        self.leaving.closed()

    def _start_opening(self) -> None:
        # A daemon thread: leaving does not wait for a session that is still being opened.
        threading.Thread(target=self._opening, daemon=True, name="opening").start()

    def _opening(self) -> None:
        try:
            self.post_message(self.Opened(self._open_desk()))
        except ContextUIError as error:
            self.post_message(self.NotOpened(str(error)))
        except Exception as error:
            self.post_message(self.NotOpened(reason_of(error)))

    @on(Opened)
    def _show(self, message: Opened) -> None:
        """Hand the session to the screen."""
        # What is loaded stays. To look through it for garbage would halt the screen for a tenth
        # of a second each time.
        if not self.is_headless:
            gc.freeze()
        self.desk = message.desk
        self.asker = Asker(self, self.words, lambda: self.main.prompt, self.main.wait_for_person)
        message.desk.controller.tools.gate.ask = self.asker.ask
        self.main.attach(message.desk, self, self.asker)
        if self._first_words:
            self.main.say(self._first_words)

    @on(NotOpened)
    def _give_up(self, message: NotOpened) -> None:
        """Leave, and say why on the terminal."""
        self.exit(WRONG_SETTINGS, return_code=WRONG_SETTINGS, message=message.reason)

    def action_leave(self) -> None:
        """End the program; ask first if something cannot be saved."""
        if isinstance(self.screen, QuitScreen):
            return
        if self.desk is None or self.desk.session.save():
            self._leave_with(0)
        else:
            self.push_screen(QuitScreen(self.words, self.desk.session), self._leave_unsaved)

    async def action_quit(self) -> None:
        """End the program, as ctrl+q does."""
        self.action_leave()

    def _leave_unsaved(self, wanted: bool | None) -> None:
        if wanted:
            self._leave_with(0)

    def action_command_palette(self) -> None:
        """Every command, by name."""
        if self.screen is self.main:  # elsewhere there is nothing to command
            self.push_screen(CommandPalette(placeholder=self.words("every command, by name…")))

    def action_help(self) -> None:
        """All keys and commands."""
        if not isinstance(self.screen, HelpScreen):
            self.push_screen(HelpScreen(self.words, self.main.commands))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Whether an action can be done: the main screen itself leads to a question."""
        if action == "go_to_question":
            waits = self.asker is not None and self.asker.is_waiting
            return waits and not isinstance(self.screen, MainScreen | GoTo)
        return super().check_action(action, parameters)

    def action_go_to_question(self) -> None:
        """Ask for one more key, which opens the question that waits."""
        self.push_screen(GoTo(self.words, lambda _: None, [QUESTION]), self._go_to_question)

    def _go_to_question(self, key: str | None) -> None:
        if key == QUESTION[0]:
            self.main.open_question()

    @on(WaitingLine.Clicked)
    def _open_clicked(self) -> None:
        self.main.open_question()

    @contextmanager
    def batch_update(self) -> Iterator[None]:
        """Draw nothing until the end of this; then all, if things were laid out in between.

        A layout within a batch is drawn in vain by the base: a dialog that closes while an answer
        is streamed would leave lines on the terminal that stand elsewhere by now.
        """
        before = self._laid_out()
        with super().batch_update():
            yield
        if self._laid_out() != before:
            self.screen.refresh()

    def _laid_out(self) -> tuple[int, int]:
        """Which screen is in front, and how often the main one was laid out."""
        return len(self.screen_stack), self.main.layouts

    def exit(
        self,
        result: int | None = None,
        return_code: int = 0,
        message: RenderableType | None = None,
    ) -> None:
        """End the program; say what is lost, or how to resume the conversation."""
        self._is_leaving = True
        self.leaving.begin()
        self.main.keep_draft()
        lost = self._lost()
        if lost and not return_code:
            result = return_code = LOST
        if message is None and return_code != HUNG_UP:  # then there is no terminal to say it on
            message = lost or (None if return_code else self._farewell())
        super().exit(result, return_code, message)

    def _lost(self) -> Text | None:
        """What could not be saved; None if everything is."""
        if self.desk is None or self.desk.session.save():
            return None
        lost = unsaved_words(self.desk.session, self.words)
        return Text(f"{lost} {self.words('contextui -c resumes without them.')}")

    def _farewell(self) -> Text | None:
        items = self.desk.session.context.get_all() if self.desk is not None else ()
        if not any(one.type is ItemType.USER for one in items):
            return None
        return Text(self.words("contextui -c goes on with this conversation."))

    def _leave_with(self, status: int) -> None:
        self.exit(status, return_code=status)

    def post_message(self, message: Message) -> bool:
        """Take note of something; of the wish to leave even where a window holds up all keys."""
        if isinstance(message, events.Key) and message.key == "ctrl+q":
            if self.desk is not None and self.desk.session.unsaved:  # it is asked first
                asyncio.get_running_loop().call_later(_STUCK, self._begin_leaving_if_stuck)
            else:
                self.leaving.begin()
        return super().post_message(message)

    def _begin_leaving_if_stuck(self) -> None:
        """A window holds up all keys, so that the question cannot be opened either."""
        if self._waiting:
            self.leaving.begin()

    def _say_who_held_up(self, told: str) -> None:
        """Leave, if that has not begun yet, and say what was in the way."""
        code = self.return_code or 0
        if told or not self._is_leaving:
            self._is_leaving = True
            super().exit(code, return_code=code, message=Text(told) if told else None)

    def _close_by_force(self) -> int:
        """Leave the terminal and the session in order: the process is about to be ended.

        Returns:
            The exit status.
        """
        self.signals.restore_attributes()  # the driver may wait for something
        if self._driver is not None:
            self._driver.stop_application_mode()
        if self.desk is not None:
            self.desk.close()
        return LOST if self.desk is not None and self.desk.session.unsaved else 0

    def _handle_exception(self, error: Exception) -> None:
        """A mistake, mostly our own: the default prints all local variables, keys among them."""
        if (guard := guard_of(error)) is not None:  # a stranger's: the window does without it
            write_report(error)
            guard.guarded_failed(cause_of(error))
            return
        if self._is_leaving:  # what is being taken down may stumble, and changes nothing any more
            write_report(error)
            return
        told = (
            error
            if isinstance(error, Crash)
            else Crash(error, write_report(error), str(self._lost() or ""))
        )
        told.__cause__ = error
        super()._handle_exception(told)
