"""The conversation pane: the message history, streaming, and saving code blocks."""

import asyncio
from pathlib import Path

from textual.app import ComposeResult
from textual.binding import Binding
from textual.widget import Widget

from contextui.context.item import ItemType
from contextui.errors import ContextUIError, os_reason
from contextui.events import (
    AnswerDiscarded,
    AnswerGiven,
    CallFinished,
    Event,
    Notice,
    RetryScheduled,
    TurnFinished,
    TurnStarted,
    UsageSpent,
)
from contextui.files.errors import FileError
from contextui.model import TextDelta, ThinkingDelta
from contextui.secrets import mask_own
from contextui.session.code.index import CodeStoreError
from contextui.session.code.refs import code_blocks, has_reference, save_blocks, with_code
from contextui.session.code.store import CodeStore
from contextui.tui.app_session import AppSession
from contextui.tui.conversation.entries import (
    AsideLine,
    Called,
    CallLine,
    Entry,
    FoldedLine,
    ModelMessage,
    ModelWords,
    PersonMessage,
    Thought,
    TurnLine,
    YourWords,
    entries_of,
    made_of,
)
from contextui.tui.conversation.entry_list import EntryList
from contextui.tui.conversation.recent import find_recent, trust_line, untrusted_in, widgets_of
from contextui.tui.conversation.shell import CommandLine, TypedCommand, end_line
from contextui.tui.conversation.welcome import Try, Welcome
from contextui.tui.lines import shown_folder
from contextui.words import Text, Words, msg


