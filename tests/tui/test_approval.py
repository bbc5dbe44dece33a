"""The dialog before something changes: what it shows, and what each answer does."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual import events
from textual.content import Content
from textual.geometry import Size
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Input

from contextui.agent.approval import Decision, Grant, Question
from contextui.agent.models.scripted import call
from contextui.tui.app import ContextUIApp
from contextui.tui.dialogs import approval
from contextui.tui.dialogs.approval import WORDING, ApprovalScreen, Choice
from contextui.tui.dialogs.diff import ChangeView
from contextui.windowing.preview import Preview
from contextui.words import Lang, Words
from tests.tui.change import Host, hosting, question, settled
from tests.tui.running import desk_in, lines, running, until

SIZES = [(80, 24), (60, 16), (120, 40), (200, 60)]
OLD = ["one", "two", "three"]
NEW = ["one", "TWO [/foo]", "three"]


@asynccontextmanager
async def asked(
    asked: Question | None = None,
    size: tuple[int, int] = (120, 40),
    lang: Lang = "en",
) -> AsyncIterator[tuple["Pilot[None]", Host, ApprovalScreen]]:
    """A dialog that takes answers."""
    async with hosting(size) as (pilot, host):
        yield pilot, host, await ask(pilot, host, asked, lang)


async def ask(
    pilot: "Pilot[None]",
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
    while screen._deaf_until == float("inf"):
        await asyncio.sleep(0.01)
    screen._deaf_until = 0.0
    return screen


def test_the_first_layout_is_no_higher_than_the_text() -> None:
    remark = "until this session ends; every other file still asks"
    answer = Choice("s", Content("Write a.py without asking"), remark, is_needed=True)
    none = Size(0, 0)  # the widget has no size yet
    assert [answer.get_content_height(none, none, width) for width in (102, 40)] == [1, 3]


async def decided(pilot: "Pilot[None]", host: Host) -> Decision:
    for _ in range(400):
        if host.decisions:
            decision = host.decisions[0]
            assert decision is not None
            return decision
        await pilot.pause(0.01)
    raise AssertionError("\n".join(shown(pilot)))


def shown(pilot: "Pilot[None]") -> list[str]:
    strips = pilot.app.screen._compositor.render_strips()
    return ["".join(segment.text for segment in strip).rstrip() for strip in strips]


# --- what it shows ---------------------------------------------------------------------


@pytest.mark.parametrize("size", SIZES)
def test_it_names_the_target_and_shows_everything(size: tuple[int, int]) -> None:
    async def look() -> None:
        async with asked(size=size) as (pilot, _, screen):
            text = "\n".join(shown(pilot))
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

    asyncio.run(look())


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_however_long_it_is_every_answer_is_in_view(size: tuple[int, int], lang: Lang) -> None:
    async def look() -> None:
        new = [f"line {number}" for number in range(600)]
        async with asked(question([], new), size, lang) as (pilot, _, screen):
            words = Words(lang)
            answers = ("Write it once", "Refuse", "Refuse with a reason…", "Show the whole file")
            for _ in range(2):
                text = "\n".join(shown(pilot))
                assert "+600 −0" in text
                for one in (*answers, "Nothing is written until you choose."):
                    assert words(one) in text, text
                assert screen.query_one(ChangeView).size.height >= 1
                await pilot.press("r")
                await pilot.pause()

    asyncio.run(look())


@pytest.mark.parametrize("size", SIZES)
def test_keys_scroll_to_the_end_and_say_where(size: tuple[int, int]) -> None:
    async def look() -> None:
        new = [f"line {number}" for number in range(600)]
        async with asked(question([], new), size) as (pilot, _, screen):
            height = screen.query_one(ChangeView).size.height
            assert f"lines 1–{height} of 601" in "\n".join(shown(pilot))
            await pilot.press("down")
            await pilot.pause()
            assert f"lines 2–{height + 1} of 601" in "\n".join(shown(pilot))
            await pilot.press("end")
            await pilot.pause()
            assert f"lines {602 - height}–601 of 601" in "\n".join(shown(pilot))
            assert "+ line 599" in "\n".join(shown(pilot))
            await pilot.press("pageup", "pagedown", "up", "home")
            await pilot.pause()
            assert f"lines 1–{height} of 601" in "\n".join(shown(pilot))

    asyncio.run(look())


@pytest.mark.parametrize("size", SIZES)
def test_a_target_that_is_too_long_stands_whole_in_the_first_rows(size: tuple[int, int]) -> None:
    async def look() -> None:
        target = "/".join(f"folder {number}" for number in range(30)) + "/cart\u202e.py"
        async with asked(question(OLD, NEW, target), size) as (pilot, _, screen):
            assert "model wants to write this file   +1 −1" in "\n".join(shown(pilot))
            assert "Write this file without asking" in "\n".join(shown(pilot))
            rows = screen.query_one(ChangeView).layout_of
            text = "".join(rows.row(one).plain.strip("↪ ") for one in range(rows.row_of(1)))
            assert text.replace(" ", "") == target.replace("\u202e", "⟨U+202E⟩").replace(" ", "")

    asyncio.run(look())


def test_a_target_with_control_characters_is_inert() -> None:
    async def look() -> None:
        target = "\x1b]0;owned\x07a\nb\u200b.py"
        async with asked(question(OLD, NEW, target)) as (pilot, _, _screen):
            title = "⟨U+001B⟩]0;owned⟨U+0007⟩a⟨U+000A⟩b⟨U+200B⟩.py"
            assert title in "\n".join(shown(pilot))

    asyncio.run(look())


def test_invisible_characters_are_counted() -> None:
    async def look() -> None:
        new = ["one", 'role != "admin\u200b"', "\u202ethree"]
        async with asked(question(OLD, new)) as (pilot, _, _screen):
            assert "2 invisible characters, shown as ⟨U+…⟩" in "\n".join(shown(pilot))
            assert '"admin⟨U+200B⟩"' in "\n".join(shown(pilot))

    asyncio.run(look())


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_each_kind_of_action_has_its_words(lang: Lang) -> None:
    async def look() -> None:
        words = Words(lang)
        async with hosting() as (pilot, host):
            for verb, wording in WORDING.items():
                preview = Preview("editor_1", text="What would be done.", verb=verb)
                one = Question("", "tool", "Label", {}, preview)
                screen = await ask(pilot, host, one, lang)
                text = "\n".join(shown(pilot))
                title = words(wording.wants).format(model=words("model"), target="editor_1")
                for part in (title, words(wording.once), words(wording.every_time),
                             words(wording.nothing), "What would be done."):  # fmt: skip
                    assert part in text, (part, text)
                assert not screen.query("#choice-s, #choice-w")
                if lang == "zh":
                    assert not any(sent in text for sent in (wording.once, wording.nothing))

    asyncio.run(look())


def test_params_stand_in_place_of_a_preview() -> None:
    async def look() -> None:
        payload = "a\u202eb [@click=app.quit]x[/] \x1b]0;t\x07 " + "long " * 200 + "end"
        one = Question(
            "printer_1", "print", "Print", {"text": payload}, grant=Grant("p", "print", "")
        )
        async with asked(one) as (pilot, _, screen):
            text = "\n".join(shown(pilot))
            assert "This window provides no preview." in text
            assert "[@click=app.quit]x[/]" in text
            assert "⟨U+202E⟩" in text
            assert "Run printer_1.print with exactly these values without asking" in text
            assert not set(text) & set("\x1b\x07\u202e")
            layout = screen.query_one(ChangeView).layout_of
            assert "end" in layout.row(layout.count - 2).plain

    asyncio.run(look())


def test_a_preview_without_a_target_is_about_the_action() -> None:
    async def look() -> None:
        grant = Grant("printer", "print", "printer_1.print {}")
        preview = Preview("printer_1.print", text="Prints two pages.")
        one = Question("printer_1", "print", "Print", {"pages": 2}, preview, grant=grant)
        async with asked(one) as (pilot, _, _screen):
            text = "\n".join(shown(pilot))
            assert "model wants to run printer_1.print" in text
            assert "Run printer_1.print with exactly these values without asking" in text
            assert "everything else still asks" in text

    asyncio.run(look())


def test_a_preview_that_failed_says_why() -> None:
    async def look() -> None:
        one = Question("printer_1", "print", "Print", {"text": "x"}, problem="KeyError: 'page'")
        async with asked(one) as (pilot, _, _screen):
            text = "\n".join(shown(pilot))
            assert "The preview failed: KeyError: 'page'" in text
            assert '"text": "x"' in text

    asyncio.run(look())


def test_a_change_that_came_in_between_is_shown() -> None:
    async def look() -> None:
        async with asked(question(OLD, NEW, changed=True)) as (pilot, _, _screen):
            assert "cart.py   +1 −1   changed just now" in "\n".join(shown(pilot))

    asyncio.run(look())


# --- answers ---------------------------------------------------------------------------


ANSWERS = {"y": "once", "Y": "once", "ｙ": "once", "s": "always", "ｓ": "always",
           "n": "no", "N": "no", "ｎ": "no", "escape": "no"}  # fmt: skip


def test_a_key_answers() -> None:
    async def answer() -> None:
        async with hosting() as (pilot, host):
            for key, choice in ANSWERS.items():
                await ask(pilot, host)
                await pilot.press(key)
                assert (await decided(pilot, host)).choice == choice, key

    asyncio.run(answer())


def test_other_keys_answer_nothing() -> None:
    async def answer() -> None:
        async with asked() as (pilot, host, screen):
            for key in ("enter", "space", "a", "tab", "ctrl+y", "1", "Ä", "你", "left"):
                screen._deaf_until = 0.0
                await pilot.press(key, key)
            await pilot.pause(2 * approval.SETTLE)
            assert pilot.app.screen is screen
            assert host.decisions == []

    asyncio.run(answer())


def test_without_a_grant_s_answers_nothing() -> None:
    async def answer() -> None:
        async with asked(question(OLD, NEW, ".git/config", grant=None)) as (pilot, host, screen):
            assert "This file asks every time." in "\n".join(shown(pilot))
            assert "without asking" not in "\n".join(shown(pilot))
            await pilot.press("s")
            await pilot.pause(2 * approval.SETTLE)
            assert pilot.app.screen is screen
            assert host.decisions == []

    asyncio.run(answer())


def test_a_click_answers() -> None:
    async def answer() -> None:
        async with hosting() as (pilot, host):
            for letter, choice in (("y", "once"), ("s", "always"), ("n", "no")):
                await ask(pilot, host)
                await pilot.click(f"#choice-{letter}", offset=(5, 0))
                assert (await decided(pilot, host)).choice == choice

    asyncio.run(answer())


def test_clicks_elsewhere_answer_nothing() -> None:
    async def answer() -> None:
        one = question(OLD, NEW, grant=None)
        async with asked(one) as (pilot, host, screen):
            for place in ("#head", "#change", ".note", "#foot"):
                await pilot.click(place)
            await pilot.click(offset=(1, 1))
            await pilot.pause()
            assert pilot.app.screen is screen
            assert host.decisions == []

    asyncio.run(answer())


def test_a_refusal_may_have_a_reason() -> None:
    async def answer() -> None:
        async with hosting() as (pilot, host):
            for by in ("key", "click"):
                screen = await ask(pilot, host)
                await (pilot.press("r") if by == "key" else pilot.click("#choice-r", offset=(5, 0)))
                await pilot.pause()
                assert screen.query_one(Input).has_focus
                await pilot.press(*"yes, not now", "enter")
                assert await decided(pilot, host) == Decision("no", "yes, not now")

    asyncio.run(answer())


def test_escape_in_the_reason_refuses_without_one() -> None:
    async def answer() -> None:
        async with asked() as (pilot, host, _):
            await pilot.press("r", *"ys", "escape")
            assert await decided(pilot, host) == Decision("no")

    asyncio.run(answer())


def test_w_shows_the_whole_file_and_back() -> None:
    async def look() -> None:
        old = [f"line {number}" for number in range(100)]
        new = [*old[:50], "ADDED", *old[51:]]
        async with asked(question(old, new)) as (pilot, host, screen):
            view = screen.query_one(ChangeView)
            assert "of 9" in "\n".join(shown(pilot))
            await pilot.press("w")
            await pilot.pause()
            assert "lines 1–20 of 101" in "\n".join(shown(pilot))
            assert "Show only the change" in "\n".join(shown(pilot))
            rows = [view.layout_of.row(one).plain.split() for one in range(101)]
            assert ["-", "line", "50"] in [one[1:] for one in rows]
            assert ["51", "+", "ADDED"] in rows
            await pilot.press("w")
            await pilot.pause()
            assert "of 9" in "\n".join(shown(pilot))
            assert host.decisions == []

    asyncio.run(look())


# --- by accident -----------------------------------------------------------------------


def test_it_is_deaf_until_it_could_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(approval, "DEAF", 60.0)

    async def type_on() -> None:
        async with hosting() as (pilot, host):
            screen = host.ask(question(OLD, NEW))
            await pilot.press("y", "s", "n", "escape")
            await settled(pilot, screen)
            await pilot.press("y", "n", "escape")
            for letter in "ysn":
                await pilot.click(f"#choice-{letter}", offset=(5, 0))
            await pilot.pause(2 * approval.SETTLE)
            assert host.decisions == []
            assert pilot.app.screen is screen

    asyncio.run(type_on())


def test_typing_on_keeps_it_deaf() -> None:
    async def type_on() -> None:
        async with asked() as (pilot, host, screen):
            now = asyncio.get_running_loop().time()
            for number in range(40):  # a letter each 0.1 s, over four seconds
                key = events.Key("y", "y")
                key.time = now + 0.1 * number
                if number == 0:
                    screen._deaf_until = now + approval.DEAF
                screen.on_key(key)
            await pilot.pause(2 * approval.SETTLE)
            assert host.decisions == []
            key = events.Key("y", "y")
            key.time = now + 4.0 + approval.DEAF
            screen.on_key(key)
            assert (await decided(pilot, host)).choice == "once"

    asyncio.run(type_on())


def test_a_word_is_no_answer() -> None:
    async def type_it() -> None:
        async with asked() as (pilot, host, screen):
            for word in ("yes", "system", "sy", "yy"):
                screen._deaf_until = 0.0
                for letter in word:
                    pilot.app.post_message(events.Key(letter, letter))
                await pilot.pause(2 * approval.SETTLE)
                assert host.decisions == []
                assert pilot.app.screen is screen

    asyncio.run(type_it())


def test_a_paste_is_no_answer() -> None:
    async def paste() -> None:
        async with asked() as (pilot, host, screen):
            for text in ("y", "n", "s", "yes\n"):
                screen._deaf_until = 0.0
                pilot.app.post_message(events.Paste(text))
                await pilot.pause(2 * approval.SETTLE)
                assert host.decisions == []
                assert pilot.app.screen is screen

    asyncio.run(paste())


def test_after_another_screen_it_is_deaf_again() -> None:
    async def look() -> None:
        async with asked() as (pilot, host, screen):
            await pilot.app.push_screen(Screen())
            pilot.app.pop_screen()
            await pilot.pause()
            await pilot.press("y")
            await pilot.pause(2 * approval.SETTLE)
            assert host.decisions == []
            assert pilot.app.screen is screen

    asyncio.run(look())


def test_the_click_that_brings_the_terminal_back_is_no_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It opens while another program has the focus; the click is meant for the terminal."""
    monkeypatch.setattr(approval, "DEAF", 60.0)

    async def look() -> None:
        async with asked() as (pilot, host, screen):
            host.post_message(events.AppBlur())
            await pilot.pause()
            screen._deaf_until = 0.0  # for long
            host.post_message(events.AppFocus())
            await pilot.pause()
            await pilot.click("#choice-y")
            await pilot.press("y", "n", "escape")
            await pilot.pause(2 * approval.SETTLE)
            assert host.decisions == []

    asyncio.run(look())


