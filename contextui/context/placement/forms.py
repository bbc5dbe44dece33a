"""What an item shows in each of its forms, and how many tokens that is."""

from collections.abc import Sequence

from contextui.context.gists.result import result_gist
from contextui.context.item import THINKING, ContextItem, ItemType
from contextui.context.messages import Content, Shown, content_of, role_of
from contextui.context.placement.slots import Form, Kind, Slot
from contextui.context.units import Calls
from contextui.tokens import TokenCounter
from contextui.words import Lang


class Forms:
    """Makes gists and counts tokens.

    Args:
        calls: Links tool calls and their results.
        counter: Counts tokens.
        lang: The language of gists.
    """

    def __init__(self, calls: Calls, counter: TokenCounter, lang: Lang) -> None:
        self._calls, self._counter, self._lang = calls, counter, lang

    def gist(self, item: ContextItem) -> str:
        """The gist of a result."""
        calls = self._calls.asker(item).blocks or ()
        call = next((one for one in calls if one.get("id") == item.tool_call_id), None)
        return result_gist(item, self._lang, call=call if item.tool_call_id else None)

    def size(self, role: str, content: Content) -> int:
        """The tokens of a message."""
        return self._counter.message_overhead(role) + self._counter.count_content(content)

    def part_size(self, item: ContextItem, parts: tuple[int, ...]) -> int:
        """The tokens of some blocks of an item; the last one has the overhead of the message."""
        content = parts_of(item, parts)
        is_last = item.blocks is None or len(item.blocks) - 1 in parts
        tokens = self._counter.count_content(content)
        return tokens + (self._counter.message_overhead(role_of(item)) if is_last else 0)

    def result_size(self, item: ContextItem, content: Content) -> int:
        """The tokens of a result; that of the first call has the overhead of the message."""
        calls = self._calls.asker(item).calls
        is_first = item.tool_call_id is None or item.tool_call_id in calls[:1] or not calls
        tokens = self._counter.count_content(content)
        return tokens + (self._counter.message_overhead("user") if is_first else 0)

    def head_size(self, shown: Sequence[Shown]) -> int:
        """The tokens of the messages that every request begins with."""
        return sum(self.size(one.message.role, one.message.content) for one in shown)


def is_placed(slot: Slot, form: Form) -> bool:
    """Whether a block stands elsewhere than its item."""
    return bool(slot.text) or (form.kind == "summary" and bool(form.source))


def layout_of(item: ContextItem) -> list[tuple[Kind, tuple[int, ...], str | None]]:
    """The slots of an item: their kinds, which of its blocks they are, and calls."""
    if item.type is not ItemType.ASSISTANT or item.blocks is None:
        return [("summary" if item.is_summary else "text", (0,), None)]
    found: list[tuple[Kind, tuple[int, ...], str | None]] = []
    for number, block in enumerate(item.blocks):
        if block.get("type") in THINKING:
            found.append(("thinking", (number,), None))
        elif block.get("type") == "tool_use":
            found.append(("call", (number,), block["id"]))
        else:
            found.append(("text", (number,), None))
    return found


def parts_of(item: ContextItem, parts: tuple[int, ...]) -> Content:
    """Some blocks of an item; its content where it has none."""
    blocks = item.blocks if item.type is ItemType.ASSISTANT else None
    if blocks is None:
        return content_of(item)
    return tuple(blocks[number] for number in parts if number < len(blocks))
