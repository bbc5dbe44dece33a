"""A model without a prompt cache: no page mentions one, nor what it saves or costs."""

import re
from pathlib import Path

import pytest

from contextui.agent.models.offline import OfflineModel
from contextui.agent.models.scripted import ScriptedModel, call
from contextui.agent.prompt import install
from contextui.model import NO_CACHE, Answer, Block, CachePrices
from contextui.session.usage import planned
from contextui.tokens import Usage
from contextui.tui.inspector.pane import Inspector
from contextui.tui.inspector.usage import Spending, sweep_of, total_cost
from tests.agent.talking import controller, run
from tests.tui.running import desk_in, lines, running, say, shown, until
from tests.tui.test_cost import Priced

WORDS = re.compile(r"cache|paid|billed|price|rent \d|sweep|swept|saved|break|\$\d", re.IGNORECASE)


async def test_offline_no_page_mentions_a_cache_or_payment(tmp_path: Path) -> None:
    desk = desk_in(tmp_path, model=OfflineModel())
    desk.session.use_model("offline")
    async with running(desk) as pilot:

        def mentioned(rows: list[str]) -> list[str]:
            return [row for row in rows if WORDS.search(row.replace(str(tmp_path), ""))]

        await say(pilot, "make a todo list with milk and eggs")
        await say(pilot, "mark milk as done")
        await pilot.press("ctrl+g", "i", "end")  # each row offers its changes
        for _ in range(3):
            await pilot.press("up")
            assert mentioned(lines(pilot)) == []
        await until(pilot, lambda: shown(pilot, "each turn"))
        assert mentioned(lines(pilot)) == []
        inspector = pilot.app.screen.query_one(Inspector)
        for page, sign in (
            ("Request", "parts"),
            ("Usage", "2 turns"),
            ("Log", "No warnings."),
            ("Items", "each turn"),
        ):
            inspector._turn_to(page)
            await until(pilot, lambda sign=sign: shown(pilot, sign))  # type: ignore[misc]
            found = lines(pilot)
            if page == "Request":  # the system prompt is shown there as it is sent
                found = [row for row in found if "─" in row or "━" in row]
            assert mentioned(found) == [], page


@pytest.mark.parametrize(("kept", "count"), [(CachePrices(), 3), (NO_CACHE, 1)])
def test_without_a_cache_nothing_old_is_kept(kept: CachePrices, count: int) -> None:
    class Plain(ScriptedModel):
        prices = kept

    def adding(text: str) -> Block:
        return call("action", window_id="todo_1", action_id="add", params={"text": text})

    model = Plain(call("create", name="todo"), "1", adding("milk"), "2", adding("eggs"), "3", "4")
    talk = controller(model=model)
    install(talk.context, "You help. " * 600)  # more than the least that is cached
    for words in ("a list", "milk", "eggs", "and?"):
        run(talk, f"{words} " + "so much more " * 500)  # what follows a window costs more than it
    text = str(model.requests[-1].messages)
    assert text.count("<Window id=") == count
    assert "eggs</item>" in text


def test_a_sweep_of_a_request_without_a_cache_is_not_reported() -> None:
    sweep = {"reason": "cold", "saved": 10}
    assert (
        sweep_of(planned({"sweep": sweep, "plain": 900, "read": 0, "written": 0}), lambda _: None)
        is None
    )
    assert sweep_of(planned({"sweep": sweep, "plain": 0, "read": 9, "written": 9}), lambda _: None)
    assert sweep_of(planned({"sweep": sweep}), lambda _: None)  # a log of an earlier version


async def test_the_head_shows_what_the_session_cost_if_prices_are_known(tmp_path: Path) -> None:
    usage = Usage(1_000, 200, cache_read_input_tokens=9_000)
    answer = Answer(({"type": "text", "text": "Yes."},), usage=usage)
    opening = call("create", name="todo", args={"items": ["milk"]})

    async with running(desk_in(tmp_path, model=Priced([opening], answer, answer))) as pilot:
        await say(pilot, "Is it?")
        await until(pilot, lambda: shown(pilot, "$0.20"))
        await say(pilot, "Again?")
        await until(pilot, lambda: shown(pilot, "$0.40"))
        await until(pilot, lambda: shown(pilot, "── not cached ─"))  # this model has a cache
        head = next(row for row in lines(pilot) if "$0.40" in row)
        assert re.search(r"Context +~\S+ / \S+ +\d+% +\$0\.40$", head)


def test_the_cost_of_turns_whose_usage_is_not_known_is_not_guessed() -> None:
    spending = Spending()
    spending.spend(1, Usage(), 500)
    assert total_cost(spending.turns) is None
    spending.spend(2, Usage(10, 20, 30, 40, cost=0.5), 0)
    spending.spend(2, Usage(10, 20, 30, 40, cost=0.25), 0)
    spending.spend(3, Usage(10, 20, 30, 40), 0)  # of a model without prices
    assert total_cost(spending.turns) == 0.75
