"""`!command`: what runs in the terminal, and everything that must not."""

import asyncio
import re
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual.pilot import Pilot

from contextui.agent.approval import ApprovalGate, Decision, Question
from contextui.agent.models.scripted import ScriptedModel, Step, call
from contextui.model import Block, ModelError
from contextui.session.fork import fork
from contextui.tui import attention
from contextui.tui.app_session import AppSession
from contextui.tui.conversation.entries import ModelWords, YourWords
from contextui.tui.conversation.shell import CommandError, CommandLine, check
from contextui.tui.lines import SPINNER
from contextui.windowing.runtime import runtime_of
from contextui.windowing.snapshot import Lod
from contextui.windowing.window import Window
from tests.tui.running import app_of, desk_in, lines, prompt, running, say, shown, until
from tests.tui.sharing import SharedChat


@pytest.fixture(autouse=True)
def bash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shell = shutil.which("bash") or pytest.skip("bash is missing")
    wait = "while [ -e ~/slow ]; do sleep 0.05; done"
    (tmp_path / ".bashrc").write_text(f"{wait}\nPS1='now> '\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SHELL", shell)


def terminal(desk: AppSession) -> Window:
    """The newest window."""
    return desk.session.windows.windows()[-1]


def content_of(desk: AppSession) -> str:
    return str(terminal(desk).content(Lod.FULL)) if desk.session.windows.windows() else ""


async def run(pilot: "Pilot[int]", command: str) -> None:
    prompt(pilot).say(f"!{command}")
    await pilot.pause()


def running_in(desk: AppSession) -> str:
    """The commands that run in terminals."""
    found = [runtime_of(one).jobs.running() for one in desk.session.windows.windows()]
    return " ".join(job.name for jobs in found for job in jobs)


def typed(window: Window, keys: bytes) -> Any:
    """Type into the shell of a terminal, and return it."""
    shell = window.state.shell  # type: ignore[attr-defined]
    runtime_of(window).worker.call_soon(lambda: shell.type(keys))
    return shell


async def runs(pilot: "Pilot[int]", desk: AppSession) -> str:
    """Wait until a command is shown to run, and say where."""
    await until(pilot, lambda: shown(pilot, "Runs in terminal_"))
    return terminal(desk).id


async def test_a_command_runs_in_a_terminal_as_the_person(
    pilot: "Pilot[int]", chat: SharedChat
) -> None:
    chat.answer("I see.")
    desk = chat.desk
    desk.controller.tools.gate.mode = "read-only"  # that is for the model
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
    await run(pilot, "echo again; touch made")
    await until(pilot, lambda: shown(pilot, "now> echo again; touch made"))  # as typed
    await until(pilot, lambda: "again\n" in content_of(desk) + "\n")
    await until(pilot, (chat.work / "made").exists)
    assert len(desk.session.windows.windows()) == 1  # the same terminal
    await say(pilot, "What happened?")
    items = [one.content for one in chat.said]
    ran = f"{terminal(desk).id}.run"
    assert any("The person did this" in one and ran in one for one in items)
    assert "!echo $((40+2))" not in items  # it was no message


async def test_what_cannot_run_is_said_and_the_text_stays(
    pilot: "Pilot[int]", chat: SharedChat
) -> None:
    for text, reason in (
        ("!", "Type a command after the !"),
        ("!touch one\ntouch two", "A command is one line here"),
        ("!touch\u200d one", "invisible character"),
    ):
        prompt(pilot).put(text)
        await pilot.press("enter")
        await until(pilot, partial(shown, pilot, reason))
        assert prompt(pilot).text == text
    prompt(pilot).clear()
    prompt(pilot).post_message(events.Paste("!touch made\n"))  # it waits for Enter
    await until(pilot, lambda: shown(pilot, "! runs in the terminal"))
    await pilot.pause(0.1)
    assert not chat.desk.session.windows.windows()
    assert list(chat.work.iterdir()) == []


