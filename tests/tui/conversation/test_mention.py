"""Mentions in the prompt: the list of files, the inserted word, and what is sent."""

import os
from collections.abc import Iterable
from functools import partial
from pathlib import Path

from textual.pilot import Pilot

from contextui.agent.approval import Decision, Question
from contextui.agent.mention import typed_mention
from contextui.context.item import ContextItem
from contextui.names import BESIDE
from contextui.session.store import SessionStore
from contextui.tui.conversation.popup import Popup
from tests.tui.running import desk_in, lines, prompt, running, say, shown, until
from tests.tui.sharing import SharedChat
from tests.windows.git.conftest import run


def _holds(pilot: "Pilot[int]", text: str) -> bool:
    return prompt(pilot).text == text


def popup(pilot: "Pilot[int]") -> Popup:
    return pilot.app.screen.query_one(Popup)


def beside(items: Iterable[ContextItem]) -> list[ContextItem]:
    """The files that the person attached."""
    beside = (one for one in items if one.id.startswith(BESIDE))
    return [one for one in beside if one.content.startswith("The person attached")]


def marks(pilot: "Pilot[int]") -> dict[str, str]:
    """The marks of git in the popup, between age and tokens."""
    rows = (str(one.prompt).split() for one in popup(pilot).options)
    return {row[0]: row[-3] for row in rows if len(row) == 5}


def files_in(tmp_path: Path, **contents: str) -> None:
    for name, content in contents.items():
        path = tmp_path / "work" / name.replace("__", "/").replace("_py", ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)


def test_what_is_being_typed() -> None:
    assert typed_mention("see @car") == (4, "car")
    assert typed_mention("@") == (1, "")
    assert typed_mention('see @"my no') == (7, "my no")
    assert typed_mention("see @car ") is None  # a space ends it
    assert typed_mention("me@example") is None


async def test_a_file_is_found_inserted_and_sent(tmp_path: Path) -> None:
    files_in(tmp_path, src__shop__cart_py="total = 1\n")
    work = tmp_path / "work"
    run(work, "init", "--quiet")
    run(work, "add", "--all")
    files_in(tmp_path, src__shop__cart_py="total = 0\n", docs__other_py="x = 1\n")
    desk = desk_in(tmp_path, "I read it.")
    async with running(desk) as pilot:
        await pilot.press("@")
        changed = {"src/shop/cart.py": "A", "docs/other.py": "?"}
        await until(pilot, lambda: marks(pilot) == changed)
        await pilot.press("backspace")
        await pilot.press(*"see", "space", *"@cart")
        await until(pilot, lambda: popup(pilot).display and shown(pilot, "src/shop/cart.py"))
        assert shown(pilot, "2 files")
        await pilot.press("tab")
        await until(pilot, lambda: prompt(pilot).text == "see @src/shop/cart.py ")
        assert not popup(pilot).display
        await pilot.press("backspace", "backspace")  # the space, then the whole mention
        assert prompt(pilot).text == "see "
        await pilot.press(*"@cart", "enter")
        await until(pilot, lambda: prompt(pilot).text == "see @src/shop/cart.py ")
        await pilot.press("enter")
        await until(pilot, lambda: shown(pilot, "I read it."))
        (item,) = beside(desk.session.context.get_all())
        assert item.content == ("The person attached src/shop/cart.py (1 lines):\n1 total = 0")
        following = desk.session.context.get_all()[-2]
        assert following.content == "see @src/shop/cart.py"
        session = desk.session.id
    info = SessionStore(tmp_path / "home").list()[0]
    assert info.id == session
    assert info.first_words == "see @src/shop/cart.py"  # the title is the person's words


