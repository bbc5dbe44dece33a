"""What the provider still holds of the next request."""

import pytest

from contextui.context.item import ItemType
from contextui.tui.inspector.look import Sent
from tests.agent.talking import controller, run, with_prompt
from tests.windowing.samples import Todo


@pytest.mark.usefixtures("by_turn")
def test_without_windows_a_request_begins_with_the_whole_one_before() -> None:
    talk = controller("One.", "Two.")
    sent = Sent(talk.context)
    with_prompt(talk)
    run(talk, "first")
    outlook = talk.context.outlook()
    assert sent.cached(outlook) == 2  # the prompt and the words; the answer was never sent
    assert len(sent.requests) == 1


def test_a_new_system_prompt_loses_everything() -> None:
    talk = controller("One.", "Two.")
    sent = Sent(talk.context)
    prompt = with_prompt(talk)
    run(talk, "first")
    talk.context.edit(prompt.id, "Be brief.")
    assert sent.cached(talk.context.outlook()) == 0


@pytest.mark.usefixtures("by_turn")
def test_after_an_edit_the_furthest_mark_before_it_holds() -> None:
    talk = controller(*(f"Answer {number}." for number in range(4)))
    sent = Sent(talk.context)
    with_prompt(talk)
    for number in range(4):
        run(talk, f"words {number}")
    words = [one for one in talk.context.get_all() if one.type is ItemType.USER]
    talk.context.edit(words[2].id, "other words")
    # In the third request the first two turns had their final form: a mark stood behind them.
    assert sent.cached(talk.context.outlook()) == 5


@pytest.mark.usefixtures("by_turn")
def test_a_redrawn_window_makes_nobody_count_again() -> None:
    talk = controller("One.", "Two.")
    sent = Sent(talk.context)
    with_prompt(talk)
    talk.windows.open(Todo)
    run(talk, "first")
    first = sent.cached(talk.context.outlook())
    assert sent.cached(talk.context.outlook()) == first == 1


@pytest.mark.usefixtures("by_turn")
def test_another_model_holds_nothing() -> None:
    talk = controller("One.", "Two.")
    names = ["one", "two"]
    sent = Sent(talk.context, lambda: names[0])
    with_prompt(talk)
    run(talk, "first")
    assert sent.cached(talk.context.outlook()) == 2
    names.pop(0)
    assert sent.cached(talk.context.outlook()) == 0
    assert sent.requests == []


def test_it_stops_following() -> None:
    talk = controller("One.", "Two.")
    sent = Sent(talk.context)
    with_prompt(talk)
    run(talk, "first")
    sent.stop()
    run(talk, "second")
    assert len(sent.requests) == 1
