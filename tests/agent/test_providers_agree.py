"""The same conversation through both APIs leaves the same windows and the same context."""

from pathlib import Path
from typing import Any

from contextui.agent.controller import InteractionController
from contextui.agent.models.anthropic import AnthropicModel
from contextui.agent.models.openai import OpenAIModel
from contextui.model import LOCAL_PRICES, Model
from contextui.session.session import SessionOptions
from contextui.session.store import SessionStore
from tests.agent import chat_server, server
from tests.agent.server import Server, Step
from tests.agent.talking import end, options, say
from tests.windowing.samples import Counter, Text, Todo

Script = list[tuple[str, list[list[str | dict[str, Any]]]]]
SCRIPT: Script = [
    ("Make a list.", [[{"name": "create", "input": {"name": "todo", "args": {"items": ["x"]}}}],
                      ["Here it is."]]),
    ("Add milk, and 蛋.", [
        ["I add both.",
         {"name": "action", "input": {"window_id": "todo_1", "action_id": "add",
                                      "params": {"text": "milk"}}},
         {"name": "action", "input": {"window_id": "todo_1", "action_id": "add",
                                      "params": {"text": "蛋"}}}],
        [{"name": "action", "input": {"window_id": "todo_9", "action_id": "add",
                                      "params": {"text": "no"}}}],
        ["Done."],
    ]),
    ("And one more.", [[{"name": "create", "input": {"name": "counter"}}], ["Two windows now."]]),
]  # fmt: skip


def steps(script: Script, form: str) -> list[Step]:
    """The answers of a script in the form of an API; both give the same ids."""
    number, made = 0, list[Step]()
    for _, turn in script:
        for answer in turn:
            blocks: list[Any] = []
            for part in answer:
                if isinstance(part, str):
                    blocks.append(part)
                else:
                    number += 1
                    blocks.append({"type": "tool_use", "id": f"call_{number}", **part})
            made.append(server.answer(*blocks) if form == "messages" else chat_server.chat(*blocks))
    return made


async def converse(
    folder: Path, model: Model, script: Script
) -> tuple[list[Any], list[Any], list[str]]:
    """The windows, the messages and the reasons to stop that a conversation leaves."""
    store = SessionStore(folder / "home", SessionOptions(classes=(Todo, Text, Counter)))
    with store.create(folder) as session:
        talk = InteractionController(model=model, context=session.context, options=options())
        reasons = [str(end(await say(talk, words)).reason) for words, _ in script]
        await talk.aclose()
        await session.windows.settle()
        windows = [(one.id, one.state.model_dump()) for one in session.windows.windows()]
        messages = [(one.role, one.content) for one in session.context.compose().messages]
    return windows, messages, reasons


async def test_both_leave_the_same_windows_and_messages(tmp_path: Path) -> None:
    with Server(*steps(SCRIPT, "messages")) as one, Server(*steps(SCRIPT, "chat")) as two:
        first = AnthropicModel("m", base_url=one.url, api_key="k", prices=LOCAL_PRICES)
        ours = await converse(tmp_path / "a", first, SCRIPT)
        theirs = await converse(tmp_path / "b", OpenAIModel("m", base_url=two.url), SCRIPT)
        assert len(one.requests) == len(two.requests) == sum(len(turn) for _, turn in SCRIPT)
    assert ours == theirs
    windows, _, reasons = ours
    assert [item["text"] for item in dict(windows)["todo_1"]["items"]] == ["x", "milk", "蛋"]
    assert reasons == ["done", "done", "done"]


async def test_a_conversation_goes_on_with_another_provider(tmp_path: Path) -> None:
    """Also with reasoning of one that the other must not get."""
    made = steps(SCRIPT, "chat")
    made[1] = chat_server.chat("Here it is.", reasoning="Hm.")
    with Server(*made[:2]) as one, Server(*steps(SCRIPT, "messages")[2:]) as two:
        store = SessionStore(tmp_path / "home", SessionOptions(classes=(Todo, Text, Counter)))
        with store.create(tmp_path) as session:
            talk = InteractionController(
                model=OpenAIModel("m", base_url=one.url), context=session.context, options=options()
            )
            ends = [end(await say(talk, SCRIPT[0][0]))]
            await talk.model.aclose()  # type: ignore[attr-defined]
            talk.model = AnthropicModel("n", base_url=two.url, api_key="k")
            ends += [end(await say(talk, words)) for words, _ in SCRIPT[1:]]
            await talk.aclose()
            assert [one.reason for one in ends] == ["done"] * 3
            assert [one.id for one in session.windows.windows()] == ["todo_1", "counter_1"]
        for received in two.requests:
            assert "Hm." not in received.body.decode()
