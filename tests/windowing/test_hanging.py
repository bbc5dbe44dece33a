"""Windows that wait or hang: given up without a trace, while the loop goes on."""

import asyncio
import threading
import time
from collections.abc import Awaitable
from itertools import pairwise

import pytest

from contextui import Lod, Window, WindowManager
from contextui.errors import UnknownWindowError
from contextui.windowing.runtime import runtime_of
from tests.windowing.samples import (
    LONG,
    Blocking,
    Counter,
    Gate,
    act,
    held,
    opened,
    settled,
)


class TestHanging:
    async def test_a_window_closed_before_a_queued_action(self, windows: WindowManager) -> None:
        """FAULTS 23."""
        window = opened(windows, Blocking)
        await windows.await_opening(LONG)
        with held(window, "hang") as gates:
            hanging = asyncio.create_task(windows.act(window.id, "hang"))
            await asyncio.to_thread(gates["hang"].reached.wait, LONG)
            queued = asyncio.create_task(windows.act(window.id, "up"))
            await asyncio.sleep(0)
            windows.close(window.id)
            result = await queued
        await hanging
        assert not result.ok
        assert isinstance(result.error, UnknownWindowError)
        assert result.text == "blocking_1 is closed."

    async def test_a_hanging_window_can_be_closed_and_another_opened(
        self, windows: WindowManager, neighbour: Window
    ) -> None:
        window = opened(windows, Blocking)
        await windows.settle(LONG)
        with held(window, "content") as gates:
            await windows.act(window.id, "up")
            await asyncio.to_thread(gates["content"].reached.wait, LONG)
            windows.close(window.id)
            assert 'stale="true"' in (windows.last_render(window.id) or "")
            assert (await windows.act(windows.open(Counter).id, "up")).ok

    def test_while_one_closes_a_hanging_window_others_are_not_held_up(
        self, windows: WindowManager, neighbour: Window
    ) -> None:
        window = opened(windows, Blocking)
        with held(window, "content") as gates:
            act(windows, window, "up")
            assert gates["content"].reached.wait(LONG)
            closing = threading.Thread(target=windows.close, args=(window.id,))
            closing.start()
            listed: list[int] = []
            looking = threading.Thread(target=lambda: listed.append(len(windows.windows())))
            looking.start()
            looking.join(LONG)
            assert listed == [2]
        closing.join(LONG)
        assert windows.windows() == [neighbour]


async def beating(work: Awaitable[None]) -> tuple[int, float]:
    """Do the work; return how often the loop beat during it, and its longest pause."""
    beats = [time.monotonic()]

    async def beat() -> None:
        while True:
            await asyncio.sleep(0.001)
            beats.append(time.monotonic())

    heart = asyncio.create_task(beat())
    await work
    heart.cancel()
    beats.append(time.monotonic())
    return len(beats), max(later - earlier for earlier, later in pairwise(beats))


class TestTheLoop:
    """However long a window hangs, the loop goes on."""

    @pytest.mark.parametrize("place", ["opened", "content", "hang"])
    def test_it_beats_while_a_window_hangs(self, windows: WindowManager, place: str) -> None:
        window = Blocking()
        if place != "opened":
            windows.open(window)

        async def everything(gate: Gate) -> None:
            if place == "opened":
                windows.open(window)
            acts = [asyncio.create_task(windows.act(window.id, one)) for one in ("up", "hang")]
            await asyncio.to_thread(gate.reached.wait, LONG)
            windows.set_lod(window.id, Lod.GIST)
            # A window that is opening says so: no request waits for it.
            assert await windows.settle(0.1) == ([] if place == "opened" else [window.id])
            for _ in range(6):  # the loop beats at least once in each
                await asyncio.sleep(0.02)
            window.snapshot()
            window.to_xml(Lod.SUMMARY)
            windows.settle_now()
            assert runtime_of(window).renders.latest().snapshot.stale is (place != "opened")
            gate.release()
            await asyncio.gather(*acts)

        with held(window, place) as gates:
            beats, longest = asyncio.run(beating(everything(gates[place])))
        assert beats > 5
        assert longest < LONG / 3
        assert settled(windows) == []
        assert window.snapshot().content == "Gist: 1001"
