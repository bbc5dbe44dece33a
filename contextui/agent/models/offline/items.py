"""Which of the things that a window shows a person means: by their words, place or number."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from contextui.agent.models.offline.lexicon import groups_of, members, stem
from contextui.agent.models.offline.scene import Item, Param, Scene, Window, remembered
from contextui.agent.models.offline.tokens import Clause, Token, is_content, tokenize

_ALIKE = 12  # lines of long windows with the same words that are looked at
_MOST = 200  # numbers of a range that are looked up


@dataclass(frozen=True, slots=True)
class Mention:
    """Words of the clause that mean items of a window."""

    first: int
    last: int
    items: tuple[Item, ...]  # one item, several that fit equally, or all of several
    is_choice: bool = False  # only one of the items is meant, and it is open which
    is_exact: bool = False  # the words are all that the item says
    is_all: bool = False

    @property
    def tokens(self) -> frozenset[int]:
        """The places of the tokens."""
        return frozenset(range(self.first, self.last + 1))


@remembered
def mentions(scene: Scene, window: Window, clause: Clause) -> list[Mention]:
    """Return everything in a clause that may mean items of a window."""
    tokens = clause.tokens
    shown = _shown(scene, clause).get(window.id, []) if window.is_long else window.items
    shown = [*shown, *window.jobs] if window.is_long else shown
    if not (shown or clause.points):
        return []
    found = [*_by_words(shown, tokens), *_by_place(window, tokens)]
    found += _by_reference(scene, window, tokens)
    return [*found, *_several(window, tokens, found)]


@remembered
def _shown(scene: Scene, clause: Clause) -> dict[str, list[Item]]:
    """Return the items of long windows that contain most of the words of a clause.

    Windows of one class count as one: "the red apple" is not a red pear that another one shows.
    """
    said = [part for at in sorted(clause.content)
            for part in (clause.tokens[at].parts or (clause.tokens[at],))]  # fmt: skip
    said = [one for one in said if not one.verbs or one.groups != one.verbs] or said
    roots = {(one.stem or one.text.casefold()).removesuffix("y") for one in said}
    roots |= {word for one in said for group in one.groups if group[0] == "#"
              for word in members(group) if word.isascii() != one.stem.isascii()}  # fmt: skip
    texts = [root for root in roots if len(root) > 1]
    long = [one for one in scene.windows if one.is_long]
    known = [(one, found) for one in long if (found := frozenset(t for t in texts if _has(one, t)))]
    known.sort(key=lambda pair: (-len(pair[1]), pair[0].id != scene.focus))
    lines = defaultdict[tuple[str, frozenset[str]], list[tuple[Window, int]]](list)
    for window, words in known:
        if not any(name == window.name and words < kind for name, kind in lines):
            for at, kind in window.lines_with(words).items():
                lines[window.name, kind].append((window, at))
    shown = defaultdict[str, list[Item]](list)
    for (name, kind), places in lines.items():
        if not any(name == other and kind < more for other, more in lines):
            for window, at in places[:_ALIKE]:
                shown[window.id] += window.items_at(at)
    return shown


def value_of(item: Item, param: Param) -> str | int:
    """Return how a param names an item: by number, or by one of its texts."""
    facts = item.attributes
    number = facts.get("id", "")
    numbers = [value for value in (number, *facts.values()) if value.isdigit()]
    if numbers and param.takes_number and (number.isdigit() or param.is_number):
        return int(numbers[0])
    if param.name in facts or ("id" in param.words and number):
        return facts.get(param.name, number)
    named = facts.get("name") or facts.get("title")
    if item.text and not (named and item.tag):
        return item.text
    return named or item.text or number or next(iter(facts.values()), "")


def _by_words(items: Iterable[Item], tokens: Sequence[Token]) -> Iterator[Mention]:
    runs: dict[tuple[int, int], list[tuple[bool, Item]]] = {}
    for item in items:
        for first, last, is_whole in _runs(item, tokens):
            runs.setdefault((first, last), []).append((is_whole, item))
    for (first, last), found in runs.items():
        is_exact = any(is_whole for is_whole, _ in found)
        fitting = [item for is_whole, item in found if is_whole or not is_exact]
        numbered = [one for one in fitting if "id" in one.attributes]
        unique = {(one.tag, one.text, str(one.attributes)): one for one in numbered or fitting}
        yield Mention(first, last, tuple(unique.values()), len(unique) > 1, is_exact)


def _runs(item: Item, tokens: Sequence[Token]) -> Iterator[tuple[int, int, bool]]:
    """Return the longest runs of tokens that an item's text, or a name of it, contains."""
    facts = item.attributes.items()
    names = [value for name, value in facts if name != "id" or not value.isdigit()]
    for text in (item.text, *names):
        low, stems, at = text.casefold(), _stems(text), 0
        while stems and at < len(tokens):
            last = at
            while last < len(tokens) and _is_in(tokens[last], low, stems):
                last += 1
            while last > at and not _counts(tokens[last - 1]):
                last -= 1
            while at < last and not _counts(tokens[at]):
                at += 1  # "the" does not tell one item from another
            run = tokens[at:last]
            if any(_counts(one) for one in run):
                words = {one.stem for token in run for one in (token, *token.parts)}
                said = "".join(one.text for one in run).casefold().replace(" ", "")
                words |= {stem for stem in stems if not stem.isascii() and stem in said}
                yield at, last - 1, said == low.replace(" ", "").rstrip("/") or stems <= words
            at = max(last, at + 1)


def _counts(token: Token) -> bool:
    return is_content(token) and not (token.kind == "number" and token.is_ordinal)


