"""Compose requests by price: items and windows become slots of a transcript, slots messages.

`transcript` decides by token counts what each slot shows and when outdated content is removed,
`items` follows the items, `messages` has the texts. Here all of it is put together: windows are
looked at, requests composed and noted as sent, and sessions resumed.
"""

import hashlib
import time
from bisect import bisect_left, insort
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from contextui.context.item import Calls, ContextItem, ItemType, Stage, TurnItems, is_conversation
from contextui.context.messages import (
    Composition,
    Content,
    Messages,
    RequestPlan,
    SentMessages,
    Shown,
    content_of,
    head_first,
    is_placed,
    role_of,
)
from contextui.context.placement.facts import (
    UNFIT,
    decision_of,
    load_state,
    outcome_facts,
    request_facts,
    state_facts,
)
from contextui.context.placement.items import Figures, ItemSlots
from contextui.context.placement.slots import HEAD, Decision, Slot
from contextui.context.placement.transcript import Transcript
from contextui.model import CachePrices, LlmMessage
from contextui.tokens import TokenCounter
from contextui.windowing.blocks import actions_of, applied, change_block, is_same
from contextui.windowing.manager import WindowManager
from contextui.windowing.runtime import runtime_of
from contextui.words import Lang

_FRESH = 1.0  # seconds for which a composed request is used again


@dataclass(slots=True, eq=False)
class _Look:
    """How a window looks: its whole block, and what changed since it was last sent."""

    xml: str
    since: str | None  # the whole block that the change starts from
    change: str | None


