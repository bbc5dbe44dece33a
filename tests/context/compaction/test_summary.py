"""Asking for a summary: what the model is given to read, and what of its answer counts."""

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest

from contextui.agent.cache_marks import payload
from contextui.agent.models.scripted import ScriptedModel, Step
from contextui.context.compaction.plan import FileText
from contextui.context.compaction.summary import (
    Asker,
    NoSummaryError,
    Summarizer,
    Summary,
    shown_files,
)
from contextui.context.item import SUMMARY, ContextItem, ItemType
from contextui.model import Answer, Model, ModelError, ModelEvent, ModelRequest, TextDelta
from contextui.tokens import Usage
from contextui.words import Lang
from tests.agent.shapes import violations
from tests.context.compaction.long_talk import OUTLINE
from tests.context.conversation import rough_counter


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


def user_item(words: str) -> ContextItem:
    return ContextItem(ItemType.USER, words)


def answered(words: str) -> ContextItem:
    return ContextItem(ItemType.ASSISTANT, words)


def summarizer(model: Model, room: int = 100_000, lang: Lang = "en") -> Summarizer:
    return Summarizer(Asker(model, rough_counter()), room, max_tokens=1_000, lang=lang)


def ask(
    *steps: Step,
    items: Sequence[ContextItem] = (user_item("Add milk."), answered("Done.")),
    files: Sequence[FileText] = (),
    room: int = 100_000,
    lang: Lang = "en",
) -> tuple[Summary, list[ModelRequest]]:
    """A summary, and what was asked for it. Each request is one that a provider takes."""
    model = ScriptedModel(*steps)
    summary = asyncio.run(summarizer(model, room, lang).summarize(items, files))
    for request in model.requests:
        assert violations(payload(request, "m").body) == []
        assert request.tools == ()
        assert {block["type"] for block in request.blocks()} == {"text"}
    return summary, model.requests


def words_of(request: ModelRequest) -> str:
    return "\n".join(str(block["text"]) for block in request.blocks())


def tokens_of(request: ModelRequest) -> int:
    return rough_counter().count(request.system) + rough_counter().count_messages(request.messages)


def test_a_fixed_outline_is_asked_for() -> None:
    cases: list[tuple[Lang, list[str]]] = [
        ("en", ["Goal", "Decisions", "Files", "Open ends", "Next step"]),
        ("zh", ["目标", "决定", "文件", "未完成的事", "下一步"]),
    ]
    for lang, headings in cases:
        summary, (request,) = ask(OUTLINE, lang=lang)
        last = str(request.blocks()[-1]["text"])
        assert [line[3:] for line in last.splitlines() if line.startswith("## ")] == headings, lang
        assert summary.text.endswith(OUTLINE), lang
        assert request.max_tokens == 1_000, lang


def test_calls_and_results_are_written_as_text() -> None:
    call = {"type": "tool_use", "id": "c", "name": "read_file", "input": {"path": "牛奶.txt"}}
    thinking = {"type": "thinking", "thinking": "secret thoughts", "signature": "s"}
    items = [
        user_item("Read it."),
        ContextItem(ItemType.ASSISTANT, "I look.", blocks=[thinking, text("I look."), call]),
        ContextItem(ItemType.TOOL, "a long text " * 1_000, tool_call_id="c"),
        ContextItem(ItemType.TOOL, "whole text", tool_call_id="d", gist="[read] x.txt (3 lines)"),
        ContextItem(ItemType.TOOL, "no such file", tool_call_id="e", is_error=True),
        ContextItem(ItemType.ASSISTANT, blocks=[thinking]),
    ]
    _, (request,) = ask(OUTLINE, items=items)
    text_sent = words_of(request)
    assert 'I look.\n[read_file {"path": "牛奶.txt"}]\n→ a long text' in text_sent
    assert "more characters left out" in text_sent
    assert "→ [read] x.txt (3 lines)\n→ failed: no such file" in text_sent
    assert "secret thoughts" not in text_sent
    assert "whole text" not in text_sent
    assert [one.role for one in request.messages] == ["user", "assistant", "user"]


def test_an_earlier_summary_is_given_as_such() -> None:
    earlier = ContextItem(ItemType.SYSTEM, "There was milk.", id=f"{SUMMARY}1")
    _, (request,) = ask(OUTLINE, items=[answered("Yes."), earlier])
    first = str(request.blocks()[0]["text"])
    assert first == "Summary of the earlier conversation:\nThere was milk."


def test_files_are_given_with_the_last_piece() -> None:
    files = [FileText("a.py", "print(1)"), FileText("b.py", "x = 2\n" * 90_000)]
    items = [user_item("word " * 3_000) for _ in range(12)]
    summary, requests = ask(*[OUTLINE] * 12, items=items, files=files, room=10_000)
    given = ['{"path": "a.py"}' in words_of(one) for one in requests]
    assert given == [*[False] * 11, True]
    assert summary.files == ("a.py", "b.py")
    assert "more characters left out" in words_of(requests[-1])
    assert tokens_of(requests[-1]) < 10_000


