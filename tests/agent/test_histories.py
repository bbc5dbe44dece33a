"""Ten thousand random conversations: whatever happens in them, the provider takes every request.

People, models and windows do what they like, at any time, in real contexts with real windows and
the real loop. Each request is looked at as it goes over the wire.
"""

import asyncio
import itertools
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing
from random import Random
from typing import Any, cast

import pytest

from contextui.agent.cache_marks import Payload, payload
from contextui.agent.controller import InteractionController
from contextui.agent.models.scripted import Step, call
from contextui.agent.request import MalformedRequestError
from contextui.config.schema import Placement, ToolProtocol
from contextui.context.item import ContextItem, ItemType, is_conversation
from contextui.context.manager import ContextManager
from contextui.context.strategies.builtin import EntityExtraction, SlidingWindow, Summarization
from contextui.context.strategies.strategy import ContextStrategy
from contextui.context.strategies.strategy import Payload as StrategyPayload
from contextui.context.units import rounds, units
from contextui.errors import ContextUIError
from contextui.events import CallStarted, Compacted, Event, TurnEnded
from contextui.model import (
    Answer,
    Block,
    ErrorKind,
    ModelError,
    ModelEvent,
    ModelRequest,
    TextDelta,
    Tool,
)
from contextui.names import BESIDE
from contextui.tokens import Usage
from contextui.windowing.manager import WindowManager
from contextui.windowing.snapshot import Lod
from tests.agent.shapes import violations
from tests.agent.talking import Interrupted, controller, options, run
from tests.context.conversation import NotesWindow, rough_counter
from tests.thorough import times

CHUNKS = times(4, 20)
IN_CHUNK = times(36, 10_000) // CHUNKS
MADE_UP = "There is no result of this call."  # the context's pairs are whole, so none is made up
WORDS = (
    *("Add milk.", "And now?", "好的，谢谢", "a\0b", "\ud800", "\ud83d\ude00 ", "<Window id='x'>"),
    *("So.\n\n", "x" * 60, "two\nlines", "</Window>", "\x1b[2J"),
)
BLANKS = ("", " ", "\n\t")
ERRORS: tuple[ErrorKind, ...] = ("overloaded", "cut", "thinking", "too_large", "bad_request")
STOPS = ("refusal", "max_tokens", "pause_turn", "model_context_window_exceeded", "who_knows")

RoleBlock = tuple[str, Block]


def blocks_in(request: ModelRequest) -> list[RoleBlock]:
    return [
        (message.role, block)
        for message in request.messages
        for block in message.content
        if not isinstance(block, str)
    ]


class Whim:
    """A model that answers anything, and lets the person meddle before it does."""

    name = "whim"

    def __init__(self, history: "History") -> None:
        self.history, self.random = history, history.random

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        history, random = self.history, self.random
        if not request.tools and request.system.startswith(("You summarize", "You keep the state")):
            yield await self.summary(request)
            return
        history.check(request)
        history.answering = True
        if random.random() < 0.25:
            await history.meddle()
        if random.random() < 0.12:
            yield TextDelta("Let me ")
            raise history.failure()
        if random.random() < 0.04:
            yield TextDelta("Let me ")
            history.talk.stop()
            await asyncio.sleep(60)
        yield history.answer()

    async def summary(self, request: ModelRequest) -> Answer:
        """What stands for the older part, if it can be had, while the person meddles."""
        history, random = self.history, self.random
        history.summaries += 1
        assert violations(payload(request, "m").body) == []
        if random.random() < 0.5:
            await history.meddle()
        if random.random() < 0.3:
            raise history.failure()
        if random.random() < 0.05:
            history.talk.stop()
            await asyncio.sleep(60)
        summary = f"## Goal\\nMilk {history.summaries}."
        state = f'{{"goal": "milk {random.randrange(3)}", "count": 1, "x": null}}'
        words = random.choice(("", "x " * 9_000, *[summary, state] * 3))
        return Answer(({"type": "text", "text": words},), random.choice(("end_turn", *STOPS)))


class Caprice(ContextStrategy):
    """Keeps and remembers whatever it likes, and now and then nothing of use."""

    name = "caprice"

    def __init__(self, random: Random) -> None:
        self.random = random

    async def compose_payload(
        self,
        system_prompt: str,
        history: Sequence[ContextItem],
        tools: Sequence[Tool],
        rag_context: str | None = None,
    ) -> StrategyPayload:
        random = self.random
        await asyncio.sleep(0)
        if random.random() < 0.1:
            raise ValueError("not now")
        kept = [item for item in history if random.random() < 0.7]
        memory = random.choice((None, None, "Milk.", "Eggs.", "", "word " * 3_000, 7))
        return StrategyPayload(random.choice((kept, kept, kept, history, None)), memory)  # type: ignore[arg-type]

    async def on_turn_complete(self, history: Sequence[ContextItem]) -> None:
        await asyncio.sleep(0)
        if self.random.random() < 0.1:
            raise KeyError("gone")


