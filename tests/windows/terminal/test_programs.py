"""Full-screen and interactive programs: their screen is visible, keys work, leaving restores it."""

import asyncio
import shutil
import sys
from pathlib import Path

import pytest

from contextui.windows.terminal.emulator import BRACKETED_PASTE

from .shells import finished, prompt, run, shell, until


def needs(program: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(program) is None, reason=f"{program} is not there")


@needs("vim")
def test_vim_edits_and_leaves_the_screen_as_it_was(tmp_path: Path) -> None:
    async def test() -> None:
        async with shell(tmp_path) as one:
            await finished(one, "echo before")
            ran = await one.run("vim -u NONE -N file.txt")
            await until(one, lambda: one.emulator.alternate and '"file.txt"' in one.emulator.text())
            one.type(b"ihello from vim\x1b")
            await until(one, lambda: one.emulator.text().startswith("hello from vim"))
            assert "before" not in one.emulator.text()
            one.type(b":wq\r")
            await one.wait(ran)
            await prompt(one)
            assert not one.emulator.alternate
            assert "before" in one.emulator.text()
            assert "hello from vim" not in one.emulator.text()
            assert (ran.status, ran.full_screen) == (0, True)
            assert "hello from vim" not in ran.output
            assert (tmp_path / "work" / "file.txt").read_text() == "hello from vim\n"

    run(test())


@needs("less")
def test_less_scrolls_and_leaves_the_screen_as_it_was(tmp_path: Path) -> None:
    async def test() -> None:
        async with shell(tmp_path, size=(24, 250)) as one:  # a prompt has the folder's path
            await finished(one, "seq 1000 > numbers")
            ran = await one.run("less numbers")
            await until(one, lambda: one.emulator.alternate and "numbers" in one.emulator.text())
            assert one.emulator.text().startswith("1\n2\n3")
            one.type(b"G")
            await until(one, lambda: "\n1000\n" in one.emulator.text())
            one.type(b"q")
            await one.wait(ran)
            await prompt(one)
            assert "less numbers" in one.emulator.text()
            assert "1000\n" not in one.emulator.text().replace("seq 1000", "")
            assert ran.full_screen
            await until(one, lambda: not one.unfinished_line)
            assert (await finished(one, "echo on")).output == "on"

    run(test())


@needs("top")
def test_top_shows_its_last_frame_once(tmp_path: Path) -> None:
    async def test() -> None:
        async with shell(tmp_path) as one:
            ran = await one.run("top -d 0.2")
            await until(one, lambda: "load average" in one.emulator.text())
            await asyncio.sleep(1)
            assert one.emulator.text().count("load average") == 1
            one.type(b"q")
            await one.wait(ran)
            assert ran.status == 0
            assert ran.transcript.lines < 200
            await prompt(one)

    run(test())


def test_a_python_prompt_is_shown_and_answers(tmp_path: Path) -> None:
    async def test() -> None:
        async with shell(tmp_path) as one:
            ran = await one.run(f"{sys.executable} -q")
            await until(one, lambda: ">>>" in one.emulator.text())
            one.type(b"6 * 7\r")
            await until(one, lambda: "\n42\n" in one.emulator.text())
            assert one.running is ran
            one.type(b"\x04")
            await one.wait(ran)
            assert ran.status == 0
            assert "42" in ran.output.splitlines()

    run(test())


def test_a_program_that_crashes_leaves_a_usable_terminal(tmp_path: Path) -> None:
    async def test() -> None:
        async with shell(tmp_path) as one:
            await finished(
                one, "printf '\\033[?1049h\\033[?1000h\\033[?25l\\033(0\\033[5;9r\\033[41m'"
            )
            assert not one.emulator.alternate
            assert one.emulator.cursor.visible
            assert not one.emulator.mode(1000)
            assert one.emulator.mode(BRACKETED_PASTE)
            assert (await finished(one, "echo abc")).output == "abc"
            assert "\nabc\n" in one.emulator.text()

    run(test())


def test_the_terminal_answers_where_the_cursor_is(tmp_path: Path) -> None:
    async def test() -> None:
        async with shell(tmp_path) as one:
            ran = await finished(
                one, "printf '\\033[2J\\033[3;5H\\033[6n'; IFS= read -rsd R x; echo; echo ${x#*[}"
            )
            assert "3;5" in ran.output

    run(test())
