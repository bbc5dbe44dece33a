"""Which of the things that a window shows a question is about, and what is true of them."""

from collections.abc import Sequence

from contextui.agent.models.offline.reading.token import Token
from contextui.agent.models.offline.reading.words import keys_of
from contextui.agent.models.offline.shown import items as shown
from contextui.agent.models.offline.shown.blocks import Item, WindowView
from contextui.agent.models.offline.shown.profiles import EXACT, GROUP, likeness

_MOST = 200  # things that are told at once


def asked_about(window: WindowView, pool: Sequence[Item], wanted: list[Token]) -> list[Item]:
    """The things that words ask about, of all that a window shows."""
    if not wanted:
        return []
    if any(one.has("~exist", "@undone") for one in wanted):
        return [one for one in pool if not _is_done(one)]
    if numbered := _numbered_line(window, wanted):
        return [numbered]
    placed = shown.find_by_place(pool, wanted)
    if placed is not None:
        return [placed]
    everything = list(window.items)
    nouns = [one for one in wanted if not one.is_verb or any(key[0] == "#" for key in one.keys)]
    named = [
        one for one in everything if one.tag and any(
            likeness(token.nouns, keys_of(one.tag)) >= GROUP for token in nouns or wanted)
    ]  # fmt: skip
    said = [one for one in nouns or wanted if not one.has("~exist")]
    found = shown.find_by_words(everything, " ".join(one.text for one in said))
    if found.fit >= shown.WORDS or (found.fit >= shown.SOME and not named):
        more = list(found.items)
    else:
        single = [shown.find_by_words(everything, one.text) for one in said]
        more = [item for one in single if one.fit >= shown.PART for item in one.items]
    if named or more:
        both = [one for one in named if one in more]
        every = both or list(dict.fromkeys([*named, *more]))
        return _true_of(every, wanted, window)[:_MOST]
    held = [one for one in pool if any(holds(one, token, window) for token in wanted)]
    return shown.marked(pool, wanted) or held


def with_fields(found: list[Item], wanted: list[Token], window: WindowView) -> list[Item]:
    """Where only the window itself was found, what else it shows of what was asked; else all."""
    if not found or not all(is_field(one, window) for one in found):
        return found
    unsaid = [one for one in wanted if not only_names(one, found)]
    if not unsaid:
        return found
    more = [one for one in window.items if any(
        shown.holds(one, word) is not None for word in unsaid)]  # fmt: skip
    return more or list(window.items)


def holds(item: Item, token: Token, window: WindowView) -> bool | None:
    """Whether a word is true of an item; a mark that only others have is not."""
    verdict = shown.holds(item, token)
    alike = [one for one in window.items if one.tag == item.tag]
    marked = any(shown.holds(one, token) for one in alike) or _can_mark(window, token)
    return False if verdict is None and marked and item.tag else verdict


def only_names(token: Token, found: list[Item]) -> bool:
    """Whether a word only says which thing is meant."""
    texts = [one.text for one in found] + [
        value for one in found for name, value in one.attributes if name != "id"
    ]
    tags = [one.tag for one in found]
    return (
        any(likeness(token.keys, keys_of(text)) == EXACT for text in texts)
        or any(likeness(token.nouns, keys_of(tag)) >= GROUP for tag in tags)
        or bool(token.number)
    )


def is_field(item: Item, window: WindowView) -> bool:
    """Whether a window shows only one thing of this kind, such as its mode."""
    alone = sum(one.tag == item.tag for one in window.items) == 1
    return bool(item.tag) and alone and item.get("id") is None


# --- within ------------------------------------------------------------------------------


def _can_mark(window: WindowView, token: Token) -> bool:
    """Whether an action of the window marks things so, so that what has no mark is not."""
    verbs = {key for key in token.keys if key[0] == "@"}
    return any(keys & verbs for one in window.actions for keys in keys_of(one.id)[:1])


def _numbered_line(window: WindowView, wanted: list[Token]) -> Item | None:
    """The line with a number that is asked for: "line 3", 第三行."""
    numbers = [one.number.value for one in wanted if one.number and not one.number.from_end]
    if len(numbers) != 1 or not any(one.has("#line") for one in wanted):
        return None
    shown_as = f"{numbers[0]:g}"
    lines = (one for one in window.items if not one.tag)
    return next((one for one in lines if one.text.split(maxsplit=1)[:1] == [shown_as]), None)


def _true_of(items: list[Item], wanted: list[Token], window: WindowView) -> list[Item]:
    """Of several things those that a word is true of ("which lamps are on")."""
    if any(is_field(one, window) for one in items):
        return items
    for token in wanted:
        held = [one for one in items if holds(one, token, window)]
        if held and len(held) < len(items):
            items = held
    return items


def _is_done(item: Item) -> bool:
    return any(
        value == "true" and any("@done" in keys for keys in keys_of(name))
        for name, value in item.attributes
    )
