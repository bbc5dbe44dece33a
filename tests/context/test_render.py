"""Rendering: S0.4, S0.6, S0.8 and S0.12, in both placements."""

from typing import Any

import pytest

from contextui import ContextItem, ContextRenderer, ItemType, LlmMessage, RenderOptions
from tests.context.conversation import Conversation, wire
from tests.windowing.samples import LONG, Blocking, held, opened


def roles_and_starts(messages: list[LlmMessage]) -> list[str]:
    return [f"{one.role}: {str(one.content)[:21]}" for one in messages]


def test_windows_arrive_directly_before_the_persons_words() -> None:
    """S0.4: role user; the question comes last. A first request by price shows them there too."""
    talk = Conversation()
    talk.system("You work in windows.")
    talk.turn("hello", "hi")
    talk.open("a line")
    talk.say("what is on it?")
    assert roles_and_starts(talk.composed()) == [
        "system: You work in windows.",
        "user: hello",
        "assistant: hi",
        'user: <Window id="notes_1" ',
        "user: what is on it?",
    ]


def test_the_documents_own_example() -> None:
    """S0.12: in place, message for message (7.2)."""
    talk = Conversation("in-place")
    talk.system("你是 ContextUI 助手...")
    talk.say("创建一个待办列表")
    talk.send()
    talk.answer("好的，我来帮你创建...<tool_call>...</tool_call>")
    window = talk.open("买菜")
    talk.say("添加一个条目：买菜")
    talk.send()
    talk.answer("已添加...<tool_call>...</tool_call>")
    for messages in (
        talk.composed(),
        ContextRenderer().render(talk.context.get_all(), talk.windows),
    ):
        assert messages == [
            LlmMessage("system", "你是 ContextUI 助手..."),
            LlmMessage("user", "创建一个待办列表"),
            LlmMessage("assistant", "好的，我来帮你创建...<tool_call>...</tool_call>"),
            LlmMessage("user", window.to_xml()),
            LlmMessage("user", "添加一个条目：买菜"),
            LlmMessage("assistant", "已添加...<tool_call>...</tool_call>"),
        ]


def test_in_place_each_window_stands_at_its_seq() -> None:
    """S0.12: S0's own form."""
    talk = Conversation("in-place")
    talk.system("You work in windows.")
    talk.say("open it")
    window = talk.open("a line")
    talk.turn("hello", "hi")
    talk.write(window.id, "newer")
    messages = talk.composed()
    assert roles_and_starts(messages) == [
        "system: You work in windows.",
        "user: open it",
        'user: <Window id="notes_1" ',
        "user: hello",
        "assistant: hi",
    ]
    assert "newer" in str(messages[2].content), "live: fetched when it is rendered"


def test_a_later_step_adds_only_what_changed_inside_the_last_result() -> None:
    """S0.8: nothing that was sent is rewritten, a newer version is added."""
    talk = Conversation()
    talk.system("You work in windows. " * 400)  # more than the least that is cached
    talk.open("one")
    second = talk.open("two")
    talk.say("write three")
    sent = talk.send()
    talk.call(2)
    talk.result("the first result")
    talk.write(second.id, "three")
    talk.result("the second result")
    request = talk.send()
    assert request[: len(sent)] == sent
    results = request[-1].content
    assert [block["tool_use_id"] for block in results if isinstance(block, dict)] == [
        "call_1",
        "call_2",
    ]
    assert isinstance(results[0], dict)
    assert results[0]["content"] == "the first result"
    assert isinstance(results[1], dict)
    text, window = results[1]["content"]
    assert text == {"type": "text", "text": "the second result"}
    assert window["text"].startswith('<Window id="notes_2" version="2.0.0" since="1.0.0"')


def test_a_window_opened_within_a_turn_arrives_with_the_result_that_opened_it() -> None:
    talk = Conversation()
    talk.say("open a window")
    talk.send()
    talk.call(1)
    talk.open("new")
    talk.result("opened notes_1")
    assert "notes_1" in str(talk.composed()[-1].content)
    assert talk.composed()[-1].role == "user"


