"""Phrasings of actions reach a model with the request, and no provider."""

import asyncio
import dataclasses
import json

from contextui.agent.models.anthropic import AnthropicModel
from contextui.agent.models.scripted import call
from contextui.context.manager import ContextManager
from contextui.model import LlmMessage, ModelRequest
from contextui.windowing.action import action
from contextui.windowing.manager import WindowManager
from contextui.windowing.snapshot import Body, Lod
from contextui.windowing.window import Window
from tests.agent.server import Server, answer
from tests.agent.server import call as asked
from tests.agent.talking import controller, end, requests, run, say
from tests.windowing.samples import Todo

CREATE = {"name": "stage", "args": {}}


class Stage(Window):
    """Files to commit."""

    def content(self, lod: Lod) -> Body:
        return "nothing"

    @action("Add a file", says=["zustage {file}", "暂存 {file}"])
    def add(self, file: str) -> str:
        return f"Added {file}."

    @action("Commit")
    def commit(self) -> None: ...


SAYS = {"stage.add": ("zustage {file}", "暂存 {file}")}


def test_the_phrasings_of_open_windows_reach_the_model() -> None:
    talk = controller(call("create", **CREATE), "Done.", windows=(Stage, Todo))
    talk.windows.open("todo")
    end(run(talk, "Open it."))
    assert [one.says for one in requests(talk)] == [{}, SAYS]


def test_two_windows_of_a_class_and_a_closed_one_change_nothing() -> None:
    talk = controller("Yes.", "No.", windows=(Stage,))
    first, second = talk.windows.open("stage"), talk.windows.open("stage")
    run(talk, "Are there two?")
    for window in (first, second):
        talk.windows.close(window.id)
    run(talk, "And now?")
    assert [one.says for one in requests(talk)] == [SAYS, {}]


def test_requests_that_differ_in_phrasings_alone_are_equal() -> None:
    request = ModelRequest("Be brief.", (LlmMessage("user", "Hi."),))
    other = dataclasses.replace(request, says=SAYS)
    assert request == other
    assert hash(request) == hash(other)


def test_nothing_of_them_is_sent_to_a_provider() -> None:
    async def talk(server: Server) -> None:
        model = AnthropicModel("claude-x", base_url=server.url, api_key="k3y")
        context = ContextManager(WindowManager([Stage]))
        conversation = controller(model=model, context=context, prompt=True)
        conversation.windows.open("stage")
        end(await say(conversation, "Add a.py."))
        await conversation.aclose()

    use = {"window_id": "stage_1", "action_id": "add", "params": {"file": "a.py"}}
    with Server(answer(asked("action", **use)), answer("Done.")) as server:
        asyncio.run(talk(server))
    assert len(server.requests) == 2
    for request in server.requests:
        text = json.dumps(request.json, ensure_ascii=False)
        assert "stage_1" in text
        assert "says" not in request.json
        assert not any(word in text for word in ("zustage", "暂存"))
