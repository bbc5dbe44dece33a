"""Note planned requests as sent, and take back those that failed."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from contextui.context.placement.plan import Planner, lists_before
from contextui.context.placement.slots import Decision, Form, Request, Slot, Sweep, View, size_of
from contextui.context.placement.state import BLOCKS, OUTDATED, SIZE
from contextui.model import CachePrices


class Transcript(Planner):
    """The transcript of a conversation. Tell it what happens; `request` decides what is sent."""

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
                view.is_new = view.is_lowered = False
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
            after = self._sums.before(start, BLOCKS)
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
        lists = {kind: given[lists_before(given, start) :] for kind, given in self.lists.items()}
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
                given[lists_before(given, start) :] = lists.get(kind, [])
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
        sizes = {at: self._sums.before(at, SIZE) for at in (*places, held)}
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
        """The place in front of a new block; of one inside a result, in front of the result."""
        results = (
            one.first
            for one in self.slots[end:]
            if slot.call and one.call == slot.call and one.full.kind == "result"
        )
        return next(results, slot.first)


def _restore(view: View, old: View) -> None:
    """Give a window what it had before a request."""
    view.chain, view.shown = old.chain, old.shown
    view.version, view.pending, view.key = old.version, old.pending, old.key
    view.is_new, view.is_lowered = old.is_new, old.is_lowered


def blocks(slots: Iterable[Slot]) -> Iterator[tuple[str, str, int, str]]:
    """The blocks that slots show: id, kind, tokens with the list of actions, and that list."""
    for slot in slots:
        if slot.sent is not None:
            yield slot.id, slot.sent.kind, size_of(slot.sent, slot.actions), slot.actions


def cost(requests: Iterable[Request], prices: CachePrices) -> float:
    """The price of requests, in input tokens."""
    return sum(prices.read * one.read + prices.write * one.written + one.plain for one in requests)
