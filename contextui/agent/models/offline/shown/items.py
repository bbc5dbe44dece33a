"""Finding what a person means among the things that a window shows."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from contextui.agent.models.offline.lexicon.stems import stem
from contextui.agent.models.offline.lexicon.verbs import OPPOSITE
from contextui.agent.models.offline.reading.token import Kind, Token
from contextui.agent.models.offline.reading.words import keys_of, tokens_of
from contextui.agent.models.offline.shown.blocks import Item, WindowView
from contextui.agent.models.offline.shown.declared import Param

_NAMING = ("name", "title", "id", "key", "label", "text")
EXACT, PART, WORDS, AROUND, SOME = 1.0, 0.9, 0.8, 0.75, 0.5
"""How well an item fits: the same, a part of it, all the words, more than it, some of them."""


@dataclass(frozen=True, slots=True)
class Found:
    """Items that fit, all equally well, and how well that is."""

    items: tuple[Item, ...] = ()
    fit: float = 0.0


def candidates(window: WindowView, param: Param) -> list[Item]:
    """The items that a param can mean: those it is named after, else the ones that matter."""
    wanted = frozenset[str]().union(*keys_of(param.name)) if param.name else frozenset()
    wanted = frozenset(key for key in wanted if key[0] not in "~@'")
    named = [one for one in window.items if one.tag and _tag_keys(one.tag) & wanted]
    if named:
        return named
    with_attribute = [one for one in window.items if one.get(param.name) is not None]
    return with_attribute or main_items(window)


def main_items(window: WindowView) -> list[Item]:
    """The items that a window is about: those with an id, else of the commonest kind."""
    numbered = [one for one in window.items if one.get("id") is not None]
    pool = numbered or list(window.items)
    common = Counter(one.tag for one in pool).most_common(1)
    return [one for one in pool if one.tag == common[0][0]] if common else []


def find_by_words(items: Sequence[Item], phrase: str) -> Found:
    """The items that a phrase names."""
    wanted = " ".join(phrase.casefold().split())
    if not wanted:
        return Found()
    words = _content_keys(wanted)
    fits = [(_fit(one, wanted, words), one) for one in items]
    best = max((fit for fit, _ in fits), default=0.0)
    return Found(tuple(one for fit, one in fits if fit == best), best) if best else Found()


def find_by_place(items: Sequence[Item], tokens: Sequence[Token]) -> Item | None:
    """The item at the place that is named: the second, the last, 倒数第二个."""
    place = place_among(tokens, len(items))
    return None if place is None else items[place]


def place_among(tokens: Sequence[Token], size: int) -> int | None:
    """The place among so many, from 0, that words name; None if they name none that there is."""
    for token in tokens:
        number = token.number
        if number and number.ordinal:
            place = int(number.value)
            index = size - place if number.from_end else place - 1
            return index if place >= 1 and 0 <= index < size else None
        if size and token.has("~last", "#finish"):
            return size - 1
        if size and token.has("~first", "#begin"):
            return 0
    return None


def find_by_number(items: Sequence[Item], number: float) -> Item | None:
    """The item with this id; where items have none, the one at this place."""
    shown = f"{number:g}"
    by_id = [one for one in items if one.get("id") == shown]
    if by_id:
        return by_id[0]
    place = int(number)
    has_ids = any((one.get("id") or "").isdecimal() for one in items)
    return items[place - 1] if not has_ids and 1 <= place <= len(items) else None


def value_of(item: Item, param: Param, items: Sequence[Item]) -> str | int | None:
    """What stands for an item where a param wants one."""
    named = item.get(param.name)
    key = named if named is not None else item.get("id")
    wants_number = param.type.takes_number
    if wants_number and key and key.lstrip("-").isdecimal():
        return int(key)
    if wants_number and key is None and not param.type.takes_text:
        return items.index(item) + 1
    if not param.type.takes_text:
        return None
    if named is not None:
        return named
    is_key = any(keys & {"id", "key", "cod", "code", "slug"} for keys in keys_of(param.name))
    if is_key and key is not None:
        return key
    own = next((item.get(name) for name in _NAMING[:2] if item.get(name)), None)
    return own or item.text or key


def marked(items: Sequence[Item], tokens: Sequence[Token]) -> list[Item]:
    """The items whose attributes the words name ("the done ones", "those of high priority")."""
    said = [one.keys for one in tokens if one.kind is Kind.WORD and not one.is_small]
    return [one for one in items if said and all(_is_marked(one, keys) for keys in said)]


def holds(item: Item, token: Token) -> bool | None:
    """Whether a word is true of an item; None if what is shown does not say."""
    plain = frozenset(key for key in token.keys if key[0] not in "~'")
    contrary = {f"@{OPPOSITE[key[1:]]}" for key in plain if key[1:] in OPPOSITE and key[0] == "@"}
    denied = "~not" in token.keys
    for name, value in item.attributes:
        if any(keys & plain for keys in keys_of(name)) and value in ("true", "false"):
            return (value == "true") is not denied
    for text in (item.text, *(value for _, value in item.attributes)):
        for keys in keys_of(text):
            if keys & plain:
                return ("~not" in keys) is denied
            if keys & contrary:
                return False
    return None


def _is_marked(item: Item, keys: frozenset[str]) -> bool:
    plain = {key for key in keys if key[0] not in "~'"}
    for name, value in item.attributes:
        told = name if value == "true" else value if name != "id" else ""
        if any(one & plain for one in keys_of(told)) or any(one & plain for one in keys_of(name)):
            return value != "false"
    return any(one & plain for one in keys_of(item.tag)) if item.tag else False


def _tag_keys(tag: str) -> frozenset[str]:
    return frozenset(key for keys in keys_of(tag) for key in keys if key[0] not in "~@'")


def _fit(item: Item, wanted: str, words: frozenset[str]) -> float:
    texts = [item.text, *(value for _, value in item.attributes if len(value) > 1)]
    plain = [" ".join(text.casefold().split()) for text in texts if text]
    if wanted in plain:
        return EXACT
    if any(_is_within(wanted, text) for text in plain[:1]):
        return PART
    if not wanted.isascii() and any(_has_characters(text, wanted) for text in plain[:1]):
        return WORDS
    held = _content_keys(" ".join(plain)[:2_000])
    if words and words <= held:
        return WORDS
    if any(_is_within(text, wanted) for text in plain if not text.isdecimal()):
        return AROUND
    shared = len(words & held)
    return SOME if shared and shared * 2 > len(words) else 0.0


def _has_characters(text: str, wanted: str) -> bool:
    """Whether a Chinese text has the characters of another in another order."""
    same = set(wanted) <= set(text) and len(wanted) > 1
    return same and len(text) <= 2 * len(wanted) and not any(one.isspace() for one in wanted)


def _is_within(part: str, whole: str) -> bool:
    """Whether whole words of a text are another text; Chinese has no spaces to go by."""
    if len(part) < 2 or part not in whole:
        return False
    at = whole.find(part)
    around = whole[at - 1 : at] + whole[at + len(part) : at + len(part) + 1]
    return not part.isascii() or not any(char.isascii() and char.isalnum() for char in around)


@lru_cache(maxsize=2_048)
def _content_keys(text: str) -> frozenset[str]:
    """One key for each word that says something."""
    found = set[str]()
    for token in tokens_of(text):
        if token.kind is Kind.WORD and (not token.is_small or token.is_verb):
            groups = sorted(key for key in token.keys if key[0] in "#@")  # nouns come first
            found.add(groups[0] if groups else stem(token.text))
        elif token.kind in (Kind.NUMBER, Kind.PATH, Kind.QUOTE):
            found.add(token.text)
    return frozenset(found - {""})
