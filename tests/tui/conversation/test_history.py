"""Prompts of earlier sessions: walking, searching, and the draft of a folder."""

import re
from pathlib import Path

from textual import events
from textual.pilot import Pilot

from contextui.session.history import PromptHistory
from contextui.tui.conversation.draft import FolderDraft
from contextui.tui.conversation.popup import Popup
from tests.tui.running import desk_in, lines, prompt, running, shown, until


def history_of(tmp_path: Path) -> PromptHistory:
    return PromptHistory.of_folder(tmp_path / "work", tmp_path / "home")


def offered_in(tmp_path: Path) -> str:
    """The draft that the next session of the folder begins with."""
    desk = desk_in(tmp_path)
    draft = FolderDraft(desk).offer()
    desk.close()
    return draft


async def send(pilot: "Pilot[int]", text: str, answer: str) -> None:
    prompt(pilot).put(text)
    prompt(pilot).action_submit()
    await until(pilot, lambda: shown(pilot, answer))


async def test_the_past_and_the_draft_of_other_sessions(tmp_path: Path) -> None:
    pasted = "\n".join(f"line {number} of a long text" for number in range(1_500))
    short = "half a thought\n[pasted 1: 1,500 lines]"
    long = "\n".join(f"line {number}" for number in range(150))  # long, not large
    history_of(tmp_path).add(f"look\n{long}")
    async with running(desk_in(tmp_path)) as pilot:
        prompt(pilot).put("half a thought\n")
        prompt(pilot).post_message(events.Paste(pasted))
        await until(pilot, lambda: prompt(pilot).text == short)
        pilot.app.exit()
    for text in ("first words", "from another process"):
        history_of(tmp_path).add(text)
    desk = desk_in(tmp_path, "Two.", "Three.")
    async with running(desk) as pilot:  # a new session
        await until(pilot, lambda: prompt(pilot).text == short)
        assert prompt(pilot).whole_text == f"half a thought\n{pasted}"
        await until(pilot, lambda: len(prompt(pilot).past) == 3)
        assert len(desk.session.context.get_all()) == 1  # it is not sent
        await pilot.press(*"s", "enter")
        await until(pilot, lambda: shown(pilot, "Two."))
        sent = [one.content for one in desk.session.context.get_all()]
        assert f"half a thought\n{pasted}s" in sent
        await send(pilot, "second words", "Three.")
        seen = []
        for keys in (["up"], ["up"], ["up", "up"], ["up"]):  # the second one has two lines
            await pilot.press(*keys)
            seen.append(prompt(pilot).text)
        assert seen == ["second words", short + "s", "from another process", "first words"]
        await pilot.press("up")  # a long paste is a placeholder again
        assert re.fullmatch(r"look\n\[pasted \d: 150 lines\]", prompt(pilot).text)
        assert prompt(pilot).whole_text == f"look\n{long}"
        await pilot.press(*["down"] * 6)
        # What was recalled opens no list, which would take the arrows.
        (tmp_path / "work" / "price.py").write_text("x = 1\n")
        prompt(pilot).past.extend(["/open todo", "see @price", "/op"])
        for text in ("/op", "see @price", "/open todo", "second words"):
            await pilot.press("up")
            await until(pilot, lambda text=text: prompt(pilot).text == text)  # type: ignore[misc]
            assert not prompt(pilot).is_completing
        await pilot.press("down", "down", "backspace")  # edited
        await until(pilot, lambda: prompt(pilot).is_completing and shown(pilot, "@pric "))
        prompt(pilot).clear()
        await until(pilot, lambda: not prompt(pilot).is_completing)
        prompt(pilot).post_message(events.Paste("as in @price"))
        await until(pilot, lambda: prompt(pilot).text == "as in @price")
        await pilot.pause()
        assert not prompt(pilot).is_completing
        prompt(pilot).clear()
        await until(pilot, lambda: history_of(tmp_path).texts()[-1] == "second words")
        pilot.app.exit()
    assert offered_in(tmp_path) == ""  # it was sent


async def test_a_search_takes_a_prompt_and_does_not_send_it(tmp_path: Path) -> None:
    history = history_of(tmp_path)
    for text in ("write the tests", "run pytest", "!rm -rf build", "explain the parser"):
        history.add(text)
    desk = desk_in(tmp_path)
    async with running(desk) as pilot:
        await until(pilot, lambda: len(prompt(pilot).past) == 4)
        before = len(desk.session.context.get_all())
        await pilot.press(*"half", "ctrl+r")
        popup = pilot.app.screen.query_one(Popup)
        await until(pilot, lambda: popup.display)
        await until(pilot, lambda: shown(pilot, "explain the parser"))
        await until(pilot, lambda: "enter take" in lines(pilot)[-1])
        assert prompt(pilot).whole_text == "half"  # the draft is still the person's
        await pilot.press(*"rm")
        await until(pilot, lambda: popup.option_count == 1)
        await pilot.press("escape")
        assert prompt(pilot).text == "half"
        assert not popup.display
        await pilot.press("ctrl+r", *"zz")
        await until(pilot, lambda: shown(pilot, "No prompt matches."))
        await pilot.press("enter")
        await until(pilot, lambda: prompt(pilot).text == "half")
        await pilot.press("ctrl+r", *"the", "down", "enter")
        await until(pilot, lambda: prompt(pilot).text == "write the tests")
        assert not popup.display
        await pilot.press("up")
        assert prompt(pilot).text == "half"  # not lost either
        assert len(desk.session.context.get_all()) == before  # nothing was sent
        assert not desk.session.windows.windows()  # and nothing ran


def test_another_session_does_not_remove_a_draft(tmp_path: Path) -> None:
    first, other = desk_in(tmp_path), desk_in(tmp_path)
    mine, theirs = FolderDraft(first), FolderDraft(other)
    assert mine.offer() == theirs.offer() == ""
    mine.keep("mine")
    theirs.keep("")
    for desk in (first, other):
        desk.close()
    last = desk_in(tmp_path)
    draft = FolderDraft(last)
    assert draft.offer() == "mine"
    draft.keep("")  # by the session that was offered it
    last.close()
    assert offered_in(tmp_path) == ""
