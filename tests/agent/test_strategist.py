"""Strategies in a conversation: what they leave out, what they remember, and what if they fail."""

import asyncio
import itertools
import json
import re
from collections.abc import Sequence
from typing import Any

from contextui.agent.cache_marks import payload
from contextui.agent.controller import InteractionController
from contextui.agent.models.offline import OfflineModel
from contextui.agent.models.scripted import ScriptedModel
from contextui.context.item import ContextItem, ItemType
from contextui.context.manager import ContextManager
from contextui.context.strategies.builtin import EntityExtraction, SlidingWindow, Summarization
from contextui.context.strategies.registry import make_strategy
from contextui.context.strategies.strategy import ContextStrategy, Payload
from contextui.events import Notice, UsageSpent
from contextui.model import Answer, ModelError, ModelRequest, Tool
from contextui.session.session import SessionOptions
from contextui.session.store import SessionStore
from contextui.tokens import Usage
from contextui.windowing.manager import WindowManager
from tests.agent.shapes import violations
from tests.agent.talking import controller, end, of, options, say
from tests.context.conversation import rough_counter
from tests.windowing.samples import Todo

SUMMARY = "## Goal\nA shop."


class Everyday:
    """A model that answers, and summarizes or extracts when it is asked to."""

    name = "everyday"

    def __init__(self, beside: Any = SUMMARY) -> None:
        self.beside = beside
        self.requests: list[ModelRequest] = []
        self.asides: list[ModelRequest] = []
        self.gate = asyncio.Event()
        self.gate.set()

    async def stream(self, request: ModelRequest) -> Any:
        if request.tools:
            self.requests.append(request)
            yield Answer(({"type": "text", "text": f"Answer {len(self.requests)}."},))
            return
        self.asides.append(request)
        await self.gate.wait()
        if isinstance(self.beside, Exception):
            raise self.beside
        yield Answer(({"type": "text", "text": self.beside},), usage=Usage(output_tokens=7))


def talk_with(strategy: ContextStrategy, model: Any = None, **given: Any) -> InteractionController:
    context = ContextManager(WindowManager([Todo]), counter=rough_counter())
    context.add(ContextItem(ItemType.SYSTEM, "Be brief."))
    talk = controller(model=model or Everyday(), context=context, options=options(**given))
    talk.strategist.use(strategy)
    return talk


def model_of(talk: InteractionController) -> Everyday:
    assert isinstance(talk.model, Everyday)
    return talk.model


async def turns(talk: InteractionController, count: int, size: int = 10) -> list[str]:
    """Take turns; the notices of them."""
    notices: list[str] = []
    for number in range(count):
        events = await say(talk, f"Question {number}. " + "word " * size)
        assert end(events).reason == "done"
        notices += [one.text for one in of(Notice, events)]
        await talk.strategist.settle(5)
    return notices


async def talked(
    count: int, strategy: ContextStrategy, model: Any = None, size: int = 10, **given: Any
) -> InteractionController:
    """A conversation after so many turns."""
    talk = talk_with(strategy, model, **given)
    await turns(talk, count, size)
    return talk


def text_of(request: ModelRequest) -> str:
    return request.system + json.dumps(payload(request, "m").body["messages"], ensure_ascii=False)


class Broken(ContextStrategy):
    """Gives whatever it was made with, or fails with it."""

    name = "broken"

    def __init__(self, gives: Any) -> None:
        self.gives, self.seen = gives, list[str | None]()

    async def compose_payload(
        self,
        system_prompt: str,
        history: Sequence[ContextItem],
        tools: Sequence[Tool],
        rag_context: str | None = None,
    ) -> Payload:
        self.seen.append(rag_context)
        if isinstance(self.gives, Exception):
            raise self.gives
        return self.gives(history) if callable(self.gives) else self.gives  # type: ignore[no-any-return]


