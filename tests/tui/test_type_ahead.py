"""Letters typed in other panes reach the prompt; commands of lists and windows stay theirs."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from functools import partial

import pytest
from textual import events
from textual.pilot import Pilot

from contextui.tui.conversation.prompt import Prompt
from contextui.tui.link import Desk
from contextui.tui.main import MainScreen
from tests.tui.running import desk_in, running, say, shown, until
from tests.tui.sharing import SharedApp
from tests.tui.test_switch import app_of


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedApp]:
    """A conversation with a window."""

    @asynccontextmanager
    async def start() -> "AsyncIterator[Pilot[int]]":
        desk = desk_in(tmp_path_factory.mktemp("typing"), "Hello.", "Sent.")
        desk.session.windows.open("todo")
        async with running(desk) as pilot:
            await say(pilot, "Hi")
            yield pilot

    async def tidy(pilot: "Pilot[int]") -> None:
        app_of(pilot).main.prompt.clear()

    app = SharedApp(start, tidy)
    yield app
    app.close()


async def in_pane(pilot: "Pilot[int]", place: str) -> tuple[MainScreen, Desk]:
    """Go to a pane."""
    main, desk = app_of(pilot).main, app_of(pilot).desk
    assert desk is not None
    main.navigation.enter(place)
    await until(pilot, lambda: main.navigation.present == place)
    return main, desk


def test_words_typed_in_another_pane_reach_the_prompt_whole(shared: SharedApp) -> None:
    """U14: nothing is lost, in whatever pane the person types; the chat has no commands at all."""

    async def talk(pilot: "Pilot[int]") -> None:
        for place, words in ("chat", "cl o"), ("windows", "hi 你?"), ("context", "hi 你?"):
            main, desk = await in_pane(pilot, place)
            main.prompt.clear()
            await pilot.press(*("space" if key == " " else key for key in words))
            await until(pilot, partial(lambda main, words: main.prompt.text == words, main, words))
            assert main.focused is main.prompt
            assert len(desk.session.windows.windows()) == 1

    shared.run(talk)


def test_commands_of_a_focused_list_stay(shared: SharedApp) -> None:
    async def talk(pilot: "Pilot[int]") -> None:
        main, desk = await in_pane(pilot, "context")
        await pilot.press("home", "d")  # does not apply to the system prompt, and types nothing
        await pilot.press("down", "p")  # pins the item under the cursor
        await until(pilot, lambda: any(one.pinned for one in desk.session.context.get_all()))
        assert main.prompt.text == ""
        assert main.navigation.present == "context"

    shared.run(talk)


def test_a_paste_in_another_pane_reaches_the_prompt(shared: SharedApp) -> None:
    async def talk(pilot: "Pilot[int]") -> None:
        main, _ = await in_pane(pilot, "context")
        pilot.app.post_message(events.Paste("d x\nmore"))
        await until(pilot, lambda: main.prompt.text == "d x\nmore")
        assert isinstance(main.focused, Prompt)

    shared.run(talk)


def test_enter_after_a_stray_key_sends_nothing(shared: SharedApp) -> None:
    async def talk(pilot: "Pilot[int]") -> None:
        main, desk = await in_pane(pilot, "prompt")
        before = len(desk.session.context.get_all())
        main.prompt.put("a draft ")
        for keys in ("j", "jj"):
            await in_pane(pilot, "chat")
            pilot.app._notifications.clear()
            await pilot.press(*keys, "enter")
            await until(pilot, lambda: len(pilot.app._notifications) == 1)  # a warning
            assert len(desk.session.context.get_all()) == before
        assert main.prompt.text == "a draft jjj"
        await in_pane(pilot, "chat")
        await pilot.press(*"ok", "enter")  # more than one key: it was typed
        await until(pilot, lambda: shown(pilot, "Sent."))

    shared.run(talk)
