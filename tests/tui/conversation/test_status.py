"""The line below an answer, and the status of a turn in the prompt's border."""

import time
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from contextui.agent.approval import Decision, Question
from contextui.agent.models.scripted import ScriptedModel, call
from contextui.events import (
    CallFinished,
    CallStarted,
    Notice,
    StepStarted,
    TurnFinished,
    TurnStarted,
    UsageSpent,
)
from contextui.model import LOCAL_PRICES, NO_CACHE, Answer, CachePrices
from contextui.tokens import Usage
from contextui.tui.conversation.entries import Called, CallLine, TurnLine, made_of
from contextui.tui.conversation.pane import Conversation
from contextui.tui.conversation.status import TurnStatus, figures
from contextui.words import Words
from tests.tui.running import desk_in, lines, running, say, shown
from tests.tui.sharing import SharedChat


@pytest.mark.parametrize(
    ("took", "en", "zh"),
    [
        ((14, 3, 0.96, 0.01), "14s   3 calls   96% cached   $0.010",
         "14 秒   3 个调用   96% 已缓存   $0.010"),
        ((0.42, 1, None, None), "0.4s   1 call", "0.4 秒   1 个调用"),
        ((125, 0, 0.0, None), "2m 05s   0% cached", "2 分 05 秒   0% 已缓存"),
        ((12, 0, None, 0.0), "12s", "12 秒"),  # free, or no price known: no money
        ((12, 0, None, 0.0001), "12s   <$0.001", "12 秒   <$0.001"),
    ],
)  # fmt: skip
def test_a_line_says_what_is_known_and_nothing_else(
    took: tuple[Any, ...], en: str, zh: str
) -> None:
    seconds, calls, cached, cost = took
    spent = Usage(cost=cost)
    turn = TurnFinished("done", seconds=seconds, calls=calls, cached=cached, usage=spent)
    assert (figures(turn, Words("en")), figures(turn, Words("zh"))) == (en, zh)


async def test_the_time_of_a_turn_excludes_waiting_for_the_person(tmp_path: Path) -> None:
    async def think(_: Question) -> Decision:
        gate.waited += 1_000  # as if they had gone out for lunch
        return Decision("no")

    init = call("action", window_id="git_1", action_id="init")
    desk = desk_in(tmp_path, [call("create", name="git"), init], "Done.")
    gate = desk.controller.tools.gate
    gate.ask = think
    end = [event async for event in desk.controller.run_turn("go")][-1]
    assert isinstance(end, TurnFinished)
    assert end.seconds < 1_000
    assert (end.calls, end.cached) == (2, None)
    # A turn that was stopped before any answer has no line.
    assert [*made_of(TurnFinished("stopped"), Words("en"))] == [Notice("Stopped.")]
    desk.close()


class Priced(ScriptedModel):
    prices = CachePrices()

    def cost(self, usage: Usage) -> float:
        return usage.output_tokens / 1_000


class Broken(ScriptedModel):
    def cost(self, usage: Usage) -> float:
        raise RuntimeError("no idea")


async def test_a_save_that_was_allowed_says_so_with_its_lines(tmp_path: Path) -> None:
    allowed = "◇ you allowed it"
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "a.txt").write_text("one\ntwo\n")
    opening = call("create", name="editor", args={"path": "a.txt"})
    edit = {"old": "two\n", "new": "2\n3\n"}
    editing = call("action", window_id="editor_1", action_id="replace", params=edit)
    saving = call("action", window_id="editor_1", action_id="save")
    model = Priced([opening], [editing], [saving], "Saved.")

    async def yes(question: Question) -> Decision:
        return Decision("once")

    async with running(desk_in(tmp_path, model=model)) as pilot:
        pilot.app.desk.controller.tools.gate.ask = yes  # type: ignore[attr-defined]
        await say(pilot, "Save it.")
        saves = [one for one in pilot.app.screen.query(CallLine) if "save" in one.entry.title]
        assert saves[0].entry.end is not None
        assert saves[0].entry.end.allowed
        row = next(one for one in lines(pilot) if "✓ editor_1.save" in one)
        assert "+2 -1" in row
        assert allowed in row
        row = next(one for one in lines(pilot) if "✓ editor_1.replace" in one)
        assert allowed not in row
        line = pilot.app.screen.query_one(TurnLine)
        assert line.entry.calls == 3


