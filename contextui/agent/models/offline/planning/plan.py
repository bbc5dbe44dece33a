"""From clauses to calls, step by step.

A plan is made anew for each request, from the words and from the windows as they stood before
each answer of the turn. The same input gives the same plan, so what was done is known without
being remembered: the wishes of the steps before are passed over, and the rest is planned.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from contextui.agent.models.offline.answering import saying
from contextui.agent.models.offline.meaning.matching import Meaning
from contextui.agent.models.offline.planning.arranging import again, parts_of_wish, with_next
from contextui.agent.models.offline.planning.correcting import correction
from contextui.agent.models.offline.planning.going_on import gone_on, taken_up
from contextui.agent.models.offline.planning.listing import listed_for_opened
from contextui.agent.models.offline.planning.rearranging import rearranged
from contextui.agent.models.offline.planning.replying import Reply, reply_to_question
from contextui.agent.models.offline.planning.taking_back import (
    inverse,
    takes_back,
    takes_back_all,
)
from contextui.agent.models.offline.planning.talking import (
    file_to_read,
    small_talk,
    told_alone,
    wishes_of,
)
from contextui.agent.models.offline.planning.wishing import (
    NOTHING,
    Outcome,
    Planned,
    not_understood,
    understand,
)
from contextui.agent.models.offline.reading.clauses import Clause
from contextui.agent.models.offline.reading.words import tokens_of
from contextui.agent.models.offline.referring.spelling import with_names_right, with_verb_right
from contextui.agent.models.offline.referring.topic import Topic
from contextui.agent.models.offline.shown.blocks import WindowView
from contextui.agent.models.offline.shown.scene import Call, Scene
from contextui.agent.models.offline.shown.surroundings import Surroundings
from contextui.text import one_line
from contextui.words import Lang


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do next, and what to say when nothing is left to be done."""

    calls: tuple[Planned, ...] = ()
    said: tuple[str, ...] = ()


def plan(scene: Scene, lang: Lang) -> Plan:
    """What comes next in this turn."""
    scene = taken_up(scene)
    planner = _Planner(scene, lang)
    for step in scene.steps:
        planner.advance(step.windows)
        planner.follow(step.calls)
        if not all(call.ok for call in step.calls):
            planner.give_up()
    calls = planner.advance(scene.windows)
    if planner.leaves and not calls and not scene.steps and not planner.said:
        return Plan(said=(saying.phrases(lang).dropped,))
    if not calls and not scene.steps and not planner.said and scene.words:
        whole = Clause(tokens_of(scene.words), scene.words)
        planner.misses(whole, Outcome(), scene.windows)
    return Plan(tuple(calls), tuple(planner.said))


