"""A dialog shows its own keys, and nothing else shows keys that do nothing there."""

import asyncio
from functools import partial
from pathlib import Path

import pytest
from textual.command import CommandPalette
from textual.pilot import Pilot

from contextui.tui.desktop.frame import Closing
from contextui.tui.dialogs.model import ModelScreen
from contextui.tui.footer import KeyFooter
from contextui.tui.main import MainScreen
from tests.tui.desktop.samples import region_text
from tests.tui.running import desk_in, lines, running, say, shown, until
from tests.tui.test_model_sheet import connected
from tests.tui.test_switch import app_of

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


@pytest.mark.parametrize("size", SIZES)
def test_the_key_line_is_empty_below_a_dialog(tmp_path: Path, size: tuple[int, int]) -> None:
    async def go() -> None:
        desk = connected(tmp_path, {"OPENAI_API_KEY": "k"})
        desk.session.windows.open("todo")
        (tmp_path / "work" / ".contextui" / "windows").mkdir(parents=True)
        (tmp_path / "work" / ".contextui" / "windows" / "a.py").write_text("x = 1\n")
        async with running(desk, size) as pilot:
            app = app_of(pilot)
            await until(pilot, lambda: "enter send" in footer(pilot))
            for what in (
                *("/model", "/sessions", "/trust", "/login openai", "ctrl+p"),
                *("ctrl+g 1 a", "ctrl+g 1 a enter"),
            ):
                before = len(app.screen_stack)
                await opened(pilot, what)
                await until(pilot, lambda: not footer(pilot) or not shown(pilot, "enter send"))
                text = "\n".join(lines(pilot))
                assert "enter send" not in text, what
                # Each names the key that leaves it; the menu of actions has one in front of it.
                await until(pilot, lambda: "esc" in "\n".join(lines(pilot)).lower())
                while len(app.screen_stack) > before:
                    count = len(app.screen_stack)
                    await pilot.pause(0.6)  # dialogs ignore keys that come right after they open
                    await pilot.press("escape")
                    await until(pilot, partial(lambda most: len(app.screen_stack) < most, count))
            app.main.navigation.enter("prompt")
            await until(pilot, lambda: "enter send" in footer(pilot))

    asyncio.run(go())


@pytest.mark.parametrize("size", SIZES)
def test_the_question_before_a_window_closes_has_its_keys_in_the_key_line(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    async def go() -> None:
        desk = desk_in(tmp_path)
        desk.session.windows.open("todo")
        async with running(desk, size) as pilot:
            await pilot.press("ctrl+g", "1", "x")
            await until(pilot, lambda: "enter close  esc keep it open" in footer(pilot))
            for other in ("actions", "detail", "zoom", "new line", "x close"):
                assert other not in footer(pilot), other
            await pilot.press("escape")
            await until(pilot, lambda: "a actions" in footer(pilot))
            assert not any(one.display for one in app_of(pilot).main.query(Closing))
            await pilot.press("x", "enter")
            await until(pilot, lambda: desk.session.windows.get("todo_1") is None)

    asyncio.run(go())


def test_a_provider_may_answer_after_the_model_sheet_closed(tmp_path: Path) -> None:
    async def go() -> None:
        async with running(connected(tmp_path, {})) as pilot:
            await opened(pilot, "/model")
            screen = pilot.app.screen
            assert isinstance(screen, ModelScreen)
            screen.dismiss(None)
            await until(pilot, lambda: not screen.query("#models"))
            for offer in screen._offers.values():
                screen._replace(offer)

    asyncio.run(go())


def test_every_key_of_a_server_s_address_fits_into_80_columns(tmp_path: Path) -> None:
    async def go() -> None:
        async with running(connected(tmp_path, {}), (80, 24)) as pilot:
            await opened(pilot, "/model")
            await pilot.press("u")
            await until(pilot, lambda: shown(pilot, "enter save   esc cancel"))

    asyncio.run(go())


@pytest.mark.parametrize("size", SIZES)
def test_the_columns_of_a_rewind_are_named_where_they_are(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    async def go() -> None:
        async with running(desk_in(tmp_path, "One.", "Two."), size) as pilot:
            await say(pilot, "first")
            await say(pilot, "second")
            await opened(pilot, "/rewind")
            await until(pilot, lambda: shown(pilot, "Your message"))
            shown_lines = lines(pilot)
            head = next(one for one in shown_lines if "Your message" in one)
            row = next(one for one in shown_lines if "second" in one and "·" in one)
            assert head.index("Files") + len("Files") == row.index("·") + 1

    asyncio.run(go())


def test_the_palette_names_its_keys(tmp_path: Path) -> None:
    async def go() -> None:
        async with running(desk_in(tmp_path), (80, 24)) as pilot:
            await pilot.press("ctrl+p")
            await until(pilot, lambda: isinstance(pilot.app.screen, CommandPalette))
            await until(pilot, lambda: shown(pilot, "↑↓ move   enter run   esc close"))

    asyncio.run(go())
