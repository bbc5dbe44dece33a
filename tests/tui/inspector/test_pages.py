"""Request, usage, log, and the way between the pages; earlier turns."""

import json
import re
import time
from pathlib import Path

import pytest
from textual.pilot import Pilot

from contextui.agent.models.scripted import call
from contextui.model import Answer, ModelError
from contextui.tokens import Usage
from contextui.tui.app_session import Changes
from contextui.tui.dialogs.whole_text import WholeText
from contextui.tui.inspector.history import read_past
from contextui.tui.inspector.log import LogList
from contextui.tui.inspector.parts import Part
from contextui.tui.inspector.request import Outline
from contextui.windowing.finding.registry import WindowEntry
from tests.agent.talking import options
from tests.tui.inspector.scene import (
    LONG,
    SIZES,
    click_on,
    enter,
    finished,
    go_to,
    inspecting,
    inspector,
    not_see,
    reply,
    rows,
    screen,
    see,
    shop,
    talk,
)
from tests.tui.running import desk_in, desk_of, lines, running, say, shown, until

pytestmark = pytest.mark.long


@pytest.mark.parametrize("size", SIZES)
async def test_the_brackets_turn_pages_and_focus_stays_within(pilot: "Pilot[int]") -> None:
    for texts in (["parts"], ["■ answered", "outdated"], ["No warnings."]):
        await pilot.press("right_square_bracket")
        await see(pilot, *texts)
        assert inspector(pilot).has_focus_within
    await pilot.press("right_square_bracket")
    await until(pilot, lambda: rows(pilot).has_focus)
    await pilot.press("left_square_bracket")
    await see(pilot, "No warnings.")
    await pilot.press("ctrl+g", "p")
    await until(pilot, lambda: not inspector(pilot).has_focus_within)
    await pilot.press("ctrl+g", "i")
    await until(pilot, lambda: inspector(pilot).has_focus_within)
    assert not rows(pilot).has_focus  # its keys drop items
    await click_on(pilot, "Usage")
    await see(pilot, "■ answered")


async def test_a_page_shows_its_cursor_also_if_its_size_was_asked_for_before_it_was_laid_out(
    pilot: "Pilot[int]",
) -> None:
    await pilot.press("right_square_bracket")
    await see(pilot, "parts", "1 result")
    outline = inspector(pilot).query_one(Outline)
    outline.choose(11)
    inspector(pilot)._turn_to("Items")
    await pilot.resize_terminal(80, 24)
    inspector(pilot)._turn_to("Request")
    compositor = pilot.app.screen._compositor
    compositor._full_map_invalidated = True  # as after something has scrolled
    assert compositor.full_map
    assert outline.cursor == 12
    await until(pilot, lambda: outline.scroll_offset.y + outline.size.height > 12)


async def read_parts(pilot: "Pilot[int]", last: str) -> str:
    """Go through the parts of the request up to one, and return all that was on the screen."""
    await pilot.press("right_square_bracket")
    await see(pilot, "parts", "turn 4, not sent yet", "kB")
    await pilot.press("home")
    await see(pilot, "tools", '"name": "create"')
    outline, seen = inspector(pilot).query_one(Outline), screen(pilot)
    for _ in range(30):
        await pilot.press("down")
        seen += screen(pilot)
        if outline.row is not None and outline.row.text == last:
            break
    assert outline.row is not None
    assert outline.row.text == last
    return seen


@pytest.mark.parametrize("size", SIZES)
async def test_the_request_shows_its_parts_and_where_the_cache_ends(pilot: "Pilot[int]") -> None:
    seen = await read_parts(pilot, "The file has 600 lines.")
    assert "─ cache ends here ─" in seen
    assert "1 result  todo_" in seen  # the window that the call opened is inside of its result
    assert "+ new  ~ changed" in seen
    outline, part = inspector(pilot).query_one(Outline), Part("100 assistant", "text", "", [], 0)
    outline.show([part] * 99)
    await until(pilot, lambda: outline.show_vertical_scrollbar)
    # X29, X45: role and text touched, and figures the scrollbar.
    assert re.search(r"100 assistant text .* \d+ $", outline.render_line(0).text)


async def test_where_the_cache_ends_is_what_the_plan_says(tmp_path: Path) -> None:
    """After five minutes nothing is cached any more; the request says so too."""
    async with inspecting(tmp_path) as (pilot, desk):
        await see(pilot, "── cached ─")
        priced = desk.session.context.ledger.priced
        assert priced is not None
        priced._clock = lambda: time.time() + 301
        inspector(pilot)._look()
        await not_see(pilot, "── cached ─")
        await pilot.press("right_square_bracket")
        await see(pilot, "parts")
        assert not any("cache ends here" in line for line in lines(pilot))


