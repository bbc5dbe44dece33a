"""The request as it would be sent: whole, compared with the one before, and with its cache."""

import asyncio
import json

import pytest

from contextui.agent.controller import InteractionController
from contextui.agent.models.scripted import ScriptedModel, call
from contextui.agent.prompt import install
from contextui.agent.wire import payload
from contextui.context.item import ContextItem, ItemType
from contextui.tui.inspector.draft import Draft, Drafting, Order
from contextui.tui.inspector.look import Sent
from contextui.words import Words
from tests.agent.talking import controller, run, with_prompt
from tests.windowing.samples import Todo


class Scene:
    def __init__(self, talk: InteractionController) -> None:
        self.talk = talk
        self.sent = Sent(talk.context)
        self.drafting = Drafting(talk, Words())
        with_prompt(talk)

    def draft(self) -> Draft:
        order = Order(self.talk.context.outlook(), self.sent.requests, 1)
        return self.drafting.draft(order)


def rows_of_draft(draft: Draft) -> list[str]:
    shown = []
    for number, part in enumerate(draft.parts):
        if number == draft.cached > 0:
            shown.append("---")
        shown.append(f"{part.mark} {part.name or '.'} {part.text[:14].strip()}")
    return shown


def test_before_the_first_message_there_is_a_prompt_and_nothing_to_compare_with() -> None:
    draft = Scene(controller()).draft()
    assert [part.name for part in draft.parts] == ["system"]
    assert not draft.is_compared


def test_the_exact_bytes_are_what_would_be_sent() -> None:
    scene = Scene(controller("One.", "Two."))
    run(scene.talk, "first")
    scene.talk.windows.open(Todo)
    scene.talk.context.add(ContextItem(ItemType.USER, "second"))
    outlook = scene.talk.context.outlook()
    before = [
        payload(scene.talk.request_of(one), scene.talk.model.name) for one in scene.sent.requests
    ]
    body = payload(scene.talk.request_of(outlook), scene.talk.model.name, before).body
    assert json.loads(scene.draft().exact) == json.loads(json.dumps(body, default=dict))
    assert scene.draft().size == len(scene.draft().exact.encode())


@pytest.mark.usefixtures("by_turn")
def test_the_parts_are_all_of_it() -> None:
    talk = controller(["Both.", call("create", name="todo"), call("create", name="todo")], "There.")
    scene = Scene(talk)
    run(talk, "two lists")
    talk.context.add(ContextItem(ItemType.USER, "thanks"))
    draft = scene.draft()
    body = json.loads(draft.exact)
    count = sum(len(message["content"]) for message in body["messages"])
    assert sum(len(part.blocks) for part in draft.parts if part.first >= 0) == count
    assert [part.text for part in draft.parts if part.first >= 0] == [
        "two lists", "Both.", "2 calls", "2 results", "There.", "todo_1  Full", "todo_2  Full",
        "your words",
    ]  # fmt: skip
    assert all(part.tokens > 0 and part.lines for part in draft.parts)


def test_what_is_new_is_marked_and_the_cache_ends_where_the_plan_says() -> None:
    talk = controller("One.", "Two.")
    scene = Scene(talk)
    install(talk.context, "You help. " * 600)  # more than the least that is cached
    talk.windows.open(Todo, items=[f"item {number}" for number in range(40)])
    run(talk, "first")
    asyncio.run(talk.windows.act("todo_1", "add", {"text": "eggs"}))
    talk.windows.settle_now()
    talk.context.add(ContextItem(ItemType.USER, "second"))
    draft = scene.draft()
    assert rows_of_draft(draft) == [
        "  tools create, action",
        "  system You help. You",
        "  1 user todo_1  Full",
        "  . first",
        "---",
        "+ 2 assistant One.",
        "+ 3 user todo_1  change",
        "+ . your words",
    ]
    assert len({part.key for part in draft.parts}) == len(draft.parts)


@pytest.mark.usefixtures("by_turn")
def test_what_is_new_and_what_changed_is_marked() -> None:
    scene = Scene(controller("One.", "Two."))
    scene.talk.windows.open(Todo, items=["milk"])
    run(scene.talk, "first")
    asyncio.run(scene.talk.windows.act("todo_1", "add", {"text": "eggs"}))
    scene.talk.windows.settle_now()
    scene.talk.context.add(ContextItem(ItemType.USER, "second"))
    draft = scene.draft()
    assert rows_of_draft(draft) == [
        "  tools create, action",
        "  system You work toget",
        "---",
        "  1 user first",
        "+ 2 assistant One.",
        "~ 3 user todo_1  Full",
        "+ . your words",
    ]
    window = draft.parts[-2]
    changed = [line for line, mark in zip(window.lines, window.marks, strict=True) if mark != " "]
    assert any("eggs" in line for line in changed)
    assert not any("milk" in line for line in changed)


@pytest.mark.usefixtures("by_turn")
def test_a_request_that_left_is_compared_with_the_one_before_it() -> None:
    scene = Scene(controller("One.", "Two."))
    run(scene.talk, "first")
    scene.talk.context.add(ContextItem(ItemType.USER, "second"))
    assert not scene.draft().is_sent
    scene.talk.context.request(100_000)
    draft = scene.draft()
    assert draft.is_sent
    assert [part.mark for part in draft.parts][-2:] == ["+", "+"]
    assert draft.cached == len(draft.parts)  # all of it is in the cache by now


def test_drawing_up_a_request_sends_nothing() -> None:
    model = ScriptedModel("One.", "Two.")
    scene = Scene(controller(model=model))
    run(scene.talk, "first")
    generation = scene.talk.context.ledger.generation
    scene.draft()
    assert len(model.requests) == 1
    assert scene.talk.context.ledger.generation == generation
