"""Resolve paths inside the workspace: validate them, and follow links without escaping it.

Paths are validated as text first. Then `descend` opens each folder on the way by descriptor, so
that nothing can be swapped in between.
"""

import errno
import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import PurePosixPath
from typing import Protocol, TypeAlias

from contextui.files.errors import (
    InvalidPathError,
    NotAFileError,
    NotAFolderError,
    PathEscapeError,
    UnreadableFileError,
    reading_failed,
    shown,
)

AnyPath: TypeAlias = str | os.PathLike[str]
Parts: TypeAlias = tuple[str, ...]

NAME_LIMIT = 255
"""The maximum bytes of one name, as on every common file system."""
PATH_LIMIT = 4096

_DRIVE = re.compile(r"[A-Za-z]:(/|$)")


class Root:
    """The path of the workspace, and the prefixes that absolute paths inside it may have."""

    def __init__(self, path: AnyPath) -> None:
        given = os.path.abspath(os.fspath(path))
        self.path = os.path.realpath(given)
        # System links (on macOS /tmp is one) give one folder two names.
        self._names = {PurePosixPath(self.path).parts, PurePosixPath(given).parts}

    def strip(self, path: str) -> list[str] | None:
        """The parts of an absolute path below the workspace, or None if it is outside."""
        parts = PurePosixPath("/" + path.lstrip("/")).parts
        for name in self._names:
            if parts[: len(name)] == name:
                return list(parts[len(name) :])
        return None

    def parts(self, path: AnyPath) -> Parts:
        """The parts of a path below the workspace; empty for the workspace itself.

        `..` removes the name before it, lexically, and cannot go above the workspace. An absolute
        path must begin with the workspace's own.
        """
        text = _checked(os.fspath(path))
        below = self.strip(text) if text.startswith("/") else text.split("/")
        if below is None:
            raise escape(text)
        parts: list[str] = []
        for name in below:
            if name == "..":
                if not parts:
                    raise escape(text)
                parts.pop()
            elif name not in ("", "."):
                parts.append(name)
        return tuple(parts)


def escape(path: str) -> PathEscapeError:
    """The error for a path that leads out of the workspace."""
    return PathEscapeError(
        path,
        f"{shown(path)} leads out of the workspace. Only files inside can be used.",
        f"{shown(path)} 通向工作区之外。只能使用工作区内的文件。",
    )


def _checked(path: object) -> str:
    if not isinstance(path, str):
        raise InvalidPathError(str(path), "A path must be text.", "路径必须是文字。")
    if not path.strip():
        en = "The path is empty. Name a file of the workspace."
        raise InvalidPathError(path, en, "路径是空的。请写出工作区中的文件。")
    if problem := _problem(path):
        en, zh = problem
        raise InvalidPathError(path, f"The path {shown(path)} {en}.", f"路径 {shown(path)} {zh}。")
    return path


def _problem(path: str) -> tuple[str, str] | None:
    if "\0" in path:
        return "contains a NUL character", "含有 NUL 字符"
    if "\\" in path or _DRIVE.match(path):
        en = 'looks like one of Windows. Write it relative to the workspace, with "/"'
        return en, "像是 Windows 的路径。请写成相对于工作区的路径，用“/”分隔"
    try:
        encoded = path.encode()
    except UnicodeEncodeError:
        return "contains characters that are not valid Unicode", "含有无效的 Unicode 字符"
    if len(encoded) > PATH_LIMIT:
        return f"is longer than {PATH_LIMIT} bytes", f"超过 {PATH_LIMIT} 字节"
    if any(len(name) > NAME_LIMIT for name in encoded.split(b"/")):
        return f"contains a name longer than {NAME_LIMIT} bytes", f"有超过 {NAME_LIMIT} 字节的名称"
    return None


LINK_LIMIT = 40
"""The maximum number of links on one path, as in the Linux kernel."""

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Without O_NONBLOCK, opening a FIFO that was put there a moment ago would block forever.
_FILE = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


class SaveNotes(Protocol):
    """Records temporary files, so that a later process can remove what a killed one left."""

    def begin(self, folder: str, name: str, replaces: str | None) -> None:
        """Record a file before it is created."""

    def made(self, name: str, inode: int) -> None:
        """Record the inode of the created file."""

    def done(self, name: str) -> None:
        """Record that no file of this name is left to remove."""


@dataclass(frozen=True, slots=True)
class Spot:
    """The resolved end of a path: a name in an open folder. Not a link; links were followed.

    Attributes:
        path: The path for display.
        folder: The folder's descriptor, open during the descent.
        name: The name in it; empty if the path is the workspace itself.
        real: The parts of the path with links resolved.
        info: The stat result; None if nothing exists there.
        where: The folder's path, for the notes.
        notes: Records saves; None to disable.
        guard: Called before the content is opened; raises to deny access.
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
        """Open the file here; raise unless it is a regular file."""
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
        """Open the folder here."""
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
    """Resolve a path; its folder stays open inside the `with`.

    Args:
        root: The workspace's path, to recognize absolute links into it.
        root_folder: The descriptor of the workspace.
        parts: The names on the way, from `Root.parts`.
        make_folders: Create missing folders on the way.
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
            if name == "..":  # only from a link: `Root.parts` has resolved those in the path
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
            # For a link, the error is ENOTDIR on Linux and ELOOP elsewhere.
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
        with suppress(FileExistsError):  # created by another process, or a dangling link
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
            if error.errno == errno.EINVAL:  # neither a link nor a folder
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
        # Opening ".." could lead out if the folder was moved in the meantime. Starting again at the
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
    """Raise unless this is a regular file on a real file system."""
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
    """The device numbers of /proc and /sys, whose files have no size and may act when read."""
    mounted = set()
    for place in ("/proc", "/sys"):
        try:
            mounted.add(os.stat(place).st_dev)
        except OSError:
            continue
    return frozenset(mounted - {os.stat("/").st_dev})
