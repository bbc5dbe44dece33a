"""Jobs: work beside the queue, its progress, its transactions, cancelling and its end."""

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

from contextui import Body, Lod, Window, WindowManager, action
from contextui.events import Event, WindowNotified
from contextui.reaper import processes
from contextui.windowing.job import Job
from contextui.windowing.runtime import runtime_of
from tests.windowing.samples import act, opened, until

LONG = 60.0


class Builder(Window):
    """Builds things, one step after the other."""

    class State(Window.State):
        steps: list[str] = []

    state: State

    def __init__(self) -> None:
        super().__init__()
        self.gate = asyncio.Event()
        self.freed = threading.Event()
        self.ends: list[str] = []

    def content(self, lod: Lod) -> Body:
        return "\n".join(self.state.steps) or "nothing yet"

    @action("Build")
    def build(self, steps: int, wait: float = 0.0, fail: bool = False) -> Job:
        async def work(job: Job) -> str:
            for step in range(1, steps + 1):
                await asyncio.sleep(0)
                async with self.env.change():
                    self.state.steps.append(f"step {step}")
                job.progress(step, steps, "building")
            if fail:
                raise ValueError("out of bricks")
            return f"built {steps}"

        return self.env.job("build", work, wait=wait)

    @action("Wait for the gate")
    def hold(self, wait: float = 0.0) -> Job:
        async def work(_: Job) -> None:
            await self.gate.wait()
            async with self.env.change():
                self.state.steps.append("through")

        return self.env.job("hold", work, wait=wait)

    @action("Open the gate")
    async def release(self) -> str:
        self.gate.set()
        await asyncio.sleep(0)
        return "open"

    @action("Start a job and fail")
    def start_and_fail(self) -> None:
        self.env.job("never", self._never)
        raise ValueError("no")

    async def _never(self, _: Job) -> None:
        self.ends.append("ran")

    @action("Block the thread")
    def block(self) -> None:
        self.freed.wait(LONG)

    @action("Say something")
    def ping(self, text: str) -> None:
        self.env.notify(text)

    async def closed(self, reason: str) -> None:
        await asyncio.sleep(0)
        self.ends.append(reason)


class Desk:
    """A window manager whose events are kept."""

    def __init__(self) -> None:
        self.windows = WindowManager([Builder])
        self.events: list[Event] = []
        self.windows.subscribe(self.events.append)
        self.window = opened(self.windows, Builder)

    async def act(self, action_id: str, **params: Any) -> str:
        return (await self.windows.act("builder_1", action_id, params)).text

    def notices(self) -> list[str]:
        return [one.text for one in self.events if isinstance(one, WindowNotified)]


@pytest.fixture
def desk() -> Iterator[Desk]:
    """A desk whose windows are closed afterwards."""
    made = Desk()
    yield made
    made.windows.shut_down()


def ended(window: Window) -> None:
    """Wait until a closed window has ended."""
    ending = runtime_of(window).ending
    assert ending is not None
    ending.result(LONG)


async def test_one_that_outlasts_the_action_goes_on_and_reports_its_end(desk: Desk) -> None:
    assert await desk.act("wait", seconds=1) == "No job is running."
    assert await desk.act("cancel") == "There is no such job. Running: none."
    said = await desk.act("hold")
    assert said == ("hold goes on as job 1. wait(seconds) waits for it, cancel(job) ends it.")
    assert await desk.act("cancel", job=7) == "There is no such job. Running: 1: hold."
    await until(lambda: "<Job" in desk.window.to_xml())
    assert '<Job id="1">hold</Job>' in desk.window.to_xml()
    await desk.act("release")
    await until(desk.notices)
    assert desk.notices() == ["hold is done."]
    await until(lambda: "<Job" not in desk.window.to_xml())
    assert desk.window.state.steps == ["through"]


async def test_a_failure_is_reported_with_reason_and_keeps_what_was_committed(desk: Desk) -> None:
    result = await desk.windows.act("builder_1", "build", {"steps": 2, "fail": True, "wait": LONG})
    assert not result.ok
    assert "out of bricks" in result.text
    assert desk.window.state.steps == ["step 1", "step 2"]
    assert desk.notices() == []  # its action said so


