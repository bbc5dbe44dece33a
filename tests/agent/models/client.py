"""Asking a model that is served on loopback."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from typing import Any

import pytest

from contextui.agent.models.anthropic import AnthropicModel
from contextui.agent.models.openai import OpenAIModel
from contextui.agent.models.remote import RemoteModel
from contextui.model import Answer, Block, LlmMessage, ModelError, ModelEvent, ModelRequest
from tests.agent.server import Server, Step

KEY = "k3y-that-nobody-may-see"


def asking(*words: str | Block, **options: Any) -> ModelRequest:
    blocks = tuple({"type": "text", "text": w} if isinstance(w, str) else w for w in words)
    return ModelRequest("Be brief.", (LlmMessage("user", blocks),), **options)


HI = asking("Hi.")


def model_of(server: Server, **options: Any) -> AnthropicModel:
    return AnthropicModel("claude-x", **{"base_url": server.url, "api_key": KEY, **options})


def chat_model_of(server: Server, **options: Any) -> OpenAIModel:
    return OpenAIModel("gpt-x", **{"base_url": server.url, "api_key": KEY, **options})


async def events_of(model: RemoteModel, *requests: ModelRequest) -> list[ModelEvent]:
    """All that the model says to these requests, one after the other."""
    async with aclosing(model):
        return [event for request in requests or (HI,) async for event in model.stream(request)]


def answers(
    server: Server,
    *requests: ModelRequest,
    make: Callable[..., RemoteModel] = model_of,
    **options: Any,
) -> list[Answer]:
    events = asyncio.run(events_of(make(server, **options), *requests))
    return [event for event in events if isinstance(event, Answer)]


def the_answer(step: Step, **options: Any) -> Answer:
    with Server(step) as server:
        [answer] = answers(server, **options)
    return answer


def failure(server: Server, request: ModelRequest = HI, **options: Any) -> ModelError:
    with pytest.raises(ModelError) as caught:
        answers(server, request, **options)
    return caught.value


def the_failure(*steps: Step, **options: Any) -> ModelError:
    with Server(*steps) as server:
        return failure(server, **options)