def _is_in(token: Token, low: str, stems: frozenset[str]) -> bool:
    text = token.text.casefold()
    if token.kind in ("quoted", "path", "value", "mark"):
        return token.kind != "mark" and text in low
    if token.parts:
        return all(part.stem in stems for part in token.parts)
    is_chinese = not token.stem.isascii()
    if text in low if is_chinese else (token.stem or text) in stems:
        return True
    # It may mean one of the words in the other language.
    nouns = {group for group in token.groups if group[0] == "#"}
    return is_chinese == low.isascii() and any(groups_of(stem) & nouns for stem in stems)


@lru_cache(maxsize=1_024)
def _has(window: Window, text: str) -> bool:  # most windows are as they were in the step before
    return text in window.low


@lru_cache(maxsize=4_096)
def _stems(text: str) -> frozenset[str]:
    tokens = [part for one in tokenize(text) for part in (one.parts or (one,))]
    paths = " ".join(token.text.casefold() for token in tokens if token.kind == "path")
    found = {(token.stem or token.text.casefold()) for token in tokens if token.kind != "mark"}
    return frozenset(found | {stem(part) for part in re.split(r"[\s/._-]+", paths) if part})


def _by_place(window: Window, tokens: Sequence[Token]) -> Iterator[Mention]:
    """Read "the second one", "item 3", "the last one", "the first two", "2-4"."""

    def meant(first: int, last: int, items: Iterable[Item | None]) -> Iterator[Mention]:
        if found := tuple(item for item in items if item):
            yield Mention(first, last, found, is_exact=True)

    for at, token in enumerate(tokens):
        if token.is_ordinal and at > 0 and tokens[at - 1].has("~every"):
            continue  # "every second one"
        number = int(token.number or 0)
        after = tokens[at + 1] if at + 1 < len(tokens) else None
        count = int(after.number or 0) if after and after.kind == "number" else 0
        is_first = at > 0 and tokens[at - 1].text in ("前", "头", "top", "first")
        is_count = not token.is_ordinal and after is not None and after.has("~measure", "~one")
        if token.kind == "range":
            wanted = range(number, min(int(token.upto or 0), number + _MOST) + 1)
            yield from meant(at, at, map(window.named, wanted))
        elif token.kind == "number" and is_first:
            yield from meant(at - 1, at, window.rows[:number])
        elif token.kind == "number" and token.is_ordinal and token.text[0] != "#":
            rows = window.head if number <= len(window.head) else window.rows
            yield from meant(at, at, rows[max(0, number - 1) : number])
            if number == 1 and count:
                yield from meant(at, at + 1, window.rows[:count])
        elif token.kind == "number" and (token.text.isascii() or not is_count):
            yield from meant(at, at, [window.named(number)])
        elif token.has("~last"):
            yield from meant(at, at + (count > 1), window.rows[-max(1, count) :])
        elif token.has("~first"):
            yield from meant(at, at, window.head[:1])


def _several(window: Window, tokens: Sequence[Token], found: list[Mention]) -> Iterator[Mention]:
    """Read "milk and eggs", "all", "both", "all but the milk"."""
    for at, token in enumerate(tokens):
        if token.has("~all") and window.rows:
            but = next((n for n in range(at, len(tokens)) if tokens[n].has("~except")), None)
            left = [one for one in found if but is not None and one.first > but]
            if but is None:
                yield Mention(at, at, window.rows, is_all=True)
            elif left and not any(one.is_choice for one in left):
                out = {id(item) for one in left for item in one.items}
                kept = tuple(item for item in window.rows if id(item) not in out)
                yield Mention(at, max(one.last for one in left), kept, is_exact=True)
        elif token.has("~both") and len(window.rows) == 2:
            yield Mention(at, at, window.rows, is_exact=True)
    plain = sorted((one for one in found if not one.is_choice), key=lambda one: one.first)
    for start in plain:
        row, last = list(start.items), start.last
        for other in plain:
            if other.first > last and _joins(tokens[last + 1 : other.first]):
                row += other.items
                last = other.last
        if last > start.last:
            unique = tuple({id(item): item for item in row}.values())
            yield Mention(start.first, last, unique, is_exact=True)


def _joins(between: Sequence[Token]) -> bool:
    """Whether tokens only join two items: "and the"."""
    small = ("~and", "~article", "~possessive", "~one", "~aspect", "#item", "#line")
    joints = [one.has("~and") or one.text in ",，、" for one in between]
    is_small = all(map(lambda one, is_joint: is_joint or one.has(*small), between, joints))
    return is_small and any(joints) and len(between) < 4


def _by_reference(scene: Scene, window: Window, tokens: Sequence[Token]) -> Iterator[Mention]:
    """Read "it", "that one", "them": what was touched last."""
    many = ("them", "they", "these", "those", "它们", "这些", "那些")
    for at, token in enumerate(tokens):
        is_adjective = token.has("~this") and any(map(is_content, tokens[at + 1 : at + 2]))
        if is_adjective or not token.has("~it", "~this", "~both"):
            continue
        is_alone = len(window.head) == 1 and "\n" in window.raw.strip()
        touched = touched_items(scene, window) or list(window.head[:1] if is_alone else ())
        if token.stem in many or token.has("~both"):
            is_right = len(touched) == 2 if token.has("~both") else len(touched) > 1
            touched = touched if is_right else []
        else:
            touched = touched[-1:]
        if touched:
            yield Mention(at, at, tuple(touched), is_exact=True)


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
        lists = [value if isinstance(value, list) else [value] for value in call.values.values()]
        values = [one for value in lists for one in value]
        rows = [window.named(one) for one in values]
        found[:0] = [item for item in rows if item and item not in found]
        if len(found) > 1 and len(values) > 1:
            break
    return found
