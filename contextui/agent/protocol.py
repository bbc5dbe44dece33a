"""Tool-call protocols: the provider's native tool use, or tags in the model's text."""

import json
import re
from collections.abc import Iterable, Sequence

from contextui.agent.request import LONGEST_NAME, fit_id
from contextui.agent.tools import TOOLS, ToolCall
from contextui.config.schema import ToolProtocol
from contextui.context.item import ContextItem, ItemType
from contextui.model import Answer, Block, Tool
from contextui.tokens import TokenCounter
from contextui.words import Lang, Words

_TAG = re.compile(r"<tool_call>(.*?)(</tool_call>|\Z)", re.DOTALL)
_FORM = '<tool_call>{"name": "…", "arguments": {…}}</tool_call>'


class NativeCalls:
    """Native tool use of the provider."""

    def __init__(self, lang: Lang = "en", more: Sequence[Tool] = ()) -> None:
        self.tools: Sequence[Tool] = (*TOOLS[lang], *more)

    def read(
        self, answer: Answer, taken: Iterable[str]
    ) -> tuple[tuple[Block, ...], list[ToolCall]]:
        """Return all blocks except repeated calls with the same id, and the calls.

        Results of calls with the same id could not be distinguished. Some servers restart their ids
        in every answer, send none, or use characters that others reject: such a call gets a new id.
        """
        known, here = set(taken), set[str]()
        blocks: list[Block] = []
        calls: list[ToolCall] = []
        for block in _valid_blocks(answer):
            if block["type"] != "tool_use":
                blocks.append(block)
                continue
            given, name = str(block.get("id") or ""), str(block.get("name") or "")[:LONGEST_NAME]
            if given in here:
                continue
            here.update([given] if given else [])
            free = _free_id(fit_id(given or "call"), known)
            known.add(free)
            same = block.get("id") == free and block.get("name") == name
            blocks.append(block if same else {**block, "id": free, "name": name})
            calls.append(ToolCall(free, name, block.get("input", {})))
        return tuple(blocks), calls

    def result(
        self, call: ToolCall, text: str, *, ok: bool, gist: str | None = None
    ) -> ContextItem:
        """Build a result with the call's id."""
        return ContextItem(
            ItemType.TOOL,
            text,
            tool_call_id=call.id,
            tool_name=call.name,
            is_error=not ok,
            gist=gist,
        )


class TextCalls:
    """Calls written as tags, for models without native tools."""

    tools: Sequence[Tool] = ()

    def __init__(self, lang: Lang = "en") -> None:
        self._words = Words(lang)

    def read(
        self,
        answer: Answer,
        taken: Iterable[str],  # noqa: ARG002  there are no ids
    ) -> tuple[tuple[Block, ...], list[ToolCall]]:
        """Return the text blocks unchanged and every tagged call; native calls are ignored."""
        blocks = tuple(block for block in _valid_blocks(answer) if block["type"] != "tool_use")
        words = "".join(block["text"] for block in blocks if block["type"] == "text")
        return blocks, [_parse_call(match, self._words) for match in _TAG.finditer(words)]

    def result(
        self, call: ToolCall, text: str, *, ok: bool, gist: str | None = None
    ) -> ContextItem:
        """Build a result that follows the answer; there are no ids."""
        words = f"[{call.name}] {text}" if ok else f"[{call.name} {self._words('failed')}] {text}"
        return ContextItem(ItemType.TOOL, words, tool_name=call.name, is_error=not ok, gist=gist)


CallProtocol = NativeCalls | TextCalls


def calls_of(protocol: ToolProtocol, lang: Lang, more: Sequence[Tool] = ()) -> CallProtocol:
    """Return the protocol, with its texts in a language and an application's further tools."""
    return TextCalls(lang) if protocol == "text" else NativeCalls(lang, more)


def declaration_tokens(tools: Sequence[Tool], counter: TokenCounter) -> int:
    """Count the tokens of the tool declarations."""
    declared = [
        {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}
        for tool in tools
    ]
    return counter.count(json.dumps(declared, ensure_ascii=False)) if declared else 0


def _valid_blocks(answer: Answer) -> list[Block]:
    """Drop text blocks without text: some servers start one and send nothing."""
    return [
        one for one in answer.blocks if one["type"] != "text" or isinstance(one.get("text"), str)
    ]


def _free_id(wanted: str, taken: set[str]) -> str:
    number, free = 1, wanted
    while free in taken:
        number += 1
        free = f"{wanted}-{number}"
    return free


def _parse_call(match: "re.Match[str]", words: Words) -> ToolCall:
    written, closed = match[1], match[2]
    if not closed:
        return ToolCall(
            None, "tool_call", {}, words("The call was not closed. Write {form}.", form=_FORM)
        )
    try:
        call = json.loads(written)
        name, arguments = call["name"], call.get("arguments", {})
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return ToolCall(
            None, "tool_call", {}, words("The call cannot be read. Write {form}.", form=_FORM)
        )
    return ToolCall(None, str(name), arguments)


_OPEN, _CLOSE = "<tool_call>", "</tool_call>"


class TagFilter:
    """Filters tool calls out of streamed text.

    Within a call it buffers only what may be the start of the closing tag, so memory stays small
    and time linear.

    Example:
        >>> tags = TagFilter()
        >>> tags.feed("I look. <tool_"), tags.feed("call>{}</tool_call> Done")
        ('I look. ', ' Done')
    """

    def __init__(self) -> None:
        self._held = ""
        self._in_call = False

    def feed(self, text: str) -> str:
        """Return the text that can be shown now, and buffer the rest."""
        text, self._held = self._held + text, ""
        shown: list[str] = []
        place = 0
        while True:
            tag = _CLOSE if self._in_call else _OPEN
            found = text.find(tag, place)
            end = found if found >= 0 else len(text) - _partial_tag(text, tag, place)
            if not self._in_call:
                shown.append(text[place:end])
            if found < 0:
                self._held = text[end:]
                return "".join(shown)
            place, self._in_call = found + len(tag), not self._in_call


def _partial_tag(text: str, tag: str, place: int) -> int:
    """Count the trailing characters, after a position, that may be the start of a tag."""
    longest = min(len(text) - place, len(tag) - 1)
    return next((n for n in range(longest, 0, -1) if text.endswith(tag[:n])), 0)
