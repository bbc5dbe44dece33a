"""`contextui completion`: the scripts work in the shells they are for."""

import os
import pty
import select
import shutil
import subprocess
import time
from collections.abc import Callable

import pyte
import pytest

from contextui.cli.commands import COMMANDS
from contextui.config.schema import SETTINGS, flag_of
from tests.cli.calling import PATIENCE, Program

CASES = [
    ("contextui ", set(COMMANDS)),
    ("contextui de", {"debug", "dev"}),
    ("contextui --appro", {"--approval"}),
    ("contextui --approval ", {"ask", "auto", "read-only"}),
    ("contextui -p x --output-format s", {"stream-json"}),
    ("contextui sessions --", {"--all", "--json", "--help"}),
    ("contextui debug --tu", {"--turn"}),
    ("contextui debug --fo", {"--follow"}),
    ("contextui completion ", {"bash", "zsh", "fish"}),
    ("contextui config --lang z", {"zh"}),
    ("contextui --strategy s", {"sliding", "summarization"}),
]


def script_of(program: Program, shell: str) -> str:
    """The script of a shell; the program that it asks for sessions lists those that there are."""
    done = program("completion", shell)
    assert (done.status, done.err) == (0, "")
    path = program.write(f"script.{shell}", done.out)
    folder = program.folder.parent / "bin"
    folder.mkdir()
    (folder / "sessions").write_text(program("sessions").out)
    (folder / "contextui").write_text('#!/bin/sh\n[ "$*" = sessions ] && cat "${0%/*}/sessions"\n')
    (folder / "contextui").chmod(0o755)
    program.set(PATH=f"{folder}:{os.environ['PATH']}")
    return str(path)


def output_of(*command: str) -> list[str]:
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert done.stderr == ""
    return done.stdout.splitlines()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_command_and_every_setting_is_in_it(program: Program, shell: str) -> None:
    script = program("completion", shell).out
    for word in (*COMMANDS, *map(flag_of, SETTINGS)):
        assert (word.removeprefix("--") if shell == "fish" else word) in script


FISH = """
source $argv[1]
for line in $argv[2..]
    echo "> $line"; complete -C "$line"
end
"""


def offers(printed: list[str]) -> dict[str, set[str]]:
    """The words that a shell offers for each line."""
    found: dict[str, set[str]] = {}
    for one in printed:
        if one.startswith("> "):
            offered = found[one.removeprefix("> ")] = set()
        else:
            offered.add(one.split("\t")[0])
    return found


@pytest.mark.skipif(not shutil.which("fish"), reason="there is no fish")
def test_a_shell_offers_what_there_is(program: Program) -> None:
    lines = [line for line, _ in CASES]
    found = offers(output_of("fish", "-N", "-c", FISH, script_of(program, "fish"), *lines))
    for line, offered in CASES:
        assert offered <= found[line]


@pytest.mark.skipif(not shutil.which("fish"), reason="there is no fish")
def test_fish_describes_a_session_by_its_first_prompt(program: Program) -> None:
    program("-p", "Plan the trip")
    (info,) = program.sessions()
    lines = ("contextui -r ", "contextui debug ")
    printed = output_of("fish", "-N", "-c", FISH, script_of(program, "fish"), *lines)
    described = [one for one in printed if one.startswith(f"{info.id[:8]}\t")]
    assert [one.endswith("Plan the trip") for one in described] == [True, True]


SHELLS = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], "source {0}"),
    "zsh": (["zsh", "-f", "-i"], "autoload -U compinit; compinit -u -D; source {0}"),
}


class Typing:
    """A shell on a terminal, into which one types."""

    def __init__(self, shell: str, script: str) -> None:
        command, load = SHELLS[shell]
        self._terminal, theirs = pty.openpty()
        environ = {**os.environ, "PS1": "> ", "TERM": "xterm"}
        self._process = subprocess.Popen(
            command, stdin=theirs, stdout=theirs, stderr=theirs, env=environ, start_new_session=True
        )
        os.close(theirs)
        self._screen = pyte.Screen(100, 30)
        self._stream = pyte.ByteStream(self._screen)
        self.type(f"{load.format(script)}; echo rea''dy\n", "ready")
        self._read_until(lambda: self._screen.display[self._screen.cursor.y].rstrip() == ">")

    def type(self, keys: str, expected: str) -> None:
        """Type, and wait until the screen shows what is expected."""
        os.write(self._terminal, keys.encode())
        self._read_until(lambda: any(line.startswith(expected) for line in self._screen.display))

    def _read_until(self, condition: Callable[[], bool]) -> None:
        until = time.monotonic() + PATIENCE
        while not condition():
            ready, _, _ = select.select([self._terminal], [], [], until - time.monotonic())
            assert ready, self._screen.display
            self._stream.feed(os.read(self._terminal, 65_536))

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._terminal)


@pytest.mark.parametrize("shell", SHELLS)
def test_tab_completes_what_is_typed(program: Program, shell: str) -> None:
    if not shutil.which(shell):
        pytest.skip(f"there is no {shell}")
    program.write("my window.py", "")
    (program.folder / "own windows").mkdir()
    program("-p", "Hello")
    (info,) = program.sessions()
    typing = Typing(shell, script_of(program, shell))
    try:
        again = "\x15"  # ctrl+u: an empty line
        typing.type("contextui deb\t", "> contextui debug ")
        typing.type(f"{again}contextui --lang=z\t", "> contextui --lang=zh")
        typing.type(f"{again}contextui --strategy sl\t", "> contextui --strategy sliding")
        typing.type(f"{again}contextui --window my\t", "> contextui --window my\\ window.py")
        typing.type(f"{again}contextui --windows ow\t", "> contextui --windows own\\ windows/")
        typing.type(f"{again}contextui -r {info.id[:2]}\t", f"> contextui -r {info.id[:8]}")
        typing.type(f"{again}contextui debug {info.id[:2]}\t", f"> contextui debug {info.id[:8]}")
        typing.type(f"{again}contextui debug --tu\t", "> contextui debug --turn")
    finally:
        typing.end()
