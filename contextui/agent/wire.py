"""Convert requests to Anthropic's Messages API, with prompt-cache marks.

A cache mark (`cache_control`) makes the provider cache everything up to it. The next request that
starts with the same bytes reads it from the cache for a tenth of the price, if it has a mark at the
same place or within 20 blocks after it. A request may have four marks.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, islice, takewhile
from typing import Any

from contextui.agent.image import sent_block
from contextui.agent.request import is_same, shared_start
from contextui.model import Block, LlmMessage, ModelRequest
from contextui.words import LANGUAGES, Words, msg

GO_ON = msg("(Go on.)")
EMPTY_ANSWER = msg("(Your answer was empty. Answer in words, or go on.)")
CUT_CALL = msg(
    "(Your answer was cut off within a call, so that call was not carried out. Make shorter calls.)"
)
_NUDGES = frozenset(
    Words(lang)(text) for lang in LANGUAGES for text in (GO_ON, EMPTY_ANSWER, CUT_CALL)
)  # messages of the loop to the model within a turn
_FAILED = "|".join(re.escape(Words(lang)("failed")) for lang in LANGUAGES)
_RESULT = re.compile(rf"\[\w+( ({_FAILED}))?\] ")  # a result in the text protocol


def likely_mark(request: ModelRequest) -> int:
    """Guess after how many blocks an earlier run of the program set a mark; 0 if nowhere.

    Within a turn that is where its last answer begins. At the start of a turn it is where the
    previous turn began: its own bytes changed when it got its final form.
    """
    sizes = [len(message.content) for message in request.messages]
    starts = [0, *accumulate(sizes)]
    placed = list(zip(starts, request.messages, strict=False))
    answers = [start for start, message in placed if message.role == "assistant"]
    if answers and answers[-1] >= request.stable:
        return answers[-1]
    began = (
        start for start, one in reversed(placed) if start < request.stable and _starts_turn(one)
    )
    return next(began, 0)


def _starts_turn(message: LlmMessage) -> bool:
    """Whether a turn begins with this message: neither results nor nudges do."""
    if message.role != "user" or isinstance(message.content, str):
        return False
    texts = [_text(block) for block in message.content]
    return not any(one is None or _RESULT.match(one) for one in texts) and not _is_nudge(texts)


def _text(block: Block) -> str | None:
    return block.get("text", "") if block["type"] != "tool_result" else None


def _is_nudge(texts: Sequence[str | None]) -> bool:
    return all(text in _NUDGES for text in texts)


_MARK = {"type": "ephemeral"}
_MARKABLE = frozenset(("text", "image", "document", "tool_use", "tool_result"))


@dataclass(frozen=True, slots=True, eq=False)
class Payload:
    """A request in the provider's format.

    Attributes:
        request: The source request.
        body: What is sent, as JSON values. It shares its blocks with the request: never change
            them.
        marks: The positions of cache marks, as block numbers from 1 over all messages.
        messages: The messages before marks were set, which the next request uses again.
    """

    request: ModelRequest
    body: dict[str, Any]
    marks: frozenset[int]
    messages: "WireMessages" = field(repr=False)


def payload(request: ModelRequest, model: str, previous: Sequence[Payload] = ()) -> Payload:
    """Convert a request to the provider's format and set its cache marks.

    Marks are set where the request says. If it does not, they are set after the system prompt,
    after what is in its final form, at the end (for the next step), and at the furthest mark of a
    previous request that is still valid: after a turn or step of more than 20 blocks the cache
    would be missed without it. If no previous request is known, that mark is set where an earlier
    run of the program probably had one.

    Args:
        request: What to send.
        model: The model's name.
        previous: Requests sent to the same model before, in order.
    """
    messages = WireMessages(request.messages, previous[-1].messages if previous else None)
    places = request.marks
    if places is None:
        ours = [one for one in previous if _has_same_head(one.request, request)]
        held = _cached_mark(messages, ours) if ours else likely_mark(request)
        places = (0, held, request.stable, len(messages))
    marks = frozenset(map(messages.last_markable, places))
    body = {
        "model": model,
        "max_tokens": request.max_tokens,
        **_head(request, is_marked=0 in marks),
        "messages": messages.with_marks(marks - {0}),
    }
    return Payload(request, body, marks - {0}, messages)


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
    """Messages in the provider's format, with blocks numbered from 1 across messages.

    Args:
        messages: The messages of a request.
        before: The previous request's: the messages that both share are written only once.
    """

    def __init__(
        self, messages: Sequence[LlmMessage], before: "WireMessages | None" = None
    ) -> None:
        self._source = messages
        self._written: list[dict[str, Any]] = []
        self._ends: list[int] = []
        shared = 0
        if before is not None:
            shared = shared_start(before._source, messages)
            self._written, self._ends = before._written[:shared], before._ends[:shared]
        for one in islice(messages, shared, None):
            self._written.append({"role": one.role, "content": _blocks(one)})
            self._ends.append(len(self) + len(self._written[-1]["content"]))

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

    def common_blocks(self, other: "WireMessages") -> int:
        """Count the equal blocks at the start of both."""
        shared = shared_start(self._source, other._source)
        count = self._ends[shared - 1] if shared else 0
        if shared == min(len(self._source), len(other._source)):
            return count
        ours, theirs = self._written[shared], other._written[shared]
        if ours["role"] != theirs["role"]:
            return count
        pairs = zip(ours["content"], theirs["content"], strict=False)
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


# --- cache still held by the provider ------------------------------------------------------


def _cached_mark(messages: WireMessages, previous: Sequence[Payload]) -> int:
    """Return the furthest mark of a previous request that is still valid for this one."""
    furthest = 0
    for sent in reversed(previous):  # the latest usually matches, which skips the others
        marks = [mark for mark in sent.marks if mark > furthest]
        if not marks:
            continue
        shared = sent.messages.common_blocks(messages)
        furthest = max((mark for mark in marks if mark <= shared), default=furthest)
    return furthest


def _has_same_head(one: ModelRequest, other: ModelRequest) -> bool:
    """Whether both have the same tools and system prompt."""
    return one.system == other.system and one.tools == other.tools


def _blocks(message: LlmMessage) -> Sequence[Block]:
    content = message.content
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [sent_block(one) for one in content]
