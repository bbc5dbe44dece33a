"""In an untrusted folder none of its code runs, however contextui is started.

What Python does before the first line of contextui cannot be helped by it: `python -m contextui`
looks for `contextui` in the current folder first, and with the folder in PYTHONPATH Python runs a
`sitecustomize.py` there whatever the program. The installed `contextui` and
`python -P -m contextui` have no such gap.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from contextui import SessionStore
from tests.agent.server import Server, answer
from tests.cli.serve.serving import Serving, opened
from tests.cli.traps import BIN, OWN, PATIENCE, STARTUP, TRAPS, Trap, UntrustedFolder
from tests.tui.terminal import Terminal

CONTEXTUI = str(BIN / "contextui")
LONG = pytest.mark.long
FORKED = (sys.executable, "-P", "-m", "contextui")
EVERYTHING = [*OWN, *STARTUP, *TRAPS]


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[UntrustedFolder]:
    """An untrusted folder with all traps; none may have run at the end."""
    built = UntrustedFolder.build(tmp_path, EVERYTHING)
    assert built.files >= 70
    yield built
    assert built.sprung == []


@pytest.mark.parametrize("trap", EVERYTHING, ids=lambda trap: trap.name)
def test_each_trap_springs_if_it_is_used_carelessly(tmp_path: Path, trap: Trap) -> None:
    program = trap.careless[0] if trap.careless[0] != "/bin/sh" else trap.careless[2].split()[0]
    if trap.name in ("make", "hooks of git", "settings of git") and not shutil.which(program):
        pytest.skip(f"there is no {program}")
    alone = UntrustedFolder.build(tmp_path, [trap])
    expected = trap.build(alone.path, alone.marks)
    trap.spring(alone.path)
    assert alone.sprung == sorted(mark.name.replace("%", "/") for mark in expected) != []


PROGRAM = pytest.mark.parametrize(
    "start",
    [
        pytest.param([CONTEXTUI], id="program"),
        pytest.param([sys.executable, "-P", "-m", "contextui"], id="python -P", marks=LONG),
    ],
)
LOOKING = ("sessions", "config", "debug", "trust --json", "compact --dry-run", "--help")


@PROGRAM
def test_commands(folder: UntrustedFolder, start: list[str]) -> None:
    done = folder.run(*start, "-p", "Make a to-do list with milk")
    assert (done.returncode, "todo_1" in done.stdout) == (0, True), done
    windows = folder.run(*FORKED, "windows", is_forked=True).stdout
    assert "[X] hostile_window" in windows  # and is listed as untrusted
    assert "[✓] hostile" not in windows


@LONG
def test_other_commands(folder: UntrustedFolder) -> None:
    folder.run(CONTEXTUI, "-p", "Make a to-do list with milk")
    for words in LOOKING:
        done = folder.run(CONTEXTUI, *words.split())
        assert "Traceback" not in done.stderr
        assert done.returncode == 0 or words == "compact --dry-run", done


@pytest.mark.parametrize(
    "words", ["-m contextui -p hello", pytest.param("-Bmcontextui -p hello", marks=LONG)]
)
def test_python_dash_m_finds_nothing_but_its_own_name(tmp_path: Path, words: str) -> None:
    folder = UntrustedFolder.build(tmp_path, [*STARTUP, *TRAPS])
    done = folder.run(sys.executable, *words.split())
    assert done.returncode == 0, done
    assert folder.sprung == []


def test_a_search_path_that_names_the_folder_is_cleaned(tmp_path: Path) -> None:
    # Without what Python itself imports before any line of a program.
    loaded = subprocess.run(
        [sys.executable, "-c", "import sys; print(*sys.modules)"],
        capture_output=True, text=True, timeout=PATIENCE, check=True,
    )  # fmt: skip
    early = {f"{name}.py" for name in loaded.stdout.split()}
    own, packages = TRAPS[0], TRAPS[1]
    assert len(own.files.keys() - early) >= 10
    files = {path: text for path, text in own.files.items() if path not in early}
    traps = [Trap(own.name, files, own.careless), packages, *TRAPS[3:6]]
    folder = UntrustedFolder.build(tmp_path, traps)
    given = f":.:./:{folder.path}:/nowhere::src:.:"
    kept = folder.environ().get("PYTHONPATH")
    environ = {"PYTHONPATH": f"{given}:{kept}" if kept else given}
    done = folder.run(CONTEXTUI, "-p", "Make a to-do list with milk", environ=environ)
    assert (done.returncode, done.stderr) == (0, ""), done
    assert folder.sprung == []


@LONG
def test_a_real_sdk_asks_a_model(folder: UntrustedFolder) -> None:
    with Server(answer("Hello.")) as server:
        environ = {"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": "a-key"}
        done = folder.run(CONTEXTUI, "-p", "hello", environ=environ)
        assert done.returncode == 0, done
        assert len(server.requests) == 1


def test_the_app_in_a_terminal(folder: UntrustedFolder) -> None:
    environ = folder.environ(CONTEXTUI_HOME=str(folder.home / ".contextui"))
    with Terminal([], folder.path, (120, 40), [CONTEXTUI], **environ) as terminal:
        terminal.wait_for(lambda: terminal.shows("0001"))  # the session is open
        terminal.type("/open editor path=json.py\r")  # with a parser for its language
        terminal.wait_for(lambda: terminal.shows("editor_1"))
        terminal.type("\x11")  # ctrl+q
        assert terminal.end() == 0
    (info,) = SessionStore(folder.home / ".contextui").list()
    assert not info.is_empty


@PROGRAM
async def test_a_page_of_serve(folder: UntrustedFolder, start: list[str]) -> None:
    with Serving(folder.path, command=start, environ=folder.environ()) as serving:
        async with opened(serving) as page:
            await page.until_shown("0001")  # the session is open
            await page.type("Make a to-do list with milk\r")
            await page.until_shown("todo_1")


COMPLETE = (
    'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _contextui; '
    'printf "%s\\n" "${COMPREPLY[@]}"'
)


@pytest.mark.long
@pytest.mark.skipif(not shutil.which("bash"), reason="there is no bash")
def test_completion(folder: UntrustedFolder) -> None:
    folder.run(CONTEXTUI, "-p", "hello")
    (info,) = SessionStore(folder.home / ".contextui").list()
    script = folder.home / "completion.bash"
    script.write_text(folder.run(CONTEXTUI, "completion", "bash").stdout)
    bash = str(shutil.which("bash"))
    press = (bash, "--norc", "-c", COMPLETE, "bash", str(script), "contextui", "debug", "")
    found = folder.run(*press, environ={"PATH": f"{BIN}:{os.environ['PATH']}"})
    assert (found.returncode, found.stderr) == (0, "")
    assert info.id[:8] in found.stdout.split()
    # The folder first in PATH, with a program of our name in it.
    (folder.path / "contextui").rename(folder.path / "package")
    (folder.path / "contextui").write_text(f"#!/bin/sh\n: > '{folder.marks}/contextui'\n")
    (folder.path / "contextui").chmod(0o755)
    found = folder.run(*press)
    assert "--turn" in found.stdout.split()


@pytest.mark.long
def test_the_test_of_a_new_window(folder: UntrustedFolder) -> None:
    environ = {"PATH": str(BIN)}
    made = folder.run(CONTEXTUI, "new-window", "shopping-list", environ=environ)
    assert made.returncode == 0, made
    command = made.stdout.splitlines()[2].removeprefix("Test it:  ").split()
    assert command[:3] == ["python", "-P", "-m"]
    tested = folder.run(sys.executable, *command[1:])
    assert (tested.returncode, "4 passed" in tested.stdout) == (0, True), tested
