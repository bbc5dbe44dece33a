"""Where a clause names a window or a class: by its id, its name, or words of its description."""

import re
from collections.abc import Sequence

from contextui.agent.models.offline.lexicon.listed import listed
from contextui.agent.models.offline.reading.clauses import Clause
from contextui.agent.models.offline.reading.token import Kind, Token
from contextui.agent.models.offline.referring.knowing import is_told, knows
from contextui.agent.models.offline.shown.blocks import ClassView, WindowView
from contextui.agent.models.offline.shown.paths import paths_of
from contextui.agent.models.offline.shown.profiles import GROUP, kind_of, likeness, words_of
from contextui.agent.models.offline.shown.surroundings import Surroundings

_BEFORE = listed(
    "~article ~new_article ~possessive ~this ~in ~to ~from ~of ~with ~for ~by ~at ~all ~object ~as "
    "~what ~howmany ~have"
)
_AFTER = listed(
    "~in ~of ~to ~from ~for ~with ~adverb ~polite ~then ~by ~every ~be ~is_there ~as ~called "
    "~saying ~tagged ~and ~at ~before ~after ~howmany ~have"
)
_INDEFINITE = frozenset(("a", "an", "new", "another", "一个", "新", "个"))
_DETERMINER = ("~article", "~possessive", "~this")
_FAR = 4  # words from "to" to what it leads to
PLACING = listed("~in ~to ~from ~at ~for ~by")
"""Groups of small words that lead to where something is."""

_ID = re.compile(r"(?<![\w./-])([a-z][a-z0-9_-]*)_([0-9]{1,6})(?![\w./-])", re.ASCII)
# No quote goes on over another that opens: words that open many and close none stay one pass.
_QUOTED = re.compile(r"\"[^\"]*\"|“[^“”]*”|'[^']*'|‘[^‘’]*’|「[^「」]*」")


def unknown_window(words: str, around: Surroundings) -> str:
    """An id that is named as a window's and that none has; empty if there is none.

    The next number of a class may be that of a window which is only being opened.
    """
    ids = {one.id for one in around.windows}
    names = {one.name for one in around.windows} | {one.name for one in around.classes}
    for name, number in _ID.findall(_QUOTED.sub(" ", words.casefold())):
        last = max((_number(one) for one in ids if one.startswith(f"{name}_")), default=0)
        if name in names and f"{name}_{number}" not in ids and int(number) != last + 1:
            return f"{name}_{number}"
    return ""


def _number(window_id: str) -> int:
    number = window_id.rpartition("_")[2]
    return int(number) if number.isdecimal() else 0


def mention_of(
    clause: Clause, view: WindowView | ClassView, strict: bool = True
) -> tuple[float, set[int]]:
    """How clearly a window or a class is named, and by which tokens.

    Args:
        clause: What was said.
        view: The window or the class.
        strict: Count a word only where a window can be meant, not amid other words.
    """
    score, places = 0.0, set[int]()
    seen: set[frozenset[str]] = set()
    for start, end in _runs(clause.tokens, view):
        if strict and not _stands_free(clause.tokens, start, end):
            which = said_which(clause.tokens, end - 1, view)
            if not which or end - start > 1 or not _are_strange(clause, which, view):
                continue
            places |= which
        for place in range(start, end):
            token = clause.tokens[place]
            places.add(place)
            score += _naming(token, view) if token.keys not in seen else 0.0
            seen.add(token.keys)
    return min(score, 6.0), places


def led_mention(clause: Clause, view: WindowView | ClassView) -> float:
    """How clearly it is named as the place of something ("to my list", "在清单里")."""
    score, places = mention_of(clause, view)
    first = min(places, default=0)
    led = first > 0 and clause.tokens[first - 1].has(*_BEFORE)
    return score if led else 0.0


def led_paths(tokens: Sequence[Token]) -> list[int]:
    """The places of paths in which something is to be done ("in a.py", a.py 里)."""
    found = []
    for place, token in enumerate(tokens):
        before = tokens[place - 1] if place else None
        after = tokens[place + 1] if place + 1 < len(tokens) else None
        led = before is not None and before.has("~in", "~of", "~from") and not before.is_verb
        led = led or (after is not None and after.has("~behind_noun", "~of") and not after.is_ascii)
        if token.kind is Kind.PATH and led:
            found.append(place)
    return found


def opens_paths(view: ClassView) -> bool:
    """Whether windows of a class are opened for a file."""
    needed = [one for one in view.args if not one.optional]
    return len(needed) == 1 and needed[0].is_path


