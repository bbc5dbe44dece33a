"""`contextui trust`: what is shown is what is trusted."""

import os
import pty
from pathlib import Path

import pytest

from tests.cli.calling import PATIENCE, Program

WINDOW = '''
from contextui import Body, Lod, Window
class {0}Window(Window):
    """{0}."""
    def content(self, lod: Lod) -> Body:
        return ""
'''


@pytest.fixture
def window(program: Program) -> Path:
    return program.write(".contextui/windows/deploy.py", WINDOW.format("Deploy"))


def is_there(program: Program) -> bool:
    return "[✓] deploy: Deploy." in program("windows").out


def test_a_projects_windows_run_once_they_are_trusted(program: Program, window: Path) -> None:
    assert not is_there(program)
    done = program("trust", "--yes")
    assert done.status == 0
    assert "new deploy.py sha256 " in done.out
    assert "\n      6 lines\n      defines DeployWindow\n" in done.out
    assert is_there(program)
    window.write_text(WINDOW.format("Changed"))
    assert not is_there(program)


@pytest.mark.parametrize(
    ("answer", "agreed"),
    [(b"\n", False), (b"no\n", False), (b"yes please\n", False), (b"y\n", True)],
)
def test_it_asks_and_only_a_yes_counts(
    program: Program, window: Path, answer: bytes, agreed: bool
) -> None:
    terminal, stdin = pty.openpty()
    with program.start("trust", stdin=stdin) as process:
        os.write(terminal, answer)
        out, err = process.communicate(timeout=PATIENCE)
    os.close(stdin)
    os.close(terminal)
    assert (process.returncode, err) == (0 if agreed else 1, b"")
    assert b"Trust them?" in out
    assert is_there(program) is agreed


def test_what_matters_is_shown_before_it_asks(program: Program, window: Path) -> None:
    window.write_text(f"import os, subprocess\nfrom . import helper\n{WINDOW.format('Deploy')}")
    program.write(".contextui/windows/broken.py", "def (\x1b[2J")
    out = program("trust").out
    assert "defines DeployWindow\n      imports ., os, subprocess\n" in out
    assert "broken.py sha256" in out
    assert "This is not valid Python." in out


def test_it_shows_the_code_on_request(program: Program, window: Path) -> None:
    window.write_text(WINDOW.format("Deploy") + "# \x1b[2J hidden\n")
    terminal, stdin = pty.openpty()
    with program.start("trust", stdin=stdin) as process:
        os.write(terminal, b"s\nn\n")
        out, err = process.communicate(timeout=PATIENCE)
    os.close(stdin)
    os.close(terminal)
    assert (process.returncode, err) == (1, b"")
    assert "── deploy.py\n" in out.decode()
    assert '"""Deploy."""\n' in out.decode()
    assert "␛[2J hidden" in out.decode()
    assert out.decode().count("Trust them?") == 2


def test_without_a_terminal_nothing_is_trusted(program: Program, window: Path) -> None:
    done = program("trust")
    done.fails(2, "--yes")
    assert "deploy.py" in done.out
    assert not is_there(program)


def test_what_is_trusted_already_is_not_asked_again(program: Program, window: Path) -> None:
    program("trust", "--yes")
    done = program("trust")
    assert (done.status, done.err) == (0, "")
    assert "are trusted" in done.out


def test_trust_can_be_revoked(program: Program, window: Path) -> None:
    program("trust", "--yes")
    assert program("trust", "--revoke").status == 0
    assert not is_there(program)


def test_it_can_be_looked_at_as_json(program: Program, window: Path) -> None:
    data = program("trust", "--json").json
    assert data["trusted"] is False
    assert [file["name"] for file in data["files"]] == ["deploy.py"]
    assert not is_there(program)


def test_where_there_is_nothing_it_says_so(program: Program) -> None:
    program("trust").fails(2, "no windows")
