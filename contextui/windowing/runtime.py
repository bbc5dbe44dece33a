"""One open window's life: its thread, version, renders and history."""

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from contextui import text
from contextui.errors import (
    ActionFailedError,
    ContextUIError,
    InvalidSourceDataError,
    WindowBusyError,
)
from contextui.events import (
    Actor,
    WindowActed,
    WindowChanged,
    WindowDetailChanged,
    WindowTroubled,
)
from contextui.windowing import drawing, phrases
from contextui.windowing.action import ActionResult
from contextui.windowing.drawing import Frame, Render
from contextui.windowing.intent import Allow, Intent, make_out
from contextui.windowing.phrases import WindowWords
from contextui.windowing.place import Kept, Place
from contextui.windowing.snapshot import ContextVersion, HistoryEntry, Lod, Snapshot
from contextui.windowing.state import StateKeeper, WindowState
from contextui.windowing.transaction import Call
from contextui.windowing.trouble import reason_of
from contextui.windowing.worker import PATIENCE, Worker, finished

if TYPE_CHECKING:
    from contextui.windowing.base import Window

_TICK_FAILURES = 3  # a timer that fails this often in a row is ended
_PREVIEW = 20_000  # characters: more than anybody reads before they say yes or no


class Runtime:
    """What the framework keeps of an open window.

    All code of the window's author runs on `worker`; the rest of the program only ever takes
    finished renders.
    """

    def __init__(self, window: "Window", place: Place, lod: Lod, version: ContextVersion) -> None:
        self.window, self.place, self.lod, self.version = window, place, lod, version
        self.worker = Worker(place.window_id)
        self.focus_id: str | None = None
        self._keeper: StateKeeper[WindowState] = StateKeeper(getattr(window, "state", None))
        window.state = self._keeper.commit()
        self._history: tuple[HistoryEntry, ...] = ()
        self._rounds = 0
        self._renders: dict[Lod, Render] = {}
        self._drawing: dict[Lod, Future[None]] = {}
        self._lock = threading.Lock()
        self._outdated: tuple[Render, Render] | None = None
        self._unopened: str | None = None
        self._begun: list[Callable[[], None]] = []
        self._saved: Mapping[str, Any] | None = None

    @property
    def kept(self) -> Kept:
        """What a session keeps of the window as it stands."""
        with self._lock:
            return Kept(self.version, self.lod, self._saved)

    @property
    def history(self) -> tuple[HistoryEntry, ...]:
        """The last rounds of action and result."""
        return self._history

    def recall(self, history: Sequence[HistoryEntry]) -> None:
        """Take over the history of an earlier run."""
        with self._lock:
            self._history = tuple(history)[-self.window.history_limit :] if history else ()
            self._rounds = history[-1].round if history else 0

    # --- acting ------------------------------------------------------------------------

    def start(
        self, hook: Callable[..., Any], arguments: dict[str, Any], *, first: bool
    ) -> "Future[Any]":
        """Run the hook that opens the window, then draw it. What it raises, the future raises.

        Args:
            hook: `opened` or `restored`.
            arguments: What it takes.
            first: Whether what it leaves is the window's first version, and no newer one.
        """

        def open_it() -> None:
            self._keep()
            try:
                self._transact(Call(hook, arguments), first=first)
            except ContextUIError as problem:
                said = self._words.did_not_open.format(reason=text.one_line(str(problem), 1_000))
                self._unopened = f"{self.place.window_id} {said}"
                self.warn(said)
                raise

        opening = self.worker.submit(open_it)
        self.request_draw(self.lod)
        return opening

    def end(self) -> None:
        """Let the window say goodbye, and nothing after that."""

        def farewell() -> None:
            try:
                Call(self.window.closed, {}).run()
            except BaseException as problem:
                self.warn(self._words.goodbye_failed.format(reason=reason_of(problem)))

        self.worker.stop(farewell)

    async def act(
        self,
        action_id: str,
        params: Mapping[str, Any],
        actor: Actor,
        allow: Allow | None = None,
    ) -> ActionResult:
        """Carry out an action, or an anchor's, and tell what came of it."""
        try:
            await self._see_anchors(action_id)
            intent = make_out(self.window, action_id, params, self.latest().anchors)
            if allow is not None:
                await allow(intent)
            result = await self._carry_out(intent)
        except ContextUIError as error:
            result = ActionResult.failed(error)
        else:
            self.focus_id = intent.target or self.focus_id
        named = text.one_line(action_id, 120)  # what was asked for may be anything
        self._remember(named, result)
        self.place.emit(WindowActed(self.place.window_id, named, actor, result.ok, result.text))
        return result

    async def preview(self, action_id: str, params: Mapping[str, Any]) -> str | None:
        """What an action, or an anchor's, would do, told before it is carried out.

        Returns:
            What the window says; None if it has nothing to say; a line that says why, if it
            raised, is late, or would refuse.
        """
        if action_id == "close":
            return None
        try:
            await self._see_anchors(action_id)
            intent = make_out(self.window, action_id, params, self.latest().anchors)
            telling = self.worker.submit(lambda: self._preview(intent))
            await finished([telling], PATIENCE)
            if not telling.done():
                telling.cancel()
                raise WindowBusyError(self._words.not_now.format(id=self.place.window_id))
            return telling.result()
        except ContextUIError as problem:
            return self._words.no_preview.format(reason=text.one_line(str(problem), 1_000))

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
                self.warn(self._words.timer_failed.format(reason=reason_of(problem)))
                if failures == _TICK_FAILURES:
                    end()

        end = self.worker.every(seconds, tick)
        self._begun.append(end)
        return end

    async def _see_anchors(self, action_id: str) -> None:
        """An anchor may stand in a render that is only being drawn: wait for that."""
        if action_id not in self.window.actions and (drawing := self.pending()):
            await finished([drawing], PATIENCE)

    async def _carry_out(self, intent: Intent) -> ActionResult:
        call = Call(getattr(self.window, intent.action.id), dict(intent.arguments))
        outcome = self.worker.submit(lambda: self._transact(call))
        seconds = self.window.action_seconds
        try:
            await finished([outcome], seconds)
        finally:  # late or cancelled: unless it has committed by now, nothing of it counts
            given_up = not outcome.done() and call.give_up()
            if given_up:
                outcome.cancel()
        if given_up:
            late = self._words.busy.format(id=self.place.window_id, seconds=seconds)
            raise WindowBusyError(self._words.as_it_was.format(reason=late))
        await finished([outcome], None)
        return ActionResult(True, outcome.result())

    def _preview(self, intent: Intent) -> str | None:
        """On the window's thread, so the state stands still."""
        self._keeper.begin(self.window.state)
        try:
            call = Call(lambda: self.window.preview(intent.action.id, intent.arguments), {})
            told = call.run()
            return text.for_model(text.cap(str(told), _PREVIEW)) if told else None
        except BaseException as problem:
            if isinstance(problem, ContextUIError):
                raise
            raise ActionFailedError(reason_of(problem)) from problem
        finally:
            self._take_back("preview()")

    def _transact(self, call: Call, first: bool = False) -> str:
        """On the window's thread: run, validate, and commit or roll back."""
        window, keeper = self.window, self._keeper
        self._begun.clear()
        try:
            keeper.begin(window.state)
            result = self._result_text(call.run())
            changed = keeper.check(window.state)
            if not call.commit():
                raise WindowBusyError(self._words.given_up_early.format(id=self.place.window_id))
        except BaseException as problem:
            for end_timer in self._begun:
                end_timer()
            window.state = keeper.rollback()
            if isinstance(problem, ContextUIError):
                raise
            reason = f"{reason_of(problem)}."
            raise ActionFailedError(self._words.as_it_was.format(reason=reason)) from problem
        window.state = keeper.commit()
        if first:
            self._keep()
            return result
        self._unopened = None
        if changed:
            self._keep(self.version.after_data())
            self.request_draw(self.lod)
        elif (shown := self._current(self.lod)) and shown.snapshot.error:
            self.redraw()
        return result

    def _result_text(self, result: object) -> str:
        if isinstance(result, BaseModel):
            result = result.model_dump_json()
        shown = self._words.done if result is None else str(result)
        return text.for_model(text.cap(shown, self.window.max_content))

    def _remember(self, action_id: str, result: ActionResult) -> None:
        now, limit = self._now(), self.window.history_limit
        with self._lock:
            self._rounds += 1
            entry = HistoryEntry(
                round=self._rounds,
                action=action_id,
                result=text.one_line(result.text, 200),
                timestamp=now,
            )
            kept = (*self._history, entry)
            self._history = kept[max(0, len(kept) - limit) :]

    # --- drawing -----------------------------------------------------------------------

    def set_lod(self, lod: Lod) -> None:
        """Switch the level of detail; the new render follows."""
        with self._lock:
            if lod is self.lod:
                return
            self.lod = lod
            self.version = self.version.after_lod()
        self.request_draw(lod)
        self.place.emit(WindowDetailChanged(self.place.window_id, lod.value))

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
        return None if self._current(self.lod) else self.request_draw(self.lod)

    def latest(self) -> Render:
        """The newest finished render, marked if it is not up to date. Never waits."""
        with self._lock:
            lod = self.lod
            if render := self._current(lod):
                return render
            renders = self._renders.values()
        newest = max(renders, key=lambda one: (one.version, one.lod is lod), default=None)
        if newest is None:
            reason = self._words.not_drawn_yet.format(id=self.place.window_id)
            newest = drawing.failure(self.window, self._frame(lod, ContextVersion(0)), reason)
        known, marked = self._outdated or (None, newest)
        if known is not newest:
            marked = drawing.stale(self.window, newest)
            self._outdated = newest, marked
        return marked

    def render(self, lod: Lod | None = None) -> Render:
        """The render at this level; waits for it as long as the caller can afford to."""
        level = lod or self.lod
        if render := self._current(level):
            return render
        self.worker.wait(self.request_draw(level))
        return self._current(level) or self.latest()

    def snapshot(self, lod: Lod | None = None) -> Snapshot:
        """The render's snapshot, with the history and the focus as they are now."""
        snapshot = self.render(lod).snapshot
        update = {"history": self._history or None}
        state = snapshot.state.model_copy(update={"focus_id": self.focus_id})
        return snapshot.model_copy(update={**update, "state": state})

    def _current(self, lod: Lod) -> Render | None:
        """The render at this level, if it shows the present version."""
        render = self._renders.get(lod)
        return render if render is not None and render.version == self.version else None

    def _draw(self, lod: Lod, again: bool = False) -> None:
        """On the window's thread, so the state stands still."""
        if self._current(lod) and not again:
            return
        version, before = self.version, self._renders.get(lod)
        if again and before is not None:
            version = version.after_detail()
        frame = self._frame(lod, version, self._saved)
        if self._unopened:
            render = drawing.failure(self.window, frame, self._unopened)
        else:
            self._keeper.begin(self.window.state)
            render = drawing.draw(self.window, frame, self.warn)
            self._take_back("content()")
        if again and before is not None:
            with self._lock:
                if render.same_output_as(before) or not version.same_render_as(self.version):
                    return
                self.version = version
        self._renders = {**self._renders, lod: render}  # others may be looking at the old one
        if lod is self.lod:
            self.place.emit(WindowChanged(self.place.window_id, str(version)), False)

    def _take_back(self, call: str) -> None:
        """Drawing only looks: were its changes kept, every look would be a new version."""
        try:
            touched = self._keeper.check(self.window.state)
        except BaseException:
            touched = True
        if touched:
            self.warn(self._words.only_looks.format(call=call))
            with suppress(InvalidSourceDataError):  # the next action will say why it cannot go back
                self.window.state = self._keeper.rollback()

    def _keep(self, version: ContextVersion | None = None) -> None:
        """On the window's thread: have what was committed ready to be saved, as this version."""
        saved: Mapping[str, Any] | None = None
        try:
            saved = self.window.state.saved()
        except BaseException as problem:
            self.warn(self._words.not_savable.format(reason=reason_of(problem)))
        with self._lock:
            self._saved = saved
            # A level of detail switched meanwhile counts for the version before, which is gone.
            self.version = version or self.version

    def _frame(
        self, lod: Lod, version: ContextVersion, state: Mapping[str, Any] | None = None
    ) -> Frame:
        return Frame(self.place.session_id, version, lod, self._now(), state)

    @property
    def _words(self) -> WindowWords:
        return phrases.of(self.place.env.lang)

    def _now(self) -> datetime:
        return self.place.env.clock()

    def warn(self, reason: str) -> None:
        """Tell whoever listens that something is wrong with this window."""
        self.place.emit(WindowTroubled(self.place.window_id, reason), False)
