"""Convert requests to Anthropic's Messages API, with prompt-cache marks.

A cache mark (`cache_control`) makes the provider cache everything up to it. The next request that
starts with the same bytes reads it from the cache for a tenth of the price, if it has a mark at the
same place or within 20 blocks after it. A request may have four marks. By price, their places are
decided in `contextui.context.placement.transcript`.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice, takewhile
from typing import Any

from contextui.agent.image import sent_block
from contextui.agent.request import is_same, shared_start
from contextui.model import Block, LlmMessage, ModelRequest

_MARK = {"type": "ephemeral"}
_MARKABLE = frozenset(("text", "image", "document", "tool_use", "tool_result"))


@dataclass(slots=True, eq=False)
class Payload:
    """A request in the provider's format, with its blocks numbered from 1 across messages."""

    body: dict[str, Any]
    source: Sequence[LlmMessage]
    written: list[dict[str, Any]]
    ends: list[int]
    held: int = 0  # the blocks of the last request that this one begins with

    def __len__(self) -> int:
        return self.ends[-1] if self.ends else 0

    def last_markable(self, count: int) -> int:
        """Return the last of the first `count` blocks that may have a mark; 0 if none may."""
        count = min(count, len(self))
        while count and not self._may_be_marked(count):
            count -= 1
        return count

    def with_marks(self, numbers: Iterable[int]) -> list[dict[str, Any]]:
        """Return the messages with marks on the blocks of these numbers."""
        marked = list(self.written)
        for number in numbers:
            at, index = self._place(number)
            content = list(marked[at]["content"])
            content[index] = _marked(content[index])
            marked[at] = {**marked[at], "content": content}
        return marked

    def common(self, before: "Payload", shared: int) -> int:
        """Count the equal blocks at the start of both, which share so many messages."""
        count = self.ends[shared - 1] if shared else 0
        ours, theirs = self.written[shared : shared + 1], before.written[shared : shared + 1]
        if not (ours and theirs and ours[0]["role"] == theirs[0]["role"]):
            return count
        pairs = zip(ours[0]["content"], theirs[0]["content"], strict=False)
        return count + sum(1 for _ in takewhile(lambda pair: is_same(*pair), pairs))

    def _place(self, number: int) -> tuple[int, int]:
        """Return the index of a block's message, and its own counted from the message's end."""
        at = bisect_left(self.ends, number)
        return at, number - self.ends[at] - 1

    def _may_be_marked(self, number: int) -> bool:
        at, index = self._place(number)
        block = self.written[at]["content"][index]
        if block["type"] == "text":
            return bool(block["text"].strip())
        return block["type"] in _MARKABLE  # thinking may not be marked, unknown types perhaps not


def payload(request: ModelRequest, model: str, before: Payload | None = None) -> Payload:
    """Convert a request to the provider's format and set its cache marks.

    Marks are set where the request says. If it does not, they are set after the system prompt,
    after what is in its final form, at the end, and where the last request ended that this one
    begins with: after a step of more than 20 blocks the cache would be missed without it.
    """
    shared = shared_start(before.source, request.messages) if before is not None else 0
    sent = Payload({}, request.messages, [], [])
    if before is not None:
        sent.written, sent.ends = before.written[:shared], before.ends[:shared]
    for message in islice(request.messages, shared, None):
        sent.written.append({"role": message.role, "content": _blocks(message)})
        sent.ends.append(len(sent) + len(sent.written[-1]["content"]))
    if before is not None:
        common = sent.common(before, shared)
        sent.held = max(end for end in (0, before.held, len(before)) if end <= common)
    places = request.marks
    if places is None:
        places = (0, sent.held, request.stable, len(sent))
    marks = frozenset(map(sent.last_markable, places))
    sent.body = {
        "model": model,
        "max_tokens": request.max_tokens,
        **_head(request, is_marked=0 in marks),
        "messages": sent.with_marks(marks - {0}),
    }
    return sent


def _head(request: ModelRequest, *, is_marked: bool) -> dict[str, Any]:
    """Write tools and system prompt; one mark on the last of them covers both.

    By price, `contextui.context.placement.transcript` decides on it: see `AFTER_SYSTEM` there.
    """
    head: dict[str, Any] = {}
    if request.tools:
        head["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}
            for tool in request.tools
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


def _blocks(message: LlmMessage) -> Sequence[Block]:
    content = message.content
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [sent_block(one) for one in content]
