"""The cost of changing an item: per turn, once, and when it breaks even.

Everything after a changed item leaves the provider's cache and is written to it again, for example
at 1.25 instead of 0.1 of the price. What is saved would have been read from the cache. By price,
the context plans the next request with and without the change; the difference is the cost.
"""

import math
import threading
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate

from contextui.context.item import ContextItem, ItemType
from contextui.context.placement.figures import Change, Forecast
from contextui.model import CachePrices
from contextui.tui.inspector.labels import has_gist, is_gist, size
from contextui.tui.inspector.look import Look
from contextui.tui.inspector.rows import Row
from contextui.windowing.snapshot import ContextVersion, Lod
from contextui.windowing.window import Window

MANY_TURNS = 20
"""A change that breaks even only after more turns than this needs confirmation."""


@dataclass(frozen=True, slots=True)
class Price:
    """The cost of a change, in tokens.

    Attributes:
        each: Tokens more or fewer per turn; None if it depends on the person's edit.
        once: Tokens that are written to the cache again.
        prices: What the provider charges.
    """

    each: int | None = 0
    once: int = 0
    prices: CachePrices = field(default_factory=CachePrices)

    @property
    def pays_back(self) -> float | None:
        """The turns until it breaks even; None if never."""
        if self.each is None or self.each >= 0:
            return None
        prices = self.prices
        extra, saved = (prices.write - prices.read) * self.once, prices.read * -self.each
        if extra <= 0:
            return 0.0
        return extra / saved if saved else None

    @property
    def is_dear(self) -> bool:
        """Whether the change needs confirmation: it is to save tokens, and costs more.

        One that adds tokens is not made to save any.
        """
        if self.each is None or self.each > 0 or (not self.each and not self.once):
            return False
        return self.pays_back is None or self.pays_back > MANY_TURNS


@dataclass(frozen=True, slots=True)
class Offer:
    """A possible change of an item.

    Attributes:
        key: The key that applies it.
        name: Its name.
        price: Its cost; None while it is being counted.
        lod: The level of detail that it selects.
    """

    key: str
    name: str
    price: Price | None
    lod: Lod | None = None


