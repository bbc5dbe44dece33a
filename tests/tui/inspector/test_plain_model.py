"""A model without a prompt cache: no page mentions one, nor what it saves or costs."""

import asyncio
import re
from pathlib import Path

import pytest

from contextui.agent.models.offline import OfflineModel
from contextui.agent.models.scripted import ScriptedModel, call
from contextui.model import LOCAL_PRICES, NO_CACHE, Answer, Block, CachePrices
from contextui.tokens import Usage
from contextui.tui.inspector.pane import Inspector
from contextui.tui.inspector.sweeps import sweep_of
from contextui.tui.inspector.usage import Spending
from contextui.words import Lang
from tests.tui.running import desk_in, lines, running, say, shown, until

WORDS = re.compile(
    r"cache|paid|billed|price|rent \d|sweep|swept|saved|break|\$\d|"
    "缓存|付费|租|清理|节省|回本|全价",
    re.IGNORECASE,
)


def mentioned(rows: list[str], folder: Path) -> list[str]:
    """The lines that mention a cache or payment."""
    return [row for row in rows if WORDS.search(row.replace(str(folder), ""))]


@pytest.mark.parametrize(("lang", "size"), [("en", (120, 40)), ("zh", (200, 60))])
def test_offline_no_page_mentions_a_cache_or_payment(
    tmp_path: Path, lang: Lang, size: tuple[int, int]
) -> None:
    async def talk() -> None:
        desk = desk_in(tmp_path, model=OfflineModel(), lang=lang)
        desk.is_offline = True
        async with running(desk, size, lang) as pilot:
            await say(pilot, "make a todo list with milk and eggs")
            await pilot.press("ctrl+g", "i", "end")  # each row offers its changes
            for _ in range(6):
                await pilot.press("up")
                await pilot.pause(0.06)
                assert mentioned(lines(pilot), tmp_path) == []
            assert shown(pilot, "each turn" if lang == "en" else "每轮")
            await say(pilot, "add bread")
            await say(pilot, "mark milk as done")
            assert mentioned(lines(pilot), tmp_path) == []
            inspector = pilot.app.screen.query_one(Inspector)
            for page in ("Items", "Request", "Usage", "Log"):
                inspector._turn_to(page)
                await pilot.pause(0.3)
                found = lines(pilot)
                if page == "Request":  # the system prompt is shown there as it is sent
                    found = [row for row in found if "─" in row or "━" in row]
                assert mentioned(found, tmp_path) == [], page
            inspector._turn_to("Usage")
            await until(pilot, lambda: shown(pilot, "3 turns" if lang == "en" else "3 轮"))

    asyncio.run(talk())


def test_nothing_old_is_kept(tmp_path: Path) -> None:
    class Plain(ScriptedModel):
        prices = NO_CACHE

    def adding(text: str) -> Block:
        return call("action", window_id="todo_1", action_id="add", params={"text": text})

    steps = (call("create", name="todo"), "1", adding("milk"), "2", adding("eggs"), "3", "4")

    async def talk() -> None:
        desk = desk_in(tmp_path, model=Plain(*steps))
        async with running(desk) as pilot:
            for words in ("a list", "milk", "eggs"):
                await say(pilot, words)
            await until(pilot, lambda: not shown(pilot, "outdated"))
            assert mentioned(lines(pilot), tmp_path) == []
            await say(pilot, "and?")
            request = desk.controller.model.requests[-1]  # type: ignore[attr-defined]
            text = str(request.messages)
            assert text.count("<Window id=") == 1
            assert "<item" in text

    asyncio.run(talk())


@pytest.mark.parametrize(
    ("prices", "has"),
    [(CachePrices(), True), (LOCAL_PRICES, True), (NO_CACHE, False), (CachePrices(1, 1), False)],
)
def test_a_cache_is_one_that_is_cheaper_to_read(prices: CachePrices, has: bool) -> None:
    assert prices.has_cache is has


def test_a_sweep_of_a_request_without_a_cache_is_not_reported() -> None:
    sweep = {"reason": "cold", "saved": 10}
    assert sweep_of({"sweep": sweep, "plain": 900, "read": 0, "written": 0}, lambda _: None) is None
    assert sweep_of({"sweep": sweep, "plain": 0, "read": 9, "written": 9}, lambda _: None)
    assert sweep_of({"sweep": sweep}, lambda _: None)  # a log of an earlier version


def test_the_head_shows_what_the_session_cost_if_prices_are_known(tmp_path: Path) -> None:
    usage = Usage(1_000, 200, cache_read_input_tokens=9_000)
    answer = Answer(({"type": "text", "text": "Yes."},), usage=usage)

    class Priced(ScriptedModel):
        def cost(self, usage: Usage) -> float:
            return usage.output_tokens / 1_000

    async def talk() -> None:
        async with running(desk_in(tmp_path, model=Priced(answer, answer))) as pilot:
            await say(pilot, "Is it?")
            await until(pilot, lambda: shown(pilot, "$0.20"))
            await say(pilot, "Again?")
            await until(pilot, lambda: shown(pilot, "$0.40"))
            head = next(row for row in lines(pilot) if "$0.40" in row)
            assert re.search(r"Context +~\S+ / \S+ +\d+% +\$0\.40$", head)

    asyncio.run(talk())


def test_the_cost_of_turns_whose_usage_is_not_known_is_not_guessed() -> None:
    spending = Spending()
    spending.spend(1, Usage(), 500)
    assert spending.cost is None
    spending.spend(2, Usage(10, 20, 30, 40, cost=0.5), 0)
    spending.spend(2, Usage(10, 20, 30, 40, cost=0.25), 0)
    spending.spend(3, Usage(10, 20, 30, 40), 0)  # of a model without prices
    assert spending.cost == 0.75


def test_a_model_with_a_cache_still_shows_it(tmp_path: Path) -> None:
    opening = call("create", name="todo", args={"items": ["milk"]})

    async def talk() -> None:
        async with running(desk_in(tmp_path, [opening], "Here.", "Yes.")) as pilot:
            await say(pilot, "Make a list.")
            await say(pilot, "Good?")
            await pilot.pause(0.1)
            assert mentioned(lines(pilot), tmp_path) != []

    asyncio.run(talk())
