"""Validate and repair every request before it is sent to a model.

The result has the form that every provider accepts: user and assistant alternate, user first; no
empty text; no character that JSON or UTF-8 cannot represent; every call answered at the start of
the next message, and no result without its call. Clean messages pass unchanged, so that the bytes
of one request are a prefix of the next one's and the provider's cache stays valid.
"""

import json
import math
import re
import threading
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress, count, takewhile
from operator import is_not
from typing import Any, NamedTuple

from contextui.context.item import THINKING
from contextui.context.messages import Messages
from contextui.errors import ContextUIError
from contextui.model import Block, LlmMessage, ModelRequest, Role
from contextui.text import for_model
from contextui.words import Lang, Words

PLAIN: Mapping[str, tuple[str, ...]] = {
    "text": ("type", "text"),
    "tool_use": ("type", "id", "name", "input"),
    "tool_result": ("type", "tool_use_id", "content", "is_error"),
}
"""The block types that every provider supports, and their fields."""

LONGEST_NAME = 64
"""Maximum length of a tool name in characters, as providers accept it."""

_ASSISTANT_ONLY = ("tool_use", *THINKING)  # not allowed in a user message
_USER_ONLY = ("tool_result", "image", "document", "search_result")  # not allowed in an assistant's
_NO_OUTPUT = "(no output)"
_INVALID = re.compile(r"[^a-zA-Z0-9_-]")
_NUL = "\\u0000"
_written = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def fit_block(block: Any, role: Role) -> Block | None:
    """Return a block as a provider accepts it; None if it is empty or not allowed in this role."""
    clean = _without_mark(block)
    if clean is None or clean["type"] in (_USER_ONLY if role == "assistant" else _ASSISTANT_ONLY):
        return None
    if clean["type"] == "tool_use":
        return _call(clean)
    if clean["type"] == "tool_result":
        return _result(clean)
    return clean if _is_whole(clean) else None


def plain_block(block: Block) -> Block | None:
    """Strip what only some providers support; None if nothing is left."""
    if block["type"] not in PLAIN:
        return None
    fields = {name: block[name] for name in PLAIN[block["type"]] if name in block}
    content = fields.get("content")
    if isinstance(content, list | tuple):
        fields["content"] = [one for part in content if (one := plain_block(part))] or _NO_OUTPUT
    return fields


def unsupported(refused: ModelRequest) -> Iterator[str]:
    """Yield the block types and fields of a request that not every provider supports."""
    for block in refused.blocks():
        inner = block.get("content") if block["type"] == "tool_result" else None
        for one in (block, *(inner if isinstance(inner, list | tuple) else ())):
            if one["type"] not in PLAIN:
                yield str(one["type"])
            elif plain_block(one) != one:
                yield from (str(name) for name in one if name not in PLAIN[one["type"]])


def text_block(words: str) -> Block:
    """Wrap text in a block."""
    return {"type": "text", "text": words}


def fit_id(given: Any) -> str:
    """Replace characters of a call id that the strictest provider rejects."""
    return _INVALID.sub("_", "" if given is None else str(given)) or "_"


def result_as_text(result: Block) -> Block:
    """Turn a result without a matching call into a text block."""
    content = result["content"]
    if not isinstance(content, str):
        content = "\n".join(one["text"] for one in content if one["type"] == "text")
    return text_block(content or _NO_OUTPUT)


def _without_mark(block: Any) -> Block | None:
    """Sanitize every text of a block and strip its cache mark: `cache_marks` sets these."""
    if not isinstance(block, Mapping) or not isinstance(block.get("type"), str):
        return None
    clean: Block = block if _is_clean(block) else _fit(block)
    if "cache_control" not in clean:
        return clean
    return {name: value for name, value in clean.items() if name != "cache_control"}


def _is_clean(value: Any) -> bool:
    """Whether JSON can represent the value unchanged. Encoding it is by far the fastest check."""
    try:
        written = _written(value)
        written.encode()
    except (TypeError, ValueError):  # a lone surrogate is a ValueError too
        return False
    return _NUL not in written  # may be an escaped backslash: `_fit` looks closer


def _fit(value: Any) -> Any:
    match value:
        case str():
            return for_model(value)
        case Mapping():
            return _fit_object(value)
        case list() | tuple():
            items = [_fit(one) for one in value]
            same = all(one is old for one, old in zip(items, value, strict=True))
            return value if same else items
        case None | bool() | int():
            return value
        case float() if math.isfinite(value):
            return value
    return for_model(str(value))


def _fit_object(value: Mapping[Any, Any]) -> dict[str, Any]:
    inner = {for_model(str(key)): _fit(one) for key, one in value.items()}
    if not isinstance(value, dict) or len(inner) != len(value):
        return inner
    pairs = zip(inner.items(), value.items(), strict=True)
    same = all(key is old_key and one is old for (key, one), (old_key, old) in pairs)
    return value if same else inner


