"""Tool calls, one line each; a click or Enter unfolds what came of them."""

import time

from rich.cells import cell_len
from textual.content import Content

from contextui.tui.cells import FAINT, MUTED, fit, inert, line
from contextui.tui.conversation.entries import Called
from contextui.tui.conversation.folding import FoldedLine
from contextui.tui.words import Words

_NAME, _TIME = 18, 6  # cells
_LONGEST = 4_000  # characters of a result that are unfolded


class CallLine(FoldedLine):
    """One call: whether it went well, what it was, with what, and how long it took."""

    def __init__(self, entry: Called, words: Words) -> None:
        super().__init__()
        self.entry, self._words = entry, words
        self._began = time.monotonic()
        self._took: float | None = None
        self._waits_since: float | None = None

    def finish(self, entry: Called, waited: float = 0.0) -> None:
        """Show what came of it, and how long it took beside waiting for the person."""
        self.entry, self._took = entry, max(time.monotonic() - self._began - waited, 0.0)
        self.refresh(layout=True)

    def wait(self, is_waiting: bool) -> float:
        """Show whether it waits for the person.

        Returns:
            The seconds it has waited, when the wait is over.
        """
        now = time.monotonic()
        waited = now - self._waits_since if self._waits_since is not None else 0.0
        self._waits_since = now if is_waiting else None
        self.refresh(layout=True)
        return waited

    def head(self) -> Content:
        """Its mark, its name, what it was given, and its time."""
        mark, style = {
            True: ("✓", "$text-success"),
            False: ("✗", "$text-error"),
            None: ("·", "$text-warning"),
        }[self.entry.ok]
        name = max(_NAME, min(len(self.entry.title), 30))
        width = max(self.size.width - 2 - name - 1 - _TIME, 4)
        took = f"{self._took:.1f}s" if self._took is not None else ""
        what, waits = self.entry.what, ""
        if self._waits_since is not None:
            waits = self._words("waits for you")
            width = max(min(width - cell_len(waits) - 3, cell_len(line(what))), 0)
            waits = f"   {waits}" if width else waits
        if self.entry.ok is False and not self.is_open:
            what = self.entry.result
        return Content.assemble(
            (f"{mark} ", style),
            (fit(self.entry.title, name) + " ", "$foreground 85%"),
            (fit(what, width), "$text-error" if self.entry.ok is False else MUTED),
            (waits, "$text-warning"),
            (fit(took, _TIME, right=True), FAINT),
        )

    def rest(self) -> Content:
        """What it was given, and what came of it."""
        parts = [self.entry.what, self.entry.result[:_LONGEST]]
        return Content("\n").join(inert(part).stylize(MUTED) for part in parts if part.strip())
