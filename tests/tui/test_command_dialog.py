"""The dialog before a command runs: what it shows, what each answer does, and editing."""

from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual.pilot import Pilot

from contextui.agent.approval import Decision, Grant, Question
from contextui.git.inspection import NamedProgram
from contextui.shell import NotSimpleError, suggest, words_of
from contextui.tui.dialogs import guard
from contextui.tui.dialogs.command import CommandField, CommandScreen, editable
from contextui.tui.dialogs.diff import ChangeView
from contextui.windowing.preview import CommandPreview, Preview, checked
from contextui.words import Lang, Words
from tests.tui.change import ODD, Host
from tests.tui.running import lines, until
from tests.tui.test_approval import ask, decided, host_of, unanswered

PYTEST = 'pytest -q tests/test_cart.py -k "discount and fast" --maxfail=3'
SIZES = [(80, 24), (120, 40)]


def question(line: str = PYTEST, **given: Any) -> Question:
    """The question about a command."""
    given = {"seconds": 60, "dropped": ("ANTHROPIC_API_KEY",), **given}
    command = CommandPreview(line, given.pop("folder", str(Path.home() / "src/shop")), **given)
    preview = checked(Preview(command=command), "terminal_1.run")
    pattern = reason = None
    try:
        pattern = suggest(words_of(line))
    except NotSimpleError as error:
        reason = error.message
    grant = Grant("terminal", "run", "all of it")
    return Question(
        "terminal_1", "run", "Run", {}, preview, grant=grant, pattern=pattern, no_pattern=reason
    )


async def asked(
    pilot: "Pilot[Any]", one: Question | None = None, lang: Lang = "en"
) -> tuple[Host, CommandScreen]:
    """A dialog that takes answers."""
    host = host_of(pilot)
    screen = await ask(pilot, host, one or question(), lang)
    assert isinstance(screen, CommandScreen)
    return host, screen


async def takes_answers(pilot: "Pilot[Any]", screen: CommandScreen) -> None:
    """Wait until the dialog is not deaf any more."""
    await pilot.pause()
    await until(
        pilot, lambda: not screen.has_class("-edits") and screen.guard.deaf_until != float("inf")
    )
    screen.guard.deaf_until = 0.0


def text_of(pilot: "Pilot[Any]") -> str:
    return "\n".join(lines(pilot))


# --- what it shows ---------------------------------------------------------------------


@pytest.mark.parametrize(("size", "lang"), [*zip(SIZES, ("en", "zh"), strict=True)])
async def test_it_shows_the_command_where_it_runs_and_what_a_grant_allows(
    pilot: "Pilot[Any]", lang: Lang
) -> None:
    words = Words(lang)
    _, screen = await asked(pilot, lang=lang)
    text = text_of(pilot)
    title = words("{model} wants to run a command in {folder}")
    parts = [
        "◆ " + title.format(model=words("model"), folder="~/src/shop"), f"$ {PYTEST}",
        words("every file you can, and the network"), "ANTHROPIC_API_KEY", "60",
        "terminal_1.run", words("Nothing runs until you choose."),
        "pytest -p plugin tests", "pytest && git push", "pytest > out.txt",
        "python -m pytest",
    ]  # fmt: skip
    for one in (
        "Folder", "Limit", "May reach", "Environment", "Run it once", "Refuse",
        "Run exactly this without asking", "also allows", "still asks",
        "Refuse with a reason…", "Edit it…",
    ):  # fmt: skip
        parts.append(words(one))
    parts.append(words("Run {pattern} without asking").format(pattern=" pytest * "))
    for part in parts:
        assert part in text, (part, text)
    assert screen.query_one(ChangeView).has_focus
    if lang == "zh":
        assert "wants" not in text
        assert "asking" not in text


@pytest.mark.parametrize("size", [(80, 24)])
async def test_without_a_pattern_the_reason_is_a_sentence(pilot: "Pilot[Any]") -> None:
    host, screen = await asked(pilot, question("pytest && git push"), "zh")
    assert "&& 连接了两条命令，无法按模式允许。" in text_of(pilot)
    assert not screen.query("#choice-p")
    await pilot.press("p")
    await unanswered(pilot, host)


