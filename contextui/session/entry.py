"""One line of a session's log: JSON that any program can read, in the form of S2.2.

Words, answers and results stand in the fields that other programs know. What only contextui
knows (windows, pins, requests, checkpoints) stands in entries of type ``system`` with a subtype of
its own and its facts in ``data``.
"""

import hashlib
import json
import math
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, AnyStr, Literal, NoReturn

from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError
from pydantic.alias_generators import to_camel

from contextui.errors import ContextUIError
from contextui.secrets import own_secrets
from contextui.session.schema import OddEntryError, checked, where_odd
from contextui.text import for_model

SHORTEST = 16
"""Characters of a value that is taken for a key: what is shorter may be a word like any other."""

_SEAL = re.compile(r"⟦(=*)(\w+)⟧")
_SIGN = "⟦".encode()


def seal(line: str) -> str:
    """A line of JSON without keys. What looks like a seal already stays apart from one."""
    if "⟦" in line:
        line = _SEAL.sub(r"⟦=\1\2⟧", line)
    for name, value in own_secrets(SHORTEST):
        written = json.dumps(value, ensure_ascii=False)[1:-1]
        if written in line:
            line = line.replace(written, f"⟦{name}⟧")
    return line


def unseal(line: bytes) -> bytes:
    """The line as it was; of variables that are not set the names stay."""
    if _SIGN not in line:
        return line
    return _SEAL.sub(_opened, line.decode("utf-8", "surrogateescape")).encode(
        "utf-8", "surrogateescape"
    )


def _opened(match: re.Match[str]) -> str:
    if match[1]:
        return f"⟦{match[1][1:]}{match[2]}⟧"
    value = dict(own_secrets(SHORTEST)).get(match[2])
    return json.dumps(value, ensure_ascii=False)[1:-1] if value is not None else match[0]


SCHEMA = 1
"""The version of what is written here; a log with a higher one is left alone."""

_MAX_DEPTH = 100
_MAX_DEPTH_READ = 200  # of lines that other programs wrote
_LONGEST_LABEL = 5_000  # characters of what names an entry or says where it comes from
_BOM = b"\xef\xbb\xbf"
_MAX_BITS = 10_000  # of a whole number: JSON readers refuse longer ones

EntryType = Literal["user", "assistant", "tool_use", "tool_result", "system"]


class DamagedLineError(ContextUIError):
    """A line of a log that is no entry."""


class _Part(BaseModel):
    model_config = ConfigDict(
        alias_generator=to_camel, validate_by_name=True, validate_by_alias=True, extra="ignore"
    )


class Message(_Part):
    """Who says what, in whatever form; model and usage are for people and other programs."""

    role: Any = None
    content: Any = None
    model: Any = None
    usage: Any = None


class Tool(_Part):
    """A call of a tool."""

    id: str
    name: str
    input: Any = None


class ToolResult(_Part):
    """What a tool gave back."""

    id: str
    output: Any = None
    error: Any = None


class CompactMetadata(_Part):
    """What a compaction did."""

    trigger: str = "auto"
    pre_tokens: int | None = None
    post_tokens: int | None = None
    files_included: list[str] | None = None


class Entry(_Part):
    """One entry. Everything is written; on reading, whatever may be missing is optional.

    `data` has the form that `contextui.session.schema` gives for this kind of entry.
    """

    uuid: Annotated[str, StringConstraints(min_length=1)]
    parent_uuid: str | None = None
    session_id: str = ""
    timestamp: str = ""
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
    data: Any = None


_DESCRIPTIVE = {
    *("parentUuid", "sessionId", "timestamp", "cwd", "gitBranch", "version", "compactMetadata"),
}  # an entry is what it is without them


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


_check: Callable[[Any], Entry] = Entry.__pydantic_validator__.validate_python
_JSON = json.JSONDecoder(parse_constant=_no_number)


def encode(fields: Mapping[str, Any]) -> bytes:
    """An entry as one line, without keys. What JSON cannot hold becomes a placeholder, never an
    error. A checkpoint is signed: what hides others must be whole."""
    try:
        text = _dump(fields)
        if _may_be_deep(text, "{", "[") and _is_deep(fields):
            raise ValueError("nested too deeply")
        line = seal(text).encode("utf-8")
    except (TypeError, ValueError, RecursionError):
        line = seal(_dump(_holdable(fields))).encode("utf-8")
    if fields.get("subtype") == "checkpoint":
        line = _signed(line)
    return line + b"\n"


