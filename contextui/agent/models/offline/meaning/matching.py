"""What a clause can mean: each declared action and each class, with a score."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from contextui.agent.models.offline.filling.filled import Filled
from contextui.agent.models.offline.filling.frame import Frame
from contextui.agent.models.offline.filling.sharing import fill
from contextui.agent.models.offline.meaning.caution import (
    by_mistake,
    doubt,
    is_harmful,
    narrowed,
    unplaced,
)
from contextui.agent.models.offline.meaning.objects import (
    are_changed,
    are_there,
    composes,
    is_labelled,
    is_made_of_it,
    is_of_another,
    is_window_itself,
    leaves_object,
)
from contextui.agent.models.offline.meaning.taking_in import put_on
from contextui.agent.models.offline.meaning.weighing import (
    choice_words,
    is_complete,
    is_spelled_out,
    loose_words,
    meant_otherwise,
    unsaid_words,
)
from contextui.agent.models.offline.parting.runs import Run
from contextui.agent.models.offline.reading.clauses import Clause
from contextui.agent.models.offline.reading.token import Token
from contextui.agent.models.offline.referring.knowing import declares
from contextui.agent.models.offline.referring.mentions import (
    is_indefinite,
    led_mention,
    mention_of,
)
from contextui.agent.models.offline.referring.noting import is_elsewhere
from contextui.agent.models.offline.referring.references import windows_meant
from contextui.agent.models.offline.referring.roles import Roles, head_of, is_generic, verb_score
from contextui.agent.models.offline.shown import items as shown
from contextui.agent.models.offline.shown.blocks import Action, ClassView, WindowView
from contextui.agent.models.offline.shown.profiles import (
    GROUP,
    likeness,
    profile_of,
)
from contextui.agent.models.offline.shown.surroundings import Surroundings

_SETTING = (
    "@set",
    "@toggle",
    "@pick",
    "@replace",
    "@edit",
    "@use",
    "@swap",
    "@move",
    "@go",
    "@mark",
)
_ADJUSTING = ("@set", "@edit", "@raise", "@lower", "@replace")
_ELSEWHERE = 6.0  # what speaks against a window when what is told belongs into another
_SHOWN = 1.5  # what speaks for the window that shows what is to be acted on
_UNSURE = 2.9  # the most that an action gets which has no use for what the verb is about
_KNOWN = 3.0  # what speaks against adding something that is there, when no verb says so
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
        also: Further windows in which the same is to be done.
        then: Whether the clause still has to be carried out once the window is open.
        named: Whether the verb that was said names the action, or what was said the class.
    """

    score: float
    action: Action
    window: WindowView | None
    cls: ClassView | None
    filled: Filled = field(compare=False)
    also: tuple[WindowView, ...] = ()
    then: bool = False
    named: bool = False

    @property
    def is_sure(self) -> bool:
        """Whether it may be acted upon."""
        least = SURE if self.cls is None else SURE_TO_OPEN
        return self.score >= least and not self.filled.missing


def acting(clause: Clause, around: Surroundings) -> list[Meaning]:
    """What a clause can mean as a wish to act on an open window, the best first."""
    declared = around.declared()
    found = list(_Acting(clause, around, head_of(clause, declared)).meanings())
    if clause.joint:  # of two clauses in one, the verb of the second may be the one that counts
        second = head_of(Clause(clause.tokens[clause.joint :], clause.words), declared)
        if second is not None:
            others = _Acting(clause, around, second + clause.joint).meanings()
            found += [replace(one, score=one.score - 1.0) for one in others]
    return sorted(found, key=lambda one: -one.score)


