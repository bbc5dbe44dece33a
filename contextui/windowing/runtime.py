"""One open window's life: opening, acting, ending, and each of them whole or not at all."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
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
    WindowCommitted,
)
from contextui.files.errors import SecretFileError
from contextui.text import one_line
from contextui.windowing.action import Action, ActionResult, Params
from contextui.windowing.anchor import Allow, Intent, Permit, make_out
from contextui.windowing.env import Place, SecretReads
from contextui.windowing.preview import Preview, PreviewError, checked
from contextui.windowing.render import MOST_CONTENT, Renders
from contextui.windowing.snapshot import ContextVersion, HistoryEntry, Lod, Snapshot
from contextui.windowing.transaction import Call, Standing
from contextui.windowing.trouble import reason_in
from contextui.windowing.worker import PATIENCE, Worker, finished

if TYPE_CHECKING:
    from contextui.windowing.window import Window


class History:
    """What was done to a window, and what came of it; the oldest rounds are forgotten.

    Args:
        limit: How many rounds are kept.
    """

    def __init__(self, limit: int) -> None:
        self._limit, self._round = limit, 0
        self._lock = threading.Lock()
        self.entries: tuple[HistoryEntry, ...] = ()

    def note(self, action_id: str, result: ActionResult, now: datetime) -> None:
        """Add a round."""
        with self._lock:
            self._round += 1
            entry = HistoryEntry(
                round=self._round,
                action=action_id,
                result=one_line(result.text, 200),
                timestamp=now,
            )
            self.entries = self._newest((*self.entries, entry))

    def recall(self, entries: Sequence[HistoryEntry]) -> None:
        """Take over the rounds of an earlier run."""
        with self._lock:
            self.entries = self._newest(tuple(entries))
            self._round = entries[-1].round if entries else 0

    def _newest(self, entries: tuple[HistoryEntry, ...]) -> tuple[HistoryEntry, ...]:
        return entries[max(0, len(entries) - self._limit) :]


_TICK_FAILURES = 3  # a timer that fails this often in a row is ended
_ASKED_AGAIN = 5  # times that an action may change between being allowed and being carried out


class _ChangedError(ContextUIError):
    """What an action would do is not what was allowed."""


def _close(window: object, summary: str | None = None) -> None:
    """What `close` takes, in every window."""


CLOSE = Action("close", "Close", "state", Params(_close, "Window"), "关闭")
"""The action that every window has."""


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
        secrets: The files that it shows and that may hold secrets.
        commit_input: Gives the window what the person has typed on the screen and not sent yet.
    """

    def __init__(self, window: "Window", place: Place, lod: Lod, version: ContextVersion) -> None:
        self.window, self.place = window, place
        self.worker = Worker(place.window_id)
        self.standing = Standing(window, place, lod, version)
        self.secrets = SecretReads(window, place)
        self.renders = Renders(window, place, self.standing, self.worker, self.secrets)
        self.history = History(window.history_limit)
        self.focus_id: str | None = None
        self.commit_input: Callable[[], Awaitable[None]] | None = None
        self.is_new = False
        """Whether the window was opened in this run, and not restored."""
        self._begun: list[Callable[[], None]] = []
        self._opening: tuple[Call, Future[Any]] | None = None

    def snapshot(self, lod: Lod | None = None) -> Snapshot:
        """The render's snapshot, with the history and the focus as they are now."""
        snapshot = self.renders.at(lod).snapshot
        custom = self.standing.frozen(snapshot.state.custom)
        state = snapshot.state.model_copy(update={"focus_id": self.focus_id, "custom": custom})
        history = self.history.entries or None
        return snapshot.model_copy(update={"history": history, "state": state})

    # --- acting ------------------------------------------------------------------------

    def start(
        self,
        hook: Callable[..., Any],
        arguments: dict[str, Any],
        *,
        first: bool,
        allowed: frozenset[str] | None = None,
    ) -> "Future[Any]":
        """Run the hook that opens the window, then draw it. What it raises, the future raises.

        Args:
            hook: `opened` or `restored`.
            arguments: What it takes.
            first: Whether what it leaves is the window's first version, and no newer one.
            allowed: See `SecretReads.reading`.
        """

        call = Call(hook, arguments)
        self.is_new, self.standing.is_opening = first, True

        def open_it() -> None:
            self.standing.keep()
            self.standing.edited_by_person = not first  # what an earlier run left may be anyone's
            try:
                with self.secrets.reading(allowed):
                    self._transact(call, "window", first=first)
            except SecretFileError:  # the person is asked, and it is opened again
                raise
            except ContextUIError as problem:
                said = self.place.words.did_not_open.format(
                    reason=text.one_line(str(problem), 1_000)
                )
                self.renders.instead = f"{self.place.window_id} {said}"
                self.place.warn(said)
                raise
            finally:
                self.standing.is_opening = False

        opening = self.worker.submit(open_it)
        self._opening = call, opening
        self.renders.request()
        return opening

    @property
    def opening(self) -> "Future[Any] | None":
        """The call of the hook that opens the window, which may be over."""
        return self._opening[1] if self._opening else None

    def stop_opening(self) -> None:
        """Discard what a hook that still opens the window does: nothing of it is kept."""
        if self._opening is not None:
            self._opening[0].give_up()

    def end(self) -> None:
        """Let the window say goodbye, and nothing after that."""
        self.stop_opening()

        def farewell() -> None:
            try:
                with self.standing.inside():
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
            result = await self._carry_out_allowed(intent, actor, allow)
        except ContextUIError as error:
            result = ActionResult.failed(error, self.window.env.lang)
        else:
            self.focus_id = intent.target or self.focus_id
        named = text.one_line(action_id, 120)  # what was asked for may be anything
        self.history.note(named, result, self.place.now())
        self.place.emit(WindowActed(self.place.window_id, named, actor, result.ok, result.text))
        return result

    async def preview(self, action_id: str, params: Mapping[str, Any]) -> Preview | None:
        """What an action, or an anchor's, would change outside the window.

        Returns:
            What the window says; None if it gives no preview.

        Raises:
            ContextUIError: The action cannot be called like this, or its preview cannot be shown.
        """
        await self._see_anchors(action_id)
        intent = make_out(self.window, action_id, params, self.renders.latest().anchors)
        return await self.preview_of(intent)

    async def preview_of(self, intent: Intent) -> Preview | None:
        """The same of an intent that is made out."""
        making = self.worker.submit(lambda: self._preview(intent))
        await finished([making], PATIENCE)
        if not making.done():
            making.cancel()
            raise self._no_preview(self.place.words.not_now.format(id=self.place.window_id))
        return making.result()

    def every(self, seconds: float, function: Callable[[], object]) -> Callable[[], None]:
        """Call the function again and again, each time as a transaction."""
        failures = 0

        def tick() -> None:
            nonlocal failures
            try:
                self._transact(Call(function, {}), "window")
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

    async def _commit_input(self) -> None:
        """Take over what the person is typing, before a model acts on the window."""
        if self.commit_input is not None:
            with suppress(Exception):  # a screen's trouble is no reason to stop the model
                async with asyncio.timeout(PATIENCE):
                    await self.commit_input()

    async def _see_anchors(self, action_id: str) -> None:
        """Wait for the window to open, and for a render in progress: it may have the anchor.

        Raises:
            WindowBusyError: The window is still opening.
        """
        if self._opening is not None and self.standing.is_opening:
            await finished([self._opening[1]], PATIENCE)
        if self.standing.is_opening:
            raise WindowBusyError(self.place.words.still_opening.format(id=self.place.window_id))
        if action_id not in self.window.actions and (drawing := self.renders.pending()):
            await finished([drawing], PATIENCE)

    async def _carry_out_allowed(
        self, intent: Intent, actor: Actor, allow: Allow | None
    ) -> ActionResult:
        """Ask and carry out; ask again if what was shown is no longer what would be done."""
        if allow is None:
            return await self._carry_out(intent, actor)
        allowed = frozenset[str]()
        for _ in range(_ASKED_AGAIN):
            await self._commit_input()
            try:
                self.secrets.check(self.renders.latest().withheld, allowed)
                permit = await allow(intent)
                if isinstance(permit, ActionResult):
                    return permit
                await self._commit_input()
                return await self._carry_out(intent, actor, permit, allowed)
            except _ChangedError:
                intent = replace(intent, changed=permit is not None)
            except SecretFileError as error:
                await allow(replace(intent, reads=error.path))
                allowed |= {error.real}
        raise PreviewError(self.place.words.preview_changes.format(name=intent.name))

    async def allow_closing(
        self, arguments: Mapping[str, Any], allow: Allow
    ) -> ActionResult | None:
        """Ask before the window is closed; a result, if it stays open."""
        intent = Intent(self.window, CLOSE, arguments)
        for _ in range(_ASKED_AGAIN):
            await self._commit_input()
            permit = await allow(intent)
            if not isinstance(permit, Permit):
                return permit
            await self._commit_input()
            if permit.covers(await self.preview_of(intent)):
                return None
            intent = replace(intent, changed=True)
        raise PreviewError(self.place.words.preview_changes.format(name=intent.name))

    async def _carry_out(
        self,
        intent: Intent,
        actor: Actor,
        permit: Permit | None = None,
        allowed: frozenset[str] | None = None,
    ) -> ActionResult:
        call = Call(getattr(self.window, intent.action.id), dict(intent.arguments))

        def run() -> str:
            # On the window's thread, where nothing comes between the check and the act.
            if allowed is not None:  # what is shown may be newer than what was drawn
                self.secrets.check(self.secrets.withheld(), allowed)
            if permit is not None and not permit.covers(self._preview(intent)):
                raise _ChangedError
            # Without a permit nothing was shown: the window may have been too busy for a preview,
            # and edits of the person may have waited before this action.
            if permit is None and allowed is not None and self._gives_up_edits(intent):
                raise _ChangedError
            with self.secrets.reading(allowed) as reading:
                try:
                    result = self._transact(call, actor)
                except ContextUIError as problem:
                    if reading.refused is not None:
                        raise reading.refused from problem
                    raise
            if reading.disclosed:
                self.renders.redraw()
            return result

        outcome = self.worker.submit(run)
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

    def _preview(self, intent: Intent) -> Preview | None:
        """On the window's thread, so the state stands still."""
        window, words = self.window, self.place.words
        call = Call(lambda: window.preview(intent.action.id, intent.arguments), {})
        with self.standing.looking("preview()"):
            try:
                if intent.action is CLOSE:
                    return self._given_up(call, intent)
                return checked(call.run(), intent.name, words)
            except ContextUIError as problem:
                raise self._no_preview(problem.told(self.place.env.lang)) from problem
            except BaseException as problem:
                raise self._no_preview(reason_in(type(window), problem)) from problem

    def _gives_up_edits(self, intent: Intent) -> bool:
        """Whether an action that writes nothing would discard edits of the person."""
        if intent.action.effect == "write" or not self.standing.edited_by_person:
            return False
        try:
            preview = self._preview(intent)
        except PreviewError:  # a window need not have a preview of every action
            return False
        return preview is not None and preview.verb == "close" and preview.changes

    def _given_up(self, call: Call, intent: Intent) -> Preview:
        """What closing the window would give up: its own preview, or else its words."""
        unsaved = text.one_line(self.window.unsaved() or "", 1_000)
        if not unsaved:
            return Preview(self.place.window_id, verb="close", changes=False)
        with suppress(Exception):  # not every window knows that it may be asked about this
            preview = checked(call.run(), intent.name, self.place.words)
            if preview and preview.verb == "close" and preview.changes:
                return preview
        return Preview(self.place.window_id, text=unsaved, verb="close")

    def _no_preview(self, reason: str) -> PreviewError:
        return PreviewError(self.place.words.no_preview.format(reason=text.one_line(reason, 1_000)))

    def _transact(self, call: Call, actor: Actor, first: bool = False) -> str:
        """On the window's thread: run, validate, and commit or roll back."""
        standing, renders = self.standing, self.renders
        self._begun.clear()
        try:
            standing.begin()
            with standing.inside():
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
            standing.edited_by_person |= actor == "person"
            standing.keep(standing.version.after_data())
            version = str(standing.version)
            self.place.emit(WindowCommitted(self.place.window_id, version, actor), False)
            renders.request()
        elif (shown := renders.current()) and shown.snapshot.error:
            renders.redraw()
        return result

    def _result_text(self, result: object) -> str:
        if isinstance(result, BaseModel):
            result = result.model_dump_json()
        shown = self.place.words.done if result is None else str(result)
        return text.for_model(text.cap(shown, min(self.window.max_content, MOST_CONTENT)))
