"""Slash commands: parsing, completion, and the arguments of windows."""

import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NamedTuple

from contextui.errors import ContextUIError
from contextui.text import quote
from contextui.tui.desktop.values import Kind, kind_of, read
from contextui.words import msg

if TYPE_CHECKING:
    from contextui.windowing.params import Param, Params


@dataclass(frozen=True, slots=True)
class Choice:
    """A possible argument of a command."""

    name: str
    about: str = ""  # in the person's locale
    takes: str = ""  # usage of further arguments, as displayed
    needs: str = ""  # usage of the required ones among them
    path_in: Callable[[str], str | None] = field(default=lambda _: None, compare=False)
    """Returns the beginning of a path with which its arguments end, or None."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command that the person types after a slash."""

    name: str
    about: str  # in English; the screen translates it
    run: Callable[[str], object]  # with the text typed after the name
    takes: str = ""  # usage of the arguments, as displayed
    aliases: Sequence[str] = ()  # the help shows the first
    choices: Callable[[], Iterable[Choice]] = tuple  # the possible arguments, for completion
    needs_choice: bool = False  # whether it does nothing without one of several arguments


class Completion(NamedTuple):
    """A completion of a typed text."""

    text: str
    shown: str
    command: Command
    choice: Choice | None = None


class Commands:
    """The slash commands by name."""

    def __init__(self, commands: Iterable[Command]) -> None:
        self.all = sorted(commands, key=lambda one: one.name)
        self._named = {one.name: one for one in self.all}
        self._named |= {alias: one for one in self.all for alias in one.aliases}

    def run(self, text: str) -> None:
        """Run the typed command, slash included; raise a ContextUIError if that fails."""
        name, _, rest = text.removeprefix("/").strip().partition(" ")
        command = self._named.get(name)
        if command is None:
            names = self._meant(name) or ", ".join(f"/{one.name}" for one in self.all)
            message = msg("Unknown command {name}. Try: {names}.")
            raise ContextUIError(message, name=quote("/" + name), names=names)
        command.run(rest.strip())

    def _meant(self, typed: str) -> str:
        """Return the command that an unknown name resembles.

        Also one without its space, as /opentodo, or only the name of a window, as /todo.
        """
        found = dict[str, str]()
        for one in self.all:
            for it in one.choices():
                found[one.name + it.name] = whole = f"/{one.name} {it.name}"
                if one.name == "open":
                    found[it.name] = whole
        found |= {one.name: f"/{one.name}" for one in self.all}
        close = get_close_matches(typed, found, 1, _ALIKE)
        return found[close[0]] if close else ""

    def reads(self, text: str) -> bool:
        """Return whether a sent text is a command; a path that begins with a slash is not.

        Example:
            >>> commands.reads("/open todo"), commands.reads("/etc/hosts has what?")
            (True, False)
        """
        first = text.split(maxsplit=1)[0] if text.startswith("/") else ""
        if not first or "/" in first[1:]:
            return False
        return first[1:] in self._named or first == "/" or not os.path.lexists(first)

    def is_whole(self, text: str) -> bool:
        return text.startswith("/") and text[1:].rstrip() in self._named

    def asks_for_choice(self, text: str) -> bool:
        command = self._named.get(text[1:].rstrip()) if text.startswith("/") else None
        return command is not None and command.needs_choice and len([*command.choices()]) > 1

    def path_in(self, text: str) -> str | None:
        """Return the beginning of a path with which a typed command ends, or None."""
        choice, typed = self._choice_in(text)
        return choice.path_in(typed) if choice is not None else None

    def _choice_in(self, text: str) -> tuple[Choice | None, str]:
        """Return the whole first argument of a typed command, and what follows it."""
        name, _, rest = text.removeprefix("/").partition(" ")
        first, space, typed = rest.partition(" ")
        command = self._named.get(name) if text.startswith("/") and space else None
        choices = command.choices() if command is not None else ()
        return next((choice for choice in choices if choice.name == first), None), typed

    def takes_something(self, text: str) -> bool:
        """Return whether the typed command is unknown or takes arguments, so can be corrected."""
        command = self._named.get(text.removeprefix("/").split(" ")[0])
        return command is None or bool(command.takes)

    def completions(self, text: str) -> list[Completion]:
        """Complete a name, or an argument after a whole one; exact ones first."""
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
        choice, typed = self._choice_in(text)
        if choice is None or not choice.takes:
            return ""
        return f"{text.removesuffix(typed)}{choice.takes}"


def _behind(command: Command, typed: str) -> list[Completion]:
    exact: list[Completion] = []
    found: list[Completion] = []
    for choice in command.choices():
        whole = f"{choice.name} " if choice.needs else choice.name
        if whole.startswith(typed):
            shown = f"/{command.name} {choice.name} {choice.needs}".rstrip()
            completion = Completion(f"/{command.name} {whole}", shown, command, choice)
            (exact if whole == typed else found).append(completion)
    return [*exact, *found] if found else []


_ALIKE = 0.8  # similarity from which another command was probably meant
_LONG = 24  # maximum length of an options list in the usage
_BETWEEN = re.compile(r"\s*[,，、\n]\s*")  # separates list items


def takes(params: "Params") -> str:
    """Return the usage of params, with optional ones in brackets.

    Example:
        >>> takes(EditorWindow.opening)
        'path=… [line=…] [new=false|true]'
    """
    return " ".join(f"[{_one(one)}]" if one.optional else _one(one) for one in params.listing)


def needs(params: "Params") -> str:
    """Return the usage of the required params."""
    return " ".join(_one(one) for one in params.listing if not one.optional)


def arguments(typed: str, params: "Params") -> dict[str, Any]:
    """Parse params typed as `name=value`; text before the first name is the first param.

    A value ends at the next name, so it may contain spaces.

    Example:
        >>> arguments("my notes.md line=3", EditorWindow.opening)
        {'path': 'my notes.md', 'line': 3}
    """
    if not params.listing:
        return {}
    kinds, first, named = _split(typed, params)
    texts = dict(zip(named[::2], named[1::2], strict=True))
    if first.strip():
        texts = {params.listing[0].name: first, **texts}
    return {name: _value(text.strip(), name, kinds) for name, text in texts.items()}


def path_typed(params: "Params", typed: str) -> str | None:
    """Return the beginning of a path with which typed params end, or None."""
    from contextui.tui.desktop.pathfield import is_path  # noqa: PLC0415  (after the first frame)

    if not params.listing:
        return None
    kinds, first, named = _split(typed, params)
    name, value = named[-2:] if named else (params.listing[0].name, first)
    return value.lstrip() if is_path(name, kinds[name].type) else None


def _split(typed: str, params: "Params") -> tuple[dict[str, Kind], str, list[str]]:
    """Return the kinds of params, the text before the first name, and then names and texts."""
    kinds = {one.name: kind_of(one.type) for one in params.listing}
    first, *named = re.split(rf"(?:^|\s)({'|'.join(kinds)})=", typed)
    return kinds, first, named


def _value(text: str, name: str, kinds: dict[str, Kind]) -> Any:
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        text = text[1:-1]
    if kinds[name].many and not text.startswith("["):
        text = _BETWEEN.sub("\n", text)
    return read(kinds[name], text)


def _one(param: "Param") -> str:
    options = "|".join(kind_of(param.type).options)
    return f"{param.name}={options if 0 < len(options) <= _LONG else '…'}"
