"""What is different between two texts, as a unified diff of bounded length."""

from collections.abc import Iterator
from difflib import unified_diff
from itertools import islice

from contextui.files.errors import UnreadableFileError
from contextui.files.page import shorten
from contextui.files.textfile import TextFile

DIFF_LINES = 400
_COMPARED = 4_000  # comparing takes time with the square of what differs
_CONTEXT = 3
_SHOWN_ENDS = {"\n": "", "\r\n": "␍", "\r": "␍ (no line feed)"}


def diff_text(old: TextFile, new: TextFile, old_name: str, new_name: str) -> str:
    r"""A unified diff, empty if nothing differs. Lines that end with CRLF are marked `␍`."""
    before, after = list(_shown(old)), list(_shown(new))
    if before == after:
        return "" if old.to_bytes() == new.to_bytes() else f"{old_name} and {new_name} differ\n"
    # Only what lies between the first and the last difference is compared; difflib's own start
    # would look at all of it.
    head = _agreeing(before, after)
    tail = _agreeing(before[head:][::-1], after[head:][::-1])
    low = max(head - _CONTEXT, 0)
    left, right = (
        side[low : len(side) - max(tail - _CONTEXT, 0)][:_COMPARED] for side in (before, after)
    )
    lines = unified_diff(left, right, old_name, new_name, lineterm="", n=_CONTEXT)
    kept = [_renumbered(line, low) for line in islice(lines, DIFF_LINES)]
    if next(lines, None) is not None or _COMPARED in (len(left), len(right)):
        kept.append("… more differences left out")
    return "\n".join(kept) + "\n"


def diff_bytes(old: bytes, new: bytes, path: str) -> str:
    """A diff from what is on disk to what was to be saved."""
    try:
        return diff_text(
            TextFile.from_bytes(old), TextFile.from_bytes(new), f"{path} (on disk)", f"{path} (new)"
        )
    except UnreadableFileError:
        return f"{path} on disk ({len(old):,} bytes) and the new one ({len(new):,}) differ\n"


def _shown(file: TextFile) -> Iterator[str]:
    for line, end in zip(file.lines, file.endings, strict=True):
        yield shorten(line) + _SHOWN_ENDS.get(end, "\n\\ No newline at end of file")


def _agreeing(one: list[str], other: list[str]) -> int:
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count


def _renumbered(line: str, by: int) -> str:
    """A hunk's head with the numbers of the whole file."""
    if not by or not line.startswith("@@ -"):
        return line
    old, new = line.removeprefix("@@ -").removesuffix(" @@").split(" +")
    return f"@@ -{_moved(old, by)} +{_moved(new, by)} @@"


def _moved(numbers: str, by: int) -> str:
    start, comma, count = numbers.partition(",")
    return f"{int(start) + by}{comma}{count}"