def strategy_of(random: Random) -> ContextStrategy:
    fold = random.randint(1, 2)
    return random.choice(
        (
            SlidingWindow(),
            SlidingWindow(max_messages=random.randint(2, 8), keep_messages=random.randint(1, 2)),
            Summarization(threshold=fold + 2 + random.randrange(2), fold=fold),
            EntityExtraction(schema={"goal": "string", "count": "integer"}),
            Caprice(random),
        )
    )


class History:
    """One conversation, made up as it goes along."""

    def __init__(self, seed: int) -> None:
        self.random = random = Random(seed)
        self.placement: Placement = "in-place" if random.random() < 0.2 else "price"
        self.protocol: ToolProtocol = random.choice(("native", "native", "native", "text"))
        self.ids = random.choice(("proper", "proper", "restarted", "odd", "none", "same"))
        self.numbers = itertools.count(1)
        self.windows = WindowManager([NotesWindow])
        self.context = ContextManager(
            self.windows, counter=rough_counter(), placement=self.placement
        )
        budget = random.choice((128_000, 128_000, 500 + random.randrange(800)))
        self.talk = InteractionController(
            model=Whim(self),
            context=self.context,
            options=options(budget=budget, max_steps=3),
            tool_protocol=self.protocol,
            prompt=False,
        )
        self.talk.strategist.use(strategy_of(random))
        self.context.subscribe(self._on_event)
        self.requests = self.summaries = 0
        self.before: list[RoleBlock] | None = None
        self.system = ""
        self.thought: RoleBlock | None = None
        self.bound: list[tuple[str, list[RoleBlock]]] = []
        self.answering = False
        self.paused = False
        self.sent: Payload | None = None

    async def play(self) -> None:
        if self.random.random() < 0.5:
            self.context.add(ContextItem(ItemType.SYSTEM, "Be brief."))
        for _ in range(self.random.choice((1, 1, 2, 3, 8))):
            for _ in range(self.random.randrange(3)):
                await self.meddle()
                self.look()
            await self.turn()
            self.look()
            if self.random.random() < 0.5:
                await self.talk.strategist.settle(0.05)
                self.look()
        await self.talk.strategist.settle(0.05)
        for window in self.windows.windows():
            self.windows.close(window.id)

    async def turn(self) -> None:
        """The person says something, and may stop the model or stop listening."""
        while self.talk.is_running:  # the person compacts, while a strategy asks its model
            await asyncio.sleep(0)
        self.before, self.paused = None, False
        patience = self.random.choice((100, 100, 100, self.random.randrange(12)))
        turn = cast(AsyncGenerator[Event], self.talk.run_turn(self.words()))
        async with aclosing(turn) as events:
            async for event in events:
                patience -= 1
                if patience < 0:
                    break
                if isinstance(event, CallStarted) and self.random.random() < 0.05:
                    self.talk.stop()
        assert self.context.ledger.calls.unanswered == ()
        assert not self.context.ledger.under_way

    async def meddle(self) -> None:
        """The person does something to a window or an item, whether it can be done or not."""
        random, context = self.random, self.context
        items, windows = context.get_all(), self.windows.windows()
        item = random.choice(items).id if items else "none"
        hidden = [one.id for one in items if one.hidden] or [item]
        window = random.choice(windows).id if windows else "none_1"
        try:
            match random.randrange(13):
                case 0 | 1 if len(windows) < 3:
                    self.windows.open("notes", lines=[self.words()])
                case 2 | 3 if windows:
                    await self.windows.act(window, "write", {"line": self.words()}, actor="person")
                case 4 if windows:
                    summary = random.choice((None, " ", self.words()))
                    self.windows.close(window, summary, actor=random.choice(("person", "model")))
                case 5 if windows:
                    self.windows.set_lod(window, random.choice(list(Lod)))
                case 6:
                    random.choice((context.pin, context.unpin))(item)
                case 7:
                    context.drop(item)
                case 8:
                    context.restore(random.choice(hidden))
                case 9:
                    context.edit(item, self.words())
                case 10:
                    context.undo()
                case 11:
                    kind = random.choice((ItemType.USER, ItemType.USER, ItemType.SYSTEM))
                    context.add(ContextItem(kind, self.words()))
                case 12:
                    await self.talk.compact()
        except ContextUIError:
            pass  # it could not be done, and the person was informed

    def words(self) -> str:
        return self.random.choice(WORDS)

    def answer(self) -> Answer:
        random = self.random
        self.answering = False
        blocks: list[Block] = []
        if random.random() < 0.4:
            blocks.append(self.thinking())
        if random.random() < 0.7:
            words = self.words() if random.random() < 0.85 else random.choice(BLANKS)
            blocks.append({"type": "text", "text": words + self.tags()})
        if self.protocol == "native" and random.random() < 0.6:
            blocks += self.calls(random.randint(1, 3))
        if random.random() < 0.05:
            blocks.append(self.thinking())
        stop = random.choice(STOPS) if random.random() < 0.1 else "end_turn"
        self.paused = stop == "pause_turn"
        self.thought = ("assistant", blocks[0]) if blocks and "signature" in blocks[0] else None
        cut = ("action",) if stop == "max_tokens" and random.random() < 0.5 else ()
        usage = Usage(input_tokens=500) if random.random() < 0.05 else Usage()
        return Answer(tuple(blocks), stop, usage, cut_calls=cut)

    def failure(self) -> ModelError:
        kind = self.random.choice(ERRORS)
        if kind in ("thinking", "bad_request"):  # it goes out without any from now on
            self.before = None
        return ModelError(kind, "It failed.")

    def thinking(self) -> Block:
        if self.random.random() < 0.2:
            return {"type": "redacted_thinking", "data": "AAAA"}
        thoughts = f"Thought {next(self.numbers)}."
        return {"type": "thinking", "thinking": thoughts, "signature": "c2ln"}

    def calls(self, count: int) -> list[Block]:
        return [
            {"type": "tool_use", "id": self.call_id(number), **self.action()}
            for number in range(1, count + 1)
        ]

    def call_id(self, number: int) -> Any:
        match self.ids:
            case "restarted":
                return f"call_{number}"
            case "odd":
                return f"functions.action:{number}\0"
            case "none":
                return None
            case "same":
                return f"call_{next(self.numbers) // 2}"
        return f"toolu_{next(self.numbers)}"

    def action(self) -> dict[str, Any]:
        random = self.random
        there_are = [one.id for one in self.windows.windows()]
        window = random.choice([*there_are, *there_are, "notes_1"])
        line: Any = random.choice((self.words(), 7, float("nan"), ["\ud800"], None))
        given: list[tuple[str, Any]] = [
            ("create", {"name": "notes", "args": {"lines": [self.words()]}}),
            ("action", {"window_id": window, "action_id": "write", "params": {"line": line}}),
            ("action", {"window_id": window, "action_id": "write", "params": {"line": "on"}}),
            ("action", {"window_id": window, "action_id": "close", "params": {"summary": "ok"}}),
            ("read_file", {"path": "notes.txt"}),
            ("notes.write", {"\0": {"\ud800": 1}}),
            ("action", random.choice(("words", None, [1], 3))),
        ]
        name, arguments = random.choice(given)
        return {"name": name, "input": arguments}

    def tags(self) -> str:
        if self.protocol != "text" or self.random.random() < 0.4:
            return ""
        tag = '<tool_call>{{"name": "create", "arguments": {{"name": "notes"}}}}{}'
        ends = ("</tool_call>", "</tool_call>", "</tool_call><tool_call>{", "")
        return tag.format(self.random.choice(ends))

    def look(self) -> None:
        """Between turns: what would be sent, if the person sent a message now."""
        composition = self.context.compose()
        try:
            request = self.talk.request_of(composition)
        except MalformedRequestError:
            assert not [one for one in composition.messages if one.role != "system"]
        else:
            assert violations(payload(request, "m").body, continues=True) == []

    def check(self, request: ModelRequest) -> None:
        """A request on its way to the model."""
        self.requests += 1
        self.sent = payload(request, "m", self.sent)
        assert violations(self.sent.body, continues=self.paused) == []
        blocks = blocks_in(request)
        assert not [block for _, block in blocks if block.get("content") == MADE_UP]
        if self.placement == "price":
            self.check_thinking(blocks, request.system)
        self.thought = None
        self.before, self.system = blocks, request.system

    def check_thinking(self, blocks: list[RoleBlock], system: str) -> None:
        """Until the turn ends, thinking stays with all that stood before it, whatever is swept."""
        if self.before is None:
            self.bound.clear()
        elif self.thought in blocks:
            self.bound.append((self.system, [*self.before, self.thought]))
        for said, before in self.bound:
            assert (system, blocks[: len(before)]) == (said, before)

    def _on_event(self, event: Event) -> None:
        if isinstance(event, TurnEnded) and event.early:  # room had to be made
            self.before = None
        if isinstance(event, Compacted) and event.trigger == "strategy":
            self.check_floor(event)

    def check_floor(self, event: Compacted) -> None:
        """A summary leaves the last rounds as they are: two, and the words that come."""
        if not isinstance(self.talk.strategist.strategy, Summarization):
            return
        gone = set(event.item_ids)
        sent = [one for one in self.context.get_all() if is_conversation(one)]
        before = rounds(units(one for one in sent if one.id in gone or not one.hidden))
        last = {item.id for one in before[-2:] for unit in one for item in unit.items}
        assert last.isdisjoint(gone)