def test_a_finished_turn_takes_its_final_form_once() -> None:
    talk = Conversation("in-place")
    talk.say("go")
    talk.send()
    talk.call(1, "I will", "thinking aloud")
    talk.result("the whole file", gist="[read] file.py")
    assert "thinking aloud" in wire(talk.send()).decode()
    talk.answer("done")
    talk.context.end_turn()
    final = wire(talk.composed())
    text = final.decode()
    assert "thinking" not in text
    assert "the whole file" not in text
    assert "[read] file.py" in text
    talk.say("more")
    assert wire(talk.composed()).startswith(final)


def test_without_a_turn_windows_stand_at_the_end() -> None:
    talk = Conversation()
    talk.turn("hello", "hi")
    talk.open("a")
    assert roles_and_starts(talk.composed())[-1] == 'user: <Window id="notes_1" '


def test_words_that_come_between_a_call_and_its_result_go_behind_it() -> None:
    """S2.9"""
    talk = Conversation()
    talk.say("go")
    talk.send()
    talk.call(1)
    talk.say("and hurry")
    talk.result("done")
    assert roles_and_starts(talk.composed())[-3:] == [
        "assistant: ({'type': 'tool_use',",
        "user: ({'type': 'tool_resul",
        "user: and hurry",
    ]


async def test_a_late_window_goes_along_once_it_is_drawn() -> None:
    talk = Conversation()
    window = opened(talk.windows, Blocking)
    await talk.windows.settle(LONG)
    talk.turn("words", "answer")
    with held(window, "content"):
        await talk.windows.act(window.id, "up")
        assert str(talk.composed()).count("<Window ") == 1
    await talk.windows.settle(LONG)
    assert "Full: 1" in str(talk.composed()[-1].content)


def test_a_window_item_whose_window_is_gone_is_skipped() -> None:
    """S0.4"""
    items = [ContextItem(ItemType.USER, "hi", seq=1), ContextItem(ItemType.WINDOW, "gone_1", seq=2)]
    windows = Conversation().windows
    assert ContextRenderer().render(items, windows) == [LlmMessage("user", "hi")]


def test_options_leave_out_the_system_prompt_and_show_the_obsolete() -> None:
    """S0.4, S0.6: a closed window shows its last render."""
    talk = Conversation()
    talk.system("You work in windows.")
    window = talk.open("its last line")
    dropped = talk.say("dropped words")
    talk.context.drop(dropped.id)
    talk.windows.close(window.id)
    talk.say("hi")
    items = talk.context.get_all()
    plain = RenderOptions(include_system_prompt=False)
    everything = RenderOptions(include_obsolete=True)
    renderer = ContextRenderer()
    assert renderer.render(items, talk.windows, plain) == [LlmMessage("user", "hi")]
    shown = renderer.render(items, talk.windows, everything)
    assert [one.role for one in shown] == ["system", "user", "user", "user"]
    assert "its last line" in str(shown[1].content)
    assert shown[2].content == "dropped words"


def test_a_budget_that_is_no_positive_number_is_refused() -> None:
    cases: list[Any] = [0, -1, 1.5, "100", True]
    for budget in cases:
        with pytest.raises(ValueError, match="A budget is a positive number of tokens, not"):
            RenderOptions(max_tokens=budget)


def test_the_text_protocols_results_are_words_with_windows_behind_them() -> None:
    talk = Conversation()
    window = talk.open("a")
    talk.say("go")
    talk.send()
    talk.answer('<tool_call>{"name": "action"}</tool_call>')
    talk.write(window.id, "b")
    talk.context.add(ContextItem(ItemType.TOOL, "Line 2"))
    assert roles_and_starts(talk.composed())[-3:] == [
        'assistant: <tool_call>{"name": "',
        "user: Line 2",
        'user: <Window id="notes_1" ',
    ]


def test_an_empty_result_says_so_and_an_error_is_marked() -> None:
    talk = Conversation()
    talk.say("go")
    talk.call(2)
    talk.result("")
    talk.result("no such window", is_error=True)
    content = talk.composed()[-1].content
    assert not isinstance(content, str)
    empty, error = content
    assert isinstance(empty, dict)
    assert isinstance(error, dict)
    assert empty["content"] == "(no output)"
    assert "is_error" not in empty
    assert error["is_error"] is True
