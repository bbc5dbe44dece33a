"""The frame: it opens, it talks, it closes."""

import asyncio
from pathlib import Path

import pytest

from contextui.agent.models.scripted import call
from tests.tui.running import SIZES, desk_in, running, say, shown, until


@pytest.mark.parametrize("size", SIZES)
def test_words_go_in_and_an_answer_comes_out(tmp_path: Path, size: tuple[int, int]) -> None:
    async def talk() -> None:
        desk = desk_in(tmp_path, call("create", name="todo"), "Here it is.")
        async with running(desk, size) as pilot:
            await pilot.press(*"a list", "enter")
            await until(pilot, lambda: shown(pilot, "Here it is."))
            assert shown(pilot, "a list")
            assert [window.id for window in desk.session.windows.windows()] == ["todo_1"]

    asyncio.run(talk())


def test_a_session_that_cannot_be_opened_is_shown_on_the_terminal(tmp_path: Path) -> None:
    from contextui.errors import UnknownWindowError
    from contextui.tui.app import ContextUIApp
    from contextui.tui.link import Desk

    def fail() -> Desk:
        raise UnknownWindowError("There is no such session.")

    async def start() -> ContextUIApp:
        app = ContextUIApp(fail)
        async with app.run_test() as pilot:
            await until(pilot, lambda: app.return_code is not None)
        return app

    assert asyncio.run(start()).return_code == 2


def test_one_turn_after_the_other(tmp_path: Path) -> None:
    async def talk() -> None:
        async with running(desk_in(tmp_path, "One.", "Two.")) as pilot:
            await say(pilot, "first")
            await say(pilot, "second")
            await until(pilot, lambda: shown(pilot, "Two."))

    asyncio.run(talk())
