"""`Runtime` of one open window: runs hooks, actions and timers in transactions, and previews."""

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
    ActionError,
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
from contextui.windowing.anchor import Allow, Intent, Permit, resolve_intent
from contextui.windowing.env import Place, SecretReads
from contextui.windowing.preview import Preview, PreviewError, checked
from contextui.windowing.render import MOST_CONTENT, Renders
from contextui.windowing.snapshot import ContextVersion, HistoryEntry, Lod, Snapshot
from contextui.windowing.transaction import Call, StateStore
from contextui.windowing.trouble import reason_in
from contextui.windowing.worker import PATIENCE, Worker, finished
from contextui.words import Lang, Words, msg

if TYPE_CHECKING:
    from contextui.windowing.window import Window


class History:
    """The actions run on a window and their results; the oldest are dropped.

    Args:
        limit: The maximum number of entries.
    """

    def __init__(self, limit: int) -> None:
        self._limit, self._round = limit, 0
        self._lock = threading.Lock()
        self.entries: tuple[HistoryEntry, ...] = ()

    def note(self, action_id: str, result: ActionResult, now: datetime) -> None:
        """Append an action and its result."""
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
        """Restore the entries of an earlier run."""
        with self._lock:
            self.entries = self._newest(tuple(entries))
            self._round = entries[-1].round if entries else 0

    def _newest(self, entries: tuple[HistoryEntry, ...]) -> tuple[HistoryEntry, ...]:
        return entries[max(0, len(entries) - self._limit) :]


_TICK_FAILURES = 3  # consecutive failures after which a timer is stopped
_MAX_APPROVALS = 5  # times that an action may change between approval and execution


class _ChangedError(ContextUIError):
    """The action's effect differs from what was approved."""


def _close(window: object, summary: str | None = None) -> None:
    """Declare the params of `close`, which every window has."""


class _CloseAction(Action):
    def labelled(self, lang: Lang) -> str:
        return Words(lang)(self.label)


CLOSE = _CloseAction("close", msg("Close"), "state", Params(_close, "Window"))
"""The `close` action that every window has."""


