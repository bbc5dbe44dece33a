"""Cost of safety: the workspace's reads, saves, pages and listings compared with the bare calls.

Both sides of a ratio run in this process, one after the other, and the best of several runs
counts.
"""

import os
import tempfile
import timeit
from collections.abc import Callable
from pathlib import Path

from contextui.files.listing import list_folder, walk
from contextui.files.textfile import TextFile
from contextui.files.workspace import Workspace

LINES = b"The window shows seven items, and the model adds one.\n" * 20_000


def best(work: Callable[[], object]) -> float:
    return min(timeit.repeat(work, number=1, repeat=7))


def ratio(name: str, ours: Callable[[], object], bare: Callable[[], object]) -> None:
    print(f"{name}  {best(ours) / best(bare):.2f}")


def save_bare(path: Path) -> None:
    with path.with_name("other").open("wb") as file:
        file.write(LINES)
        file.flush()
        os.fsync(file.fileno())
    path.with_name("other").replace(path)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        deep = root / "a" / "b" / "c"
        deep.mkdir(parents=True)
        path, shown = deep / "file.txt", "a/b/c/file.txt"
        path.write_bytes(LINES)
        workspace = Workspace(root)
        ratio("open_text / read and decode", lambda: workspace.open_text(shown), path.read_text)
        file = workspace.open_text(shown).file
        ratio(
            "replace one line of 20,000 / splitting them all",
            lambda: TextFile(file.text).replace_lines(10_000, 10_000, "x"),
            lambda: file.text.splitlines(keepends=True),
        )

        def save() -> None:
            workspace.save(shown, LINES, expected=workspace.open_text(shown).version)

        ratio("save / write, fsync, rename", save, lambda: save_bare(path))
        ratio(
            "read_page in the middle, again / reading the file",
            lambda: workspace.read_page(shown, 10_000),
            path.read_bytes,
        )
        for number in range(2_000):
            (root / f"{number:04}").touch()
        ratio(
            "list 2,000 files / os.listdir",
            lambda: list_folder(workspace),
            lambda: os.listdir(root),
        )
        ratio("walk / os.walk", lambda: list(walk(workspace)), lambda: list(os.walk(root)))


if __name__ == "__main__":
    main()
