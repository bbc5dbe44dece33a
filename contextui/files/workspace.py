"""`Workspace`: read, edit and save the files of one folder, and no others."""

import copy
import os
import stat
import weakref
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import Literal

from contextui.files import save as saving
from contextui.files.errors import (
    FileError,
    MissingFileError,
    NotAFolderError,
    SecretFileError,
    reading_failed,
)
from contextui.files.pager import LineIndex
from contextui.files.paths import (
    AnyPath,
    Parts,
    Root,
    SafePath,
    SaveNotes,
    WriteKeeper,
    descend,
    escape,
)
from contextui.files.protection import SecretFiles, asks_by_name
from contextui.files.save import TEXT_LIMIT, content_of
from contextui.files.textfile import PAGE_LINES, Page, TextFile, Version

FileKind = Literal["file", "folder", "other"]
Fate = Literal["same", "changed", "deleted"]
_EXECUTABLE = stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH
_INDEXES = 8  # an index of a file of 1 GB takes 64 KB


@dataclass(frozen=True, slots=True)
class FileInfo:
    """The kind and version of a path, without its content."""

    path: str
    kind: FileKind
    version: Version

    @property
    def size(self) -> int:
        """Its size in bytes."""
        return self.version.size


@dataclass(frozen=True, slots=True)
class OpenedText:
    """A text file as it was read, with the version to pass to `Workspace.save`."""

    file: TextFile
    version: Version


