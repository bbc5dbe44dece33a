"""Items in words: in one line for lists, with title and origin for whoever looks closer."""

import re
from collections.abc import Sequence

from contextui.context.calls import Calls
from contextui.context.forms import is_reduced
from contextui.context.item import ContextItem, ItemType
from contextui.text import one_line
from contextui.tui.conversation.entries import called
from contextui.tui.inspector.spans import Row
from contextui.tui.words import Words
from contextui.windowing.manager import WindowManager

_HEADING = re.compile(r"^#+ *", re.MULTILINE)
_LONGEST = 240  # characters of an item that any list could show

KINDS = {
    ItemType.SYSTEM: "System",
    ItemType.USER: "User",
    ItemType.ASSISTANT: "Assist",
    ItemType.WINDOW: "Window",
    ItemType.TOOL: "Tool",
}
"""What lists call the types, in at most six cells."""


def label(item: ContextItem, calls: Calls, words: Words) -> str:
    """What an item says, or does, in one line."""
    if item.is_summary:
        _, heading, rest = item.content.partition("\n## ")
        text = _HEADING.sub("", rest if heading else item.content)
        return f"{words('Summary')}  {one_line(text, _LONGEST)}"
    match item.type:
        case ItemType.TOOL:
            return _call_label(item, calls) or one_line(item.content, _LONGEST)
        case ItemType.ASSISTANT if not item.content.strip():
            return _calls_in(item, words)
    return one_line(item.content, _LONGEST)


def window_label(row: Row, windows: WindowManager | None, words: Words) -> str:
    """A window's id, and how much it shows."""
    window = windows.get(row.item.content) if windows is not None else None
    if row.is_old:
        version = row.copy.version if row.copy is not None else ""
        return f"{row.item.content}  {words('older')} {version}".rstrip()
    return f"{row.item.content}  {words(window.lod.value)}" if window else row.item.content


def title(row: Row, calls: Calls, words: Words) -> str:
    """What the closer look is headed by."""
    item = row.item
    if item.is_summary:
        return words("Summary of earlier turns")
    if item.type is ItemType.SYSTEM:
        return words("From the project" if item.is_background else "System prompt")
    return label(item, calls, words)


def origin(row: Row, turn: int | None, told: Sequence[str], words: Words) -> str:
    """Who it comes from, in which turn, and what else is told of it, in one line.

    Whatever is a tool's result comes from the model, so that there is room for the rest.
    """
    item = row.item
    parts = [_author(row, words)] if item.type is not ItemType.TOOL else []
    if turn is not None and item.type not in (ItemType.SYSTEM, ItemType.WINDOW):
        parts.append(words("turn {turn}", turn=turn))
    return words(", ").join(part for part in (*parts, *told) if part)


def text_of(row: Row, windows: WindowManager | None) -> str:
    """The text that the model reads of it."""
    item = row.item
    if item.type is ItemType.WINDOW:
        if row.copy is not None:
            return row.copy.xml
        window = windows.get(item.content) if windows is not None else None
        if window is not None:
            return window.runtime.renders.latest().xml
        return (windows.last_render(item.content) if windows else None) or item.content
    if is_reduced(item) and item.gist:
        return item.gist
    return item.content or _call_texts(item)


def whole_text(row: Row, windows: WindowManager | None) -> str:
    """All of it, also what a gist stands for."""
    item = row.item
    return (
        text_of(row, windows) if item.type is ItemType.WINDOW else item.content or _call_texts(item)
    )


def _author(row: Row, words: Words) -> str:
    match row.item.type:
        case ItemType.SYSTEM if row.item.is_background:
            return words("sent as a user message")
        case ItemType.SYSTEM:
            return words("by contextui")
        case ItemType.USER:
            return words("by you")
        case ItemType.WINDOW:
            version = row.copy.version if row.copy is not None else None
            return words("live, version {version}", version=version) if version else ""
    return words("by model")


def _call_label(item: ContextItem, calls: Calls) -> str:
    """The call that a result answers."""
    asker = calls.asker(item)
    for block in asker.blocks or () if asker is not item else ():
        if block.get("id") == item.tool_call_id and block.get("type") == "tool_use":
            call = called(str(block.get("name", "")), block.get("input", {}))
            return one_line(f"{call.title} {call.what}", _LONGEST)
    return ""


def _calls_in(item: ContextItem, words: Words) -> str:
    made = [called(str(block.get("name", "")), block.get("input", {})) for block in _uses(item)]
    names = one_line(", ".join(one.title for one in made), _LONGEST)
    if not made:
        return ""
    if len(made) == 1:
        return words("1 call: {names}", names=names)
    return words("{count} calls: {names}", count=len(made), names=names)


def _call_texts(item: ContextItem) -> str:
    made = (called(str(block.get("name", "")), block.get("input", {})) for block in _uses(item))
    return "\n".join(f"{one.title} {one.what}" for one in made)


def _uses(item: ContextItem) -> list[dict[str, object]]:
    return [dict(block) for block in item.blocks or () if block.get("type") == "tool_use"]
