"""One block of a message, made fit for every provider. Clean ones pass as the very same object."""

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from contextui.model import Block, Role
from contextui.text import for_model

THINKING = ("thinking", "redacted_thinking")
PLAIN: Mapping[str, tuple[str, ...]] = {
    "text": ("type", "text"),
    "tool_use": ("type", "id", "name", "input"),
    "tool_result": ("type", "tool_use_id", "content", "is_error"),
}
"""The blocks that every provider knows, and their fields."""

_OF_ASSISTANT = ("tool_use", *THINKING)  # no user can say these
_OF_USER = ("tool_result", "image", "document", "search_result")  # nor a model these
_NO_OUTPUT = "(no output)"
_ODD = re.compile(r"[^a-zA-Z0-9_-]")
_LONGEST_NAME = 64
_NUL = "\\u0000"
_written = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def fit_block(block: Any, role: Role) -> Block | None:
    """The block as a provider takes it; None if it says nothing, or cannot stand in this role.

    Raises:
        RecursionError: It is nested too deeply.
    """
    clean = _without_mark(block)
    if clean is None or clean["type"] in (_OF_USER if role == "assistant" else _OF_ASSISTANT):
        return None
    if clean["type"] == "tool_use":
        return _call(clean)
    if clean["type"] == "tool_result":
        return _result(clean)
    return clean if _is_whole(clean) else None


def plain_block(block: Block) -> Block | None:
    """A fit block with nothing in it that only some providers know; None if it is all such."""
    if block["type"] not in PLAIN:
        return None
    fields = {name: block[name] for name in PLAIN[block["type"]] if name in block}
    content = fields.get("content")
    if isinstance(content, list | tuple):
        fields["content"] = [one for part in content if (one := plain_block(part))] or _NO_OUTPUT
    return fields


def text_block(words: str) -> Block:
    """Words as a block."""
    return {"type": "text", "text": words}


def fit_id(given: Any) -> str:
    """An id of a call with nothing in it that the strictest provider refuses."""
    return _ODD.sub("_", "" if given is None else str(given)) or "_"


def in_words(result: Block) -> Block:
    """A result that answers nothing, as the words it holds."""
    content = result["content"]
    if not isinstance(content, str):
        content = "\n".join(one["text"] for one in content if one["type"] == "text")
    return text_block(content or _NO_OUTPUT)


def _without_mark(block: Any) -> Block | None:
    """A block with every text in it made fit, and no cache mark: whoever sends it sets these."""
    if not isinstance(block, Mapping) or not isinstance(block.get("type"), str):
        return None
    clean: Block = block if _is_clean(block) else _fit(block)
    if "cache_control" not in clean:
        return clean
    return {name: value for name, value in clean.items() if name != "cache_control"}


def _is_clean(value: Any) -> bool:
    """Whether JSON holds it as it is. Writing it is by far the quickest way to know."""
    try:
        written = _written(value)
        written.encode()
    except (TypeError, ValueError):  # a lone surrogate is a ValueError too
        return False
    return _NUL not in written  # an escaped backslash before it is looked at more closely


def _fit(value: Any) -> Any:
    """The same as JSON can hold it."""
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
    name = _ODD.sub("_", str(block.get("name") or ""))[:_LONGEST_NAME] or "_"
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
    """A part of a result; of a failure only text may be told."""
    clean = _without_mark(block)
    if clean is None or clean["type"] in (*_OF_ASSISTANT, "tool_result"):
        return None
    if is_error and clean["type"] != "text":
        return None
    return clean if _is_whole(clean) else None


def _is_whole(block: Block) -> bool:
    """Whether it has what its type needs, and says something."""
    match block:
        case {"type": "text", "text": str(words)}:
            return bool(words.strip())
        case {"type": "thinking", "thinking": str(), "signature": str()}:
            return True
        case {"type": "redacted_thinking", "data": str()}:
            return True
    return block["type"] not in ("text", *THINKING)


def _changed(block: Block, **fields: Any) -> Block:
    """The block with these fields; the very same if it has them already."""
    same = all(name in block and block[name] == value for name, value in fields.items())
    kinds = all(type(block.get(name)) is type(value) for name, value in fields.items())
    return block if same and kinds else {**block, **fields}
