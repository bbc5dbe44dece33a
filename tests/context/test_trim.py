"""Trimming: the order of worth (S0.7), whole pairs (S2.9), a cut that moves in steps."""

import asyncio
import copy
import threading
from itertools import groupby

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from contextui import (
    Body,
    ContextItem,
    ContextRenderer,
    ContextTooLargeError,
    ItemType,
    LlmMessage,
    Lod,
    RenderOptions,
    trim,
)
from contextui.config.schema import Placement
from contextui.context.item import is_conversation
from contextui.context.trim import ROUNDS_KEPT, Meter
from contextui.context.units import Unit, rounds, units
from contextui.events import Event, WindowDetailChanged
from tests.context.conversation import Conversation, NotesWindow, rough_counter, wire
from tests.thorough import times
from tests.windowing.samples import Heard

size = Meter(rough_counter()).size


def item(kind: str, text: str, seq: int, **fields: object) -> ContextItem:
    return ContextItem(ItemType(kind), text, seq=seq, **fields)  # type: ignore[arg-type]


@st.composite
def contexts(draw: st.DrawFn) -> list[ContextItem]:
    """Any context: rounds with and without tools, windows, pins, hidden items, in any order."""
    items: list[ContextItem] = []

    def add(kind: str, **fields: object) -> None:
        text = "x" * draw(st.integers(1, 400))
        pinned = draw(st.integers(0, 9)) == 0
        hidden = None
        if "blocks" not in fields and "tool_call_id" not in fields:
            hidden = draw(st.sampled_from([None] * 8 + ["closed", "dropped"]))
        seq = len(items) + 1
        content = f"window_{seq}" if kind == "Window" else text
        items.append(item(kind, content, seq, pinned=pinned, hidden=hidden, **fields))

    kinds = st.sampled_from(["System", "User", "User", "Assistant", "Window", "1", "3"])
    for step in draw(st.lists(kinds, max_size=40)):
        if not step.isdecimal():
            add(step)
            continue
        calls = [f"call_{len(items)}_{number}" for number in range(int(step))]
        blocks = tuple({"type": "tool_use", "id": call, "name": "n", "input": {}} for call in calls)
        add("Assistant", blocks=blocks)
        for call in calls:
            add("Tool", tool_call_id=call)
    return items


def ranks(items: list[ContextItem]) -> dict[str, int]:
    """How much each item is worth by the table of S0.7; 9 for what must always stay."""
    worth = {one.id: 0 for one in items if one.is_obsolete}
    visible = [one for one in items if not one.is_obsolete]
    for one in visible:
        if one.type is ItemType.SYSTEM or one.pinned:
            worth[one.id] = 9
        elif one.type is ItemType.WINDOW:
            worth[one.id] = 2
    gathered = rounds(units(one for one in visible if is_conversation(one)))
    for index, one_round in enumerate(gathered):
        recent = index >= len(gathered) - ROUNDS_KEPT
        for unit in one_round:
            for one in unit.items:
                worth[one.id] = 9 if unit.pinned else 3 if recent else 1
    if gathered:
        steps = [unit for unit in gathered[-1] if unit.head.type is not ItemType.USER]
        words = [unit for unit in gathered[-1] if unit.head.type is ItemType.USER]
        for unit in [*words, *steps[-1:]]:
            worth.update((one.id, 9) for one in unit.items)
    return worth


@pytest.mark.long
@given(contexts(), st.integers(0, 6_000))
@settings(max_examples=times(80, 1_000))
def test_trim_keeps_by_worth_and_within_the_budget(items: list[ContextItem], budget: int) -> None:
    worth = ranks(items)
    try:
        kept = trim(items, budget, counter=rough_counter())
    except ContextTooLargeError as error:
        must_stay = [one for one in items if worth[one.id] == 9]
        assert error.needed == sum(map(size, must_stay)) > budget
        return
    assert sum(map(size, kept)) <= budget
    kept_ids = {one.id for one in kept}
    dropped = [one for one in items if one.id not in kept_ids]
    assert all(worth[one.id] < 9 for one in dropped), "what must stay was dropped"
    if dropped:
        highest = max(worth[one.id] for one in dropped)
        lower = [one for one in kept if worth[one.id] < highest]
        assert not lower, "something lower remains"
    assert [one.seq for one in kept] == sorted(one.seq for one in kept)
    assert trim(kept, budget, counter=rough_counter()) == kept, "trimming twice is trimming once"


