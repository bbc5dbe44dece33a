"""Lines of session logs, and the fields that entries of all kinds have.

`contextui.session.entry` validates the rest, and loads pydantic; to list the sessions of a folder
takes less than to load that.
"""

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import accumulate
from pathlib import Path
from typing import Any, AnyStr, BinaryIO, Literal, NamedTuple, NoReturn, get_args

from contextui.errors import ContextUIError
from contextui.names import BESIDE
from contextui.plain_file import read_plain
from contextui.secrets import own_secrets
from contextui.session.paths import SESSION_ID
from contextui.words import msg

SHORTEST = 16
"""Minimum length of a value to be masked as a key; a shorter one may be an ordinary word."""

_SEAL = re.compile(r"⟦(=*)(\w+)⟧")
_SIGN = "⟦".encode()


def seal(line: str) -> str:
    """Mask API keys in a line of JSON as ``⟦NAME⟧``; existing placeholders are escaped."""
    if "⟦" in line:
        line = _SEAL.sub(r"⟦=\1\2⟧", line)
    for name, value in own_secrets(SHORTEST):
        written = json.dumps(value, ensure_ascii=False)[1:-1]
        if written in line:
            line = line.replace(written, f"⟦{name}⟧")
    return line


def unseal(line: bytes) -> bytes:
    """Restore the keys in a line; placeholders of variables that are not set stay."""
    if _SIGN not in line:
        return line
    return _SEAL.sub(_restored, line.decode("utf-8", "surrogateescape")).encode(
        "utf-8", "surrogateescape"
    )


def _restored(match: re.Match[str]) -> str:
    if match[1]:
        return f"⟦{match[1][1:]}{match[2]}⟧"
    value = dict(own_secrets(SHORTEST)).get(match[2])
    return json.dumps(value, ensure_ascii=False)[1:-1] if value is not None else match[0]


BOM = b"\xef\xbb\xbf"
LONGEST_LINE = 1 << 26
"""Bytes of a line: no entry is longer, and damage must not fill the memory."""

RECENT = "recent"
"""The file with the recently written sessions of a folder."""

_BLOCK = 1 << 16
_LONGEST = 1 << 17  # bytes of the list that are read; it is always shorter
_LONGEST_LABEL = 5_000  # characters of a label, such as an id or a path
_MAX_DEPTH_READ = 200  # of lines written by other programs
_HIGHEST_TURN = 10**8

EntryType = Literal["user", "assistant", "tool_use", "tool_result", "system"]
_TYPES = get_args(EntryType)


class DamagedLineError(ContextUIError):
    """A line of a log is not a valid entry, or does not fit the entries before it."""


class Line(NamedTuple):
    """A line without its newline, and its offset in the file."""

    offset: int
    text: bytes


def lines(file: BinaryIO, start: int = 0) -> Iterator[Line]:
    """Yield all lines from an offset on, including a last one without a newline."""
    file.seek(start)
    offset = start
    while line := file.readline(LONGEST_LINE):
        length = len(line)
        while not line.endswith(b"\n") and (rest := file.readline(LONGEST_LINE)):
            length += len(rest)  # too long for an entry: only its start is kept
            line = line if not rest.endswith(b"\n") else line + b"\n"
        yield Line(offset, line.rstrip(b"\n"))
        offset += length


def lines_backwards(file: BinaryIO) -> Iterator[Line]:
    """Yield all lines, last one first, reading only as far as needed."""
    end = file.seek(0, os.SEEK_END)
    rest: list[bytes] = []  # pieces of the incomplete line, last piece first
    while end > 0:
        start = max(0, end - _BLOCK)
        file.seek(start)
        block = file.read(end - start)
        end = start
        if b"\n" not in block:
            rest.append(block)
            if len(rest) * _BLOCK > LONGEST_LINE:  # not an entry: only its start matters
                del rest[:-1]
            continue
        parts = (block + b"".join(reversed(rest))).split(b"\n")
        # The first part may have started in the block before.
        rest = [parts[0]]
        ends = accumulate((len(part) + 1 for part in parts), initial=start)
        for position, part in reversed(list(zip(ends, parts, strict=False))[1:]):
            if part:
                yield Line(position, part)
    if any(rest):
        yield Line(0, b"".join(reversed(rest)))


def _reject_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


JSON = json.JSONDecoder(parse_constant=_reject_constant)


