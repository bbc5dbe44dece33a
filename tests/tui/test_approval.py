"""The question before writing: when it opens, what it shows, and what each answer does."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.content import Content
from textual.pilot import Pilot
from textual.widgets import Input

from contextui.agent.models.scripted import call
from contextui.tui import approval
from contextui.tui.app import ContextUIApp
from contextui.tui.approval import ApprovalScreen
from contextui.tui.conversation.prompt import Prompt
from contextui.tui.desk import Desk
from contextui.tui.diff import changed, drawn, is_diff
from contextui.windowing.action import action
from contextui.windowing.base import Window
from contextui.windowing.element import Body
from contextui.windowing.snapshot import Lod
from tests.tui.running import SIZES, desk_in, lines, running, shown, until

DIFF = """--- a.py
+++ a.py
@@ -1,3 +1,3 @@
 one
-two
+TWO [/foo]
 three
"""


class Printer(Window):
    """Prints."""

    class State(Window.State):
        printed: list[str] = []

    state: State

    def content(self, lod: Lod) -> Body:
        return f"{len(self.state.printed)} pages"

    def preview(self, action_id: str, params: object) -> str | None:
        return DIFF if action_id == "save" else None

    @action("Print a page", effect="write")
    def print_page(self, text: str) -> str:
        self.state.printed.append(text)
        return "Printed."

    @action("Feed an empty page", effect="write")
    def feed(self) -> str:
        return "Fed."

    @action("Save it all", effect="write")
    def save(self) -> str:
        self.state.printed.append("saved")
        return "Saved."


def printed(desk: Desk) -> list[str]:
    printer = desk.session.windows.get("printer_1")
    assert isinstance(printer, Printer)
    return printer.state.printed


@asynccontextmanager
async def asked(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    action_id: str = "print_page",
    size: tuple[int, int] = (120, 40),
    times: int = 1,
    **params: str,
) -> AsyncIterator[tuple["Pilot[int]", Desk]]:
    """The app with a question on the screen."""
    monkeypatch.setattr(approval, "_DEAF", 0.0)
    wishes = [
        call("action", window_id="printer_1", action_id=action_id, params=params)
        for _ in range(times)
    ]
    desk = desk_in(tmp_path, wishes, "Done.", windows=[Printer])
    desk.session.windows.open("printer")
    async with running(desk, size) as pilot:
        await pilot.press(*"go", "enter")
        assert isinstance(pilot.app, ContextUIApp)
        pilot.app.main.prompt.pressed_at = 0.0
        await until(pilot, lambda: isinstance(pilot.app.screen, ApprovalScreen))
        await pilot.pause()
        yield pilot, desk


@pytest.mark.parametrize("size", SIZES)
def test_it_shows_exactly_what_will_be_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    async def look() -> None:
        async with asked(tmp_path, monkeypatch, "save", size) as (pilot, desk):
            for text in ("Allow this?", "printer_1.save", "Save it all", "+1", "−1", "TWO [/foo]"):
                assert shown(pilot, text), text
            assert printed(desk) == []

    asyncio.run(look())


@pytest.mark.parametrize("size", [(80, 24), (120, 16)])
def test_however_long_it_is_the_answers_are_in_view(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    added = "\n".join(f"+line {number}" for number in range(60))
    long = f"--- a.py\n+++ a.py\n@@ -1,1 +1,61 @@\n one\n{added}\n"
    monkeypatch.setattr(Printer, "preview", lambda *_: long)

    async def look() -> None:
        async with asked(tmp_path, monkeypatch, "save", size) as (pilot, _):
            answers = ("Allow once", "Allow for this session", "Esc does the same", "say why…")
            await until(pilot, lambda: all(shown(pilot, one) for one in answers))
            await pilot.press("r")
            await until(pilot, lambda: shown(pilot, "Why not? Enter sends it"))
            assert all(shown(pilot, one) for one in answers)

    asyncio.run(look())


def test_params_are_shown_inert_where_there_is_no_preview(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def look() -> None:
        payload = "a\u202eb [@click=app.quit]x[/] \x1b]0;t\x07"
        async with asked(tmp_path, monkeypatch, text=payload) as (pilot, _):
            text = "\n".join(lines(pilot))
            assert "[@click=app.quit]x[/]" in text
            assert "\\u202e" in text
            assert not set(text) & set("\x1b\x07\u202e")

    asyncio.run(look())


def test_where_nothing_is_told_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def look() -> None:
        async with asked(tmp_path, monkeypatch, "feed") as (pilot, _):
            await until(pilot, lambda: shown(pilot, "The window does not tell what would change."))
            assert not shown(pilot, "{}")

    asyncio.run(look())


@pytest.mark.parametrize(
    ("key", "pages"), [("y", ["x"]), ("s", ["x"]), ("n", []), ("escape", []), ("ｙ", ["x"])]
)
def test_a_key_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str, pages: list[str]
) -> None:
    async def answer() -> None:
        async with asked(tmp_path, monkeypatch, text="x") as (pilot, desk):
            await pilot.press(key)
            await until(pilot, lambda: shown(pilot, "Done."))
            assert printed(desk) == pages

    asyncio.run(answer())


def test_enter_and_other_keys_answer_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def answer() -> None:
        async with asked(tmp_path, monkeypatch, text="x") as (pilot, desk):
            await pilot.press("enter", "space", "a", "down", "up")
            assert isinstance(pilot.app.screen, ApprovalScreen)
            assert printed(desk) == []

    asyncio.run(answer())


def test_allowed_for_the_session_is_not_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def answer() -> None:
        async with asked(tmp_path, monkeypatch, times=3, text="x") as (pilot, desk):
            await pilot.press("s")
            await until(pilot, lambda: shown(pilot, "Done."))
            assert printed(desk) == ["x", "x", "x"]

    asyncio.run(answer())


def test_a_refusal_takes_words_to_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def answer() -> None:
        async with asked(tmp_path, monkeypatch, text="x") as (pilot, desk):
            await pilot.press("r")
            await until(pilot, lambda: pilot.app.screen.query_one(Input).has_focus)
            await pilot.press(*"not yet", "enter")
            await until(pilot, lambda: shown(pilot, "Done."))
            results = [one.content for one in desk.session.context.get_all()]
            assert any("They say: not yet" in one for one in results)

    asyncio.run(answer())


def test_a_click_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def answer() -> None:
        async with asked(tmp_path, monkeypatch, text="x") as (pilot, desk):
            await pilot.click("#choices", offset=(2, 0))
            await until(pilot, lambda: shown(pilot, "Done."))
            assert printed(desk) == ["x"]

    asyncio.run(answer())


def test_it_does_not_open_while_the_person_types(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def wait() -> None:
        monkeypatch.setattr(approval, "_DEAF", 0.0)
        wish = call("action", window_id="printer_1", action_id="save")
        desk = desk_in(tmp_path, wish, "Done.", windows=[Printer])
        desk.session.windows.open("printer")
        async with running(desk) as pilot:
            prompt = pilot.app.screen.query_one(Prompt)
            await pilot.press(*"go", "enter", *"typing on")
            await until(pilot, lambda: shown(pilot, "asks to run printer_1.save"))
            assert not isinstance(pilot.app.screen, ApprovalScreen)
            await pilot.press("ctrl+g")
            await until(pilot, lambda: isinstance(pilot.app.screen, ApprovalScreen))
            await pilot.press("y")
            await until(pilot, lambda: shown(pilot, "Done."))
            assert prompt.text == "typing on"
            assert printed(desk) == ["saved"]

    asyncio.run(wait())


def test_stopping_the_turn_takes_the_question_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def stop() -> None:
        async with asked(tmp_path, monkeypatch, text="x") as (pilot, desk):
            desk.controller.stop()
            await until(pilot, lambda: not isinstance(pilot.app.screen, ApprovalScreen))
            await until(pilot, lambda: not desk.controller.is_running)
            assert printed(desk) == []

    asyncio.run(stop())


def test_for_a_moment_it_is_deaf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def type_on() -> None:
        async with asked(tmp_path, monkeypatch, text="x") as (pilot, desk):
            monkeypatch.setattr(approval, "_DEAF", 1e9)
            await pilot.press("y", "n", "escape")
            assert isinstance(pilot.app.screen, ApprovalScreen)
            assert printed(desk) == []

    asyncio.run(type_on())


def test_a_diff_is_drawn_with_numbers() -> None:
    assert is_diff(DIFF)
    assert not is_diff("--- but no diff")
    assert changed(DIFF) == (1, 1)
    rows = drawn(DIFF, 40).plain.splitlines()
    assert [row[:13].split() for row in rows[1:5]] == [
        ["1", "1"],
        ["2", "-"],
        ["2", "+"],
        ["3", "3"],
    ]
    assert all(Content(row).cell_length == 40 for row in rows)
