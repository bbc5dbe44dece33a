"""What a session used and cost: /cost."""

from pathlib import Path

import pytest
from textual.pilot import Pilot

from contextui.agent.models.anthropic import AnthropicModel
from contextui.agent.models.scripted import ScriptedModel, call
from contextui.agent.models.servers import Rates
from contextui.model import Answer
from contextui.tokens import Usage
from contextui.tui.inspector.edit import Changing
from contextui.tui.inspector.usage import TurnUsage, UsagePage
from contextui.words import Words
from tests.tui.running import app_of, desk_in, lines, running, say, shown, until


def answered(text: str) -> Answer:
    usage = Usage(400, 120, 10_700, 40)
    return Answer(({"type": "text", "text": text},), "end_turn", usage)


class Priced(ScriptedModel):
    """A model with prices."""

    def cost(self, usage: Usage) -> float:
        return usage.output_tokens / 1_000


async def cost(pilot: "Pilot[int]", turns: str) -> str:
    """What /cost shows, after so many turns."""
    session = f"This session, {turns}:"
    app_of(pilot).main.run_command("/cost")
    await until(pilot, lambda: shown(pilot, session))
    text = " ".join(" ".join(one[:78] for one in lines(pilot)).split())
    before, _, after = text.rpartition(session)
    return f"{before.rpartition('Last turn')[2]} {after.partition('╭')[0]}"


async def test_tokens_and_cost_of_turn_and_session(tmp_path: Path) -> None:
    """Without prices and a cache neither is named; costs stay when the model changes."""
    use = Answer((call("list_windows"),), "tool_use", Usage(400, 120, 10_700, 40))

    desk = desk_in(tmp_path, model=ScriptedModel(use, answered("A.")))
    desk.session.use_model("offline")
    async with running(desk) as pilot:
        app_of(pilot).main.run_command("/cost")
        await until(pilot, lambda: shown(pilot, "Nothing sent yet."))
        await say(pilot, "one")
        text = await cost(pilot, "1 turn")
        assert "22,280 tokens sent in 2 requests, 240 answered" in text
        assert "The offline model is free." in text
        assert "$" not in text
        assert "cache" not in text

        desk.session.use_model("openai/gpt-x")
        desk.controller.model = Priced(answered("B."), answered("C."))
        await say(pilot, "two")
        await say(pilot, "three")
        text = await cost(pilot, "3 turns")
        assert "11,140 tokens sent, 10,700 of them from the cache, 120 answered" in text
        assert "$0.120" in text
        assert "44,560 tokens sent" in text
        assert "$0.24" in text
        desk.controller.model = ScriptedModel(answered("D."))
        await say(pilot, "four")
        text = await cost(pilot, "4 turns")
        assert "$0.24" in text
        assert "$0.36" not in text
        await pilot.resize_terminal(160, 50)
        await until(pilot, lambda: any("$0.24" in one[100:] for one in lines(pilot)))


def test_the_usage_page_has_money_only_with_prices() -> None:
    page = UsagePage(Words("en"))
    turns = [
        TurnUsage(1, 0, 1_000, 10, 20, cost=0.0105),
        TurnUsage(2, 9_000, 100, 10, 20, cost=0.004),
    ]
    page.show_turns(turns, cost_of=lambda usage: usage.input_tokens / 100_000)
    assert page._summary(100) == "$0.01 for 2 turns   $0.10 without the cache   86% saved"
    assert page._summary(40) == "$0.01 for 2 turns, 86% saved"
    wide, narrow = (page._fitting_columns(width)[-1][0] for width in (100, 40))
    assert wide.name == narrow.name == "cost"
    assert wide.figure(turns[0]) == "$0.011"
    page.show_turns([TurnUsage(1, 0, 1_000, 10, 20, requests=2)])
    assert page._summary(100).startswith("1 turn   ")
    columns = [column for column, _ in page._fitting_columns(100)]
    assert "$" not in page._summary(100) + "".join(one.figure(page._turns[0]) for one in columns)


def test_a_change_has_its_price_in_dollars(tmp_path: Path) -> None:
    desk = desk_in(tmp_path, model=Priced())
    assert desk.rewrite_cost(1_000) == 0  # output is all that this model charges for
    model = AnthropicModel("m", api_key="k", base_url="http://127.0.0.1:9")
    model.rates = Rates(2.0, 10.0, 0.1, 2.5)
    desk.controller.model = model
    assert desk.rewrite_cost(1_000_000) == pytest.approx(2.4)
    changing = Changing(
        desk.session.context, Words("en"), lambda _: None, lambda: 0, desk.rewrite_cost
    )
    assert changing.cost_text(10_000) == " ($0.024)"
    assert changing.cost_text(0) == ""
    model.rates = None
    assert changing.cost_text(10_000) == ""
    desk.close()
