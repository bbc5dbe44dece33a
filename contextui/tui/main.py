"""The main screen: desktop, conversation and inspector, and the navigation between panes."""

import asyncio
import time
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, cast

from textual import events, on
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.geometry import Offset
from textual.message import Message
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input, Static, TextArea

from contextui.errors import ContextUIError
from contextui.tui.conversation.input import InputArea, Until
from contextui.tui.conversation.prompt import Prompt
from contextui.tui.conversation.welcome import Try, Welcome
from contextui.tui.dialogs.help import AGAIN, PLACES, QUESTION, SIZES, GoTo, Place
from contextui.tui.dialogs.unsaved import RETRY
from contextui.tui.dividers import Dividers, Grip
from contextui.tui.footer import KeyFooter
from contextui.tui.header import Header, Panes
from contextui.tui.inspector.budget import BudgetBar
from contextui.tui.inspector.tabs import TabBar
from contextui.tui.keys import KeyLine, is_for_prompt
from contextui.tui.lines import MUTED, line, shown_folder
from contextui.tui.pane_sizes import PaneSizes
from contextui.tui.timers import sure_timer
from contextui.words import Text, Words

if TYPE_CHECKING:
    from contextui.events import Event
    from contextui.tui.app_session import AppSession, ChangeCollector
    from contextui.tui.attention import Attention
    from contextui.tui.conversation.draft import FolderDraft
    from contextui.tui.conversation.pane import Conversation
    from contextui.tui.conversation.status import TurnStatus
    from contextui.tui.desktop.pane import Desktop
    from contextui.tui.desktop.shared import MentionRequested
    from contextui.tui.desktop.widgets import Guard
    from contextui.tui.dialogs.timing import Asker
    from contextui.tui.inspector.pane import Inspector
    from contextui.tui.turn_queue import TurnQueue

Hold: TypeAlias = Callable[[Callable[[], bool]], object]
"""Holds key events back until a condition is true, e.g. until a pane has the focus."""

_PLACES = {"c": "chat", "i": "context", "p": "prompt"}
_NUMBERS = frozenset("123456789")
_PANES = {"prompt": "#prompt", "windows": "#desktop", "context": "#inspector", "chat": "#log"}
_BARS = {"prompt": "chat", "chat": "chat", "windows": "windows", "context": "context"}


class Navigation:
    """Moves the focus between panes.

    On a narrow terminal, which shows one pane at a time, entering a pane also shows it.
    """

    def __init__(self, screen: "MainScreen", hold: Hold) -> None:
        self._screen, self._hold = screen, hold

    @property
    def _panes(self) -> dict[str, Widget]:
        found = {name: self._screen.query(selector) for name, selector in _PANES.items()}
        return {name: panes.first() for name, panes in found.items() if panes}

    def next(self, step: int) -> None:
        names = [name for name in self._panes if self._can_show(name)]
        here = names.index(self.present) if self.present in names else -1
        if names:
            self.enter(names[(here + step) % len(names)])

    def enter(self, name: str) -> None:
        """Focus a pane and hold key events until it has the focus, so that they arrive there."""
        self._hold(lambda: self.present == name)
        self.show(_BARS[name])
        if not self.focus(name):  # not shown yet
            self._screen.call_after_refresh(self.focus, name)

    def show(self, pane: str) -> None:
        """Show a pane: end the zoom of another one; on a narrow terminal it is the only one."""
        if self._screen.has_class("-zoom") and not self._screen.has_class(f"-zoom-{pane}"):
            self.zoom()
        self._screen.query_one(Panes).show(pane)

    def expect(self, key: str) -> None:
        """Hold the keys typed after a go-to key until its target has the focus."""
        if key in _PLACES:
            self._hold(lambda: self.present == _PLACES[key])
        elif key in _NUMBERS and self._screen.desk is not None:
            self._hold(lambda: self._screen.desktop.is_at(int(key)))

    def go(self, key: str | None) -> None:
        if key and key in _PLACES:
            self.enter(_PLACES[key])
        elif key and key in _NUMBERS and self._screen.desk is not None:
            self._go_to_number(int(key))

    def _go_to_number(self, number: int) -> None:
        self._hold(lambda: self._screen.desktop.is_at(number))
        self.show("windows")
        self._screen.call_after_refresh(self._screen.desktop.action_go_to, number)

    def go_to_window(self, window_id: str) -> None:
        self._go_to_number(self._screen.desktop.number_of(window_id))

    @property
    def present(self) -> str:
        focused = self._screen.focused
        around = focused.ancestors_with_self if focused is not None else []
        return next((name for name, pane in self._panes.items() if pane in around), "")

    def zoom(self) -> None:
        zoomed, present = self._screen.has_class("-zoom"), _BARS.get(self.present, "chat")
        shown = {f"-zoom-{name}": not zoomed and name == present for name in _BARS.values()}
        self._screen.update_classes({"-zoom": not zoomed, **shown})
        self._screen.sizes.fit()

    def focus(self, name: str) -> bool:
        """Focus a pane that is shown; return whether it is."""
        stop = _stop_in(self._panes[name]) if name in self._panes else None
        if stop is not None:
            stop.focus()
        return stop is not None

    def _can_show(self, name: str) -> bool:
        hidden = {"windows": "-no-windows", "context": "-no-inspector"}
        if name in hidden and self._screen.has_class(hidden[name]):
            return False
        return self._screen.has_class("-narrow") or _stop_in(self._panes[name]) is not None


