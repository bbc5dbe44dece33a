"""Replacement of a window class: open windows go on with the new code, and keep what they have."""

import threading
from collections.abc import Mapping
from concurrent.futures import wait as wait_for
from dataclasses import dataclass, field
from typing import Any

from contextui.errors import ContextUIError, UnknownWindowError
from contextui.events import WindowChanged, WindowCommitted, WindowNotified, WindowRestored
from contextui.windowing.core import NOTHING, Surroundings
from contextui.windowing.error_text import reason_of
from contextui.windowing.open_windows import OpenWindows, instance_with, unused
from contextui.windowing.runtime import Runtime, runtime_of
from contextui.windowing.window import Window
from contextui.windowing.worker import PATIENCE
from contextui.words import Words


@dataclass(frozen=True, slots=True)
class Replacement:
    """What became of an open window whose class was replaced.

    Attributes:
        problem: Why it goes on with its old code; empty if it has the new class.
        refused: The saved state that the new class refused. The window still has it.
        aside: The parts of the state that the new class does not use, and the old one did. They
            are saved with the window; a class that has them again gets them back.
    """

    window_id: str
    problem: str = ""
    refused: Mapping[str, Any] | None = None
    jobs: tuple[str, ...] = ()
    aside: Mapping[str, Any] = field(default_factory=dict)


class Replacer:
    """Replaces a window class by another of the same name, also in open windows."""

    def __init__(self, open_windows: OpenWindows, around: Surroundings) -> None:
        self._open_windows, self._around = open_windows, around
        self._lang, self._words, self._emit = around.lang, Words(around.lang), around.listeners.emit
        self._replacing = threading.Lock()

    def replace(self, cls: type[Window]) -> list[Replacement]:
        """Use another class of the same name from now on, and give it to its open windows.

        Each window ends as at the program's exit (``closed("exit")``) and is restored under its id
        with the new class: state, history, level of detail and focus stay, the version goes on. A
        window whose state the new class refuses, or that fails in its `restored` or `content`, goes
        on with its old class.
        """
        with self._replacing:
            self._open_windows.classes[cls.name] = cls
            return [
                self._replace(window, cls)
                for window in self._open_windows.all()
                if window.name == cls.name and type(window) is not cls
            ]

    def _replace(self, window: Window, cls: type[Window]) -> Replacement:
        runtime, window_id = runtime_of(window), window.id
        if window.is_opening or not runtime.worker.wait(runtime.worker.submit(lambda: None)):
            return Replacement(window_id, self._words("it is busy"))
        saved = runtime.core.saved
        if saved.state is None:
            return Replacement(window_id, self._words("its state cannot be saved"))
        try:
            instance_with(cls, window_id, saved.state, saved.aside)
        except ContextUIError as problem:
            return Replacement(window_id, reason_of(problem, self._lang), saved.state)
        was_drawn = runtime.renders.latest().snapshot.error is None
        jobs = tuple(one.name for one in runtime.jobs.running())
        wait_for([runtime.end("exit")], 2 * PATIENCE)  # its jobs, then its hook
        failure = self._succeed(window, cls, may_fail=not was_drawn)
        if failure:
            self._succeed(window, type(window), may_fail=True)
        for name in jobs:
            words = self._words("{name} was cancelled.", name=name)
            self._emit(WindowNotified(window_id, words))
        aside = NOTHING if failure else unused(cls, saved.state)
        return Replacement(window_id, failure, jobs=jobs, aside=aside)

    def _succeed(self, old: Window, cls: type[Window], *, may_fail: bool) -> str:
        """Put a new window of a class in the place of one that has ended."""
        saved, window_id = runtime_of(old).core.saved, old.id
        assert saved.state is not None, "only a window that can be saved is ended"
        known = self._open_windows.by_id.get(window_id)
        if known is None:
            return ""  # it was closed concurrently
        try:
            new = instance_with(cls, window_id, saved.state, saved.aside)
        except ContextUIError as problem:  # of the state that the last action committed
            return reason_of(problem, self._lang)
        version = known.version.after_data()
        runtime = Runtime(new, window_id, self._around, saved.lod, version)
        runtime.core.aside = unused(cls, saved.state, saved.aside)
        runtime.take_over(runtime_of(old))
        opening, failure = runtime.start(new.restored, {}, first=False), ""
        if runtime.worker.wait(opening):
            runtime.worker.wait(runtime.renders.request())
            error = runtime.renders.latest().snapshot.error or ""
            raised = opening.exception()
            failure = reason_of(raised, self._lang) if raised else error.partition("\n")[2] or error
        if failure and not may_fail:
            wait_for([runtime.end("exit")], PATIENCE)
            return failure
        try:
            self._open_windows.exchange(new)
        except UnknownWindowError:  # it was closed concurrently
            runtime.worker.stop()
            return ""
        self._emit(WindowRestored(window_id))
        self._emit(WindowCommitted(window_id, str(new.version), "window"))
        self._emit(WindowChanged(window_id, str(new.version)))
        return failure
