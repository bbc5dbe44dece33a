"""The files that a conversation is about, the most important first."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from contextui.context.item import ContextItem, ItemType
from contextui.files.errors import FileError
from contextui.windowing.manager import WindowManager

MOST = 5
"""Files that go into a summary."""

LINES = 1_000
"""Lines of each."""

_PATH = re.compile(r"(?<![\w/.-])(?:[\w.-]+/)*[\w-]+\.[A-Za-z]\w{0,7}(?![\w/])")
_LOOKED_AT = 400  # different words that look like paths, and are looked for in the folder
_READ = 20_000  # characters of one message in which paths are looked for


@dataclass(frozen=True, slots=True)
class FileText:
    """A file as it is now, cut after some lines."""

    path: str
    text: str


@dataclass(slots=True)
class _Mention:
    modified: bool = False
    count: int = 0
    last: int = 0


def mentioned_files(items: Iterable[ContextItem], windows: WindowManager) -> list[FileText]:
    """The files of the folder that are mentioned: changed ones first, then by how often, then by
    how lately. What cannot be read is left out."""
    workspace = windows.workspace
    if workspace is None:
        return []
    mentions: dict[str, _Mention] = {}
    for number, item in enumerate(items):
        for path, modified in _paths(item, windows):
            if path not in mentions and len(mentions) >= _LOOKED_AT:
                continue
            mention = mentions.setdefault(path, _Mention())
            mention.count, mention.last = mention.count + 1, number
            mention.modified |= modified
    order = sorted(
        mentions, key=lambda path: (mentions[path].modified, mentions[path].count,
                                    mentions[path].last), reverse=True,
    )  # fmt: skip
    found: list[FileText] = []
    for path in order:
        try:
            page = workspace.read_page(path, 1, LINES)
        except FileError:
            continue
        more = "\n…" if page.more else ""
        found.append(FileText(path, "\n".join(page.lines) + more))
        if len(found) == MOST:
            break
    return found


def _paths(item: ContextItem, windows: WindowManager) -> Iterator[tuple[str, bool]]:
    """The paths in an item, and whether the file was written to."""
    for path in _PATH.findall(item.content[:_READ]):
        yield path, False
    for block in item.blocks or () if item.type is ItemType.ASSISTANT else ():
        given = block.get("input")
        if block.get("type") == "tool_use" and isinstance(given, Mapping):
            writes = _writes(given, windows)
            for path in _path_values(given):
                yield path, writes
            if writes and (path := _path_of(str(given.get("window_id")), windows)):
                yield path, True


def _path_values(given: Mapping[str, Any]) -> Iterator[str]:
    for name, value in given.items():
        if isinstance(value, Mapping):
            yield from _path_values(value)
        elif name == "path" and isinstance(value, str):
            yield value


def _writes(given: Mapping[str, Any], windows: WindowManager) -> bool:
    """Whether a call is an action that touches the world outside of its window."""
    name = str(given.get("window_id", "")).rpartition("_")[0]
    cls = windows.classes.get(name)
    action = cls.actions.get(str(given.get("action_id"))) if cls is not None else None
    return action is not None and action.effect == "write"


def _path_of(window_id: str, windows: WindowManager) -> str | None:
    """The file that an open window is about, if its state names one."""
    window = windows.get(window_id)
    path = getattr(window.state, "path", None) if window is not None else None
    return path if isinstance(path, str) and path else None
