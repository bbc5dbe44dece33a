"""Messages for people and models, and their translations.

The English text is the message id, which keeps the code readable and searchable. `zh.po` has the
Chinese translations, in gettext's format. This is the only translation mechanism of the program;
authors of windows and strategies pass both texts instead (`zh=`, `env.say`).
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, Protocol, get_args, runtime_checkable

Lang = Literal["en", "zh"]
"""The languages of the program."""

LANGUAGES: tuple[Lang, ...] = get_args(Lang)

_STRING = re.compile(r'(msgid|msgstr)?\s*"(.*)"\s*$')
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {"n": "\n", "t": "\t"}


@runtime_checkable
class Translatable(Protocol):
    """Something with a text in each language: a message, or an error."""

    def text(self, lang: str) -> str:
        """Return the text in a language."""
        ...


Text = str | Translatable
"""A text, or one with a translation."""


def msg(english: str) -> str:
    """Mark a literal as a message that is translated elsewhere, and return it."""
    return english


def translate(english: str, lang: str, values: Mapping[str, object] | None = None) -> str:
    """Return a message in a language, or in English if it has no translation.

    Values that have a text in each language are translated too.
    """
    template = catalogue(lang).get(english, english) if lang != "en" else english
    if not values:
        return template
    return template.format(**{name: _localized(value, lang) for name, value in values.items()})


def _localized(value: object, lang: str) -> Any:
    # `text` is also an attribute of other things, such as a SyntaxError.
    return value.text(lang) if isinstance(value, Translatable) and callable(value.text) else value


class Message:
    """A message whose language is chosen when it is shown.

    Example:
        >>> message = Message("There is no session {name}.", {"name": '"abc"'})
        >>> str(message), message.text("zh")
        ('There is no session "abc".', '没有会话 "abc"。')
    """

    # No dataclass: importing `dataclasses` takes a third of the time that Python takes to start.
    __slots__ = ("id", "values")

    def __init__(self, id: str, values: Mapping[str, object] | None = None) -> None:  # noqa: A002
        self.id, self.values = id, values or {}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Message) and (self.id, self.values) == (other.id, other.values)

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        return f"Message({self.id!r}, {self.values!r})"

    def text(self, lang: str) -> str:
        """Return the message in a language."""
        return translate(self.id, lang, self.values)

    def __str__(self) -> str:
        return self.text("en")


class Words:
    """Translates messages into one language.

    Example:
        >>> Words("zh")("Context")
        '上下文'
        >>> Words("en")("{count} more lines", count=3)
        '3 more lines'
    """

    __slots__ = ("lang",)

    def __init__(self, lang: Lang = "en") -> None:
        self.lang: Lang = lang

    def __call__(self, english: Text, /, **values: object) -> str:
        """Return the message in this language, with the values filled in."""
        if isinstance(english, str):
            return translate(english, self.lang, values)
        return english.text(self.lang)

    def plural(self, count: int, one: str, many: str, /, **values: object) -> str:
        """Return the form of the message for a count, which is also the value `count`."""
        return self(one if count == 1 else many, count=count, **values)


@cache
def catalogue(lang: str) -> Mapping[str, str]:
    """Return the translations into a language, by English text."""
    from importlib import resources  # noqa: PLC0415  (English needs no file)

    file = resources.files(__name__).joinpath(f"{lang}.po")
    return read_po(file.read_text(encoding="utf-8")) if file.is_file() else {}


def read_po(text: str) -> dict[str, str]:
    """Return the messages of a `.po` file that have a translation.

    Plurals and contexts are not read: no message uses them.
    """
    found: dict[str, str] = {}
    entry = {"msgid": "", "msgstr": ""}
    part = ""
    for line in [*text.splitlines(), 'msgid ""']:
        if not (match := _STRING.match(line)):
            continue
        if match[1]:
            part = match[1]
            if part == "msgid":
                if entry["msgid"] and entry["msgstr"]:
                    found[entry["msgid"]] = entry["msgstr"]
                entry = {"msgid": "", "msgstr": ""}
        entry[part] += _ESCAPE.sub(lambda m: _ESCAPED.get(m[1], m[1]), match[2])
    return found


_current = Words()


def set_language(lang: Lang) -> None:
    """Set the language of the process, which `t` uses."""
    global _current  # noqa: PLW0603
    _current = Words(lang)


def language() -> Lang:
    """Return the language of the process."""
    return _current.lang


def t(english: Text, /, **values: object) -> str:
    """Return a message in the language of the process, with the values filled in.

    Example:
        >>> set_language("zh")
        >>> t("Nothing was trusted.")
        '没有信任任何文件。'
        >>> set_language("en")
    """
    return _current(english, **values)


def plural(count: int, one: str, many: str, /, **values: object) -> str:
    """Return the form of a message for a count, in the language of the process."""
    return _current.plural(count, one, many, **values)
