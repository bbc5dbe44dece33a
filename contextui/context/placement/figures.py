"""Figures of requests for people: tokens of items, placed and outdated blocks, forecasts."""

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from contextui.context.item import ContextItem, ItemType, Stage, is_conversation
from contextui.context.messages import content_of, result_content, role_of
from contextui.context.placement.items import ItemSlots
from contextui.context.placement.messages import (
    Forms,
    RequestPlan,
    SentMessages,
    is_placed,
    layout_of,
)
from contextui.context.placement.slots import Decision, Form, Kind, Slot, size_of
from contextui.context.placement.transcript import FORCED
from contextui.model import CachePrices

Change = Literal["drop", "restore", "edit", "sweep"]


class PlacedBlock(NamedTuple):
    """A block of the next request that is not where its item is, or that is outdated.

    Attributes:
        key: A stable name.
        item: The item or the window that it shows.
        seq: The seq of the item that it stands before.
        kind: Its form.
        tokens: Its tokens, with the list of actions.
        text: What it contains, for a window.
        reason: Why it is outdated; empty if it is not.
        waits: Whether it goes when the turn ends.
        rent: What it has cost since it is outdated, in input tokens at full price.
        is_cached: Whether the provider reads it from its cache.
    """

    key: str
    item: str
    seq: int
    kind: Kind
    tokens: int
    text: str = ""
    reason: str = ""
    waits: bool = False
    rent: float = 0.0
    is_cached: bool = False


class Forecast(NamedTuple):
    """What a change would cost."""

    each: int
    once: int
    prices: CachePrices


