"""Person, model, timers, jobs, closing and resuming at the same time: all as if one by one."""

import asyncio
import json
import random
from typing import Any

import pytest

from contextui import Body, Job, Lod, Window, WindowManager, action
from contextui.events import Actor, Event, WindowCommitted, WindowNotified
from contextui.windowing.runtime import runtime_of
from tests.thorough import times

SECONDS = 120.0
"""What a run may take; it takes milliseconds unless something waits for ever."""


class Ledger(Window):
    """Entries, each with the number of those before it when its writer began to write."""

    class State(Window.State):
        entries: list[tuple[str, int]] = []

    state: State

    def content(self, lod: Lod) -> Body:
        return "\n".join(f"{name} {number}" for name, number in self.state.entries)

    def opened(self, ticks: int = 0) -> None:
        if ticks:
            self._start_timer(ticks)

    def _start_timer(self, ticks: int) -> None:
        def tick() -> None:
            if len([name for name, _ in self.state.entries if name.startswith("tick")]) < ticks:
                self._write(f"tick-{len(self.state.entries)}")

        self.env.every(0.001, tick)

    def _write(self, name: str) -> None:
        self.state.entries.append((name, len(self.state.entries)))

    @action("Write at once")
    def write(self, name: str) -> str:
        self._write(name)
        return name

    @action("Write slowly")
    async def slow(self, name: str, pauses: int) -> str:
        before = len(self.state.entries)
        for _ in range(pauses):
            await asyncio.sleep(0)
        self.state.entries.append((name, before))
        return name

    @action("Write and fail")
    async def fail(self, name: str, pauses: int) -> None:
        self._write(name)
        for _ in range(pauses):
            await asyncio.sleep(0)
        raise ValueError("as it should")

    @action("Write in a job")
    def job(self, name: str, steps: int, wait: float = 0.0) -> Job:
        async def work(job: Job) -> str:
            for step in range(steps):
                await asyncio.sleep(0)
                async with self.env.change():
                    before = len(self.state.entries)
                    await asyncio.sleep(0)
                    self.state.entries.append((f"{name}.{step}", before))
                job.progress(step + 1, steps)
            return name

        return self.env.job(name, work, wait=wait)


class Run:
    """One interleaving, by a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.windows = WindowManager([Ledger])
        self.saved: dict[str, Any] = {}
        self.ends: list[str] = []
        self.succeeded: list[str] = []
        self.failed: list[str] = []
        self.jobs: dict[str, int] = {}
        self.is_closed = False
        self.windows.subscribe(self._on_event)
        self.ticks = self.random.choice((0, 0, 3))
        window = self.windows.open("ledger", ticks=self.ticks)
        assert isinstance(window, Ledger)
        self.window = window

    def _on_event(self, event: Event) -> None:
        match event:
            case WindowCommitted():  # what a session writes to its log at this moment
                window = self.windows.get(event.window_id)
                if window is not None:
                    kept = runtime_of(window).core.saved
                    self.saved = {"state": kept.state, "version": kept.version, "jobs": kept.jobs}
            case WindowNotified():
                self.ends.append(event.text)

    async def act(self, action_id: str, **params: Any) -> bool:
        actors: tuple[Actor, ...] = ("person", "model")
        actor = self.random.choice(actors)
        result = await self.windows.act("ledger_1", action_id, params, actor=actor)
        return result.ok

    async def one(self, number: int) -> None:
        """One of those who act, at some moment."""
        for _ in range(self.random.randrange(6)):
            await asyncio.sleep(0)
        name, pauses = f"op{number}", self.random.randrange(4)
        match self.random.randrange(8):
            case 0 | 1:
                ok = await self.act("write", name=name)
            case 2:
                ok = await self.act("slow", name=name, pauses=pauses)
            case 3:
                assert not await self.act("fail", name=name, pauses=pauses)
                return
            case 4 | 5:
                self.jobs[name] = steps = self.random.randrange(1, 4)
                wait = self.random.choice((0.0, SECONDS))
                await self.act("job", name=name, steps=steps, wait=wait)
                return
            case 6:
                await self.act("cancel")
                return
            case _:
                await self.act("wait", seconds=0.01)
                return
        (self.succeeded if ok else self.failed).append(name)

    async def go(self) -> None:
        async with asyncio.timeout(SECONDS):
            await asyncio.gather(*map(self.one, range(self.random.randrange(2, 9))))
            if self.random.randrange(3) == 0:
                self.windows.close("ledger_1")
                self.is_closed = True
            while not self.is_closed and (
                runtime_of(self.window).jobs.running() or self.ticks_left()
            ):
                await asyncio.sleep(0)
            await self.windows.settle()

    def ticks_left(self) -> int:
        return self.ticks - sum(name.startswith("tick") for name, _ in self.window.state.entries)

    def check(self) -> None:
        """Whatever happened, it is as if everything had been done one after the other."""
        entries = self.window.state.entries
        names = [name for name, _ in entries]
        assert [before for _, before in entries] == list(range(len(entries)))
        assert len(set(names)) == len(names)
        assert set(self.succeeded) <= set(names), "a success was lost"
        assert not set(self.failed) & set(names), "a failure left a trace"
        for name, steps in self.jobs.items():
            done = [one for one in names if one.startswith(f"{name}.")]
            assert done == [f"{name}.{step}" for step in range(len(done))]
            assert len(done) <= steps
        if entries and self.saved:
            logged = [tuple(one) for one in self.saved["state"]["entries"]]
            assert logged == [tuple(one) for one in entries][: len(logged)]
            assert self.is_closed or len(logged) == len(entries), "a commit was not logged"
        assert len(self.ends) == len(set(self.ends)) or "was cancelled" in "".join(self.ends)

    def resume(self) -> None:
        """Restore the window from what was logged last, and go on."""
        if not self.saved:
            return
        later = WindowManager([Ledger])
        state = json.loads(json.dumps(self.saved["state"]))
        version, jobs = self.saved["version"], self.saved["jobs"]
        window = later.restore(Ledger, "ledger_1", state, version=version, jobs=jobs)
        assert asyncio.run(later.act("ledger_1", "write", {"name": "later"})).ok
        assert isinstance(window, Ledger)
        entries = window.state.entries
        assert [before for _, before in entries] == list(range(len(entries)))
        later.shut_down()


def play(seed: int) -> None:
    run = Run(seed)
    try:
        asyncio.run(run.go())
    finally:
        run.windows.shut_down()
    run.check()
    run.resume()


@pytest.mark.parametrize(
    ("start", "count"),
    [
        (0, times(40, 300)),
        *(pytest.param(start, times(300, 2_500), marks=pytest.mark.long)
          for start in range(1_000, 11_000, 2_500)),
    ],
)  # fmt: skip
def test_as_if_one_by_one(start: int, count: int) -> None:
    for seed in range(start, start + count):
        play(seed)
