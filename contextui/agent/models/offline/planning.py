"""From clauses to calls, step by step.

A plan is made anew for each request, from the words and from the windows as they stood before
each answer of the turn. The same input gives the same plan, so what was done is known without
being remembered: the wishes of the steps before are passed over, and the rest is planned.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from contextui.agent.models.offline import saying
from contextui.agent.models.offline.blocks import WindowView
from contextui.agent.models.offline.clauses import Clause, significant
from contextui.agent.models.offline.items import AROUND, find_by_words, main_items
from contextui.agent.models.offline.mentions import mention_of
from contextui.agent.models.offline.profiles import GROUP, likeness, param_words
from contextui.agent.models.offline.references import windows_meant
from contextui.agent.models.offline.scene import Call, Scene
from contextui.agent.models.offline.surroundings import Last, Surroundings
from contextui.agent.models.offline.talking import file_to_read, small_talk, wishes_of, with_verb
from contextui.agent.models.offline.wishing import (
    NOTHING,
    Outcome,
    Planned,
    not_understood,
    understand,
)
from contextui.agent.models.offline.words import tokens_of
from contextui.text import one_line
from contextui.windowing.env import Lang


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do next, and what to say when nothing is left to be done."""

    calls: tuple[Planned, ...] = ()
    said: tuple[str, ...] = ()


def plan(scene: Scene, lang: Lang) -> Plan:
    """What comes next in this turn."""
    planner = _Planner(scene, lang)
    for step in scene.steps:
        planner.advance(step.windows)
        planner.follow(step.calls)
        if not all(call.ok for call in step.calls):
            planner.give_up()
    calls = planner.advance(scene.windows)
    if not calls and not scene.steps and not planner.said and scene.words:
        whole = Clause(tokens_of(scene.words), scene.words)
        planner.said.append(not_understood(whole, Outcome(), lang))
    return Plan(tuple(calls), tuple(planner.said))


