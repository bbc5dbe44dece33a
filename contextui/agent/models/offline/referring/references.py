"""Which open windows a clause speaks of: by id, by number, both, all but one, the other."""

from collections.abc import Sequence
from dataclasses import dataclass

from contextui.agent.models.offline.reading.clauses import Clause, parts_of
from contextui.agent.models.offline.reading.token import Kind, Token
from contextui.agent.models.offline.referring.mentions import led_paths, mention_of, opens_paths
from contextui.agent.models.offline.shown.blocks import WindowView
from contextui.agent.models.offline.shown.paths import is_file_of
from contextui.agent.models.offline.shown.profiles import GROUP, likeness, words_of
from contextui.agent.models.offline.shown.surroundings import Surroundings

_BACK = 3  # tokens before a noun that may say which of several


@dataclass(frozen=True, slots=True)
class Meant:
    """Windows that are spoken of.

    Attributes:
        windows: The windows; none if it was not said which.
        places: The tokens that say so.
    """

    windows: tuple[WindowView, ...] = ()
    places: frozenset[int] = frozenset()


def windows_meant(clause: Clause, around: Surroundings) -> Meant:
    """The windows that are pointed at, rather than described."""
    for find in (
        _by_id,
        _by_path,
        _by_exception,
        _by_listing,
        _by_kind,
        _by_pronoun,
        _by_both,
        _by_closing_all,
    ):
        meant = find(clause.tokens, clause, around)
        if meant.windows:
            return meant
    return Meant()


def _by_id(tokens: Sequence[Token], _: Clause, around: Surroundings) -> Meant:
    ids = {one.id.casefold(): one for one in around.windows}
    places = [n for n, token in enumerate(tokens) if token.text.casefold() in ids]
    found = dict.fromkeys(tokens[n].text.casefold() for n in places)
    return Meant(tuple(ids[one] for one in found), frozenset(places))


def _by_path(tokens: Sequence[Token], _: Clause, around: Surroundings) -> Meant:
    """The window that was opened for the file in which something is to be done."""
    for place in led_paths(tokens):
        windows = tuple(
            window
            for window in around.windows
            if any(one.name == window.name and opens_paths(one) for one in around.classes)
            and is_file_of(window, tokens[place].text)
        )
        if windows:
            return Meant(windows, frozenset([place]))
    return Meant()


def _by_exception(tokens: Sequence[Token], clause: Clause, around: Surroundings) -> Meant:
    at = next((n for n, one in enumerate(tokens) if one.has("~except")), None)
    if at is None:
        return Meant()
    end = next((n for n in range(at + 1, len(tokens)) if _ends_exception(tokens[n])), len(tokens))
    spared = Clause(tuple(tokens[at + 1 : end]), clause.words)
    kept = {one.id for one in around.windows if mention_of(spared, one, strict=False)[0] >= 0.7}
    rest = [n for n in range(len(tokens)) if n < at or n >= end]
    every = [n for n in rest if tokens[n].has("~all", "~other", "#window", "~one")]
    if tokens[at].text.casefold().startswith(("all ", "every")):  # "everything but"
        every.append(at)
    if not every or not kept:
        return Meant()
    windows = tuple(one for one in around.windows if one.id not in kept)
    return Meant(windows, frozenset([*range(at, end), *every]))


def _by_listing(tokens: Sequence[Token], clause: Clause, around: Surroundings) -> Meant:
    """Several windows that are to be closed: "the list and the monitor", 把清单和监控都关了."""
    if not any(one.has("@close") for one in tokens):
        return Meant()
    windows, places = list[WindowView](), set[int]()
    for part in parts_of(tokens):
        scores = [(*mention_of(Clause(tuple(part), clause.words), one, strict=False), one)
                  for one in around.windows]  # fmt: skip
        score, _, best = max(scores, key=lambda one: one[0], default=(0.0, set(), None))
        if best is None or score < 0.7 or best in windows:
            return Meant()
        windows.append(best)
        places |= {n for n, one in enumerate(tokens) if one in part and not one.has("@close")}
    return Meant(tuple(windows), frozenset(places)) if len(windows) > 1 else Meant()


