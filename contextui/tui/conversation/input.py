"""The input area: completions, queued messages, and sending to the model."""

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

from textual import on
from textual.app import ComposeResult, SuspendNotSupported
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static, TextArea

from contextui.errors import ContextUIError
from contextui.tui.commands import Commands, Completion
from contextui.tui.conversation.popup import Popup
from contextui.tui.conversation.prompt import Prompt
from contextui.tui.footer import hints_in
from contextui.tui.lines import FAINT, KEY, MUTED, fit, line
from contextui.words import Words, msg

if TYPE_CHECKING:
    from contextui.tui.app_session import AppSession
    from contextui.tui.conversation.mention import MentionList
    from contextui.tui.conversation.pane import Conversation

_LONGEST = 36  # maximum cells of a name
_HITS = 100  # prompts that a search shows
_HISTORY_KEYS = (("↑↓", msg("move")), ("enter", msg("take")), ("esc", msg("close")))
_FIND_KEYS = (
    *(("↑", msg("earlier")), ("↓", msg("later")), ("enter", msg("stay here"))),
    *(("tab", msg("in files")), ("esc", msg("back"))),
)


_SHOWN, _LONGEST_LINE = 3, 1_000  # queued messages, and characters of each
Until = Literal["turn", "person", "session"]
"""What queued messages wait for; after a turn that did not finish, the person sends them."""
_UNTIL: dict[Until, str] = {
    "turn": msg("queued until the turn ends   ↑ to edit"),
    "person": msg("not sent: the last turn did not finish   ↑ to edit"),
    "session": msg("sent as soon as the session is open   ↑ to edit"),
}


class Queue(Static):
    """The queued messages, one line each; a click puts the last one back into the prompt."""

    def __init__(self, words: Words, take_back: Callable[[], object]) -> None:
        super().__init__(id="queue")
        self._words, self._take_back = words, take_back

    def show(self, waiting: Sequence[str], until: Until) -> None:
        texts = [line(text[:_LONGEST_LINE]) for text in waiting[-_SHOWN:]]
        rows = [Content.assemble(("· ", KEY), text) for text in texts]
        hint = Content.styled(self._words(_UNTIL[until]), FAINT)
        self.display = bool(waiting)
        self.update(Content("\n").join([*rows, hint]))

    def on_click(self) -> None:
        self._take_back()


