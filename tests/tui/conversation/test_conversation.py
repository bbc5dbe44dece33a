"""The conversation: what is shown of it, live and after a resume."""

import asyncio
import re
import threading
from pathlib import Path
from typing import Any, ClassVar

import pytest
from textual import events
from textual.pilot import Pilot

from contextui import Lod, Window
from contextui.agent.models.scripted import ScriptedModel, Step, call
from contextui.agent.prompt import is_said
from contextui.context.item import ContextItem, ItemType
from contextui.errors import ActionError
from contextui.events import (
    AnswerDiscarded,
    CallFinished,
    CallStarted,
    Event,
    Notice,
    TurnFinished,
    TurnStarted,
)
from contextui.model import ModelError, TextDelta, ThinkingDelta
from contextui.names import BESIDE
from contextui.session.code.store import CodeStore
from contextui.tui.conversation.entries import (
    LONGEST,
    AsideLine,
    Called,
    CallLine,
    ModelMessage,
    ModelWords,
    PersonMessage,
    Thought,
    YourWords,
    called,
    entries_of,
)
from contextui.tui.conversation.input import InputArea
from contextui.tui.conversation.pane import Conversation
from contextui.tui.conversation.welcome import Welcome
from contextui.windows.todo.window import TodoWindow
from contextui.words import Words
from tests.tui.running import (
    app_of,
    desk_in,
    desk_of,
    lines,
    noted,
    prompt,
    running,
    say,
    shown,
    until,
)
from tests.tui.sharing import SharedChat


def pane(pilot: "Pilot[int]") -> Conversation:
    return pilot.app.screen.query_one(Conversation)


def test_entries_show_messages_and_calls() -> None:
    use = call("action", window_id="todo_1", action_id="add", params={"text": ["milk", "eggs"]})
    items = [
        ContextItem(ItemType.SYSTEM, "Rules."),
        ContextItem(ItemType.USER, "Add them."),
        ContextItem(ItemType.ASSISTANT, "Yes.", blocks=[{"type": "text", "text": "Yes."}, use]),
        ContextItem(ItemType.WINDOW, "todo_1"),
        ContextItem(ItemType.TOOL, "Added 2.", tool_call_id=use["id"]),
        ContextItem(ItemType.USER, "(Meanwhile the person did: todo_1.add.)"),
        ContextItem(
            ItemType.USER, "(The person did this since your last step: x.)", id=BESIDE + "x"
        ),
        ContextItem(ItemType.TOOL, "of nobody", tool_call_id="x"),
    ]
    assert entries_of(items, Words("en"), {}) == [
        PersonMessage("Add them."),
        ModelMessage("Yes."),
        Called("todo_1.add", "milk, eggs", CallFinished(0, "", True, "Added 2.")),
        Notice("(Meanwhile the person did: todo_1.add.)"),
    ]


@pytest.mark.parametrize(
    ("name", "given", "title", "what"),
    [
        ("create", {"name": "todo", "args": {"items": ["a"]}}, "create todo", "a"),
        ("read_file", {"path": "a.py"}, "read_file", "a.py"),
        ("action", {"window_id": "w_1"}, "action", "w_1"),
        ("strange", "text", "strange", ""),
        ("strange", {"keep": True}, "strange", "keep=true"),  # X34
        ("strange", {"command": "ls", "seconds": 60}, "strange", "ls  seconds=60"),
        ("action", {"window_id": "w_1", "action_id": "go", "params": None}, "w_1.go", ""),
    ],
)
def test_calls_are_named_by_what_they_do(name: str, given: Any, title: str, what: str) -> None:
    assert called(name, given) == Called(title, what)


