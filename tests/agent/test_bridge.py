"""Your own loop in 12 lines: with Anthropic's SDK, and with OpenAI's."""

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import contextui
from contextui.agent.approval import ApprovalGate, Decision
from contextui.agent.bridge import ContextBridge
from contextui.agent.context_space import TurnOptions
from contextui.context.item import ItemType
from contextui.context.manager import ContextManager
from contextui.errors import ContextUIError, InvalidItemError
from contextui.events import CallFinished, Event, TurnFinished
from contextui.files.workspace import Workspace
from contextui.windowing.finding.registry import discover
from contextui.windowing.manager import WindowManager
from tests.agent.desk import Person
from tests.agent.server import Received, Reply, Server, call
from tests.agent.shapes import violations
from tests.windowing.samples import Todo

LONG = "Change it. " + "word " * 3_000  # more than the least that a provider caches
REFUSED = "They say: Not today."


def message(*blocks: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": one} if isinstance(one, str) else one for one in blocks]
    stop = "tool_use" if any(one["type"] == "tool_use" for one in content) else "end_turn"
    return {"id": "m", "type": "message", "role": "assistant", "model": "claude-x",
            "content": content, "stop_reason": stop, "stop_sequence": None,
            "usage": {"input_tokens": 5, "output_tokens": 3}}  # fmt: skip


def completion(*blocks: Any) -> dict[str, Any]:
    """The same reply of chat completions."""
    calls = [
        {"id": one["id"], "type": "function",
         "function": {"name": one["name"], "arguments": json.dumps(one["input"])}}
        for one in blocks if not isinstance(one, str)
    ]  # fmt: skip
    text = "".join(one for one in blocks if isinstance(one, str))
    said = {"role": "assistant", "content": text or None, "tool_calls": calls or None}
    choice = {"index": 0, "message": said, "finish_reason": "tool_calls" if calls else "stop"}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "gpt-x",
            "choices": [choice], "usage": {"prompt_tokens": 9, "completion_tokens": 3,
                                           "total_tokens": 12}}  # fmt: skip


REPLIES = {"messages": message, "chat": completion}


def act(window: str, action: str, **params: Any) -> dict[str, Any]:
    return call("action", window_id=window, action_id=action, params=params)


def script() -> list[list[Any]]:
    """Two turns: one in which saving a file is refused, and one with another window."""
    return [
        ["I open it.", call("create", name="editor", args={"path": "a.txt"})],
        [act("editor_1", "replace", old="old", new="new"), act("editor_1", "save")],
        ["You did not want that."],
        [call("create", name="todo", args={"items": ["milk"]})],
        [act("todo_1", "add", text="eggs")],
        ["Two things."],
    ]


def context(*classes: Any, folder: Path | None = None) -> ContextManager:
    workspace = Workspace(folder) if folder is not None else None
    return ContextManager(WindowManager(classes or [Todo], workspace=workspace))


def chat_violations(body: Mapping[str, Any]) -> Iterator[str]:
    """What chat completions would find fault with."""
    open_calls: list[str] = []
    last = ""
    for number, one in enumerate(body["messages"]):
        role = one["role"]
        if role == "tool":
            if one["tool_call_id"] not in open_calls:
                yield f"message {number} answers no call"
            else:
                open_calls.remove(one["tool_call_id"])
        elif open_calls:
            yield f"message {number} comes before {open_calls} are answered"
        if role == last != "tool" or (role == "system") != (number == 0):
            yield f"message {number} of {role} follows {last}"
        open_calls += [each["id"] for each in one.get("tool_calls") or ()]
        last = role
    if open_calls or last == "assistant":
        yield f"it ends with {last} and {open_calls}"


def cached(before: Received, later: Received) -> int:
    """How many blocks of `later` are read from what a provider cached of `before`."""
    if before.head() != later.head():
        return -1
    ours, theirs = before.blocks(), later.blocks()
    kept = [mark for mark in before.marks() if ours[:mark] == theirs[:mark]]
    return max(mark for mark in kept if any(0 <= one - mark <= 20 for one in later.marks()))


def check_messages(sent: Sequence[Received]) -> None:
    assert [violations(one.json) for one in sent] == [[]] * 6
    *_, last = [one for role, one in sent[2].blocks() if one["type"] == "tool_result"]
    assert last["is_error"]
    assert REFUSED in str(last["content"])
    ends = [len(one.blocks()) for one in sent]
    assert [one.marks()[-1] for one in sent] == ends
    assert all(len(one.marks()) <= 4 for one in sent)
    # Of each request the next one reads all but the window at its end, and its call.
    hits = [cached(a, b) for a, b in pairwise(sent)]
    assert all(0 <= end - hit <= 2 for end, hit in zip(ends, hits, strict=False)), hits
    assert "<Window " in sent[1].body.decode()


def check_chat(sent: Sequence[Received]) -> None:
    assert [[*chat_violations(one.json)] for one in sent] == [[]] * 6
    assert REFUSED in sent[2].json["messages"][-1]["content"]
    assert not any("cache_control" in one.body.decode() for one in sent)
    for before, later in pairwise(sent):
        # This cache has no marks: it is read as far as two requests are the same.
        shared = before.json["messages"]
        assert later.json["messages"][: len(shared)] == shared
        assert later.json["tools"] == before.json["tools"]
    assert {"stream", "max_tokens"}.isdisjoint(sent[0].json)