async def test_escape_stops_a_command_until_the_next_message(
    pilot: "Pilot[int]", chat: SharedChat, tmp_path: Path
) -> None:
    """X08: it is stopped where it was started, also before it has started, and the one before."""
    chat.answer("An answer.")
    trapped = "trap 'exit 0' INT; touch begun; while :; do sleep 0.05; done # sleep 1001"
    for key, command in (("escape", "touch begun; sleep 1001"), ("ctrl+c", f'sh -c "{trapped}"')):
        await run(pilot, command)
        prompt(pilot).put("a draft")
        await until(pilot, lambda: shown(pilot, "esc stops"))
        await until(pilot, (chat.work / "begun").exists)
        await pilot.press(key)
        await until(pilot, lambda: "sleep 1001" not in running_in(chat.desk))
        await until(pilot, lambda: not shown(pilot, "esc stops"))
        assert prompt(pilot).text == "a draft"
        (chat.work / "begun").unlink()
    await until(pilot, lambda: len(stopped(pilot)) == 2)
    # In the terminal too, whatever the status.
    await until(pilot, lambda: sum(" stopped " in one for one in lines(pilot)) == 4)
    await asyncio.to_thread(chat.desk.session.windows.close, terminal(chat.desk).id)
    (tmp_path / "slow").touch()
    await run(pilot, "touch begun")
    await until(pilot, lambda: shown(pilot, "Starts in a new terminal."))
    await pilot.press("escape")
    await until(pilot, lambda: len(stopped(pilot)) == 3)
    (tmp_path / "slow").unlink()
    await run(pilot, "touch gone; until [ -e gate ]; do sleep 0.05; done")  # a server
    await until(pilot, (chat.work / "gone").exists)
    assert not (chat.work / "begun").exists()
    await say(pilot, "Hello")
    assert not shown(pilot, "esc stops")
    await pilot.press("escape", "ctrl+c")  # they clear the draft, and end nothing
    assert "gate" in running_in(chat.desk)
    for command in ("sleep 1003", "sleep 1004"):
        await run(pilot, command)
        await until(pilot, lambda command=command: command in running_in(chat.desk))  # type: ignore[misc]
    await run(pilot, "true")
    await until(pilot, lambda: "✓ $ true exit 0" in ends(pilot))
    for key, command, left in (("escape", "1004", "1003"), ("ctrl+c", "1003", "gate")):
        await pilot.press(key)
        await until(pilot, lambda command=command: command not in running_in(chat.desk))  # type: ignore[misc]
        assert left in running_in(chat.desk)
    await pilot.press("escape")
    assert "gate" in running_in(chat.desk)
    app_of(pilot).main.run_command("/stop")
    await until(pilot, lambda: "gate" not in running_in(chat.desk))
    await until(pilot, lambda: any("gate" in one for one in stopped(pilot)))


async def test_a_busy_terminal_leaves_a_command_to_an_idle_one_in_its_folder(
    pilot: "Pilot[int]", chat: SharedChat
) -> None:
    """X09: nothing is typed into a program, or behind what the person began to type."""
    work, windows = chat.work, chat.desk.session.windows
    (work / "inner").mkdir()
    for count, command, made in (
        (1, "cd inner; touch at", "inner/at"),
        (1, "touch first; read line; echo $line >typed", "inner/first"),
        (2, "touch second; cd ..", "inner/second"),  # a new one, in the folder of the first
        (2, "touch third; until [ -e gate ]; do sleep 0.05; done", "third"),
        (3, "touch fourth", "fourth"),
        (3, "touch fifth; exit", "fifth"),
        (4, "touch sixth", "sixth"),
    ):
        await run(pilot, command)
        await until(pilot, (work / made).exists)
        assert len(windows.windows()) == count
    await until(pilot, lambda: any("sixth" in one for one in ends(pilot)))
    core = runtime_of(terminal(chat.desk)).core
    shell, before = typed(terminal(chat.desk), b"rm -r "), core.touched
    await until(pilot, lambda: "rm -r" in shell.emulator.text())
    await run(pilot, "touch seventh")
    await until(pilot, (work / "seventh").exists)
    assert core.touched == before or core.touched[0] != "person"  # they did nothing there
    (work / "gate").touch()
    await until(pilot, lambda: "gate" not in running_in(chat.desk))
    await asyncio.to_thread(windows.close, terminal(chat.desk).id)
    await asyncio.to_thread(windows.close, terminal(chat.desk).id)
    await run(pilot, "touch eighth")
    await until(pilot, (work / "eighth").exists)
    assert len(windows.windows()) == 3
    typed(windows.windows()[0], b"mine\r")
    await until(pilot, (work / "inner" / "typed").exists)
    await until(pilot, lambda: not running_in(chat.desk))
    assert (work / "inner" / "typed").read_text() == "mine\n"


