"""How much of the window tokens in a request are lists of actions.

The windows of `window_tokens` are opened several times in one conversation. A class's list is sent
in full once; the other blocks refer to it.
"""

import re
import tempfile
from pathlib import Path

from benchmarks.window_tokens import PROGRAM, SampleMonitor
from contextui import ContextItem, ContextManager, ItemType, Lod, TokenCounter, WindowManager
from contextui.files.workspace import Workspace
from contextui.windows.editor.window import EditorWindow
from contextui.windows.files import FilesWindow
from contextui.windows.notebook import NotebookWindow
from contextui.windows.todo.window import TodoWindow

CLASSES = (TodoWindow, EditorWindow, SampleMonitor, NotebookWindow, FilesWindow)
LIST = re.compile(r"<Actions\b.*?(?:/>|</Actions>)", re.DOTALL)
TASKS = ["milk", "eggs", "bread", "call the bank", "write tests"]


def share(each: int, lod: Lod) -> float:
    """The share of lists of actions in the tokens of windows, with this many of each class."""
    counter = TokenCounter()
    with tempfile.TemporaryDirectory() as folder, Workspace(Path(folder)) as workspace:
        windows = WindowManager(CLASSES, workspace=workspace)
        context = ContextManager(windows)
        context.add(ContextItem(ItemType.USER, "Go on."))
        for number in range(each):
            (Path(folder) / f"cart{number}.py").write_text(PROGRAM + "\n")
            opened = [
                windows.open("todo", items=TASKS),
                windows.open("editor", path=f"cart{number}.py"),
                windows.open("monitor"),
                windows.open("notebook"),
                windows.open("files"),
            ]
            for window in opened:
                windows.set_lod(window.id, lod)
        composition = context.compose()
        texts = [copy.xml for piece in composition.messages.pieces() for copy in piece.shown.copies]
        lists = [found for text in texts for found in LIST.findall(text)]
        return sum(map(counter.count, lists)) / sum(map(counter.count, texts))


def main() -> None:
    print("lists of actions, of the tokens of windows in a request")
    print(f"{'windows of each class':>22}  {'Gist':>6}  {'Summary':>8}  {'Full':>6}")
    for each in (1, 3, 6):
        gist, summary, full = (share(each, lod) for lod in Lod)
        print(f"{each:>22}  {gist:>6.0%}  {summary:>8.0%}  {full:>6.0%}")


if __name__ == "__main__":
    main()
