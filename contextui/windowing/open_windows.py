"""`OpenWindows`: the windows of a session by id, their use order, and the known classes.

A class can be replaced: open windows go on with the new code, and keep what they have.
"""

import threading
from collections.abc import Iterable, Mapping
from concurrent.futures import wait as wait_for
from dataclasses import dataclass, field
from typing import Any

from contextui.errors import (
    ContextUIError,
    InvalidSourceDataError,
    UnknownWindowError,
    WindowDefinitionError,
)
from contextui.events import WindowChanged, WindowCommitted, WindowNotified, WindowRestored
from contextui.text import quote
from contextui.windowing.core import NOTHING, WindowCore
from contextui.windowing.error_text import reason_of
from contextui.windowing.runtime import Runtime, runtime_of
from contextui.windowing.window import Window
from contextui.windowing.worker import PATIENCE
from contextui.words import Message


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


class OpenWindows:
    """The windows of a session by id, and the classes that can be opened. Thread-safe.

    Attributes:
        by_id: The open windows, in the order in which they were opened.
        last_renders: The last XML of each closed window.
        used: The order of last use: higher is later.
    """

    def __init__(self, classes: Iterable[type[Window]] = ()) -> None:
        self.classes: dict[str, type[Window]] = {}
        self.numbers: dict[str, int] = {}
        self.by_id: dict[str, Window] = {}
        self.last_renders: dict[str, str] = {}
        self.used: dict[str, int] = {}
        self._last_use = 0
        self._lock, self._replacing = threading.RLock(), threading.Lock()
        for cls in classes:
            known = self.classes.setdefault(cls.name, cls)
            if known is not cls:
                both = (f"{one.__module__}.{one.__qualname__}" for one in (known, cls))
                names = " and ".join(both)
                raise WindowDefinitionError(f"Two window classes are called {cls.name}: {names}.")

    def new(self, asked: Window | type[Window] | str) -> Window:
        """Return a window to open, by name, class or instance."""
        if isinstance(asked, str):
            if asked not in self.classes:
                raise UnknownWindowError(
                    "There is no window called {name}. Available: {names}.",
                    name=quote(asked),
                    names=", ".join(sorted(self.classes)) or Message("none"),
                )
            asked = self.classes[asked]
        if isinstance(asked, type):
            return _instantiate(asked)
        if asked._runtime is not None:
            raise UnknownWindowError("{id} was opened before.", id=asked.id)
        return asked

    def require(self, window_id: str) -> Window:
        """Return the open window with this id."""
        window = self.by_id.get(window_id)
        if window is None:
            raise self.unknown(window_id)
        return window

    def unknown(self, window_id: str) -> UnknownWindowError:
        """Return the error for a window that is not open."""
        if window_id in self.last_renders:
            return UnknownWindowError("{id} is closed.", id=window_id)
        return UnknownWindowError(
            "There is no window {id}. Open windows: {names}.",
            id=quote(window_id),
            names=", ".join(self.by_id) or Message("none"),
        )

    def all(self) -> list[Window]:
        """Return the open windows, in the order in which they were opened."""
        with self._lock:
            return list(self.by_id.values())

    # --- changes -----------------------------------------------------------------------

    def next_id(self, name: str) -> str:
        """Return an unused id for a new window of this name, such as `todo_1`."""
        with self._lock:
            self.numbers[name] = self.numbers.get(name, 0) + 1
            return f"{name}_{self.numbers[name]}"

    def return_id(self, window_id: str) -> None:
        """Take back the id of a window that did not open, unless a later one is assigned."""
        name, _, number = window_id.rpartition("_")
        with self._lock:
            self.numbers[name] -= self.numbers[name] == int(number)

    def note_id(self, window_id: str) -> None:
        """Register an id in use, so that it is not assigned again."""
        name, _, number = window_id.rpartition("_")
        if number.isdecimal():
            self.remember({}, {name: int(number)})

    def remember(self, last_renders: Mapping[str, str], numbers: Mapping[str, int]) -> None:
        """Register windows that were closed in an earlier run, and the numbers of their ids."""
        with self._lock:
            self.last_renders.update(last_renders)
            for name, number in numbers.items():
                self.numbers[name] = max(self.numbers.get(name, 0), number)

    def enter(self, window: Window) -> None:
        """Add an open window and mark it as used."""
        with self._lock:
            self.by_id[window.id] = window
            self._use(window.id)

    def exchange(self, window: Window) -> None:
        """Put a window in the place of the open one with its id; order and use stay."""
        with self._lock:
            self.require(window.id)
            self.by_id[window.id] = window

    def leave(self, window_id: str, last_render: str) -> None:
        """Remove a closed window and keep its last render."""
        with self._lock:
            self.require(window_id)
            self.last_renders[window_id] = last_render
            del self.by_id[window_id]
            self.used.pop(window_id, None)

    def use(self, window_id: str) -> bool:
        """Mark a window as used; return whether another one was used last."""
        self.require(window_id)
        with self._lock:
            if self.used.get(window_id) == self._last_use:
                return False
            self._use(window_id)
            return True

    def _use(self, window_id: str) -> None:
        self._last_use += 1
        self.used[window_id] = self._last_use

    # --- replacing a class -------------------------------------------------------------

    def replace(self, cls: type[Window]) -> list[Replacement]:
        """Use another class of the same name from now on, and give it to its open windows.

        Each window ends as at the program's exit (``closed("exit")``) and is restored under its id
        with the new class: state, history, level of detail and focus stay, the version goes on. A
        window whose state the new class refuses, or that fails in its `restored` or `content`, goes
        on with its old class.
        """
        with self._replacing:
            self.classes[cls.name] = cls
            return [
                self._replace(window, cls)
                for window in self.all()
                if window.name == cls.name and type(window) is not cls
            ]

    def _replace(self, window: Window, cls: type[Window]) -> Replacement:
        runtime, window_id = runtime_of(window), window.id
        core, words = runtime.core, runtime.core.words
        if window.is_opening or not runtime.worker.wait(runtime.worker.submit(lambda: None)):
            return Replacement(window_id, words("it is busy"))
        saved = core.saved
        if saved.state is None:
            return Replacement(window_id, words("its state cannot be saved"))
        try:
            instance_with(cls, window_id, saved.state, saved.aside)
        except ContextUIError as problem:
            return Replacement(window_id, reason_of(problem, core.around.lang), saved.state)
        was_drawn = runtime.renders.latest().snapshot.error is None
        jobs = tuple(one.name for one in runtime.jobs.running())
        wait_for([runtime.end("exit")], 2 * PATIENCE)  # its jobs, then its hook
        failure = self._succeed(window, cls, may_fail=not was_drawn)
        if failure:
            self._succeed(window, type(window), may_fail=True)
        for name in jobs:
            core.emit(WindowNotified(window_id, words("{name} was cancelled.", name=name)))
        aside = NOTHING if failure else unused(cls, saved.state)
        return Replacement(window_id, failure, jobs=jobs, aside=aside)

    def _succeed(self, old: Window, cls: type[Window], *, may_fail: bool) -> str:
        """Put a new window of a class in the place of one that has ended."""
        saved, around, window_id = runtime_of(old).core.saved, runtime_of(old).core.around, old.id
        assert saved.state is not None, "only a window that can be saved is ended"
        known = self.by_id.get(window_id)
        if known is None:
            return ""  # it was closed concurrently
        try:
            new = instance_with(cls, window_id, saved.state, saved.aside)
        except ContextUIError as problem:  # of the state that the last action committed
            return reason_of(problem, around.lang)
        version = known.version.after_data()
        runtime = Runtime(WindowCore(new, window_id, around, saved.lod, version))
        runtime.core.aside = unused(cls, saved.state, saved.aside)
        runtime.take_over(runtime_of(old))
        opening, failure = runtime.start(new.restored, {}, first=False), ""
        if runtime.worker.wait(opening):
            runtime.worker.wait(runtime.renders.request())
            error = runtime.renders.latest().snapshot.error or ""
            raised = opening.exception()
            failure = (
                reason_of(raised, around.lang) if raised else error.partition("\n")[2] or error
            )
        if failure and not may_fail:
            wait_for([runtime.end("exit")], PATIENCE)
            return failure
        try:
            self.exchange(new)
        except UnknownWindowError:  # it was closed concurrently
            runtime.worker.stop()
            return ""
        around.listeners.emit(WindowRestored(window_id))
        around.listeners.emit(WindowCommitted(window_id, str(new.version), "window"))
        around.listeners.emit(WindowChanged(window_id, str(new.version)))
        return failure