class Conversation(EntryList):
    """The conversation between person and model, newest at the bottom.

    It follows new lines while scrolled to the bottom, and otherwise keeps its scroll position.
    """

    BINDINGS = [
        Binding("enter", "unfold", "expand calls"),
        Binding("ctrl+y", "copy", "copy answer", key_display="^y"),
        Binding("ctrl+s", "save_code", "save code", key_display="^s"),
    ]

    def __init__(self, words: Words, folder: Path, desk: AppSession) -> None:
        super().__init__(words, self._widget, id="log")
        self._folder, self._desk = folder, desk
        self._answer: ModelWords | None = None
        self._call: CallLine | None = None
        self._thought: Thought | None = None
        self._retry: AsideLine | None = None  # why the last request is retried
        self._asides = desk.session.asides()
        self.before = entries_of(desk.session.context.get_all(), words, self._asides)
        self._workspace = desk.session.windows.workspace

    def compose(self) -> ComposeResult:
        yield Welcome(self._words, self._folder)
        yield from super().compose()

    def on_mount(self) -> None:
        self.anchor()
        self._show_ways(self._words("use a local server: looking…") * self._desk.is_offline)
        self.show_model()
        self._show_first()
        if self._desk.session.has_older_items:
            self.run_worker(self._read_older(), name="older")

    def show_model(self) -> None:
        self.query_one(Welcome).set_class(self._desk.is_offline, "-offline")
        self.query_one("#offline").display = self._desk.is_offline

    def _show_ways(self, server: str = "") -> None:
        login = ("/login", self._words("enter an API key"))
        model = ("/model", server or self._words("use a local server, or another model"))
        self.query_one(Welcome).show_offline([login, model])

    async def find_server(self) -> None:
        from contextui.agent.models.catalogue import (  # noqa: PLC0415  (after the first frame)
            local_server,
        )

        words = self._words
        try:
            found = await local_server(await asyncio.to_thread(self._desk.load_settings))
        except (OSError, ContextUIError):
            found = None
        text = ""
        if found is not None and found.models:
            text = words("use a local server: {name} found", name=found.provider.title)
        if self._desk.is_offline:
            self._show_ways(text)

    async def show_recent(self) -> None:
        try:
            recent = await asyncio.to_thread(find_recent, self._desk)
        except (OSError, ContextUIError):
            return  # the start screen stays as it is
        welcome = self.query_one(Welcome)
        if not welcome.display or any(one.has_focus for one in welcome.query(Try)):
            return
        if not recent.heads:
            if waiting := trust_line(recent.untrusted, recent.servers, self._words):
                await welcome.show_waiting(waiting)
        else:
            folder = shown_folder(self._desk.session.cwd)
            await welcome.show_recent(widgets_of(recent, self._words, folder))

    async def note_untrusted(self) -> None:
        """Say what waits for trust, in a conversation that goes on."""
        found = await asyncio.to_thread(untrusted_in, self._desk)
        if waiting := trust_line(*found, self._words):
            self.note(waiting.plain.removeprefix("● "), is_kept=False)

    async def _read_older(self) -> None:
        try:
            items = await asyncio.to_thread(self._desk.session.older_items)
        except OSError as error:
            reason = os_reason(error)
            self.note(self._words("The log cannot be read: {reason}", reason=reason), is_kept=False)
            return
        all_shown = not self.before
        self.before = [*entries_of(items, self._words, self._asides), *self.before]
        (self._show_first if all_shown else self.offer_earlier)()

    def _show_first(self) -> None:
        if self._is_whole and self.before:
            self.query_one(Welcome).display = False
            self.show_earlier()

    # --- turn events -------------------------------------------------------------------

    def handle(self, event: Event) -> None:
        if not self._is_whole:
            return
        if not isinstance(event, ThinkingDelta | AnswerDiscarded | UsageSpent):
            self._thought = None
        match event:
            case ThinkingDelta():
                self._think(event.text)
            case TextDelta():
                self._stream(event.text)
            case AnswerDiscarded():
                self._discard()
            case RetryScheduled():
                self._show_retry(self._words(event.reason))
            case AnswerGiven():
                self._end_answer(self._with_code(event.text) if has_reference(event.text) else None)
            case CallFinished() if self._call is not None:
                self._call.finish(event)
            case _:
                self._say(event)

    def _say(self, event: Event) -> None:
        """Add what an event says, and keep a notice: a resumed session shows it once more."""
        if isinstance(event, TurnStarted):
            self._answer = None
            self.anchor()
        elif isinstance(event, TurnFinished):
            self._end_answer()
            self._call = None
            self._show_retry("")
        for entry in made_of(event, self._words):
            widget = self._add(entry)
            if isinstance(widget, CallLine):
                self._call = widget
            if isinstance(entry, Notice) and not isinstance(event, TurnStarted | TurnFinished):
                self._desk.session.keep("aside", text=entry.text, isError=entry.is_error)

    def _show_retry(self, reason: str) -> None:
        """Show why a request is retried while the turn runs; the event repeats every second."""
        if self._retry is not None and self._retry.entry.text != reason:
            self.remove_children([self._retry])
            self._retry = None
        if self._retry is None and reason:
            self._retry = AsideLine(reason)
            self._append(self._retry)

    def wait(self, is_waiting: bool) -> None:
        if self._call is not None:
            self._call.wait(is_waiting)

    def note(self, text: Text, *, is_error: bool = False, is_kept: bool = True) -> None:
        """Add a notice; one that is about this run alone is not kept."""
        notice = Notice(self._words(text), is_error)
        if is_kept:
            self._say(notice)
        else:
            self._add(notice)

    def show_command(self, command: TypedCommand) -> None:
        """Add a command that the person typed into the prompt; if it is there, show its end."""
        self._desk.session.keep("command", **command.to_keep)
        line = next((one for one in self.query(CommandLine) if one.entry is command), None)
        if line is None and command not in [*self.before, *self.after]:
            self._add(command)
            return
        if command.is_running:
            return
        if line is not None:
            line.show_end()
        if self.region and (line is None or not self.region.overlaps(line.region)):
            self.notify(end_line(command, self._words), markup=False)

    def action_unfold(self) -> None:
        calls = [child for child in self.children if isinstance(child, FoldedLine)][-10:]
        opening = not all(call.is_open for call in calls)
        for call in calls:
            if call.is_open != opening:
                call.toggle()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("copy", "save_code"):
            return bool(self.query(ModelWords) or self._last_answer())
        return super().check_action(action, parameters)

    def action_copy(self) -> None:
        answers = self.query(ModelWords)
        if answers and (text := answers.last().shown):
            self.app.copy_to_clipboard(text)
        else:
            self.notify(self._words("There is no answer yet."), markup=False)

    async def action_save_code(self) -> None:
        answer = self._last_answer()
        if self._workspace is None or not any(code_blocks(answer)):
            message = self._words("The last answer has no code block of more than 10 lines.")
            self.notify(message, markup=False)
            return
        workspace, lang = self._workspace, self._words.lang
        try:
            saved = await asyncio.to_thread(
                lambda: save_blocks(CodeStore.of(workspace), mask_own(answer), lang)
            )
        except (CodeStoreError, FileError) as error:
            self.notify(error.text(lang), severity="error", markup=False)
            return
        names = ", ".join(one.code_id for one in saved)
        text = msg("Saved {names}. See the code window.")
        self.note(self._words(text if saved else msg("This code is already saved."), names=names))

    def _last_answer(self) -> str:
        items = self._desk.session.context.get_all()
        answers = (item for item in reversed(items) if item.type is ItemType.ASSISTANT)
        return next((answer.content for answer in answers if answer.content.strip()), "")

    # --- internals ---------------------------------------------------------------------

    def _think(self, text: str) -> None:
        if self._thought is None:
            self._thought = Thought(self._words)
            self._append(self._thought)
        self._thought.feed(text)

    def _stream(self, text: str) -> None:
        if self._answer is None:
            self._answer = ModelWords(self._words)
            self._append(self._answer)
        self._answer.feed(text)

    def _end_answer(self, text: str | None = None) -> None:
        if self._answer is not None:
            self._answer.finish(text)
            self._answer = None

    def _with_code(self, text: str) -> str:
        """Resolve code references for display; the context keeps the references."""
        return with_code(text, self._workspace, self._words.lang)

    def _discard(self) -> None:
        self.remove_children([one for one in (self._thought, self._answer) if one is not None])
        self._thought = self._answer = None

    def _add(self, entry: Entry) -> Widget:
        widget = self._widget(entry)
        self._append(widget)
        return widget

    @property
    def _is_whole(self) -> bool:
        """Whether the pane can show something: not while the app shuts down."""
        return self.is_attached and bool(self.query(Welcome))

    def _append(self, widget: Widget) -> None:
        if self._is_whole:
            self.query_one(Welcome).display = False
            self.append(widget)
        elif (entry := getattr(widget, "entry", None)) is not None:
            self.before.append(entry)  # it is shown once the pane is mounted

    def _widget(self, entry: Entry) -> Widget:
        match entry:
            case PersonMessage(text):
                return YourWords(text, self._words)
            case ModelMessage(text, omitted):
                return ModelWords(self._words, self._with_code(text), omitted)
            case Called():
                return CallLine(entry, self._words)
            case Notice(text, is_error):
                return AsideLine(text, is_error=is_error)
            case TurnFinished():
                return TurnLine(entry, self._words)
            case TypedCommand():
                return CommandLine(entry, self._words)
