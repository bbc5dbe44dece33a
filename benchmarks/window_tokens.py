"""What each built-in window costs at each level of detail, in a typical state: a Markdown table."""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

from contextui import Lod, TokenCounter
from contextui.testing import WindowTester
from contextui.windows.code import CodeWindow
from contextui.windows.editor.window import EditorWindow
from contextui.windows.files import FilesWindow
from contextui.windows.git.window import GitWindow
from contextui.windows.monitor.window import MonitorWindow, Reading
from contextui.windows.notebook import NotebookWindow
from contextui.windows.terminal.window import TerminalWindow
from contextui.windows.todo.window import TodoWindow

PROGRAM = "\n\n".join(
    f'def step_{n}(cart: list[int], discount: int = 0) -> int:\n    """Sum it up."""\n'
    f"    total = sum(cart) - discount\n    return max(total, {n})"
    for n in range(20)
)


class SampleMonitor(MonitorWindow):
    """Looks at a machine that never changes."""

    name = "monitor"

    def read(self) -> Reading:
        figures = {"cpu": 35.0, "cores": 8.0, "memory": 61.0, "memory size": 32e9, "disk": 64.0}
        return Reading(
            {**figures, "disk size": 5e11, "load": 1.4, "down rate": 2e4, "up rate": 1e3}
        )


def typical(folder: Path) -> Iterator[tuple[str, str, WindowTester[Any]]]:
    (folder / "cart.py").write_text(PROGRAM + "\n")
    for name in (
        "README.md",
        "pyproject.toml",
        "src/shop.py",
        "src/money.py",
        "tests/test_cart.py",
    ):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("x\n")
    todo = WindowTester(TodoWindow, items=["milk", "eggs", "bread", "call the bank", "write tests"])
    todo.act("done", item=2)
    yield "todo", "5 items", todo
    yield "editor", "100 lines of Python", WindowTester(EditorWindow, folder=folder, path="cart.py")
    yield "monitor", "all figures", WindowTester(SampleMonitor)
    notes = WindowTester(NotebookWindow, project=False)
    for subject in ("The discount is a whole number.", "Carts are lists.", "Money is in cents."):
        notes.act("write", text=f"{subject} Nobody may change that. " * 5, tags=["shop"])
    yield "notebook", "3 entries", notes
    files = WindowTester(FilesWindow, folder=folder)
    files.act("expand", path="src")
    yield "files", "8 entries", files
    code = WindowTester(CodeWindow, folder=folder)
    code.act("save", code_id="report", language="python", content=PROGRAM[:900], description="Sums")
    code.act("show", code_id="report")
    yield "code", "1 file, shown", code
    git = WindowTester(GitWindow, folder=repository(folder / "shop"))
    git.act("show", path="cart.py")
    yield "git", "3 changes, a diff of 3 lines", git
    with mock.patch.dict(os.environ, SHELL="/bin/sh", HOME=str(folder)):  # no start-up files
        terminal = WindowTester(TerminalWindow, folder=folder / "shop")
    terminal.act("run", command="cat cart.py")
    yield "terminal", "1 command", terminal


def repository(folder: Path) -> Path:
    """Make a repository with a staged, a changed and an untracked file."""
    me = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    folder.mkdir()
    for name in ("cart.py", "money.py"):
        (folder / name).write_text(PROGRAM + "\n")
    for args in (["init", "-qb", "main"], ["add", "."], [*me, "commit", "-qm", "Begin"]):
        subprocess.run(["git", *args], cwd=folder, check=True)
    (folder / "money.py").write_text("CENTS = 100\n")
    subprocess.run(["git", "add", "."], cwd=folder, check=True)
    (folder / "cart.py").write_text(PROGRAM.replace("total, 3)", "total, 4)") + "\n\nEND = 1\n")
    (folder / "discount.py").write_text("x\n")
    return folder


def table() -> str:
    """The table for the README."""
    counter, rows = TokenCounter(), ["| window | typical state | Gist | Summary | Full |"]
    rows.append("|---|---|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        for name, state, window in typical(Path(folder)):
            costs = [counter.count(window.xml(lod)) for lod in Lod]
            rows.append(f"| {name} | {state} | {' | '.join(map(str, costs))} |")
            window.close()
    return "\n".join(rows)


if __name__ == "__main__":
    print(table())
