"""From clauses to calls, step by step.

A plan is made anew for each request, from the words and from the windows as they stood before
each answer of the turn. The same input gives the same plan, so what was done is known without
being remembered: the wishes of the steps before are passed over, and the rest is planned.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from contextui.agent.models.offline import saying
from contextui.agent.models.offline.asking import answer_question, content_of
from contextui.agent.models.offline.blocks import WindowView
from contextui.agent.models.offline.clauses import Clause, clauses_of, parts_of
from contextui.agent.models.offline.filling import calls_of
from contextui.agent.models.offline.matching import Meaning, Surroundings, meanings, nearest
from contextui.agent.models.offline.profiles import profile_of
from contextui.agent.models.offline.roles import head_of, mention_of, plain_keys
from contextui.agent.models.offline.scene import Call, Scene
from contextui.agent.models.offline.words import Kind, Token
from contextui.text import one_line
from contextui.windowing.env import Lang

_CLOSE_CALL = 0.2  # two meanings whose scores are nearer than this cannot be told apart


@dataclass(frozen=True, slots=True)
class Planned:
    """A call to be made."""

    tool: str
    input: dict[str, Any]


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
    return Plan(tuple(calls), tuple(planner.said))


class _Planner:
    """Goes through the clauses, one batch of calls after the other."""

    def __init__(self, scene: Scene, lang: Lang) -> None:
        self._scene, self._lang, self._say = scene, lang, saying.phrases(lang)
        first = scene.steps[0].windows if scene.steps else scene.windows
        self._used = _used(scene)
        self._last = next((_params(one) for one in scene.earlier if one.tool == "action"), ())
        self._known = {one.id for one in first}
        self._awaits = False  # whether the present clause waits for a window that is being opened
        around = self._around(first)
        self._clauses = _clauses(scene, around)
        self._place = 0
        self.said: list[str] = []

    def follow(self, calls: Sequence[Call]) -> None:
        """Take note of calls that were made."""
        for call in calls:
            if call.window_id:
                self._use(call.window_id)
                self._last = _params(call) or self._last
            elif call.tool == "create":
                args = call.input.get("args")
                self._last = tuple(args.items()) if isinstance(args, dict) else self._last

    def give_up(self) -> None:
        """Something failed: leave the rest undone, and say so."""
        rest = self._clauses[self._place :]
        if rest:
            words = rest[0].words[rest[0].tokens[0].start : rest[-1].tokens[-1].end]
            self.said.append(self._say.not_gone_on.format(one_line(words, 120)))
        self._place = len(self._clauses)

    def advance(self, windows: tuple[WindowView, ...]) -> list[Planned]:
        """Plan as far as these windows allow; the calls to make now."""
        new = [one for one in windows if one.id not in self._known]
        for window in new:
            self._known.add(window.id)
            self._use(window.id)
        calls: list[Planned] = []
        while self._place < len(self._clauses):
            clause = self._clauses[self._place]
            around = self._around(tuple(new) if self._awaits and new else windows)
            more = self._wish(clause, around, calls)
            if more is None:
                break
            self._awaits = False
            calls += more
            self._place += 1
        return calls

    # --- one clause --------------------------------------------------------------------

    def _wish(
        self, clause: Clause, around: Surroundings, before: list[Planned]
    ) -> list[Planned] | None:
        """The calls for one clause; None if it has to wait for the results of those before."""
        talk = self._small_talk(clause)
        if talk:
            self.said.append(talk)
            return []
        if path := self._file_to_read(clause, around):
            return [Planned("read_file", {"path": path})]
        found = meanings(clause, around)
        best = found[0] if found else None
        if clause.is_question and not (best and best.score > 5.5 and best.is_sure):
            return self._question(clause, around, before)
        if best is not None and best.window is not None and self._needs_results(best, before):
            return None
        if best is not None and best.is_sure:
            return self._meant(clause, found, around, before)
        if before and any(one.tool == "create" for one in before):
            return None  # the window that is being opened may know what this means
        return self._not_sure(clause, found, around)

    def _meant(
        self, clause: Clause, found: list[Meaning], around: Surroundings, before: list[Planned]
    ) -> list[Planned] | None:
        best = found[0]
        created = any(one.tool == "create" for one in before)
        if best.window is None:
            return self._opens(best, before)
        if created or self._needs_results(best, before):
            return None
        if everywhere := self._on_all_windows(clause, best, around):
            return everywhere
        rivals = [one for one in found[1:4] if one.is_sure and best.score - one.score < _CLOSE_CALL]
        if rivals and self._differ(best, rivals[0]):
            return self._ask(best, rivals)
        if best.filled.unclear:
            names = "; ".join(one_line(one, 60) for one in best.filled.unclear[:6])
            self.said.append(self._say.which_item.format(names))
            return self._stop()
        return self._act(best)

    def _opens(self, best: Meaning, before: list[Planned]) -> list[Planned] | None:
        if any(one.tool != "create" for one in before):
            return None
        args = {name: value for name, value in best.filled.params.items() if value is not None}
        call = Planned("create", {"name": best.action.id, **({"args": args} if args else {})})
        if best.then and not self._awaits:
            before.append(call)
            self._awaits = True
            return None
        return [call]

    def _act(self, best: Meaning) -> list[Planned]:
        assert best.window is not None
        removes = "@remove" in profile_of(best.action).verbs
        every = calls_of(best.filled.params, removes)
        self._use(best.window.id)
        self._last = tuple(best.filled.params.items()) or self._last
        return [
            Planned("action", {"window_id": best.window.id, "action_id": best.action.id,
                               **({"params": params} if params else {})})
            for params in every
        ]  # fmt: skip

    def _needs_results(self, best: Meaning, before: list[Planned]) -> bool:
        """Whether it looks at what a call before it is going to change."""
        assert best.window is not None
        return any(one.input.get("window_id") == best.window.id for one in before)

    def _on_all_windows(
        self, clause: Clause, best: Meaning, around: Surroundings
    ) -> list[Planned] | None:
        """ "Close all windows" is a wish for each of them."""
        said = [one for one in clause.tokens if one.kind is Kind.WORD]
        every = any(one.has("~all") for one in said)
        rest = [one for one in said if not one.is_verb and not one.is_small]
        if not every or best.filled.params or not all(one.has("#window") for one in rest):
            return None
        if not rest and not any(one.has("@close") for one in said):
            return None
        return [
            Planned("action", {"window_id": window.id, "action_id": best.action.id})
            for window in around.windows
            if any(one.id == best.action.id for one in window.actions)
        ]

    def _question(
        self, clause: Clause, around: Surroundings, before: list[Planned]
    ) -> list[Planned] | None:
        if before:
            return None
        reply = answer_question(clause, around, self._lang)
        if reply and reply.opens and not self._awaits:
            before.append(Planned("create", {"name": reply.opens.name}))
            self._awaits = True
            return None
        text = reply.text if reply and reply.text else self._say.cannot_tell
        self.said.append(text if reply and reply.text else f"{text} {self._say.connect}")
        return []

    def _not_sure(
        self, clause: Clause, found: list[Meaning], around: Surroundings
    ) -> list[Planned]:
        best = found[0] if found else None
        if shown := self._window_to_tell(clause, around):
            self.said.append(content_of(shown, self._lang))
            return []
        lacking = next((one for one in found if one.score + 4.0 * len(one.filled.missing) >= 4.0
                        and one.filled.missing), None)  # fmt: skip
        if lacking is not None and lacking is best:
            self.said.append(self._missing(lacking))
            return self._stop()
        text = one_line(clause.text, 120)
        if self._awaits or (_is_remark(clause) and len(self._clauses) > 1):
            return []
        parts = [self._say.not_understood.format(text)]
        near = nearest(found)
        if near is not None:
            parts.append(self._say.nearest.format(saying.offer(near)))
        self.said.append(" ".join([*parts, self._say.connect]))
        return []

    def _missing(self, meaning: Meaning) -> str:
        names = ", ".join(one.name for one in meaning.filled.missing)
        where = meaning.window.id if meaning.window else meaning.action.id
        return self._say.missing.format(one_line(meaning.action.label, 60), where, names)

    def _window_to_tell(self, clause: Clause, around: Surroundings) -> WindowView | None:
        """The window that is to be shown, when nothing but it was named."""
        if not any(one.has("@show", "@open", "@read", "@find") for one in clause.tokens):
            return None
        scores = [(mention_of(clause, one)[0], one) for one in around.windows]
        score, best = max(scores, key=lambda one: one[0], default=(0.0, None))
        return best if score >= 0.7 else None

    def _ask(self, best: Meaning, rivals: Sequence[Meaning]) -> list[Planned]:
        same = all(one.action.id == best.action.id for one in rivals)
        if same:
            ids = dict.fromkeys(one.window.id for one in (best, *rivals) if one.window)
            names = ", ".join(sorted(ids))
            self.said.append(self._say.which_window.format(names))
        else:
            offers = " / ".join(saying.offer(one) for one in (best, *rivals[:2]))
            self.said.append(self._say.which_action.format(offers))
        return self._stop()

    def _differ(self, best: Meaning, rival: Meaning) -> bool:
        if best.window is rival.window and best.action.id == rival.action.id:
            return False
        ours, theirs = best.filled.params, rival.filled.params
        return (
            best.window is not rival.window or best.action.id != rival.action.id or ours != theirs
        )

    def _stop(self) -> list[Planned]:
        """Leave what follows for after the person's answer."""
        self._place = len(self._clauses)
        return []

    # --- other than windows ------------------------------------------------------------

    def _small_talk(self, clause: Clause) -> str:
        said = [one for one in clause.tokens if one.kind is not Kind.MARK]
        if any(one.has("~identity") for one in said):
            return self._say.identity.format(self._say.connect)
        if any(one.has("~able") for one in said) and not _mentions_window(clause, self._scene):
            lines = saying.class_lines(self._scene.classes, self._lang)
            return f"{self._say.able.format(lines)}\n{self._say.connect}"
        small = all(one.has("~greet", "~thank", "~bye", "~polite", "~adverb") for one in said)
        if not small or len(self._clauses) > 1 or any(
            one.has("@add", "@open") for one in said
        ):  # fmt: skip
            return ""
        if any(one.has("~greet") for one in said):
            example = self._scene.classes[0].name if self._scene.classes else "…"
            return self._say.greeting.format(
                f"open {example}" if self._lang == "en" else f"打开 {example}"
            )
        return self._say.bye if any(one.has("~bye") for one in said) else self._say.welcome

    def _file_to_read(self, clause: Clause, around: Surroundings) -> str:
        paths = [one for one in clause.tokens if one.kind is Kind.PATH]
        head = head_of(clause, frozenset())
        reads = head is not None and clause.tokens[head].has("@read")
        known = any(one.id == "read" for window in around.windows for one in window.actions)
        if len(paths) == 1 and (reads or clause.is_question) and not known:
            return paths[0].text if "read_file" in self._scene.tools else ""
        return ""

    def _around(self, windows: tuple[WindowView, ...]) -> Surroundings:
        return Surroundings(windows, self._scene.classes, tuple(self._used), self._last)

    def _use(self, window_id: str) -> None:
        self._used = [window_id, *(one for one in self._used if one != window_id)]


