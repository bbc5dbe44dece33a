"""Model lists and context sizes, asked from servers on loopback."""

import socket
import time
from collections.abc import Mapping
from typing import Any

import pytest

from contextui.agent.context_space import TurnOptions, fit_options, size_of
from contextui.agent.controller import InteractionController
from contextui.agent.models.connection import Endpoint
from contextui.agent.models.openai import OpenAIModel, complete_url
from contextui.agent.models.servers import (
    ASK_SECONDS,
    Inquiry,
    context_size,
    served_models,
)
from contextui.context.manager import ContextManager
from contextui.events import Notice, TurnFinished
from contextui.model import ContextSize, Model, ModelError
from contextui.windowing.manager import WindowManager
from tests.agent.chat_server import chat
from tests.agent.server import Reply, Server
from tests.agent.talking import say
from tests.windowing.samples import Todo

KEY = "k3y-that-nobody-may-see"
Pages = Mapping[str, Any]

OLLAMA: Pages = {
    "/api/version": {"version": "0.12.0"},
    "/api/tags": {"models": [{"name": "qwen3:latest"}, {"name": "gemma:2b"}]},
    "/api/ps": {"models": [{"name": "qwen3:latest", "context_length": 4_096}]},
    "/api/show": {
        "model_info": {"qwen3.context_length": 262_144},
        "capabilities": ["completion", "tools"],
        "parameters": "stop x",
    },
}
LLAMA_CPP: Pages = {
    "/props": {"default_generation_settings": {"n_ctx": 8_192}},
    "/v1/models": {"data": [{"id": "local", "meta": {"n_ctx_train": 32_768}}]},
}
SEEING: Pages = {"/props": {**LLAMA_CPP["/props"], "modalities": {"vision": True}}}
VLLM: Pages = {"/v1/models": {"data": [{"id": "llama", "max_model_len": 16_384}]}}
STUDIO: Pages = {
    "/v1/models": {"data": [{"id": "openai/gpt-oss-20b"}]},
    "/api/v0/models": {
        "data": [
            {
                "id": "openai/gpt-oss-20b",
                "state": "loaded",
                "loaded_context_length": 4_096,
                "max_context_length": 131_072,
            }
        ]
    },
}


async def size(pages: Pages, model: str) -> ContextSize | None:
    with Server() as server:
        server.pages = dict(pages)
        return await context_size(_endpoint(server, model))


async def models(pages: Pages, key: str = "") -> list[tuple[Any, ...]]:
    with Server() as server:
        server.pages = dict(pages)
        found = await served_models(_endpoint(server, key=key))
    return [(one.name, one.context, one.possible, one.is_loaded) for one in found]


def _endpoint(server: Server, model: str = "", key: str = "") -> Any:
    return Endpoint(complete_url(server.url), model, key, url_variable="/model", api="API")


async def test_each_server_is_asked_in_its_own_way() -> None:
    for pages, model, found in (
        (OLLAMA, "qwen3", ContextSize(4_096, 262_144, True, False)),
        (OLLAMA, "qwen3:latest", ContextSize(4_096, 262_144, True, False)),
        (LLAMA_CPP, "anything", ContextSize(8_192)),
        (SEEING, "anything", ContextSize(8_192, sees=True)),
        (VLLM, "llama", ContextSize(16_384)),
        (VLLM, "other", None),
        (STUDIO, "openai/gpt-oss-20b", ContextSize(4_096, 131_072)),
        ({}, "x", None),
        ({"/props": {"default_generation_settings": {"n_ctx": "many"}}}, "x", None),
        ({"/props": Reply(200, "<html>")}, "x", None),
        ({"/props": Reply(200, "[1, 2]")}, "x", None),
        ({"/v1/models": {"data": [17, {"id": 3}, {"id": "x", "max_model_len": -1}]}}, "x", None),
        ({"/api/version": {"version": "0.12.0"}}, "x", ContextSize()),
    ):
        assert await size(pages, model) == found, pages