class _Planner:
    """Goes through the clauses, one batch of calls after the other."""

    def __init__(self, scene: Scene, lang: Lang) -> None:
        self._scene, self._lang = scene, lang
        first = scene.steps[0].windows if scene.steps else scene.windows
        self._used = _used(scene)
        self._mentioned: tuple[str, ...] = tuple(self._used[:1])
        acted = (one for one in scene.earlier if one.tool == "action" and one.ok)
        self._last = next(map(_last, acted), Last())
        self._known = {one.id for one in first}
        self._awaits = False  # whether the present clause waits for a window that is being opened
        self._done: list[Planned] = []
        self._place = 0
        self._clauses = wishes_of(scene, self._around(first))
        self.said: list[str] = []

    def follow(self, calls: Sequence[Call]) -> None:
        """Take note of calls that were made."""
        for call in calls:
            if call.tool in ("action", "create") and call.ok:
                self._last = _last(call)
            if call.window_id:
                self._use(call.window_id)

    def give_up(self) -> None:
        """Something failed: leave the rest undone, and say so."""
        rest = self._clauses[self._place :]
        if rest and not self._awaits:
            words = rest[0].words[rest[0].tokens[0].start : rest[-1].tokens[-1].end]
            left = saying.phrases(self._lang).not_gone_on.format(one_line(words, 120))
            self.said.append(left)
        self._place = len(self._clauses)

    def advance(self, windows: tuple[WindowView, ...]) -> list[Planned]:
        """Plan as far as these windows allow; the calls to make now."""
        new = tuple(one for one in windows if one.id not in self._known)
        for window in new:
            self._known.add(window.id)
            self._use(window.id)
        calls: list[Planned] = []
        while self._place < len(self._clauses):
            around = self._around(windows)
            if self._awaits:
                around = replace(around, windows=new or windows, opening=False)
            outcome = self._outcome(around)
            if self._must_wait(outcome, calls):
                break
            calls += self._taken(outcome, around)
            if outcome.waits and not self._awaits:
                self._awaits = True
                break
            self._awaits = False
            self._place += 1
        self._done += calls
        return calls

    # --- one clause --------------------------------------------------------------------

    def _outcome(self, around: Surroundings) -> Outcome:
        """What comes of the present clause; it is joined with the next one where that helps."""
        while True:
            clause = self._clauses[self._place]
            outcome = self._understood(clause, around)
            if parts := self._parallel(clause, outcome, around):
                self._clauses[self._place : self._place + 1] = parts
                continue
            joined = self._joined(clause, outcome, around)
            if joined is None:
                return outcome
            self._clauses[self._place : self._place + 2] = [joined]

    def _understood(self, clause: Clause, around: Surroundings) -> Outcome:
        if talk := small_talk(clause, self._scene, self._lang, alone=len(self._clauses) == 1):
            return Outcome(text=talk, score=9.0)
        if path := file_to_read(clause, around, self._scene):
            return Outcome((Planned("read_file", {"path": path}),), score=9.0)
        return understand(clause, around, self._lang)

    def _parallel(self, clause: Clause, outcome: Outcome, around: Surroundings) -> list[Clause]:
        """The parts of "put A on 1 and B on 2", each with the verb; none if it is one wish."""
        meaning = outcome.meaning
        if not outcome.calls or meaning is None or meaning.cls is not None or clause.joint:
            return []
        needed = [one for one in meaning.action.params if not one.optional]
        parts = with_verb(clause, around)
        if len(needed) < 2 or len(parts) < 2:
            return []
        each = [self._understood(one, around) for one in parts]
        same = all(
            one.calls and one.meaning is not None and one.meaning.action == meaning.action
            and not one.meaning.filled.back and not one.meaning.filled.left
            for one in each
        )  # fmt: skip
        return parts if same else []

    def _joined(self, clause: Clause, outcome: Outcome, around: Surroundings) -> Clause | None:
        """The clause with the next one, if the two are understood better together."""
        following = self._clauses[self._place + 1 : self._place + 2]
        if not following or clause.is_question or following[0].is_question or self._awaits:
            return None
        both = clause.with_more(following[0])
        if outcome.meaning and outcome.calls and _names_param(following[0], outcome):
            return both
        after = self._understood(following[0], around)
        if outcome.calls and outcome.meaning and outcome.meaning.cls is None:
            together = self._understood(both, around)
            lost = not after.is_understood and after.score + _lacking(after) < 2.5
            lost = lost and not following[0].anew
            same = together.meaning and together.meaning.action == outcome.meaning.action
            return both if lost and together.calls and same else None
        if outcome.is_understood or outcome.score >= 9.0:
            return None
        together = self._understood(both, around)
        whole = together.meaning is not None and together.meaning.filled.left_weight < 1
        better = whole and together.score > max(after.score, 3.0) - 1.0
        return both if better and together.calls and not together.waits else None

    def _must_wait(self, outcome: Outcome, calls: Sequence[Planned]) -> bool:
        """Whether a clause is to be understood anew once the calls before it are made."""
        if not calls:
            return False
        creates = any(one.tool == "create" for one in calls)
        meaning = outcome.meaning
        if creates and not (outcome.calls and meaning and meaning.cls and not meaning.then):
            return True
        names = {one.input.get("name") for one in calls}
        if meaning and meaning.cls and meaning.cls.name in names:
            return True
        if outcome.text or not outcome.calls:
            return True
        touched = {one.input.get("window_id") for one in calls}
        return any(one.input.get("window_id", "") in touched for one in outcome.calls)

    def _taken(self, outcome: Outcome, around: Surroundings) -> list[Planned]:
        """The calls of a clause that count; what there is to say is kept for the end."""
        clause, meaning = self._clauses[self._place], outcome.meaning
        self._note_mentions(clause, around)
        if outcome is NOTHING:
            self._note_items(clause, around)
        if outcome.asks and self._was_just_done(clause, outcome):
            return []
        if outcome.text:
            self.said.append(outcome.text)
        if outcome.asks:
            self._place = len(self._clauses)
        if not outcome.is_understood and outcome.score < 9.0 and not self._awaits:
            self.said.append(not_understood(clause, outcome, self._lang))
        if meaning and meaning.filled.back and all(one in self._done for one in outcome.calls):
            return []  # "cross that off" after "it is done" says the same once more
        for call in outcome.calls:
            if call.tool == "action":
                self._use(call.input["window_id"])
                self._last = Last(
                    call.input["window_id"], tuple(call.input.get("params", {}).items())
                )
        return list(outcome.calls)

    def _was_just_done(self, clause: Clause, outcome: Outcome) -> bool:
        """Whether a wish that lacks everything only repeats the one before it."""
        if not self._done or outcome.meaning is None or outcome.meaning.window is None:
            return False
        said = [one for one in clause.tokens if not (one.is_small or one.is_verb)]
        before = self._done[-1].input
        same = before.get("action_id") == outcome.meaning.action.id
        return same and not any(one.keys for one in said)

    # --- what is spoken of -------------------------------------------------------------

    def _around(self, windows: tuple[WindowView, ...]) -> Surroundings:
        return Surroundings(
            windows, self._scene.classes, tuple(self._used), self._mentioned, self._last
        )

    def _note_mentions(self, clause: Clause, around: Surroundings) -> None:
        meant = windows_meant(clause, around).windows
        named = [one for one in around.windows if mention_of(clause, one)[0] >= 2.0]
        if meant or named:
            self._mentioned = tuple(one.id for one in meant or named)

    def _note_items(self, clause: Clause, around: Surroundings) -> None:
        """What a remark is about is what "it" means in the wish behind it."""
        for window in around.windows:
            words = " ".join(one.text for one in clause.tokens if not one.is_small)
            found = find_by_words(main_items(window), words)
            if found.fit >= AROUND and len(found.items) == 1:
                self._last = Last(window.id, (("", found.items[0].text),))

    def _use(self, window_id: str) -> None:
        self._used = [window_id, *(one for one in self._used if one != window_id)]
        self._mentioned = (window_id,)


def _names_param(clause: Clause, outcome: Outcome) -> bool:
    """Whether a clause begins with the name of a param that the one before could still take."""
    said = significant(clause.tokens)
    meaning = outcome.meaning
    if meaning is None or meaning.cls is not None or not said or said[0].is_ascii:
        return False
    free = [one for one in meaning.action.params if one.name not in meaning.filled.params]
    return any(likeness(said[0].nouns, param_words(meaning.action, one)) >= GROUP for one in free)


def _lacking(outcome: Outcome) -> float:
    return 4.0 * len(outcome.meaning.filled.missing) if outcome.meaning else 0.0


def _used(scene: Scene) -> list[str]:
    """The windows in the order of their last use, the latest first."""
    found: dict[str, None] = {}
    for call in scene.earlier:
        if call.window_id:
            found.setdefault(call.window_id)
        elif call.ok:
            words = call.result.replace(".", " ").split()
            for window in scene.windows:
                if window.id in words:
                    found.setdefault(window.id)
    return list(found)


def _last(call: Call) -> Last:
    given: Any = call.input.get("args" if call.tool == "create" else "params")
    return Last(call.window_id, tuple(given.items()) if isinstance(given, Mapping) else ())
