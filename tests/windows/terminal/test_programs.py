"""Full-screen and interactive programs: their screen is visible, keys work, leaving restores it."""

import shutil
from pathlib import Path

import pytest

from contextui.windows.terminal.emulator import BRACKETED_PASTE

from .shells import finished, prompt, shell, until


def needs(program: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(program) is None, reason=f"{program} is not there")


@needs("vim")
async def test_vim_edits_and_leaves_the_screen_as_it_was(tmp_path: Path) -> None:
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


async def test_a_program_that_crashes_leaves_a_usable_terminal(tmp_path: Path) -> None:
    async with shell(tmp_path) as one:
        await finished(one, "printf '\\033[?1049h\\033[?1000h\\033[?25l\\033(0\\033[5;9r\\033[41m'")
        assert not one.emulator.alternate
        assert one.emulator.cursor.visible
        assert not one.emulator.mode(1000)
        assert one.emulator.mode(BRACKETED_PASTE)
        assert (await finished(one, "echo abc")).output == "abc"
        assert "\nabc\n" in one.emulator.text()


async def test_the_terminal_answers_where_the_cursor_is(tmp_path: Path) -> None:
    async with shell(tmp_path) as one:
        ran = await finished(
            one, "printf '\\033[2J\\033[3;5H\\033[6n'; IFS= read -rsd R x; echo; echo ${x#*[}"
        )
        assert "3;5" in ran.output
