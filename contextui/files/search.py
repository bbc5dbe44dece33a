"""Search the workspace by file name and by content; results are produced lazily."""

import codecs
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fnmatch import translate
from itertools import islice, takewhile
from typing import TypeVar

from contextui.files.errors import FileError
from contextui.files.listing import FolderEntry, walk
from contextui.files.pager import HEAD
from contextui.files.paths import AnyPath
from contextui.files.textfile import LINE_END, detect
from contextui.files.workspace import Workspace

T = TypeVar("T")

HITS = 200
_BLOCK = 1024 * 1024
_SHOWN = 200
_LONGEST = 1024 * 1024  # characters: a longer line without end is searched in several pieces


class SearchTimeout:
    """A timeout for searches, which then end early with the results so far."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._end, self.expired = clock, clock() + seconds, False

    def allows_more(self) -> bool:
        """Whether the search may continue."""
        self.expired = self.expired or self._clock() >= self._end
        return not self.expired


@dataclass(frozen=True, slots=True)
class Hit:
    """A line that contains the search text."""

    path: str
    line: int
    text: str


def find_names(
    workspace: Workspace,
    text: str,
    under: AnyPath = ".",
    *,
    timeout: SearchTimeout | None = None,
) -> Iterator[FolderEntry]:
    """Find files and folders whose name contains the text, or matches it as a glob with `*` or `?`.

    Case-insensitive. A text with "/" is compared with the whole path.
    """
    if not text:
        return
    pattern = re.compile(translate(text.casefold())) if set("*?") & set(text) else None
    wanted, whole = text.casefold(), "/" in text
    found = (
        entry
        for entry in _while(timeout, walk(workspace, under))
        if _fits((entry.path if whole else entry.name).casefold(), wanted, pattern)
    )
    yield from islice(found, HITS)


def _fits(name: str, wanted: str, pattern: re.Pattern[str] | None) -> bool:
    return bool(pattern.match(name)) if pattern else wanted in name


def find_text(
    workspace: Workspace,
    text: str,
    under: AnyPath = ".",
    *,
    ignore_case: bool = False,
    timeout: SearchTimeout | None = None,
) -> Iterator[Hit]:
    """Find lines that contain a text, skipping binary files, ignored files and links.

    The text is matched literally, within one line.
    """
    if text and not LINE_END.search(text):
        # With a pattern, letters whose upper case is longer do not shift the offsets.
        wanted = re.compile(re.escape(text), re.IGNORECASE if ignore_case else 0)
        hits = (
            hit
            for entry in _while(timeout, walk(workspace, under))
            if entry.kind == "file"
            for hit in _hits(workspace, entry.path, wanted, timeout)
        )
        yield from islice(hits, HITS)


def _while(timeout: SearchTimeout | None, things: Iterable[T]) -> Iterator[T]:
    return takewhile(lambda _: timeout is None or timeout.allows_more(), things)


def _hits(
    workspace: Workspace, path: str, wanted: re.Pattern[str], timeout: SearchTimeout | None
) -> Iterator[Hit]:
    number = 1
    try:
        for piece in _while(timeout, _pieces(workspace, path)):
            if wanted.search(piece):
                yield from _lines(path, piece, number, wanted)
            number += len(LINE_END.findall(piece))
    except (FileError, OSError):
        return  # it was deleted or is not text: no hits


def _lines(path: str, piece: str, first: int, wanted: re.Pattern[str]) -> Iterator[Hit]:
    for number, line in enumerate(LINE_END.split(piece), first):
        match = wanted.search(line)
        if match:
            yield Hit(path, number, _around(line, match.start()))


def _around(line: str, at: int) -> str:
    start = max(0, min(at - _SHOWN // 4, len(line) - _SHOWN))
    before, after = "…" if start else "", "…" if start + _SHOWN < len(line) else ""
    return before + line[start : start + _SHOWN] + after


def _pieces(workspace: Workspace, path: str) -> Iterator[str]:
    """Read a file's text in pieces that end at a line end, where possible."""
    with workspace.reach(path) as spot, spot.opened() as descriptor:
        head = os.pread(descriptor, HEAD, 0)
        encoding = detect(head, path, whole=len(head) < HEAD)
        decoder = codecs.getincrementaldecoder(encoding.codec)("replace")
        place, rest = len(encoding.bom), ""
        while block := os.pread(descriptor, _BLOCK, place):
            place += len(block)
            rest += decoder.decode(block)
            end = 1 + max(rest.rfind("\n"), rest.rfind("\r", 0, -1))  # CR may have its LF to come
            if not end and len(rest) > _LONGEST:
                end = len(rest)
            if end:
                yield rest[:end]
                rest = rest[end:]
        yield rest + decoder.decode(b"", final=True)