async def test_nothing_but_the_persons_own_prompt_runs(tmp_path: Path) -> None:
    """A model's answer, a tool result, first words, a queued message, pastes: all just text."""
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
        app = app_of(pilot)
        talk = app.main.turns
        assert talk is not None
        await until(pilot, lambda: talk.last is not None and not talk.is_running)
        await say(pilot, made)  # as `send` gets it, from a suggestion or a queue
        prompt(pilot).put(f"see\n{made}\n")  # not the first character
        await pilot.press("enter")
        await until(pilot, lambda: shown(pilot, "Three."))
        prompt(pilot).put(f" {made}")
        await pilot.press("enter")
        await until(pilot, lambda: shown(pilot, "Four."))
        prompt(pilot).post_message(events.Paste(made + " " * 30_000))  # a large paste
        await until(pilot, lambda: "[pasted" in prompt(pilot).text)
        assert not prompt(pilot).is_shell
        await pilot.press("enter")
        await until(pilot, lambda: shown(pilot, "Five."))
        assert not [one for one in desk.session.windows.windows() if one.name == "terminal"]
        assert not (tmp_path / "work" / "made").exists()


async def test_a_session_that_ends_badly_keeps_the_command(tmp_path: Path) -> None:
    desk = desk_in(tmp_path, windows=[])  # no terminal is installed
    async with running(desk) as pilot:
        prompt(pilot).put("!ls")
        await pilot.press("enter")
        await until(pilot, lambda: shown(pilot, "There is no terminal window"))
        assert prompt(pilot).text == "!ls"


def test_a_command_is_one_visible_line() -> None:
    for text in ("ls", "echo '世界'", "a | b && c"):
        check(text)
    for text in ("", "a\nb", "a\tb", "a\rb", "a\u2028b", "\x1b[2J", "a\0", "\u202eb", "\ud800"):
        with pytest.raises(CommandError):
            check(text)


# --- how a command ended ---------------------------------------------------------------


def log_lines(pilot: "Pilot[int]") -> list[str]:
    """What the conversation shows, without the panes beside it."""
    region = pilot.app.screen.query_one("#log").content_region
    rows = lines(pilot)[region.y : region.bottom]
    return [one[region.x : region.right].strip() for one in rows]


def stopped(pilot: "Pilot[int]") -> list[str]:
    """The lines of commands that were stopped."""
    return [one for one in log_lines(pilot) if one.startswith("· ") and " stopped " in one]


def ends(pilot: "Pilot[int]") -> list[str]:
    """The lines of commands that ended, without the time that they took."""
    found = (re.fullmatch(r"([✓✗·] \$ .+?) +[\d.]+s", one) for one in log_lines(pilot))
    return [re.sub(" +", " ", one[1]) for one in found if one is not None]