async def test_escape_and_a_space_close_the_list_a_large_file_offers_all_and_names_are_inert(
    tmp_path: Path,
) -> None:
    source = "".join(f"def f{number}():\n    return {number}\n" for number in range(3_000))
    files_in(tmp_path, a_py="x = 1\n", big_py=source)
    (tmp_path / "work" / "! rm [red]x\x1b.py").write_text("x")
    async with running(desk_in(tmp_path, "Fine.")) as pilot:
        await pilot.press(*"@a")
        await until(pilot, lambda: popup(pilot).display)
        await pilot.press("escape")
        assert not popup(pilot).display
        await pilot.press(".")  # still the same word
        await pilot.pause()
        assert not popup(pilot).display
        await pilot.press("space", "@")
        await until(pilot, lambda: popup(pilot).display)
        await pilot.press("space")
        assert not popup(pilot).display
        assert prompt(pilot).text == "@a. @ "
        await pilot.press("x", "enter")
        await until(pilot, lambda: shown(pilot, "Fine."))

        await pilot.press(*"@big")
        await until(pilot, lambda: shown(pilot, "big.py"))
        await pilot.press("enter")
        await until(pilot, lambda: shown(pilot, "as outline, enter again for all"))
        assert prompt(pilot).text == "@big.py "
        await pilot.press("enter")
        await until(pilot, lambda: prompt(pilot).text == "@big.py:all ")
        assert not popup(pilot).display
        await pilot.press("backspace", "backspace")
        assert prompt(pilot).text == ""

        await pilot.press("@", "r", "m")
        await until(pilot, lambda: shown(pilot, "rm [red]x"))
        assert not any("\x1b" in one for one in lines(pilot))
        await pilot.press("enter")
        await until(pilot, lambda: prompt(pilot).text.startswith('@"! rm'))
        assert "\x1b" not in prompt(pilot).text
        assert not prompt(pilot).is_shell


async def test_what_is_not_sent_stays_in_the_prompt(pilot: "Pilot[int]", chat: SharedChat) -> None:
    desk = chat.desk
    before = len(desk.session.context.get_all())
    for text, reason in (
        ("read @/etc/passwd now", "leads out of the workspace"),
        ('read @"gone.txt" now', "There is no file"),
    ):
        prompt(pilot).put(text)
        await pilot.press("enter")
        await until(pilot, partial(shown, pilot, reason))
        await until(pilot, partial(_holds, pilot, text))
        prompt(pilot).clear()
    assert len(desk.session.context.get_all()) == before


async def test_a_secret_is_only_sent_if_the_person_allows_it(
    pilot: "Pilot[int]", chat: SharedChat
) -> None:
    chat.answer("Seen.", "The text @.env and !cat .env")
    desk = chat.desk
    files_in(chat.work.parent, **{".env": "TOKEN=abc"})
    os.symlink(".env", chat.work / "notes.txt")
    asked: list[str] = []
    choice = ["no"]

    async def ask(question: Question) -> Decision:
        asked.append(question.target)
        return Decision("once" if choice[0] == "once" else "no")

    desk.controller.tools.gate.ask = ask
    prompt(pilot).put("see @notes.txt")
    await pilot.press("escape", "enter")
    await until(pilot, lambda: shown(pilot, "may hold secrets and was not sent"))
    await until(pilot, lambda: prompt(pilot).text == "see @notes.txt")
    assert asked == [".env"]
    assert beside(chat.said) == []
    choice[0] = "once"
    await pilot.press("enter")
    await until(pilot, lambda: shown(pilot, "Seen."))
    assert [one.content.partition("\n")[2] for one in beside(chat.said)] == ["1 TOKEN=abc"]
    await say(pilot, "go on")  # the model's answer mentions the file
    assert asked == [".env", ".env"]
    assert len(beside(chat.said)) == 1


async def test_messages_keep_their_order(pilot: "Pilot[int]", chat: SharedChat) -> None:
    chat.answer("One.", "Two.")
    files_in(chat.work.parent, a_py="x = 1\n")
    prompt(pilot).put("first @a.py")
    await pilot.press("escape", "enter")
    prompt(pilot).put("second")
    await pilot.press("enter")
    await until(pilot, lambda: shown(pilot, "Two."))
    said = [one.content for one in chat.said]
    assert said.index("first @a.py") < said.index("second")
