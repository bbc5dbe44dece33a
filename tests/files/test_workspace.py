"""Paths cannot leave the workspace, and only regular files are read."""

import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from contextui.files.errors import (
    BinaryFileError,
    FileError,
    MissingFileError,
    NotAFileError,
    NotAFolderError,
    PathEscapeError,
    UnreadableFileError,
)
from contextui.files.paths import _kernel_devices
from contextui.files.workspace import Workspace
from tests import forkserver
from tests.counting import count_calls, opened_around

SECRET = "canary"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace with links of every kind, beside files that must not be reached."""
    (tmp_path / "ws-evil").mkdir()
    (tmp_path / "ws-evil" / "secret").write_text(SECRET)
    (tmp_path / "secret").write_text(SECRET)
    root = tmp_path / "ws"
    (root / "sub" / "deep").mkdir(parents=True)
    (root / "file.txt").write_text("inside\n")
    (root / "sub" / "file.txt").write_text("deeper\n")
    links: dict[str, str | Path] = {
        "out-file": tmp_path / "secret",
        "out-relative": "../secret",
        "out-folder": tmp_path,
        "out-sibling": tmp_path / "ws-evil",
        "out-parent": "..",
        "out-and-in": "../ws/file.txt",
        "sub/out-up": "../../secret",
        "sub/deep/out-far": "../../../secret",
        "out-chain": "out-chain-2",
        "out-chain-2": "sub/out-up",
        "out-etc": "/etc/passwd",
        "out-zero": "/dev/zero",
        "out-proc": "/proc/self/environ",
        "out-fd": "/proc/self/fd",
        "out-root": "/",
        "out-dots": "sub/../../secret",
        "out-absolute-dots": f"{root}/../secret",
        "out-missing": tmp_path / "not-there",
        "out-double": "sub//..//..//secret",
        "loop": "loop",
        "loop-a": "loop-b",
        "loop-b": "loop-a",
    }
    for name, target in links.items():
        (root / name).symlink_to(target)
    return root


ESCAPES = [
    "../secret",
    "..",
    "../",
    "../ws-evil/secret",
    "../ws",
    "../ws/file.txt",
    "sub/../../secret",
    "sub/../../../secret",
    "./../secret",
    "././../secret",
    "sub/./.././../secret",
    "sub/deep/../../../secret",
    "a/b/c/../../../../secret",
    "../../../../../../../../etc/passwd",
    "/etc/passwd",
    "/",
    "//etc/passwd",
    "/./etc/passwd",
    "/etc/../etc/passwd",
    "/proc/self/environ",
    "/dev/zero",
    "{root}-evil/secret",
    "{root}/../secret",
    "{root}/sub/../../secret",
    "{root}/../ws-evil/secret",
    "{parent}/secret",
    "{parent}/ws-evil/../ws/file.txt",
    "{parent}",
    "out-file",
    "out-relative",
    "out-folder/secret",
    "out-folder/ws/file.txt",
    "out-sibling/secret",
    "out-parent/secret",
    "out-parent",
    "out-and-in",
    "sub/out-up",
    "sub/deep/out-far",
    "out-chain",
    "out-etc",
    "out-zero",
    "out-proc",
    "out-fd/0",
    "out-root/etc/passwd",
    "out-dots",
    "out-absolute-dots",
    "out-missing",
    "out-double",
    "./out-file",
    "sub/../out-folder/secret",
    "{root}/out-file",
    "{root}/out-folder/secret",
]
BAD_PATHS = [
    "",
    " ",
    "file.txt\0",
    "\0",
    "..\\secret",
    "C:\\secret",
    "C:/secret",
    "c:",
    "\\\\server\\share",
    "sub\\file.txt",
    "a" * 256,
    "é" * 128,
    "a/" * 3_000,
    "\ud800",
    "file\udc80",
]


ACCESSES: tuple[Callable[[Workspace, str], object], ...] = (
    Workspace.read_bytes,
    Workspace.open_text,
    Workspace.read_page,
    Workspace.stat,
    lambda workspace, path: workspace.save(path, b"x", expected=None),
    lambda workspace, path: workspace.save(path, b"x", expected=None, make_folders=True),
)


def test_a_path_that_leads_out_is_refused(root: Path) -> None:
    workspace = Workspace(root)
    for template in ESCAPES:
        path = template.format(root=root, parent=root.parent)
        assert not workspace.exists(path), path
        for access in ACCESSES:
            with pytest.raises(PathEscapeError, match="out of the workspace"):
                access(workspace, path)
        assert (root.parent / "secret").read_text() == SECRET, path
        assert not (root.parent / "not-there").exists(), path


def test_an_invalid_path_is_refused(root: Path) -> None:
    for path in BAD_PATHS:
        with pytest.raises(FileError) as caught:
            Workspace(root).read_bytes(path)
        assert type(caught.value) is FileError, path
        assert len(str(caught.value)) < 400, path
        assert "\0" not in str(caught.value), path


def test_paths_are_shown_relative(root: Path) -> None:
    for path, shown in (
        ("file.txt", "file.txt"),
        ("./sub//file.txt", "sub/file.txt"),
        ("sub/../file.txt", "file.txt"),
        ("sub/file.txt/", "sub/file.txt"),
        ("{root}/sub/file.txt", "sub/file.txt"),
        ("{root}", "."),
        (".", "."),
        ("sub/..", "."),
    ):
        workspace = Workspace(root)
        assert workspace.relative(path.format(root=root)) == shown, path
        assert workspace.exists(path.format(root=root)), path


def test_a_workspace_reached_through_a_link_takes_both_of_its_names(root: Path) -> None:
    (root.parent / "alias").symlink_to(root)
    workspace = Workspace(root.parent / "alias")
    assert workspace.read_bytes(root / "file.txt") == b"inside\n"
    assert workspace.read_bytes(root.parent / "alias" / "file.txt") == b"inside\n"
    assert workspace.root == root


def test_a_link_that_stays_inside_is_followed(root: Path) -> None:
    for name, target, path in (
        ("in-file", "file.txt", "in-file"),
        ("in-absolute", "{root}/file.txt", "in-absolute"),
        ("in-folder", "sub/deep", "in-folder/../file.txt"),
        ("sub/in-up", "../file.txt", "sub/in-up"),
        ("in-dots", "sub/deep/../../file.txt", "in-dots"),
        ("in-slashes", ".//sub/.//../file.txt", "in-slashes"),
        ("in-root", ".", "in-root/file.txt"),
    ):
        (root / name).symlink_to(target.format(root=root))
        workspace = Workspace(root)
        assert workspace.read_bytes(path) == b"inside\n", name
        assert workspace.real(path) == "file.txt", name


def test_circular_links_are_refused(root: Path) -> None:
    for path in ("loop", "loop-a", "loop/file.txt"):
        with pytest.raises(UnreadableFileError, match="circle"):
            Workspace(root).read_bytes(path)


@pytest.mark.parametrize(
    ("path", "error", "words"),
    [
        ("nothing", MissingFileError, 'no "nothing"'),
        ("sub/nothing/file", MissingFileError, "There is no"),
        ("file.txt/x", NotAFolderError, "used as a folder"),
        ("sub", NotAFileError, "a folder"),
        (".", NotAFileError, "a folder"),
        ("fifo", NotAFileError, "a FIFO"),
        ("socket", NotAFileError, "a socket"),
    ],
)
def test_special_files_are_refused(
    root: Path, path: str, error: type[FileError], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(root / "fifo")
    monkeypatch.chdir(root)  # a socket's path must be short
    with socket.socket(socket.AF_UNIX) as unix:
        unix.bind("socket")
        workspace = Workspace(root)
        for access in (workspace.read_bytes, workspace.open_text, workspace.read_page):
            with pytest.raises(error, match=words):
                access(path)


def test_a_device_and_a_file_of_the_kernel_are_refused_even_inside() -> None:
    everything = Workspace("/")
    with pytest.raises(NotAFileError, match="a device"):
        everything.read_bytes("/dev/zero")
    if _kernel_devices():
        with pytest.raises(NotAFileError, match="the kernel"):
            everything.read_page("/proc/self/environ")


def test_a_binary_file_is_refused_and_untouched(root: Path) -> None:
    (root / "a.bin").write_bytes(b"\x7fELF\0\1\2")
    workspace = Workspace(root)
    for access in (workspace.open_text, workspace.read_page):
        with pytest.raises(BinaryFileError, match="NUL"):
            access("a.bin")
    assert workspace.read_bytes("a.bin") == b"\x7fELF\0\1\2"


def test_a_file_is_compared_with_its_version(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = root / "file.txt"
    with Workspace(root) as workspace:
        read = workspace.open_text("file.txt").version
        seen = workspace.stat("file.txt").version  # of a file that was not read whole
        calls = count_calls(monkeypatch, "pread")
        assert [workspace.compare("file.txt", one) for one in (read, seen)] == ["same", "same"]
        assert not calls
        os.utime(path, (1, 1))
        assert [workspace.compare("file.txt", one) for one in (read, seen)] == ["same", "changed"]
        path.write_text("INSIDE\n")
        assert workspace.compare("file.txt", read) == "changed"
        path.write_text("longer than it was\n")
        assert workspace.compare("file.txt", read) == "changed"
        path.unlink()
        assert workspace.compare("file.txt", read) == "deleted"
        assert workspace.compare("file.txt", None) == "same"
        path.symlink_to("../secret")
        assert workspace.compare("file.txt", read) == "changed"
        path.unlink()
        path.mkdir()
        assert workspace.compare("file.txt", read) == "changed"
        assert workspace.compare("file.txt", None) == "changed"
        assert workspace.compare("sub/none/x", None) == "same"


def test_a_workspace_must_be_a_folder_that_is_there(root: Path) -> None:
    with pytest.raises(NotAFolderError):
        Workspace(root / "file.txt")
    with pytest.raises(MissingFileError):
        Workspace(root / "nothing")


def test_the_folder_is_released(root: Path) -> None:
    before = opened_around(root)
    with Workspace(root) as workspace:
        workspace.read_bytes("file.txt")
    Workspace(root)
    assert opened_around(root) <= before


def test_no_descriptor_is_left_open_by_refusals(root: Path) -> None:
    workspace = Workspace(root)
    before = opened_around(root)
    for path in [*ESCAPES, *BAD_PATHS, "sub", "file.txt/x", "loop", "sub/deep/nothing"]:
        with pytest.raises(FileError):
            workspace.open_text(path.replace("{root}", str(root)).replace("{parent}", "/"))
    assert opened_around(root) <= before


def test_an_unreadable_file_says_so(root: Path) -> None:
    (root / "locked").write_text(SECRET)
    (root / "locked").chmod(0)
    script = (
        "import os, sys\n"
        "from contextui.files.workspace import Workspace\n"
        "workspace = Workspace(sys.argv[1])\n"
        "if os.getuid() == 0: os.setuid(65534)\n"
        "try: print(workspace.read_bytes('locked'))\n"
        "except Exception as error: print(type(error).__name__, error)\n"
    )
    done = forkserver.run(
        [sys.executable, "-c", script, str(root)], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("UnreadableFileError There is no permission")
