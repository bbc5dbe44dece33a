"""The slots of items: what each is to show in the next request, what it costs, and forecasts."""

from collections.abc import Callable, Iterable, Sequence
from itertools import takewhile
from typing import Literal, NamedTuple

from contextui.context.item import (
    THINKING,
    Calls,
    ContextItem,
    ItemType,
    Stage,
    assign,
    is_conversation,
)
from contextui.context.messages import (
    RequestPlan,
    SentMessages,
    content_of,
    is_placed,
    layout_of,
    result_content,
    role_of,
)
from contextui.context.placement.slots import Decision, Form, Kind, Slot, size_of
from contextui.context.placement.transcript import FORCED, Transcript, Wants
from contextui.model import CachePrices

_UNANSWERED = "unanswered"
_NOT_RESTORED = ("whole", "change", "thinking")  # windows get new blocks


class ItemSlots:
    """Follows items: gives them slots, and lets these want what they are to show."""

    def __init__(self, calls: Calls, messages: SentMessages) -> None:
        self._calls, self._messages = calls, messages
        self.transcript = Transcript(head=0)
        self.transcript.begin_turn()
        self._revisions: dict[str, int] = {}
        self.summaries: dict[str, Slot] = {}  # the place of each summary of older items

    def start(self, script: Transcript) -> None:
        """Go on with another transcript."""
        self.transcript, self.summaries = script, {}

    def note(self, item: ContextItem) -> None:
        """Register a new item; `enter` gives it slots."""
        self._messages.next_seq = max(self._messages.next_seq, item.seq + 1)
        self._messages.items[item.id] = item
        self._revisions[item.id] = item.revision

    def changed(self, item: ContextItem) -> None:
        """Follow a change of an item: hidden, shown again, edited, pinned."""
        script = self.transcript
        if is_conversation(item) and not (item.hidden or script.slots_of(item.id)):
            self._insert(item)
        if self._revisions.get(item.id) != item.revision:
            self._revisions[item.id] = item.revision
            self._edited(item)
        (script.pins.add if item.pinned or item.whole else script.pins.discard)(item.id)
        self._follow(item)
        for result in self._calls.results(item) if item.type is ItemType.ASSISTANT else ():
            self._follow(result)
            self._pair(result)
        if item.type is ItemType.TOOL:
            self._pair(item)
        if item.id in self.summaries:
            self._summary_changed(item, self.summaries[item.id])

    def window_changed(self, item: ContextItem) -> None:
        """Follow a change of a window's item: closed, dropped, shown again."""
        script, name = self.transcript, item.content
        if name not in script.views:
            return
        if item.hidden == "closed":
            script.close(name)
        elif item.hidden and item.hidden != "replaced":
            script.show(name, is_dropped=True)
        elif not item.hidden:
            script.show(name, is_dropped=False)

    def compacted(self, items: Sequence[ContextItem], summary: ContextItem) -> None:
        """Put a summary in the place of items and of the windows shown between them."""
        script, ids = self.transcript, {item.id for item in items}
        places = [slot for one in ids for slot in script.slots_of(one)]
        places += [self.summaries[one] for one in ids if one in self.summaries]
        first = min((slot.at for slot in places if slot.at >= 0), default=0)
        last = max((slot.at for slot in places), default=-1)
        found = {*places, *(slot for slot in script.slots[first : last + 1] if slot.text)}
        old = [slot for slot in (*script.slots[first : last + 1], *script.tail) if slot in found]
        if place := script.compact(
            old, summary.id, self._messages.size("user", content_of(summary))
        ):
            self.summaries[summary.id] = place

    def _insert(self, item: ContextItem) -> None:
        """Give an item that was only in the log its slots, where it was."""
        script = self.transcript
        before = len(script.tail)
        self.enter(item, is_old=True)
        new, script.tail = script.tail[before:], script.tail[:before]
        later = (slot for slot in script.slots if (slot.seq or self._messages.seq(slot)) > item.seq)
        at = next((slot.first for slot in later), len(script.slots))
        self._insert_slots(at, new)

    def _insert_slots(self, at: int, new: Sequence[Slot]) -> None:
        script = self.transcript
        follows = script.slots[at].group if at < len(script.slots) else ""
        is_inner = bool(follows) and any(slot.group == follows for slot in new)
        first = at + 1 if is_inner else at
        script.insert(at, new)
        self._messages.shift(first, len(new))

    def _insert_before(self, slot: Slot, new: Slot) -> None:
        script = self.transcript
        if slot.at >= 0:
            self._insert_slots(slot.first, [new])
        else:
            script.tail.insert(script.tail.index(slot), new)
            script.insert(len(script.slots), [])

    def enter(self, item: ContextItem, *, is_old: bool = False) -> None:
        """Give an item its slots."""
        script = self.transcript
        if item.type is ItemType.TOOL:
            place = None if is_old else self._place_of_result(item)
            is_paired = item.tool_call_id is not None and (place is not None or is_old)
            call = item.tool_call_id if is_paired else None
            tokens, gist = self._messages.result_size(item, result_content(item)), 0
            if tokens > script.rules.long:
                gist = min(tokens, self._messages.result_size(item, self._messages.gist(item)))
            group = f"{self._calls.asker(item).id}:results" if is_paired else ""
            script.add(
                item.id, item.id, "result", tokens,
                call=call, gist=gist, group=group, place=place,
            )  # fmt: skip
            return
        group = item.id if item.type is ItemType.ASSISTANT else ""
        for number, (kind, parts, call) in enumerate(layout_of(item)):
            tokens = self._messages.part_size(item, parts)
            name = f"{item.id}.{number}" if number else item.id
            script.add(
                name, item.id, kind, tokens, call=call, group=group, parts=parts,
                is_words=item.type is ItemType.USER,
            )  # fmt: skip

    def _place_of_result(self, item: ContextItem) -> int | None:
        """Where a result goes in what was not sent yet: after its answer. None: at the end."""
        if item.tool_call_id is None:
            return None
        calls = self.transcript.slots_of_call(item.tool_call_id)
        if any(slot.at >= 0 for slot in calls if slot.full.kind == "call"):
            return None  # a request was sent without this call
        asker = self._calls.asker(item)
        mine = {asker.id, *(result.id for result in self._calls.results(asker))} - {item.id}
        tail = self.transcript.tail
        for at in range(len(tail) - 1, -1, -1):
            if tail[at].item in mine:
                return at + 1
        return None

    def _wanted(self, item: ContextItem, slot: Slot) -> tuple[Form | None, str]:
        if why := item.hidden or self._why_left_out(item, slot):
            return None, why
        is_gist = slot.want is not None and slot.want.kind == "gist"
        if is_gist and not (item.pinned or item.whole):
            form = slot.gist_form()
            return form, slot.reason if slot.want == form else "edited"
        return slot.full, "edited" if slot.want is not None else "restored"

    def _why_left_out(self, item: ContextItem, slot: Slot) -> str:
        """Why a slot of an item that is visible shows nothing; empty if it does."""
        if item.id in self.summaries:
            return "compacted"  # it is where what it summarizes was
        if not slot.parts and item.type is ItemType.ASSISTANT:
            return "edited"
        if slot.full.kind == "thinking":
            is_over = item.stage is Stage.FINAL or slot not in self.transcript.thoughts
            return (slot.reason or "thinking") if is_over else self._why_nothing_said(item)
        if slot.full.kind == "call":
            result = self._result_of(slot)
            return _UNANSWERED if result is None else result.hidden or ""
        if slot.full.kind == "result" and slot.call is not None:
            return self._calls.asker(item).hidden or ""
        return ""

    def _why_nothing_said(self, item: ContextItem) -> str:
        """Why nothing but thinking is left of an answer, which no provider takes; or empty."""
        others = (one for one in self.transcript.slots_of(item.id) if one.full.kind != "thinking")
        reasons = [self._why_left_out(item, one) for one in others]
        return reasons[0] if reasons and all(reasons) else ""

    def thoughts_with(self, wants: Wants) -> dict[Slot, tuple[Form | None, str]]:
        """What the thinking of answers would want, if other slots of them wanted this."""
        found: dict[Slot, tuple[Form | None, str]] = {}
        for answer in {slot.item for slot in wants if slot.full.kind in ("call", "text")}:
            slots = self.transcript.slots_of(answer)
            said = (one for one in slots if one.full.kind != "thinking")
            is_said = any(wants[one][0] if one in wants else one.want for one in said)
            for slot in slots:
                if slot in self.transcript.thoughts and slot not in wants:
                    found[slot] = slot.full if is_said else None, "dropped"
        return found

    def _follow(self, item: ContextItem) -> None:
        for slot in [*self.transcript.slots_of(item.id)]:
            if slot is self.summaries.get(item.id):
                continue
            form, reason = self._wanted(item, slot)
            if not _is_same_form(slot.want, form, item):
                summary = self._messages.items.get(slot.want.source) if slot.want else None
                if summary is not None and not summary.hidden:
                    self._move_summary(summary, slot)
                self.transcript.want(slot, form, reason)
            self.note_form(slot)

    def note_form(self, slot: Slot) -> None:
        """Note at a tool result whether requests contain its gist."""
        item = self._messages.items.get(slot.item)
        if item is not None and item.type is ItemType.TOOL:
            is_gist = slot.want is not None and slot.want.kind == "gist"
            if bool(item.shown_gist) != is_gist or item.shown_gist is None:
                assign(item, shown_gist=self._messages.gist(item) if is_gist else "")

    def _result_of(self, call: Slot) -> ContextItem | None:
        for slot in self.transcript.slots_of_call(call.call or ""):
            if slot.full.kind == "result":
                return self._messages.items[slot.item]
        return None

    def comes_back(self, slot: Slot) -> bool:
        """Whether a slot shows something again once its item is restored."""
        is_unanswered = slot.full.kind == "call" and self._result_of(slot) is None
        return slot.full.kind not in _NOT_RESTORED and not is_unanswered

    def _pair(self, result: ContextItem) -> None:
        """Show or hide a call, and the windows inside of its result, together with the result."""
        script = self.transcript
        for slot in script.slots_of_call(result.tool_call_id or ""):
            if slot.full.kind == "call":
                self._follow(self._messages.items[slot.item])
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
        else:  # something else is there: a later summary, or what it had replaced
            self._move_summary(summary, slot)

    def _summary_form(self, summary: ContextItem) -> Form:
        size = self._messages.size("user", content_of(summary))
        return Form("summary", size, summary.revision, source=summary.id)

    def _move_summary(self, summary: ContextItem, slot: Slot) -> None:
        """Give a summary a slot of its own before the one that showed it."""
        form = self._summary_form(summary)
        new = Slot(f"{summary.id}.moved", summary.id, slot.turn, form, form)
        self.summaries[summary.id] = new
        self._insert_before(slot, new)

    def _edited(self, item: ContextItem) -> None:
        """Fit an item's slots to its new content."""
        slots = self.transcript.slots_of(item.id)
        if item.type is ItemType.ASSISTANT and (said := _match(slots, layout_of(item))):
            self._give_words(item, said)
            slots = self.transcript.slots_of(item.id)
        is_as_sent = self._is_message_as_sent(slots)  # after an undo
        for slot in slots:
            if item.type is ItemType.TOOL:
                size = self._messages.result_size(item, result_content(item))
                slot.gist = min(size, self._messages.result_size(item, self._messages.gist(item)))
            else:
                size = self._messages.part_size(item, slot.parts)
            version = slot.sent.version if is_as_sent and slot.sent else slot.full.version + 1
            slot.full = Form(_kind_now(item, slot), size, version)

    def _is_message_as_sent(self, slots: Sequence[Slot]) -> bool:
        """Whether the message of slots, made from the items of now, is as it was sent."""
        script = self.transcript
        if not slots or slots[0].at < 0:
            return False
        first = slots[0].first
        after = (script.slots[at] for at in range(first, len(script.slots)))
        message = takewhile(lambda slot: slot.first == first, after)
        shown = self._messages.message_of([(slot, slot.sent, slot.actions) for slot in message])
        sent = [piece.message for _, piece in self._messages.as_sent(script.slots[first])]
        return shown is not None and sent == [shown.message]

    def _give_words(self, item: ContextItem, parts: tuple[int, ...]) -> None:
        """Give an answer that only made calls a slot before them for words."""
        script = self.transcript
        first = script.slots_of(item.id)[0]
        form = Form("text", 0)
        slot = Slot(f"{item.id}.words", item.id, first.turn, form, None, group=item.id, parts=parts)
        self._insert_before(first, slot)


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


