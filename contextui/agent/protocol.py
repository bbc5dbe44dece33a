"""How a model calls tools: by the provider's own means, or by tags in its words."""

import json
import re
from collections.abc import Iterable, Sequence
from typing import Protocol

from contextui.agent.phrases import ToolPhrases, of_tools
from contextui.agent.request import fit_id
from contextui.agent.tools import TOOLS, ToolCall
from contextui.config.settings import Lang, ToolProtocol
from contextui.context.item import ContextItem, ItemType
from contextui.model import Answer, Block, Tool
from contextui.tokens import TokenCounter

_TAG = re.compile(r"<tool_call>(.*?)(</tool_call>|\Z)", re.DOTALL)
_LONGEST_NAME = 200  # characters of what a model takes for a tool
_FORM = '<tool_call>{"name": "…", "arguments": {…}}</tool_call>'


class CallProtocol(Protocol):
    """Tells what the tools are declared as, and finds the calls in an answer."""

    @property
    def tools(self) -> Sequence[Tool]:
        """What the provider is told."""
        ...

    def read(
        self, answer: Answer, taken: Iterable[str]
    ) -> tuple[tuple[Block, ...], list[ToolCall]]:
        """The blocks to keep of an answer, and the calls that are in them.

        Args:
            answer: What the model said.
            taken: The ids of earlier calls.
        """
        ...

    def result(
        self, call: ToolCall, text: str, *, ok: bool, gist: str | None = None
    ) -> ContextItem:
        """The item that answers a call.

        Args:
            call: The call.
            text: What the model reads.
            ok: Whether it went well.
            gist: The line that stands for the text once the turn is over.
        """
        ...


class NativeCalls:
    """The provider's own tool use.

    Args:
        lang: The language that the tools are declared in.
    """

    def __init__(self, lang: Lang = "en") -> None:
        self.tools: Sequence[Tool] = TOOLS[lang]

    def read(
        self, answer: Answer, taken: Iterable[str]
    ) -> tuple[tuple[Block, ...], list[ToolCall]]:
        """All blocks but a second call under one id: nobody could tell the results apart.

        Some servers count their ids anew in every answer, give none, or write what others
        refuse: such a call gets an id of its own.
        """
        known, here = set(taken), set[str]()
        blocks: list[Block] = []
        calls: list[ToolCall] = []
        for block in _whole(answer):
            if block["type"] != "tool_use":
                blocks.append(block)
                continue
            given, name = str(block.get("id") or ""), str(block.get("name") or "")[:_LONGEST_NAME]
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
        """A result under the call's id."""
        return ContextItem(
            ItemType.TOOL,
            text,
            tool_call_id=call.id,
            tool_name=call.name,
            is_error=not ok,
            gist=gist,
        )


class TextCalls:
    """Calls written as tags, for models without tools.

    Args:
        lang: The language of what is said of them.
    """

    tools: Sequence[Tool] = ()

    def __init__(self, lang: Lang = "en") -> None:
        self._words = of_tools(lang)

    def read(
        self,
        answer: Answer,
        taken: Iterable[str],  # noqa: ARG002  there are no ids
    ) -> tuple[tuple[Block, ...], list[ToolCall]]:
        """The words as they are, and every tag in them; a call by other means was not asked for."""
        blocks = tuple(block for block in _whole(answer) if block["type"] != "tool_use")
        words = "".join(block["text"] for block in blocks if block["type"] == "text")
        return blocks, [_tagged(match, self._words) for match in _TAG.finditer(words)]

    def result(
        self, call: ToolCall, text: str, *, ok: bool, gist: str | None = None
    ) -> ContextItem:
        """A result that stands behind the answer; there are no ids."""
        words = f"[{call.name}] {text}" if ok else f"[{call.name} {self._words.failed}] {text}"
        return ContextItem(ItemType.TOOL, words, tool_name=call.name, is_error=not ok, gist=gist)


def calls_of(protocol: ToolProtocol, lang: Lang) -> CallProtocol:
    """How a model calls tools, with what is said of that in a language."""
    return TextCalls(lang) if protocol == "text" else NativeCalls(lang)


def declaring(tools: Sequence[Tool], counter: TokenCounter) -> int:
    """The tokens that it takes to tell the provider of these tools."""
    declared = [
        {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}
        for tool in tools
    ]
    return counter.count(json.dumps(declared, ensure_ascii=False)) if declared else 0


def _whole(answer: Answer) -> list[Block]:
    """The blocks without a text that has none: some servers begin one and never say a word."""
    return [
        one for one in answer.blocks if one["type"] != "text" or isinstance(one.get("text"), str)
    ]


def _free_id(wanted: str, taken: set[str]) -> str:
    number, free = 1, wanted
    while free in taken:
        number += 1
        free = f"{wanted}-{number}"
    return free


def _tagged(match: "re.Match[str]", words: ToolPhrases) -> ToolCall:
    written, closed = match[1], match[2]
    if not closed:
        return ToolCall(None, "tool_call", {}, words.not_closed.format(form=_FORM))
    try:
        call = json.loads(written)
        name, arguments = call["name"], call.get("arguments", {})
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return ToolCall(None, "tool_call", {}, words.not_readable.format(form=_FORM))
    return ToolCall(None, str(name), arguments)


_OPEN, _CLOSE = "<tool_call>", "</tool_call>"


class TagFilter:
    """Lets words pass as they are streamed, and holds back what may be a call.

    Of a call nothing is kept but what may be the beginning of its end, so a long one costs no
    more than its length.

    Example:
        >>> tags = TagFilter()
        >>> tags.pass_on("I look. <tool_"), tags.pass_on("call>{}</tool_call> Done")
        ('I look. ', ' Done')
    """

    def __init__(self) -> None:
        self._held = ""
        self._in_call = False

    def pass_on(self, text: str) -> str:
        """What can be shown now."""
        text, self._held = self._held + text, ""
        shown: list[str] = []
        place = 0
        while True:
            tag = _CLOSE if self._in_call else _OPEN
            found = text.find(tag, place)
            end = found if found >= 0 else len(text) - _begun(text, tag, place)
            if not self._in_call:
                shown.append(text[place:end])
            if found < 0:
                self._held = text[end:]
                return "".join(shown)
            place, self._in_call = found + len(tag), not self._in_call


def _begun(text: str, tag: str, place: int) -> int:
    """How many of the last characters, from a place on, may be the beginning of a tag."""
    longest = min(len(text) - place, len(tag) - 1)
    return next((n for n in range(longest, 0, -1) if text.endswith(tag[:n])), 0)
