"""Letters typed in other panes reach the prompt; commands of lists and windows stay theirs."""

import asyncio
from pathlib import Path

import pytest
from textual import events
from textual.pilot import Pilot

from contextui.tui.conversation.prompt import Prompt
from contextui.tui.main import MainScreen
from tests.tui.running import desk_in, running, say, shown, until


def main_of(pilot: "Pilot[int]") -> MainScreen:
    assert isinstance(pilot.app.screen, MainScreen)
    return pilot.app.screen


@pytest.mark.parametrize("place", ["chat", "windows", "context"])
def test_words_typed_in_another_pane_reach_the_prompt_whole(tmp_path: Path, place: str) -> None:
    """U14: nothing is lost, in whatever pane the person types."""

    async def talk() -> None:
        desk = desk_in(tmp_path, "Hello.")
        desk.session.windows.open("todo")
        async with running(desk) as pilot:
            await say(pilot, "Hi")
            main = main_of(pilot)
            main.navigation.enter(place)
            await until(pilot, lambda: main.navigation.present == place)
            await pilot.press(*"how", "space", *"are you 你?")
            await until(pilot, lambda: main.prompt.text == "how are you 你?")
            assert main.focused is main.prompt
            assert len(desk.session.windows.windows()) == 1

    asyncio.run(talk())


def test_the_chat_has_no_letter_commands(tmp_path: Path) -> None:
    async def talk() -> None:
        async with running(desk_in(tmp_path, "Hello.")) as pilot:
            await say(pilot, "Hi")
            main = main_of(pilot)
            main.navigation.enter("chat")
            await until(pilot, lambda: main.navigation.present == "chat")
            await pilot.press(*"close", "space", *"so")
            await until(pilot, lambda: main.prompt.text == "close so")

    asyncio.run(talk())


def test_commands_of_a_focused_list_stay(tmp_path: Path) -> None:
    async def talk() -> None:
        desk = desk_in(tmp_path, "Hello.")
        async with running(desk) as pilot:
            await say(pilot, "Hi")
            main = main_of(pilot)
            main.navigation.enter("context")
            await until(pilot, lambda: main.navigation.present == "context")
            await pilot.press("d")  # does not apply to the system prompt, and types nothing
            await pilot.press("down", "p")  # pins the item under the cursor
            await until(pilot, lambda: any(one.pinned for one in desk.session.context.get_all()))
            assert main.prompt.text == ""
            assert main.navigation.present == "context"

    asyncio.run(talk())


def test_a_paste_in_another_pane_reaches_the_prompt(tmp_path: Path) -> None:
    async def talk() -> None:
        async with running(desk_in(tmp_path, "Hello.")) as pilot:
            await say(pilot, "Hi")
            main = main_of(pilot)
            main.navigation.enter("context")
            await until(pilot, lambda: main.navigation.present == "context")
            pilot.app.post_message(events.Paste("d x\nmore"))
            await until(pilot, lambda: main.prompt.text == "d x\nmore")
            assert isinstance(main.focused, Prompt)

    asyncio.run(talk())


def test_enter_after_a_stray_key_sends_nothing(tmp_path: Path) -> None:
    async def talk() -> None:
        desk = desk_in(tmp_path, "Hello.", "Sent.")
        async with running(desk) as pilot:
            await say(pilot, "Hi")
            main, before = main_of(pilot), len(desk.session.context.get_all())
            main.prompt.put("a draft ")

            async def press(keys: str, warnings: int) -> None:
                main.navigation.enter("chat")
                await until(pilot, lambda: main.navigation.present == "chat")
                await pilot.press(*keys, "enter")
                await until(pilot, lambda: len(pilot.app._notifications) == warnings)
                assert len(desk.session.context.get_all()) == before

            await press("j", 1)
            await press("jj", 2)
            assert main.prompt.text == "a draft jjj"
            main.navigation.enter("chat")
            await until(pilot, lambda: main.navigation.present == "chat")
            await pilot.press(*"ok", "enter")  # more than one key: it was typed
            await until(pilot, lambda: shown(pilot, "Sent."))

    asyncio.run(talk())