def _stop_in(pane: Widget) -> Widget | None:
    """Return the first widget in a pane that can take the focus; none on a page that is hidden."""
    if pane.focusable:
        return pane
    stops = (_stop_in(child) for child in pane.displayed_children)
    return next((stop for stop in stops if stop is not None), None)


_BATCH = 0.05  # seconds to collect changes before rendering them
_DRAFT = 0.5  # seconds between two checks of the unsent draft
_CALM = 0.3  # seconds before a command is shown to run: most have ended by then
_LONG_DRAFT = 50_000  # characters from which a draft is logged only when typing pauses


class MainScreen(Screen[None]):
    """The main screen: one widget tree in three arrangements by width; nothing is re-parented.

    The first frame has no code of sessions, windows or items: loading that takes longer than the
    frame. `open_panes` puts the panes that show a session in place of their outlines.
    """

    AUTO_FOCUS = "#prompt"
    BINDINGS = [
        Binding("tab,shift+tab", "complete", "complete", priority=True),
        Binding("tab", "next_pane(1)", "next pane", priority=True),
        Binding("shift+tab", "next_pane(-1)", show=False, priority=True),
        Binding("ctrl+g", "leave_window", "leave, go to", key_display="^g", priority=True),
        Binding("ctrl+g", "go_to", "go to", key_display="^g", priority=True),
        Binding("ctrl+f", "find", show=False),
        Binding("f2", "inspector", "inspector"),
        Binding("f3", "zoom", show=False),
        Binding("escape", "back", show=False),
        Binding("ctrl+c", "stop_or_clear", show=False, priority=True),
        Binding("ctrl+v", "paste", show=False),
    ]

    # These are there as soon as there is a session.
    desktop: "Desktop"
    inspector: "Inspector"
    conversation: "Conversation"
    _attention: "Attention"
    _status: "TurnStatus"
    _draft: "FolderDraft"

    class CommandFailed(Message):
        """Posted when a slash command raised an error that is a bug."""

        def __init__(self, error: Exception) -> None:
            super().__init__()
            self.error = error

    def __init__(self, words: Words, folder: Path, hold: Hold, resumes: str | None = None) -> None:
        super().__init__(classes="-no-windows")  # no window is open yet
        self._resumes = resumes
        self.words, self._folder, self._hold = words, folder, hold
        self.sizes = PaneSizes(self, Dividers())
        self.desk: AppSession | None = None
        self._collector: ChangeCollector | None = None
        self._asker: Asker | None = None
        self._noticed = 0  # notices of the session that were shown
        self.undo_rewind: Callable[[], bool] = lambda: False
        """Undoes a rewind if that was the last thing; returns whether it was."""
        self.turns: TurnQueue | None = None
        """Runs the turns; None while a session is being opened."""
        self.early: list[Prompt.Submitted] = []
        """What was sent while a session is being opened."""
        self._starting = asyncio.Lock()  # held while a typed command starts
        self._typed = ""  # the unsent text at the last check
        self.writing = InputArea(words)
        """The prompt with its completions and queued messages."""
        self.prompt.leave_downward, self.prompt.scroll_log = self._offer_tries, self._scroll_log
        self.prompt.open_notice, self.prompt.take_back = self.open_question, self._take_back
        self.action_complete, self.action_next_pane = self.writing.complete, self.navigation.next
        self.action_zoom = self.navigation.zoom
        self.composed = asyncio.Event()
        """Set once the frame and the prompt are there."""
        self.layouts = 0
        """How often the screen was laid out."""

    def compose(self) -> ComposeResult:
        words, app = self.words, self.app
        # Otherwise they come with the first resize, which styles and lays out everything again.
        for cells, breakpoints in zip(
            app.size, (app.HORIZONTAL_BREAKPOINTS, app.VERTICAL_BREAKPOINTS), strict=True
        ):
            self.add_class(*self._get_breakpoint_classes(cells, breakpoints or []), update=False)
        yield Header(words, shown_folder(self._folder))
        yield Panes(words, self._enter_chosen)
        with Horizontal(id="body"):
            with Vertical(id="work"), Vertical(id="chat"):
                with VerticalScroll(id="log"):
                    if self._resumes is None:
                        yield Welcome(words, self._folder)
                    else:
                        first = Content.styled(line(self._resumes), "bold")
                        opening = Content.styled(words("opening…"), MUTED)
                        yield Static(Content("\n").join([first, opening]), id="resumes")
                yield self.writing
            yield Grip("inspector", self.sizes.drag, self.sizes.drop)
            with Vertical(id="inspector"):
                yield BudgetBar(words)
                yield TabBar(words)
        yield KeyFooter(words)
        yield Static(words("Terminal too small"), id="tiny")

    def on_resize(self) -> None:
        """Fit the panes; where only one has room, show that with the focus, the prompt below."""
        if self.focused is not self.prompt and (present := self.navigation.present):
            self.query_one(Panes).show(_BARS[present])
        self.sizes.fit()

    def on_mount(self) -> None:
        self.screen_layout_refresh_signal.subscribe(self, self._count_layout, immediate=True)
        self.sizes.fit()
        self.prompt.focus()
        self.composed.set()

    def _count_layout(self, _: Screen[object]) -> None:
        self.layouts += 1

    def get_widget_and_offset_at(self, x: int, y: int) -> tuple[Widget | None, Offset | None]:
        """Return what the mouse selects; a removed widget may still be on the screen."""
        widget, offset = super().get_widget_and_offset_at(x, y)
        return (widget, offset) if widget is not None and widget.is_attached else (None, None)

    async def open_panes(self, desk: "AppSession") -> None:
        """Put the panes that show a session in place of their outlines."""
        from contextui.tui.conversation.pane import Conversation  # noqa: PLC0415  (see the class)
        from contextui.tui.desktop.pane import Desktop  # noqa: PLC0415
        from contextui.tui.inspector.pane import Inspector  # noqa: PLC0415

        tries = list(self.query(Try))
        chosen = next((number for number, one in enumerate(tries) if one.has_focus), None)
        focused = self.navigation.present
        self.desktop = Desktop(
            self.words,
            desk,
            self.sizes.dividers,
            prompt=lambda: self.prompt,
            reordered=self.sizes.save_soon,
        )
        self.inspector = Inspector(self.words, desk)
        self.conversation = Conversation(self.words, self._folder, desk)
        self.desk = desk
        self.set_focus(self.prompt)  # a key for what is removed would be lost
        with self.app.batch_update():
            await self.query_one("#log").remove()
            await self.query_one("#inspector").remove()
            grip = Grip("rows", self.sizes.drag, self.sizes.drop)
            await self.query_one("#work").mount(self.desktop, grip, before=0)
            await self.query_one("#chat").mount(self.conversation, before=0)
            await self.query_one("#body").mount(self.inspector)
        self.sizes.fit()
        if chosen is not None:
            self.query(Try)[chosen].focus()
        elif focused in ("chat", "context"):
            self.navigation.focus(focused)

    def attach(self, desk: "AppSession", asker: "Asker", attention: "Attention") -> None:
        from contextui.tui.app_session import ChangeCollector  # noqa: PLC0415  (see the class)
        from contextui.tui.conversation.draft import FolderDraft  # noqa: PLC0415
        from contextui.tui.conversation.status import TurnStatus  # noqa: PLC0415
        from contextui.tui.turn_queue import TurnQueue  # noqa: PLC0415

        conversation = self.conversation
        self._asker, self._attention = asker, attention
        self._collector = ChangeCollector(
            desk, lambda: self.call_later(sure_timer, self, _BATCH, self.take_changes)
        )
        self.query_one(Header).attach(desk)
        self.query_one(Panes).refresh()
        self.sizes.attach(desk, self.desktop)
        self.writing.attach(desk)
        self.writing.conversation, self.writing.find_in_files = conversation, self.find
        self._status = TurnStatus(desk.job_in)
        self.prompt.attach(desk, self._status, lambda: conversation.new_below)
        for notice in desk.notices:
            conversation.note(notice, is_kept=False)
        self._arrange(desk)
        if desk.has_messages:
            self.run_worker(conversation.note_untrusted(), name="trust")
        else:
            self.run_worker(conversation.show_recent(), name="recent")
        if desk.is_offline:
            self.run_worker(conversation.find_server(), name="server")
        self.resume(
            TurnQueue(
                desk.controller,
                self.handle,
                lambda turn: self.run_worker(turn, name="turn"),
                self._refuse,
            )
        )
        self._report_saving()
        self.set_interval(RETRY, self._retry_saving)
        self._draft = FolderDraft(desk)
        self.prompt.offer_again(self._draft.offer())
        self.set_interval(_DRAFT, self._watch_draft)

    def on_unmount(self) -> None:
        self.sizes.save()
        if self._collector is not None:
            self._collector.close()

    # --- switching the session ---------------------------------------------------------

    async def commit_typed(self) -> None:
        """Commit what the person has typed into windows and not submitted."""
        from contextui.windowing.runtime import runtime_of  # noqa: PLC0415  (see the class)

        if self.desk is not None:
            for window in self.desk.session.windows.windows():
                await runtime_of(window).commit_typed()

    def suspend(self) -> "TurnQueue | None":
        """Start no more turns; keep what is sent from now on for the next session."""
        turns, self.turns = self.turns, None
        return turns

    def resume(self, turns: "TurnQueue | None") -> None:
        """Run turns from now on, and send what was sent since `suspend`."""
        self.turns = turns
        early, self.early = self.early, []
        self.writing.show_waiting([])
        for message in early:
            self.submit(message)

    def note(self, text: Text, *, is_error: bool = False) -> None:
        if self.desk is not None:
            self.conversation.note(text, is_error=is_error)

    # --- saving ------------------------------------------------------------------------

    def note_window(self, text: str, window_id: str) -> None:
        """Add a notice about a window, with the key that leads there."""
        self.note(self.desktop.with_number(text, window_id))

    def _retry_saving(self) -> None:
        assert self.desk is not None
        self.desk.session.save()
        self._report_saving()

    def _report_saving(self) -> None:
        assert self.desk is not None
        session = self.desk.session
        new, self._noticed = session.notices[self._noticed :], len(session.notices)
        for notice in new:
            self.conversation.note(notice, is_error=session.problem is not None, is_kept=False)
            self.query_one(Panes).refresh()

    def keep_draft(self) -> None:
        """Log the unsent text, so that a resumed session restores it."""
        # While another session opens, what is typed is for that one.
        if self.turns is not None and self.is_attached and self.desk is not None:
            unsent = self._unsent
            if self._draft.keep(unsent):
                self.desk.session.keep_draft(unsent)

    @property
    def _unsent(self) -> str:
        """All text not yet sent: queued messages, then the prompt."""
        waiting = self.turns.unsent if self.turns is not None else [one.text for one in self.early]
        return "\n\n".join(text for text in [*waiting, self.prompt.whole_text] if text)

    def _watch_draft(self) -> None:
        before, self._typed = self._typed, self._unsent
        if len(self._typed) < _LONG_DRAFT or self._typed == before:
            self.keep_draft()

    @cached_property
    def navigation(self) -> Navigation:
        return Navigation(self, self._hold)

    @property
    def prompt(self) -> Prompt:
        return self.writing.prompt

    # --- events ------------------------------------------------------------------------

    def take_changes(self) -> None:
        if self._collector is None or self.desk is None or not self.is_attached:
            return
        changes = self._collector.take()
        self.desktop.take(changes)
        self.inspector.take(changes)
        self.query_one(Panes).refresh()
        self.query_one(Header).refresh()
        self.conversation.show_model()
        self._arrange(self.desk)
        for window_id, reason in changes.not_opened.items():
            text = self.words("{window} did not open: {reason}", window=window_id, reason=reason)
            self.note(text, is_error=True)
        if self.desk.wakes and changes.notified and self.turns is not None:
            self.turns.wake(self.words)
        self._report_saving()

    def handle(self, event: "Event") -> None:
        from contextui.events import (  # noqa: PLC0415  (see the class)
            CompactionFinished,
            TurnFinished,
            TurnStarted,
        )

        self._status.handle(event)
        self._attention.handle(event)
        if not self.is_attached or not self.query(InputArea):
            return  # the app is shutting down, and a turn has not ended yet
        self.conversation.handle(event)
        self.inspector.handle(event)
        if isinstance(event, TurnStarted | TurnFinished | CompactionFinished):
            is_held = isinstance(event, TurnFinished) and event.reason != "done"
            self._show_waiting("person" if is_held else "turn")

    def on_guard_failed(self, message: "Guard.Failed") -> None:
        """Log the failure of a window's custom widget; the window is drawn without it."""
        from contextui.events import Notice  # noqa: PLC0415  (see the class)

        text = self.words(
            "{name} could not be drawn: {reason}. Everything else still works.",
            name=message.window_id,
            reason=message.reason.rstrip("."),
        )
        self.inspector.handle(Notice(text))

    def _arrange(self, desk: "AppSession") -> None:
        self.set_class(not desk.session.windows.windows(), "-no-windows")

    # --- typing outside of the prompt --------------------------------------------------

    def on_key(self, event: events.Key) -> None:
        """Put a letter that no list or window takes into the prompt, and what follows it."""
        if not self.keeps_keys() and is_for_prompt(self, event):
            event.stop()
            event.prevent_default()
            self.prompt.type(event.character or "")
            self.navigation.enter("prompt")

    def on_paste(self, event: events.Paste) -> None:
        """Put a paste that no widget takes into the prompt."""
        taken = isinstance(self.focused, TextArea) and not self.focused.read_only
        if not self.keeps_keys() and not taken:  # a text area does not stop the event
            event.stop()
            self.navigation.enter("prompt")
            self.prompt.post_message(events.Paste(event.text))

    def action_paste(self) -> None:
        self.post_message(events.Paste(self.app.clipboard))

    # --- messages to the model ---------------------------------------------------------

    @on(Try.Chosen)
    def _try(self, message: Try.Chosen) -> None:
        self.prompt.focus()
        self.send(message.text)

    def send(self, text: str) -> None:
        self._send(Prompt.Submitted(text, visible=text))

    def _send(self, message: Prompt.Submitted) -> None:
        if self.turns is None:
            self.early.append(message)
            self._show_waiting()
        elif self.turns.is_running:
            self.turns.send(message)
            self._show_waiting()
        else:
            self.turns.send(message)

    @on(Prompt.Submitted)
    def submit(self, message: Prompt.Submitted) -> None:
        if not message.text:
            if self.turns is not None:
                self.turns.retry(self.words("Go on."))
        elif self.turns is not None and (
            message.is_shell or self.writing.commands.reads(message.text)
        ):
            self.conversation.anchor()  # its reply is the newest line
            if message.is_shell:
                self.run_worker(self._run_in_terminal(message.text), name="shell")
            else:
                self.run_command(message.text)
        else:
            self._send(message)

    def _refuse(self, error: ContextUIError, unsent: str) -> None:
        """Show why a message cannot be sent, and put it back."""
        self.note(error, is_error=True)
        self.writing.keep(unsent)
        self._show_waiting()

    def stop(self, *, is_wanted: bool = False) -> bool:
        """Stop the turn, else the newest typed command; return whether there was one."""
        if self.turns is None:
            return False
        return self.turns.stop() or self._status.stop_command(is_wanted=is_wanted)

    def _show_waiting(self, until: Until = "turn") -> None:
        """Show the queued messages, and what they wait for."""
        if self.turns is None:
            self.writing.show_waiting([one.text for one in self.early], "session")
        else:
            self.writing.show_waiting([one.text for one in self.turns.waiting], until)

    def _take_back(self) -> None:
        waiting = self.early if self.turns is None else self.turns.waiting
        if waiting:
            self.prompt.recall(waiting.pop().text)
            is_running = self.turns is not None and self.turns.is_running
            self._show_waiting("turn" if is_running else "person")

    def _scroll_log(self, action: str) -> None:
        self.call_next(self.app.run_action, action, self.query_one("#log"))

    def _offer_tries(self) -> None:
        tries = [one for one in self.query(Try) if one.visible and one.region]
        if tries:
            tries[0].focus()

    # --- commands ----------------------------------------------------------------------

    def run_command(self, command: str) -> None:
        """Run a slash command, or queue it until the session is open."""
        if self.turns is None:
            self._send(Prompt.Submitted(command, visible=command))
            return
        try:
            self.writing.commands.run(command)
        except ContextUIError as error:
            self.show_failed(command, error)
        except Exception as error:  # a bug: the session goes on
            self.post_message(self.CommandFailed(error))

    def show_failed(self, command: str, error: ContextUIError) -> None:
        """Show why a command failed, and put it back to be corrected."""
        self.note(error, is_error=True)
        if self.writing.commands.takes_something(command):
            self.writing.put_back(command)

    async def _run_in_terminal(self, text: str) -> None:
        from contextui.tui.conversation.shell import (  # noqa: PLC0415  (see the class)
            MARK,
            TypedCommand,
            end_line,
        )

        assert self.desk is not None
        windows, show = self.desk.session.windows, self.conversation.show_command
        command = TypedCommand(text.removeprefix(MARK).strip())
        self._status.commands.append(command)
        try:
            async with self._starting:  # one after the other, as they were typed
                await command.start(windows, lambda: show(command))
        except ContextUIError as error:
            command.seconds, command.problem = command.age, self.words(error)
            show(command)
            if not self.prompt.text:
                self.writing.put_back(text)
            return
        # The terminal may be out of sight: a small screen shows one pane.
        if windows.get(command.window_id) is not None:
            command.where = self.desktop.with_number("", command.window_id).strip()
        for seconds in (_CALM, None):
            await command.wait(windows, self.words, seconds)
            show(command)
            if not command.is_running:
                break
        self._attention.command_ended(end_line(command, self.words), command.age)

    def action_find(self) -> None:
        """Find something in the conversation."""
        self.navigation.enter("prompt")
        self.writing.find()

    def find(self, text: str) -> None:
        assert self.desk is not None
        windows = self.desk.session.windows
        there = [window for window in windows.windows() if window.name == "files"]
        window_id = (there[-1] if there else windows.open("files")).id
        # As usual in editors: capital letters are meant, small ones find both.
        given = {"text": text, "ignore_case": text == text.lower(), "under": "."}
        self._hold(lambda: self.navigation.present == "windows")
        self.navigation.show("windows")
        self.desktop.act_in(window_id, "find_text", given)

    # --- focus -------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Let tab complete in the prompt, be used by a window's widget, or else change panes."""
        if action == "complete":
            return isinstance(self.focused, Prompt) and self.focused.is_completing
        if action == "next_pane" and self.desk is not None and self.desktop.keeps_tab():
            return False
        if action == "leave_window":
            return self.keeps_keys()
        if action in ("inspector", "zoom", "go_to") and self.keeps_keys():
            return False
        return super().check_action(action, parameters)

    def keeps_keys(self) -> bool:
        return self.desk is not None and self.desktop.keeps_keys()

    def watch_focused(self) -> None:
        """Count a moved focus as input: the next key may be meant for where it was."""
        cast("KeyLine[int]", self.app).last_input = time.monotonic()

    def action_leave_window(self) -> None:
        """Leave a window's widget that uses all keys, and open the go-to menu.

        The same key again returns to the widget, which gets it. So does a question that is opened
        from here, once it is answered.
        """
        inside = self.focused
        self.desktop.leave()

        def give_back(widget: Widget) -> None:
            widget.focus()
            widget.post_message(events.Key("ctrl+g", None))

        def go(key: str | None) -> None:
            if key == AGAIN[0] and inside is not None:
                self._hold(lambda: inside.has_focus)
                self.call_after_refresh(give_back, inside)
                return
            if key == QUESTION[0] and inside is not None:
                inside.focus()
            self._go(key)

        self._open_go_to((AGAIN,), go)

    def action_go_to(self) -> None:
        self._open_go_to((), self._go)

    def _open_go_to(self, more: tuple[Place, ...], go: Callable[[str | None], None]) -> None:
        asks = self._asker is not None and self._asker.is_waiting
        places = (*((QUESTION,) if asks else ()), *PLACES, *more, *SIZES)
        menu = GoTo(self.words, self.navigation.expect, places, self.sizes.move)
        self.app.push_screen(menu, go)

    def _go(self, key: str | None) -> None:
        if key == QUESTION[0]:
            self.open_question()
        else:
            self.navigation.go(key)

    def open_question(self) -> None:
        if self._asker is not None:
            self._asker.open_now()

    def compact(self, is_wanted: bool | None) -> None:
        if is_wanted and self.turns is not None:
            self.turns.compact()

    def wait_for_person(self, is_waiting: bool) -> None:
        if not is_waiting:
            self._attention.answered()
        self._status.wait(is_waiting)
        self.conversation.wait(is_waiting)

    def _enter_chosen(self, name: str) -> None:
        self.navigation.enter("prompt" if name == "chat" else name)

    def action_inspector(self) -> None:
        if self.has_class("-narrow"):
            away = self.navigation.present == "context"
            self.navigation.enter("prompt" if away else "context")
        else:
            self.toggle_class("-no-inspector")
            self.sizes.fit()

    def on_mention_requested(self, message: "MentionRequested") -> None:
        from contextui.agent.mention import mention_of  # noqa: PLC0415  (see the class)

        if self.prompt.text and not self.prompt.text[-1:].isspace():
            self.prompt.insert(" ")
        self.prompt.insert_mention(mention_of(message.path), 0)

    def action_back(self) -> None:
        """Dismiss the innermost state: the completions, the zoom, or the current turn."""
        if self.prompt.is_completing:
            self.writing.leave_commands()
        elif self.has_class("-zoom"):
            self.action_zoom()
        else:
            self.stop()

    def action_stop_or_clear(self) -> None:
        """Copy the selection, else stop the turn, else copy a line, clear the prompt, or hint."""
        field = self.focused if isinstance(self.focused, TextArea | Input) else None
        selected = self.get_selected_text() or (field.selected_text if field else "")
        if selected:
            self.app.copy_to_clipboard(selected)
            self.clear_selection()  # so that the same key stops the turn or the command again
        elif self.keeps_keys():
            raise SkipAction
        elif not self.stop():
            if isinstance(field, TextArea) and field is not self.prompt:
                copied = field.document.get_line(field.cursor_location[0])
                self.app.copy_to_clipboard(f"{copied}\n")
            elif self.prompt.text:
                self.prompt.clear()
                self.notify(self.words("Cleared. ctrl+z brings it back."), markup=False)
            else:
                self.notify(self.words("ctrl+q quits"), markup=False)
