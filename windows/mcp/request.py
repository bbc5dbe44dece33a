"""Requests to an MCP server: each with a limit in time, and cancelled with a good-bye."""

import asyncio
import contextvars
from collections.abc import Awaitable, Callable
from typing import Any

from contextui import ActionError, ContextUIError
from contextui.secrets import mask
from contextui.text import one_line


class StoppedError(ContextUIError):
    """A server cannot be reached; the message says why."""


class Requests:
    """The requests to one server that are under way.

    Args:
        timeout: Seconds without a sign of life after which a request is cancelled.
        clear: Returns a clearer reason why a request failed, if there is one.
    """

    def __init__(self, timeout: float, clear: Callable[[str], str] = str) -> None:
        self.timeout, self._clear = timeout, clear
        self._running: set[Request] = set()
        self._tasks: set[asyncio.Task[Any]] = set()

    async def run(
        self, work: Callable[["Request"], Awaitable[Any]], *, longest: float | None = None
    ) -> Any:
        """Make a request and wait for its answer.

        Args:
            work: Makes the request; each progress of it is a `Request.beat`.
            longest: Seconds after which it is cancelled even if it shows signs of life.

        Raises:
            ContextUIError: There is no answer, or an error.
        """
        request = Request(self.timeout, self._clear)
        task = asyncio.get_running_loop().create_task(
            _awaited(work, request), context=contextvars.Context()
        )
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        self._running.add(request)
        try:
            async with asyncio.timeout(longest):
                return await request.result(task)
        except TimeoutError:
            raise _late(longest or self.timeout) from None
        finally:
            task.cancel()
            self._running.discard(request)

    def pause(self) -> None:
        """Stop counting the time of all requests: the person is asked something."""
        for one in self._running:
            one.pause()

    def go_on(self) -> None:
        """Count the time again, from the beginning."""
        for one in self._running:
            one.beat()

    def cancel(self) -> None:
        """Cancel all requests."""
        for task in list(self._tasks):
            task.cancel()


class Request:
    """One request: how long it may still take."""

    def __init__(self, timeout: float, clear: Callable[[str], str] = str) -> None:
        self._timeout, self._clear, self._is_paused = timeout, clear, False
        self._deadline = 0.0
        self.beat()

    def beat(self) -> None:
        """Note a sign of life: the time to wait begins again."""
        self._is_paused = False
        self._deadline = asyncio.get_running_loop().time() + self._timeout

    def pause(self) -> None:
        """Stop counting the time."""
        self._is_paused = True

    async def result(self, task: "asyncio.Task[Any]") -> Any:
        """Wait for the task that makes the request."""
        loop = asyncio.get_running_loop()
        while not task.done():
            left = 1.0 if self._is_paused else self._deadline - loop.time()
            if left <= 0:
                raise _late(self._timeout)
            await asyncio.wait([task], timeout=left)
        if task.cancelled():
            raise StoppedError("The connection was closed.")
        try:
            return task.result()
        except ContextUIError:
            raise
        except Exception as problem:
            reason = self._clear(reason_of(problem))
            raise ActionError("The server answered: {reason}", reason=reason) from problem


async def _awaited(work: Callable[[Request], Awaitable[Any]], request: Request) -> Any:
    return await work(request)


def _late(seconds: float) -> ActionError:
    return ActionError("The server did not answer within {seconds:g} s.", seconds=seconds)


def reason_of(problem: BaseException) -> str:
    """Return why something failed, in one line without secrets."""
    while isinstance(problem, BaseExceptionGroup):
        problem = problem.exceptions[0]
    if isinstance(problem, ContextUIError):
        return one_line(str(problem), 300)
    text = str(problem).strip() or type(problem).__name__
    kind = type(problem).__name__
    if kind == "MessageTooLargeError":
        text = "it sent a message that is too large"
    elif kind == "TimeoutError":
        text = "it did not answer in time"
    elif kind in ("ValidationError", "OverflowError"):
        text = "it sent something that does not follow the protocol"
    elif kind in ("ConnectError", "ConnectTimeout"):
        text = f"it cannot be reached ({text})"
    return one_line(mask(text), 300)
