"""Text that would act, in every place where the inspector shows text: it is only shown."""

from pathlib import Path

import pytest

from contextui.agent.models.scripted import call
from contextui.model import ModelError
from contextui.tui.app_session import AppSession
from contextui.tui.dialogs.whole_text import WholeText
from contextui.tui.inspector.edit import EditScreen
from contextui.windowing.finding.registry import WindowEntry
from tests.tui.hostile import PAYLOAD, check
from tests.tui.inspector.scene import enter, rows, see
from tests.tui.running import desk_in, running, say, until

pytestmark = pytest.mark.long

HOSTILE = f"{PAYLOAD}\ud800"


def hostile_desk(folder: Path) -> AppSession:
    """A desk with such text in words, answers, calls, results, windows, notices and entries."""
    add = call("action", window_id="todo_1", action_id="add", params={"text": HOSTILE})
    steps = (call("create", name="todo", args={"items": [HOSTILE]}), add, HOSTILE)
    desk = desk_in(folder, *steps, ModelError("bad_request", HOSTILE))
    desk.notices.append(HOSTILE)
    desk.registry._entries.append(WindowEntry("[/]", HOSTILE, "broken", HOSTILE))
    return desk


async def test_nothing_acts_in_dialogs_notes_and_the_filter(tmp_path: Path) -> None:
    desk = hostile_desk(tmp_path)
    async with running(desk) as pilot:
        await say(pilot, HOSTILE)
        await enter(pilot)
        await pilot.press("home", "down")
        item = desk.session.context.get_all()[1]
        before = item.content
        assert "\x1b" in before
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, WholeText))
        await see(pilot, "[/foo]")
        check(pilot)
        await pilot.press("c", "escape")
        await until(pilot, lambda: not isinstance(pilot.app.screen, WholeText))
        await pilot.press("e")
        await until(pilot, lambda: isinstance(pilot.app.screen, EditScreen))
        await see(pilot, "[/foo]", "Control characters are shown")
        check(pilot)
        await pilot.press("ctrl+s")  # what is not edited keeps its characters
        await until(pilot, lambda: not isinstance(pilot.app.screen, EditScreen))
        assert item.content == before
        await pilot.press("c")
        assert pilot.app.clipboard == before
        await pilot.press("slash", *"[/]", "[", "/")
        await see(pilot, "Nothing matches “[/][/”")
        check(pilot)
        await pilot.press("escape")
        await until(pilot, lambda: rows(pilot).has_focus)
        await pilot.press("d", "d")
        check(pilot)
