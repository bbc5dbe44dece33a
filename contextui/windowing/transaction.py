"""One call into a window: it commits, or it leaves no trace."""

import asyncio
import inspect
import threading
from collections.abc import Callable
from typing import Any

from contextui.errors import WindowBusyError


class Call:
    """A call under way, which its caller may give up.

    Either the call commits first, then giving up comes too late and the result counts; or it is
    given up first, then whatever it does later is rolled back. Never both, never neither.
    """

    def __init__(self, function: Callable[..., Any], arguments: dict[str, Any]) -> None:
        self._function, self._arguments = function, arguments
        self._lock = threading.Lock()
        self._outcome: str | None = None
        self._cancel: Callable[[], object] | None = None

    def run(self) -> Any:
        """Carry it out on this thread, whether it is async or not.

        Raises:
            WindowBusyError: It was given up before it began.
        """
        if self._outcome is not None:
            raise WindowBusyError("given up before it began")
        result = self._function(**self._arguments)
        return asyncio.run(self._follow(result)) if inspect.isawaitable(result) else result

    async def _follow(self, awaitable: Any) -> Any:
        task = asyncio.ensure_future(awaitable)
        loop = asyncio.get_running_loop()
        with self._lock:
            self._cancel = lambda: loop.call_soon_threadsafe(task.cancel)
            if self._outcome is not None:
                task.cancel()
        try:
            return await task
        finally:
            with self._lock:
                self._cancel = None

    def commit(self) -> bool:
        """Claim that it counts; False if it was given up before."""
        with self._lock:
            self._outcome = self._outcome or "committed"
            return self._outcome == "committed"

    def give_up(self) -> bool:
        """Claim that it does not count; False if it has committed already."""
        with self._lock:
            self._outcome = self._outcome or "given up"
            if self._outcome == "given up" and self._cancel is not None:
                self._cancel()
            return self._outcome == "given up"