@pytest.mark.parametrize("size", [(80, 24)])
async def test_the_end_and_the_last_lines_of_a_command_are_shown(
    pilot: "Pilot[int]", chat: SharedChat
) -> None:
    await run(pilot, "true")
    await until(pilot, lambda: ends(pilot) == ["✓ $ true exit 0"])
    assert "No output." in log_lines(pilot)
    await run(pilot, "echo two words; (exit 3)")
    await until(pilot, lambda: "✗ $ echo two words; (exit 3) exit 3" in ends(pilot))
    assert "two words" in log_lines(pilot)
    await run(pilot, "seq 101 120")
    await until(pilot, lambda: "✓ $ seq 101 120 exit 0" in ends(pilot))
    log = log_lines(pilot)
    at = log.index(f"… 12 more lines in {terminal(chat.desk).id}. ctrl+g 1 goes there.")
    assert log[at + 1 : at + 9] == [str(one) for one in range(113, 121)]
    assert content_of(chat.desk).count("\n105") == 1  # all of it is in the terminal


@pytest.mark.parametrize("size", [(80, 24)])
async def test_full_screen_hostile_and_wide_output_is_shown_harmless(
    pilot: "Pilot[int]", chat: SharedChat
) -> None:
    wide = "wide " + "把牛奶" * 200
    hostile = "a\u202eb\x1b]52;c;aGk=\x07\x1b]0;owned\x07\x9b31m[/] [@click=app.quit]x[/]\x01\ty"
    await run(pilot, r"printf '\033[?1049h\033[2Jrubbish\r\n%s\033[?1049l' more")
    await until(pilot, lambda: len(ends(pilot)) == 1)
    assert "A full-screen program." in log_lines(pilot)
    assert "more" not in log_lines(pilot)
    assert not any(one.startswith("rubbish") for one in log_lines(pilot))
    await run(pilot, r"printf '\033[?1049h\033[2Jrubbish\033[?1049l'; echo $((6*7))")
    await until(pilot, lambda: "42" in log_lines(pilot))  # as after the editor of a commit
    (chat.work / "file").write_text(f"{wide}\n{hostile}\nlast\n")
    await run(pilot, "cat file")
    await until(pilot, lambda: "✓ $ cat file exit 0" in ends(pilot))
    log = log_lines(pilot)
    at = next(at for at, one in enumerate(log) if one.startswith("wide 把牛奶"))
    assert log[at].endswith("…")
    assert log[at + 1].startswith("a\\u202eb")
    assert "[/] [@click=app.quit]x[/]" in log[at + 1]
    assert log[at + 2] == "last"
    assert not set("".join(lines(pilot))) & set("\x00\x01\x07\x08\t\x1b\x7f\x9b\u202e")


@pytest.mark.parametrize("size", [(80, 24)])
async def test_a_command_that_runs_long_holds_nothing_up_and_its_end_out_of_sight_is_announced(
    pilot: "Pilot[int]", chat: SharedChat
) -> None:
    chat.answer("An answer.")
    await run(pilot, "until [ -e gate ]; do sleep 0.05; done; echo over")
    where = await runs(pilot, chat.desk)
    assert shown(pilot, f"Runs in {where}. ctrl+g 1 goes there.")
    await say(pilot, "Hello")
    assert shown(pilot, "An answer.")
    assert not ends(pilot)
    assert any(one in "".join(log_lines(pilot)) for one in SPINNER)
    app = app_of(pilot)
    conversation = app.main.conversation
    mine, answer = (conversation.query_one(one).region for one in (YourWords, ModelWords))
    assert answer.y == mine.bottom + 1
    for number in range(65):  # also its line is folded away
        app.main.note(f"note {number}")
    await until(pilot, lambda: not conversation.query(CommandLine))
    await until(pilot, lambda: shown(pilot, "note 64"))
    (chat.work / "gate").touch()
    await until(pilot, lambda: shown(pilot, "✓ until [ -e gate ]"))
    while not conversation.query(CommandLine):
        conversation.show_earlier()
        await pilot.pause()
    conversation.scroll_home(animate=False)
    await until(pilot, lambda: any(one.startswith("over ") for one in log_lines(pilot)))
    log = [one.split("   ")[0] for one in log_lines(pilot)]
    assert log.index("over") < log.index("An answer.")  # where it was started


