"""`contextui completion`: the scripts work in the shells they are for."""

import os
import shutil
import subprocess

import pytest

from contextui.cli.parsers import COMMANDS
from contextui.config import Settings, flag_of
from tests.cli.calling import PATIENCE, Program

CASES = [
    ("contextui ", set(COMMANDS)),
    ("contextui de", {"debug"}),
    ("contextui --appro", {"--approval"}),
    ("contextui --approval ", {"ask", "auto", "read-only"}),
    ("contextui -p x --output-format s", {"stream-json"}),
    ("contextui sessions --", {"--all", "--json", "--help"}),
    ("contextui debug --tu", {"--turn"}),
    ("contextui completion ", {"bash", "zsh", "fish"}),
    ("contextui config --lang z", {"zh"}),
]


def script_of(program: Program, shell: str) -> str:
    done = program("completion", shell)
    assert (done.status, done.err) == (0, "")
    path = program.write(f"script.{shell}", done.out)
    return str(path)


def output_of(*command: str) -> list[str]:
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert done.stderr == ""
    return done.stdout.splitlines()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_command_and_every_setting_is_in_it(program: Program, shell: str) -> None:
    script = program("completion", shell).out
    for word in (*COMMANDS, *map(flag_of, Settings.model_fields)):
        assert (word.removeprefix("--") if shell == "fish" else word) in script


@pytest.mark.skipif(not shutil.which("bash"), reason="there is no bash")
@pytest.mark.parametrize(("line", "offered"), CASES)
def test_bash_offers_what_there_is(program: Program, line: str, offered: set[str]) -> None:
    words = line.split(" ")
    script = (
        f'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD={len(words) - 1}; _contextui; '
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    found = set(output_of("bash", "-c", script, "bash", script_of(program, "bash"), *words))
    assert offered <= found
    assert all(one.startswith(words[-1]) for one in found)


@pytest.mark.skipif(not shutil.which("fish"), reason="there is no fish")
@pytest.mark.parametrize(("line", "offered"), CASES)
def test_fish_offers_what_there_is(program: Program, line: str, offered: set[str]) -> None:
    script = 'source $argv[1]; complete -C "$argv[2]"'
    lines = output_of("fish", "-N", "-c", script, script_of(program, "fish"), line)
    assert offered <= {one.split("\t")[0] for one in lines}


@pytest.mark.skipif(not shutil.which("zsh"), reason="there is no zsh")
def test_zsh_takes_the_script(program: Program) -> None:
    path = script_of(program, "zsh")
    assert output_of("zsh", "-f", "-n", path) == []
    check = f"autoload -U compinit; compinit -u -D; source {path}; echo $_comps[contextui]"
    assert output_of("zsh", "-f", "-c", check) == ["_contextui"]
    assert os.path.exists(path)
