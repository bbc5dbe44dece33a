"""Hostile text in what programs say: git, shells, commands that ask, and windows under development.

File names, branches, commits, commands, output and log lines come from anywhere. None of it reaches
the terminal as it is: not escape codes, nor bidi controls, nor characters without a width, and
markup stays text.
"""

from pathlib import Path
from typing import Any

import pytest
from textual.events import Paste
from textual.pilot import Pilot

from contextui.agent.approval import Question
from contextui.agent.models.scripted import call
from contextui.shell import suggest
from contextui.tui.desktop.form import Field
from contextui.tui.dev.bench import Bench
from contextui.tui.dev.screen import DevApp, DevFrame
from contextui.tui.dialogs.approval import ApprovalScreen
from contextui.tui.dialogs.command import CommandField, CommandScreen
from contextui.windowing.preview import CommandPreview, Preview
from contextui.windows.git.widget import ChangeList, Confirmation
from contextui.windows.git.window import GitWindow
from contextui.windows.terminal.window import TerminalWindow
from tests.tui.desktop.samples import enter
from tests.tui.running import SIZES, app_of, desk_in, lines, running, shown, until
from tests.tui.test_approval import ask, host_of
from tests.windows.git.conftest import home, run

pytestmark = pytest.mark.long

__all__ = ["home"]  # a fixture: git without the settings of this machine

LIVE = set("\x00\x07\x08\x0d\x1b\x7f\x85\x9b\x9d\u061c\u200b\u200f\u2028\u202e\u2060\u2066\ufeff")
"""Characters that act on a terminal, or hide in a name."""
ESCAPES = "\x1b]52;c;aGk=\x07\x1b]0;owned\x07\x1b[2J\x9b31m\x9d0;t\x07\x08\x7f"
HIDDEN = "a\u202eb\u2066c\u200fd\u2028e\u200bf\u2060g\ufeffh"
MARKUP = "[/foo] [/] [b]x[@click=app.quit]y[/] $primary {x}"
PAYLOAD = f"{MARKUP}{HIDDEN}{ESCAPES}"
LONG = "long " * 2_000


def check(pilot: "Pilot[Any]") -> None:
    """Nothing on the screen can act, and the app has not acted either."""
    strips = pilot.app.screen._compositor.render_strips()
    segments = [segment for strip in strips for segment in strip]
    found = set("".join(one.text for one in segments)) & LIVE
    assert not found, [f"{one!r}: {row}" for one in found for row in lines(pilot) if one in row]
    assert not any("@click" in one.style.meta for one in segments if one.style)
    widths = {sum(one.cell_length for one in strip) for strip in strips}
    assert widths <= {pilot.app.size.width}
    assert pilot.app.is_running
    assert pilot.app.return_code is None


async def press(pilot: "Pilot[Any]", *keys: str) -> None:
    """Press one key after another, and look at the screen after each."""
    for key in keys:
        await pilot.press(key)
        await pilot.pause(0.05)
        check(pilot)


# --- git ---------------------------------------------------------------------------------------


async def test_names_branches_commits_and_diffs(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    run(work, "init", "--quiet")
    run(work, "checkout", "--quiet", "-b", "x{y}$primary\u202eb\u200bf\u2060g\u200fh")
    (work / "old.txt").write_text("plain\n")
    (work / "staged.txt").write_text("plain\n")
    run(work, "add", "--all")
    (tmp_path / "message").write_bytes(f"{PAYLOAD} {LONG[:3_000]}\n\n{PAYLOAD}\n".encode())
    run(work, "commit", "--quiet", "--cleanup=verbatim", "-F", str(tmp_path / "message"))
    for name in (PAYLOAD.replace("/", "|"), "line\nfeed", "\udcff\udcfe", "n" * 200):
        (work / name).write_text(f"{PAYLOAD}\r\n\tz{LONG}\n")
    (work / "old.txt").write_text(f"{PAYLOAD}\n{LONG}\n")
    (work / "staged.txt").write_text(f"{LONG}\n{PAYLOAD}\n")
    run(work, "add", "staged.txt")

    desk = desk_in(tmp_path, windows=[GitWindow])
    desk.session.windows.open("git")
    async with running(desk, SIZES[0]) as pilot:
        pilot.app.screen.add_class("-pane-windows")
        frame = await enter(pilot, "git_1")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.focused, ChangeList))
        await until(pilot, lambda: len(frame.query_one(ChangeList).rows) > 8)
        for size in (*SIZES, (50, 20)):
            await pilot.resize_terminal(*size)
            await until(pilot, lambda: len(lines(pilot)) == pilot.app.size.height)
            await press(pilot, "home", "down", "down", "tab", "pagedown", "end", "home", "tab")
        await press(pilot, *["down"] * 4, "d")
        await until(pilot, lambda: frame.query_one(Confirmation).display)
        await press(pilot, "n", "home", "c")
        field = frame.query_one(Field)
        await until(pilot, lambda: field.has_focus)
        await field._on_paste(Paste(PAYLOAD))
        await press(pilot, "ctrl+j", "a", "escape", "r", "ctrl+g", "i", "ctrl+g", "1")


# --- commands that ask -------------------------------------------------------------------------


def question(line: str, **given: Any) -> Question:
    """A question about a command, with nothing of it checked."""
    command = CommandPreview(line, **{"folder": "/tmp", "seconds": 30.0, **given})
    preview = Preview(PAYLOAD, text=PAYLOAD, command=command)
    pattern = suggest(("git", "log", PAYLOAD))
    return Question("terminal_1", "run", PAYLOAD, {}, preview, pattern=pattern)


