"""`!command`: what runs in the terminal, and everything that must not."""

import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual import events
from textual.pilot import Pilot

from contextui.agent.models.scripted import call
from contextui.tui.app import ContextUIApp
from contextui.tui.conversation.prompt import Prompt
from contextui.tui.conversation.shell import CommandError, command_in
from contextui.tui.link import Desk
from contextui.windowing.snapshot import Lod
from tests.tui.running import desk_in, running, say, shown, until


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
            await until(pilot, lambda: shown(pilot, "Runs in terminal_1: echo $((40+2))"))
            assert shown(pilot, "ctrl+g 1 goes there.")
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
