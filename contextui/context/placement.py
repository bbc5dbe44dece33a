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
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

REFERENCE = 8
"""Tokens of ``<Actions ref="…"/>``."""

FORCED = frozenset(["closed", "dropped", "edited", "restored", "compacted", "trimmed", "lowered"])
"""Reasons for which outdated content goes with the next request, whatever that costs."""

Kind = Literal["text", "call", "result", "thinking", "gist", "summary", "whole", "change"]


@dataclass(frozen=True, slots=True)
class CachePrices:
    """What a provider charges for cached input, beside 1 for an input token.

    Attributes:
        read: The price of a token that is read from the cache.
        write: The price of a token that is written to it.
        ttl: The seconds that an entry lives after its last use.
        minimum: The tokens from which on a prefix is cached.
        marks: How many cache marks a request may have; 0 if the provider caches every prefix.

    Raises:
        ValueError: A price or a time is negative or not a number.
    """

    read: float = 0.1
    write: float = 1.25
    ttl: float = 300.0
    minimum: int = 1_024
    marks: int = 4

    def __post_init__(self) -> None:
        for name in ("read", "write", "ttl", "minimum", "marks"):
            value = getattr(self, name)
            is_finite = math.isfinite(value) or (name == "ttl" and value == math.inf)
            if not is_finite or value < 0:
                raise ValueError(f"{name} must be 0 or more, not {value}")


@dataclass(frozen=True, slots=True)
class Rules:
    """The constants of the policy.

    Attributes:
        ahead: For how many requests outdated content is expected to be carried from now on.
        whole_at: The share of a whole block from which on changes become a new whole block.
        long: The tokens from which on an old result is replaced with its gist.
        recent: How many long results stay whole.
        budget: The most tokens of a request.
        anchor: The requests for which the place of the next sweep is foreseen.
        room: The share of the budget that a sweep for room frees down to.
        close: When a closed window leaves: with the next turn, or with the next request.
        fold: Whether a sweep replaces a chain behind it with one whole block at the end.
    """

    ahead: int = 8
    whole_at: float = 0.67
    long: int = 200
    recent: int = 10
    budget: int | None = None
    anchor: int = 1_000
    room: float = 0.9
    close: Literal["turn", "now"] = "turn"
    fold: bool = True


class Form(NamedTuple):
    """One rendering of a slot.

    Attributes:
        key: The list of actions that a window block carries.
        actions: The tokens of that list.
        source: The item that a summary is the content of.
    """

    kind: Kind
    tokens: int
    version: int = 0
    key: str | None = None
    actions: int = 0
    source: str = ""


@dataclass(slots=True, eq=False)
class Slot:
    """A place in the transcript."""

    id: str
    item: str  # the item or the window that it belongs to
    turn: int
    full: Form
    want: Form | None
    call: str | None = None  # the call that it is, that it answers, or in whose result it stands
    gist: int = 0  # tokens of the gist of a result
    group: str = ""  # neighbours with the same one are a single message
    parts: tuple[int, ...] = ()  # the blocks of the item that it is
    text: str = ""  # the block of a window
    since: int = 0  # requests sent when `want` last changed
    reason: str = ""  # why `want` differs
    sent: Form | None = None
    at: int = -1  # its place, once a request contained it
    first: int = -1  # the place of the first slot of its message
    actions: str = ""  # "full", or "ref:" and the window whose list it refers to

    @property
    def is_outdated(self) -> bool:
        """Whether it was sent in a form that is not wanted any more."""
        return self.sent != self.want


@dataclass(slots=True, eq=False)
class View:
    """A window: its state now, and the chain of blocks (one whole, then changes) that shows it."""

    id: str
    kind: str
    tokens: int
    actions: int = 0
    key: str = ""
    version: int = 0
    is_open: bool = True
    is_dropped: bool = False
    chain: list[Slot] = field(default_factory=list)
    shown: int = 0  # the version of the last block of the chain
    shown_key: str = ""
    pending: int = 0  # tokens of the change since then
    is_anew: bool = False  # no change block can express it: opened, or another level of detail
    is_lowered: bool = False

    @property
    def is_current(self) -> bool:
        """Whether the chain shows its present state."""
        return bool(self.chain) and self.shown == self.version


class Offer(NamedTuple):
    """A sweep that could be made from `cut`; the provider reads up to `hit`."""

    cut: int
    hit: int
    rent: float
    price: float
    saved: int

    @property
    def gain(self) -> tuple[float, int]:
        """What it gains; of two that gain the same the earlier one is better."""
        return self.rent - self.price, -self.cut