async def test_ollama_loads_the_model_and_says_how_much_it_loaded() -> None:
    pages = {**OLLAMA, "/api/ps": {"models": []}, "/api/generate": {"done": True}}
    with Server() as server:
        server.pages = dict(pages)
        found = await context_size(_endpoint(server, "qwen3"))
        assert found == ContextSize(4_096, 262_144, True, False)  # its default: it still is silent
        paths = [one.path for one in server.lookups]
    assert paths.count("/api/generate") == 1
    assert paths[-1] == "/api/ps"


async def test_the_size_that_a_models_own_file_sets_counts_if_it_is_not_loaded() -> None:
    show = {**OLLAMA["/api/show"], "parameters": "num_ctx                        16384"}
    pages = {**OLLAMA, "/api/ps": {"models": []}, "/api/show": show}
    found = await size(pages, "qwen3")
    assert found is not None
    assert found.tokens == 16_384


async def test_a_model_in_ollamas_cloud_takes_all_it_can_and_is_not_loaded() -> None:
    remote = {"remote_model": "qwen3", "remote_host": "https://ollama.com:443"}
    with Server() as server:
        server.pages = {**OLLAMA, "/api/ps": {}, "/api/show": {**OLLAMA["/api/show"], **remote}}
        found = await context_size(_endpoint(server, "qwen3"))
        assert found == ContextSize(262_144, 262_144, True, False)
        assert "/api/generate" not in [one.path for one in server.lookups]


async def test_the_context_is_that_of_the_model_not_of_its_parts() -> None:
    info = {
        "clip.text.context_length": 77,
        "general.architecture": "llama",
        "llama.context_length": 131_072,
    }
    found = await size({**OLLAMA, "/api/show": {"model_info": info}}, "qwen3")
    assert found is not None
    assert found.possible == 131_072


async def test_models_are_listed() -> None:
    found = [("qwen3", 4_096, 262_144, True), ("gemma:2b", None, 262_144, False)]
    assert await models(OLLAMA) == found
    assert await models(LLAMA_CPP) == [("local", 8_192, 32_768, True)]
    assert await models(VLLM) == [("llama", 16_384, None, False)]
    assert await models(STUDIO) == [("openai/gpt-oss-20b", 4_096, 131_072, True)]


async def test_prices_of_a_gateway_are_read() -> None:
    pricing = {"prompt": "0.000003", "completion": "0.000015", "input_cache_read": "0.0000003"}
    rows = [
        {"id": "a/b", "context_length": 200_000, "pricing": pricing},
        {"id": "c/d", "pricing": {"prompt": "free", "completion": []}},
    ]
    with Server() as server:
        server.pages = {"/v1/models": {"data": rows}}
        one, two = await served_models(_endpoint(server))
    assert one.rates is not None
    assert (round(one.rates.input, 6), round(one.rates.output, 6)) == (3, 15)
    assert two.rates is None


async def test_names_that_would_act_on_the_terminal_are_left_out() -> None:
    rows = [{"id": "ok"}, {"id": "\x1b[2Jbad"}, {"id": "two words"}, {"id": "a\nb"}, {"id": ""}]
    assert await models({"/v1/models": {"data": rows}}) == [("ok", None, None, False)]


async def test_the_key_goes_to_the_server_and_a_redirect_is_not_followed() -> None:
    with Server() as other, Server() as server:
        other.pages = {"/v1/models": {"data": []}}
        server.pages = {"/v1/models": Reply(302, "", {"location": f"{other.url}/v1/models"})}
        with pytest.raises(ModelError, match="redirects"):
            await served_models(_endpoint(server, key=KEY))
        assert server.lookups[-1].headers["authorization"] == f"Bearer {KEY}"
        assert other.connections == 0


async def test_a_list_that_is_refused_is_one_clear_line() -> None:
    for status in (401, 404, 500):
        with Server() as server:
            server.pages = {"/v1/models": Reply(status, f"no: {KEY}")}
            with pytest.raises(ModelError) as caught:
                await served_models(_endpoint(server, key=KEY))
        assert KEY not in str(caught.value), status
        assert "\n" not in str(caught.value), status


