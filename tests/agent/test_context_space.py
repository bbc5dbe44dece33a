"""Room for a turn: a compaction before it, what it costs, and what if it does not come about."""

import asyncio
from collections.abc import Coroutine
from typing import Any, cast

import pytest

from contextui.agent.cache_marks import payload
from contextui.agent.controller import (
    CompactionStoppedError,
    InteractionController,
    TurnRunningError,
)
from contextui.agent.models.offline import OfflineModel
from contextui.agent.models.scripted import ScriptedModel, Step
from contextui.context.compaction.service import NothingToCompactError
from contextui.context.item import ContextItem, ItemType
from contextui.context.manager import ContextManager
from contextui.errors import InvalidItemError
from contextui.events import (
    CompactionFinished,
    CompactionStarted,
    Event,
    Notice,
    RetryScheduled,
    StepStarted,
    TurnEnded,
    TurnFinished,
    TurnStarted,
    UsageSpent,
)
from contextui.model import Answer, ModelError, TextDelta
from contextui.tokens import Usage
from contextui.windowing.manager import WindowManager
from contextui.words import Lang
from tests.agent.shapes import violations
from tests.agent.talking import Waiting, controller, end, of, options, requests, run, say
from tests.context.conversation import rough_counter
from tests.windowing.samples import Todo

OUTLINE = "## Goal\nA shop."
BUDGET = 6_000
SPENT = Usage(700, 30)


def full_context(lang: Lang = "en") -> ContextManager:
    """A conversation that takes nine tenths of the budget."""
    context = ContextManager(WindowManager([Todo], lang=lang), counter=rough_counter())
    context.add(ContextItem(ItemType.SYSTEM, "Be brief."))
    for number in range(40):
        context.add(ContextItem(ItemType.USER, f"question {number} " + "word " * 40))
        context.add(ContextItem(ItemType.ASSISTANT, f"answer {number} " + "word " * 40))
    context.end_turn()
    return context


def talk_with(*steps: Step, lang: Lang = "en", **given: Any) -> InteractionController:
    context = full_context(lang)
    given.setdefault("options", options(budget=BUDGET))
    return controller(*steps, context=context, **given)


def kinds(events: list[Event]) -> list[type[Event]]:
    return [type(event) for event in events]


def test_a_turn_that_finds_little_room_begins_with_a_compaction() -> None:
    talk = talk_with(OUTLINE, "Hello.")
    events = run(talk, "And now?")
    first = kinds(events)[:4]
    assert first == [CompactionStarted, CompactionFinished, TurnStarted, StepStarted]
    (started,) = of(CompactionStarted, events)
    assert (started.trigger, started.goes, started.stays) == ("auto", 64, 16)
    assert started.tokens > BUDGET / 2
    (finished,) = of(CompactionFinished, events)
    assert finished.result is not None
    assert finished.result.success
    assert end(events).text == "Hello."
    summary, answer = requests(talk)
    assert summary.tools == ()
    assert OUTLINE not in answer.system
    assert answer.messages[0].role == "user"
    assert answer.blocks()[0]["text"].endswith(f"{OUTLINE}\n</Summary>")
    assert violations(payload(summary, "m").body) == []
    assert violations(payload(answer, "m").body) == []
    assert of(TextDelta, events) == [TextDelta("Hello.")]  # the summary is not shown as an answer


def test_long_messages_need_room_too() -> None:
    talk = talk_with(OUTLINE, "Hello.", options=options(budget=9_500))
    assert of(CompactionStarted, run(talk, "short")) == []
    talk = talk_with(OUTLINE, "Hello.", options=options(budget=9_500))
    assert len(of(CompactionStarted, run(talk, "long " * 2_500))) == 1


def test_it_can_be_turned_off() -> None:
    talk = talk_with("Hello.", options=options(budget=BUDGET, auto_compact=False))
    assert of(CompactionStarted, run(talk, "And now?")) == []


def test_what_it_cost_is_part_of_what_the_turn_cost() -> None:
    text = {"type": "text", "text": OUTLINE}
    talk = talk_with(Answer((text,), "end_turn", SPENT), Answer((text,), "end_turn", SPENT))
    events = run(talk, "And now?")
    assert (end(events).usage, end(events).steps) == (SPENT + SPENT, 1)
    assert of(UsageSpent, events) == [UsageSpent(SPENT, 0), UsageSpent(SPENT, 1)]


def test_a_failing_compaction_does_not_fail_the_turn() -> None:
    talk = talk_with(ModelError("auth", "No key."), "Hello.")
    events = run(talk, "And now?")
    (finished,) = of(CompactionFinished, events)
    assert finished.result is not None
    assert "No key." in finished.result.error
    assert (end(events).reason, end(events).text) == ("done", "Hello.")


def test_neither_does_one_that_breaks(monkeypatch: pytest.MonkeyPatch) -> None:
    talk = talk_with("Hello.")

    async def compact(trigger: str) -> None:
        raise ZeroDivisionError("inside")

    monkeypatch.setattr(talk.compaction, "compact", compact)
    events = run(talk, "And now?")
    assert of(CompactionFinished, events) == [CompactionFinished(None)]
    (notice,) = of(Notice, events)
    assert notice.text == "The conversation was not compacted: ZeroDivisionError: inside"
    assert end(events).text == "Hello."