@pytest.mark.parametrize("size", [(80, 24)])
async def test_a_command_whose_terminal_is_closed_says_so(
    pilot: "Pilot[int]", chat: SharedChat
) -> None:
    windows = chat.desk.session.windows
    await run(pilot, "sleep 1002")
    where = await runs(pilot, chat.desk)
    await asyncio.to_thread(windows.close, where)
    await until(pilot, lambda: "✗ $ sleep 1002" in "".join(ends(pilot)))
    assert f"{where} closed." in log_lines(pilot)
    await run(pilot, "echo $((6*7))")  # in a new one
    await until(pilot, lambda: "✓ $ echo $((6*7)) exit 0" in ends(pilot))
    await run(pilot, "exit 4")  # the shell itself ends, with a status of its own
    await until(pilot, lambda: "· $ exit 4" in ends(pilot))


async def test_the_lines_are_on_the_screen_only_and_stopping_the_turn_ends_its_command(
    tmp_path: Path,
) -> None:
    """Both also for a session that is resumed."""
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "slow.sh").write_text("touch begun; sleep 60; touch proof\n")
    slow = {"window_id": "terminal_1", "action_id": "run", "params": {"command": "bash slow.sh"}}
    model = ScriptedModel("I see.", [call("action", **slow)])
    desk = desk_in(tmp_path, model=model, approval=ApprovalGate("auto"))
    before = [one.content for one in desk.session.context.get_all()]
    async with running(desk, (140, 40)) as pilot:
        await run(pilot, "echo $((40+2))-times")
        await until(pilot, lambda: "42-times" in log_lines(pilot))
        items = [one.content for one in desk.session.context.get_all()]
        assert not [one for one in items if one not in before and "42-times" in one]
        await say(pilot, "What happened?")
        (request,) = model.requests
        assert str(request).count("42-times") == 1  # in the window
        prompt(pilot).say("go")
        await until(pilot, (tmp_path / "work" / "begun").exists)
        await pilot.press("escape")
        await until(pilot, lambda: shown(pilot, "Stopped. bash slow.sh was cancelled."))
        assert shown(pilot, "✗ terminal_1.run")
        await until(pilot, lambda: "exit 130" in content_of(desk))
    desk = desk_in(tmp_path, session_id=desk.session.id)
    async with running(desk, (140, 40)) as pilot:
        await until(pilot, lambda: "I see." in log_lines(pilot))
        await until(pilot, lambda: shown(pilot, "✗ terminal_1.run"))
        assert shown(pilot, "bash slow.sh was cancelled.")
        assert ends(pilot) == ["✓ $ echo $((40+2))-times exit 0"]
        assert not shown(pilot, "Runs in")
        assert "\n42-times" in content_of(desk)
        assert "exit 130" in content_of(desk)
        await run(pilot, "echo $((50+1))-times")
        await until(pilot, lambda: "51-times" in log_lines(pilot))
    assert not (tmp_path / "work" / "proof").exists()


