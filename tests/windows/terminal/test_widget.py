"""The terminal on the screen: keys reach the shell, and only ctrl+g leaves it."""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from textual import events

from contextui.tui.conversation.prompt import Prompt
from contextui.tui.desktop.frame import WindowFrame
from contextui.tui.dialogs import guard
from contextui.tui.dialogs.question import QuestionScreen
from contextui.tui.lines import SPINNER
from contextui.windowing.runtime import runtime_of
from contextui.windowing.window import Window
from contextui.windows.terminal.widget import TerminalBody, bytes_of
from contextui.windows.terminal.window import TerminalWindow
from contextui.windows.todo.window import TodoWindow
from tests.tui.desktop.samples import region_text
from tests.tui.running import drag, lines, shown, until
from tests.tui.sharing import SharedChat, sharing

WINDOWS = [TerminalWindow, TodoWindow]
chat = sharing(lambda temp: SharedChat(temp.mktemp("terminal"), inspector=True, windows=WINDOWS))


@pytest.fixture
def size() -> tuple[int, int]:
    return (120, 40)


@pytest.fixture(autouse=True)
def plain_shell(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    home = tmp_path / "person"
    home.mkdir()
    (home / ".bashrc").write_text("PS1='$ '\n")
    monkeypatch.setenv("SHELL", shutil.which("bash") or pytest.skip("bash is missing"))
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


async def run(pilot: Any, command: str) -> None:
    """Run a command that is pasted."""
    pilot.app.post_message(events.Paste(command))
    await pilot.press("enter")


async def ran(pilot: Any, *commands: str) -> None:
    """Run commands of the model to their end."""
    windows = pilot.app.desk.session.windows
    for one in commands:
        result = await windows.act("terminal_1", "run", {"command": one})
        assert result.ok, result.text
    await pilot.pause(0.1)


async def run_as_person(chat: SharedChat, command: str) -> None:
    given = {"command": command, "seconds": 0}
    result = await chat.desk.session.windows.act("terminal_1", "run", given, actor="person")
    assert result.ok, result.text


def screen(pilot: Any) -> str:
    return "\n".join(lines(pilot))


def row_of(pilot: Any, text: str) -> str:
    """Return the first row of the screen that has a text."""
    return next((one for one in lines(pilot) if text in one), "")


async def in_terminal(chat: SharedChat, pilot: Any) -> Window:
    """Open a terminal on the screen, whose frame has the focus."""
    window = chat.desk.session.windows.open("terminal")
    if pilot.app.size.width >= 100:
        await until(pilot, lambda: pilot.app.screen.query(WindowFrame))
        await until(pilot, lambda: shown(pilot, "$ "))
        pilot.app.screen.query_one(WindowFrame).focus()
    await pilot.pause()
    return window


async def test_keys_and_pastes_reach_the_shell_and_programs(chat: SharedChat, pilot: Any) -> None:
    window = await in_terminal(chat, pilot)
    assert "enter type" in lines(pilot)[-1]
    assert "^g go to" in lines(pilot)[-1]
    body = await enter(pilot)
    await until(pilot, lambda: "^g leave, go to" in lines(pilot)[-1])
    assert "f2 inspector" not in lines(pilot)[-1]  # it is the shell's
    await run(pilot, "echo a1'b2'; cat > pasted.txt; echo c3'd4'")
    await until(pilot, lambda: shown(pilot, "a1b2"))
    # Many terminals paste a line break as \r.
    pilot.app.post_message(events.Paste("one\r\n\ttwo\rthree\n"))
    await until(pilot, lambda: shown(pilot, "three"))
    await pilot.press("ctrl+d")
    await until(pilot, lambda: shown(pilot, "c3d4"))
    assert (chat.work / "pasted.txt").read_text() == "one\n\ttwo\nthree\n"
    await until(pilot, lambda: not runtime_of(window).jobs.running())
    await pilot.press(*"sleep", "space", *"300", "enter")
    await until(
        pilot,
        lambda: runtime_of(window).jobs.running() and shown(pilot, "terminal  $ sleep 300 "),
    )
    await pilot.press("ctrl+c")  # it belongs to the shell
    await until(pilot, lambda: not runtime_of(window).jobs.running())
    await until(pilot, lambda: shown(pilot, "^C"))
    await run(pilot, "od -An -c -N1")
    await until(pilot, runtime_of(window).jobs.running)
    await pilot.press("ctrl+g", "ctrl+g")  # the second one is the program's
    await until(pilot, lambda: body.has_focus and len(pilot.app.screen_stack) == 1)
    await pilot.press("enter")
    await until(pilot, lambda: not runtime_of(window).jobs.running())
    await until(pilot, lambda: shown(pilot, "  \\a"))
    await pilot.press("f1", "ctrl+p", "tab")  # they belong to the shell, too
    assert body.has_focus
    assert len(pilot.app.screen_stack) == 1
    await pilot.press("ctrl+g", "p", *"hi")  # as everywhere else
    prompt = pilot.app.screen.query_one(Prompt)
    await until(pilot, lambda: prompt.text == "hi" and prompt.has_focus)


async def test_each_command_has_its_mark_and_n_goes_to_failed_ones(
    chat: SharedChat, pilot: Any
) -> None:
    await in_terminal(chat, pilot)
    assert not shown(pilot, "n N failed")
    await ran(pilot, "true one;", "false two;")
    await until(pilot, lambda: shown(pilot, "✗ $  false two"))
    assert shown(pilot, "✓ $  true one")
    assert "◆ model   exit 1" in row_of(pilot, "✗ $")
    await ran(pilot, "seq 200", "false second;", "seq 100")
    await until(pilot, lambda: shown(pilot, "n N failed"))
    assert not shown(pilot, "$  false second")
    await pilot.press("n")  # the newest
    await until(pilot, lambda: shown(pilot, "✗ $  false second"))
    await pilot.press("N")
    await until(pilot, lambda: shown(pilot, "✗ $  false two"))
    await pilot.press("n")
    await until(pilot, lambda: shown(pilot, "✗ $  false second"))
    await pilot.press("enter")  # to the prompt again
    await until(pilot, lambda: not shown(pilot, "$  false second"))
    body: TerminalBody = pilot.app.query_one(TerminalBody)
    first = region_text(pilot, body)[0]
    await pilot.press("shift+pageup")
    await until(pilot, lambda: region_text(pilot, body)[-1] == first)
    wheel = events.MouseScrollDown(None, *body.region.offset, 0, 0, 0, False, False, False)
    pilot.app.post_message(wheel)
    await until(pilot, lambda: region_text(pilot, body)[-4] == first)
    await pilot.press("n", "N")  # now they are the shell's
    await until(pilot, lambda: shown(pilot, "$ nN"))
    await pilot.press("ctrl+c")
    await run(pilot, "clear")
    await until(pilot, lambda: not shown(pilot, "$ nN"))
    assert not shown(pilot, "✗ ")  # marks leave with their rows
    await run(pilot, "sleep 300")
    await until(pilot, lambda: "$ sleep 300" in row_of(pilot, "◇ you"))
    assert any(one in row_of(pilot, "◇ you") for one in SPINNER)
    await pilot.press("ctrl+c")
    await until(pilot, lambda: "exit 130" in row_of(pilot, "◇ you"))
    if shutil.which("vim"):
        await edit_with_vim(pilot, chat.work)


async def edit_with_vim(pilot: Any, work: Path) -> None:
    await run(pilot, "vim -u NONE note.txt")
    await until(pilot, lambda: shown(pilot, "~"))
    assert not shown(pilot, "exit 130")
    await pilot.press("i", *"hi", "escape", *":wq", "enter")
    await until(pilot, (work / "note.txt").exists)
    await until(pilot, lambda: shown(pilot, "exit 130"))  # the screen before it is back
    assert (work / "note.txt").read_text() == "hi\n"


async def test_x_ends_a_command_only_after_a_yes_and_no_other_one(
    chat: SharedChat, pilot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = await in_terminal(chat, pilot)
    windows = pilot.app.desk.session.windows

    async def begin(command: str) -> None:
        await windows.act("terminal_1", "run", {"command": command, "seconds": 0})
        await until(pilot, lambda: shown(pilot, "x end command"))

    monkeypatch.setattr(guard, "DEAF", 0.0)
    assert shown(pilot, "x close")
    stop = chat.work / "stop"
    await begin(f"until [ -e {stop} ]; do sleep 0.05; done")
    await pilot.press("x")
    await until(pilot, lambda: shown(pilot, "End until"))
    stop.touch()  # it ends by itself, and the next begins
    await until(pilot, lambda: not runtime_of(window).jobs.running())
    await windows.act("terminal_1", "run", {"command": "sleep 300", "seconds": 0})
    await pilot.press("y")  # for the command before
    await until(pilot, lambda: not shown(pilot, "End until"))
    monkeypatch.setattr(guard, "DEAF", 600.0)  # however slowly the keys come here
    await pilot.press("x", "y", "y")  # quickly, as if meant for the shell
    await until(pilot, lambda: shown(pilot, "End sleep 300?"))
    assert [one.name for one in runtime_of(window).jobs.running()] == ["sleep 300"]
    screen = pilot.app.screen
    assert isinstance(screen, QuestionScreen)
    monkeypatch.setattr(guard, "DEAF", 0.0)
    screen.on_mount()
    await pilot.pause()
    await pilot.press("q", "n")
    await until(pilot, lambda: not shown(pilot, "End sleep 300?"))
    assert runtime_of(window).jobs.running()
    assert pilot.app.query_one(WindowFrame).has_focus
    await pilot.press("x")
    await until(pilot, lambda: shown(pilot, "End sleep 300?"))
    await pilot.press("y")
    await until(pilot, lambda: not runtime_of(window).jobs.running())
    await until(pilot, lambda: shown(pilot, "◆ model   stopped"))
    assert "q" not in row_of(pilot, "sleep 300").partition("◆")[0].replace("seq", "")


async def test_text_is_selected_with_the_mouse_and_copied(chat: SharedChat, pilot: Any) -> None:
    """X05, X07: nothing reaches the shell, and ctrl+c is the shell's again after that."""
    window = await in_terminal(chat, pilot)
    body = await enter(pilot)
    await run(pilot, r"printf '%s\n' a{1..3}你; sleep 300")
    await until(pilot, lambda: shown(pilot, "a3你"))
    row = next(y for y, one in enumerate(region_text(pilot, body)) if "a1你" in one)
    await drag(pilot, body, (3, row), (20, row + 2))
    shell = window.state.shell  # type: ignore[attr-defined]
    [style] = [one.style for one in body.render_line(row + 1) if one.text == "a2你"]
    assert style is not None
    assert style.bgcolor not in (style.color, body.rich_style.bgcolor)  # it can be read
    await pilot.press("ctrl+c")
    await until(pilot, lambda: pilot.app.clipboard == "1你\na2你\na3你")
    assert shown(pilot, "Copied 3 lines")
    assert runtime_of(window).jobs.running()
    await drag(pilot, body, (4, row + 1), (0, row + 1))
    # What is selected stays where it is, also while more is printed.
    runtime_of(window).worker.call_soon(lambda: shell.emulator.feed("more\r\n" * 50))
    runtime_of(window).worker.call_soon(lambda: body._changed(shell))
    await until(pilot, lambda: body.count > 50 and body.size.height > 10)
    assert "a2你" in region_text(pilot, body)[row + 1]
    body.post_message(events.MouseScrollDown(body, 0, 0, 0, 0, 0, False, False, False))
    await until(pilot, lambda: "a2你" not in screen(pilot))
    await pilot.press("ctrl+c")
    await until(pilot, lambda: pilot.app.clipboard == "a2你")
    assert shown(pilot, "Copied 3 characters")
    await until(pilot, lambda: "more" in region_text(pilot, body)[row + 1])
    await pilot.press("ctrl+c")
    await until(pilot, lambda: not runtime_of(window).jobs.running())


@pytest.mark.parametrize("size", [(80, 24)])
async def test_a_running_command_is_seen_on_a_narrow_screen(chat: SharedChat, pilot: Any) -> None:
    await in_terminal(chat, pilot)
    windows = pilot.app.desk.session.windows
    windows.open("todo")
    await windows.act("terminal_1", "run", {"command": "sleep 300", "seconds": 0})
    await until(pilot, lambda: re.search(rf"Windows 2 [{SPINNER}]", lines(pilot)[0]))
    await pilot.press("ctrl+g", "2")
    await until(pilot, lambda: re.search(rf"sleep 300 .*[{SPINNER}] \d+s", screen(pilot)))
    await windows.act("terminal_1", "cancel", {})
    await until(pilot, lambda: not re.search(rf"[{SPINNER}]", screen(pilot)))


async def test_a_shell_has_the_size_of_its_window_from_its_start(
    chat: SharedChat, pilot: Any
) -> None:
    """X35: also a new shell, and a full-screen program has the most room that there is."""
    window = await in_terminal(chat, pilot)
    body = pilot.app.screen.query_one(TerminalBody)

    def size() -> tuple[int, int]:
        return window.state.shell.emulator.size  # type: ignore[attr-defined, no-any-return]

    def room() -> tuple[int, int]:
        return body.size.height, body.size.width - 2

    await until(pilot, lambda: size() == room())
    await ran(pilot, "seq 12")
    await until(pilot, lambda: body.size.height > 12)
    await until(pilot, lambda: shown(pilot, "✓ $  /usr/bin/seq 12"))  # not above blank rows
    await run_as_person(chat, "clear")
    await until(pilot, lambda: not shown(pilot, "/usr/bin/seq 12"))
    await pilot.resize_terminal(120, 60)
    await run_as_person(chat, "printf '\\033[?1049h'; read -s line; printf '\\033[?1049l'")
    await until(pilot, lambda: body.size.height == 32 and size() == room())
    await pilot.resize_terminal(120, 40)
    result = await chat.desk.session.windows.act("terminal_1", "restart", actor="person")
    assert result.ok, result.text
    await until(pilot, lambda: shown(pilot, "$ "))
    await until(pilot, lambda: size() == room())
    await ran(pilot, "stty size > size")
    assert (chat.work / "size").read_text().split() == [str(one) for one in room()]


def test_a_key_is_sent_as_terminals_do() -> None:
    for key, character, is_application, sent in (
        ("é", "é", False, "é".encode()),
        ("enter", "\r", False, b"\r"),
        ("backspace", "\x7f", False, b"\x7f"),
        ("ctrl+z", None, False, b"\x1a"),
        ("alt+b", None, False, b"\x1bb"),
        ("up", None, False, b"\x1b[A"),
        ("up", None, True, b"\x1bOA"),
        ("ctrl+left", None, True, b"\x1b[1;5D"),
        ("f5", None, False, b"\x1b[15~"),
        ("unknown_key", None, False, b""),
    ):
        assert bytes_of(key, character, is_application) == sent