class Runtime:
    """The framework's side of an open window.

    All code of the window's author runs on `worker`; the rest of the program takes finished renders
    only.

    Attributes:
        place: The window's id, session and environment.
        worker: The window's own thread.
        store: The current state and its version.
        renders: The finished renders.
        history: The actions run on it.
        focus_id: The target of the anchor that was acted on last.
        secrets: The files it has read that may hold secrets.
        commit_input: Commits what the person has typed on the screen and not submitted yet.
    """

    def __init__(self, window: "Window", place: Place, lod: Lod, version: ContextVersion) -> None:
        self.window, self.place = window, place
        self.worker = Worker(place.window_id)
        self.store = StateStore(window, place, lod, version)
        self.secrets = SecretReads(window, place)
        self.renders = Renders(window, place, self.store, self.worker, self.secrets)
        self.history = History(window.history_limit)
        self.focus_id: str | None = None
        self.commit_input: Callable[[], Awaitable[None]] | None = None
        self.is_new = False
        """Whether the window was opened in this run, not restored."""
        self._new_timers: list[Callable[[], None]] = []
        self._opening: tuple[Call, Future[Any]] | None = None

    def snapshot(self, lod: Lod | None = None) -> Snapshot:
        """Return the render's snapshot, with the current history and focus."""
        snapshot = self.renders.at(lod).snapshot
        custom = self.store.frozen(snapshot.state.custom)
        state = snapshot.state.model_copy(update={"focus_id": self.focus_id, "custom": custom})
        history = self.history.entries or None
        return snapshot.model_copy(update={"history": history, "state": state})

    # --- actions -----------------------------------------------------------------------

    def start(
        self,
        hook: Callable[..., Any],
        arguments: dict[str, Any],
        *,
        first: bool,
        allowed: frozenset[str] | None = None,
    ) -> "Future[Any]":
        """Run the hook that opens the window, then render it; the future has its exception.

        Args:
            hook: `opened` or `restored`.
            arguments: Its arguments.
            first: Whether its result is the window's first version instead of a newer one.
            allowed: See `SecretReads.reading`.
        """

        call = Call(hook, arguments)
        self.is_new, self.store.is_opening = first, True

        def open_it() -> None:
            self.store.publish()
            self.store.edited_by_person = not first  # restored edits may be the person's
            try:
                with self.secrets.reading(allowed):
                    self._transact(call, "window", first=first)
            except SecretFileError:  # the person is asked, then the window is opened again
                raise
            except ContextUIError as problem:
                lang = self.place.env.lang
                notice = self.place.words(
                    "did not open: {reason}", reason=text.one_line(problem.text(lang), 1_000)
                )
                self.renders.replacement = f"{self.place.window_id} {notice}"
                self.place.warn(notice)
                raise
            finally:
                self.store.is_opening = False

        opening = self.worker.submit(open_it)
        self._opening = call, opening
        self.renders.request()
        return opening

    @property
    def opening(self) -> "Future[Any] | None":
        """The future of the hook that opens the window; it may be done."""
        return self._opening[1] if self._opening else None

    def stop_opening(self) -> None:
        """Cancel the hook that opens the window, if it still runs: its changes are discarded."""
        if self._opening is not None:
            self._opening[0].cancel()

    def end(self) -> None:
        """Run the window's `closed` hook, then stop its thread."""
        self.stop_opening()

        def run_closed_hook() -> None:
            try:
                with self.store.inside():
                    Call(self.window.closed, {}).run()
            except BaseException as problem:
                self.place.warn(
                    self.place.words("closed() failed: {reason}", reason=self._reason(problem))
                )

        self.worker.stop(run_closed_hook)

    async def act(
        self,
        action_id: str,
        params: Mapping[str, Any],
        actor: Actor,
        allow: Allow | None = None,
    ) -> ActionResult:
        """Run an action, or an anchor's action, and return its result."""
        try:
            await self._await_anchors(action_id)
            intent = resolve_intent(self.window, action_id, params, self.renders.latest().anchors)
            result = await self._carry_out_allowed(intent, actor, allow)
        except ContextUIError as error:
            result = ActionResult.failed(error, self.window.env.lang)
        else:
            self.focus_id = intent.target or self.focus_id
        named = text.one_line(action_id, 120)  # the requested id may be anything
        self.history.note(named, result, self.place.now())
        self.place.emit(WindowActed(self.place.window_id, named, actor, result.ok, result.text))
        return result

    async def preview(self, action_id: str, params: Mapping[str, Any]) -> Preview | None:
        """Return what an action, or an anchor's action, would change outside the window.

        Returns:
            The window's preview; None if it provides none.

        Raises:
            ContextUIError: The action cannot be called like this, or its preview failed.
        """
        await self._await_anchors(action_id)
        intent = resolve_intent(self.window, action_id, params, self.renders.latest().anchors)
        return await self.preview_of(intent)

    async def preview_of(self, intent: Intent) -> Preview | None:
        """Return the preview of a resolved intent."""
        making = self.worker.submit(lambda: self._preview(intent))
        await finished([making], PATIENCE)
        if not making.done():
            making.cancel()
            raise self._no_preview(
                self.place.words("{id} did not answer in time.", id=self.place.window_id)
            )
        return making.result()

    def every(self, seconds: float, function: Callable[[], object]) -> Callable[[], None]:
        """Call the function periodically, each time in a transaction; returns the stop function."""
        failures = 0

        def tick() -> None:
            nonlocal failures
            try:
                self._transact(Call(function, {}), "window")
                failures = 0
            except BaseException as problem:
                failures += 1
                self.place.warn(
                    self.place.words("a timer failed: {reason}", reason=self._reason(problem))
                )
                if failures == _TICK_FAILURES:
                    end()

        end = self.worker.every(seconds, tick)
        self._new_timers.append(end)
        return end

    async def _commit_input(self) -> None:
        """Commit what the person is typing, before a model acts on the window."""
        if self.commit_input is not None:
            with suppress(Exception):  # a failure of the screen must not stop the model
                async with asyncio.timeout(PATIENCE):
                    await self.commit_input()

    async def _await_anchors(self, action_id: str) -> None:
        """Wait until the window is open, and for a pending render that may have the anchor.

        Raises:
            WindowBusyError: The window is still opening.
        """
        if self._opening is not None and self.store.is_opening:
            await finished([self._opening[1]], PATIENCE)
        if self.store.is_opening:
            raise WindowBusyError(
                self.place.words(
                    "{id} is still opening. Try again when it has opened.", id=self.place.window_id
                )
            )
        if action_id not in self.window.actions and (drawing := self.renders.pending()):
            await finished([drawing], PATIENCE)

    async def _carry_out_allowed(
        self, intent: Intent, actor: Actor, allow: Allow | None
    ) -> ActionResult:
        """Ask for approval and run the action; ask again if its preview has changed since."""
        if allow is None:
            return await self._carry_out(intent, actor)
        allowed = frozenset[str]()
        note = ""
        for _ in range(_MAX_APPROVALS):
            await self._commit_input()
            try:
                self.secrets.check(self.renders.latest().withheld, allowed)
                permit = await allow(intent)
                if isinstance(permit, ActionResult):
                    return permit
                await self._commit_input()
                if permit is not None and permit.arguments is not None:
                    intent = replace(intent, arguments=permit.arguments)
                    note = permit.note
                return await self._carry_out_noted(note, intent, actor, permit, allowed)
            except _ChangedError:
                intent = replace(intent, changed=permit is not None)
            except SecretFileError as error:
                await allow(replace(intent, reads=error.path))
                allowed |= {error.real}
        raise PreviewError(
            self.place.words(
                "{name} did not run: its effect changed each time after it was approved.",
                name=intent.name,
            )
        )

    async def _carry_out_noted(
        self,
        note: str,
        intent: Intent,
        actor: Actor,
        permit: Permit | None,
        allowed: frozenset[str],
    ) -> ActionResult:
        """Run the action; its result or its error begins with what the person edited."""
        try:
            result = await self._carry_out(intent, actor, permit, allowed)
        except (_ChangedError, SecretFileError):
            raise
        except ContextUIError as error:
            if not note:
                raise
            words, reason = self.place.words, error.text(self.place.env.lang)
            raise ActionError(words("{note}\n{reason}", note=note, reason=reason)) from error
        return replace(result, text=f"{note}\n{result.text}") if note else result

    async def allow_closing(
        self, arguments: Mapping[str, Any], allow: Allow
    ) -> ActionResult | None:
        """Ask for approval to close the window; return a result if it stays open."""
        intent = Intent(self.window, CLOSE, arguments)
        for _ in range(_MAX_APPROVALS):
            await self._commit_input()
            permit = await allow(intent)
            if not isinstance(permit, Permit):
                return permit
            await self._commit_input()
            if permit.covers(await self.preview_of(intent)):
                return None
            intent = replace(intent, changed=True)
        raise PreviewError(
            self.place.words(
                "{name} did not run: its effect changed each time after it was approved.",
                name=intent.name,
            )
        )

    async def _carry_out(
        self,
        intent: Intent,
        actor: Actor,
        permit: Permit | None = None,
        allowed: frozenset[str] | None = None,
    ) -> ActionResult:
        call = Call(getattr(self.window, intent.action.id), dict(intent.arguments))

        def run() -> str:
            # On the window's thread, where nothing can run between the check and the action.
            if allowed is not None:  # the state may be newer than the render
                self.secrets.check(self.secrets.withheld(), allowed)
            if permit is not None and not permit.covers(self._preview(intent)):
                raise _ChangedError
            # Without a permit there was no preview: the window may have been too busy for one, and
            # edits of the person may be queued before this action.
            if permit is None and allowed is not None and self._discards_edits(intent):
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
        finally:  # timed out or cancelled: unless it has committed, roll it back
            cancelled = not outcome.done() and call.cancel()
            if cancelled:
                outcome.cancel()
        if cancelled:
            late = self.place.words(
                "{id} did not answer within {seconds:g} s.",
                id=self.place.window_id,
                seconds=seconds,
            )
            raise WindowBusyError(
                self.place.words("{reason} The window is unchanged.", reason=late)
            )
        await finished([outcome], None)
        return ActionResult(True, outcome.result())

    def _preview(self, intent: Intent) -> Preview | None:
        """Compute the preview on the window's thread, where the state does not change."""
        window, words = self.window, self.place.words
        call = Call(lambda: window.preview(intent.action.id, intent.arguments), {})
        with self.store.read_only("preview()"):
            try:
                if intent.action is CLOSE:
                    return self._closing_preview(call, intent)
                return checked(call.run(), intent.name, words)
            except ContextUIError as problem:
                raise self._no_preview(problem.text(self.place.env.lang)) from problem
            except BaseException as problem:
                raise self._no_preview(self._reason(problem)) from problem

    def _discards_edits(self, intent: Intent) -> bool:
        """Whether an action without the effect `write` would discard edits of the person."""
        if intent.action.effect == "write" or not self.store.edited_by_person:
            return False
        try:
            preview = self._preview(intent)
        except PreviewError:  # a window need not have a preview of every action
            return False
        return preview is not None and preview.verb == "close" and preview.changes

    def _closing_preview(self, call: Call, intent: Intent) -> Preview:
        """Return what closing would discard: the window's preview, or else its `unsaved` text."""
        unsaved = text.one_line(self.window.unsaved() or "", 1_000)
        if not unsaved:
            return Preview(self.place.window_id, verb="close", changes=False)
        with suppress(Exception):  # not every window's preview knows `close`
            preview = checked(call.run(), intent.name, self.place.words)
            if preview and preview.verb == "close" and preview.changes:
                return preview
        return Preview(self.place.window_id, text=unsaved, verb="close")

    def _no_preview(self, reason: str) -> PreviewError:
        return PreviewError(
            self.place.words(
                "There is no preview, so it cannot be approved: {reason}",
                reason=text.one_line(reason, 1_000),
            )
        )

    def _transact(self, call: Call, actor: Actor, first: bool = False) -> str:
        """Run a call on the window's thread: execute, validate, and commit or roll back."""
        store, renders = self.store, self.renders
        self._new_timers.clear()
        try:
            store.begin()
            with store.inside():
                result = self._result_text(call.run())
            changed = store.check()
            if not call.commit():
                raise WindowBusyError(
                    self.place.words("{id}: cancelled before it finished.", id=self.place.window_id)
                )
        except BaseException as problem:
            for end_timer in self._new_timers:
                end_timer()
            store.rollback()
            if isinstance(problem, ContextUIError):
                raise
            reason = f"{self._reason(problem)}."
            if not first:
                reason = self.place.words("{reason} The window is unchanged.", reason=reason)
            raise ActionFailedError(reason) from problem
        store.commit()
        if first:
            store.publish()
            return result
        renders.replacement = None
        if changed:
            store.edited_by_person |= actor == "person"
            store.publish(store.version.after_data())
            version = str(store.version)
            self.place.emit(WindowCommitted(self.place.window_id, version, actor), False)
            renders.request()
        elif (shown := renders.current()) and shown.snapshot.error:
            renders.redraw()
        return result

    def _reason(self, problem: BaseException) -> str:
        return reason_in(type(self.window), problem, self.place.env.lang)

    def _result_text(self, result: object) -> str:
        if isinstance(result, BaseModel):
            result = result.model_dump_json()
        shown = self.place.words("Done.") if result is None else str(result)
        return text.for_model(text.cap(shown, min(self.window.max_content, MOST_CONTENT)))
