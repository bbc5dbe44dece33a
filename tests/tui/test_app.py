"""The frame: it opens, it talks, it closes."""

import asyncio
from functools import partial
from pathlib import Path

from contextui.agent.models.scripted import call
from tests.tui.running import SIZES, desk_in, running, shown, until


def test_words_go_in_and_an_answer_comes_out(tmp_path: Path) -> None:
    """One turn after the other, on terminals of all sizes."""

    async def talk() -> None:
        desk = desk_in(tmp_path, call("create", name="todo"), "First.", "Second.", "Third.")
        async with running(desk) as pilot:
            for size, answer in zip(SIZES, ("First.", "Second.", "Third."), strict=True):
                await pilot.resize_terminal(*size)
                await pilot.press(*f"a {size[0]}", "enter")
                await until(pilot, partial(shown, pilot, answer))
                assert shown(pilot, f"a {size[0]}")
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