_PARTS = {"message": (), "tool": ("id", "name"), "toolResult": ("id",), "data": ()}
"""The objects in an entry, and the texts that each must have."""


def fields_of(line: bytes) -> dict[str, Any]:
    """Parse a line and check the fields that all kinds of entries have."""
    try:
        fields = JSON.decode(unseal(line).removeprefix(BOM).decode("utf-8").strip())
    except (ValueError, RecursionError) as problem:
        raise DamagedLineError("it is not JSON") from problem
    if is_deep(line, b"{", b"[", value=fields):
        raise DamagedLineError("not an entry: nested too deeply")
    if not isinstance(fields, dict):
        raise DamagedLineError("not an entry: not an object")
    is_right = {
        "uuid": label(fields, "uuid") != "",
        "type": fields.get("type") in _TYPES,
        "subtype": isinstance(fields.get("subtype"), str | None),
        "isCompactSummary": isinstance(fields.get("isCompactSummary"), bool | None),
        **{name: _is_part(fields.get(name), texts) for name, texts in _PARTS.items()},
    }
    if wrong := [name for name, right in is_right.items() if not right]:
        raise DamagedLineError(f"not an entry: {wrong[0]}: not valid")
    return fields


def _is_part(value: Any, texts: tuple[str, ...]) -> bool:
    is_named = isinstance(value, dict) and all(value.get(one) == label(value, one) for one in texts)
    return value is None or is_named


def is_deep(text: AnyStr, *openings: AnyStr, value: Any) -> bool:
    """Whether a value is nested too deeply; its text tells at once that most are not."""
    level, depth = [value], 0
    if sum(map(text.count, openings)) <= _MAX_DEPTH_READ:
        return False
    while level and depth < _MAX_DEPTH_READ:
        depth += 1
        level = [
            inner for one in level if isinstance(one, dict | list)
            for inner in (one.values() if isinstance(one, dict) else one)
        ]  # fmt: skip
    return bool(level)


def label(fields: Mapping[str, Any], name: str) -> str:
    """Return a short text of an entry; empty if it is missing or cannot be shown."""
    found = fields.get(name)
    if not isinstance(found, str) or len(found) > _LONGEST_LABEL:
        return ""
    return "" if re.search("[\ud800-\udfff]", found) else found


def message_of(fields: Mapping[str, Any]) -> str | None:
    """Return the text of a person's message; None for other entries, also what was added."""
    is_added = fields.get("isCompactSummary") or fields["uuid"].startswith(BESIDE)
    if fields["type"] != "user" or is_added:
        return None
    message, data = fields.get("message"), fields.get("data") or {}
    content = message.get("content") if isinstance(message, dict) else None
    if not isinstance(content, str) and isinstance(data.get("text"), str):
        content = data["text"]
    parts = content if isinstance(content, list) else [{"text": content}]
    texts = [one.get("text") for one in parts if isinstance(one, dict)]
    return "\n".join(text for text in texts if isinstance(text, str))


def moment(timestamp: str) -> datetime | None:
    """Parse the timestamp of an entry; None if it is invalid."""
    try:
        read = datetime.fromisoformat(timestamp)
        return (read if read.tzinfo else read.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def recent_ids(folder: Path) -> list[str]:
    """Return the recently written sessions of a folder, last one at the end."""
    try:
        found = read_plain(folder / RECENT, _LONGEST).decode("ascii", "replace").split("\n")
    except OSError:  # or it is so long that others wrote it
        return []
    return list(dict.fromkeys(one for one in found if SESSION_ID.fullmatch(one)))


class Origin(NamedTuple):
    """Where a fork comes from: another session, and after which turn; None if all was copied."""

    parent: str
    turn: int | None

    def titled(self, title: str, words: Callable[..., str]) -> str:
        """Return the title of the fork, with where it comes from."""
        text = msg("fork: {title}") if self.turn is None else msg("fork of turn {turn}: {title}")
        return words(text, turn=self.turn, title=title)


def origin_of(header: Mapping[str, Any]) -> Origin | None:
    """Return where a log was forked from, by its header; None if it was not."""
    data = (header.get("data") if header.get("subtype") == "session" else None) or {}
    parent, turn = data.get("parent"), data.get("turn")
    if not isinstance(parent, str) or not SESSION_ID.fullmatch(parent):
        return None
    is_turn = type(turn) is int and 0 <= turn <= _HIGHEST_TURN
    return Origin(parent, turn if is_turn else None)
