"""The request as it would be sent: whole, compared with the one before, and with its cache."""

import asyncio
import json
from collections.abc import Callable
from contextlib import aclosing

import pytest

from contextui.agent.controller import InteractionController
from contextui.agent.models.remote import RemoteModel
from contextui.agent.models.scripted import ScriptedModel
from contextui.agent.prompt import install
from contextui.context.item import ContextItem, ItemType
from contextui.context.messages import Composition
from contextui.events import Event, RequestSent
from contextui.tui.inspector.draft import Draft, Drafting, Order
from contextui.words import Words
from tests.agent.chat_server import chat
from tests.agent.models.client import chat_model_of, model_of
from tests.agent.server import Server, Stream, answer
from tests.agent.talking import controller, run, say, with_prompt
from tests.windowing.samples import Todo


class Scene:
    def __init__(self, talk: InteractionController) -> None:
        self.talk = talk
        self.sent: list[Composition] = []
        talk.context.subscribe(self._note)
        self.drafting = Drafting(talk, Words())
        with_prompt(talk)

    def _note(self, event: Event) -> None:
        if isinstance(event, RequestSent) and self.talk.context.last_request is not None:
            self.sent.append(self.talk.context.last_request)

    def draft(self) -> Draft:
        order = Order(self.talk.context.outlook(), self.sent[-2:], 1)
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


@pytest.mark.parametrize(("make", "reply"), [(model_of, answer), (chat_model_of, chat)])
async def test_the_exact_bytes_are_what_is_sent(
    make: Callable[[Server], RemoteModel], reply: Callable[[str], Stream]
) -> None:
    with Server(reply("One."), reply("Two.")) as server:
        async with aclosing(make(server)) as model:
            scene = Scene(controller(model=model))
            scene.talk.windows.open(Todo)
            await say(scene.talk, "first")
            await say(scene.talk, "second")
        draft = scene.drafting.draft(Order(scene.sent[-1], scene.sent, 2))
        assert json.loads(draft.exact) == server.requests[-1].json
    assert draft.is_sent


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
    install(talk.context, "You help too.")
    marks = {part.key: part.marks for part in scene.draft().parts if part.mark == "~"}
    assert marks["system"] == [True]


def test_drawing_up_a_request_sends_nothing() -> None:
    model = ScriptedModel("One.", "Two.")
    scene = Scene(controller(model=model))
    run(scene.talk, "first")
    generation = scene.talk.context.ledger.generation
    scene.draft()
    assert len(model.requests) == 1
    assert scene.talk.context.ledger.generation == generation
