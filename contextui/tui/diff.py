"""A unified diff, drawn with line numbers and colours; any other text as it is."""

import re
from collections.abc import Iterator

from textual.content import Content

from contextui.tui.cells import FAINT, MUTED, fit, inert

_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@(.*)")
_STYLES = {
    "-": "$text-error on $error 14%",
    "+": "$text-success on $success 14%",
    " ": "$foreground 80% on $foreground 4%",
    "@": f"{MUTED} on $foreground 4%",
}


def is_diff(text: str) -> bool:
    """Whether a text is a unified diff."""
    return text.startswith("--- ") and "\n@@ " in text


def changed(text: str) -> tuple[int, int]:
    """How many lines a diff adds and takes away."""
    lines = text.splitlines()[2:]
    return sum(one.startswith("+") for one in lines), sum(one.startswith("-") for one in lines)


def drawn(text: str, width: int) -> Content:
    """The diff in lines of exactly this width; text that is no diff as it is."""
    if not is_diff(text):
        return inert(text)
    return Content("\n").join(list(_rows(text.split("\n"), width)))


def _rows(lines: list[str], width: int) -> Iterator[Content]:
    old = new = 0
    for line in lines[2:]:
        if hunk := _HUNK.match(line):
            old, new = int(hunk[1]), int(hunk[2])
            yield _row("@", "", "", f"… {hunk[3].strip()}", width)
            continue
        kind, rest = line[:1] or " ", line[1:]
        if kind not in "+- ":
            yield _row("@", "", "", line, width)
            continue
        if not line and old == 0:
            continue
        yield _row(kind, "" if kind == "+" else str(old), "" if kind == "-" else str(new), rest,
                   width)  # fmt: skip
        old += kind != "+"
        new += kind != "-"


def _row(kind: str, old: str, new: str, text: str, width: int) -> Content:
    style = _STYLES[kind]
    ground = " on" + style.split(" on")[1]
    mark = kind if kind in "+-" else " "
    return Content.assemble(
        (f" {old:>4} {new:>4} ", FAINT + ground),
        (f"{mark} {fit(text.expandtabs(4), max(width - 13, 1))}", style),
    )
