"""Processor time of the program's start and of its first frame, beside Python and Textual alone.

Both processes of a comparison are started in turn, so that other load on the machine affects
both alike, and the best of several runs counts. They run in a new virtual environment, because
an editable installation slows down each process, and keep their bytecode, as an installed program
does.
"""

import os
import resource
import subprocess
import sysconfig
import tempfile
import venv
from collections.abc import Mapping
from pathlib import Path

import contextui

RUNS = 21
COMMANDS = {
    "--version": ["-m", "contextui", "--version"],
    "--help": ["-m", "contextui", "--help"],
    "config": ["-m", "contextui", "config"],
    "sessions": ["-m", "contextui", "sessions"],
}
BARE = """
from textual.app import App
from textual.widgets import Header, Footer, Static, Input

class Bare(App[None]):
    def compose(self):
        yield Header()
        yield Static("Hello.")
        yield Input()
        yield Footer()
    def on_mount(self):
        self.call_after_refresh(self.exit)

Bare().run(headless=True, size=(120, 40))
"""
OURS = """
from pathlib import Path
from contextui.tui.app import ContextUIApp

app = ContextUIApp(lambda: None, folder=Path.cwd())
app._opening = lambda: app.call_from_thread(app.exit)
app.run(headless=True, size=(120, 40))
"""
PROGRAM = """
import os
os.environ |= {"TEXTUAL_DRIVER": "textual.drivers.headless_driver:HeadlessDriver",
               "COLUMNS": "120", "LINES": "40"}
from contextui.tui.app import ContextUIApp

ContextUIApp._opening = lambda self: self.call_from_thread(self.exit, 0)
from contextui.cli import main

raise SystemExit(main([]))
"""


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
        print("first frame, beside a bare Textual app          (ratio of processor time)")
        for name, script in (("screen", OURS), ("with settings", PROGRAM)):
            frame = ratio(["-c", script], ["-c", BARE], environ, runs=7)
            print(f"contextui {name:<13} {frame:>5.2f}x")


if __name__ == "__main__":
    main()
