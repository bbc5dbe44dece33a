"""Compacting a context: what comes of it, and what if the model does not do its part."""

import asyncio
from collections.abc import AsyncIterator, Callable
from random import Random

import pytest

from contextui.agent.models.scripted import ScriptedModel, Step
from contextui.context.compaction.plan import FALLBACK, plan
from contextui.context.compaction.service import FUTILE, CompactionService, NothingToCompactError
from contextui.context.item import ContextItem, ItemType, is_conversation
from contextui.context.manager import ContextManager
from contextui.events import Compacted, CompactionResult, Event, Trigger, UsageReported
from contextui.model import Answer, ModelError, ModelEvent, ModelRequest
from contextui.tokens import TokenCounter, Usage
from contextui.windowing.manager import WindowManager
from tests.agent.talking import Interrupted, Waiting
from tests.context.compaction.long_talk import (
    OUTLINE,
    asked,
    random_talk,
    service_of,
    talk_of,
    tool_round,
)
from tests.context.conversation import Conversation, NotesWindow, rough_counter, specified, wire
from tests.context.test_properties import assert_whole_pairs
from tests.thorough import times

TEXT = {"type": "text", "text": "## Goal"}
FAILURES: dict[str, tuple[Step, str]] = {
    "fails": (ModelError("auth", "ANTHROPIC_API_KEY is not accepted."), "is not accepted"),
    "answers nothing": ("", "empty"),
    "answers too much": ("word " * 200_000, "too long"),
    "refuses": (Answer((TEXT,), "refusal"), "declined"),
    "is truncated": (Answer((TEXT,), "max_tokens"), "truncated"),
    "is full": (ModelError("too_large", "Too many tokens."), "Too many tokens"),
}


def compacted(service: CompactionService, trigger: Trigger = "manual") -> CompactionResult:
    return asyncio.run(service.compact(trigger))


def shown(talk: Conversation) -> str:
    return "\n".join(str(one.content) for one in talk.composed())


def bytes_of(talk: Conversation) -> bytes:
    return wire(talk.composed())


def test_a_summary_replaces_old_messages() -> None:
    talk = talk_of(50, "and some more words")
    service = service_of(talk, OUTLINE)
    before = talk.context.outlook().tokens
    result = compacted(service)
    assert (result.success, result.trigger, result.error) == (True, "manual", "")
    assert (result.pre_tokens, result.post_tokens) == (before, talk.context.outlook().tokens)
    assert result.post_tokens < result.pre_tokens / 3
    assert (result.messages, result.requests) == (80, 1)
    system, summary, *rest = talk.composed()
    assert (system.role, summary.role, len(rest)) == ("system", "user", 20)
    assert summary.content == f"<Summary>\n{result.summary}\n</Summary>"
    assert result.summary.endswith(OUTLINE)
    assert str(rest[0].content).startswith("question 41 ")


def test_each_undo_takes_one_compaction_back() -> None:
    talk = talk_of(20)
    states = [bytes_of(talk)]
    service = service_of(talk, *[OUTLINE] * 3)
    for number in range(3):
        compacted(service)
        states.append(bytes_of(talk))
        for later in range(4):
            talk.turn(f"later {number} {later}", "yes")
        for item in list(talk.context.get_active())[-8:]:
            talk.context.drop(item.id)
            talk.context.undo()
            talk.context.restore(item.id)
    assert sum(one.is_summary for one in talk.context.get_active()) == 1
    for _ in range(3):
        talk.context.undo()
    words = shown(talk)
    assert OUTLINE not in words
    assert all(f"question {number} " in words for number in range(1, 21))


def test_the_result_is_shown_in_one_line() -> None:
    result = CompactionResult(True, "auto", 102_400, 21_310, 96, ("a.py", "b\n.py"))
    line = (
        "Compacted 96 messages: 102,400 → 21,310 tokens, 79.2% less, with a.py, b .py. "
        "/undo restores them."
    )
    assert str(result) == line
    assert str(CompactionResult(True, "auto", 9, 3, 1)).startswith("Compacted 1 message: ")
    assert "102,400 → 21,310 个 token，减少 79.2%" in result.text("zh")
    failed = CompactionResult(False, "auto", 100, 40, 12, error="It failed.")
    for words in (str(failed), failed.text("zh")):
        assert "It failed." in words
        assert "/compact" in words
    unchanged = CompactionResult(False, "auto", 100, 100, error="It failed.")
    assert str(unchanged) == "Not compacted: It failed. The conversation is unchanged."
    assert unchanged.text("zh") == "没有压缩：It failed. 对话保持原样。"


