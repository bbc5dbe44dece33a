"""What the command line says, in the language of the person.

The English words are the keys, so that the code can be read, as on the screen. A process speaks
one language, which it learns before it says anything.
"""

import re
from collections.abc import Mapping
from functools import cache

from contextui.cli.words import commands, elsewhere, helping, turns
from contextui.config.settings import Lang

CHINESE: Mapping[str, str] = {**turns.CHINESE, **commands.CHINESE, **helping.CHINESE}

_NAME = re.compile(r"\{(\w+)\}")
_spoken: list[Lang] = ["en"]


def speak(lang: Lang) -> None:
    """Say everything in this language from now on."""
    _spoken[0] = lang


def spoken() -> Lang:
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


def in_ours(english: str) -> str:
    """What another part said in English, in the person's language if that is known.

    Example:
        >>> speak("zh")
        >>> in_ours('There is no session "abc".')
        '没有会话 "abc"。'
    """
    if _spoken[0] == "en":
        return english
    for pattern, chinese in _patterns():
        if found := pattern.fullmatch(english):
            return chinese.format(
                **{name: in_ours(said) for name, said in found.groupdict().items()}
            )
    return english


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((_pattern(english), said) for english, said in elsewhere.CHINESE.items())


def _pattern(english: str) -> re.Pattern[str]:
    """A sentence in which a name in braces stands for anything."""
    parts = _NAME.split(english)
    literal = [
        re.escape(part) if place % 2 == 0 else f"(?P<{part}>.*?)"
        for place, part in enumerate(parts)
    ]
    return re.compile("".join(literal), re.DOTALL)
