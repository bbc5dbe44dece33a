"""Which of the things that a window shows a person means: by their words, place or number."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from contextui.agent.models.offline.lexicon import groups_of, stem
from contextui.agent.models.offline.scene import Item, Param, Scene, Window, items_in
from contextui.agent.models.offline.tokens import Token, is_content, tokenize

_SMALL = 20_000  # characters of a content whose items are all compared
_LINES = 60  # lines of a longer one that are looked at


@dataclass(frozen=True, slots=True)
class Mention:
    """Words of the clause that mean items of a window.

    Attributes:
        first: The first token.
        last: The last token.
        items: What they mean: one item, several that fit equally, or all of several.
        is_choice: Whether only one of the items is meant, and it is open which.
        is_exact: Whether the words are all that the item says.
        is_all: Whether all items are meant.
    """

    first: int
    last: int
    items: tuple[Item, ...]
    is_choice: bool = False
    is_exact: bool = False
    is_all: bool = False

    @property
    def tokens(self) -> frozenset[int]:
        """The places of the tokens."""
        return frozenset(range(self.first, self.last + 1))


def mentions(scene: Scene, window: Window, tokens: Sequence[Token]) -> list[Mention]:
    """Return everything in a clause that may mean items of a window."""
    by_words = list(_by_words(window, tokens))
    found = [*by_words, *_by_place(window, tokens), *_by_reference(scene, window, tokens)]
    return [*found, *_several(window, tokens, found)]


def value_of(item: Item, param: Param) -> str | int:
    """Return how a param names an item: by number, or by one of its texts."""
    number = item.attributes.get("id", "")
    if param.takes_number and number.isdigit():
        return int(number)
    if param.takes_number:
        numbers = [value for value in item.attributes.values() if value.isdigit()]
        if numbers and not param.takes_text:
            return int(numbers[0])
    for name, value in item.attributes.items():
        if name == param.name or (name == "id" and "id" in param.words):
            return value
    named = item.attributes.get("name") or item.attributes.get("title")
    if item.text and not (named and item.tag):
        return item.text
    return named or item.text or number or next(iter(item.attributes.values()), "")


# --- by words ----------------------------------------------------------------------------


def _by_words(window: Window, tokens: Sequence[Token]) -> Iterator[Mention]:
    runs: dict[tuple[int, int], list[tuple[float, Item]]] = {}
    for item in _candidates(window, tokens):
        for first, last, share in _runs(item, tokens):
            runs.setdefault((first, last), []).append((share, item))
    for (first, last), found in runs.items():
        is_exact = any(share == 1.0 for share, _ in found)
        fitting = [item for share, item in found if share == 1.0 or not is_exact]
        numbered = [one for one in fitting if "id" in one.attributes]
        unique = {(one.tag, one.text, str(one.attributes)): one for one in numbered or fitting}
        yield Mention(first, last, tuple(unique.values()), len(unique) > 1, is_exact)


def _candidates(window: Window, tokens: Sequence[Token]) -> Sequence[Item]:
    if len(window.raw) <= _SMALL:
        return window.items
    raw, lines = window.raw.casefold(), dict[int, int]()
    for token in tokens:
        if not is_content(token) or len(token.text) < 2:
            continue
        at, word = raw.find(token.text.casefold()), token.text.casefold()
        while at >= 0 and len(lines) < _LINES:
            start = raw.rfind("\n", 0, at) + 1
            end = raw.find("\n", at)
            lines[start] = end if end >= 0 else len(raw)
            at = raw.find(word, lines[start])
    return [item for start, end in lines.items() for item in items_in(window.raw[start:end])]


def _runs(item: Item, tokens: Sequence[Token]) -> Iterator[tuple[int, int, float]]:
    """Return the longest runs of tokens that an item's text, or a name of it, contains."""
    texts = [item.text, *(value for name, value in item.attributes.items()
                          if name != "id" or not value.isdigit())]  # fmt: skip
    for text in texts:
        stems = _stems(text)
        if not stems:
            continue
        low, at = text.casefold(), 0
        while at < len(tokens):
            last, used = at - 1, set[str]()
            for place in range(at, len(tokens)):
                token = tokens[place]
                if token.kind == "mark" or not _is_in(token, low, stems):
                    break
                used |= stems & ({token.stem} | {part.stem for part in token.parts})
                used |= {one for one in stems if not one.isascii() and one in token.text}
                last = place
            while last >= at and not _counts(tokens[last]):
                last -= 1
            run = tokens[at : last + 1]
            if any(_counts(one) for one in run):
                said = "".join(one.text for one in run).casefold().replace(" ", "")
                whole = said == low.replace(" ", "").rstrip("/") or len(used) == len(stems)
                yield at, last, 1.0 if whole else len(used) / (len(stems) + 1) or 0.1
            at = max(last, at) + 1


def _counts(token: Token) -> bool:
    return is_content(token) and not (token.kind == "number" and token.is_ordinal)


def _is_in(token: Token, low: str, stems: frozenset[str]) -> bool:
    text = token.text.casefold()
    if token.kind in ("quoted", "path", "value"):
        return text in low
    if not token.stem.isascii():
        return text in low or (low.isascii() and _means(token, stems))
    if token.parts:
        return all(part.stem in stems for part in token.parts)
    return (token.stem or text) in stems or (not low.isascii() and _means(token, stems))


def _means(token: Token, stems: frozenset[str]) -> bool:
    """Whether a token means one of the words, in the other language."""
    nouns = {group for group in token.groups if group[0] == "#"}
    return bool(nouns) and any(groups_of(one) & nouns for one in stems)