@pytest.mark.parametrize("size", [(40, 24), (90, 24)])
async def test_what_a_call_says_about_itself_fits_its_line(
    pilot: "Pilot[int]", size: tuple[int, int]
) -> None:
    end = CallFinished(1, "action", True, "", allowed=True, added=300, removed=300)
    entry = Called("editor_1.save", "src/shop/cart.py", end)
    line = CallLine(entry, Words("en" if size[0] == 40 else "zh"))
    await pilot.app.screen.query_one(Conversation).mount(line)
    await pilot.pause()
    assert line.head().cell_length <= line.size.width
    assert ("◇ 你已允许" in line.head().plain) == (size[0] == 90)


@pytest.mark.parametrize(
    ("model", "says", "never"),
    [
        (Priced, ["90% cached", "$0.020"], []),
        (Broken, ["% cached"], ["$"]),
        (type("Plain", (ScriptedModel,), {"prices": NO_CACHE}), [], ["cache", "$"]),
        (type("Local", (ScriptedModel,), {"prices": LOCAL_PRICES}), ["% cached"], ["$"]),
    ],
)
async def test_figures_only_where_there_are_any(
    pilot: "Pilot[int]",
    chat: SharedChat,
    model: type[ScriptedModel],
    says: list[str],
    never: list[str],
) -> None:
    usage = Usage(input_tokens=10, output_tokens=20, cache_read_input_tokens=90)
    answer = Answer(({"type": "text", "text": "Yes."},), usage=usage)
    chat.answer(model=model(answer))
    await say(pilot, "Is it?")
    text = figures(pilot.app.screen.query_one(TurnLine).entry, Words("en"))
    assert all(one in text for one in says), text
    assert not any(one in text for one in never), text
    assert shown(pilot, text)
    if not says:  # nothing on the whole screen
        assert [one for one in lines(pilot) if "cache" in one.lower()] == []


def test_a_call_that_waits_for_a_job_names_it() -> None:
    status = TurnStatus(job_in=lambda window: "pytest -q tests" if window == "terminal_1" else "")
    words, now = Words("en"), time.monotonic()
    status.handle(TurnStarted("go", "1"))
    status.handle(StepStarted(2, 0))
    status.handle(CallStarted(1, "action", {"window_id": "terminal_1"}))
    assert "running 0s   step 2" in status.shown(words, now, 80).plain
    later = status.shown(words, now + 12.2, 80).plain
    assert "waiting for pytest -q tests 12s   step 2" in later
    assert "esc stops" in later
    assert "等待 pytest -q tests 12 秒" in status.shown(Words("zh"), now + 12.2, 80).plain
    status.handle(CallFinished(1, "action", True, ""))
    assert "working" in status.shown(words, now + 12.2, 80).plain


def test_the_money_spent_so_far_is_in_the_border_if_prices_are_known() -> None:
    words, now = Words("en"), time.monotonic()
    for cost, shown_part in ((0.011, "$0.011"), (None, "40 tokens")):
        status = TurnStatus()
        status.handle(TurnStarted("go", "1"))
        status.handle(UsageSpent(Usage(output_tokens=40, cost=cost), 1))
        text = status.shown(words, now, 80).plain
        assert shown_part in text
        assert ("$" in text) is (cost is not None)
    narrow = status.shown(words, now, 30).plain
    assert "esc stops" in narrow
    assert "tokens" not in narrow


def test_a_job_with_control_characters_in_its_name_is_harmless() -> None:
    status = TurnStatus(job_in=lambda _: "evil\x1b]0;x\x07\nname" * 9)
    status.handle(TurnStarted("go", "1"))
    status.handle(CallStarted(1, "action", {"window_id": "w_1"}))
    text = status.shown(Words("en"), time.monotonic() + 9, 120).plain
    assert not any(ord(one) < 32 or ord(one) == 127 for one in text)
    assert len(text) < 80
