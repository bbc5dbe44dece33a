"""Compose requests by price: items and windows become slots of a transcript, slots messages.

`placement` decides by token counts what each slot shows and when outdated content is removed. Here
are the texts: what an item or a window shows in each of its forms, the messages that slots form,
and the list of messages that were sent. A request appends to that list; a sweep replaces its end.
"""

import hashlib
import time
from bisect import bisect_left, insort
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby, islice, takewhile
from typing import Any, Literal, NamedTuple

from contextui.context.gists.result import result_gist
from contextui.context.item import (
    THINKING,
    Carried,
    ContextItem,
    ItemIndex,
    ItemType,
    Stage,
    assign,
    is_conversation,
)
from contextui.context.messages import (
    Composition,
    Messages,
    Piece,
    Shown,
    content_of,
    head_first,
    own_content,
    result_block,
    role_of,
)
from contextui.context.placement import FORCED, Transcript
from contextui.context.placement_facts import (
    UNFIT,
    decision_of,
    load_state,
    outcome_facts,
    request_facts,
    state_facts,
)
from contextui.context.slots import Decision, Form, Kind, Request, Slot, size_of
from contextui.context.units import Calls
from contextui.model import Block, CachePrices, LlmMessage, Role
from contextui.tokens import TokenCounter
from contextui.windowing.blocks import (
    actions_of,
    applied,
    change_block,
    is_same,
    version_of,
    with_reference,
)
from contextui.windowing.host import latest_render
from contextui.windowing.manager import WindowManager
from contextui.windowing.snapshot import ContextVersion
from contextui.words import Lang

_NO_OUTPUT = "(no output)"
_FRESH = 1.0  # seconds for which a composed request is used again
_UNANSWERED = "unanswered"
HEAD = "system"
"""The name of the slot that holds the system prompt and the project's text."""
_NOT_RESTORED = ("whole", "change", "thinking")  # windows are shown anew

Row = tuple[Slot, Form | None, str]


@dataclass(slots=True, eq=False)
class Plan:
    """How a composed request was planned, and what is needed to note it as sent.

    Attributes:
        made: The decision.
        kept: How many of the messages sent before stay.
        new: The messages behind them, each with its first slot.
        tokens: The tokens of all of them.
        cached: How many of the messages the provider is expected to read from its cache.
        cached_tokens: The tokens of these.
        uncached_seq: The seq of the first item behind them.
        placed: The blocks of windows and summaries that it writes anew or appends.
        looks: The whole block of each window that it shows anew, by slot.
        marks: Behind how many messages cache marks stand; known once it is sent.
        request: What it reads, writes and removes; known once it is sent.
        facts: What the log keeps of it; known once it is sent.
    """

    made: Decision
    kept: int
    new: list[tuple[Slot, Piece]]
    tokens: int
    cached: int = 0
    cached_tokens: int = 0
    uncached_seq: int = 0
    placed: list[Row] = field(default_factory=list)
    looks: dict[Slot, "_Look"] = field(default_factory=dict)
    marks: tuple[int, ...] = ()
    request: Request | None = None
    facts: dict[str, Any] = field(default_factory=dict)


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
    """What a change would cost.

    Attributes:
        each: How many tokens more or fewer the next request would have.
        once: How many tokens more it would write to the cache.
        prices: What the provider charges.
    """

    each: int
    once: int
    prices: CachePrices


Change = Literal["drop", "restore", "edit"]


@dataclass(slots=True, eq=False)
class _Look:
    """How a window looks: its whole block, and what changed since it was last sent."""

    xml: str
    since: str | None  # the whole block that the change starts from
    change: str | None


@dataclass(slots=True)
class _Head:
    """What every request begins with: the system prompt and the project's text."""

    items: list[ContextItem] = field(default_factory=list)
    shown: tuple[Shown, ...] = ()
    sent: tuple[Shown, ...] = ()
    key: tuple[object, ...] = ()


