"""The files that a conversation is about, the most important first."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from contextui.context.item import ContextItem, ItemType
from contextui.files.errors import FileError
from contextui.files.workspace import Workspace
from contextui.secrets import mask
from contextui.windowing.manager import WindowManager

MOST = 5
"""Files that go into a summary."""

LINES = 1_000
"""Lines of each."""

_PATH = re.compile(
    r"(?<![\w/.~-])(?:\.{0,2}/)?(?:[\w.-]+/)*[\w.-]*[\w-]\.[A-Za-z][A-Za-z0-9]{0,7}(?![A-Za-z0-9_/])"
)
_ASCII_END = re.compile(r"(?:\.{1,2}/)?[A-Za-z0-9_][!-~]*\.[A-Za-z0-9]+\Z")
_LOOKED_AT = 400  # different words that look like paths, and are looked for in the folder
_READ = 20_000  # characters of one message in which paths are looked for
_PARAMS = ("path", "file_path")  # what tools call a path, our own and other programs'
_WRITERS = ("Write", "Edit")  # other programs' tools that change a file


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


@dataclass(slots=True)
class _Mentions:
    """Counts what is mentioned, each file under one path."""

    workspace: Workspace
    found: dict[str, _Mention] = field(default_factory=dict)

    def note(self, path: str, number: int, *, modified: bool) -> None:
        """A message mentions a path; one that leads out of the folder does not count."""
        try:
            name = self.workspace.relative(path)
        except FileError:
            return
        if name in self.found or len(self.found) < _LOOKED_AT:
            mention = self.found.setdefault(name, _Mention())
            mention.count, mention.last = mention.count + 1, number
            mention.modified |= modified

    def ordered(self) -> list[str]:
        """The paths: changed ones first, then by how often, then by how lately."""

        def worth(path: str) -> tuple[bool, int, int]:
            mention = self.found[path]
            return mention.modified, mention.count, mention.last

        return sorted(self.found, key=worth, reverse=True)


def mentioned_files(items: Iterable[ContextItem], windows: WindowManager) -> list[FileText]:
    """The files of the folder that are mentioned: changed ones first, then by how often, then by
    how lately. What cannot be read or may hold secrets is left out, and no key is shown.

    It reads files: inside an event loop, call it by `asyncio.to_thread`.
    """
    workspace = windows.files_for_model()
    if workspace is None:
        return []
    mentions = _Mentions(workspace)
    written: set[str] = set()
    for number, item in enumerate(items):
        for path in paths_in(item.content[:_READ]):
            mentions.note(path, number, modified=item.tool_call_id in written)
        for block in item.blocks or () if item.type is ItemType.ASSISTANT else ():
            given = block.get("input")
            if block.get("type") != "tool_use" or not isinstance(given, Mapping):
                continue
            writes = block["name"] in _WRITERS or _writes(given, windows)
            if writes:
                written.add(block["id"])
            for path in _given_paths(given, windows):
                mentions.note(path, number, modified=writes)
    return _read(mentions.ordered(), workspace)


def paths_in(text: str) -> Iterator[str]:
    """All that looks like a path in a text.

    In Chinese no space stands before a path, so its end alone may be what is meant.

    Example:
        >>> list(paths_in("See src/app.py and ./notes.md."))
        ['src/app.py', './notes.md']
    """
    for path in _PATH.findall(text):
        yield path
        if not path.isascii() and (end := _ASCII_END.search(path)):
            yield end[0]


def _read(paths: Iterable[str], workspace: Workspace) -> list[FileText]:
    found: list[FileText] = []
    for path in paths:
        try:
            page = workspace.read_page(path, 1, LINES)
        except FileError:
            continue
        more = "\n…" if page.more else ""
        found.append(FileText(path, mask("\n".join(page.lines)) + more))
        if len(found) == MOST:
            break
    return found


def _given_paths(given: Mapping[str, Any], windows: WindowManager) -> Iterator[str]:
    """The paths that a call is about: among its params, or that of the window it acts on."""
    for name, value in given.items():
        if isinstance(value, Mapping):
            yield from _given_paths(value, windows)
        elif isinstance(value, str) and name in _PARAMS:
            yield value
        elif isinstance(value, str) and name == "window_id":
            window = windows.get(value)
            path = getattr(window.state, "path", None) if window is not None else None
            if isinstance(path, str) and path:
                yield path


def _writes(given: Mapping[str, Any], windows: WindowManager) -> bool:
    """Whether a call is an action that touches the world outside of its window."""
    name = str(given.get("window_id", "")).rpartition("_")[0]
    cls = windows.classes.get(name)
    action = cls.actions.get(str(given.get("action_id"))) if cls is not None else None
    return action is not None and action.effect == "write"
