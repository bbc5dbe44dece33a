"""`contextui dev` on a real terminal: it leaves no session, and its errors are readable."""

import signal
from pathlib import Path

import pytest

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
    words = "Name the file of the window, for example: contextui dev kanban.py"
    program("dev").fails(2, words)


PROCESS = """
    async def _run(self, job: object) -> None:
        process = await self.env.process(["sleep", "1000"])
        with open("pid", "w") as file:
            file.write(str(process.pid))
        await process.wait()

    def opened(self) -> None:
        self.env.job("sleep", self._run)

    def closed(self, reason: str) -> None:
        with open("closed", "w") as file:
            file.write(reason)
"""


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 129)]
)
def test_a_signal_ends_it_and_the_processes_of_the_window(
    tmp_path: Path, number: signal.Signals, status: int
) -> None:
    folder = tmp_path / "work"
    write(folder / "hello.py", more=PROCESS)
    with Terminal(["dev", "hello.py"], folder) as terminal:
        pid_file = folder / "pid"
        terminal.wait_for(lambda: pid_file.exists() and pid_file.read_text())
        terminal.wait_for(lambda: terminal.shows("Says hello."))
        pid = int(pid_file.read_text())
        assert is_running(pid)
        terminal.send(number)
        assert terminal.end() == status
        assert terminal.now() == terminal.before
        terminal.wait_for(lambda: not is_running(pid))
    assert (folder / "closed").read_text() == "exit"


def test_a_file_that_cannot_be_loaded_is_reported(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    write(folder / "hello.py", more="\ndef broken(:\n")
    with Terminal(["dev", "hello.py"], folder) as terminal:
        assert terminal.end() == 2
        assert terminal.shows("hello.py, line 23")
