"""Convert requests to Anthropic's Messages API, with prompt-cache marks.

A cache mark (`cache_control`) makes the provider cache everything up to it. The next request that
starts with the same bytes reads it from the cache for a tenth of the price, if it has a mark at the
same place or within 20 blocks after it. A request may have four marks.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice, takewhile
from typing import Any

from contextui.agent.image import sent_block
from contextui.agent.request import is_same, shared_start
from contextui.model import Block, LlmMessage, ModelRequest

_MARK = {"type": "ephemeral"}
_MARKABLE = frozenset(("text", "image", "document", "tool_use", "tool_result"))


@dataclass(frozen=True, slots=True, eq=False)
class Payload:
    """A request in the provider's format."""

    body: dict[str, Any]
    messages: "WireMessages" = field(repr=False)


def payload(request: ModelRequest, model: str, before: Payload | None = None) -> Payload:
    """Convert a request to the provider's format and set its cache marks.

    Marks are set where the request says. If it does not, they are set after the system prompt,
    after what is in its final form, at the end, and where the last request ended that this one
    begins with: after a step of more than 20 blocks the cache would be missed without it.
    """
    messages = WireMessages(request.messages, before.messages if before is not None else None)
    places = request.marks
    if places is None:
        places = (0, messages.held, request.stable, len(messages))
    marks = frozenset(map(messages.last_markable, places))
    body = {
        "model": model,
        "max_tokens": request.max_tokens,
        **_head(request, is_marked=0 in marks),
        "messages": messages.with_marks(marks - {0}),
    }
    return Payload(body, messages)


def _head(request: ModelRequest, *, is_marked: bool) -> dict[str, Any]:
    """Write tools and system prompt; one mark on the last of them covers both."""
    head: dict[str, Any] = {}
    if request.tools:
        head["tools"] = [
            {"name": one.name, "description": one.description, "input_schema": one.input_schema}
            for one in request.tools
        ]
    if request.system.strip():
        block: Block = {"type": "text", "text": request.system}
        head["system"] = [_marked(block) if is_marked else block]
    elif request.tools and is_marked:
        head["tools"][-1] = _marked(head["tools"][-1])
    return head


def _marked(block: Block) -> Block:
    """Return a copy with a cache mark: the block itself belongs to the session."""
    return {**block, "cache_control": _MARK}


class WireMessages:
    """Messages in the provider's format, with blocks numbered from 1 across messages."""

    def __init__(
        self, messages: Sequence[LlmMessage], before: "WireMessages | None" = None
    ) -> None:
        self._source = messages
        self._written: list[dict[str, Any]] = []
        self._ends: list[int] = []
        self.held = shared = 0  # the blocks of the last request that this one begins with
        if before is not None:
            shared = shared_start(before._source, messages)
            self._written, self._ends = before._written[:shared], before._ends[:shared]
        for one in islice(messages, shared, None):
            self._written.append({"role": one.role, "content": _blocks(one)})
            self._ends.append(len(self) + len(self._written[-1]["content"]))
        if before is not None:
            common = self._common(before, shared)
            self.held = max(end for end in (0, before.held, len(before)) if end <= common)

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def last_markable(self, count: int) -> int:
        """Return the last of the first `count` blocks that may have a mark; 0 if none may."""
        count = min(count, len(self))
        while count and not self._may_be_marked(count):
            count -= 1
        return count

    def with_marks(self, numbers: Iterable[int]) -> list[dict[str, Any]]:
        """Return the messages with marks on the blocks of these numbers."""
        marked = list(self._written)
        for number in numbers:
            at, index = self._place(number)
            content = list(marked[at]["content"])
            content[index] = _marked(content[index])
            marked[at] = {**marked[at], "content": content}
        return marked

    def _common(self, before: "WireMessages", shared: int) -> int:
        """Count the equal blocks at the start of both, which share so many messages."""
        count = self._ends[shared - 1] if shared else 0
        ours, theirs = self._written[shared : shared + 1], before._written[shared : shared + 1]
        if not (ours and theirs and ours[0]["role"] == theirs[0]["role"]):
            return count
        pairs = zip(ours[0]["content"], theirs[0]["content"], strict=False)
        return count + sum(1 for _ in takewhile(lambda pair: is_same(*pair), pairs))

    def _place(self, number: int) -> tuple[int, int]:
        """Return the index of a block's message, and its own counted from the message's end."""
        at = bisect_left(self._ends, number)
        return at, number - self._ends[at] - 1

    def _may_be_marked(self, number: int) -> bool:
        at, index = self._place(number)
        block = self._written[at]["content"][index]
        if block["type"] == "text":
            return bool(block["text"].strip())
        return block["type"] in _MARKABLE  # thinking may not be marked, unknown types perhaps not


def _blocks(message: LlmMessage) -> Sequence[Block]:
    content = message.content
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [sent_block(one) for one in content]