class InputArea(Vertical):
    """The prompt with its completions and queued messages."""

    BINDINGS = [Binding("ctrl+r", "search_history", "history", show=False)]
    DEFAULT_CSS = "InputArea { height: auto; }"

    def __init__(self, words: Words) -> None:
        super().__init__(id="writing")
        self._words = words
        self._files: MentionList | None = None
        self._is_mentioning = False
        self._is_path = False  # whether the list completes the path of a command
        self._dismissed: int | None = None  # the column of an @ whose list was closed
        self.conversation: Conversation | None = None
        self.find_in_files: Callable[[str], object] = lambda _: None
        self.commands = Commands([])
        self.prompt = Prompt(words)

    def compose(self) -> ComposeResult:
        yield Queue(self._words, self.prompt.take_back)
        yield Popup(self._words)
        yield self.prompt

    def attach(self, desk: "AppSession") -> None:
        from contextui.tui.conversation.mention import MentionList  # noqa: PLC0415  (see above)

        windows = desk.session.windows
        if windows.workspace is not None:
            self._files = MentionList(
                self.query_one(Popup), windows, windows.workspace, self._words, self._load
            )

    def _load(self, work: Callable[[], object], then: Callable[[], object]) -> None:
        async def load() -> None:
            await asyncio.to_thread(work)
            then()

        self.run_worker(load(), name="files")

    def show_waiting(self, waiting: Sequence[str], until: Until = "turn") -> None:
        self.prompt.can_take_back = bool(waiting)
        self.query_one(Queue).show(waiting, until)

    def put_back(self, command: str) -> None:
        with self.prompt.prevent(TextArea.Changed):  # completions would cover the error
            self.prompt.put(command)
        self.leave_commands()

    def keep(self, text: str) -> None:
        """Put a message that was not sent back into the prompt, before what was typed since."""
        self.leave_commands()
        since = self.prompt.whole_text
        self.prompt.recall(f"{text}\n\n{since}" if since else text)

    # --- commands ----------------------------------------------------------------------

    @on(Popup.OptionSelected)
    def complete(self) -> None:
        if self.prompt.finding:
            self.leave_commands(stays=True)
            return
        if self.prompt.is_searching:
            self._take_from_history()
            return
        if self._is_mentioning:
            self._insert_mention()
            return
        text = self.query_one(Popup).chosen
        if text is None:
            return
        if text.endswith(" "):
            self.prompt.put(text)
        else:  # run in the prompt: a message sent from here would not bubble past this widget
            self.prompt.call_next(self.prompt.say, text)

    def leave_commands(self, *, stays: bool = False) -> None:
        self.prompt.end_search()
        if self.prompt.finding and self.conversation is not None:
            self.prompt.finding = None
            self.conversation.end_search(stays=stays)
        if self._is_mentioning:
            self._end_mention(is_dismissed=True)
        self.query_one(Popup).close()
        self.prompt.is_completing = False

    @on(TextArea.Changed, "#prompt")
    def _offer_commands(self) -> None:
        self.prompt.watch_text()
        if self.prompt.is_searching:
            (self._find if self.prompt.finding else self._show_history)()
            return
        if self.prompt.text == self.prompt.recalled:
            self.leave_commands()
            return
        self.prompt.recalled = None
        self.prompt.is_completing = self._offer_files() or self._offer_names()

    def _offer_names(self) -> bool:
        text, popup = self.prompt.text, self.query_one(Popup)
        found = self.commands.completions(text)
        if [one.text for one in found] == [text]:
            found = []
        usage = self.commands.usage(text)
        if found:
            width = min(max(len(one.shown) for one in found), _LONGEST)
            # After a bare name, Enter runs the command without an argument, if that does something.
            is_bare = self.commands.is_whole(text) and text.endswith(" ")
            at = None if is_bare and not self.commands.asks_for_choice(text) else 0
            popup.show([(self._row(one, width), one.text) for one in found], at=at)
        elif usage:
            popup.show([], empty=line(usage))
        else:
            popup.close()
        return bool(found)

    def _row(self, one: Completion, width: int) -> Content:
        about = one.choice.about if one.choice is not None else self._words(one.command.about)
        return Content.assemble((fit(one.shown, width), KEY), "  ", (line(about), MUTED))

    @on(Prompt.Completing)
    def _step_or_complete(self, message: Prompt.Completing) -> None:
        popup, text = self.query_one(Popup), self.prompt.text
        if message.step:
            self._find(-message.step) if self.prompt.finding else popup.step(message.step)
            return
        if self.prompt.finding and not message.is_enter:
            self.leave_commands()
            self.find_in_files(text)
            return
        is_name = message.is_enter and not popup.is_moved and self.commands.is_whole(text)
        if not is_name or self.prompt.is_searching or self._is_mentioning:
            self.complete()
        elif not self.commands.asks_for_choice(text):
            self.prompt.call_next(self.prompt.say, text)  # a whole name wins over its completions
        elif not text.endswith(" "):
            self.prompt.put(f"{text} ")
        else:
            self.complete()

    # --- external editor ---------------------------------------------------------------

    @on(Prompt.EditorRequested)
    def _edit_outside(self) -> None:
        from contextui.tui.conversation.editor import edit, editor_of  # noqa: PLC0415  (rare)

        self.leave_commands()
        app, prompt = self.app, self.prompt
        try:
            if app.is_web:
                raise SuspendNotSupported
            command = editor_of()
            with app.suspend():
                text = edit(prompt.whole_text, command)
        except SuspendNotSupported:
            words = self._words("An editor can only be opened in a terminal, not here.")
            self.notify(words, severity="warning", markup=False)
        except ContextUIError as error:
            self.notify(line(self._words(error)), severity="warning", markup=False)
        else:
            prompt.replace_text(text)
        app.refresh()

    # --- mentions ----------------------------------------------------------------------

    def _offer_files(self) -> bool:
        """Show the files for the mention before the cursor; return whether there are any."""
        prompt, files = self.prompt, self._files
        before, typed = prompt.text_before_cursor, None
        if files is not None and "@" in before:
            from contextui.agent.mention import typed_mention  # noqa: PLC0415  (heavy)

            typed = typed_mention(before)
        path = self.commands.path_in(prompt.text) if prompt.text == before else None
        self._is_path = bool(path) and typed is None
        if path and typed is None:
            typed = len(path), path
        start = len(before) - typed[0] if typed is not None else None
        if start is None or start != self._dismissed:
            self._dismissed = None
        if files is None or typed is None or self._dismissed is not None or prompt.is_shell:
            self._end_mention()
            return False
        if not files.show(typed[1], is_path=self._is_path):
            self._end_mention()
            return False
        self._is_mentioning = True
        return True

    def _end_mention(self, *, is_dismissed: bool = False) -> None:
        if is_dismissed and self._files is not None and self._files.again is None:
            before = self.prompt.text_before_cursor
            path = self.commands.path_in(before) if self._is_path else None
            self._dismissed = before.rfind("@") if path is None else len(before) - len(path)
        if self._is_mentioning:
            self._is_mentioning = self.prompt.is_completing = False
            self.query_one(Popup).close()
        if self._files is not None:
            self._files.close()

    def _insert_mention(self) -> None:
        """Insert the chosen file; a second time, the whole of a large one."""
        from contextui.agent.mention import mention_of, typed_mention  # noqa: PLC0415  (see above)

        prompt, files = self.prompt, self._files
        before = prompt.text_before_cursor
        if files is None:
            return
        if files.again is not None:
            short, whole = files.again
            with prompt.prevent(TextArea.Changed):
                if before.endswith(f"{short} "):
                    prompt.insert_mention(whole, len(short) + 1)
            self._end_mention()
            return
        chosen, path = files.chosen, self.commands.path_in(before) if self._is_path else None
        if path is not None and chosen is not None:
            prompt.recall(before[: len(before) - len(path)] + chosen.path)
            return
        typed = typed_mention(before)
        if typed is None or chosen is None:
            self._end_mention()
            return
        with prompt.prevent(TextArea.Changed):
            prompt.insert_mention(mention_of(chosen.path), typed[0])
        if not files.offer_whole(chosen):
            self._end_mention()

    # --- history -----------------------------------------------------------------------

    def action_search_history(self) -> None:
        if self.prompt.is_searching:
            self.query_one(Popup).step(1)
            return
        self.leave_commands()
        self.prompt.begin_search()
        self._show_history()

    def find(self) -> None:
        """Let the prompt take what to find in the conversation; once more, go to the next hit."""
        if self.prompt.finding:
            self._find(1)
            return
        self.leave_commands()
        self.prompt.begin_search()
        self._find()

    def _find(self, step: int = 0) -> None:
        if self.conversation is not None:
            query, words = self.prompt.text, self._words
            number, count = self.conversation.find(query, step)
            text = words("{number} of {count}", number=number, count=count) if count else ""
            if query and not count:
                text = words("No message contains it.")
            title = Content.assemble((words("Find"), "bold"), f"   {text}   " if text else "   ")
            room = self.prompt.size.width - title.cell_length - 2
            self.prompt.finding = title + hints_in(room, _FIND_KEYS, words)
            self.prompt.is_completing = True

    def _show_history(self) -> None:
        from contextui.session.history import search  # noqa: PLC0415  (after the first frame)

        popup, query = self.query_one(Popup), self.prompt.text
        found = search(self.prompt.past, query, _HITS)
        width = popup.row_width
        title = Content.assemble((self._words("History"), "bold"), f"   {line(query)}")
        rows = [(Content(fit(text, width)), text) for text in found]
        empty = self._words("No prompt matches.") if query else self._words("Nothing sent yet.")
        popup.show(rows, title=title, hints=_HISTORY_KEYS, empty=empty)
        self.prompt.is_completing = True

    def _take_from_history(self) -> None:
        """Put the chosen prompt into the field; the person sends it."""
        found = self.query_one(Popup).chosen
        self.prompt.end_search(found)
        self.leave_commands()
