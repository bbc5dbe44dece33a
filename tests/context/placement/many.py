"""Many random sessions by price, each checked after every step.

A session is a script of 20 to 80 steps: turns with calls, results and thinking, and between them
whatever people do to items and windows. Every text has a mark of its own, so that a request shows
by its marks what it contains.
"""

import asyncio
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from random import Random
from typing import Any

from contextui import ContextItem, ContextManager, ItemType, LlmMessage, Lod, WindowManager, action
from contextui.context.item import Stage, is_conversation
from contextui.context.messages import Composition
from contextui.context.placement.compose import PricedComposer
from contextui.context.placement.slots import Rules
from contextui.context.units import units
from contextui.errors import ContextUIError, UnknownItemError
from contextui.events import Event, TurnEnded
from contextui.model import CachePrices
from contextui.windowing.runtime import runtime_of
from contextui.windowing.worker import Worker
from tests.context.conversation import NotesWindow, rendered, rough_counter, wire
from tests.context.placement.test_requests import Clock, state_of, windows_in
from tests.context.test_properties import assert_whole_pairs

Step = tuple[Any, ...]

MARK = re.compile(r"k\d+k")
FILLER = "lorem ipsum dolor sit amet consetetur "
PRICES = [
    CachePrices(minimum=0),
    CachePrices(minimum=150),
    CachePrices(),
    CachePrices(0.1, 2.0, 3_600.0, minimum=50),
    CachePrices(0.0, 1.0, float("inf"), minimum=0, marks=0),
    CachePrices(0.5, 1.0, 600.0, minimum=0, marks=0),
    CachePrices(1.0, 1.0, 0.0, marks=0),
    CachePrices(0.0, 0.0, 300.0, minimum=0),
]


