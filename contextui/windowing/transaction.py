"""One call into a window: it commits, or it leaves no trace."""

import asyncio
import inspect
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple

from contextui.errors import FrozenStateError, InvalidSourceDataError, WindowBusyError
from contextui.windowing.env import Place
from contextui.windowing.snapshot import ContextVersion, Lod
from contextui.windowing.state import StateKeeper, WindowState, freeze
from contextui.windowing.trouble import reason_of

if TYPE_CHECKING:
    from contextui.windowing.window import Window


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


_SCOPE: ContextVar[object] = ContextVar("scope", default=None)
"""The call of a window that the running code belongs to."""


class Kept(NamedTuple):
    """What must be kept of a window to bring it back: its state, and which render it stands at."""

    version: ContextVersion
    lod: Lod
    state: Mapping[str, Any] | None

    def data(self) -> dict[str, Any]:
        """The same, ready for JSON."""
        return {"version": str(self.version), "lod": self.lod.value, "state": self.state}


class Standing:
    """What a window holds, and which version of it that is.

    Anyone may ask for `kept`, `version` and `lod`, and switch the latter; the state belongs to
    the window's own thread.

    Attributes:
        edited_by_person: Whether what is unsaved in it may be the person's work.
    """

    def __init__(self, window: "Window", place: Place, lod: Lod, version: ContextVersion) -> None:
        self.lod, self.version = lod, version
        self.edited_by_person = False
        self.is_opening = False
        """Whether the hook that opens the window still runs."""
        self._window, self._place = window, place
        self._keeper: StateKeeper[WindowState] = StateKeeper(getattr(window, "state", None))
        self._saved: Mapping[str, Any] | None = None
        self._frozen: tuple[Mapping[str, Any] | None, Mapping[str, Any] | None] = None, None
        self._lock = threading.Lock()
        self._state = self._keeper.commit()
        self._scope: object = None  # the call that may change the state now

    @property
    def state(self) -> WindowState:
        """The state itself inside the window's own calls; a read-only copy for everyone else."""
        inside = _SCOPE.get()
        return self._state if inside and inside is self._scope else self._keeper.view()

    @state.setter
    def state(self, state: WindowState) -> None:
        inside = _SCOPE.get()
        if not inside or inside is not self._scope:
            raise FrozenStateError(self._place.words.frozen.format(id=self._place.window_id))
        self._state = state

    @property
    def kept(self) -> Kept:
        """What a session keeps of the window as it stands."""
        with self._lock:
            return Kept(self.version, self.lod, self._saved)

    def frozen(self, saved: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        """What is saved, as a read-only copy, made once for each version that is asked for."""
        if self._frozen[0] is not saved:
            self._frozen = saved, freeze(saved)
        return self._frozen[1]

    def switch(self, lod: Lod) -> bool:
        """Switch the level of detail; False if it was that already."""
        with self._lock:
            if lod is self.lod:
                return False
            self.lod = lod
            self.version = self.version.after_lod()
            return True

    def become(self, version: ContextVersion) -> bool:
        """Go on as a version of the same render; False if there is another one meanwhile."""
        with self._lock:
            if not version.same_render_as(self.version):
                return False
            self.version = version
            return True

    # --- on the window's thread ---------------------------------------------------------

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Run the window's own code: to that, and to what it awaits, the state is the real one."""
        self._scope = object()
        token = _SCOPE.set(self._scope)
        try:
            yield
        finally:
            self._scope = None
            _SCOPE.reset(token)

    def begin(self) -> None:
        """From here on the state may change. What was changed before is discarded."""
        if not self._keeper.begin(self._state):
            self._place.warn(self._place.words.changed_outside)
            self.rollback()

    def check(self) -> bool:
        """Whether the state changed; see `StateKeeper.check`."""
        return self._keeper.check(self._state)

    def commit(self) -> None:
        """Go on with the state that was checked."""
        self._state = self._keeper.commit()

    def rollback(self) -> None:
        """Go back to the state that was committed last."""
        self._state = self._keeper.rollback()

    def keep(self, version: ContextVersion | None = None) -> None:
        """Have what was committed ready to be saved, as this version."""
        saved: Mapping[str, Any] | None = None
        try:
            saved = self._state.saved()
        except BaseException as problem:
            self._place.warn(self._place.words.not_savable.format(reason=reason_of(problem)))
        with self._lock:
            self._saved = saved
            # A level of detail switched meanwhile counts for the version before, which is gone.
            self.version = version or self.version

    @contextmanager
    def looking(self, call: str) -> Iterator[None]:
        """Let the window only look: were its changes kept, every look would be a new version."""
        self._keeper.refer(self._state)
        try:
            with self.inside():
                yield
        finally:
            self._take_back(call)

    def _take_back(self, call: str) -> None:
        try:
            touched = self.check()
        except BaseException:
            touched = True
        if touched:
            self._place.warn(self._place.words.only_looks.format(call=call))
            with suppress(InvalidSourceDataError):  # the next action will say why it cannot go back
                self.rollback()
