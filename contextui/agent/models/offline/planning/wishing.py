"""What comes of one clause: calls, words, a question back, or nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from contextui.agent.models.offline.answering import saying
from contextui.agent.models.offline.answering.asking import (
    answer_question,
    content_of,
    window_spoken_of,
)
from contextui.agent.models.offline.filling.filled import calls_of
from contextui.agent.models.offline.filling.frame import Each
from contextui.agent.models.offline.filling.sharing import nested
from contextui.agent.models.offline.meaning.matching import Meaning, acting
from contextui.agent.models.offline.meaning.opening import opening
from contextui.agent.models.offline.planning.remarks import is_remark, wishes_nothing
from contextui.agent.models.offline.reading.clauses import Clause
from contextui.agent.models.offline.reading.phrasal import with_keys
from contextui.agent.models.offline.reading.token import Kind
from contextui.agent.models.offline.referring.mentions import mention_of, unknown_window
from contextui.agent.models.offline.referring.roles import head_of
from contextui.agent.models.offline.shown.blocks import WindowView
from contextui.agent.models.offline.shown.profiles import GROUP, likeness, profile_of
from contextui.agent.models.offline.shown.surroundings import Surroundings
from contextui.text import one_line
from contextui.words import Lang, Words

_CLOSE_CALL = 0.2  # two meanings whose scores are nearer than this cannot be told apart
_ASKING = ("~what", "~howmany", "~is_there", "~who")
_MOST_NAMES = 30  # actions that are named where something was not understood
_WHOSE = ("~article", "~possessive", "~polite", "~person")
_LOOKING = ("@find", "@show", "@read", "@measure", "@count", "@check", "@compute")


@dataclass(frozen=True, slots=True)
class Planned:
    """A call to be made."""

    tool: str
    input: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What comes of a clause.

    Attributes:
        calls: The calls to be made.
        text: What is to be said, once all is done.
        meaning: What it was taken for; without calls and text, the nearest that it came to.
        asks: Whether the text asks something back, so that what follows has to wait.
        waits: Whether the clause goes on in the window that its call opens.
        score: How well it was understood.
    """

    calls: tuple[Planned, ...] = ()
    text: str = ""
    meaning: Meaning | None = None
    asks: bool = False
    waits: bool = False
    score: float = 0.0

    @property
    def is_understood(self) -> bool:
        """Whether anything comes of it."""
        return bool(self.calls or self.text)

    @property
    def is_sure(self) -> bool:
        """Whether everything that it takes is known for certain, not only words as they are."""
        meaning = self.meaning
        return meaning is not None and meaning.filled.sure >= len(meaning.filled.params)

    @property
    def is_whole(self) -> bool:
        """Whether it is carried out, and all words that say something count."""
        return bool(self.calls) and (self.meaning is None or self.meaning.filled.left_weight < 1)


NOTHING = Outcome(score=9.0)
"""Of a clause that wishes for nothing: a remark, or what not to do."""


def understand(clause: Clause, around: Surroundings, lang: Lang) -> Outcome:
    """What comes of a clause, as things stand."""
    head = head_of(clause, around.declared())
    if wishes_nothing(clause, head, around):
        return NOTHING
    if missing := unknown_window(clause.text, around):
        names = ", ".join(one.id for one in around.windows) or Words(lang)("none")
        return Outcome(
            text=Words(lang)(
                "There is no window {id}. Open windows: {names}.", id=missing, names=names
            ),
            score=9.0,
        )
    opens = opening(clause, around)
    if _searches(clause, head):
        clause = _as_search(clause)
    wishes = acting(clause, around)
    best = max([*wishes[:1], *opens[:1]], key=lambda one: one.score, default=None)
    if clause.is_question and not (best and best.score > 7.0 and _only_looks(best)):
        return _question(clause, around, lang)
    if best is not None and best.is_sure and not _only_shows(clause, head, best):
        return _opened(best) if best.cls else _acted(wishes, lang)
    if window := _window_to_tell(clause, around):
        return Outcome(text=content_of(window, lang), score=2.0)
    return _unsure(clause, best, lang)


