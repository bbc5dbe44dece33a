"""`Buffer`: an edited text with undo and redo, whose edits can be stored and replayed."""

import re
from dataclasses import dataclass, replace
from itertools import accumulate
from operator import itemgetter
from typing import NamedTuple

from pydantic import BaseModel

from contextui.files.diff import brief_diff
from contextui.files.diff import changes as line_changes
from contextui.files.errors import EditError
from contextui.files.textfile import LINE_END, TextFile

NEAR = 80  # characters: two edits closer than this are merged into one
AROUND, QUOTED = 60, 2_000  # characters stored around an edit, and of what it removed
APART = 200  # changed lines that become separate edits; more of them become one wide edit
STEPS, HELD = 1_000, 100_000_000  # undo steps, and the characters held for them


class Splice(NamedTuple):
    """Replaces the characters from `start` to `end` with a text."""

    start: int
    end: int
    text: str

    def of(self, text: str) -> str:
        """Apply the change to a text."""
        return text[: self.start] + self.text + text[self.end :]


class Edit(BaseModel):
    """A replacement of some characters of a file, with the context around it."""

    start: int
    length: int
    added: str
    line: int
    before: str
    removed: str
    after: str

    def was_in(self, text: str) -> bool:
        """Whether it was made in this text, judging by its context."""
        return text.startswith(self.before + self.removed, self.start - len(self.before))

    def place_in(self, text: str) -> int:
        """Where it fits in another text: at its own place, or the only match; -1 if nowhere."""
        around, ahead = self.before + self.removed + self.after, len(self.before)
        if self.length > QUOTED or (text and not around):
            return -1
        if text.startswith(around, self.start - ahead):
            return self.start
        found, made = text.find(around), self.before + self.added + self.after
        if found < 0 or text.find(around, found + 1) >= 0:
            return -1
        beside = text[max(found - len(made), 0) : found + len(around) + len(made)]
        return found + ahead if made not in beside else -1  # already applied there

    def shown(self) -> str:
        """Format the edit as a diff of the lines that it touches."""
        head, tail = LINE_END.split(self.before)[-1], LINE_END.split(self.after)[0]
        removed = self.removed + "…" * (self.length > QUOTED)
        old, new = (TextFile(f"{head}{part}{tail}\n") for part in (removed, self.added))
        return f"@@ line {self.line} @@\n" + brief_diff(old, new, "", "").split("\n", 3)[-1]


Edits = tuple[Edit, ...]