class Figures:
    """Computes what items cost in a request, and what a change of them would cost."""

    def __init__(
        self, slots: ItemSlots, messages: SentMessages, forms: Forms, clock: Callable[[], float]
    ) -> None:
        self._slots, self._messages, self._forms, self._clock = slots, messages, forms, clock

    def tokens_of(self, item: ContextItem) -> int:
        """The tokens of an item that count, in the form that is wanted of it."""
        script = self._slots.transcript
        if item.type is ItemType.SYSTEM and not item.is_summary:
            return self._forms.size(role_of(item), content_of(item))
        if item.is_summary:
            return self._forms.size("user", content_of(item))
        if item.type is ItemType.TOOL and not script.slots_of(item.id):  # only in the log
            return self._forms.result_size(item, result_content(item))
        forms = [slot.want if slot.want and not slot.want.source else slot.full
                 for slot in script.slots_of(item.id)]  # fmt: skip
        sizes = [(form.kind, form.tokens) for form in forms]
        if not sizes:
            sizes = [
                (kind, self._forms.part_size(item, parts)) for kind, parts, _ in layout_of(item)
            ]
        is_final = item.stage is Stage.FINAL
        return sum(tokens for kind, tokens in sizes if not (is_final and kind == "thinking"))

    def size(self, item: ContextItem) -> int:
        """The tokens of an item or of a window in the next request."""
        return self._window_tokens(item) if item.type is ItemType.WINDOW else self.tokens_of(item)

    def _window_tokens(self, item: ContextItem) -> int:
        view = self._slots.transcript.views.get(item.content)
        if view is None or item.hidden:
            return 0
        if view.is_current:
            return sum(slot.full.tokens + slot.full.actions for slot in view.chain)
        return view.tokens + view.actions

    def is_whole(self, item: ContextItem) -> bool:
        """Whether requests contain a tool result as a whole."""
        forms = [slot.want for slot in self._slots.transcript.slots_of(item.id)]
        return any(form is not None and form.kind == "result" for form in forms)

    def tokens_in(self, plan: RequestPlan, item: ContextItem) -> int:
        """The tokens of an item in a request that are not outdated; the head has its own."""
        script, made = self._slots.transcript, plan.made
        start, name = script.start_of(made), item.id
        if item.type is ItemType.WINDOW:
            name = item.content
        total = 0
        for slot, form, label in plan.placed:
            if form is not None and (form.source or slot.item) == name:
                total += size_of(form, label)
        slots = [*script.slots_of(name)]
        slots += [self._slots.summaries[name]] if name in self._slots.summaries else []
        for slot in slots:
            form, is_kept = made.want_of(slot), 0 <= slot.at < start
            is_own = form is not None and (form.source or slot.item) == name
            if form is None or not is_own or not (is_kept or not is_placed(slot, form)):
                continue
            if not is_kept or slot.sent == form:
                total += size_of(form, slot.actions)
        return total

    def whole_tokens(self, item: ContextItem) -> int:
        """The tokens of an item if nothing of it was shortened."""
        return sum(slot.full.tokens for slot in self._slots.transcript.slots_of(item.id))

    def counts(self, plan: RequestPlan, item: ContextItem) -> bool:
        """Whether anything of an item is wanted."""
        slots = self._slots.transcript.slots_of(item.id)
        if item.hidden or item.type in (ItemType.WINDOW, ItemType.SYSTEM) or not slots:
            return not item.hidden
        forms = (plan.made.want_of(slot) for slot in slots)
        return any(form is not None and not form.source for form in forms)

    def placed(self, plan: RequestPlan) -> list[PlacedBlock]:
        """The blocks of windows and summaries in a request, and those outdated, in order."""
        script, made = self._slots.transcript, plan.made
        start, held = script.start_of(made), script.held_of(made)
        kept = {script.slots[at] for at in script.wrong(0, made) if at < start}
        kept.update(slot for name in script.present for slot in script.slots_of(name))
        kept.update(self._slots.summaries.values())
        rows = [
            (slot, slot.sent, slot.actions)
            for slot in sorted(kept, key=lambda one: one.at)
            if 0 <= slot.at < start and slot.sent
        ]
        found: list[PlacedBlock] = []
        for slot, form, label in (*rows, *plan.placed):
            want = made.want_of(slot)
            is_outdated = 0 <= slot.at < start and form != want
            if form is None or not (is_outdated or is_placed(slot, form)):
                continue
            block = PlacedBlock(
                slot.id,
                form.source if form.kind == "summary" and form.source else slot.item,
                self._seq_of(slot, form, made),
                form.kind,
                size_of(form, label),
                self._messages.copy_of(slot, form, label).xml if slot.text else "",
                is_cached=0 <= slot.at < held,
            )
            if is_outdated:
                reason, wanted = made.reason_of(slot), want.tokens if want else 0
                is_waiting = reason in FORCED and (slot.at < made.limit or reason == "closed")
                requests = script.requests - slot.since if slot not in made.wants else 0
                rent = script.prices.read * max(form.tokens - wanted, 0) * requests
                block = block._replace(
                    key=f"{slot.id}:{slot.at}", reason=reason, waits=is_waiting, rent=rent
                )
            found.append(block)
        return found

    def _seq_of(self, slot: Slot, form: Form, made: Decision) -> int:
        script = self._slots.transcript
        if not slot.text:
            return self._messages.seq(slot) + (not is_placed(slot, form))
        if slot.call is not None:
            inside = (one for one in script.slots_of_call(slot.call) if not one.text)
            return max((self._messages.seq(one) for one in inside), default=0) + 1
        if slot.at >= 0:
            return self._messages.seq_from(script, slot.at + 1)
        return self._messages.seq_from(script, len(script.slots), made.place)

    def forecast(self, change: Change, items: Sequence[ContextItem]) -> Forecast:
        """What a change of items would cost: the request planned with it, less that without it."""
        script, now = self._slots.transcript, self._clock()
        if change == "sweep":
            total, read = script.foresee(now, {}, {})
            less, reads = script.foresee(now, {}, {}, sweeps=True)
            return Forecast(less - total, max(less - reads - (total - read), 0), script.prices)
        wants, dropped = self._foreseen(change, items)
        places = [slot.at for slot in wants if slot.at >= 0]
        limit = 0 if min(places, default=script.limit()) < script.limit() else None
        total, read = script.foresee(now, {}, {}, limit)
        more, reads = script.foresee(now, wants, dropped, limit)
        taken = [slot.want.tokens for slot in wants if slot.want and is_placed(slot, slot.want)]
        more += sum(taken) if change == "restore" else 0  # a summary there stays, elsewhere
        new = [item for item in items if is_conversation(item) and not script.slots_of(item.id)]
        if new:  # only in the log: everything behind it is written again
            size = sum(map(self.tokens_of, new))
            later = (slot for slot in script.slots if self._messages.seq(slot) > new[0].seq)
            place = next((slot.first for slot in later), len(script.slots))
            held = max((at for at in script.entries if at <= place), default=0)
            more, reads = more + size, min(reads, script.size_before(held))
        return Forecast(more - total, max(more - reads - (total - read), 0), script.prices)

    def _foreseen(
        self, change: Change, items: Sequence[ContextItem]
    ) -> tuple[dict[Slot, tuple[Form | None, str]], dict[str, bool]]:
        """What slots would want after a change, and which windows would be dropped."""
        script = self._slots.transcript
        wants: dict[Slot, tuple[Form | None, str]] = {}
        names = {item.content for item in items if item.type is ItemType.WINDOW}
        for item in items:
            slots = [*script.slots_of(item.id)]
            if item.id in self._slots.summaries:
                slots = [self._slots.summaries[item.id]]
            elif item.type is ItemType.SYSTEM:
                slots = [script.head]
            if change != "edit":
                slots += [two for one in slots for two in script.slots_of_call(one.call or "")]
            for slot in slots:
                if change == "drop" and slot.want is not None:
                    wants[slot] = None, "dropped"
                elif change == "edit" and slot.want is not None:
                    wants[slot] = slot.want._replace(version=slot.want.version + 1), "edited"
                elif change == "restore" and self._slots.comes_back(slot):
                    wants[slot] = slot.full, "restored"
        wants |= self._slots.thoughts_with(wants)
        return wants, {name: change == "drop" for name in names if name in script.views}
