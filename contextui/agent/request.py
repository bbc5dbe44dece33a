"""Validate and repair every request before it is sent to a model.

The result has the form that every provider accepts: user and assistant alternate, user first; no
empty text; no character that JSON or UTF-8 cannot represent; every call answered at the start of
the next message, and no result without its call. Clean messages pass unchanged, so that the bytes
of one request are a prefix of the next one's and the provider's cache stays valid.
"""

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, takewhile
from typing import Any, NamedTuple

from contextui.errors import ContextUIError
from contextui.model import Block, LlmMessage, ModelRequest, Role, Tool
from contextui.text import for_model
from contextui.words import Lang, Words

THINKING = ("thinking", "redacted_thinking")
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
    """Return the block as a provider accepts it; None if it is empty or not allowed in this role.

    Raises:
        RecursionError: It is nested too deeply.
    """
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
    """Sanitize every text of a block and strip its cache mark: `wire` sets these."""
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
    """Convert a value to one that JSON can represent."""
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
    """Set fields of a block; return the same object if nothing changes."""
    same = all(name in block and block[name] == value for name, value in fields.items())
    kinds = all(type(block.get(name)) is type(value) for name, value in fields.items())
    return block if same and kinds else {**block, **fields}


class MalformedRequestError(ContextUIError):
    """A request that no provider would accept and that could not be repaired."""


class _Part(NamedTuple):
    """A block, and whether it is in its final form."""

    block: Block
    stable: bool


@dataclass(slots=True)
class _Turn:
    """Consecutive messages of one role, merged."""

    role: Role
    parts: list[_Part] = field(default_factory=list)


def admit(
    messages: Iterable[LlmMessage],
    *,
    stable: int = 0,
    tools: Sequence[Tool] = (),
    max_tokens: int = 8_192,
    without_thinking: bool = False,
    plain: bool = False,
    lang: Lang = "en",
    says: Mapping[str, tuple[str, ...]] | None = None,
    tokens: int = 0,
) -> ModelRequest:
    """Build a valid request from messages.

    Args:
        messages: The messages that the context composed.
        stable: How many of the first messages are in their final form.
        tools: The tools that the model may call.
        max_tokens: Maximum length of the answer.
        without_thinking: Leave out thinking: the last resort if a provider rejects it.
        plain: Leave out what only some providers support: likewise if one rejects that.
        lang: The language of placeholders for missing parts.
        says: Phrasings of actions by ``class.action``; see `ModelRequest`.
        tokens: Its tokens, if they are known.

    Raises:
        MalformedRequestError: There is nothing to send, or no repair helped.
    """
    if plain:
        messages = map(_plain, messages)
    system, turns = _gather(messages, stable, THINKING if without_thinking else ())
    words = Words(lang)
    turns = _paired(turns, words("There is no result of this call."))
    if turns and turns[0].role == "assistant":
        # This placeholder is as stable as the message that it precedes.
        turns.insert(
            0,
            _Turn(
                "user",
                [
                    _Part(
                        text_block(words("(The conversation before this was left out.)")),
                        turns[0].parts[0].stable,
                    )
                ],
            ),
        )
    parts = chain.from_iterable(turn.parts for turn in turns)
    request = ModelRequest(
        system="\n\n".join(system),
        messages=tuple(LlmMessage(one.role, tuple(p.block for p in one.parts)) for one in turns),
        tools=tuple(tools),
        stable=sum(1 for _ in takewhile(lambda part: part.stable, parts)),
        max_tokens=max_tokens,
        says=says or {},
        tokens=tokens,
    )
    if problems := faults(request):
        raise MalformedRequestError(f"The request cannot be sent: {'; '.join(problems[:3])}.")
    return request


# --- repairing ---------------------------------------------------------------------------


