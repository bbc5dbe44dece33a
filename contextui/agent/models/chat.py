"""The chat-completions form: requests written in it, and answers read from it.

Messages are kept in the blocks of the Messages API everywhere else, so that a conversation can go
on with another provider. Here they become chat messages, and streamed chunks become the events
that `stream.AnswerReader` assembles.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from contextui.agent.image import sent_block
from contextui.agent.models.stream import AnswerReader
from contextui.model import Answer, Block, ModelError, ModelEvent, ModelRequest

REASONING = ("reasoning_content", "reasoning")
"""Fields in which servers stream the model's reasoning; each uses one of them."""

_STOP_REASONS = {
    "stop": "",  # by the content: the end of the turn, or calls
    "eos": "",
    "tool_calls": "",
    "function_call": "",
    "length": "max_tokens",
    "content_filter": "refusal",
}
_UNSEEN = "(An image, which this model does not see.)"
_IMAGE = "(An image of this result follows in the next message.)"

Message = dict[str, Any]


# --- writing a request ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Dialect:
    """What servers of this API disagree about; learned from their errors."""

    limit: str = "max_tokens"
    counts: bool = True
    images: bool = True


def chat_body(request: ModelRequest, model: str, dialect: Dialect) -> dict[str, Any]:
    """Write a request in the chat form."""
    body: dict[str, Any] = {"model": model, "stream": True, dialect.limit: request.max_tokens}
    if dialect.counts:
        body["stream_options"] = {"include_usage": True}
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.input_schema,
                },
            }
            for tool in request.tools
        ]
    messages: list[Message] = []
    if request.system.strip():
        messages.append({"role": "system", "content": request.system})
    for message in request.messages:
        content = message.content
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        is_answer = message.role == "assistant"
        messages += _assistant(blocks) if is_answer else _user(blocks, dialect.images)
    return {**body, "messages": messages}


def _assistant(blocks: Iterable[Block]) -> Iterator[Message]:
    written: Message = {"role": "assistant"}
    texts, calls, thoughts = [], [], list[Block]()
    for block in blocks:
        match block:
            case {"type": "text", "text": str(text)}:
                texts.append(text)
            case {"type": "tool_use"}:
                arguments = json.dumps(block.get("input") or {}, ensure_ascii=False)
                function = {"name": block["name"], "arguments": arguments}
                calls.append({"id": block["id"], "type": "function", "function": function})
            case {"type": "thinking", "field": str(name)} if name in REASONING:
                thoughts.append(block)  # goes back to where it came from; others' has no place here
    written["content"] = "\n\n".join(texts) if texts or not calls else None
    for block in thoughts:
        written[block["field"]] = written.get(block["field"], "") + block["thinking"]
    if calls:
        written["tool_calls"] = calls
    if texts or calls:
        yield written


def _user(blocks: Iterable[Block], images: bool) -> Iterator[Message]:
    """Write results first, each as a message of its own, and then what the person said."""
    parts: list[Message] = []
    for block in blocks:
        if block["type"] == "tool_result":
            text, shown = _result(block.get("content"), images)
            yield {"role": "tool", "tool_call_id": block["tool_use_id"], "content": text}
            parts += shown
        else:
            parts += _part(block, images)
    if not parts:
        return
    if all(part["type"] == "text" for part in parts):
        # Templates of many local models read plain text only.
        yield {"role": "user", "content": "\n\n".join(part["text"] for part in parts)}
    else:
        yield {"role": "user", "content": parts}


def _result(content: object, images: bool) -> tuple[str, list[Message]]:
    """Return a result's text, and its images, which a tool message cannot hold."""
    if isinstance(content, str):
        return content, []
    blocks: Any = content or ()
    parts = [part for block in blocks for part in _part(block, images)]
    shown = [part for part in parts if part["type"] != "text"]
    texts = [part["text"] for part in parts if part["type"] == "text"]
    return "\n\n".join([*texts, _IMAGE] if shown else texts), shown