class Writer:
    """Writes random scripts."""

    def __init__(self, seed: int) -> None:
        self.dice, self.marks = Random(seed), 0
        self.steps: list[Step] = []

    def script(self) -> list[Step]:
        """A script of 20 to 80 steps, turn by turn."""
        dice, length = self.dice, self.dice.choice((20, 20, 20, 25, 25, 30, 40, 80))
        self.put("use", dice.randrange(len(PRICES)))
        self.put("rules", dice.choice((2, 10)), dice.choice((40, 200)))
        if dice.random() < 0.8:
            self.put("system", self.mark(), dice.choice((20, 200, 1_100)))
        while len(self.steps) < length:
            self.turn()
        return self.steps[:length]

    def mark(self) -> str:
        self.marks += 1
        return f"k{self.marks}k"

    def put(self, *step: Any) -> None:
        self.steps.append(step)

    def size(self) -> int:
        """The tokens of a text: most are short."""
        return self.dice.choice((3, 3, 8, 15, 30, 60, 250))

    def turn(self) -> None:
        dice = self.dice
        for _ in range(dice.choice((0, 0, 1, 1, 2, 4))):
            self.meddle()
        self.put("clock", dice.choice((1.0, 20.0, 100.0)))
        for _ in range(dice.choice((1, 1, 1, 2))):
            self.put("say", self.mark(), self.size())
        thinks = dice.random() < 0.4
        for _ in range(dice.choice((0, 0, 1, 1, 2, 3, 5))):
            self.send()
            self.call(thinks)
        if dice.random() < 0.95:
            self.send()
        if dice.random() < 0.9:
            self.put("answer", self.mark(), self.size(), self.mark() if thinks else "")
        if dice.random() < 0.9:
            self.put("end")

    def send(self) -> None:
        dice = self.dice
        if dice.random() < 0.06:
            self.put("squeeze", dice.choice((60, 150, 300, 600, 1_500)))
        elif dice.random() < 0.97:
            if dice.random() < 0.1:
                self.put("fail")
            self.put("send")
        if dice.random() < 0.1:
            self.put("say", self.mark(), self.size())

    def call(self, thinks: bool) -> None:
        dice = self.dice
        count = dice.choice((1, 1, 1, 2, 3))
        words = self.mark() if dice.random() < 0.6 else ""
        thoughts = self.mark() if thinks and dice.random() < 0.7 else ""
        self.put("call", tuple(self.mark() for _ in range(count)), words, thoughts)
        for _ in range(count if dice.random() < 0.95 else count - 1):
            if dice.random() < 0.4:
                self.put("write", dice.randrange(9), self.mark(), dice.choice((3, 3, 30)))
            self.put("result", self.mark(), self.size(), dice.random() < 0.2)
        for _ in range(dice.choice((0, 0, 1, 2))):
            self.meddle()
        self.put("clock", dice.choice((1.0, 5.0, 20.0)))

    def meddle(self) -> None:
        dice = self.dice
        which, far = dice.randrange(9), dice.randrange(1_000)
        kinds = {
            "open": 12, "write": 22, "rewrite": 8, "detail": 5, "close": 7, "drop": 8,
            "restore": 8, "edit": 6, "pin": 2, "unpin": 1, "undo": 4, "fold": 1, "unfold": 2,
            "compact": 4, "leave_out": 2, "use": 2, "jump": 3, "system": 1, "loose": 1,
            "sweep": 1, "other_key": 1,
        }  # fmt: skip
        (kind,) = dice.choices(list(kinds), list(kinds.values()))
        match kind:
            case "open":
                kind = dice.choice(("notes", "pages"))
                self.put("open", kind, [self.mark() for _ in range(dice.choice((0, 1, 4, 12)))])
            case "write":
                self.put("write", which, self.mark(), self.size())
            case "rewrite":
                self.put("rewrite", which, [self.mark() for _ in range(dice.choice((1, 5, 12)))])
            case "detail":
                self.put("detail", which, dice.choice(list(Lod)))
            case "close":
                summary = self.mark() if dice.random() < 0.5 else ""
                self.put("close", which, dice.choice(("person", "model")), summary)
            case "edit":
                self.put("edit", far, self.mark(), self.size())
            case "compact":
                self.put("compact", dice.random(), self.mark(), dice.choice((5, 40)))
            case "leave_out":
                self.put("leave_out", dice.random())
            case "use":
                self.put("use", dice.randrange(len(PRICES)))
            case "jump":
                self.put("clock", dice.choice((-500.0, -5.0, 301.0, 4_000.0, 1e9, -1e9)))
            case "system":
                self.put("system", self.mark(), self.size())
            case "loose":
                self.put("loose", self.mark(), self.size())
            case "undo" | "sweep":
                self.put(kind)
            case "other_key":
                self.put(kind, dice.randrange(3))
            case _:
                self.put(kind, far)


