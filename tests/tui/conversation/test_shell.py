"""`!command`: what runs in the terminal, and everything that must not."""

import asyncio
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual import events
from textual.pilot import Pilot

from contextui.agent.approval import ApprovalGate
from contextui.agent.models.scripted import ScriptedModel, call
from contextui.tui import attention
from contextui.tui.app import ContextUIApp
from contextui.tui.conversation.prompt import Prompt
from contextui.tui.conversation.shell import CommandError, command_in
from contextui.tui.lines import SPINNER
from contextui.tui.link import Desk
from contextui.windowing.snapshot import Lod
from tests.tui.running import desk_in, lines, running, say, shown, until


def prompt(pilot: "Pilot[int]") -> Prompt:
    return pilot.app.screen.query_one(Prompt)


def content_of(desk: Desk) -> str:
    window = desk.session.windows.get("terminal_1")
    return str(window.content(Lod.FULL)) if window is not None else ""


async def type_in(pilot: "Pilot[int]", text: str) -> None:
    prompt(pilot).put(text)
    await pilot.pause()


def test_a_command_runs_in_a_terminal_as_the_person(tmp_path: Path) -> None:
    async def talk() -> None:
        desk = desk_in(tmp_path, "I see.")
        async with running(desk) as pilot:
            await pilot.press("!")
            await until(pilot, lambda: shown(pilot, "! runs in the terminal"))
            assert prompt(pilot).has_class("-shell")
            await pilot.press(*"echo", "space", *"$((40+2))", "enter")
            await until(pilot, lambda: "\n42" in content_of(desk))
            assert "(model)" not in content_of(desk)  # it is the person's
            assert prompt(pilot).text == ""
            assert not prompt(pilot).has_class("-shell")
            assert pilot.app.screen.focused is prompt(pilot)
            await until(pilot, lambda: ends(pilot) == ["✓ $ echo $((40+2)) exit 0"])
            await pilot.press(*"!echo", "space", *"again", "enter")
            await until(pilot, lambda: "again\n" in content_of(desk) + "\n")
            assert len(desk.session.windows.windows()) == 1  # the same terminal
            await say(pilot, "What happened?")
            items = [one.content for one in desk.session.context.get_all()]
            assert any("The person did this" in one and "terminal_1.run" in one for one in items)
            assert "!echo $((40+2))" not in items  # it was no message

    asyncio.run(talk())


def test_it_stands_behind_the_prompt_of_the_shell_as_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".bashrc").write_text("PS1='now> '\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SHELL", "/bin/bash")

    async def talk() -> None:
        desk = desk_in(tmp_path)
        async with running(desk) as pilot:
            await type_in(pilot, "!echo again")
            await pilot.press("enter")
            await until(pilot, lambda: shown(pilot, "now> echo again"))

    asyncio.run(talk())


def test_it_runs_while_a_turn_runs_and_without_a_question(tmp_path: Path) -> None:
    async def talk() -> None:
        desk = desk_in(tmp_path)
        desk.controller.tools.gate.mode = "read-only"  # that is for the model
        async with running(desk) as pilot:
            await type_in(pilot, "!touch made")
            await pilot.press("enter")
            await until(pilot, (tmp_path / "work" / "made").exists)

    asyncio.run(talk())


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("!", "Type a command after the !"),
        ("!  ", "Type a command after the !"),
        ("!touch one\ntouch two", "A command is one line here"),
        ("!touch\u200d one", "invisible character"),
    ],
)
def test_what_cannot_run_is_said_and_the_text_stays(tmp_path: Path, text: str, reason: str) -> None:
    async def talk() -> None:
        desk = desk_in(tmp_path)
        async with running(desk) as pilot:
            await type_in(pilot, text)
            await pilot.press("enter")
            await until(pilot, lambda: shown(pilot, reason))
            assert prompt(pilot).text == text.strip()
            assert not desk.session.windows.windows()
            assert list((tmp_path / "work").iterdir()) == []

    asyncio.run(talk())


