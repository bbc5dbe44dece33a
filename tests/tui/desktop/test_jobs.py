"""Jobs on the screen: progress in the border, a badge for what a window reports, and waking."""

import asyncio
from pathlib import Path

from contextui import Body, Job, Lod, Window, action
from contextui.agent.models.scripted import call
from tests.tui.running import desk_in, running, say, shown, until


class Oven(Window):
    """Bakes bread."""

    class State(Window.State):
        loaves: int = 0

    state: State

    def __init__(self) -> None:
        super().__init__()
        self.gate = asyncio.Event()

    def content(self, lod: Lod) -> Body:
        return f"{self.state.loaves} loaves"

    @action("Bake")
    def bake(self) -> Job:
        async def work(job: Job) -> str:
            job.progress(3, 9, "kneading")
            await self.gate.wait()
            return "The bread is ready."

        return self.env.job("bake", work)

    @action("Finish")
    def finish(self) -> None:
        self.gate.set()


BAKE = call("action", window_id="oven_1", action_id="bake")
WAIT = call("action", window_id="oven_1", action_id="wait", params={"seconds": 60})


async def test_progress_is_the_border_the_end_a_badge_and_a_turn_only_if_that_is_wanted(
    tmp_path: Path,
) -> None:
    desk = desk_in(tmp_path, BAKE, "It bakes.", "Take it out.", windows=[Oven])
    window = desk.session.windows.open("oven")
    async with running(desk) as pilot:
        await say(pilot, "bake")
        await until(pilot, lambda: shown(pilot, "3 of 9, kneading"))
        assert shown(pilot, "━━━──────")
        await desk.session.windows.act(window.id, "finish", actor="person")
        await until(pilot, lambda: shown(pilot, "● The bread is ready."))
        assert not shown(pilot, "kneading")
        assert desk.session.turn == 1
        desk.wakes = True
        await desk.session.windows.act(window.id, "bake", actor="person")  # ready at once
        await until(pilot, lambda: shown(pilot, "Take it out."))
        assert desk.session.turn == 2


async def test_what_the_person_says_ends_a_wait(tmp_path: Path) -> None:
    desk = desk_in(tmp_path, BAKE, WAIT, "Yes?", "Fine.", windows=[Oven])
    desk.session.windows.open("oven")
    async with running(desk) as pilot:
        pilot.app.main.send("bake")  # type: ignore[attr-defined]
        await until(pilot, lambda: shown(pilot, "oven_1.wait"))
        await pilot.press("s", "enter")
        await until(pilot, lambda: shown(pilot, "Fine."))
        results = [one.content for one in desk.session.context.get_all()]
        assert any("The person has written something." in one for one in results)