async def test_it_leaves_out_the_oldest_in_a_step_that_lasts() -> None:
    talk = await talked(30, SlidingWindow(), budget=2_000, auto_compact=False, size=60)
    model = model_of(talk)
    first = [text_of(one).find("Question") for one in model.requests]
    shown = [text_of(one)[at : at + 12] for one, at in zip(model.requests, first, strict=True)]
    moves = sum(a != b for a, b in itertools.pairwise(shown))
    assert 1 <= moves <= 6
    assert not any(violations(payload(one, "m").body) for one in model.requests)
    hidden = {item.hidden for item in talk.context.get_all()}
    assert hidden == {None, "trimmed"}


async def test_past_twenty_messages_only_five_stay_if_that_is_wanted() -> None:
    talk = await talked(11, SlidingWindow(max_messages=20, keep_messages=5))
    model = model_of(talk)
    assert len(model.requests[9].messages) == 19
    # Of 21 messages the last five, the first of which is an answer: its question is not among them.
    active = [item.content[:11] for item in talk.context.get_active() if item.seq > 1]
    assert active == [
        "Question 8.",
        "Answer 9.",
        "Question 9.",
        "Answer 10.",
        "Question 10",
        "Answer 11.",
    ]


async def test_past_ten_rounds_the_oldest_five_become_a_summary() -> None:
    talk = await talked(12, Summarization())
    model = model_of(talk)
    assert len(model.asides) == 1
    assert "Question 0" in text_of(model.requests[10])
    last = text_of(model.requests[11])
    assert SUMMARY.replace("\n", "\\n") in last or SUMMARY in last
    assert "Question 4" not in last
    assert "Question 5" in last
    assert [
        one.hidden for one in talk.context.get_all() if one.content.startswith("Question 4")
    ] == ["compacted"]


async def test_the_present_summary_is_folded_into_the_new_one() -> None:
    talk = await talked(9, Summarization(threshold=4, fold=2))
    model = model_of(talk)
    assert "A shop." in text_of(model.asides[1])
    assert len([one for one in talk.context.get_active() if one.is_summary]) == 1


async def test_a_turn_never_waits_for_a_summary() -> None:
    talk = talk_with(Summarization(threshold=3, fold=1))
    model = model_of(talk)
    for number in range(4):
        await say(talk, f"Question {number}.")
    model.gate.clear()
    for number in range(4, 8):
        assert end(await say(talk, f"Question {number}.")).reason == "done"
    model.gate.set()
    await talk.strategist.settle(5)
    assert len(model.requests) == 8


async def test_a_summary_of_items_changed_since_is_discarded() -> None:
    talk = talk_with(Summarization(threshold=3, fold=1))
    model = model_of(talk)
    for number in range(3):
        await say(talk, f"Question {number}.")
    model.gate.clear()
    await say(talk, "Question 3.")
    await asyncio.sleep(0)
    first = next(one for one in talk.context.get_active() if one.type is ItemType.USER)
    talk.context.edit(first.id, "Something else.")
    model.gate.set()
    await talk.strategist.settle(5)
    assert not any(one.is_summary for one in talk.context.get_all())
    assert not first.hidden
    assert model.asides


async def test_background_usage_is_emitted_with_the_next_turn() -> None:
    talk = talk_with(Summarization(threshold=3, fold=1))
    model = model_of(talk)
    spent = 0
    for number in range(8):
        before = len(model.asides)
        events = await say(talk, f"Question {number}.")
        assert len(model.asides) == before  # a turn asks for none that it does not need
        assert sum(one.usage.output_tokens for one in of(UsageSpent, events)) == spent
        assert end(events).usage.output_tokens == spent
        await talk.strategist.settle(5)
        spent = 7 * (len(model.asides) - before)
    talk.strategist.use(SlidingWindow())  # even if another one decides by then
    assert end(await say(talk, "The last.")).usage.output_tokens == spent
    assert model.asides


async def test_without_a_summary_everything_stays_and_a_notice_says_so() -> None:
    for problem in (ModelError("auth", "No key."), ValueError("odd"), ""):
        talk = talk_with(Summarization(threshold=3, fold=1), Everyday(problem))
        notices = await turns(talk, 6)
        assert notices, problem
        assert "summarization" in notices[0], problem
        assert not any(one.is_obsolete for one in talk.context.get_all()), problem