def test_each_file_has_its_share_of_the_room() -> None:
    files = [FileText(f"{name}.py", f"{name} = 1\n" * 9_000) for name in "abc"]
    summary, (request,) = ask(OUTLINE, files=files, room=4_000)
    assert summary.files == ("a.py", "b.py", "c.py")
    counts = [words_of(request).count(f"{name} = 1") for name in "abc"]
    assert min(counts) > 200
    assert max(counts) < min(counts) * 1.2


def test_files_for_which_there_is_no_room_are_not_among_them() -> None:
    large = FileText("large.py", "x = 1\n" * 9_000)
    small = FileText("small.py", "y")
    assert shown_files([large, large], rough_counter(), 20) == []
    shown = shown_files([large, small], rough_counter(), 30)
    assert [one for one, _ in shown] == [small]


def test_what_is_too_much_for_one_request_goes_in_pieces() -> None:
    for room in (1_000, 3_000, 40_000):
        items = [user_item(f"words {number} " * 60) for number in range(80)]
        steps = [f"## Goal\nSummary {number}" for number in range(100)]
        summary, requests = ask(*steps, items=items, room=room)
        assert all(tokens_of(request) <= room for request in requests), room
        assert (len(requests) > 1) == (room < 40_000), room
        for number, request in enumerate(requests[1:]):
            assert f"Summary {number}\n" in words_of(request), (
                room
            )  # each goes on with the one before
        assert summary.text.endswith(f"Summary {len(requests) - 1}"), room
        everything = "\n".join(map(words_of, requests))
        assert all(f"words {number} " in everything for number in range(80)), room


def test_one_message_that_is_too_long_is_cut() -> None:
    _, (request,) = ask(OUTLINE, items=[user_item("长" * 19_000)], room=2_000)
    assert tokens_of(request) <= 2_000
    assert "more characters left out" in words_of(request)


def test_whatever_the_conversation_can_be_sent() -> None:
    lone = {"type": "tool_use", "id": "c", "name": "x", "input": {"n": float("nan"), "s": "\ud800"}}
    items = [
        user_item("a\0b \ud800 \ud83d\ude00"),
        ContextItem(ItemType.ASSISTANT, "", blocks=[lone]),
        ContextItem(ItemType.TOOL, "", tool_call_id="c"),
        answered("ends in white space \n\t "),
    ]
    ask(OUTLINE, items=items, files=[FileText("\udcff.txt", "\0\udcff")])
    ask(OUTLINE, items=[user_item(" ")])
    ask(OUTLINE, items=[answered("first")])


UNUSABLE: list[tuple[Step, str]] = [
    ("", "empty"),
    (" \n", "empty"),
    (Answer(()), "empty"),
    (Answer(({"type": "thinking", "thinking": "hm", "signature": "s"},)), "empty"),
    (Answer((text("No."),), "refusal"), "declined"),
    (Answer((text("## Goal"),), "max_tokens"), "truncated"),
]


def test_an_answer_that_is_no_summary_is_none() -> None:
    for step, words in UNUSABLE:
        with pytest.raises(NoSummaryError, match=words):
            ask(step)


def test_a_failure_is_reported_unchanged() -> None:
    with pytest.raises(ModelError, match="Nobody is there"):
        ask(ModelError("connection", "Nobody is there."))


def test_a_stream_that_breaks_off_is_no_summary() -> None:
    class Broken:
        name = "broken"

        async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
            yield TextDelta("## Goal")

    with pytest.raises(NoSummaryError, match="incomplete"):
        asyncio.run(summarizer(Broken()).summarize([user_item("x")], []))


TOO_LARGE = ModelError("too_large", "Too many tokens.")
FULL = Answer((text("## Go"),), "model_context_window_exceeded")


def test_a_request_that_is_too_large_after_all_is_made_smaller() -> None:
    for refusal in (TOO_LARGE, FULL):
        items = [user_item(f"words {number} " * 60) for number in range(40)]
        _, requests = ask(refusal, *[OUTLINE] * 20, items=items)
        assert len(requests) > 2, refusal
        assert all(tokens_of(one) <= tokens_of(requests[0]) // 2 for one in requests[1:]), refusal


def test_there_is_an_end_to_that() -> None:
    for refusal in (TOO_LARGE, FULL):
        model = ScriptedModel(*[refusal] * 20)
        with pytest.raises((ModelError, NoSummaryError)):
            asyncio.run(summarizer(model).summarize([user_item("word " * 4_000)] * 9, []))
        assert len(model.requests) == 4, refusal
        assert len({words_of(one) for one in model.requests}) == 4, (
            refusal
        )  # the same is never sent twice


def test_what_it_costs_is_counted_and_reported_even_if_nothing_comes_of_it() -> None:
    usage, reported = Usage(100, 20), []
    steps = [Answer((text("One."),), "end_turn", usage), Answer((), "end_turn", usage)]
    asking = summarizer(ScriptedModel(*steps), room=2_000)
    asking.asker.report = lambda counted, figures: reported.append((counted, figures))
    with pytest.raises(NoSummaryError):
        asyncio.run(asking.summarize([user_item("word " * 700) for _ in range(2)], []))
    assert (asking.asker.requests, asking.asker.usage) == (2, Usage(200, 40))
    assert [figures["input_tokens"] for _, figures in reported] == [100, 100]
    assert all(500 < counted < 2_000 for counted, _ in reported)
