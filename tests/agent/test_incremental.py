"""A request costs work only for messages that the one before did not have (F19)."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextui.agent.cache_marks import Payload, payload
from contextui.agent.request import Form, MalformedRequestError, RequestBuilder
from contextui.context.item import ContextItem, ItemType
from contextui.context.messages import Messages, Piece, Shown
from contextui.model import LlmMessage, ModelRequest
from tests.agent.talking import controller, run
from tests.agent.test_request import (
    assistant,
    call,
    hostile,
    orderly,
    result,
    system,
    thinking,
    user,
)
from tests.counting import lines_run
from tests.thorough import times

History = list[LlmMessage]
edits = st.lists(
    st.tuples(
        st.sampled_from(["append", "append", "replace", "insert", "remove", "repeat", "nothing"]),
        st.integers(0, 20),
        orderly | hostile,
        st.integers(0, 12),
        st.sampled_from([{}, {}, {}, {"without_thinking": True}, {"plain": True}]),
    ),
    max_size=8,
)


def edited(history: History, kind: str, at: int, new: History) -> History:
    """Change a history; the messages that stay are the same objects."""
    at = at % (len(history) + 1)
    match kind:
        case "append":
            return [*history, *new]
        case "replace":
            return [*history[:at], *new, *history[at + len(new) :]]
        case "insert":
            return [*history[:at], *new, *history[at:]]
        case "remove":
            return [*history[:at], *history[at + max(len(new), 1) :]]
        case "repeat":  # the same objects at another place, so that calls and results repeat
            return [*history, *history[at : at + 3]]
    return list(history)


def admit(
    messages: Sequence[LlmMessage], builder: RequestBuilder | None = None, **rest: Any
) -> ModelRequest:
    form = Form(rest.pop("without_thinking", False), rest.pop("plain", False))
    return (builder or RequestBuilder()).build(messages, form, **rest)


def admitted(history: Sequence[LlmMessage], **options: Any) -> ModelRequest | str:
    try:
        return admit(history, **options)
    except MalformedRequestError as error:
        return str(error)


def bytes_of(request: ModelRequest | str) -> str:
    if isinstance(request, str):
        return request
    messages = [[one.role, list(one.content)] for one in request.messages]
    return json.dumps([request.system, messages, request.stable], default=dict)


@pytest.mark.long
@given(orderly | hostile, edits)
@settings(max_examples=times(80, 5_000), deadline=None)
def test_a_request_built_from_the_one_before_has_the_bytes_of_a_fresh_one(
    history: History, changes: list[tuple[str, int, History, int, dict[str, Any]]]
) -> None:
    builder = RequestBuilder()
    sent: Payload | None = None
    fresh: Payload | None = None
    for kind, at, new, stable, options in [("nothing", 0, [], 3, {}), *changes]:
        history = edited(history, kind, at, new)
        built = admitted(history, builder=builder, stable=stable, **options)
        afresh = admitted(history, stable=stable, **options)
        assert bytes_of(built) == bytes_of(afresh)
        if isinstance(built, ModelRequest) and isinstance(afresh, ModelRequest):
            assert built.stable == afresh.stable
            sent, fresh = payload(built, "m", sent), payload(afresh, "m", fresh)
            assert json.dumps(sent.body, default=dict) == json.dumps(fresh.body, default=dict)


def test_what_was_admitted_is_continued() -> None:
    for before, after in (
        ([user("1"), assistant(call("a")), user(result("a"))], [assistant("2"), user("3")]),
        ([user("1"), assistant(call("a"))], [user(result("a"))]),
        ([user("1"), assistant(call("a"))], [user("No.", result("b"), result("a"))]),
        ([user("1"), assistant(call("a")), user(result("a"))], [assistant(call("a")), user("2")]),
        ([system("S."), user("1")], [user("2"), system("later"), assistant("3"), user("4")]),
        ([assistant("1"), user("2")], [user("3")]),
        ([user("1"), assistant(thinking(), "2")], [assistant(thinking()), user("3")]),
    ):
        builder = RequestBuilder()
        admit(before, builder=builder)
        assert admit([*before, *after], builder=builder) == admit([*before, *after]), before
        assert admit(before, builder=builder) == admit(before), before  # and cut off again


def test_shared_messages_stay_the_same_objects() -> None:
    builder, history = RequestBuilder(), turns(10)
    first = admit(history, builder=builder)
    second = admit([*history, user("And?")], builder=builder)
    assert all(new is old for old, new in zip(first.messages, second.messages, strict=False))
    one = payload(first, "m")
    other = payload(second, "m", one)
    unmarked = other.body["messages"][:10]
    assert all(new is old for old, new in zip(one.body["messages"], unmarked, strict=False))


def test_a_refused_request_leaves_nothing_behind() -> None:
    builder = RequestBuilder()
    deep: Any = "x"
    for _ in range(100_000):
        deep = [deep]
    nested = user({"type": "text", "text": "a", "more": deep})
    for history in ([user("1")], [user("1"), nested], [], [user("1"), assistant("2"), user("3")]):
        assert bytes_of(admitted(history, builder=builder)) == bytes_of(admitted(history))


def turns(count: int) -> History:
    return [
        message
        for number in range(count)
        for message in (
            user(f"Question {number}"),
            assistant(thinking(), call(f"c{number}")),
            user(result(f"c{number}")),
            assistant(f"Answer {number}"),
        )
    ]


CHANGES: dict[str, Callable[[History], History]] = {
    "no change": lambda history: history,
    "a question": lambda history: [*history, user("And?"), user("<Window/>")],
    "a step": lambda history: [*history, assistant(call("x")), user(result("x"))],
    "a change near the end": lambda history: [*history[:-4], assistant("Other."), user("And?")],
}


def work_of_a_request(count: int) -> dict[str, int]:
    """Count the lines that the next request runs after this many turns, for each change."""
    builder, history, work = RequestBuilder(), turns(count), {}
    asked = [*history, user("<Window/>")]
    before = payload(admit(asked, builder=builder), "m")
    for name, change in CHANGES.items():
        admit(asked, builder=builder)
        after = change(history)
        work[name] = lines_run(
            lambda after=after: payload(  # type: ignore[misc]
                admit(after, stable=len(after) - 2, builder=builder), "m", before
            )
        )
    return work


@pytest.mark.long
def test_a_request_runs_as_much_python_after_25000_turns_as_after_250() -> None:
    work_of_a_request(2)  # loads what is loaded once
    work = work_of_a_request(250)
    assert work == work_of_a_request(25_000)
    assert max(work.values()) < 1_000


def work_of_a_turn(count: int) -> int:
    """Count the lines that a whole turn runs after this many turns."""
    talk = controller(*["Yes."] * 3)
    for number in range(count):
        talk.context.add(ContextItem(ItemType.USER, f"Question {number}"))
        talk.context.add(ContextItem(ItemType.ASSISTANT, f"Answer {number}"))
    talk.context.end_turn()
    for _ in range(2):
        run(talk, "And?")
    return lines_run(lambda: run(talk, "And?"))


def test_a_whole_turn_takes_few_lines_for_each_message_of_the_history() -> None:
    work_of_a_turn(2)
    few, many = work_of_a_turn(100), work_of_a_turn(1_000)
    # Planning takes passes over the slots, which the budget bounds.
    assert (many - few) / 1_800 < 100


def composed(*runs: list[LlmMessage]) -> Messages:
    return Messages([[Piece(Shown(one, ()), 1, 1) for one in run] for run in runs])


@given(st.lists(orderly | hostile, max_size=4), st.integers(0, 12))
@settings(max_examples=times(25, 2_000), deadline=None)
def test_a_request_from_the_same_lists_has_the_bytes_of_a_fresh_one(
    runs: list[History], start: int
) -> None:
    messages = composed(*runs)
    assert messages.after(start) == list(messages)[start:]
    assert messages.shared_with(composed(*runs)) == 0
    builder = RequestBuilder()
    for more in ([], [user("more")], [assistant("still more")]):
        pieces = [Piece(Shown(one, ()), 1, 1) for one in more]
        grown = Messages([*(one for one, _ in messages._parts), pieces])
        assert grown.shared_with(messages) == len(messages)
        assert bytes_of(admitted(grown, builder=builder)) == bytes_of(admitted(list(grown)))
        messages = grown


def test_after_an_edit_far_back_only_that_message_is_validated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from contextui.agent import request

    builder, history = RequestBuilder(), turns(1_000)
    admit(history, builder=builder)
    validated = 0
    fit_block = request.fit_block

    def counted(*given: Any) -> Any:
        nonlocal validated
        validated += 1
        return fit_block(*given)

    monkeypatch.setattr(request, "fit_block", counted)
    history[4] = user("Edited.")
    admit(history, builder=builder)
    assert validated == 1
