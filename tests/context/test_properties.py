"""What holds for every conversation, whatever people, models and windows do in it."""

import contextlib
from collections.abc import Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from contextui import (
    ContextItem,
    ContextRenderer,
    ContextTooLargeError,
    ItemType,
    LlmMessage,
    Lod,
    RenderOptions,
)
from contextui.context.ledger import Tally
from contextui.errors import InvalidItemError
from tests.context.conversation import Conversation, rough_counter, specified, wire
from tests.thorough import times

words = st.text(st.characters(exclude_categories=()), min_size=1, max_size=60).filter(
    lambda text: bool(text.strip())
)
number = st.integers(0, 1_000)
steps = st.one_of(
    st.tuples(st.sampled_from(["say", "answer", "system", "loose"]), words),
    st.tuples(st.just("call"), st.integers(1, 3), st.booleans(), st.booleans()),
    st.tuples(st.sampled_from(["result", "result", "result"]), words, st.booleans()),
    st.tuples(st.just("open"), words),
    st.tuples(st.just("write"), number, words),
    st.tuples(st.just("detail"), number, st.sampled_from(Lod)),
    st.tuples(st.just("close"), number, st.sampled_from(["person", "model"]), words),
    st.tuples(st.sampled_from(["pin", "unpin", "drop", "restore"]), number),
    st.tuples(st.just("edit"), number, words),
    st.tuples(st.sampled_from(["undo", "send", "send", "send", "end"])),
    st.tuples(st.just("squeeze"), st.integers(20, 400)),
)


def perform(talk: Conversation, step: Sequence[Any]) -> None:
    """Carry out one step, where it makes sense."""
    name, *rest = step
    items, open_windows = talk.context.get_all(), talk.windows.windows()
    match name:
        case "say" | "answer" | "system":
            getattr(talk, name)(*rest)
        case "loose":
            talk.context.add(ContextItem(ItemType.TOOL, rest[0]))
        case "call":
            talk.call(rest[0], "words" if rest[1] else "", "thoughts" if rest[2] else "")
        case "result" if talk.is_waiting:
            talk.result(rest[0], gist="a gist" if rest[1] else None)
        case "open" if len(open_windows) < 4:
            talk.open(rest[0])
        case "write" if open_windows:
            talk.write(open_windows[rest[0] % len(open_windows)].id, rest[1])
        case "detail" if open_windows:
            talk.windows.set_lod(open_windows[rest[0] % len(open_windows)].id, rest[1])
        case "close" if open_windows:
            window = open_windows[rest[0] % len(open_windows)]
            talk.windows.close(window.id, rest[2], actor=rest[1])
        case "pin" | "unpin" | "drop" if items:
            getattr(talk.context, name)(items[rest[0] % len(items)].id)
        case "restore" if items:
            item = items[rest[0] % len(items)]
            if item.hidden not in ("closed", "replaced"):
                talk.context.restore(item.id)
        case "edit" if items:
            item = items[rest[0] % len(items)]
            if item.type is not ItemType.WINDOW:
                with contextlib.suppress(InvalidItemError):  # its thinking is to be sent first
                    talk.context.edit(item.id, rest[1])
        case "undo":
            talk.context.undo()
        case "send":
            talk.send()
        case "squeeze":
            with contextlib.suppress(ContextTooLargeError):
                talk.context.compose(rest[0])
            talk.send()
        case "end":
            talk.context.end_turn()


def assert_whole_pairs(messages: Sequence[LlmMessage]) -> None:
    """Every call has its result in the very next message, and every result its call."""
    expected: set[str] = set()
    for message in messages:
        blocks = message.content if isinstance(message.content, tuple) else ()
        results = {b["tool_use_id"] for b in blocks if b["type"] == "tool_result"}
        assert results == expected, "calls and results do not match"
        expected = {b["id"] for b in blocks if b["type"] == "tool_use"}
        assert message.content, "an empty message"
    assert not expected, "a call without its result"


@given(st.lists(steps, max_size=30))
@settings(max_examples=times(12, 100))
def test_in_place_a_request_is_rendered_from_scratch(script: list[Sequence[Any]]) -> None:
    talk = Conversation("in-place")
    for step in script:
        perform(talk, step)
        composed = talk.composed()
        assert composed == specified(talk)
        assert_whole_pairs(composed)


@given(st.lists(steps, max_size=40))
@settings(max_examples=times(20, 200))
def test_stats_and_views_are_those_of_a_fresh_count(script: list[Sequence[Any]]) -> None:
    talk = Conversation()
    for step in script:
        perform(talk, step)
    talk.composed()
    context = talk.context
    items = list(context.get_all())
    tally = Tally()
    tally.update(items, context.ledger.size)
    assert context.get_stats() == tally.stats()
    assert list(context.get_active()) == [item for item in items if not item.is_obsolete]
    assert [item.seq for item in items] == list(range(1, len(items) + 1))
    assert context.current_seq == len(items)


@given(st.lists(steps, max_size=30))
@settings(max_examples=times(12, 100))
def test_render_is_pure(script: list[Sequence[Any]]) -> None:
    talk = Conversation()
    for step in script:
        perform(talk, step)
    items = list(talk.context.get_all())
    looks = [repr(item) for item in items]
    renderer = ContextRenderer(counter=rough_counter())
    for options in (RenderOptions(), RenderOptions(include_obsolete=True)):
        once = renderer.render(items, talk.windows, options)
        assert wire(renderer.render(reversed(items), talk.windows, options)) == wire(once)
    assert [repr(item) for item in items] == looks


@given(st.lists(st.tuples(st.sampled_from(["pin", "unpin", "drop", "restore", "edit"]), number)))
@settings(max_examples=times(12, 100))
def test_undo_takes_everything_back_step_by_step(changes: list[tuple[str, int]]) -> None:
    talk = Conversation()
    talk.open("a line")
    for turn in range(4):
        talk.say(f"words {turn}")
        talk.send()
        talk.call(2, "I will", "hm")
        talk.result()
        talk.result()
        talk.send()
        talk.answer("done")
        talk.context.end_turn()
    looks = [[repr(item) for item in talk.context.get_all()]]
    for name, which in changes:
        perform(talk, (name, which, "other words"))
        look = [repr(item) for item in talk.context.get_all()]
        if look != looks[-1]:
            looks.append(look)
    while len(looks) > 1:
        looks.pop()
        assert talk.context.undo()
        assert [repr(item) for item in talk.context.get_all()] == looks[-1]
    assert not talk.context.undo()
