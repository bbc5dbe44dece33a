"""A save is whole or did not happen, and nobody else's change is overwritten."""

import errno
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from contextui.files import save
from contextui.files.errors import (
    ExistingFileError,
    FileChangedError,
    FileDeletedError,
    FileError,
    MissingFileError,
    SaveError,
)
from contextui.files.save import exchange
from contextui.files.textfile import Version
from contextui.files.workspace import Workspace
from contextui.plain_file import is_temporary
from tests import forkserver


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    (tmp_path / "file.txt").write_bytes(b"one\r\ntwo\r\n")
    with Workspace(tmp_path) as workspace:
        yield workspace


@pytest.fixture(params=[True, False], ids=["exchange", "rename"])
def either_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the exchange of names, and as on a disk that has none."""
    if not request.param:
        monkeypatch.setattr(save, "exchange", lambda *_: False)


def read(workspace: Workspace) -> Version:
    return workspace.open_text("file.txt").version


def names(workspace: Workspace) -> list[str]:
    return sorted(os.listdir(workspace.root))


@pytest.mark.usefixtures("either_way")
class TestReplacing:
    def test_the_edit_is_saved_and_can_be_saved_again(self, workspace: Workspace) -> None:
        opened = workspace.open_text("file.txt")
        once = opened.file.replace_text("two", "2")
        version = workspace.save("file.txt", once, expected=opened.version)
        assert version == workspace.open_text("file.txt").version
        workspace.save("file.txt", once.insert_lines(3, "3"), expected=version)
        assert workspace.read_bytes("file.txt") == b"one\r\n2\r\n3\r\n"
        assert names(workspace) == ["file.txt"]

    @pytest.mark.parametrize("mode", [0o600, 0o644, 0o755, 0o4755])
    def test_mode_is_kept(self, workspace: Workspace, mode: int) -> None:
        path = workspace.root / "file.txt"
        path.chmod(mode)
        workspace.save("file.txt", b"new", expected=read(workspace))
        assert path.stat().st_mode & 0o7777 == mode

    def test_attributes_are_kept(self, workspace: Workspace) -> None:
        path = workspace.root / "file.txt"
        try:
            os.setxattr(path, "user.colour", b"red")
        except (OSError, AttributeError):
            pytest.skip("no extended attributes here")
        workspace.save("file.txt", b"new", expected=read(workspace))
        assert os.getxattr(path, "user.colour") == b"red"

    @pytest.mark.skipif(os.getuid() != 0, reason="only root can give files away")
    def test_owner_is_kept(self, workspace: Workspace) -> None:
        path = workspace.root / "file.txt"
        os.chown(path, 12345, 54321)
        workspace.save("file.txt", b"new", expected=read(workspace))
        assert (path.stat().st_uid, path.stat().st_gid) == (12345, 54321)

    def test_a_link_is_saved_through_to_its_file(self, workspace: Workspace) -> None:
        (workspace.root / "link").symlink_to("file.txt")
        version = workspace.open_text("link").version
        workspace.save("link", b"new", expected=version)
        assert (workspace.root / "link").is_symlink()
        assert (workspace.root / "file.txt").read_bytes() == b"new"

    def test_a_changed_file_is_not_overwritten(self, workspace: Workspace) -> None:
        version = read(workspace)
        (workspace.root / "file.txt").write_bytes(b"one\r\nTWO\r\n")
        with pytest.raises(FileChangedError, match="changed on disk") as caught:
            workspace.save("file.txt", b"one\r\ntwo!\r\n", expected=version)
        assert caught.value.diff == (
            "--- file.txt (on disk)\n+++ file.txt (new)\n@@ -1,2 +1,2 @@\n one␍\n-TWO␍\n+two!␍\n"
        )
        assert workspace.read_bytes("file.txt") == b"one\r\nTWO\r\n"
        assert names(workspace) == ["file.txt"]

    def test_a_change_of_the_same_size_and_time_is_seen(self, workspace: Workspace) -> None:
        path = workspace.root / "file.txt"
        version, before = read(workspace), path.stat()
        path.write_bytes(b"ONE\r\ntwo\r\n")
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        with pytest.raises(FileChangedError):
            workspace.save("file.txt", b"new", expected=version)

    def test_a_touched_file_is_not_a_changed_one(self, workspace: Workspace) -> None:
        version = read(workspace)
        os.utime(workspace.root / "file.txt", (1, 1))
        workspace.save("file.txt", b"new", expected=version)

    @pytest.mark.parametrize("name", ["file.txt", "new.txt"])
    def test_a_change_while_the_new_content_is_written_is_seen(
        self, workspace: Workspace, monkeypatch: pytest.MonkeyPatch, name: str
    ) -> None:
        version, sync = read(workspace) if name == "file.txt" else None, os.fsync

        def fsync(descriptor: int) -> None:
            sync(descriptor)
            (workspace.root / name).write_bytes(b"theirs")

        monkeypatch.setattr(os, "fsync", fsync)
        with pytest.raises(FileChangedError if version else ExistingFileError):
            workspace.save(name, b"ours", expected=version)
        assert workspace.read_bytes(name) == b"theirs"
        assert names(workspace) == sorted({"file.txt", name})


def rewrite(path: Path) -> None:
    path.write_bytes(b"theirs")


def rename_over(path: Path) -> None:
    path.with_name("theirs").write_bytes(b"theirs")
    path.with_name("theirs").replace(path)


def make_link(path: Path) -> None:
    path.with_name("theirs").write_bytes(b"theirs")
    path.unlink()
    path.symlink_to("theirs")


@pytest.mark.parametrize("change", [rewrite, rename_over, make_link])
def test_a_change_after_the_last_check_is_rolled_back(
    workspace: Workspace, change: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    version, path = read(workspace), workspace.root / "file.txt"
    exchanged = []

    def late(folder: int, one: str, other: str) -> bool:
        change(path)
        exchanged.append(exchange(folder, one, other))
        return exchanged[-1]

    monkeypatch.setattr(save, "exchange", late)
    try:
        with pytest.raises(FileError):
            workspace.save("file.txt", b"ours", expected=version)
    finally:
        if exchanged == [False]:
            pytest.skip("this disk cannot exchange names")
    assert path.read_bytes() == b"theirs"
    assert not any(map(is_temporary, names(workspace)))


def test_a_file_deleted_after_the_last_check_stays_deleted(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = read(workspace)

    def late(folder: int, one: str, other: str) -> bool:
        (workspace.root / "file.txt").unlink()
        return exchange(folder, one, other)

    monkeypatch.setattr(save, "exchange", late)
    with pytest.raises(FileDeletedError):
        workspace.save("file.txt", b"ours", expected=version)
    assert names(workspace) == []


class TestCreating:
    def test_a_new_file_has_the_usual_mode(self, workspace: Workspace) -> None:
        before = os.umask(0o027)
        try:
            workspace.save("new.txt", b"new", expected=None)
        finally:
            os.umask(before)
        assert (workspace.root / "new.txt").stat().st_mode & 0o777 == 0o640
        assert (workspace.root / "new.txt").stat().st_nlink == 1
        assert names(workspace) == ["file.txt", "new.txt"]

    def test_nothing_is_overwritten(self, workspace: Workspace) -> None:
        (workspace.root / "folder").mkdir()
        for path in ("file.txt", "folder", "."):
            with pytest.raises(ExistingFileError, match="already"):
                workspace.save(path, b"new", expected=None)
        assert workspace.read_bytes("file.txt") == b"one\r\ntwo\r\n"

    def test_a_disk_without_links_works_too(
        self, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def link(*_: object, **__: object) -> None:
            raise OSError(errno.EOPNOTSUPP, "no links")

        monkeypatch.setattr(os, "link", link)
        workspace.save("new.txt", b"new", expected=None)
        assert workspace.read_bytes("new.txt") == b"new"
        with pytest.raises(ExistingFileError):
            workspace.save("new.txt", b"newer", expected=None)
        assert names(workspace) == ["file.txt", "new.txt"]

    def test_a_link_to_nothing_inside_is_saved_through(self, workspace: Workspace) -> None:
        (workspace.root / "link").symlink_to("target")
        workspace.save("link", b"new", expected=None)
        assert (workspace.root / "target").read_bytes() == b"new"
        assert (workspace.root / "link").is_symlink()

    def test_folders_are_made_when_asked(self, workspace: Workspace) -> None:
        with pytest.raises(MissingFileError):
            workspace.save("a/b/new.txt", b"new", expected=None)
        workspace.save("a/b/new.txt", b"new", expected=None, make_folders=True)
        assert workspace.read_bytes("a/b/new.txt") == b"new"

    def test_a_crash_while_naming_leaves_no_hard_link_behind(self, workspace: Workspace) -> None:
        leftover = workspace.root / ".contextui-0123456789abcdef.tmp"
        leftover.hardlink_to(workspace.root / "file.txt")
        workspace.save("file.txt", b"new", expected=read(workspace))
        assert names(workspace) == ["file.txt"]

    def test_the_saved_file_is_never_taken_for_a_leftover(self, workspace: Workspace) -> None:
        left = [".contextui-0123456789abcdef.tmp", ".contextui-fedcba9876543210.tmp"]
        (workspace.root / "file.txt").rename(workspace.root / left[0])
        (workspace.root / left[1]).hardlink_to(workspace.root / left[0])
        version = workspace.open_text(left[0]).version
        workspace.save(left[0], b"new", expected=version)
        assert names(workspace) == left[:1]
        assert workspace.read_bytes(left[0]) == b"new"


class TestHardLinks:
    @pytest.fixture
    def other(self, workspace: Workspace) -> Path:
        other = workspace.root / "other.txt"
        other.hardlink_to(workspace.root / "file.txt")
        return other

    @pytest.mark.parametrize("data", [b"", b"short", b"a longer content than before\n"])
    def test_all_names_are_written(self, workspace: Workspace, other: Path, data: bytes) -> None:
        version = workspace.save("file.txt", data, expected=read(workspace), keep_links=True)
        assert other.read_bytes() == data
        assert other.samefile(workspace.root / "file.txt")
        assert version == workspace.open_text("file.txt").version
        assert names(workspace) == ["file.txt", "other.txt"]

    def test_a_changed_file_is_not_overwritten(self, workspace: Workspace, other: Path) -> None:
        version = read(workspace)
        other.write_bytes(b"theirs")
        with pytest.raises(FileChangedError):
            workspace.save("file.txt", b"ours", expected=version, keep_links=True)
        assert other.read_bytes() == b"theirs"
        assert names(workspace) == ["file.txt", "other.txt"]

    def test_a_copy_left_by_a_crash_is_kept(self, workspace: Workspace, other: Path) -> None:
        backup = workspace.root / "file.txt.contextui-backup"
        backup.write_bytes(b"precious")
        with pytest.raises(SaveError, match="interrupted"):
            workspace.save("file.txt", b"new", expected=read(workspace), keep_links=True)
        assert backup.read_bytes() == b"precious"
        assert other.read_bytes() == b"one\r\ntwo\r\n"


class Failing:
    """Lets the nth of the calls that write fail, once or from then on."""

    CALLS = ("open", "write", "pwrite", "ftruncate", "fsync", "fchmod", "replace", "link", "unlink")

    def __init__(self, monkeypatch: pytest.MonkeyPatch, nth: int, *, on: bool) -> None:
        self.calls, self._nth, self._on = 0, nth, on
        for name in self.CALLS:
            monkeypatch.setattr(os, name, self._wrap(getattr(os, name)))
        monkeypatch.setattr(save, "exchange", self._wrap(exchange))

    def _wrap(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            self.calls += 1
            if self.calls == self._nth or (self._on and self.calls > self._nth):
                raise OSError(errno.EIO, "the disk fails")
            return call(*args, **kwargs)

        return wrapped


@pytest.mark.parametrize("on", [False, True], ids=["once", "from then on"])
@pytest.mark.parametrize("way", ["replace", "create", "keep_links"])
def test_whichever_call_fails_it_is_old_or_new(workspace: Workspace, way: str, on: bool) -> None:
    root, old, new = workspace.root, b"old\n" * 100, b"new\n" * 300
    path, backup = root / "file.txt", root / "file.txt.contextui-backup"
    failures = 0
    for nth in range(1, 100):
        for name in names(workspace):
            (root / name).unlink()
        expected = None
        if way != "create":
            path.write_bytes(old)
            expected = read(workspace)
        if way == "keep_links":
            (root / "other.txt").hardlink_to(path)
        descriptors = set(os.listdir("/dev/fd"))
        error = None
        with pytest.MonkeyPatch.context() as patch:
            failing = Failing(patch, nth, on=on)
            try:
                workspace.save("file.txt", new, expected=expected, keep_links=way == "keep_links")
            except FileError as raised:
                error = raised
        assert set(os.listdir("/dev/fd")) <= descriptors  # what earlier tests left may close
        content = path.read_bytes() if path.exists() else None
        if content != new:
            failures += 1
            assert error is not None
            if content != (None if way == "create" else old):
                assert way == "keep_links"
                assert backup.read_bytes() == old
                assert "backup" in str(error)
        if not on and error is not None:
            assert not any(map(is_temporary, names(workspace)))
        if failing.calls < nth:
            assert error is None
            assert content == new
            break
    else:
        pytest.fail("there is no end of calls")
    assert failures >= 3


IN_CHILD = """
import os, resource, sys
from contextui.files.workspace import Workspace
workspace = Workspace(sys.argv[1])
version = workspace.open_text("file.txt").version
{setup}
for expected in (version, None):
    try:
        workspace.save("file.txt" if expected else "new.txt", b"new" * 50_000, expected=expected)
        print("saved")
    except Exception as error:
        print(type(error).__name__, error)
