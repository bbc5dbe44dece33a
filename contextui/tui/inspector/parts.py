"""Request parts: split a request for the outline, and format its JSON line by line."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from contextui.agent.cache_marks import Payload
from contextui.model import Block
from contextui.text import one_line
from contextui.words import Words

WIDTH = 76
"""Maximum width of a value in one line."""

_LONG = 2_000  # characters from which a text surely does not fit into a line


def raw(value: object) -> str:
    """Return the value as sent, in compact JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_plain)


def pretty(value: object, indent: int = 0, end: str = "") -> Iterator[str]:
    """Format the value as JSON lines."""
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
    """Return the value in one line, or None if it is too long or contains line breaks."""
    if not _is_small(value):
        return None
    flat = json.dumps(value, ensure_ascii=False, default=_plain)
    return None if "\\n" in flat else flat


def _is_small(value: object, room: int = 40) -> bool:
    """Return whether a value is worth formatting in one line: few values, no long text."""
    if isinstance(value, str):
        return len(value) < _LONG
    if isinstance(value, Mapping | list | tuple):
        inner: Iterable[object] = value.values() if isinstance(value, Mapping) else value
        return len(value) <= room and all(_is_small(one, room // 2) for one in inner)
    return True


def _mapping(value: Mapping[str, Any], indent: int, end: str) -> Iterator[str]:
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
    lines = [json.dumps(line, ensure_ascii=False)[1:-1] for line in text.split("\n")]
    lines[0] = f'"{lines[0]}'
    lines[-1] += f'"{end}'
    yield from (pad + line for line in lines)


def _plain(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else str(value)


_WINDOW = re.compile(
    r'<Window id="([^"]{1,80})"[^>]{0,200}? (?:lod="(\w{1,10})"|since="[^"]{1,80}")'
)
_SHOWN = 80  # maximum characters of a text in the outline


@dataclass(slots=True)
class Part:
    """A part of a request: the tools, the system prompt, or some blocks of a message."""

    name: str  # number and role of its message, in the message's first part
    text: str  # its content in one line
    key: str  # identifies the part across requests, whatever its content
    blocks: list[Block]
    first: int  # index of its first block over all messages; -1 before the messages
    tokens: int = 0  # by our own count
    lines: list[str] = field(default_factory=list)
    mark: str = " "  # + if the previous request had no such part, ~ if it differs
    marks: list[str] = field(default_factory=list)  # the same for each line

    @property
    def plain(self) -> list[Block]:
        return [_unmarked(block) for block in self.blocks]

    @property
    def exact(self) -> str:
        return raw(self.blocks)


def parts_of(payload: Payload, cached: int, words: Words) -> list[Part]:
    """Split a request into parts."""
    parts = [*_head(payload.body, words), *_messages(payload.body["messages"], cached, words)]
    times: dict[str, int] = {}
    for part in parts:
        part.marks = [" "] * len(part.lines)
        times[part.key] = times.get(part.key, 0) + 1
        if times[part.key] > 1:  # by price, a request may have several blocks of a window
            part.key = f"{part.key} #{times[part.key]}"
    if parts:
        parts[-1].lines[-1] += "]}"
    return parts


def _head(body: Mapping[str, Any], words: Words) -> Iterator[Part]:
    start = [f'{{"model": {raw(body["model"])}, "max_tokens": {body["max_tokens"]},']
    if tools := body.get("tools"):
        names = ", ".join(str(tool["name"]) for tool in tools)
        part = Part(words("tools"), one_line(names, _SHOWN), "tools", list(tools), -1)
        part.lines = [*start, ' "tools": [', *_block_lines(tools, 3, "],")]
        start = []
        yield part
    if system := body.get("system"):
        text = one_line(str(system[0].get("text", "")), _SHOWN)
        part = Part(words("system"), text, "system", list(system), -1)
        part.lines = [*start, ' "system": [', *_block_lines(system, 3, "],")]
        yield part


def _messages(messages: Sequence[Mapping[str, Any]], cached: int, words: Words) -> Iterator[Part]:
    first = 0
    for number, message in enumerate(messages, 1):
        blocks, is_last = message["content"], number == len(messages)
        groups = list(_groups(blocks, cached - first))
        for place, group in enumerate(groups):
            name = f"{number} {words(message['role'])}" if not place else ""
            text = _describe(group, words)
            if is_last and place == len(groups) - 1 and _kind(group[0]) == "text":
                text = words("your words") if message["role"] == "user" else text
            part = Part(name, text, _key(group, message["role"]), group, first)
            opening = [f'  {{"role": "{message["role"]}", "content": [']
            if number == 1 and not place:
                opening = [' "messages": [', *opening]
            ending = ("]}" + ("" if is_last else ",")) if place == len(groups) - 1 else ","
            part.lines = [*([] if place else opening), *_block_lines(group, 4, ending)]
            first += len(group)
            yield part


def _block_lines(blocks: Sequence[Block], indent: int, end: str) -> Iterator[str]:
    for number, block in enumerate(blocks):
        yield from pretty(block, indent, end if number == len(blocks) - 1 else ",")


def _groups(blocks: Sequence[Block], cut: int) -> Iterator[list[Block]]:
    """Group blocks into outline lines: consecutive calls, consecutive results."""
    group: list[Block] = []
    for number, block in enumerate(blocks):
        joins = group and _kind(block) == _kind(group[0]) and _kind(block) in ("call", "result")
        if group and (number == cut or not joins):
            yield group
            group = []
        group.append(block)
    if group:
        yield group


def _kind(block: Block) -> str:
    kinds = {"tool_use": "call", "tool_result": "result", "text": "text"}
    kind = kinds.get(str(block.get("type")), "other")
    return "window" if kind == "text" and _window(block) else kind


def _window(block: Block) -> "re.Match[str] | None":
    return _WINDOW.match(str(block.get("text", ""))[:400])


def _key(group: Sequence[Block], role: str) -> str:
    block = group[0]
    match _kind(block):
        case "window":
            window = _window(block)
            return f"window {window[1] if window else ''}"
        case "call":
            return f"call {block.get('id')}"
        case "result":
            return f"result {block.get('tool_use_id')}"
    return f"{role} {raw(_unmarked(block))}"


def _describe(group: Sequence[Block], words: Words) -> str:
    block, count = group[0], len(group)
    match _kind(block):
        case "window":
            return _window_name(block, words)
        case "call":
            return words.plural(count, "1 call", "{count} calls")
        case "result":
            text = words.plural(count, "1 result", "{count} results")
            return "  ".join([text, *(_window_name(one, words) for one in _inner(group))])
        case "text":
            return one_line(str(block.get("text", "")), _SHOWN)
    return one_line(str(block.get("type")), _SHOWN)


def _window_name(block: Block, words: Words) -> str:
    window = _window(block)
    return f"{window[1]}  {words(window[2] or 'change')}" if window else ""


def _inner(results: Iterable[Block]) -> Iterator[Block]:
    for result in results:
        content = result.get("content")
        for one in content if isinstance(content, list | tuple) else ():
            if _window(one):
                yield one


def _unmarked(block: Block) -> Block:
    return {name: value for name, value in block.items() if name != "cache_control"}
