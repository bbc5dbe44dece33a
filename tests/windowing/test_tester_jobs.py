"""`WindowTester` with jobs, clocks and processes under control, and without traps."""

import asyncio
import subprocess
import sys
import threading
from typing import Any

import pytest

from contextui import Body, Job, Lod, Window, action
from contextui.testing import ManualClock, WindowTester
from contextui.windowing.state import Transient


class Digger(Window):
    """Digs."""

    class State(Window.State):
        depth: int = 0
        ticks: int = 0
        folder: str = ""
        lang: str = ""
        lock: Transient[Any] = None

    state: State

    def opened(self, folder: str = "", lang: str = "", period: float = 0) -> None:
        self.state.folder, self.state.lang = folder, lang
        self.state.lock = threading.Lock()
        self.freed = threading.Event()
        self._processes: list[subprocess.Popen[bytes]] = []
        if period:
            self.env.every(period, self._tick)

    def _tick(self) -> None:
        self.state.ticks += 1

    def content(self, lod: Lod) -> Body:
        return f"{self.state.depth} deep at {self.env.clock():%H:%M:%S}"

    @action("Dig")
    def dig(self, steps: int = 3, pause: float = 0.01) -> Job:
        async def work(job: Job) -> str:
            for step in range(steps):
                job.progress(step, steps)
                await asyncio.sleep(pause)
                async with self.env.change():
                    self.state.depth += 1
            return f"{steps} deeper."

        return self.env.job("digging", work)

    @action("Shout")
    def shout(self) -> None:
        self.env.notify("Gold!")

    @action("Leave a process")
    def leave(self) -> None:
        self._processes.append(subprocess.Popen([sys.executable, "-c", "input()"], stdin=-1))

    @action("Dig without an end")
    def stubborn(self) -> Job:
        async def work(job: Job) -> None:
            self.freed.wait(60)  # blocks the window's thread

        return self.env.job("stubborn", work)


def test_args_always_go_to_opened() -> None:
    with WindowTester(Digger, lang="zh", args={"folder": "pit", "lang": "en"}) as digger:
        assert (digger.window.state.folder, digger.window.state.lang) == ("pit", "en")
        assert digger.window.env.lang == "zh"
    with WindowTester(Digger, period=60) as digger:
        digger.tick()
        assert digger.window.state.ticks == 1


def test_jobs_can_be_seen_awaited_and_cancelled() -> None:
    with WindowTester(Digger) as digger:
        digger.act("dig")
        digger.wait_for_jobs(60)
        assert digger.jobs == []
        assert digger.notices == ["3 deeper."]
        assert digger.window.state.depth == 3
        digger.act("shout")
        assert digger.notices[1:] == ["Gold!"]
        digger.act("dig", pause=60)
        assert [one.name for one in digger.jobs] == ["digging"]
        with pytest.raises(AssertionError, match=r"Still running after 0\.1 s: digging, 0 of 3"):
            digger.wait_for_jobs(0.1)
        digger.cancel(digger.jobs[0])
        assert digger.jobs == []
        assert digger.notices[2:] == ["digging was cancelled."]
        with pytest.raises(AssertionError, match="There is no such job"):
            digger.cancel()
        with pytest.raises(AssertionError, match="ManualClock"):
            digger.advance(1)


def test_a_manual_clock_moves_timers_and_sleeping_jobs() -> None:
    with WindowTester(Digger, clock=ManualClock(), period=600) as digger:
        assert "12:00:00" in digger.content()
        digger.advance(599)
        assert digger.window.state.ticks == 0
        digger.advance(1_202)
        assert digger.window.state.ticks == 3
        digger.act("dig", steps=3, pause=3_600)
        digger.advance(3_601)
        assert digger.window.state.depth == 1
        digger.advance(7_200)
        assert digger.notices == ["3 deeper."]
        assert digger.window.state.ticks == 21
        assert digger.window.env.clock().isoformat() == "2030-01-01T15:30:02+00:00"


def test_a_process_that_is_left_fails_the_test_and_hides_no_other_failure() -> None:
    for failed in (False, True):
        digger = WindowTester(Digger)
        digger.act("leave")
        (process,) = digger.window._processes
        if failed:
            with pytest.raises(ZeroDivisionError), digger:
                raise ZeroDivisionError
        else:
            with pytest.raises(AssertionError, match=f"Still running .*: process {process.pid}"):
                digger.close()
        process.communicate()


def test_a_job_that_does_not_end_fails_the_test(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contextui.testing.PATIENCE", 0.1)
    monkeypatch.setattr("contextui.windowing.worker.PATIENCE", 0.1)
    digger = WindowTester(Digger)
    digger.act("stubborn")
    with pytest.raises(AssertionError, match=r"Still running .*: digger_1: stubborn"):
        digger.close()
    digger.window.freed.set()
