"""What stands on the screen, as text that can be kept and compared: the words, and their looks."""

import difflib
import os
import re
from collections import Counter
from itertools import count
from pathlib import Path
from string import ascii_letters, digits

from rich.segment import Segment
from rich.style import Style
from textual._context import visible_screen_stack
from textual.pilot import Pilot

FOLDER = Path(__file__).parent / "snapshots"
RENEW = "CONTEXTUI_SNAPSHOTS"
_STYLE_NAMES = ascii_letters + digits
_PATIENCE = 100  # looks at a screen that does not come to rest


async def at_rest(pilot: "Pilot[int]", name: str = "") -> str:
    """The picture, once it is the same for a while, or as it was kept."""
    path = FOLDER / f"{name}.txt"
    kept = path.read_text(encoding="utf-8") if path.exists() else None
    enough = 3 if kept is None or os.environ.get(RENEW) == "renew" else 40
    before, same = "", 0
    for _ in range(_PATIENCE):
        await pilot.pause(0.06)  # longer than what is drawn in batches
        now = re.sub(r"toolu_\d+", "toolu_000000", picture(pilot))
        if now == kept:
            return now
        same = same + 1 if now == before else 0
        if same == enough:
            return now
        before = now
    raise AssertionError("\n".join(["The screen does not come to rest:", now]))


def picture(pilot: "Pilot[int]") -> str:
    """The words of each line; then a letter for the look of each cell; then what they stand for."""
    visible_screen_stack.set(pilot.app._background_screens)  # what is seen through a dialog
    rows = [list(strip) for strip in pilot.app.screen._compositor.render_strips()]
    looks = _named(rows)
    words = ["".join(segment.text for segment in row).rstrip() for row in rows]
    drawn = ["".join(looks[_look(one)] * one.cell_length for one in row).rstrip() for row in rows]
    legend = [f"{name} {look}" for look, name in looks.items() if name != " "]
    return "\n".join([*words, "", *drawn, "", *legend, ""])


def check(name: str, found: str) -> None:
    """See that a picture is as it was kept; `CONTEXTUI_SNAPSHOTS=renew` updates it."""
    path = FOLDER / f"{name}.txt"
    if os.environ.get(RENEW) == "renew":
        FOLDER.mkdir(exist_ok=True)
        path.write_text(found, encoding="utf-8")
        return
    kept = path.read_text(encoding="utf-8") if path.exists() else ""
    if found != kept:
        differences = difflib.unified_diff(
            kept.splitlines(), found.splitlines(), f"{name} as kept", f"{name} now", lineterm=""
        )
        how = f"If that is meant: {RENEW}=renew pytest {Path(__file__).parent}/test_snapshots.py"
        raise AssertionError("\n".join(["", *differences, how]))


def _look(segment: Segment) -> str:
    """How a segment looks, in words; what only acts, and is not seen, does not count."""
    style = segment.style or Style()
    colours = [one.name if one else "" for one in (style.color, style.bgcolor)]
    marks = [name for name in ("bold", "dim", "italic", "underline", "reverse", "strike")
             if getattr(style, name)]  # fmt: skip
    return " ".join([f"{colours[0]} on {colours[1]}", *marks])


def _named(rows: list[list[Segment]]) -> dict[str, str]:
    """A letter for each look, in the order of their coming; none for the most common one."""
    cells: Counter[str] = Counter()
    for row in rows:
        for segment in row:
            cells[_look(segment)] += segment.cell_length
    most = cells.most_common(1)[0][0]
    number = count()
    return {look: " " if look == most else _STYLE_NAMES[next(number)] for look in cells}