async def test_a_conversation_says_how_its_calls_ended_also_after_a_resume(tmp_path: Path) -> None:
    """X11, X14, X30: the exit status, the command that ran, and all of why one did not."""

    def running_of(command: str) -> Block:
        given = {"window_id": "terminal_1", "action_id": "run", "params": {"command": command}}
        return call("action", **given)

    commands = ("sh -c 'exit 3'", "ls nowhere", "rm -r .", "ls here")
    mine = "echo " + "mine " * 40
    opening = call("create", name="terminal")
    steps: list[Step] = [[opening], *([running_of(one)] for one in commands), "Done.", SIGNED_OUT]
    why = "Never do that here, " + "not even with my leave, " * 8 + "and that is all."
    answers = [Decision("once"), Decision("once", edited=mine), Decision("no", why)]
    # The shell does not take this; it has another effect, so they are asked again.
    answers += [Decision("once", edited="echo \a"), Decision("once")]

    async def ask(_: Question) -> Decision:
        return answers.pop(0)

    desk = desk_in(tmp_path, *steps, approval=ApprovalGate("ask", ask))
    size = (120, 110)
    async with running(desk, size) as pilot:
        desk.controller.tools.gate.ask = ask
        await say(pilot, "Try.")
        log = log_lines(pilot)
        rows = [re.sub("  +", "  ", one) for one in log]
        assert any(one.startswith("✗ terminal_1.run  sh -c 'exit 3'  exit 3") for one in rows)
        assert any(re.match(r"✓ terminal_1\.run  echo mine .+…  ◇ you edited it", o) for o in rows)
        assert mine.strip() in re.sub(" +", " ", " ".join(log))  # all of what ran
        assert any(re.match(r"⊘ terminal_1\.run  rm -r \. +refused", one) for one in rows)
        assert f"the person declined. They say: {why}" in " ".join(log)
        unread = next(n for n, one in enumerate(rows) if re.match(r"✗ terminal_1\.run  echo ", one))
        assert "◇ you edited it" in rows[unread]
        assert "terminal_1.run was not carried out: The text contains" in " ".join(rows[unread:])
        for command in ("seq 101 120", "(exit 3)"):
            await run(pilot, command)
            await until(pilot, lambda command=command: command in "".join(ends(pilot)))  # type: ignore[misc]
        await run(pilot, "sleep 1005")
        await runs(pilot, desk)
        await pilot.press("escape")
        await until(pilot, lambda: len(stopped(pilot)) == 1)
        await run(pilot, "until [ -e gate ]; do sleep 0.05; done")
        await runs(pilot, desk)
        app_of(pilot).main.note("Something was switched.")
        await say(pilot, "And now?")
        app_of(pilot).main.note("That did not work.", is_error=True)
        (tmp_path / "work" / "gate").touch()
        await until(pilot, lambda: not shown(pilot, "Runs in"))
        before = [one for one in log_lines(pilot) if one]
    async with running(desk_in(tmp_path, session_id=desk.session.id), size) as pilot:
        await until(pilot, lambda: shown(pilot, "That did not work."))
        after = [one for one in log_lines(pilot) if one]
        assert "\n".join(after) == "\n".join(before)
        assert shown(pilot, "◇ you")  # who acted last on the terminal
    rewound = desk_in(tmp_path, session_id=fork(desk.session.path, 1))
    (ended,) = [one for asides in rewound.session.asides().values() for one in asides]
    assert ended.data["finished"]["calls"] == 5
    rewound.close()


SIGNED_OUT = ModelError("auth", "The key is not accepted.")


async def test_a_long_command_notifies_once_while_the_terminal_has_not_the_focus(
    pilot: "Pilot[int]", chat: SharedChat, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attention, "LONG", 0.0)
    monkeypatch.delenv("TMUX", raising=False)
    written: list[str] = []
    app, desk = app_of(pilot), chat.desk
    monkeypatch.setattr(desk, "wakes", True)
    monkeypatch.setattr(desk, "notify", "bell")
    monkeypatch.setattr(app, "write_control", written.append)
    await run(pilot, "echo here")
    await until(pilot, lambda: len(ends(pilot)) == 1)
    assert written.count("\a") == 0
    await run(pilot, "until [ -e gate ]; do sleep 0.05; done")
    where = await runs(pilot, desk)
    app.post_message(events.AppBlur())
    await until(pilot, lambda: not app.app_focus)
    (chat.work / "gate").touch()
    await until(pilot, lambda: "\a" in written)
    await until(pilot, lambda: not desk.job_in(where))
    app.main.take_changes()  # no report of the terminal starts a turn
    assert app.main.turns is not None
    assert not app.main.turns.is_running
    assert written.count("\a") == 1
    app.post_message(events.AppFocus())
    await until(pilot, lambda: app.app_focus)
