"""`WindowCore`: what the parts of an open window share, above all its state and its version."""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import BaseModel

from contextui import text
from contextui.errors import FrozenStateError, InvalidSourceDataError
from contextui.events import Actor, Listeners, WindowTroubled
from contextui.windowing.error_text import reason_in, reason_of
from contextui.windowing.snapshot import ContextVersion, Lod
from contextui.windowing.state import StateKeeper, WindowState
from contextui.windowing.window import Clock, Env, Window
from contextui.windowing.worker import Time, Worker
from contextui.words import Lang, Text, Words

if TYPE_CHECKING:
    from contextui.files.workspace import Workspace

_SCOPE: ContextVar[object] = ContextVar("scope", default=None)
"""The window call that the running code belongs to."""


MOST_CONTENT = 2_000_000
"""Upper limit of `Window.max_content`, which no window can raise."""

NOTHING: Mapping[str, Any] = MappingProxyType({})


class SavedState(NamedTuple):
    """The data that a session saves to restore a window.

    Attributes:
        aside: Parts of the state of an earlier version of its class, which this one does not use.
    """

    version: ContextVersion
    lod: Lod
    state: Mapping[str, Any] | None
    jobs: tuple[str, ...] = ()
    aside: Mapping[str, Any] = NOTHING

    def data(self) -> dict[str, Any]:
        """Return the data in JSON-ready form."""
        jobs = {"jobs": list(self.jobs)} if self.jobs else {}
        aside = {"aside": dict(self.aside)} if self.aside else {}
        state = {"state": self.state, **jobs, **aside}
        return {"version": str(self.version), "lod": self.lod.value, **state}


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the windows of a session have in common."""

    session_id: str
    lang: Lang
    clock: Clock
    listeners: Listeners
    open: Callable[[str, Mapping[str, Any], frozenset[str] | None, Actor], Window]
    showing: Callable[[str], Window | None]
    discloses_all: Callable[[], bool]
    files: "Workspace | None" = None
    sandbox: bool = False
    data: Path | None = None


class WindowCore:
    """What the parts of an open window share: identity, environment, thread, state and version.

    Any thread may read `saved`, `version` and `lod`, and switch the latter; the state belongs to
    the window's own thread.

    Attributes:
        aside: See `SavedState`; set before it runs.
        touched: Who opened, changed or acted on the window last, and when.
    """

    env: Env

    def __init__(
        self,
        window: Window,
        window_id: str,
        around: Surroundings,
        lod: Lod,
        version: ContextVersion,
    ) -> None:
        self.window, self.id, self.around = window, window_id, around
        self.emit, self.words = around.listeners.emit, Words(around.lang)
        self.worker = Worker(window_id, around.clock if isinstance(around.clock, Time) else None)
        self.lod, self.version = lod, version
        self.edited_by_person = self.is_opening = False
        self.jobs: tuple[str, ...] = ()
        self.aside = NOTHING
        self.touched: tuple[str, datetime] = ("", around.clock())
        self.keeper: StateKeeper[WindowState] = StateKeeper(getattr(window, "state", None))
        self._saved: Mapping[str, Any] | None = None
        self._lock = threading.Lock()
        self._scope: object = None  # the call that may change the state

    def warn(self, reason: Text, /, **values: object) -> None:
        """Emit a warning about this window."""
        self.emit(WindowTroubled(self.id, self.words(reason, **values)), False)

    def reason(self, problem: BaseException) -> str:
        """Return the reason of an exception, with the line of the window's file that raised it."""
        return reason_in(type(self.window), problem, self.around.lang)

    @property
    def max_content(self) -> int:
        """Maximum characters of content, and of a result."""
        return min(self.window.max_content, MOST_CONTENT)

    def result_text(self, result: object) -> str:
        """Return what the model reads of the value that an action or a job returned."""
        if isinstance(result, BaseModel):
            result = result.model_dump_json()
        shown = self.words("Done.") if result is None else str(result)
        return text.for_model(text.cap(shown, self.max_content))

    # --- state and version --------------------------------------------------------------

    @property
    def state(self) -> WindowState:
        """The live state inside the window's own calls, else a read-only copy."""
        return self.keeper.live if self.is_inside else self.keeper.view()

    @state.setter
    def state(self, state: WindowState) -> None:
        if not self.is_inside:
            raise FrozenStateError(
                "{id}: the state is changed only inside the window's actions, hooks and timers.",
                id=self.id,
            )
        self.keeper.live = state

    @property
    def is_inside(self) -> bool:
        """Whether the caller runs inside a call in which the state is live."""
        inside = _SCOPE.get()
        return inside is not None and inside is self._scope

    @property
    def saved(self) -> SavedState:
        """The data that a session saves of the window now."""
        with self._lock:
            return SavedState(self.version, self.lod, self._saved, self.jobs, self.aside)

    def switch(self, lod: Lod) -> bool:
        """Switch the level of detail; False if it is unchanged."""
        with self._lock:
            if lod is self.lod:
                return False
            self.lod = lod
            self.version = self.version.after_lod()
            return True

    def advance(self, version: ContextVersion) -> bool:
        """Take on a version of the same render; False if there is a newer render."""
        with self._lock:
            if not version.same_render_as(self.version):
                return False
            self.version = version
            return True

    # --- on the window's thread ---------------------------------------------------------

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Run the window's own code, in which (and in what it awaits) the state is live."""
        self._scope = object()
        token = _SCOPE.set(self._scope)
        try:
            yield
        finally:
            self._scope = None
            _SCOPE.reset(token)

    def begin(self) -> None:
        """Start a transaction; changes made outside of one are discarded."""
        if not self.keeper.begin():
            self.warn("its state was changed outside an action; the change was discarded")
            self.keeper.rollback()

    def publish(self, version: ContextVersion | None = None) -> None:
        """Make the committed state available for saving, as this version."""
        saved: Mapping[str, Any] | None = None
        try:
            saved = self.keeper.live.saved()
        except BaseException as problem:
            reason = reason_of(problem, self.around.lang)
            self.warn("its state cannot be saved: {reason}", reason=reason)
        with self._lock:
            self._saved = saved
            # A switch of the level of detail in between applied to the previous version, now
            # obsolete.
            self.version = version or self.version

    @contextmanager
    def read_only(self, call: str) -> Iterator[None]:
        """Run read-only code and roll its changes back: a render must not create a version."""
        self.keeper.refer()
        try:
            with self.inside():
                yield
        finally:
            self._discard_changes(call)

    def _discard_changes(self, call: str) -> None:
        try:
            touched = self.keeper.check()
        except BaseException:
            touched = True
        if touched:
            self.warn("{call} changed the state; the change was rolled back", call=call)
            with suppress(InvalidSourceDataError):  # the next action reports why a rollback fails
                self.keeper.rollback()