@lru_cache(maxsize=4_096)
def _stems(text: str) -> frozenset[str]:
    tokens = [part for one in tokenize(text) for part in (one.parts or (one,))]
    found = {(one.stem or one.text.casefold()) for one in tokens if one.kind != "mark"}
    for one in tokens:
        if one.kind == "path":
            found |= {stem(part) for part in re.split(r"[/._-]+", one.text.casefold()) if part}
    return frozenset(found)


# --- by place and by reference -------------------------------------------------------------


def _by_place(window: Window, tokens: Sequence[Token]) -> Iterator[Mention]:
    """Read "the second one", "item 3", "the last one", "the first two", "all", "both"."""
    for place, token in enumerate(tokens):
        after = tokens[place + 1] if place + 1 < len(tokens) else None
        if token.kind == "number" and token.number is not None and token.number.is_integer():
            number = int(token.number)
            counted = not token.is_ordinal and after and after.has("~measure", "~one")
            if (
                counted
                and not token.text.isascii()
                and not (place and tokens[place - 1].text in "前头")
            ):
                continue
            named = [one for one in window.rows if one.attributes.get("id") == str(number)]
            if token.is_ordinal and not token.text.startswith("#"):
                named = list(window.rows[number - 1 : number]) if number > 0 else []
            if named:
                yield Mention(place, place, (named[0],), is_exact=True)
            before = tokens[place - 1] if place else None
            if before and before.text in ("前", "头", "top", "first") and window.rows:
                yield Mention(place - 1, place, window.rows[:number], is_exact=True)
                continue
            if token.is_ordinal and number == 1 and after and after.number and window.rows:
                yield Mention(place, place + 1, window.rows[: int(after.number)], is_exact=True)
        elif token.kind == "range" and token.number and token.upto:
            wanted = {str(one) for one in range(int(token.number), int(token.upto) + 1)}
            rows = tuple(one for one in window.rows if one.attributes.get("id") in wanted)
            if rows:
                yield Mention(place, place, rows, is_exact=True)
        elif token.has("~last") and window.rows:
            count = int(after.number) if after and after.kind == "number" and after.number else 1
            last = place + 1 if count > 1 else place
            yield Mention(place, last, window.rows[-count:], is_exact=True)
        elif token.has("~first") and window.rows:
            yield Mention(place, place, window.rows[:1], is_exact=True)


def _several(
    window: Window, tokens: Sequence[Token], found: Sequence[Mention]
) -> Iterator[Mention]:
    """Read "milk and eggs", "all", "both", "all but the milk", "everything that is done"."""
    for place, token in enumerate(tokens):
        if token.has("~all") and window.rows:
            but = next((at for at in range(place, len(tokens)) if tokens[at].has("~except")), None)
            if but is None:
                yield Mention(place, place, window.rows, is_all=True)
                continue
            left = [one for one in found if one.first > but and not one.is_choice]
            if left:
                out = {id(item) for one in left for item in one.items}
                kept = tuple(item for item in window.rows if id(item) not in out)
                yield Mention(place, max(one.last for one in left), kept, is_exact=True)
        elif token.has("~both") and len(window.rows) == 2:
            yield Mention(place, place, window.rows, is_exact=True)
    plain = sorted((one for one in found if not one.is_choice), key=lambda one: one.first)
    for start in plain:
        row, last = list(start.items), start.last
        for other in plain:
            between = tokens[last + 1 : other.first]
            if other.first > last and 0 < len(between) < 4 and all(
                one.has("~and", "~article", "~possessive", "~one", "~aspect", "#item", "#line")
                or one.text in ",，、" for one in between
            ) and any(one.has("~and") or one.text in ",，、" for one in between):  # fmt: skip
                row += other.items
                last = other.last
        if last > start.last:
            unique = tuple({id(item): item for item in row}.values())
            yield Mention(start.first, last, unique, is_exact=True)


def _by_reference(scene: Scene, window: Window, tokens: Sequence[Token]) -> Iterator[Mention]:
    """Read "it", "that one", "them": what was touched last."""
    for place, token in enumerate(tokens):
        if not token.has("~it", "~this", "~both"):
            continue
        alone = len(window.rows) == 1 and "\n" in window.raw.strip()
        touched = touched_items(scene, window) or list(window.rows[:1] if alone else ())
        after = tokens[place + 1 : place + 2]
        if token.has("~this") and after and is_content(after[0]):
            continue
        if token.stem in ("them", "they", "these", "those") or token.text in (
            "它们",
            "这些",
            "那些",
        ):
            if len(touched) > 1:
                yield Mention(place, place, tuple(touched), is_exact=True)
        elif token.has("~both"):
            if len(touched) == 2:
                yield Mention(place, place, tuple(touched), is_exact=True)
        elif touched:
            yield Mention(place, place, (touched[-1],), is_exact=True)


def touched_items(scene: Scene, window: Window) -> list[Item]:
    """Return the items that the last calls on a window were about, in order."""
    found: list[Item] = []
    action = None
    for call in scene.recent:
        if call.window_id != window.id or not call.ok:
            continue
        kind = call.input.get("action_id", call.tool)
        if action not in (None, kind) and found:
            break
        action = kind
        values = [one for value in call.values.values()
                  for one in (value if isinstance(value, list) else [value])]  # fmt: skip
        rows = [next((item for item in window.rows if _names(item, one)), None) for one in values]
        found[:0] = [item for item in rows if item and item not in found]
        if len(found) > 1 and len(values) > 1:
            break
    return found


def _names(item: Item, value: object) -> bool:
    if isinstance(value, int):
        return item.attributes.get("id") == str(value)
    return isinstance(value, str) and value in (item.text, *item.attributes.values())