async def test_a_sandbox_is_named_and_a_long_folder_stands_whole_below(pilot: "Pilot[Any]") -> None:
    await asked(pilot, question(reach="sandbox", can_sandbox=True))
    text = text_of(pilot)
    assert "this folder; no network" in text
    assert "--sandbox" not in text
    folder = "/" + "/".join(f"folder-{number}" for number in range(20))
    await asked(pilot, question(folder=folder, can_sandbox=True, dropped=(), seconds=None))
    text = text_of(pilot)
    assert "--sandbox limits it to this folder" in text
    assert "Limit         none" in text
    assert "Environment   yours  " in text
    assert "◆ model wants to run a command ─" in text
    assert "folder-19" in text


@pytest.mark.parametrize("size", [(60, 16)])
async def test_however_long_it_is_nothing_is_cut_and_every_answer_is_in_view(
    pilot: "Pilot[Any]",
) -> None:
    line = "\n".join(f"echo {number} {'word ' * 40}" for number in range(40)) + "\nrm -rf the_end"

    _, screen = await asked(pilot, question(line))
    text = text_of(pilot)
    for answer in ("y  Run it once", "s  Run exactly", "n  Refuse", "e  Edit it…"):
        assert answer in text, text
    assert "more rows" in text
    view = screen.query_one(ChangeView)
    rows = [view.layout_of.row(one).plain for one in range(view.count)]
    words = " ".join(row.lstrip("$>↪ ") for row in rows).replace("·", " ").split()
    assert words == line.split()
    await pilot.press("end")
    await pilot.pause()
    text = text_of(pilot)
    assert "rm -rf the_end" in text
    assert "more rows" not in text


@pytest.mark.parametrize("size", [(60, 16)])
async def test_a_pattern_is_not_offered_where_its_examples_do_not_fit(pilot: "Pilot[Any]") -> None:
    host, _screen = await asked(pilot)
    assert "pytest *" not in text_of(pilot)
    await pilot.press("p")
    await unanswered(pilot, host)


async def test_what_cannot_be_seen_is_spelled_and_nothing_is_raw(pilot: "Pilot[Any]") -> None:
    unseen = [one for one in ODD if one not in "\0\ud800"]
    line = "git log " + "".join(unseen) + "\x1b]0;owned\x07 [@click=app.quit]x[/]\r"

    told = question(line, folder="/src/\u202e\x1b", dropped=("A\x1bB",))
    _, screen = await asked(pilot, told)
    text = text_of(pilot)
    for char in unseen:
        assert f"⟨U+{ord(char):04X}⟩" in text, hex(ord(char))
        assert char not in text
    assert "[@click=app.quit]x[/]" in text
    assert "invisible characters, shown as ⟨U+…⟩" in text
    await pilot.press("e")
    await pilot.pause()
    field = screen.query_one(CommandField).text
    assert field == "git log ]0;owned [@click=app.quit]x[/]\n"
    assert not set(text_of(pilot)) & set(unseen)


@pytest.mark.parametrize("size", [(80, 24)])
async def test_programs_that_a_repository_names_are_shown_below_the_command(
    pilot: "Pilot[Any]",
) -> None:
    """H04: the person sees why a command that a pattern allows asks, and nothing of it is raw."""
    named = (
        NamedProgram("core.fsmonitor", "core.fsmonitor = touch /tmp/x   (.git/config)"),
        NamedProgram("hooks", "the hook \x1b[2J\u202e\u200b   (.git/hooks/x)"),
    )

    await asked(pilot, question("git status", programs=named), "zh")
    text = text_of(pilot)
    assert "$ git status" in text
    assert "此仓库指定的程序：core.fsmonitor, hooks" in text
    for _ in named:  # a small screen does not show all lines at once
        await pilot.press("down")
        await pilot.pause()
        text += text_of(pilot)
    assert "core.fsmonitor = touch /tmp/x   (.git/config)" in text
    assert "⟨U+001B⟩[2J" in text
    assert not any(char in text for char in "\x1b\u202e\u200b")


# --- answers ---------------------------------------------------------------------------


async def test_a_key_or_a_click_answers(pilot: "Pilot[Any]") -> None:
    host = host_of(pilot)
    for key, choice in (("s", "always"), ("p", "pattern")):
        await ask(pilot, host, question())
        await pilot.press(key)
        assert (await decided(pilot, host)).choice == choice
    await ask(pilot, host, question())
    await pilot.click("#choice-p", offset=(5, 0))
    assert await decided(pilot, host) == Decision("pattern")
    await ask(pilot, host, question())
    await pilot.press("r")
    await pilot.pause()
    await pilot.press(*"yes", "enter")
    assert await decided(pilot, host) == Decision("no", "yes")