class _Planner:
    """Goes through the clauses, one batch of calls after the other."""

    def __init__(self, scene: Scene, lang: Lang) -> None:
        self._scene, self._lang = scene, lang
        first = scene.steps[0].windows if scene.steps else scene.windows
        self._topic = Topic(scene)
        self._known = {one.id for one in first}
        self._awaits = False  # whether the present clause waits for a window that is being opened
        self._done: list[Planned] = []
        self._made: list[Call] = list(scene.earlier)  # the latest first
        self._place = 0
        around = self._topic.around(first)
        self._clauses = wishes_of(scene, around)
        self._reply = reply_to_question(scene, around, lang)
        if self._reply is None and (again := correction(scene, around, lang)):
            self._reply = Reply(again)
        if self._reply is None and (listed := listed_for_opened(scene, around, lang)):
            self._reply = Reply(listed)
        if self._reply is not None:
            self._clauses = [*self._clauses[:1], *self._reply.rest]
        self._answer = self._clauses[0] if self._reply is not None else None
        self.said: list[str] = []
        self.leaves = False  # whether it was said what not to do

    def follow(self, calls: Sequence[Call]) -> None:
        """Take note of calls that were made."""
        for call in calls:
            self._topic.follow(call)
            self._made.insert(0, call)

    def give_up(self) -> None:
        """Something failed: leave the rest undone, and say so."""
        rest = self._clauses[self._place :]
        if rest and not self._awaits:
            words = rest[0].words[rest[0].tokens[0].start : rest[-1].tokens[-1].end]
            left = saying.phrases(self._lang).not_gone_on.format(one_line(words, 120))
            self.said.append(left)
        self._place = len(self._clauses)

    def misses(self, clause: Clause, outcome: Outcome, windows: tuple[WindowView, ...]) -> None:
        """Say that something was not understood; how to get a real model is said once."""
        say = saying.phrases(self._lang)
        once = f" {say.limits} {say.connect}"
        told = not_understood(clause, outcome, self._topic.around(windows), self._lang)
        self.said = [one.removesuffix(once) for one in self.said]
        self.said.append(f"{told}{once}")

    def advance(self, windows: tuple[WindowView, ...]) -> list[Planned]:
        """Plan as far as these windows allow; the calls to make now."""
        new = tuple(one for one in windows if one.id not in self._known)
        for window in new:
            self._known.add(window.id)
            self._topic.use(window.id)
        calls: list[Planned] = []
        while self._place < len(self._clauses):
            around = self._topic.around(windows)
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
        """What comes of the present clause, cut or joined with the next one where that helps."""
        known: dict[Clause, Outcome] = {}

        def understood(clause: Clause) -> Outcome:
            if clause not in known:
                known[clause] = self._understood(clause, around)
            return known[clause]

        while True:
            clause, following = self._clauses[self._place], self._clauses[self._place + 1 :]
            outcome = understood(clause)
            if parts := parts_of_wish(clause, outcome, around, understood):
                self._clauses[self._place : self._place + 1] = parts
                continue
            joined = None
            if following and not self._awaits:
                joined = with_next(clause, following[0], outcome, understood)
            if joined is None:
                return outcome
            self._clauses[self._place : self._place + 2] = [joined]

    def _understood(self, clause: Clause, around: Surroundings) -> Outcome:
        if self._reply is not None and clause is self._answer:
            return self._reply.outcome
        if talk := small_talk(clause, self._scene, self._lang, alone=len(self._clauses) == 1):
            return Outcome(text=talk, score=9.0)
        if path := file_to_read(clause, around, self._scene):
            return Outcome((Planned("read_file", {"path": path}),), score=9.0)
        if takes_back_all(clause, around) or takes_back(clause, around):
            return self._taken_back(clause, around)
        if self._awaits:
            clause = told_alone(clause, around)
        outcome = self._carried_out(with_names_right(clause, around), around)
        right = with_verb_right(clause) if outcome.score < 9.0 else None
        if right is None:
            return outcome
        meant = self._carried_out(with_names_right(right, around), around)
        better = not outcome.is_understood or meant.score > outcome.score
        return meant if meant.is_whole and better else outcome

    def _carried_out(self, clause: Clause, around: Surroundings) -> Outcome:
        wish = again(clause, self._before(), around)
        outcome = rearranged(clause, around, self._lang) or understand(wish, around, self._lang)
        alone = len(self._clauses) == 1
        told = gone_on(clause, self._scene, outcome, self._lang) if alone else ""
        return Outcome(text=told, score=9.0) if told else outcome

    def _before(self) -> Clause | None:
        """The wish before the present one."""
        return self._clauses[self._place - 1] if self._place else None

    def _taken_back(self, clause: Clause, around: Surroundings) -> Outcome:
        """What takes back the call that was made last."""
        if takes_back_all(clause, around):
            return Outcome(text=saying.phrases(self._lang).one_at_a_time, score=9.0)
        back = inverse(self._made[0], around.windows) if self._made else None
        if back is None:
            return Outcome(text=saying.phrases(self._lang).cannot_take_back, score=9.0)
        return Outcome((Planned("action", back),), score=9.0)

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
        asked = clause.is_question and bool(outcome.text)
        self._topic.hear(clause, around, told=outcome is NOTHING, asked=asked)
        denied = any(one.has("~not", "~leave") for one in clause.tokens)
        self.leaves = self.leaves or (outcome is NOTHING and denied)
        if outcome.asks and self._was_just_done(clause, outcome):
            return []
        if outcome.text:
            self.said.append(outcome.text)
        if outcome.calls and meaning and not outcome.waits:
            self._note_left(meaning)
        if outcome.asks:
            self._place = len(self._clauses)
        if not outcome.is_understood and outcome.score < 9.0 and not self._awaits:
            self.misses(clause, outcome, around.windows)
        if meaning and meaning.filled.back and all(one in self._done for one in outcome.calls):
            return []  # "cross that off" after "it is done" says the same once more
        for call in outcome.calls:
            if call.tool == "action":
                self._topic.expect(call.input["window_id"], call.input.get("params", {}))
        return list(outcome.calls)

    def _note_left(self, meaning: Meaning) -> None:
        """Say which words of a wish that is carried out nothing was made of."""
        called = any("~called" in one.cues for one in meaning.filled.left)  # it has no name
        least = 1.0 if meaning.cls is None or called else 2.0
        if meaning.filled.left_weight >= least:
            words = " … ".join(one.text for one in meaning.filled.left if one.weight >= 1)
            self.said.append(saying.phrases(self._lang).left_out.format(one_line(words, 120)))

    def _was_just_done(self, clause: Clause, outcome: Outcome) -> bool:
        """Whether a wish that lacks everything only repeats the one before it."""
        if not self._done or outcome.meaning is None or outcome.meaning.window is None:
            return False
        said = [one for one in clause.tokens if not (one.is_small or one.is_verb)]
        before = self._done[-1].input
        same = before.get("action_id") == outcome.meaning.action.id
        return same and not any(one.keys for one in said)
