"""The dialog before something changes: what it shows, and what each answer does."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual.content import Content
from textual.geometry import Size
from textual.pilot import Pilot
from textual.screen import Screen

from contextui.agent.approval import Decision, Grant, Question
from contextui.agent.models.scripted import call
from contextui.tui.desktop.field import Field
from contextui.tui.dialogs import guard
from contextui.tui.dialogs.approval import WORDING, ApprovalScreen, Choice
from contextui.tui.dialogs.diff import ChangeView
from contextui.windowing.preview import Preview
from contextui.words import Lang, Words
from tests.tui.change import Host, question, settled
from tests.tui.running import app_of, desk_in, lines, on_screen, running, until

OLD = ["one", "two", "three"]
NEW = ["one", "TWO [/foo]", "three"]


def host_of(pilot: "Pilot[Any]") -> Host:
    assert isinstance(pilot.app, Host)
    return pilot.app


async def asked(
    pilot: "Pilot[Any]", asked: Question | None = None, lang: Lang = "en"
) -> tuple[Host, ApprovalScreen]:
    """A dialog that takes answers."""
    host = host_of(pilot)
    return host, await ask(pilot, host, asked, lang)


async def ask(
    pilot: "Pilot[Any]",
    host: Host,
    asked: Question | None = None,
    lang: Lang = "en",
) -> ApprovalScreen:
    """Open a dialog in place of another, and wait until it takes answers."""
    if isinstance(host.screen, ApprovalScreen):
        host.screen.withdraw()
        await pilot.pause()
    host.decisions.clear()
    screen = host.ask(asked or question(OLD, NEW), lang)
    await settled(pilot, screen)
    while screen.guard.deaf_until == float("inf"):
        await asyncio.sleep(0.01)
    screen.guard.deaf_until = 0.0
    return screen


def test_the_first_layout_is_no_higher_than_the_text() -> None:
    remark = "until this session ends; every other file still asks"
    answer = Choice("s", Content("Write a.py without asking"), remark, is_needed=True)
    none = Size(0, 0)  # the widget has no size yet
    assert [answer.get_content_height(none, none, width) for width in (102, 40)] == [1, 3]


async def decided(pilot: "Pilot[Any]", host: Host) -> Decision:
    await until(pilot, lambda: host.decisions)
    decision = host.decisions[0]
    assert decision is not None
    return decision


async def unanswered(pilot: "Pilot[Any]", host: Host) -> None:
    """Wait until a key would have answered, and assert that none has."""
    await pilot.pause(3 * guard.SETTLE)
    assert host.decisions == []


# --- what it shows ---------------------------------------------------------------------


@pytest.mark.parametrize("size", [(60, 16)])
async def test_it_names_the_target_and_shows_everything(pilot: "Pilot[Any]") -> None:
    _, screen = await asked(pilot)
    text = "\n".join(lines(pilot))
    for part in (
        "◆ model wants to write cart.py   +1 −1", "editor_1.save", "Save the file",
        "- two", "+ TWO [/foo]", "y  Write it once", "s  Write cart.py without asking",
        "until this session ends; every other file", "n  Refuse",
        "r  Refuse with a reason…",
        "w  Show the whole file", "Nothing is written until you choose.",
        "lines 1–5 of 5",
    ):  # fmt: skip
        assert part in text, (part, text)
    assert "…" not in text.replace("reason…", "")
    assert screen.query_one(ChangeView).has_focus


@pytest.mark.parametrize(("size", "lang"), [((60, 16), "zh"), ((120, 40), "en")])
async def test_however_long_it_is_every_answer_is_in_view_and_keys_scroll_to_the_end(
    pilot: "Pilot[Any]", lang: Lang
) -> None:
    new = [f"line {number}" for number in range(600)]
    _, screen = await asked(pilot, question([], new), lang)
    words, height = Words(lang), screen.query_one(ChangeView).size.height
    position = words("lines {first}–{last} of {count}")

    def place(first: int) -> str:
        return position.format(first=first, last=first + height - 1, count=601)

    text = "\n".join(lines(pilot))
    assert "+600 −0" in text
    assert place(1) in text
    answers = ("Write it once", "Refuse", "Refuse with a reason…", "Show the whole file")
    for one in (*answers, "Nothing is written until you choose."):
        assert words(one) in text, text
    for key, first in (("down", 2), ("end", 602 - height)):
        await pilot.press(key)
        await pilot.pause()
        assert place(first) in "\n".join(lines(pilot))
    assert "+ line 599" in "\n".join(lines(pilot))
    await pilot.press("pageup", "pagedown", "up", "home", "r")
    await pilot.pause()
    text = "\n".join(lines(pilot))
    assert "1 +" in text
    assert words("Why not? Enter sends it to the model") in text
    assert screen.query_one(ChangeView).size.height >= 1


@pytest.mark.parametrize("size", [(80, 24)])
async def test_a_target_that_is_too_long_is_whole_in_the_first_rows(pilot: "Pilot[Any]") -> None:
    target = "/".join(f"folder {number}" for number in range(30)) + "/cart\u202e.py"
    _, screen = await asked(pilot, question(OLD, NEW, target))
    text = "\n".join(lines(pilot))
    assert "model wants to write this file   +1 −1" in text
    assert "Write this file without asking" in text
    rows = screen.query_one(ChangeView).layout_of
    text = "".join(rows.row(one).plain.strip("↪ ") for one in range(rows.row_of(1)))
    assert text.replace(" ", "") == target.replace("\u202e", "⟨U+202E⟩").replace(" ", "")


async def test_each_kind_of_action_has_its_words(pilot: "Pilot[Any]") -> None:
    host = host_of(pilot)
    langs: tuple[Lang, ...] = ("en", "zh") * 4
    for lang, (verb, wording) in zip(langs, WORDING.items(), strict=False):
        words = Words(lang)
        preview = Preview("editor_1", text="What would be done.", verb=verb)
        one = Question("", "tool", "Label", {}, preview)
        screen = await ask(pilot, host, one, lang)
        text = "\n".join(lines(pilot))
        title = words(wording.wants).format(model=words("model"), target="editor_1")
        for part in (title, words(wording.once), words("This asks every time."),
                     words(wording.nothing), "What would be done."):  # fmt: skip
            assert part in text, (part, text)
        assert not screen.query("#choice-s, #choice-w")
        if lang == "zh":
            assert not any(sent in text for sent in (wording.once, wording.nothing))


async def test_params_stand_in_place_of_a_preview(pilot: "Pilot[Any]") -> None:
    payload = "a\u202eb [@click=app.quit]x[/] \x1b]0;t\x07 " + "long " * 200 + "end"
    one = Question("printer_1", "print", "Print", {"text": payload}, grant=Grant("p", "print", ""))
    _, screen = await asked(pilot, one)
    text = "\n".join(lines(pilot))
    assert "model wants to run printer_1.print" in text
    assert "This window provides no preview." in text
    assert "[@click=app.quit]x[/]" in text
    assert "⟨U+202E⟩" in text
    assert "Run printer_1.print with exactly these values without asking" in text
    assert "everything else still asks" in text
    assert not set(text) & set("\x1b\x07\u202e")
    layout = screen.query_one(ChangeView).layout_of
    assert "end" in layout.row(layout.count - 2).plain


def test_a_preview_that_failed_says_why() -> None:
    one = Question("printer_1", "print", "Print", {"text": "x"}, problem="KeyError: 'page'")
    text = "\n".join(line.text for line in ApprovalScreen(Words("en"), one)._change())
    assert "The preview failed: KeyError: 'page'" in text
    assert '"text": "x"' in text


# --- answers ---------------------------------------------------------------------------


ANSWERS = {"ｙ": "once", "S": "always", "n": "no", "escape": "no"}


async def test_a_key_or_a_click_answers(pilot: "Pilot[Any]") -> None:
    host = host_of(pilot)
    for key, choice in ANSWERS.items():
        await ask(pilot, host)
        await pilot.press(key)
        assert (await decided(pilot, host)).choice == choice, key
    for letter, choice in (("y", "once"), ("s", "always")):
        await ask(pilot, host)
        await pilot.click(f"#choice-{letter}", offset=(5, 0))
        assert (await decided(pilot, host)).choice == choice


async def test_other_keys_clicks_elsewhere_and_s_without_a_grant_answer_nothing(
    pilot: "Pilot[Any]",
) -> None:
    host, screen = await asked(pilot, question(OLD, NEW, ".git/config", grant=None))
    text = "\n".join(lines(pilot))
    assert "This asks every time." in text
    assert "without asking" not in text
    for place in ("#head", "#change", ".note", "#foot"):
        await pilot.click(place)
    await pilot.click(offset=(1, 1))
    for key in ("s", "enter", "space", "a", "tab", "ctrl+y", "Ä", "你"):
        screen.guard.deaf_until = 0.0
        await pilot.press(key)
    await pilot.pause(2 * guard.SETTLE)
    assert pilot.app.screen is screen
    assert host.decisions == []


async def test_a_refusal_may_have_a_reason(pilot: "Pilot[Any]") -> None:
    host = host_of(pilot)
    screen = await ask(pilot, host)
    await pilot.click("#choice-r", offset=(5, 0))
    await pilot.pause()
    why = "yes, no " + "and so on " * 20 + "the end"
    field = screen.query_one("#why", Field)
    assert field.has_focus
    field.insert(why)
    await until(pilot, lambda: any("the end" in row for row in lines(pilot)))
    assert any("yes, no" in row for row in lines(pilot))
    await pilot.press("tab", "y", "shift+tab", "escape")  # back to the question, and to the text
    await unanswered(pilot, host)
    screen.guard.deaf_until = 0.0
    await pilot.press("r", "!", "enter")
    assert await decided(pilot, host) == Decision("no", f"{why}!")


async def test_w_shows_the_whole_file_and_back(pilot: "Pilot[Any]") -> None:
    old = [f"line {number}" for number in range(100)]
    new = [*old[:50], "ADDED", *old[51:]]
    host, screen = await asked(pilot, question(old, new))
    view = screen.query_one(ChangeView)
    assert "of 9" in "\n".join(lines(pilot))
    await pilot.press("w")
    await pilot.pause()
    text = "\n".join(lines(pilot))
    assert "lines 1–20 of 101" in text
    assert "Show only the change" in text
    rows = [view.layout_of.row(one).plain.split() for one in range(101)]
    assert ["-", "line", "50"] in [one[1:] for one in rows]
    assert ["51", "+", "ADDED"] in rows
    await pilot.press("w")
    await pilot.pause()
    assert "of 9" in "\n".join(lines(pilot))
    assert host.decisions == []


# --- by accident -----------------------------------------------------------------------


async def test_it_is_deaf_until_it_could_be_seen(
    pilot: "Pilot[Any]", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard, "DEAF", 60.0)

    host = host_of(pilot)
    screen = host.ask(question(OLD, NEW))
    await pilot.press("y", "s", "n", "escape")
    await settled(pilot, screen)
    await pilot.press("y", "n", "escape")
    await until(pilot, lambda: any("A key came too soon." in row for row in lines(pilot)))
    for letter in "ysn":
        await pilot.click(f"#choice-{letter}", offset=(5, 0))
    await unanswered(pilot, host)
    assert pilot.app.screen is screen


async def test_a_word_a_paste_or_steady_typing_is_no_answer(
    pilot: "Pilot[Any]", monkeypatch: pytest.MonkeyPatch
) -> None:
    host, screen = await asked(pilot)
    with monkeypatch.context() as patch:
        patch.setattr(guard, "SETTLE", 60.0)  # however slow the machine is
        for word in ("yes", "system", "sy", "yy"):
            screen.guard.deaf_until = 0.0
            await pilot.press(*word)
            assert screen.guard._pending is None
        for text in ("y", "n", "s", "yes\n"):
            screen.guard.deaf_until = 0.0
            pilot.app.post_message(events.Paste(text))
            await pilot.pause()
            assert screen.guard._pending is None
        assert host.decisions == []
    now = asyncio.get_running_loop().time()
    screen.guard.deaf_until = now + guard.DEAF
    for number in range(40):  # a letter each 0.1 s, over four seconds
        key = events.Key("y", "y")
        key.time = now + 0.1 * number
        screen.on_key(key)
    await unanswered(pilot, host)
    assert pilot.app.screen is screen
    key = events.Key("y", "y")
    key.time = now + 4.0 + guard.DEAF
    screen.on_key(key)
    assert (await decided(pilot, host)).choice == "once"


async def test_after_another_screen_it_is_deaf_again_and_under_it_it_is_withdrawn(
    pilot: "Pilot[Any]", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard, "DEAF", 60.0)

    host, screen = await asked(pilot)
    await pilot.app.push_screen(Screen())
    pilot.app.pop_screen()
    await pilot.pause()
    await pilot.press("y")
    await unanswered(pilot, host)
    assert pilot.app.screen is screen
    await pilot.app.push_screen(Screen())
    screen.withdraw()
    await pilot.pause()
    assert host.decisions == []
    pilot.app.pop_screen()
    assert (await decided(pilot, host)).choice == "no"


async def test_the_click_that_brings_the_terminal_back_is_no_answer(
    pilot: "Pilot[Any]", monkeypatch: pytest.MonkeyPatch
) -> None:
    """It opens while another program has the focus; the click is meant for the terminal."""
    monkeypatch.setattr(guard, "DEAF", 60.0)

    host, screen = await asked(pilot)
    host.post_message(events.AppBlur())
    await pilot.pause()
    screen.guard.deaf_until = 0.0  # for long
    host.post_message(events.AppFocus())
    await pilot.pause()
    await pilot.click("#choice-y")
    await pilot.press("y", "n", "escape")
    await unanswered(pilot, host)


# --- in the program --------------------------------------------------------------------


async def test_an_answer_decides_about_the_file_and_a_question_rings_while_the_person_is_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    written: list[str] = []

    work = tmp_path / "work"
    work.mkdir()
    (work / "notes.txt").write_text("two\n")
    save = call("action", window_id="editor_1", action_id="save", params={})
    desk = desk_in(
        tmp_path,
        [call("create", name="editor", args={"path": "notes.txt"}),
         call("action", window_id="editor_1", action_id="replace",
              params={"old": "two", "new": "TWO"}), save],
        "Done with n.", save, "Done with y.",
    )  # fmt: skip
    async with running(desk) as pilot:
        app = app_of(pilot)
        monkeypatch.setattr(app, "write_control", written.append)
        for key, content in (("n", "two\n"), ("y", "TWO\n")):
            app.post_message(events.AppBlur())
            await until(pilot, lambda: not app.app_focus)
            app.main.send("go")
            screen = await on_screen(pilot, ApprovalScreen)
            assert "\a" in written
            assert any("◆ asks" in one for one in written)
            app.post_message(events.AppFocus())
            await until(pilot, lambda: app.app_focus)
            assert (work / "notes.txt").read_text() == "two\n"
            await until(pilot, lambda screen=screen: screen.guard.deaf_until < float("inf"))  # type: ignore[misc]
            screen.guard.deaf_until = 0.0  # for long
            await pilot.press(key)
            done = f"Done with {key}."
            await until(pilot, lambda done=done: done in "\n".join(lines(pilot)))  # type: ignore[misc]
            assert (work / "notes.txt").read_text() == content
            await until(pilot, lambda: "◆" not in written[-1])
            written.clear()