def test_a_question_is_withdrawn_from_under_another_screen() -> None:
    async def look() -> None:
        async with asked() as (pilot, host, screen):
            await pilot.app.push_screen(Screen())
            screen.withdraw()
            await pilot.pause()
            assert host.decisions == []
            pilot.app.pop_screen()
            assert (await decided(pilot, host)).choice == "no"

    asyncio.run(look())


# --- in the program --------------------------------------------------------------------


@pytest.mark.parametrize(("key", "content"), [("y", "TWO\n"), ("n", "two\n"), ("escape", "two\n")])
def test_an_answer_decides_about_the_file(tmp_path: Path, key: str, content: str) -> None:
    async def answer() -> None:
        work = tmp_path / "work"
        work.mkdir()
        (work / "notes.txt").write_text("two\n")
        desk = desk_in(
            tmp_path,
            [call("create", name="editor", args={"path": "notes.txt"}),
             call("action", window_id="editor_1", action_id="replace",
                  params={"old": "two", "new": "TWO"}),
             call("action", window_id="editor_1", action_id="save", params={})],
            "Done.",
        )  # fmt: skip
        async with running(desk) as pilot:
            app = pilot.app
            assert isinstance(app, ContextUIApp)
            app.main.send("go")
            await until(pilot, lambda: isinstance(app.screen, ApprovalScreen))
            screen = app.screen
            assert isinstance(screen, ApprovalScreen)
            assert (work / "notes.txt").read_text() == "two\n"
            await until(pilot, lambda: screen._deaf_until < float("inf"))
            await pilot.pause(approval.DEAF)
            await pilot.press(key)
            await until(pilot, lambda: "Done." in "\n".join(lines(pilot)))
            assert (work / "notes.txt").read_text() == content

    asyncio.run(answer())
