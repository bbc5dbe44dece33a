"""A window's thread: its queue of calls, its timers and its event loop."""

import asyncio
import heapq
import itertools
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Coroutine, Iterable, Iterator
from concurrent.futures import Future
from concurrent.futures import wait as wait_for
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from contextui.errors import WindowBusyError, WindowClosedError

T = TypeVar("T")
Work = Callable[[], None]

PATIENCE = 2.0
"""Seconds that a caller without an event loop waits for a window."""

LOOP_PATIENCE = 0.05
"""Seconds that a caller inside an event loop waits, and only for a window that is not stuck
already: a healthy window responds well within them, and no other may block the loop."""

_LAST_SECONDS = 1.0  # for tasks that are cancelled when the window closes
_IDLE = 5.0  # idle seconds after which the thread ends; the next call starts a new one


class Time:
    """The time that timers and event loops of windows go by; tests replace it."""

    def now(self) -> float:
        """Return the time in seconds, from any start."""
        return time.monotonic()

    def expect(self, when: float) -> None:
        """Note that something is due at a time."""


class Worker:
    """Runs calls on one daemon thread, in order.

    The thread exists only while needed, until something asynchronous runs on it: then it has an
    event loop, which it drives between calls, for the rest of the window's life.

    Attributes:
        is_closed: Whether it accepts no more calls.
        alone: Held by the call that runs, or by a task of the loop that changes the state; None
            until there is a loop.
    """

    def __init__(self, name: str, clock: Time | None = None) -> None:
        self._name, self._time = name, clock or Time()
        self._queue: deque[tuple[Work, Callable[[], None]]] = deque()
        self._timers: list[tuple[float, int, float, Work]] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._woken = asyncio.Event()
        self.alone: asyncio.Lock | None = None
        self._order = itertools.count()
        self._wake = threading.Condition()
        self._thread: threading.Thread | None = None
        self._since: float | None = None
        self.is_closed = False

    def submit(self, call: Callable[[], T]) -> "Future[T]":
        """Queue a call, to run after everything submitted before it."""
        future: Future[T] = Future()

        def work() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                result = call()
            except BaseException as error:
                future.set_exception(error)
            else:
                future.set_result(result)

        def refuse() -> None:
            if future.set_running_or_notify_cancel():
                future.set_exception(WindowClosedError("{id} is closed.", id=self._name))

        with self._wake:
            if self.is_closed:
                refuse()
                return future
            if not self._ensure_thread():
                future.set_exception(
                    WindowBusyError("There is no thread left for {name}.", name=self._name)
                )
                return future
            self._queue.append((work, refuse))
            self._signal()
        return future

    def every(self, seconds: float, call: Work) -> Callable[[], None]:
        """Call a function periodically; returns the function that stops it.

        A late call is not caught up: the next one comes a full period later.
        """
        if not seconds > 0:  # written so that it rejects NaN too
            raise ValueError(f"a period must be a positive number of seconds, not {seconds}")
        ended = False

        def tick() -> None:
            if not ended:
                call()

        def end() -> None:
            nonlocal ended
            ended = True
            with self._wake:
                self._timers = [timer for timer in self._timers if timer[3] is not tick]
                heapq.heapify(self._timers)

        with self._wake:
            if not self.is_closed:
                due = self._time.now() + seconds
                self._time.expect(due)
                heapq.heappush(self._timers, (due, next(self._order), seconds, tick))
                self._ensure_thread()
                self._signal()
        return end

    def stop(self, last_call: Work | None = None) -> None:
        """Accept no more calls: queued ones fail as closed, and a running one is left alone.

        `last_call` still runs, after the current one.
        """
        with self._wake:
            if self.is_closed:
                return
            self.is_closed = True
            self._timers.clear()
            queued = list(self._queue)
            self._queue.clear()
            if last_call is not None:
                self._queue.append((last_call, lambda: None))
                self._ensure_thread()
            self._signal()
        for _, refuse in queued:
            refuse()

    def busy_for(self) -> float:
        """Return how many seconds the current call has been running; 0 between calls."""
        since = self._since
        return 0.0 if since is None else time.monotonic() - since

    @property
    def is_late(self) -> bool:
        """Whether the current call takes longer than callers wait for it."""
        return self.busy_for() >= PATIENCE

    def wait(self, future: "Future[Any]") -> bool:
        """Wait as long as the caller can; return whether the future is done."""
        if future.done():
            return True
        if threading.current_thread() is self._thread:
            return False  # it would wait for itself
        patience = LOOP_PATIENCE - self.busy_for() if in_event_loop() else PATIENCE
        return patience > 0 and bool(wait_for([future], patience).done)

    async def read(self, function: Callable[[], T]) -> T | None:
        """Call a function between two calls; None if it fails or takes too long."""
        reading = self.submit(function)
        await finished([reading], PATIENCE)
        return reading.result() if reading.done() and reading.exception() is None else None

    def _ensure_thread(self) -> bool:
        if self._thread is None:
            thread = threading.Thread(target=self._run, name=self._name, daemon=True)
            with suppress(RuntimeError):
                thread.start()
                self._thread = thread
        return self._thread is not None

    # --- on its own thread --------------------------------------------------------------

    @property
    def is_own_thread(self) -> bool:
        """Whether the caller runs on the window's thread."""
        return threading.current_thread() is self._thread

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The window's event loop, created on first use."""
        assert self.is_own_thread
        if self._loop is None:
            self._loop, self.alone = _new_loop(self._time), asyncio.Lock()
            if self._since is not None:  # the call that needs it is running
                self._loop.run_until_complete(self.alone.acquire())
        return self._loop

    def run(self, call: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine to its end; other tasks of the loop go on in the meantime."""
        return self.loop.run_until_complete(call)

    def call_soon(self, call: Callable[[], object]) -> None:
        """Call a function in the event loop, from any thread; ignored if there is none."""
        with suppress(RuntimeError):  # closed
            if self._loop is not None:
                self._loop.call_soon_threadsafe(call)

    @contextmanager
    def busy(self) -> Iterator[None]:
        """Record for `busy_for` that code of the window runs."""
        before, self._since = self._since, self._since or time.monotonic()
        try:
            yield
        finally:
            self._since = before

    def wake(self) -> bool:
        """Look at the time again; return whether a timer is due."""
        with self._wake:
            self._signal()
            return bool(self._timers) and self._timers[0][0] <= self._time.now()

    def _signal(self) -> None:
        self._wake.notify()
        self.call_soon(self._woken.set)

    def _run(self) -> None:
        while (work := self._next()) is not None:
            alone = self.alone
            if alone is not None:  # a task may be changing the state
                self.run(alone.acquire())
            try:
                with self.busy():
                    work()
            except BaseException:  # nothing may end the thread, not even SystemExit
                logging.getLogger("contextui.windowing").exception("A call of %s", self._name)
            if self.alone is not None:
                self.alone.release()
                self.run(asyncio.sleep(0))  # tasks go on even if calls never cease
        if self._loop is not None and self.is_closed:
            self._close_loop(self._loop)

    def _close_loop(self, loop: asyncio.AbstractEventLoop) -> None:
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        if left:
            with self.busy():
                loop.run_until_complete(asyncio.wait(left, timeout=_LAST_SECONDS))
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.run_until_complete(asyncio.sleep(0))  # connections that were closed end now
        loop.close()

    def _pause(self, seconds: float | None) -> None:
        """Wait for a signal, and drive the loop if there is one. Called with the lock held."""
        if self._loop is None:
            self._wake.wait(seconds)
            return
        self._woken.clear()
        self._wake.release()
        try:
            with suppress(TimeoutError):
                self._loop.run_until_complete(asyncio.wait_for(self._woken.wait(), seconds))
        finally:
            self._wake.acquire()

    def _next(self) -> Work | None:
        """Return the next call; None when the thread should end.

        Timers come after calls: a timer that is always due must not block rendering.
        """
        idle_since = time.monotonic()
        with self._wake:
            while self._queue or not self.is_closed:
                now = self._time.now()
                if self._queue:
                    return self._queue.popleft()[0]
                if self._timers and self._timers[0][0] <= now:
                    _, order, seconds, tick = heapq.heappop(self._timers)
                    self._time.expect(now + seconds)
                    heapq.heappush(self._timers, (now + seconds, order, seconds, tick))
                    return tick
                if self._timers:
                    self._pause(min(self._timers[0][0] - now, threading.TIMEOUT_MAX))
                elif self._loop is not None:
                    self._pause(None)
                elif time.monotonic() - idle_since < _IDLE:
                    self._pause(_IDLE)
                else:
                    break
            self._thread = None
            return None


def _new_loop(clock: Time) -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    if type(clock) is not Time:
        call_at = loop.call_at

        def call_at_expected(when: float, *args: Any, **options: Any) -> asyncio.TimerHandle:
            clock.expect(when)
            return call_at(when, *args, **options)

        loop.time, loop.call_at = clock.now, call_at_expected  # type: ignore[method-assign,assignment]
    return loop


async def finished(futures: Iterable["Future[Any]"], seconds: float | None) -> None:
    """Wait inside an event loop until the calls are done, up to a timeout.

    The futures are only observed. Wrapped as asyncio futures they would be cancelled with the
    caller, and would report unretrieved errors, even to a closed loop.
    """
    loop = asyncio.get_running_loop()

    def watch(future: "Future[Any]") -> asyncio.Event:
        done = asyncio.Event()

        def on_done(_: "Future[Any]") -> None:
            with suppress(RuntimeError):  # the loop is closed: there is no waiter
                loop.call_soon_threadsafe(done.set)

        future.add_done_callback(on_done)
        return done

    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            for done in [watch(future) for future in futures]:
                await done.wait()


async def in_daemon_thread(call: Callable[[], T]) -> T:
    """Call a function that waits for windows on a thread that does not delay the exit."""
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(call())
        except BaseException as problem:
            future.set_exception(problem)

    threading.Thread(target=run, daemon=True).start()
    await finished([future], None)
    return future.result()


def in_event_loop() -> bool:
    """Whether the calling thread runs an event loop, which must never be blocked."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