def _part(block: Block, images: bool) -> list[Message]:
    block = sent_block(block)
    match block:
        case {"type": "image"} if not images:
            return [{"type": "text", "text": _UNSEEN}]
        case {"type": "text", "text": str(text)}:
            return [{"type": "text", "text": text}]
        case {"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}}:
            return [{"type": "image_url", "image_url": {"url": f"data:{kind};base64,{data}"}}]
        case {"type": "image", "source": {"type": "url", "url": str(url)}}:
            return [{"type": "image_url", "image_url": {"url": url}}]
        case {"type": "document", "source": {"type": "text", "data": str(text)}}:
            return [{"type": "text", "text": text}]
    return []


# --- reading an answer ---------------------------------------------------------------------

DONE: Mapping[str, Any] = {"done": True}
"""What the last event of a stream, ``[DONE]``, is parsed to."""


class _Call(NamedTuple):
    """A call that is being streamed."""

    id: str
    block: int


class ChatReader(AnswerReader):
    """Reads the chunks of one stream as the events of the Messages API.

    The answer is whole if the server gave a reason to stop. Its end may be announced or not, as
    servers differ in that.
    """

    def __init__(self, model: str) -> None:
        super().__init__(model)
        self._open: dict[str, int] = {}  # the block of each kind of text, by its field
        self._calls: dict[object, _Call] = {}  # by the server's index, the newest of each
        self._last: _Call | None = None
        self._reason: str | None = None

    def read(self, event: Mapping[str, Any]) -> Sequence[ModelEvent]:
        """Process the next chunk, and return what the person may see of it."""
        if event is DONE:
            self.is_whole = True
            return ()
        shown: list[ModelEvent] = []
        choices = event.get("choices")
        if choices is not None and not isinstance(choices, list):
            raise self._garbled()
        if not self._begun and (choices or "usage" in event):
            shown += super().read({"type": "message_start", "message": {**event, "usage": None}})
        for choice in choices or ():
            if not isinstance(choice, Mapping):
                raise self._garbled()
            if choice.get("index") in (0, None):
                shown += self._choice(choice)
        if usage := _usage(event.get("usage")):
            shown += super().read({"type": "message_delta", "delta": {}, "usage": usage})
        return shown

    def answer(self) -> Answer:
        """Return the assembled answer: reasoning, text, calls."""
        if self._reason is None:
            raise ModelError("cut", "The answer broke off before its end.")
        for index in self._drafts:
            super().read({"type": "content_block_stop", "index": index})
        if stop := _STOP_REASONS.get(self._reason, self._reason):
            super().read({"type": "message_delta", "delta": {"stop_reason": stop}})
        super().read({"type": "message_stop"})
        answer = super().answer()
        rank = {"thinking": 0, "text": 1}
        blocks = sorted(answer.blocks, key=lambda block: rank.get(block["type"], 2))
        return replace(answer, blocks=tuple(blocks))

    # --- the chunks --------------------------------------------------------------------

    def _choice(self, choice: Mapping[str, Any]) -> Iterator[ModelEvent]:
        delta = choice.get("delta")
        if delta is not None and not isinstance(delta, Mapping):
            raise self._garbled()
        for name in (*REASONING, "content", "refusal"):
            if isinstance(text := (delta or {}).get(name), str) and text:
                yield from self._text(name, text)
        calls = (delta or {}).get("tool_calls")
        if calls is not None and not isinstance(calls, list):
            raise self._garbled()
        for call in calls or ():
            yield from self._call(call)
        reason = choice.get("finish_reason")
        if isinstance(reason, str) and reason:
            if reason == "error":
                raise ModelError("server", "The server failed within the answer.")
            self._reason = reason

    def _text(self, name: str, text: str) -> Iterator[ModelEvent]:
        is_thought = name in REASONING
        kind = "thinking" if is_thought else "text"
        if is_thought and any(one in self._open for one in REASONING if one != name):
            return  # some servers send the same in both fields
        if name == "refusal":
            name = "content"
        if name not in self._open:
            block: dict[str, Any] = {"type": kind, kind: ""}
            if is_thought:
                block |= {"signature": "", "field": name}
            self._open[name] = len(self._drafts)
            yield from self._add_block(block)
        yield from self._extend(self._open[name], {"type": f"{kind}_delta", kind: text})

    def _call(self, call: object) -> Iterator[ModelEvent]:
        if not isinstance(call, Mapping) or not isinstance(call.get("index"), int | str | None):
            raise self._garbled()
        function = call.get("function")
        function = function if isinstance(function, Mapping) else {}
        given, name = call.get("id"), function.get("name")
        known = self._known(call, given, name)
        if known is None:
            if not isinstance(name, str) or not name:
                raise ModelError(
                    "cut",
                    "The answer was garbled: it continues a block that is not open.",
                )
            id_ = given if isinstance(given, str) and given else f"call_{len(self._drafts)}"
            known = _Call(id_, len(self._drafts))
            self._calls[call.get("index")] = known
            yield from self._add_block({"type": "tool_use", "id": id_, "name": name, "input": {}})
        self._last = known
        pieces = function.get("arguments")
        if isinstance(pieces, Mapping):  # in one piece, and not written as text
            pieces = json.dumps(pieces)
        if isinstance(pieces, str) and pieces:
            piece = {"type": "input_json_delta", "partial_json": pieces}
            yield from self._extend(known.block, piece)

    def _known(self, call: Mapping[str, Any], given: object, name: object) -> _Call | None:
        """Return the call that a piece continues; None if it starts one.

        A piece continues the call of its index. Some servers give all calls the same index, or
        none: there another id starts another call.
        """
        index = call.get("index")
        known = self._calls.get(index) if index is not None else self._last
        if known is None:
            return None
        is_other = isinstance(given, str) and bool(given) and given != known.id
        return None if is_other and name else known

    def _add_block(self, block: Block) -> Sequence[ModelEvent]:
        event = {"type": "content_block_start", "index": len(self._drafts), "content_block": block}
        return super().read(event)

    def _extend(self, index: int, delta: Mapping[str, Any]) -> Sequence[ModelEvent]:
        return super().read({"type": "content_block_delta", "index": index, "delta": delta})

    def _garbled(self) -> ModelError:
        return ModelError("cut", "The answer was garbled: an event is incomplete.")


def _usage(given: object) -> dict[str, int]:
    """Convert a usage: there the input includes what was read from the cache."""
    if not isinstance(given, Mapping):
        return {}
    sent, answered = _count(given.get("prompt_tokens")), _count(given.get("completion_tokens"))
    details = given.get("prompt_tokens_details")
    details = details if isinstance(details, Mapping) else {}
    cached = _count(details.get("cached_tokens")) or _count(given.get("prompt_cache_hit_tokens"))
    found = {"output_tokens": answered}
    if sent is not None:
        cached = min(cached or 0, sent)
        found |= {"input_tokens": sent - cached, "cache_read_input_tokens": cached}
    return {name: count for name, count in found.items() if count is not None}


def _count(value: object) -> int | None:
    return value if type(value) is int and value >= 0 else None
