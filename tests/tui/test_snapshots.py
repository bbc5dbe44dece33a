"""How the screen looks, cell for cell, each pane and dialog at one or more of three sizes.

`CONTEXTUI_SNAPSHOTS=renew` keeps the pictures as they are now, in `snapshots`.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest
from textual.pilot import Pilot

from contextui.agent.models.scripted import Step, call
from contextui.agent.prompt import install
from contextui.tui.conversation.prompt import Prompt
from contextui.tui.desktop.frame import WindowFrame
from contextui.tui.dialogs.approval import ApprovalScreen
from contextui.words import Lang
from tests.tui.picture import FOLDER, at_rest, check
from tests.tui.running import SIZES, app_of, desk_in, running, say, until

PROMPT = "You work together with a person.\nYou both look at the same windows."
CART = '''\
from decimal import Decimal


def total(items: list[Item]) -> Decimal:
    """Sum of the cart."""
    return sum(item.price * item.count for item in items)
'''
WORDS: dict[Lang, list[str]] = {
    "en": ["Open cart.py, and a list with milk, eggs and bread.", "Both are open.",
           "Amounts are Decimal, never float", "Round the sum, and save it.",
           "I round it to cents.", "milk", "eggs", "bread"],
    "zh": ["打开 cart.py，再把牛奶、鸡蛋和面包放进待办。", "都打开了。",
           "金额一律用 Decimal，不用 float", "把合计四舍五入并保存。", "四舍五入到分。",
           "牛奶", "鸡蛋", "面包"],
}  # fmt: skip
NARROW, NORMAL, WIDE = SIZES
NAMES = {
    *("start-200x60", "main-200x60", "main-120x40", "main-80x24"),
    *("windows-80x24", "help-80x24", "approval-80x24", "approval-120x40"),
    "zh-120x40",
}


@pytest.fixture(autouse=True)
def no_time_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    stopped = SimpleNamespace(monotonic=lambda: 1_000.0)
    monkeypatch.setattr("contextui.tui.desktop.pane._FRESH", 1_000.0)
    names = ("tui.conversation.entries", "tui.conversation.prompt", "tui.conversation.status")
    for name in (*names, "agent.loop"):
        monkeypatch.setattr(f"contextui.{name}.time", stopped)


def script(lang: Lang) -> list[Step]:
    _, opened, noted, _, rounding, *things = WORDS[lang]
    changed = {"old": "return sum(", "new": "return round(sum("}
    return [
        [call("create", name="editor", args={"path": "cart.py"}),
         call("create", name="todo", args={"items": things}),
         call("create", name="notebook", args={}),
         call("action", window_id="notebook_1", action_id="write", params={"text": noted})],
        f"**{opened}**\n\n- `cart.py`\n- {things[0]}",
        [rounding,
         call("action", window_id="editor_1", action_id="replace", params=changed),
         call("action", window_id="editor_1", action_id="save", params={})],
        opened,
    ]  # fmt: skip


@asynccontextmanager
async def app_in(home: Path, lang: Lang = "en") -> AsyncIterator["Pilot[int]"]:
    """The app in a folder of a home, on its largest screen."""
    work = home / "work"
    work.mkdir(parents=True)
    (work / "cart.py").write_text(CART)
    now = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    desk = desk_in(home, *script(lang), lang=lang, clock=lambda: now)
    install(desk.session.context, PROMPT)
    async with running(desk, WIDE, lang) as pilot:
        pilot.app.animation_level = "none"
        pilot.app.screen.query_one(Prompt).cursor_blink = False
        yield pilot


async def take(pilot: "Pilot[int]", name: str, *sizes: tuple[int, int]) -> None:
    """Compare the screen at each size."""
    wrong = []
    for size in sizes:
        if pilot.app.size != size:
            await pilot.resize_terminal(*size)
        try:
            file = f"{name}-{size[0]}x{size[1]}"
            assert file in NAMES
            check(file, await at_rest(pilot, file))
        except AssertionError as error:
            wrong.append(str(error))
    assert wrong == [], "\n".join(wrong)


async def test_the_start_the_panes_the_help_and_an_approval(own_home: Path) -> None:
    async with app_in(own_home) as pilot:
        app = app_of(pilot)
        await take(pilot, "start", WIDE)
        await say(pilot, WORDS["en"][0])
        await take(pilot, "main", WIDE, NORMAL, NARROW)
        await pilot.press("ctrl+g", "1")
        setting = app.main.desktop._setting
        await until(pilot, lambda: not setting.opened)  # a key ends that mark
        await take(pilot, "windows", NARROW)
        await pilot.press("ctrl+g", "p", "f1")
        await take(pilot, "help", NARROW)
        await pilot.press("escape")

        app.main.send(WORDS["en"][3])
        await until(pilot, lambda: isinstance(app.screen, ApprovalScreen))
        editor = app.main.query(WindowFrame).first()
        await until(pilot, lambda: "•" in str(editor.border_title))
        app.screen.refresh()  # what stands behind it is drawn when it opens, and then no more
        await take(pilot, "approval", NORMAL, NARROW)


async def test_chinese(own_home: Path) -> None:
    async with app_in(own_home, "zh") as pilot:
        await pilot.resize_terminal(*NORMAL)
        await say(pilot, WORDS["zh"][0])
        await take(pilot, "zh", NORMAL)


def test_no_picture_is_kept_that_nobody_looks_at() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {f"{name}.txt" for name in NAMES}
