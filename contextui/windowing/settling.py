"""Waiting for windows until each of them shows what it holds."""

from collections.abc import Iterable
from concurrent.futures import Future
from concurrent.futures import wait as wait_for

from contextui.windowing.base import Window
from contextui.windowing.worker import PATIENCE, finished, in_event_loop


async def settle(windows: Iterable[Window], seconds: float) -> list[Window]:
    """Wait until every window shows what it holds, but no longer than this; those that are late."""
    drawing = _drawing(windows)
    if drawing:
        await finished(drawing.values(), seconds)
    return _late(drawing)


def settle_now(windows: Iterable[Window]) -> list[Window]:
    """The same for callers without an event loop; inside of one it does not wait at all."""
    if in_event_loop():
        return []
    drawing = _drawing(windows)
    if drawing:
        wait_for(drawing.values(), PATIENCE)
    return _late(drawing)


def _drawing(windows: Iterable[Window]) -> dict[Window, "Future[None]"]:
    """What each window is still to draw, if it is."""
    pending = ((window, window.runtime.renders.pending()) for window in windows)
    return {window: future for window, future in pending if future}


def _late(drawing: dict[Window, "Future[None]"]) -> list[Window]:
    """Those that are not drawn; one that is still opening shows that, and is not late."""
    return [
        window
        for window, future in drawing.items()
        if not future.done() and not window.runtime.standing.is_opening
    ]
