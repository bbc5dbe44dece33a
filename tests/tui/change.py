"""A dialog in an app of its own, and what a whole scroll of it shows, read from its cells."""

import asyncio
import random
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from difflib import unified_diff
from typing import Any

from rich.segment import Segment
from textual.color import Color
from textual.pilot import Pilot

from contextui.agent.approval import Decision, Grant, Question
from contextui.tui.dialogs.approval import ApprovalScreen
from contextui.tui.dialogs.command import screen_for
from contextui.tui.dialogs.diff import ChangeView, Line, hanging
from contextui.tui.keys import KeyLine
from contextui.tui.themes import THEMES
from contextui.windowing.preview import Preview
from contextui.words import Lang, Words

ODD = (
    "\u200b\u2060\u00ad\u034f\u115f\u1160\u3164\uffa0\u180e\ufeff\u17b4\ufe0f\U000e0100\U000e0041"
    "\u202e\u2066\x00\x07\x1b\x7f\x9b\u2028\u2029\u00a0\u2003\u202f\u3000\ue000\u0378\ud800\u200d"
)
"""One of each kind of character that cannot be seen."""


class Host(KeyLine[int]):
    """An app that only asks."""

    CSS = "* { scrollbar-size: 1 1; }"

    def __init__(self) -> None:
        super().__init__()
        self.decisions: list[Decision | None] = []
        for one in THEMES:
            self.register_theme(one)
        self.theme = "contextui-dark"

    def ask(self, question: Question, lang: Lang = "en") -> ApprovalScreen:
        screen = screen_for(Words(lang), question)
        self.push_screen(screen, self.decisions.append)
        return screen


@asynccontextmanager
async def hosting(size: tuple[int, int] = (120, 40)) -> AsyncIterator[tuple["Pilot[Any]", Host]]:
    app = Host()
    async with app.run_test(size=size) as pilot:
        yield pilot, app


async def settled(pilot: "Pilot[Any]", screen: ApprovalScreen) -> ChangeView:
    """The view of a dialog once it has its size and all rows are known."""
    before: object = None
    for _ in range(2_000):
        await pilot.pause()
        views = screen.query(ChangeView)
        if views and screen.is_attached:
            view = views.first()
            title = screen.query_one("#box").border_title
            now = (view.count, view.size, view.line_width, title)
            if now == before and view.count and title and view.layout_of.is_whole:
                return view
            before = now
        await asyncio.sleep(0.001)
    raise AssertionError("the dialog does not come to rest")


def question(
    old: Sequence[str], new: Sequence[str], target: str = "cart.py", **given: Any
) -> Question:
    """The question about a change of these lines."""
    diff = "".join(f"{one}\n" for one in unified_diff(old, new, target, target, lineterm="", n=3))
    whole = "".join(f"{one}\n" for one in new)
    given.setdefault("grant", Grant("editor", "save", target))
    return Question(
        "editor_1", "save", "Save the file", {}, Preview(target, diff, whole=whole), **given
    )


# --- reading back ----------------------------------------------------------------------


def scrolled(view: ChangeView) -> Iterator[list[Segment]]:
    """Every row, by turning the pages from the first to the last."""
    height, seen = view.scrollable_content_region.height, 0
    assert height > 0
    while seen < view.count:
        view.scroll_to(y=seen, animate=False, force=True, immediate=True)
        top = view.scroll_offset.y
        for row in range(seen - top, min(height, view.count - top)):
            strip = view.render_line(row)
            assert strip.cell_length == view.line_width, "a row is not as wide as its place"
            yield list(strip)
        seen = top + height


def shows_all(view: ChangeView, lines: Sequence[Line]) -> None:
    """Assert that a whole scroll shows exactly these lines, character by character."""
    rows = scrolled(view)
    gutter_of = view.layout_of._gutter
    warning = Color.parse(view.app.theme_variables["warning"])
    row = next(rows, None)
    for line in lines:
        numbers = [str(one or "") for one in (line.old, line.new)]
        gutter = gutter_of(line.kind, *numbers)
        room = view.line_width - len(gutter) - 2
        at, is_first = 0, True
        while True:
            assert row is not None, f"missing: {line!r} from {at}"
            cells = _cells(row)
            mark = line.kind if line.kind in "+-" else " "
            wanted = f"{gutter}{mark} " if is_first else f"{' ' * len(gutter)}↪ "
            head = "".join(text for text, _, _ in cells[: len(wanted)])
            if head != wanted:
                assert not is_first, f"{head!r} stands where {line!r} begins"
                break  # the next line
            body = cells[len(wanted) + (0 if is_first else hanging(line.text[:4096], room)) :]
            part = _read(body, cells[0][1], warning)
            at = _follow(line.text, at, part, may_skip=not is_first)
            is_first, row = False, next(rows, None)
            if row is None or (at >= len(line.text) and not _goes_on(row, len(gutter))):
                break
        assert at == len(line.text), f"cut: {line.text[at : at + 80]!r} of {line!r}"
    assert row is None, f"left over: {''.join(one.text for one in row or [])!r}"


