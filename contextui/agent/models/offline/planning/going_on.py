""" "Go on": the wish that was left over is taken up; where there is none, that is said."""

import re
from dataclasses import replace
from functools import cache

from contextui.agent.models.offline.answering import saying
from contextui.agent.models.offline.planning.wishing import Outcome
from contextui.agent.models.offline.reading.clauses import Clause
from contextui.agent.models.offline.reading.token import Kind, Token
from contextui.agent.models.offline.reading.words import tokens_of
from contextui.agent.models.offline.shown.profiles import GROUP, likeness, profile_of
from contextui.agent.models.offline.shown.scene import Call, Scene
from contextui.words import Lang, Words

_LONGEST = 80  # characters of words that only say to go on
_RESUME, _HALTING = frozenset({"@resume"}), frozenset({"@pause", "@stop"})


def taken_up(scene: Scene) -> Scene:
    """The scene with the wish that was left over as its words, if they say to go on with it."""
    left = _left(scene) if _only_goes_on(tokens_of(scene.words[:_LONGEST])) else ""
    return replace(scene, words=left) if left and len(scene.words) < _LONGEST else scene


def gone_on(clause: Clause, scene: Scene, outcome: Outcome, lang: Lang) -> str:
    """What is said to "go on" where nothing is left; empty if a window is to go on, or it is none.

    Args:
        clause: What was said.
        scene: What there is, and what was done.
        outcome: What the clause means to the windows.
        lang: The person's language.
    """
    last = scene.earlier[0] if scene.earlier else None
    if _resumes(outcome, last) or _halted(last, scene) or not _only_goes_on(clause.tokens):
        return ""
    say = saying.phrases(lang)
    if last is None:
        return say.nothing_done
    ended = any(scene.said.endswith(Words(one)("(stopped here)")) for one in saying.LANGUAGES)
    words = say.was_stopped if ended else say.nothing_left
    return words.format("\n".join(saying.outcomes([last], lang)))


# --- within ------------------------------------------------------------------------------


def _resumes(outcome: Outcome, last: Call | None) -> bool:
    """Whether a window goes on: the one that something was done with last, if anything was."""
    meaning = outcome.meaning
    if not outcome.calls or meaning is None or meaning.window is None:
        return False
    goes_on = likeness(_RESUME, profile_of(meaning.action).every) >= GROUP
    return goes_on and (last is None or last.window_id == meaning.window.id)


def _halted(last: Call | None, scene: Scene) -> bool:
    """Whether a window was halted last, so that it is the one that is to go on."""
    actions = [act for one in scene.windows if last and one.id == last.window_id
               for act in one.actions if act.id == last.input.get("action_id")]  # fmt: skip
    return any(likeness(_HALTING, profile_of(one).every) >= GROUP for one in actions)


def _only_goes_on(tokens: tuple[Token, ...]) -> bool:
    """Whether nothing is said but to go on: no word says what with."""
    said = [one for one in tokens if one.kind is not Kind.MARK]
    goes = [one for one in said if not one.is_small and _verbs(one) == _RESUME]
    return len(goes) == 1 and all(one is goes[0] or one.is_small for one in said)


def _verbs(token: Token) -> frozenset[str]:
    return frozenset(key for key in token.keys if key[0] == "@")


@cache
def _sentences() -> tuple[re.Pattern[str], ...]:
    """How it is said that a wish was left over."""
    told = [saying.phrases(lang).not_gone_on.split("{0}") for lang in saying.LANGUAGES]
    return tuple(
        re.compile(f"{re.escape(head)}(.{{1,400}}){re.escape(tail)}$") for head, tail in told
    )


def _left(scene: Scene) -> str:
    """The wish that the turn before did not get to, in the person's words; empty if there is none.

    A long one was told only by its beginning: the words that were said have the rest.
    """
    found = [one.search(scene.said.rstrip()) for one in _sentences()]
    told = next((one[1] for one in found if one), "")
    if not told.endswith("…"):
        return told
    before = " ".join(scene.before.split())
    start = before.rfind(told.removesuffix("…").rstrip())
    return before[start:] if start >= 0 else ""