def test_each_listener_gets_it_once() -> None:
    talk = talk_of(20)
    heard: list[Event] = []
    talk.context.subscribe(heard.append)
    result = compacted(service_of(talk, Answer((TEXT,), "end_turn", Usage(300, 20))), "auto")
    (event,) = [one for one in heard if isinstance(one, Compacted)]
    assert (event.trigger, len(event.item_ids)) == ("auto", 32)
    assert (event.pre_tokens, event.post_tokens) == (result.pre_tokens, result.post_tokens)
    (usage,) = [one for one in heard if isinstance(one, UsageReported)]
    assert usage.usage["input_tokens"] == 300
    assert result.usage == Usage(300, 20)


def test_windows_and_pins_are_there_afterwards() -> None:
    talk = talk_of(30)
    window = talk.open("what I noted")
    first = talk.context.get_active()[1]
    talk.context.pin(first.id)
    compacted(service_of(talk, OUTLINE))
    talk.say("and now?")
    words = shown(talk)
    assert "what I noted" in words
    assert first.content in words
    assert talk.context.ledger.live_references[0].content == window.id


def test_the_summary_stands_before_what_stays_also_where_windows_stand_in_place() -> None:
    talk = Conversation("in-place")
    talk.system("Be brief.")
    talk.open("a note")
    for number in range(20):
        talk.turn(f"question {number}", "yes")
    compacted(service_of(talk, OUTLINE))
    contents = [str(one.content) for one in talk.composed()]
    assert contents[0] == "Be brief."
    assert contents[1].endswith(f"{OUTLINE}\n</Summary>")
    assert talk.composed() == specified(talk)


def test_an_earlier_summary_is_part_of_the_next() -> None:
    talk = talk_of(30)
    service = service_of(talk, "## Goal\nThe first.", "## Goal\nThe second.")
    compacted(service)
    for number in range(30):
        talk.turn(f"later {number}", "yes")
    compacted(service)
    assert "The first." in str(asked(service)[1].blocks()[0]["text"])
    assert "The first." not in shown(talk)
    assert "The second." in shown(talk)


def test_it_is_due_at_four_fifths_of_the_budget() -> None:
    talk = talk_of(30)
    tokens = talk.context.outlook().tokens
    full = tokens * 5 // 4  # the largest budget of which this is four fifths, rounded down
    assert TokenCounter.should_compact(tokens, full)
    assert service_of(talk, budget=full).is_due()
    assert not service_of(talk, budget=full + 2).is_due()
    assert service_of(talk, budget=full + 2).is_due(coming=2)
    tools = CompactionService(talk.context, ScriptedModel(), full + 20, reserved=20)
    assert tools.is_due()