@dataclass(frozen=True)
class Buffer:
    """An edited text with its undo and redo history: immutable, like `TextFile`.

    Attributes:
        edits: The difference between the two, which can be stored instead of the text.
        typed: Where the next keystroke would continue the last one, and whether that was an
            insertion.
    """

    base: TextFile
    file: TextFile
    edits: Edits = ()
    past: tuple[str, ...] = ()
    future: tuple[str, ...] = ()
    line: int = 1
    typed: tuple[int, bool] | None = None

    def become(self, new: TextFile) -> "Buffer":
        """Record an edited text as one undo step."""
        old, base, edits = self.file.text, self.base.text, self.edits
        if new.text == old:
            raise EditError(new.path, "That changes nothing.")
        new.encoding.check(new.text, new.path)
        for change in reversed(changes(old, new.text)):
            edits = _merged(edits, base, old, change)
            old, line = change.of(old), _line(old, change.start)
        steps = max(min(STEPS, HELD // (len(new.text) + 1)), 1)
        past = (*self.past, self.file.text)[-steps:]
        return Buffer(self.base, new, edits if new.text != base else (), past, line=line)

    def splice(self, start: int, end: int, text: str) -> "Buffer":
        """Replace some characters; the letters of a word are one undo step."""
        old, new, adds = self.file.text, LINE_END.sub(self.file.ending, text), start == end
        if not 0 <= start <= end <= len(old):
            raise EditError(
                self.file.path,
                "There are characters 0 to {count}, not {start} to {end}.",
                count=len(old),
                start=start,
                end=end,
            )
        after = self.become(replace(self.file, text=old[:start] + new + old[end:]))
        if end - start + len(new) != 1:
            return after
        past = self.past if self.typed == (end, adds) and not new.isspace() else after.past
        return replace(after, past=past, typed=(start + len(new), adds))

    def undo(self) -> "Buffer":
        """Go back to the text before the last change."""
        if not self.past:
            raise EditError(self.file.path, "There is nothing to undo.")
        before = self.become(replace(self.file, text=self.past[-1]))
        return replace(before, past=self.past[:-1], future=(*self.future, self.file.text))

    def redo(self) -> "Buffer":
        """Go forward to the text before the last `undo`."""
        if not self.future:
            raise EditError(self.file.path, "There is nothing to redo.")
        after = self.become(replace(self.file, text=self.future[-1]))
        return replace(after, future=self.future[:-1])

    def saved(self) -> "Buffer":
        """Mark the text as saved: no edits are left."""
        return replace(self, base=self.file, edits=(), typed=None)

    def read_again(self, file: TextFile) -> "Buffer":
        """Replace the text with the file as it is now, as one undo step."""
        changed = file.text != self.file.text
        return Buffer(file, file, past=(*self.past, self.file.text) if changed else self.past)

    def returned(self, edits: Edits) -> "Buffer | None":
        """Replay stored edits on the file as it was read; None if the file is a different one."""
        text, past = self.base.text, list[str]()
        for edit in reversed(edits):
            if not edit.was_in(self.base.text):
                return None
            past.append(text)
            text = text[: edit.start] + edit.added + text[edit.start + edit.length :]
        return Buffer(self.base, replace(self.file, text=text), edits, tuple(past))

    def fit(self, edits: Edits) -> tuple["Buffer", Edits]:
        """Apply edits of another version of the file where they fit; also return those that do
        not."""
        old, new, end, lost = self.file.text, "", 0, list[Edit]()
        for at, edit in sorted([(one.place_in(old), one) for one in edits], key=itemgetter(0)):
            if at < end:
                lost.append(edit)
            else:
                new, end = new + old[end:at] + edit.added, at + edit.length
        if len(lost) == len(edits):
            return self, edits
        return self.become(replace(self.file, text=new + old[end:])), tuple(lost)


def changes(old: str, new: str) -> list[Splice]:
    """The changes from `old` to `new`, line by line where that is possible; many are one."""
    begin, stop, text = whole = change(old, new)
    before, after = (re.split(r"(?<=\n)", part) for part in (old[begin:stop], text))
    starts, found = list(accumulate(map(len, before), initial=begin)), list[Splice]()
    for start, end, low, high in line_changes(before, after):
        most = max(end - start, high - low)
        each = 1 if end - start == high - low else most
        for at in range(0, most, each):
            lines = before[start + at : min(start + at + each, end)]
            first, last, put = change(
                "".join(lines), "".join(after[low + at : min(low + at + each, high)])
            )
            found.append(Splice(starts[start + at] + first, starts[start + at] + last, put))
    return found if len(found) <= APART else [whole]


def change(old: str, new: str) -> Splice:
    """The single change from `old` to `new`.

    Example:
        >>> change("milk and eggs", "milk or eggs")
        Splice(start=5, end=8, text='or')
    """
    start = _agreeing(old, new)
    tail = _agreeing(old[start:][::-1], new[start:][::-1])
    return Splice(start, len(old) - tail, new[start : len(new) - tail])


def _agreeing(one: str, other: str) -> int:
    """The length of the common prefix."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        same = one[low:middle] == other[low:middle]
        low, high = (middle, high) if same else (low, middle - 1)
    return low


def _merged(edits: Edits, base: str, text: str, change: Splice) -> Edits:
    """Add a change to the edits that turn `base` into `text`; merge those near to it."""
    start, stop, new = change
    left, right, low, high, moved, grown = list[Edit](), list[Edit](), start, stop, 0, 0
    for edit in edits:
        at = edit.start + moved + grown
        end, more = at + len(edit.added), len(edit.added) - edit.length
        if end + NEAR < start:
            left.append(edit)
            moved += more
        elif at - NEAR > stop:
            right.append(edit)
        else:
            low, high, grown = min(low, at), max(high, end), grown + more
    first, last = low - moved, high - moved - grown
    merged = Edit(
        start=first,
        length=last - first,
        added=text[low:start] + new + text[stop:high],
        line=_line(base, first),
        before=base[max(first - AROUND, 0) : first],
        removed=base[first : min(last, first + QUOTED)],
        after=base[last : last + AROUND],
    )
    return (*left, merged, *right) if merged.added != base[first:last] else (*left, *right)


def _line(text: str, place: int) -> int:
    crlf = text.count("\r\n", 0, place)
    return 1 + text.count("\n", 0, place) + text.count("\r", 0, place) - crlf