class Prices:
    """Returns the possible changes of items with their costs.

    Args:
        look: The snapshot.
        before: The prices of the previous snapshot, whose counts are reused if still valid.
    """

    def __init__(self, look: Look, before: "Prices | None" = None) -> None:
        self.look = look
        self._forecasts: dict[tuple[Change, str], Price] = {}
        if before is not None and before._state == self._state:
            if look.composition.plan is None:
                self._cached = before._cached
            self._forecasts = before._forecasts

    @property
    def _state(self) -> tuple[object, ...]:
        """What the cached part depends on."""
        composition = self.look.composition
        look = self.look
        plan = id(composition.plan)
        return id(look.context), composition.generation, look.cached, look.knows_cache, plan

    def offers(self, row: Row, sizes: dict[Lod, int | None]) -> list[Offer]:
        """Return the possible changes of a row's item.

        Args:
            row: The row.
            sizes: The window's tokens at all levels of detail, as far as known.
        """
        item = row.item
        pin = Offer("p", "unpin" if item.pinned else "pin", Price())
        if row.is_old:
            return [Offer("d", "sweep", self._sweeping())] if row.block is not None else []
        if item.hidden is not None:
            back = item.hidden not in ("closed", "replaced")
            return [Offer("r", "restore", self._restoring(row)), pin] if back else []
        if row.log is not None:
            return []
        if item.type is ItemType.SYSTEM:
            return self._editing(item)  # a model needs it to use windows
        drop = Offer("d", "drop", self._dropping(row))
        if item.type is ItemType.WINDOW:
            return [drop, *self._levels(row, sizes), pin]
        return [drop, *self._folding(item), *self._editing(item), pin]

    def rewritten(self, seq: int) -> int:
        """Return the cached tokens from this seq on, by the provider's count."""
        seqs, sums = self._cached
        first = bisect_left(seqs, seq)
        return self.look.provider(sums[-1] - sums[first])

    @cached_property
    def _cached(self) -> tuple[list[int], list[int]]:
        """The seqs of the cached messages, and the tokens before each."""
        pieces = list(self.look.pieces(0, self.look.cached))
        sums = list(accumulate((piece.tokens for piece in pieces), initial=0))
        return [piece.seq for piece in pieces], sums

    def _size(self, item: ContextItem) -> int:
        return self.look.provider(self.look.context.item_tokens(item))

    def _forecast(self, change: Change, items: Sequence[ContextItem]) -> Price | None:
        """Return the difference that a change makes to the next request; None if not by price."""
        key = change, items[0].id
        if key not in self._forecasts:
            found = self.look.context.forecast(change, items)
            if found is None:
                return None
            each, once = found.each, self._once(found)
            signed = self.look.provider(abs(each)) * (1 if each > 0 else -1)
            self._forecasts[key] = Price(signed, once, found.prices)
        return self._forecasts[key]

    def _sweeping(self) -> Price | None:
        """Price leaving everything outdated out of the next request."""
        found = self.look.context.forecast("sweep", [])
        if found is None:
            return None
        return Price(-self.look.provider(-found.each), self._once(found), found.prices)

    def _once(self, found: Forecast) -> int:
        """Return the tokens that are written to the cache again; none without a cache."""
        has_cache = found.prices.has_cache and self.look.knows_cache
        return self.look.provider(found.once) * has_cache

    def _dropping(self, row: Row) -> Price:
        """Price a drop: a message includes the results of its calls, a result its call."""
        item, calls = row.item, self.look.context.calls
        gone = [item, *(one for one in calls.results(item) if not one.hidden)]
        if foreseen := self._forecast("drop", gone):
            return foreseen
        if item.type is ItemType.WINDOW:
            return Price(-self._row_size(row))
        saved = sum(map(self._size, gone))
        behind = self.rewritten(calls.asker(item).seq)
        return Price(-saved, max(behind - saved, 0))

    def _restoring(self, row: Row) -> Price:
        together = row.home(self.look.context).calls.together(row.item)
        back = [one for one in together if one.hidden]
        if foreseen := self._forecast("restore", back):
            return foreseen
        if row.item.type is ItemType.WINDOW:
            return Price(self._size(row.item))
        return Price(sum(map(self._size, back)), self.rewritten(back[0].seq))

    def _folding(self, item: ContextItem) -> list[Offer]:
        """Offer to expand a gist, or to collapse the text to its gist."""
        if self.look.by_price:
            is_short = is_gist(item)
            price = self._forecast("restore", [item]) if is_short else None
            return [Offer("g", Lod.FULL.value, price, Lod.FULL)] if is_short else []
        if not has_gist(item):
            return []
        counter = self.look.context.counter
        more = size(item.content, counter) - size(item.gist or "", counter)
        behind = self.rewritten(self.look.context.calls.asker(item).seq)
        if is_gist(item):
            return [Offer("g", Lod.FULL.value, Price(more, behind), Lod.FULL)]
        return [Offer("g", Lod.GIST.value, Price(-more, max(behind - more, 0)), Lod.GIST)]

    def _editing(self, item: ContextItem) -> list[Offer]:
        if item.blocks is not None and item.type is not ItemType.ASSISTANT:
            return []  # not only text
        if foreseen := self._forecast("edit", [item]):
            return [Offer("e", "edit…", Price(None, foreseen.once))]
        asker = self.look.context.calls.asker(item)
        before = self._size(item) + (self._size(asker) if asker is not item else 0)
        once = max(self.rewritten(asker.seq) - before, 0)
        return [Offer("e", "edit…", Price(None, once))]

    def _levels(self, row: Row, sizes: dict[Lod, int | None]) -> list[Offer]:
        windows = self.look.context.windows
        window = windows.get(row.item.content) if windows is not None else None
        if window is None:
            return []
        lod = window.lod
        targets = [("g", Lod.FULL if lod is Lod.GIST else Lod.GIST)]
        targets += {
            Lod.FULL: [("-", Lod.SUMMARY)],
            Lod.SUMMARY: [("+", Lod.FULL)],
            Lod.GIST: [("+", Lod.SUMMARY)],
        }[lod]
        return [
            Offer(key, level.value, self._level_price(row, sizes.get(level), sizes.get(lod)), level)
            for key, level in targets
        ]

    def _level_price(self, row: Row, size: int | None, present: int | None) -> Price | None:
        """Price another level: renders are compared as a whole.

        In a request, the present one may have less: the actions that another window has for it.
        """
        if size is None:
            return None
        new = self.look.provider(size)
        before = max(self._row_size(row), self.look.provider(present or 0))
        # What was sent stays, within a turn or by price: a newer version is appended.
        is_sent = row.block.is_cached if row.block is not None else self.look.under_way
        is_sent = is_sent and self.look.knows_cache
        return Price(new - before, new if is_sent else 0)

    def _row_size(self, row: Row) -> int:
        if row.block is not None:  # with its changes, which have rows of their own
            return self.look.provider(self.look.context.tokens_in(self.look.composition, row.item))
        if row.tokens is not None:
            return self.look.provider(row.tokens)
        return self._size(row.item)


def turns(price: Price) -> int | None:
    """Return the whole turns until a change breaks even, or None if never."""
    back = price.pays_back
    return None if back is None else math.ceil(round(back, 6))


class Levels:
    """Renders windows at the levels they do not show, and counts the tokens.

    Rendering is pure and changes no version, so the model does not see it. A stale count is used
    until the new one is ready.

    Args:
        count: Counts the tokens of a render.
        callback: Callback on another thread when a count is ready.
    """

    def __init__(self, count: Callable[[str], int], callback: Callable[[], object]) -> None:
        self._render_tokens, self._callback = count, callback
        self._sizes: dict[tuple[str, Lod], int] = {}
        self._versions: dict[str, ContextVersion] = {}
        self._counting: set[str] = set()

    def sizes(self, window: Window) -> dict[Lod, int | None]:
        """Return the tokens of each level, None where not counted yet."""
        if self._versions.get(window.id) != window.version and window.id not in self._counting:
            self._counting.add(window.id)
            # A daemon: quitting does not wait for a window that hangs.
            threading.Thread(target=self._count, args=(window,), daemon=True).start()
        return {lod: self._sizes.get((window.id, lod)) for lod in Lod}

    def _count(self, window: Window) -> None:
        version = window.version
        try:
            for lod in Lod:  # all of them: the shown level may change while they are counted
                self._sizes[window.id, lod] = self._render_tokens(window.to_xml(lod))
        except Exception:  # a window may fail in any way: its sizes stay unknown
            pass
        finally:
            self._versions[window.id] = version
            self._counting.discard(window.id)
            self._callback()