class Sweep(NamedTuple):
    """A sweep that was made: behind how many blocks, why, and what it cost and saved."""

    after: int
    reason: str
    rent: float
    price: float
    saved: int


class Request(NamedTuple):
    """What was decided for a request.

    Attributes:
        start: The first slot that was written anew; everything before it is as it was.
        places: Behind how many slots cache marks stand.
        marks: Behind how many blocks they stand.
        outdated: The tokens that are carried although they are outdated.
        read: The tokens that the provider reads from its cache; `written` and `plain` are the rest.
        is_over: Whether it is over the budget, so that something has to be trimmed first.
    """

    start: int
    places: list[int]
    marks: list[int]
    sweep: Sweep | None
    outdated: int
    read: int
    written: int
    plain: int
    is_over: bool


@dataclass(slots=True, eq=False)
class Decision:
    """What a request would contain: foreseen by `plan`, made by `apply`.

    Attributes:
        now: The time in seconds at which it is sent.
        wants: What slots will want, and why.
        reasons: New reasons of slots that are outdated already.
        chains: The chains of windows that will differ.
        new: The window blocks to append, in order; `place` is where in the tail.
        offer: The sweep, and `reason` why.
        entries: The prefixes that the provider holds at that time.
        budget: The most tokens that it may have.
    """

    now: float
    wants: dict[Slot, tuple[Form | None, str]] = field(default_factory=dict)
    reasons: dict[Slot, str] = field(default_factory=dict)
    chains: dict[str, list[Slot]] = field(default_factory=dict)
    new: list[Slot] = field(default_factory=list)
    place: int = 0
    offer: Offer | None = None
    reason: str = ""
    entries: dict[int, float] = field(default_factory=dict)
    budget: int | None = None

    @property
    def held(self) -> int:
        """The furthest place up to which the provider holds the transcript."""
        return max(self.entries, default=0)

    def want_of(self, slot: Slot) -> Form | None:
        """What a slot will want."""
        return self.wants[slot][0] if slot in self.wants else slot.want

    def reason_of(self, slot: Slot) -> str:
        """Why a slot will be outdated."""
        if slot in self.reasons:
            return self.reasons[slot]
        return self.wants[slot][1] if slot in self.wants else slot.reason


class _Sums:
    """Sums of several numbers per slot over any range, with updates in logarithmic time."""

    def __init__(self, width: int) -> None:
        self._rows: list[tuple[int, ...]] = []
        self._trees: list[list[int]] = [[0] for _ in range(width)]

    def put(self, at: int, row: tuple[int, ...]) -> None:
        """Set the numbers of a slot; the next new one is appended."""
        if at == len(self._rows):
            low = at + 1 - ((at + 1) & -(at + 1))
            for column, (tree, own) in enumerate(zip(self._trees, row, strict=True)):
                tree.append(self.before(at, column) - self.before(low, column) + own)
            self._rows.append(row)
            return
        old, self._rows[at] = self._rows[at], row
        for tree, was, now in zip(self._trees, old, row, strict=True):
            place = at + 1 if was != now else len(tree)
            while place < len(tree):
                tree[place] += now - was
                place += place & -place

    def before(self, at: int, column: int) -> int:
        """The sum of a column over all slots in front of a place."""
        found, tree = 0, self._trees[column]
        while at:
            found += tree[at]
            at -= at & -at
        return found


