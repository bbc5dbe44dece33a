"""The cost of changing an item: per turn, once, and when it breaks even.

Everything after a changed item leaves the provider's cache and is written to it again, for example
at 1.25 instead of 0.1 of the price. What is saved would have been read from the cache. The context
plans the next request with and without the change; the difference is the cost.
"""

import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from contextui.context.item import ContextItem, ItemType
from contextui.context.placement.items import Change
from contextui.model import CachePrices
from contextui.tui.inspector.labels import is_gist, window_of
from contextui.tui.inspector.rows import ItemRow
from contextui.tui.inspector.snapshot import ContextSnapshot
from contextui.windowing.snapshot import ContextVersion, Lod
from contextui.windowing.window import Window

MANY_TURNS = 20
"""A change that breaks even only after more turns than this needs confirmation."""


@dataclass(frozen=True, slots=True)
class Price:
    """The cost of a change, in tokens."""

    each: int | None = 0  # more or fewer per turn; None if it depends on the person's edit
    once: int = 0  # written to the cache again
    prices: CachePrices = field(default_factory=CachePrices)  # what the provider charges

    @property
    def pays_back(self) -> float | None:
        if self.each is None or self.each >= 0:
            return None
        prices = self.prices
        extra, saved = (prices.write - prices.read) * self.once, prices.read * -self.each
        if extra <= 0:
            return 0.0
        return extra / saved if saved else None

    @property
    def is_dear(self) -> bool:
        """Whether it needs confirmation: it costs more than it saves, and does not add tokens."""
        if self.each is None or self.each > 0 or (not self.each and not self.once):
            return False
        return self.pays_back is None or self.pays_back > MANY_TURNS


@dataclass(frozen=True, slots=True)
class Offer:
    """A possible change of an item."""

    key: str
    name: str
    price: Price | None
    lod: Lod | None = None


class Prices:
    """Returns the possible changes of items with their costs."""

    def __init__(self, snapshot: ContextSnapshot, before: "Prices | None" = None) -> None:
        self.snapshot = snapshot
        self._forecasts: dict[tuple[Change, str], Price] = {}
        if before is not None and before._state == self._state:
            self._forecasts = before._forecasts

    @property
    def _state(self) -> tuple[object, ...]:
        """What the forecasts depend on."""
        snapshot, composition = self.snapshot, self.snapshot.composition
        plan = id(composition.plan)
        return id(snapshot.context), composition.generation, snapshot.knows_cache, plan

    def offers(self, row: ItemRow, sizes: dict[Lod, int | None]) -> list[Offer]:
        item = row.item
        pin = Offer("p", "unpin" if item.pinned else "pin", Price())
        if row.is_old:
            return [Offer("d", "sweep", self._forecast("sweep"))]
        if item.hidden in ("closed", "replaced") or (row.log is not None and not item.hidden):
            return []
        if item.hidden is not None:
            together = row.home(self.snapshot.context).calls.together(item)
            price = self._forecast("restore", *(one for one in together if one.hidden))
            return [Offer("r", "restore", price), pin]
        if item.type is ItemType.SYSTEM:
            return self._editing(item)  # a model needs it to use windows
        # A message includes the results of its calls, a result its call.
        results = self.snapshot.context.calls.results(item)
        price = self._forecast("drop", item, *(result for result in results if not result.hidden))
        drop = Offer("d", "drop", price)
        if item.type is ItemType.WINDOW:
            return [drop, *self._levels(row, sizes), pin]
        whole = []
        if is_gist(item):
            whole.append(Offer("g", Lod.FULL.value, self._forecast("restore", item), Lod.FULL))
        return [drop, *whole, *self._editing(item), pin]

    def _size(self, item: ContextItem) -> int:
        return self.snapshot.provider(self.snapshot.context.item_tokens(item))

    def _forecast(self, change: Change, *items: ContextItem) -> Price:
        key = change, items[0].id if items else ""
        if key not in self._forecasts:
            self._forecasts[key] = self._difference(change, items)
        return self._forecasts[key]

    def _difference(self, change: Change, items: Sequence[ContextItem]) -> Price:
        found, provider = self.snapshot.context.forecast(change, items), self.snapshot.provider
        if found is None:  # windows are placed without a plan
            size = sum(map(self._size, items))
            return Price({"drop": -size, "restore": size}.get(change, 0))
        has_cache = found.prices.has_cache and self.snapshot.knows_cache
        each = provider(abs(found.each)) * (1 if found.each > 0 else -1)
        return Price(each, provider(found.once) * has_cache, found.prices)

    def _editing(self, item: ContextItem) -> list[Offer]:
        if item.blocks is not None and item.type is not ItemType.ASSISTANT:
            return []  # not only text
        price = replace(self._forecast("edit", item), each=None)
        return [Offer("e", "edit…", price)]

    def _levels(self, row: ItemRow, sizes: dict[Lod, int | None]) -> list[Offer]:
        window = window_of(row.item, self.snapshot.context)
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

    def _level_price(self, row: ItemRow, size: int | None, present: int | None) -> Price | None:
        """Price another level: renders are compared as a whole.

        In a request, the present one may have less: the actions that another window has for it.
        """
        if size is None:
            return None
        new = self.snapshot.provider(size)
        own = self._size(row.item)
        if row.block is not None:  # with its changes, which have rows of their own
            context, composition = self.snapshot.context, self.snapshot.composition
            own = self.snapshot.provider(context.tokens_in(composition, row.item))
        before = max(own, self.snapshot.provider(present or 0))
        # What was sent stays: a newer version is appended.
        is_sent = row.block is not None and row.block.is_cached and self.snapshot.knows_cache
        return Price(new - before, new if is_sent else 0)


def turns(price: Price) -> int | None:
    """Return the whole turns until a change breaks even, or None if never."""
    back = price.pays_back
    return None if back is None else math.ceil(round(back, 6))


class Levels:
    """Renders windows at the levels they do not show, and counts the tokens.

    Rendering is pure and changes no version, so the model does not see it. A stale count is used
    until the new one is ready.
    """

    def __init__(self, count: Callable[[str], int], callback: Callable[[], object]) -> None:
        self._render_tokens, self._callback = count, callback
        self._sizes: dict[tuple[str, Lod], int] = {}
        self._versions: dict[str, ContextVersion] = {}
        self._counting: set[str] = set()

    def sizes(self, window: Window) -> dict[Lod, int | None]:
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
