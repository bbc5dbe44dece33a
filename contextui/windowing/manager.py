"""`WindowManager`: opens, closes, restores and focuses windows, and runs their actions."""

import shutil
import uuid
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import wait as wait_for
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, cast

from contextui import text
from contextui.errors import (
    ContextUIError,
    InvalidParamsError,
    TooManyWindowsError,
    UnknownWindowError,
    WindowClosedError,
)
from contextui.events import (
    Actor,
    Listener,
    Listeners,
    WindowClosed,
    WindowFocused,
    WindowNotOpened,
    WindowOpened,
    WindowOpenedAgain,
    WindowReady,
    WindowRestored,
)
from contextui.files.workspace import Workspace
from contextui.names import WINDOW_ID
from contextui.windowing.action import CLOSE, ActionResult
from contextui.windowing.core import NOTHING, SavedState, Surroundings, WindowCore
from contextui.windowing.error_text import reason_of
from contextui.windowing.open_windows import (
    OpenWindows,
    Replacement,
    instance_with,
    unused,
)
from contextui.windowing.render import Render, real_path
from contextui.windowing.runtime import Runtime, runtime_of
from contextui.windowing.snapshot import ContextVersion, HistoryEntry, Lod
from contextui.windowing.transaction import Allow
from contextui.windowing.window import Clock, Window, file_of, utc_now
from contextui.windowing.worker import PATIENCE, finished, in_event_loop
from contextui.words import Lang, Words

MOST_WINDOWS = 1_000
"""Default for the maximum number of open windows."""
_MOST_CLOSED = 50  # closed windows that can be reopened


class _Closed(NamedTuple):
    """A window that was closed in this run, as it was then."""

    cls: type[Window]
    saved: SavedState
    history: tuple[HistoryEntry, ...]
    focus_id: str | None
    title: str = ""