@pytest.mark.parametrize(("size", "number"), [*zip([*SIZES, (60, 18)], (0, 1, 2, 0), strict=True)])
async def test_a_command_its_folder_and_its_pattern(
    pilot: "Pilot[Any]", size: tuple[int, int], number: int
) -> None:
    asked = [
        question(PAYLOAD, folder=f"/{PAYLOAD}", dropped=(PAYLOAD, "KEY")),
        question(f"echo {LONG}{PAYLOAD}", folder=f"/{LONG}", is_live=True),
        question(f"echo '{HIDDEN}\n{MARKUP}'\n\r\n\t{ESCAPES}", seconds=None),
    ]

    screen = await ask(pilot, host_of(pilot), asked[number])
    assert isinstance(screen, CommandScreen)
    check(pilot)
    await press(pilot, "pagedown", "end", "home", "e")
    field = screen.query_one(CommandField)
    await until(pilot, lambda: field.has_focus)
    await field._on_paste(Paste(PAYLOAD))
    await press(pilot, "a", "enter")


# --- the terminal ------------------------------------------------------------------------------


async def test_output_and_running_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELL", "/bin/bash")
    work = tmp_path / "work"
    work.mkdir()
    (work / "out.bin").write_bytes(
        f"{PAYLOAD}\r\n{LONG[:9_000]}\n{PAYLOAD[::-1]}\n".encode() + bytes(range(256)) + b"\n seen"
    )
    command = f"cat out.bin; sleep 60 # {MARKUP}{HIDDEN}"
    step = call("action", window_id="terminal_1", action_id="run",
                params={"command": command, "seconds": 1})  # fmt: skip

    desk = desk_in(tmp_path, step, PAYLOAD, windows=[TerminalWindow])
    desk.session.windows.open("terminal")
    async with running(desk, SIZES[0]) as pilot:
        app = app_of(pilot)
        app.main.send("run it")
        await until(pilot, lambda: isinstance(app.screen, ApprovalScreen))
        check(pilot)
        dialog = app.screen
        assert isinstance(dialog, ApprovalScreen)
        await until(pilot, lambda: dialog.guard.deaf_until != float("inf"))
        dialog.guard.deaf_until = 0.0
        await pilot.press("y")
        await until(pilot, lambda: not isinstance(app.screen, ApprovalScreen))
        app.screen.add_class("-pane-windows")
        await until(pilot, lambda: shown(pilot, "seen"))
        check(pilot)
        await enter(pilot, "terminal_1")
        await press(pilot, "enter")
        for size in SIZES:
            await pilot.resize_terminal(*size)
            await until(pilot, lambda: len(lines(pilot)) == pilot.app.size.height)
            await press(pilot, "shift+pageup", "shift+pageup", "shift+pagedown")
        await press(pilot, "ctrl+c", "ctrl+g", "i", "right_square_bracket", "ctrl+g", "1")
        await press(pilot, "ctrl+g", "c", "f1", "escape")


# --- windows under development -----------------------------------------------------------------

SOURCE = '''
from contextui import Body, Element, Lod, Window, action

PAYLOAD = {payload!r}
LONG = {long!r}


class Hostile(Window):
    """Shows it everywhere."""

    class State(Window.State):
        text: str = PAYLOAD

    state: State

    def content(self, lod: Lod) -> Body:
        if lod is Lod.GIST:
            return self.state.text
        return [Element("item", self.state.text + LONG, name=self.state.text)]

    @action(PAYLOAD.replace("{{x}}", ""))
    def add(self, text: str = PAYLOAD) -> str:
        self.state.text = text + PAYLOAD
        self.env.notify(PAYLOAD)
        return PAYLOAD

    @action("Fail")
    def fail(self) -> None:
        raise KeyError(PAYLOAD + LONG)

    @action("Write", effect="write")
    def write(self, text: str = PAYLOAD) -> str:
        raise ValueError(PAYLOAD)
'''


async def test_a_window_under_development(tmp_path: Path) -> None:
    file = tmp_path / "hostile\u202e\u200b.py"
    source = SOURCE.format(payload=PAYLOAD, long=LONG[:3_000])
    file.write_text(source)

    bench = Bench(str(file), tmp_path, "", "en")
    app = DevApp(bench)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await until(pilot, lambda: app.dev.query(DevFrame))
        check(pilot)
        windows, kinds = bench.windows, ("add", "fail", "write")
        for kind in kinds:
            await windows.act("hostile_1", kind, {}, actor="person")
            await pilot.pause(0.2)
            check(pilot)
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: len(lines(pilot)) == 24)
        check(pilot)
        await press(pilot, "a", "down", "enter", "enter", "escape", "tab", "y", "pagedown")
        await press(pilot, "end", "home", "tab", "s")
        field = app.dev.query_one("#dev-say", Field)
        await until(pilot, lambda: field.has_focus)
        await field._on_paste(Paste(PAYLOAD))
        await press(pilot, "enter")
        file.write_text(
            source.replace("class Hostile", "raise ValueError(PAYLOAD)\n\n\nclass Hostile")
        )
        await until(pilot, lambda: app.dev._fault)
        await pilot.pause(0.4)
        check(pilot)
    bench.close()
