"""Where the person writes: the field, the commands it could become, and the words that wait."""

from collections.abc import Sequence

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import TextArea

from contextui.tui.commands import Commands
from contextui.tui.conversation.completions import Completions
from contextui.tui.conversation.prompt import Prompt
from contextui.tui.conversation.queue import Queue
from contextui.tui.words import Words


class Writing(Vertical):
    """The prompt, and what belongs to it.

    Attributes:
        commands: What can be written behind a slash.
    """

    DEFAULT_CSS = "Writing { height: auto; }"

    def __init__(self, words: Words) -> None:
        super().__init__(id="writing")
        self._words = words
        self._has_waiting = False
        self.commands = Commands([])

    def compose(self) -> ComposeResult:
        """What waits, then the field; the list of commands floats above it."""
        yield Queue(self._words)
        yield Completions(self._words)
        yield Prompt(self._words)

    @property
    def prompt(self) -> Prompt:
        """The field."""
        return self.query_one(Prompt)

    def show_waiting(self, waiting: Sequence[str], *, is_held: bool = False) -> None:
        """Show what was said while a turn runs, and whether it will be sent by itself."""
        self._has_waiting = bool(waiting)
        self.query_one(Queue).show(waiting, is_held=is_held)
        self._offer_to_take_back()

    def put_back(self, command: str) -> None:
        """Have a command in the field again that could not be done: above it stands why."""
        with self.prompt.prevent(TextArea.Changed):  # the list of commands would cover that
            self.prompt.put(command)
        self.leave_commands()

    # --- commands ----------------------------------------------------------------------

    def complete(self) -> None:
        """Choose the command that is marked."""
        marked = self.query_one(Completions).marked
        if marked is not None:
            self._choose(marked)

    def leave_commands(self) -> None:
        """Have the list of commands go; what was written stays."""
        self.query_one(Completions).display = self.prompt.is_completing = False

    @on(TextArea.Changed, "#prompt")
    def _offer_commands(self) -> None:
        completions = self.query_one(Completions)
        self.prompt.is_completing = completions.offer(self.commands, self.prompt.text)
        self._offer_to_take_back()

    def _offer_to_take_back(self) -> None:
        self.prompt.can_take_back = self._has_waiting and not self.prompt.text

    @on(Prompt.Completing)
    def _step_or_complete(self, message: Prompt.Completing) -> None:
        if message.step:
            self.query_one(Completions).step(message.step)
        else:
            self.complete()

    @on(Completions.Chosen)
    def _choose_clicked(self, message: Completions.Chosen) -> None:
        self._choose(message.text)

    def _choose(self, text: str) -> None:
        if text.endswith(" "):
            self.prompt.put(text)
        else:  # said by the field itself: what its parent has it say goes no further than here
            self.prompt.call_next(self.prompt.say, text)