@pytest.mark.parametrize("size", SIZES)
async def test_every_part_of_a_large_request_can_be_read_whole(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    """Nothing of a request of 100 items is folded, and a long line is not cut."""
    desk = desk_in(tmp_path, "Fine.", options=options(budget=60_000))
    finished(desk, 120)
    async with running(desk, size) as pilot:
        await say(pilot, f"{LONG} {'and so on ' * 40}to the end")
        await enter(pilot)
        await pilot.press("right_square_bracket")
        await see(pilot, "Fine.", "parts")
        outline = inspector(pilot).query_one(Outline)
        assert len(outline.rows) > 122
        await see(pilot, "↑↓ part  enter whole text  x raw bytes  c copy")
        await pilot.press("up", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, WholeText))
        await pilot.press("end")
        await see(pilot, "line 599 of the file", "to the end")


async def test_x_shows_the_exact_bytes_and_c_copies_a_part(pilot: "Pilot[int]") -> None:
    await pilot.press("right_square_bracket", "home")
    await see(pilot, "parts")
    await pilot.press("c")
    assert json.loads(pilot.app.clipboard)[0]["name"] == "create"
    await pilot.press("x")
    await until(pilot, lambda: isinstance(pilot.app.screen, WholeText))
    await see(pilot, '{"model":"scripted","max_tokens":8192,"tools":[')
    await pilot.press("c")
    body = json.loads(pilot.app.clipboard)
    assert body["messages"][0]["content"][0]["text"] == "Money is Decimal, never float"
    await pilot.press("x")
    await until(pilot, lambda: not isinstance(pilot.app.screen, WholeText))


@pytest.mark.parametrize("size", [(200, 60)])
async def test_usage_shows_what_each_turn_cost(pilot: "Pilot[int]") -> None:
    await pilot.press("z", "right_square_bracket", "right_square_bracket")
    await see(pilot, "3 turns   ", "% cached")
    table = [line.split() for line in lines(pilot) if line.strip()[:2] in ("1 ", "2 ", "3 ")]
    assert ["1", "0", "·", "1,330", "180"] in [row[:5] for row in table]
    await pilot.press("down", "down", "enter")  # a turn in the table leads to its request
    await see(pilot, "Turn 1 of 3, as it was sent.", "turn 1, sent")


async def test_the_log_shows_what_went_wrong(tmp_path: Path) -> None:
    failure = ModelError("bad_request", "The request was refused.")
    desk = desk_in(tmp_path, failure)
    desk.registry._entries.append(
        WindowEntry("deploy", "./deploy.py", "broken", "syntax error, line 3")
    )
    desk.notices.append("A newer version is out.")
    async with running(desk) as pilot:
        await say(pilot, "hello")
        assert any("Log•" in line for line in lines(pilot))
        await enter(pilot)
        await pilot.press("left_square_bracket")
        await see(pilot, "[X] deploy: syntax error", "A newer version is out.")
        await see(pilot, "The request was refused.", "enter whole text  / filter  c copy")
        await pilot.press("c")
        assert "[X] deploy: syntax error, line 3" in pilot.app.clipboard
        log = inspector(pilot).query_one(LogList)
        await pilot.press("slash", *"error")  # X26: the log had no cursor, filter or detail
        await see(pilot, "2 of 3")
        assert {entry.kind for entry in log.rows} == {"error"}
        await pilot.press("enter", "up", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, WholeText))
        await see(pilot, "[X] deploy: syntax error, line 3")
        await pilot.press("escape", "slash", *"xyz")
        await see(pilot, "Nothing matches “xyz”.")
        await pilot.press("escape")
        await until(pilot, lambda: len(log.rows) == 3)
        assert not any("Log•" in line for line in lines(pilot))
        for _ in range(3):
            inspector(pilot).take(Changes(troubles=["todo_1 is late"]))
        await see(pilot, "todo_1 is late  ×3")
        assert log.rows[-1].kind == "error"