async def test_what_is_pinned_stays() -> None:
    talk = await talked(1, Summarization(threshold=4, fold=2))
    first = next(one for one in talk.context.get_active() if one.type is ItemType.USER)
    talk.context.pin(first.id)
    await turns(talk, 8)
    assert not first.hidden


async def test_its_summary_outlives_the_program(tmp_path: Any) -> None:
    store = SessionStore(tmp_path, options=SessionOptions(classes=[Todo]))
    with store.create(tmp_path) as session:
        talk = controller(model=Everyday(), context=session.context)
        talk.strategist.use(Summarization(threshold=3, fold=1))
        await turns(talk, 6)
        sent, session_id = list(session.context.outlook().messages), session.id
        talk.close()
    with store.open(session_id) as session:
        assert list(session.context.outlook().messages) == sent
        assert "A shop." in str(sent)
        assert session.context.undo() == []  # a strategy's change is no step of the person's


SCHEMA = {"destination": "string", "date": "string"}


async def test_the_state_replaces_the_conversation() -> None:
    model = Everyday('{"destination": "Rome", "mood": "good", "date": 7}')
    await talked(2, EntityExtraction(schema=SCHEMA), model)
    request = text_of(model.requests[1])
    assert model.requests[1].system == "Be brief."
    state = str(model.requests[1].messages[0].content)
    assert '"destination": "Rome"' in state
    assert "mood" not in request
    assert "date" not in state
    assert "Question 0" not in request
    assert "Question 1" in request


async def test_without_a_schema_of_its_own_the_default_state_is_kept() -> None:
    news = {
        "people": ["Ann, who asks"],
        "places": ["Rome"],
        "decisions": ["by train"],
        "open_questions": ["when?"],
        "files": ["trip.md: the plan"],
        "moods": ["good"],
    }
    model = Everyday(json.dumps(news))
    talk = talk_with(make_strategy("entities"), model)
    assert await turns(talk, 2) == []
    state = str(model.requests[1].messages[0].content)
    assert all(name in state for name in news if name != "moods")
    assert "moods" not in state
    assert "open_questions" in str(model.asides[0].messages)


async def test_what_was_retrieved_reaches_the_strategy_and_the_model_once() -> None:
    model, watching = Everyday(), Broken(Payload)
    talk = talk_with(SlidingWindow(), model)
    talk.windows.open("todo", items=["milk"])
    await talk.windows.await_opening(5)
    talk.strategist.env.retrieved = "From the manual: <Window id='x'> & more."
    talk.strategist.use(watching)  # what was handed over stays
    await turns(talk, 2)
    first, second = watching.seen
    assert first is not None
    assert first.startswith('<Window id="todo_1"')
    assert first.endswith("From the manual: <Window id='x'> & more.")
    assert second is not None
    assert "manual" not in second
    blocks = [str(block["text"]) for block in model.requests[0].blocks()]
    expected = "<Retrieved>\nFrom the manual: &lt;Window id='x'&gt; &amp; more.\n</Retrieved>"
    assert blocks.count(expected) == 1
    assert blocks[-1].startswith("Question 0.")
    assert model.requests[0].system == "Be brief."
    assert text_of(model.requests[1]).count("From the manual") == 1  # as a part of the history


async def test_what_was_retrieved_counts_when_there_is_little_room() -> None:
    talk = await talked(5, SlidingWindow(), budget=2_000, auto_compact=False, size=100)
    assert not any(item.hidden for item in talk.context.get_all())
    talk.strategist.env.retrieved = "fact " * 900
    events = await say(talk, "And now?")
    assert end(events).reason == "done"
    assert any(item.hidden for item in talk.context.get_all())


async def test_a_state_that_stays_the_same_costs_no_cache() -> None:
    model = Everyday('{"destination": "Rome"}')
    talk = await talked(4, EntityExtraction(schema=SCHEMA), model)
    assert len({str(one.messages[0].content[0]) for one in model.requests[1:]}) == 1
    assert sum(one.is_summary for one in talk.context.get_all()) == 1


