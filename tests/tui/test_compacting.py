"""/compact on the screen: what would go is shown first, and what comes of it afterwards."""

from pathlib import Path

import pytest
from textual.pilot import Pilot

from contextui.agent.models.scripted import ScriptedModel, Step
from contextui.context.item import ContextItem, ItemType
from contextui.context.manager import ContextManager
from contextui.model import ModelError
from contextui.tui.app_session import AppSession
from contextui.tui.dialogs.compact import CompactScreen
from tests.agent.talking import options
from tests.tui.conversation.test_prompt import Held
from tests.tui.running import app_of, desk_in, lines, prompt, running, say, shown, until

OUTLINE = "## Goal\nA shop."


def long_desk(
    folder: Path,
    *steps: Step,
    rounds: int = 10,
    words: str = "and more of it " * 20,
    model: ScriptedModel | None = None,
    budget: int = 128_000,
) -> AppSession:
    desk = desk_in(folder, *steps, model=model, options=options(budget=budget))
    talk(desk.session.context, rounds, words)
    return desk


def talk(context: ContextManager, rounds: int, words: str) -> None:
    for number in range(rounds):
        context.add(ContextItem(ItemType.USER, f"question {number} [/foo]"))
        context.add(ContextItem(ItemType.ASSISTANT, f"answer {number} {words}"))
    context.end_turn()


async def asked(pilot: "Pilot[int]", command: str = "/compact") -> None:
    app_of(pilot).main.run_command(command)
    await until(pilot, lambda: isinstance(pilot.app.screen, CompactScreen))
    await pilot.pause()


def on_screen(pilot: "Pilot[int]", text: str) -> bool:
    """Whether it stands on the screen, over however many lines."""
    cells = [line.split("│")[0] if "│" in line else line for line in lines(pilot)]
    return text in " ".join(" ".join(cells).split())


async def test_what_goes_is_shown_first_and_a_short_talk_is_left_as_it_is(tmp_path: Path) -> None:
    desk = long_desk(tmp_path, ModelError("auth", "No key is set."), rounds=0)
    context = desk.session.context
    async with running(desk, (80, 24)) as pilot:
        for rounds, expected in ((0, "fewer than two messages"), (10, "save less than 20%")):
            talk(context, rounds, "")
            app_of(pilot).main.run_command("/compact")
            await until(pilot, lambda expected=expected: on_screen(pilot, expected))  # type: ignore[misc]
            assert not isinstance(pilot.app.screen, CompactScreen)
            assert not any(item.hidden for item in context.get_all())

        talk(context, 10, "and more of it " * 20)
        context.pin(context.get_active()[1].id)
        await asked(pilot, "/c")
        text = "\n".join(lines(pilot))
        for part in ("31 messages", "tokens) go; 9 (", "Goes into the summary",
                     "0004 User", "[/foo]", "y  Compact it"):  # fmt: skip
            assert part in text, text
        await pilot.press("end")
        await until(pilot, lambda: shown(pilot, "answer 9"))
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(pilot.app.screen, CompactScreen))
        assert not any(item.is_summary for item in context.get_all())

        await asked(pilot)
        await pilot.press("y")
        await until(pilot, lambda: on_screen(pilot, "There is no summary: No key is set."))
        assert on_screen(pilot, "/compact tries again")
        await until(pilot, lambda: not desk.controller.is_running)
        app_of(pilot).main.run_command("/undo")
        await until(
            pilot, lambda: not any(item.hidden == "compacted" for item in context.get_all())
        )


async def test_words_wait_for_its_end_esc_stops_it_and_undo_takes_it_back(tmp_path: Path) -> None:
    model = Held(OUTLINE, "Hello.")
    desk = long_desk(tmp_path, model=model)
    context = desk.session.context
    async with running(desk) as pilot:
        await asked(pilot)
        await pilot.press("y")
        await until(pilot, lambda: shown(pilot, "compacting"))
        app_of(pilot).main.run_command("/compact")
        await until(pilot, lambda: on_screen(pilot, "The model is still working."))
        await pilot.press("escape")
        await until(pilot, lambda: on_screen(pilot, "Nothing was compacted."))
        assert not desk.controller.is_running

        async def read(*_: object) -> tuple[()]:  # as long as for a file that the person is asked
            await until(pilot, lambda: desk.controller.is_running)
            return ()

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(desk.controller.attachments, "read", read)
            app_of(pilot).main.send("Read this.")
            await asked(pilot)
            await pilot.press("y")
            await until(pilot, lambda: prompt(pilot).text == "Read this.")
        app_of(pilot).main.send("And now?")  # waits for its end
        await until(pilot, lambda: shown(pilot, "queued until the turn ends"))
        model.let_go.set()
        await until(pilot, lambda: on_screen(pilot, "Hello."))
        assert on_screen(pilot, "Compacting: 14 messages become a summary, 6 stay.")
        assert on_screen(pilot, "Compacted 14 messages:")
        assert sum(item.is_summary for item in context.get_active()) == 1
        await until(pilot, lambda: not desk.controller.is_running)
        app_of(pilot).main.run_command("/undo")
        assert not any(item.is_summary for item in context.get_active())


async def test_an_automatic_compaction_is_shown_and_so_is_one_that_fails(tmp_path: Path) -> None:
    steps = ("", "Yes.", OUTLINE, OUTLINE, "Hello.")  # the second summary is of two parts
    desk = long_desk(tmp_path, *steps, rounds=80, words="", budget=2_900)
    async with running(desk) as pilot:
        await say(pilot, "And now?")
        assert any(item.hidden == "compacted" for item in desk.session.context.get_all())
        await until(pilot, lambda: on_screen(pilot, "There is no summary: The summary is empty."))
        talk(desk.session.context, 80, "")
        await say(pilot, "And then?")
        await until(pilot, lambda: on_screen(pilot, "Hello."))
        assert on_screen(pilot, "Compacting:")
        assert on_screen(pilot, "Compacted")