async def test_a_change_that_fails_leaves_earlier_ones_and_timers_alone(desk: Desk) -> None:
    ticks = Counter[str]()

    class Clock(Builder):
        @action("Change, then change in vain")
        def vary(self) -> Job:
            async def work(_: Job) -> None:
                async with self.env.change():
                    self.state.steps.append("kept")
                async with self.env.change():
                    steps = self.state.steps
                steps.append("outside")
                async with self.env.change():
                    assert self.state.steps == ["kept"]
                    self.env.every(0.005, lambda: ticks.update(["in vain"]))
                    self.state.steps.append("in vain")
                    raise ValueError("no")

            self.env.every(0.005, lambda: ticks.update(["of the action"]))
            return self.env.job("vary", work, wait=LONG)

    window = opened(desk.windows, Clock)
    assert "no" in (await desk.windows.act(window.id, "vary", {})).text
    assert window.state.steps == ["kept"]
    seen = ticks["of the action"]
    await until(lambda: ticks["of the action"] > seen + 2)
    assert "in vain" not in ticks


async def test_a_job_of_an_action_that_fails_never_starts(desk: Desk) -> None:
    await desk.act("start_and_fail")
    await desk.act("release")
    assert desk.window.ends == []
    assert runtime_of(desk.window).jobs.running() == []


async def test_cancelling_is_effective_while_an_action_blocks_the_thread(desk: Desk) -> None:
    await desk.act("hold")
    blocked = asyncio.create_task(desk.act("block"))
    await until(lambda: runtime_of(desk.window).worker.busy_for() > 0)
    ended = list[str]()
    job = runtime_of(desk.window).jobs.get(1)
    assert job is not None
    job.on_cancel(lambda: ended.append("process"))
    assert await desk.act("cancel", job=1) == "hold was cancelled."
    assert not blocked.done()
    assert job.state == "cancelled"
    assert ended == ["process"]
    runtime_of(desk.window).worker.call_soon(desk.window.gate.set)
    desk.window.freed.set()
    await blocked
    await until(desk.notices)
    assert desk.notices() == ["hold was cancelled."]
    assert desk.window.state.steps == []


async def test_a_change_during_which_a_job_is_cancelled_is_undone(desk: Desk) -> None:
    class Stubborn(Builder):
        @action("Wait in a change, and go on when it is cancelled")
        def hold_in_change(self) -> Job:
            async def work(_: Job) -> None:
                with suppress(asyncio.CancelledError):
                    async with self.env.change():
                        self.state.steps.append("in vain")
                        self.ends.append("begun")
                        with suppress(asyncio.CancelledError):
                            await self.gate.wait()
                async with self.env.change():
                    self.ends.append("changed again")

            return self.env.job("hold", work)

    window = opened(desk.windows, Stubborn)
    await desk.windows.act(window.id, "hold_in_change", {})
    await until(lambda: window.ends)
    assert runtime_of(window).jobs.cancel_all() == ["hold"]
    await until(desk.notices)
    assert desk.notices() == ["hold was cancelled."]
    assert (window.state.steps, window.ends) == ([], ["begun"])


@pytest.mark.parametrize(
    ("cause", "said"),
    [
        ("end", "No job is running."),
        ("notify", "Running: 1: hold"),
        ("speak", "The person has written something. Running: 1: hold"),
        ("time", "0.05 s have passed. Running: 1: hold"),
    ],
)
async def test_waiting_ends_with(desk: Desk, cause: str, said: str) -> None:
    await desk.act("hold")
    seconds = 0.05 if cause == "time" else LONG
    waiting = asyncio.create_task(desk.act("wait", seconds=seconds))
    await asyncio.sleep(0.02)
    match cause:
        case "end":
            await desk.act("release")
        case "notify":
            await desk.act("ping", text="half-way")
        case "speak":
            desk.windows.end_waits()
    assert await waiting == said


class Noting(Builder):
    """Notes how its jobs ended."""

    def __init__(self) -> None:
        super().__init__()
        self.shut: Callable[[], object] = lambda: None

    def job_ended(self, job: Job) -> None:
        self.ends.append(f"{job.name} {job.state}")
        self.state.steps.append(f"{len(self.env.jobs())} left")

    @action("End the job and close")
    async def leave(self) -> None:
        job = runtime_of(self).jobs.get()
        assert job is not None
        job.cancel()
        while not job.ended.done():
            await asyncio.sleep(0.001)
        self.shut()


@pytest.mark.parametrize(("how", "ended"), [("cancel", "cancelled"), ("release", "done")])
async def test_a_hook_records_how_a_job_ended(desk: Desk, how: str, ended: str) -> None:
    window = opened(desk.windows, Noting)
    await desk.windows.await_opening(LONG)
    await desk.windows.act(window.id, "hold")
    await desk.windows.act(window.id, how)
    await until(lambda: window.state.steps[-1:] == ["0 left"])
    assert window.ends == [f"hold {ended}"]