def _dump(fields: Mapping[str, Any]) -> str:
    return json.dumps(fields, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _signed(line: bytes) -> bytes:
    """The line of a checkpoint with a digest of its facts, as they stand there, at its end."""
    data = _JSON.decode(line.decode("utf-8"))["data"]
    return line.removesuffix(b"}}") + f',"digest":"{_digest(data)}"}}}}'.encode()


def _is_whole(line: bytes) -> bool:
    """Whether a checkpoint's facts are those that were written; older ones do not say."""
    data = _JSON.decode(line.decode("utf-8"))["data"]
    digest = data.pop("digest", None)
    return digest is None or digest == _digest(data)


def _digest(data: Mapping[str, Any]) -> str:
    return hashlib.sha256(_dump(data).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def decode(line: bytes) -> Entry:
    """Read a line back. It is an entry in the form of its kind, or an error.

    Raises:
        DamagedLineError: It is no entry; the text says why.
    """
    try:
        text = unseal(line).removeprefix(_BOM).decode("utf-8").strip()
        fields, end = _JSON.raw_decode(text)
    except (ValueError, RecursionError) as problem:
        raise DamagedLineError("it is not JSON") from problem
    if end != len(text):
        raise DamagedLineError("it is not JSON")
    if _may_be_deep(line, b"{", b"[") and _is_deep(fields):
        raise DamagedLineError("no entry: it is nested too deeply")
    if not isinstance(fields, dict):
        raise DamagedLineError("no entry: it is no object")
    try:
        fields["data"] = checked(fields.get("type"), fields.get("subtype"), fields.get("data"))
    except OddEntryError as problem:
        raise DamagedLineError(f"no entry: {problem}") from problem
    entry = _entry(fields)
    _leave_out_odd_labels(entry)
    if entry.subtype == "checkpoint" and not _is_whole(line):
        raise DamagedLineError("no entry: data.digest: something else was written")
    return entry


def moment(timestamp: str) -> datetime | None:
    """The time that an entry names; None if nobody can read it."""
    try:
        read = datetime.fromisoformat(timestamp)
        return (read if read.tzinfo else read.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _entry(fields: Any) -> Entry:
    try:
        return _check(fields)
    except ValidationError as problem:
        odd = {error["loc"][0] if error["loc"] else "" for error in problem.errors()}
        if not odd <= _DESCRIPTIVE:
            raise DamagedLineError(f"no entry: {where_odd(problem)}") from problem
    return _check({name: fields[name] for name in fields.keys() - odd})


def _leave_out_odd_labels(entry: Entry) -> None:
    """Forget labels that are absurdly long or no text: they are shown in lists, and held for long.

    A lone surrogate is never written, and no file system takes it as a part of a path.
    """
    for name in ("parent_uuid", "cwd", "git_branch", "version"):
        label = getattr(entry, name) or ""
        is_text = label.isascii() or not any("\ud800" <= char <= "\udfff" for char in label)
        if len(label) > _LONGEST_LABEL or not is_text:
            setattr(entry, name, None)
    for name in ("session_id", "timestamp"):
        if len(getattr(entry, name)) > _LONGEST_LABEL:
            setattr(entry, name, getattr(entry, name)[:_LONGEST_LABEL])
    if len(entry.uuid) > _LONGEST_LABEL:
        raise DamagedLineError("no entry: uuid: it is too long")


def _may_be_deep(text: AnyStr, *openings: AnyStr) -> bool:
    return sum(map(text.count, openings)) > _MAX_DEPTH_READ


def _is_deep(value: Any) -> bool:
    """Whether a value is nested more deeply than anything that works on it should follow."""
    level = [value]
    for _ in range(_MAX_DEPTH_READ):
        level = [
            inner for one in level if isinstance(one, dict | list)
            for inner in (one.values() if isinstance(one, dict) else one)
        ]  # fmt: skip
        if not level:
            return False
    return True


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
