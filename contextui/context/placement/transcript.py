"""The transcript of a conversation: what was sent, what is wanted, and when the two are made equal.

Everything that happens only sets what slots want. `plan` decides from that what a request contains,
`apply` notes it as sent. Each takes a pass over the slots, of which a budget keeps few thousands.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
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

# The columns of the sums: outdated tokens, these times `since`, wanted tokens, sent tokens with
# lists of actions, blocks, sent tokens alone, sent tokens of outdated slots, and slots in use.
SAVED, DATED, KEPT, SIZE, BLOCKS, SENT, OUTDATED, USED = range(8)

AFTER_SYSTEM = 1
"""The place of the mark after tools and system prompt, which are the first slot."""

Row = tuple[Slot, Form | None, str]
"""A slot, the form that it shows, and how it lists actions."""

Wants = Mapping[Slot, tuple[Form | None, str]]
"""What slots want, and why."""


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
        self._sums = Sums()
        self._outdated: set[Slot] = set()
        self._results: list[Slot] = []  # of calls, in order, as far as they were sent
        self.pins: set[str] = set()
        self.entries: dict[int, float] = {}  # prefixes that the provider holds: when last used
        self._of_item: dict[str, list[Slot]] = {}
        self._of_call: dict[str, list[Slot]] = {}
        self.thoughts: list[Slot] = []  # thinking of the turn under way
        self.turn, self.is_fresh, self._is_asked, self.last = -1, False, False, -math.inf
        self.key: str | None = None  # the model and its tools
        self.sent_key: str | None = None  # those of the last request
        self.add(HEAD, HEAD, "text", head)

    # --- what happens ------------------------------------------------------------------------

    def add(
        self, slot_id: str, item: str, kind: Kind, tokens: int, *, call: str | None = None,
        gist: int = 0, group: str = "", parts: tuple[int, ...] = (), place: int | None = None,
        is_words: bool = False,
    ) -> Slot:  # fmt: skip
        """Append something that was said, called or returned."""
        form = Form(kind, tokens)
        slot = Slot(slot_id, item, self.turn, form, form, call, gist, group, parts, is_words)
        self._enter(slot, len(self.tail) if place is None else place)
        if kind == "thinking":
            self.thoughts.append(slot)
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

    def forget_thinking(self) -> None:
        """Leave out what was thought in this turn."""
        for slot in self.thoughts:
            if slot.full.kind == "thinking":  # an edit may have put words there
                self.want(slot, None, "thinking")
        self.thoughts = []

    def take_back(self, at: int) -> None:
        """Take everything from a place on as not sent: it is sent again, after room was made.

        Blocks of windows from there on are dropped; the windows get new whole blocks.
        """
        back = self.slots[at:]
        self._outdated.difference_update(back)
        self._sums.cut(at)
        del self.slots[at:]
        self.entries = {one: used for one, used in self.entries.items() if one <= at}
        for slot in back:
            slot.sent, slot.actions, slot.at, slot.first = None, "", -1, -1
            if slot.text:
                slot.want = None
                self._of_item[slot.item].remove(slot)
                if slot.call is not None:
                    self._of_call[slot.call].remove(slot)
        self._results = [slot for slot in self._results if slot.at >= 0]
        for view in self.present.values():
            if any(slot.at < 0 for slot in view.chain):
                for slot in view.chain:
                    self.want(slot, None, "broken")
                view.chain = []
        self.tail = [*(slot for slot in back if not slot.text), *self.tail]

    def answered(self) -> None:
        """Note that the model answered: what follows is within the turn."""
        self.is_fresh = False

    def update(
        self, window: str, kind: str, *, tokens: int, change: int | None, key: str, actions: int
    ) -> None:
        """Note how a window looks now, beside the last block that shows it."""
        view = self.views.setdefault(window, View(window, kind, tokens))
        self.present[window] = view
        view.is_open, view.tokens, view.key, view.actions = True, tokens, key, actions
        view.pending, view.is_new = change or 0, change is None
        view.version = view.shown if change == 0 else max(view.version, view.shown) + 1

    def close(self, window: str) -> None:
        """Close a window."""
        self.views[window].is_open = False

    def show(self, window: str, *, is_dropped: bool) -> None:
        """Hide a window, or show it again."""
        self.views[window].is_dropped = is_dropped

    def compact(self, old: Iterable[Slot], summary: str, tokens: int) -> Slot | None:
        """Replace slots with a summary, in the place of the first of them; return that place."""
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

    # --- loading and saving ------------------------------------------------------------------

    @property
    def up_to_date(self) -> int:
        """The tokens of the last request that are not outdated."""
        end = len(self.slots)
        return self._sums.before(end, SIZE) - self._sums.before(end, OUTDATED)

    def rebuild(self, slots: Iterable[Slot]) -> None:
        """Take these slots as all that were sent, and derive everything else from them."""
        self._sums, self.slots, self._results, self._outdated = Sums(), [], [], set()
        self._of_item, self._of_call = {}, {}
        for slot in slots:
            self._append(slot)
            self._register(slot)
            self._count(slot)
        for slot in self.tail:
            self._register(slot)
        if not self.thoughts:
            known = (*self.slots, *self.tail)
            self.thoughts = [one for one in known if one.full.kind == "thinking" and one.want]

    def rank(self, at: int) -> int:
        """How many slots before a place are in use: they show something, or are to do so.

        Logs name slots by their ranks: slots that are not in use leave with the next checkpoint.
        """
        return self._sums.before(at, USED)

    def place(self, rank: int) -> int:
        """The place after so many slots that are in use, and after the message of the last."""
        at = self._sums.place(rank, USED)
        while at < len(self.slots) and self.slots[at].first < at:
            at += 1
        return at

    def used(self, rank: int) -> Slot:
        """The slot before which so many are in use."""
        return self.slots[self._sums.place(rank + 1, USED) - 1]

    def insert(self, at: int, new: Sequence[Slot]) -> None:
        """Put slots before a place that were not sent."""
        for slot in new:
            slot.sent, slot.since, slot.reason = None, self.requests, "restored"
        group, shift = self.slots[at - 1].group if at else "", len(new)
        is_inner = bool(group) and any(slot.group == group for slot in new)
        first = at if is_inner else at + 1  # a prefix ends with a whole message
        self.entries = {one + shift * (one >= first): used for one, used in self.entries.items()}
        self.rebuild([*self.slots[:at], *new, *self.slots[at:]])

    def compress(self, is_kept: Callable[[str], bool]) -> list[int]:
        """Drop the slots that show nothing any more; return the places of those that stay."""
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
        if slot.full.kind == "result":
            self._results.append(slot)

    # --- what is wanted ----------------------------------------------------------------------

    def _enter(self, slot: Slot, at: int) -> None:
        self.tail.insert(at, slot)
        self._register(slot)

    def _register(self, slot: Slot) -> None:
        self._of_item.setdefault(slot.item, []).append(slot)
        if slot.call is not None:
            self._of_call.setdefault(slot.call, []).append(slot)

    def want(self, slot: Slot, form: Form | None, reason: str) -> None:
        """Set what a slot is to show from the next sweep on, and why."""
        if slot.want == form:
            return
        slot.want, slot.since, slot.reason = form, self.requests, self._lasting(slot) or reason
        if slot.at >= 0:
            self._count(slot)

    def _lasting(self, slot: Slot) -> str:
        """Why what was sent of a slot has to go, whatever it is to show instead; or empty."""
        return slot.reason if slot.is_outdated and slot.reason in FORCED else ""

    def _count(self, slot: Slot) -> None:
        """Bring the sums, and what is outdated, up to date with a slot that was sent."""
        self._sums.put(slot.at, row(slot, slot.want, slot.since))
        (self._outdated.add if slot.is_outdated else self._outdated.discard)(slot)

    # --- planning ----------------------------------------------------------------------------

    def plan(self, now: float, budget: int | None = None) -> Decision:
        """Decide what a request sent at this time contains. Changes nothing."""
        most = self.rules.budget if budget is None else budget
        entries, limit = self._live(now), self.limit()
        made = self._planned(Decision(now, entries=entries, budget=most, limit=limit))
        if most and self._long() and self.size(made, self.written(made)) > most:
            # Shorten what can be read again, before anything is left out.
            tight = Decision(now, entries=entries, budget=most, limit=limit, is_tight=True)
            return self._planned(tight)
        return made

    def foresee(
        self,
        now: float,
        wants: Wants,
        dropped: Mapping[str, bool],
        limit: int | None = None,
        *,
        sweeps: bool = False,
    ) -> tuple[int, int]:
        """The tokens of a request if slots wanted something else, and those the cache has of it."""
        made = Decision(now, entries=self._live(now), wants=dict(wants), dropped=dict(dropped))
        made.limit = self.limit() if limit is None else limit
        asked, self._is_asked = self._is_asked, self._is_asked or sweeps
        self._planned(made)
        self._is_asked = asked
        total = self.size(made, self.written(made))
        return total, self.size_before(self.held_of(made)) * (total >= self.prices.minimum)

    def held_of(self, made: Decision) -> int:
        """How many slots of a planned request the provider reads from its cache."""
        start = self.start_of(made)
        if not self.prices.marks:  # the provider keeps every prefix
            return min(made.held, start)
        return max((at for at in made.entries if at <= start), default=0)

    def start_of(self, made: Decision) -> int:
        """The first slot that a planned request rewrites or appends."""
        return made.offer.cut if made.offer else len(self.slots)

    def size_before(self, at: int) -> int:
        """The tokens that the last request had before a place."""
        return self._sums.before(at, SIZE)

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

    def written(self, made: Decision) -> list[Row]:
        """What a planned request rewrites or appends: slots, their forms, and whether they list
        actions ("full") or refer to the list of another window ("ref:" and its id)."""
        start = self.start_of(made)
        tail = (*self.tail[: made.place], *made.new, *self.tail[made.place :])
        return list(self._labelled((*self.slots[start:], *tail), made, start))

    def _labelled(self, slots: Iterable[Slot], made: Decision, start: int) -> Iterator[Row]:
        last: dict[str, tuple[str, str]] = {}  # of each class: the list, and the window with it
        blocks = (slot for name in self.views for slot in self._of_item.get(name, []))
        listing = (slot for slot in blocks if slot.actions == "full" and 0 <= slot.at < start)
        for slot in sorted(listing, key=lambda slot: slot.at):
            if slot.sent is not None:
                last[self.views[slot.item].kind] = slot.sent.key or "", slot.item
        for slot in slots:
            form, label = made.want_of(slot), ""
            if form is not None and form.key:
                kind = self.views[slot.item].kind
                key, owner = last.get(kind, ("", ""))
                label = f"ref:{owner}" if key == form.key else "full"
                if label == "full":
                    last[kind] = form.key, slot.item
            yield slot, form, label

    def size(self, made: Decision, rows: Iterable[Row]) -> int:
        """The tokens of a planned request, with what `written` returned for it."""
        start = self.start_of(made)
        new = sum(size_of(form, label) for _, form, label in rows)
        return self._sums.before(start, SIZE) + new

    def _live(self, now: float) -> dict[int, float]:
        ttl, end = self.prices.ttl, len(self.slots)
        # The model, its tools or the system prompt may differ from the last request's.
        is_other_head = self.head.at >= 0 and self.head.is_outdated
        if is_other_head or (self.sent_key is not None and self.key != self.sent_key):
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
        for name in sorted(touched | self.present.keys() | made.dropped.keys()):
            view = self.views[name]
            if made.is_out(view):
                reason = "closed" if not (view.is_open or view.is_dropped) else "dropped"
                self._retire(view, reason, made)
                for slot in self._of_item.get(name, []):
                    if slot.sent is not None and made.reason_of(slot) != reason:
                        made.reasons[slot] = reason  # superseded copies go with it
            elif any(made.want_of(slot) is None for slot in view.chain):
                self._retire(view, "broken", made)  # a change without its base says nothing
        long, reason = self._long(), "trimmed"
        if not made.is_tight:
            long, reason = long[: max(0, len(long) - self.rules.recent)], "old result"
        for slot in long:
            if slot.at >= 0 and slot not in made.wants:  # the model has answered it
                made.wants[slot] = slot.gist_form(), self._lasting(slot) or reason

    def _long(self) -> list[Slot]:
        """The long results that are shown whole and may become gists, in order."""
        return [
            slot
            for slot in (*self._results, *self.tail)
            if slot.want is not None and slot.want.kind == "result"
            if slot.want.tokens > self.rules.long and slot.item not in self.pins
        ]

    def _place(self, made: Decision) -> tuple[int, Slot | None] | None:
        """Where new blocks go: before the words of a new turn, else inside the last result."""
        if self.is_fresh:
            words = (at for at, slot in enumerate(self.tail)
                     if slot.full.kind == "text" and slot.turn == self.turn)  # fmt: skip
            return next(words, len(self.tail)), None
        for at in range(len(self.tail) - 1, -1, -1):
            if self.tail[at].full.kind == "result" and made.want_of(self.tail[at]):
                return at + 1, self.tail[at]
        shown = [at for at, slot in enumerate(self.tail) if made.want_of(slot)]
        said = takewhile(lambda at: self.tail[at].is_words, reversed(shown))
        first = min(said, default=None)
        return (first, None) if first is not None else None

    def _form_of(self, view: View, made: Decision) -> Literal["whole", "change"]:
        chain = self._chain(view, made)
        changes = sum(slot.full.tokens for slot in chain[1:]) + view.pending
        is_much = changes > self.rules.whole_at * view.tokens
        return "whole" if view.is_new or not chain or is_much else "change"

    def _foresee(
        self, view: View, kind: Literal["whole", "change"], result: Slot | None, made: Decision
    ) -> None:
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

    # --- sweeps ------------------------------------------------------------------------------

    def limit(self) -> int:
        """The first slot that may change: after the last message with thinking of this turn.

        The model thought with what the request before contained: all of that is bound too. So are
        the results of that message while a call of it has to go, or to come back, with them. An
        answer that missed a request because it was dropped then comes back when the turn ends.
        """
        bound = next((slot for slot in reversed(self.thoughts) if _binds(slot)), None)
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

        Of several entries before the same outdated slot only the last one can be best.
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
        places = {slot.at for slot in self._outdated if slot.at >= limit}
        for slot, (form, _) in made.wants.items():
            if slot.at >= limit:
                (places.add if slot.sent != form else places.discard)(slot.at)
        return sorted(places)

    def offer(self, cut: int, made: Decision) -> Offer:
        """What a sweep from a place would cost and save."""
        end, held, before = len(self.slots), made.held, self._sums.before
        saved = before(end, SAVED) - before(cut, SAVED)
        dated = before(end, DATED) - before(cut, DATED)
        kept = before(min(held, end), KEPT) - before(cut, KEPT) if cut < held else 0
        for slot, (form, _) in made.wants.items():
            if slot.at >= cut:
                old, new = row(slot, slot.want, slot.since), row(slot, form, self.requests)
                saved, dated = saved + new[SAVED] - old[SAVED], dated + new[DATED] - old[DATED]
                kept += new[KEPT] - old[KEPT] if slot.at < held else 0
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
        if self.prices.marks:
            hit = max((entry for entry in made.entries if entry <= cut), default=0)
            kept += before(min(cut, held), SENT) - before(min(hit, held), SENT)
        extra = self.prices.write - self.prices.read
        return Offer(cut, self.prices.read * rent, extra * kept, saved)

    def _decide(self, made: Decision) -> tuple[Offer | None, str]:
        offers, wrong = self.offers(made), self.wrong(made.limit, made)
        now = self.rules.close == "now" or self.is_fresh
        reasons = [(at, made.reason_of(self.slots[at])) for at in wrong]
        must = [(at, why) for at, why in reasons if why in FORCED and (now or why != "closed")]
        forced, reason = must[0] if must else (None, "price" if made.entries else "cold")
        if self._is_asked and wrong:  # everything, also where something else forces a part
            forced, reason = wrong[0], reason if must else "asked"
        best = None
        if forced is not None:  # what is after it is written in any case
            offers = [offer for offer in offers if offer.cut <= forced]
            best = max(offers, key=lambda one: one.gain)
        elif paying := [offer for offer in offers if offer.saved > 0 and offer.rent >= offer.price]:
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
        total = self._sums.before(len(self.slots), SENT) + new
        if not budget or total - saved <= budget or not offers:
            return None
        enough = [offer for offer in offers if total - offer.saved <= self.rules.room * budget]
        most = max(offers, key=lambda one: (one.saved, -one.price))
        wider = min(enough, key=lambda one: one.price) if enough else most
        return wider if wider.saved > saved else None

    # --- sending -----------------------------------------------------------------------------

    def apply(self, made: Decision, places: Sequence[int] | None = None) -> Request:
        """Note a planned request as sent."""
        end, offer, rows = len(self.slots), made.offer, self.written(made)
        for slot, (form, reason) in made.wants.items():
            self.want(slot, form, reason)
        for slot, reason in made.reasons.items():
            slot.reason = reason
            self._count(slot)
        for at, slot in enumerate(made.new, made.place):
            self._enter(slot, at)
        for name, chain in made.chains.items():
            view = self.views[name]
            view.chain = chain
            if chain and chain[-1] in made.new:
                view.shown, view.pending = chain[-1].full.version, 0
                view.is_new = view.is_lowered = False
            if not (chain or view.is_open):
                self.present.pop(name, None)
        self.entries = made.entries
        if offer:
            self.entries = {at: used for at, used in made.entries.items() if at <= offer.cut}
            if not self.prices.marks and made.entries:
                self.entries = {offer.cut: self.last}
        start = offer.cut if offer else end
        self._write(rows)
        sweep = None
        if offer:
            after = self._sums.before(start, BLOCKS)
            rent, price = round(offer.rent, 1), round(offer.price, 1)
            sweep = Sweep(after, made.reason, rent, price, offer.saved)
        return self._sent(made, (start, end), sweep, places)

    def undo_of(self, made: Decision) -> Callable[[], None]:
        """Return what takes a request back that is about to be applied.

        A request counts once its answer begins: one that fails before does not.
        """
        start, end = self.start_of(made), len(self.slots)
        slots, tail = self.slots[start:], [*self.tail]
        fields = [
            (one, one.want, one.since, one.reason, one.sent, one.actions)
            for one in {*slots, *tail, *made.wants, *made.reasons}
        ]
        present = {name: replace(view, chain=[*view.chain]) for name, view in self.present.items()}
        figures = dict(self.entries), self.last, self._is_asked, self.sent_key, self.requests

        def go_back() -> None:
            for slot in self.slots[end:]:
                slot.at = slot.first = -1
            for slot, want, since, reason, sent, actions in fields:
                slot.want, slot.since, slot.reason = want, since, reason
                slot.sent, slot.actions = sent, actions
            self.views |= present
            self.present, self.tail = present, tail
            self.entries, self.last, self._is_asked, self.sent_key, self.requests = figures
            self.rebuild([*self.slots[:start], *slots])

        return go_back

    def _write(self, rows: Iterable[Row]) -> None:
        """Set `sent = want` for every slot from a place on, and append the new ones."""
        for slot in self.tail:
            self._append(slot)
        for slot, form, label in rows:
            slot.sent, slot.actions = form, label
            self._count(slot)
        self.tail = []

    def _sent(
        self, made: Decision, span: tuple[int, int], sweep: Sweep | None,
        given: Sequence[int] | None,
    ) -> Request:  # fmt: skip
        """Set the cache marks, and count what the provider reads and writes."""
        now, (start, end) = made.now, span
        size, held = len(self.slots), max(self.entries, default=0)
        places = {AFTER_SYSTEM, self._anchor(end) or held, held, size} - {0}
        new = [slot for slot in self.slots[end:] if slot.sent and slot.sent.kind == "whole"]
        if new and len(places) < self.prices.marks:
            places.add(self._in_front_of(new[0], end))
        sizes = {at: self._sums.before(at, SIZE) for at in (*places, held)}
        marks = [at for at in sorted(places) if sizes[at] >= self.prices.minimum]
        ranks = [self.rank(at) for at in marks] if given is None else given
        marks = [self.place(rank) for rank in ranks if 0 <= rank <= self.rank(size)]
        is_cached, total = sizes[size] >= self.prices.minimum, sizes[size]
        read = sizes[held] if is_cached else 0
        if not self.prices.marks:
            marks, self.entries = [], {size: now} if is_cached else {}
        self.entries |= {at: now for at in marks if at > held or at in self.entries}
        self.last, self._is_asked, self.sent_key = now, False, self.key
        self.requests += 1
        return Request(
            start,
            marks,
            [self._sums.before(at, BLOCKS) for at in marks],
            sweep,
            self._sums.before(size, OUTDATED),
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
        """The place before a new block; of one inside a result, before the result."""
        results = (
            one.first
            for one in self.slots[end:]
            if slot.call and one.call == slot.call and one.full.kind == "result"
        )
        return next(results, slot.first)


def row(slot: Slot, want: Form | None, since: int) -> tuple[int, ...]:
    """The numbers of a slot that was sent, if it wants this since then."""
    sent, wanted = slot.sent.tokens if slot.sent else 0, want.tokens if want else 0
    net = sent - wanted if slot.sent != want else 0
    size, carried = size_of(slot.sent, slot.actions), sent if slot.sent != want else 0
    is_used = slot.sent is not None or want is not None
    return (net, net * since, wanted, size, int(slot.sent is not None), sent, carried, int(is_used))


def _binds(slot: Slot) -> bool:
    """Whether a slot shows thinking, or did and may not change while its turn runs."""
    return any(form is not None and form.kind == "thinking" for form in (slot.sent, slot.want))
