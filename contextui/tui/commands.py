"""What the person can tell the program itself: slash commands, which the palette has too."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from contextui.errors import ContextUIError
from contextui.text import quote


class UnknownCommandError(ContextUIError):
    """A slash command that there is none of.

    Attributes:
        name: What was asked for.
        known: What there is.
    """

    def __init__(self, name: str, known: str) -> None:
        super().__init__(f"There is no command {name}. Try: {known}.")
        self.name, self.known = name, known


@dataclass(frozen=True, slots=True)
class Command:
    """One command.

    Attributes:
        name: What is typed after the slash.
        about: What it does, in English; the screen says it in the person's language.
        run: Does it, with what was typed after the name.
        takes: What may be typed after the name, as it is shown.
        alias: Another name, usually one letter.
        choices: What can stand after the name, for completion.
        explain: What one of these is, in the person's language; nothing if it speaks for itself.
    """

    name: str
    about: str
    run: Callable[[str], object]
    takes: str = ""
    alias: str = ""
    choices: Callable[[], Iterable[str]] = tuple
    explain: Callable[[str], str] = lambda _: ""


class Commands:
    """All commands, by name.

    Example:
        >>> commands.run("/open todo")
    """

    def __init__(self, commands: Iterable[Command]) -> None:
        self.all = sorted(commands, key=lambda one: one.name)
        self._named = {one.name: one for one in self.all}
        self._named |= {one.alias: one for one in self.all if one.alias}

    def run(self, text: str) -> None:
        """Carry out what was typed, the slash included.

        Raises:
            UnknownCommandError: There is no such command.
            ContextUIError: It cannot be done.
        """
        name, _, rest = text.removeprefix("/").strip().partition(" ")
        command = self._named.get(name)
        if command is None:
            names = ", ".join(f"/{one.name}" for one in self.all)
            raise UnknownCommandError(quote("/" + name), names)
        command.run(rest.strip())

    def takes_something(self, text: str) -> bool:
        """Whether what was typed can be changed into something else and tried again."""
        command = self._named.get(text.removeprefix("/").split(" ")[0])
        return command is None or bool(command.takes)

    def completions(self, text: str) -> list[tuple[str, Command]]:
        """What the text could become, with the command that it belongs to.

        Names are completed first; behind a whole name, what can stand there.
        """
        if not text.startswith("/") or "\n" in text:
            return []
        name, space, rest = text[1:].partition(" ")
        if not space:
            found = [one for one in self.all if one.name.startswith(name) or one.alias == name]
            return [(f"/{one.name}{' ' if one.takes else ''}", one) for one in found]
        command = self._named.get(name)
        if command is None:
            return []
        begins = [one for one in command.choices() if one.startswith(rest) and one != rest]
        return [(f"/{command.name} {one}", command) for one in begins]
