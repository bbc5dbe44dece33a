"""Requests in the form in which Anthropic's Messages API takes them, with cache marks.

A cache mark makes the provider keep all that it read up to there. The next request that begins
with the same bytes reads it back for a tenth of the price, if it has a mark there itself or within
20 blocks behind. There may be four marks.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from contextui.model import Block, LlmMessage, ModelRequest

_MARK = {"type": "ephemeral"}
_MARKABLE = frozenset(("text", "image", "document", "tool_use", "tool_result"))


@dataclass(frozen=True, slots=True, eq=False)
class Payload:
    """A request in the provider's form.

    Attributes:
        request: What it was made of.
        body: What is sent, as JSON values. Its blocks are the request's own: never change them.
        marks: After how many blocks, counted over all messages, a cache mark stands.
    """

    request: ModelRequest
    body: dict[str, Any]
    marks: frozenset[int]


def payload(request: ModelRequest, model: str, previous: Iterable[Payload] = ()) -> Payload:
    """Put a request into the provider's form.

    Marks stand behind the system prompt, behind what is in its final form, at the end (for the
    next step), and where the furthest mark of a previous request still holds: after a turn or a
    step of more than 20 blocks the cache could not be found without that one.

    Args:
        request: What to send.
        model: The model's name.
        previous: What was sent to the same model before.
    """
    contents = [list(_blocks(message)) for message in request.messages]
    places = [(content, index) for content in contents for index in range(len(content))]
    held = max((_held(sent, request) for sent in previous), default=0)
    marks = frozenset(
        (_markable(places, request.stable), _markable(places, len(places)), held)
    ) - {0}  # fmt: skip
    for mark in marks:
        content, index = places[mark - 1]
        content[index] = _marked(content[index])
    body = {
        "model": model,
        "max_tokens": request.max_tokens,
        **_head(request),
        "messages": [
            {"role": message.role, "content": content}
            for message, content in zip(request.messages, contents, strict=True)
        ],
    }
    return Payload(request, body, marks)


def _head(request: ModelRequest) -> dict[str, Any]:
    """Tools and system prompt, of which the last has the mark for both."""
    head: dict[str, Any] = {}
    if request.tools:
        head["tools"] = [
            {"name": one.name, "description": one.description, "input_schema": one.input_schema}
            for one in request.tools
        ]
    if request.system.strip():
        head["system"] = [_marked({"type": "text", "text": request.system})]
    elif request.tools:
        head["tools"][-1] = _marked(head["tools"][-1])
    return head


def _marked(block: Block) -> Block:
    """A copy with a cache mark: the block itself belongs to the session."""
    return {**block, "cache_control": _MARK}


def _markable(places: Sequence[tuple[list[Block], int]], count: int) -> int:
    """The furthest place up to `count` blocks where a mark may stand; 0 if there is none."""
    count = min(count, len(places))
    while count and not _takes_mark(*places[count - 1]):
        count -= 1
    return count


def _takes_mark(content: Sequence[Block], index: int) -> bool:
    block = content[index]
    if block["type"] == "text":
        return bool(block["text"].strip())
    return block["type"] in _MARKABLE  # thinking is not, and of an unknown type nobody knows


# --- what the provider still holds -------------------------------------------------------


def _held(sent: Payload, request: ModelRequest) -> int:
    """Where the furthest mark stood up to which this request is the same as the one sent."""
    before = sent.request
    if before.system != request.system or before.tools != request.tools:
        return 0
    shared = _shared(before.messages, request.messages)
    return max((mark for mark in sent.marks if mark <= shared), default=0)


def _shared(before: Sequence[LlmMessage], now: Sequence[LlmMessage]) -> int:
    """With how many same blocks two conversations begin."""
    count = 0
    for old, new in zip(before, now, strict=False):
        if old.role != new.role:
            break
        ours, theirs = _blocks(old), _blocks(new)
        pairs = zip(ours, theirs, strict=False)
        same = sum(1 for _ in takewhile(lambda pair: _is_same(*pair), pairs))
        count += same
        if same < max(len(ours), len(theirs)):
            break
    return count


def _blocks(message: LlmMessage) -> Sequence[Block]:
    content = message.content
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _is_same(one: Any, other: Any) -> bool:
    """Whether both are written as the same bytes: of mappings the order counts too."""
    if one is other:
        return True
    if type(one) is not type(other):  # 1, 1.0 and True are equal, and are not written alike
        return False
    if isinstance(one, Mapping):
        return list(one) == list(other) and all(_is_same(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(_is_same, one, other))
    return bool(one == other)