async def own_loop(bridge: ContextBridge, create: Any, words: str) -> str:
    text = ""
    bridge.say(words)
    while await bridge.pending():
        reply = await create(**bridge.request())
        text = await bridge.take(reply)
    return text


def client_of(api: str, url: str) -> Any:
    if api == "messages":
        import anthropic

        return anthropic.AsyncAnthropic(api_key="k", base_url=url)
    import openai

    return openai.AsyncOpenAI(api_key="k", base_url=url)


@pytest.mark.parametrize("api", ["messages", "chat"])
async def test_a_loop_around_an_sdk_has_windows_cache_marks_and_approval(
    api: Any, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text("old\n")
    person = Person(Decision("no", "Not today."))
    events: list[Event] = []

    with Server(*(Reply(200, REPLIES[api](*one)) for one in script())) as server:
        bridge = ContextBridge(
            "some-model",
            api,
            context=context(*discover().classes(), folder=tmp_path),
            approval=ApprovalGate("ask", person),
            on_event=events.append,
        )
        async with client_of(api, server.url) as client:
            create = (client.messages if api == "messages" else client.chat.completions).create
            assert await own_loop(bridge, create, LONG) == "You did not want that."
            assert bridge.finished is not None
            assert (bridge.finished.reason, bridge.finished.steps) == ("done", 3)
            assert await own_loop(bridge, create, "And a list.") == "Two things."
        assert [one.id for one in bridge.windows.windows()] == ["editor_1", "todo_1"]
        bridge.close()
        sent = server.requests
    assert [(one.name, one.verb, one.target) for one in person.questions] == [
        ("editor_1.save", "write", "a.txt")
    ]
    assert (tmp_path / "a.txt").read_text() == "old\n"
    calls = [one for one in events if isinstance(one, CallFinished)]
    assert [one.ok for one in calls] == [True, True, False, True, True]
    assert REFUSED in calls[2].text
    assert sum(isinstance(one, TurnFinished) for one in events) == 2
    assert len(sent) == 6
    (check_messages if api == "messages" else check_chat)(sent)


def test_a_request_that_failed_can_be_sent_again_or_abandoned() -> None:
    create = message(call("create", name="todo"))

    async def ask(bridge: ContextBridge) -> dict[str, Any]:
        assert await bridge.pending()
        return bridge.request()

    bridge = ContextBridge("claude-x", context=context())

    async def first() -> None:
        bridge.say("Make a list.")
        bridge.say("And another one.")
        sent = await ask(bridge)
        assert await ask(bridge) == sent  # the first attempt failed
        await bridge.take(create)
        assert await bridge.pending()
        bridge.stop()
        with pytest.raises(RuntimeError):
            bridge.request()
        second = await ask(bridge)  # of the next message
        assert bridge.finished is None
        assert violations(second) == []
        assert "And another one." in str(second["messages"][-1])

    asyncio.run(first())  # its end is the end of the second turn

    async def later() -> None:
        with pytest.raises(RuntimeError):
            await bridge.take(create)
        assert not await bridge.pending()
        bridge.say("Hello.")
        sent = await ask(bridge)
        assert violations(sent) == []
        assert await bridge.take(message("Hi.")) == "Hi."
        assert not await bridge.pending()
        bridge.close()

    asyncio.run(later())
    said = [one.content for one in bridge.context.get_active() if one.type is ItemType.USER]
    assert [one for one in said if one[0] != "<"] == ["Make a list.", "And another one.", "Hello."]


async def test_a_turn_that_cannot_go_on_raises_and_the_next_one_works() -> None:
    options = TurnOptions(budget=4_000, auto_compact=False)
    bridge = ContextBridge("claude-x", context=context(), options=options)
    bridge.say("word " * 20_000)
    with pytest.raises(ContextUIError, match="budget"):
        await bridge.pending()
    bridge.say("Hello.")
    assert await bridge.pending()
    assert await bridge.take(message("Hi.")) == "Hi."


async def test_wrong_use_says_what_to_do() -> None:
    bridge = ContextBridge("claude-x", context=context())
    with pytest.raises(RuntimeError, match="say"):
        bridge.request()
    with pytest.raises(InvalidItemError):
        bridge.say(" ")
    assert not await bridge.pending()
    bridge.say("Hi.")
    assert await bridge.pending()
    replies: list[Any] = [3, {"choices": []}, {}, {"content": [{"type": "text"}]}]
    for odd in replies:
        with pytest.raises(ValueError, match="reply"):
            await bridge.take(odd)
    assert await bridge.take(message("Hi.")) == "Hi."
    with pytest.raises(RuntimeError):
        await bridge.take(message("Hi."))


async def test_a_reply_whose_calls_take_too_long_can_be_waited_for_again() -> None:
    ready = asyncio.Event()

    async def slow() -> str:
        await ready.wait()
        return "late"

    bridge = ContextBridge(
        "claude-x", context=context(), approval=ApprovalGate("auto"), tools=[slow]
    )
    bridge.say("Hi.")
    assert all(await asyncio.gather(bridge.pending(), bridge.pending()))
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(bridge.take(message(call("slow"))), 0.1)
    ready.set()
    assert await asyncio.wait_for(bridge.pending(), 10)
    assert "late" in str(bridge.request()["messages"][-1])
    assert await bridge.take(message("Done.")) == "Done."
    assert not await bridge.pending()


def test_it_is_exported_lazily() -> None:
    assert contextui.ContextBridge is ContextBridge
