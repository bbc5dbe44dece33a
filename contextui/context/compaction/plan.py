"""Plan a compaction: which messages to summarize, which stay, and which files to attach."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from contextui.context.item import ContextItem, ItemType, is_conversation
from contextui.context.manager import ContextManager
from contextui.context.trim import ROUNDS_KEPT
from contextui.context.units import Unit, rounds, units
from contextui.files.errors import FileError
from contextui.files.workspace import Workspace
from contextui.secrets import mask
from contextui.windowing.manager import WindowManager

RETAIN = 0.2
"""The share of the newest messages that stays beside a summary."""

FALLBACK = 0.3
"""The share that stays if there is no summary."""

SUMMARY_SHARE = 8
"""A summary may take one eighth of the room."""

_COMFORT = 0.5  # of the room: limit of what stays by share, so that many turns fit afterwards
_MOST = 0.75  # of the room: limit of the last rounds that stay, or compaction is soon due again


@dataclass(frozen=True, slots=True)
class CompactionPlan:
    """The items to summarize and the items that stay, oldest first."""

    goes: tuple[ContextItem, ...]
    stays: tuple[ContextItem, ...]
    tokens: int
    stays_tokens: int

    @property
    def messages(self) -> int:
        """How many messages of the conversation there are."""
        return len(self.stays) + sum(map(is_conversation, self.goes))


def plan(context: ContextManager, share: float = RETAIN, room: int | None = None) -> CompactionPlan:
    """Decide which items to summarize.

    The newest messages stay, as many as the share says and at least the last three rounds. Fewer
    stay if the request would be too large otherwise, but always the newest. Calls stay with their
    results, and pinned items always stay.
    """
    active, size = list(context.get_active()), context.ledger.size
    conversation = units(item for item in active if is_conversation(item))
    earlier = [item for item in active if item.is_summary and not item.pinned]
    costs = [sum(map(size, unit.items)) for unit in conversation]
    kept = max(_share(conversation, share), _last_rounds(conversation))
    if room is not None:
        fixed = context.outlook().tokens - sum(map(size, earlier)) - sum(costs)
        kept = _capped(conversation, costs, kept, fixed + room // SUMMARY_SHARE, room)
    older = conversation[: len(conversation) - kept]
    goes = [item for unit in older if not unit.pinned for item in unit.items]
    gone = {item.id for item in goes}
    stays = [item for unit in conversation for item in unit.items if item.id not in gone]
    folded = sorted([*earlier, *goes], key=lambda item: item.seq) if goes else []
    tokens, stays_tokens = (sum(map(size, items)) for items in (folded, stays))
    return CompactionPlan(tuple(folded), tuple(stays), tokens, stays_tokens)


def _share(conversation: Sequence[Unit], share: float) -> int:
    """How many of the last units make up this share of the messages."""
    # As floats, 0.2 * 35 is 7.000000000000001; use the decimal number as written.
    wanted = math.ceil(Fraction(str(share)) * sum(len(unit.items) for unit in conversation))
    kept = found = 0
    while found < wanted:
        kept += 1
        found += len(conversation[-kept].items)
    return kept


def _last_rounds(conversation: Sequence[Unit]) -> int:
    return sum(len(one) for one in rounds(conversation)[-ROUNDS_KEPT:])


def _capped(
    conversation: Sequence[Unit], costs: Sequence[int], wanted: int, fixed: int, room: int
) -> int:
    """How many of the last units fit beside the fixed tokens; at least one."""
    floor = _last_rounds(conversation)
    pinned = sum(cost for unit, cost in zip(conversation, costs, strict=True) if unit.pinned)
    used, kept = fixed + pinned, 0
    for unit, cost in zip(reversed(conversation), reversed(costs), strict=True):
        used += 0 if unit.pinned else cost
        limit = _MOST if kept < floor else _COMFORT
        if kept == wanted or (kept and used > limit * room):
            break
        kept += 1
    return kept


MOST = 5
"""The maximum number of files attached for a summary."""

LINES = 1_000
"""The maximum number of lines of each."""

_PATH = re.compile(
    r"(?<![\w/.~-])(?:\.{0,2}/)?(?:[\w.-]+/)*[\w.-]*[\w-]\.[A-Za-z][A-Za-z0-9]{0,7}(?![A-Za-z0-9_/])"
)
_ASCII_END = re.compile(r"(?:\.{1,2}/)?[A-Za-z0-9_][!-~]*\.[A-Za-z0-9]+\Z")
_LOOKED_AT = 400  # different path-like words that are looked up in the folder
_READ = 20_000  # characters of one message that are searched for paths
_PARAMS = ("path", "file_path")  # names of path params, in our tools and in other programs'
_WRITERS = ("Write", "Edit")  # other programs' tools that change a file


@dataclass(frozen=True, slots=True)
class FileText:
    """A file's current text, truncated after some lines."""

    path: str
    text: str


class _Mention(NamedTuple):
    """How a file was mentioned; files are sorted by it."""

    modified: bool = False
    times: int = 0
    last: int = 0


def mentioned_files(items: Iterable[ContextItem], windows: WindowManager) -> list[FileText]:
    """Read the workspace files that the items mention: modified first, then most often mentioned,
    then most recent. Skips unreadable and protected files, and masks API keys.

    It reads files: inside an event loop, call it with `asyncio.to_thread`.
    """
    workspace = windows.files_for_model()
    if workspace is None:
        return []
    mentions: dict[str, _Mention] = {}
    written: set[str] = set()

    def note(path: str, number: int, *, modified: bool) -> None:
        with suppress(FileError):  # outside of the workspace
            name = workspace.relative(path)
            if name in mentions or len(mentions) < _LOOKED_AT:
                before = mentions.get(name, _Mention())
                mentions[name] = _Mention(before.modified or modified, before.times + 1, number)

    for number, item in enumerate(items):
        for path in paths_in(item.content[:_READ]):
            note(path, number, modified=item.tool_call_id in written)
        for block in item.blocks or () if item.type is ItemType.ASSISTANT else ():
            given = block.get("input")
            if block.get("type") != "tool_use" or not isinstance(given, Mapping):
                continue
            writes = block["name"] in _WRITERS or _writes(given, windows)
            if writes:
                written.add(block["id"])
            for path in _given_paths(given, windows):
                note(path, number, modified=writes)
    return _read(sorted(mentions, key=mentions.__getitem__, reverse=True), workspace)


def paths_in(text: str) -> Iterator[str]:
    """Find everything that looks like a path in a text.

    Chinese has no space before a path, so the ASCII end of a match is also a candidate.
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
    """The paths that a call refers to: in its params, or of the window it acts on."""
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
    name = str(given.get("window_id", "")).rpartition("_")[0]
    cls = windows.classes.get(name)
    action = cls.actions.get(str(given.get("action_id"))) if cls is not None else None
    return action is not None and action.effect == "write"