# --- before the first step -----------------------------------------------------------------


def _clauses(scene: Scene, around: Surroundings) -> list[Clause]:
    declared = around.declared()

    def knows(token: Token) -> bool:
        return bool(plain_keys(token) & declared)

    found = clauses_of(_whole_words(scene, around), knows)
    return [one for clause in found for one in _spread(clause, around)]


def _spread(clause: Clause, around: Surroundings) -> list[Clause]:
    """ "Open a list and a notebook" is two wishes."""
    head = head_of(clause, around.declared())
    if head is None or not clause.tokens[head].has("@open", "@close", "@show"):
        return [clause]
    parts = parts_of(clause.tokens[head + 1 :])
    named = [_named_view(Clause(tuple(part), clause.words), around) for part in parts]
    if len(parts) < 2 or not all(named) or len(set(named)) < len(named):
        return [clause]
    verb = clause.tokens[: head + 1]
    return [Clause((*verb, *part), clause.words) for part in parts]


def _named_view(clause: Clause, around: Surroundings) -> str:
    scores = [(mention_of(clause, one)[0], one.id) for one in around.windows]
    scores += [(mention_of(clause, one, strict=False)[0], one.name) for one in around.classes]
    score, name = max(scores, default=(0.0, ""))
    return name if score >= 2.0 else ""


