"""What a killed save leaves is removed at the next start, and nothing else is (G06)."""

import json
import os
import sys
import textwrap
from pathlib import Path

import pytest

from contextui.files.leftovers import Leftovers, remove_leftovers
from contextui.files.workspace import Workspace
from contextui.plain_file import is_temporary, temporary_name
from contextui.session.store import SessionStore
from tests import forkserver

ROOT = Path(__file__).parents[2]
KILLED = textwrap.dedent("""
    import os, signal, sys
    from pathlib import Path
    from contextui.session.store import SessionStore

    point, home, work = sys.argv[1:]
    call = getattr(os, point)

    def kill(*args, **more):
        if point == "replace" or point == "link":
            os.kill(os.getpid(), signal.SIGKILL)
        done = call(*args, **more)
        place = os.path.realpath(f"/proc/self/fd/{args[0]}")
        if place.startswith(f"{work}/") and place.endswith(".tmp"):  # not one of the session
            os.kill(os.getpid(), signal.SIGKILL)
        return done

    with SessionStore(home).create(work) as session:
        workspace = session.windows.workspace
        (Path(work) / "sub").mkdir(exist_ok=True)
        opened = workspace.open_text("file.txt")
        setattr(os, point, kill)
        if point == "link":
            workspace.save("sub/new.txt", b"x" * 100_000, expected=None)
        else:
            workspace.save("file.txt", b"new" * 100_000, expected=opened.version)
""")


def leftovers(work: Path) -> list[Path]:
    return [path for path in work.rglob("*") if is_temporary(path.name)]


@pytest.mark.parametrize("point", ["fsync", "link", "fchmod"])
def test_what_a_killed_save_leaves_is_removed_at_the_next_start(tmp_path: Path, point: str) -> None:
    home, work = tmp_path / "home", tmp_path / "work"
    work.mkdir()
    (work / "file.txt").write_text("old")
    done = forkserver.run(
        [sys.executable, "-c", KILLED, point, str(home), str(work)], cwd=ROOT, check=False
    )
    assert done.returncode == -9
    assert leftovers(work)
    strangers = work / temporary_name()
    strangers.write_text("nobody noted this one")
    SessionStore(home).create(tmp_path).close()  # another folder's session will do
    assert leftovers(work) == [strangers]
    assert (work / "file.txt").read_text() == "old"
    assert list((home / "saving").iterdir()) == []


def noted(folder: Path, work: Path, replaces: str | None = None, inode: int = 0) -> Path:
    """The notes of a process that has ended, and the name that they are about."""
    path = work / temporary_name()
    folder.mkdir(exist_ok=True)
    lines = [
        {"folder": str(work), "name": path.name, "digest": replaces},
        {"name": path.name, "inode": inode},
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / f"{path.name}.jsonl").write_text(text + '{"torn')
    return path


def test_what_another_program_put_there_stays(tmp_path: Path) -> None:
    folder, work = tmp_path / "saving", tmp_path / "work"
    work.mkdir()
    changed = noted(folder, work, "0" * 32, inode=1)
    changed.write_text("another program's, exchanged in the very moment of saving")
    (work / "target").write_text("precious")
    linked = noted(folder, work)
    linked.symlink_to(work / "target")
    made_folder = noted(folder, work)
    made_folder.mkdir()
    noted(folder, tmp_path / "not-there-any-more")
    (folder / "folder").mkdir()
    os.mkfifo(folder / "fifo")
    assert remove_leftovers(folder) == []
    assert {path.name for path in work.iterdir()} == {
        changed.name, linked.name, made_folder.name, "target",
    }  # fmt: skip


@pytest.mark.parametrize("name", ["../target", "target", ".contextui-x/../target"])
def test_notes_that_name_something_else_remove_nothing(tmp_path: Path, name: str) -> None:
    folder, work = tmp_path / "saving", tmp_path / "work"
    work.mkdir()
    folder.mkdir()
    for target in (work / "target", tmp_path / "target"):
        target.touch()
    facts = {"folder": str(work), "name": name, "digest": None}
    (folder / "notes").write_text(json.dumps(facts))
    assert remove_leftovers(folder) == []
    assert (work / "target").exists()
    assert (tmp_path / "target").exists()


def test_a_process_that_still_runs_keeps_its_files(tmp_path: Path) -> None:
    folder, work = tmp_path / "saving", tmp_path / "work"
    work.mkdir()
    running = Leftovers(folder)
    path = work / temporary_name()
    running.begin(str(work), path.name, None)
    path.write_text("half of a sa")
    running.made(path.name, path.stat().st_ino)
    assert remove_leftovers(folder) == []
    assert path.exists()
    running._path = tmp_path / "not-there"  # it ends without a word
    running.close()
    assert remove_leftovers(folder) == [path]


def test_saving_goes_on_where_nothing_can_be_noted(tmp_path: Path) -> None:
    (tmp_path / "saving").write_text("a file where the notes should be")
    with Workspace(tmp_path) as workspace:
        workspace.notes = Leftovers(tmp_path / "saving")
        workspace.save("new.txt", b"new", expected=None)
    assert (tmp_path / "new.txt").read_bytes() == b"new"
    assert leftovers(tmp_path) == []


def test_notes_do_not_grow_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contextui.files.leftovers._MOST_BYTES", 1_000)
    notes = Leftovers(tmp_path / "saving")
    with Workspace(tmp_path) as workspace:
        workspace.notes = notes
        for number in range(40):
            workspace.save(f"{number}.txt", b"new", expected=None)
        (file,) = (tmp_path / "saving").iterdir()
        assert file.stat().st_size < 2_000
    notes.close()
    assert list((tmp_path / "saving").iterdir()) == []
