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
from typing import NamedTuple, Protocol, TypeAlias

from contextui.files.errors import (
    FileError,
    NotAFileError,
    NotAFolderError,
    PathEscapeError,
    UnreadableFileError,
    reading_failed,
)
from contextui.words import Message

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
        path, "{name} leads out of the workspace. Only files inside can be used."
    )


def _checked(path: object) -> str:
    if not isinstance(path, str):
        raise FileError(str(path), "A path must be text.")
    if not path.strip():
        raise FileError(path, "The path is empty. Name a file of the workspace.")
    if problem := _problem(path):
        raise FileError(path, "The path {name} {problem}.", problem=problem)
    return path


def _problem(path: str) -> Message | None:
    if "\0" in path:
        return Message("contains a NUL character")
    if "\\" in path or _DRIVE.match(path):
        return Message('looks like a Windows path. Write it relative to the workspace, with "/"')
    try:
        encoded = path.encode()
    except UnicodeEncodeError:
        return Message("contains characters that are not valid Unicode")
    if len(encoded) > PATH_LIMIT:
        return Message("is longer than {limit} bytes", {"limit": PATH_LIMIT})
    if any(len(name) > NAME_LIMIT for name in encoded.split(b"/")):
        return Message("contains a name longer than {limit} bytes", {"limit": NAME_LIMIT})
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


class Found(NamedTuple):
    """What is at a path before it is written.

    Attributes:
        data: The content; None if nothing exists there, or it cannot be read.
    """

    data: bytes | None
    size: int
    mode: int | None


class WriteKeeper(Protocol):
    """Keeps what is at a path before it is written. It must not raise."""

    def begin(self, path: str, found: Found, new: bytes | None) -> Callable[[], None]:
        """Keep what is there, before `new` replaces it; return what to call once it is written."""


@dataclass(frozen=True, slots=True)
class SafePath:
    """The resolved end of a path: a name in an open folder. Not a link; links were followed.

    Attributes:
        folder: The folder's descriptor, open during the descent.
        name: The name in it; empty if the path is the workspace itself.
        real: The parts of the path with links resolved.
        where: The folder's path, for the notes.
        guard: Called before the content is opened; raises to deny access.
    """

    path: str
    folder: int
    name: str
    real: Parts
    info: os.stat_result | None
    where: str = ""
    notes: SaveNotes | None = None
    guard: "Callable[[SafePath], None] | None" = None

    @contextmanager
    def opened(self, flags: int = os.O_RDONLY) -> Iterator[int]:
        """Open the file here for the `with`; raise unless it is a regular file."""
        if self.info is None:
            raise reading_failed(self.path, FileNotFoundError(errno.ENOENT, ""))
        check_regular_file(self.path, self.info)  # opening a device may already act on it
        if self.guard is not None:
            self.guard(self)
        try:
            descriptor = os.open(self.name, flags | _FILE, dir_fd=self.folder)
        except OSError as error:
            raise reading_failed(self.path, error) from error
        try:
            check_regular_file(self.path, os.fstat(descriptor))
            yield descriptor
        finally:
            os.close(descriptor)

    def open_folder(self) -> int:
        """Open the folder here."""
        try:
            return os.open(self.name or ".", _FOLDER, dir_fd=self.folder)
        except NotADirectoryError as error:
            raise NotAFolderError(self.path, "{name} is not a folder.") from error
        except OSError as error:
            raise reading_failed(self.path, error) from error


@contextmanager
def descend(
    root: Root,
    root_folder: int,
    parts: Parts,
    *,
    make_folders: bool = False,
    follow: bool = True,
) -> Iterator[SafePath]:
    """Resolve a path; its folder stays open inside the `with`."""
    descent = _Descent(root, root_folder, parts, make_folders, follow)
    try:
        yield descent.run()
    finally:
        descent.return_to_root()


class _Descent:
    def __init__(
        self, root: Root, root_folder: int, parts: Parts, make_folders: bool, follow: bool
    ) -> None:
        self._follows = follow
        self._root, self._root_folder, self._make_folders = root, root_folder, make_folders
        self._path = "/".join(parts) or "."
        self._pending = list(reversed(parts))
        self._here, self._real = root_folder, list[str]()
        self._links = 0

    def run(self) -> SafePath:
        try:
            return self._run()
        except OSError as error:
            raise reading_failed(self._path, error) from error

    def _run(self) -> SafePath:
        while self._pending:
            name = self._pending.pop()
            if name == "..":  # only from a link: `Root.parts` has resolved those in the path
                self._go_up()
            elif self._pending:
                self._enter(name)
            else:
                info = self._look(name)
                if info is None or not stat.S_ISLNK(info.st_mode):
                    return SafePath(self._path, self._here, name, (*self._real, name), info)
                self._follow(name)
        return SafePath(self._path, self._here, "", tuple(self._real), os.fstat(self._here))

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
        info = self._look(name)
        if not self._follows and info is not None and stat.S_ISLNK(info.st_mode):
            raise NotAFileError(self._path, "{name} is or goes through a link.")
        if self._links > LINK_LIMIT:
            raise UnreadableFileError(
                self._path, "{name} goes through too many links, or in a circle."
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
        return PathEscapeError(self._path, "{name} is or goes through a link out of the workspace.")

    def return_to_root(self) -> None:
        self._leave()
        self._here = self._root_folder
        self._real.clear()

    def _leave(self) -> None:
        if self._here != self._root_folder:
            os.close(self._here)
            self._here = self._root_folder


_KINDS = {
    stat.S_IFDIR: Message("a folder"),
    stat.S_IFIFO: Message("a FIFO"),
    stat.S_IFSOCK: Message("a socket"),
    stat.S_IFCHR: Message("a device"),
    stat.S_IFBLK: Message("a device"),
    stat.S_IFLNK: Message("a link that was just created"),
}
_OTHER = Message("a special file")


def check_regular_file(path: str, info: os.stat_result) -> None:
    """Raise unless this is a regular file on a real file system."""
    if not stat.S_ISREG(info.st_mode):
        kind = _KINDS.get(stat.S_IFMT(info.st_mode), _OTHER)
        raise NotAFileError(path, "{name} is {kind}, not a file.", kind=kind)
    if info.st_dev in _kernel_devices():
        raise NotAFileError(path, "{name} is not a real file: the kernel generates it.")


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