def is_indefinite(clause: Clause, places: set[int]) -> bool:
    """Whether what is named is a new one: "a list", not "the list"."""
    first = min(places, default=0)
    near = clause.tokens[max(0, first - 3) : first]
    return any(one.has("~new_article") or one.text.casefold() in _INDEFINITE for one in near)


def is_named(token: Token, view: WindowView | ClassView) -> bool:
    """Whether a token is a word of its name, not only of its description."""
    return likeness(token.keys, words_of(view)[0]) >= GROUP


def said_which(
    tokens: Sequence[Token], place: int, view: WindowView | ClassView
) -> set[int] | None:
    """The places of the words that say which one something goes to: "shopping", of "to my list".

    Args:
        tokens: What was said.
        place: Where the word may stand that says what the view is.
        view: The window or the class.

    Returns:
        None if it is not said there that something goes to such a thing.
    """
    after = tokens[place + 1] if place + 1 < len(tokens) else None
    ends = after is None or after.kind is Kind.MARK or after.is_small or after.is_verb
    if not ends or likeness(tokens[place].nouns, kind_of(view.description)) < GROUP:
        return None
    found = set[int]()
    for before in range(place - 1, max(place - _FAR, 0) - 1, -1):
        token = tokens[before]
        if token.has("~to", "~in"):
            return found
        plain = token.kind is Kind.WORD and not (token.is_verb or token.number)
        if not plain or (token.is_small and not token.has(*_DETERMINER)):
            return None
        if not token.is_small:
            found.add(before)
    return None


# --- within ------------------------------------------------------------------------------


def _are_strange(clause: Clause, places: set[int], view: WindowView | ClassView) -> bool:
    """Whether words are none that a window declares or shows: those would be values."""
    tokens = [clause.tokens[place] for place in places]
    return not any(
        knows(view, one) if isinstance(view, WindowView) else is_told(view, one.nouns)
        for one in tokens
    )


def _naming(token: Token, view: WindowView | ClassView) -> float:
    if isinstance(view, WindowView) and token.text.casefold() == view.id.casefold():
        return 6.0
    name, first, rest = words_of(view)
    by_name = likeness(token.keys, name)
    weight = 2.6 if token.text.casefold() in re.split("[-_]", view.name) else 2.2
    return max(
        weight * by_name if by_name >= GROUP else 0.0,
        1.1 * likeness(token.keys, first),
        0.6 * likeness(token.keys, rest),
    )


def _runs(tokens: Sequence[Token], view: WindowView | ClassView) -> list[tuple[int, int]]:
    """Neighbouring tokens that can name this view."""
    runs, start = list[tuple[int, int]](), -1
    for place in range(len(tokens) + 1):
        if place < len(tokens) and _names(tokens[place], view):
            start = place if start < 0 else start
        elif start >= 0:
            runs.append((start, place))
            start = -1
    return runs


def _names(token: Token, view: WindowView | ClassView) -> bool:
    if token.kind is not Kind.WORD or (token.is_small and not token.has("#window", "#list")):
        return False
    if isinstance(view, WindowView) and token.text.casefold() == view.id.casefold():
        return True
    if isinstance(view, WindowView) and _is_shown_path(token, view):
        return False
    nouns = frozenset(key for key in token.keys if key[0] != "@")
    return token.has("#window") or any(likeness(nouns, one) >= GROUP for one in words_of(view))


def _is_shown_path(token: Token, view: WindowView) -> bool:
    """Whether it is the name of a file or a folder that a window shows, such as docs."""
    if token.text not in view.text:  # most words are not, and paths cost more to look up
        return False
    return any(one.strip("/").rsplit("/", 1)[-1] == token.text for one in paths_of(view))


def _stands_free(tokens: Sequence[Token], start: int, end: int) -> bool:
    """Whether what stands here can be a thing of its own, not a part of other words."""
    before = tokens[start - 1] if start else None
    after = tokens[end] if end < len(tokens) else None
    ends = after is None or after.kind in (Kind.MARK, Kind.NUMBER) or after.has(*_AFTER)
    if after is not None and after.is_verb:
        led = before is not None and before.has(*PLACING)
        ends = ends or not after.is_ascii or led  # "in the editor delete …"
    if before is None or before.has(*_BEFORE):
        return ends
    follows = before.is_verb or before.kind in (Kind.MARK, Kind.NUMBER)
    return ends and follows and (after is None or not after.has("~of") or not after.is_ascii)
