"""The terminal on the screen: keys reach the shell, and only ctrl+g leaves it."""

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest

from contextui.agent.models.scripted import call
from contextui.tui.app import ContextUIApp
from contextui.tui.desktop.frame import WindowFrame
from contextui.tui.dialogs import timing
from contextui.tui.dialogs.approval import ApprovalScreen
from contextui.windowing.host import running_jobs
from contextui.windows.terminal.widget import TerminalBody, bytes_of
from contextui.windows.terminal.window import TerminalWindow
from tests.tui.running import desk_in, running, shown, until

RUN = call("action", window_id="terminal_1", action_id="run", params={"command": "echo no"})


@pytest.fixture(autouse=True)
def plain_shell(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    home = tmp_path / "person"
    home.mkdir()
    (home / ".bashrc").write_text("PS1='$ '\n")
    monkeypatch.setenv("SHELL", "/bin/bash")
    monkeypatch.setenv("HOME", str(home))


async def enter(pilot: Any) -> TerminalBody:
    """Move the focus into the shell."""
    frame = pilot.app.query_one(WindowFrame)
    await until(pilot, lambda: shown(pilot, "$ "))
    frame.focus()
    await pilot.pause()
    await pilot.press("enter")
    body = frame.query_one(TerminalBody)
    await until(pilot, lambda: body.has_focus)
    return body  # type: ignore[no-any-return]


async def type_in(pilot: Any, text: str) -> None:
    await pilot.press(*("space" if one == " " else one for one in text), "enter")


async def edit_with_vim(pilot: Any, work: Path) -> None:
    await type_in(pilot, "vim -u NONE note.txt")
    await until(pilot, lambda: shown(pilot, "~"))
    await pilot.press("i", *"hi", "escape")
    await type_in(pilot, ":wq")
    await until(pilot, (work / "note.txt").exists)
    assert (work / "note.txt").read_text() == "hi\n"
    await until(pilot, lambda: shown(pilot, "a1b2"))  # the screen before it is back


def test_keys_reach_the_shell_and_full_screen_programs(tmp_path: Path) -> None:
    async def run() -> None:
        desk = desk_in(tmp_path, windows=[TerminalWindow])
        window = desk.session.windows.open("terminal")
        async with running(desk, (120, 40)) as pilot:
            body = await enter(pilot)
            await type_in(pilot, "echo a1b2")
            await until(pilot, lambda: shown(pilot, "a1b2"))
            await type_in(pilot, "sleep 300")
            await until(
                pilot, lambda: running_jobs(window) and shown(pilot, "terminal  $ sleep 300  ")
            )
            await pilot.press("ctrl+c")  # it belongs to the shell
            await until(pilot, lambda: shown(pilot, "^C"))
            await until(pilot, lambda: not running_jobs(window))
            if shutil.which("vim"):
                await edit_with_vim(pilot, Path(desk.session.cwd))
            await pilot.press("f1", "ctrl+p", "tab")  # they belong to the shell, too
            assert body.has_focus
            assert len(pilot.app.screen_stack) == 1
            await pilot.press("ctrl+g")
            await until(pilot, lambda: not body.has_focus)

    asyncio.run(run())


def test_typing_into_the_shell_answers_no_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timing, "QUIET", 600.0)  # however slowly the keys come here

    async def run() -> None:
        desk = desk_in(tmp_path, RUN, "Well.", windows=[TerminalWindow])
        desk.session.windows.open("terminal")
        async with running(desk, (120, 40)) as pilot:
            await enter(pilot)
            app = pilot.app
            assert isinstance(app, ContextUIApp)
            app.main.send("run it")
            for _ in range(30):  # the person goes on typing while the model asks
                await pilot.press("y")
                await asyncio.sleep(0.05)
            assert not isinstance(app.screen, ApprovalScreen)
            await until(pilot, lambda: shown(pilot, "yyyy"))
            monkeypatch.setattr(timing, "QUIET", 0.0)
            await until(pilot, lambda: isinstance(app.screen, ApprovalScreen))
            while isinstance(app.screen, ApprovalScreen):  # it ignores keys for half a second
                await pilot.press("n")
                await asyncio.sleep(0.05)
            await until(pilot, lambda: shown(pilot, "Well."))
            results = [one.content for one in desk.session.context.get_all()]
            assert not any("exit 0" in one for one in results)

    asyncio.run(run())


@pytest.mark.parametrize(
    ("key", "character", "application", "sent"),
    [
        ("a", "a", False, b"a"),
        ("é", "é", False, "é".encode()),
        ("enter", "\r", False, b"\r"),
        ("backspace", "\x7f", False, b"\x7f"),
        ("ctrl+c", None, False, b"\x03"),
        ("ctrl+z", None, False, b"\x1a"),
        ("alt+b", None, False, b"\x1bb"),
        ("up", None, False, b"\x1b[A"),
        ("up", None, True, b"\x1bOA"),
        ("ctrl+left", None, True, b"\x1b[1;5D"),
        ("f5", None, False, b"\x1b[15~"),
        ("unknown_key", None, False, b""),
    ],
)
def test_a_key_is_sent_as_terminals_do(
    key: str, character: str | None, application: bool, sent: bytes
) -> None:
    assert bytes_of(key, character, application) == sent