def outcome_of(meaning: Meaning) -> Outcome:
    """What comes of a meaning that is settled."""
    if meaning.cls is not None:
        return _opened(meaning)
    return Outcome(_calls(meaning), meaning=meaning, score=meaning.score)


def not_understood(clause: Clause, outcome: Outcome, around: Surroundings, lang: Lang) -> str:
    """That a clause was not understood, the nearest that could be done, and what else can be."""
    say = saying.phrases(lang)
    parts = [say.not_understood.format(one_line(clause.text, 120))]
    near = outcome.meaning
    if near is not None and near.score > 0.5:
        parts.append(say.nearest.format(saying.offer(near)))
    window = near.window if near is not None and near.window else window_spoken_of(clause, around)
    if window is not None:
        names = ", ".join(one_line(one.id, 40) for one in window.actions[:_MOST_NAMES])
        parts.append(say.actions.format(window.id, names))
    else:
        parts.append(say.try_asking)
    return " ".join(parts)


# --- within ------------------------------------------------------------------------------


def _only_looks(meaning: Meaning) -> bool:
    """Whether it changes nothing, so that it may answer a question."""
    looks = not profile_of(meaning.action).verbs.isdisjoint(_LOOKING)
    return meaning.is_sure and meaning.cls is None and looks


def _only_shows(clause: Clause, head: int | None, best: Meaning) -> bool:
    """Whether a window is to be shown as it is, and the action would only show it otherwise.

    "Show my notes" takes no filter away; "show all my notes again" does.
    """
    if head is None or best.window is None or not clause.tokens[head].has("@show"):
        return False
    profile = profile_of(best.action)
    named = likeness(clause.tokens[head].keys, profile.names) >= GROUP
    partly = any(not keys.isdisjoint(("~all", "~only")) for keys in profile.every)
    if named or best.filled.params or not partly:
        return False
    places = mention_of(clause, best.window)[1]
    rest = [one for n, one in enumerate(clause.tokens) if n != head and n not in places]
    return bool(places) and all(one.kind is Kind.MARK or one.has(*_WHOSE) for one in rest)


def _unsure(clause: Clause, best: Meaning | None, lang: Lang) -> Outcome:
    """What comes of a clause that nothing fits well."""
    if is_remark(clause):
        return NOTHING
    if best is not None and best.filled.missing and _would_do(best):
        return Outcome(text=_what_is_missing(best, lang), meaning=best, asks=True, score=best.score)
    if any(one.has("~leave") for one in clause.tokens):
        return NOTHING
    return Outcome(meaning=best, score=best.score if best else 0.0)


def _acted(found: Sequence[Meaning], lang: Lang) -> Outcome:
    best, say = found[0], saying.phrases(lang)
    rivals = [one for one in found[1:4] if one.is_sure and best.score - one.score < _CLOSE_CALL]
    rivals = [one for one in rivals if one.window not in best.also and not (
        one.window is best.window and one.action == best.action)]  # fmt: skip
    if rivals:
        return Outcome(text=_which(best, rivals, lang), meaning=best, asks=True, score=best.score)
    if best.filled.unclear:
        names = "; ".join(one_line(one, 60) for one in best.filled.unclear[:6])
        return Outcome(text=say.which_item.format(names), meaning=best, asks=True, score=best.score)
    return Outcome(_calls(best), meaning=best, score=best.score)


def _calls(best: Meaning) -> tuple[Planned, ...]:
    assert best.window is not None
    removes = "@remove" in profile_of(best.action).verbs
    windows = [best.window, *(one for one in best.also if _has_action(one, best.action.id))]
    return tuple(
        Planned("action", {"window_id": window.id, "action_id": best.action.id,
                           **({"params": params} if params else {})})
        for window in windows
        for params in calls_of(nested(best.action, best.filled.params), removes)
        * best.filled.times
    )  # fmt: skip


