"""One open window's life: its thread, version, renders and history."""

import asyncio
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from contextui import text
from contextui.errors import (
    ActionFailedError,
    ContextUIError,
    InvalidParamsError,
    UnknownActionError,
    WindowBusyError,
)
from contextui.events import Actor, Event, WindowActed, WindowChanged, WindowTroubled
from contextui.windowing import drawing
from contextui.windowing.action import ActionResult
from contextui.windowing.anchors import Reference
from contextui.windowing.drawing import Frame, Render
from contextui.windowing.snapshot import ContextVersion, HistoryEntry, Lod, Snapshot
from contextui.windowing.state import StateKeeper, WindowState
from contextui.windowing.transaction import Call
from contextui.windowing.worker import Worker

if TYPE_CHECKING:
    from contextui.windowing.base import Window
    from contextui.windowing.env import Env

_TICK_FAILURES = 3  # a timer that fails this often in a row is ended


@dataclass(frozen=True, slots=True)
class Place:
    """Where a window lives: its id, its session, its surroundings, and who hears of it."""

    window_id: str
    session_id: str
    env: "Env"
    emit: Callable[[Event], None]


class Runtime:
    """What the framework keeps of an open window.

    All code of the window's author runs on `worker`; the rest of the program only ever takes
    finished renders.
    """

    def __init__(self, window: "Window", place: Place, lod: Lod, after: ContextVersion) -> None:
        self.window, self.place, self.lod = window, place, lod
        self.version = after.after_data()
        self.worker = Worker(place.window_id)
        self.focus_id: str | None = None
        self._keeper: StateKeeper[WindowState] = StateKeeper(window.state)
        self._history: tuple[HistoryEntry, ...] = ()
        self._rounds = 0
        self._renders: dict[Lod, Render] = {}
        self._drawing: dict[Lod, Future[None]] = {}
        self._lock = threading.Lock()
        self._outdated: Render | None = None
        self._unopened: str | None = None

    # --- acting ------------------------------------------------------------------------

    def start(self, hook: Callable[..., Any], arguments: dict[str, Any]) -> "Future[Any]":
        """Run the hook that opens the window, then draw it. What it raises, the future raises."""

        def open_it() -> None:
            try:
                self._transact(Call(hook, arguments), first=True)
            except ContextUIError as problem:
                self._unopened = str(problem)
                self.warn(f"did not open: {problem}")
                raise

        opening = self.worker.submit(open_it)
        self.request_draw(self.lod)
        return opening

    def end(self) -> None:
        """Let the window say goodbye, and nothing after that."""

        def farewell() -> None:
            try:
                self.window.closed()
            except BaseException as problem:
                self.warn(f"closed() failed: {_reason(problem)}")

        self.worker.stop(farewell)

    async def act(self, action_id: str, params: Mapping[str, Any], actor: Actor) -> ActionResult:
        """Carry out an action, or an anchor's, and tell what came of it."""
        try:
            call, target = self._resolve(action_id, params)
            result = await self._carry_out(call)
        except ContextUIError as error:
            result = ActionResult.failed(error)
        else:
            self.focus_id = target or self.focus_id
        self._remember(action_id, result)
        self.place.emit(WindowActed(self.place.window_id, action_id, actor, result.ok, result.text))
        return result

    def every(self, seconds: float, function: Callable[[], object]) -> Callable[[], None]:
        """Call the function again and again, each time as a transaction."""
        failures = 0

        def tick() -> None:
            nonlocal failures
            try:
                self._transact(Call(function, {}))
                failures = 0
            except BaseException as problem:
                failures += 1
                self.warn(f"a timer failed: {_reason(problem)}")
                if failures == _TICK_FAILURES:
                    end()

        end = self.worker.every(seconds, tick)
        return end

    def _resolve(self, action_id: str, params: Mapping[str, Any]) -> tuple[Call, str | None]:
        window, target = self.window, None
        anchor = self.latest().anchors.get(action_id)
        if isinstance(anchor, Reference):
            raise UnknownActionError(f"{action_id} is a reference: it locates, it does not act.")
        name, given = action_id, dict(params)
        if anchor is not None:
            name, target = anchor.action, anchor.target
            if fixed := given.keys() & anchor.params.keys():
                raise InvalidParamsError(f"{action_id}: {', '.join(sorted(fixed))} is given.")
            given |= anchor.params
        declared = window.actions.get(name)
        if declared is None:
            there_is = ", ".join([*window.actions, *self.latest().anchors, "close"])
            raise UnknownActionError(
                f"{window.id} has no action {text.quote(action_id)}. It has: {there_is}."
            )
        arguments = declared.params.validate(given, f"{window.id}.{action_id}")
        return Call(getattr(window, name), arguments), target

    async def _carry_out(self, call: Call) -> ActionResult:
        outcome = asyncio.wrap_future(self.worker.submit(lambda: self._transact(call)))
        seconds = self.window.action_seconds
        try:
            await asyncio.wait([outcome], timeout=seconds)
        except asyncio.CancelledError:
            call.give_up()
            outcome.cancel()
            raise
        if not outcome.done() and call.give_up():
            outcome.cancel()
            raise WindowBusyError(
                f"{self.place.window_id} did not answer within {seconds:g} s; nothing was changed."
            )
        return ActionResult(True, self._result_text(await outcome))

    def _transact(self, call: Call, first: bool = False) -> Any:
        """On the window's thread: run, validate, and commit or roll back."""
        window = self.window
        self._keeper.begin(window.state)
        try:
            result = call.run()
            if not call.commit():
                raise WindowBusyError(f"{self.place.window_id}: given up before it finished.")
            window.state, changed = self._keeper.commit(window.state)
        except BaseException as problem:
            window.state = self._keeper.rollback()
            if isinstance(problem, ContextUIError):
                raise
            raise ActionFailedError(f"{_reason(problem)}. Nothing was changed.") from problem
        if changed and not first:
            with self._lock:
                self.version = self.version.after_data()
            self.request_draw(self.lod)
        elif (shown := self._renders.get(self.lod)) and shown.snapshot.error:
            self.redraw()
        return result

    def _result_text(self, result: object) -> str:
        if isinstance(result, BaseModel):
            result = result.model_dump_json()
        shown = "Done." if result is None else str(result)
        return text.for_model(text.cap(shown, self.window.max_content))

    def _remember(self, action_id: str, result: ActionResult) -> None:
        self._rounds += 1
        entry = HistoryEntry(
            round=self._rounds,
            action=text.one_line(action_id, 120),
            result=text.one_line(result.text, 200),
            timestamp=self._now(),
        )
        self._history = (*self._history, entry)[-self.window.history_limit :]

    # --- drawing -----------------------------------------------------------------------

    def set_lod(self, lod: Lod) -> None:
        """Switch the level of detail; the new render follows."""
        with self._lock:
            if lod is self.lod:
                return
            self.lod = lod
            self.version = self.version.after_lod()
        self.request_draw(lod)

    def request_draw(self, lod: Lod) -> "Future[None]":
        """Have the present version drawn at this level, if it is not; done when it is."""
        with self._lock:
            waiting = self._drawing.get(lod)
            if waiting is None or waiting.done() or waiting.running():
                waiting = self._drawing[lod] = self.worker.submit(lambda: self._draw(lod))
            return waiting

    def redraw(self) -> "Future[None]":
        """Draw the same data again: for what is no data, such as the language."""
        return self.worker.submit(lambda: self._draw(self.lod, again=True))

    def pending(self) -> "Future[None] | None":
        """The drawing that the present render still waits for, if any."""
        return None if self._is_current(self.lod) else self.request_draw(self.lod)

    def latest(self) -> Render:
        """The newest finished render, marked if it is not up to date. Never waits."""
        render = self._renders.get(self.lod)
        if render is not None and self._is_current(self.lod):
            return render
        newest = max(self._renders.values(), key=lambda one: one.version, default=None)
        if newest is None:
            reason = f"{self.place.window_id} has not been drawn yet."
            newest = drawing.failure(self.window, self._frame(self.lod, ContextVersion(0)), reason)
        if self._outdated is None or self._outdated.version != newest.version:
            self._outdated = drawing.stale(self.window, newest)
        return self._outdated

    def render(self, lod: Lod | None = None) -> Render:
        """The render at this level; waits for it as long as the caller can afford to."""
        level = lod or self.lod
        if not self._is_current(level):
            self.worker.wait(self.request_draw(level))
        render = self._renders.get(level)
        return render if render is not None and self._is_current(level) else self.latest()

    def snapshot(self, lod: Lod | None = None) -> Snapshot:
        """The render's snapshot, with the history and the focus as they are now."""
        snapshot = self.render(lod).snapshot
        update = {"history": self._history or None}
        state = snapshot.state.model_copy(update={"focus_id": self.focus_id})
        return snapshot.model_copy(update={**update, "state": state})

    def _is_current(self, lod: Lod) -> bool:
        render = self._renders.get(lod)
        return render is not None and render.version == self.version

    def _draw(self, lod: Lod, again: bool = False) -> None:
        """On the window's thread, so the state stands still."""
        if self._is_current(lod) and not again:
            return
        version, before = self.version, self._renders.get(lod)
        if again and before is not None:
            version = version.after_detail()
        frame = self._frame(lod, version, self._saved())
        if self._unopened:
            render = drawing.failure(self.window, frame, self._unopened)
        else:
            render = drawing.draw(self.window, frame, self.warn)
        if again and before is not None:
            with self._lock:
                if render.same_output_as(before) or not version.same_render_as(self.version):
                    return
                self.version = version
        self._renders[lod] = render
        if lod is self.lod:
            self.place.emit(WindowChanged(self.place.window_id, str(version)))

    def _saved(self) -> Mapping[str, Any] | None:
        try:
            return self.window.state.saved()
        except Exception as problem:
            self.warn(f"its state cannot be saved: {_reason(problem)}")
            return None

    def _frame(
        self, lod: Lod, version: ContextVersion, state: Mapping[str, Any] | None = None
    ) -> Frame:
        return Frame(self.place.session_id, version, lod, self._now(), state)

    def _now(self) -> datetime:
        return self.place.env.clock()

    def warn(self, reason: str) -> None:
        """Tell whoever listens that something is wrong with this window."""
        self.place.emit(WindowTroubled(self.place.window_id, reason))


def _reason(problem: BaseException) -> str:
    return text.one_line(f"{type(problem).__name__}: {problem}", 500)
