"""A call commits, or it is given up: never both, never neither."""

import asyncio
import threading

import pytest

from contextui.errors import WindowBusyError
from contextui.windowing.transaction import Call
from tests.windowing.samples import LONG


def test_in_a_race_exactly_one_wins() -> None:
    for _ in range(200):
        call = Call(lambda: None, {})
        together = threading.Barrier(2)
        cancelled: list[bool] = []

        def cancel(call: Call = call, together: threading.Barrier = together) -> None:
            together.wait(LONG)
            cancelled.append(call.cancel())  # noqa: B023  joined below

        thread = threading.Thread(target=cancel)
        thread.start()
        together.wait(LONG)
        committed = call.commit()
        thread.join(LONG)
        assert [committed] != cancelled


def test_given_up_before_it_began_it_never_runs() -> None:
    ran: list[int] = []
    call = Call(lambda: ran.append(1), {})
    call.cancel()
    with pytest.raises(WindowBusyError):
        call.run(asyncio.run)
    assert ran == []


def test_giving_up_too_late_cancels_nothing() -> None:
    reached, tried = threading.Event(), threading.Event()

    async def work() -> int:
        reached.set()
        while not tried.is_set():
            await asyncio.sleep(0)
        await asyncio.sleep(0)  # where it would be cancelled
        return 5

    call = Call(work, {})
    cancelled: list[bool] = []

    def cancel() -> None:
        assert reached.wait(LONG)
        assert call.commit()
        cancelled.append(call.cancel())
        tried.set()

    thread = threading.Thread(target=cancel)
    thread.start()
    assert call.run(asyncio.run) == 5
    thread.join(LONG)
    assert cancelled == [False]
