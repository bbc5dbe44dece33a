"""Windows that freeze the program or keep it from exiting, in their own processes (F11, F18)."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.calling import PATIENCE, Done, Program
from tests.tui.terminal import Terminal

HEAD = """
import atexit, ctypes, re, sys, threading, time
from contextui import Window, action

def freeze():
    ctypes.PyDLL(None).sleep(900)  # with Python's lock, and without any work

def forever(*_):
    while True:
        time.sleep(1)

class _Base(Window):
    def content(self, lod):
        return "x"

"""

FREEZES = {
    "content": "class Kiosk(_Base):\n    def content(self, lod):\n"
    "        re.match(r'(a+)+$', 'a' * 60 + 'b')",
    "opened": "class Kiosk(_Base):\n    def opened(self):\n        freeze()",
    "made": "class Kiosk(_Base):\n    def __init__(self):\n        super().__init__()\n"
    "        freeze()",
    "anchors": "class Kiosk(_Base):\n    def anchors(self, lod):\n        freeze()",
    "timer": "class Kiosk(_Base):\n    def opened(self):\n        self.env.every(0.01, freeze)",
    "thread": "class Kiosk(_Base):\n    def opened(self):\n"
    "        threading.Thread(target=freeze, daemon=True).start()\n        time.sleep(9)",
    "asleep": "class Kiosk(_Base):\n    def content(self, lod):\n        freeze()",
}
"""Ways in which a window holds Python's lock."""

EXITS = {
    "atexit": "class Kiosk(_Base):\n    def opened(self):\n        atexit.register(forever)",
    "atexit of the system": "class Kiosk(_Base):\n    def opened(self):\n"
    "        atexit.register(time.sleep, 900)",
    "atexit that freezes": "class Kiosk(_Base):\n    def opened(self):\n"
    "        atexit.register(freeze)",
    "thread": "class Kiosk(_Base):\n    def opened(self):\n"
    "        threading.Thread(target=forever, daemon=False).start()",
    "settrace": "class Kiosk(_Base):\n    def opened(self):\n        threading.settrace(forever)",
    "made": "class Kiosk(_Base):\n    action_seconds = 1\n    def __init__(self):\n"
    "        super().__init__()\n        forever()",
    "del": "class Last:\n    def __del__(self):\n        forever()\n\nlast = Last()\n"
    "class Kiosk(_Base):\n    pass",
}
"""Ways in which a window keeps the process from exiting."""


def hold(program: Program, source: str, *words: str) -> Done:
    """Run a turn that opens such a window, after a turn that must stay saved."""
    program.write("kiosk.py", HEAD + source + '\n\nKiosk.__doc__ = "Holds up everything."\n')
    assert program("-p", "Make a todo list with milk", "--model", "offline").status == 0
    flags = ("--window", "kiosk.py", "--max-freeze", "3", "--model", "offline")
    return program.run("-c", "-p", "Open a kiosk window", *flags, *words)


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
def test_a_window_that_freezes_the_program_is_named(program: Program, source: str) -> None:
    done = hold(program, source)
    if source == FREEZES["timer"] and done.status == 0:
        return  # the program ended before the first tick
    assert done.status == -signal.SIGKILL, done
    # A tick may come while the program is exiting.
    exits = source == FREEZES["timer"] and "kiosk_1 kept the program from exiting" in done.err
    assert exits or re.search("kiosk(_1)? froze the program for 3 s", done.err), done
    check_saved(program, "Open a kiosk window")


@pytest.mark.parametrize("call", ["freeze()", pytest.param("forever()", marks=pytest.mark.long)])
def test_a_file_of_windows_that_freezes_the_program_is_named(program: Program, call: str) -> None:
    done = hold(program, call)
    assert done.status == -signal.SIGKILL
    assert "kiosk.py froze the program for 3 s" in done.err
    check_saved(program)


@pytest.mark.parametrize("source", sampled(EXITS, "atexit", "settrace"))
def test_a_window_that_keeps_the_program_from_exiting_is_named(
    program: Program, source: str
) -> None:
    done = hold(program, source)
    assert done.out, "the turn has an end"
    if source != EXITS["del"] or done.status != 0:  # Python may skip __del__ at exit
        assert done.status in (1, -signal.SIGKILL), done
        assert re.search("kiosk(_1|.py) kept the program from exiting", done.err), done
    check_saved(program, "Open a kiosk window")