# The columns of the sums: outdated tokens, these times `since`, wanted tokens, sent tokens with
# lists of actions, blocks, sent tokens alone, and sent tokens of outdated slots.
_SAVED, _DATED, _KEPT, _SIZE, _BLOCKS, _SENT, _OUTDATED = range(7)


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
        self._present: dict[str, View] = {}  # windows that are open or still shown
        self._sums = _Sums(7)
        self._pins: set[str] = set()
        self._entries: dict[int, float] = {}  # prefixes that the provider holds: when last used
        self._of_item: dict[str, list[Slot]] = {}
        self._of_call: dict[str, list[Slot]] = {}
        self._outdated: list[int] = []  # places, in order
        self._long: list[Slot] = []  # long results that are shown whole, in order
        self._thoughts: list[Slot] = []  # thinking of the turn under way
        self._unsettled: set[str] = set()  # windows that were closed or whose chain broke
        self._lists: dict[str, list[tuple[int, str, str]]] = {}  # full lists of actions by class
        self._turn, self._is_fresh, self._is_asked, self._last = -1, False, False, -math.inf
        self._key: str | None = None  # the model and its tools
        self.add("system", "system", "text", head)

    # --- what happens --------------------------------------------------------------------

    def add(
        self, slot_id: str, item: str, kind: Kind, tokens: int, *, call: str | None = None,
        gist: int = 0, group: str = "", parts: tuple[int, ...] = (), place: int | None = None,
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
        """
        form = Form(kind, tokens)
        slot = Slot(slot_id, item, self._turn, form, form, call, gist, group, parts)
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
        self._turn, self._is_fresh = self._turn + 1, True
        self.forget_thinking()

    def forget_thinking(self) -> None:
        """Leave out what was thought in this turn."""
        for slot in self._thoughts:
            self.want(slot, None, "thinking")
        self._thoughts = []

    def answered(self) -> None:
        """Note that the model answered: what follows is within the turn."""
        self._is_fresh = False

    def show(self, window: str, kind: str, tokens: int, actions: int = 0) -> None:
        """Open a window, or open a closed one again: its version goes on rising."""
        view = self.views.setdefault(window, View(window, kind, tokens, actions, kind))
        self._present[window] = view
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
        self._present[window] = view
        view.tokens, view.key, view.actions = tokens, key, actions
        view.pending, view.is_anew = change or 0, change is None
        view.version = view.shown if change == 0 else max(view.version, view.shown) + 1

    def lower(self, window: str) -> None:
        """Let the blocks of a window go at once: its level of detail was lowered to make room."""
        if window in self.views:
            self.views[window].is_lowered = True

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
        self._pins.add(item)
        self._long = [slot for slot in self._long if slot.item != item]

    def is_pinned(self, item: str) -> bool:
        """Whether an item stays whole."""
        return item in self._pins

    def unpin(self, item: str) -> None:
        """Let an item become a gist again once it is old."""
        self._pins.discard(item)

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
        self.prices, self._entries, self._last = prices, {}, -math.inf

    def use(self, prices: CachePrices, key: str) -> None:
        """Note for which model and tools the next request is; `key` names them."""
        if (prices, key) != (self.prices, self._key):
            if self._key is not None:
                self.switch(prices)
            self.prices, self._key = prices, key

    @property
    def present(self) -> Iterable[View]:
        """The windows that are open or still shown."""
        return self._present.values()

    def set_head(self, tokens: int) -> None:
        """Note another system prompt: the provider holds nothing of it."""
        (head,) = self._of_item["system"]
        head.full = Form("text", tokens, head.full.version + 1)
        self.want(head, head.full, "system")
        self.switch(self.prices)

    # --- what is wanted ------------------------------------------------------------------

    def _enter(self, slot: Slot, at: int) -> None:
        self.tail.insert(at, slot)
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
        slot.want, slot.since, slot.reason = form, self.requests, reason
        if form is None and slot.item in self.views:
            self._unsettled.add(slot.item)
        if slot.full.kind == "result":
            self._long = [one for one in self._long if one is not slot]
            is_long = form is not None and form.kind == "result" and form.tokens > self.rules.long
            if is_long and slot.item not in self._pins:
                self._long = sorted([*self._long, slot], key=self._order)
        if slot.at >= 0:
            self._count(slot)

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
        limit = self.rules.budget if budget is None else budget
        made = Decision(now, entries=self._live(now), budget=limit)
        self._settle(made)
        place = self._place()
        if place is None:
            return made
        made.place, result = place
        for view in self._present.values():
            is_shown = bool(self._chain(view, made)) and view.shown == view.version
            if view.is_open and not view.is_dropped and not is_shown:
                self._foresee(view, self._form_of(view, made), result, made)
        made.offer, made.reason = self._decide(made)
        if made.offer is not None:
            for view in self._present.values():
                chain = self._chain(view, made)
                if self.rules.fold and len(chain) > 1 and not 0 <= chain[0].at < made.offer.cut:
                    self._foresee(view, "whole", result, made)
        return made

    def written(self, made: Decision) -> list[tuple[Slot, Form | None, str]]:
        """What a planned request writes anew or appends: slots, their forms, and whether they list
        actions ("full") or refer to the list of another window ("ref:" and its id)."""
        start = made.offer.cut if made.offer else len(self.slots)
        last: dict[str, tuple[str, str]] = {}
        for kind, lists in self._lists.items():
            if above := bisect_left(lists, start, key=lambda one: one[0]):
                last[kind] = lists[above - 1][1:]
        rows: list[tuple[Slot, Form | None, str]] = []
        tail = (*self.tail[: made.place], *made.new, *self.tail[made.place :])
        for slot in (*self.slots[start:], *tail):
            form, label = made.want_of(slot), ""
            if form is not None and form.key:
                kind = self.views[slot.item].kind
                key, owner = last.get(kind, ("", ""))
                label = f"ref:{owner}" if key == form.key else "full"
                if label == "full":
                    last[kind] = form.key, slot.item
            rows.append((slot, form, label))
        return rows

    def size(self, made: Decision, rows: Iterable[tuple[Slot, Form | None, str]]) -> int:
        """The tokens of a planned request, with what `written` returned for it."""
        start = made.offer.cut if made.offer else len(self.slots)
        new = sum(_tokens(form, label) for _, form, label in rows)
        return self._sums.before(start, _SIZE) + new

    def _live(self, now: float) -> dict[int, float]:
        """The prefixes that the provider still holds."""
        ttl, end = self.prices.ttl, len(self.slots)
        if self.prices.marks:
            return {at: used for at, used in self._entries.items() if now - used <= ttl}
        return {end: self._last} if now - self._last <= ttl and end else {}

    def _chain(self, view: View, made: Decision) -> list[Slot]:
        return made.chains.get(view.id, view.chain)

    def _retire(self, view: View, reason: str, made: Decision) -> None:
        for slot in self._chain(view, made):
            if made.want_of(slot) is not None:
                made.wants[slot] = None, reason
        made.chains[view.id] = []

    def _settle(self, made: Decision) -> None:
        """Foresee what closed and dropped windows, broken chains and old results want."""
        for name in sorted(self._unsettled):
            view = self.views[name]
            if not view.is_open or view.is_dropped:
                reason = "dropped" if view.is_dropped else "closed"
                self._retire(view, reason, made)
                for slot in self._of_item.get(name, []):
                    if slot.sent is not None:  # superseded copies go with it
                        made.reasons[slot] = reason
            elif any(slot.want is None for slot in view.chain):
                self._retire(view, "broken", made)  # a change without its base says nothing
        for slot in self._long[: max(0, len(self._long) - self.rules.recent)]:
            if slot.at >= 0:  # the model has answered it
                made.wants[slot] = Form("gist", slot.gist), "old result"

    def _place(self) -> tuple[int, Slot | None] | None:
        """Where new blocks go: before the words of a new turn, else inside the last result."""
        if self._is_fresh:
            words = (at for at, slot in enumerate(self.tail)
                     if slot.full.kind == "text" and slot.turn == self._turn)  # fmt: skip
            return next(words, len(self.tail)), None
        for at in range(len(self.tail) - 1, -1, -1):
            if self.tail[at].full.kind == "result" and self.tail[at].want:
                return at + 1, self.tail[at]
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
        has_other_actions = view.key != view.shown_key and not (chain and chain[-1].at < 0)
        is_listed = (is_whole or has_other_actions) and bool(view.actions)
        form = Form(
            kind, view.tokens if is_whole else view.pending, view.version,
            view.key if is_listed else None, view.actions if is_listed else 0,
        )  # fmt: skip
        slot = Slot(f"{view.id}@{view.version}", view.id, self._turn, form, form)
        slot.since = self.requests
        if result is not None:
            slot.call, slot.group = result.call, result.group
        made.new.append(slot)
        made.chains[view.id] = [slot] if is_whole else [*chain, slot]

    # --- sweeps --------------------------------------------------------------------------

    @property
    def held(self) -> int:
        """The furthest place up to which the provider held the transcript at the last request."""
        return max(self._entries, default=0)

    def limit(self) -> int:
        """The first slot that may change: behind the last message with thinking of this turn.

        The model thought with what the request before contained: all of that is bound too.
        """
        bound = next((slot for slot in reversed(self._thoughts) if slot.want), None)
        if bound is None:
            return 0
        last = self._of_item[bound.item][-1]
        return last.at + 1 if last.at >= 0 else len(self.slots)

    def offers(self, made: Decision) -> list[Offer]:
        """The sweeps that could pay: from each live cache entry, and from the first free slot.

        Of several entries in front of the same outdated slot only the last one can be best.
        """
        limit, end = self.limit(), len(self.slots)
        heads = (self._chain(view, made) for view in self._present.values() if self.rules.fold)
        folds = {chain[0].at for chain in heads if len(chain) > 1}
        places = sorted({*self._wrong(limit, made), *(at for at in folds if limit <= at < end)})
        if not self.prices.marks:
            cuts = {limit, *(max(limit, self.slots[at].first) for at in places)}
            return [self.offer(cut, made) for cut in sorted(cuts) if cut < end]
        entries = sorted({max(limit, at) for at in made.entries} | {limit})
        cuts = {entries[bisect_right(entries, place) - 1] for place in places}
        return [self.offer(cut, made) for cut in sorted(cuts) if cut < end]

    def _wrong(self, limit: int, made: Decision) -> list[int]:
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
        for view in self._present.values():
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
        offers, wrong = self.offers(made), self._wrong(self.limit(), made)
        now = self.rules.close == "now" or self._is_fresh
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
        return (wider, "room") if wider else (best, reason if best else "")

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

    def apply(self, made: Decision) -> Request:
        """Note a planned request as sent."""
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
                view.shown, view.shown_key, view.pending = chain[-1].full.version, view.key, 0
                view.is_anew = view.is_lowered = False
            if not (chain or view.is_open):
                self._present.pop(name, None)
        self._entries = made.entries
        if offer:
            self._entries = {at: used for at, used in made.entries.items() if at <= offer.cut}
            if not self.prices.marks and made.now - self._last <= self.prices.ttl:
                self._entries = {offer.cut: self._last}
        start = offer.cut if offer else end
        self._write(start, rows)
        sweep = None
        if offer:
            after = self._sums.before(start, _BLOCKS)
            rent, price = round(offer.rent, 1), round(offer.price, 1)
            sweep = Sweep(after, made.reason, rent, price, offer.saved)
        return self._sent(made, start, end, sweep)

    def _write(self, start: int, rows: Iterable[tuple[Slot, Form | None, str]]) -> None:
        """Set `sent = want` for every slot from a place on, and append the new ones."""
        for lists in self._lists.values():
            while lists and lists[-1][0] >= start:
                lists.pop()
        for at, slot in enumerate(self.tail, len(self.slots)):
            before = self.slots[-1] if self.slots else None
            is_inner = before is not None and bool(slot.group) and before.group == slot.group
            slot.at, slot.first = at, before.first if before and is_inner else at
            self.slots.append(slot)
        for slot, form, label in rows:
            slot.sent, slot.actions = form, label
            if label == "full" and form is not None:
                lists = self._lists.setdefault(self.views[slot.item].kind, [])
                lists.append((slot.at, form.key or "", slot.item))
            self._count(slot)
        self.tail = []

    def _sent(self, made: Decision, start: int, end: int, sweep: Sweep | None) -> Request:
        """Set the cache marks, and count what the provider reads and writes."""
        now = made.now
        size, held, minimum = len(self.slots), self.held, self.prices.minimum
        places = {1, self._anchor(end) or held, held, size} - {0}
        new = [slot for slot in self.slots[end:] if slot.sent and slot.sent.kind == "whole"]
        if new and len(places) < self.prices.marks:
            places.add(self._in_front_of(new[0], end))
        sizes = {at: self._sums.before(at, _SIZE) for at in (*places, held)}
        marks = [at for at in sorted(places) if sizes[at] >= minimum]
        is_cached, total = sizes[size] >= minimum, sizes[size]
        read = sizes[held] if is_cached else 0
        if not self.prices.marks:
            marks, self._entries = [], {size: now} if is_cached else {}
        self._entries |= {at: now for at in marks if at > held or at in self._entries}
        self._last, self._is_asked = now, False
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
        found = [at for at in self._entries if limit <= at < end] if self.prices.marks else []
        chains = (view.chain for view in self._present.values())
        is_clean = not (self._outdated or any(len(chain) > 1 for chain in chains))
        if is_clean or not found:
            return max(found, default=0)
        made = Decision(self._last, entries=self._entries)

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
    size, carried = _tokens(slot.sent, slot.actions), sent if slot.sent != want else 0
    return (net, net * since, wanted, size, int(slot.sent is not None), sent, carried)


def _tokens(form: Form | None, actions: str) -> int:
    """The size of a form with its list of actions, or with a reference to one."""
    if form is None:
        return 0
    listed = form.actions if actions == "full" else REFERENCE
    return form.tokens + (listed if form.key else 0)


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
            yield slot.id, slot.sent.kind, _tokens(slot.sent, slot.actions), slot.actions


def cost(requests: Iterable[Request], prices: CachePrices) -> float:
    """The price of requests, in input tokens."""
    return sum(prices.read * one.read + prices.write * one.written + one.plain for one in requests)
