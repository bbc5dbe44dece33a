"""What is declared: types and params, read from their short form (``text:string,count:int?``)."""

import json
import re
from dataclasses import dataclass
from functools import cached_property, lru_cache

from contextui.agent.models.offline.lexicon.cues import AMOUNTS, PATHS, POSITIONS, TIMES

_PLAIN = frozenset(
    ["string", "int", "float", "bool", "any", "object", "null", "datetime", "date", "time"]
)  # any other word is a choice
_LONGEST, _DEEPEST = 4_000, 8  # of a declaration that is read at all


@dataclass(frozen=True, slots=True)
class Type:
    """What a param takes: any of plain types, of choices, a list, or an object with fields."""

    plain: frozenset[str] = frozenset()
    choices: tuple[str, ...] = ()
    of: "Type | None" = None
    fields: "tuple[Param, ...]" = ()

    @property
    def takes_text(self) -> bool:
        """Whether it takes words of any kind."""
        return not self.plain.isdisjoint(("string", "any"))

    @property
    def takes_number(self) -> bool:
        """Whether it takes a number."""
        return not self.plain.isdisjoint(("int", "float"))

    @property
    def is_bool(self) -> bool:
        """Whether it takes yes or no alone."""
        return self.plain == {"bool"} and not self.choices


@dataclass(frozen=True)
class Param:
    """One param of an action, or one arg of a class."""

    name: str
    type: Type
    optional: bool = False

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of its name, in small letters."""
        return frozenset(re.split(r"[_\W]+", self.name.casefold()))

    @property
    def is_path(self) -> bool:
        """Whether it takes the path of a file."""
        return not PATHS.isdisjoint(self.words)

    @property
    def is_time(self) -> bool:
        """Whether it takes a time of day."""
        return "time" in self.type.plain or not TIMES.isdisjoint(self.words)

    @property
    def is_place(self) -> bool:
        """Whether it takes a place among others."""
        return not POSITIONS.isdisjoint(self.words)

    @property
    def is_amount(self) -> bool:
        """Whether it says how many of something."""
        return not AMOUNTS.isdisjoint(self.words)

    @property
    def is_number(self) -> bool:
        """Whether it takes a number and no words."""
        return self.type.takes_number and not self.type.takes_text


@lru_cache(maxsize=1_024)
def params_of(text: str) -> tuple[Param, ...]:
    """The params of a declaration; what cannot be read of it is left out."""
    return _params(text[:_LONGEST], 0)


def _params(text: str, depth: int) -> tuple[Param, ...]:
    found = []
    for part in _split(text, ","):
        name, colon, kind = part.partition(":")
        if colon and name.strip() and depth < _DEEPEST:
            kind = kind.strip()
            optional = kind.endswith("?")
            found.append(Param(name.strip(), _type(kind.removesuffix("?"), depth), optional))
    return tuple(found)


def _type(text: str, depth: int) -> Type:
    plain, choices = set[str](), list[str]()
    of: Type | None = None
    fields: tuple[Param, ...] = ()
    for part in _split(text, "|"):
        one = part.strip()
        if one.endswith("[]") and depth < _DEEPEST:
            of = _type(_without_brackets(one[:-2]), depth + 1)
        elif one.startswith("{") and one.endswith("}"):
            fields = _params(one[1:-1], depth + 1)
        elif one in _PLAIN:
            plain.add(one)
        elif one:
            choices.append(_unquoted(one))
    return Type(frozenset(plain), tuple(choices), of, fields)


def _without_brackets(text: str) -> str:
    return text[1:-1] if text.startswith("(") and text.endswith(")") else text


def _unquoted(text: str) -> str:
    try:
        value = json.loads(text) if text.startswith('"') else text
    except ValueError:
        return text
    return str(value)


def _split(text: str, mark: str) -> list[str]:
    """Parts between marks that stand in no brackets and no quotes."""
    parts, depth, quoted, start = list[str](), 0, False, 0
    for place, char in enumerate(text):
        if char == '"' and text[place - 1 : place] != "\\":
            quoted = not quoted
        elif not quoted:
            depth += (char in "({[") - (char in ")}]")
            if char == mark and depth == 0:
                parts.append(text[start:place])
                start = place + 1
    return [*parts, text[start:]]
