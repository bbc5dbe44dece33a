"""Searching the workspace by name and by content, as far as one goes on reading the results."""

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
from contextui.files.paths import AnyPath, Spot
from contextui.files.textfile import LINE_END, detect
from contextui.files.workspace import Workspace

T = TypeVar("T")

HITS = 200
_BLOCK = 1024 * 1024
_SHOWN = 200
_LONGEST = 1024 * 1024  # of a line without end, the rest is looked at as if it were another


class Patience:
    """How long a search may go on. Then it ends with what it has, and this says so.

    Args:
        seconds: How long.
        clock: Tells the time, in seconds.

    Attributes:
        ran_out: Whether a search ended early because of it.
    """

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._end, self.ran_out = clock, clock() + seconds, False

    def lasts(self) -> bool:
        """Whether the search may go on."""
        self.ran_out = self.ran_out or self._clock() >= self._end
        return not self.ran_out


@dataclass(frozen=True, slots=True)
class Hit:
    """A line in which the text was found.

    Attributes:
        path: The file.
        line: Its number, from 1.
        text: The line; of a long one, what is around the text.
    """

    path: str
    line: int
    text: str


def find_names(
    workspace: Workspace,
    text: str,
    under: AnyPath = ".",
    *,
    limit: int = HITS,
    patience: Patience | None = None,
) -> Iterator[FolderEntry]:
    """Files and folders whose name contains the text, or fits it if it has `*` or `?`.

    Upper and lower case are the same. A pattern with "/" is compared with the whole path.
    """
    if not text:
        return
    pattern = re.compile(translate(text.casefold())) if set("*?") & set(text) else None
    wanted, whole = text.casefold(), "/" in text
    found = (
        entry
        for entry in _while(patience, walk(workspace, under))
        if _fits((entry.path if whole else entry.name).casefold(), wanted, pattern)
    )
    yield from islice(found, max(limit, 0))


def _fits(name: str, wanted: str, pattern: re.Pattern[str] | None) -> bool:
    return bool(pattern.match(name)) if pattern else wanted in name


def find_text(
    workspace: Workspace,
    text: str,
    under: AnyPath = ".",
    *,
    ignore_case: bool = False,
    limit: int = HITS,
    patience: Patience | None = None,
) -> Iterator[Hit]:
    """Lines that contain a text, file by file, passing over what is binary, ignored or a link.

    The text is taken as it is, and has to stand in one line.
    """
    if text and not LINE_END.search(text):
        # A pattern finds letters whose upper case is longer without moving any place.
        wanted = re.compile(re.escape(text), re.IGNORECASE if ignore_case else 0)
        hits = (
            hit
            for entry in _while(patience, walk(workspace, under))
            if entry.kind == "file"
            for hit in _hits(workspace, entry.path, wanted, patience)
        )
        yield from islice(hits, max(limit, 0))


def _while(patience: Patience | None, things: Iterable[T]) -> Iterator[T]:
    return takewhile(lambda _: patience is None or patience.lasts(), things)


def _hits(
    workspace: Workspace, path: str, wanted: re.Pattern[str], patience: Patience | None
) -> Iterator[Hit]:
    number = 1
    try:
        for piece in _while(patience, _pieces(workspace, path)):
            if wanted.search(piece):
                yield from _lines(path, piece, number, wanted)
            number += len(LINE_END.findall(piece))
    except (FileError, OSError):
        return  # it went away or is no text: there is nothing to be found


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
    """A file's text in pieces that end with a line, as far as lines end."""
    with workspace.reach(path) as spot:
        yield from _pieces_of(spot)


def _pieces_of(spot: Spot) -> Iterator[str]:
    descriptor = spot.open()
    try:
        head = os.pread(descriptor, HEAD, 0)
        encoding = detect(head, spot.path, whole=len(head) < HEAD)
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
    finally:
        os.close(descriptor)
