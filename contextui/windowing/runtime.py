"""One open window's life: opening, acting, ending, and each of them whole or not at all."""

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from contextui import text
from contextui.errors import (
    ActionFailedError,
    ContextUIError,
    WindowBusyError,
)
from contextui.events import (
    Actor,
    WindowActed,
)
from contextui.windowing.action import ActionResult
from contextui.windowing.drawing import MOST_CONTENT
from contextui.windowing.history import History
from contextui.windowing.intent import Allow, Intent, make_out
from contextui.windowing.place import Place
from contextui.windowing.renders import Renders
from contextui.windowing.snapshot import ContextVersion, Lod, Snapshot
from contextui.windowing.standing import Standing
from contextui.windowing.transaction import Call
from contextui.windowing.trouble import reason_in
from contextui.windowing.worker import PATIENCE, Worker, finished

if TYPE_CHECKING:
    from contextui.windowing.base import Window

_TICK_FAILURES = 3  # a timer that fails this often in a row is ended
_PREVIEW = 20_000  # characters: more than anybody reads before they say yes or no


class Runtime:
    """What the framework keeps of an open window.

    All code of the window's author runs on `worker`; the rest of the program only ever takes
    finished renders.

    Attributes:
        place: Where the window lives.
        worker: The window's own thread.
        standing: What it holds, and which version of that.
        renders: What it shows.
        history: What was done to it.
        focus_id: What was acted on last.
    """

    def __init__(self, window: "Window", place: Place, lod: Lod, version: ContextVersion) -> None:
        self.window, self.place = window, place
        self.worker = Worker(place.window_id)
        self.standing = Standing(window, place, lod, version)
        self.renders = Renders(window, place, self.standing, self.worker)
        self.history = History(window.history_limit)
        self.focus_id: str | None = None
        self._begun: list[Callable[[], None]] = []

    def snapshot(self, lod: Lod | None = None) -> Snapshot:
        """The render's snapshot, with the history and the focus as they are now."""
        snapshot = self.renders.at(lod).snapshot
        state = snapshot.state.model_copy(update={"focus_id": self.focus_id})
        history = self.history.entries or None
        return snapshot.model_copy(update={"history": history, "state": state})

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
            self.standing.keep()
            try:
                self._transact(Call(hook, arguments), first=first)
            except ContextUIError as problem:
                said = self.place.words.did_not_open.format(
                    reason=text.one_line(str(problem), 1_000)
                )
                self.renders.instead = f"{self.place.window_id} {said}"
                self.place.warn(said)
                raise

        opening = self.worker.submit(open_it)
        self.renders.request()
        return opening

    def end(self) -> None:
        """Let the window say goodbye, and nothing after that."""

        def farewell() -> None:
            try:
                Call(self.window.closed, {}).run()
            except BaseException as problem:
                self.place.warn(
                    self.place.words.goodbye_failed.format(
                        reason=reason_in(type(self.window), problem)
                    )
                )

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
            intent = make_out(self.window, action_id, params, self.renders.latest().anchors)
            if allow is not None:
                await allow(intent)
            result = await self._carry_out(intent)
        except ContextUIError as error:
            result = ActionResult.failed(error, self.window.env.lang)
        else:
            self.focus_id = intent.target or self.focus_id
        named = text.one_line(action_id, 120)  # what was asked for may be anything
        self.history.note(named, result, self.place.now())
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
            intent = make_out(self.window, action_id, params, self.renders.latest().anchors)
            telling = self.worker.submit(lambda: self._preview(intent))
            await finished([telling], PATIENCE)
            if not telling.done():
                telling.cancel()
                raise WindowBusyError(self.place.words.not_now.format(id=self.place.window_id))
            return telling.result()
        except ContextUIError as problem:
            return self.place.words.no_preview.format(reason=text.one_line(str(problem), 1_000))

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
                self.place.warn(
                    self.place.words.timer_failed.format(
                        reason=reason_in(type(self.window), problem)
                    )
                )
                if failures == _TICK_FAILURES:
                    end()

        end = self.worker.every(seconds, tick)
        self._begun.append(end)
        return end

    async def _see_anchors(self, action_id: str) -> None:
        """An anchor may stand in a render that is only being drawn: wait for that."""
        if action_id not in self.window.actions and (drawing := self.renders.pending()):
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
            late = self.place.words.busy.format(id=self.place.window_id, seconds=seconds)
            raise WindowBusyError(self.place.words.as_it_was.format(reason=late))
        await finished([outcome], None)
        return ActionResult(True, outcome.result())

    def _preview(self, intent: Intent) -> str | None:
        """On the window's thread, so the state stands still."""
        call = Call(lambda: self.window.preview(intent.action.id, intent.arguments), {})
        with self.standing.looking("preview()"):
            try:
                told = call.run()
                return text.for_model(text.cap(str(told), _PREVIEW)) if told else None
            except ContextUIError:
                raise
            except BaseException as problem:
                raise ActionFailedError(reason_in(type(self.window), problem)) from problem

    def _transact(self, call: Call, first: bool = False) -> str:
        """On the window's thread: run, validate, and commit or roll back."""
        standing, renders = self.standing, self.renders
        self._begun.clear()
        try:
            standing.begin()
            result = self._result_text(call.run())
            changed = standing.check()
            if not call.commit():
                raise WindowBusyError(
                    self.place.words.given_up_early.format(id=self.place.window_id)
                )
        except BaseException as problem:
            for end_timer in self._begun:
                end_timer()
            standing.rollback()
            if isinstance(problem, ContextUIError):
                raise
            reason = f"{reason_in(type(self.window), problem)}."
            if not first:
                reason = self.place.words.as_it_was.format(reason=reason)
            raise ActionFailedError(reason) from problem
        standing.commit()
        if first:
            standing.keep()
            return result
        renders.instead = None
        if changed:
            standing.keep(standing.version.after_data())
            renders.request()
        elif (shown := renders.current()) and shown.snapshot.error:
            renders.redraw()
        return result

    def _result_text(self, result: object) -> str:
        if isinstance(result, BaseModel):
            result = result.model_dump_json()
        shown = self.place.words.done if result is None else str(result)
        return text.for_model(text.cap(shown, min(self.window.max_content, MOST_CONTENT)))
