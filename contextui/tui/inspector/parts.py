"""Request parts: split a request for the outline, and write each in lines of JSON."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from contextui.agent.cache_marks import Payload
from contextui.model import Block
from contextui.text import one_line
from contextui.words import Words

_ESCAPE = re.compile(r"\\(.)")


def raw(value: object) -> str:
    """Return the value as sent, in compact JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_plain)


def lines_of(value: object, indent: int | None = None) -> list[str]:
    r"""Return the value as JSON, with a line for each line of its texts.

    Example:
        >>> lines_of({"text": "one\ntwo"})
        ['{"text": "one', 'two"}']
    """
    written = json.dumps(value, ensure_ascii=False, indent=indent, default=_plain)
    return _ESCAPE.sub(lambda one: "\n" if one[1] == "n" else one[0], written).split("\n")


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
    lines: list[str] = field(default_factory=list)  # its blocks, each from a line on
    mark: str = " "  # + if the previous request had no such part, ~ if it differs
    marks: list[bool] = field(default_factory=list)  # which lines the previous request had not

    def __post_init__(self) -> None:
        self.lines = self.lines or [line for block in self.blocks for line in lines_of(block)]

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
        part.marks = [False] * len(part.lines)
        times[part.key] = times.get(part.key, 0) + 1
        if times[part.key] > 1:  # by price, a request may have several blocks of a window
            part.key = f"{part.key} #{times[part.key]}"
    return parts


def _head(body: Mapping[str, Any], words: Words) -> Iterator[Part]:
    if tools := body.get("tools"):
        names = ", ".join(str(tool["name"]) for tool in tools)
        part = Part(words("tools"), one_line(names, _SHOWN), "tools", list(tools), -1)
        part.lines = lines_of(tools, indent=2)
        yield part
    if system := body.get("system"):
        text = one_line(str(system[0].get("text", "")), _SHOWN)
        yield Part(words("system"), text, "system", list(system), -1)


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
            yield Part(name, text, _key(group, message["role"]), group, first)
            first += len(group)


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
