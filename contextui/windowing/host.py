"""Access to open windows for the program that shows and saves them, and for their widgets.

These are functions and not methods of `Window`, whose subclasses may name their actions freely.
"""

from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future
from typing import Any, TypeVar

from contextui.events import Actor, Progress
from contextui.text import shown_name
from contextui.windowing.action import ActionResult
from contextui.windowing.render import Render
from contextui.windowing.snapshot import HistoryEntry, Lod
from contextui.windowing.store import SavedState
from contextui.windowing.window import Window
from contextui.windowing.worker import PATIENCE, finished
from contextui.words import Words, msg

T = TypeVar("T")


def latest_render(window: Window) -> Render:
    """Return the newest finished render, marked stale if it is out of date. Never waits."""
    return window.runtime.renders.latest()


def current_render(window: Window, lod: Lod | None = None) -> Render:
    """Return the render of the current version; wait for it as long as the caller can."""
    return window.runtime.renders.at(lod)


def request_render(window: Window, lod: Lod | None = None) -> "Future[None]":
    """Queue a render of the current version, and return its future."""
    return window.runtime.renders.request(lod)


def saved_state(window: Window) -> SavedState:
    """Return what a session saves of a window: its state, version and level of detail."""
    return window.runtime.store.saved


def file_of(window: Window) -> str | None:
    """Return the file that a window was opened for, such as that of an editor; None if none."""
    if not any(one.name == "path" for one in window.opening.listing):
        return None
    path = getattr(window.state, "path", None)
    return path if isinstance(path, str) and path else None


def was_open(window: Window) -> bool:
    """Whether the window was open when it was asked for last."""
    return window.runtime.was_open


def opening_text(window: Window, words: Words) -> str:
    """Say which window `open` has opened, or that it was open already."""
    file = file_of(window)
    text = msg("Opened {file} in {window}.") if file else msg("Opened {window}.")
    if was_open(window):
        text = msg("{file} is open in {window}.")
    return words(text, window=window.id, file=shown_name(file or ""))


def history(window: Window) -> tuple[HistoryEntry, ...]:
    """Return the actions run on a window and their results, oldest first."""
    return window.runtime.history.entries


def focus_id(window: Window) -> str | None:
    """Return the target of the anchor that was acted on last."""
    return window.runtime.focus_id


def former_id(window: Window) -> str:
    """Return the id that a reopened window had before it was closed; empty for all others."""
    return window.runtime.former_id


def is_first_opening(window: Window) -> bool:
    """Whether the `opened` hook of a new window is still running."""
    return window.is_opening and window.runtime.is_new


def is_late(window: Window) -> bool:
    """Whether a call into a window takes longer than callers wait for it."""
    return window.runtime.worker.busy_for() >= PATIENCE


def interrupted_jobs(window: Window) -> tuple[str, ...]:
    """Return the names of the jobs that were running when an earlier run ended."""
    return window.runtime.interrupted


def running_jobs(window: Window) -> list[Progress]:
    """Return how far the running jobs of a window are."""
    return window.runtime.jobs.running()


def cancel_jobs(window: Window) -> list[str]:
    """Cancel all jobs of a window; return the names of those that were running."""
    jobs = [window.runtime.jobs.get(one.job) for one in window.runtime.jobs.running()]
    return [job.name for job in jobs if job is not None and job.cancel()]


def has_edits_of_person(window: Window) -> bool:
    """Whether the unsaved edits of a window may be the person's."""
    return window.runtime.store.edited_by_person


async def act(
    window: Window, action_id: str, params: Mapping[str, Any], actor: Actor = "person"
) -> ActionResult:
    """Run an action of a window without approval, and return its result."""
    return await window.runtime.act(action_id, params, actor)


def run_on_thread(window: Window, function: Callable[[], T]) -> "Future[T]":
    """Call a function on the window's own thread, between two transactions."""
    return window.runtime.worker.submit(function)


async def read(window: Window, function: Callable[[], T]) -> T | None:
    """Call a function on the window's own thread; None if it fails or takes too long."""
    reading = run_on_thread(window, function)
    await finished([reading], PATIENCE)
    return reading.result() if reading.done() and reading.exception() is None else None


async def commit_input(window: Window) -> None:
    """Commit what the person has typed into a window on the screen and not submitted yet."""
    await window.runtime.commit_typed()


def call_soon(window: Window, function: Callable[[], object]) -> None:
    """Call a function in the window's event loop, also while an action awaits something.

    Nothing happens if the window has none: it gets one when something asynchronous runs in it.
    """
    window.runtime.worker.call_soon(function)


def warn(window: Window, reason: str) -> None:
    """Report a problem of a window to the person."""
    window.runtime.place.warn(reason)


def commit_input_with(window: Window, commit: Callable[[], Awaitable[None]]) -> Callable[[], None]:
    """Register the callback that commits what the person has typed and not submitted yet.

    It is called before a model acts on the window. The returned function unregisters it.
    """
    runtime = window.runtime
    runtime.commit_input = commit

    def unregister() -> None:
        if runtime.commit_input == commit:
            runtime.commit_input = None

    return unregister
