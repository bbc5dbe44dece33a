"""`ContextManager`: hold a conversation's items, apply every change, and compose requests."""

import copy
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from types import MappingProxyType
from typing import Any, NamedTuple

from contextui.config.schema import Placement
from contextui.context.item import (
    SUMMARY,
    Calls,
    ContextItem,
    Folds,
    Hidden,
    ItemType,
    ItemView,
    Stage,
    admit,
    assign,
    edited,
    is_conversation,
)
from contextui.context.ledger import ContextStats, Ledger
from contextui.context.messages import Composition, debug_line
from contextui.context.placement.items import Change, Forecast, PlacedBlock
from contextui.context.trim import plan_trim
from contextui.errors import (
    DuplicateItemError,
    InvalidItemError,
    StaleRequestError,
    UnknownItemError,
)
from contextui.events import (
    Compacted,
    CutMoved,
    Event,
    ItemAdded,
    ItemsChanged,
    Listener,
    Listeners,
    Operation,
    RequestSent,
    Trigger,
    TurnEnded,
    TurnFinished,
    UsageReported,
    WindowChanged,
    WindowClosed,
    WindowOpened,
)
from contextui.model import Block, CachePrices
from contextui.text import cap, quote
from contextui.tokens import TokenCounter, check_budget
from contextui.windowing.blocks import version_of
from contextui.windowing.manager import WindowManager
from contextui.windowing.snapshot import ContextVersion
from contextui.windowing.window import Window
from contextui.windowing.worker import LOOP_PATIENCE, in_event_loop
from contextui.words import Words

_LONGEST_SUMMARY = 2_000  # characters of a closing summary that stay in the context


class _Unanswered(NamedTuple):
    """A request that was marked as sent and whose answer has not begun."""

    event: RequestSent
    generation: int
    before: Composition | None