def _call(block: Block) -> Block:
    given = block.get("input")
    if not isinstance(given, Mapping):
        given = {} if given is None else {"input": given}
    name = _INVALID.sub("_", str(block.get("name") or ""))[:LONGEST_NAME] or "_"
    return _changed(block, id=fit_id(block.get("id")), name=name, input=given)


def _result(block: Block) -> Block:
    is_error = bool(block.get("is_error"))
    content = _result_content(block.get("content"), is_error)
    fit = _changed(block, tool_use_id=fit_id(block.get("tool_use_id")), content=content)
    return _changed(fit, is_error=is_error) if "is_error" in fit else fit


def _result_content(content: Any, is_error: bool) -> Any:
    if isinstance(content, list | tuple):
        kept = [one for part in content if (one := _fit_inner(part, is_error)) is not None]
        same = [id(one) for one in kept] == [id(one) for one in content]
        return (content if same else kept) or _NO_OUTPUT
    words = "" if content is None else str(content)
    return words if words.strip() else _NO_OUTPUT


def _fit_inner(block: Any, is_error: bool) -> Block | None:
    """Sanitize a part of a result; an error result may contain only text."""
    clean = _without_mark(block)
    if clean is None or clean["type"] in (*_ASSISTANT_ONLY, "tool_result"):
        return None
    if is_error and clean["type"] != "text":
        return None
    return clean if _is_whole(clean) else None


def _is_whole(block: Block) -> bool:
    """Whether a block has the fields that its type needs, and is not empty."""
    match block:
        case {"type": "text", "text": str(words)}:
            return bool(words.strip())
        case {"type": "thinking", "thinking": str(), "signature": str()}:
            return True
        case {"type": "redacted_thinking", "data": str()}:
            return True
    return block["type"] not in ("text", *THINKING)


def _changed(block: Block, **fields: Any) -> Block:
    same = all(name in block and block[name] == value for name, value in fields.items())
    kinds = all(type(block.get(name)) is type(value) for name, value in fields.items())
    return block if same and kinds else {**block, **fields}


class MalformedRequestError(ContextUIError):
    """A request that no provider would accept and that could not be repaired."""


class _Part(NamedTuple):
    """A block, and the position of the message that it comes from."""

    block: Block
    position: int


@dataclass(slots=True)
class _Turn:
    """Consecutive messages of one role, merged."""

    role: Role
    parts: list[_Part] = field(default_factory=list)
    sent: list[_Part] = field(default_factory=list)

    def calls(self) -> list[str]:
        return [part.block["id"] for part in self.parts if part.block["type"] == "tool_use"]


class Form(NamedTuple):
    """What a request leaves out, and the language of its placeholders."""

    without_thinking: bool = False
    plain: bool = False
    lang: Lang = "en"


