"""A disk that is full and a log that disappears, in the real program: reported, asked, saved."""

import json
import resource
import signal
from pathlib import Path

import pytest

from tests import thorough
from tests.session.test_crash import Entries
from tests.tui.terminal import Terminal

CTRL_Q, ESCAPE = "\x11", "\x1b"


class Disk:
    """Where the sessions are kept. Full, files cannot grow: by a limit, which needs no rights.

    Python would leave compiled modules cut short under such a limit, so it must not write any.
    """

    reason = "file size limit reached"

    def __init__(self, home: Path) -> None:
        self.home = home

    def fill(self, terminal: Terminal) -> None:
        self._limit(terminal, max(log_in(self.home).stat().st_size, 1))

    def free(self, terminal: Terminal) -> None:
        self._limit(terminal, resource.RLIM_INFINITY)

    def _limit(self, terminal: Terminal, size: int) -> None:
        limits = (size, resource.RLIM_INFINITY)
        resource.prlimit(terminal.process.pid, resource.RLIMIT_FSIZE, limits)


@pytest.fixture
def disk(folder: Path) -> Disk:
    return Disk(folder.parent / "terminal-home")


def log_in(home: Path) -> Path:
    (log,) = home.rglob("projects/*/*.jsonl")
    return log


def messages(home: Path) -> list[str]:
    """What the person sent, as the log has it; every line of it is whole and in order."""
    entries = Entries(log_in(home))
    assert entries.read_on() == b""
    lines = map(json.loads, entries.path.read_bytes().splitlines())
    return [one["message"]["content"] for one in lines if one["type"] == "user"]


def begin(terminal: Terminal) -> None:
    terminal.wait_for(lambda: terminal.is_ready() or terminal.shows("Chat"))
    terminal.type("create a todo list with milk\r")
    terminal.wait_for(lambda: terminal.shows("✓ create todo"))


def fill(disk: Disk, terminal: Terminal) -> None:
    """Have one turn saved, and a second one that cannot be."""
    begin(terminal)
    terminal.wait_for(lambda: b'"turn_end"' in log_in(disk.home).read_bytes())
    disk.fill(terminal)
    terminal.type("add eggs\r")
    terminal.wait_for(lambda: terminal.shows(f"not saved: {disk.reason}"))


def test_a_full_disk_is_shown_where_the_person_looks_and_made_good_by_itself(
    folder: Path, disk: Disk
) -> None:
    """FAULTS 58: in the conversation, at the prompt, at quitting; then written in order."""
    with Terminal([], folder, (80, 24), PYTHONDONTWRITEBYTECODE="1") as terminal:
        fill(disk, terminal)
        terminal.wait_for(lambda: terminal.shows("Not saved: "))
        terminal.wait_for(lambda: terminal.shows("succeeds."))  # it is retried until it does
        terminal.type("add butter\r")
        terminal.wait_for(lambda: terminal.shows("add butter"))
        assert terminal.shows(f"not saved: {disk.reason}")
        terminal.wait_for(lambda: any("todo_1.add" in line for line in terminal.lines()))
        terminal.type(CTRL_Q)
        terminal.wait_for(lambda: terminal.shows(f"2 turns are not saved: {disk.reason}."))
        assert terminal.shows("Quit anyway; unsaved changes are lost")
        terminal.press(ESCAPE, lambda: not terminal.shows("Quit anyway"))
        assert "add butter" not in messages(disk.home)
        disk.free(terminal)
        terminal.wait_for(lambda: terminal.shows("Saving has resumed; nothing was lost."))
        terminal.wait_for(lambda: not terminal.shows(f"not saved: {disk.reason}"))
        assert messages(disk.home) == ["create a todo list with milk", "add eggs", "add butter"]
        terminal.type(CTRL_Q)
        assert terminal.end() == 0
    assert b"contextui -c resumes this conversation." in terminal.written