def test_countdowns_are_emitted() -> None:
    talk = talk_with(ModelError("overloaded", "Busy."), OUTLINE, "Hello.")
    events = run(talk, "And now?")
    assert [one.reason for one in of(RetryScheduled, events)] == ["Busy."]
    (finished,) = of(CompactionFinished, events)
    assert finished.result is not None
    assert finished.result.success


def test_the_model_that_is_connected_now_is_asked() -> None:
    talk = talk_with("never")
    talk.model = other = ScriptedModel(OUTLINE, "Hello.", name="other")
    assert end(run(talk, "And now?")).text == "Hello."
    assert len(other.requests) == 2


def test_an_empty_message_is_rejected_first() -> None:
    talk = talk_with(OUTLINE)
    before = talk.context.current_seq
    with pytest.raises(InvalidItemError):
        run(talk, " \n")
    assert (requests(talk), talk.context.current_seq) == ([], before)
    assert not talk.is_running


def last_words(talk: InteractionController) -> str:
    return talk.context.get_active()[-1].content


async def test_stopping_during_a_compaction_keeps_the_message() -> None:
    model, events = Waiting(), list[Event]()
    talk = talk_with(model=model)
    async for event in talk.run_turn("And now?"):
        events.append(event)
        if isinstance(event, CompactionStarted):
            await model.reached.wait()
            talk.stop()
    assert kinds(events) == [CompactionStarted, CompactionFinished, TurnStarted, TurnFinished]
    assert of(CompactionFinished, events) == [CompactionFinished(None)]
    assert end(events).reason == "stopped"
    assert last_words(talk) == "And now?"
    assert not any(item.is_summary for item in talk.context.get_all())
    assert not talk.context.ledger.under_way


async def test_stopping_before_the_start_keeps_the_message() -> None:
    for talk in (talk_with(OUTLINE, "Hello."), controller("Hello.")):
        asyncio.get_running_loop().call_soon(talk.stop)
        events = await say(talk, "And now?")
        assert kinds(events) == [TurnStarted, TurnFinished]
        assert last_words(talk) == "And now?"


def test_closing_the_iterator_keeps_the_message() -> None:
    async def leave() -> None:
        turn = talk.run_turn("And now?")
        listening = asyncio.create_task(cast(Coroutine[Any, Any, Event], anext(turn)))
        loop = asyncio.get_running_loop()
        loop.call_soon(talk.stop)  # before its task has begun
        loop.call_soon(listening.cancel)
        with pytest.raises(asyncio.CancelledError):
            await listening

    for talk in (talk_with(OUTLINE, "Hello."), controller("Hello.")):
        ended: list[TurnEnded] = []
        talk.context.subscribe(lambda e: ended.append(e) if isinstance(e, TurnEnded) else None)  # noqa: B023
        asyncio.run(leave())
        assert last_words(talk) == "And now?"
        assert (len(ended), talk.is_running) == (1, False)


async def test_by_hand_too_little_is_an_error() -> None:
    talk = controller(OUTLINE)
    with pytest.raises(NothingToCompactError):
        await talk.compact()
    assert not talk.is_running


async def test_a_turn_and_a_compaction_exclude_each_other() -> None:
    model = Waiting(OUTLINE, "Hello.")
    talk = talk_with(model=model)
    compacting = asyncio.create_task(talk.compact())
    await model.reached.wait()
    assert talk.is_running
    with pytest.raises(TurnRunningError, match="still working"):
        await say(talk, "And now?")
    with pytest.raises(TurnRunningError, match="still working"):
        await talk.compact()
    model.go.set()
    assert (await compacting).success
    model.go.clear()
    model.reached.clear()
    turn = asyncio.create_task(say(talk, "And now?"))
    await model.reached.wait()
    with pytest.raises(TurnRunningError, match="still working"):
        await talk.compact()
    model.go.set()
    assert end(await turn).text == "Hello."


@pytest.mark.parametrize("how", ["stop", "cancel"])
async def test_by_hand_it_can_be_stopped(how: str) -> None:
    model = Waiting()
    talk = talk_with(model=model)
    before = talk.context.current_seq
    compacting = asyncio.create_task(talk.compact())
    await model.reached.wait()
    if how == "stop":
        talk.stop()
        with pytest.raises(CompactionStoppedError, match="Nothing was changed"):
            await compacting
    else:
        compacting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await compacting
    await asyncio.sleep(0)
    assert (talk.context.current_seq, talk.is_running) == (before, False)


def test_with_the_offline_model_the_summary_is_an_outline() -> None:
    for lang in ("en", "zh"):
        headings = {"en": ["Goal", "Next step"], "zh": ["目标", "下一步"]}
        talk = talk_with(model=OfflineModel(), lang=lang)
        words = {"en": "We must sell milk next week.", "zh": "我们下周需要卖牛奶。"}
        first = talk.context.get_active()[1]
        talk.context.edit(first.id, words[lang])
        events = run(talk, "What is on my list?")
        (finished,) = of(CompactionFinished, events)
        assert finished.result is not None, lang
        assert finished.result.success, finished.result
        for heading in headings[lang]:
            assert f"## {heading}\n- {words[lang]}" in finished.result.summary, lang
        assert end(events).reason == "done", lang
        assert of(CompactionStarted, run(talk, "And now?")) == [], lang