@pytest.mark.parametrize("reason", ["closed", "exit"])
def test_when_a_window_closes_the_ends_of_its_jobs_come_first(desk: Desk, reason: str) -> None:
    window = opened(desk.windows, Noting)
    for _ in range(2):
        act(desk.windows, window, "hold")
    if reason == "closed":
        desk.windows.close(window.id)
        ended(window)
    else:
        desk.windows.shut_down()
    assert window.ends == ["hold cancelled", "hold cancelled", reason]
    saved = runtime_of(window).core.saved
    assert saved.state is not None
    assert len(saved.state["steps"]) == 2
    assert saved.jobs == ("hold", "hold")  # interrupted, if it is resumed
    assert desk.notices() == []


def test_an_end_that_is_queued_when_the_window_closes_comes_first_too(desk: Desk) -> None:
    window = opened(desk.windows, Noting)
    window.shut = lambda: desk.windows.close(window.id)
    for action_id in ("hold", "leave"):
        act(desk.windows, window, action_id)
    ended(window)
    assert window.ends == ["hold cancelled", "closed"]


def test_windows_that_are_only_looked_at_run_no_hooks() -> None:
    ran = list[str]()

    class Restless(Window):
        """Does something as soon as it is restored."""

        def content(self, lod: Lod) -> Body:
            return ""

        def restored(self) -> None:
            ran.append("restored")

        def closed(self) -> None:
            ran.append("closed")

    windows = WindowManager([Restless], is_live=False)
    windows.restore(Restless, "restless_1", {})
    windows.shut_down()
    assert ran == []


async def test_a_job_is_not_started_from_outside(desk: Desk) -> None:
    with pytest.raises(Exception, match="only inside the window's own"):
        desk.window.env.job("x", desk.window._never)


def test_work_that_is_not_async_is_explained(desk: Desk) -> None:
    class Plain(Builder):
        @action("Go")
        def go(self) -> Job:
            return self.env.job("go", lambda job: None, wait=LONG)  # type: ignore[arg-type, return-value]

    said = act(desk.windows, opened(desk.windows, Plain), "go")
    assert not said.ok
    assert "write async def" in said.text


class Runner(Window):
    """Runs programs."""

    class State(Window.State):
        lines: list[str] = []
        pids: list[int] = []

    state: State

    def content(self, lod: Lod) -> Body:
        return "\n".join(self.state.lines)

    @action("Run a program")
    def run(self, argv: list[str], wait: float = 0.0) -> Job:
        async def work(_: Job) -> str:
            process = await self.env.process(argv, stderr=-2)  # -2: together with the output
            async with self.env.change():
                self.state.pids.append(process.pid)
            assert process.stdout is not None
            async for line in process.stdout:
                async with self.env.change():
                    self.state.lines.append(line.decode().rstrip())
            return f"exit {await process.wait()}"

        return self.env.job(argv[0], work, wait=wait)

    @action("Start a program and leave it")
    async def leave(self, argv: list[str]) -> int:
        process = await self.env.process(argv)
        self.state.pids.append(process.pid)
        return process.pid


NESTED = ["sh", "-c", "sleep 300 & (sleep 300 & sleep 300) & echo ready; sleep 300"]


def left(session: int) -> list[int]:
    return [pid for pid, its, _ in processes() if its == session]


@pytest.fixture
def runner() -> Iterator[Runner]:
    windows = WindowManager()
    yield opened(windows, Runner)
    windows.shut_down()


def do(window: Window, action_id: str, **params: Any) -> str:
    windows_act = runtime_of(window).act(action_id, params, "person")
    return asyncio.run(windows_act).text


def test_a_process_has_output_and_status(runner: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    script = 'echo one; echo "key: $ANTHROPIC_API_KEY"; exit 3'
    assert do(runner, "run", argv=["sh", "-c", script], wait=LONG) == "exit 3"
    assert runner.state.lines == ["one", "key:"]


@pytest.mark.parametrize("how", ["cancel", "close", "exit"])
def test_everything_that_a_job_started_ends_with_it(how: str) -> None:
    windows = WindowManager()
    window = opened(windows, Runner)
    do(window, "run", argv=NESTED)
    deadline = time.monotonic() + LONG
    while "ready" not in window.state.lines and time.monotonic() < deadline:
        time.sleep(0.01)
    [session] = window.state.pids
    while len(left(session)) < 4 and time.monotonic() < deadline:  # they are being started
        time.sleep(0.01)
    assert len(left(session)) >= 4
    match how:
        case "cancel":
            do(window, "cancel")
        case "close":
            windows.close(window.id)
        case "exit":
            windows.shut_down()
    while left(session) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert left(session) == []
    windows.shut_down()


def test_one_that_an_action_left_ends_with_the_window(runner: Runner) -> None:
    session = int(do(runner, "leave", argv=["sleep", "300"]))
    assert left(session)
    runtime_of(runner).end().result(LONG)
    assert not left(session)
