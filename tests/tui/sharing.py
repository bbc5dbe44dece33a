"""One app that several tests use, one after another: to start it takes longer than most of them."""

import asyncio
import contextvars
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager

from textual.pilot import Pilot

from contextui.tui.app import ContextUIApp
from tests.tui.running import until

Start = Callable[[], AbstractAsyncContextManager["Pilot[int]"]]
Act = Callable[["Pilot[int]"], Awaitable[None]]


class SharedApp:
    """Starts an app when it is needed first, and leaves it to the next test as it was.

    A test that fails leaves it to nobody: the next one has a new app.

    Args:
        start: Starts the app.
        tidy: Takes back what a test did to it.
    """

    def __init__(self, start: Start, tidy: Act) -> None:
        self._start, self._tidy = start, tidy
        self._runner = asyncio.Runner()
        self._context = contextvars.copy_context()  # in which the app is the active one
        self._app: AbstractAsyncContextManager[Pilot[int]] | None = None
        self._pilot: Pilot[int] | None = None

    def run(self, act: Act, size: tuple[int, int] = (120, 40)) -> None:
        """Do something in the app, on a terminal of this size."""
        try:
            self._runner.run(self._run(act, size), context=self._context)
        except BaseException:
            self._runner.run(self._end(), context=self._context)
            raise

    def close(self) -> None:
        """End the app."""
        self._runner.run(self._end(), context=self._context)
        self._runner.close()

    async def _run(self, act: Act, size: tuple[int, int]) -> None:
        if self._pilot is None:
            self._app = self._start()
            self._pilot = await self._app.__aenter__()
        pilot = self._pilot
        if pilot.app.size != size:
            await pilot.resize_terminal(*size)
            await until(pilot, lambda: pilot.app.screen._compositor.size == size)
        await act(pilot)
        while len(pilot.app.screen_stack) > 1:  # what was left open over the main screen
            await pilot.app.pop_screen()
        if isinstance(pilot.app, ContextUIApp) and pilot.app.main.has_class("-zoom"):
            pilot.app.main.action_zoom()
        await self._tidy(pilot)

    async def _end(self) -> None:
        app, self._app, self._pilot = self._app, None, None
        if app is not None:
            await app.__aexit__(None, None, None)
