"""Tests on a busy machine: the program's limits are out of the way, and a pilot is sure of rest.

A test that is about one of these limits sets it itself.
"""

import asyncio
import importlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from textual._wait import wait_for_idle

_WINDOWING = ("worker", "render", "manager", "runtime", "open_windows", "transaction")
_LIMITS = {
    **{f"contextui.windowing.{module}.PATIENCE": 20.0 for module in _WINDOWING},
    "contextui.git.inspection.SECONDS": 60.0,
    "contextui.session.preferences._PATIENCE": 60.0,
    "contextui.tui.desktop.frame._SECONDS": 1_000.0,
    "contextui.windows.mcp.window._WAIT": 60.0,
    "contextui.windows.terminal.shell._LOOKS": 3_000,
    "contextui.windows.terminal.shell._SETTLED": 30.0,
    "contextui.windows.terminal.shell._START": 60.0,
    "contextui.windows.terminal.shell._UNREAD": 60.0,
}


@contextmanager
def patient() -> Iterator[None]:
    from contextui.agent.models.servers import Inquiry
    from contextui.windowing.manager import WindowManager

    with pytest.MonkeyPatch.context() as patch:
        for name, limit in _LIMITS.items():
            module, _, constant = name.rpartition(".")
            patch.setattr(importlib.import_module(module), constant, limit)
        patch.setattr(WindowManager.settle, "__defaults__", (20.0,))
        patch.setattr(Inquiry.fetch, "__defaults__", (None, 60.0))
        patch.setattr("textual.app.wait_for_idle", _at_rest)
        patch.setattr("textual.pilot.wait_for_idle", _at_rest)
        yield


async def quiet() -> None:
    """Wait until the event loop has nothing to run at once, but not for ever."""
    loop: Any = asyncio.get_running_loop()
    began, calm = time.thread_time(), 0
    while calm < 3 and time.thread_time() - began < 1.0:
        await asyncio.sleep(0)
        calm = 0 if loop._ready else calm + 1


async def _at_rest(min_sleep: float = 0.02, max_sleep: float = 1.0) -> None:
    """Wait as Textual does, which takes a process that gets no processor for idle, then be sure."""
    await wait_for_idle(min_sleep, max_sleep)
    await quiet()
