"""What a clause can mean: each declared action and each class, with a score."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from contextui.agent.models.offline.blocks import Action, ClassView, WindowView
from contextui.agent.models.offline.clauses import Clause
from contextui.agent.models.offline.filling import Filled, fill
from contextui.agent.models.offline.profiles import GROUP, likeness, profile_of, words_of
from contextui.agent.models.offline.roles import (
    Roles,
    head_of,
    is_generic,
    led_mention,
    mention_of,
    verb_score,
)
from contextui.agent.models.offline.values import Frame
from contextui.agent.models.offline.words import Kind, Token, keys_of

OPENING = ("@open", "@start", "@show", "@add", "@on", "@write")
SURE, SURE_TO_OPEN = 3.0, 2.2
"""The least score of a meaning that is acted upon. Opening a window does no harm."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """One thing that a clause can mean.

    Attributes:
        score: How well it fits.
        action: The action, or for a class its name, description and args.
        window: The window to act on; None if one is opened.
        cls: The class to open; None if there is a window.
        filled: The params.
        named: How clearly the window or the class was named.
        then: Whether the clause still has to be carried out once the window is open.
    """

    score: float
    action: Action
    window: WindowView | None
    cls: ClassView | None
    filled: Filled = field(compare=False)
    named: float = 0.0
    then: bool = False

    @property
    def is_sure(self) -> bool:
        """Whether it may be acted upon."""
        least = SURE if self.cls is None else SURE_TO_OPEN
        return self.score >= least and not self.filled.missing


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a clause is understood in.

    Attributes:
        windows: The open windows.
        classes: The classes that can be opened.
        used: The ids of windows in the order of their last use, the latest first.
        last: What the wish before was about: params and their values.
    """

    windows: tuple[WindowView, ...]
    classes: tuple[ClassView, ...]
    used: tuple[str, ...] = ()
    last: tuple[tuple[str, Any], ...] = ()

    def declared(self) -> frozenset[str]:
        """The words with which open windows name their actions."""
        found = set[str]()
        for window in self.windows:
            for action in window.actions:
                profile = profile_of(action)
                for keys in (*profile.names, *profile.heads):
                    found |= {key for key in keys if key[0] not in "@#~'"}
        return frozenset(found)


def meanings(clause: Clause, around: Surroundings) -> list[Meaning]:
    """All that a clause can mean, the best first."""
    head = head_of(clause, around.declared())
    mentions = {one.id: mention_of(clause, one) for one in around.windows}
    classes = {one.name: mention_of(clause, one, strict=False) for one in around.classes}
    found = [
        *_acting(clause, around, head, mentions),
        *_opening(clause, around, head, classes),
    ]
    return sorted(found, key=lambda one: -one.score)


# --- acting ------------------------------------------------------------------------------


def _acting(
    clause: Clause,
    around: Surroundings,
    head: int | None,
    mentions: dict[str, tuple[float, set[int]]],
) -> Iterator[Meaning]:
    clearest = max((score for score, _ in mentions.values()), default=0.0)
    closed = [one for one in around.classes if all(one.name != w.name for w in around.windows)]
    other = max((led_mention(clause, one) for one in closed), default=0.0)
    for window in around.windows:
        named, places = mentions[window.id]
        bonus = min(named, 2.0) - (1.5 if clearest >= named + 1.5 else 0.0)
        bonus -= 1.5 if other >= max(clearest, 2.5) and other > named + 1.0 else 0.0
        bonus += _recency(window, around)
        for action in window.actions:
            yield _act(clause, window, action, Roles(head, set(), places - {head}), bonus, around)


def _recency(window: WindowView, around: Surroundings) -> float:
    if window.id in around.used:
        return 0.4 / (1 + around.used.index(window.id))
    return 0.0


def _act(
    clause: Clause,
    window: WindowView,
    action: Action,
    roles: Roles,
    bonus: float,
    around: Surroundings,
) -> Meaning:
    profile = profile_of(action)
    score = verb_score(clause, profile, roles)
    head = clause.tokens[roles.head] if roles.head is not None else None
    by_verb = roles.head in roles.verbs
    if head is not None and not by_verb:
        if is_generic(head):
            roles.verbs.add(roles.head or 0)
            score += 0.6
        else:
            score -= 2.0
    frame = Frame(action, window, profile.verbs, around.last)
    filled = fill(clause, action, roles, frame)
    score += filled.score + bonus - _unsaid(clause, action, filled)
    evidence = roles.verbs - ({roles.head} if head is not None and not by_verb else set())
    if not evidence and not any(
        one.type.choices for one in action.params if one.name in filled.params
    ):
        score -= 1.5
    return Meaning(score, action, window, None, filled, bonus)