@pytest.mark.parametrize("chunk", range(CHUNKS))
async def test_every_request_can_be_sent(chunk: int) -> None:
    requests = summaries = 0
    for seed in range(chunk * IN_CHUNK, (chunk + 1) * IN_CHUNK):
        history = History(seed)
        try:
            await history.play()
        except BaseException as error:
            error.add_note(f"seed {seed}")
            raise
        requests += history.requests
        summaries += history.summaries
    assert requests > 2 * IN_CHUNK
    assert summaries > IN_CHUNK // 10 or IN_CHUNK < 500  # few histories may have none


@pytest.mark.parametrize("how", ["words", "closing"])
def test_messages_during_a_turn_do_not_separate_thinking_from_its_context(how: str) -> None:
    windows = WindowManager([NotesWindow])
    context = ContextManager(windows, counter=rough_counter())
    window = windows.open("notes")
    interruptions: dict[str, Callable[[], object]] = {
        "words": lambda: context.add(ContextItem(ItemType.USER, "And eggs.")),
        "closing": lambda: windows.close(window.id, "No longer needed."),
    }
    thoughts = [{"type": "thinking", "thinking": "hm", "signature": one} for one in ("s", "t")]
    answers: list[Step] = [[one, call("read_file", path="x")] for one in thoughts]
    long = ContextItem(ItemType.USER, "Hi. " * 9_000)
    context.add(long)
    happens = [lambda: None, interruptions[how], lambda: context.drop(long.id)]
    model = Interrupted("Hello.", *answers, "Done.", "Yes.", before=happens)
    talk = controller(model=model, context=context)
    for words in ("Hello.", "Add milk.", "And now?"):
        run(talk, words)
    _, first, second, third, last = map(blocks_in, model.requests)
    for before, thinking in zip((first, second), thoughts, strict=True):
        bound = [*before, ("assistant", thinking)]
        assert third[: len(bound)] == bound
    assert second[: len(first) + 1] == third[: len(first) + 1]
    assert "Hi. Hi." in str(third)  # what was dropped goes when the turn has ended
    assert "Hi. Hi." not in str(last)


