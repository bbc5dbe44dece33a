"""`contextui dev` on a real terminal: it leaves no session, and its errors are readable."""

from pathlib import Path

from tests.cli.calling import Program
from tests.tui.terminal import Terminal
from tests.windowing.finding.sources import write


def test_it_runs_on_a_terminal_and_leaves_no_session(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    path = write(folder / "hello.py")
    with Terminal(["dev", "hello.py", "start=5"], folder) as terminal:
        terminal.wait_for(lambda: terminal.shows("Says hello. 5"))
        write(path, words="Greets.")
        terminal.wait_for(lambda: terminal.shows("Greets. 5"))
        terminal.type("\x11")
        assert terminal.end() == 0
    assert not list(tmp_path.rglob("*.jsonl"))


def test_without_a_terminal_or_file_it_says_so(program: Program) -> None:
    program("dev", "hello.py").fails(2, "contextui dev needs a terminal.")
    program("dev").fails(2, "FILE.py")


def test_a_file_that_cannot_be_loaded_is_reported(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    write(folder / "hello.py", more="\ndef broken(:\n")
    with Terminal(["dev", "hello.py"], folder) as terminal:
        assert terminal.end() == 2
        assert terminal.shows("hello.py, line 23")