def _by_kind(tokens: Sequence[Token], _: Clause, around: Surroundings) -> Meant:
    """The first list, both lists, all windows, the other one."""
    for place, token in enumerate(tokens):
        kind = _of_kind(token, around)
        near = range(max(place - _BACK, 0), place)
        if token.has("~one") and any(tokens[n].has("~other") for n in near):
            return Meant(_others(around, around.windows), frozenset([*near, place]))
        if token.has("~other") and token.has("~one"):
            return Meant(_others(around, around.windows), frozenset([place]))
        chosen = [n for n in near if _chooses(tokens[n])]
        if kind and chosen:
            picked = _picked(tokens[chosen[-1]], token, kind, around)
            if picked:
                return Meant(picked, frozenset([*chosen, *_nouns_from(tokens, place, around)]))
    return Meant()


def _by_pronoun(tokens: Sequence[Token], _: Clause, around: Surroundings) -> Meant:
    at = next((n for n, one in enumerate(tokens) if one.has("~plural")), None)
    known = [one for one in around.windows if one.id in around.mentioned]
    if at is None or len(known) < 2:
        return Meant()
    return Meant(tuple(known), frozenset([at]))


def _by_both(tokens: Sequence[Token], _: Clause, around: Surroundings) -> Meant:
    """ "Set both to 21", where two windows of a kind are open that list nothing themselves."""
    at = next((n for n, one in enumerate(tokens) if one.has("~both")), None)
    used = next((one for one in around.windows if one.id in around.used[:1]), None)
    last = used or (around.windows[-1] if around.windows else None)
    if at is None or last is None:
        return Meant()
    same = tuple(one for one in around.windows if one.name == last.name)
    listing = any(item.get("id") is not None for one in same for item in one.items)
    return Meant(same, frozenset([at])) if len(same) == 2 and not listing else Meant()


def _by_closing_all(tokens: Sequence[Token], _: Clause, around: Surroundings) -> Meant:
    """ "Close everything" is about windows; with other verbs it is about what they show."""
    said = [one for one in tokens if one.kind is Kind.WORD]
    both = len(around.windows) == 2 and any(one.has("~both") for one in said)
    every = [n for n, one in enumerate(tokens) if one.has("~all", "#window") or (
        both and one.has("~both"))]  # fmt: skip
    whole = both or any(one.has("~all") for one in said)
    if not whole or not any(one.has("@close") for one in said):
        return Meant()
    rest = [one for one in said if not one.is_small and not one.has("@close", "#window")]
    return Meant() if rest else Meant(around.windows, frozenset(every))


def _ends_exception(token: Token) -> bool:
    return token.kind is Kind.MARK or token.has("~all", "~other", "~then") or token.is_verb


def _of_kind(token: Token, around: Surroundings) -> list[WindowView]:
    if token.kind is not Kind.WORD or (token.is_small and not token.has("#window")):
        return []
    if token.has("#window"):
        return list(around.windows)
    named = [one for one in around.windows if likeness(token.nouns, words_of(one)[0]) >= GROUP]
    return named or [
        one for one in around.windows if likeness(token.nouns, words_of(one)[1]) >= GROUP
    ]


def _nouns_from(tokens: Sequence[Token], place: int, around: Surroundings) -> range:
    """A noun with those behind it that name windows too ("todo lists")."""
    end = place + 1
    while end < len(tokens) and _of_kind(tokens[end], around):
        end += 1
    return range(place, end)


def _chooses(token: Token) -> bool:
    return token.number is not None or token.has("~all", "~both", "~plural", "~other", "~last")


def _picked(
    token: Token, noun: Token, kind: Sequence[WindowView], around: Surroundings
) -> tuple[WindowView, ...]:
    if token.has("~other"):
        return _others(around, kind)
    if token.has("~all", "~both", "~plural"):
        return tuple(kind) if len(kind) > 1 or noun.has("#window") else ()
    if len(kind) < 2:  # "the first note" is a note then, not a window
        return ()
    place = int(token.number.value) if token.number else len(kind)
    if token.number and not token.number.ordinal:
        return tuple(kind) if place == len(kind) else ()
    return (kind[place - 1],) if 1 <= place <= len(kind) else ()


def _others(around: Surroundings, kind: Sequence[WindowView]) -> tuple[WindowView, ...]:
    """All of a kind but the one that was spoken of, or used, last."""
    recent = [*around.mentioned, *around.used]
    if not recent:
        return ()
    last = next((one for one in around.windows if one.id == recent[0]), None)
    if last is None:
        return ()
    same = [one for one in kind if one.name == last.name and one.id != last.id]
    return tuple(same) or tuple(one for one in kind if one.id != last.id)
