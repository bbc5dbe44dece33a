"""The input area: completions, queued messages, and sending to the model."""

from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.widgets import OptionList, Static, TextArea
from textual.widgets.option_list import Option

from contextui.errors import ContextUIError
from contextui.tui.commands import Commands, Completion, UnknownCommandError
from contextui.tui.conversation.prompt import Prompt
from contextui.tui.lines import FAINT, KEY, MUTED, fit, line
from contextui.words import Text, Words

if TYPE_CHECKING:
    from contextui.tui.link import Talk

_LONGEST = 36  # maximum cells of a name


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

    def offer(self, commands: Commands, text: str) -> bool:
        """Show the completions of a text; return whether there are any to select.

        Without completions, show the command's usage if more can be typed.
        """
        found = commands.completions(text)
        self._texts = [] if [one.text for one in found] == [text] else [one.text for one in found]
        self.clear_options()
        if self._texts:
            width = min(max(len(one.shown) for one in found), _LONGEST)
            self.add_options(self._option(one, width) for one in found)
            self.highlighted = 0
        elif usage := commands.usage(text):
            self.add_option(Option(Content.styled(line(usage), MUTED), disabled=True))
        self.display = self.option_count > 0
        return bool(self._texts)

    def _option(self, one: Completion, width: int) -> Option:
        about = one.choice.about if one.choice is not None else self._words(one.command.about)
        return Option(Content.assemble((fit(one.shown, width), KEY), "  ", (about, MUTED)))

    def step(self, by: int) -> None:
        """Move the selection."""
        if self._texts:
            self.highlighted = ((self.highlighted or 0) + by) % len(self._texts)

    @property
    def marked(self) -> str | None:
        """The text of the selected completion."""
        if not self._texts or self.highlighted is None:
            return None
        return self._texts[self.highlighted]

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Accept the clicked completion."""
        event.stop()
        self.post_message(self.Chosen(self._texts[event.option_index]))


_SHOWN = 3


class Queue(Static):
    """The queued messages, one line each; a click puts the last one back into the prompt."""

    class TakenBack(Message):
        """Posted when the person wants to edit the last queued message."""

    def __init__(self, words: Words) -> None:
        super().__init__(id="queue")
        self._words = words
        self._waiting: Sequence[str] = ()
        self._is_held = False

    def show(self, waiting: Sequence[str], *, is_held: bool) -> None:
        """Show the queued messages, and whether they are held instead of sent automatically."""
        if (list(waiting), is_held) != (list(self._waiting), self._is_held):
            self._waiting, self._is_held = list(waiting), is_held
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
        hint = self._words(
            "not sent: the last turn did not finish   ↑ to edit"
            if self._is_held
            else "queued until the turn ends   ↑ to edit"
        )
        return Content("\n").join([*rows, Content.styled(hint, FAINT)])


class InputArea(Vertical):
    """The prompt with its completions and queued messages.

    Attributes:
        commands: The slash commands.
    """

    DEFAULT_CSS = "InputArea { height: auto; }"

    def __init__(self, words: Words) -> None:
        super().__init__(id="writing")
        self._words = words
        self._has_waiting = False
        self.commands = Commands([])

    def compose(self) -> ComposeResult:
        """Compose the queue and the prompt; the completions float above it."""
        yield Queue(self._words)
        yield Completions(self._words)
        yield Prompt(self._words)

    @property
    def prompt(self) -> Prompt:
        """The prompt."""
        return self.query_one(Prompt)

    def show_waiting(self, waiting: Sequence[str], *, is_held: bool = False) -> None:
        """Show the queued messages, and whether they are held."""
        self._has_waiting = bool(waiting)
        self.query_one(Queue).show(waiting, is_held=is_held)
        self._offer_to_take_back()

    def put_back(self, command: str) -> None:
        """Put a failed command back into the prompt; its error is shown above."""
        with self.prompt.prevent(TextArea.Changed):  # completions would cover the error
            self.prompt.put(command)
        self.leave_commands()

    # --- commands ----------------------------------------------------------------------

    def complete(self) -> None:
        """Accept the selected completion."""
        marked = self.query_one(Completions).marked
        if marked is not None:
            self._choose(marked)

    def leave_commands(self) -> None:
        """Dismiss the completions; the text stays."""
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

    Attributes:
        talk: Runs the turns; None while the session is still opening.
    """

    def __init__(
        self,
        writing: InputArea,
        note: Note,
        words: Words,
        run: Callable[[Coroutine[Any, Any, None]], object],
    ) -> None:
        self._writing, self._note, self._words = writing, note, words
        self._run = run
        self._typed_early: list[str] = []
        self.talk: Talk | None = None

    def attach(self, talk: "Talk") -> None:
        """Attach the opened session and send what was typed before."""
        self.talk = talk
        typed, self._typed_early = self._typed_early, []
        self._writing.show_waiting([])
        for text in typed:
            (self.run_command if text.startswith("/") else self.send)(text)

    @property
    def unsent(self) -> str:
        """All text not yet sent: queued messages, then the prompt."""
        waiting = self._typed_early if self.talk is None else self.talk.waiting
        return "\n\n".join(text for text in [*waiting, self._writing.prompt.whole_text] if text)

    def send(self, text: str) -> None:
        """Send a message to the model, or queue it while a turn runs."""
        if self.talk is None:
            self._wait(text)
        elif self.talk.is_running:
            self.talk.queue(text)
            self._writing.show_waiting(self.talk.waiting)
        else:
            self._run(self.talk.run(text))

    def wake(self) -> None:
        """Start a turn because a window reported something, unless one is running."""
        if self.talk is not None and not self.talk.is_running:
            self._run(self.talk.run_woken(self._words))

    def _wait(self, text: str) -> None:
        self._typed_early.append(text)
        self._writing.show_waiting(self._typed_early)

    def retry(self) -> None:
        """Retry the last turn, if it failed."""
        talk = self.talk
        if talk is not None and not talk.is_running and talk.has_failed:
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
            message = self._words(
                "Unknown command {name}. Try: {names}.", name=error.name, names=error.known
            )
            self._note(message, is_error=True)
            self._writing.put_back(command)
        except ContextUIError as error:
            self._note(error, is_error=True)
            if commands.takes_something(command):
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
            self._writing.show_waiting(self.talk.waiting, is_held=is_held)

    def take_back(self) -> None:
        """Move the last queued message back into the prompt."""
        if self.talk is None and self._typed_early:
            self._writing.prompt.put(self._typed_early.pop())
            self._writing.show_waiting(self._typed_early)
        elif self.talk is not None and self.talk.waiting:
            self._writing.prompt.put(self.talk.waiting.pop())
            self._writing.show_waiting(self.talk.waiting, is_held=not self.talk.is_running)