def _unsaid(clause: Clause, action: Action, filled: Filled) -> float:
    """What an action's name says beyond what was said ("all" in "expand all")."""
    profile = profile_of(action)
    said = [one.keys for one in clause.tokens if one.kind is Kind.WORD]
    said += [keys for name in filled.params for keys in keys_of(name)]
    names = [
        keys for keys in profile.names if max((likeness(s, (keys,)) for s in said), default=0) < 0.4
    ]
    return 0.4 * len(names) if len(profile.names) > 1 else 0.1 * len(names)


# --- opening -----------------------------------------------------------------------------


def _opening(
    clause: Clause,
    around: Surroundings,
    head: int | None,
    classes: dict[str, tuple[float, set[int]]],
) -> Iterator[Meaning]:
    verb = clause.tokens[head] if head is not None else None
    for cls in around.classes:
        named, places = classes[cls.name]
        roles = Roles(head, set(), places | _modifiers(clause, places))
        opens = _opening_verb(verb, cls, places)
        if opens and head is not None:
            roles.verbs.add(head)
        action = Action(cls.name, cls.description, cls.args)
        filled = fill(clause, action, roles, Frame(action, None, frozenset({"@open"}), around.last))
        is_open = any(one.name == cls.name for one in around.windows)
        if (named >= 0.7 and opens) or (opens and _has_path(clause, filled)):
            score = min(named, 4.0) + opens + filled.score + _article(clause, places, is_open)
            yield Meaning(score, action, None, cls, filled, named, _is_left(filled))
        elif not is_open and all(one.optional for one in cls.args):
            clear = led_mention(clause, cls) >= 2.0
            plain = verb is not None and not verb.has("@show", "@open", "@find")
            does = 1.5 if verb and plain and likeness(verb.keys, words_of(cls)[1]) >= GROUP else 0.0
            score = min(named, 3.0) + 0.8 * clear + does
            if named >= 1.2 or does:
                yield Meaning(score + does * 0.6, action, None, cls, Filled(), named, then=True)


def _opening_verb(verb: Token | None, cls: ClassView, places: set[int]) -> float:
    """How well a verb says that a window is to be opened; without one, its name alone does."""
    if verb is None:
        return 1.2 if places else 0.0
    if verb.has("@open"):
        return 2.2
    if verb.has("@start", "@show", "@on"):
        return 1.4
    needs = any(not one.optional for one in cls.args)
    return 1.2 if needs and likeness(verb.keys, words_of(cls)[1]) >= GROUP else 0.0


def _is_left(filled: Filled) -> bool:
    """Whether there is more to be done with the window than to open it."""
    return any(
        not one.is_small and not one.has("@show", "@open", "@read", "@edit")
        for run in filled.left for one in run.tokens if one.kind is not Kind.MARK
    )  # fmt: skip


def _has_path(clause: Clause, filled: Filled) -> bool:
    paths = {one.text for one in clause.tokens if one.kind is Kind.PATH}
    return any(isinstance(value, str) and value in paths for value in filled.params.values())


def _modifiers(clause: Clause, places: set[int]) -> set[int]:
    """Words between an article and the class's name ("my shopping list")."""
    found = set[int]()
    for place in sorted(places):
        before = place - 1
        while before >= 0 and before not in places and place - before < 4:
            token = clause.tokens[before]
            if token.has("~article", "~new_article", "~possessive", "~this"):
                found |= set(range(before + 1, place))
                break
            if token.kind is not Kind.WORD or token.is_small or token.is_verb:
                break
            before -= 1
    return found


def _article(clause: Clause, places: set[int], is_open: bool) -> float:
    """A new window is meant by "a list", the open one rather by "the list"."""
    first = min(places, default=0)
    near = clause.tokens[max(0, first - 3) : first]
    if any(
        one.has("~new_article")
        or one.text.casefold() in ("a", "an", "new", "another", "一个", "新")
        for one in near
    ):
        return 0.7
    if is_open and any(
        one.has("~possessive", "~this") or one.text.casefold() == "the" for one in near
    ):
        return -2.5
    return -1.0 if is_open else 0.0


def nearest(found: Sequence[Meaning]) -> Meaning | None:
    """The best of what can be offered, if anything comes near."""
    return next((one for one in found if one.score > 0.5), None)
