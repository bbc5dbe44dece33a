"""The real program in a terminal: a wish, a window, its end, and a terminal as it was."""

import json
import signal
import sys
import time
from pathlib import Path

import pytest

from tests import forkserver
from tests.tui.terminal import Terminal
from tests.tui.test_saving import begin

ALTERNATE_SCREEN_OFF, CURSOR_ON = b"\x1b[?1049l", b"\x1b[?25h"
TITLE_SAVED, TITLE_BACK = b"\x1b[22;2t", b"\x1b[23;2t"
BUSY = '''
from pathlib import Path

from textual.widget import Widget

from contextui import Window


class BusyWindow(Window):
    """Keeps the program busy."""

    widget = f"{__name__}:Busy"

    def content(self, lod):
        return "busy"


class Busy(Widget):
    def __init__(self, window):
        super().__init__()

    def render(self):
        Path("is-busy").touch()
        while True:
            pass
'''


def assert_ended(terminal: Terminal, status: int = 0) -> None:
    """The program ends, and leaves the terminal as it was."""
    assert terminal.end() == status
    assert ALTERNATE_SCREEN_OFF in terminal.written
    assert CURSOR_ON in terminal.written
    assert terminal.now() == terminal.before


def logged(folder: Path) -> list[dict[str, object]]:
    """The entries of the only session; every line of it is whole."""
    (log,) = (folder.parent / "terminal-home").rglob("projects/*/*.jsonl")
    data = log.read_bytes()
    assert data.endswith(b"\n")
    return [json.loads(line) for line in data.splitlines()]


def test_a_wish_a_window_and_the_session_that_goes_on(folder: Path) -> None:
    with Terminal([], folder, (80, 24)) as terminal:
        terminal.wait_for(lambda: terminal.shows("Nothing is ever lost."))
        terminal.type("create a todo list with milk and eggs\r")
        terminal.wait_for(lambda: terminal.shows("✓ create todo"))
        terminal.wait_for(lambda: terminal.shows("todo_1"))
        terminal.type("\x11")  # ctrl+q
        assert_ended(terminal)
        assert [terminal.written.count(one) for one in (TITLE_SAVED, TITLE_BACK)] == [1, 1]
    with Terminal(["-c"], folder) as terminal:
        terminal.type("/help\r")  # at any moment of the start: Enter sends
        terminal.wait_for(lambda: terminal.shows("Keys and commands"))
        terminal.type("\x1b")
        terminal.wait_for(lambda: terminal.shows("1 todo"))
        assert b"Try one" not in terminal.written  # no welcome for a newcomer
        terminal.wait_for(lambda: terminal.shows("create a todo list with milk and eggs"))
        terminal.wait_for(lambda: terminal.shows("[✓] 0004 Window todo_1"))
        terminal.type("close the todo list\r")
        terminal.wait_for(lambda: terminal.shows("todo_1.close"))
        terminal.type("\x07i")  # ctrl+g, i: the inspector
        terminal.wait_for(lambda: terminal.shows("[X] 0004 Window todo_1"))
        terminal.type("\x11")
        assert terminal.end() == 0
    assert any(entry.get("subtype") == "window_closed" for entry in logged(folder))


SLOW_START = """
import sys, time
from contextui.cli import main
from contextui.tui.app import ContextUIApp

def run(app, run=ContextUIApp.run):
    open("starting", "w").close()
    time.sleep(1)
    return run(app)

ContextUIApp.run = run
sys.exit(main())
"""


def test_enter_sends_also_before_the_app_has_set_up_the_terminal(folder: Path) -> None:
    with Terminal([], folder, program=(sys.executable, "-c", SLOW_START)) as terminal:
        terminal.wait_for((folder / "starting").exists)
        terminal.type("/help\r")
        terminal.wait_for(lambda: terminal.shows("Keys and commands"))
        terminal.type("\x1b\x11")
        assert_ended(terminal)