def _goes_on(row: list[Segment], gutter: int) -> bool:
    return "".join(text for text, _, _ in _cells(row))[gutter : gutter + 1] == "↪"


def _follow(text: str, at: int, part: str, *, may_skip: bool) -> int:
    """Go on in the text by what a row shows; only one space may stand between two rows."""
    if text.startswith(part, at):
        return at + len(part)
    assert may_skip, f"{part!r} is not {text[at : at + 40]!r}"
    assert text[at : at + 1] == " ", f"{part!r} is not {text[at : at + 40]!r}"
    assert text.startswith(part, at + 1), f"{part!r} is not {text[at + 1 : at + 41]!r}"
    return at + 1 + len(part)


Cell = tuple[str, Color | None, Color | None]


def _cells(row: list[Segment]) -> list[Cell]:
    cells: list[Cell] = []
    for segment in row:
        style = segment.style
        assert style is not None
        colour = Color.from_rich_color(style.color) if style.color else None
        ground = Color.from_rich_color(style.bgcolor) if style.bgcolor else None
        cells += [(one, colour, ground) for one in segment.text]
    return cells


def _read(cells: Sequence[Cell], muted: Color | None, warning: Color) -> str:
    """What cells stand for, in characters of the text."""
    text, at = "", 0
    shown = len(cells)
    while shown and cells[shown - 1][0] == " " and cells[shown - 1][2] != warning:
        shown -= 1
    while at < shown:
        char, colour, ground = cells[at]
        if ground == warning:
            end = next(i for i in range(at, len(cells)) if cells[i][0] == "⟩")
            name = "".join(one[0] for one in cells[at : end + 1])
            assert name.startswith("⟨U+")
            text, at = text + chr(int(name[3:-1], 16)), end + 1
        elif colour == muted and char in "→·␍":
            text, at = text + {"→": "\t", "·": " ", "␍": "\r"}[char], at + 1
            while char == "→" and at < shown and cells[at][:2] == (" ", muted):
                at += 1
        else:
            text, at = text + char, at + 1
    return text


# --- any text --------------------------------------------------------------------------


def any_line(rng: random.Random, longest: int) -> str:
    """A line of code, of prose, of blanks, or of anything that Unicode has."""
    length = rng.choice((0, 3, 20, 60, 90, 200, longest))
    length = min(rng.randint(length // 2, length), longest)
    line = ""
    while len(line) < length:
        line += rng.choice(_KINDS)(rng)
    line = line[:length]
    return (
        rng.choice(("", "", "    ", "\t", " " * 40))
        + line
        + rng.choice(("", "", "", " ", "  ", "\t", "\r"))
    )


def _anything(rng: random.Random) -> str:
    code = rng.choice((rng.randrange(0x300), rng.randrange(0x10000), rng.randrange(0x110000)))
    return " " if code == 10 else chr(code)


_KINDS = (
    lambda rng: rng.choice(("return total(items)", "x = {", "}", "# note, ", "a.b.c_d ")),
    lambda rng: rng.choice(
        ("把牛奶放进待办，", "合计", "한글 ", "ｙ", "é", "e\u0301", "👍🏽", "🇩🇪")
    ),
    lambda rng: " " * rng.choice((1, 1, 2, 7, 80)),
    lambda rng: rng.choice(ODD),
    lambda rng: "a" + "\u0301" * rng.choice((1, 3, 9)),
    lambda rng: rng.choice(
        ("⟨U+200B⟩", "⟨", "·", "→", "↪", "␍", "\t", "[/foo]", "\\", "@@ -1 +1 @@")
    ),
    _anything,
)


def any_change(rng: random.Random, most: int, longest: int) -> tuple[list[str], list[str]]:
    """Lines before and after a change."""
    old = [any_line(rng, longest) for _ in range(rng.randint(0, most))]
    new: list[str] = []
    for one in old:
        what = rng.random()
        if what < 0.6:
            new.append(one)
        elif what < 0.8:
            new += [any_line(rng, longest) for _ in range(rng.randint(1, 3))]
        elif what < 0.9:
            new.append(one[: len(one) // 2] + rng.choice(ODD) + one[len(one) // 2 :])
    return old, [*new, any_line(rng, longest) + "!"]
