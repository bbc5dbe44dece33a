"""Timers: each tick is a transaction on the window's own thread."""

import threading

import pytest

from contextui import WindowManager, action
from contextui.events import WindowChanged, WindowTroubled
from contextui.windowing.runtime import runtime_of
from tests.windowing.samples import LONG, Counter, Heard, act, after_all, opened, settled


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
    clock = opened(windows, Clockwork)
    clock.wait_for(3)
    act(windows, clock, "stop")
    settled(windows)
    assert clock.version.major == clock.state.count + 1 >= 4
    assert clock.snapshot().content == f"Full: {clock.state.count}"
    assert len(heard.of(WindowChanged)) >= 2


@pytest.mark.parametrize("error", [ValueError, SystemExit, KeyboardInterrupt])
def test_it_ends_after_three_failures(windows: WindowManager, error: type[BaseException]) -> None:
    class Failing(Clockwork):
        def tick(self) -> None:
            super().tick()
            raise error("broken")

    heard = Heard(windows)
    clock = opened(windows, Failing)
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
        """Its ticks are async, as they may be."""

        calls = 0

        async def tick(self) -> None:  # type: ignore[override]
            super().tick()
            self.calls += 1
            if self.calls % 3:
                raise ValueError("sometimes")

    clock = opened(windows, Flaky)
    clock.wait_for(9)
    windows.close(clock.id)
