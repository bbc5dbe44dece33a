"""A dialog shows its own keys, and nothing else shows keys that do nothing there."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest
from textual.pilot import Pilot

from contextui.agent.models.scripted import ScriptedModel
from contextui.session.rewind import RewindPlan, Turn
from contextui.tui.desktop.frame import Closing
from contextui.tui.dialogs.rewind import Around, RewindScreen
from contextui.tui.footer import KeyFooter, hints_in
from contextui.tui.main import MainScreen
from contextui.words import Words
from tests.tui.desktop.samples import region_text
from tests.tui.running import app_of, desk_of, lines, running, shown, until
from tests.tui.sharing import SharedApp, sharing
from tests.tui.test_model_sheet import connected

SIZES = [(80, 24), (120, 40)]


def footer(pilot: "Pilot[int]") -> str:
    app = app_of(pilot)
    return "".join(region_text(pilot, app.main.query_one(KeyFooter))).strip()


async def opened(pilot: "Pilot[int]", what: str) -> None:
    """Open a dialog by a command or by keys."""
    app = app_of(pilot)
    if what.startswith("/"):
        app.main.run_command(what)
    else:
        await pilot.press(*what.split())
    await until(pilot, lambda: not isinstance(app.screen, MainScreen))


@asynccontextmanager
async def app_in(folder: Path) -> "AsyncIterator[Pilot[int]]":
    """A session with a window, and with files that nobody trusts."""
    desk = connected(folder, {"OPENAI_API_KEY": "k"}, model=ScriptedModel())
    desk.session.windows.open("todo")
    (folder / "work/.contextui/windows").mkdir(parents=True)
    (folder / "work/.contextui/windows/a.py").write_text("x = 1\n")
    async with running(desk) as pilot:
        yield pilot


async def tidy(pilot: "Pilot[int]") -> None:
    app_of(pilot).main.navigation.enter("prompt")


shared = sharing(lambda temp: SharedApp(lambda: app_in(temp.mktemp("dialogs")), tidy))


KEYS = {
    "/model": "esc",
    "/trust": "esc",
    "ctrl+p": "↑↓ move   enter run   esc close",
    "ctrl+g 1 a enter": "esc",
}


@pytest.mark.parametrize("size", [(80, 24)])
async def test_below_a_dialog_the_key_line_is_empty_and_the_dialog_names_its_keys(
    pilot: "Pilot[int]",
) -> None:
    app = app_of(pilot)

    def seen(keys: str) -> bool:
        text = "\n".join(lines(pilot))
        return keys in text.lower() and "enter send" not in text

    await until(pilot, lambda: "enter send" in footer(pilot))
    for what, keys in KEYS.items():
        await opened(pilot, what)
        await until(pilot, partial(seen, keys))
        if what == "/model":
            await pilot.press("u")
            await until(pilot, partial(seen, "enter save   esc cancel"))
        while not isinstance(app.screen, MainScreen):
            await pilot.pause(0.6)  # dialogs ignore keys that come right after they open
            await pilot.press("escape")
    app.main.navigation.enter("prompt")
    await until(pilot, lambda: "enter send" in footer(pilot))


@pytest.mark.parametrize("size", [(80, 24)])
async def test_the_question_before_a_window_closes_has_its_keys_in_the_key_line(
    pilot: "Pilot[int]",
) -> None:
    windows = desk_of(pilot).session.windows
    (window,) = windows.windows()
    await pilot.press("ctrl+g", "1", "x")
    await until(pilot, lambda: "enter close  esc keep it open" in footer(pilot))
    keys = footer(pilot)
    for other in ("actions", "detail", "zoom", "new line", "x close"):
        assert other not in keys, other
    await pilot.press("escape")
    await until(pilot, lambda: "a actions" in footer(pilot))
    assert not any(one.display for one in app_of(pilot).main.query(Closing))
    await pilot.press("x", "enter")
    await until(pilot, lambda: windows.get(window.id) is None)
    windows.open("todo")


async def test_the_columns_of_a_rewind_are_named_where_they_are(pilot: "Pilot[int]") -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    turns = [Turn(1, "first", now, True), Turn(2, "second", now, True)]
    screen = RewindScreen(
        Words("en"), turns, 1, plan=lambda turn: RewindPlan(turn, ()), around=Around(), now=now
    )
    await pilot.app.push_screen(screen)
    for size in SIZES:
        await pilot.resize_terminal(*size)
        await until(pilot, lambda: len(lines(pilot)) == pilot.app.size.height)
        await until(pilot, lambda: shown(pilot, "Your message"))
        shown_lines = lines(pilot)
        head = next(one for one in shown_lines if "Your message" in one)
        row = next(one for one in shown_lines if "second" in one and "·" in one)
        assert head.index("Files") + len("Files") == row.index("·") + 1


HINTS = [("enter", "run"), ("tab", "next field"), ("^j", "new line"), ("esc", "close")]


def test_the_first_and_the_last_stay_longest() -> None:
    for width, row in (
        (72, "enter run   tab next field   ^j new line   esc close   6 characters"),
        (60, "enter run   tab next field   ^j new line   esc close"),
        (50, "enter run  tab next field  ^j new line  esc close"),
        (45, "enter run   tab next field   esc close"),
        (30, "enter run   esc close"),
        (19, "esc close"),
        (4, "esc close"),
    ):
        assert hints_in(width, HINTS, Words("en"), "6 characters").plain == row