def _instantiate(cls: type[Window]) -> Window:
    try:
        return cls()
    except (Exception, SystemExit) as problem:  # an author's __init__, on the caller's thread
        raise WindowDefinitionError(
            f"A {cls.name} window cannot be created: {reason_of(problem)}"
        ) from problem


def instance_with(
    cls: type[Window], window_id: str, state: Mapping[str, Any], aside: Mapping[str, Any] = NOTHING
) -> Window:
    """Create a window with a saved state, and with what was kept aside and it uses again.

    The rest of what was kept aside is not shown to the class: a validator that migrates old parts
    of the state would take them for newer than they are.
    """
    instance = _instantiate(cls)
    try:
        known = cls.State.model_fields
        again = {name: value for name, value in aside.items() if name in known}
        instance.state = cls.State.from_saved({**again, **state})
    except Exception as problem:
        raise InvalidSourceDataError(
            f"{window_id}: the saved state is not one of {cls.name}: {problem}"
        ) from problem
    return instance


def unused(
    cls: type[Window], state: Mapping[str, Any], aside: Mapping[str, Any] = NOTHING
) -> Mapping[str, Any]:
    """Return the parts of a saved state, and of what was kept aside, that a class does not use."""
    known = cls.State.model_fields
    if cls.State.model_config.get("extra") == "allow":  # it keeps all of them itself
        return NOTHING
    return {name: value for name, value in {**aside, **state}.items() if name not in known}