print(len(os.listdir("/dev/fd")))
"""


def in_child(workspace: Workspace, setup: str) -> list[str]:
    done = forkserver.run(
        [sys.executable, "-c", IN_CHILD.format(setup=setup), str(workspace.root)],
        capture_output=True,
        text=True,
        check=True,
    )
    return str(done.stdout).splitlines()


def test_a_full_disk_leaves_the_old_file(workspace: Workspace) -> None:
    setup = "resource.setrlimit(resource.RLIMIT_FSIZE, (65_536, 65_536))"
    replaced, created, _ = in_child(workspace, setup)
    for line in (replaced, created):
        assert line.startswith(SaveError.__name__)
        assert "The file is unchanged" in line
    assert workspace.read_bytes("file.txt") == b"one\r\ntwo\r\n"
    assert names(workspace) == ["file.txt"]


def test_a_read_only_folder_says_so(workspace: Workspace) -> None:
    (workspace.root / "file.txt").chmod(0o666)
    workspace.root.chmod(0o555)
    try:
        replaced, created, _ = in_child(workspace, "if os.getuid() == 0: os.setuid(65534)")
    finally:
        workspace.root.chmod(0o755)
    for line in (replaced, created):
        assert "not writable" in line
    assert names(workspace) == ["file.txt"]


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another")
def test_a_file_of_another_user_is_reported(workspace: Workspace) -> None:
    (workspace.root / "file.txt").chmod(0o644)
    workspace.root.chmod(0o755)
    assert "is read-only" in in_child(workspace, "os.setuid(65534)")[0]
