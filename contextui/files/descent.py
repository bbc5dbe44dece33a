"""The way down to a file, one name at a time, so that it cannot lead out of the workspace.

Each folder is opened relative to the one before it and never through a link, so there is no
moment between a check and its use: what was opened is what was checked. Links are read and
followed by hand, by the same rules. Only the system calls that take a folder's descriptor are
used; Linux and macOS both have them.
"""

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from typing import Protocol

from contextui.files.errors import (
    NotAFileError,
    NotAFolderError,
    PathEscapeError,
    UnreadableFileError,
    reading_failed,
    shown,
)
from contextui.files.paths import Parts, Root

LINK_LIMIT = 40
"""Links on one way, as in the Linux kernel."""

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Without O_NONBLOCK, opening a FIFO that was put there a moment ago would wait for ever.
_FILE = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


class SaveNotes(Protocol):
    """Remembers temporary files, so that a later process can remove what a kill left of them."""

    def begin(self, folder: str, name: str, replaces: str | None) -> None:
        """Note a file that is about to be made."""

    def made(self, name: str, inode: int) -> None:
        """Note which file it is."""

    def done(self, name: str) -> None:
        """Note that nothing under this name is left to remove."""


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a path ends: a name in an open folder. Not a link; those were followed.

    Attributes:
        path: The path as it is shown.
        folder: The folder's descriptor, open as long as the descent.
        name: The name in it; empty when the path is the workspace itself.
        real: The names on the way there, links followed.
        info: What stands there; None if there is nothing.
        where: The folder's path, for the notes.
        notes: Where saves are noted; None if nobody wants that.
        guard: Called before the content is opened; it raises if that must not be.
    """

    path: str
    folder: int
    name: str
    real: Parts
    info: os.stat_result | None
    where: str = ""
    notes: SaveNotes | None = None
    guard: "Callable[[Spot], None] | None" = None

    def open(self, flags: int = os.O_RDONLY) -> int:
        """Open the file that stands here; anything but a regular file is refused."""
        if self.info is None:
            raise reading_failed(self.path, FileNotFoundError(errno.ENOENT, ""))
        refuse_all_but_files(self.path, self.info)  # opening a device may already act on it
        if self.guard is not None:
            self.guard(self)
        try:
            descriptor = os.open(self.name, flags | _FILE, dir_fd=self.folder)
        except OSError as error:
            raise reading_failed(self.path, error) from error
        try:
            refuse_all_but_files(self.path, os.fstat(descriptor))
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def open_folder(self) -> int:
        """Open the folder that stands here."""
        try:
            return os.open(self.name or ".", _FOLDER, dir_fd=self.folder)
        except NotADirectoryError as error:
            name = shown(self.path)
            en, zh = f"{name} is not a folder.", f"{name} 不是文件夹。"
            raise NotAFolderError(self.path, en, zh) from error
        except OSError as error:
            raise reading_failed(self.path, error) from error


@contextmanager
def descend(
    root: Root, root_folder: int, parts: Parts, *, make_folders: bool = False
) -> Iterator[Spot]:
    """Go down to a path; its folder stays open inside the `with`.

    Args:
        root: The workspace's path, to know its absolute links by.
        root_folder: The descriptor of the workspace.
        parts: The names on the way, from `Root.parts`.
        make_folders: Make the folders on the way that are not there.
    """
    descent = _Descent(root, root_folder, parts, make_folders)
    try:
        yield descent.run()
    finally:
        descent.return_to_root()


class _Descent:
    def __init__(self, root: Root, root_folder: int, parts: Parts, make_folders: bool) -> None:
        self._root, self._root_folder, self._make_folders = root, root_folder, make_folders
        self._path = "/".join(parts) or "."
        self._pending = list(reversed(parts))
        self._here, self._real = root_folder, list[str]()
        self._links = 0

    def run(self) -> Spot:
        try:
            return self._run()
        except OSError as error:
            raise reading_failed(self._path, error) from error

    def _run(self) -> Spot:
        while self._pending:
            name = self._pending.pop()
            if name == "..":  # only from a link: `Root.parts` has resolved those of the path
                self._go_up()
            elif self._pending:
                self._enter(name)
            else:
                info = self._look(name)
                if info is None or not stat.S_ISLNK(info.st_mode):
                    return Spot(self._path, self._here, name, (*self._real, name), info)
                self._follow(name)
        return Spot(self._path, self._here, "", tuple(self._real), os.fstat(self._here))

    def _look(self, name: str) -> os.stat_result | None:
        try:
            return os.stat(name, dir_fd=self._here, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def _enter(self, name: str) -> None:
        try:
            folder = self._open_folder(name)
        except OSError as error:
            # A link is ENOTDIR on Linux and ELOOP elsewhere.
            if error.errno not in (errno.ENOTDIR, errno.ELOOP):
                raise
            self._follow(name)
            return
        self._leave()
        self._here = folder
        self._real.append(name)

    def _open_folder(self, name: str) -> int:
        try:
            return os.open(name, _FOLDER, dir_fd=self._here)
        except FileNotFoundError:
            if not self._make_folders:
                raise
        with suppress(FileExistsError):  # someone was faster, or it is a link to nowhere
            os.mkdir(name, dir_fd=self._here)
        return os.open(name, _FOLDER, dir_fd=self._here)

    def _follow(self, name: str) -> None:
        self._links += 1
        if self._links > LINK_LIMIT:
            raise UnreadableFileError(
                self._path,
                f"{shown(self._path)} goes through too many links, or in a circle.",
                f"{shown(self._path)} 经过的链接太多，或成了环。",
            )
        try:
            target = os.readlink(name, dir_fd=self._here)
        except OSError as error:
            if error.errno == errno.EINVAL:  # no link, and no folder either
                error.errno = errno.ENOTDIR
            raise
        names: list[str] | None = target.split("/")
        if target.startswith("/"):
            names = self._root.strip(target)
            self.return_to_root()
        if names is None:
            raise self._escape()
        self._pending.extend(name for name in reversed(names) if name not in ("", "."))

    def _go_up(self) -> None:
        # Opening ".." could lead out if the folder was moved meanwhile. Starting again at the
        # workspace cannot.
        if not self._real:
            raise self._escape()
        self._pending.extend(reversed(self._real[:-1]))
        self.return_to_root()

    def _escape(self) -> PathEscapeError:
        return PathEscapeError(
            self._path,
            f"{shown(self._path)} is or goes through a link out of the workspace.",
            f"{shown(self._path)} 是或经过通向工作区之外的链接。",
        )

    def return_to_root(self) -> None:
        self._leave()
        self._here = self._root_folder
        self._real.clear()

    def _leave(self) -> None:
        if self._here != self._root_folder:
            os.close(self._here)
            self._here = self._root_folder


_KINDS = {
    stat.S_IFDIR: ("a folder", "文件夹"),
    stat.S_IFIFO: ("a FIFO", "FIFO"),
    stat.S_IFSOCK: ("a socket", "套接字"),
    stat.S_IFCHR: ("a device", "设备"),
    stat.S_IFBLK: ("a device", "设备"),
    stat.S_IFLNK: ("a link that was put there a moment ago", "刚刚放上的链接"),
}
_ODD = ("no regular file", "特殊文件")


def refuse_all_but_files(path: str, info: os.stat_result) -> None:
    """Raise unless this is a regular file of a real file system."""
    if not stat.S_ISREG(info.st_mode):
        en, zh = _KINDS.get(stat.S_IFMT(info.st_mode), _ODD)
        raise NotAFileError(
            path, f"{shown(path)} is {en}, not a file.", f"{shown(path)} 是{zh}，不是文件。"
        )
    if info.st_dev in _kernel_devices():
        en = f"{shown(path)} is no real file: the kernel makes it up."
        raise NotAFileError(path, en, f"{shown(path)} 不是真正的文件，而是内核生成的。")


@cache
def _kernel_devices() -> frozenset[int]:
    """The devices of /proc and /sys, whose files have no size and may act when read."""
    mounted = set()
    for place in ("/proc", "/sys"):
        try:
            mounted.add(os.stat(place).st_dev)
        except OSError:
            continue
    return frozenset(mounted - {os.stat("/").st_dev})
