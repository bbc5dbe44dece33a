"""Phrasings of actions reach a model with the request, and no provider."""

import dataclasses
import json

from contextui.agent.models.anthropic import AnthropicModel
from contextui.agent.models.scripted import call
from contextui.model import LlmMessage, ModelRequest
from tests.agent.server import Server, answer
from tests.agent.server import call as asked
from tests.agent.talking import controller, end, requests, run, say
from tests.windowing.samples import Stage, Todo

CREATE = {"name": "stage", "args": {}}


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


async def test_nothing_of_them_is_sent_to_a_provider() -> None:
    use = {"window_id": "stage_1", "action_id": "add", "params": {"file": "a.py"}}
    with Server(answer(asked("action", **use)), answer("Done.")) as server:
        model = AnthropicModel("claude-x", base_url=server.url, api_key="k3y")
        talk = controller(model=model, windows=(Stage,), prompt=True)
        talk.windows.open("stage")
        end(await say(talk, "Add a.py."))
        await talk.aclose()
    assert len(server.requests) == 2
    for request in server.requests:
        text = json.dumps(request.json, ensure_ascii=False)
        assert "stage_1" in text
        assert "says" not in request.json
        assert not any(word in text for word in ("zustage", "暂存"))
