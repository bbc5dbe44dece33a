"""Real shells in real pseudo terminals, for the tests of the terminal window."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from contextui.windows.terminal.record import Command
from contextui.windows.terminal.shell import Shell

KINDS = [
    pytest.param(
        name, marks=pytest.mark.skipif(shutil.which(name) is None, reason=f"{name} is not there")
    )
    for name in ("bash", "zsh", "fish", "sh")
]
LONGEST = 60.0  # seconds after which a test that waits has failed


@asynccontextmanager
async def shell(tmp_path: Path, program: str = "bash", **options: Any) -> AsyncIterator[Shell]:
    """Start a shell with an empty home, and end it afterwards."""
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir(exist_ok=True)
    work.mkdir(exist_ok=True)
    environ = {"HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    environ |= options.pop("environ", {})
    if program == "zsh" and not (home / ".zshrc").exists():
        (home / ".zshrc").write_text("# no questions for a new user\n")
    if program == "fish":  # else it reads all manual pages in the background, once per home
        (home / ".local/share/fish/generated_completions").mkdir(parents=True, exist_ok=True)
    options = {"folder": work, "spool": tmp_path / "spool"} | options
    started = await Shell.start(program=program, environ=environ, **options)
    try:
        await prompt(started)
        yield started
    finally:
        await started.close()


async def prompt(one: Shell) -> None:
    """Wait until the shell is at its prompt, with its end on the screen."""
    await until(one, lambda: one.at_prompt and one._prompt_end is not None)


async def until(one: Shell, condition: Callable[[], object]) -> None:
    """Wait for something on the screen or in the state."""
    try:
        async with asyncio.timeout(LONGEST):
            while not condition():
                await asyncio.sleep(0.01)
    except TimeoutError:
        pytest.fail(f"Not reached; on the screen is:\n{one.emulator.text()}")


async def typed(one: Shell, keys: bytes) -> Command:
    """Type the rest of a command as the person does, and wait for its end."""
    count = len(one.commands)
    one.type(keys)
    await until(one, lambda: len(one.commands) > count and not one.commands[-1].running)
    await prompt(one)
    return one.commands[-1]


async def finished(one: Shell, command: str) -> Command:
    ran = await one.run(command)
    async with asyncio.timeout(LONGEST * 5):
        await one.wait(ran)
    await prompt(one)
    return ran
