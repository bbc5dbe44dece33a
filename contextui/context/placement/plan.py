"""Decide what a request contains, and whether outdated content is removed. Changes nothing."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Literal

from contextui.context.placement.slots import Decision, Form, Offer, Slot, View, size_of
from contextui.context.placement.state import DATED, FORCED, KEPT, SAVED, SENT, SIZE, State, row

Wants = Mapping[Slot, tuple[Form | None, str]]
"""What slots want, and why."""


class Planner(State):
    """Plans requests; `plan` is a function of the state and the time."""

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
        self,
        now: float,
        wants: Wants,
        dropped: Mapping[str, bool],
        limit: int | None = None,
        *,
        sweeps: bool = False,
    ) -> tuple[int, int]:
        """The tokens of a request if slots wanted something else, and those the cache has of it.

        Args:
            now: The time in seconds.
            wants: What slots would want, and why.
            dropped: Windows that would be dropped, or shown again.
            limit: The first slot that may change; by default as it is now.
            sweeps: Whether everything outdated would be swept.
        """
        made = Decision(now, entries=self._live(now), wants=dict(wants), dropped=dict(dropped))
        made.limit = self.limit() if limit is None else limit
        asked, self._is_asked = self._is_asked, self._is_asked or sweeps
        self._planned(made)
        self._is_asked = asked
        total = self._size_of(made)
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
        """The tokens that the last request had in front of a place."""
        return self._sums.before(at, SIZE)

    def _size_of(self, made: Decision) -> int:
        """The tokens of a planned request, without looking at each slot that it rewrites."""
        start, end, before = self.start_of(made), len(self.slots), self._sums.before
        new = (*self.tail[: made.place], *made.new, *self.tail[made.place :])
        total = before(start, SIZE) + before(end, KEPT) - before(start, KEPT)
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
        """What a planned request rewrites or appends: slots, their forms, and whether they list
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
            if above := lists_before(lists, start):
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
        return self._sums.before(start, SIZE) + new

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

    # --- sweeps ------------------------------------------------------------------------------

    @property
    def held(self) -> int:
        """The furthest place up to which the provider held the transcript at the last request."""
        return max(self.entries, default=0)

    def limit(self) -> int:
        """The first slot that may change: behind the last message with thinking of this turn.

        The model thought with what the request before contained: all of that is bound too. So are
        the results of that message while a call of it has to go, or to come back, with them. An
        answer that missed a request because it was dropped then comes back when the turn ends.
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
        hit = min(cut, held)
        if self.prices.marks:
            hit = max((one for one in made.entries if one <= cut), default=0)
            kept += before(min(cut, held), SENT) - before(min(hit, held), SENT)
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
        total = self._sums.before(len(self.slots), SENT) + new
        if not budget or total - saved <= budget or not offers:
            return None
        enough = [one for one in offers if total - one.saved <= self.rules.room * budget]
        most = max(offers, key=lambda one: (one.saved, -one.price))
        wider = min(enough, key=lambda one: one.price) if enough else most
        return wider if wider.saved > saved else None


def lists_before(lists: Sequence[tuple[int, str, str]], start: int) -> int:
    """How many lists of actions stand in front of a place."""
    return bisect_left(lists, start, key=lambda one: one[0])


def _binds(slot: Slot) -> bool:
    """Whether a slot shows thinking, or did and may not change while its turn runs."""
    return any(form is not None and form.kind == "thinking" for form in (slot.sent, slot.want))
