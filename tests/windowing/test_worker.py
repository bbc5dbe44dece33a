"""A window's thread: one call at a time, in order, gone when idle, and nobody waits for it."""

import asyncio
import threading
from concurrent.futures import Future
from functools import partial

import pytest

from contextui.errors import WindowBusyError, WindowClosedError
from contextui.windowing import worker as worker_module
from contextui.windowing.worker import Worker, finished
from tests.windowing.samples import LONG, Gate


@pytest.fixture
def worker() -> Worker:
    return Worker("w")


def hold(worker: Worker) -> Gate:
    """Keep the worker busy until the gate is released."""
    gate = Gate()
    worker.submit(gate.hold)
    assert gate.reached.wait(LONG)
    return gate


def test_calls_run_in_order_one_at_a_time_on_one_daemon_thread(worker: Worker) -> None:
    order: list[int] = []
    running = threading.Lock()

    def call(number: int) -> threading.Thread:
        assert running.acquire(blocking=False)
        order.append(number)
        running.release()
        return threading.current_thread()

    futures = [worker.submit(partial(call, number)) for number in range(200)]
    threads = {future.result(LONG) for future in futures}
    assert order == list(range(200))
    (thread,) = threads
    assert thread.daemon
    assert thread.name == "w"


def test_it_survives_callbacks_that_exit(worker: Worker, caplog: pytest.LogCaptureFixture) -> None:
    gate = hold(worker)

    def leave(_: "Future[None]") -> None:
        raise SystemExit

    worker.submit(lambda: None).add_done_callback(leave)
    gate.release()
    assert worker.submit(lambda: "yes").result(LONG) == "yes"
    assert "A call of w" in caplog.text


def test_an_idle_thread_comes_back(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_module, "_IDLE", 0.01)
    first = worker.submit(threading.current_thread).result(LONG)
    first.join(LONG)
    assert not first.is_alive()
    second = worker.submit(threading.current_thread).result(LONG)
    assert second is not first


def test_no_call_is_lost_while_retiring(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_module, "_IDLE", 0.0)
    for number in range(300):
        assert worker.submit(partial(int, number)).result(LONG) == number


def test_without_a_thread_left_it_says_so_and_tries_again_later(
    worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        with pytest.raises(WindowBusyError, match="no thread left for w"):
            worker.submit(lambda: None).result(LONG)
    assert worker.submit(lambda: "yes").result(LONG) == "yes"


class TestStop:
    def test_what_is_queued_fails_as_closed_what_runs_ends_by_itself(self, worker: Worker) -> None:
        gate = Gate()
        running = worker.submit(gate.hold)
        assert gate.reached.wait(LONG)
        queued = worker.submit(lambda: "never")
        worker.stop()
        with pytest.raises(WindowClosedError, match="w is closed"):
            queued.result(LONG)
        assert not running.done()
        gate.release()
        running.result(LONG)

    def test_the_farewell_is_the_last_call_and_comes_once(self, worker: Worker) -> None:
        calls: list[str] = []
        gone = threading.Event()
        thread = worker.submit(threading.current_thread).result(LONG)

        def last_call() -> None:
            calls.append("bye")
            gone.set()

        worker.stop(last_call)
        worker.stop(last_call)
        assert gone.wait(LONG)
        thread.join(LONG)
        assert calls == ["bye"]


class TestEvery:
    def test_it_may_end_itself(self, worker: Worker) -> None:
        ticked = threading.Event()
        ticks: list[int] = []

        def tick() -> None:
            ticks.append(1)
            end()
            ticked.set()

        end = worker.every(0.001, tick)
        assert ticked.wait(LONG)
        worker.submit(lambda: None).result(LONG)
        assert ticks == [1]

    def test_a_timer_that_is_always_due_does_not_starve_calls(self, worker: Worker) -> None:
        ticks = threading.Semaphore(0)
        end = worker.every(1e-9, ticks.release)
        for number in range(20):
            assert worker.submit(partial(int, number)).result(LONG) == number
        assert ticks.acquire(timeout=LONG)
        end()

    def test_a_period_that_is_none_is_refused(self, worker: Worker) -> None:
        for seconds in (0, -1.0, float("nan")):
            with pytest.raises(ValueError, match="positive number of seconds"):
                worker.every(seconds, lambda: None)

    def test_a_period_of_ages_harms_nobody(self, worker: Worker) -> None:
        for seconds in (float("inf"), 1e300):
            worker.every(seconds, lambda: None)
            assert worker.submit(lambda: "yes").result(LONG) == "yes", seconds

    def test_with_a_timer_the_thread_does_not_retire(
        self, worker: Worker, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(worker_module, "_IDLE", 0.0)
        threads: list[threading.Thread] = []
        enough = threading.Event()

        def tick() -> None:
            threads.append(threading.current_thread())
            if len(threads) == 3:
                end()
                enough.set()

        end = worker.every(0.01, tick)
        assert enough.wait(LONG)
        assert len(set(threads)) == 1


class TestWaiting:
    def test_its_own_thread_never_waits_for_itself(self, worker: Worker) -> None:
        def call() -> bool:
            return worker.wait(worker.submit(lambda: None))

        assert worker.submit(call).result(LONG) is False

    async def test_an_event_loop_does_not_wait_for_one_that_is_stuck(
        self, worker: Worker, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(worker_module, "LOOP_PATIENCE", 0.0)
        gate = hold(worker)
        queued = worker.submit(lambda: None)
        assert worker.wait(queued) is False
        gate.release()
        assert queued.result(LONG) is None

    def test_finished_only_watches(self, worker: Worker, caplog: pytest.LogCaptureFixture) -> None:
        """A loop that is long closed hears nothing, and nobody complains about that."""
        gate = hold(worker)

        def fail() -> None:
            raise ValueError

        queued = worker.submit(fail)
        asyncio.run(finished([queued], 0.0))
        assert not queued.cancelled()
        gate.release()
        with pytest.raises(ValueError):  # noqa: PT011  it has no text
            queued.result(LONG)
        assert caplog.text == ""
