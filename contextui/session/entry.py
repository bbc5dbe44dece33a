"""One line of a session's log: JSON that any program can read, in the form of S2.2.

Words, answers and results stand in the fields that other programs know. What only contextui
knows (windows, pins, requests, checkpoints) stands in entries of type ``system`` with a subtype of
its own and its facts in ``data``.
"""

import json
import math
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

from contextui.errors import ContextUIError
from contextui.session.sealing import seal, unseal
from contextui.text import for_model

SCHEMA = 1
"""The version of what is written here; a log with a higher one is left alone."""

_MAX_DEPTH = 100
_MAX_BITS = 10_000  # of a whole number: JSON readers refuse longer ones

EntryType = Literal["user", "assistant", "tool_use", "tool_result", "system"]


class DamagedLineError(ContextUIError):
    """A line of a log that is no entry."""


class _Part(BaseModel):
    model_config = ConfigDict(
        alias_generator=to_camel, validate_by_name=True, validate_by_alias=True, extra="allow"
    )


class Usage(_Part):
    """What the provider says a request cost, by the provider's own names."""

    model_config = ConfigDict(alias_generator=None, extra="allow")

    input_tokens: int = 0
    output_tokens: int = 0


class Message(_Part):
    """Who says what."""

    role: Literal["user", "assistant", "system"]
    content: str | list[Any]
    model: str | None = None
    usage: Usage | None = None


class Tool(_Part):
    """A call of a tool."""

    id: str
    name: str
    input: Any = None


class ToolResult(_Part):
    """What a tool gave back."""

    id: str
    output: Any = None
    error: str | None = None


class CompactMetadata(_Part):
    """What a compaction did."""

    trigger: Literal["auto", "manual", "strategy"]
    pre_tokens: int
    post_tokens: int | None = None
    files_included: list[str] | None = None


class Entry(_Part):
    """One entry. Everything is written; on reading, whatever may be missing is optional."""

    uuid: str
    parent_uuid: str | None = None
    session_id: str
    timestamp: str
    type: EntryType
    subtype: str | None = None
    cwd: str | None = None
    git_branch: str | None = None
    version: str | None = None
    message: Message | None = None
    tool: Tool | None = None
    tool_result: ToolResult | None = None
    is_compact_summary: bool | None = None
    compact_metadata: CompactMetadata | None = None
    data: dict[str, Any] | None = None


def encode(fields: Mapping[str, Any]) -> bytes:
    """An entry as one line, without keys. What JSON cannot hold becomes a placeholder, never an
    error."""
    try:
        text = json.dumps(fields, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return seal(text).encode("utf-8") + b"\n"
    except (TypeError, ValueError, RecursionError):
        text = json.dumps(_holdable(fields), ensure_ascii=False, separators=(",", ":"))
        return seal(text).encode("utf-8") + b"\n"


def decode(line: bytes) -> Entry:
    """Read a line back.

    Raises:
        DamagedLineError: It is no entry; the text says why.
    """
    try:
        return Entry.model_validate(json.loads(unseal(line)))
    except ValidationError as problem:
        first = problem.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or "entry"
        raise DamagedLineError(f"no entry: {where}: {first['msg']}") from problem
    except (ValueError, RecursionError) as problem:
        raise DamagedLineError("it is not JSON") from problem


def _holdable(value: Any, depth: int = 0) -> Any:
    shown: Any = f"[{type(value).__name__}]"
    if depth > _MAX_DEPTH:
        shown = "[too deep]"
    elif value is None or isinstance(value, bool):
        shown = value
    elif isinstance(value, int):
        shown = value if value.bit_length() < _MAX_BITS else "[a very large number]"
    elif isinstance(value, str):
        shown = for_model(value)
    elif isinstance(value, float):
        shown = value if math.isfinite(value) else f"[{value}]"
    elif isinstance(value, Mapping):
        shown = {for_model(str(key)): _holdable(one, depth + 1) for key, one in value.items()}
    elif isinstance(value, list | tuple | set | frozenset):
        shown = [_holdable(one, depth + 1) for one in value]
    return shown