@given(contexts(), st.integers(0, 6_000))
@settings(max_examples=times(30, 500))
def test_trim_splits_no_pair_and_leaves_no_hole(items: list[ContextItem], budget: int) -> None:
    try:
        kept = {one.id for one in trim(items, budget, counter=rough_counter())}
    except ContextTooLargeError:
        assume(False)
    visible = [one for one in items if not one.is_obsolete and is_conversation(one)]
    movable: list[Unit] = []
    for unit in units(visible):
        stays = {one.id in kept for one in unit.items}
        assert len(stays) == 1, "a pair was split"
        movable += [] if unit.pinned else [unit]
    last_words = [unit for unit in movable if ranks(items)[unit.head.id] == 9]
    stays_in_order = [unit.head.id in kept for unit in movable if unit not in last_words]
    assert stays_in_order == sorted(stays_in_order), "a hole in what stays"


def test_obsolete_items_go_first() -> None:
    items = [
        item("System", "s" * 40, 1),
        item("User", "a" * 40, 2),
        item("Window", "old_1", 3, hidden="closed"),
        item("User", "b" * 40, 4),
    ]
    kept = trim(items, sum(map(size, items)) - 1, counter=rough_counter())
    assert [one.content for one in kept] == ["s" * 40, "a" * 40, "b" * 40]


def test_a_lower_cut_is_remembered() -> None:
    items = [item("User" if n % 2 else "Assistant", str(n) * 40, n) for n in range(1, 20)]
    plenty = 10_000
    assert len(trim(items, plenty, counter=rough_counter())) == 19
    kept = trim(items, plenty, counter=rough_counter(), cut=9)
    assert [one.seq for one in kept] == list(range(9, 20))


def test_what_cannot_fit_names_the_largest_items() -> None:
    items = [
        item("System", "You are helpful. " * 40, 1),
        item("User", "pinned words " * 20, 2, pinned=True),
        item("User", "last words", 3),
    ]
    with pytest.raises(ContextTooLargeError) as caught:
        trim(items, 100, counter=rough_counter())
    assert caught.value.budget == 100
    assert caught.value.needed > 100
    assert "[0001] System You are helpful." in caught.value.largest[0]
    assert "[0002] User pinned words" in str(caught.value)