async def test_nothing_listens_is_said() -> None:
    with Server() as server:
        endpoint = _endpoint(server)
    with pytest.raises(ModelError, match="Nothing listens"):
        await served_models(endpoint)
    assert await context_size(endpoint) is None


def test_request_and_answer_fit_into_the_context() -> None:
    for tokens, budget, answer in (
        (None, 100_000, 8_000),
        (200_000, 100_000, 8_000),
        (108_000, 100_000, 8_000),
        (100_000, 92_000, 8_000),
        (4_096, 3_072, 1_024),
        (1_000, 1_024, 250),
    ):
        fit = fit_options(TurnOptions(budget=100_000, max_tokens=8_000), ContextSize(tokens))
        assert (fit.budget, fit.max_tokens) == (budget, answer), tokens


def controller(model: Model) -> InteractionController:
    context = ContextManager(WindowManager([Todo]))
    return InteractionController(model=model, context=context, options=TurnOptions())


async def test_a_server_with_a_4k_context_is_noticed_before_the_first_request() -> None:
    with Server(chat("Hi."), chat("Ho.")) as server:
        server.pages = dict(OLLAMA)
        talk = controller(OpenAIModel("qwen3", base_url=server.url))
        first, second = await say(talk, "Hi"), await say(talk, "Ho")
        await talk.aclose()
        assert [one.json["max_tokens"] for one in server.requests] == [1_024, 1_024]
        asked = [one.path for one in server.lookups]
    [notice] = [one.text for one in first if isinstance(one, Notice)]
    assert notice == (
        "The server of qwen3 has a context of 4,096 tokens, and drops what is longer without a "
        "word. The budget is 3,072 instead of 128,000."
    )
    assert not [one for one in second if isinstance(one, Notice)]  # said once
    assert talk.options.budget == 3_072
    assert talk.compaction.budget == 3_072
    assert asked.count("/api/version") == 1
    assert isinstance(first[-1], TurnFinished)


async def test_another_model_gets_the_whole_budget_again() -> None:
    with Server(chat("Hi."), chat("Ho.")) as server:
        server.pages = dict(OLLAMA)
        talk = controller(OpenAIModel("qwen3", base_url=server.url))
        await say(talk, "Hi")
        server.pages = {}
        await talk.model.aclose()  # type: ignore[attr-defined]
        talk.model = OpenAIModel("large", base_url=server.url)
        await say(talk, "Ho")
        await talk.aclose()
        assert server.requests[1].json["max_tokens"] == TurnOptions().max_tokens
    assert talk.options == TurnOptions()


async def test_a_model_without_tools_writes_its_calls_in_text() -> None:
    show = {**OLLAMA["/api/show"], "capabilities": ["completion"]}
    ps = {"models": [{"name": "gemma:2b", "context_length": 32_768}]}
    text = '<tool_call>{"name": "create", "arguments": {"name": "todo"}}</tool_call>'
    with Server(chat(text), chat("Done.")) as server:
        server.pages = {**OLLAMA, "/api/show": show, "/api/ps": ps}
        talk = controller(OpenAIModel("gemma:2b", base_url=server.url))
        events = await say(talk, "Make a list.")
        await talk.aclose()
        assert all("tools" not in one.json for one in server.requests)
        assert "<tool_call>" in server.requests[0].json["messages"][0]["content"]
    assert [one.id for one in talk.windows.windows()] == ["todo_1"]
    assert any("does not call tools" in one.text for one in events if isinstance(one, Notice))


async def test_a_server_that_hangs_on_questions_delays_the_turn_only_a_little(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Inquiry.fetch, "__defaults__", (None, ASK_SECONDS))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        model = OpenAIModel("x", base_url=f"http://127.0.0.1:{silent.getsockname()[1]}")
        begun = time.monotonic()
        assert await size_of(model) == ContextSize()
        assert time.monotonic() - begun < 30


async def test_a_model_of_others_that_fails_to_answer_is_no_error() -> None:
    class Odd:
        name = "odd"

        def stream(self, request: Any) -> Any:
            raise NotImplementedError

        async def context_size(self) -> ContextSize:
            raise RuntimeError("no")

    assert await size_of(Odd()) == ContextSize()
