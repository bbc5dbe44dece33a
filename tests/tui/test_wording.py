"""The words of the screen: plain ones, and only what can work is offered."""

import asyncio
import re
from functools import partial
from pathlib import Path

import pytest

import contextui
from contextui.agent.models.offline import OfflineModel
from contextui.agent.models.scripted import ScriptedModel
from contextui.context.item import ContextItem, ItemType
from contextui.events import TurnFinished
from contextui.tui.app import ContextUIApp
from contextui.tui.desktop.shared import short_name
from contextui.windows.todo import TodoWindow
from contextui.words import Lang, Words, read_po
from tests.agent.talking import run
from tests.tui.running import desk_in, running, shown, until

FORMER = [
    "stand for what", "every command, by name", "who decides about", "of a long talk",
    "everything is kept", "come out", "the large one", "all the room", "simple wishes",
    "nothing to take back", "Taken back", "given up by that", "has your words",
    "let this key in", "Leave it;", "enter runs it", "sent anew", "paid for", "pays back",
    "Done: ", "take --model offline", " meant?", "Begin anew", "does not tell what",
    "belong into a file",
]  # fmt: skip


def test_no_message_has_a_former_wording() -> None:
    catalogue = Path(contextui.__file__).parent / "words" / "zh.po"
    messages = read_po(catalogue.read_text("utf-8"))
    assert [one for one in messages for phrase in FORMER if phrase in one] == []


def test_not_done_is_not_undone() -> None:
    undone = TodoWindow.actions["undone"]
    assert short_name(undone, Words("en")) == "Not done…"
    assert short_name(undone, Words("zh")) == "未完成…"


def test_a_strategy_is_offered_only_if_it_can_work(tmp_path: Path) -> None:
    """Undoing much names a number instead of every item."""

    async def talk() -> None:
        desk = desk_in(tmp_path, model=OfflineModel())
        desk.switch_strategy = lambda _: None
        context = desk.session.context
        for number in range(40):
            context.add(ContextItem(ItemType.USER, f"message {number}"))
            context.add(ContextItem(ItemType.ASSISTANT, f"answer {number}"))
        older = [one for one in context.get_all() if one.type is not ItemType.SYSTEM]
        context.compact(older[:60], "A summary.")
        async with running(desk) as pilot:
            app = pilot.app
            assert isinstance(app, ContextUIApp)
            refusal = "entities needs a model that can extract facts"
            for offered in (False, True):
                command = next(one for one in app.main.commands.all if one.name == "strategy")
                names = [one.name for one in command.choices()]
                assert {"sliding", "summarization"} <= {*names}
                assert ("entities" in names) is offered
                app.main.run_command("/strategy entities")
                await until(pilot, partial(shown, pilot, "The strategy is" if offered else refusal))
                assert shown(pilot, "The strategy is") is offered
                desk.controller.model = ScriptedModel()

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
    desk = desk_in(tmp_path, model=OfflineModel(), lang=lang)
    assert [one for one in run(desk.controller, question) if isinstance(one, TurnFinished)]
    assert desk.session.windows.windows() == []
    desk.close()


def test_the_monitor_is_reported_in_chinese(tmp_path: Path) -> None:
    desk = desk_in(tmp_path, model=OfflineModel(), lang="zh")
    run(desk.controller, "这台机器有多忙？")
    items = desk.session.context.get_all()
    said = [one.content for one in items if one.type is ItemType.ASSISTANT][-1]
    assert "已打开 monitor_1。" in said
    assert re.search("monitor_1: (负载|CPU|内存)", said), said
    assert not re.search(r"\b(load|average|Opened|used)\b", said), said
    desk.close()
