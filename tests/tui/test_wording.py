"""The words of the screen: plain ones, and only what can work is offered."""

import re
from functools import partial
from pathlib import Path

from textual.pilot import Pilot

from contextui.agent.models.offline import OfflineModel
from contextui.agent.models.scripted import ScriptedModel
from contextui.context.item import ContextItem, ItemType
from contextui.tui.desktop.shared import short_name
from contextui.tui.inspector.edit import EditScreen, listed
from contextui.windows.todo.window import TodoWindow
from contextui.words import Words
from tests.agent.talking import run
from tests.tui.running import app_of, desk_in, running, shown, until


def test_many_items_are_named_in_one_line() -> None:
    items = [ContextItem(ItemType.USER, "x", seq=number) for number in range(1, 46)]
    assert listed(items, Words("en")) == "45 items, 0001 to 0045"
    assert listed(items[:3], Words("en")) == "0001, 0002, 0003"
    assert listed(items, Words("zh")) == "45 个条目，0001 至 0045"


def test_not_done_is_not_undone() -> None:
    undone = TodoWindow.actions["undone"]
    assert short_name(undone, Words("en")) == "Not done…"
    assert short_name(undone, Words("zh")) == "未完成…"


async def a_dialog_is_as_large_as_its_text(pilot: "Pilot[int]") -> None:
    for text, least, most in [("just these five short words", 5, 9), ("x\n" * 500, 30, 38)]:
        screen = EditScreen(Words("en"), "0002", text, "", lambda _: None)
        pilot.app.push_screen(screen)
        await until(pilot, lambda screen=screen: screen.is_current)  # type: ignore[misc]
        await pilot.pause()
        box, keys = (screen.query_one(name).region for name in ("#edit", ".keys"))
        assert least <= box.height <= most
        assert keys.height == 1
        assert keys.bottom < box.bottom
        await pilot.press("escape")


async def test_commands_offer_what_can_work_and_answer_in_few_words(tmp_path: Path) -> None:
    """A strategy needs a model that can do it; undoing much names a number, not every item."""
    desk = desk_in(tmp_path, model=OfflineModel())
    desk.switch_strategy = lambda _: None
    context = desk.session.context
    for number in range(40):
        context.add(ContextItem(ItemType.USER, f"message {number}"))
        context.add(ContextItem(ItemType.ASSISTANT, f"answer {number}"))
    older = [one for one in context.get_all() if one.type is not ItemType.SYSTEM]
    context.compact(older[:60], "A summary.")
    async with running(desk) as pilot:
        app = app_of(pilot)
        app.main.run_command("/stop")
        await until(pilot, lambda: shown(pilot, "Nothing is running."))
        refusal = "entities needs a model that can extract facts"
        for offered in (False, True):
            command = next(one for one in app.main.writing.commands.all if one.name == "strategy")
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
        await a_dialog_is_as_large_as_its_text(pilot)


def test_the_monitor_is_reported_in_chinese(tmp_path: Path) -> None:
    desk = desk_in(tmp_path, model=OfflineModel(), lang="zh")
    run(desk.controller, "这台机器有多忙？")
    items = desk.session.context.get_all()
    said = [one.content for one in items if one.type is ItemType.ASSISTANT][-1]
    assert "monitor_1 已打开。" in said
    assert re.search("monitor_1: (负载|CPU|内存)", said), said
    assert not re.search(r"\b(load|average|Opened|used)\b", said), said
    desk.close()
