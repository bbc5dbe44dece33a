"""Calls that are written as tags: a request read as if it had tools, and calls as they are written.

Where the system prompt asks for tags, what was called and what came of it stands in the words.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from contextui.model import Block, LlmMessage, ModelRequest, Tool

_OPEN, _CLOSE = "<tool_call>", "</tool_call>"
_TAG = re.compile(f"{_OPEN}(.*?){_CLOSE}", re.DOTALL)
_DECLARED = re.compile(r"^(\w+) \{", re.MULTILINE)
_RESULT = re.compile(r"\[\w+(?P<failed> [^\]\n]+)?\] ")


def declared_tools(request: ModelRequest) -> tuple[Tool, ...]:
    """The tools that the system prompt tells of; none where it does not ask for tags."""
    _, asks, rest = request.system.partition(_OPEN)
    section = rest.split("\n\n", 1)[0] if asks else ""
    return tuple(Tool(name, "", {}) for name in _DECLARED.findall(section))


def with_tools(request: ModelRequest, tools: tuple[Tool, ...]) -> ModelRequest:
    """The same request as it would be with tools of the provider's own."""
    messages: list[LlmMessage] = []
    calls: Sequence[Block] = ()
    stable, left = 0, request.stable
    for place, message in enumerate(request.messages):
        left -= len(message.content)
        if isinstance(message.content, str):
            blocks: tuple[Block, ...] = ({"type": "text", "text": message.content},)
        else:
            blocks = message.content
        if message.role == "assistant":
            blocks = tuple(_called(blocks, place))
            calls = [one for one in blocks if one.get("type") == "tool_use"]
        else:
            blocks, calls = tuple(_answered(blocks, calls)), ()
        stable += len(blocks) if left >= 0 else 0
        messages.append(LlmMessage(message.role, blocks))
    return ModelRequest(request.system, tuple(messages), tools, stable, request.max_tokens)


def written(name: str, arguments: Mapping[str, Any]) -> str:
    """A call as a tag; no words in it can end it."""
    call = json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False)
    return _OPEN + call.replace("</", "<\\/") + _CLOSE


def said(words: str) -> str:
    """Words that are no call, whatever of a window or a person they tell."""
    return words.replace(_OPEN, "<tool_call >")


def _called(blocks: Sequence[Block], place: int) -> Iterator[Block]:
    """An answer with its tags as calls; ids are made of where they stand."""
    for number, block in enumerate(blocks):
        text = block.get("text")
        if not isinstance(text, str) or _OPEN not in text:
            yield block
            continue
        if beside := _TAG.sub("", text).strip():
            yield {"type": "text", "text": beside}
        for count, tag in enumerate(_TAG.findall(text)):
            name, arguments = _parsed(tag)
            call_id = f"tag_{place}_{number}_{count}"
            yield {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def _parsed(tag: str) -> tuple[str, Mapping[str, Any]]:
    try:
        call = json.loads(tag)
        name, arguments = call["name"], call.get("arguments")
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return "tool_call", {}
    return str(name), arguments if isinstance(arguments, Mapping) else {}


def _answered(blocks: Sequence[Block], calls: Sequence[Block]) -> Iterator[Block]:
    """What followed an answer, with the words that stand for results as results."""
    waiting = list(calls)
    for block in blocks:
        text = block.get("text")
        found = _RESULT.match(text) if waiting and isinstance(text, str) else None
        if found is None or not isinstance(text, str):
            yield block
            continue
        yield {
            "type": "tool_result",
            "tool_use_id": waiting.pop(0)["id"],
            "content": text[found.end() :],
            "is_error": found["failed"] is not None,
        }
