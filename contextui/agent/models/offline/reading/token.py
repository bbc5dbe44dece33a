"""The parts that words are made of."""

from dataclasses import dataclass
from enum import Enum, auto

from contextui.agent.models.offline.lexicon.tables import NOTHING


class Kind(Enum):
    """What a token is."""

    WORD = auto()
    NUMBER = auto()
    QUOTE = auto()
    PATH = auto()
    CLOCK = auto()
    MARK = auto()


@dataclass(frozen=True, slots=True)
class Numeral:
    """A number that was said.

    Attributes:
        value: Its value.
        ordinal: Whether it names a place ("second") rather than an amount.
        from_end: Whether that place is counted from the end.
    """

    value: float
    ordinal: bool = False
    from_end: bool = False


@dataclass(frozen=True, slots=True)
class Token:
    """A word, number, quotation, path, time of day or mark.

    Attributes:
        text: What it says; of a quotation what is in it.
        start: Where it begins in the words.
        end: Where it ends.
        kind: What it is.
        keys: What it is known by: a stem, a Chinese word, the name of a group of the lexicon
            (`@add`, `#list`, `~to`), or a single Chinese character (`'加`).
        number: The number it stands for, if it does.
        note: The language that stands at the head of quoted code.
    """

    text: str
    start: int
    end: int
    kind: Kind
    keys: frozenset[str] = NOTHING
    number: Numeral | None = None
    note: str = ""

    def has(self, *keys: str) -> bool:
        """Whether it is known by one of these."""
        return not self.keys.isdisjoint(keys)

    @property
    def is_verb(self) -> bool:
        """Whether it can say what to do."""
        return any(key[0] == "@" for key in self.keys)

    @property
    def is_small(self) -> bool:
        """Whether it can be a small word: one that says how rather than what."""
        return any(key[0] == "~" for key in self.keys)

    @property
    def is_ascii(self) -> bool:
        """Whether it is no Chinese."""
        return self.text.isascii()

    @property
    def nouns(self) -> frozenset[str]:
        """What it is known by as a thing: not as a verb, not as a small word."""
        return frozenset(key for key in self.keys if key[0] not in "@~'")