def _kind_now(item: ContextItem, slot: Slot) -> Kind:
    """The kind of a slot after an edit, which may put words where thinking was, or its undo."""
    if slot.full.kind not in ("text", "thinking") or not (item.blocks and slot.parts):
        return "text" if slot.full.kind == "thinking" and slot.parts else slot.full.kind
    kinds = {item.blocks[number].get("type") in THINKING for number in slot.parts}
    return "thinking" if kinds == {True} else "text"


def _is_same_form(now: Form | None, then: Form | None, item: ContextItem) -> bool:
    """Whether a slot need not change; one that shows a summary instead of the item stays."""
    is_summary = now is not None and now.kind == "summary" and bool(now.source)
    return now == then or (is_summary and then is None and item.hidden == "compacted")


# --- figures for people ------------------------------------------------------------------------

Change = Literal["drop", "restore", "edit", "sweep"]


class PlacedBlock(NamedTuple):
    """A block of the next request that is not where its item is, or that is outdated.

    Attributes:
        seq: The seq of the item after it.
        tokens: Its tokens, with the list of actions.
        reason: Why it is outdated; empty if it is not.
        waits: Whether it goes when the turn ends.
        rent: What it has cost since it is outdated, in input tokens at full price.
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
        self, slots: ItemSlots, messages: SentMessages, clock: Callable[[], float]
    ) -> None:
        self._slots, self._messages, self._clock = slots, messages, clock

    def tokens_of(self, item: ContextItem) -> int:
        """The tokens of an item that count, in the form that is wanted of it."""
        script = self._slots.transcript
        if item.type is ItemType.SYSTEM and not item.is_summary:
            return self._messages.size(role_of(item), content_of(item))
        if item.is_summary:
            return self._messages.size("user", content_of(item))
        if item.type is ItemType.TOOL and not script.slots_of(item.id):  # only in the log
            return self._messages.result_size(item, result_content(item))
        forms = [slot.want if slot.want and not slot.want.source else slot.full
                 for slot in script.slots_of(item.id)]  # fmt: skip
        sizes = [(form.kind, form.tokens) for form in forms]
        if not sizes:
            sizes = [
                (kind, self._messages.part_size(item, parts)) for kind, parts, _ in layout_of(item)
            ]
        is_final = item.stage is Stage.FINAL
        return sum(tokens for kind, tokens in sizes if not (is_final and kind == "thinking"))

    def size(self, item: ContextItem) -> int:
        """The tokens of an item or of a window in the next request."""
        if item.type is not ItemType.WINDOW:
            return self.tokens_of(item)
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
        if new:  # only in the log: everything after it is written again
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
