"""Placement by price: what each request contains, and when outdated content is removed.

The transcript is a list of slots that only grows. A slot has two forms: `sent`, what the last
request contained at this place, and `want`, what a transcript written from scratch would contain
there (None: nothing). A slot is outdated where the two differ. Everything that happens (a newer
version, a close, a drop, an edit, a gist, a compaction) only sets `want`; a sweep from a place sets
`sent = want` for every slot from there on. Nothing else changes what was sent.

A sweep is made when carrying outdated content has cost as much as writing again what follows it:
``rent = read × Σ (sent − want) × (requests since + 8)`` is then at least
``price = (write − read) × Σ want``.

Only token counts are needed here, no text. Sums over slots are kept in trees, so that a request
costs what has changed since the last one, however long the transcript is.
"""

import math
from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from contextui.context.placement.slots import (
    HEAD,
    Decision,
    Form,
    Kind,
    Offer,
    Request,
    Rules,
    Slot,
    Sums,
    Sweep,
    View,
    size_of,
)
from contextui.model import CachePrices

FORCED = frozenset(
    ["closed", "dropped", "edited", "restored", "compacted", "trimmed", "lowered", "system"]
)
"""Reasons for which outdated content goes with the next request, whatever that costs."""

Wants = Mapping[Slot, tuple[Form | None, str]]
"""What slots want, and why."""

# The columns of the sums: outdated tokens, these times `since`, wanted tokens, sent tokens with
# lists of actions, blocks, sent tokens alone, sent tokens of outdated slots, and slots in use.
_SAVED, _DATED, _KEPT, _SIZE, _BLOCKS, _SENT, _OUTDATED, _USED = range(8)