@pytest.mark.parametrize("size", [(80, 24)])
async def test_a_turn_is_shown_as_it_happens(pilot: "Pilot[int]", chat: SharedChat) -> None:
    chat.answer(
        ["I **open** it.", call("create", name="todo", args={"items": ["milk"]})],
        call("action", window_id="todo_9", action_id="add"),
        "Done.",
    )
    await say(pilot, "a list, please")
    for text in ("a list, please", "I open it.", "✓ create todo", "milk", "Done."):
        await until(pilot, lambda text=text: shown(pilot, text))  # type: ignore[misc]
    assert shown(pilot, "✗ todo_9.add")
    assert shown(pilot, 'There is no window "todo_9"')


@pytest.mark.long
async def test_a_call_unfolds_by_click_and_by_key(pilot: "Pilot[int]", chat: SharedChat) -> None:
    chat.answer(call("create", name="todo"), "Done.")
    await say(pilot, "a list")
    # The answer moves the call upwards, away from a click that comes before it.
    await until(pilot, lambda: any(line.startswith("  Done.") for line in lines(pilot)))
    assert not shown(pilot, "Opened todo_")
    await pilot.click(CallLine)
    await until(pilot, lambda: shown(pilot, "Opened todo_"))
    await pilot.click(CallLine)
    await until(pilot, lambda: not shown(pilot, "Opened todo_"))
    pane(pilot).focus()
    await pilot.press("enter")
    await until(pilot, lambda: shown(pilot, "Opened todo_"))


async def test_why_a_turn_failed_is_shown_and_enter_tries_it_once_more(
    pilot: "Pilot[int]", chat: SharedChat
) -> None:
    cut = ModelError("auth", "The answer broke off.")
    looking: Step = ["I look.", call("read_file", path="x")]

    def sent() -> list[tuple[str, str | None]]:
        return [(one.content, one.hidden) for one in chat.said if is_said(one)]

    chat.answer(cut, "Here I am.", looking, cut, "So.")
    await say(pilot, "hello?")
    assert shown(pilot, "The answer broke off. Enter to retry, ↑ to edit.")
    await pilot.press("enter")
    await until(pilot, lambda: shown(pilot, "Here I am."))
    assert sent() == [("hello?", "dropped"), ("hello?", None)]
    await pilot.press("enter")  # nothing failed, so there is nothing to try again
    await say(pilot, "read x")
    await pilot.press("enter")
    await until(pilot, lambda: shown(pilot, "So."))
    assert sent()[2:] == [("read x", None), ("Go on.", None)]


async def _resume(pilot: "Pilot[int]", chat: SharedChat, turns: int) -> None:
    """Show a conversation as if it was resumed."""
    context = chat.desk.session.context
    for number in range(turns):
        context.add(ContextItem(ItemType.USER, f"question {number}."))
        context.add(ContextItem(ItemType.ASSISTANT, f"answer {number}."))
    pane(pilot).before = entries_of(context.get_all(), Words("en"), {})[-2 * turns :]
    pane(pilot)._show_first()
    await until(pilot, lambda: shown(pilot, f"answer {turns - 1}."))


def _numbers(pilot: "Pilot[int]") -> set[int]:
    """The turns of which something is in view."""
    found = (re.search(r"(?:question|answer) (\d+)\.", one) for one in lines(pilot))
    return {int(one[1]) for one in found if one}


