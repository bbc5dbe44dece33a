"""Jobs without a screen: `-p` waits for them, or cancels them at its limit and says so."""

import asyncio
import signal
from typing import Any

import pytest

from contextui.cli import headless
from tests.agent.server import Server, answer, call
from tests.cli.calling import PATIENCE, Program

WINDOW = '''
import asyncio
import os

from contextui import Body, Job, Lod, Window, action


class Oven(Window):
    """Bakes bread."""

    class State(Window.State):
        loaves: int = 0

    state: State

    def content(self, lod: Lod) -> Body:
        return f"{self.state.loaves} loaves"

    @action("Bake")
    def bake(self) -> Job:
        async def work(job: Job) -> str:
            while not os.path.exists("over"):
                await asyncio.sleep(0.01)
            async with self.env.change():
                self.state.loaves += 1
            return "The bread is ready."

        return self.env.job("bake", work)
'''


def bake(program: Program, server: Server) -> None:
    (program.folder / "oven.py").write_text(WINDOW)
    act = call("action", window_id="oven_1", action_id="bake")
    server.play(answer(call("create", name="oven")), answer(act), answer("It bakes."))


def test_it_waits_for_what_is_running(
    program: Program, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    wait = headless._await_jobs

    async def await_jobs(*given: Any) -> None:
        (program.folder / "over").touch()  # the turn is over: reports are printed from now on
        await wait(*given)

    bake(program, server)
    monkeypatch.setattr(headless, "_await_jobs", await_jobs)
    done = program("-p", "Bake", "--window", "oven.py")
    assert (done.status, done.out) == (0, "It bakes.\n")
    assert "oven_1: The bread is ready." in done.err
    assert '"loaves":1' in next(program.home.rglob("*.jsonl")).read_text()


def test_one_that_ends_just_before_the_turn_is_reported_too(
    program: Program, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def await_opening(_: Any, notices: Any, *__: Any) -> str:
        (program.folder / "over").touch()  # the model has had its last request
        while not notices._reported:
            await asyncio.sleep(0.01)
        return ""

    bake(program, server)
    monkeypatch.setattr(headless, "_await_opening", await_opening)
    done = program("-p", "Bake", "--window", "oven.py")
    assert done.err == "contextui: oven_1: The bread is ready.\n"


def test_it_does_not_wait_for_what_never_ends_by_itself(program: Program, server: Server) -> None:
    bake(program, server)
    quiet = WINDOW.replace('self.env.job("bake", work)', 'self.env.job("bake", work, quiet=True)')
    (program.folder / "oven.py").write_text(quiet)
    done = program("-p", "Bake", "--window", "oven.py")
    assert (done.status, done.out, done.err) == (0, "It bakes.\n", "")


def test_at_its_limit_it_cancels_and_says_so(program: Program, server: Server) -> None:
    bake(program, server)
    done = program("-p", "Bake", "--window", "oven.py", "--max-job-time", "1")
    assert done.status == 0
    took = "it took longer than 1 s (max_job_time)"
    assert done.err == f"contextui: oven_1: bake was cancelled: {took}.\n"


def test_a_signal_cancels_it_and_says_so_once(program: Program, server: Server) -> None:
    bake(program, server)
    process = program.start("-p", "Bake", "--window", "oven.py")
    assert process.stdout is not None
    assert process.stdout.readline() == b"It bakes.\n"
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 128 + signal.SIGTERM
    assert err == b"contextui: oven_1: bake was cancelled.\n"