def test_quitting_with_something_unsaved_is_an_error_and_promises_nothing(
    folder: Path, disk: Disk
) -> None:
    with Terminal([], folder, (80, 24), PYTHONDONTWRITEBYTECODE="1") as terminal:
        fill(disk, terminal)
        terminal.wait_for(lambda: terminal.shows("todo_1.add"))
        terminal.type("/quit\r")
        terminal.wait_for(lambda: terminal.shows(f"1 turn is not saved: {disk.reason}."))
        terminal.press("q", lambda: terminal.process.poll() is not None)
        assert terminal.end() == 1
        assert terminal.now() == terminal.before
    last = terminal.written.rsplit(b"\x1b[?1049l", 1)[-1]
    assert b"resumes this conversation" not in last
    assert f"1 turn is not saved: {disk.reason}. contextui -c resumes without them.".encode() in (
        last.replace(b"\r\n", b" ")
    )
    assert messages(disk.home)[0] == "create a todo list with milk"
    assert log_in(disk.home).read_bytes().count(b'"subtype":"turn_end"') == 1


def draft_in(home: Path) -> str:
    logs = list(home.rglob("projects/*/*.jsonl"))  # none before the session is open
    found = [json.loads(line) for log in logs for line in log.read_bytes().splitlines()]
    drafts = [one["data"]["text"] for one in found if one.get("subtype") == "draft"]
    return str(drafts[-1]) if drafts else ""


@pytest.mark.parametrize(
    "is_new", [False, pytest.param(True, marks=pytest.mark.long)], ids=["later", "first"]
)
def test_what_is_typed_and_not_sent_survives_a_kill(folder: Path, is_new: bool) -> None:
    """FAULTS 60, G07; that never sends it."""
    home = folder.parent / "terminal-home"
    with Terminal([], folder, (80, 24)) as terminal:
        if is_new:
            terminal.wait_for(lambda: terminal.shows("Nothing is ever lost."))
        else:
            begin(terminal)
        terminal.type("a long thought")
        terminal.wait_for(lambda: draft_in(home) == "a long thought")
        terminal.send(signal.SIGKILL)
        terminal.end()
    with Terminal(["-c"], folder, (80, 24)) as terminal:
        terminal.wait_for(lambda: terminal.shows("a long thought"))
        terminal.type(" of mine\r")
        terminal.wait_for(lambda: "a long thought of mine" in messages(home))
        terminal.wait_for(lambda: draft_in(home) == "")
        terminal.send(signal.SIGKILL)
        terminal.end()
    assert messages(home)[-1] == "a long thought of mine"
    assert "a long thought" not in messages(home)


def typed_in(home: Path) -> str:
    """What the log has of the text that is typed into the editor."""
    found = [json.loads(line) for line in log_in(home).read_bytes().splitlines()]
    states = [one["data"]["state"] for one in found if one.get("subtype") == "window_state"]
    edits = [edit for state in states for edit in state.get("edits", ())]
    return json.dumps(edits)


def test_steady_typing_in_an_editor_reaches_the_log(folder: Path) -> None:
    """FAULTS 60, G03: no pause is needed, and a kill leaves what is there."""
    home, keys = folder.parent / "terminal-home", thorough.times(40, 250)
    (folder / "notes.txt").write_text("")
    with Terminal([], folder, (120, 40)) as terminal:
        terminal.wait_for(terminal.is_ready)
        terminal.type("open notes.txt in the editor\r")
        terminal.wait_for(lambda: terminal.shows("1 editor"))
        terminal.type("\x071\r")  # ctrl+g 1: the window; enter: into its text
        terminal.type("here ")
        terminal.wait_for(lambda: terminal.shows("here"))
        typed = 0

        def reaches_the_log() -> bool:
            nonlocal typed
            terminal.type(f"<{typed}>")
            typed += 1
            return typed > keys and f"<{keys}>".encode() in log_in(home).read_bytes()

        terminal.wait_for(reaches_the_log)
        terminal.send(signal.SIGKILL)
        terminal.end()
    assert all(f"<{number}>" in typed_in(home) for number in range(keys))
