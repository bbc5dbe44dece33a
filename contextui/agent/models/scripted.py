"""`ScriptedModel`: plays a list of answers, for tests and demos."""

import itertools
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any

from contextui.model import (
    Answer,
    Block,
    CallBegun,
    ModelError,
    ModelEvent,
    ModelRequest,
    TextDelta,
    ThinkingDelta,
)
from contextui.text import quote
from contextui.tokens import Usage

_PIECE = 24  # characters of one delta
_numbers = itertools.count(1)

Step = str | Block | Iterable[str | Block] | Answer | ModelError
"""A step of the script: text, a call, a list of both, a whole answer, or an error."""


def call(name: str, /, **arguments: Any) -> Block:
    """Build a tool call as a model makes it.

    Example:
        >>> ScriptedModel(call("create", name="todo"), "Here it is.")
    """
    return {"type": "tool_use", "id": f"toolu_{next(_numbers):06}", "name": name,
            "input": arguments}  # fmt: skip


class ScriptedModel:
    """A model that returns the answers of its script, one for each request.

    Args:
        steps: The answers. Text or a call is an answer of just that, a list one of several blocks.
        name: The model's name.

    Attributes:
        requests: The requests it received, in order.

    Example:
        >>> model = ScriptedModel(call("create", name="todo"), "Done.")
        >>> controller = InteractionController(model=model)
    """

    def __init__(self, *steps: Step, name: str = "scripted") -> None:
        self.name = name
        self.requests: list[ModelRequest] = []
        self._steps = iter(steps)

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Stream the next answer of the script."""
        self.requests.append(request)
        step = next(self._steps, None)
        if step is None:
            raise ModelError(
                "bad_request", "The script of {name} has ended.", name=quote(self.name)
            )
        if isinstance(step, ModelError):
            raise step
        answer = step if isinstance(step, Answer) else _answer(step, self.name)
        for block in answer.blocks:
            for event in _events(block):
                yield event
        yield answer


def _answer(step: str | Block | Iterable[str | Block], name: str) -> Answer:
    parts = [step] if isinstance(step, (str, Mapping)) else list(step)
    blocks = [
        part if isinstance(part, Mapping) else {"type": "text", "text": part} for part in parts
    ]
    calls = any(block["type"] == "tool_use" for block in blocks)
    return Answer(
        blocks=tuple(blocks),
        stop_reason="tool_use" if calls else "end_turn",
        usage=Usage(),
        model=name,
    )


def _events(block: Block) -> Iterable[ModelEvent]:
    match block["type"]:
        case "text":
            words = block["text"]
            yield from (TextDelta(words[i : i + _PIECE]) for i in range(0, len(words), _PIECE))
        case "thinking":
            yield ThinkingDelta(block["thinking"])
        case "tool_use":
            yield CallBegun(block["name"])
