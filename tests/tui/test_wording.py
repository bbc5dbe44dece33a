"""The words of the screen: plain ones, and only what can work is offered."""

import asyncio
import re
from pathlib import Path

import pytest

import contextui
from contextui.agent.models.offline import OfflineModel
from contextui.agent.models.scripted import ScriptedModel
from contextui.context.item import ContextItem, ItemType
from contextui.tui.app import ContextUIApp
from contextui.tui.desktop.shared import short_name
from contextui.windows.todo import TodoWindow
from contextui.words import Lang, Words, read_po
from tests.tui.running import desk_in, running, say, shown, until

FORMER = [
    "stand for what", "every command, by name", "who decides about", "of a long talk",
    "everything is kept", "come out", "the large one", "all the room", "simple wishes",
    "nothing to take back", "Taken back", "given up by that", "has your words",
    "let this key in", "Leave it;", "enter runs it", "sent anew", "paid for", "pays back",
    "Done: ", "take --model offline", " meant?", "Begin anew", "does not tell what",
    "belong into a file",
]  # fmt: skip


@pytest.mark.parametrize("phrase", FORMER)
def test_no_message_has_a_former_wording(phrase: str) -> None:
    catalogue = Path(contextui.__file__).parent / "words" / "zh.po"
    assert [one for one in read_po(catalogue.read_text("utf-8")) if phrase in one] == []


def test_not_done_is_not_undone() -> None:
    undone = TodoWindow.actions["undone"]
    assert short_name(undone, Words("en")) == "Not done…"
    assert short_name(undone, Words("zh")) == "未完成…"


@pytest.mark.parametrize(("is_offline", "offered"), [(True, False), (False, True)])
def test_a_strategy_is_offered_only_if_it_can_work(
    tmp_path: Path, is_offline: bool, offered: bool
) -> None:
    model = OfflineModel() if is_offline else ScriptedModel()

    async def talk() -> None:
        desk = desk_in(tmp_path, model=model)
        desk.switch_strategy = lambda _: None
        async with running(desk) as pilot:
            app = pilot.app
            assert isinstance(app, ContextUIApp)
            command = next(one for one in app.main.commands.all if one.name == "strategy")
            names = [one.name for one in command.choices()]
            assert {"sliding", "summarization"} <= {*names}
            assert ("entities" in names) is offered
            app.main.run_command("/strategy entities")
            refusal = "entities needs a model that can extract facts"
            await until(pilot, lambda: shown(pilot, "The strategy is") or shown(pilot, refusal))
            assert shown(pilot, refusal) is not offered

    asyncio.run(talk())


def test_undoing_much_names_a_number_instead_of_every_item(tmp_path: Path) -> None:
    async def talk() -> None:
        desk = desk_in(tmp_path)
        context = desk.session.context
        for number in range(40):
            context.add(ContextItem(ItemType.USER, f"message {number}"))
            context.add(ContextItem(ItemType.ASSISTANT, f"answer {number}"))
        older = [one for one in context.get_all() if one.type is not ItemType.SYSTEM]
        context.compact(older[:60], "A summary.")
        async with running(desk) as pilot:
            app = pilot.app
            assert isinstance(app, ContextUIApp)
            app.main.run_command("/undo")
            await until(pilot, lambda: shown(pilot, "Undone: "))
            assert not shown(pilot, "0003, 0004")

    asyncio.run(talk())


@pytest.mark.parametrize(
    ("lang", "question"),
    [
        ("en", "what is on my list?"),
        ("en", "do I have any todos?"),
        ("zh", "我的清单上有什么？"),
        ("zh", "我的待办里有什么"),
    ],
)
def test_a_question_opens_no_empty_window(tmp_path: Path, lang: Lang, question: str) -> None:
    async def talk() -> None:
        desk = desk_in(tmp_path, model=OfflineModel(), lang=lang)
        async with running(desk, lang=lang) as pilot:
            await say(pilot, question)
            assert desk.session.windows.windows() == []

    asyncio.run(talk())


def test_the_monitor_is_reported_in_chinese(tmp_path: Path) -> None:
    async def talk() -> None:
        desk = desk_in(tmp_path, model=OfflineModel(), lang="zh")
        async with running(desk, lang="zh") as pilot:
            await say(pilot, "这台机器有多忙？")
            items = desk.session.context.get_all()
            said = [one.content for one in items if one.type is ItemType.ASSISTANT][-1]
            assert "已打开 monitor_1。" in said
            assert re.search("monitor_1: (负载|CPU|内存)", said), said
            assert not re.search(r"\b(load|average|Opened|used)\b", said), said

    asyncio.run(talk())
