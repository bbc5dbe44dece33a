"""Assemble an answer from streamed server-sent events."""

import json
import math
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, fields, replace
from typing import Any

from contextui.context.item import THINKING
from contextui.model import (
    Answer,
    Block,
    CallBegun,
    ModelError,
    ModelEvent,
    TextDelta,
    ThinkingDelta,
    UsageUpdated,
)
from contextui.tokens import Usage

_CUT_SHORT = frozenset(("max_tokens", "model_context_window_exceeded", "refusal"))
"""Stop reasons after which the last block may be truncated."""

_FIELDS = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}
"""The field that deltas of known types append to; their other fields are ignored."""

_MOST_TOKENS = 10**12
"""Upper limit for a token count; larger and negative counts are ignored as invalid."""

_LEAST = 64
"""Minimum number of characters counted for a block."""

_DEEPEST = 100
"""Maximum nesting of a call's input. Deeper values break recursive code."""


class AnswerReader:
    """Reads the events of one stream, in order, and assembles an `Answer`.

    Events of unknown types are skipped, blocks and deltas of unknown types are kept. A call with
    truncated input is dropped; only its name is kept.

    Attributes:
        is_whole: Whether the stream announced its end.
        progress: How many events extended the answer. Empty deltas, repeated totals and
            unknown events do not count.
        size: How many characters the answer has.
    """

    def __init__(self, model: str) -> None:
        self.is_whole = False
        self.progress = self.size = 0
        self._model = model
        self._usage = Usage()
        self._stop_reason: str | None = None
        self._begun = False
        self._drafts: dict[int, _Draft] = {}  # by the provider's index

    def read(self, event: Mapping[str, Any]) -> Sequence[ModelEvent]:
        """Process the next event, and return what the person may see of it."""
        match event.get("type"):
            case "message_start":
                return self._start(self._part(event, "message"))
            case "content_block_start":
                return self._begin(event.get("index"), self._part(event, "content_block"))
            case "content_block_delta":
                draft, delta = self._draft(event.get("index")), self._part(event, "delta")
                if size := sum(_size(delta[name]) for name in delta if name != "type"):
                    self._advance(size)
                return draft.add(delta)
            case "content_block_stop":
                self._stop(event.get("index"))
            case "message_delta":
                return self._close(self._part(event, "delta"), event.get("usage"))
            case "message_stop":
                self.is_whole = True
        return ()

    def answer(self) -> Answer:
        """Return the assembled answer."""
        if not self.is_whole:
            raise ModelError("cut", "The answer broke off before its end.")
        drafts = list(self._drafts.values())
        cut = [draft for draft in drafts if self._is_cut(draft, draft is drafts[-1])]
        blocks = tuple(draft.block for draft in drafts if draft not in cut)
        calls = any(block["type"] == "tool_use" for block in blocks)
        return Answer(
            blocks=blocks,
            stop_reason=self._stop_reason or ("tool_use" if calls else "end_turn"),
            usage=self._usage,
            model=self._model,
            cut_calls=tuple(str(one.block.get("name") or "") for one in cut if one.is_call),
        )

    # --- the events --------------------------------------------------------------------

    def _advance(self, size: int = 0) -> None:
        self.progress += 1
        self.size += size

    def _start(self, message: Mapping[str, Any]) -> Sequence[ModelEvent]:
        if self._begun or self._drafts:
            raise ModelError("cut", "The answer was garbled: it started twice.")
        self._begun = True
        self._advance()
        if isinstance(message.get("model"), str):
            self._model = message["model"] or self._model
        return self._count(message.get("usage"))

    def _begin(self, index: object, block: Mapping[str, Any]) -> Sequence[ModelEvent]:
        if not isinstance(block.get("type"), str):
            raise ModelError("cut", "The answer was garbled: a block has no type.")
        if not isinstance(index, int) or index in self._drafts:
            raise ModelError("cut", "The answer was garbled: two blocks have the same index.")
        self._advance(_LEAST + _size(block))
        draft = self._drafts[index] = _Draft(dict(block))
        return draft.events()

    def _draft(self, index: object) -> "_Draft":
        draft = self._drafts.get(index) if isinstance(index, int) else None
        if draft is None or draft.is_stopped:
            raise ModelError(
                "cut",
                "The answer was garbled: it continues a block that is not open.",
            )
        return draft

    def _stop(self, index: object) -> None:
        draft = self._drafts.get(index) if isinstance(index, int) else None
        if draft is not None and not draft.is_stopped:
            draft.is_stopped = True
            self._advance()

    def _close(self, delta: Mapping[str, Any], usage: object) -> Sequence[ModelEvent]:
        if isinstance(delta.get("stop_reason"), str):
            if self._stop_reason is None:
                self._advance()
            self._stop_reason = delta["stop_reason"]
        return self._count(usage)

    def _count(self, usage: object) -> Sequence[ModelEvent]:
        """Update the usage: counts of later events are totals, or null."""
        if not isinstance(usage, Mapping):
            return ()
        counts = {field.name: usage.get(field.name) for field in fields(Usage)}
        known = {
            name: count
            for name, count in counts.items()
            if type(count) is int and 0 <= count <= _MOST_TOKENS
        }
        self._usage = replace(self._usage, **known)
        return (UsageUpdated(self._usage),)

    def _part(self, event: Mapping[str, Any], name: str) -> Block:
        part = event.get(name)
        if not isinstance(part, Mapping):
            raise ModelError("cut", "The answer was garbled: an event is incomplete.")
        return part

    def _is_cut(self, draft: "_Draft", is_last: bool) -> bool:
        """Whether a block is truncated; joins the pieces of the block and parses its input."""
        draft.join()
        is_short = self._stop_reason in _CUT_SHORT
        if draft.block["type"] == "thinking":  # the provider rejects it without its signature
            return is_short and is_last and not draft.block.get("signature")
        if not draft.is_call:
            return False
        if not draft.is_stopped or (is_short and is_last):
            return True
        return not draft.parse_input(may_be_empty=not is_short)


