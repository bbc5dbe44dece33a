"""Whether a window or a class has to do with a word: by what it declares, or by what it shows."""

from collections.abc import Iterable, Sequence

from contextui.agent.models.offline.reading.token import Kind, Token
from contextui.agent.models.offline.reading.words import keys_of
from contextui.agent.models.offline.shown import items as shown
from contextui.agent.models.offline.shown.blocks import ClassView, WindowView
from contextui.agent.models.offline.shown.profiles import GROUP, likeness, profile_of, words_of

_KINDS = ("#item", "#entry")  # everything that a window lists is one


def subjects(wanted: Iterable[Token]) -> list[Token]:
    """The words that say what a question is about: things, not what is done to them."""
    return [
        one
        for one in wanted
        if one.kind is Kind.WORD and not (one.is_verb or one.is_small or one.has(*_KINDS))
    ]


def declares(window: WindowView, keys: frozenset[str]) -> bool:
    """Whether a word is one of a window's name, description or actions."""
    return is_told(window, keys) or any(
        likeness(keys, profile_of(one).every) >= GROUP for one in window.actions
    )


def is_told(view: WindowView | ClassView, keys: frozenset[str]) -> bool:
    """Whether a word is one of a name or a description."""
    return any(likeness(keys, part) >= GROUP for part in words_of(view))


def knows(window: WindowView, token: Token) -> bool:
    """Whether a window declares a thing, or shows it."""
    if declares(window, token.nouns):
        return True
    if shown.find_by_words(window.items, token.text).fit >= shown.WORDS:
        return True
    names = {one.tag for one in window.items}
    names |= {name for one in window.items for name, _ in one.attributes}
    return any(likeness(token.nouns, keys_of(one)) >= GROUP for one in names if one)


def is_foreign(window: WindowView, wanted: Sequence[Token]) -> bool:
    """Whether things are asked about, and a window has to do with none of them."""
    things = subjects(wanted)
    return bool(things) and not any(knows(window, one) for one in things)