class RequestBuilder:
    """Validates the requests of one conversation.

    Each request costs Python code only for messages that differ from the previous one: those
    that both share at the start are kept as they were validated. After the first message that
    differs, the blocks that were validated before are used again. Thread-safe.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._reset(Form())

    def _reset(self, form: Form) -> None:
        words = Words(form.lang)
        left_out = text_block(words("(The conversation before this was left out.)"))
        self._form, self._no_result = form, words("There is no result of this call.")
        self._beginning = LlmMessage("user", (left_out,))
        self._given: list[LlmMessage] = []
        self._source: Iterable[LlmMessage] = ()  # what they were taken from
        self._fit: list[list[Block]] = []  # the valid blocks of each given message
        self._system: list[tuple[str, int]] = []  # texts, and the positions of their messages
        self._calls: list[tuple[str, int]] = []
        self._known: set[str] = set()  # the ids of `_calls`
        self._turns: list[_Turn] = []
        # As sent, for all turns but those that changed: the message, where it ends counted in
        # blocks, and the position of the last given message in it.
        self._sent: list[LlmMessage] = []
        self._ends: list[int] = []
        self._lasts: list[int] = []

    def build(
        self,
        messages: Iterable[LlmMessage],
        form: Form = Form(),  # noqa: B008  (it is immutable)
        *,
        stable: int = 0,
        marks: Sequence[int] | None = None,
        **rest: Any,
    ) -> ModelRequest:
        """Build a valid request from messages; `rest` are its fields that need no validation."""
        with self._lock:
            if form != self._form:
                self._reset(form)
            shared, new = self._compare(messages)
            fit = self._fit_after(shared, new)
            self._cut(shared)
            for position, (message, blocks) in enumerate(zip(new, fit, strict=True), shared):
                self._enter(position, message, blocks)
            self._given[shared:], self._source = new, messages
            self._fit[shared:] = fit
            changed = len(self._sent)
            self._pair(changed)
            head, tail = self._head(), self._tail()
            request = ModelRequest(
                system="\n\n".join(text for text, _ in self._system),
                messages=(*head, *self._sent, *tail),
                stable=self._stable(stable),
                marks=None if marks is None else tuple(sorted(set(map(self._stable, marks)))),
                **rest,
            )
            if problems := faults(request.messages, changed + len(head) if changed else 0):
                self._reset(form)
                found = "; ".join(problems[:3])
                raise MalformedRequestError(f"The request cannot be sent: {found}.")
            return request

    def _compare(self, messages: Iterable[LlmMessage]) -> tuple[int, list[LlmMessage]]:
        """Count the messages that the previous request starts with too; return the others."""
        same = 0
        if isinstance(messages, Messages) and isinstance(self._source, Messages):
            same = messages.shared_with(self._source)
        new = messages.after(same) if isinstance(messages, Messages) else list(messages)
        more = shared_start(self._given[same:], new)
        return same + more, new[more:]

    def _fit_after(self, shared: int, new: Sequence[LlmMessage]) -> list[list[Block]]:
        """Return the valid blocks of the messages after the shared ones."""
        ids = map(id, self._given[shared:])  # `_given` keeps them from being reused
        known = dict(zip(ids, self._fit[shared:], strict=True))
        return [
            known[id(message)] if id(message) in known else self._fit_blocks(message)
            for message in new
        ]

    def _fit_blocks(self, message: LlmMessage) -> list[Block]:
        if self._form.plain:
            message = _plain(message)
        blocks = _fit_blocks(message, _role(message))
        left_out = THINKING if self._form.without_thinking else ()
        return [block for block in blocks if block["type"] not in left_out]

    def _cut(self, position: int) -> None:
        """Remove what comes from the messages at this position and after it."""
        turns = self._turns
        while turns and turns[-1].parts[0].position >= position:
            turns.pop()
        del self._sent[len(turns) :]
        if turns and turns[-1].parts[-1].position >= position:
            turns[-1].parts = [part for part in turns[-1].parts if part.position < position]
            del self._sent[len(turns) - 1 :]
        while self._calls and self._calls[-1][1] >= position:
            self._known.discard(self._calls.pop()[0])
        while self._system and self._system[-1][1] >= position:
            self._system.pop()

    def _enter(self, position: int, message: LlmMessage, blocks: list[Block]) -> None:
        """Add a message to the system prompt, to the last turn, or as a new turn."""
        role = _role(message)
        if message.role == "system" and not self._turns:
            texts = (block["text"] for block in blocks if block["type"] == "text")
            self._system += [(text, position) for text in texts]
            return
        if role == "assistant":
            blocks = _strip_end(self._without_repeated_calls(position, blocks))
        if not blocks:
            return
        if self._turns and self._turns[-1].role == role:
            del self._sent[len(self._turns) - 1 :]
        else:
            self._turns.append(_Turn(role))
        self._turns[-1].parts += [_Part(block, position) for block in blocks]

    def _without_repeated_calls(self, position: int, blocks: Iterable[Block]) -> list[Block]:
        """Drop a second call with the same id: the results could not be distinguished."""
        kept: list[Block] = []
        for block in blocks:
            if block["type"] == "tool_use":
                if block["id"] in self._known:
                    continue
                self._known.add(block["id"])
                self._calls.append((block["id"], position))
            kept.append(block)
        return kept

    def _pair(self, changed: int) -> None:
        """Pair calls and results in the turns that changed, and make their messages."""
        del self._ends[changed:], self._lasts[changed:]
        for number in range(changed, len(self._turns)):
            turn = self._turns[number]
            turn.sent = turn.parts
            if turn.role == "user":
                asked = self._turns[number - 1].calls() if number else []
                turn.sent = _answered(turn.parts, asked, self._no_result)
            self._sent.append(LlmMessage(turn.role, tuple(part.block for part in turn.sent)))
            self._ends.append((self._ends[-1] if self._ends else 0) + len(turn.sent))
            self._lasts.append(turn.parts[-1].position)

    def _head(self) -> tuple[LlmMessage, ...]:
        """Return a placeholder if the conversation starts with an answer."""
        starts = self._turns and self._turns[0].role == "assistant"
        return (self._beginning,) if starts else ()

    def _tail(self) -> tuple[LlmMessage, ...]:
        """Return placeholders for the results of the last calls, if there are none."""
        asked = self._turns[-1].calls() if self._turns else []
        missing = tuple(_missing(call, self._no_result) for call in asked)
        return (LlmMessage("user", missing),) if missing else ()

    def _stable(self, stable: int) -> int:
        """Count the first blocks that come from the first `stable` messages."""
        full = bisect_left(self._lasts, stable)
        rest = self._turns[full].sent if full < len(self._turns) else []
        before = self._ends[full - 1] if full else 0
        blocks = before + sum(1 for _ in takewhile(lambda part: part.position < stable, rest))
        # The placeholder at the start is as stable as the message that it precedes.
        return blocks + len(self._head()) if blocks else 0


def shared_start(one: Sequence[LlmMessage], other: Sequence[LlmMessage]) -> int:
    """Count the equal messages at the start of two conversations.

    Python code runs only for those that are not the same objects.
    """
    for place in compress(count(), map(is_not, one, other)):
        ours, theirs = one[place], other[place]
        if ours.role != theirs.role or not is_same(ours.content, theirs.content):
            return place
    return min(len(one), len(other))


def is_same(one: Any, other: Any) -> bool:
    """Whether both serialize to the same bytes: key order of mappings counts too."""
    if one is other:
        return True
    if type(one) is not type(other):  # 1, 1.0 and True are equal, but serialize differently
        return False
    if isinstance(one, Mapping):
        return list(one) == list(other) and all(map(is_same, one.values(), other.values()))
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(is_same, one, other))
    return bool(one == other)


# --- repairing ---------------------------------------------------------------------------


def _role(message: LlmMessage) -> Role:
    return "assistant" if message.role == "assistant" else "user"


def _plain(message: LlmMessage) -> LlmMessage:
    if isinstance(message.content, str):
        return message
    fit = _fit_blocks(message, message.role)
    return LlmMessage(message.role, tuple(one for block in fit if (one := plain_block(block))))


def _fit_blocks(message: LlmMessage, role: Role) -> list[Block]:
    content = message.content
    if isinstance(content, str):
        return [text_block(for_model(content))] if content.strip() else []
    try:
        return [block for one in content or () if (block := fit_block(one, role)) is not None]
    except RecursionError:
        raise MalformedRequestError(
            "The request cannot be sent: it is nested too deeply."
        ) from None


def _strip_end(blocks: list[Block]) -> list[Block]:
    """Strip trailing thinking and white space, which providers reject."""
    while blocks and blocks[-1]["type"] in THINKING:
        blocks = blocks[:-1]
    if blocks and blocks[-1]["type"] == "text":
        *before, last = blocks
        words = last["text"].rstrip()
        return blocks if words == last["text"] else [*before, {**last, "text": words}]
    return blocks


def _answered(parts: Sequence[_Part], asked: Sequence[str], no_result: str) -> list[_Part]:
    """Put the results of these calls first, one for each, and turn the others into text."""
    results: dict[str, _Part] = {}
    rest: list[_Part] = []
    for part in parts:
        block = part.block
        if block["type"] != "tool_result":
            rest.append(part)
        elif block["tool_use_id"] in asked and block["tool_use_id"] not in results:
            results[block["tool_use_id"]] = part
        else:
            rest.append(_Part(result_as_text(block), part.position))
    last = parts[-1].position  # a placeholder is final when its whole turn is
    answers = [results.get(call) or _Part(_missing(call, no_result), last) for call in asked]
    return [*answers, *rest]


def _missing(call: str, words: str) -> Block:
    return {"type": "tool_result", "tool_use_id": call, "content": words, "is_error": True}


# --- checking ----------------------------------------------------------------------------


def faults(messages: Sequence[LlmMessage], start: int = 0) -> list[str]:
    """List what is wrong with the messages from one on; those before it are valid."""
    found: list[str] = [] if messages else ["there is nothing to send"]
    asked = _asked(messages[start - 1]) if start else []
    for number, message in enumerate(messages[start:], start):
        if message.role != ("user", "assistant")[number % 2]:
            found.append(f"message {number} is of the {message.role}")
        blocks = _content(message)
        if not blocks:
            found.append(f"message {number} is not made of blocks")
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        first = [block["type"] == "tool_result" for block in blocks[: len(results)]]
        if results != asked or not all(first):
            found.append(f"message {number} does not answer the calls before it")
        asked = _asked(message)
        if any(block["type"] == "text" and not block["text"].strip() for block in blocks):
            found.append(f"message {number} has an empty text")
        if message.role == "assistant" and all(block["type"] in THINKING for block in blocks):
            found.append(f"message {number} has thinking only")
    if asked:
        found.append("the last call has no result")
    return found


def _content(message: LlmMessage) -> tuple[Block, ...]:
    return () if isinstance(message.content, str) else message.content


def _asked(message: LlmMessage) -> list[str]:
    return [one["id"] for one in _content(message) if one["type"] == "tool_use"]
