"""JSON as a person can read it: short things in one line, texts with their own lines.

It is for reading. The exact bytes are `raw`.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

WIDTH = 76
"""Cells under which a value stays in one line."""

_LONG = 2_000  # characters of a text from which on it surely does not fit into a line


def raw(value: object) -> str:
    """The value as it is sent, character by character."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_plain)


def pretty(value: object, indent: int = 0, end: str = "") -> Iterator[str]:
    """The value in lines.

    Args:
        value: What to show.
        indent: How far all of it stands to the right.
        end: What follows the value in its last line.
    """
    pad = " " * indent
    flat = _flat(value)
    if flat is not None and len(flat) + indent <= WIDTH:
        yield pad + flat + end
    elif isinstance(value, str):
        yield from _text(value, pad, end)
    elif isinstance(value, Mapping) and value:
        yield from _mapping(value, indent, end)
    elif isinstance(value, list | tuple) and value:
        yield from _sequence(value, indent, end)
    else:
        yield pad + json.dumps(value, default=_plain) + end


def _flat(value: object) -> str | None:
    """The value in one line; None if it is too long for one, or has lines of its own."""
    if not _is_small(value):
        return None
    flat = json.dumps(value, ensure_ascii=False, default=_plain)
    return None if "\\n" in flat else flat


def _is_small(value: object, room: int = 40) -> bool:
    """Whether it is worth a try: few values, and no long text among them."""
    if isinstance(value, str):
        return len(value) < _LONG
    if isinstance(value, Mapping | list | tuple):
        inner: Iterable[object] = value.values() if isinstance(value, Mapping) else value
        return len(value) <= room and all(_is_small(one, room // 2) for one in inner)
    return True


def _mapping(value: Mapping[str, Any], indent: int, end: str) -> Iterator[str]:
    """Keys in one line with what they hold, as long as there is room."""
    pad = " " * indent
    line, last = pad + "{", len(value) - 1
    for number, (key, one) in enumerate(value.items()):
        name = json.dumps(key, ensure_ascii=False) + ": "
        first, *rest = pretty(one, indent + 2, "}" + end if number == last else ",")
        first = name + first.strip()
        if len(line) + len(first) > WIDTH and line.strip() not in ("", "{"):
            yield line.rstrip()
            line = pad + " "
        line += first + " "
        if rest:
            yield line.rstrip()
            yield from rest
            line = pad + " "
    if line.strip():
        yield line.rstrip()


def _sequence(value: Sequence[Any], indent: int, end: str) -> Iterator[str]:
    yield " " * indent + "["
    for number, one in enumerate(value):
        yield from pretty(one, indent + 2, "]" + end if number == len(value) - 1 else ",")


def _text(text: str, pad: str, end: str) -> Iterator[str]:
    """A text in quotes; where it has a line end, the line ends."""
    first, *rest = text.split("\n")
    lines = [json.dumps(line, ensure_ascii=False)[1:-1] for line in (first, *rest)]
    lines[0] = pad + '"' + lines[0]
    lines[1:] = [pad + line for line in lines[1:]]
    lines[-1] += '"' + end
    yield from lines


def _plain(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else str(value)
