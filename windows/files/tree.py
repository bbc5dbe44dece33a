"""Rows of the files widget: what was read of each folder, with git's marks, as a tree.

Everything here works on what was read before; `read_folders` touches the disk, and
belongs into a thread.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from contextui.files.errors import FileError
from contextui.files.index import fuzzy
from contextui.files.listing import EntryKind, FolderEntry, Listing, list_folder
from contextui.files.workspace import Workspace
from contextui.git.repository import Marks

RowKind = EntryKind | Literal["deleted", "note"]
RowKey = tuple[str, bool, int]
"""The path of a row, whether it is a note, and the line that a search found."""


class FileRow(NamedTuple):
    """A line of the tree."""

    path: str  # for a note, that of its folder
    name: str  # several names for folders that hold nothing else
    kind: RowKind = "file"  # "deleted" is known to git only; a note says why a folder is empty
    depth: int = 0  # the number of enclosing folders in view
    is_open: bool | None = None  # whether its entries follow; None if it has none
    size: int = -1
    modified: float = 0.0  # seconds since the epoch, or 0
    mark: str = ""  # of git
    line: int = 0  # that a search found

    @property
    def key(self) -> RowKey:
        return self.path, self.kind == "note", self.line


Read = Mapping[str, Listing | FileError]  # what was read of each folder, or why it could not be


def read_folders(workspace: Workspace, folders: Iterable[str], *, ignored: bool) -> Read:
    """Read folders with the size and age of each entry."""
    read: dict[str, Listing | FileError] = {}
    for folder in folders:
        try:
            read[folder] = list_folder(workspace, folder, ignored=ignored, details=True)
        except FileError as error:
            read[folder] = error
    return read


@dataclass
class Tree:
    """The tree as the person sees it: the folders that they opened cost no model a token."""

    root: str = "."
    opened: set[str] = field(default_factory=set)
    shows_hidden: bool = False
    read: Read = field(default_factory=dict)
    marks: Marks = field(default_factory=Marks)
    _made: tuple[Read | None, Marks, tuple[object, ...], list[FileRow]] = (None, Marks(), (), [])

    def folders(self) -> list[str]:
        """The folders to read: the root and the open ones in it, also through links."""
        prefix = "" if self.root == "." else f"{self.root}/"
        return [self.root, *sorted(one for one in self.opened if one.startswith(prefix))]

    def rows(self, empty: str) -> list[FileRow]:
        """Return the rows of the root and of all open folders in it.

        They are the same list until something is read, opened or hidden.
        """
        # What is read is replaced, never changed; by value, a file of another size is the same.
        view = self.root, frozenset(self.opened), self.shows_hidden, empty
        read, marks, of_view, _ = self._made
        if read is not self.read or marks is not self.marks or of_view != view:
            self._made = self.read, self.marks, view, self._new_rows(empty)
        return self._made[3]

    def _new_rows(self, empty: str) -> list[FileRow]:
        found = list[FileRow]()
        pending = [iter(self._entries(self.root, 0, ""))]
        while pending:
            row = next(pending[-1], None)
            if row is None:
                pending.pop()
                continue
            found.append(row)
            if row.is_open:
                pending.append(iter(self._entries(row.path, row.depth + 1, empty)))
        return found

    def _entries(self, folder: str, depth: int, empty: str) -> Iterator[FileRow]:
        listing = self.read.get(folder)
        if not isinstance(listing, Listing):
            note = "…" if listing is None else f"✗ {listing}"
            yield FileRow(folder, note, "note", depth)
            return
        entries = [entry for entry in listing.entries if self.is_visible(entry)]
        gone = self.marks.deleted.get(folder, ())
        if gone:
            there = {entry.path for entry in listing.entries}
            gone = sorted(one for one in gone if one not in there)
        if not entries and not gone and empty:
            yield FileRow(folder, empty, "note", depth)
        opened, marks = self.opened, self.marks.of_path
        for entry in entries:
            path, kind, is_open = entry.path, entry.kind, None
            # Whether a link leads to a folder is known once it was opened.
            if kind == "folder" or (kind == "link" and path in opened):
                is_open = path in opened
            mark = marks.get(path, "")
            yield FileRow(path, entry.name, kind, depth, is_open, entry.size, entry.modified, mark)
        for path in gone:
            yield FileRow(path, path.rpartition("/")[2], "deleted", depth, mark="D")

    def is_visible(self, entry: FolderEntry) -> bool:
        return self.shows_hidden or not (entry.name.startswith(".") or entry.is_ignored)

    def hidden_count(self) -> int:
        listing = self.read.get(self.root)
        if self.shows_hidden or not isinstance(listing, Listing):
            return 0
        dotted = sum(not self.is_visible(entry) for entry in listing.entries)
        return dotted + listing.hidden

    def found(self, entries: Sequence[FolderEntry]) -> list[FileRow]:
        """Return the rows of the files that a filter found, in their folders.

        Folders that hold nothing but one folder share its row.
        """
        around = [entry.path.rpartition("/")[0] for entry in entries]
        holders = dict.fromkeys(around)
        inside = dict[str, set[str]]()  # the folders in each folder
        for holder in holders:
            path = holder
            while path:
                above = path.rpartition("/")[0]
                known = path in inside.setdefault(above, set())
                inside[above].add(path)
                path = "" if known else above
        shared = {path for path, folders in inside.items() if len(folders) == 1} - set(holders)
        rows, depths, marks = list[FileRow](), {"": -1}, self.marks.of_path
        for (name, path, kind, size, modified, _), above in zip(entries, around, strict=True):
            if above not in depths:
                rows += self._folders_to(above, shared, depths)
            depth, mark = depths[above] + 1, marks.get(path, "")
            rows.append(FileRow(path, name, kind, depth, None, size, modified, mark))
        return rows

    def _folders_to(
        self, folder: str, shared: Collection[str], depths: dict[str, int]
    ) -> Iterator[FileRow]:
        """Yield the rows of a folder and of those around it that have none yet."""
        above, path, name = "", "", ""
        for part in folder.split("/"):
            path, name = f"{path}/{part}".lstrip("/"), f"{name}/{part}".lstrip("/")
            if path in depths:
                above, name = path, ""
                continue
            if path in shared:
                continue
            depths[path] = depths[above] + 1
            mark = self.marks.of_path.get(path, "")
            yield FileRow(path, name, "folder", depths[path], True, mark=mark)
            above, name = path, ""


def matched_in(row: FileRow, query: str) -> tuple[int, ...]:
    """Return the indexes of the letters of a row's name that a query finds."""
    match = fuzzy(query, row.path) if row.kind in ("file", "link", "other") else None
    if match is None:
        return ()
    start = len(row.path) - len(row.name)
    return tuple(at - start for at in match.positions if at >= start)


def visible_paths(entries: Iterable[FolderEntry], query: str, *, hidden: bool) -> list[FolderEntry]:
    """Leave out what has a name with a leading dot on its way, unless the query asks for one."""
    if hidden or query.startswith(".") or "/." in query:
        return list(entries)
    return [entry for entry in entries if not (entry.path.startswith(".") or "/." in entry.path)]
