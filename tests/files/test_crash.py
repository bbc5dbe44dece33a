"""A save that is killed leaves the old file or the new one, never a mixture.

The children are forked by a process of their own: one without threads, unlike pytest's.
"""

import json
import os
import random
import sys
from pathlib import Path

import pytest

from contextui.files.leftovers import Leftovers, remove_leftovers
from contextui.files.workspace import Workspace
from contextui.plain_file import is_temporary
from tests import forkserver
from tests.forking import killed
from tests.thorough import times

KILLS = times(20, 1_000)
LINES = 20_000
LONGEST = 0.03  # seconds until the kill, some saves' time


def content(number: int) -> bytes:
    return f"{number:08}\n".encode() * LINES


def number_in(data: bytes) -> int:
    """Which content this is; an assertion fails if it is not whole."""
    number = int(data[:9])
    assert data == content(number), f"a mixture of {len(data)} bytes"
    return number


def notes_of(workspace: Workspace) -> Leftovers:
    """The notes of a child, which end with it."""
    return Leftovers(workspace.root.with_name("notes"))


def save_for_ever(workspace: Workspace, pipe: int, *, keep_links: bool) -> None:
    workspace.notes = notes_of(workspace)
    opened = workspace.open_text("file.txt")
    version, number = opened.version, number_in(opened.file.to_bytes())
    while True:
        number += 1
        version = workspace.save(
            "file.txt", content(number), expected=version, keep_links=keep_links
        )
        os.write(pipe, f"{number:08}\n".encode())


def create_for_ever(workspace: Workspace, pipe: int) -> None:
    workspace.notes = notes_of(workspace)
    number = len(os.listdir(workspace.root))
    while True:
        number += 1
        workspace.save(f"new-{number:08}", content(number), expected=None)
        os.write(pipe, f"{number:08}\n".encode())


def crash(root: Path, way: str) -> None:
    """The whole run, in the process that forks."""
    rng, workspace = random.Random(34), Workspace(root)
    backup = root / "file.txt.contextui-backup"
    saved, unfinished, kills = 0, 0, 0
    # Some fall into a save, some do not: how many do depends on the machine.
    while kills < KILLS or (not (saved and unfinished) and kills < 1_000):
        kills += 1
        seconds = rng.uniform(0, LONGEST)
        if way == "create":
            acknowledged = killed(lambda pipe: create_for_ever(workspace, pipe), seconds)
            for number in map(int, acknowledged):
                assert number_in((root / f"new-{number:08}").read_bytes()) == number
            for path in root.glob("new-*"):
                opened = workspace.open_text(path)
                assert number_in(opened.file.to_bytes()) == int(path.name[4:])
                workspace.save(path, content(int(path.name[4:])), expected=opened.version)
                path.unlink()
        else:
            keep_links = way == "keep_links"
            acknowledged = killed(
                lambda pipe: save_for_ever(workspace, pipe, keep_links=keep_links),  # noqa: B023
                seconds,
            )
            if backup.exists():  # then that one is whole, whatever the file is
                number_in(backup.read_bytes())
                (root / "file.txt").write_bytes(backup.read_bytes())
                backup.unlink()
            number = number_in((root / "file.txt").read_bytes())
            assert number >= max(map(int, acknowledged), default=0)
        saved += len(acknowledged)
        leftovers = [name for name in os.listdir(root) if is_temporary(name)]
        unfinished += bool(leftovers)
        removed = remove_leftovers(root.with_name("notes"))
        assert {root / name for name in leftovers} == set(removed)
        assert set(os.listdir(root)) <= {"file.txt", "other.txt"}
    print(json.dumps({"saved": saved, "unfinished": unfinished}))


@pytest.mark.parametrize("way", ["replace", "create", "keep_links"])
def test_a_killed_save_leaves_the_old_or_the_new_file(tmp_path: Path, way: str) -> None:
    """What else it leaves is removed at the next start, all of it."""
    root = tmp_path / "work"
    root.mkdir()
    if way != "create":
        (root / "file.txt").write_bytes(content(0))
    if way == "keep_links":
        (root / "other.txt").hardlink_to(root / "file.txt")
    done = forkserver.run(
        [sys.executable, "-m", "tests.files.test_crash", str(root), way],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["saved"] > 0
    assert report["unfinished"] > 0


if __name__ == "__main__":
    crash(Path(sys.argv[1]), sys.argv[2])