@dataclass(slots=True, eq=False)
class _Draft:
    """A block that is being streamed."""

    block: dict[str, Any]
    is_stopped: bool = False
    _texts: dict[str, list[str]] = field(default_factory=dict)
    _input: list[str] = field(default_factory=list)

    @property
    def is_call(self) -> bool:
        return self.block["type"] == "tool_use" or bool(self._input)

    def events(self) -> Sequence[ModelEvent]:
        """Return the events for what the block starts with."""
        match self.block:
            case {"type": "tool_use", "name": str(name)}:
                return (CallBegun(name),)
            case {"type": "text", "text": str(text)} if text:
                return (TextDelta(text),)
            case {"type": "thinking", "thinking": str(text)} if text:
                return (ThinkingDelta(text),)
        return ()

    def add(self, delta: Mapping[str, Any]) -> Sequence[ModelEvent]:
        match delta:
            case {"type": "input_json_delta"} if self.block["type"] in ("text", *THINKING):
                return ()  # text takes no input
            case {"type": "input_json_delta", "partial_json": str(text)}:
                self._input.append(text)
            case {"type": "citations_delta", "citation": citation}:
                self._extend("citations", [citation])
            case {"type": str(kind)} if kind in _FIELDS:
                self._extend(_FIELDS[kind], delta.get(_FIELDS[kind], ""))
            case _:
                for name, value in delta.items():
                    if name != "type":
                        self._extend(name, value)
        match delta:
            case {"type": "text_delta", "text": str(text)} if text:
                return (TextDelta(text),)
            case {"type": "thinking_delta", "thinking": str(text)} if text:
                return (ThinkingDelta(text),)
        return ()

    def _extend(self, name: str, value: object) -> None:
        """Append text to text and items to a list; replace any other value."""
        old = self.block.get(name)
        if isinstance(value, str) and name != "signature":  # a signature comes in one piece
            self._texts.setdefault(name, [old] if isinstance(old, str) else []).append(value)
        elif isinstance(value, list) and isinstance(old, list):
            old.extend(value)
        else:
            self.block[name] = value

    def join(self) -> None:
        self.block |= {name: "".join(pieces) for name, pieces in self._texts.items()}

    def parse_input(self, may_be_empty: bool) -> bool:
        """Parse the call's input; return False if the input, id or name is incomplete."""
        named = [self.block.get(one) for one in ("id", "name")]
        if self.block["type"] == "tool_use" and not all(isinstance(n, str) and n for n in named):
            return False
        text = "".join(self._input)
        if text.strip():
            value = _parsed(text)
        else:  # other servers may send the input in one piece
            value = self.block.get("input") or ({} if may_be_empty else None)
        if not isinstance(value, dict):
            return False
        self.block["input"] = value
        return True


def _size(value: object, levels: int = _DEEPEST) -> int:
    """Count the characters of all texts in a value; other values count a little."""
    match value:
        case str():
            return len(value)
        case dict() if levels:
            return sum(len(key) + _size(one, levels - 1) for key, one in value.items())
        case list() if levels:
            return sum(1 + _size(one, levels - 1) for one in value)
        case None:
            return 0
    return 8


def _parsed(text: str) -> object:
    """Parse strict JSON; None if it is invalid or too deeply nested."""
    try:
        value = json.loads(text, parse_constant=_finite, parse_float=_finite)
    except (ValueError, RecursionError):
        return None
    return value if _is_flat(value, _DEEPEST) else None


def _finite(number: str) -> float:
    """Parse a number; reject NaN and infinity, also from overflow such as 1e999."""
    if not math.isfinite(value := float(number)):
        raise ValueError(number)
    return value


def _is_flat(value: object, levels: int) -> bool:
    match value:
        case dict():
            return levels > 0 and all(_is_flat(one, levels - 1) for one in value.values())
        case list():
            return levels > 0 and all(_is_flat(one, levels - 1) for one in value)
    return True


_BOM = b"\xef\xbb\xbf"
_FIELD = b"data"


async def data_of(chunks: AsyncIterator[bytes], longest: int) -> AsyncGenerator[str]:
    """Yield the data of each server-sent event; an event truncated by the end is dropped."""
    data: list[bytes] = []
    size = 0
    async with aclosing(_lines(chunks, longest)) as lines:
        async for line in lines:
            size += len(line)
            if size > longest:
                raise ValueError("an event without an end")
            if not line:
                if data:
                    yield b"\n".join(data).decode()
                data, size = [], 0
                continue
            field, _, value = line.partition(b":")
            if field == _FIELD:
                data.append(value.removeprefix(b" "))


async def _lines(chunks: AsyncIterator[bytes], longest: int) -> AsyncGenerator[bytes]:
    """Yield lines ended by LF, CR or CRLF, even if a chunk ends between CR and LF."""
    begun: list[bytes] = []
    size, may_be_lf, is_first = 0, False, True
    async for chunk in chunks:
        rest = chunk.removeprefix(b"\n") if may_be_lf else chunk
        may_be_lf = chunk.endswith(b"\r") if chunk else may_be_lf
        for part in rest.splitlines(keepends=True):
            line = part.rstrip(b"\r\n")
            begun.append(line)
            size += len(line)
            if size > longest:
                raise ValueError("a line without an end")
            if line != part:
                whole = b"".join(begun)
                yield whole.removeprefix(_BOM) if is_first else whole
                begun, size, is_first = [], 0, False
