"""What the person can tell the program itself: slash commands, which the palette has too."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from contextui.errors import ContextUIError
from contextui.text import quote
from contextui.tui.desktop.values import kind_of, read
from contextui.windowing.action import Param, Params


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
class Choice:
    """Something that can stand behind the name of a command.

    Attributes:
        name: What is typed.
        about: What it is, in the person's language; nothing if it speaks for itself.
        takes: What may be typed behind it in turn, as it is shown.
        needs: What of that must be.
    """

    name: str
    about: str = ""
    takes: str = ""
    needs: str = ""


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
    """

    name: str
    about: str
    run: Callable[[str], object]
    takes: str = ""
    alias: str = ""
    choices: Callable[[], Iterable[Choice]] = tuple


class Completion(NamedTuple):
    """What a text could become.

    Attributes:
        text: The text then; it ends with a space if more has to be typed.
        shown: The same, and what has to be typed.
        command: The command that it belongs to.
        choice: What stands behind the command, if that is what is completed.
    """

    text: str
    shown: str
    command: Command
    choice: Choice | None = None


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

    def completions(self, text: str) -> list[Completion]:
        """What the text could become; what it already is comes first.

        Names are completed first; behind a whole name, what can stand there.
        """
        if not text.startswith("/") or "\n" in text:
            return []
        name, space, rest = text[1:].partition(" ")
        if space:
            command = self._named.get(name)
            return _behind(command, rest) if command is not None else []
        exact = self._named.get(name)
        found = [exact] if exact is not None else []
        found += [one for one in self.all if one.name.startswith(name) and one is not exact]
        return [
            Completion(f"/{one.name}{' ' if one.takes else ''}", f"/{one.name} {one.takes}", one)
            for one in found
        ]

    def usage(self, text: str) -> str:
        """How the command that is being typed goes on, once it is known what stands first in it."""
        name, _, rest = text.removeprefix("/").partition(" ")
        first, space, _ = rest.partition(" ")
        command = self._named.get(name) if text.startswith("/") and space else None
        choices = command.choices() if command is not None else ()
        found = [one for one in choices if one.name == first and one.takes]
        return f"/{name} {first} {found[0].takes}" if found else ""


def _behind(command: Command, typed: str) -> list[Completion]:
    exact: list[Completion] = []
    found: list[Completion] = []
    for one in command.choices():
        whole = f"{one.name} " if one.needs else one.name
        if whole.startswith(typed):
            shown = f"/{command.name} {one.name} {one.needs}".rstrip()
            completion = Completion(f"/{command.name} {whole}", shown, command, one)
            (exact if whole == typed else found).append(completion)
    return [*exact, *found] if found else []


_LONG = 24  # characters of choices that are not worth being listed
_BETWEEN = re.compile(r"\s*[,，、\n]\s*")  # what separates the parts of a list


def takes(params: Params) -> str:
    """How params are typed, those that may be left out in brackets.

    Example:
        >>> takes(EditorWindow.opening)
        'path=… [line=…] [new=false|true]'
    """
    return " ".join(f"[{_one(one)}]" if one.optional else _one(one) for one in params.listing)


def needs(params: Params) -> str:
    """How those are typed that may not be left out."""
    return " ".join(_one(one) for one in params.listing if not one.optional)


def required(params: Params) -> list[str]:
    """The params that must be typed."""
    return [one.name for one in params.listing if not one.optional]


def arguments(typed: str, params: Params) -> dict[str, Any]:
    """The params that were typed as `name=value`; words before them are the first param.

    A value goes on until the next name, so that it may have spaces in it.

    Example:
        >>> arguments("my notes.md line=3", EditorWindow.opening)
        {'path': 'my notes.md', 'line': 3}
    """
    if not params.listing:
        return {}
    kinds = {one.name: kind_of(one.type) for one in params.listing}
    first, *named = re.split(rf"(?:^|\s)({'|'.join(kinds)})=", typed)
    texts = dict(zip(named[::2], named[1::2], strict=True))
    if first.strip():
        texts = {params.listing[0].name: first, **texts}
    return {name: _value(text.strip(), name, kinds) for name, text in texts.items()}


def _value(text: str, name: str, kinds: dict[str, Any]) -> Any:
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        text = text[1:-1]
    if kinds[name].many and not text.startswith("["):
        text = _BETWEEN.sub("\n", text)
    return read(kinds[name], text)


def _one(param: Param) -> str:
    options = "|".join(kind_of(param.type).options)
    return f"{param.name}={options if 0 < len(options) <= _LONG else '…'}"