class WindowManager:
    """Holds the open windows of one session.

    Args:
        clock: Returns the current time; tests can replace it.
        most: How many windows may be open. Restoring ignores this limit.
        is_live: Whether windows do anything by themselves. If not, they are only looked at:
            restored windows run no hooks.
        sandbox: Whether commands that windows run must run in a sandbox.
        data: Where windows keep files, each in a folder with its id; None if nothing is saved.

    Example:
        >>> windows = WindowManager([TodoWindow])
        >>> todo = windows.open("todo", items=["milk"])
        >>> await windows.act(todo.id, "add", {"text": "eggs"})
        ActionResult(ok=True, text='Added 2.', error=None)
    """

    def __init__(
        self,
        classes: Iterable[type[Window]] = (),
        *,
        session_id: str | None = None,
        lod: Lod = Lod.FULL,
        lang: Lang = "en",
        clock: Clock = utc_now,
        workspace: Workspace | None = None,
        most: int = MOST_WINDOWS,
        is_live: bool = True,
        sandbox: bool = False,
        data: Path | None = None,
    ) -> None:
        self.session_id = session_id or f"session-{uuid.uuid4().hex[:12]}"
        self.lod, self.lang, self.clock, self.workspace = lod, lang, clock, workspace
        self._words, self._most, self._is_live = Words(lang), most, is_live
        self.data = data
        """The session's folder for files; None if nothing is saved."""
        self._open_windows = OpenWindows(classes)
        self.classes: Mapping[str, type[Window]] = self._open_windows.classes
        """The window classes that can be opened, by name."""
        self._late: dict[Window, Future[None]] = {}  # done when it is told how they opened
        self._listeners = Listeners()
        self.dispatcher = self._listeners.dispatcher
        """Delivers window events in order with other events."""
        self._closed: dict[str, _Closed] = {}
        self._around = Surroundings(
            session_id=self.session_id,
            lang=lang,
            clock=clock,
            listeners=self._listeners,
            open=self._open,
            showing=self.showing,
            discloses_all=lambda: self.discloses_all(),  # noqa: PLW0108  set later
            files=workspace,
            sandbox=sandbox,
            data=data,
        )
        self.discloses_all: Callable[[], bool] = lambda: False
        """Whether the model may read files that may hold secrets without approval."""

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Register a callback for all window events; the returned function unsubscribes it."""
        return self._listeners.subscribe(listener)

    def shut_down(self) -> None:
        """End all windows because the program exits: each `closed` hook has two seconds.

        No events are emitted.
        """
        ending = []
        for window in self.windows():
            if self._is_live and runtime_of(window).has_end and not window.is_opening:
                ending.append(runtime_of(window).end("exit"))
            else:
                runtime_of(window).stop_opening()
                runtime_of(window).worker.stop()
        wait_for(ending, PATIENCE)

    # --- opening and closing -----------------------------------------------------------

    def open(self, window: Window | type[Window] | str, /, **args: Any) -> Window:
        """Open a window by name, class or instance.

        If its class has one window for each file, and one has this file open, that one is returned;
        see `Window.opened_again`.

        If `opened` runs longer than the caller can wait, the window is still `is_opening` when this
        returns; `WindowReady` or `WindowNotOpened` follows.

        Raises:
            UnknownWindowError: No class has that name.
            WindowDefinitionError: The class cannot be instantiated.
            InvalidParamsError: The args do not match its `opened`.
            TooManyWindowsError: The maximum number of windows is open.
            ContextUIError: Its `opened` raised while this waited for it.
        """
        return self._open(window, args, None, "person")

    def open_for_model(
        self, name: str, args: Mapping[str, Any], allowed: frozenset[str] = frozenset()
    ) -> Window:
        """Open a window by name on behalf of the model.

        Args:
            name: The name of its class.
            args: The args of its `opened`.
            allowed: Files that may hold secrets and that the person allowed the model to read.

        Raises:
            SecretFileError: It would read another such file; it was not opened.
            ContextUIError: As `open`.
        """
        return self._open(name, args, None if self.discloses_all() else allowed, "model")

    def files_for_model(self, allowed: Collection[str] = ()) -> Workspace | None:
        """Return the workspace as the model may read it; of secret files, only the allowed."""
        if self.workspace is None or self.discloses_all():
            return self.workspace
        return self.workspace.for_model(allowed)

    def redraw(self) -> None:
        """Render all windows again, after a change of what the model may read."""
        for window in self.windows():
            runtime_of(window).worker.wait(runtime_of(window).renders.redraw())

    def _open(
        self,
        window: Window | type[Window] | str,
        args: Mapping[str, Any],
        allowed: frozenset[str] | None,
        actor: Actor,
    ) -> Window:
        instance = self._open_windows.new(window)
        arguments = instance.opening.validate(args, f"open {instance.name}", self.lang)
        if (there := self._with_file_of(instance, arguments)) is not None:
            self._open_again(there, arguments, allowed, actor)
            return there
        self._check_count()
        window_id = self._open_windows.next_id(instance.name)
        runtime = Runtime(
            WindowCore(instance, window_id, self._around, self.lod, ContextVersion(1))
        )
        opening = runtime.start(
            instance.opened, arguments, first=True, allowed=allowed, actor=actor
        )
        if is_open := runtime.worker.wait(opening):
            if problem := opening.exception():
                runtime.worker.stop()
                self._open_windows.return_id(window_id)
                raise problem
            runtime.worker.wait(runtime.renders.request())
        runtime.core.touched = actor, self._around.clock()
        self._open_windows.enter(instance)
        self._listeners.emit(WindowOpened(window_id))
        if not is_open:
            self._late[instance] = Future()
            opening.add_done_callback(lambda done: self._opened_late(instance, done))
        return instance

    def _with_file_of(self, new: Window, arguments: Mapping[str, Any]) -> Window | None:
        """Return the window that is open for the file of a new one, if there may be only one."""
        path = arguments.get("path")
        if type(new).opened_again is Window.opened_again or not isinstance(path, str):
            return None
        return self.showing(path, new.name)

    def _open_again(
        self,
        window: Window,
        arguments: dict[str, Any],
        allowed: frozenset[str] | None,
        actor: Actor,
    ) -> None:
        runtime = runtime_of(window)
        again = runtime.open_again(arguments, actor, allowed)
        if runtime.worker.wait(again) and (problem := again.exception()):
            raise problem
        self.focus(window.id)
        self._listeners.emit(WindowOpenedAgain(window.id))

    def _check_count(self) -> None:
        if (count := len(self.windows())) >= self._most:
            raise TooManyWindowsError(
                "{count} windows are open, which is the maximum (max_windows). Close one first.",
                count=count,
            )

    def restore(
        self,
        cls: type[Window],
        window_id: str,
        state: Mapping[str, Any],
        *,
        lod: Lod | None = None,
        version: ContextVersion = ContextVersion(1),  # noqa: B008  immutable
        history: Sequence[HistoryEntry] = (),
        focus_id: str | None = None,
        jobs: Sequence[str] = (),
        aside: Mapping[str, Any] = NOTHING,
        block: str = "",
    ) -> Window:
        """Restore a window of an earlier run under its id, with its saved state.

        Args:
            lod: Its level of detail; by default that of new windows.
            history: The actions run on it, oldest first.
            jobs: The names of the jobs that were running.
            aside: See `SavedState`.
            block: The block of it that was recorded last. A window that is only looked at shows it,
                unless its class can be drawn from the state alone.
        """
        if not WINDOW_ID.fullmatch(window_id):
            raise UnknownWindowError("{id} cannot be a window's id.", id=text.quote(window_id))
        if self._open_windows.by_id.get(window_id) is not None:
            raise UnknownWindowError("There is a window {id} already.", id=window_id)
        saved = SavedState(version, lod or self.lod, state, tuple(jobs), aside)
        instance = self._restored(
            window_id, _Closed(cls, saved, tuple(history), focus_id), block=block
        )
        self._listeners.emit(WindowRestored(window_id))
        return instance

    def reopen(self, window_id: str | None = None) -> Window:
        """Open a window that was closed in this run again, with the state that it had.

        It gets a new id: what was said about the old one is about a closed window. Without an id,
        it is the window that was closed last.
        """
        if not self._closed:
            raise UnknownWindowError("No window was closed since the session was opened.")
        window_id = next(reversed(self._closed)) if window_id is None else window_id
        if window_id not in self._closed:
            raise UnknownWindowError(
                "{id} cannot be reopened. Closed windows: {names}.",
                id=text.quote(window_id),
                names=", ".join(reversed(self._closed)),
            )
        self._check_count()
        closed = self._closed[window_id]
        cls = self.classes.get(closed.cls.name, closed.cls)
        new_id = self._open_windows.next_id(cls.name)
        instance = self._restored(new_id, closed._replace(cls=cls), former_id=window_id)
        del self._closed[window_id]
        self._listeners.emit(WindowOpened(new_id))
        return instance

    @property
    def closed_titles(self) -> dict[str, str]:
        """What the windows that `reopen` can open showed, in one line; the last closed first."""
        return {window_id: self._closed[window_id].title for window_id in reversed(self._closed)}

    def _restored(
        self, window_id: str, was: _Closed, former_id: str = "", block: str = ""
    ) -> Window:
        cls, (version, lod, saved, jobs, aside) = was.cls, was.saved
        state = cast(Mapping[str, Any], saved)  # None is refused below: not a state
        instance = instance_with(cls, window_id, state, aside)
        self._open_windows.note_id(window_id)
        runtime = Runtime(WindowCore(instance, window_id, self._around, lod, version))
        runtime.core.aside = unused(cls, state, aside)
        runtime.history.recall(was.history)
        runtime.focus_id, runtime.interrupted = was.focus_id, jobs
        runtime.former_id = former_id
        hook = instance.restored if self._is_live else lambda: None
        if not self._is_live and cls.restored is not Window.restored:
            runtime.renders.recorded = block  # without its hook, it cannot be drawn
        if runtime.worker.wait(runtime.start(hook, {}, first=False)):
            runtime.worker.wait(runtime.renders.request())
        if jobs and self._is_live:  # they no longer run: the next saved version says so
            runtime.core.advance(runtime.core.version.after_detail())
            runtime.worker.wait(runtime.renders.request())
        if was.history:
            runtime.core.touched = was.history[-1].actor, was.history[-1].timestamp
        self._open_windows.enter(instance)
        return instance

    def replace_class(self, cls: type[Window]) -> list[Replacement]:
        """Use another class of the same name from now on, and give it to its open windows.

        See `OpenWindows.replace`. This waits for the windows: call it outside an event loop.
        """
        return self._open_windows.replace(cls)

    def close(self, window_id: str, summary: str | None = None, *, actor: Actor = "person") -> str:
        """Close a window, whose last render is kept; return the edits that were discarded."""
        window = self._open_windows.require(window_id)
        last = runtime_of(window).renders.at()  # may wait
        self._open_windows.leave(window_id, last.xml)  # raises if it was closed concurrently
        self._note_closed(window, last)
        ended = runtime_of(window).end()
        if self.data is not None:
            data = self.data / window_id  # a plain name
            ended.add_done_callback(lambda _: shutil.rmtree(data, ignore_errors=True))
        self._listeners.emit(WindowClosed(window_id, summary, actor, last.unsaved))
        return last.unsaved

    # --- lookup ------------------------------------------------------------------------

    def get(self, window_id: str) -> Window | None:
        """Return the open window with this id, or None."""
        return self._open_windows.by_id.get(window_id)

    def windows(self) -> list[Window]:
        """Return the open windows, in the order in which they were opened."""
        return self._open_windows.all()

    def showing(self, path: str, name: str = "") -> Window | None:
        """Return the window, of any class or this one, that has a file open; None if none has."""
        files = self.workspace
        if files is None:
            return None
        shown = ((one, file_of(one)) for one in self.windows() if name in ("", one.name))
        real = real_path(files, path)
        return next((one for one, its in shown if its and real_path(files, its) == real), None)

    def last_render(self, window_id: str) -> str | None:
        """Return the last XML of a closed window."""
        return self._open_windows.last_renders.get(window_id)

    @property
    def numbers(self) -> dict[str, int]:
        """The highest number used in ids of each window name."""
        return dict(self._open_windows.numbers)

    def remember(self, last_renders: Mapping[str, str], numbers: Mapping[str, int]) -> None:
        """Register windows closed in an earlier run, so that their ids are not reused."""
        self._open_windows.remember(last_renders, numbers)

    def focus(self, window_id: str) -> None:
        """Mark this window as in use: it keeps its detail longest when room gets scarce."""
        if self._open_windows.use(window_id):
            self._listeners.emit(WindowFocused(window_id))

    def focused_at(self, window_id: str) -> int:
        """Return the order of last use: higher is later, 0 is never."""
        return self._open_windows.used.get(window_id, 0)

    def set_lod(self, window_id: str, lod: Lod) -> None:
        """Switch a window's level of detail."""
        runtime_of(self._open_windows.require(window_id)).renders.set_lod(lod)

    # --- acting and waiting ------------------------------------------------------------

    async def act(
        self,
        window_id: str,
        action_id: str,
        params: Mapping[str, Any] | None = None,
        *,
        actor: Actor = "model",
        allow: Allow | None = None,
    ) -> ActionResult:
        """Run an action of a window, or of one of its anchors.

        If `allow` is given, it is asked to approve exactly what will be done, and refuses by
        raising. Every failure is returned as a result that is not `ok`, with the typed error, so
        that a model can read it and retry. A failed action is rolled back.
        """
        window_id, action_id = str(window_id), str(action_id)  # a model may send anything
        try:
            window = self._open_windows.require(window_id)
            given: object = {} if params is None else params
            if not isinstance(given, Mapping):
                kind = type(given).__name__
                raise InvalidParamsError("params must be an object, not a {type}.", type=kind)
            if action_id == "close":
                return await self._close_by_action(window, given, actor, allow)
            self.focus(window_id)
            result = await runtime_of(window).act(action_id, given, actor, allow)
        except ContextUIError as error:
            return ActionResult.failed(error, self.lang)
        if isinstance(result.error, WindowClosedError):
            if self._open_windows.by_id.get(window_id) is not None:
                busy = WindowClosedError("{id} was reloaded in between. Try again.", id=window_id)
                return ActionResult.failed(busy, self.lang)
            return ActionResult.failed(self._open_windows.unknown(window_id), self.lang)
        return result

    def end_waits(self) -> None:
        """End every `wait` for a job, because the person has written something."""
        for window in self.windows():
            runtime_of(window).jobs.end_waits(spoken=True)

    def note_seen(self, window_id: str, version: ContextVersion) -> None:
        """Note the version of a window that the model sees with the request that is sent now."""
        window = self.get(window_id)
        if window is not None:
            runtime_of(window).conflicts.note_seen(version)

    async def await_opening(self, seconds: float) -> list[str]:
        """Wait until the `opened` hooks of new windows have ended; return the ids of late ones."""
        late = dict(self._late)
        await finished(late.values(), seconds)
        return [window.id for window, told in late.items() if not told.done()]

    async def settle(self, seconds: float = PATIENCE) -> list[str]:
        """Wait until every window has rendered its current state; return the ids of late ones."""
        drawing = self._drawing()
        if drawing:
            await finished(drawing.values(), seconds)
        return self._warn_late(drawing)

    def settle_now(self) -> None:
        """As `settle`, without an event loop; inside one it does not wait at all."""
        if not in_event_loop():
            drawing = self._drawing()
            wait_for(drawing.values(), PATIENCE)
            self._warn_late(drawing)

    def _drawing(self) -> dict[Window, "Future[None]"]:
        """Return the pending render of each window that has one."""
        pending = ((window, runtime_of(window).renders.pending()) for window in self.windows())
        return {window: future for window, future in pending if future}

    # --- internals ---------------------------------------------------------------------

    def _opened_late(self, window: Window, opening: "Future[Any]") -> None:
        """Emit the outcome of a window's `opened` hook that outlasted `open`."""
        runtime = runtime_of(window)
        try:
            problem = opening.exception()
            if runtime.worker.is_closed:
                return
            if problem is None:
                self._listeners.emit(WindowReady(window.id), False)
                return
            with suppress(UnknownWindowError):  # closed concurrently
                self._open_windows.leave(window.id, runtime.renders.latest().xml)
                runtime.worker.stop()
                reason = reason_of(problem, self.lang)
                self._listeners.emit(WindowNotOpened(window.id, reason), False)
                self._listeners.emit(WindowClosed(window.id, None, "window"), False)
        finally:
            self._late.pop(window).set_result(None)

    def _note_closed(self, window: Window, last: Render) -> None:
        """Keep what `reopen` needs; a window that has not opened has no state yet."""
        saved = runtime_of(window).core.saved._replace(jobs=())
        if saved.state is not None:
            history = runtime_of(window).history.entries
            gist = runtime_of(window).renders.current(Lod.GIST) or last  # a window may be stuck
            title = gist.snapshot.content.partition("\n")[0]
            closed = _Closed(type(window), saved, history, runtime_of(window).focus_id, title)
            self._closed[window.id] = closed
            if len(self._closed) > _MOST_CLOSED:
                del self._closed[next(iter(self._closed))]

    async def _close_by_action(
        self, window: Window, params: Mapping[str, Any], actor: Actor, allow: Allow | None
    ) -> ActionResult:
        arguments = CLOSE.params.validate(params, f"{window.id}.close", self.lang)
        if allow is not None:
            answer = await runtime_of(window).allow_closing(arguments, allow)
            if isinstance(answer, ActionResult):
                return answer
        summary = arguments.get("summary")
        if drawing := runtime_of(window).renders.pending():  # else it says what was unsaved before
            await finished([drawing], PATIENCE)
        lost = self.close(window.id, summary, actor=actor)
        lines = [
            self._words("{id} closed: {summary}", id=window.id, summary=summary)
            if summary
            else self._words("{id} closed.", id=window.id)
        ]
        if lost:
            lines.append(
                self._words(
                    "Unsaved and discarded: {what}. Opening it again does not restore it; only "
                    "the session's log still has it.",
                    what=lost,
                )
            )
        return ActionResult(True, "\n".join(lines))

    def _warn_late(self, drawing: Mapping[Window, "Future[None]"]) -> list[str]:
        """Emit a warning for each late window, and return the ids; one may still be opening."""
        late = [one for one, done in drawing.items() if not done.done() and not one.is_opening]
        for window in late:
            if self.get(window.id):  # it may have been closed since
                busy = runtime_of(window).worker.busy_for()
                runtime_of(window).core.warn(
                    "is late: busy for {seconds:.1f} s, its last render is shown", seconds=busy
                )
        return [window.id for window in late]
