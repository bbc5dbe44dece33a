"""What the person types: words for the model, or a command for the program itself."""

from collections.abc import Callable, Coroutine
from typing import Any

from contextui.agent.events import TurnFinished
from contextui.errors import ContextUIError
from contextui.events import Event
from contextui.tui.commands import UnknownCommandError
from contextui.tui.conversation.pane import Conversation
from contextui.tui.conversation.writing import Writing
from contextui.tui.talk import Talk
from contextui.tui.words import Words


class Saying:
    """Says it now, when the turn under way has ended, or when there is a session to say it in.

    Args:
        writing: Where it is typed, and what waits is shown.
        conversation: Where it is told if a command cannot be carried out.
        words: The person's language.
        run: Runs turns, beside everything else.

    Attributes:
        talk: The turns; None while the session is still being opened.
    """

    def __init__(
        self,
        writing: Writing,
        conversation: Conversation,
        words: Words,
        run: Callable[[Coroutine[Any, Any, None]], object],
    ) -> None:
        self._writing, self._conversation, self._words = writing, conversation, words
        self._run = run
        self._typed_early: list[str] = []
        self.talk: Talk | None = None

    def attach(self, talk: Talk) -> None:
        """There is a session: say and do what was typed before."""
        self.talk = talk
        typed, self._typed_early = self._typed_early, []
        self._writing.show_waiting([])
        for text in typed:
            (self.do if text.startswith("/") else self.say)(text)

    @property
    def unsent(self) -> str:
        """Everything that is typed and has not reached the model: what waits, then the field."""
        waiting = self._typed_early if self.talk is None else self.talk.waiting
        return "\n\n".join(text for text in [*waiting, self._writing.prompt.whole_text] if text)

    def say(self, text: str) -> None:
        """Say something to the model, now or when the turn under way has ended."""
        if self.talk is None:
            self._wait(text)
        elif self.talk.is_running:
            self.talk.waiting.append(text)
            self._writing.show_waiting(self.talk.waiting)
        else:
            self._run(self.talk.run(text))

    def _wait(self, text: str) -> None:
        self._typed_early.append(text)
        self._writing.show_waiting(self._typed_early)

    def retry(self) -> None:
        """Try the last turn once more, if that failed."""
        talk = self.talk
        if talk is not None and not talk.is_running and talk.has_failed:
            self._run(talk.retry(self._words("Go on.")))

    def do(self, command: str) -> None:
        """Carry out a slash command; one typed before the session is open waits for that."""
        if self.talk is None:
            self._wait(command)
            return
        commands = self._writing.commands
        try:
            commands.run(command)
        except UnknownCommandError as error:
            told = "There is no command {name}. Try: {names}."
            told = self._words(told, name=error.name, names=error.known)
            self._conversation.note(told, is_error=True)
            self._writing.put_back(command)
        except ContextUIError as error:
            self._conversation.note(str(error), is_error=True)
            if commands.takes_something(command):
                self._writing.put_back(command)

    def compact(self, wanted: bool | None) -> None:
        """Have a summary stand for what was said long ago, if that is wanted."""
        if wanted and self.talk is not None:
            self._run(self.talk.compact())

    def stop(self) -> bool:
        """Stop the turn under way; whether there was one."""
        if self.talk is None or not self.talk.is_running:
            return False
        self.talk.stop()
        return True

    # --- what waits --------------------------------------------------------------------

    def show_waiting(self, event: Event) -> None:
        """Show what waits; after a turn that did not end well, it is not sent by itself."""
        if self.talk is not None:
            is_held = isinstance(event, TurnFinished) and event.reason != "done"
            self._writing.show_waiting(self.talk.waiting, is_held=is_held)

    def take_back(self) -> None:
        """Have what waits last in the field again, to be changed or forgotten."""
        if self.talk is None and self._typed_early:
            self._writing.prompt.put(self._typed_early.pop())
            self._writing.show_waiting(self._typed_early)
        elif self.talk is not None and self.talk.waiting:
            self._writing.prompt.put(self.talk.waiting.pop())
            self._writing.show_waiting(self.talk.waiting, is_held=not self.talk.is_running)
