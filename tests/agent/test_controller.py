"""A turn: the events it emits, what it leaves in the context, and that stopping it is safe."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from contextui.agent import request as gate
from contextui.agent.controller import InteractionController, TurnRunningError
from contextui.agent.models.scripted import ScriptedModel, call
from contextui.context.item import ContextItem, ItemType
from contextui.context.manager import ContextManager
from contextui.context.messages import Composition
from contextui.errors import ContextTooLargeError, InvalidItemError
from contextui.events import (
    AnswerGiven,
    CallFinished,
    CallStarted,
    Event,
    StepStarted,
    TurnStarted,
    UsageSpent,
    WindowActed,
    WindowClosed,
    WindowOpened,
)
from contextui.model import Answer, ModelEvent, ModelRequest, TextDelta
from contextui.tokens import Usage
from contextui.windowing.finding.registry import discover
from contextui.windowing.manager import WindowManager
from tests.agent.talking import controller, end, of, options, requests, run, say
from tests.windowing.samples import Todo

CREATE = {"name": "todo", "args": {"items": ["milk"]}}


def words(text: str, **fields: Any) -> Answer:
    return Answer(({"type": "text", "text": text},), **fields)


def check_whole(talk: InteractionController) -> None:
    """Nothing is left open, and the next request can be sent."""
    assert talk.context.ledger.calls.unanswered == ()
    assert not talk.context.ledger.under_way
    talk.context.add(ContextItem(ItemType.USER, "and now?"))
    assert gate.faults(talk.request_of(talk.context.compose(100_000)).messages) == []


def test_a_step_composes_its_request_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """F19."""
    composed = 0
    compose = ContextManager.compose

    def counted(self: ContextManager, budget: int | None = None) -> Composition:
        nonlocal composed
        composed += 1
        return compose(self, budget)

    monkeypatch.setattr(ContextManager, "compose", counted)
    talk = controller(call("create", **CREATE), words("Done."))
    run(talk, "a list, please")
    assert composed == len(requests(talk)) == 2


def test_a_turn_emits_everything_in_order() -> None:
    usage = Usage(input_tokens=10, output_tokens=2)
    talk = controller(
        ["I open it.", call("create", **CREATE)],
        call("action", window_id="todo_1", action_id="add", params={"text": "eggs"}),
        words("Done.", usage=usage),
    )
    events = run(talk, "a list, please")
    kinds = [type(event) for event in events if not isinstance(event, TextDelta)]
    assert kinds[:2] == [TurnStarted, StepStarted]
    assert kinds.index(CallStarted) < kinds.index(WindowOpened) < kinds.index(CallFinished)
    assert [event.step for event in of(StepStarted, events)] == [1, 2, 3]
    assert [event.text for event in of(AnswerGiven, events)] == ["I open it.", "", "Done."]
    assert of(WindowActed, events)[0].actor == "model"
    finished = end(events)
    assert (finished.reason, finished.text, finished.steps) == ("done", "Done.", 3)
    assert finished.usage == usage
    assert of(UsageSpent, events)[-1].usage == usage


def test_the_context_holds_the_turn() -> None:
    talk = controller(["I open it.", call("create", **CREATE)], "Done.")
    run(talk, "a list, please")
    assert talk.context.debug_lines() == [
        "[✓] [0001] User: a list, please",
        "[✓] [0002] Assistant: I open it.",
        "[✓] [0003] Window: todo_1",
        "[✓] [0004] Tool: Opened todo_1.",
        "[✓] [0005] Assistant: Done.",
    ]
    check_whole(talk)


def test_a_closed_window_is_obsolete() -> None:
    close = call("action", window_id="todo_1", action_id="close", params={"summary": "bought"})
    talk = controller(call("create", name="todo"), close, "Closed.")
    events = run(talk, "open and close")
    assert of(WindowClosed, events)[0].actor == "model"
    assert "[X] [0003] Window: todo_1" in talk.context.debug_lines()
    assert any("todo_1 closed: bought" in line for line in talk.context.debug_lines())


def test_a_window_of_its_own_is_made_when_no_context_is_given() -> None:
    talk = InteractionController(model=ScriptedModel(call("create", name="todo"), "Done."))
    assert end(run(talk, "a list")).reason == "done"
    assert talk.windows.get("todo_1") is not None


def test_the_first_turn_adds_the_system_prompt_unless_there_is_one() -> None:
    model = ScriptedModel("Hi.", "Hi.")
    talk = InteractionController(model=model)
    run(talk, "hello")
    run(talk, "again")
    assert [request.system for request in model.requests] == [model.requests[0].system] * 2
    assert "<Windows>" in model.requests[0].system
    talk.close()

    own = ScriptedModel("Hi.")
    context = ContextManager(WindowManager())
    context.add(ContextItem(ItemType.SYSTEM, "Speak like a pirate."))
    talk = InteractionController(model=own, context=context)
    run(talk, "hello")
    assert own.requests[0].system == "Speak like a pirate."
    talk.close()

    bare = ScriptedModel("Hi.")
    talk = InteractionController(model=bare, prompt=False)
    run(talk, "hello")
    assert bare.requests[0].system == ""
    talk.close()


def test_a_budget_without_room_is_reported_before_any_request() -> None:
    talk = controller(options=options(budget=300))
    talk.install_prompt()
    with pytest.raises(ContextTooLargeError, match="the system prompt and the tools"):
        talk.strategist.check_budget()
    controller().strategist.check_budget()


async def test_only_one_turn_at_a_time() -> None:
    talk = controller("Yes.")
    turn = talk.run_turn("one")
    await anext(turn)
    with pytest.raises(TurnRunningError):
        await anext(talk.run_turn("two"))
    assert [event async for event in turn]


async def test_the_persons_actions_are_reported_before_their_message() -> None:
    talk = controller(call("create", name="todo"), "Done.", "I see.")
    await say(talk, "a list")
    for text in ("a", "b"):
        await talk.windows.act("todo_1", "add", {"text": text}, actor="person")
    await talk.windows.act("todo_1", "delete", {"index": 9}, actor="person")
    await say(talk, "what did I do?")
    lines = [item.content for item in talk.context.get_all()]
    assert lines[-3:-1] == [
        "(The person did this since your last step: todo_1.add ×2.)",
        "what did I do?",
    ]
    talk.close()


class Draft(Todo):
    """A list that is kept nowhere."""

    def unsaved(self) -> str | None:
        return "a list"


def test_unsaved_edits_discarded_by_closing_are_reported() -> None:
    opened = [call("create", name="draft"), call("create", name="draft")]
    talk = controller(opened, "Done.", "I see.", windows=[Draft])
    run(talk, "two lists")
    talk.windows.close("draft_1")
    talk.windows.close("draft_2", "bought")
    run(talk, "gone")
    lines = [item.content for item in talk.context.get_all()]
    assert lines[-4:-1] == [
        "draft_2 closed: bought (unsaved, discarded: a list)",
        "(The person did this since your last step: draft_1.close (unsaved, discarded: a list).)",
        "gone",
    ]
    talk.close()


class Slow(ScriptedModel):
    """Waits for a while between any two pieces of its answers, so that it can be stopped there."""

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        async for event in super().stream(request):
            await asyncio.sleep(0)
            yield event
            await asyncio.sleep(0)


def lively() -> InteractionController:
    """A turn of three requests with waits everywhere."""
    add = [
        call("action", window_id="todo_1", action_id="add", params={"text": str(number)})
        for number in range(2)
    ]
    return controller(
        model=Slow(["I open it now.", call("create", **CREATE)], ["Adding.", *add], "Done.")
    )


async def listen(talk: InteractionController, events: list[Event]) -> None:
    async for event in talk.run_turn("a list"):
        events.append(event)


Stop = Callable[[InteractionController, "asyncio.Task[Any]"], object]
STOPS: list[Stop] = [lambda talk, _: talk.stop(), lambda _, task: task.cancel()]


@pytest.mark.parametrize("stop", STOPS, ids=["stop", "cancel"])
async def test_a_turn_can_be_stopped_at_any_point(stop: Stop) -> None:
    async def stop_after(count: int) -> bool:
        talk = lively()
        events: list[Event] = []
        task = asyncio.create_task(listen(talk, events))
        for _ in range(count):
            await asyncio.sleep(0)
        over = task.done()
        stop(talk, task)
        await asyncio.gather(task, return_exceptions=True)
        assert not talk.is_running
        if events:  # the turn had begun
            check_whole(talk)
        return over

    count = 0
    while not await stop_after(count):
        # Each step at first; then wider ones, as waiting for a window takes any number of them.
        count += max(1, count // 40)
        await asyncio.sleep(0)
    assert count > 20


async def test_closing_the_iterator_cancels_the_turn() -> None:
    talk = lively()
    turn = talk.run_turn("a list")
    async for event in turn:
        if isinstance(event, CallStarted):
            break
    await turn.aclose()  # type: ignore[attr-defined]  # it is a generator
    assert not talk.is_running
    check_whole(talk)


async def test_a_bug_in_a_model_ends_the_turn_and_is_raised() -> None:
    class Broken(ScriptedModel):
        async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
            yield TextDelta("So")
            raise ZeroDivisionError("oops")

    talk = controller(model=Broken())
    events: list[Event] = []
    with pytest.raises(ZeroDivisionError):
        await listen(talk, events)
    assert end(events).reason == "failed"
    check_whole(talk)


@pytest.mark.parametrize(
    ("event", "message"),
    [
        ("Hello", "gives TextDeltas and then an Answer, not str"),
        (Answer("Hello"), 'has blocks, such as \\({"type": "text"'),  # type: ignore[arg-type]
    ],
)
def test_an_invalid_event_of_a_stream_is_reported_at_once(event: Any, message: str) -> None:
    class Wrong(ScriptedModel):
        async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
            yield event

    with pytest.raises(TypeError, match=message):
        run(controller(model=Wrong()), "well?")


def test_a_model_without_tools_can_do_the_same() -> None:
    opening = '<tool_call>{"name": "create", "arguments": {"name": "todo"}}</tool_call>'
    adding = (
        "First. <tool_call>{not json}</tool_call> "
        '<tool_call>{"name": "action", "arguments": {"window_id": "todo_1", "action_id": "add", '
        '"params": {"text": "milk"}}}</tool_call>'
    )
    talk = controller(opening, adding, "Done.", tool_protocol="text")
    talk.install_prompt()
    events = run(talk, "a list with milk")
    assert end(events).text == "Done."
    todo = talk.windows.get("todo_1")
    assert isinstance(todo, Todo)
    assert [item.text for item in todo.state.items] == ["milk"]
    first, second, third = requests(talk)
    assert first.tools == ()
    assert "<tool_call>" in first.system
    assert "".join(event.text for event in of(TextDelta, events)) == "First.  Done."
    assert "<Window" in str(second.messages[-1])
    assert "cannot be read" in str(third.messages[-1])
    check_whole(talk)


def test_the_prompt_is_installed_once_and_follows_what_it_is_made_of() -> None:
    context = ContextManager(WindowManager([Todo]))
    talk = controller(context=context)
    prompt = talk.install_prompt("Be brief.")
    _, first = context.get_active()
    assert talk.install_prompt("Be brief.") is prompt
    assert '<class name="todo" args="items:string[]?">' in first.content
    assert "Be brief." in first.content
    context.edit(prompt.id, "My own words.")
    context.edit(first.id, "The project in my own words.")
    assert talk.install_prompt("Be brief.").content == "My own words."
    assert context.get_active()[1].content == "The project in my own words."
    assert talk.install_prompt("Be long.") is prompt
    assert first.hidden == "replaced"
    _, second = context.get_active()
    assert "Be long." in second.content
    talk.install_prompt("Be brief.")
    _, third = context.get_active()
    assert third.id != first.id
    assert [item.id for item in context.get_active()] == [prompt.id, third.id]
    context.drop(third.id)
    talk.install_prompt("Be brief.")
    _, fourth = context.get_active()
    with pytest.raises(InvalidItemError, match=f"Item {first.seq:04} is replaced"):
        context.restore(first.id)
    while context.undo():  # only what the person did, and it brings no older one back
        assert [*context.get_active()] == [prompt, fourth]
    assert prompt.content != "My own words."


def test_the_prompt_reaches_the_model_as_system_and_the_project_as_a_user_message() -> None:
    talk = controller("Yes.")
    talk.install_prompt("Be brief & kind. </Instructions>")
    run(talk, "well?")
    request = requests(talk)[0]
    assert request.system.startswith("You work together with a person")
    assert "<class " not in request.system
    (message,) = request.messages
    project, words = (str(block["text"]) for block in message.content if isinstance(block, dict))
    assert (message.role, words) == ("user", "well?")
    assert project.endswith(
        '<Instructions file="AGENTS.md">\nBe brief &amp; kind. &lt;/Instructions&gt;\n'
        "</Instructions>\n</Project>"
    )


def test_windows_that_ship_with_contextui_are_listed_in_the_system_prompt() -> None:
    talk = controller("Yes.", windows=discover().classes())
    talk.install_prompt()
    run(talk, "well?")
    request = requests(talk)[0]
    assert request.system.count("<class name=") == 8
    assert [len(message.content) for message in request.messages] == [1]
