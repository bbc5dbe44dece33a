"""The conversation as it is shown: what stands in the context, told in a few kinds of entries."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from contextui.context.item import BESIDE, ContextItem, ItemType

_MEANWHILE = (
    "(Meanwhile the person did:",
    "（在此期间用户操作了：",
    "(Did not open and is closed:",
    "（没有打开，已关闭：",
)


@dataclass(frozen=True, slots=True)
class YouSaid:
    """The person's words."""

    text: str


@dataclass(frozen=True, slots=True)
class ModelSaid:
    """The model's words, in Markdown."""

    text: str


@dataclass(frozen=True, slots=True)
class Called:
    """A tool call and what came of it.

    Attributes:
        title: What was called: ``todo_1.add``.
        what: With what, in short.
        ok: Whether it went well; None while it runs.
        result: What the model was told.
    """

    title: str
    what: str
    ok: bool | None = None
    result: str = ""


@dataclass(frozen=True, slots=True)
class Aside:
    """Something that neither of them said, but happened."""

    text: str
    is_error: bool = False


Entry = YouSaid | ModelSaid | Called | Aside


def entries_of(items: Iterable[ContextItem]) -> list[Entry]:
    """What was said and done, in order; hidden items too: the person did read them."""
    entries: list[Entry] = []
    waiting: dict[str, int] = {}
    for item in items:
        match item.type:
            case ItemType.USER if item.id.startswith(BESIDE):
                pass  # the person sees the code and the files themselves
            case ItemType.USER if item.content.startswith(_MEANWHILE):
                entries.append(Aside(item.content))
            case ItemType.USER:
                entries.append(YouSaid(item.content))
            case ItemType.ASSISTANT:
                if item.content.strip():
                    entries.append(ModelSaid(item.content))
                for block in item.blocks or ():
                    if block.get("type") == "tool_use":
                        waiting[block["id"]] = len(entries)
                        entries.append(called(block["name"], block.get("input", {})))
            case ItemType.TOOL:
                place = waiting.get(item.tool_call_id or "")
                if place is not None:
                    entries[place] = _answered(entries[place], item)
    return entries


def called(name: str, given: object) -> Called:
    """A call in words: an action is named by its window, anything else by the tool."""
    arguments: Mapping[str, Any] = given if isinstance(given, Mapping) else {}
    match name, arguments:
        case "action", {"window_id": window, "action_id": act}:
            return Called(f"{window}.{act}", in_short(arguments.get("params") or {}))
        case "create", {"name": kind}:
            return Called(f"create {kind}", in_short(arguments.get("args") or {}))
        case "read_file", {"path": path}:
            return Called("read_file", str(path))
    return Called(name, in_short(arguments))


def in_short(value: object) -> str:
    """A value in one line without its syntax: ``milk, eggs``."""
    match value:
        case str():
            return " ".join(value.split())
        case Mapping():
            return "  ".join(part for one in value.values() if (part := in_short(one)))
        case list() | tuple():
            return ", ".join(in_short(one) for one in value)
        case None:
            return ""
    return str(value)


def _answered(entry: Entry, result: ContextItem) -> Entry:
    if not isinstance(entry, Called):
        return entry
    return Called(entry.title, entry.what, not result.is_error, result.content)
