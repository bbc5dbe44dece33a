"""The input area: completions, queued messages, and sending to the model."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol

from textual import on
from textual.app import ComposeResult, SuspendNotSupported
from textual.containers import Vertical
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.widgets import OptionList, Static, TextArea
from textual.widgets.option_list import Option

from contextui.errors import ContextUIError
from contextui.tui.commands import Commands, Completion, UnknownCommandError
from contextui.tui.conversation.popup import Popup
from contextui.tui.conversation.prompt import Prompt
from contextui.tui.lines import FAINT, KEY, MUTED, fit, line
from contextui.words import Text, Words, msg

if TYPE_CHECKING:
    from contextui.agent.preamble import PreambleText
    from contextui.tui.app_session import AppSession
    from contextui.tui.conversation.mention import MentionList
    from contextui.tui.conversation.shell import TypedCommand
    from contextui.tui.turn_queue import TurnQueue

_LONGEST = 36  # maximum cells of a name
_HITS = 100  # prompts that a search shows
_CALM = 0.3  # seconds before a command is shown to run: most have ended by then
_HISTORY_KEYS = (("↑↓", msg("move")), ("enter", msg("take")), ("esc", msg("close")))


class Completions(OptionList, can_focus=False):
    """The completions of the typed command."""

    class Chosen(Message):
        """Posted when a completion is selected."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self, words: Words) -> None:
        super().__init__(id="completions")
        self._words = words
        self._texts: list[str] = []
        self.is_moved = False
        """Whether the person moved the selection, so that Enter means it."""

    def offer(self, commands: Commands, text: str) -> bool:
        """Show the completions of a text; return whether there are any to select.

        Without completions, show the command's usage if more can be typed.
        """
        found = commands.completions(text)
        self._texts = [] if [one.text for one in found] == [text] else [one.text for one in found]
        self.clear_options()
        self.is_moved = False
        if self._texts:
            width = min(max(len(one.shown) for one in found), _LONGEST)
            self.add_options(self._option(one, width) for one in found)
            # After a bare name, Enter runs the command without an argument, if that does something.
            is_bare = commands.is_whole(text) and text.endswith(" ")
            self.highlighted = None if is_bare and not commands.asks_for_choice(text) else 0
        elif usage := commands.usage(text):
            self.add_option(Option(Content.styled(line(usage), MUTED), disabled=True))
        self.display = self.option_count > 0
        return bool(self._texts)

    def _option(self, one: Completion, width: int) -> Option:
        about = one.choice.about if one.choice is not None else self._words(one.command.about)
        return Option(Content.assemble((fit(one.shown, width), KEY), "  ", (line(about), MUTED)))

    def step(self, by: int) -> None:
        """Move the selection."""
        if self._texts:
            place = self.highlighted
            start = (-1 if by > 0 else 0) if place is None else place
            self.highlighted, self.is_moved = (start + by) % len(self._texts), True

    @property
    def marked(self) -> str | None:
        """The text of the selected completion, else of the first one."""
        return self._texts[self.highlighted or 0] if self._texts else None

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Accept the clicked completion."""
        event.stop()
        self.post_message(self.Chosen(self._texts[event.option_index]))


_SHOWN = 3
Until = Literal["turn", "person", "session"]
"""What queued messages wait for; after a turn that did not finish, the person sends them."""
_UNTIL: dict[Until, str] = {
    "turn": msg("queued until the turn ends   ↑ to edit"),
    "person": msg("not sent: the last turn did not finish   ↑ to edit"),
    "session": msg("sent as soon as the session is open   ↑ to edit"),
}


class Queue(Static):
    """The queued messages, one line each; a click puts the last one back into the prompt."""

    class TakenBack(Message):
        """Posted when the person wants to edit the last queued message."""

    def __init__(self, words: Words) -> None:
        super().__init__(id="queue")
        self._words = words
        self._waiting: Sequence[str] = ()
        self._until: Until = "turn"

    def show(self, waiting: Sequence[str], until: Until) -> None:
        """Show the queued messages, and what they wait for."""
        if (list(waiting), until) != (list(self._waiting), self._until):
            self._waiting, self._until = list(waiting), until
            self.display = bool(waiting)
            self.refresh(layout=True)

    def on_click(self) -> None:
        """Request the last message back."""
        self.post_message(self.TakenBack())

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        """Return one row per shown message, plus the hint."""
        return min(len(self._waiting), _SHOWN) + 1

    def render(self) -> Content:
        """Render the last few messages and the hint."""
        width = max(self.size.width - 10, 10)
        rows = [Content.assemble(("· ", KEY), fit(text, width)) for text in self._waiting[-_SHOWN:]]
        hint = self._words(_UNTIL[self._until])
        return Content("\n").join([*rows, Content.styled(hint, FAINT)])


class InputArea(Vertical):
    """The prompt with its completions and queued messages.

    Attributes:
        commands: The slash commands.
        prompt: The text field.
    """

    DEFAULT_CSS = "InputArea { height: auto; }"

    def __init__(self, words: Words) -> None:
        super().__init__(id="writing")
        self._words = words
        self._has_waiting = False
        self._files: MentionList | None = None
        self._is_mentioning = False
        self._is_path = False  # whether the list completes the path of a command
        self._dismissed: int | None = None  # the column of an @ whose list was closed
        self.commands = Commands([])
        self.prompt = Prompt(words)

    def compose(self) -> ComposeResult:
        """Compose the queue and the prompt; the completions float above it."""
        yield Queue(self._words)
        yield Completions(self._words)
        yield Popup(self._words)
        yield self.prompt

    def attach(self, desk: "AppSession") -> None:
        """Attach a session: its files can be mentioned."""
        from contextui.tui.conversation.mention import MentionList  # noqa: PLC0415  (see above)

        windows = desk.session.windows
        if windows.workspace is not None:
            self._files = MentionList(
                self.query_one(Popup), windows, windows.workspace, self._words, self._load
            )

    def _load(self, work: Callable[[], object], then: Callable[[], object]) -> None:
        """Do something on a thread, then show it."""

        async def load() -> None:
            await asyncio.to_thread(work)
            if self.is_attached:
                then()

        self.run_worker(load(), name="files")

    def show_waiting(self, waiting: Sequence[str], until: Until = "turn") -> None:
        """Show the queued messages, and what they wait for."""
        self._has_waiting = bool(waiting)
        self.query_one(Queue).show(waiting, until)
        self._offer_to_take_back()

    def put_back(self, command: str) -> None:
        """Put a failed command back into the prompt; its error is shown above."""
        with self.prompt.prevent(TextArea.Changed):  # completions would cover the error
            self.prompt.put(command)
        self.leave_commands()

    def keep(self, text: str) -> None:
        """Put a message that was not sent back into the prompt, before what was typed since."""
        since = self.prompt.text
        self.put_back(f"{text}\n\n{since}" if since else text)

    # --- commands ----------------------------------------------------------------------

    def complete(self) -> None:
        """Accept the selected completion."""
        if self.prompt.is_searching:
            self._take_from_history()
            return
        if self._is_mentioning:
            self._insert_mention()
            return
        marked = self.query_one(Completions).marked
        if marked is not None:
            self._choose(marked)

    def leave_commands(self) -> None:
        """Dismiss the completions; the text stays."""
        self.prompt.end_search()
        if self._is_mentioning:
            self._end_mention(is_dismissed=True)
        self.query_one(Popup).close()
        self.query_one(Completions).display = self.prompt.is_completing = False

    @on(TextArea.Changed, "#prompt")
    def _offer_commands(self) -> None:
        self.prompt.watch_text()
        if self.prompt.is_searching:
            self._show_history()
            return
        self._offer_to_take_back()
        if self.prompt.text == self.prompt.recalled:
            self.leave_commands()
            return
        self.prompt.recalled = None
        completions = self.query_one(Completions)
        if self._offer_files():
            completions.display = False
            self.prompt.is_completing = True
            return
        self.prompt.is_completing = completions.offer(self.commands, self.prompt.text)
        self._offer_to_take_back()

    def _offer_to_take_back(self) -> None:
        self.prompt.can_take_back = self._has_waiting and not self.prompt.text

    @on(Prompt.Completing)
    def _step_or_complete(self, message: Prompt.Completing) -> None:
        completions = self.query_one(Completions)
        if self.prompt.is_searching or self._is_mentioning:
            if message.step:
                self.query_one(Popup).step(message.step)
            else:
                self.complete()
        elif message.step:
            completions.step(message.step)
        else:
            # A whole name wins over what it could become.
            text = self.prompt.text
            is_whole = (
                message.is_enter and not completions.is_moved and self.commands.is_whole(text)
            )
            if is_whole and not self.commands.asks_for_choice(text):
                self.prompt.call_next(self.prompt.say, text)
            elif is_whole and not text.endswith(" "):
                self.prompt.put(f"{text} ")
            else:
                self.complete()

    @on(Completions.Chosen)
    def _choose_clicked(self, message: Completions.Chosen) -> None:
        self._choose(message.text)

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
        from contextui.tui.conversation.mention import Typed, typed_before  # noqa: PLC0415

        prompt, files = self.prompt, self._files
        before = prompt.text_before_cursor
        typed = typed_before(before) if files is not None and "@" in before else None
        path = self.commands.path_in(prompt.text) if prompt.text == before else None
        self._is_path = bool(path) and typed is None
        if path and typed is None:
            typed = Typed(len(path), path)
        start = len(before) - typed.length if typed is not None else None
        if start is None or start != self._dismissed:
            self._dismissed = None
        if files is None or typed is None or self._dismissed is not None or prompt.is_shell:
            self._end_mention()
            return False
        if not files.show(typed.query, is_path=self._is_path):
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
        from contextui.agent.mention import mention_of  # noqa: PLC0415  (after the first frame)
        from contextui.tui.conversation.mention import typed_before  # noqa: PLC0415

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
        typed = typed_before(before)
        if typed is None or chosen is None:
            self._end_mention()
            return
        with prompt.prevent(TextArea.Changed):
            prompt.insert_mention(mention_of(chosen.path), typed.length)
        if not files.offer_whole(chosen):
            self._end_mention()

    # --- history -----------------------------------------------------------------------

    @on(Prompt.SearchRequested)
    def _search_history(self) -> None:
        self.leave_commands()
        self.prompt.begin_search()
        self._show_history()

    def _show_history(self) -> None:
        from contextui.session.history import search  # noqa: PLC0415  (after the first frame)

        popup, query = self.query_one(Popup), self.prompt.text
        found = search(self.prompt.past, query, _HITS)
        width = popup.row_width
        title = Content.assemble((self._words("History"), "bold"), f"   {line(query)}")
        rows = [(Content(fit(text, width)), text) for text in found]
        empty = self._words("No prompt matches.") if query else self._words("Nothing sent yet.")
        popup.show(title, rows, _HISTORY_KEYS, empty=empty)
        self.prompt.is_completing = True

    def _take_from_history(self) -> None:
        """Put the chosen prompt into the field; the person sends it."""
        found = self.query_one(Popup).chosen
        self.prompt.end_search(found)
        self.leave_commands()
        self._offer_to_take_back()

    @on(Popup.Chosen)
    def _take_clicked(self) -> None:
        self.complete()

    def _choose(self, text: str) -> None:
        if text.endswith(" "):
            self.prompt.put(text)
        else:  # run in the prompt: a message sent from here would not bubble past this widget
            self.prompt.call_next(self.prompt.say, text)


class Note(Protocol):
    """Adds a notice to the conversation."""

    def __call__(self, text: Text, *, is_error: bool = False) -> None:
        """Add a notice."""


class Sender:
    """Sends messages and commands: at once, after the current turn, or once the session is open.

    Args:
        writing: The input area, which shows the queue.
        note: Shows the errors of commands.
        words: Translates into the person's locale.
        run: Runs a turn in the background.
        survive: Reports the bug of a command, so that the session goes on.

    Attributes:
        talk: Runs the turns; None while the session is still opening.
    """

    def __init__(
        self,
        writing: InputArea,
        note: Note,
        words: Words,
        run: Callable[[Coroutine[Any, Any, None]], object],
        survive: Callable[[Exception], object],
    ) -> None:
        self._writing, self._note, self._words = writing, note, words
        self._run, self._survive = run, survive
        self._typed_early: list[str] = []
        self._early: dict[str, Prompt.Submitted] = {}  # what the person typed of these
        self._read: list[Prompt.Submitted] = []  # whose files are being read
        self.talk: TurnQueue | None = None
        self.with_number: Callable[[str, str], str] = lambda text, _: text
        """Adds to a message which key leads to a window."""
        self.show_command: Callable[[TypedCommand], object] = lambda _: None
        """Shows a command that runs in a terminal, and again when it has ended."""

    def attach(self, talk: "TurnQueue") -> None:
        """Attach the opened session and send what was typed before."""
        self.talk = talk
        typed, self._typed_early = self._typed_early, []
        self._writing.show_waiting([])
        early, self._early = self._early, {}
        for text in typed:
            self.submit(early.get(text) or Prompt.Submitted(text, visible=text))

    def suspend(self) -> "TurnQueue | None":
        """Keep what is sent from now on until a session is attached; return the present one."""
        talk, self.talk = self.talk, None
        return talk

    def take_early(self) -> list[str]:
        """Return what was sent while no session was attached, and forget it."""
        typed, self._typed_early = self._typed_early, []
        return typed

    @property
    def unsent(self) -> str:
        """All text not yet sent: queued messages, then the prompt."""
        waiting = self._typed_early if self.talk is None else self.talk.waiting
        waiting = [*waiting, *(one.text for one in self._read)]
        return "\n\n".join(text for text in [*waiting, self._writing.prompt.whole_text] if text)

    def submit(self, sent: Prompt.Submitted) -> None:
        """Run or send what the person typed, once the session is open."""
        if self.talk is None:
            self._wait(sent.text)
            self._early[sent.text] = sent
        elif sent.is_shell:
            self._run(self._run_in_terminal(sent.text))
        elif self._writing.commands.reads(sent.text):
            self.run_command(sent.text)
        elif self._read or "@" in sent.visible:
            self._read.append(sent)
            if len(self._read) == 1:
                self._run(self._read_files())
        else:
            self.send(sent.text)

    async def _read_files(self) -> None:
        """Read the files that messages mention, one message after the other, and send them."""
        assert self.talk is not None
        while self._read:
            sent = self._read[0]
            try:
                attached = await self.talk.attachments.read(sent.visible, sent.mentions)
            except ContextUIError as error:
                # Also what was sent after it: the person meant it to follow.
                kept = "\n\n".join(one.text for one in self._read)
                self._read.clear()
                self._note(error, is_error=True)
                self._writing.keep(kept)
                return
            self._read.pop(0)
            self.send(sent.text, attached)

    async def _run_in_terminal(self, text: str) -> None:
        from contextui.tui.conversation.shell import (  # noqa: PLC0415  (after the first frame)
            command_in,
            run_in_terminal,
        )

        assert self.talk is not None
        windows = self.talk.windows
        try:
            command = await run_in_terminal(windows, command_in(text))
        except ContextUIError as error:
            self._note(error, is_error=True)
            if not self._writing.prompt.text:
                self._writing.put_back(text)
            return
        # The terminal may be out of sight: a small screen shows one pane.
        command.where = self.with_number("", command.window_id).strip()
        for seconds in (_CALM, None):
            await command.wait(windows, self._words, seconds)
            self.show_command(command)
            if not command.is_running:
                return

    def send(self, text: str, attached: "Sequence[PreambleText]" = ()) -> None:
        """Send a message to the model, or queue it while a turn runs.

        Args:
            text: The message.
            attached: The content of files that precedes it.
        """
        if self.talk is None:
            self._wait(text)
        elif self.talk.is_running:
            self.talk.queue(text, attached)
            self._writing.show_waiting(self.talk.waiting)
        else:
            self._run(self.talk.run(text, attached))

    def wake(self) -> None:
        """Start a turn because a window reported something, unless one is running."""
        if self.talk is not None:
            self._run(self.talk.run_woken(self._words))

    def _wait(self, text: str) -> None:
        self._typed_early.append(text)
        self._writing.show_waiting(self._typed_early, "session")

    def retry(self) -> None:
        """Retry the last turn, if it failed."""
        talk = self.talk
        if talk is not None and talk.has_failed:
            self._run(talk.retry(self._words("Go on.")))

    def run_command(self, command: str) -> None:
        """Run a slash command, or queue it until the session is open."""
        if self.talk is None:
            self._wait(command)
            return
        commands = self._writing.commands
        try:
            commands.run(command)
        except UnknownCommandError as error:
            names = error.meant or error.known
            message = self._words(
                "Unknown command {name}. Try: {names}.", name=error.name, names=names
            )
            self._note(message, is_error=True)
            self._writing.put_back(command)
        except ContextUIError as error:
            self.show_failed(command, error)
        except Exception as error:  # a bug: the session goes on
            self._survive(error)

    def show_failed(self, command: str, error: ContextUIError) -> None:
        """Show why a command failed, and put it back to be corrected."""
        self._note(error, is_error=True)
        if self._writing.commands.takes_something(command):
            self._writing.put_back(command)

    def compact(self, wanted: bool | None) -> None:
        """Compact the conversation if the user confirmed."""
        if wanted and self.talk is not None:
            self._run(self.talk.compact())

    def stop(self) -> bool:
        """Stop the current turn; return whether there was one."""
        if self.talk is None or not self.talk.is_running:
            return False
        self.talk.stop()
        return True

    # --- queued messages ---------------------------------------------------------------

    def show_waiting(self, *, is_held: bool = False) -> None:
        """Show the queued messages, and whether they are held."""
        if self.talk is not None:
            self._writing.show_waiting(self.talk.waiting, "person" if is_held else "turn")

    def take_back(self) -> None:
        """Move the last queued message back into the prompt."""
        if self.talk is None and self._typed_early:
            self._writing.prompt.recall(self._typed_early.pop())
            self._writing.show_waiting(self._typed_early, "session")
        elif self.talk is not None and self.talk.waiting:
            self._writing.prompt.recall(self.talk.waiting.pop())
            self._writing.show_waiting(
                self.talk.waiting, "turn" if self.talk.is_running else "person"
            )
