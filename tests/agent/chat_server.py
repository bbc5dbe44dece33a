"""Answers in the form of the chat-completions API, for `tests.agent.server.Server`.

with Server(chat("Hello."), Reply(429, chat_error("slow down"))) as server:
    model = OpenAIModel("gpt-x", base_url=server.url)
"""

import json
from collections.abc import Mapping
from typing import Any

from tests.agent import server
from tests.agent.server import Stream, cut

MODEL = "gpt-test"
call = server.call

DONE = b"data: [DONE]\n\n"


def data(event: object) -> bytes:
    written = event if isinstance(event, str) else json.dumps(event, ensure_ascii=False)
    return f"data: {written}\n\n".encode()


def chunk(delta: Mapping[str, Any] | None = None, finish: str | None = None, **more: Any) -> bytes:
    choice = {"index": 0, "delta": dict(delta or {}), "finish_reason": finish}
    return data({"id": "c1", "object": "chat.completion.chunk", "model": MODEL,
                 "choices": [choice], **more})  # fmt: skip


def usage(sent: int = 10, answered: int = 25, cached: int | None = None) -> bytes:
    counts: dict[str, Any] = {"prompt_tokens": sent, "completion_tokens": answered}
    if cached is not None:
        counts["prompt_tokens_details"] = {"cached_tokens": cached}
    return data({"model": MODEL, "choices": [], "usage": counts})


def pieces(index: int, block: Mapping[str, Any], size: int = 7) -> list[bytes]:
    """A call in pieces: its name, then its arguments."""
    written = json.dumps(block["input"], ensure_ascii=False)
    head = {"index": index, "id": block["id"], "type": "function",
            "function": {"name": block["name"], "arguments": ""}}  # fmt: skip
    rest = [
        {"index": index, "function": {"arguments": written[at : at + size]}}
        for at in range(0, len(written), size)
    ]
    return [chunk({"tool_calls": [one]}) for one in (head, *rest)]


def chat(
    *blocks: str | Mapping[str, Any],
    finish: str | None = None,
    reasoning: str = "",
    counted: bytes | None = None,
) -> Stream:
    """A whole answer, as OpenAI's servers send it."""
    events = [chunk({"role": "assistant", "content": ""})]
    if reasoning:
        events += [chunk({"reasoning_content": one}) for one in cut(reasoning)]
    calls = [one for one in blocks if not isinstance(one, str)]
    for text in blocks:
        if isinstance(text, str):
            events += [chunk({"content": one}) for one in cut(text)]
    for index, one in enumerate(calls):
        events += pieces(index, one)
    events.append(chunk(finish=finish or ("tool_calls" if calls else "stop")))
    return stream(*events, counted if counted is not None else usage(), DONE)


def stream(*events: bytes, **options: Any) -> Stream:
    return Stream([one for one in events if one], **options)


def chat_error(message: str, kind: str = "invalid_request_error", **more: Any) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": None, "code": None, **more}}