class PricedComposer:
    """Composes the next request by price, updated as the context changes."""

    def __init__(
        self,
        calls: Calls,
        turn: TurnItems,
        windows: WindowManager | None,
        counter: TokenCounter,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._windows, self._counter, self._clock = windows, counter, clock
        lang: Lang = windows.lang if windows is not None else "en"
        self._messages = SentMessages(calls, counter, lang)
        self._slots = ItemSlots(calls, self._messages)
        self.figures = Figures(self._slots, self._messages, clock)
        self._turn = turn
        self._looks: dict[str, _Look] = {}
        self._shown: dict[str, str] = {}  # the whole block that the model can know of each window
        self._composed: tuple[tuple[object, ...], Composition] | None = None
        self.changed_forms: set[str] = set()
        """The items that the last request began to show in another form."""
        self._is_held = False  # a checkpoint is being loaded
        self._is_unknown = False  # it is not known what was sent
        self._undo: Callable[[], None] | None = None  # takes the last request back

    @property
    def transcript(self) -> Transcript:
        """The slots of the conversation."""
        return self._slots.transcript

    # --- what happens --------------------------------------------------------------------

    def use(self, prices: CachePrices, key: str) -> None:
        """Note which model and tools the next requests are for."""
        script = self.transcript
        if (script.prices, script.key) != (prices, key):
            script.use(prices, key)
            self._composed = None

    def sweep(self) -> None:
        """Leave everything outdated out of the next request, whatever it costs."""
        self.transcript.ask_sweep()
        self._composed = None

    def added(self, item: ContextItem) -> None:
        """Register a new item."""
        self._slots.note(item)
        if item.type is ItemType.SYSTEM and not item.is_summary:
            insort(self._messages.head.items, item, key=lambda one: one.seq)
            return
        if item.type is ItemType.WINDOW:
            return
        if self._is_held or (item.hidden and item.stage is Stage.FINAL):
            return  # it gets its slots from a checkpoint, or once it is shown again
        if item.type is ItemType.ASSISTANT and item.stage is not Stage.FINAL:
            self.transcript.answered()
        self._slots.enter(item)
        self._slots.changed(item)

    def changed(self, item: ContextItem) -> None:
        """Follow a change of an item: hidden, shown again, edited, pinned."""
        if self._is_held:
            return
        if item.type is ItemType.WINDOW:
            self._slots.window_changed(item)
        else:
            self._slots.changed(item)

    def compacted(self, items: Sequence[ContextItem], summary: ContextItem) -> None:
        """Put a summary in the place of items and of the windows shown between them."""
        self._slots.compacted(items, summary)

    def sent(self, composition: Composition | None, facts: Mapping[str, Any] | None) -> None:
        """Note that a request was sent: its messages are fixed from now on."""
        self.changed_forms.clear()
        plan = composition.plan if composition is not None else None
        if plan is not None:
            self._undo = self._undo_of(plan)
            plan.facts = request_facts(self.transcript, plan.made)
            self._apply(plan)
            self._shown.update((slot.item, xml) for slot, xml in plan.looks.items())
        elif composition is None:
            self._replay(facts)

    def finished(self, items: Sequence[ContextItem], early: bool = False) -> None:
        """End the turn of these items; early, the rest of it is sent again."""
        if early:
            self.transcript.forget_thinking()
            self._send_again(self._turn.new)
        elif items:
            self.transcript.begin_turn()
        self._composed = None

    def _send_again(self, items: Sequence[ContextItem]) -> None:
        """Send the end of the transcript again, from the first slot of these items on."""
        slots = (slot for item in items for slot in self.transcript.slots_of(item.id))
        if places := [slot.first for slot in slots if slot.at >= 0]:
            self.transcript.take_back(min(places))
            self._messages.cut(self._messages.count_before(min(places)))

    # --- resuming ------------------------------------------------------------------------

    def _replay(self, facts: Mapping[str, Any] | None) -> None:
        """Apply what the log says about a request; facts that do not fit are not used."""
        if facts is None or self._is_unknown:
            self._is_unknown = True  # sent by another placement
            return
        try:
            self._refresh_head()
            made = decision_of(self.transcript, facts)
            self._apply(self._plan(made), [int(at) for at in facts["places"]])
            for slot in made.new:
                self._shown[slot.item] = self._with_block(slot)
        except UNFIT:
            self._is_unknown = True

    def known_block(self, window_id: str) -> str:
        """The whole block that the model can know of a window."""
        return self._shown.get(window_id, "")

    def _with_block(self, slot: Slot) -> str:
        """The whole block of a window after one of its blocks."""
        if slot.full.kind == "whole":
            return slot.text
        return applied(self._shown[slot.item], slot.text)

    def save(self, item_ids: Collection[str]) -> dict[str, Any] | None:
        """Everything that a checkpoint keeps of what was sent; None if that is not known."""
        if self._is_unknown:
            return None
        self._refresh_head()
        script = self.transcript
        places = script.compress(item_ids.__contains__)
        self._messages.move(places)
        facts = state_facts(script)
        edited = [
            [at, piece.message.role, piece.message.content]
            for at, piece in zip(self._messages.starts, self._messages.pieces, strict=True)
            if script.slots[at].item != HEAD and self._is_edited(at)
        ]
        head = self._messages.head
        sent = [[one.message.role, one.message.content] for one in head.sent]
        old = {"oldHead": sent} if head.sent is not head.shown else {}
        known = {id(slot): at for at, slot in enumerate((*script.slots, *script.tail))}
        summaries = {name: known[id(slot)] for name, slot in self._slots.summaries.items()
                     if id(slot) in known}  # fmt: skip
        return {**facts, "messages": edited, "summaries": summaries, **old}

    def _is_edited(self, at: int) -> bool:
        """Whether a message contains something that was edited since it was sent."""
        slots, first = self.transcript.slots, self.transcript.slots[at].first
        while at < len(slots) and slots[at].first == first:
            slot, sent = slots[at], slots[at].sent
            if sent is not None and not slot.text and slot.item != HEAD:
                summary = self._messages.items.get(sent.source)
                version = summary.revision if summary is not None else slot.full.version
                if sent.version != version:
                    return True
            at += 1
        return False

    def hold(self) -> None:
        """Take the next items as they are: `load` follows, and has their slots."""
        self._is_held = True

    def load(self, facts: Mapping[str, Any] | None) -> None:
        """Restore what a checkpoint has; without facts nothing was sent yet."""
        self._is_held = False
        try:
            if facts is None:
                raise ValueError("nothing is known")
            script = Transcript(self.transcript.prices)
            load_state(script, facts)
            self._slots.start(script)
            self._refresh_head()
            head = self._messages.head
            head.sent = head.shown
            if "oldHead" in facts:
                head.sent = tuple(
                    Shown(LlmMessage(role, content), ()) for role, content in facts["oldHead"]
                )
            rows = ((slot, slot.sent, slot.actions) for slot in script.slots)
            self._messages.cut(0)
            self._messages.append(self._messages.made_of(rows))
            for at, role, content in facts["messages"]:
                self._messages.put(int(at), role, content)
            for view in script.present.values():
                for slot in view.chain:
                    self._shown[view.id] = self._with_block(slot)
            for slot in (*script.slots, *script.tail):
                self._slots.note_form(slot)
            known = [*script.slots, *script.tail]
            self._slots.summaries = {name: known[at] for name, at in facts["summaries"].items()}
        except UNFIT:
            self.start_over()
        for item in self._messages.items.values():
            if item.type is ItemType.WINDOW:
                self.changed(item)

    def start_over(self) -> None:
        """Forget what was sent: the next request writes everything."""
        old, script = self.transcript, Transcript(self.transcript.prices)
        script.key, script.sent_key, script.requests = old.key, old.sent_key, old.requests
        self._slots.start(script)
        self._messages.clear()
        self._looks, self._shown, self._composed = {}, {}, None
        self._is_unknown = False
        items = sorted(self._messages.items.values(), key=lambda one: one.seq)
        said = [item for item in items if is_conversation(item) or item.is_summary]
        for item in (one for one in said if one.stage is Stage.FINAL):
            self._slots.enter(item)
        script.begin_turn()
        for item in (one for one in said if one.stage is not Stage.FINAL):
            if item.type is ItemType.ASSISTANT:
                script.answered()
            self._slots.enter(item)
        for item in said:
            self.changed(item)

    def items_sent(self) -> Iterator[ContextItem]:
        """The items that the last request contained something of."""
        for slot in self.transcript.slots:
            if slot.sent is not None:
                name = slot.sent.source or slot.item
                if name in self._messages.items:
                    yield self._messages.items[name]

    # --- requests that were sent ---------------------------------------------------------

    def take_back(self) -> None:
        """Take the last request back, right after `sent`: it failed before it was answered."""
        if self._undo is not None:
            self._undo()
        self._undo = None

    def _undo_of(self, plan: RequestPlan) -> Callable[[], None]:
        """What takes a request back that is about to be noted as sent."""
        undo = self.transcript.undo_of(plan.made)
        put_back = self._messages.undo_of(plan.kept)
        shown = {slot.item: self._shown.get(slot.item) for slot in plan.looks}

        def take_back() -> None:
            undo()
            put_back()
            for name, xml in shown.items():
                if xml is None:
                    self._shown.pop(name, None)
                else:
                    self._shown[name] = xml
            self.changed_forms = {slot.item for slot in plan.made.wants}
            for slot in plan.made.wants:
                self._slots.note_form(slot)
            self._looks, self._composed = {}, None

        return take_back

    def _apply(self, plan: RequestPlan, places: Sequence[int] | None = None) -> None:
        script = self.transcript
        self.changed_forms |= {slot.item for slot in plan.made.wants}
        following = (self._messages.seq(slot) for slot in script.tail[plan.made.place :])
        seq = next(following, self._messages.next_seq)
        for slot in plan.made.new:
            slot.seq = 0 if slot.group else seq
        plan.request = script.apply(plan.made, places)
        for slot in plan.made.wants:
            self._slots.note_form(slot)
        if not plan.request.start:
            self._messages.head.sent = self._messages.head.shown
        plan.facts |= outcome_facts(script, plan.request, plan.made)
        self._messages.cut(plan.kept)
        self._messages.append(plan.new)
        plan.marks = tuple(map(self._messages.count_before, plan.request.places))
        self._composed = None

    # --- composing -----------------------------------------------------------------------

    def compose(self, through_seq: int, generation: int, limit: int | None = None) -> Composition:
        """Compose the request from the current state."""
        now, is_new = self._clock(), self._look_at_windows()
        key = (generation, limit)
        if self._composed is not None and not is_new and self._composed[0] == key:
            composition = self._composed[1]
            if composition.plan is not None and 0 <= now - composition.plan.made.now < _FRESH:
                return composition
        if self._is_unknown:
            self.start_over()
            self._look_at_windows()
        self._refresh_head()
        composition = self._compose(now, limit, through_seq, generation)
        self._composed = key, composition
        return composition

    def _compose(
        self, now: float, limit: int | None, through_seq: int, generation: int
    ) -> Composition:
        made = self.transcript.plan(now, limit)
        looks = self._with_texts(made)
        plan = self._plan(made)
        plan.looks = {slot: look.xml for slot, look in looks.items()}
        sent = self._messages.pieces
        base = sent if plan.kept == len(sent) else sent[: plan.kept]
        return Composition(
            Messages([base, [piece for _, piece in plan.new]]),
            plan.tokens,
            self._first_window(plan),
            through_seq,
            generation,
            fresh=tuple(piece for slot, piece in plan.new if slot.at < 0),
            in_turn=any(not item.hidden for item in (*self._turn.new, *self._turn.sent)),
            plan=plan,
        )

    def _with_texts(self, made: Decision) -> dict[Slot, "_Look"]:
        """Give the new blocks of a decision their texts; return how their windows look."""
        looks = {slot: self._looks[slot.item] for slot in made.new}
        for slot, look in looks.items():
            is_change = slot.full.kind == "change" and look.change is not None
            slot.text = (look.change or "") if is_change else look.xml
        return looks

    def _plan(self, made: Decision) -> RequestPlan:
        script = self.transcript
        rows = script.written(made)
        held = script.held_of(made)
        return RequestPlan(
            made,
            self._messages.count_before(script.start_of(made)),
            list(self._messages.made_of(rows)),
            script.size(made, rows),
            self._messages.count_before(held),
            script.size_before(held),
            self._messages.seq_from(script, held),
            [row for row in rows if row[1] is not None and is_placed(row[0], row[1])],
        )

    def _first_window(self, plan: RequestPlan) -> int:
        """Count the messages before the first block of a window, or before what is new."""
        slots = (self.transcript.slots_of(name) for name in self.transcript.present)
        shown = (next((one.at for one in row if one.sent), None) for row in slots)
        first = min((at for at in shown if at is not None), default=len(self.transcript.slots))
        kept = min(plan.kept, max(0, bisect_left(self._messages.starts, first + 1) - 1))
        if kept < plan.kept:
            return kept
        old = takewhile(lambda pair: pair[0].at >= 0 and not pair[1].shown.copies, plan.new)
        return max(plan.kept + sum(1 for _ in old), len(self._messages.head.shown))

    def shown_content(self, item: ContextItem) -> Content | None:
        """What the last request contained of an item of the conversation; None if nothing."""
        script = self.transcript
        slots = [slot for slot in script.slots_of(item.id) if slot.sent is not None]
        return self._messages.content_of(script.slots[slots[0].first], item) if slots else None

    # --- windows and head ----------------------------------------------------------------

    def _look_at_windows(self) -> bool:
        """Note how the windows look now; return whether any looks different."""
        script, is_new, there = self.transcript, False, set[str]()
        for item in self._turn.references if self._windows is not None else ():
            window = self._windows.get(item.content) if self._windows is not None else None
            if window is None:
                continue
            there.add(window.id)
            render, shown = runtime_of(window).renders.latest(), self._shown.get(window.id)
            known, view = self._looks.get(window.id), script.present.get(window.id)
            is_known = known is not None and known.xml == render.xml and known.since == shown
            if is_known and view is not None and view.is_open:
                continue
            is_new = True
            listed = actions_of(render.xml)
            whole, actions = self._counter.count(render.xml), self._counter.count(listed)
            text = change_block(shown, render.xml) if shown else None
            change: int | None = self._counter.count(text) if text else None
            if shown is not None and is_same(shown, render.xml):
                change = 0
            self._looks[window.id] = _Look(render.xml, shown, text)
            script.update(
                window.id, window.name,
                tokens=max(1, whole - actions), change=change, key=listed, actions=actions,
            )  # fmt: skip
        for name, view in script.present.items():
            if view.is_open and not view.is_dropped and name not in there:
                script.close(name)  # a damaged log may lack the window of a block
                is_new = True
        return is_new

    def _refresh_head(self) -> None:
        head = self._messages.head
        visible = [
            item
            for item in head_first(item for item in head.items if not item.hidden)
            if not (self._turn.under_way and item.stage is Stage.NEW)
        ]
        key = tuple((item.id, item.revision) for item in visible)
        if key != head.key:
            head.key = key
            head.shown = tuple(
                Shown(LlmMessage(role_of(item), content_of(item)), (item,)) for item in visible
            )
            digest = hashlib.sha256(repr([one.message for one in head.shown]).encode()).hexdigest()
            if digest != self.transcript.head.full.source:
                self.transcript.set_head(self._messages.head_size(head.shown), digest)
