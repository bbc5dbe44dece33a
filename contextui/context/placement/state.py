"""The state of a transcript: its slots, its windows, and what happens to them.

Everything that happens only sets what slots want; `plan` decides from it, `transcript` applies
what was decided. Sums over slots are kept in trees, so that a request costs what has changed since
the last one, however long the transcript is.
"""

import math
from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Iterator, Sequence

from contextui.context.placement.slots import HEAD, Form, Kind, Rules, Slot, Sums, View, size_of
from contextui.model import CachePrices

FORCED = frozenset(
    ["closed", "dropped", "edited", "restored", "compacted", "trimmed", "lowered", "system"]
)
"""Reasons for which outdated content goes with the next request, whatever that costs."""

# The columns of the sums: outdated tokens, these times `since`, wanted tokens, sent tokens with
# lists of actions, blocks, sent tokens alone, sent tokens of outdated slots, and slots in use.
SAVED, DATED, KEPT, SIZE, BLOCKS, SENT, OUTDATED, USED = range(8)


class State:
    """The slots of a conversation. Tell it what happens."""

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

    # --- what happens ------------------------------------------------------------------------

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

        Blocks of windows from there on are dropped; the windows get new whole blocks.
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
                # A block that was swept is not among those of its window any more.
                self._of_item[slot.item] = [
                    one for one in self.slots_of(slot.item) if one is not slot
                ]
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
            view.version, view.is_new = view.version + 1, True

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
        view.pending, view.is_new = change or 0, change is None
        view.version = view.shown if change == 0 else max(view.version, view.shown) + 1

    def set_detail(self, window: str, tokens: int, *, for_room: bool = False) -> None:
        """Switch the level of detail; if that is to make room, the old blocks go at once."""
        view = self.views[window]
        view.tokens, view.version = tokens, view.version + 1
        view.is_new, view.is_lowered = True, for_room

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

    # --- loading and saving ------------------------------------------------------------------

    @property
    def up_to_date(self) -> int:
        """The tokens of the last request that are not outdated."""
        end = len(self.slots)
        return self._sums.before(end, SIZE) - self._sums.before(end, OUTDATED)

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
        return self._sums.before(at, USED)

    def place(self, rank: int) -> int:
        """The place behind so many slots that are in use, and behind the message of the last."""
        at = self._sums.place(rank, USED)
        while at < len(self.slots) and self.slots[at].first < at:
            at += 1
        return at

    def used(self, rank: int) -> Slot:
        """The slot in front of which so many are in use."""
        return self.slots[self._sums.place(rank + 1, USED) - 1]

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

    # --- what is wanted ----------------------------------------------------------------------

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
        self._sums.put(slot.at, row(slot, slot.want, slot.since))
        _keep(self._outdated, slot.at, slot.is_outdated)


def row(slot: Slot, want: Form | None, since: int) -> tuple[int, ...]:
    """The numbers of a slot that was sent, if it wants this since then."""
    sent, wanted = slot.sent.tokens if slot.sent else 0, want.tokens if want else 0
    net = sent - wanted if slot.sent != want else 0
    size, carried = size_of(slot.sent, slot.actions), sent if slot.sent != want else 0
    is_used = slot.sent is not None or want is not None
    return (net, net * since, wanted, size, int(slot.sent is not None), sent, carried, int(is_used))


def _keep(places: list[int], at: int, is_in: bool) -> None:
    """Add a place to a sorted list, or take it out."""
    where = bisect_left(places, at)
    is_there = where < len(places) and places[where] == at
    if is_in and not is_there:
        insort(places, at)
    elif is_there and not is_in:
        del places[where]