@pytest.mark.parametrize(
    ("numbers", "status"),
    [
        ([signal.SIGTERM], 143),
        ([signal.SIGINT, signal.SIGTERM, signal.SIGQUIT], 130),
    ],
    ids=["TERM", "INT-TERM-QUIT"],
)
def test_a_signal_ends_it_in_order(
    folder: Path, numbers: list[signal.Signals], status: int
) -> None:
    """FAULTS 29, G08: however many come, the terminal is as it was."""
    with Terminal([], folder, (80, 24)) as terminal:
        begin(terminal)
        for number in numbers:
            terminal.send(number)
            time.sleep(0.02)
        assert_ended(terminal, status)
    assert any(entry.get("subtype") == "window_opened" for entry in logged(folder))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGQUIT])
def test_a_signal_while_the_first_frame_is_drawn(folder: Path, number: signal.Signals) -> None:
    with Terminal([], folder) as terminal:
        terminal.wait_for(lambda: b"\x1b[?1049h" in terminal.written)
        terminal.send(number)
        terminal.send(number)
        assert_ended(terminal, 128 + number)


@pytest.mark.parametrize("is_key", [False, True], ids=["signal", "key"])
def test_ctrl_c_twice_ends_a_program_that_a_window_keeps_busy(folder: Path, is_key: bool) -> None:
    """The event loop does not run, so nobody in it can quit; a second signal does not wait."""
    (folder / "busy.py").write_text(BUSY)
    with Terminal(["--window", "busy.py"], folder) as terminal:
        terminal.wait_for(terminal.is_ready)
        terminal.type("/open busy\r")
        terminal.wait_for((folder / "is-busy").exists)
        if is_key:
            time.sleep(4)
            terminal.type("\x03")
            time.sleep(0.1)
            terminal.type("\x03")
        else:
            terminal.send(signal.SIGINT)
            time.sleep(0.1)
            terminal.send(signal.SIGINT)
        assert_ended(terminal, 130)


IGNORING = """
import runpy, signal
signal.signal(signal.SIGHUP, signal.SIG_IGN)
runpy.run_module("contextui", run_name="__main__", alter_sys=True)
"""


@pytest.mark.parametrize("how", [("-m", "contextui"), ("-c", IGNORING)], ids=["ends", "ignores"])
def test_a_closed_terminal_leaves_a_whole_log_and_no_process(
    folder: Path, how: tuple[str, str]
) -> None:
    """`nohup`, or a shell in the background, has it ignore the signal."""
    with Terminal([], folder, (80, 24), (sys.executable, *how)) as terminal:
        begin(terminal)
        terminal.hang_up()
        assert terminal.end() == 129
    assert any(entry.get("subtype") == "window_opened" for entry in logged(folder))


BOTH = """
import threading, time
from contextui.tui.shutdown import Shutdown
from contextui.words import Words
both = threading.Event()
shutdown = Shutdown(Words("en"), lambda: both.wait() and 0)
shutdown.may_end_process = True
shutdown.end_within(0.2)
shutdown.end_within(600.0, 129)
both.set()
time.sleep(600)
"""


def test_the_signal_decides_the_status_whichever_timer_ends_the_program() -> None:
    done = forkserver.run([sys.executable, "-c", BOTH], capture_output=True)
    assert done.returncode == 129


def test_a_first_message_is_sent_at_once_and_no_escape_of_a_file_reaches_the_terminal(
    folder: Path,
) -> None:
    """Nor any colour, where none is wanted."""
    (folder / "evil.txt").write_bytes(b"\x1b]52;c;aGk=\x07\x1b]0;owned\x07\x9b31m end\n")
    with Terminal(["open evil.txt in the editor"], folder, NO_COLOR="1") as terminal:
        terminal.wait_for(lambda: terminal.shows("1 editor"))
        terminal.wait_for(lambda: terminal.shows("end"))
        assert b"]52;c;aGk=\x07" not in terminal.written
        assert b"]0;owned\x07" not in terminal.written
        assert b"\x1b[38;2;108;176;245m" not in terminal.written
