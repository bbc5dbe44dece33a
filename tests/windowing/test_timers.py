"""Timers: each tick is a transaction on the window's own thread."""

import asyncio
import threading

import pytest

from contextui import Body, Lod, Window, WindowManager, action
from contextui.errors import ActionFailedError
from contextui.events import WindowChanged, WindowTroubled
from contextui.windowing.runtime import runtime_of
from tests.windowing.samples import LONG, Counter, Heard, act, after_all, settled


class Clockwork(Counter):
    """Ticks."""

    period = 0.001

    def __init__(self) -> None:
        super().__init__()
        self.ticks = threading.Semaphore(0)

    def opened(self) -> None:
        self.end = self.env.every(self.period, self.tick)

    def tick(self) -> None:
        self.state.count += 1
        self.ticks.release()

    def wait_for(self, ticks: int) -> None:
        for _ in range(ticks):
            assert self.ticks.acquire(timeout=LONG)

    @action("Stop")
    def stop(self) -> None:
        self.end()


def test_a_tick_is_a_transaction_that_makes_a_version(windows: WindowManager) -> None:
    heard = Heard(windows)
    clock = Clockwork()
    windows.open(clock)
    clock.wait_for(3)
    act(windows, clock, "stop")
    settled(windows)
    assert clock.version.major == clock.state.count + 1 >= 4
    assert clock.snapshot().content == f"Full: {clock.state.count}"
    assert len(heard.of(WindowChanged)) >= 2


def test_ended_it_does_not_come_again(windows: WindowManager) -> None:
    clock = Clockwork()
    windows.open(clock)
    clock.wait_for(1)
    act(windows, clock, "stop")
    version = clock.version
    after_all(clock)
    assert clock.version == version
    assert runtime_of(clock).worker._timers == []


def test_a_tick_may_be_async(windows: WindowManager) -> None:
    class Later(Clockwork):
        async def tick(self) -> None:  # type: ignore[override]
            await asyncio.sleep(0)
            super().tick()

    clock = Later()
    windows.open(clock)
    clock.wait_for(2)
    windows.close(clock.id)


def test_closing_ends_it(windows: WindowManager) -> None:
    clock = Clockwork()
    windows.open(clock)
    clock.wait_for(1)
    thread = runtime_of(clock).worker.submit(threading.current_thread).result(LONG)
    windows.close(clock.id)
    thread.join(LONG)
    assert not thread.is_alive()


@pytest.mark.parametrize("error", [ValueError, SystemExit, KeyboardInterrupt])
def test_after_three_failures_in_a_row_it_is_ended(
    windows: WindowManager, error: type[BaseException]
) -> None:
    class Failing(Clockwork):
        def tick(self) -> None:
            super().tick()
            raise error("broken")

    heard = Heard(windows)
    clock = Failing()
    windows.open(clock)
    troubles = heard.wait_for(WindowTroubled, 3)
    after_all(clock)
    assert [one.reason.partition(" (")[0] for one in troubles] == [
        f"a timer failed: {error.__name__}: broken"
    ] * 3
    assert runtime_of(clock).worker._timers == []
    assert (clock.state.count, str(clock.version)) == (0, "1.0.0")
    assert act(windows, clock, "up").ok


def test_a_failure_now_and_then_does_not_end_it(windows: WindowManager) -> None:
    class Flaky(Clockwork):
        calls = 0

        def tick(self) -> None:
            super().tick()
            self.calls += 1
            if self.calls % 3:
                raise ValueError("sometimes")

    clock = Flaky()
    windows.open(clock)
    clock.wait_for(9)
    windows.close(clock.id)


def test_one_that_takes_longer_than_its_period_leaves_room_to_draw_and_act(
    windows: WindowManager,
) -> None:
    class Slow(Clockwork):
        period = 1e-9

    clock = Slow()
    windows.open(clock)
    clock.wait_for(2)
    assert act(windows, clock, "report").ok
    assert act(windows, clock, "stop").ok
    assert settled(windows) == []


def test_one_begun_in_an_action_that_fails_is_gone_with_it(windows: WindowManager) -> None:
    class Hasty(Clockwork):
        def opened(self) -> None: ...

        @action("Start")
        def start(self, well: bool) -> None:
            self.end = self.env.every(0.001, self.tick)
            if not well:
                raise ValueError("no")

    clock = Hasty()
    windows.open(clock)
    assert not act(windows, clock, "start", well=False).ok
    assert runtime_of(clock).worker._timers == []
    assert act(windows, clock, "start", well=True).ok
    clock.wait_for(1)
    windows.close(clock.id)


def test_a_period_that_is_none_fails_the_action(windows: WindowManager) -> None:
    class Wrong(Window):
        def content(self, lod: Lod) -> Body:
            return ""

        @action("Start")
        def start(self, seconds: float) -> None:
            self.env.every(seconds, lambda: None)

    result = act(windows, windows.open(Wrong), "start", seconds=0)
    assert isinstance(result.error, ActionFailedError)
    assert "positive number of seconds" in result.text
