"""What the command line says, in the language of the person.

The English words are the keys, so that the code can be read, as on the screen. A process speaks
one language, which it learns before it says anything.
"""

from collections.abc import Mapping
from typing import Literal

from contextui.cli.words import commands, helping, turns

CHINESE: Mapping[str, str] = {**turns.CHINESE, **commands.CHINESE, **helping.CHINESE}

_spoken: list[Literal["en", "zh"]] = ["en"]


def speak(lang: Literal["en", "zh"]) -> None:
    """Say everything in this language from now on."""
    _spoken[0] = lang


def spoken() -> Literal["en", "zh"]:
    """The language that everything is said in."""
    return _spoken[0]


def words(english: str, **values: object) -> str:
    """The words in the person's language, with the values put in.

    Example:
        >>> speak("zh")
        >>> words("Nothing was trusted.")
        '没有信任任何文件。'
    """
    said = CHINESE.get(english, english) if _spoken[0] == "zh" else english
    return said.format(**values) if values else said


def counted(count: int, one: str, many: str) -> str:
    """A number of things: the words for one of them, or for several."""
    return words(one if count == 1 else many, count=count)
