"""Localized text of the command line.

The English text is the key, as on the screen, which keeps the code readable. A process has one
language, set before anything is printed.
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
    """Set the language of all output."""
    _spoken[0] = lang


def spoken() -> Lang:
    """Return the language of all output."""
    return _spoken[0]


def words(english: str, **values: object) -> str:
    """Translate a text into the person's language, and fill in the values.

    Example:
        >>> speak("zh")
        >>> words("Nothing was trusted.")
        '没有信任任何文件。'
    """
    said = CHINESE.get(english, english) if _spoken[0] == "zh" else english
    return said.format(**values) if values else said


def counted(count: int, one: str, many: str) -> str:
    """Choose between singular and plural."""
    return words(one if count == 1 else many, count=count)


def in_ours(english: str) -> str:
    """Translate an English message of another part, if a translation is known.

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
    """Build a pattern in which each placeholder matches anything."""
    parts = _NAME.split(english)
    literal = [
        re.escape(part) if place % 2 == 0 else f"(?P<{part}>.*?)"
        for place, part in enumerate(parts)
    ]
    return re.compile("".join(literal), re.DOTALL)