def _gather(
    messages: Iterable[LlmMessage], stable: int, left_out: Sequence[str]
) -> tuple[list[str], list[_Turn]]:
    """Split off the system prompt, and merge consecutive messages of one role."""
    system: list[str] = []
    turns: list[_Turn] = []
    known: set[str] = set()
    for position, message in enumerate(messages):
        role: Role = "assistant" if message.role == "assistant" else "user"
        blocks = [one for one in _fit_blocks(message, role) if one["type"] not in left_out]
        if message.role == "system" and not turns:
            system += [block["text"] for block in blocks if block["type"] == "text"]
            continue
        if role == "assistant":
            blocks = _strip_end(_without_repeated_calls(blocks, known))
        if blocks and (not turns or turns[-1].role != role):
            turns.append(_Turn(role))
        if blocks:
            turns[-1].parts += [_Part(block, position < stable) for block in blocks]
    return system, turns


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


def _without_repeated_calls(blocks: Iterable[Block], known: set[str]) -> list[Block]:
    """Drop a second call with the same id: the results could not be distinguished."""
    kept: list[Block] = []
    for block in blocks:
        if block["type"] == "tool_use":
            if block["id"] in known:
                continue
            known.add(block["id"])
        kept.append(block)
    return kept


def _strip_end(blocks: list[Block]) -> list[Block]:
    """Strip trailing thinking and white space, which providers reject."""
    while blocks and blocks[-1]["type"] in THINKING:
        blocks = blocks[:-1]
    if blocks and blocks[-1]["type"] == "text":
        *before, last = blocks
        words = last["text"].rstrip()
        return blocks if words == last["text"] else [*before, {**last, "text": words}]
    return blocks


def _paired(turns: Sequence[_Turn], no_result: str) -> list[_Turn]:
    """Pair calls and results: add missing results, turn orphaned results into text."""
    asked: list[str] = []
    for turn in turns:
        if turn.role == "user":
            _answer(turn, asked, no_result)
        asked = [part.block["id"] for part in turn.parts if part.block["type"] == "tool_use"]
    if not asked:
        return list(turns)
    missing = [_Part(_missing(call, no_result), stable=False) for call in asked]
    return [*turns, _Turn("user", missing)]


def _answer(turn: _Turn, asked: Sequence[str], no_result: str) -> None:
    """Put the results of these calls first, one for each, in the order of the calls."""
    results: dict[str, _Part] = {}
    rest: list[_Part] = []
    for part in turn.parts:
        block = part.block
        if block["type"] != "tool_result":
            rest.append(part)
        elif block["tool_use_id"] in asked and block["tool_use_id"] not in results:
            results[block["tool_use_id"]] = part
        else:
            rest.append(_Part(result_as_text(block), part.stable))
    all_stable = all(part.stable for part in turn.parts)
    answers = [results.get(call) or _Part(_missing(call, no_result), all_stable) for call in asked]
    turn.parts = [*answers, *rest]


def _missing(call: str, words: str) -> Block:
    return {"type": "tool_result", "tool_use_id": call, "content": words, "is_error": True}


# --- checking ----------------------------------------------------------------------------


def faults(request: ModelRequest) -> list[str]:
    """List what is wrong with a request; empty if it can be sent."""
    found: list[str] = [] if request.messages else ["there is nothing to send"]
    asked: list[str] = []
    for number, message in enumerate(request.messages):
        if message.role != ("user", "assistant")[number % 2]:
            found.append(f"message {number} is of the {message.role}")
        blocks = () if isinstance(message.content, str) else message.content
        if not blocks:
            found.append(f"message {number} is not made of blocks")
        results = [one["tool_use_id"] for one in blocks if one["type"] == "tool_result"]
        first = [one["type"] == "tool_result" for one in blocks[: len(results)]]
        if results != asked or not all(first):
            found.append(f"message {number} does not answer the calls before it")
        asked = [one["id"] for one in blocks if one["type"] == "tool_use"]
        if any(one["type"] == "text" and not one["text"].strip() for one in blocks):
            found.append(f"message {number} has an empty text")
        if message.role == "assistant" and all(one["type"] in THINKING for one in blocks):
            found.append(f"message {number} has thinking only")
    if asked:
        found.append("the last call has no result")
    return found