class PricedComposer:
    """Composes the next request by price, updated as the context changes.

    Args:
        calls: Links tool calls and their results.
        windows: The windows of the conversation.
        counter: Counts tokens.
        lang: The language of gists.
        clock: Returns the time in seconds; resumed sessions compare it with the time of the last
            request.
    """

    def __init__(
        self,
        calls: Calls,
        windows: WindowManager | None,
        counter: TokenCounter,
        lang: Lang,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._calls, self._windows, self._counter = calls, windows, counter
        self._lang, self._clock = lang, clock
        self.transcript = Transcript(head=0)
        self.transcript.begin_turn()
        self._items: dict[str, ContextItem] = {}
        self._next_seq = 1
        self._revisions: dict[str, int] = {}
        self._head = _Head()
        self._references = ItemIndex()
        self._summaries: dict[str, Slot] = {}  # where each summary of older items stands
        self._looks: dict[str, _Look] = {}
        self._shown: dict[str, str] = {}  # the whole block that the model can know of each window
        self._new: list[ContextItem] = []
        self._sent: list[ContextItem] = []
        self._pieces: list[Piece] = []
        self._starts: list[int] = []  # the place of the first slot of each of them
        self._composed: tuple[tuple[object, ...], Composition] | None = None
        self.changed_forms: set[str] = set()
        """The items that the last request began to show in another form."""
        self._is_held = False  # a checkpoint is being loaded
        self._is_unknown = False  # it is not known what was sent
        self._undo: Callable[[], None] | None = None  # takes the last request back

    # --- what happens --------------------------------------------------------------------

    @property
    def under_way(self) -> bool:
        """Whether a part of this turn was sent."""
        return bool(self._sent)

    @property
    def references(self) -> Sequence[ContextItem]:
        """The window items that are not hidden."""
        return self._references.view()

    @property
    def newest(self) -> ContextItem | None:
        """The newest item of the conversation that is not final."""
        turn = self._new or self._sent
        return turn[-1] if turn else None

    def use(self, prices: CachePrices, key: str) -> None:
        """Note which model and tools the next requests are for."""
        script = self.transcript
        if (script.prices, script.key) != (prices, key):
            script.use(prices, key)
            self._composed = None

    # --- resuming ------------------------------------------------------------------------

    def replay(self, facts: Mapping[str, Any] | None) -> None:
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

    def _with_block(self, slot: Slot) -> str:
        """The whole block of a window after one of its blocks."""
        if slot.full.kind == "whole":
            return slot.text
        return applied(self._shown[slot.item], slot.text)

    def save(self, item_ids: Collection[str]) -> dict[str, Any] | None:
        """Everything that a checkpoint keeps of what was sent; None if that is not known.

        Args:
            item_ids: The items that it keeps.
        """
        if self._is_unknown:
            return None
        self._refresh_head()
        script = self.transcript
        places = script.compress(item_ids.__contains__)
        self._starts = [bisect_left(places, at) for at in self._starts]
        facts = state_facts(script)
        edited = [
            [at, piece.message.role, piece.message.content]
            for at, piece in zip(self._starts, self._pieces, strict=True)
            if script.slots[at].item != "system" and self._is_edited(at)
        ]
        sent = [[one.message.role, one.message.content] for one in self._head.sent]
        is_other = self._head.sent is not self._head.shown
        old = {"oldHead": sent} if is_other else {}
        known = {id(slot): at for at, slot in enumerate((*script.slots, *script.tail))}
        summaries = {name: known[id(slot)] for name, slot in self._summaries.items()
                     if id(slot) in known}  # fmt: skip
        return {**facts, "messages": edited, "summaries": summaries, **old}

    def _is_edited(self, at: int) -> bool:
        """Whether a message contains something that was edited since it was sent."""
        slots, first = self.transcript.slots, self.transcript.slots[at].first
        while at < len(slots) and slots[at].first == first:
            slot, sent = slots[at], slots[at].sent
            if sent is not None and not slot.text and slot.item != "system":
                summary = self._items.get(sent.source)
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
            self.transcript = script
            self._refresh_head()
            self._head.sent = self._head.shown
            if "oldHead" in facts:
                self._head.sent = tuple(
                    Shown(LlmMessage(role, content), ()) for role, content in facts["oldHead"]
                )
            rows = ((slot, slot.sent, slot.actions) for slot in script.slots)
            new = list(self._pieces_of(rows, is_anew=True))
            self._pieces, self._starts = [one for _, one in new], [slot.at for slot, _ in new]
            for at, role, content in facts["messages"]:
                self._put(int(at), role, content)
            for view in script.present.values():
                for slot in view.chain:
                    self._shown[view.id] = self._with_block(slot)
            for slot in (*script.slots, *script.tail):
                self._note_form(slot)
            known = [*script.slots, *script.tail]
            self._summaries = {name: known[at] for name, at in facts["summaries"].items()}
        except UNFIT:
            self.start_anew()
        for item in self._items.values():
            if item.type is ItemType.WINDOW:
                self._window_changed(item)

    def _put(self, at: int, role: Role, content: Any) -> None:
        """Put a message where it stood that cannot be made from the items any more."""
        number = self._starts.index(at)
        shown = self._pieces[number].shown
        given = content if isinstance(content, str) else tuple(content)
        shown = shown._replace(message=LlmMessage(role, given))
        self._pieces[number] = self._pieces[number]._replace(shown=shown)

    def start_anew(self) -> None:
        """Forget what was sent: the next request writes everything."""
        script = self.transcript
        self.transcript = Transcript(script.prices)
        self.transcript.key, self.transcript.sent_key = script.key, script.sent_key
        self.transcript.requests = script.requests
        self._head.key = ()
        self._pieces, self._starts, self._summaries = [], [], {}
        self._looks, self._shown, self._composed = {}, {}, None
        self._is_unknown = False
        items = sorted(self._items.values(), key=lambda one: one.seq)
        said = [item for item in items if is_conversation(item) or item.is_summary]
        for item in (one for one in said if one.stage is Stage.FINAL):
            self._enter(item)
        self.transcript.begin_turn()
        for item in (one for one in said if one.stage is not Stage.FINAL):
            if item.type is ItemType.ASSISTANT:
                self.transcript.answered()
            self._enter(item)
        for item in said:
            self.changed(item)

    def items_sent(self) -> Iterator[ContextItem]:
        """The items that the last request contained something of."""
        for slot in self.transcript.slots:
            if slot.sent is not None:
                name = slot.sent.source or slot.item
                if name in self._items:
                    yield self._items[name]

    def added(self, item: ContextItem) -> None:
        """Register a new item."""
        self._next_seq = max(self._next_seq, item.seq + 1)
        self._items[item.id] = item
        self._revisions[item.id] = item.revision
        if item.type is ItemType.SYSTEM and not item.is_summary:
            insort(self._head.items, item, key=lambda one: one.seq)
            return
        if item.type is ItemType.WINDOW:
            self._references.add(item)
            return
        if is_conversation(item) and item.stage is not Stage.FINAL:
            self._new.append(item)
        if self._is_held or (item.hidden and item.stage is Stage.FINAL):
            return  # it gets its slots from a checkpoint, or once it is shown again
        if item.type is ItemType.ASSISTANT and item.stage is not Stage.FINAL:
            self.transcript.answered()
        self._enter(item)
        self.changed(item)

    def changed(self, item: ContextItem) -> None:
        """Follow a change of an item: hidden, shown again, edited, pinned."""
        script = self.transcript
        if self._is_held:
            return
        if item.type is ItemType.WINDOW:
            self._window_changed(item)
            return
        if is_conversation(item) and not (item.hidden or script.slots_of(item.id)):
            self._insert(item)
        if self._revisions.get(item.id) != item.revision:
            self._revisions[item.id] = item.revision
            self._edited(item)
        (script.pin if item.pinned or item.whole else script.unpin)(item.id)
        self._follow(item)
        for result in self._calls.results(item) if item.type is ItemType.ASSISTANT else ():
            self._follow(result)
            self._pair(result)
        if item.type is ItemType.TOOL:
            self._pair(item)
        if item.id in self._summaries:
            self._summary_changed(item, self._summaries[item.id])

    def compacted(self, items: Sequence[ContextItem], summary: ContextItem) -> None:
        """Put a summary in the place of items and of the windows shown between them."""
        script, ids = self.transcript, {item.id for item in items}
        places = [slot for one in ids for slot in script.slots_of(one)]
        places += [self._summaries[one] for one in ids if one in self._summaries]
        first = min((slot.at for slot in places if slot.at >= 0), default=0)
        last = max((slot.at for slot in places), default=-1)
        found = {*places, *(slot for slot in script.slots[first : last + 1] if slot.text)}
        old = [slot for slot in (*script.slots[first : last + 1], *script.tail) if slot in found]
        if place := script.compact(old, summary.id, self._size("user", content_of(summary))):
            self._summaries[summary.id] = place

    def sent(self, plan: Plan | None) -> None:
        """Note that a request was sent: its messages are fixed from now on."""
        self.changed_forms.clear()
        done = [item for item in self._new if item.stage is Stage.SENT]
        self._new = [item for item in self._new if item.stage is Stage.NEW]
        self._sent += done
        if plan is not None:
            self._undo = self._undo_of(plan)
            plan.facts = request_facts(self.transcript, plan.made)
            self._apply(plan)
            for slot, look in plan.looks.items():
                self._shown[slot.item] = look.xml

    def take_back(self) -> None:
        """Take the last request back: it failed before it was answered.

        Only right after `sent`, before anything else has happened.
        """
        if self._undo is not None:
            self._undo()
        self._undo = None

    def _undo_of(self, plan: Plan) -> Callable[[], None]:
        """What takes a request back that is about to be noted as sent."""
        undo, head = self.transcript.undo_of(plan.made), self._head.sent
        pieces, starts = self._pieces[plan.kept :], self._starts[plan.kept :]
        shown = {slot.item: self._shown.get(slot.item) for slot in plan.looks}

        def take_back() -> None:
            undo()
            self._head.sent = head
            # New lists: compositions that were made in the meantime share the old ones.
            self._pieces = [*self._pieces[: plan.kept], *pieces]
            self._starts = [*self._starts[: plan.kept], *starts]
            for name, xml in shown.items():
                if xml is None:
                    self._shown.pop(name, None)
                else:
                    self._shown[name] = xml
            self.changed_forms = {slot.item for slot in plan.made.wants}
            for slot in plan.made.wants:
                self._note_form(slot)
            self._composed = None

        return take_back

    def _apply(self, plan: Plan, places: Sequence[int] | None = None) -> None:
        script = self.transcript
        self.changed_forms |= {slot.item for slot in plan.made.wants}
        following = (self._seq(slot) for slot in script.tail[plan.made.place :])
        seq = next(following, self._next_seq)
        for slot in plan.made.new:
            slot.seq = 0 if slot.group else seq
        plan.request = script.apply(plan.made, places)
        for slot in plan.made.wants:
            self._note_form(slot)
        if not plan.request.start:
            self._head.sent = self._head.shown
        plan.facts |= outcome_facts(script, plan.request, plan.made)
        if plan.kept < len(self._pieces):
            self._pieces, self._starts = self._pieces[: plan.kept], self._starts[: plan.kept]
        self._pieces += (piece for _, piece in plan.new)
        self._starts += (slot.at for slot, _ in plan.new)
        plan.marks = tuple(bisect_left(self._starts, at) for at in plan.request.places)
        self._composed = None

    def finished(self, items: Sequence[ContextItem], early: bool = False) -> None:
        """End the turn of these items; early, the rest of it is sent again."""
        rest = [item for item in (*self._sent, *self._new) if item.stage is Stage.NEW]
        self._new = sorted(rest, key=lambda item: item.seq)
        self._sent = []
        if early:
            self.transcript.forget_thinking()
            self._take_back(rest)
        elif items:
            self.transcript.begin_turn()
        self._composed = None

    def _take_back(self, items: Iterable[ContextItem]) -> None:
        """Send the end of the transcript again, from the first slot of these items on."""
        slots = (slot for item in items for slot in self.transcript.slots_of(item.id))
        if places := [slot.first for slot in slots if slot.at >= 0]:
            self.transcript.take_back(min(places))
            kept = bisect_left(self._starts, min(places))
            self._pieces, self._starts = self._pieces[:kept], self._starts[:kept]

    # --- slots of items ------------------------------------------------------------------

    def _insert(self, item: ContextItem) -> None:
        """Give an item that was only in the log its slots, where it was."""
        script = self.transcript
        before = len(script.tail)
        self._enter(item, is_old=True)
        new, script.tail = script.tail[before:], script.tail[:before]
        later = (slot for slot in script.slots if (slot.seq or self._seq(slot)) > item.seq)
        at = next((slot.first for slot in later), len(script.slots))
        self._insert_slots(at, new)

    def _insert_slots(self, at: int, new: Sequence[Slot]) -> None:
        """Put slots in front of a place that were not sent."""
        script = self.transcript
        follows = script.slots[at].group if at < len(script.slots) else ""
        is_inner = bool(follows) and any(slot.group == follows for slot in new)
        first = at + 1 if is_inner else at
        script.insert(at, new)
        self._starts = [one if one < first else one + len(new) for one in self._starts]

    def _insert_before(self, slot: Slot, new: Slot) -> None:
        """Put a slot in front of the message of another one."""
        script = self.transcript
        if slot.at >= 0:
            self._insert_slots(slot.first, [new])
        else:
            script.tail.insert(script.tail.index(slot), new)
            script.insert(len(script.slots), [])

    def _enter(self, item: ContextItem, *, is_old: bool = False) -> None:
        """Give an item its slots."""
        script = self.transcript
        if item.type is ItemType.TOOL:
            place = None if is_old else self._place_of_result(item)
            is_paired = item.tool_call_id is not None and (place is not None or is_old)
            call = item.tool_call_id if is_paired else None
            tokens, gist = self._result_size(item, _result_content(item)), 0
            if tokens > script.rules.long:
                gist = min(tokens, self._result_size(item, self._gist(item)))
            group = f"{self._calls.asker(item).id}:results" if is_paired else ""
            script.add(
                item.id, item.id, "result", tokens,
                call=call, gist=gist, group=group, place=place,
            )  # fmt: skip
            return
        group = item.id if item.type is ItemType.ASSISTANT else ""
        for number, (kind, parts, call) in enumerate(_layout(item)):
            tokens = self._part_size(item, parts)
            name = f"{item.id}.{number}" if number else item.id
            script.add(
                name, item.id, kind, tokens, call=call, group=group, parts=parts,
                is_words=item.type is ItemType.USER,
            )  # fmt: skip

    def _place_of_result(self, item: ContextItem) -> int | None:
        """Where a result goes in what was not sent yet: behind its answer. None: at the end."""
        if item.tool_call_id is None:
            return None
        calls = self.transcript.slots_of_call(item.tool_call_id)
        if any(slot.at >= 0 for slot in calls if slot.full.kind == "call"):
            return None  # a request was sent without this call
        asker = self._calls.asker(item)
        mine = {asker.id, *(one.id for one in self._calls.results(asker))} - {item.id}
        tail = self.transcript.tail
        for at in range(len(tail) - 1, -1, -1):
            if tail[at].item in mine:
                return at + 1
        return None

    def _wanted(self, item: ContextItem, slot: Slot) -> tuple[Form | None, str]:
        """What a slot of an item is to show, and why."""
        if why := item.hidden or self._why_left_out(item, slot):
            return None, why
        is_gist = slot.want is not None and slot.want.kind == "gist"
        if is_gist and not (item.pinned or item.whole):
            form = slot.gist_form()
            return form, slot.reason if slot.want == form else "edited"
        return slot.full, "edited" if slot.want is not None else "restored"

    def _why_left_out(self, item: ContextItem, slot: Slot) -> str:
        """Why a slot of an item that is visible shows nothing; empty if it does."""
        if item.id in self._summaries:
            return "compacted"  # it stands where what it summarizes was
        if not slot.parts and item.type is ItemType.ASSISTANT:
            return "edited"
        if slot.full.kind == "thinking" and not self.transcript.is_thought(slot):
            return slot.reason or "thinking"
        if slot.full.kind == "call":
            result = self._result_of(slot)
            return _UNANSWERED if result is None else result.hidden or ""
        if slot.full.kind == "result" and slot.call is not None:
            return self._calls.asker(item).hidden or ""
        return ""

    def _follow(self, item: ContextItem) -> None:
        """Let the slots of an item want what they are to show."""
        for slot in [*self.transcript.slots_of(item.id)]:
            if slot is self._summaries.get(item.id):
                continue
            form, reason = self._wanted(item, slot)
            if not _is_same_form(slot.want, form, item):
                summary = self._items.get(slot.want.source) if slot.want is not None else None
                if summary is not None and not summary.hidden:
                    self._move_summary(summary, slot)
                self.transcript.want(slot, form, reason)
            self._note_form(slot)

    def _note_form(self, slot: Slot) -> None:
        """Note at a tool result whether requests contain its gist."""
        item = self._items.get(slot.item)
        if item is not None and item.type is ItemType.TOOL:
            is_gist = slot.want is not None and slot.want.kind == "gist"
            if bool(item.shown_gist) != is_gist or item.shown_gist is None:
                assign(item, shown_gist=self._gist(item) if is_gist else "")

    def _result_of(self, call: Slot) -> ContextItem | None:
        """The result of a call that stands behind it."""
        for slot in self.transcript.slots_of_call(call.call or ""):
            if slot.full.kind == "result":
                return self._items[slot.item]
        return None

    def _pair(self, result: ContextItem) -> None:
        """Show or hide a call, and the windows inside of its result, together with the result."""
        script = self.transcript
        for slot in script.slots_of_call(result.tool_call_id or ""):
            if slot.full.kind == "call":
                self._follow(self._items[slot.item])
            elif slot.text and not any(one.want for one in script.slots_of(result.id)):
                script.want(slot, None, result.hidden or "dropped")

    def _summary_changed(self, summary: ContextItem, slot: Slot) -> None:
        """Follow a change of a summary in the place of what it summarizes."""
        is_shown = slot.want is not None and slot.want.source == summary.id
        if summary.hidden:
            if is_shown:
                self.transcript.want(slot, None, summary.hidden)
        elif is_shown or slot.want is None:
            self.transcript.want(
                slot, self._summary_form(summary), "edited" if is_shown else "restored"
            )
        else:  # something else stands there: a later summary, or what it had replaced
            self._move_summary(summary, slot)

    def _summary_form(self, summary: ContextItem) -> Form:
        size = self._size("user", content_of(summary))
        return Form("summary", size, summary.revision, source=summary.id)

    def _move_summary(self, summary: ContextItem, slot: Slot) -> None:
        """Give a summary a slot of its own in front of the one that showed it."""
        form = self._summary_form(summary)
        new = Slot(f"{summary.id}.moved", summary.id, slot.turn, form, form)
        self._summaries[summary.id] = new
        self._insert_before(slot, new)

    def _edited(self, item: ContextItem) -> None:
        """Fit an item's slots to its new content."""
        slots = self.transcript.slots_of(item.id)
        if item.type is ItemType.ASSISTANT and (said := _match(slots, _layout(item))):
            self._give_words(item, said)
            slots = self.transcript.slots_of(item.id)
        is_as_sent = self._is_message_as_sent(slots)  # after an undo
        for slot in slots:
            if item.type is ItemType.TOOL:
                size = self._result_size(item, _result_content(item))
                slot.gist = min(size, self._result_size(item, self._gist(item)))
            else:
                size = self._part_size(item, slot.parts)
            version = slot.sent.version if is_as_sent and slot.sent else slot.full.version + 1
            slot.full = Form(_kind_now(item, slot), size, version)

    def _is_message_as_sent(self, slots: Sequence[Slot]) -> bool:
        """Whether the message of slots, made from the items of now, is as it was sent."""
        script = self.transcript
        if not slots or slots[0].at < 0:
            return False
        first = slots[0].first
        behind = (script.slots[at] for at in range(first, len(script.slots)))
        message = takewhile(lambda slot: slot.first == first, behind)
        shown = self._message([(slot, slot.sent, slot.actions) for slot in message])
        sent = [piece.message for _, piece in self._as_sent(script.slots[first])]
        return shown is not None and sent == [shown.message]

    def _give_words(self, item: ContextItem, parts: tuple[int, ...]) -> None:
        """Give an answer that only made calls a slot in front of them for words."""
        script = self.transcript
        first = script.slots_of(item.id)[0]
        form = Form("text", 0)
        slot = Slot(f"{item.id}.words", item.id, first.turn, form, None, group=item.id, parts=parts)
        self._insert_before(first, slot)

    def _window_changed(self, item: ContextItem) -> None:
        script, name = self.transcript, item.content
        (self._references.discard if item.is_obsolete else self._references.add)(item)
        if name not in script.views:
            return
        if item.hidden == "closed":
            script.close(name)
        elif item.hidden and item.hidden != "replaced":
            script.drop(name)
        elif not item.hidden:
            script.restore(name)

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
            self.start_anew()
            self._look_at_windows()
        self._refresh_head()
        composition = self._compose(now, limit, through_seq, generation)
        self._composed = key, composition
        return composition

    def _compose(
        self, now: float, limit: int | None, through_seq: int, generation: int
    ) -> Composition:
        made, looks = self._with_texts(self.transcript.plan(now, limit))
        plan = self._plan(made)
        plan.looks = looks
        base = self._pieces if plan.kept == len(self._pieces) else self._pieces[: plan.kept]
        return Composition(
            Messages([base, [piece for _, piece in plan.new]]),
            plan.tokens,
            self._first_window(plan),
            through_seq,
            generation,
            fresh=tuple(piece for slot, piece in plan.new if slot.at < 0),
            in_turn=any(item.is_shown for item in (*self._new, *self._sent)),
            plan=plan,
        )

    def _with_texts(self, made: Decision) -> tuple[Decision, dict[Slot, "_Look"]]:
        """Give the new blocks of a decision their texts."""
        looks = {slot: self._looks[slot.item] for slot in made.new}
        for slot, look in looks.items():
            is_change = slot.full.kind == "change" and look.change is not None
            slot.text = (look.change or "") if is_change else look.xml
        return made, looks

    def _plan(self, made: Decision, *, is_anew: bool = False) -> Plan:
        """Make the messages of a request that was decided."""
        script = self.transcript
        rows = script.written(made)
        kept = bisect_left(self._starts, script.start_of(made))
        new = list(self._pieces_of(rows, is_anew=is_anew))
        held = script.held_of(made)
        return Plan(
            made,
            kept,
            new,
            script.size(made, rows),
            bisect_left(self._starts, held),
            script.size_before(held),
            self._seq_from(held),
            [row for row in rows if row[1] is not None and _is_placed(row[0], row[1])],
        )

    def render(self) -> list[LlmMessage]:
        """All messages of the next request, made anew: what `compose` must equal."""
        made = self.transcript.plan(self._clock())
        plan = self._plan(self._with_texts(made)[0], is_anew=True)
        start = self.transcript.start_of(made)
        before = [(slot, slot.sent, slot.actions) for slot in self.transcript.slots[:start]]
        made_anew = [(slot.at, piece) for slot, piece in self._pieces_of(before, is_anew=True)]
        sent = zip(self._starts[: plan.kept], self._pieces, strict=False)
        pieces = [
            *(pair for pair in made_anew if not self._is_edited(pair[0])),
            *(pair for pair in sent if self._is_edited(pair[0])),
        ]
        pieces.sort(key=lambda pair: pair[0])
        return [piece.message for _, piece in (*pieces, *plan.new)]

    def _first_window(self, plan: Plan) -> int:
        """Behind how many messages the first block of a window stands, or what is new."""
        slots = (self.transcript.slots_of(name) for name in self.transcript.present)
        shown = (next((one.at for one in row if one.sent), None) for row in slots)
        first = min((at for at in shown if at is not None), default=len(self.transcript.slots))
        kept = min(plan.kept, max(0, bisect_left(self._starts, first + 1) - 1))
        if kept < plan.kept:
            return kept
        old = takewhile(lambda pair: pair[0].at >= 0 and not pair[1].shown.copies, plan.new)
        return max(plan.kept + sum(1 for _ in old), len(self._head.shown))

    def _look_at_windows(self) -> bool:
        """Note how the windows look now; return whether any looks different."""
        script, is_new, there = self.transcript, False, set[str]()
        for item in self._references.view() if self._windows is not None else ():
            window = self._windows.get(item.content) if self._windows is not None else None
            if window is None:
                continue
            there.add(window.id)
            render, shown = latest_render(window), self._shown.get(window.id)
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
        head = self._head
        visible = [
            item
            for item in head_first(item for item in head.items if item.is_shown)
            if not (self.under_way and item.stage is Stage.NEW)
        ]
        key = tuple((item.id, item.revision) for item in visible)
        if key != head.key:
            head.key = key
            head.shown = tuple(
                Shown(LlmMessage(role_of(item), content_of(item)), (item,)) for item in visible
            )
            digest = hashlib.sha256(repr([one.message for one in head.shown]).encode()).hexdigest()
            if digest != self.transcript.head.full.source:
                size = sum(self._size(*_said(one.message)) for one in head.shown)
                self.transcript.set_head(size, digest)

    # --- messages of slots ---------------------------------------------------------------

    def _pieces_of(
        self, rows: Iterable[Row], *, is_anew: bool = False
    ) -> Iterator[tuple[Slot, Piece]]:
        """The messages that slots form, each with its first slot.

        Args:
            rows: The slots in order, with their forms.
            is_anew: Whether to make messages again that the last request had.
        """
        numbered = ((row[0].group or f"{number}", row) for number, row in enumerate(rows))
        windows: list[tuple[Slot, Piece]] = []  # they get the seq of what follows them
        for _, group in groupby(numbered, key=lambda pair: pair[0]):
            message = [row for _, row in group]
            (slot, first, _), seq = message[0], self._seq(message[0][0])
            found: list[tuple[Slot, Piece]] = []
            if not is_anew and all(_is_as_sent(row) for row in message):
                found = list(self._as_sent(slot))
            elif slot.item == "system":
                head = self._head.shown if first == slot.full else self._head.sent
                found = [(slot, Piece(one, self._size(*_said(one.message)), 0)) for one in head]
            elif shown := (None if is_anew else self._rest_of(message)) or self._message(message):
                tokens = sum(size_of(form, label) for _, form, label in message)
                found = [(slot, Piece(shown, tokens, seq))]
            if slot.text:
                windows += found
            elif found:
                yield from ((one, piece._replace(seq=seq)) for one, piece in windows)
                yield from found
                windows = []
        yield from ((one, piece._replace(seq=self._next_seq)) for one, piece in windows)

    def _as_sent(self, slot: Slot) -> Iterator[tuple[Slot, Piece]]:
        """The messages that begin with a slot, as the last request had them."""
        number = bisect_left(self._starts, slot.at)
        while number < len(self._starts) and self._starts[number] == slot.at:
            yield slot, self._pieces[number]
            number += 1

    def _rest_of(self, rows: Sequence[Row]) -> Shown | None:
        """What is left of a sent answer if parts of it only go; the item is not read for that."""
        slot, kept = rows[0][0], list[Block]()
        item = self._items.get(slot.item)
        is_less = all(row[1] is None or _is_as_sent(row) for row in rows)
        if slot.at < 0 or item is None or item.type is not ItemType.ASSISTANT or not is_less:
            return None
        sent = next((piece.message.content for _, piece in self._as_sent(slot)), "")
        parts = [one for one, _, _ in rows if one.sent is not None]
        if isinstance(sent, str) or len(sent) != sum(len(one.parts) for one in parts):
            return None
        blocks = iter(sent)
        for one, form, _ in rows:
            own = list(islice(blocks, len(one.parts))) if one.sent is not None else []
            kept += own if form is not None else []
        return _answer(item, tuple(kept))

    def _seq(self, slot: Slot) -> int:
        item = self._items.get(slot.item)
        return item.seq if item is not None else 0

    def _message(self, rows: Sequence[Row]) -> Shown | None:
        """The message that a group of slots forms; None if nothing is shown of it."""
        live = [(slot, form, label) for slot, form, label in rows if form is not None]
        if not live:
            return None
        slot, form, _ = live[0]
        if form.kind == "summary" and form.source:
            summary = self._items[form.source]
            return Shown(LlmMessage("user", content_of(summary)), (summary,))
        if form.kind in ("whole", "change"):
            copy = self._copy(*live[0])
            return Shown(LlmMessage("user", copy.xml), (), (copy,))
        item = self._items[slot.item]
        if item.type is ItemType.ASSISTANT:
            return _answer(item, _parts_of(item, tuple(n for one, *_ in live for n in one.parts)))
        if item.type is ItemType.TOOL:
            return self._results(live)
        return Shown(LlmMessage(role_of(item), content_of(item)), (item,))

    def _results(self, live: Sequence[tuple[Slot, Form, str]]) -> Shown:
        """The message with the results of an answer, and with the windows inside of them."""
        items: list[ContextItem] = []
        blocks: list[Block] = []
        copies: list[Carried] = []
        for call, rows in groupby(live, key=lambda row: row[0].call):
            (slot, form, _), *inner = rows
            item = self._items[slot.item]
            given = self._gist(item) if form.kind == "gist" else _result_content(item)
            if call is None:  # of the text protocol, or too late for its call
                return Shown(LlmMessage("user", given), (item,))
            items.append(item)
            windows = [self._copy(*row) for row in inner]
            copies += windows
            blocks.append(result_block(call, given, windows, is_error=item.is_error))
        return Shown(LlmMessage("user", tuple(blocks)), tuple(items), tuple(copies))

    def _copy(self, slot: Slot, form: Form, label: str) -> Carried:
        text, version = slot.text, version_of(slot.text)
        if form.kind == "whole" and label.startswith("ref:"):
            text = with_reference(text, label.removeprefix("ref:"))
        return Carried(slot.item, ContextVersion.read(version), text)

    def _gist(self, item: ContextItem) -> str:
        calls = self._calls.asker(item).blocks or ()
        call = next((one for one in calls if one.get("id") == item.tool_call_id), None)
        return result_gist(item, self._lang, call=call if item.tool_call_id else None)

    def _size(self, role: str, content: "str | tuple[Block, ...]") -> int:
        return self._counter.message_overhead(role) + self._counter.count_content(content)

    def _part_size(self, item: ContextItem, parts: tuple[int, ...]) -> int:
        """The tokens of some blocks of an item; the last one has the overhead of the message."""
        content = _parts_of(item, parts)
        is_last = item.blocks is None or len(item.blocks) - 1 in parts
        tokens = self._counter.count_content(content)
        return tokens + (self._counter.message_overhead(role_of(item)) if is_last else 0)

    def _result_size(self, item: ContextItem, content: "str | tuple[Block, ...]") -> int:
        """The tokens of a result; that of the first call has the overhead of the message."""
        calls = self._calls.asker(item).calls
        is_first = item.tool_call_id is None or item.tool_call_id in calls[:1] or not calls
        tokens = self._counter.count_content(content)
        return tokens + (self._counter.message_overhead("user") if is_first else 0)

    # --- figures -------------------------------------------------------------------------

    def tokens_of(self, item: ContextItem) -> int:
        """The tokens of an item that count, in the form that is wanted of it."""
        script = self.transcript
        if item.type is ItemType.SYSTEM and not item.is_summary:
            return self._size(role_of(item), content_of(item))
        if item.is_summary:
            return self._size("user", content_of(item))
        if item.type is ItemType.TOOL and not script.slots_of(item.id):  # only in the log
            return self._result_size(item, _result_content(item))
        forms = [slot.want if slot.want and not slot.want.source else slot.full
                 for slot in script.slots_of(item.id)]  # fmt: skip
        sizes = [(form.kind, form.tokens) for form in forms]
        if not sizes:
            sizes = [(kind, self._part_size(item, parts)) for kind, parts, _ in _layout(item)]
        is_final = item.stage is Stage.FINAL
        return sum(tokens for kind, tokens in sizes if not (is_final and kind == "thinking"))

    def window_tokens(self, item: ContextItem) -> int:
        """The tokens of a window in the next request, changes included."""
        view = self.transcript.views.get(item.content)
        if view is None or item.hidden:
            return 0
        if view.is_current:
            return sum(slot.full.tokens + slot.full.actions for slot in view.chain)
        return view.tokens + view.actions

    def is_whole(self, item: ContextItem) -> bool:
        """Whether requests contain a tool result as a whole."""
        forms = [slot.want for slot in self.transcript.slots_of(item.id)]
        return any(form is not None and form.kind == "result" for form in forms)

    def tokens_in(self, plan: Plan, item: ContextItem) -> int:
        """The tokens of an item in a request that are not outdated; the head has its own."""
        script, made = self.transcript, plan.made
        start, name = script.start_of(made), item.id
        if item.type is ItemType.WINDOW:
            name = item.content
        total = 0
        for slot, form, label in plan.placed:
            if form is not None and (form.source or slot.item) == name:
                total += size_of(form, label)
        slots = [*script.slots_of(name)]
        slots += [self._summaries[name]] if name in self._summaries else []
        for slot in slots:
            form, is_kept = made.want_of(slot), 0 <= slot.at < start
            is_own = form is not None and (form.source or slot.item) == name
            if form is None or not is_own or not (is_kept or not _is_placed(slot, form)):
                continue
            if not is_kept or slot.sent == form:
                total += size_of(form, slot.actions)
        return total

    def whole_tokens(self, item: ContextItem) -> int:
        """The tokens of an item if nothing of it was shortened."""
        return sum(slot.full.tokens for slot in self.transcript.slots_of(item.id))

    def counts(self, plan: Plan, item: ContextItem) -> bool:
        """Whether anything of an item is wanted."""
        slots = self.transcript.slots_of(item.id)
        if item.hidden or item.type in (ItemType.WINDOW, ItemType.SYSTEM) or not slots:
            return not item.hidden
        forms = (plan.made.want_of(slot) for slot in slots)
        return any(form is not None and not form.source for form in forms)

    def placed(self, plan: Plan) -> list[PlacedBlock]:
        """The blocks of windows and summaries in a request, and those outdated, in order."""
        script, made = self.transcript, plan.made
        start, held = script.start_of(made), script.held_of(made)
        kept = {script.slots[at] for at in script.wrong(0, made) if at < start}
        kept.update(slot for name in script.present for slot in script.slots_of(name))
        kept.update(self._summaries.values())
        rows = [
            (slot, slot.sent, slot.actions)
            for slot in sorted(kept, key=lambda one: one.at)
            if 0 <= slot.at < start and slot.sent
        ]
        found: list[PlacedBlock] = []
        for slot, form, label in (*rows, *plan.placed):
            want = made.want_of(slot)
            is_outdated = 0 <= slot.at < start and form != want
            if form is None or not (is_outdated or _is_placed(slot, form)):
                continue
            block = PlacedBlock(
                slot.id,
                form.source if form.kind == "summary" and form.source else slot.item,
                self._seq_of(slot, form, made),
                form.kind,
                size_of(form, label),
                self._copy(slot, form, label).xml if slot.text else "",
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
        """The seq of the item that a block stands before."""
        if not slot.text:
            return self._seq(slot) + (not _is_placed(slot, form))
        if slot.call is not None:
            inside = (one for one in self.transcript.slots_of_call(slot.call) if not one.text)
            return max((self._seq(one) for one in inside), default=0) + 1
        if slot.at >= 0:
            return self._seq_from(slot.at + 1)
        return self._seq_from(len(self.transcript.slots), made.place)

    def _seq_from(self, at: int, in_tail: int = 0) -> int:
        """The seq of the first item behind a place."""
        slots, tail = self.transcript.slots, self.transcript.tail
        behind = chain((slots[one] for one in range(at, len(slots))), tail[in_tail:])
        return next((self._seq(one) for one in behind if not one.text), self._next_seq)

    def forecast(self, change: Change, items: Sequence[ContextItem]) -> Forecast:
        """What a change of items would cost: the request planned with it, less that without it.

        Args:
            change: What is done.
            items: The items that change together.
        """
        script, now = self.transcript, self._clock()
        wants, dropped = self._foreseen(change, items)
        places = [slot.at for slot in wants if slot.at >= 0]
        limit = 0 if min(places, default=script.limit()) < script.limit() else None
        total, read = script.foresee(now, {}, {}, limit)
        more, reads = script.foresee(now, wants, dropped, limit)
        taken = [slot.want.tokens for slot in wants if slot.want and _is_placed(slot, slot.want)]
        more += sum(taken) if change == "restore" else 0  # a summary there stays, elsewhere
        new = [item for item in items if is_conversation(item) and not script.slots_of(item.id)]
        if new:  # only in the log: everything behind it is written again
            size = sum(map(self.tokens_of, new))
            later = (slot for slot in script.slots if self._seq(slot) > new[0].seq)
            place = next((slot.first for slot in later), len(script.slots))
            held = max((at for at in script.entries if at <= place), default=0)
            more, reads = more + size, min(reads, script.size_before(held))
        return Forecast(more - total, max(more - reads - (total - read), 0), script.prices)

    def _foreseen(
        self, change: Change, items: Sequence[ContextItem]
    ) -> tuple[dict[Slot, tuple[Form | None, str]], dict[str, bool]]:
        """What slots would want after a change, and which windows would be dropped."""
        script = self.transcript
        wants: dict[Slot, tuple[Form | None, str]] = {}
        names = {item.content for item in items if item.type is ItemType.WINDOW}
        for item in items:
            slots = [*script.slots_of(item.id)]
            if item.id in self._summaries:
                slots = [self._summaries[item.id]]
            elif item.type is ItemType.SYSTEM:
                slots = [script.head]
            if change != "edit":
                slots += [two for one in slots for two in script.slots_of_call(one.call or "")]
            for slot in slots:
                if change == "drop" and slot.want is not None:
                    wants[slot] = None, "dropped"
                elif change == "edit" and slot.want is not None:
                    wants[slot] = slot.want._replace(version=slot.want.version + 1), "edited"
                elif change == "restore" and self._comes_back(slot):
                    wants[slot] = slot.full, "restored"
        return wants, {name: change == "drop" for name in names if name in script.views}

    def _comes_back(self, slot: Slot) -> bool:
        """Whether a slot shows something again once its item is restored."""
        is_unanswered = slot.full.kind == "call" and self._result_of(slot) is None
        return slot.full.kind not in _NOT_RESTORED and not is_unanswered

    def shown_content(self, item: ContextItem) -> str | tuple[Block, ...] | None:
        """What the last request contained of an item of the conversation; None if nothing."""
        slots = [slot for slot in self.transcript.slots_of(item.id) if slot.sent is not None]
        sent = self._as_sent(self.transcript.slots[slots[0].first]) if slots else ()
        for _, piece in sent:
            if any(one is item for one in piece.shown.items):
                return own_content(piece, item)
        return None


def _is_placed(slot: Slot, form: Form) -> bool:
    """Whether a block stands elsewhere than its item."""
    return bool(slot.text) or (form.kind == "summary" and bool(form.source))


def _is_as_sent(row: Row) -> bool:
    slot, form, label = row
    return slot.at >= 0 and slot.sent == form and slot.actions == label


def _answer(item: ContextItem, content: "str | tuple[Block, ...]") -> Shown | None:
    """The message of an answer; None if nothing but thinking is left of it."""
    is_said = isinstance(content, str) or any(one.get("type") not in THINKING for one in content)
    return Shown(LlmMessage("assistant", content), (item,)) if content and is_said else None


def _said(message: LlmMessage) -> tuple[str, str | tuple[Block, ...]]:
    return message.role, message.content


def _layout(item: ContextItem) -> list[tuple[Kind, tuple[int, ...], str | None]]:
    """The slots of an item: their kinds, which of its blocks they are, and calls."""
    if item.type is not ItemType.ASSISTANT or item.blocks is None:
        return [("summary" if item.is_summary else "text", (0,), None)]
    found: list[tuple[Kind, tuple[int, ...], str | None]] = []
    for number, block in enumerate(item.blocks):
        if block.get("type") in THINKING:
            found.append(("thinking", (number,), None))
        elif block.get("type") == "tool_use":
            found.append(("call", (number,), block["id"]))
        else:
            found.append(("text", (number,), None))
    return found


def _match(
    slots: Sequence[Slot], layout: Iterable[tuple[Kind, tuple[int, ...], str | None]]
) -> tuple[int, ...]:
    """Give the slots of an edited answer the blocks that it has now; return those without one."""
    rest: tuple[int, ...] = ()
    free = [slot for slot in slots if slot.call is None]
    for slot in slots:
        slot.parts = ()
    for kind, parts, call in layout:
        if call is not None:
            fitting = [slot for slot in slots if slot.call == call]
        else:
            fitting = [slot for slot in free if slot.full.kind == kind] or free
        if not fitting:
            rest += parts
            continue
        slot = fitting[0]
        slot.parts = tuple(sorted((*slot.parts, *parts)))
        free = [one for one in free if one is not slot]
    return rest if slots else ()


def _parts_of(item: ContextItem, parts: tuple[int, ...]) -> str | tuple[Block, ...]:
    """Some blocks of an item; its content where it has none."""
    blocks = item.blocks if item.type is ItemType.ASSISTANT else None
    if blocks is None:
        return content_of(item)
    return tuple(blocks[number] for number in parts if number < len(blocks))


def _kind_now(item: ContextItem, slot: Slot) -> Kind:
    """The kind of a slot after an edit, which may put words where thinking was, or its undo."""
    if slot.full.kind not in ("text", "thinking") or not (item.blocks and slot.parts):
        return "text" if slot.full.kind == "thinking" and slot.parts else slot.full.kind
    kinds = {item.blocks[number].get("type") in THINKING for number in slot.parts}
    return "thinking" if kinds == {True} else "text"


def _result_content(item: ContextItem) -> str | tuple[Block, ...]:
    face = item.current_face
    return face.blocks or (face.content if face.content.strip() else _NO_OUTPUT)


def _is_same_form(now: Form | None, then: Form | None, item: ContextItem) -> bool:
    """Whether a slot need not change; one that shows a summary instead of the item stays."""
    is_summary = now is not None and now.kind == "summary" and bool(now.source)
    return now == then or (is_summary and then is None and item.hidden == "compacted")