class ContextManager:
    """Holds the items of one conversation and composes its requests.

    With `windows` given it follows them: an opened window gets an item, and closing it makes
    that item obsolete. All methods may be called from any thread.

    Args:
        windows: The windows of this conversation.
        counter: Counts tokens; by default cl100k.
        placement: Where windows go in a request: by ``price`` (see `contextui.context.placement`),
            or ``in-place``, where each window was opened (see `contextui.context.render`).
        clock: Returns the time in seconds.

    Example:
        >>> context = ContextManager(windows)
        >>> context.add(ContextItem(ItemType.USER, "What is on my list?"))
        >>> request = context.compose(budget=100_000)
        >>> context.mark_sent(request)   # from here on its bytes are fixed
        >>> context.end_turn()           # windows out, thinking out: the final form
    """

    def __init__(
        self,
        windows: WindowManager | None = None,
        *,
        counter: TokenCounter | None = None,
        placement: Placement = "price",
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.windows, self.placement = windows, placement
        self.counter = counter or TokenCounter()
        self.ledger = Ledger(windows, self.counter, placement, clock)
        """All items and derived state; only for `contextui.context` and `contextui.session`."""
        self._listeners = Listeners(windows.dispatcher if windows is not None else None)
        self._lock = threading.RLock()
        self._depth = 0
        self._sent: Composition | None = None
        self._unanswered: _Unanswered | None = None
        if windows is not None:
            windows.subscribe(self._on_window_event)
            for window in windows.windows():
                self._window_opened(window.id)

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Subscribe to all events of the context, in order; call the returned function to
        unsubscribe.

        A listener may call the manager, but must not wait for another thread.
        """
        return self._listeners.subscribe(listener)

    # --- items -------------------------------------------------------------------------

    def add(self, item: ContextItem) -> ContextItem:
        """Assign the item its seq and append it.

        A second reference to a window hides the older one. A new user message ends the previous
        turn, unless that turn is still running. A message added while an answer is streaming is
        queued and gets its seq after that answer, whose thinking is bound to the context it was
        generated from.

        Raises:
            DuplicateItemError: The item was added before.
            InvalidItemError: The item is not valid in a context; nothing was changed.
        """
        with self._writing():
            if item.is_owned or item.id in self.ledger.items:
                raise DuplicateItemError(f"Item {quote(item.id)} was added before.")
            admit(item)
            self.ledger.calls.check(item)
            if item.tool_call_id is not None and item.tool_call_id not in self.calls.unanswered:
                waits = quote(item.tool_call_id)
                raise InvalidItemError(f"No tool call {waits} waits for a result.")
            if item.type is ItemType.USER and self.ledger.turn_is_over:
                self.end_turn()
            if older := self.ledger.replace_older(item):
                self._emit_change(older, "replace", {"hidden": "replaced"})
            self._enter(self.ledger.due(item))
            return item

    def recall(self, items: Iterable[ContextItem], folds: Mapping[str, str]) -> None:
        """Load items again that were only in the log, in the state recorded there. Emits no event.

        Args:
            items: Final, hidden items; those already loaded stay as they are.
            folds: The id of the summary that replaces each of them, by item id.
        """
        with self._writing():
            new = {item.id: item for item in items if item.id not in self.ledger.items}
            for item in new.values():
                self.ledger.recall(item)
            self.ledger.folds.restore({one: folds[one] for one in new.keys() & folds.keys()})

    def flush_pending(self) -> None:
        """Append the messages queued while an answer was streaming; none is expected any more."""
        with self._writing():
            self._enter(self.ledger.due())

    def get(self, item_id: str) -> ContextItem:
        """Return the item with this id.

        Raises:
            UnknownItemError: There is none.
        """
        try:
            return self.ledger.items[item_id]
        except KeyError:
            raise UnknownItemError(f"There is no item {quote(item_id)}.") from None

    def get_all(self) -> ItemView:
        """All items by rising seq: an immutable view that later changes do not affect."""
        with self._lock:
            return self.ledger.all.view()

    def get_active(self) -> ItemView:
        """The items that are not hidden, by rising seq."""
        with self._lock:
            return self.ledger.active.view()

    def get_stats(self) -> ContextStats:
        """Count the items and their tokens."""
        with self._lock:
            return self.ledger.stats()

    def is_between_turns(self) -> bool:
        """Whether no turn is running and all events were delivered."""
        with self._lock:
            running = self.ledger.under_way or any(map(is_conversation, self.ledger.open))
            return not running and not self._listeners.dispatcher.is_waiting

    def debug_lines(self) -> list[str]:
        """The `[✓]/[X]` lines, one for each item."""
        return [debug_line(item) for item in self.get_all()]

    # --- queries: none of them waits ---------------------------------------------------

    @property
    def current_seq(self) -> int:
        """The seq of the newest item, 0 if there is none."""
        return self.ledger.seq

    @property
    def items(self) -> Mapping[str, ContextItem]:
        """The loaded items by id; a resumed session leaves old ones in the log."""
        return MappingProxyType(self.ledger.items)

    @property
    def open_items(self) -> Sequence[ContextItem]:
        """The items that are not final yet, because their turn has not ended."""
        return list(self.ledger.open)

    @property
    def cut(self) -> int:
        """Conversation before this seq was trimmed; 0 if none was."""
        return self.ledger.cut

    @property
    def calls(self) -> Calls:
        """The tool calls, with the messages that made them and their results."""
        return self.ledger.calls

    @property
    def folds(self) -> Folds:
        """The summaries, with the items that they replace."""
        return self.ledger.folds

    @property
    def window_ids(self) -> list[str]:
        """The ids of all windows that an item refers to, including closed ones."""
        return list(self.ledger.references)

    def window_items(self, window_id: str) -> Sequence[ContextItem]:
        """The items that refer to a window, oldest first; empty if there is none."""
        return self.ledger.references.get(window_id, ())

    @property
    def live_window_items(self) -> Sequence[ContextItem]:
        """The window items that the next request includes."""
        return [item for item in self.ledger.live_references if item.hidden is None]

    @property
    def generation(self) -> int:
        """Counts all changes of items."""
        return self.ledger.generation

    def item_tokens(self, item: ContextItem) -> int:
        """The tokens of an item in our own count; for a window, those of its render."""
        return self.ledger.size(item)

    def render_tokens(self, xml: str) -> int:
        """The tokens of a window's render in a request, in our own count."""
        return self.ledger.meter.render(xml)

    def tokens_in(self, composition: Composition, item: ContextItem) -> int:
        """The tokens of an item in a request that are not outdated."""
        priced, plan = self.ledger.priced, composition.plan
        if priced is None or plan is None or item.id not in self.ledger.items:
            return self.ledger.size(item)
        return priced.figures.tokens_in(plan, item)

    def whole_tokens(self, item: ContextItem) -> int:
        """The tokens that an item would have as a whole, by price; 0 if that is not known."""
        priced = self.ledger.priced
        return priced.figures.whole_tokens(item) if priced is not None else 0

    def counts(self, composition: Composition, item: ContextItem) -> bool:
        """Whether a request written from scratch would contain anything of an item."""
        priced, plan = self.ledger.priced, composition.plan
        if priced is None or plan is None:
            return not item.hidden
        return priced.figures.counts(plan, item)

    def is_whole(self, item: ContextItem) -> bool:
        """Whether requests contain a tool result as a whole, and not its gist or nothing."""
        return not item.is_obsolete and self.ledger.is_whole(item)

    def shown_content(self, item: ContextItem) -> str | tuple[Block, ...] | None:
        """What requests contain of a final item of the conversation; None if unknown."""
        priced = self.ledger.priced
        return priced.shown_content(item) if priced is not None else None

    # --- what a person does to items ---------------------------------------------------

    def pin(self, item_id: str) -> None:
        """Pin an item: it is never removed to make room."""
        self._change([self.get(item_id)], "pin", pinned=True)

    def unpin(self, item_id: str) -> None:
        """Unpin an item: it may be removed to make room."""
        self._change([self.get(item_id)], "unpin", pinned=False)

    def drop(self, item_id: str) -> None:
        """Hide an item, and with an answer the results of its tool calls."""
        item = self.get(item_id)
        together = [item, *self.ledger.calls.results(item)]
        self._change([one for one in together if not one.hidden], "drop", hidden="dropped")

    def restore(self, item_id: str) -> None:
        """Show a hidden item again; a tool result comes back together with its call.

        An item that was trimmed or compacted comes back pinned: otherwise it would be removed again
        at once.

        Raises:
            InvalidItemError: The item refers to a window that is closed or replaced.
        """
        item = self.get(item_id)
        if item.hidden in ("closed", "replaced"):
            raise InvalidItemError(f"Item {item.seq:04} is {item.hidden}; it cannot be restored.")
        back = [one for one in self.ledger.calls.together(item) if one.hidden]
        pinned = {"pinned": True} if item.hidden in ("trimmed", "compacted") else {}
        self._change(back, "restore", hidden=None, **pinned)

    def edit(self, item_id: str, text: str) -> None:
        """Replace the text of an item.

        Raises:
            InvalidItemError: The item is a window or has more than text, or the text is empty; or
                it is an answer with thinking that the provider expects back in this turn.
        """
        item = self.get(item_id)
        self.ledger.check_edit(item)
        self._change([item], "edit", **edited(item, text))

    def unfold(self, item_id: str) -> None:
        """Send the full text of a tool result instead of its gist."""
        self._change([self._with_gist(item_id)], "unfold", whole=True)

    def fold(self, item_id: str) -> None:
        """Send the gist of a tool result instead of its full text."""
        self._change([self._with_gist(item_id)], "fold", whole=False)

    def undo(self) -> list[ContextItem]:
        """Undo the last edit or compaction and return the items that it had changed."""
        with self._writing():
            items = self.ledger.undo()
            if items:
                self._emit_change(items, "undo", {})
            return items

    @property
    def last_step(self) -> object:
        """What `undo` would undo, to compare with `has_steps_since`; None if there is nothing."""
        steps = self.ledger.steps
        return steps[-1] if steps else None

    def has_steps_since(self, step: object) -> bool:
        """Whether something can be undone that came after this value of `last_step`."""
        steps = self.ledger.steps
        is_known = step is None or any(one is step for one in steps)
        return is_known and self.last_step is not step

    # --- compaction and trimming ---------------------------------------------------------

    def compact(
        self,
        items: Sequence[ContextItem],
        summary: str,
        *,
        trigger: Trigger = "manual",
        files: Sequence[str] = (),
    ) -> ContextItem:
        """Replace items with a summary, placed after the system prompt; `undo` restores them,
        unless the trigger is a strategy.

        Raises:
            InvalidItemError: The summary is empty, or a turn is running.
        """
        with self._writing():
            if self.ledger.under_way:
                raise InvalidItemError("A turn is running: nothing that was sent may change.")
            self.end_turn()
            before = self.ledger.compose().tokens
            item = self.add(ContextItem(ItemType.SYSTEM, summary, id=SUMMARY + uuid.uuid4().hex))
            self.ledger.compact(items, item, trigger)
            gone, after = tuple(one.id for one in items), self.ledger.compose().tokens
            self._post(Compacted(gone, item.id, trigger, before, after, tuple(files)))
            return item

    def leave_out(self, items: Sequence[ContextItem], reason: Hidden = "trimmed") -> None:
        """Hide items, by default because of the token budget; `restore` shows each of them again.

        Raises:
            InvalidItemError: A turn is running.
        """
        with self._writing():
            if self.ledger.under_way:
                raise InvalidItemError("A turn is running: nothing that was sent may change.")
            self._hide([item for item in items if not item.hidden], reason, "trim")

    def replace(self, items: Iterable[ContextItem]) -> None:
        """Hide items that the program has newer ones for: `undo` and `restore` never show them."""
        with self._writing():
            self._hide([one for one in items if one.hidden != "replaced"], "replaced", "drop")

    def mark_window_obsolete(self, window_id: str) -> None:
        """Hide every item of a closed window; a no-op if no item refers to that window."""
        with self._writing():
            references = self.ledger.references.get(window_id, [])
            self._hide([one for one in references if one.hidden != "closed"], "closed", "close")

    # --- requests and turns ------------------------------------------------------------

    def compose(self, budget: int | None = None) -> Composition:
        """Compose the next request. Idempotent: it never changes what was sent.

        If the request exceeds the budget, windows first lower their level of detail, then `trim`
        drops items. A running turn then takes its final form early, except for its newest step,
        because the bytes before that change anyway. Inside an event loop, `await prepare(budget)`
        first: it gives windows the time to lower their detail before any conversation is dropped.

        Args:
            budget: The limit in the provider's tokens; the counter corrects for the difference to
                its own count.

        Raises:
            ContextTooLargeError: The items that must stay do not fit; nothing was changed.
        """
        if self.windows is not None:
            self.windows.settle_now()
        limit = self._limit(budget)
        if limit is not None and self._is_short(limit):
            _wait_for_each(self._lowered(limit))
        with self._writing():
            self.flush_pending()  # compose() means that no answer is expected any more
            if limit is not None and self.ledger.compose(limit).tokens > limit:
                self._trim(limit)
            return self.ledger.compose(limit)

    def use(self, prices: CachePrices, key: str) -> None:
        """Say for which model and tools the next requests are; by price, that decides what a
        request keeps of what was sent.

        Args:
            prices: What the model's provider charges for cached input.
            key: Names the model and the tools; with another one nothing is cached yet.
        """
        with self._lock:
            if self.ledger.priced is not None:
                self.ledger.priced.use(prices, key)

    def outlook(self) -> Composition:
        """Preview the next request as it would be now, without waiting, changing or trimming."""
        with self._lock:
            return self.ledger.compose()

    def placed(self, composition: Composition) -> list[PlacedBlock]:
        """The blocks of a request that are not where their items are, or that are outdated; empty
        unless windows are placed by price."""
        with self._lock:
            priced, plan = self.ledger.priced, composition.plan
            return priced.figures.placed(plan) if priced is not None and plan is not None else []

    def known_block(self, window_id: str) -> str:
        """The whole block that the model can know of a window; empty unless placed by price."""
        with self._lock:
            priced = self.ledger.priced
            return priced.known_block(window_id) if priced is not None else ""

    def forecast(self, change: Change, items: Sequence[ContextItem]) -> Forecast | None:
        """What changing items together would cost; None unless windows are placed by price."""
        with self._lock:
            priced = self.ledger.priced
            return priced.figures.forecast(change, items) if priced is not None else None

    def sweep(self) -> None:
        """Leave everything outdated out of the next request, whatever that costs."""
        with self._writing():
            self.ledger.sweep()

    async def prepare(self, budget: int) -> None:
        """Wait until the windows are rendered, and lower their level of detail if the budget
        requires it.

        Raises:
            ContextTooLargeError: The items that must stay do not fit; nothing was changed.
        """
        if self.windows is None:
            return
        await self.windows.settle()
        limit = self._limit(budget)
        if limit is not None and self._is_short(limit):
            for _ in self._lowered(limit):
                await self.windows.settle()

    def mark_sent(self, composition: Composition, *, is_answered: bool = True) -> None:
        """Mark a request as sent: nothing in it changes until the turn ends.

        Marking it again, for a retry, is a no-op.

        Args:
            composition: The request.
            is_answered: False if `answer_began` or `request_failed` follows: by price, a request
                counts once its answer begins.

        Raises:
            StaleRequestError: The context changed since the request was composed: compose it again.
        """
        with self._writing():
            if composition is self._sent:
                return
            if composition.generation != self.ledger.generation:
                raise StaleRequestError("The context changed since this request was composed.")
            before, self._sent = self._sent, composition
            is_empty = not any(piece.shown.items for piece in composition.fresh)
            if is_empty and composition.plan is None:
                return  # no conversation in it, so there are no bytes to keep
            waiting = self.ledger.send(composition)
            plan = composition.plan.facts if composition.plan is not None else None
            if self.windows is not None and plan is not None:
                for block in plan["blocks"]:
                    version = ContextVersion.read(version_of(block["text"]))
                    self.windows.note_seen(block["window"], version)
            event = RequestSent(composition.through_seq, waiting, plan)
            if is_answered or plan is None:
                self._post(event)
            else:
                self._unanswered = _Unanswered(event, self.ledger.generation, before)

    def answer_began(self) -> None:
        """Note that the model answers the last request."""
        if self._unanswered is not None:
            with self._writing():
                self._post()

    def request_failed(self) -> None:
        """Note that the last request failed before its answer began: by price, it does not count.

        The cache entries, the number of requests and what was sent are then as before it, unless
        the context has changed since.
        """
        with self._writing():
            failed = self._unanswered
            if failed is not None and failed.generation == self.ledger.generation:
                self._unanswered, self._sent = None, failed.before
                self.ledger.take_back()

    @property
    def last_request(self) -> Composition | None:
        """The request that was marked as sent last, None if there was none in this run."""
        return self._sent

    def request(self, budget: int | None = None, *, is_answered: bool = True) -> Composition:
        """Compose the next request and mark it as sent; retry if the context changes in between.

        Send it right after. If sending fails, retry with the same request. See `mark_sent` for the
        arguments.
        """
        while True:
            composition = self.compose(budget)
            with suppress(StaleRequestError):  # another thread changed the context first: retry
                self.mark_sent(composition, is_answered=is_answered)
                return composition

    def report_usage(self, counted: int, usage: Mapping[str, Any]) -> None:
        """Calibrate the token counter with the usage that the provider reported.

        Args:
            counted: The `tokens` of the composition that was sent.
            usage: The provider's figures; cached input counts as input.
        """
        with self._writing():
            parts = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
            self.counter.calibrate(counted, sum(int(usage.get(part) or 0) for part in parts))
            self._post(UsageReported(counted, dict(usage)))

    def end_turn(self, finished: TurnFinished | None = None) -> None:
        """End the turn: drop windows and thinking, send gists for results, apply held changes."""
        self._finish(early=False, finished=finished)

    # --- internals ---------------------------------------------------------------------

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Change state under the lock; deliver events after the outermost lock is released."""
        outermost = False
        try:
            with self._lock:
                self._depth += 1
                try:
                    yield
                finally:
                    self._depth -= 1
                    outermost = not self._depth
        finally:
            if outermost:
                self._listeners.dispatcher.deliver()

    def _post(self, *events: Event) -> None:
        """Emit events, and before them the request that was not answered so far."""
        if self._unanswered is not None:
            events, self._unanswered = (self._unanswered.event, *events), None
        for event in events:
            self._listeners.post(event)

    def _enter(self, items: Iterable[ContextItem]) -> None:
        for item in items:
            self.ledger.enter(item, self.ledger.seq + 1)
            self._post(ItemAdded(item.id, item.seq))

    def _finish(self, early: bool, finished: TurnFinished | None = None) -> None:
        with self._writing():
            self.flush_pending()
            if self.ledger.finish(early) or early:
                self._post(TurnEnded(self.ledger.seq, early, finished))

    def _on_window_event(self, event: Event) -> None:
        match event:
            case WindowChanged():
                # Only marked as stale: a window's thread must not wait for a running `compose`.
                self.ledger.redrawn(event.window_id)
            case WindowOpened():
                self._window_opened(event.window_id)
            case WindowClosed():
                self._window_closed(event)

    def _window_opened(self, window_id: str) -> None:
        if window_id not in self.ledger.references:
            self.add(ContextItem(ItemType.WINDOW, window_id))

    def _window_closed(self, event: WindowClosed) -> None:
        """Add the closing summary if a person closed the window; a model gets it as its result."""
        self.mark_window_obsolete(event.window_id)
        summary = (event.summary or "").strip()
        if summary and event.actor == "person":
            words = Words(self.windows.lang if self.windows is not None else "en")
            summary = cap(summary, _LONGEST_SUMMARY)
            text = words("{id} closed: {summary}", id=event.window_id, summary=summary)
            if event.given_up:
                text += words(" (unsaved, discarded: {what})", what=event.given_up)
            self.add(ContextItem(ItemType.USER, text))

    def _limit(self, budget: int | None) -> int | None:
        if budget is None:
            return None
        check_budget(budget)
        return self.counter.room_in(budget)

    def _fits(self, limit: int) -> bool:
        with self._lock:
            return self.ledger.compose(limit).tokens <= limit

    def _is_short(self, limit: int) -> bool:
        """Whether items must be trimmed; if so, finish a running turn early."""
        ledger = self.ledger
        with self._writing():
            if self._fits(limit):
                return False
            sent = {item.id for item in ledger.open if item.stage is Stage.SENT}
            final = [
                _final_twin(item) if item.id in sent else item for item in ledger.active.view()
            ]
            plan_trim(final, limit, ledger.request_size)
            if ledger.under_way:
                self._finish(early=True)
            return True

    def _lowered(self, limit: int) -> Iterator[Window]:
        """Lower the level of detail of windows until the request fits, least recently used first.

        Pinned windows keep theirs. Yields each window after its level was lowered, so that the
        caller can wait for its render.
        """
        windows = self.windows
        if windows is None:
            return
        candidates = [item for item in self.ledger.live_references if not item.pinned]
        for reference in sorted(candidates, key=lambda item: windows.focused_at(item.content)):
            window = windows.get(reference.content)
            while window and not self._fits(limit) and (less := window.lod.below):
                windows.set_lod(window.id, less)
                yield window

    def _trim(self, limit: int) -> None:
        ledger = self.ledger
        active = list(ledger.active.view())
        plan = plan_trim(active, limit, ledger.request_size, self.windows, ledger.cut)
        self._hide(plan.dropped, "trimmed", "trim")
        if plan.cut != self.ledger.cut:
            self.ledger.cut = plan.cut
            self._post(CutMoved(plan.cut))

    def _hide(self, items: Sequence[ContextItem], reason: Hidden, operation: Operation) -> None:
        if items:
            self.ledger.set(items, {"hidden": reason})
            self._emit_change(items, operation, {"hidden": reason})

    def _with_gist(self, item_id: str) -> ContextItem:
        item = self.get(item_id)
        if not (item.gist or item.shown_gist):
            raise InvalidItemError(f"Item {item.seq:04} has no gist.")
        return item

    def _change(self, items: Sequence[ContextItem], operation: Operation, **fields: Any) -> None:
        with self._writing():
            different = [
                item
                for item in items
                if any(getattr(item, name) != value for name, value in fields.items())
            ]
            if different:
                self.ledger.step(different, fields)
                self._emit_change(different, operation, fields)

    def _emit_change(
        self, items: Iterable[ContextItem], operation: Operation, fields: Mapping[str, Any]
    ) -> None:
        self._post(ItemsChanged(tuple(item.id for item in items), operation, fields))


def _wait_for_each(lowered: Iterable[Window]) -> None:
    """Wait for the renders of lowered windows; inside an event loop only briefly.

    There, a window that is too slow is smaller only from the next request on;
    `ContextManager.prepare` waits for it without blocking the loop.
    """
    start, limit = time.monotonic(), LOOP_PATIENCE if in_event_loop() else float("inf")
    for window in lowered:
        if time.monotonic() - start < limit:
            window.to_xml()


def _final_twin(item: ContextItem) -> ContextItem:
    twin = copy.copy(item)
    assign(twin, stage=Stage.FINAL)
    return twin
