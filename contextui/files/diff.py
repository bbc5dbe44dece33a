"""Unified diffs of two texts: complete, or truncated for a message.

Diffs are exact: only LF ends a line, so CR, form feed, U+2028 and all other characters are part of
the lines, and applying the diff to the old text gives the new one.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import islice
from typing import NamedTuple

from contextui.files.errors import UnreadableFileError
from contextui.files.textfile import TextFile, shorten

DIFF_LINES = 400
"""The maximum lines of a truncated diff."""

_CONTEXT = 3
_COMPARED = 1_000  # lines without a unique line among them: comparing takes quadratic time
_NO_END = "\\ No newline at end of file"
_BOM = "\ufeff"
_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")


class Change(NamedTuple):
    """Lines `old_start` to `old_stop` become lines `new_start` to `new_stop`; counted from 0."""

    old_start: int
    old_stop: int
    new_start: int
    new_stop: int


@dataclass(frozen=True, slots=True)
class DiffCounts:
    """The number of lines that a diff adds and removes."""

    added: int
    removed: int


# --- creating diffs -------------------------------------------------------------------------


def diff_text(old: TextFile, new: TextFile, old_name: str, new_name: str) -> str:
    """A complete unified diff of two files, empty if their bytes are the same.

    An added or removed byte order mark appears in the first line as U+FEFF. Two encodings of the
    same text cannot be shown as lines; one sentence then says that the files differ.
    """
    before, after = old.text, new.text
    if bool(old.encoding.bom) != bool(new.encoding.bom):
        before = _BOM * bool(old.encoding.bom) + before
        after = _BOM * bool(new.encoding.bom) + after
    if before == after:
        if old.encoding == new.encoding:
            return ""
        return f"{old_name} ({old.encoding}) and {new_name} ({new.encoding}) differ\n"
    return "\n".join(_unified(_lines(before), _lines(after), old_name, new_name)) + "\n"


def brief_diff(old: TextFile, new: TextFile, old_name: str, new_name: str) -> str:
    """A diff truncated for a message: never use it for an approval.

    Long lines and long diffs are truncated with a note; CR at the end of a line is shown as `␍`.
    """
    whole = diff_text(old, new, old_name, new_name)
    lines = whole.split("\n")[:-1]
    readable = (f"{line[:-1]}␍" if line.endswith("\r") else line for line in lines)
    kept = [shorten(line) for line in islice(readable, DIFF_LINES)]
    if len(lines) > DIFF_LINES:
        kept.append(f"… {len(lines) - DIFF_LINES} more lines of the diff left out")
    return "".join(f"{line}\n" for line in kept)


def diff_bytes(old: bytes, new: bytes, path: str) -> str:
    """A truncated diff from the file on disk to the content to save."""
    try:
        return brief_diff(
            TextFile.from_bytes(old), TextFile.from_bytes(new), f"{path} (on disk)", f"{path} (new)"
        )
    except UnreadableFileError:
        return f"{path} on disk ({len(old):,} bytes) and the new one ({len(new):,}) differ\n"


def _lines(text: str) -> list[str]:
    """The lines with their LF; the last may have none."""
    lines = [f"{line}\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def _unified(old: list[str], new: list[str], old_name: str, new_name: str) -> Iterator[str]:
    yield f"--- {old_name}"
    yield f"+++ {new_name}"
    for hunk in _hunks(list(changes(old, new))):
        first, last = hunk[0], hunk[-1]
        above = min(_CONTEXT, first.old_start, first.new_start)
        low, left = first.old_start - above, first.new_start - above
        high = min(last.old_stop + _CONTEXT, len(old))
        right = last.new_stop + high - last.old_stop
        yield f"@@ -{line_range(low, high)} +{line_range(left, right)} @@"
        at = low
        for change in hunk:
            yield from _marked(" ", old[at : change.old_start])
            yield from _marked("-", old[change.old_start : change.old_stop])
            yield from _marked("+", new[change.new_start : change.new_stop])
            at = change.old_stop
        yield from _marked(" ", old[at:high])


def _hunks(changes: Sequence[Change]) -> Iterator[list[Change]]:
    hunk: list[Change] = []
    for change in changes:
        if hunk and change.old_start - hunk[-1].old_stop > 2 * _CONTEXT:
            yield hunk
            hunk = []
        hunk.append(change)
    if hunk:
        yield hunk


def _marked(mark: str, lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        yield mark + line.removesuffix("\n")
        if not line.endswith("\n"):
            yield _NO_END


def line_range(start: int, stop: int) -> str:
    """Format a line range for a hunk header; for an empty range, the line before it."""
    count = stop - start
    if count == 1:
        return str(start + 1)
    return f"{start + bool(count)},{count}"


# --- comparing ------------------------------------------------------------------------------


def changes(old: Sequence[str], new: Sequence[str]) -> Iterator[Change]:
    """Yield the changes in order.

    Lines that are unique on both sides divide the texts into small parts first (a patience diff),
    so the time does not grow quadratically.
    """
    pending = [(0, len(old), 0, len(new))]
    while pending:
        low, high, left, right = pending.pop()
        while low < high and left < right and old[low] == new[left]:
            low, left = low + 1, left + 1
        while low < high and left < right and old[high - 1] == new[right - 1]:
            high, right = high - 1, right - 1
        if low == high and left == right:
            continue
        if low == high or left == right:
            yield Change(low, high, left, right)
            continue
        anchors = _anchors(old[low:high], new[left:right])
        if anchors:
            parts, at, beside = [], low, left
            for one, other in anchors:
                parts.append((at, low + one, beside, left + other))
                at, beside = low + one, left + other
            parts.append((at, high, beside, right))
            pending += reversed(parts)
        else:
            yield from _compared(old[low:high], new[left:right], low, left)


def _anchors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """The lines that are unique in both, as the longest subsequence in the same order."""
    once = Counter(old)
    here, there = Counter(new), {line: at for at, line in enumerate(new)}
    pairs = [
        (at, there[line]) for at, line in enumerate(old) if once[line] == 1 and here.get(line) == 1
    ]
    tops: list[int] = []  # the smallest end of a subsequence of each length
    chain: list[int] = []
    before: list[int] = []
    for number, (_, place) in enumerate(pairs):
        length = bisect_left(tops, place)
        before.append(chain[length - 1] if length else -1)
        tops[length : length + 1] = [place]
        chain[length : length + 1] = [number]
    found: list[tuple[int, int]] = []
    at = chain[-1] if chain else -1
    while at >= 0:
        found.append(pairs[at])
        at = before[at]
    return found[::-1]


def _compared(old: Sequence[str], new: Sequence[str], low: int, left: int) -> Iterator[Change]:
    """Compare parts without unique lines: line by line if equally long and mostly equal,
    with difflib if short, otherwise as one change."""
    if len(old) == len(new) and sum(map(str.__ne__, old, new)) * 2 < len(old):
        start: int | None = None
        for at in range(len(old) + 1):
            differs = at < len(old) and old[at] != new[at]
            if differs and start is None:
                start = at
            elif not differs and start is not None:
                yield Change(low + start, low + at, left + start, left + at)
                start = None
    elif len(old) + len(new) <= _COMPARED:
        for tag, i1, i2, j1, j2 in SequenceMatcher(None, old, new).get_opcodes():
            if tag != "equal":
                yield Change(low + i1, low + i2, left + j1, left + j2)
    else:
        yield Change(low, low + len(old), left, left + len(new))


# --- parsing diffs --------------------------------------------------------------------------


def count_diff(diff: str) -> DiffCounts | None:
    """Count the lines that a unified diff adds and removes; None if it is not a complete diff.

    Each hunk is read to the length in its header, so a changed line may itself look like the header
    of a file (``--- a``) or of a hunk.
    """
    added = removed = hunks = old_left = new_left = 0
    for line in diff.split("\n"):
        if old_left > 0 or new_left > 0:
            kind = line[:1]
            if kind == "\\":
                continue
            old_left -= kind in {" ", "-"}
            new_left -= kind in {" ", "+"}
            if kind not in {" ", "-", "+"} or old_left < 0 or new_left < 0:
                return None
            added, removed = added + (kind == "+"), removed + (kind == "-")
        elif head := _HUNK.match(line):
            hunks += 1
            old_left, new_left = (int(group) if group else 1 for group in head.groups())
    return DiffCounts(added, removed) if hunks and not old_left and not new_left else None
