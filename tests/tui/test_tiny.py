"""Panes and dialogs with no room, or much of it: at 0 to 3 and 200 cells nothing raises."""

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from textual.geometry import Region
from textual.pilot import Pilot
from textual.widget import Widget

from contextui.config.sources import load_settings
from contextui.context.item import ContextItem, ItemType
from contextui.events import CallFinished, CallStarted, TurnFinished
from contextui.model import ThinkingDelta
from contextui.session.code.store import CodeStore
from contextui.tui.app_session import AppSession
from contextui.tui.code import CodeFence
from contextui.tui.desktop.widgets import Guard
from contextui.tui.dialogs.command import screen_for
from contextui.tui.dialogs.whole_text import WholeText
from contextui.tui.inspector.tabs import PAGES
from contextui.windowing.finding.registry import discover
from tests.tui.change import question
from tests.tui.desktop.samples import NoteWindow
from tests.tui.running import app_of, desk_of, running, say, until
from tests.tui.test_command_dialog import question as command_question
from tests.tui.test_model_sheet import connected
from tests.windows.git.conftest import run

SIZES = [(0, 0), (1, 1), (2, 2), (0, 3), (3, 0), (1, 2), (200, 1), (2, 200), (200, 200)]
ANSWER = "# Title\n\nText:\n\n```python\nprint(1)\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n- one"
WINDOWS = ("files", "notebook", "monitor", "code", "git", "terminal", "note")
EVENTS = (
    ThinkingDelta("So."),
    CallStarted(1, "read_file", {"path": "a.py"}),
    CallFinished(1, "read_file", True, "text", allowed=True, added=12, removed=3),
    TurnFinished("failed", explanation="No network."),
)
ACTIONS = (
    ("editor_1", "insert", {"before_line": 1, "text": "marked"}),
    ("notebook_1", "write", {"text": "A note."}),
)
COMMANDS = ("/help", "/sessions", "/rewind", "/model", "/login openai", "/config", "/compact")
QUESTIONS = (question(["old"], ["new"]), command_question())


def is_own(widget: Widget) -> bool:
    """Whether a widget is the program's: not of Textual, nor a block of Markdown."""
    classes = {one for one in type(widget).__mro__ if one.__module__.startswith("contextui.")}
    return bool(classes - {Guard, CodeFence})


async def squeeze(pilot: "Pilot[Any]") -> None:
    """Draw all widgets of the screen in each size, the innermost first and then what holds them."""
    screen = pilot.app.screen
    own = [one for one in screen.query("*") if is_own(one)]
    inner = [one for one in own if not any(map(is_own, one.query("*")))]
    for widgets in (inner, [one for one in own if one not in inner]):
        for width, height in SIZES:
            for one in widgets:
                one.display = True
                one.styles.min_width = one.styles.min_height = 0
                one.styles.max_width, one.styles.max_height = width, height
            await pilot.pause()
            for one in screen.query("*"):
                one.render_lines(Region(0, 0, *one.outer_size))
            failed = [one for one in own if isinstance(one, Guard) and one._has_failed]
            assert not failed, (width, height)
        for one in widgets:
            for rule in ("max_width", "max_height"):
                one.styles.inline.clear_rule(rule)


def crowded(folder: Path) -> AppSession:
    """A desk with more items than fit into three rows, and windows of every class."""
    work = folder / "work"
    work.mkdir()
    (work / "a.py").write_text("print('a')\n" * 60, "utf-8")
    if shutil.which("git"):  # without a repository its window shows why
        run(work, "init", "--quiet")
    desk = connected(folder, {}, windows=[*discover().classes(), NoteWindow])
    desk.load_settings = lambda: load_settings({}, {}, folder / "home", work)
    for number in range(6):
        desk.session.context.add(ContextItem(ItemType.USER, f"question {number} " * 60))
        desk.session.context.add(ContextItem(ItemType.ASSISTANT, "Yes."))
    desk.session.context.add(ContextItem(ItemType.ASSISTANT, ANSWER))
    desk.session.windows.open("todo", items=["milk", "把牛奶放进待办"])
    desk.session.windows.open("editor", path="a.py")
    assert desk.session.windows.workspace is not None
    CodeStore.of(desk.session.windows.workspace).save("sum", "python", "print(1)")
    for name in WINDOWS:
        desk.session.windows.open(name)
    return desk


async def test_every_pane_can_be_drawn_without_room(tmp_path: Path) -> None:
    """X02: a list of items whose scrollbar left no room for text ended the program."""
    async with running(crowded(tmp_path)) as pilot:
        main = app_of(pilot).main
        await say(pilot, "hi")
        for window_id, action, params in ACTIONS:
            assert (await desk_of(pilot).session.windows.act(window_id, action, params)).ok
        for event in EVENTS:
            main.handle(event)
        main.conversation.action_unfold()
        for page in PAGES:  # what each shows
            main.inspector._turn_to(page)
        await squeeze(pilot)


@pytest.mark.long
async def test_every_dialog_can_be_drawn_without_room(tmp_path: Path) -> None:
    async with running(crowded(tmp_path)) as pilot:
        app = app_of(pilot)
        text = WholeText(app.words, "title", "把牛奶放进待办\n" * 50)
        screens = [text, *(screen_for(app.words, one) for one in QUESTIONS)]
        opening: list[Callable[[], object]] = [
            *(partial(app.main.run_command, one) for one in COMMANDS),
            *(partial(app.push_screen, one) for one in screens),
        ]
        for open_dialog in opening:
            open_dialog()
            await until(pilot, lambda: app.screen is not app.main)
            await squeeze(pilot)
            await app.pop_screen()
