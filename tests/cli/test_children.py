"""What the program starts handles signals by default, however the program itself was started."""

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.agent.server import Server, answer, call
from tests.cli.calling import PATIENCE, Program

# As `nohup`, cron and shells without job control start programs; the mask is a careless parent's.
LAUNCHER = """
import os, signal, sys
signals = [signal.SIGINT, signal.SIGQUIT, signal.SIGHUP]
for number in signals:
    signal.signal(number, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, signals)
os.execv(sys.executable, [sys.executable, "-m", "contextui", *sys.argv[1:]])
"""
REPORT = f"#!/bin/sh\n{shutil.which('grep')} -E 'SigBlk|SigIgn' /proc/self/status > '{{path}}'\n"
WINDOW = '''
import asyncio
from contextui import Body, Lod, Window


class Starter(Window):
    """Starts a program."""

    async def opened(self) -> None:
        process = await self.env.process(["sh", "{script}"])
        await process.wait()

    def content(self, lod: Lod) -> Body:
        return "started"
'''
SHELLS = [
    pytest.param(
        name,
        marks=[
            pytest.mark.skipif(shutil.which(name) is None, reason=f"{name} is not installed"),
            *([] if name == "bash" else [pytest.mark.long]),
        ],
    )
    for name in ("bash", "sh", "zsh", "fish")
]


LINUX = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="there is no /proc")
SIGNALS = (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP)


def reporting(program: Program, name: str) -> Path:
    """A program that writes into a file beside it how it handles signals."""
    script = program.folder.parent / name / "git"
    script.parent.mkdir()
    script.write_text(REPORT.format(path=script.with_suffix(".txt")))
    script.chmod(0o755)
    return script


def check_default(path: Path) -> None:
    facts = dict(line.split() for line in path.read_text().splitlines())
    ordinary = (1 << 31) - 1  # signal 32 is the C library's own
    assert {int(value, 16) & ordinary for value in facts.values()} == {0}, path


@LINUX
def test_children_start_with_default_signals(program: Program, server: Server) -> None:
    scripts = {name: reporting(program, name) for name in ("process", "git", "server")}
    program.set(PATH=f"{scripts['git'].parent}{os.pathsep}{os.environ['PATH']}", SHELL="/bin/sh")
    program.write("starter.py", WINDOW.replace("{script}", str(scripts["process"])))
    program.home.mkdir()
    (program.home / "config.toml").write_text(
        f'[mcp.servers.silent]\ncommand = "{scripts["server"]}"\n'
    )
    (program.folder / ".git").mkdir()
    command = scripts["git"].with_name("terminal.txt")
    typed = {"command": REPORT.splitlines()[1].format(path=command)}
    names = ("starter", "git", "silent", "terminal")
    server.play(
        answer(*(call("create", name=name) for name in names)),
        answer(call("action", window_id="terminal_1", action_id="run", params=typed)),
        answer("Done."),
    )
    words = ("-p", "Start", "--window", "starter.py", "--approval", "auto")
    with program.start(*words, ignored=SIGNALS, blocked=SIGNALS) as process:
        process.communicate(timeout=PATIENCE)
    for path in (*(one.with_suffix(".txt") for one in scripts.values()), command):
        check_default(path)


@LINUX
def test_a_started_program_resets_signals_for_its_children(program: Program) -> None:
    script = reporting(program, "process")
    program.write("starter.py", WINDOW.replace("{script}", str(script)))
    words = ("-p", "Open starter", "--window", "starter.py", "--model", "offline")
    subprocess.run(
        [sys.executable, "-c", LAUNCHER, *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    check_default(script.with_suffix(".txt"))


@pytest.mark.parametrize("shell", SHELLS)
def test_a_command_is_interrupted_though_the_program_ignores_it(
    program: Program, server: Server, shell: str
) -> None:
    program.set(SHELL=str(shutil.which(shell)))
    (program.folder.parent / ".zshrc").touch()  # else zsh asks what a new user wants
    sleep, pause = {"command": "sleep 100", "seconds": 0.5}, {"command": "sleep 2", "seconds": 30}
    server.play(
        answer(call("create", name="terminal")),
        answer(call("action", window_id="terminal_1", action_id="run", params=sleep)),
        answer(call("action", window_id="terminal_1", action_id="cancel")),
        answer(call("create", name="terminal")),  # else the program may end before the command
        answer(call("action", window_id="terminal_2", action_id="run", params=pause)),
        answer("Done."),
    )
    words = ("-p", "Sleep", "--approval", "auto")
    with program.start(*words, ignored=SIGNALS, blocked=SIGNALS) as process:
        process.communicate(timeout=PATIENCE)
    log = next(program.home.rglob("*.jsonl")).read_text()
    assert '"status":130' in log, re.findall(r'"status":[^,}]*|"content":"[^"]*', log)