class Transcript:
    """The slots of a conversation. Tell it what happens; `request` decides what is sent."""

    def __init__(
        self, prices: CachePrices | None = None, rules: Rules | None = None, head: int = 0
    ) -> None:
        self.prices, self.rules = prices or CachePrices(), rules or Rules()
        self.slots: list[Slot] = []
        self.tail: list[Slot] = []
        self.views: dict[str, View] = {}
        self.requests = 0
        self.present: dict[str, View] = {}
        """The windows that are open or still shown."""
        self._sums = Sums(8)
        self.pins: set[str] = set()
        self.entries: dict[int, float] = {}  # prefixes that the provider holds: when last used
        self._of_item: dict[str, list[Slot]] = {}
        self._of_call: dict[str, list[Slot]] = {}
        self._outdated: list[int] = []  # places, in order
        self._long: list[Slot] = []  # long results that are shown whole, in order
        self._thoughts: list[Slot] = []  # thinking of the turn under way
        self._unsettled: set[str] = set()  # windows that were closed or whose chain broke
        self.lists: dict[str, list[tuple[int, str, str]]] = {}  # full lists of actions by class
        self.turn, self.is_fresh, self._is_asked, self.last = -1, False, False, -math.inf
        self.key: str | None = None  # the model and its tools
        self.sent_key: str | None = None  # those of the last request
        self.add(HEAD, HEAD, "text", head)

    # --- what happens --------------------------------------------------------------------

    def add(
        self, slot_id: str, item: str, kind: Kind, tokens: int, *, call: str | None = None,
        gist: int = 0, group: str = "", parts: tuple[int, ...] = (), place: int | None = None,
        is_words: bool = False,
    ) -> Slot:  # fmt: skip
        """Append something that was said, called or returned.

        Args:
            slot_id: A name for it.
            item: The item that it belongs to.
            kind: What it is.
            tokens: Its size.
            call: The call that it is, or that it answers.
            gist: The size of its gist, for a result.
            group: Slots with the same one form a message.
            parts: The blocks of the item that it is.
            place: Where among what was not sent yet; by default at the end.
            is_words: Whether the person said it.
        """
        form = Form(kind, tokens)
        slot = Slot(slot_id, item, self.turn, form, form, call, gist, group, parts, is_words)
        self._enter(slot, len(self.tail) if place is None else place)
        if kind == "thinking":
            self._thoughts.append(slot)
        if kind == "result" and tokens > self.rules.long:
            self._long.append(slot)
        return slot

    def slots_of(self, item: str) -> Sequence[Slot]:
        """The slots of an item or of a window."""
        return self._of_item.get(item, ())

    def slots_of_call(self, call: str) -> Sequence[Slot]:
        """A call, its result, and the window blocks inside of it."""
        return self._of_call.get(call, ())

    def begin_turn(self) -> None:
        """Begin a turn: the thinking of the one before is not wanted any more."""
        self.turn, self.is_fresh = self.turn + 1, True
        self.forget_thinking()

    def is_thought(self, slot: Slot) -> bool:
        """Whether a slot is thinking of the turn under way."""
        return slot in self._thoughts

    def forget_thinking(self) -> None:
        """Leave out what was thought in this turn."""
        for slot in self._thoughts:
            if slot.full.kind == "thinking":  # an edit may have put words there
                self.want(slot, None, "thinking")
        self._thoughts = []

    def take_back(self, at: int) -> None:
        """Take everything from a place on as not sent: it is sent again, after room was made.

        Blocks of windows from there on are dropped; the windows are shown anew.
        """
        back = self.slots[at:]
        self._sums.cut(at)
        del self.slots[at:]
        self._outdated = [one for one in self._outdated if one < at]
        self.entries = {one: used for one, used in self.entries.items() if one <= at}
        for lists in self.lists.values():
            lists[:] = [one for one in lists if one[0] < at]
        for slot in back:
            slot.sent, slot.actions, slot.at, slot.first = None, "", -1, -1
            if slot.text:
                slot.want = None
                self._of_item[slot.item].remove(slot)
                if slot.call is not None:
                    self._of_call[slot.call].remove(slot)
        for view in self.present.values():
            if any(slot.at < 0 for slot in view.chain):
                for slot in view.chain:
                    self.want(slot, None, "broken")
                view.chain = []
        self.tail = [*(slot for slot in back if not slot.text), *self.tail]

    def answered(self) -> None:
        """Note that the model answered: what follows is within the turn."""
        self.is_fresh = False

    def show(self, window: str, kind: str, tokens: int, actions: int = 0) -> None:
        """Open a window, or open a closed one again: its version goes on rising."""
        view = self.views.setdefault(window, View(window, kind, tokens, actions, kind))
        self.present[window] = view
        is_same = not view.is_open and view.tokens == tokens
        view.is_open, view.tokens = True, tokens
        if not is_same:
            view.version, view.is_anew = view.version + 1, True

    def change(self, window: str, tokens: int, change: int, actions: int | None = None) -> None:
        """Change a window: its size now, and that of the change."""
        view = self.views[window]
        view.tokens, view.version = tokens, view.version + 1
        view.pending += change
        if actions is not None:
            view.actions, view.key = actions, f"{view.kind}#{window}.{view.version}"

    def update(
        self, window: str, kind: str, *, tokens: int, change: int | None, key: str, actions: int
    ) -> None:
        """Note how a window looks now, beside the last block that shows it.

        Args:
            window: Its id.
            kind: Its class.
            tokens: The size of a whole block, without its list of actions.
            change: The size of a block with what changed; None if no such block can express it,
                0 if nothing did.
            key: Its list of actions.
            actions: The size of that list.
        """
        view = self.views.setdefault(window, View(window, kind, tokens))
        self.present[window] = view
        view.is_open, view.tokens, view.key, view.actions = True, tokens, key, actions
        view.pending, view.is_anew = change or 0, change is None
        view.version = view.shown if change == 0 else max(view.version, view.shown) + 1

    def set_detail(self, window: str, tokens: int, *, for_room: bool = False) -> None:
        """Switch the level of detail; if that is to make room, the old blocks go at once."""
        view = self.views[window]
        view.tokens, view.version = tokens, view.version + 1
        view.is_anew, view.is_lowered = True, for_room

    def close(self, window: str) -> None:
        """Close a window."""
        self.views[window].is_open = False
        self._unsettled.add(window)

    def pin(self, item: str) -> None:
        """Keep an item whole."""
        self.pins.add(item)
        self._long = [slot for slot in self._long if slot.item != item]

    def is_pinned(self, item: str) -> bool:
        """Whether an item stays whole."""
        return item in self.pins

    def unpin(self, item: str) -> None:
        """Let an item become a gist again once it is old."""
        if item in self.pins:
            self.pins.discard(item)
            long = [slot for slot in self.slots_of(item) if self._is_long(slot, slot.want)]
            self._long = sorted({*self._long, *long}, key=self._order)

    def drop(self, item: str, reason: str = "dropped") -> None:
        """Hide an item together with the calls and results that it is paired with."""
        if item in self.views:
            self.views[item].is_dropped = True
            self._unsettled.add(item)
        own = [] if item in self.views else self._of_item.get(item, [])
        for slot in (*own, *self._paired(item)):
            self.want(slot, None, reason)

    def restore(self, item: str) -> None:
        """Show a dropped item again; an old result then stays whole."""
        if item in self.views:
            self.views[item].is_dropped = False
        for slot in (*self._of_item.get(item, []), *self._paired(item)):
            if slot.full.kind not in ("whole", "change", "thinking"):
                self.want(slot, slot.full, "restored")
                self.pin(slot.item)

    def edit(self, item: str, tokens: int) -> None:
        """Replace the text of an item."""
        for slot in self._of_item.get(item, []):
            if slot.want and slot.full.kind in ("text", "result"):
                slot.full = Form(slot.full.kind, tokens, slot.full.version + 1)
                slot.gist = min(slot.gist, tokens)
                self.want(slot, slot.full, "edited")

    def compact(self, old: Iterable[Slot], summary: str, tokens: int) -> Slot | None:
        """Replace slots with a summary, in the place of the first of them; return that place.

        Args:
            old: The slots, in order.
            summary: The item that holds the summary; empty if they are left out without one.
            tokens: The size of the summary.
        """
        gone = [slot for slot in old if slot.want]
        first = next((slot for slot in gone if slot.full.kind not in ("whole", "change")), None)
        for slot in gone:
            is_first = slot is first and bool(summary)
            form = Form("summary", tokens, source=summary) if is_first else None
            self.want(slot, form, "compacted" if summary else "trimmed")
        return first

    def ask_sweep(self) -> None:
        """Sweep everything that is outdated with the next request."""
        self._is_asked = True

    def switch(self, prices: CachePrices) -> None:
        """Another model, system prompt or tool list: the provider holds nothing of it."""
        self.prices, self.entries, self.last = prices, {}, -math.inf

    def use(self, prices: CachePrices, key: str) -> None:
        """Note for which model and tools the next request is; `key` names them."""
        self.prices, self.key = prices, key

    @property
    def head(self) -> Slot:
        """The slot of the system prompt."""
        return self._of_item[HEAD][0]

    def set_head(self, tokens: int, digest: str) -> None:
        """Note the system prompt: with another one the provider holds nothing of a request."""
        self.head.full = Form("text", tokens, source=digest)
        self.want(self.head, self.head.full, "system")

    def _is_other(self) -> bool:
        """Whether the model, its tools or the system prompt differ from the last request's."""
        is_other_head = self.head.at >= 0 and self.head.sent != self.head.want
        return is_other_head or (self.sent_key is not None and self.key != self.sent_key)

    # --- loading and saving --------------------------------------------------------------

    @property
    def up_to_date(self) -> int:
        """The tokens of the last request that are not outdated."""
        end = len(self.slots)
        return self._sums.before(end, _SIZE) - self._sums.before(end, _OUTDATED)

    def rebuild(self, slots: Iterable[Slot]) -> None:
        """Take these slots as all that were sent, and derive everything else from them."""
        self._sums, self.slots, self.lists, self._outdated = Sums(8), [], {}, []
        self._of_item, self._of_call = {}, {}
        for slot in slots:
            self._append(slot)
            self._register(slot)
            if slot.actions == "full" and slot.sent is not None:
                self._list(slot, slot.sent)
            self._count(slot)
        for slot in self.tail:
            self._register(slot)
        known = (*self.slots, *self.tail)
        self._long = [slot for slot in known if self._is_long(slot, slot.want)]
        if not self._thoughts:
            self._thoughts = [one for one in known if one.full.kind == "thinking" and one.want]
        self._unsettled = {
            view.id
            for view in self.present.values()
            if not view.is_open or view.is_dropped or any(not one.want for one in view.chain)
        }

    def rank(self, at: int) -> int:
        """How many slots in front of a place are in use: they show something, or are to do so.

        Logs name slots by their ranks: slots that are not in use leave with the next checkpoint.
        """
        return self._sums.before(at, _USED)

    def place(self, rank: int) -> int:
        """The place behind so many slots that are in use, and behind the message of the last."""
        at = self._sums.place(rank, _USED)
        while at < len(self.slots) and self.slots[at].first < at:
            at += 1
        return at

    def used(self, rank: int) -> Slot:
        """The slot in front of which so many are in use."""
        return self.slots[self._sums.place(rank + 1, _USED) - 1]

    def insert(self, at: int, new: Sequence[Slot]) -> None:
        """Put slots in front of a place that were not sent."""
        for slot in new:
            slot.sent, slot.since, slot.reason = None, self.requests, "restored"
        group, shift = self.slots[at - 1].group if at else "", len(new)
        is_inner = bool(group) and any(slot.group == group for slot in new)
        first = at if is_inner else at + 1  # a prefix ends with a whole message
        self.entries = {one + shift * (one >= first): used for one, used in self.entries.items()}
        self.rebuild([*self.slots[:at], *new, *self.slots[at:]])

    def compress(self, is_kept: Callable[[str], bool]) -> list[int]:
        """Drop the slots that show nothing any more; return the places of those that stay.

        Args:
            is_kept: Whether an item could be shown again.
        """
        kept = [
            slot
            for slot in self.slots
            if slot.sent or slot.want or slot.item == HEAD
            or (not slot.text and is_kept(slot.item))
        ]  # fmt: skip
        places = [slot.at for slot in kept]
        self.entries = {bisect_left(places, at): used for at, used in self.entries.items()}
        self.rebuild(kept)
        return places

    def _append(self, slot: Slot) -> None:
        before = self.slots[-1] if self.slots else None
        is_inner = before is not None and bool(slot.group) and before.group == slot.group
        slot.at = len(self.slots)
        slot.first = before.first if before is not None and is_inner else slot.at
        self.slots.append(slot)

    def _list(self, slot: Slot, form: Form) -> None:
        """Note a full list of actions."""
        lists = self.lists.setdefault(self.views[slot.item].kind, [])
        lists.append((slot.at, form.key or "", slot.item))

    # --- what is wanted ------------------------------------------------------------------

    def _enter(self, slot: Slot, at: int) -> None:
        self.tail.insert(at, slot)
        self._register(slot)

    def _register(self, slot: Slot) -> None:
        self._of_item.setdefault(slot.item, []).append(slot)
        if slot.call is not None:
            self._of_call.setdefault(slot.call, []).append(slot)

    def _paired(self, item: str) -> Iterator[Slot]:
        """The slots of the calls that an item made, or answers."""
        own = [slot for slot in self._of_item.get(item, []) if slot.full.kind in ("call", "result")]
        for call in {slot.call for slot in own if slot.call}:
            yield from self._of_call[call]

    def want(self, slot: Slot, form: Form | None, reason: str) -> None:
        """Set what a slot is to show from the next sweep on, and why."""
        if slot.want == form:
            return
        slot.want, slot.since, slot.reason = form, self.requests, self._lasting(slot) or reason
        if form is None and slot.item in self.views:
            self._unsettled.add(slot.item)
        if slot.full.kind == "result":
            self._long = [one for one in self._long if one is not slot]
            if self._is_long(slot, form):
                self._long = sorted([*self._long, slot], key=self._order)
        if slot.at >= 0:
            self._count(slot)

    def _lasting(self, slot: Slot) -> str:
        """Why what was sent of a slot has to go, whatever it is to show instead; or empty."""
        return slot.reason if slot.is_outdated and slot.reason in FORCED else ""

    def _is_long(self, slot: Slot, form: Form | None) -> bool:
        """Whether a slot is a long result that may become a gist."""
        is_long = form is not None and form.kind == "result" and form.tokens > self.rules.long
        return is_long and slot.item not in self.pins

    def _order(self, slot: Slot) -> int:
        return slot.at if slot.at >= 0 else len(self.slots) + self.tail.index(slot)

    def _count(self, slot: Slot) -> None:
        """Bring the sums up to date with a slot that was sent."""
        self._sums.put(slot.at, _row(slot, slot.want, slot.since))
        _keep(self._outdated, slot.at, slot.is_outdated)

    # --- planning ------------------------------------------------------------------------

    def plan(self, now: float, budget: int | None = None) -> Decision:
        """Decide what a request sent at this time contains. Changes nothing.

        Args:
            now: The time in seconds.
            budget: The most tokens that it may have; by default those of the rules.
        """
        most = self.rules.budget if budget is None else budget
        entries, limit = self._live(now), self.limit()
        made = self._planned(Decision(now, entries=entries, budget=most, limit=limit))
        if self._is_over(made):  # shorten what can be read again, before anything is left out
            tight = Decision(now, entries=entries, budget=most, limit=limit, is_tight=True)
            return self._planned(tight)
        return made

    def foresee(
        self, now: float, wants: Wants, dropped: Mapping[str, bool], limit: int | None = None
    ) -> tuple[int, int]:
        """The tokens of a request if slots wanted something else, and those the cache has of it.

        Args:
            now: The time in seconds.
            wants: What slots would want, and why.
            dropped: Windows that would be dropped, or shown again.
            limit: The first slot that may change; by default as it is now.
        """
        made = Decision(now, entries=self._live(now), wants=dict(wants), dropped=dict(dropped))
        made.limit = self.limit() if limit is None else limit
        self._planned(made)
        total = self._size_of(made)
        return total, self.size_before(self.held_of(made)) * (total >= self.prices.minimum)

    def held_of(self, made: Decision) -> int:
        """How many slots of a planned request the provider reads from its cache."""
        start = self.start_of(made)
        if not self.prices.marks:  # the provider keeps every prefix
            return min(made.held, start)
        return max((at for at in made.entries if at <= start), default=0)

    def start_of(self, made: Decision) -> int:
        """The first slot that a planned request writes anew or appends."""
        return made.offer.cut if made.offer else len(self.slots)

    def size_before(self, at: int) -> int:
        """The tokens that the last request had in front of a place."""
        return self._sums.before(at, _SIZE)

    def _size_of(self, made: Decision) -> int:
        """The tokens of a planned request, without looking at each slot that it rewrites."""
        start, end, before = self.start_of(made), len(self.slots), self._sums.before
        new = (*self.tail[: made.place], *made.new, *self.tail[made.place :])
        total = before(start, _SIZE) + before(end, _KEPT) - before(start, _KEPT)
        for slot, (form, _) in made.wants.items():
            if slot.at >= start:
                total += (form.tokens if form else 0) - (slot.want.tokens if slot.want else 0)
        total += sum(form.tokens for slot in new if (form := made.want_of(slot)))
        shown = [one for name in self.present for one in self._of_item.get(name, ())]
        windows = sorted((one for one in shown if one.at >= start), key=lambda one: one.at)
        listed = self._labelled((*windows, *new), made, start)
        return total + sum(size_of(form, label) - form.tokens for _, form, label in listed if form)

    def _is_over(self, made: Decision) -> bool:
        """Whether a planned request is over the budget although a sweep was made."""
        if not (made.budget and self._long):
            return False
        return self.size(made, self.written(made)) > made.budget

    def _planned(self, made: Decision) -> Decision:
        self._settle(made)
        place = self._place(made)
        if place is None:
            return made
        made.place, result = place
        for view in self.present.values():
            is_shown = bool(self._chain(view, made)) and view.shown == view.version
            if not (made.is_out(view) or is_shown):
                self._foresee(view, self._form_of(view, made), result, made)
        made.offer, made.reason = self._decide(made)
        if made.offer is not None:
            for view in self.present.values():
                chain = self._chain(view, made)
                if self.rules.fold and len(chain) > 1 and not 0 <= chain[0].at < made.offer.cut:
                    self._foresee(view, "whole", result, made)
        return made

    def written(self, made: Decision) -> list[tuple[Slot, Form | None, str]]:
        """What a planned request writes anew or appends: slots, their forms, and whether they list
        actions ("full") or refer to the list of another window ("ref:" and its id)."""
        start = self.start_of(made)
        tail = (*self.tail[: made.place], *made.new, *self.tail[made.place :])
        return list(self._labelled((*self.slots[start:], *tail), made, start))

    def _labelled(
        self, slots: Iterable[Slot], made: Decision, start: int
    ) -> Iterator[tuple[Slot, Form | None, str]]:
        """What slots behind a place will show, with how they list actions."""
        last: dict[str, tuple[str, str]] = {}
        for kind, lists in self.lists.items():
            if above := _from(start, lists):
                last[kind] = lists[above - 1][1:]
        for slot in slots:
            form, label = made.want_of(slot), ""
            if form is not None and form.key:
                kind = self.views[slot.item].kind
                key, owner = last.get(kind, ("", ""))
                label = f"ref:{owner}" if key == form.key else "full"
                if label == "full":
                    last[kind] = form.key, slot.item
            yield slot, form, label

    def size(self, made: Decision, rows: Iterable[tuple[Slot, Form | None, str]]) -> int:
        """The tokens of a planned request, with what `written` returned for it."""
        start = self.start_of(made)
        new = sum(size_of(form, label) for _, form, label in rows)
        return self._sums.before(start, _SIZE) + new

    def _live(self, now: float) -> dict[int, float]:
        """The prefixes that the provider still holds."""
        ttl, end = self.prices.ttl, len(self.slots)
        if self._is_other():
            return {}
        if self.prices.marks:
            return {at: used for at, used in self.entries.items() if abs(now - used) <= ttl}
        # A clock that was set back by more than an entry lives says nothing about its age.
        return {end: self.last} if abs(now - self.last) <= ttl and end else {}

    def _chain(self, view: View, made: Decision) -> list[Slot]:
        return made.chains.get(view.id, view.chain)

    def _retire(self, view: View, reason: str, made: Decision) -> None:
        for slot in self._chain(view, made):
            if made.want_of(slot) is not None:
                made.wants[slot] = None, reason
        made.chains[view.id] = []

    def _settle(self, made: Decision) -> None:
        """Foresee what closed and dropped windows, broken chains and old results want."""
        touched = {slot.item for slot in made.wants if slot.item in self.views}
        for name in sorted(self._unsettled | touched | made.dropped.keys()):
            view = self.views[name]
            if made.is_out(view):
                reason = "closed" if not (view.is_open or view.is_dropped) else "dropped"
                self._retire(view, reason, made)
                for slot in self._of_item.get(name, []):
                    if slot.sent is not None:  # superseded copies go with it
                        made.reasons[slot] = reason
            elif any(made.want_of(slot) is None for slot in view.chain):
                self._retire(view, "broken", made)  # a change without its base says nothing
        recent, reason = (0, "trimmed") if made.is_tight else (self.rules.recent, "old result")
        for slot in self._long[: max(0, len(self._long) - recent)]:
            if slot.at >= 0 and slot not in made.wants:  # the model has answered it
                made.wants[slot] = slot.gist_form(), self._lasting(slot) or reason

    def _place(self, made: Decision) -> tuple[int, Slot | None] | None:
        """Where new blocks go: before the words of a new turn, else inside the last result."""
        if self.is_fresh:
            words = (at for at, slot in enumerate(self.tail)
                     if slot.full.kind == "text" and slot.turn == self.turn)  # fmt: skip
            return next(words, len(self.tail)), None
        for at in range(len(self.tail) - 1, -1, -1):
            if self.tail[at].full.kind == "result" and made.want_of(self.tail[at]):
                return at + 1, self.tail[at]
        if self.tail and self.tail[-1].full.kind == "text" and self.tail[-1].is_words:
            first = len(self.tail) - 1
            while first and self.tail[first - 1].is_words:
                first -= 1
            return first, None
        return None

    def _form_of(self, view: View, made: Decision) -> Literal["whole", "change"]:
        chain = self._chain(view, made)
        told = sum(slot.full.tokens for slot in chain[1:]) + view.pending
        is_much = told > self.rules.whole_at * view.tokens
        return "whole" if view.is_anew or not chain or is_much else "change"

    def _foresee(
        self, view: View, kind: Literal["whole", "change"], result: Slot | None, made: Decision
    ) -> None:
        """Foresee a new block of a window."""
        is_whole, chain = kind == "whole", self._chain(view, made)
        if is_whole:
            self._retire(view, "lowered" if view.is_lowered else "superseded", made)
        listed = next((one.full.key for one in reversed(chain) if one.full.key), "")
        is_listed = (is_whole or view.key != listed) and bool(view.actions)
        form = Form(
            kind, view.tokens if is_whole else view.pending, view.version,
            view.key if is_listed else None, view.actions if is_listed else 0,
        )  # fmt: skip
        slot = Slot(f"{view.id}@{view.version}", view.id, self.turn, form, form)
        slot.since = self.requests
        if result is not None:
            slot.call, slot.group = result.call, result.group
        made.new.append(slot)
        made.chains[view.id] = [slot] if is_whole else [*chain, slot]

    # --- sweeps --------------------------------------------------------------------------

    @property
    def held(self) -> int:
        """The furthest place up to which the provider held the transcript at the last request."""
        return max(self.entries, default=0)

    def limit(self) -> int:
        """The first slot that may change: behind the last message with thinking of this turn.

        The model thought with what the request before contained: all of that is bound too, also
        while the message is dropped, since it can be restored. So are the results of that message
        while a call of it has to go, or to come back, with them.
        """
        bound = next((slot for slot in reversed(self._thoughts) if _binds(slot)), None)
        if bound is None:
            return 0
        message = self._of_item[bound.item]
        last = message[-1].at
        if last < 0:
            return len(self.slots)
        waiting = (slot.call for slot in message if slot.call is not None and slot.is_outdated)
        paired = (one.at for call in waiting for one in self._of_call[call])
        return max(last, max(paired, default=0)) + 1

    def offers(self, made: Decision) -> list[Offer]:
        """The sweeps that could pay: from each live cache entry, and from the first free slot.

        Of several entries in front of the same outdated slot only the last one can be best.
        """
        limit, end = made.limit, len(self.slots)
        heads = (self._chain(view, made) for view in self.present.values() if self.rules.fold)
        folds = {chain[0].at for chain in heads if len(chain) > 1}
        places = sorted({*self.wrong(limit, made), *(at for at in folds if limit <= at < end)})
        if not self.prices.marks:
            cuts = {limit, *(max(limit, self.slots[at].first) for at in places)}
            return [self.offer(cut, made) for cut in sorted(cuts) if cut < end]
        entries = sorted({max(limit, at) for at in made.entries} | {limit})
        cuts = {entries[bisect_right(entries, place) - 1] for place in places}
        return [self.offer(cut, made) for cut in sorted(cuts) if cut < end]

    def wrong(self, limit: int, made: Decision) -> list[int]:
        """The places of the slots that will be outdated, from one on."""
        places = {*self._outdated[bisect_left(self._outdated, limit) :]}
        for slot, (form, _) in made.wants.items():
            if slot.at >= limit:
                (places.add if slot.sent != form else places.discard)(slot.at)
        return sorted(places)

    def offer(self, cut: int, made: Decision) -> Offer:
        """What a sweep from a place would cost and save."""
        end, held, before = len(self.slots), made.held, self._sums.before
        saved = before(end, _SAVED) - before(cut, _SAVED)
        dated = before(end, _DATED) - before(cut, _DATED)
        kept = before(min(held, end), _KEPT) - before(cut, _KEPT) if cut < held else 0
        for slot, (form, _) in made.wants.items():
            if slot.at >= cut:
                old, new = _row(slot, slot.want, slot.since), _row(slot, form, self.requests)
                saved, dated = saved + new[_SAVED] - old[_SAVED], dated + new[_DATED] - old[_DATED]
                kept += new[_KEPT] - old[_KEPT] if slot.at < held else 0
        times = self.requests + self.rules.ahead
        rent = times * saved - dated
        for view in self.present.values():
            chain = self._chain(view, made)
            if self.rules.fold and len(chain) > 1 and chain[0].at >= cut:
                # It is folded: its whole block is written again, with the present state.
                for slot in chain[1:]:
                    size = slot.full.tokens
                    saved, rent = saved + size, rent + size * (times - slot.since)
                    kept -= size if 0 <= slot.at < held else 0
        hit = min(cut, held)
        if self.prices.marks:
            hit = max((one for one in made.entries if one <= cut), default=0)
            kept += before(min(cut, held), _SENT) - before(min(hit, held), _SENT)
        extra = self.prices.write - self.prices.read
        return Offer(cut, hit, self.prices.read * rent, extra * kept, saved)

    def _decide(self, made: Decision) -> tuple[Offer | None, str]:
        offers, wrong = self.offers(made), self.wrong(made.limit, made)
        now = self.rules.close == "now" or self.is_fresh
        reasons = [(at, made.reason_of(self.slots[at])) for at in wrong]
        must = [(at, why) for at, why in reasons if why in FORCED and (now or why != "closed")]
        forced, reason = must[0] if must else (None, "price" if made.entries else "cold")
        if self._is_asked and wrong and forced is None:
            forced, reason = wrong[0], "asked"
        best = None
        if forced is not None:  # what is behind it is written in any case
            offers = [one for one in offers if one.cut <= forced]
            best = max(offers, key=lambda one: one.gain)
        elif paying := [one for one in offers if one.saved > 0 and one.rent >= one.price]:
            best = max(paying, key=lambda one: one.gain)
        wider = self._for_room(offers, best, made)
        if wider:
            return wider, "room"
        made.cause = self.slots[must[0][0]].item if best and must else ""
        return best, reason if best else ""

    def _for_room(
        self, offers: Sequence[Offer], best: Offer | None, made: Decision
    ) -> Offer | None:
        """The cheapest sweep that makes room, where the request is over the budget."""
        budget, saved = made.budget, best.saved if best else 0
        new = sum(slot.want.tokens for slot in (*self.tail, *made.new) if slot.want)
        total = self._sums.before(len(self.slots), _SENT) + new
        if not budget or total - saved <= budget or not offers:
            return None
        enough = [one for one in offers if total - one.saved <= self.rules.room * budget]
        most = max(offers, key=lambda one: (one.saved, -one.price))
        wider = min(enough, key=lambda one: one.price) if enough else most
        return wider if wider.saved > saved else None

    # --- requests ------------------------------------------------------------------------

    def request(self, now: float) -> Request:
        """Plan the request of this time, and note it as sent."""
        return self.apply(self.plan(now))

    def apply(self, made: Decision, places: Sequence[int] | None = None) -> Request:
        """Note a planned request as sent.

        Args:
            made: What was decided.
            places: Behind how many slots in use its cache marks stood, if a log says so.
        """
        end, offer, rows = len(self.slots), made.offer, self.written(made)
        for slot, (form, reason) in made.wants.items():
            self.want(slot, form, reason)
        for slot, reason in made.reasons.items():
            slot.reason = reason
            self._count(slot)
        self._unsettled = set()
        for at, slot in enumerate(made.new, made.place):
            self._enter(slot, at)
        for name, chain in made.chains.items():
            view = self.views[name]
            view.chain = chain
            if chain and chain[-1] in made.new:
                view.shown, view.pending = chain[-1].full.version, 0
                view.is_anew = view.is_lowered = False
            if not (chain or view.is_open):
                self.present.pop(name, None)
        self.entries = made.entries
        if offer:
            self.entries = {at: used for at, used in made.entries.items() if at <= offer.cut}
            if not self.prices.marks and made.entries:
                self.entries = {offer.cut: self.last}
        start = offer.cut if offer else end
        self._write(start, rows)
        sweep = None
        if offer:
            after = self._sums.before(start, _BLOCKS)
            rent, price = round(offer.rent, 1), round(offer.price, 1)
            sweep = Sweep(after, made.reason, rent, price, offer.saved)
        return self._sent(made, (start, end), sweep, places)

    def undo_of(self, made: Decision) -> Callable[[], None]:
        """What undoes `apply` of this decision, if nothing else happens in between.

        A request counts once its answer begins: one that fails before is no request.
        """
        end, rows = len(self.slots), self.written(made)
        start = made.offer.cut if made.offer else end
        touched = {*(slot for slot, _, _ in rows), *made.wants, *made.reasons} - {*made.new}
        for view in self.present.values():
            touched.update(view.chain)
        slots = [(one, one.want, one.since, one.reason, one.sent, one.actions) for one in touched]
        views = {name: replace(view, chain=[*view.chain]) for name, view in self.present.items()}
        of_item = {name: [*self._of_item.get(name, ())] for name in self.present}
        lists = {kind: given[_from(start, given) :] for kind, given in self.lists.items()}
        tail, entries, unsettled = [*self.tail], dict(self.entries), {*self._unsettled}
        long, figures = [*self._long], (self.last, self._is_asked, self.sent_key, self.requests)

        def undo() -> None:
            self._sums.cut(end)
            for slot in self.slots[end:]:
                slot.at = slot.first = -1
            del self.slots[end:]
            del self._outdated[bisect_left(self._outdated, end) :]
            for slot, want, since, reason, sent, actions in slots:
                slot.want, slot.since, slot.reason = want, since, reason
                slot.sent, slot.actions = sent, actions
                if slot.at >= 0:
                    self._count(slot)
            for slot in made.new:
                if slot.call is not None:
                    self._of_call[slot.call].remove(slot)
                self._of_item[slot.item] = [one for one in self.slots_of(slot.item)
                                            if one is not slot]  # fmt: skip
            self._of_item.update(of_item)
            for kind, given in self.lists.items():
                given[_from(start, given) :] = lists.get(kind, [])
            self.present = {name: self.views[name] for name in views}
            for name, old in views.items():
                _restore(self.views[name], old)
            self.tail, self.entries, self._unsettled, self._long = tail, entries, unsettled, long
            self.last, self._is_asked, self.sent_key, self.requests = figures

        return undo

    def _write(self, start: int, rows: Iterable[tuple[Slot, Form | None, str]]) -> None:
        """Set `sent = want` for every slot from a place on, and append the new ones."""
        for lists in self.lists.values():
            while lists and lists[-1][0] >= start:
                lists.pop()
        for slot in self.tail:
            self._append(slot)
        for slot, form, label in rows:
            slot.sent, slot.actions = form, label
            if label == "full" and form is not None:
                self._list(slot, form)
            self._count(slot)
        self.tail = []
        for name in self.present:
            self._of_item[name] = [one for one in self._of_item.get(name, ()) if one.sent]

    def _sent(
        self, made: Decision, span: tuple[int, int], sweep: Sweep | None,
        given: Sequence[int] | None,
    ) -> Request:  # fmt: skip
        """Set the cache marks, and count what the provider reads and writes."""
        now, (start, end) = made.now, span
        size, held, minimum = len(self.slots), self.held, self.prices.minimum
        places = {1, self._anchor(end) or held, held, size} - {0}
        new = [slot for slot in self.slots[end:] if slot.sent and slot.sent.kind == "whole"]
        if new and len(places) < self.prices.marks:
            places.add(self._in_front_of(new[0], end))
        sizes = {at: self._sums.before(at, _SIZE) for at in (*places, held)}
        marks = [at for at in sorted(places) if sizes[at] >= minimum]
        ranks = [self.rank(at) for at in marks] if given is None else given
        marks = [self.place(rank) for rank in ranks if 0 <= rank <= self.rank(size)]
        is_cached, total = sizes[size] >= minimum, sizes[size]
        read = sizes[held] if is_cached else 0
        if not self.prices.marks:
            marks, self.entries = [], {size: now} if is_cached else {}
        self.entries |= {at: now for at in marks if at > held or at in self.entries}
        self.last, self._is_asked, self.sent_key = now, False, self.key
        self.requests += 1
        return Request(
            start,
            marks,
            [self._sums.before(at, _BLOCKS) for at in marks],
            sweep,
            self._sums.before(size, _OUTDATED),
            read,
            (total - read) * is_cached,
            total * (not is_cached),
            bool(made.budget) and total > (made.budget or 0),
        )

    def _anchor(self, end: int) -> int:
        """The entry from which the next sweep will begin: marked, it outlives its time."""
        limit, far = self.limit(), self.rules.anchor * self.prices.read
        found = [at for at in self.entries if limit <= at < end] if self.prices.marks else []
        chains = (view.chain for view in self.present.values())
        is_clean = not (self._outdated or any(len(chain) > 1 for chain in chains))
        if is_clean or not found:
            return max(found, default=0)
        made = Decision(self.last, entries=self.entries)

        def gain(at: int) -> tuple[float, int]:
            offer = self.offer(at, made)
            return far * offer.saved + offer.rent - offer.price, at

        return max(found, key=gain)

    def _in_front_of(self, slot: Slot, end: int) -> int:
        """The place in front of a new block; of one inside a result, in front of the result."""
        results = (
            one.first
            for one in self.slots[end:]
            if slot.call and one.call == slot.call and one.full.kind == "result"
        )
        return next(results, slot.first)


