"""Letters typed in other panes reach the prompt; commands of lists and windows stay theirs."""

from functools import partial
from pathlib import Path

from textual import events
from textual.pilot import Pilot

from contextui.tui.app_session import AppSession
from contextui.tui.conversation.prompt import Prompt
from contextui.tui.main import MainScreen
from tests.tui.running import app_of, desk_in, running, say, until


async def in_pane(pilot: "Pilot[int]", place: str) -> MainScreen:
    main = app_of(pilot).main
    main.navigation.enter(place)
    await until(pilot, lambda: main.navigation.present == place)
    return main


async def commands_of_a_focused_list_stay(pilot: "Pilot[int]", desk: AppSession) -> None:
    main = await in_pane(pilot, "context")
    await pilot.press("home", "d")  # does not apply to the system prompt, and types nothing
    await pilot.press("down", "p")  # pins the item under the cursor
    await until(pilot, lambda: any(one.pinned for one in desk.session.context.get_all()))
    assert main.prompt.text == ""
    assert main.navigation.present == "context"


async def enter_after_a_stray_key_sends_nothing(pilot: "Pilot[int]", desk: AppSession) -> None:
    main = await in_pane(pilot, "prompt")
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
    await until(pilot, lambda: len(desk.session.context.get_all()) > before)


async def test_words_typed_in_another_pane_reach_the_prompt_whole(tmp_path: Path) -> None:
    """U14: nothing is lost, in whatever pane the person types; the chat has no commands at all."""
    desk = desk_in(tmp_path, "Hello.", "Sent.")
    desk.session.windows.open("todo")
    async with running(desk) as pilot:
        await say(pilot, "Hi")
        for place, words in ("chat", "cl o"), ("windows", "hi 你?"), ("context", "hi 你?"):
            main = await in_pane(pilot, place)
            main.prompt.clear()
            await pilot.press(*("space" if key == " " else key for key in words))
            await until(pilot, partial(lambda main, words: main.prompt.text == words, main, words))
            assert main.focused is main.prompt
            assert len(desk.session.windows.windows()) == 1
        main.prompt.clear()
        await commands_of_a_focused_list_stay(pilot, desk)
        pilot.app.post_message(events.Paste("d x\nmore"))
        await until(pilot, lambda: main.prompt.text == "d x\nmore")
        assert isinstance(main.focused, Prompt)
        main.prompt.clear()
        await enter_after_a_stray_key_sends_nothing(pilot, desk)