def test_over_600_growing_turns_the_cut_moves_in_fewer_than_60() -> None:
    talk = Conversation()
    talk.system("You work in windows.")
    budget, cuts = 20_000, [0]
    for number in range(600):
        talk.say(f"Question {number}: " + "what is it " * (20 + number // 20))
        request = talk.context.compose(budget)
        assert request.tokens <= budget
        talk.context.mark_sent(request)
        talk.answer(f"Answer {number}: " + "it is this " * (20 + number // 20))
        talk.context.end_turn()
        if talk.context.ledger.cut != cuts[-1]:
            cuts.append(talk.context.ledger.cut)
    assert cuts == sorted(cuts)
    assert 2 < len(cuts) - 1 < 60


def full_talk(
    placement: Placement, turns: list[tuple[int, int, int]], window_lines: list[int], pins: set[int]
) -> Conversation:
    """Turns with calls, windows and pinned items, and new words at the end."""
    talk = Conversation(placement)
    talk.system("You work in windows.")
    for count in window_lines:
        talk.open(*(["a line of a window"] * count))
    for length, calls, answered in turns:
        talk.say("w" * length)
        talk.send()
        for _ in range(calls):
            talk.call(1, "", "thoughts")
            talk.result("r" * length)
        talk.send()
        talk.answer("a" * answered)
        talk.context.end_turn()
    talk.say("the last words")
    items = talk.context.get_all()
    for which in pins:
        talk.context.pin(items[which % len(items)].id)
    return talk


full_talks = given(
    st.lists(
        st.tuples(st.integers(1, 300), st.integers(0, 3), st.integers(1, 300)),
        min_size=1,
        max_size=14,
    ),
    st.lists(st.integers(1, 60), max_size=3),
    st.integers(50, 3_000),
    st.sets(st.integers(0, 60), max_size=3),
)


def assert_windows_show_less_before_words_go(talk: Conversation) -> None:
    pinned = {one.content for one in talk.context.get_all() if one.pinned}
    if any(one.hidden == "trimmed" for one in talk.context.get_all()):
        unpinned = [window for window in talk.windows.windows() if window.id not in pinned]
        assert all(window.lod is Lod.GIST for window in unpinned), "detail goes before words"


@pytest.mark.long
@full_talks
@settings(max_examples=times(40, 500))
def test_compose_makes_room_as_trim_specifies(
    turns: list[tuple[int, int, int]], window_lines: list[int], budget: int, pins: set[int]
) -> None:
    """Requests in place leave out what the pure functions do, and say the same."""
    talk = full_talk("in-place", turns, window_lines, pins)
    before = [copy.copy(one) for one in talk.context.get_active()]
    counter = rough_counter()
    try:
        request = talk.context.compose(budget)
    except ContextTooLargeError:
        with pytest.raises(ContextTooLargeError):
            trim(before, budget, windows=talk.windows, counter=counter)
        return
    specified = trim(before, budget, windows=talk.windows, counter=counter)
    assert [one.id for one in talk.context.get_active()] == [one.id for one in specified]
    assert counter.count_messages(request.messages) <= request.tokens <= budget
    options = RenderOptions(max_tokens=budget)
    renderer = ContextRenderer(counter=counter)
    rendered = renderer.render(before, talk.windows, options)
    assert wire(request.messages) == wire(rendered)
    assert wire(talk.composed(budget)) == wire(rendered), "composing again changes nothing"
    assert_windows_show_less_before_words_go(talk)


@pytest.mark.long
@full_talks
@settings(max_examples=times(40, 500))
def test_by_price_room_is_made_by_worth(
    turns: list[tuple[int, int, int]], window_lines: list[int], budget: int, pins: set[int]
) -> None:
    """What was sent stays where it is, so that the pure functions cannot say what follows."""
    talk = full_talk("price", turns, window_lines, pins)
    before, counter = list(talk.context.get_active()), rough_counter()
    worth, sizes = ranks(before), {one.id: talk.context.ledger.request_size(one) for one in before}
    try:
        request = talk.context.compose(budget)
    except ContextTooLargeError as error:
        needed = sum(size for name, size in sizes.items() if worth[name] == 9)
        assert error.needed == needed > budget
        return
    # A window is sent in one message with the words after it.
    roles = [role for role, _ in groupby(one.role for one in request.messages)]
    counted = sum(counter.count_content(one.content) for one in request.messages)
    assert counted + sum(map(counter.message_overhead, roles)) <= request.tokens <= budget
    kept = {one.id for one in talk.context.get_active()}
    highest = max((worth[one.id] for one in before if one.id not in kept), default=0)
    assert highest < 9, "what must stay was left out"
    assert all(worth[name] >= highest for name in kept), "something lower remains"
    assert_windows_show_less_before_words_go(talk)


def test_windows_show_less_before_anything_of_the_conversation_is_lost() -> None:
    """S1.10: the least recently used first, pinned ones never, and never back by itself."""
    talk = Conversation()
    lines = ["a long line in a window, and on it goes for a while"] * 50
    pinned, old, recent = (talk.open(*lines) for _ in range(3))
    heard = Heard(talk.windows)
    reference = talk.context.get_all()[0]
    talk.context.pin(reference.id)
    talk.windows.focus(recent.id)
    talk.turns(8)
    talk.say("more")
    full = talk.context.compose().tokens
    talk.context.compose(full - 50)
    assert [w.lod for w in (pinned, old, recent)] == [Lod.FULL, Lod.SUMMARY, Lod.FULL]
    talk.context.compose(full - 900)
    assert [w.lod for w in (pinned, old, recent)] == [Lod.FULL, Lod.GIST, Lod.SUMMARY]
    lowered = [(one.window_id, one.lod) for one in heard.of(WindowDetailChanged)]
    assert lowered == [(old.id, "Summary"), (old.id, "Gist"), (recent.id, "Summary")]
    assert talk.context.ledger.cut == 0
    assert not any(one.is_obsolete for one in talk.context.get_all())
    talk.context.compose(1_000_000)
    assert [w.lod for w in (pinned, old, recent)] == [Lod.FULL, Lod.GIST, Lod.SUMMARY]


def outgrown(talk: Conversation) -> list[LlmMessage]:
    """A turn whose newest result does not fit beside everything that was sent before it."""
    for number in range(6):
        talk.turn(f"words {number} " * 20, "an answer " * 20)
    talk.open("a window")
    talk.say("do it")
    talk.send(3_000)
    talk.call(1, "", "thought of the first step")
    talk.result("the first result " * 100, gist="[the first gist]")
    return talk.send(3_000)


def test_a_turn_that_outgrows_the_budget_takes_its_final_form_but_for_its_newest_step() -> None:
    talk = Conversation()
    before = outgrown(talk)
    talk.call(1, "", "thought of the second step")
    talk.result("the second result " * 200, gist="[the second gist]")
    request = talk.send(1_800)
    sent = wire(request).decode()
    assert not sent.startswith(wire(before).decode())
    assert "[the first gist]" in sent
    assert "thought of" not in sent
    assert "the second result" in sent, "the model has not read it yet"
    assert "do it" in sent
    assert sent.count("<Window ") == 1
    talk.call(1)
    talk.result("ok")
    assert wire(talk.send(1_800)).decode().startswith(sent), "and from here on bytes are fixed"


def test_a_request_that_was_too_large_can_be_sent_again_smaller() -> None:
    """Nothing new is there to send, so the last request is sent again, with its windows."""
    talk = Conversation()
    before = outgrown(talk)
    less = talk.context.compose().tokens * 3 // 4
    again = talk.send(less)
    assert len(wire(again)) < len(wire(before))
    assert "<Window " in str(again[-1].content)
    assert "the first result" in str(again[-1].content)
    talk.call(1)
    talk.result("ok")
    assert wire(talk.send(less + 100)).startswith(wire(again))


def test_what_cannot_fit_changes_nothing() -> None:
    talk = Conversation()
    window = talk.open(*["a long line"] * 50)
    talk.say("x" * 4_000)
    sent = talk.send()
    events: list[Event] = []
    talk.context.subscribe(events.append)
    with pytest.raises(ContextTooLargeError, match="What cannot be left out"):
        talk.context.compose(100)
    assert window.lod is Lod.FULL
    assert events == []
    assert talk.composed() == sent


def test_a_budget_that_is_none_is_refused() -> None:
    for budget in (0, -5, 1.5, float("nan"), "100"):
        talk = Conversation()
        talk.say("hi")
        with pytest.raises(ValueError, match="A budget is a positive number of tokens"):
            talk.context.compose(budget)  # type: ignore[arg-type]


class SlowNotes(NotesWindow):
    """Takes its time to show less."""

    name = "slow"
    waiting = 0.1

    def content(self, lod: Lod) -> Body:
        if lod is not Lod.FULL:
            threading.Event().wait(self.waiting)
        return super().content(lod)


async def test_inside_an_event_loop_slow_windows_get_time_to_show_less() -> None:
    """Otherwise the conversation would lose what they are about to make room for."""
    talk = Conversation()
    talk.turns(6)
    for _ in range(3):
        talk.windows.open(SlowNotes, lines=["a long line of a window to be cut"] * 40)
    talk.say("last")
    await talk.windows.settle(60)
    await talk.context.prepare(1_000)
    assert talk.context.compose(1_000).tokens <= 1_000
    assert talk.context.ledger.cut == 0
    assert all(not item.hidden for item in talk.context.get_all())


async def test_composing_inside_an_event_loop_hardly_waits() -> None:
    talk = Conversation()
    talk.say("last")
    for _ in range(20):
        talk.windows.open(SlowNotes, lines=["a long line of a window"] * 5)
    beats = 0

    async def heart() -> None:
        nonlocal beats
        while True:
            beats += 1
            await asyncio.sleep(0.001)

    await talk.windows.settle(60)
    beating = asyncio.ensure_future(heart())
    await asyncio.sleep(0.01)
    before = beats
    for _ in range(5):
        talk.context.compose(1_500)
        await asyncio.sleep(0.02)
    beating.cancel()
    assert beats - before >= 5


def test_the_cut_falls_between_rounds() -> None:
    talk = Conversation()
    for number in range(30):
        talk.say(f"question {number} " * 10)
        talk.send()
        for _ in range(3):
            talk.call(1, "let me see")
            talk.result("a result " * 10)
            talk.send()
        talk.answer("so it is")
        talk.context.end_turn()
    talk.say("last")
    first = talk.composed(2_500)[0]
    assert first.role == "user"
    assert str(first.content).startswith("question")


def test_what_lies_before_the_cut_comes_back_only_pinned() -> None:
    talk = Conversation()
    for number in range(20):
        talk.turn(f"words {number} " * 20, "an answer " * 20)
    first = talk.context.get_all()[0]
    talk.context.edit(first.id, "other words")
    talk.say("last")
    request = talk.composed(1_000)
    talk.context.undo()
    assert (first.hidden, first.content[:7]) == ("trimmed", "words 0")
    assert talk.composed() == request, "undoing an edit brings nothing back"
    talk.context.restore(first.id)
    talk.context.unpin(first.id)
    assert first.hidden == "trimmed"


def test_a_budget_is_the_providers_tokens_not_ours() -> None:
    """Calibration: a provider that counts half as much again leaves room for less."""
    counter = rough_counter()
    talk = Conversation(counter=counter)
    for number in range(30):
        talk.turn(f"words {number} " * 20, "an answer " * 20)
    talk.say("last")
    for _ in range(50):
        counter.calibrate(100, 150)
    request = talk.context.compose(2_000)
    assert counter.calibrated(request.tokens) <= 2_000
    assert counter.calibrated(request.tokens) > 1_000