async def test_keys_meant_for_something_else_answer_nothing(
    pilot: "Pilot[Any]", monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("DEAF", "SETTLE"):
        monkeypatch.setattr(guard, name, 60.0)  # however slow the machine is

    host = host_of(pilot)
    screen = host.ask(question())
    await pilot.press(*"yspe")  # before it can have been read
    assert screen.guard._pending is None
    assert not screen.has_class("-edits")
    host, screen = await asked(pilot)
    for keys in ("yes", "pytest", "spy", "ye"):
        screen.guard.deaf_until = 0.0
        await pilot.press(*keys)
        screen._ask_again() if screen.has_class("-edits") else None
        assert screen.guard._pending is None, keys
    screen.guard.deaf_until = 0.0
    for key in ("enter", "space", "tab", "ctrl+y", "w", "1"):
        await pilot.press(key)
    screen.post_message(events.Paste("y"))
    await pilot.pause()
    assert screen.guard._pending is None
    assert host.decisions == []


# --- editing ---------------------------------------------------------------------------


@pytest.mark.parametrize("size", [(80, 24)])
async def test_an_edited_command_is_shown_before_it_can_run(
    pilot: "Pilot[Any]", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard, "DEAF", 60.0)  # however slow the machine is

    host, screen = await asked(pilot)
    await pilot.press("e")
    await pilot.pause()
    field = screen.query_one(CommandField)
    assert field.has_focus
    assert field.text == PYTEST
    assert "Run it once" not in text_of(pilot)
    await pilot.press(*" -yspn")
    await unanswered(pilot, host)
    assert field.text == f"{PYTEST} -yspn"
    assert "-yspn" in text_of(pilot)
    await pilot.press("enter", "y")  # the same hand goes on typing
    await unanswered(pilot, host)
    await takes_answers(pilot, screen)
    text = text_of(pilot)
    assert "edited by you" in text
    assert "-yspn" in text
    for gone in ("without asking", "also allows", "still asks"):
        assert gone not in text
    await pilot.press("s")
    await pilot.press("p")
    await unanswered(pilot, host)
    screen.guard.deaf_until = 0.0
    await pilot.press("y")
    assert await decided(pilot, host) == Decision("once", edited=f"{PYTEST} -yspn")


async def test_an_edit_may_change_nothing(pilot: "Pilot[Any]") -> None:
    host = host_of(pilot)
    for keys in (["x", "backspace", "enter"], []):
        screen = await ask(pilot, host, question("git status"))
        assert isinstance(screen, CommandScreen)
        await pilot.press("e")
        await pilot.pause()
        if not keys:
            screen.query_one(CommandField).text = " "
        await pilot.press(*keys or ["enter"])
        await takes_answers(pilot, screen)
        assert host.decisions == []
        text = text_of(pilot)
        assert "edited by you" not in text
        assert "$ git status" in text
        await pilot.press("s")
        assert await decided(pilot, host) == Decision("always")


async def test_an_edit_goes_on_from_the_last_and_a_paste_holds_nothing_invisible(
    pilot: "Pilot[Any]",
) -> None:
    assert editable("a\r\nb\tc\u200b\x1b[31m\u202e") == "a\nb c[31m"

    host, screen = await asked(pilot, question("git status"))
    await pilot.press("e")
    await pilot.pause()
    await pilot.press("ctrl+j", *"ls", "enter")
    await takes_answers(pilot, screen)
    await pilot.press("e")
    await pilot.pause()
    field = screen.query_one(CommandField)
    assert field.text == "git status\nls"
    await pilot.press("x", "escape")
    await takes_answers(pilot, screen)
    text = text_of(pilot)
    assert "$ git status" in text
    assert "> ls" in text
    await pilot.press("e")
    await pilot.pause()
    field.post_message(events.Paste(" -s\u200b\x1b\r"))
    await pilot.pause()
    await pilot.press("enter")
    await takes_answers(pilot, screen)
    await pilot.press("y")
    assert await decided(pilot, host) == Decision("once", edited="git status\nls -s")


async def test_while_it_is_edited_a_key_before_approves_nothing_and_it_may_be_withdrawn(
    pilot: "Pilot[Any]",
) -> None:
    host, screen = await asked(pilot)
    screen._choose("y")
    screen._choose("e", at_once=True)  # by a click
    await unanswered(pilot, host)
    assert screen.query_one(CommandField).has_focus
    screen.withdraw()  # the turn was stopped
    assert await decided(pilot, host) == Decision("no")
