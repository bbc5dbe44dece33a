"""Transcript of a command: the first and last lines of its output, as the screen shows them."""

from collections import deque

from contextui.text import for_terminal
from contextui.windows.terminal.screen import Screen

HEAD, TAIL = 200, 400  # lines kept in memory: the first and the last
LONGEST = 2_000  # characters kept of one line
_HEAD_CHARACTERS = 100_000


class Transcript:
    """Output as plain lines: the first, the last, and how many are between them.

    The screen reports the rows that scroll away, and what erases others. Rows that are still on it
    may change: they are read when they are asked for.
    """

    def __init__(self) -> None:
        self.head = list[str]()
        self.left_out = 0
        self._tail = deque[str](maxlen=TAIL)
        self._screen: Screen | None = None
        self._first = (0, 0)  # where the output begins
        self._next = 0  # the first row that has not scrolled away
        self._open, self._cut = "", 0  # a line that goes on in the next row
        self._head_size = 0
        self._is_fresh = self._skipped = False

    # --- called by the emulator ----------------------------------------------------------

    def begin(self, screen: Screen) -> None:
        self._screen, self._first = screen, screen.place
        self._next = self._first[0]

    def finish(self) -> None:
        """Keep what is on the screen; later changes of it are not part of the output."""
        self._take_shown()
        self._screen = None

    def scrolled(self, row: int, text: str, goes_on: bool) -> None:
        """Take a row that leaves the screen."""
        if row < self._next:
            return
        self._next = row + 1
        if row == self._first[0]:
            text = text[self._first[1] :]
        if self._is_fresh and not text:
            return
        self._is_fresh = False
        self._open += text
        if len(self._open) > LONGEST:
            self._cut += len(self._open) - LONGEST
            self._open = self._open[:LONGEST]
        if not goes_on:
            self._put(finished(self._open, self._cut))
            self._open, self._cut = "", 0

    def erasing(self) -> None:
        """Keep what is shown: a person no longer sees it, and the model may still read it."""
        self._take_shown()
        if self._screen is not None:
            self._next, self._is_fresh = self._screen.scrolled, True

    def moved(self) -> None:
        """Note that the cursor may be above all rows of the output."""
        if self._screen is not None and self._screen.place[0] < self._next:
            self._next = self._screen.place[0]
            self._first = (self._next, 0)

    def skip(self, lines: int) -> None:
        """Leave lines out, after all that were taken so far."""
        assert self._screen is not None
        if not lines:  # a part of a line
            return
        if self._next <= self._screen.place[0] <= self._screen.last_row:
            lines -= 1  # the rest of this line is left out
        self._take_shown()
        self._skipped = True
        self.left_out += len(self._tail) + lines
        self._tail.clear()

    # --- reading -------------------------------------------------------------------------

    @property
    def head_full(self) -> bool:
        """Whether further lines no longer go to the head."""
        full = len(self.head) >= HEAD or self._head_size >= _HEAD_CHARACTERS
        return full or self._skipped

    @property
    def tail(self) -> list[str]:
        """The last lines, with those that may still change."""
        return [*self._tail, *self._shown()]

    @property
    def lines(self) -> int:
        return len(self.head) + self.left_out + len(self.tail)

    def output(self) -> str:
        """Return the head and the tail as one text, with a line for what was left out."""
        between = [f"… {self.left_out} lines …"] if self.left_out else []
        return "\n".join([*self.head, *between, *self.tail])

    def _shown(self) -> list[str]:
        if self._screen is None:
            return []
        lines, text = list[str](), self._open
        for row in range(max(self._next, self._screen.scrolled), self._screen.last_row + 1):
            part, goes_on = self._screen.line(row, self._first[1] if row == self._first[0] else 0)
            text += part
            if not goes_on and (text or lines or not self._is_fresh):
                lines.append(finished(text, self._cut if not lines else 0))
                text = ""
        if text:
            lines.append(finished(text, self._cut if not lines else 0))
        while lines and not lines[-1]:
            lines.pop()
        return lines

    def _take_shown(self) -> None:
        if self._screen is not None:
            lines = self._shown()
            self._open, self._cut = "", 0
            for line in lines:
                self._put(line)
            self._next = max(self._next, self._screen.last_row + 1, self._screen.place[0] + 1)

    def _put(self, line: str) -> None:
        if not self.head_full:
            self.head.append(line)
            self._head_size += len(line)
        else:
            self.left_out += len(self._tail) == TAIL
            self._tail.append(line)


def finished(line: str, cut: int = 0) -> str:
    """Return a line as it is kept: cut if it is long."""
    cut += max(0, len(line) - LONGEST)
    line = for_terminal(line[:LONGEST].rstrip(" "))
    return f"{line} … {cut} more characters" if cut else line
