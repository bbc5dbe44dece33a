"""What the border of a window tells; a window that is one line tells the same."""

from dataclasses import dataclass

from textual.content import Content

from contextui.tui.cells import KEY, MUTED, line, short
from contextui.tui.desktop.doings import Doings
from contextui.tui.words import Words
from contextui.windowing.base import Window
from contextui.windowing.worker import PATIENCE

_GAP = "   "


@dataclass(frozen=True, slots=True)
class Facts:
    """What is told of a window below its content."""

    doing: Content
    lod: str
    tokens: str
    is_late: bool = False

    def within(self, width: int, words: Words) -> Content:
        """As much as fits, the least important left out first."""
        late = (words("late"), "$text-warning") if self.is_late else ""
        detail = (words(self.lod), MUTED)
        tokens = (self.tokens, MUTED)
        for parts in (
            (self.doing, late, detail, tokens),
            (self.doing, late, tokens),
            (late, tokens),
        ):
            told = Content(_GAP).join([Content.assemble(one) for one in parts if one])
            if told.cell_length <= width:
                return told
        return Content("")


def facts_of(window: Window, doings: Doings, tokens: int | None, words: Words) -> Facts:
    """Who acted, how much of itself the window shows, and what that costs."""
    return Facts(
        doings.told(window.id, words),
        window.lod.value,
        "–" if tokens is None else short(tokens),
        window.runtime.worker.busy_for() >= PATIENCE,
    )


def name_of(window: Window) -> str:
    """The window's name; its id from the second of that name on."""
    return window.name if window.id == f"{window.name}_1" else window.id


def heading(number: int, window: Window, rest: str) -> Content:
    """``1 todo  3 open``."""
    return Content.assemble(
        (f"{number} ", KEY), (line(name_of(window)), "bold"), (f"  {line(rest)}".rstrip(), MUTED)
    )
