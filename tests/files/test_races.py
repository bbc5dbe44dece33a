"""Swapping folders and files for links out of the workspace gives no access to anything else."""

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from contextui.files.errors import FileError
from contextui.files.save import exchange
from contextui.files.workspace import Workspace
from tests import forkserver
from tests.thorough import times

SWAPS = times(2_000, 10_000)
SECRET = b"canary\n"
INSIDE = b"inside\n"


def swap_until_stopped(root: Path) -> None:
    """Swap a folder and a file for links again and again; the process of the attacker."""
    folder = os.open(root, os.O_RDONLY)
    swaps = 0
    os.set_blocking(sys.stdin.fileno(), False)
    stopped = False
    print("ready", flush=True)
    while not stopped or swaps < SWAPS:
        for one, other in (("folder", "folder-link"), ("file", "file-link")):
            if not exchange(folder, one, other):
                os.rename(root / one, root / f"{one}-aside")
                os.rename(root / other, root / one)
                os.rename(root / f"{one}-aside", root / other)
            swaps += 1
        if not stopped and swaps % 100 == 0:
            stopped = sys.stdin.buffer.read(1) is not None  # the end of the pipe
    print(swaps)


def attempt(workspace: Workspace, number: int) -> str:
    """One access of each kind in turn; what came of it."""
    path = ("folder/file", "file", "folder/deep/file")[number % 3]
    try:
        if number % 10 == 0:
            new = f"{os.path.dirname(path) or 'folder'}/new-{number}"
            workspace.save(new, INSIDE, expected=None)
        elif number % 5 == 0:
            opened = workspace.open_text(path)
            assert opened.file.to_bytes() == INSIDE
            workspace.save(path, INSIDE, expected=opened.version)
        elif number % 2:
            assert workspace.read_bytes(path) == INSIDE
        else:
            assert workspace.read_page(path).lines == ("inside",)
    except FileError:
        return "refused"
    return "done"


def tree(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    return {
        str(path.relative_to(folder)): (
            path.stat().st_ino,
            path.stat().st_mtime_ns,
            path.read_bytes() if path.is_file() else b"",
        )
        for path in [folder, *folder.rglob("*")]
    }


@pytest.mark.parametrize("target", ["absolute", "relative"])
def test_swaps_reach_nothing_outside(tmp_path: Path, target: str) -> None:
    root, outside = tmp_path / "ws", tmp_path / "outside"
    for folder, data in ((root / "folder", INSIDE), (outside, SECRET)):
        (folder / "deep").mkdir(parents=True)
        (folder / "file").write_bytes(data)
        (folder / "deep" / "file").write_bytes(data)
    (root / "file").write_bytes(INSIDE)
    way_out = outside if target == "absolute" else Path("../outside")
    (root / "folder-link").symlink_to(way_out)
    (root / "file-link").symlink_to(way_out / "file")
    before = tree(outside)
    attacker = forkserver.Popen(
        [sys.executable, "-m", "tests.files.test_races", str(root)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    )
    assert attacker.stdin is not None
    assert attacker.stdout is not None
    with attacker, Workspace(root) as workspace:
        try:
            attacker.stdout.readline()
            outcomes = [attempt(workspace, number) for number in range(times(700, 3_000))]
        finally:
            with suppress(BrokenPipeError):
                attacker.stdin.close()
        swaps = int(attacker.stdout.readline())
    assert tree(outside) == before
    assert swaps >= SWAPS
    assert outcomes.count("done") > 0
    assert outcomes.count("refused") > 0


if __name__ == "__main__":
    swap_until_stopped(Path(sys.argv[1]))