def _has_action(window: WindowView, action_id: str) -> bool:
    return any(one.id == action_id for one in window.actions)


def _opened(best: Meaning) -> Outcome:
    args = nested(best.action, best.filled.params)
    call = Planned("create", {"name": best.action.id, **({"args": args} if args else {})})
    return Outcome((call,), meaning=best, waits=best.then, score=best.score)


def _question(clause: Clause, around: Surroundings, lang: Lang) -> Outcome:
    say = saying.phrases(lang)
    sought = any(one.kind is Kind.PATH for one in clause.tokens)
    if any(one.has("~contains") or (sought and one.has("~where")) for one in clause.tokens):
        search = acting(_as_search(clause), around)
        if search and search[0].is_sure and "@find" in profile_of(search[0].action).verbs:
            return _acted(search, lang)
    reply = answer_question(clause, around, lang)
    if reply is not None and reply.opens is not None and around.opening:
        call = Planned("create", {"name": reply.opens.name})
        return Outcome((call,), waits=True, score=3.0)
    if reply is not None and reply.text:
        return Outcome(text=reply.text, score=3.0)
    return Outcome(text=f"{say.cannot_tell} {say.connect}", score=1.0)


def _searches(clause: Clause, head: int | None) -> bool:
    """Whether it asks to find where something stands: "where in my files does it say …"."""
    if head is None or not clause.tokens[head].has("@find"):
        return False
    asked = any(one.has("~where", "~what") for one in clause.tokens)
    return asked and any(one.has("~contains") for one in clause.tokens[head + 1 :])


def _as_search(clause: Clause) -> Clause:
    """A question for what contains something, as the wish to find it."""
    tokens = clause.tokens
    at = max(n for n, one in enumerate(tokens) if one.has("~contains", "~where"))
    told = [n for n in range(at + 1, len(tokens)) if tokens[n].kind is not Kind.MARK]
    before = [one for one in tokens[:at] if not one.has(*_ASKING, "~be", "~have", "@find")]
    if not told and not before:
        return clause
    find = with_keys(tokens[at], frozenset({"@find"}))
    after = [tokens[n] for n in told]
    return Clause((find, *after, *before), clause.words)


def _window_to_tell(clause: Clause, around: Surroundings) -> WindowView | None:
    """The window that is to be shown, when nothing but it was named."""
    head = head_of(clause, frozenset())
    if head is None or not clause.tokens[head].has("@show", "@open", "@read", "@find"):
        return None
    scores = [(mention_of(clause, one)[0], one) for one in around.windows]
    score, best = max(scores, key=lambda one: one[0], default=(0.0, None))
    return best if score >= 0.7 else None


def _would_do(meaning: Meaning) -> bool:
    """Whether it would be clear what to do, if only all params were known."""
    if any(isinstance(one, Each) for one in meaning.filled.params.values()):
        return False  # what is said of several things at once can hardly be asked for
    least = 3.8 if meaning.named else 4.5
    return meaning.score + 4.0 * len(meaning.filled.missing) >= least


def _what_is_missing(meaning: Meaning, lang: Lang) -> str:
    names = ", ".join(one.name for one in meaning.filled.missing)
    where = meaning.window.id if meaning.window else meaning.action.id
    label = one_line(meaning.action.label, 60)
    return saying.phrases(lang).missing.format(label, where, names)


def _which(best: Meaning, rivals: Sequence[Meaning], lang: Lang) -> str:
    say = saying.phrases(lang)
    if all(one.action.id == best.action.id for one in rivals):
        ids = sorted({one.window.id for one in (best, *rivals) if one.window})
        return say.which_window.format(", ".join(ids))
    return say.which_action.format(" / ".join(saying.offer(one) for one in (best, *rivals[:2])))