@pytest.mark.parametrize("size", SIZES)
async def test_sweeps_are_logged_with_reason_rent_and_price(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    more = reply("Fine.", usage=Usage(20, 30, 1_200, 6_400))
    last = reply("Good.", usage=Usage(20, 30, 7_600, 40))
    async with inspecting(tmp_path, more, last, size=size) as (pilot, desk):
        item = await go_to(pilot, "Money is Decimal")
        await pilot.press("d", "d")
        await say(pilot, "go on")
        assert not any("Log•" in line for line in lines(pilot))  # a sweep is no warning
        request = desk.session.context.last_request
        assert request is not None
        assert request.plan is not None
        sweep = request.plan.facts["sweep"]
        await enter(pilot)
        await pilot.press("left_square_bracket")
        rent, price = round(sweep["rent"]), round(sweep["price"])
        await see(pilot, f"Sweep: you dropped {item.seq:04}")
        await pilot.press("enter")
        await see(pilot, f"rent {rent:,}, price {price:,} tokens")
        await pilot.press("escape")
        assert price > rent > 0
        await pilot.press("c")
        assert f"rent {rent:,}, price {price:,} tokens" in pilot.app.clipboard
        await pilot.press("left_square_bracket")
        await see(pilot, "▼")
        await pilot.press("z")
        reason = f"outdated: you dropped {item.seq:04}"
        await until(pilot, lambda: size[0] < 100 or shown(pilot, reason))
        assert shown(pilot, "1 sweep")
    past = read_past(desk.session.path)
    assert [one.cause for one in past.turns[-1].sweeps] == [f"{item.seq:04}"]
    desk = shop(tmp_path, session_id=desk.session.id)
    desk.session.context.counter.ratio = 1.5  # X26: the figures stay, whatever the next answer says
    async with running(desk, size) as pilot:
        await enter(pilot)
        await pilot.press("left_square_bracket")
        await see(pilot, f"Sweep: you dropped {item.seq:04}")
        await pilot.press("enter")
        await see(pilot, f"rent {rent:,}, price {price:,} tokens")


@pytest.mark.parametrize("size", SIZES)
async def test_usage_shows_what_was_carried_though_outdated(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    def add(text: str) -> Answer:
        made = call("action", window_id="todo_1", action_id="add", params={"text": text})
        return reply(made, usage=Usage(20, 30, 7_600, 40))

    done = reply("Added.", usage=Usage(20, 30, 7_700, 40))
    desk = shop(tmp_path, add("eggs"), done, add("bread"), done)
    async with running(desk, size) as pilot:
        await talk(pilot)
        await say(pilot, "add eggs")
        await say(pilot, "add bread")
        await enter(pilot)
        await pilot.press("right_square_bracket", "right_square_bracket")
        await see(pilot, "■ answered", "■ outdated")
        watch = inspector(pilot)._watch
        carried = desk.session.context.counter.calibrated(watch.spending.turns[-1].outdated)
        assert carried > 200
        newest = [line.split() for line in lines(pilot) if " 15,300 " in line]
        assert f"{carried:,}" in newest[0]
    assert read_past(desk.session.path).turns == watch.spending.turns


@pytest.mark.parametrize("size", SIZES)
async def test_earlier_turns_are_shown_as_they_were(
    size: tuple[int, int], pilot: "Pilot[int]"
) -> None:
    await pilot.press("comma")
    await see(pilot, "Turn 3 of 3, as it was sent. End")
    await pilot.press("comma")
    await see(pilot, "Turn 2 of 3, as it was sent. End")
    assert not shown(pilot, "cached ─")
    await not_see(pilot, "Read the tests" if size[0] < 100 else "Tool   read_file")
    await pilot.press("comma")
    await see(pilot, "Turn 1 of 3, as it was sent. End")
    await not_see(pilot, "Window todo_1")
    await not_see(pilot, "Assist Noted.")  # the answer was not part of the request
    await pilot.press("comma")
    await see(pilot, "There is no earlier turn.", "Turn 1 of 3")
    await pilot.press("home", "down", "d", "d", "p")  # editing is off
    assert not any(one.hidden or one.pinned for one in desk_of(pilot).session.context.get_all())
    await pilot.press("full_stop")
    await see(pilot, "Turn 2 of 3", "Window todo_1")
    await pilot.press("end")
    await not_see(pilot, "as it was sent")
    await pilot.press("end")
    await see(pilot, "Window todo_1  Full")


async def test_a_full_context_is_shown_in_the_head(tmp_path: Path) -> None:
    async with running(desk_in(tmp_path, "One.", options=options(budget=2_000))) as pilot:
        await say(pilot, "hello " * 900)
        head = next(line for line in lines(pilot) if "/ 2k" in line)
        assert int(head.rsplit(maxsplit=1)[-1].rstrip("%")) >= 80


async def test_nothing_is_looked_at_that_nobody_sees(tmp_path: Path) -> None:
    add = call("action", window_id="todo_1", action_id="add", params={"text": "eggs"})
    async with running(shop(tmp_path, add, reply("Done.")), (120, 40)) as pilot:
        await talk(pilot)
        await pilot.press("f2")
        await until(pilot, lambda: not inspector(pilot).display)
        count = rows(pilot).count
        await say(pilot, "add eggs")
        assert rows(pilot).count == count
        await pilot.press("f2")
        await until(pilot, lambda: rows(pilot).count > count)