def test_dropping_during_a_turn_leaves_the_model_something_to_answer() -> None:
    context = ContextManager(WindowManager([NotesWindow]), counter=rough_counter())
    reading: Step = ["I look.", call("read_file", path="x")]
    full = Answer((), "model_context_window_exceeded")
    drop_last = [lambda: None, lambda: context.drop(context.get_all()[-1].id)]
    model = Interrupted(reading, full, "Done.", before=drop_last)
    run(controller(model=model, context=context), "Read x.")
    assert violations(payload(model.requests[-1], "m").body) == []


@pytest.mark.parametrize("placement", ["price", "in-place"])
def test_dropping_a_message_while_room_is_made_keeps_its_windows_in_place(
    placement: Placement,
) -> None:
    windows = WindowManager([NotesWindow])
    context = ContextManager(windows, counter=rough_counter(), placement=placement)
    windows.open("notes", lines=["milk"])
    full = Answer((), "model_context_window_exceeded")
    reading: Step = ["I look.", call("read_file", path="x")]
    drop_words = lambda: context.drop(context.get_all()[-1].id)  # noqa: E731
    model = Interrupted("Hello.", full, reading, "Done.", before=[lambda: None, drop_words])
    talk = controller(model=model, context=context)
    run(talk, "Hi.")
    run(talk, "Read x.")
    *_, retried, last = map(blocks_in, model.requests)
    assert retried[-1] == ("user", {"type": "text", "text": "(Go on.)"})
    assert last[: len(retried)] == retried
    (nudge,) = (one for one in context.get_all() if one.content == "(Go on.)")
    assert nudge.id.startswith(BESIDE)  # the person did not write it
