"""Windows that freeze the program or keep it from exiting, in their own processes (F11, F18)."""

import signal
import time
from pathlib import Path

import pytest

from contextui.cli import watchdog
from tests.cli.calling import PATIENCE, Done, Program
from tests.tui.terminal import Terminal
from tests.tui.test_terminal import BUSY

HEAD = """
import atexit, re, threading, time
from contextui import Window

def freeze():
    re.match(r'(a+)+$', 'a' * 60 + 'b')  # with Python's lock

def forever(*_):
    while True:
        time.sleep(1)

class _Base(Window):
    def content(self, lod):
        return "x"

"""

FREEZES = {
    "content": "class Kiosk(_Base):\n    def content(self, lod):\n        freeze()",
    "opened": "class Kiosk(_Base):\n    def opened(self):\n        freeze()",
    "file": "freeze()",
    "thread": "class Kiosk(_Base):\n    def opened(self):\n"
    "        threading.Thread(target=freeze, daemon=True).start()\n        time.sleep(9)",
}
"""Ways in which a window holds Python's lock."""

EXITS = {
    "atexit": "class Kiosk(_Base):\n    def opened(self):\n        atexit.register(forever)",
    "atexit that freezes": "class Kiosk(_Base):\n    def opened(self):\n"
    "        atexit.register(freeze)",
    "thread": "class Kiosk(_Base):\n    def opened(self):\n"
    "        threading.Thread(target=forever, daemon=False).start()",
    "settrace": "class Kiosk(_Base):\n    def opened(self):\n        threading.settrace(forever)",
    "del": "class Last:\n    def __del__(self):\n        forever()\n\nlast = Last()\n"
    "class Kiosk(_Base):\n    pass",
}
"""Ways in which a window keeps the process from exiting."""


def hold(program: Program, source: str) -> Done:
    """Run a turn that opens such a window, after a turn that must stay saved."""
    program.write("kiosk.py", HEAD + source + '\n\nKiosk.__doc__ = "Holds up everything."\n')
    assert program("-p", "Make a todo list with milk", "--model", "offline").status == 0
    flags = ("--window", "kiosk.py", "--max-freeze", "3", "--model", "offline")
    return program.run("-c", "-p", "Open a kiosk window", *flags)


def check_saved(program: Program, *words: str) -> None:
    """All messages are there, and the session resumes without that window's file."""
    [session] = program.sessions()
    log = session.path.read_text()
    assert "Make a todo list with milk" in log
    for one in words:
        assert one in log
    done = program("-c", "-p", "Mark milk as done", "--model", "offline")
    assert done.status == 0, done
    assert len(program.sessions()) == 1


def sampled(ways: dict[str, str], *quick: str) -> list[object]:
    """All ways as parameters; those that are not named here take long."""
    mark = pytest.mark.long
    return [pytest.param(one, id=name, marks=() if name in quick else mark)
            for name, one in ways.items()]  # fmt: skip


@pytest.mark.parametrize("source", sampled(FREEZES, "content"))
def test_a_window_that_freezes_the_program_ends_it(program: Program, source: str) -> None:
    done = hold(program, source)
    assert done.status == -signal.SIGVTALRM, done
    assert "kiosk.py" in done.err, done  # the line of code that ran
    check_saved(program, *(["Open a kiosk window"] if source != FREEZES["file"] else []))


@pytest.mark.parametrize("source", sampled(EXITS, "atexit", "settrace"))
def test_a_window_that_prevents_the_exit_is_stopped(program: Program, source: str) -> None:
    done = hold(program, source)
    assert done.out, "the turn has an end"
    if source != EXITS["del"] or done.status != 0:  # Python may skip __del__ at exit
        assert done.status in (1, -signal.SIGVTALRM), done
        assert "kiosk.py" in done.err, done
    check_saved(program, "Open a kiosk window")


@pytest.mark.long
@pytest.mark.parametrize("command", [("windows",), ("debug",), ("new-window", "other")])
def test_every_command_that_loads_windows_is_watched(
    program: Program, command: tuple[str, ...]
) -> None:
    program("-p", "Make a todo list", "--model", "offline")
    program.write("kiosk.py", HEAD + "atexit.register(forever)\nclass Kiosk(_Base):\n    '''x'''\n")
    environ = {"CONTEXTUI_WINDOW": "kiosk.py", "CONTEXTUI_MAX_FREEZE": "3"}
    done = program.run(*command, environ=environ)
    assert done.status == 1, done
    assert "A window kept the program from exiting, so it was stopped after 3 s." in done.err


@pytest.mark.long
def test_a_program_that_is_stopped_for_a_while_is_not_frozen(program: Program) -> None:
    sleepy = "class Kiosk(_Base):\n    '''x'''\n    def opened(self):\n        time.sleep(15)"
    program.write("kiosk.py", HEAD + sleepy)
    flags = ("--window", "kiosk.py", "--max-freeze", "3", "--model", "offline")
    process = program.start("-p", "Open a kiosk window", *flags)
    time.sleep(5)
    process.send_signal(signal.SIGSTOP)
    time.sleep(8)  # several times the limit
    process.send_signal(signal.SIGCONT)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err


def test_a_process_that_only_uses_the_library_is_not_watched(program: Program) -> None:
    assert program("-p", "Make a todo list", "--model", "offline").status == 0
    assert not watchdog.is_wanted
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("code", "status", "text"),
    [
        ("__import__('time').sleep(1)", 1, b"froze the program, so it was stopped after 3 s."),
        ("__import__('re').match('(a+)+$', 'a' * 60 + 'b')", 154, b"Current thread"),
    ],
    ids=["loop", "lock"],
)
def test_a_widget_that_blocks_the_screen_is_stopped_and_the_terminal_is_restored(
    tmp_path: Path, code: str, status: int, text: bytes
) -> None:
    (tmp_path / "busy.py").write_text(BUSY.replace("pass\n", f"{code}\n"))
    words = ["Open a busy window", "--window", "busy.py", "--max-freeze", "3"]
    with Terminal([*words, "--model", "offline"], tmp_path) as terminal:
        assert terminal.end() == status
        terminal.wait_for(lambda: terminal.now() == terminal.before)
        terminal.wait_for(lambda: b"busy.py" in terminal.written.rpartition(b"\x1b[?1049l")[2])
        parts = terminal.written.rpartition(b"\x1b[?1049l")
        assert parts[0], "the alternate screen was never left"
        assert text in parts[2]
        assert b"busy.py" in parts[2]  # the line of code that ran
        assert b"\x1b[?25h" in parts[2]  # the cursor is there again