async def test_page_by_page_all_of_a_resumed_conversation_can_be_read(
    pilot: "Pilot[int]", chat: SharedChat
) -> None:
    """X24: pages go on above what is loaded. G17: little is, once the view is at the end."""
    await _resume(pilot, chat, 60)
    assert len(pane(pilot)._widgets) == 30
    await pilot.press("h")
    presses = 0
    for key, end in (("pageup", 0), ("pagedown", 59)):
        seen = now = _numbers(pilot)
        while end not in now:
            before, presses = now, presses + 1
            await pilot.press(key)
            await until(pilot, lambda: _numbers(pilot) != before)  # noqa: B023
            now = _numbers(pilot)
            seen |= now
            assert pane(pilot).new_below == 0  # X23
        assert seen == set(range(60))
    assert presses < 26
    assert prompt(pilot).text == "h"
    for place in (prompt(pilot), pane(pilot)):
        place.focus()
        for key, end in (("ctrl+home", 0), ("ctrl+end", 59)):
            await pilot.press(key)
            await until(pilot, lambda: end in _numbers(pilot))  # noqa: B023
    await pilot.press("home")
    await until(pilot, lambda: 0 in _numbers(pilot))
    pane(pilot).handle(TextDelta("\n\n".join("Far below.")))
    await until(pilot, lambda: shown(pilot, "─ ctrl+end ↓ 18 new lines"))
    prompt(pilot).say("/close nothing")
    await until(pilot, lambda: pane(pilot).follows and shown(pilot, "There is no window"))
    pane(pilot).handle(TurnStarted("question 60.", "1"))
    assert len(pane(pilot)._widgets) == 31
    assert [one.text for one in pane(pilot).entries] == [  # type: ignore[union-attr]
        *[f"{kind} {number}." for number in range(60) for kind in ("question", "answer")],
        *("\n\n".join("Far below."), 'There is no window "nothing". Open windows: none.'),
        "question 60.",
    ]


async def test_words_are_found_in_the_whole_conversation(
    pilot: "Pilot[int]", chat: SharedChat
) -> None:
    """X24: also where nothing is loaded yet; esc returns to where one was."""
    await _resume(pilot, chat, 60)
    await pilot.press("d", "r", "a", "f", "t", "pageup")
    await until(pilot, lambda: not shown(pilot, "answer 59."))
    before = [one[:60].rstrip() for one in lines(pilot)]
    await pilot.press("ctrl+f", *"QUESTION", "space", "3")
    for keys, number, question in (
        ([], 1, 39),
        (["up"], 2, 38),
        (["ctrl+f"], 3, 37),
        (["down", "down", "down"], 11, 3),
    ):
        await pilot.press(*keys)
        await until(pilot, lambda: shown(pilot, f"{number} of 11"))  # noqa: B023
        await until(pilot, lambda: shown(pilot, f"question {question}."))  # noqa: B023
        (hit,) = pane(pilot).query(".-found").results(YourWords)
        assert hit.entry == PersonMessage(f"question {question}.")
    assert len(pane(pilot).children) < 100
    await pilot.press("escape")
    await until(pilot, lambda: [one[:60].rstrip() for one in lines(pilot)] == before)
    assert not pane(pilot).query(".-found")
    await pilot.press("ctrl+f", *"question", "space", "7", ".", "enter")
    await until(pilot, lambda: prompt(pilot).text == "draft")
    assert shown(pilot, "question 7.")
    await pilot.press("ctrl+f", "z", "z", "q")
    await until(pilot, lambda: shown(pilot, "No message contains it."))
    await pilot.press("escape")
    pane(pilot).handle(TextDelta("An answer far below."))
    assert shown(pilot, "question 7.")
    pane(pilot).handle(TurnFinished("done"))
    pane(pilot).focus()
    await pilot.press("end")
    await until(pilot, lambda: shown(pilot, "An answer far below."))