@pytest.mark.long
def test_the_busy_one_of_several_is_named(program: Program) -> None:
    slow = "class Slow(_Base):\n    '''Waits.'''\n    def content(self, lod):\n        forever()\n"
    program.write("slow.py", HEAD + slow)
    flags = ("--window", "slow.py", "--model", "offline", "--max-freeze", "3")
    assert program.run("-p", "Open a slow window", *flags).status == 0
    program.write("kiosk.py", HEAD + FREEZES["content"] + '\n\nKiosk.__doc__ = "Holds."\n')
    done = program.run("-c", "-p", "Open a kiosk window", "--window", "kiosk.py", *flags)
    assert "kiosk_1 froze the program" in done.err, done
    assert "slow_1" not in done.err


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
    assert "kiosk.py kept the program from exiting" in done.err


def watchdogs(parent: int) -> list[int]:
    """The watchdogs of a process."""
    found = subprocess.run(["ps", "-ww", "-eo", "pid,ppid,args"], capture_output=True, check=True)
    rows = [line.split(None, 2) for line in found.stdout.decode().splitlines()[1:]]
    return [int(pid) for pid, ppid, args in rows if int(ppid) == parent and "watchdog.py" in args]


SLEEPY = (
    "class Kiosk(_Base):\n    '''Takes its time.'''\n    def opened(self):\n        time.sleep(15)"
)


def start_sleeping(program: Program) -> "subprocess.Popen[bytes]":
    """A turn that takes long, in which nothing is frozen; it is watched when this returns."""
    program.write("kiosk.py", HEAD + SLEEPY)
    flags = ("--window", "kiosk.py", "--max-freeze", "3", "--model", "offline")
    process = program.start("-p", "Open a kiosk window", *flags)
    deadline = time.monotonic() + PATIENCE
    while not watchdogs(process.pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert watchdogs(process.pid)
    return process


def test_the_watchdog_ends_with_the_program_and_knows_no_key(program: Program) -> None:
    program.set(ANTHROPIC_AUTH_TOKEN="sk-secret")
    process = start_sleeping(program)
    [dog] = watchdogs(process.pid)
    assert b"sk-secret" not in Path(f"/proc/{dog}/environ").read_bytes()
    process.kill()
    process.communicate(timeout=PATIENCE)  # it holds stderr open for as long as it runs
    assert not os.path.exists(f"/proc/{dog}") or b"watchdog" not in _command(dog)


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


@pytest.mark.long
def test_a_program_that_is_stopped_for_a_while_is_not_frozen(program: Program) -> None:
    process = start_sleeping(program)
    process.send_signal(signal.SIGSTOP)
    time.sleep(8)  # several times the limit
    process.send_signal(signal.SIGCONT)
    _, err = process.communicate(timeout=PATIENCE)
    assert b"froze" not in err
    assert process.returncode == 0, err


def test_a_process_that_only_uses_the_library_has_no_watchdog(program: Program) -> None:
    assert program("-p", "Make a todo list", "--model", "offline").status == 0
    assert watchdogs(os.getpid()) == []


def test_the_watchdog_imports_nothing_of_a_folder(program: Program) -> None:
    """It is started in a folder that may be untrusted."""
    program.write("json.py", "raise SystemExit('stranger')")
    program.write("contextui/__init__.py", "raise SystemExit('stranger')")
    script = Path(__file__).parents[2] / "contextui" / "cli" / "watchdog.py"
    done = subprocess.run(
        [sys.executable, "-I", "-S", script, "{}"], stdin=subprocess.DEVNULL, capture_output=True,
        check=False, timeout=PATIENCE,
    )  # fmt: skip
    assert b"stranger" not in done.stderr


WIDGET = """
import ctypes
from textual.widget import Widget

class Frozen(Widget):
    def __init__(self, window):
        super().__init__()

    def render(self):
        ctypes.PyDLL(None).sleep(900)
        return ""
"""


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(FREEZES["asleep"], id="content"),
        pytest.param(
            "class Kiosk(_Base):\n    widget = 'kiosk_widget:Frozen'",
            id="widget",
            marks=pytest.mark.long,
        ),
    ],
)
def test_the_terminal_is_restored_and_the_window_is_named(tmp_path: Path, source: str) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "kiosk_widget.py").write_text(WIDGET)
    (tmp_path / "kiosk.py").write_text(HEAD + source + '\n\nKiosk.__doc__ = "Holds."\n')
    words = ["Open a kiosk window", "--window", "kiosk.py", "--max-freeze", "3"]
    words += ["--model", "offline"]
    with Terminal(words, tmp_path, PYTHONPATH=str(tmp_path / "lib")) as terminal:
        assert terminal.end() == 128 + signal.SIGKILL
        parts = terminal.written.rpartition(b"\x1b[?1049l")
        assert parts[0], "the alternate screen was never left"
        assert b"kiosk_1 froze the program for 3 s" in parts[2]
        assert terminal.now() == terminal.before
        assert b"\x1b[?25h" in parts[2]  # the cursor is there again