async def test_an_answer_that_is_no_state_leaves_everything_as_it_is() -> None:
    model = Everyday("I do not know.")
    talk = talk_with(EntityExtraction(schema=SCHEMA), model)
    notices = await turns(talk, 2)
    assert "no JSON object" in notices[0]
    assert "Question 0" in text_of(model.requests[1])


async def test_the_offline_model_fills_a_state() -> None:
    talk = talk_with(EntityExtraction(schema=SCHEMA), OfflineModel())
    await say(talk, "The destination is Rome, and the date is 7 May.")
    await say(talk, "Now the destination is Oslo.")
    tag, _, *state, end_tag = str(talk.context.outlook().messages[1].content).split("\n")
    assert (tag, end_tag) == ("<Summary>", "</Summary>")
    assert json.loads("\n".join(state)) == {"destination": "Oslo", "date": "7 May"}


async def test_a_failing_strategy_is_reported_and_replaced() -> None:
    for gives, words in (
        (ValueError("no idea"), "no idea"),
        (None, "instead of a Payload"),
        (Payload(None), "not a list of items"),  # type: ignore[arg-type]
        (Payload([ContextItem(ItemType.USER, "made up")]), "not in the history"),
        (Payload((), memory="  "), "not text"),
        (Payload((), memory=7), "not text"),  # type: ignore[arg-type]
        (lambda history: Payload(history, memory="word " * 9_000), "more than there is room for"),
    ):
        talk = talk_with(Broken(gives), budget=2_000, auto_compact=False)
        notices = await turns(talk, 12, 120)
        assert len(notices) == 12, gives
        assert all("broken" in one and words in one for one in notices), gives
        model = model_of(talk)
        assert not any(violations(payload(one, "m").body) for one in model.requests), gives
        assert {item.hidden for item in talk.context.get_all()} == {None, "trimmed"}, gives


class Afterwards(Broken):
    """Fails where nobody waits for it."""

    name = "afterwards"

    async def on_turn_complete(self, history: Sequence[ContextItem]) -> None:
        raise KeyError(f"lost {len(history)}")


async def test_settle_returns_background_errors_with_their_place() -> None:
    talk = talk_with(Afterwards(Payload))
    await say(talk, "Question.")
    (notice,) = await talk.strategist.settle(5)
    assert "The strategy afterwards failed" in notice
    assert re.search(r": KeyError: 'lost 2' \(test_strategist\.py:\d+\)$", notice)


async def test_a_strategy_that_keeps_nothing_keeps_the_current_message() -> None:
    talk = talk_with(Broken(Payload(())))
    assert await turns(talk, 3) == []
    model = model_of(talk)
    assert "Question 2" in text_of(model.requests[2])
    assert "Question 1" not in text_of(model.requests[2])


async def test_what_was_left_out_comes_back_pinned() -> None:
    talk = await talked(2, Broken(Payload(())))
    first = next(one for one in talk.context.get_all() if one.type is ItemType.USER)
    assert first.hidden == "trimmed"
    talk.context.restore(first.id)
    await turns(talk, 1)
    assert not first.hidden


async def test_stopping_during_a_strategy_keeps_the_message() -> None:
    model = Everyday('{"destination": "Rome"}')
    talk = talk_with(EntityExtraction(schema=SCHEMA), model)
    model.gate.clear()
    turn = asyncio.create_task(say(talk, "To Rome."))
    while not model.asides:
        await asyncio.sleep(0)
    talk.stop()
    assert end(await turn).reason == "stopped"
    assert [one.content for one in talk.context.get_active()][-1] == "To Rome."


async def test_a_model_of_its_own_is_asked() -> None:
    cheap = ScriptedModel(SUMMARY, name="cheap")
    talk = talk_with(Summarization(threshold=3, fold=1))
    talk.strategist.use(Summarization(threshold=3, fold=1), cheap)
    await turns(talk, 4)
    model = model_of(talk)
    assert len(cheap.requests) == 1
    assert not model.asides