async def test_five_megabytes_are_streamed_and_the_screen_stays_usable(pilot: "Pilot[int]") -> None:
    pane(pilot).handle(TurnStarted("much", "1"))
    piece = "many words " * 10_000
    for _ in range(5_000_000 // len(piece)):
        pane(pilot).handle(TextDelta(piece))
    answer = pane(pilot).query_one(ModelWords)
    await until(pilot, lambda: "more characters" in str(answer.border_subtitle))
    assert len(answer.source) <= LONGEST
    pane(pilot).handle(TurnFinished("done"))
    await pilot.press("h", "i")
    assert shown(pilot, "hi")


HOSTILE = [
    "[/foo] [/] [/",
    "[@click=app.quit]x[/]",
    "\x1b]52;c;aGk=\x07 \x9b31m",
    "\x1b]0;owned\x07",
    "a\u202eb\u2066c",
]


@pytest.mark.parametrize("size", [(120, 80)])
async def test_no_message_can_act(pilot: "Pilot[int]") -> None:
    for payload in HOSTILE:
        call = {"window_id": payload, "action_id": payload, "params": {}}
        events: list[Event] = [
            TurnStarted(payload, "1"),
            ThinkingDelta(payload),
            TextDelta(payload),
            CallStarted(1, "action", call),
            CallFinished(1, "action", False, payload),
            TurnFinished("failed", explanation=payload),
        ]
        for event in events:
            pane(pilot).handle(event)
    await until(pilot, lambda: len(pane(pilot).query(ModelWords)) == len(HOSTILE))
    await until(pilot, lambda: all(one.source for one in pane(pilot).query(ModelWords)))
    await pilot.pause()
    text = "\n".join(lines(pilot))
    assert text.count("Enter to retry") == len(HOSTILE)
    assert not set(text) & set("\x1b\x07\x9b\u202e\u2066")
    assert pilot.app.is_running


async def test_what_a_summary_stands_for_is_there_when_the_app_goes_on(tmp_path: Path) -> None:
    desk = desk_in(tmp_path)
    context = desk.session.context
    for number in range(4):
        context.add(ContextItem(ItemType.USER, f"question {number}"))
        context.add(ContextItem(ItemType.ASSISTANT, f"answer {number}"))
    context.end_turn()
    sent = [one for one in context.get_active() if one.type is not ItemType.SYSTEM]
    context.compact(sent[:4], "They talked.", trigger="strategy")
    desk.close()
    again = desk_in(tmp_path, session_id=desk.session.id)
    assert again.session.has_older_items
    async with running(again) as pilot:
        await until(pilot, lambda: len(pane(pilot).query(YourWords)) == 4)
        await until(pilot, lambda: shown(pilot, "question 0") and shown(pilot, "answer 3"))
        texts = [str(one.render()) for one in pane(pilot).query(YourWords)]
        assert texts == [f"question {number}" for number in range(4)]


async def test_what_the_model_thinks_stands_in_a_line_that_unfolds(pilot: "Pilot[int]") -> None:
    for event in (TurnStarted("hi", "1"), ThinkingDelta("First this,\nthen "), *[
        ThinkingDelta("that. ")] * 30, TextDelta("Done.")):  # fmt: skip
        pane(pilot).handle(event)
    await until(pilot, lambda: shown(pilot, "· thinking") and shown(pilot, "Done."))
    assert not shown(pilot, "First this,")
    await pilot.click(Thought)
    await until(pilot, lambda: shown(pilot, "First this,"))
    for event in (ThinkingDelta("Once more."), AnswerDiscarded("cut")):
        pane(pilot).handle(event)
    await until(pilot, lambda: len(pane(pilot).query(Thought)) == 1)


async def test_many_lines_of_yours_are_shown_by_a_click(pilot: "Pilot[int]") -> None:
    pane(pilot).handle(TurnStarted("\n".join(f"line {n}." for n in range(1, 501)), "1"))
    await until(pilot, lambda: shown(pilot, "… 488 more lines, click to show"))
    assert shown(pilot, "line 12.")
    assert not shown(pilot, "line 13.")
    await pilot.click(YourWords)
    await until(pilot, lambda: shown(pilot, "line 500."))


async def test_an_answer_is_copied_and_its_code_is_saved_by_one_key(
    pilot: "Pilot[int]", chat: SharedChat
) -> None:
    """R8: it is the person's own act, so nothing is asked; the code window lists it."""
    code = "def draw_chart(data):\n" + "    plot(data)\n" * 12
    answer = f"Here:\n```python\n{code}```\nDone."
    chat.answer(answer, "Nothing to keep.")
    desk = chat.desk
    pane(pilot).action_copy()
    assert pilot.app.clipboard == ""  # there is no answer yet
    await say(pilot, "a chart, please")
    await until(pilot, lambda: shown(pilot, "Done."))
    pane(pilot).focus()
    await pilot.press("ctrl+y", "ctrl+s")
    await until(pilot, lambda: shown(pilot, "Saved code_draw_chart."))
    assert pilot.app.clipboard == answer  # as it was written
    workspace = desk.session.windows.workspace
    assert workspace is not None
    assert CodeStore.of(workspace).read("code_draw_chart") == code
    window = desk.session.windows.open("code")
    assert 'id="code_draw_chart"' in window.to_xml()
    await pilot.press("ctrl+s")
    await until(pilot, lambda: shown(pilot, "This code is already saved."))
    assert [one.code_id for one in CodeStore.of(workspace).list()] == ["code_draw_chart"]
    await say(pilot, "thanks")
    pane(pilot).focus()
    await pilot.press("ctrl+y", "ctrl+s")
    await until(pilot, lambda: pilot.app.clipboard == "Nothing to keep.")  # the last one
    await until(pilot, lambda: shown(pilot, "no code block of more than 10 lines"))


class Away(Window):
    """Does not open, once it is let."""

    name: ClassVar = "away"
    may_fail: ClassVar = threading.Event()

    async def opened(self) -> None:
        while not self.may_fail.is_set():
            await asyncio.sleep(0.01)
        raise ActionError("No such server.")

    def content(self, lod: Lod) -> str:
        return ""


async def test_a_window_that_does_not_open_says_why(tmp_path: Path) -> None:
    """X10: to the person, where they asked for it, and to the model with its next step.

    X36, X37: what the model opens says so; one that did not open uses up no number.
    """
    Away.may_fail.clear()
    model = ScriptedModel([call("create", name="away"), call("create", name="todo")], "So.")
    desk = desk_in(tmp_path, model=model, windows=[Away, TodoWindow])
    async with running(desk) as pilot:
        app_of(pilot).main.run_command("/open away")
        await until(pilot, lambda: noted(pilot, "Opening away_1…"))
        Away.may_fail.set()
        await until(pilot, lambda: noted(pilot, "away_1 did not open: No such server."))
        await say(pilot, "And now?")
        assert "Did not open and is closed: away_1. No such server." in str(model.requests[0])
        assert shown(pilot, "✗ create away        No such server.")
        await until(pilot, lambda: shown(pilot, "◆ model"))
        assert desk.session.windows.numbers == {"away": 1, "todo": 1}


async def test_clicks_on_what_is_gone_and_events_while_the_app_closes_are_ignored(
    tmp_path: Path,
) -> None:
    async with running(desk_in(tmp_path, "Yes.")) as pilot:
        await say(pilot, "Is it?")
        main = app_of(pilot).main
        there = pane(pilot)
        with app_of(pilot).batch_update():  # what was removed is still on the screen
            x, y = there.query_one(YourWords).region.offset
            await there.query(YourWords).remove()
            main._forward_event(events.MouseDown(None, x, y, 0, 0, 1, False, False, False, x, y))
        await there.query_one(Welcome).remove()
        for event in EVENTS:
            there.handle(event)
        await there.remove()
        for event in EVENTS:
            there.handle(event)
            main.handle(event)
        there.note("late")
        there.offer_earlier()
        another = Conversation(main.words, tmp_path, desk_of(pilot))
        another.note("early")  # X01
        await main.query_one("#chat").mount(another)
        assert another.query(AsideLine).last().entry.text == "early"
        await main.query_one(InputArea).remove()
        for event in EVENTS:
            main.handle(event)
        main.wait_for_person(True)
        main.wait_for_person(False)


EVENTS: list[Event] = [
    TurnStarted("late", "9"),
    ThinkingDelta("late"),
    TextDelta("late"),
    CallStarted(1, "create", {"name": "todo"}),
    CallFinished(1, "create", True, "late"),
    AnswerDiscarded("late"),
    TurnFinished("failed", explanation="late"),
]