def _whole_words(scene: Scene, around: Surroundings) -> str:
    """The words; where they only answer what was asked, with those that it was asked about."""
    asked = scene.said.rstrip().endswith(("?", "？")) and scene.before
    if not asked or len(scene.words) > 80:
        return scene.words
    clauses = clauses_of(scene.words, lambda _: False)
    if len(clauses) != 1 or clauses[0].is_question:
        return scene.words
    tokens = clauses[0].tokens
    verbs = [one for one in tokens if one.is_verb and not one.is_small]
    if verbs:
        return scene.words
    named = [one for one in around.windows if one.id in scene.said]
    place = next((one.number for one in tokens if one.number and one.number.ordinal), None)
    if place and named and 1 <= place.value <= len(named):
        ids = sorted(named, key=lambda one: scene.said.find(one.id))
        return f"{scene.before.rstrip('.。!！')} in {ids[int(place.value) - 1].id}"
    joined = " in " if any(mention_of(clauses[0], one)[0] >= 2 for one in named) else " "
    return f"{scene.before.rstrip('.。!！')}{joined}{scene.words}"


def _used(scene: Scene) -> list[str]:
    """The windows in the order of their last use, the latest first."""
    found: dict[str, None] = {}
    for call in scene.earlier:
        if call.window_id:
            found.setdefault(call.window_id)
        elif call.tool == "create" and call.ok:
            for window in scene.windows:
                if window.id in call.result.replace(".", " ").split():
                    found.setdefault(window.id)
    return list(found)


def _params(call: Call) -> tuple[tuple[str, Any], ...]:
    params = call.input.get("params")
    return tuple(params.items()) if isinstance(params, dict) else ()


def _mentions_window(clause: Clause, scene: Scene) -> bool:
    return any(mention_of(clause, one)[0] >= 1.5 for one in scene.windows)


def _is_remark(clause: Clause) -> bool:
    """Whether it tells something rather than wishes for it."""
    first = next((one for one in clause.tokens if one.kind is Kind.WORD), None)
    return first is None or first.has(
        "~possessive", "~it", "~this", "~because", "~done_mark", "~greet", "~thank", "~polite"
    )