def _row(slot: Slot, want: Form | None, since: int) -> tuple[int, ...]:
    """The numbers of a slot that was sent, if it wants this since then."""
    sent, wanted = slot.sent.tokens if slot.sent else 0, want.tokens if want else 0
    net = sent - wanted if slot.sent != want else 0
    size, carried = size_of(slot.sent, slot.actions), sent if slot.sent != want else 0
    is_used = slot.sent is not None or want is not None
    return (net, net * since, wanted, size, int(slot.sent is not None), sent, carried, int(is_used))


def _from(start: int, lists: Sequence[tuple[int, str, str]]) -> int:
    """How many lists of actions stand in front of a place."""
    return bisect_left(lists, start, key=lambda one: one[0])


def _restore(view: View, old: View) -> None:
    """Give a window what it had before a request."""
    view.chain, view.shown = old.chain, old.shown
    view.version, view.pending, view.key = old.version, old.pending, old.key
    view.is_anew, view.is_lowered = old.is_anew, old.is_lowered


def _binds(slot: Slot) -> bool:
    """Whether a slot is thinking, or was when it was sent: an edit may have put words there."""
    return "thinking" in (slot.full.kind, slot.sent.kind if slot.sent else "")


def _keep(places: list[int], at: int, is_in: bool) -> None:
    """Add a place to a sorted list, or take it out."""
    where = bisect_left(places, at)
    is_there = where < len(places) and places[where] == at
    if is_in and not is_there:
        insort(places, at)
    elif is_there and not is_in:
        del places[where]


def blocks(slots: Iterable[Slot]) -> Iterator[tuple[str, str, int, str]]:
    """The blocks that slots show: id, kind, tokens with the list of actions, and that list."""
    for slot in slots:
        if slot.sent is not None:
            yield slot.id, slot.sent.kind, size_of(slot.sent, slot.actions), slot.actions


def cost(requests: Iterable[Request], prices: CachePrices) -> float:
    """The price of requests, in input tokens."""
    return sum(prices.read * one.read + prices.write * one.written + one.plain for one in requests)
