"""Time of the program's start, beside Python; and until its first key is echoed, beside Textual.

Both processes of a comparison are started in turn, so that other load on the machine affects
both alike, and the best of several runs counts. They run in a new virtual environment, because
an editable installation slows down each process, and keep their bytecode, as an installed program
does.
"""

import fcntl
import os
import pty
import resource
import signal
import struct
import subprocess
import sysconfig
import tempfile
import termios
import time
import venv
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import contextui

RUNS, APP_RUNS = 21, 9
COMMANDS = {
    "--version": ["-m", "contextui", "--version"],
    "--help": ["-m", "contextui", "--help"],
    "config": ["-m", "contextui", "config"],
    "sessions": ["-m", "contextui", "sessions"],
    "mcp list": ["-m", "contextui", "mcp", "list"],
}
BARE = """
from textual.app import App
from textual.widgets import Header, Footer, Static, Input

class Bare(App[None]):
    def compose(self):
        yield Header()
        yield Static("Nothing is ever lost.")
        yield Input()
        yield Footer()

Bare().run()
"""
FRAME, KEY = b"Nothing is ever lost.", "ж"
"""What the first frame contains, and a key that nothing else draws."""


def seconds(arguments: list[str], environ: Mapping[str, str]) -> float:
    """Return the processor time of a process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    _run(arguments, environ)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _run(arguments: list[str], environ: Mapping[str, str]) -> None:
    program = [environ["PYTHON"], *arguments]
    subprocess.run(program, env=environ, stdout=subprocess.DEVNULL, check=True)


def ratio(
    arguments: list[str],
    beside: list[str],
    environ: Mapping[str, str],
    runs: int = RUNS,
) -> float:
    """Return how many times as much as another process it takes."""
    for one in (arguments, beside):  # writes the bytecode
        _run(one, environ)
    times = [(seconds(beside, environ), seconds(arguments, environ)) for _ in range(runs)]
    return min(ours for _, ours in times) / min(theirs for theirs, _ in times)


class Waited(NamedTuple):
    """What a person waits for, in seconds of processor time and of the clock."""

    frame: float
    frame_clock: float
    key: float
    key_clock: float


def waited(arguments: list[str], environ: Mapping[str, str]) -> Waited:
    """Start an app in a terminal, type a key as soon as it has drawn, and wait for its echo."""
    started = time.monotonic()
    process, terminal = pty.fork()
    if not process:
        os.chdir(environ["HOME"])
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        os.execve(environ["PYTHON"], [environ["PYTHON"], *arguments], dict(environ))
    found, written = list[float](), b""
    for awaited in (FRAME, KEY.encode()):
        while awaited not in written:
            written += os.read(terminal, 1 << 16)
        # The clock of the process: all its threads, to the nanosecond.
        found += time.clock_gettime(~process << 3 | 2), time.monotonic() - started
        written = b""
        if awaited is FRAME:
            os.write(terminal, KEY.encode())
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    os.close(terminal)
    return Waited(*found)


def waits(environ: Mapping[str, str]) -> None:
    """Print how long the first frame and the first key take, beside a bare app."""
    bare, ours = ["-c", BARE], ["-m", "contextui"]
    for each in (bare, ours):  # writes the bytecode
        waited(each, environ)
    runs = [(waited(bare, environ), waited(ours, environ)) for _ in range(APP_RUNS)]
    theirs, best = (Waited(*map(min, zip(*each, strict=True))) for each in zip(*runs, strict=True))
    for what, frame, clock in (("first frame", 0, 1), ("first key", 2, 3)):
        cpu, wall = best[frame] / theirs[frame], best[clock] / theirs[clock]
        print(f"{what:<22} {cpu:>5.2f}x {wall:>14.2f}x")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        venv.create(f"{folder}/venv", symlinks=True)
        paths = (str(Path(contextui.__file__).parents[1]), sysconfig.get_path("purelib"))
        environ = {
            **os.environ,
            "PYTHON": f"{folder}/venv/bin/python",
            "PYTHONPYCACHEPREFIX": f"{folder}/bytecode",
            "PYTHONDONTWRITEBYTECODE": "",
            "PYTHONPATH": os.pathsep.join(paths),
        }
        print("starting, beside python -c pass                 (ratio of processor time)")
        for name, arguments in COMMANDS.items():
            print(f"contextui {name:<12} {ratio(arguments, ['-c', 'pass'], environ):>6.2f}x")
        print("a terminal, beside a bare Textual app   (processor time, clock)")
        waits({**environ, "HOME": folder, "TERM": "xterm-256color"})


if __name__ == "__main__":
    main()