class Workspace:
    """A folder and the files in it.

    Paths are relative to it, with "/"; an absolute one must be inside. Links are followed as long
    as they stay inside. The folder is held open by descriptor: renaming it cannot redirect access
    to another folder. Every error is a `FileError`. Thread-safe.

    Args:
        secret_files: Patterns of files that hold secrets, see `SecretFiles`.

    Example:
        >>> workspace = Workspace(".")
        >>> opened = workspace.open_text("notes.md")                         # doctest: +SKIP
        >>> edited = opened.file.replace_text("teh", "the")                  # doctest: +SKIP
        >>> workspace.save("notes.md", edited, expected=opened.version)      # doctest: +SKIP
    """

    def __init__(self, root: AnyPath, *, secret_files: Iterable[str] = ()) -> None:
        self._names = Root(root)
        self.secrets = SecretFiles(secret_files)
        self._guard: Callable[[SafePath], None] | None = None
        try:
            folder = os.open(self._names.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except NotADirectoryError as error:
            name = os.fspath(root)
            raise NotAFolderError(
                name, "The workspace {name} is not a folder.", name=name
            ) from error
        except OSError as error:
            raise reading_failed(os.fspath(root), error) from error
        self._folder = folder
        self._close: Callable[[], object] = weakref.finalize(self, os.close, folder)
        self._origin: Workspace | None = None
        self._indexes: OrderedDict[Parts, LineIndex] = OrderedDict()
        self._lock, self._saving = Lock(), Lock()
        self.notes: SaveNotes | None = None
        """Records saves, so that temporary files of a killed process are removed later."""
        self.keeper: WriteKeeper | None = None
        """Keeps what was there before each write, so that it can be restored."""

    @property
    def root(self) -> Path:
        """The path of the folder, links resolved."""
        return Path(self._names.path)

    def close(self) -> None:
        """Release the folder; nothing can be read or saved afterwards."""
        self._close()

    def __enter__(self) -> "Workspace":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- secrets ----------------------------------------------------------------------------

    def guarded(self, guard: Callable[[str, str], None]) -> "Workspace":
        """A view of this workspace that calls `guard` before it reads a file that may hold secrets.

        Args:
            guard: Called with the path as given, and with all links resolved. If it raises, the
                file is not read.
        """

        def check(spot: SafePath) -> None:
            real = "/".join(spot.real)
            if self.secrets.has(spot.path) or self.secrets.has(real):
                guard(spot.path, real)

        view = copy.copy(self)
        view._guard, view._close = check, lambda: None
        view._origin = self  # keeps the folder open
        return view

    def for_model(self, allowed: Collection[str] = ()) -> "Workspace":
        """A view of this workspace for the model: files that may hold secrets are not readable.

        Args:
            allowed: Real paths of secret files that the person allowed.
        """

        def guard(path: str, real: str) -> None:
            if real not in allowed:
                raise SecretFileError(path, real)

        return self.guarded(guard)

    def check_readable(self, path: AnyPath) -> None:
        """Raise if this workspace denies reading a file because it may hold secrets."""
        with self.reach(path) as spot:
            if spot.guard is not None:
                spot.guard(spot)

    def is_secret(self, path: AnyPath) -> bool:
        """Whether a file may hold secrets, by its own name or by that of its link target."""
        try:
            return self.secrets.has(self.relative(path)) or self.secrets.has(self.real(path))
        except FileError:
            return self.secrets.has(os.fspath(path))

    # --- paths ------------------------------------------------------------------------------

    def relative(self, path: AnyPath) -> str:
        """The path for display: relative, normalized, with "/"; "." is the workspace itself."""
        return "/".join(self._names.parts(path)) or "."

    def real(self, path: AnyPath) -> str:
        """The path with all links resolved: the same for any two paths of one file."""
        with self.reach(path) as spot:
            return "/".join(spot.real) or "."

    @contextmanager
    def reach(
        self, path: AnyPath, *, make_folders: bool = False, follow: bool = True
    ) -> Iterator[SafePath]:
        """Resolve a path: the basis of all access here, for callers that need the open folder.

        Unless it may `follow` them, a link on the way raises `NotAFileError`.
        """
        parts, root = self._names.parts(path), self._folder
        with descend(self._names, root, parts, make_folders=make_folders, follow=follow) as spot:
            yield spot if self._guard is None else replace(spot, guard=self._guard)

    def resolved(self, path: str) -> str:
        """The path with all links resolved, as far as it exists; raise if it leads out."""
        below = self._names.strip(os.path.realpath(self.root.joinpath(*self._names.parts(path))))
        if below is None:
            raise escape(path)
        return "/".join(below) or "."

    def asks_every_time(self, path: str, new: str = "") -> bool:
        """Whether every write to a file needs approval, and no grant may cover it.

        True for files outside the workspace, those of `asks_by_name`, executable files, and files
        with several hard links.
        """
        if asks_by_name(path, new):
            return True
        try:
            return asks_by_name(self.resolved(path)) or self._is_executable(path)
        except FileError:  # it leads out, or is not accessible
            return True

    def _is_executable(self, path: str) -> bool:
        try:
            with self._reading(path, is_guarded=False) as (_, descriptor):
                info = os.fstat(descriptor)
                is_special = bool(info.st_mode & _EXECUTABLE) or info.st_nlink > 1
                return is_special or os.pread(descriptor, 2, 0) == b"#!"
        except MissingFileError:
            return False

    def stat(self, path: AnyPath) -> FileInfo:
        """The kind and version of what is at a path."""
        with self.reach(path) as spot:
            if spot.info is None:
                raise reading_failed(spot.path, FileNotFoundError(2, ""))
            mode = spot.info.st_mode
            kind: FileKind = "folder" if stat.S_ISDIR(mode) else "other"
            return FileInfo(
                spot.path, "file" if stat.S_ISREG(mode) else kind, Version.of(spot.info)
            )

    def exists(self, path: AnyPath) -> bool:
        """Whether a path exists inside the workspace; False for paths that lead out."""
        try:
            self.stat(path)
        except FileError:
            return False
        return True

    def compare(self, path: AnyPath, version: Version | None) -> Fate:
        """Compare a file with the version that was read; None if it did not exist.

        Compares size and time first; reads the content only if these are inconclusive.
        """
        try:
            now = self.stat(path).version
            if version is None or now.size != version.size:
                return "changed"
            if version.digest and not now.same_content(version):
                now = Version.of(*self._read(path, TEXT_LIMIT))
            return "same" if now.same_content(version) else "changed"
        except MissingFileError:
            return "deleted" if version else "same"
        except FileError:  # it is no longer a file, or no longer readable
            return "changed"

    # --- reading ----------------------------------------------------------------------------

    def read_bytes(self, path: AnyPath, *, limit: int = TEXT_LIMIT) -> bytes:
        """Read a whole file of at most `limit` bytes."""
        return self._read(path, limit)[1]

    def open_text(self, path: AnyPath, *, encoding: str | None = None) -> OpenedText:
        """Read a text file for editing; detect its encoding unless it is named."""
        info, data = self._read(path, TEXT_LIMIT)
        file = TextFile.from_bytes(data, self.relative(path), encoding=encoding)
        return OpenedText(file, Version.of(info, data))

    def read_page(self, path: AnyPath, start: int = 1, count: int = PAGE_LINES) -> Page:
        """Read some lines of a text file of any size, from line `start` on."""
        with self._reading(path) as (spot, descriptor):
            return self._index(spot, descriptor).page(descriptor, start, count)

    def _read(self, path: AnyPath, limit: int) -> tuple[os.stat_result, bytes]:
        with self._reading(path) as (spot, descriptor):
            return os.fstat(descriptor), content_of(descriptor, spot.path, limit)

    @contextmanager
    def _reading(
        self, path: AnyPath, *, follow: bool = True, is_guarded: bool = True
    ) -> Iterator[tuple[SafePath, int]]:
        with self.reach(path, follow=follow) as spot:
            reached = spot if is_guarded else replace(spot, guard=None)
            try:
                with reached.opened() as descriptor:
                    yield reached, descriptor
            except OSError as error:
                raise reading_failed(spot.path, error) from error

    def _index(self, spot: SafePath, descriptor: int) -> LineIndex:
        with self._lock:
            index = self._indexes.get(spot.real)
        if index is None or index.version != Version.of(os.fstat(descriptor)):
            index = LineIndex(descriptor, spot.path)
        with self._lock:
            self._indexes[spot.real] = index
            self._indexes.move_to_end(spot.real)
            while len(self._indexes) > _INDEXES:
                self._indexes.popitem(last=False)
        return index

    def found(self, path: str) -> tuple[bytes, Version] | None:
        """Read a file at a path without links, also one that may hold secrets; None if it is gone.

        For the person's own comparison of files: what it returns must not go to the model.
        """
        try:
            with self._reading(path, follow=False, is_guarded=False) as (spot, descriptor):
                data = content_of(descriptor, spot.path)
                return data, Version.of(os.fstat(descriptor), data)
        except MissingFileError:
            return None

    # --- saving -----------------------------------------------------------------------------

    def save(
        self,
        path: AnyPath,
        content: TextFile | bytes,
        *,
        expected: Version | None,
        keep_links: bool = False,
        make_folders: bool = False,
    ) -> Version:
        """Save a file atomically: afterwards it is the new one, or the old one and an error is
        raised.

        Args:
            path: The file. A link is followed to its target.
            expected: The version that was read. If the file has changed since, it is not
                overwritten. None for a new file, which never overwrites anything.
            keep_links: Write into a file that has several hard links, which is refused otherwise. A
                crash may then leave it partly written, with a backup of the old content beside it.
            make_folders: Create missing folders on the way to a new file.

        Returns:
            The version now on disk, to pass as `expected` to the next save.
        """
        data = content.to_bytes() if isinstance(content, TextFile) else content
        with self._writing(path, make_folders=make_folders) as spot, self._keeping(spot, data):
            if expected is None:
                return saving.create(spot, data)
            return saving.replace(spot, data, expected, keep_links=keep_links)

    def restore(
        self, path: str, content: bytes | None, *, expected: Version | None, mode: int | None = None
    ) -> None:
        """Put an earlier content back, if the file is as expected. No link is followed.

        Args:
            path: The file, with all links resolved.
            content: What was there; None to delete the file.
            expected: The version that was read; None if there was no file.
            mode: The permissions of a file that is created.
        """
        makes = content is not None and expected is None
        with self._writing(path, make_folders=makes, follow=False) as spot:
            if content is None and expected is None:
                return
            with self._keeping(spot, content):
                if expected is not None and content is not None:
                    saving.replace(spot, content, expected, keep_links=False)
                elif expected is not None:
                    saving.remove(spot, expected)
                elif content is not None:
                    saving.create(spot, content, mode=mode)

    @contextmanager
    def _writing(
        self, path: AnyPath, *, make_folders: bool, follow: bool = True
    ) -> Iterator[SafePath]:
        with self._saving, self.reach(path, make_folders=make_folders, follow=follow) as reached:
            where = os.path.join(self._names.path, *reached.real[:-1])
            yield replace(reached, where=where, notes=(self._origin or self).notes)

    @contextmanager
    def _keeping(self, spot: SafePath, new: bytes | None) -> Iterator[None]:
        keeper = (self._origin or self).keeper
        if keeper is None:
            yield
            return
        done = keeper.begin("/".join(spot.real), saving.found(spot), new)
        yield
        done()
