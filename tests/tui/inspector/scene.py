"""A conversation to be inspected, and how the inspector is driven in tests."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from textual.pilot import Pilot
from textual.widget import Widget

from contextui.agent.models.scripted import Step, call
from contextui.context.item import ContextItem, ItemType, Stage, assign
from contextui.model import Answer, Block
from contextui.tokens import Usage
from contextui.tui.app_session import AppSession
from contextui.tui.inspector.item_page import ItemPage
from contextui.tui.inspector.items import ItemList
from contextui.tui.inspector.pane import Inspector
from contextui.windowing.snapshot import Lod
from tests.agent.talking import options
from tests.tui.running import app_of, desk_in, desk_of, lines, running, say, shown, until

SIZES = [(120, 40), (80, 24)]

LONG = "\n".join(f"line {number} of the file" for number in range(600))


def reply(*blocks: str | Block, usage: Usage | None = None) -> Answer:
    """A whole answer, with what it cost."""
    whole = tuple({"type": "text", "text": one} if isinstance(one, str) else one for one in blocks)
    calls = any(block["type"] == "tool_use" for block in whole)
    return Answer(whole, "tool_use" if calls else "end_turn", usage or Usage())


def shop(folder: Path, *more: Step, **given: Any) -> AppSession:
    """A desk in whose script a list is opened, a long file read, and a message sent."""
    work = folder / "work"
    work.mkdir(exist_ok=True)
    (work / "tests.py").write_text(LONG)
    steps: tuple[Step, ...] = (
        reply("Noted.", usage=Usage(40, 180, 0, 1_290)),
        reply(
            call("create", name="todo", args={"items": ["milk"]}), usage=Usage(60, 90, 1_290, 200)
        ),
        reply("It is open.", usage=Usage(50, 20, 1_490, 20)),
        reply(call("read_file", path="tests.py"), usage=Usage(100, 30, 1_500, 60)),
        reply("The file has 600 lines.", usage=Usage(100, 30, 1_560, 6_000)),
        *more,
    )
    given.setdefault("options", options(budget=60_000))
    return desk_in(folder, *steps, **given)


async def talk(pilot: "Pilot[int]") -> None:
    await say(pilot, "Money is Decimal, never float")
    await say(pilot, "Open a list")
    await say(pilot, "Read the tests")
    await until(pilot, lambda: rows(pilot).count > 12 or not inspector(pilot).display)


def inspector(pilot: "Pilot[int]") -> Inspector:
    return app_of(pilot).main.query_one(Inspector)


def rows(pilot: "Pilot[int]") -> ItemList:
    return inspector(pilot).query_one(ItemList)


def screen(pilot: "Pilot[int]") -> str:
    return "\n".join(lines(pilot))


async def enter(pilot: "Pilot[int]") -> None:
    """Go to the inspector, whatever the width of the screen."""
    app_of(pilot).main.navigation.enter("context")
    await until(pilot, lambda: rows(pilot).has_focus)


@asynccontextmanager
async def inspecting(
    folder: Path, *more: Step, size: tuple[int, int] = (120, 40), **given: Any
) -> "AsyncIterator[tuple[Pilot[int], AppSession]]":
    """Have the conversation of the shop, and go to the inspector."""
    desk = shop(folder, *more, **given)
    async with running(desk, size, given.get("lang", "en")) as pilot:
        await talk(pilot)
        await enter(pilot)
        yield pilot, desk


async def go_to(pilot: "Pilot[int]", words: str) -> ContextItem:
    """Put the cursor on the first item whose line has these words."""
    listing = rows(pilot)

    def places() -> list[int]:
        width, numbers = listing.line_width, range(listing.count)
        return [one for one in numbers if words in listing.line_at(one, width).plain]

    await until(pilot, places)
    listing.choose(places()[0])
    await pilot.pause()
    assert listing.item_row is not None
    return listing.item_row.item


async def tidy(pilot: "Pilot[int]") -> None:
    """Take back what a test did to the shop and its inspector."""
    session = desk_of(pilot).session
    while session.context.undo():
        pass
    for window in session.windows.windows():
        session.windows.set_lod(window.id, Lod.FULL)
    pane = inspector(pilot)
    pane.query_one(ItemPage).action_clear()
    pane.action_now()
    pane._turn_to("Items")
    rows(pilot).focus()
    rows(pilot).choose(0)
    await pilot.pause()


async def see(pilot: "Pilot[int]", *texts: str) -> None:

    def seen() -> bool:
        rows = screen(pilot)
        return all(text in rows for text in texts)

    await until(pilot, seen)


async def not_see(pilot: "Pilot[int]", text: str) -> None:
    await until(pilot, lambda: not shown(pilot, text))


async def click_on(pilot: "Pilot[int]", text: str, times: int = 1) -> None:
    for y, line in enumerate(lines(pilot)):
        if text in line:
            x = _cell(line, line.index(text))
            await pilot.click(offset=(x, y), times=times)
            return
    raise AssertionError(f"{text!r} is not on the screen:\n{screen(pilot)}")


def _cell(line: str, index: int) -> int:
    from rich.cells import cell_len

    return cell_len(line[:index])


def finished(desk: AppSession, count: int) -> None:
    """Put so many items of finished turns into a context, as a session that is read back does."""
    ledger = desk.session.context.ledger
    kinds = (ItemType.USER, ItemType.ASSISTANT)
    for number in range(count):
        item = ContextItem(kinds[number % 2], f"words number {number}")
        assign(item, stage=Stage.FINAL)
        ledger.enter(item, ledger.seq + 1)


def hidden(item: ContextItem) -> str | None:
    """Why an item is left out, now."""
    return item.hidden


def visible_text(widget: Widget) -> str:
    height = widget.size.height
    return "\n".join(widget.render_line(y).text.rstrip() for y in range(height))


async def press_until(pilot: "Pilot[int]", key: str, expected: str) -> None:
    """Press a key, and once more if it is asked for twice."""
    await pilot.press(key)
    await until(pilot, lambda: shown(pilot, expected) or shown(pilot, f"{key} again"))
    if not shown(pilot, expected):
        await pilot.press(key)
        await see(pilot, expected)