class _Acting:
    """Weighs every action of every window that may be meant."""

    def __init__(self, clause: Clause, around: Surroundings, head: int | None) -> None:
        self._clause, self._around, self._head = clause, around, head
        self._meant = windows_meant(clause, around)
        self._mentions = {one.id: mention_of(clause, one) for one in around.windows}
        self._clearest = max((score for score, _ in self._mentions.values()), default=0.0)
        closed = [one for one in around.classes if all(one.name != w.name for w in around.windows)]
        self._elsewhere = max((led_mention(clause, one) for one in closed), default=0.0)
        verb = clause.tokens[head] if head is not None else None
        self._put_on = [word for one in closed if (word := put_on(clause, verb, one, around))]
        self._idle = (
            verb is not None
            and verb.is_verb
            and not any(
                likeness(verb.keys, (*profile_of(one).names, *profile_of(one).heads)) >= GROUP
                for window in around.windows
                for one in window.actions
            )
        )  # a verb that no open window knows says little
        self._there = ""
        if any(one.has("~here") for one in clause.tokens):
            paths = [value for name, value in around.last.params if name in ("path", "folder")]
            self._there = str(paths[0]) if paths else ""

    def meanings(self) -> Iterator[Meaning]:
        windows = self._meant.windows or self._around.windows
        for window in windows:
            bonus, places = self._nearness(window)
            for action in window.actions:
                roles = Roles(self._head, set(), places - {self._head})
                score = verb_score(self._clause, action, window, roles) + bonus
                if roles.verbs or self._may_fit(action):
                    yield self._weighed(window, action, score, roles)

    def _may_fit(self, action: Action) -> bool:
        """Whether an action that no word names can be meant all the same, by what it takes."""
        head = self._clause.tokens[self._head] if self._head is not None else None
        return head is None or _says_little(head, action) or bool(choice_words(action))

    def _nearness(self, window: WindowView) -> tuple[float, set[int]]:
        """How clearly this window is meant rather than another, and the tokens that say so."""
        named, places = self._mentions[window.id]
        if self._meant.windows:
            return 2.0, places | self._meant.places
        if is_elsewhere(self._clause, self._head, window, self._around):
            return -_ELSEWHERE, places
        bonus = min(named, 2.0) - (1.5 if self._clearest >= named + 1.5 else 0.0)
        verb = self._clause.tokens[self._head] if self._head is not None else None
        if is_indefinite(self._clause, places) and (verb is None or verb.has("@open", "@show")):
            bonus = -1.0  # "another list" is none that is open
        if self._elsewhere >= max(self._clearest, 2.5) and self._elsewhere > named + 1.0:
            bonus -= 1.5
        if any(not declares(window, one.nouns) for one in self._put_on):
            bonus -= _ELSEWHERE  # "to my list", and this is none
        if window.id in self._around.used:
            bonus += 0.6 / (1 + self._around.used.index(window.id))
        here = any(one.has("~here", "~it") for one in self._clause.tokens)
        if here and self._around.used[:1] == (window.id,):
            bonus += 0.5
        return bonus, places

    def _weighed(self, window: WindowView, action: Action, score: float, roles: Roles) -> Meaning:
        clause, head = self._clause, self._head
        by_verb, evidence = head in roles.verbs, set(roles.verbs)
        generic = head is not None and _says_little(clause.tokens[head], action)
        if head is not None and (generic or (self._idle and evidence)):
            roles.verbs.add(head)
        verbs, pointed = profile_of(action).verbs, bool(self._meant.windows)
        frame = Frame(action, window, verbs, self._around.last, self._there, pointed)
        filled = fill(clause, roles, frame)
        by_verb = by_verb or (
            head in roles.verbs and not generic and (filled.switched or not self._idle)
        )
        chosen = any(one.type.choices for one in action.params if one.name in filled.params)
        if head is not None and not by_verb:
            other = 0.0 if chosen and evidence else -2.5 if evidence else -4.0
            other = max(other, -0.8) if self._idle and evidence else other
            score += (1.0 if chosen else 0.6) if generic else other
        score += filled.score
        plain = filled.sure == len(action.params) > 0 and not filled.left_weight
        if is_spelled_out(clause, action) and not is_harmful(action):
            score += 1.0
        elif head is not None or not (plain or (evidence and is_complete(filled, action))):
            score -= unsaid_words(clause, action, filled)
        if not frame.making and len(self._around.windows) > 1:
            score += _SHOWN * _stands_here_alone(window, filled, self._around.windows)
            score -= _ELSEWHERE * is_of_another(clause, head, window, action, self._around.windows)
        if sum(one.name == window.name for one in self._around.windows) > 1:
            score += _shown_there(window, filled)
        verb = clause.tokens[head] if head is not None else None
        loose = loose_words(clause, window, action, roles)
        score -= doubt(verb, action, filled, by_switch=filled.switched, loose=loose)
        score -= narrowed(clause.tokens, action, window) + unplaced(clause.tokens, verb, action)
        if not pointed:
            score -= by_mistake(clause.tokens, roles.mentions, verb, window, action)
        if frame.making and verb is not None and verb.has("make") and is_made_of_it(clause, head):
            score -= _KNOWN
        score -= meant_otherwise(clause, window, action, roles)
        restored = verb is not None and verb.has("@restore")
        if frame.making and (restored or not by_verb):
            score -= _KNOWN * are_there(window, filled)
        if frame.making and verb is not None and verb.has("make"):
            score -= _KNOWN * are_changed(window, filled)
        if (
            leaves_object(clause, head, filled, window)
            or composes(clause, head)
            or is_window_itself(clause, head, roles.mentions, frame)
        ):
            score = min(score, _UNSURE)
        told = filled.sure > 1 and filled.sure == len(filled.params) and not filled.left_weight
        adjusted = verb is not None and _adjusts(verb, action) and not filled.missing
        adjusted = adjusted and filled.left_weight < 1
        score += 1.0 if (told or adjusted) and generic else 0.0
        known = filled.sure > 1 or adjusted or (head is None and plain)
        score -= 0.0 if evidence or chosen or known else 1.5
        labelled = (verb is None or not verb.is_verb) and is_complete(filled, action)
        score += 1.0 if labelled and is_labelled(clause, action) else 0.0
        also = tuple(one for one in self._meant.windows if one.id != window.id)
        return Meaning(score, action, window, None, filled, also, named=by_verb)


def _says_little(verb: Token, action: Action) -> bool:
    """Whether a verb leaves it to the other words what is to be done."""
    chooses = any(one.type.choices for one in action.params)
    return is_generic(verb) or _adjusts(verb, action) or (chooses and verb.has(*_SETTING))


def _adjusts(verb: Token, action: Action) -> bool:
    """Whether a verb only says that a figure changes, and the action takes one."""
    needed = [one for one in action.params if not one.optional]
    return len(needed) == 1 and needed[0].is_number and verb.has(*_ADJUSTING)


def _stands_here_alone(window: WindowView, filled: Filled, windows: Sequence[WindowView]) -> int:
    """Whether this window alone shows what is to be acted on: 1; others alone do: -1."""
    texts = [one for one in filled.params.values() if isinstance(one, str) and len(one) > 2]
    here = any(text in window.text for text in texts)
    elsewhere = any(text in one.text for one in windows if one.id != window.id for text in texts)
    return here - elsewhere


def _shown_there(window: WindowView, filled: Filled) -> float:
    """Words that no param takes may say which of several windows is meant: by what it shows."""
    shows = [one for one in filled.left if one.weight and _shows(window, one)]
    for run in shows:
        filled.left.remove(run)
    return sum(0.8 * one.weight + 1.0 for one in shows)


def _shows(window: WindowView, run: Run) -> bool:
    tokens = tuple(one for one in run.tokens if not one.is_small)
    text = Run(tokens, run.cues, run.words).text if tokens else ""
    return shown.find_by_words(window.items, text).fit >= shown.WORDS
