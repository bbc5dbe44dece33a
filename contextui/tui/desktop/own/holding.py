"""Which windows' own code somebody waits for that does not return."""

import asyncio
from collections.abc import Iterator
from types import FrameType
from typing import Any

from contextui.tui.desktop.own.blame import guard_around
from contextui.tui.desktop.own.loading import Guard

_RESTS = "_get_message"  # a widget that waits for something to do
_WAITS = "_message_loop_exit"  # one that waits for those within it


def holders() -> dict["asyncio.Task[Any]", Guard]:
    """The tasks that stand still in the code of a window's own widget, with that widget."""
    found = ((task, _holder(task)) for task in asyncio.all_tasks())
    return {task: guard for task, guard in found if guard is not None}


def _holder(task: "asyncio.Task[Any]") -> Guard | None:
    frames = list(_frames(task))
    names = [frame.f_code.co_name for frame in frames]
    if _RESTS in names or names[-1:] == [_WAITS]:
        return None
    guards = (guard_around(frame.f_locals.get("self")) for frame in reversed(frames))
    return next((guard for guard in guards if guard is not None), None)


def _frames(task: "asyncio.Task[Any]") -> Iterator[FrameType]:
    """What a task is in the middle of, the outermost first."""
    awaited: Any = task.get_coro()
    while awaited is not None:
        frame = getattr(awaited, "cr_frame", None) or getattr(awaited, "gi_frame", None)
        if frame is not None:
            yield frame
        awaited = getattr(awaited, "cr_await", None) or getattr(awaited, "gi_yieldfrom", None)