def test_nothing_but_the_persons_own_prompt_runs(tmp_path: Path) -> None:
    """A model's answer, a tool result, first words, a queued message, pastes: all just text."""

    async def talk() -> None:
        made = "!touch made"
        desk = desk_in(
            tmp_path,
            made,  # the model's answer to the first words
            call("create", name="todo", args={"items": [made]}),
            f"Done.\n{made}",
            "Three.",
            "Four.",
            "Five.",
        )
        async with running(desk, first_words=made) as pilot:
            app = pilot.app
            assert isinstance(app, ContextUIApp)
            talk = app.main.talk
            assert talk is not None
            await until(pilot, lambda: talk.last is not None and not talk.is_running)
            await say(pilot, made)  # as `send` gets it, from a suggestion or a queue
            await type_in(pilot, f"see\n{made}\n")  # not the first character
            await pilot.press("enter")
            await until(pilot, lambda: shown(pilot, "Three."))
            await type_in(pilot, f" {made}")
            await pilot.press("enter")
            await until(pilot, lambda: shown(pilot, "Four."))
            prompt(pilot).post_message(events.Paste(made + " " * 30_000))  # a large paste
            await until(pilot, lambda: "[pasted" in prompt(pilot).text)
            assert not prompt(pilot).is_shell
            await pilot.press("enter")
            await until(pilot, lambda: shown(pilot, "Five."))
            assert not [one for one in desk.session.windows.windows() if one.name == "terminal"]
            assert not (tmp_path / "work" / "made").exists()

    asyncio.run(talk())


def test_a_paste_waits_for_enter_and_shows_what_it_would_do(tmp_path: Path) -> None:
    async def talk() -> None:
        desk = desk_in(tmp_path)
        async with running(desk) as pilot:
            prompt(pilot).post_message(events.Paste("!touch made\n"))
            await until(pilot, lambda: shown(pilot, "! runs in the terminal"))
            await pilot.pause(0.1)
            assert not desk.session.windows.windows()
            assert not (tmp_path / "work" / "made").exists()

    asyncio.run(talk())


def test_a_session_that_ends_badly_keeps_the_command(tmp_path: Path) -> None:
    async def talk() -> None:
        desk = desk_in(tmp_path, windows=[])  # no terminal is installed
        async with running(desk) as pilot:
            await type_in(pilot, "!ls")
            await pilot.press("enter")
            await until(pilot, lambda: shown(pilot, "There is no terminal window"))
            assert prompt(pilot).text == "!ls"

    asyncio.run(talk())


@given(st.text(max_size=20))
def test_a_command_is_one_visible_line(text: str) -> None:
    try:
        command = command_in("!" + text)
    except CommandError:
        return
    assert command == text.strip()
    assert command
    assert command.isprintable()


# --- how a command ended ---------------------------------------------------------------


async def run(pilot: "Pilot[int]", command: str) -> None:
    await type_in(pilot, f"!{command}")
    await pilot.press("enter")


def log_lines(pilot: "Pilot[int]") -> list[str]:
    """What the conversation shows, without the panes beside it."""
    region = pilot.app.screen.query_one("#log").content_region
    rows = lines(pilot)[region.y : region.bottom]
    return [one[region.x : region.right].strip() for one in rows]


def ends(pilot: "Pilot[int]") -> list[str]:
    """The lines of commands that ended, without the time that they took."""
    found = (re.fullmatch(r"([✓✗·] \$ .+?) +[\d.]+s", one) for one in log_lines(pilot))
    return [re.sub(" +", " ", one[1]) for one in found if one is not None]


@pytest.fixture
def bash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".bashrc").write_text("PS1='now> '\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SHELL", "/bin/bash")


