"""The page of items: what each key does, and what it costs before it is pressed."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import TextArea

from contextui.agent.models.scripted import call
from contextui.context.item import ContextItem
from contextui.context.placement.items import PlacedBlock
from contextui.model import Answer, Block
from contextui.tui.app_session import AppSession
from contextui.tui.dialogs.whole_text import WholeText
from contextui.tui.inspector.detail import Detail, signed
from contextui.tui.inspector.edit import EditScreen
from contextui.tui.inspector.labels import tokens
from contextui.tui.lines import short
from contextui.windowing.snapshot import Lod
from tests.agent.talking import options
from tests.tui.inspector.scene import (
    LONG,
    SIZES,
    click_on,
    enter,
    go_to,
    hidden,
    inspecting,
    inspector,
    not_see,
    press_until,
    reply,
    rows,
    see,
    shop,
    talk,
    visible_text,
)
from tests.tui.running import app_of, desk_of, drag, lines, running, say, until

pytestmark = pytest.mark.long


@pytest.mark.parametrize("size", SIZES)
async def test_all_items_are_listed_with_marks_and_rules(pilot: "Pilot[int]") -> None:
    await see(pilot, "── cached ─", "[✓] 0001 System", "[✓] 0002 User   Money")
    await pilot.press("end")
    await see(pilot, "── not cached ─", "Window todo_1  Full", "read_file tests.py")


@pytest.mark.parametrize("size", SIZES)
async def test_the_price_shows_before_any_key(pilot: "Pilot[int]") -> None:
    context = desk_of(pilot).session.context
    item = await go_to(pilot, "read_file tests.py")
    assert item.tool_name == "read_file"
    await see(pilot, "each turn", "breaks even", "d drop", "e edit…", "p pin")
    assert any("turn 3, cached" in line for line in lines(pilot))
    drop = next(line.split("d drop")[1] for line in lines(pilot) if "d drop" in line)
    found = context.forecast("drop", [item])
    assert found is not None
    provider = context.counter.calibrated
    assert drop.split()[:2] == [signed(-provider(-found.each)), signed(provider(found.once))]
    assert found.each < -4_000 < 0 < found.once  # what is in front of it is written again


@pytest.mark.parametrize("size", [(120, 24)])
async def test_a_wide_screen_may_be_low(pilot: "Pilot[int]") -> None:
    await go_to(pilot, "Tool   read_file")
    offers = [line for line in lines(pilot) if "▏ d drop" in line or "▏ p pin" in line]
    assert len(offers) == 2
    assert offers[0].endswith("3 turns")
    await click_on(pilot, "p pin")
    await see(pilot, "Pinned")


async def test_d_drops_u_brings_back_and_p_pins(pilot: "Pilot[int]") -> None:
    item = await go_to(pilot, "read_file tests.py")
    await pilot.press("d")
    await see(pilot, f"Dropped {item.seq:04}. u undoes.", f"[X] {item.seq:04} Tool")
    assert hidden(item) == "dropped"
    await see(pilot, "r restore")
    await pilot.press("u")
    await see(pilot, f"Undone: {item.seq:04}.", f"[✓] {item.seq:04} Tool")
    assert hidden(item) is None
    await pilot.press("u")
    await see(pilot, "Nothing to undo.")
    item = await go_to(pilot, "Money is Decimal")
    await pilot.press("ｐ")  # of an input method
    await see(pilot, f"Pinned {item.seq:04}. u undoes.", "User   pin Money")
    assert item.pinned
    await pilot.press("p")
    await see(pilot, f"Unpinned {item.seq:04}. u undoes.")
    assert not item.pinned


async def test_what_pays_back_late_must_be_asked_for_twice(pilot: "Pilot[int]") -> None:
    item = await go_to(pilot, "Money is Decimal")
    await pilot.press("d")
    await see(pilot, "d again drops it.")
    assert any("Pays off after" in line for line in lines(pilot)), "the reason"
    assert hidden(item) is None
    await pilot.press("down", "up")  # going elsewhere takes the first key back
    await not_see(pilot, "d again drops it.")
    await pilot.press("d")
    await see(pilot, "d again drops it.")
    assert hidden(item) is None
    await pilot.press("d")
    await see(pilot, f"Dropped {item.seq:04}")
    assert hidden(item) == "dropped"
    await pilot.press("r")
    await see(pilot, f"Restored {item.seq:04}. u undoes.")
    assert hidden(item) is None


async def test_e_edits_and_esc_throws_nothing_away_at_once(pilot: "Pilot[int]") -> None:
    item = await go_to(pilot, "Money is Decimal")
    await pilot.press("e")
    await until(pilot, lambda: isinstance(pilot.app.screen, EditScreen))
    await see(pilot, "0002 Money is Decimal, never float", "^s save")
    await pilot.press("X")
    await pilot.press("escape")
    await see(pilot, "esc again discards the changes.")
    await pilot.press("Y")  # typing on cancels leaving
    await see(pilot, "^s save")
    await pilot.press("ctrl+s")
    await see(pilot, "Edited 0002. u undoes.", "User   XYMoney")
    assert item.content == "XYMoney is Decimal, never float"
    await pilot.press("e")
    await until(pilot, lambda: isinstance(pilot.app.screen, EditScreen))
    await pilot.press("Z", "escape", "escape")
    await until(pilot, lambda: not isinstance(pilot.app.screen, EditScreen))
    assert item.content.startswith("XYMoney")
    await pilot.press("u")
    await until(pilot, lambda: item.content == "Money is Decimal, never float")
    await pilot.press("e")
    await until(pilot, lambda: isinstance(pilot.app.screen, EditScreen))
    pilot.app.screen.query_one(TextArea).text = "  "
    await pilot.press("ctrl+s")
    await see(pilot, "A User item needs content.")
    assert len(pilot.app.screen_stack) == 2
    assert item.content == "Money is Decimal, never float"


async def test_a_window_shows_less_or_more(pilot: "Pilot[int]") -> None:
    window = desk_of(pilot).session.windows.windows()[0]
    await go_to(pilot, "todo_1")
    await until(pilot, lambda: any("g Gist" in line and "−" in line for line in lines(pilot)))
    await press_until(pilot, "g", "todo_1 shows Gist now.")  # it pays back late: twice
    await see(pilot, "todo_1  Gist")
    assert window.lod is Lod.GIST
    await pilot.press("plus")
    await until(pilot, lambda: window.lod is Lod.SUMMARY)
    await see(pilot, "todo_1  Summary")


async def test_enter_reads_the_whole_text_and_c_copies_it(pilot: "Pilot[int]") -> None:
    item = await go_to(pilot, "read_file tests.py")
    await pilot.press("c")
    assert pilot.app.clipboard == item.content
    await see(pilot, f"… {len(item.content.splitlines()) - 3} more lines")
    await pilot.press("enter")
    await until(pilot, lambda: isinstance(pilot.app.screen, WholeText))
    await see(pilot, "line 3 of the file")
    await pilot.press("end")
    await see(pilot, "line 599 of the file")
    await pilot.press("escape")
    await until(pilot, lambda: not isinstance(pilot.app.screen, WholeText))
    assert rows(pilot).has_focus


async def test_text_is_selected_with_the_mouse_and_a_drag_is_no_click(
    pilot: "Pilot[int]",
) -> None:
    """X07: a drag that ends on an offer selects, and does not drop the item."""
    item = await go_to(pilot, "Money is Decimal")
    place = rows(pilot).cursor - rows(pilot).scroll_offset.y
    await drag(pilot, rows(pilot), (0, place), (30, place + 1))
    await pilot.press("ctrl+c")
    assert pilot.app.clipboard.startswith("[✓] 0002 User")
    await see(pilot, "Copied 2 lines")
    pilot.app.clear_notifications()
    await not_see(pilot, "Copied")
    detail = pilot.app.screen.query_one(Detail)
    offer = detail.size.height - len(detail._offers) + 1
    await drag(pilot, detail, (0, 3), (3, offer))
    await pilot.press("ctrl+c")
    assert pilot.app.clipboard.startswith("Money is Decimal, never float\n")
    assert "d dr" in pilot.app.clipboard
    assert not item.hidden
    await pilot.click(detail, offset=(3, offer))
    await see(pilot, "d again drops it")


async def test_the_filter_finds_and_says_when_it_does_not(pilot: "Pilot[int]") -> None:
    [system] = [line for line in lines(pilot) if "0001 System" in line]
    await pilot.press("slash", *"work")
    await not_see(pilot, "0002 User")
    assert system in lines(pilot)
    await pilot.press(*["backspace"] * 4, *"600 lines")
    await see(pilot, "The file has 600 lines.")
    await not_see(pilot, "0002 User")
    await pilot.press("enter")
    await until(pilot, lambda: rows(pilot).has_focus)
    await pilot.press("slash", *"xyz")
    await see(pilot, "Nothing matches “xyz”. Esc clears.")
    await pilot.press("escape")
    await see(pilot, "0002 User")
    await until(pilot, lambda: rows(pilot).has_focus)
    await pilot.press("slash", *"tests.py", "enter")
    await until(pilot, lambda: rows(pilot).has_focus)
    item = await go_to(pilot, "Tool   read_file")  # what is found can be changed
    await pilot.press("d")
    await see(pilot, f"[X] {item.seq:04} Tool")


async def test_a_click_selects_twice_reads_and_on_a_price_does_it(pilot: "Pilot[int]") -> None:
    await click_on(pilot, "Tool   read_file")
    await until(pilot, lambda: (row := rows(pilot).item_row) and row.item.tool_name == "read_file")
    await see(pilot, "d drop")
    await click_on(pilot, "d drop")
    await see(pilot, "Dropped")
    row = rows(pilot).item_row
    assert row is not None
    assert row.item.hidden == "dropped"
    await click_on(pilot, "User   Money", times=2)
    await until(pilot, lambda: isinstance(pilot.app.screen, WholeText))


class Slow:
    """Gives its answers, the last one when it is allowed to."""

    name = "slow"

    def __init__(self, *first: Answer) -> None:
        self.go_on, self._first = asyncio.Event(), list(first)

    async def stream(self, request: Any) -> Any:
        if self._first:
            yield self._first.pop(0)
            return
        await self.go_on.wait()
        yield reply("Done.")


async def remember(pilot: "Pilot[int]", desk: AppSession, model: Slow) -> ContextItem:
    """Say something, and go to it in the inspector while the model has not answered."""
    app_of(pilot).main.send("Remember this")
    await until(pilot, lambda: desk.session.context.ledger.under_way and not model._first)
    await pilot.pause(0.1)
    await enter(pilot)
    return await go_to(pilot, "User   Remember this")


@pytest.mark.parametrize("size", SIZES)
async def test_a_change_that_thinking_binds_says_when_it_counts(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    thought: Block = {"type": "thinking", "thinking": "Hm.", "signature": "s"}
    model = Slow(reply(thought, call("create", name="todo", args={"items": ["milk"]})))
    desk = shop(tmp_path, model=model)
    async with running(desk, size) as pilot:
        item = await remember(pilot, desk, model)
        await pilot.press("d")
        await see(pilot, f"Drops {item.seq:04} after the turn. u undoes.")
        await see(pilot, f"[X] {item.seq:04} User", "dropped, until the turn ends")
        assert hidden(item) == "dropped"
        await pilot.press("down")
        await see(pilot, "Goes after the turn, rent so far 0.")
        model.go_on.set()
        await not_see(pilot, "until the turn ends")
        await see(pilot, f"[X] {item.seq:04} User")


def is_old(block: PlacedBlock) -> bool:
    return bool(block.reason)


@pytest.mark.parametrize("size", SIZES)
async def test_outdated_blocks_are_dimmed_sub_rows(tmp_path: Path, size: tuple[int, int]) -> None:
    def add(text: str) -> Answer:
        params = {"text": text}
        return reply(call("action", window_id="todo_1", action_id="add", params=params))

    answers = (add("eggs"), reply("Added."), add("bread"), reply("Added too."), reply("Fine."))
    async with inspecting(tmp_path, *answers, size=size) as (pilot, desk):
        await say(pilot, "add eggs")
        await say(pilot, "add bread")
        context = desk.session.context
        old = [one for one in context.placed(context.outlook()) if one.reason]
        assert len(old) == 2
        carried = short(context.counter.calibrated(sum(one.tokens for one in old)))
        await see(pilot, f"outdated {carried}, kept for the cache")
        await go_to(pilot, "╰ outdated: todo_1  old version" if size == (80, 24) else "╰ ")
        await see(pilot, "╰ ", "todo_1  old version")
        await see(pilot, "Kept for the cache, rent so far ")
        detail = visible_text(inspector(pilot).query_one(Detail))
        assert "<Window" in detail or size == (80, 24)
        assert not any(key in detail for key in ("d drop", "e edit"))
        before = context.ledger.generation
        await pilot.press("g", "e")  # an old version cannot be changed
        assert context.ledger.generation == before
        assert "d sweep" in detail  # with its price
        foreseen = context.forecast("sweep", [])
        assert foreseen is not None
        # What replaces them has its list of actions again.
        assert -sum(one.tokens for one in old) <= foreseen.each < 0 < foreseen.once
        await pilot.press("d")
        await see(pilot, "d again sweeps all that is outdated.")
        assert context.ledger.generation == before
        await pilot.press("d")
        await until(pilot, lambda: not any(map(is_old, context.placed(context.outlook()))))
        row = rows(pilot).item_row
        assert row is not None
        assert row.item.content == "todo_1"  # X19: the cursor stays with the window
        generation = context.ledger.generation
        await pilot.press("d")
        await see(pilot, "d again drops it.")
        assert context.ledger.generation == generation
        await say(pilot, "Thanks")
        assert not any(map(is_old, context.placed(context.outlook())))


async def test_a_file_is_shown_as_the_model_has_it_whole_or_as_a_gist(tmp_path: Path) -> None:
    reads = (reply(call("read_file", path=f"{number}.py")) for number in range(10))
    answers, wide = (*reads, reply("Read."), reply("Fine.")), options(budget=200_000)
    async with inspecting(tmp_path, *answers, options=wide) as (pilot, desk):
        item = await go_to(pilot, "read_file tests.py")
        await see(pilot, "turn 3, cached", "line 2 of the file")
        for number in range(10):
            (tmp_path / "work" / f"{number}.py").write_text(LONG)
        await say(pilot, "Read the rest")
        await say(pilot, "Thanks")
        await enter(pilot)
        await go_to(pilot, f"{item.seq:04} Tool")
        assert item.shown_gist
        size = tokens(item.content, desk.session.context.counter)
        await see(pilot, "read_f…  of ", f"turn 3, gist of {size}", "╰ a gist replaces it")
        await see(pilot, item.shown_gist[:20])
        await pilot.press("enter")
        await see(pilot, "── the gist, which the model reads: ", f"── the whole text: {size}")
        await pilot.press("escape")
        await see(pilot, "g Full")
        await pilot.press("g")  # it costs nothing: requests still have all of it
        await see(pilot, f"{item.seq:04} is shown in full. u undoes.")
        await not_see(pilot, "read_f…  of ")
        assert desk.session.context.is_whole(item)


async def test_it_speaks_chinese(tmp_path: Path) -> None:
    async with inspecting(tmp_path, lang="zh") as (pilot, _):
        await pilot.press("home")
        await see(pilot, "上下文", "条目  请求  用量  日志", "── 已缓存 ─", "0002 用户")
        item = await go_to(pilot, "read_file tests.py")
        await see(pilot, "每轮", "一次", "回本", "d 移除", "第 3 轮，已缓存")
        await pilot.press("d")
        await see(pilot, f"已移除 {item.seq:04}，u 撤销。")


async def test_at_the_start_there_is_only_the_prompt_then_calls_show_what_they_do(
    tmp_path: Path,
) -> None:
    add = call("action", window_id="todo_1", action_id="add", params={"text": "eggs"})
    async with running(shop(tmp_path, add, "Added.")) as pilot:
        await enter(pilot)
        await see(pilot, "This is all the model sees so far.", "[✓] 0001 System", "System prompt")
        assert not any("── cached" in line or "cached ─" in line for line in lines(pilot))
        await talk(pilot)
        await say(pilot, "add eggs")
        await enter(pilot)
        await see(pilot, "Tool   create todo milk", "Tool   todo_1.add eggs")
        await see(pilot, "Assist 1 call: todo_1.add")