def test_what_the_provider_counts_is_what_counts() -> None:
    talk = talk_of(30)
    tokens = talk.context.outlook().tokens
    service = service_of(talk, budget=tokens * 3 // 2)
    assert not service.is_due()
    for _ in range(20):
        talk.context.report_usage(tokens, {"input_tokens": tokens * 2})
    assert service.is_due()


def test_it_is_not_due_if_nothing_can_go() -> None:
    talk = talk_of(2)
    assert not service_of(talk, budget=1_000).is_due(coming=900)
    for item in talk.context.get_active():
        talk.context.pin(item.id)
    assert not service_of(talk, budget=10).is_due()


def test_too_little_is_an_error() -> None:
    for rounds in (0, 1, 3):
        talk = talk_of(rounds)
        service = service_of(talk, OUTLINE)
        expected = "fewer than two messages" if not rounds else "nothing to compact yet"
        with pytest.raises(NothingToCompactError, match=expected):
            compacted(service)
        assert asked(service) == [], rounds
    single = Conversation()
    single.say("hello")
    with pytest.raises(NothingToCompactError, match="fewer than two messages"):
        compacted(service_of(single, OUTLINE))


def test_without_a_summary_the_newest_part_stays() -> None:
    for how, (step, words) in FAILURES.items():
        talk = talk_of(50, "and so on")
        before = bytes_of(talk)
        result = compacted(service_of(talk, *[step] * 9), "auto")
        assert not result.success, how
        assert words in result.error, how
        assert words in str(result), how
        assert "/compact" in str(result), how
        assert result.messages == 70, how
        _, note, *rest = talk.composed()
        assert len(rest) == 30, how
        assert words in str(note.content), how
        assert "/compact" in str(note.content), how
        assert note.content == f"<Summary>\n{result.summary}\n</Summary>", how
        assert result.post_tokens < result.pre_tokens, how
        talk.context.undo()
        assert bytes_of(talk) == before, how


def test_a_model_that_raises_anything_costs_the_summary_only() -> None:
    class Odd:
        name = "odd"

        async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
            if request.messages:
                raise ZeroDivisionError("key=sk-ant-api03-0123456789abcdef")
            yield Answer(())

    talk = talk_of(50)
    result = compacted(CompactionService(talk.context, Odd(), 128_000))
    assert not result.success
    assert "ZeroDivisionError" in result.error
    assert "0123456789abcdef" not in shown(talk) + result.error


def test_a_summary_that_is_longer_than_what_it_replaces_is_rejected() -> None:
    talk = talk_of(50)
    result = compacted(service_of(talk, "word " * 4_000))
    assert "longer than what it replaces" in result.error


def test_what_would_save_less_than_a_fifth_is_not_done() -> None:
    for step in (OUTLINE * 5, ""):
        for trigger in ("manual", "auto"):
            talk = talk_of(5)
            before = bytes_of(talk)
            result = compacted(service_of(talk, step), trigger)
            assert (result.success, result.messages, result.summary) == (False, 0, ""), (
                trigger,
                step,
            )
            assert "The conversation is unchanged." in str(result), (trigger, step)
            assert step == "" or "would save less than 20% (" in result.error, (trigger, step)
            assert bytes_of(talk) == before, (trigger, step)
            assert talk.context.undo() == [], (trigger, step)


def test_where_too_little_can_go_nobody_is_asked() -> None:
    talk = talk_of(5)
    talk.turn("a long question " * 60, "a long answer " * 60)
    service = service_of(talk, OUTLINE)
    with pytest.raises(NothingToCompactError, match="would save less than 20%"):
        service.check()
    result = compacted(service, "auto")
    assert (result.success, result.messages, result.requests) == (False, 0, 0)
    assert asked(service) == []


@pytest.mark.parametrize("failures", [1, 2])
def test_the_next_try_reads_what_was_left_out(failures: int) -> None:
    talk = talk_of(50)
    service = service_of(talk, *[""] * failures, OUTLINE)
    for _ in range(failures):
        assert not compacted(service).success
    result = compacted(service)
    assert result.success
    (*_, request) = asked(service)
    text = "\n".join(str(block["text"]) for block in request.blocks())
    places = [text.index(f"question {number}\n") for number in (1, 2, 35, 36, 40)]
    assert places == sorted(places)
    assert "left out without a summary" not in text
    assert "left out without a summary" not in shown(talk)


async def test_stopped_in_the_middle_it_has_changed_nothing() -> None:
    talk, model = talk_of(50), Waiting()
    before, seq = bytes_of(talk), talk.context.current_seq
    task = asyncio.create_task(CompactionService(talk.context, model, 128_000).compact())
    await model.reached.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (bytes_of(talk), talk.context.current_seq) == (before, seq)
    assert talk.context.undo() == []


@pytest.mark.parametrize("edit", ["pin", "drop", "edit"])
def test_edits_during_a_compaction_are_respected(edit: str) -> None:
    talk = talk_of(20)
    pair = tool_round(talk, "the pair")
    for number in range(30):
        talk.turn(f"later {number}", "yes")
    edits: dict[str, Callable[[], None]] = {
        "pin": lambda: talk.context.pin(pair[2].id),
        "drop": lambda: talk.context.drop(pair[1].id),
        "edit": lambda: talk.context.edit(pair[2].id, "it is different"),
    }
    model = Interrupted(OUTLINE, before=[edits[edit]])
    result = compacted(CompactionService(talk.context, model, 128_000))
    assert result.success
    assert pair[0].hidden == "compacted"
    states = {"pin": None, "drop": "dropped", "edit": None}
    assert [item.hidden for item in pair[1:3]] == [states[edit]] * 2
    assert_whole_pairs(talk.composed())


def test_if_nothing_is_left_to_go_nothing_goes() -> None:
    talk = talk_of(10)

    def pin_all() -> None:
        for item in talk.context.get_active():
            talk.context.pin(item.id)

    model = Interrupted(OUTLINE, before=[pin_all])
    service = CompactionService(talk.context, model, 128_000)
    with pytest.raises(NothingToCompactError, match="in the meantime"):
        compacted(service)
    assert not any(item.is_summary for item in talk.context.get_all())


def pinned_talk() -> Conversation:
    """A conversation that is mostly pinned."""
    talk = talk_of(8, "word " * 20)
    for number in range(10):
        talk.context.pin(talk.say("pinned " * 50).id)
        talk.turn(f"and {number}", "yes")
    return talk


def test_after_two_futile_tries_no_other_is_made_by_itself() -> None:
    talk = pinned_talk()
    service = service_of(talk, *[OUTLINE] * 20, budget=1_200)
    results = []
    for number in range(20):
        if service.is_due():
            results.append(compacted(service, "auto"))
        talk.turn(f"more {number}", "yes")
    assert len(results) == FUTILE
    assert [(one.is_futile, one.gave_up) for one in results] == [(True, False), (True, True)]
    assert "Automatic compaction is paused" in str(results[-1])
    assert "not be tried again" not in str(results[0])
    assert compacted(service).is_futile  # by hand it can be done at any time


def test_once_there_is_room_again_it_is_tried_again() -> None:
    talk = pinned_talk()
    service = service_of(talk, *[OUTLINE] * 20, budget=1_200)
    while service.is_due():
        compacted(service, "auto")
        for number in range(4):
            talk.turn(f"more {number}", "yes")
    for item in list(talk.context.get_active()):
        if item.pinned:
            talk.context.drop(item.id)
    assert not service.is_due()
    for _ in range(40):
        talk.turn("word " * 20, "yes")
    assert service.is_due()
    assert not compacted(service, "auto").is_futile


def test_whatever_the_conversation_there_is_room_afterwards() -> None:
    """Under four fifths of the budget, or what could not go takes more than that."""
    for chunk in range(5):
        for seed in range(chunk, 150, times(8, 1) * 5):
            dice = Random(seed)
            talk = random_talk(dice)
            talk.context.end_turn()
            before = wire(talk.composed())
            budget = dice.randrange(300, 8_000)
            step = dice.choice(["## Goal\nMilk.", "", "word " * 30_000])
            service = service_of(talk, *[step] * 50, budget=budget)
            try:
                result = compacted(service, "auto")
            except NothingToCompactError:
                continue
            assert_whole_pairs(talk.composed())
            assert talk.composed() == specified(talk), seed
            if not result.messages:
                assert not result.success, chunk
                assert wire(talk.composed()) == before, seed
                continue
            assert result.percent >= 19, seed
            share = {} if result.success else {"share": FALLBACK}
            after = plan(talk.context, **share, room=budget)
            if TokenCounter.should_compact(result.post_tokens, budget):
                assert result.is_futile, seed
                last = len(after.stays) - sum(item.pinned for item in after.stays)
                assert last <= 6 or not after.goes, seed
            talk.context.undo()
            assert wire(talk.composed()) == before, seed


def test_a_context_without_windows_can_be_compacted_too() -> None:
    context = ContextManager(counter=rough_counter())
    for number in range(20):
        context.add(ContextItem(ItemType.USER, f"question {number}"))
        context.add(ContextItem(ItemType.ASSISTANT, "yes"))
    service = CompactionService(context, ScriptedModel(OUTLINE), 128_000)
    assert compacted(service).success
    assert sum(map(is_conversation, context.get_active())) == 8


def test_it_speaks_the_language_of_the_windows() -> None:
    windows = WindowManager([NotesWindow], lang="zh")
    context = ContextManager(windows, counter=rough_counter())
    for _ in range(20):
        context.add(ContextItem(ItemType.USER, "问题"))
        context.add(ContextItem(ItemType.ASSISTANT, "回答"))
    model = ScriptedModel("", OUTLINE)
    service = CompactionService(context, model, 128_000)
    assert "已在没有总结的情况下省略" in compacted(service).summary
    assert "请总结" in str(model.requests[0].blocks()[-1]["text"])
    assert compacted(service).summary.startswith("到目前为止的对话总结")
