"""List the workspace's folders as entries or as a tree, without files ignored by .gitignore.

A folder is read only when it is shown, so a tree of any size opens at once.
"""

import os
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Literal, NamedTuple

from contextui.files.errors import FileError, reading_failed
from contextui.files.gitignore import Rules, is_hidden
from contextui.files.paths import AnyPath, Parts
from contextui.files.save import content_of
from contextui.files.workspace import Workspace
from contextui.plain_file import is_temporary
from contextui.text import for_model

EntryKind = Literal["file", "folder", "link", "other"]
MOST_NAMES = 200_000
"""The maximum number of names in a folder that can be listed."""
_RULES_LIMIT = 1024 * 1024


class FolderEntry(NamedTuple):
    """One entry of a folder.

    Attributes:
        kind: "other" cannot be opened: devices and the like, and names that are not valid text
            (shown with replacements) or contain a backslash.
        size: Bytes; -1 unless details were asked for.
        modified: Seconds since the epoch; 0 unless details were asked for.
    """

    name: str
    path: str
    kind: EntryKind
    size: int = -1
    modified: float = 0.0
    is_ignored: bool = False


@dataclass(frozen=True, slots=True)
class Listing:
    """The entries of a folder: folders first, each sorted by name.

    Attributes:
        hidden: How many names .gitignore hides.
    """

    path: str
    entries: tuple[FolderEntry, ...]
    hidden: int


def list_folder(
    workspace: Workspace, path: AnyPath = ".", *, ignored: bool = False, details: bool = False
) -> Listing:
    """List one folder; with `ignored`, include what .gitignore hides.

    With `details`, each entry has its size and time, at the price of one system call.

    `.git` and unfinished saves are never listed. The user's global git rules, and the rules of an
    enclosing repository, are outside of the workspace and are not read.
    """
    return _list(workspace, _folder_at(workspace, path), ignored=ignored, details=details)


def walk(
    workspace: Workspace, path: AnyPath = ".", *, details: bool = False
) -> Iterator[FolderEntry]:
    """Iterate over all entries below a folder, depth first and lazily.

    Links are yielded, not followed, so this terminates. Unreadable folders are skipped.
    """
    start = _folder_at(workspace, path)
    pending = [(start, iter(_list(workspace, start, details=details).entries))]
    while pending:
        folder, entries = pending[-1]
        entry = next(entries, None)
        if entry is None:
            pending.pop()
            continue
        yield entry
        if entry.kind == "folder":
            with suppress(FileError):
                inner = folder.inner(workspace, entry)
                entries = iter(_list(workspace, inner, details=details).entries)
                pending.append((inner, entries))


class TreeRow(NamedTuple):
    """An entry in a folder tree."""

    entry: FolderEntry
    depth: int = 0
    inside: int | None = None


def tree(
    workspace: Workspace, top: Listing, expanded: Collection[str], depth: int = 0
) -> Iterator[TreeRow]:
    """Iterate over a folder's entries, each expanded folder followed by its own.

    An expanded folder that no longer exists, or is not readable, is shown as collapsed.
    """
    for entry in top.entries:
        inner = None
        if entry.path in expanded and entry.kind in ("folder", "link"):
            with suppress(FileError):
                inner = list_folder(workspace, entry.path)
        yield TreeRow(entry, depth, len(inner.entries) if inner else None)
        if inner:
            yield from tree(workspace, inner, expanded, depth + 1)


@dataclass(frozen=True, slots=True)
class _Folder:
    """A folder and the ignore rules that apply in it."""

    path: str
    real: Parts
    rules: tuple[Rules, ...]
    hidden: bool = False  # it is ignored itself, or lies in a folder that is

    def inner(self, workspace: Workspace, entry: FolderEntry) -> "_Folder":
        real = (*self.real, entry.name)
        return _Folder(entry.path, real, (*self.rules, *_rules_in(workspace, real)), self.hidden)


def _list(
    workspace: Workspace, folder: _Folder, *, ignored: bool = False, details: bool = False
) -> Listing:
    entries, left_out = list[FolderEntry](), 0
    for name, kind, size, modified in _scan(workspace, folder, details=details):
        if name[0] == "." and (name == ".git" or is_temporary(name)):
            continue
        is_ignored = folder.hidden or (
            bool(folder.rules) and is_hidden((*folder.real, name), kind == "folder", folder.rules)
        )
        if is_ignored and not ignored:
            left_out += 1
            continue
        plain = name if name.isascii() else for_model(name)  # no name contains NUL
        path = plain if folder.path == "." else f"{folder.path}/{plain}"
        nameable = plain == name and "\\" not in name
        shown_kind = kind if nameable else "other"
        entries.append(FolderEntry(plain, path, shown_kind, size, modified, is_ignored))
    entries.sort(key=_order)
    return Listing(folder.path, tuple(entries), left_out)


def _order(entry: FolderEntry) -> str:
    """Folders first, each by name; as one text, which compares fast. No name contains NUL."""
    return f"{entry.kind != 'folder':d}{entry.name.casefold()}\0{entry.name}"


def _scan(
    workspace: Workspace, folder: _Folder, *, details: bool
) -> list[tuple[str, EntryKind, int, float]]:
    with workspace.reach("/".join(folder.real) or ".") as spot:
        descriptor = spot.open_folder()
        try:
            with os.scandir(descriptor) as entries:
                found = [
                    (entry.name, _kind(entry), *(_details(entry) if details else (-1, 0.0)))
                    for entry in islice(entries, MOST_NAMES + 1)
                ]
        except OSError as error:
            raise reading_failed(spot.path, error) from error
        finally:
            os.close(descriptor)
        if len(found) > MOST_NAMES:
            raise FileError(
                spot.path,
                "{name} holds more than {limit:,} names and is too large to be listed. "
                "Name the file itself.",
                limit=MOST_NAMES,
            )
        return found


def _kind(entry: os.DirEntry[str]) -> EntryKind:
    if entry.is_file(follow_symlinks=False):
        return "file"
    if entry.is_dir(follow_symlinks=False):
        return "folder"
    return "link" if entry.is_symlink() else "other"


def _details(entry: os.DirEntry[str]) -> tuple[int, float]:
    """The size and time of an entry; neither, if it was deleted since the folder was read."""
    try:
        info = entry.stat(follow_symlinks=False)
    except OSError:
        return -1, 0.0
    return info.st_size, info.st_mtime


# --- rules -----------------------------------------------------------------------------------


def _folder_at(workspace: Workspace, path: AnyPath) -> _Folder:
    with workspace.reach(path) as spot:
        shown, real = workspace.relative(path), spot.real
    rules = [*_read_rules(workspace, (), ".git/info/exclude"), *_rules_in(workspace, ())]
    for depth in range(1, len(real) + 1):
        folder = real[:depth]
        if folder[-1] == ".git" or is_hidden(folder, True, rules):
            return _Folder(shown, real, tuple(rules), hidden=True)
        rules += _rules_in(workspace, folder)
    return _Folder(shown, real, tuple(rules))


def _rules_in(workspace: Workspace, folder: Parts) -> list[Rules]:
    return _read_rules(workspace, folder, "/".join((*folder, ".gitignore")))


def _read_rules(workspace: Workspace, folder: Parts, path: str) -> list[Rules]:
    try:
        with workspace.reach(path) as spot:
            if spot.info is None or "/".join(spot.real) != path:  # git follows no links here
                return []
            with spot.opened() as descriptor:
                return [Rules(content_of(descriptor, spot.path, _RULES_LIMIT), folder)]
    except FileError:
        return []