def text(mark: str, tokens: int) -> str:
    return (mark + " " + FILLER * (tokens // 9 + 1))[: max(len(mark), tokens * 4)].rstrip()


class PagesWindow(NotesWindow):
    """Notes that can be replaced as a whole, with a title that differs."""

    @action("Replace all lines")
    def replace(self, lines: list[str]) -> str:
        self.state.lines = lines
        return f"{len(lines)} lines"


class Session:
    """Plays a script, and checks the next request after every step."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop, self.clock = loop, Clock()
        self.windows = WindowManager([NotesWindow, PagesWindow])
        self.context = ContextManager(
            self.windows, counter=rough_counter(), placement="price", clock=self.clock
        )
        assert self.context.ledger.priced is not None
        self.priced = self.context.ledger.priced
        self.binding: list[str] = []  # the marks of the thinking that binds the next request
        self.closed: dict[str, int] = {}  # the turn in which each window was closed
        self.lines: dict[str, str] = {}  # the window of each mark
        self.turns = 0
        self.early = False
        self.before: list[bytes] = []
        self.asked: list[bytes] | None = None  # the request that waits for an answer
        self.bound: dict[str, list[bytes]] = {}  # the request that each thought was made with
        self.thought: dict[str, int] = {}  # the last seq that each of them binds
        self.prices, self.key = PRICES[0], "model 0"
        self._checked: object = None
        self._bytes: dict[int, tuple[LlmMessage, bytes]] = {}
        self._marks: dict[bytes, list[str]] = {}
        self._of_item: dict[tuple[str, int, bool], list[str]] = {}
        self.context.subscribe(self._on_event)

    def _on_event(self, event: Event) -> None:
        if isinstance(event, TurnEnded):
            self.early = self.early or event.early
            self.turns += not event.early
            self.bound.clear()

    def play(self, script: Sequence[Step]) -> None:
        for step in script:
            with suppress(ContextUIError):  # it could not be done, and the person was informed
                self._perform(*step)
            self.check_if_changed()

    def close(self) -> None:
        self.windows.shut_down()

    # --- steps

    def _perform(self, kind: str, *given: Any) -> None:
        if kind in ("drop", "pin", "unpin", "fold", "unfold"):
            getattr(self.context, kind)(self._item(*given).id)
        else:
            getattr(self, f"_{kind}")(*given)

    def _item(self, number: int) -> ContextItem:
        items = self.context.get_all()
        if not items:
            raise UnknownItemError("There is none.")
        return items[number % len(items)]

    def _window(self, number: int) -> str:
        opened = self.windows.windows()
        return opened[number % len(opened)].id if opened else "none"

    def _use(self, number: int) -> None:
        self.prices = PRICES[number]
        self.context.use(self.prices, self.key)

    def _other_key(self, number: int) -> None:
        self.key = f"model {number}"
        self.context.use(self.prices, self.key)

    def _rules(self, recent: int, long: int) -> None:
        self.priced.transcript.rules = Rules(recent=recent, long=long)

    def _clock(self, seconds: float) -> None:
        self.clock.now += seconds

    def _sweep(self) -> None:
        self.priced.transcript.ask_sweep()
        self.context.ledger.generation += 1

    def _say(self, mark: str, tokens: int) -> None:
        self.context.add(ContextItem(ItemType.USER, text(mark, tokens)))

    def _system(self, mark: str, tokens: int) -> None:
        self.context.add(ContextItem(ItemType.SYSTEM, text(mark, tokens)))

    def _loose(self, mark: str, tokens: int) -> None:
        if self.asked is None:  # it answers what the model said last
            self.context.add(ContextItem(ItemType.TOOL, text(mark, tokens)))

    def _bind(self, thoughts: str) -> list[dict[str, Any]]:
        if not thoughts:
            return []
        assert self.asked is not None
        self.bound[thoughts] = self.asked
        return [{"type": "thinking", "thinking": thoughts, "signature": "s"}]

    def _answer(self, mark: str, tokens: int, thoughts: str) -> None:
        if self.asked is None:
            return  # nobody asked
        said = text(mark, tokens)
        blocks = (*self._bind(thoughts), {"type": "text", "text": said})
        self.asked = None
        item = ContextItem(ItemType.ASSISTANT, said, blocks=blocks if thoughts else None)
        self.thought[thoughts] = self.context.add(item).seq

    def _call(self, calls: Sequence[str], words: str, thoughts: str) -> None:
        if self.asked is None:
            return
        blocks = self._bind(thoughts)
        self.asked = None
        if words:
            blocks.append({"type": "text", "text": words})
        blocks += [
            {"type": "tool_use", "id": f"call_{one[1:-1]}", "name": "act", "input": {"n": one}}
            for one in calls
        ]
        item = ContextItem(ItemType.ASSISTANT, words, blocks=tuple(blocks))
        self.thought[thoughts] = self.context.add(item).seq + len(calls)

    def _result(self, mark: str, tokens: int, has_gist: bool) -> None:
        waiting = self.context.ledger.calls.unanswered
        if waiting:
            given = text(mark, tokens)
            gist = f"{mark} in short" if has_gist else None
            item = ContextItem(ItemType.TOOL, given, tool_call_id=waiting[0], gist=gist)
            self.context.add(item)

    def _open(self, kind: str, marks: Sequence[str]) -> None:
        if len(self.windows.windows()) < 5:
            window = self.windows.open(kind, lines=[text(one, 8) for one in marks])
            self.lines.update(dict.fromkeys(marks, window.id))

    def _write(self, number: int, mark: str, tokens: int) -> None:
        name = self._window(number)
        self.lines[mark] = name
        acting = self.windows.act(name, "write", {"line": text(mark, tokens)})
        self._loop.run_until_complete(acting)

    def _rewrite(self, number: int, marks: Sequence[str]) -> None:
        name = self._window(number)
        self.lines.update(dict.fromkeys(marks, name))
        acting = self.windows.act(name, "replace", {"lines": [text(one, 8) for one in marks]})
        self._loop.run_until_complete(acting)

    def _detail(self, number: int, lod: Lod) -> None:
        self.windows.set_lod(self._window(number), lod)

    def _close(self, number: int, actor: Any, summary: str) -> None:
        name = self._window(number)
        self.windows.close(name, summary or None, actor=actor)
        self.closed[name] = self.turns

    def _restore(self, number: int) -> None:
        items = [one for one in self.context.get_all() if one.hidden]
        self.context.restore(items[number % len(items)].id if items else "none")

    def _edit(self, number: int, mark: str, tokens: int) -> None:
        item = self._item(number)
        self.context.edit(item.id, text(mark, tokens))

    def _undo(self) -> None:
        self.context.undo()

    def _oldest(self, share: float) -> list[ContextItem]:
        """The oldest part of the conversation, in whole units."""
        active = self.context.get_active()
        found = units(one for one in active if is_conversation(one) or one.is_summary)
        free = [unit for unit in found[: int(len(found) * share)] if not unit.pinned]
        return [item for unit in free for item in unit.items]

    def _compact(self, share: float, mark: str, tokens: int) -> None:
        if items := self._oldest(share):
            self.context.compact(items, text(mark, tokens))

    def _leave_out(self, share: float) -> None:
        self.context.leave_out(self._oldest(share))

    def _end(self) -> None:
        self.context.end_turn()
        self.asked = None

    def _squeeze(self, budget: int) -> None:
        self._send(budget)

    def _send(self, budget: int | None = None) -> None:
        self.asked = None  # composing means that no answer is expected any more
        composition = self.context.request(budget)
        plan = composition.plan
        assert plan is not None
        if plan.request is None:
            return  # there was nothing to answer in it
        now = self.lines_of(composition.messages)
        if not self.early:
            kept = plan.kept if plan.made.offer is not None else len(self.before)
            assert now[:kept] == self.before[:kept], "what was sent before has changed"
        self.check_bound(now)
        self.before, self.asked, self.early = now, now, False

    def _fail(self) -> None:
        """A request that fails before its answer begins leaves everything as it was."""
        self.asked = None
        composition = self.context.compose()
        before, now = digest(self.priced), self.lines_of(composition.messages)
        self.context.mark_sent(composition, is_answered=False)
        self.context.outlook()
        self.context.request_failed()
        self.windows.settle_now()
        again = self.lines_of(self.context.outlook().messages)
        assert again == now, "a failed request changes the next one"
        assert digest(self.priced) == before, "a failed request left something"

    # --- checks

    def check_if_changed(self) -> None:
        """Check the next request, unless it is the one that was checked last."""
        script = self.priced.transcript
        self.windows.settle_now()
        renders = [runtime_of(one).renders.latest().xml for one in self.windows.windows()]
        now = (self.context.ledger.generation, self.clock.now, script.prices, script.key,
               script.rules, renders, self.turns)  # fmt: skip
        if now != self._checked:
            self._checked = now
            self.check()

    def check(self) -> None:
        composition = self.context.outlook()
        messages = list(composition.messages)
        now = self.lines_of(messages)
        assert messages == rendered(self.priced), "compose and render differ"
        assert_whole_pairs(messages)
        self.check_windows(composition, messages)
        self.find_bound()
        self.check_marks(composition, now)
        self.check_bound(now)

    def check_windows(self, composition: Composition, messages: Sequence[LlmMessage]) -> None:
        """Every open window can be read from the request alone."""
        shown = windows_in(messages)
        if not self.has_place(composition):
            return
        for item in self.context.live_window_items:
            window = self.windows.get(item.content)
            if window is not None and not item.hidden:
                assert item.content in shown, f"{item.content} is not shown"
                wanted = state_of(runtime_of(window).renders.latest().xml)
                assert shown[item.content][1:] == wanted, f"{item.content} is not up to date"

    def lines_of(self, messages: Sequence[LlmMessage]) -> list[bytes]:
        """The bytes of each message; most are the same objects as before."""
        found = list[bytes]()
        for one in messages:
            known = self._bytes.get(id(one))
            if known is None:
                known = self._bytes[id(one)] = one, wire([one])
            found.append(known[1])
        return found

    def marks_in(self, line: bytes) -> list[str]:
        found = self._marks.get(line)
        if found is None:
            found = self._marks[line] = MARK.findall(line.decode())
        return found

    def has_place(self, composition: Composition) -> bool:
        """Whether windows have a place: a new turn, new words or a new result."""
        is_new = any(piece.message.role == "user" for piece in composition.fresh)
        return is_new or self.priced.transcript.is_fresh

    def check_bound(self, now: Sequence[bytes]) -> None:
        """Thinking of this turn follows exactly the request that it was made with."""
        for mark, request in self.bound.items():
            found = [at for at, one in enumerate(now) if mark.encode() in one]
            if not found:  # thinking that was never sent need not be
                was_sent = any(mark.encode() in one for one in self.before)
                assert not was_sent, f"the thinking {mark} of the running turn is gone"
                continue
            assert list(now[: found[0]]) == request, f"the context of {mark} has changed"

    def find_bound(self) -> None:
        """Thinking that was dropped or edited before it was sent binds nothing until it is back."""
        shown = {mark for item in self.context.get_all() if not item.hidden
                 for mark in self.marks_of(item)}  # fmt: skip
        self.binding = [mark for mark in self.bound if mark in shown
                        or any(mark.encode() in one for one in self.before)]  # fmt: skip

    def check_marks(self, composition: Composition, now: Sequence[bytes]) -> None:
        """What is visible is in the request; what is not is there only where it has to wait."""
        place = {mark: at for at, one in enumerate(now) for mark in self.marks_in(one)}
        waiting = {item.id for item in self.context.ledger.waiting(composition)}
        wanted, has_place, whole = set[str](), self.has_place(composition), b"".join(now)
        last = max((place.get(mark, len(now)) for mark in self.binding), default=-1)
        for item in self.context.get_all():
            if item.type is ItemType.WINDOW or item.hidden:
                continue
            wanted.update(self.marks_of(item))
            if item.id in waiting or not has_place or self.is_bound(item):
                continue
            own = list(self.needed(item))
            if item.type is ItemType.TOOL and f"[result {item.seq}]".encode() in whole:
                continue  # its gist is
            assert all(mark in place for mark in own), f"{item.seq} [✓] {own} is not in it"
        for mark in place.keys() - wanted:
            is_held = place[mark] <= last + 1 or not has_place
            if mark in self.lines:
                assert is_held or self.may_show(self.lines[mark]), f"{mark} of a closed window"
            elif not is_held:
                assert self.is_outdated(mark), f"{mark} is not wanted any more"

    def is_bound(self, item: ContextItem) -> bool:
        """Whether thinking of this turn stands behind an item, so that it cannot change.

        An answer with thinking that missed a request waits for the end of the turn, too.
        """
        seq = self.context.ledger.calls.asker(item).seq
        return any(seq <= self.thought[mark] for mark in self.binding)

    def marks_of(self, item: ContextItem) -> list[str]:
        """The marks of everything that an item has; of its thinking only while its turn runs."""
        key = item.id, item.revision, item.stage is Stage.FINAL
        if key not in self._of_item:
            blocks = [
                block
                for block in item.blocks or ()
                if block["type"] != "thinking" or item.stage is not Stage.FINAL
            ]
            self._of_item[key] = MARK.findall(f"{item.content} {item.gist} {blocks}")
        return self._of_item[key]

    def needed(self, item: ContextItem) -> Iterator[str]:
        """The marks that a request must contain because of a visible item."""
        if item.type is ItemType.SYSTEM and not item.is_summary:
            is_later = self.context.ledger.under_way and item.stage is Stage.NEW
            yield from () if is_later else MARK.findall(item.content)[:1]
        elif item.type is not ItemType.ASSISTANT or item.blocks is None:
            yield from MARK.findall(item.content)[:1]
        else:
            for block in item.blocks:
                if block["type"] == "text":
                    yield from MARK.findall(block["text"])[:1]

    def may_show(self, window: str) -> bool:
        """Whether something of a window may be in the request that is outdated."""
        if self.windows.get(window) is None:
            return self.closed.get(window) == self.turns and not self.priced.transcript.is_fresh
        items = self.context.ledger.references.get(window, ())
        return any(not one.hidden for one in items)

    def is_outdated(self, mark: str) -> bool:
        """Whether a mark is of an earlier form that may be carried: thinking of earlier turns."""
        for item in self.context.get_all():
            for block in item.blocks or ():
                if block["type"] == "thinking" and mark in block["thinking"]:
                    slots = self.priced.transcript.slots_of(item.id)
                    return not item.hidden and any(one.sent and one.is_outdated for one in slots)
        return False


def digest(priced: PricedComposer) -> object:
    """Everything that decides about requests."""
    script = priced.transcript
    slots = [
        (one.id, one.want, one.since, one.reason, one.sent, one.at, one.first, one.actions)
        for one in (*script.slots, *script.tail)
    ]
    views = {
        view.id: (view.is_current, view.shown, view.pending, view.is_new, view.is_lowered,
                  [slot.id for slot in view.chain])
        for view in script.present.values()
    }  # fmt: skip
    of_item = {name: [one.id for one in script.slots_of(name)] for name in script.present}
    sums = [script._sums.before(len(script.slots), column) for column in range(7)]
    figures = script.requests, script.last, script.sent_key, script.entries, sums
    inner = [one.id for one in script._long()]
    sent = (
        [piece.message for piece in priced._messages.pieces],
        priced._messages.starts,
        priced._shown,
    )
    return repr((slots, views, of_item, figures, inner, sent))


def at_once(_: Worker, call: Callable[[], Any]) -> "Future[Any]":
    """Run a window's code on the caller's thread: thousands of sessions need no threads."""
    future: Future[Any] = Future()
    try:
        future.set_result(call())
    except BaseException as error:
        future.set_exception(error)
    return future


def failure(script: Sequence[Step], loop: asyncio.AbstractEventLoop) -> BaseException | None:
    session = Session(loop)
    try:
        session.play(script)
    except Exception as error:
        return error
    else:
        return None
    finally:
        session.close()


@contextmanager
def without_threads() -> Iterator[asyncio.AbstractEventLoop]:
    """Run windows on this thread, and their actions in the loop that is given."""
    original, loop = Worker.submit, asyncio.new_event_loop()
    Worker.submit = at_once  # type: ignore[method-assign, assignment]
    try:
        yield loop
    finally:
        Worker.submit = original  # type: ignore[method-assign]
        loop.close()


def script_failure(script: Sequence[Step]) -> BaseException | None:
    with without_threads() as loop:
        return failure(script, loop)


def run(seeds: Sequence[int]) -> Iterator[tuple[int, list[Step], BaseException]]:
    for seed in seeds:
        script = Writer(seed).script()
        if (error := script_failure(script)) is not None:
            yield seed, script, error