@pytest.mark.usefixtures("bash")
@pytest.mark.parametrize("size", [(80, 24), (120, 60)])
def test_the_end_and_the_last_lines_of_a_command_are_shown(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    async def talk() -> None:
        desk = desk_in(tmp_path)
        async with running(desk, size) as pilot:
            await run(pilot, "true")
            await until(pilot, lambda: ends(pilot) == ["✓ $ true exit 0"])
            assert "No output." in log_lines(pilot)
            await run(pilot, "echo two words; (exit 3)")
            await until(pilot, lambda: "✗ $ echo two words; (exit 3) exit 3" in ends(pilot))
            assert "two words" in log_lines(pilot)
            await run(pilot, "seq 101 120")
            await until(pilot, lambda: "✓ $ seq 101 120 exit 0" in ends(pilot))
            chat = log_lines(pilot)
            at = chat.index("… 12 more lines in terminal_1. ctrl+g 1 goes there.")
            assert chat[at + 1 : at + 9] == [str(one) for one in range(113, 121)]
            assert content_of(desk).count("\n105") == 1  # all of it is in the terminal

    asyncio.run(talk())


@pytest.mark.usefixtures("bash")
def test_a_command_that_runs_long_is_shown_to_run_and_holds_nothing_up(tmp_path: Path) -> None:
    async def talk() -> None:
        desk = desk_in(tmp_path, "An answer.")
        gate = tmp_path / "work" / "gate"
        async with running(desk, (80, 24)) as pilot:
            await run(pilot, "until [ -e gate ]; do sleep 0.05; done; echo over")
            await until(pilot, lambda: shown(pilot, "Runs in terminal_1. ctrl+g 1 goes there."))
            await say(pilot, "Hello")
            assert shown(pilot, "An answer.")
            assert not ends(pilot)
            assert any(one in "".join(log_lines(pilot)) for one in SPINNER)
            gate.touch()
            await until(pilot, lambda: len(ends(pilot)) == 1)
            chat = log_lines(pilot)
            assert chat.index("over") < chat.index("An answer.")  # where it was started
            assert not shown(pilot, "Runs in terminal_1")

    asyncio.run(talk())


@pytest.mark.usefixtures("bash")
def test_a_full_screen_program_leaves_no_lines(tmp_path: Path) -> None:
    async def talk() -> None:
        desk = desk_in(tmp_path)
        async with running(desk, (80, 24)) as pilot:
            await run(pilot, r"printf '\033[?1049h\033[2Jrubbish\r\n%s\033[?1049l' more")
            await until(pilot, lambda: len(ends(pilot)) == 1)
            assert "A full-screen program." in log_lines(pilot)
            assert "more" not in log_lines(pilot)
            assert not any(one.startswith("rubbish") for one in log_lines(pilot))
            await run(pilot, r"printf '\033[?1049h\033[2Jrubbish\033[?1049l'; echo $((6*7))")
            await until(pilot, lambda: "42" in log_lines(pilot))  # as after the editor of a commit

    asyncio.run(talk())


@pytest.mark.usefixtures("bash")
def test_hostile_and_wide_output_is_shown_harmless_and_in_one_row_each(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    wide = "wide " + "把牛奶" * 200
    hostile = "a\u202eb\x1b]52;c;aGk=\x07\x1b]0;owned\x07\x9b31m[/] [@click=app.quit]x[/]\x01\ty"
    (tmp_path / "work" / "file").write_text(f"{wide}\n{hostile}\nlast\n")

    async def talk() -> None:
        desk = desk_in(tmp_path)
        async with running(desk, (80, 24)) as pilot:
            await run(pilot, "cat file")
            await until(pilot, lambda: ends(pilot) == ["✓ $ cat file exit 0"])
            chat = log_lines(pilot)
            at = next(at for at, one in enumerate(chat) if one.startswith("wide 把牛奶"))
            assert chat[at].endswith("…")
            assert chat[at + 1].startswith("a\\u202eb")
            assert "[/] [@click=app.quit]x[/]" in chat[at + 1]
            assert chat[at + 2] == "last"
            assert not set("".join(lines(pilot))) & set("\x00\x01\x07\x08\t\x1b\x7f\x9b\u202e")

    asyncio.run(talk())


@pytest.mark.usefixtures("bash")
def test_a_command_that_is_ended_or_whose_terminal_is_closed_says_so(tmp_path: Path) -> None:
    async def talk() -> None:
        desk = desk_in(tmp_path)
        async with running(desk, (80, 24)) as pilot:
            await run(pilot, "sleep 1001")
            await until(pilot, lambda: shown(pilot, "Runs in terminal_1"))
            result = await desk.session.windows.act("terminal_1", "cancel", actor="person")
            assert result.ok
            await until(pilot, lambda: ends(pilot) == ["✗ $ sleep 1001"])
            assert "Stopped." in log_lines(pilot)
            await run(pilot, "sleep 1002")
            await until(pilot, lambda: shown(pilot, "Runs in terminal_1"))
            await asyncio.to_thread(desk.session.windows.close, "terminal_1")
            await until(pilot, lambda: "✗ $ sleep 1002" in ends(pilot))
            assert "terminal_1 closed." in log_lines(pilot)
            await run(pilot, "echo $((6*7))")  # in a new one
            await until(pilot, lambda: "✓ $ echo $((6*7)) exit 0" in ends(pilot))
            await run(pilot, "exit 4")  # the shell itself ends, with a status of its own
            await until(pilot, lambda: "· $ exit 4" in ends(pilot))

    asyncio.run(talk())


@pytest.mark.usefixtures("bash")
def test_the_lines_are_on_the_screen_only(tmp_path: Path) -> None:
    async def talk() -> None:
        model = ScriptedModel("I see.")
        desk = desk_in(tmp_path, model=model)
        before = [one.content for one in desk.session.context.get_all()]
        async with running(desk) as pilot:
            await run(pilot, "echo $((40+2))-times")
            await until(pilot, lambda: "42-times" in log_lines(pilot))
            items = [one.content for one in desk.session.context.get_all()]
            assert not [one for one in items if one not in before and "42-times" in one]
            await say(pilot, "What happened?")
            (request,) = model.requests
            assert str(request).count("42-times") == 1  # in the window
        resumed = desk_in(tmp_path, session_id=desk.session.id)
        async with running(resumed) as pilot:
            await until(pilot, lambda: "I see." in log_lines(pilot))
            assert not ends(pilot)
            assert not shown(pilot, "Runs in")
            assert "\n42-times" in content_of(resumed)
            await run(pilot, "echo $((50+1))-times")
            await until(pilot, lambda: "51-times" in log_lines(pilot))

    asyncio.run(talk())


@pytest.mark.usefixtures("bash")
def test_a_command_that_ends_out_of_sight_is_announced(tmp_path: Path) -> None:
    async def talk() -> None:
        desk = desk_in(tmp_path)
        async with running(desk, (80, 24)) as pilot:
            await run(pilot, "until [ -e gate ]; do sleep 0.05; done; echo over")
            await until(pilot, lambda: shown(pilot, "Runs in terminal_1"))
            app = pilot.app
            assert isinstance(app, ContextUIApp)
            for number in range(100):  # also its line is folded away
                app.main.note(f"note {number}")
                await pilot.pause()
            (tmp_path / "work" / "gate").touch()
            await until(pilot, lambda: shown(pilot, "✓ until [ -e gate ]"))
            conversation = app.main.conversation
            assert conversation is not None
            for _ in range(5):
                conversation.on_earlier_requested()
                await pilot.pause()
            conversation.scroll_home(animate=False)
            await until(pilot, lambda: "over" in log_lines(pilot))

    asyncio.run(talk())


@pytest.mark.usefixtures("bash")
def test_a_long_command_notifies_once_while_the_terminal_has_not_the_focus(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attention, "LONG", 0.0)
    monkeypatch.delenv("TMUX", raising=False)
    written: list[str] = []

    async def talk() -> None:
        desk = desk_in(tmp_path)
        desk.wakes, desk.notify = True, "bell"
        async with running(desk) as pilot:
            app = pilot.app
            assert isinstance(app, ContextUIApp)
            monkeypatch.setattr(app, "write_control", written.append)
            await run(pilot, "echo here")
            await until(pilot, lambda: len(ends(pilot)) == 1)
            assert written.count("\a") == 0
            await run(pilot, "until [ -e gate ]; do sleep 0.05; done")
            await until(pilot, lambda: shown(pilot, "Runs in terminal_1"))
            app.post_message(events.AppBlur())
            await until(pilot, lambda: not app.app_focus)
            (tmp_path / "work" / "gate").touch()
            await until(pilot, lambda: "\a" in written)
            await until(pilot, lambda: not desk.job_in("terminal_1"))
            app.main._take_changes()  # no report of the terminal starts a turn
            assert app.main.talk is not None
            assert not app.main.talk.is_running
            assert written.count("\a") == 1

    asyncio.run(talk())


@pytest.mark.usefixtures("bash")
def test_stopping_the_turn_ends_its_command_also_for_a_session_that_is_resumed(
    tmp_path: Path,
) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "slow.sh").write_text("touch begun; sleep 60; touch proof\n")

    async def stop() -> str:
        run = {"window_id": "terminal_1", "action_id": "run", "params": {"command": "bash slow.sh"}}
        steps = [call("create", name="terminal")], [call("action", **run)]
        desk = desk_in(tmp_path, *steps, approval=ApprovalGate("auto"))
        async with running(desk, (140, 40)) as pilot:
            await type_in(pilot, "go")
            await pilot.press("enter")
            await until(pilot, (tmp_path / "work" / "begun").exists)
            await pilot.press("escape")
            await until(pilot, lambda: shown(pilot, "Stopped. bash slow.sh was cancelled."))
            assert shown(pilot, "✗ terminal_1.run")
            await until(pilot, lambda: "exit 130" in content_of(desk))
            return desk.session.id

    async def resume(session_id: str) -> None:
        desk = desk_in(tmp_path, session_id=session_id)
        async with running(desk, (140, 40)) as pilot:
            await until(pilot, lambda: shown(pilot, "✗ terminal_1.run"))
            assert shown(pilot, "bash slow.sh was cancelled.")
            assert "exit 130" in content_of(desk)

    asyncio.run(resume(asyncio.run(stop())))
    assert not (tmp_path / "work" / "proof").exists()
