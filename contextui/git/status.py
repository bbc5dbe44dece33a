"""What git reports: names, changes, branches and commits, parsed from its output.

Paths are relative to the session's folder; bytes that are not UTF-8 are kept as surrogates.
"""

import os
import re
from dataclasses import dataclass
from typing import NamedTuple

from contextui.text import is_unseen

# --- names ------------------------------------------------------------------------------------

_ESCAPES = {7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 34: '"', 92: "\\"}
_UNESCAPES = {letter: code for code, letter in _ESCAPES.items()}
_ESCAPED = re.compile(r'\\([0-3][0-7]{2}|[abtnvfr"\\])')


def quoted(path: str) -> str:
    r"""Return a path for display: as it is, or quoted as git does if it could be misread.

    Example:
        >>> print(quoted("a b.txt"), quoted("a\nb"))
        a b.txt "a\nb"
    """
    plain = path == path.strip() != "" and not any(
        one in '"\\' or is_unseen(one) or not (one.isprintable() or one == " ") for one in path
    )
    if plain:
        return path
    shown = []
    for one in path:
        if one not in '"\\' and one.isprintable() and not is_unseen(one):
            shown.append(one)
            continue
        for code in os.fsencode(one):
            letter = _ESCAPES.get(code)
            shown.append(f"\\{letter}" if letter else f"\\{code:03o}")
    return f'"{"".join(shown)}"'


def unquoted(name: str) -> str:
    """Return the path that `quoted` returned a name for; any other name as it is."""
    if not (len(name) > 1 and name[0] == name[-1] == '"'):
        return name
    data, at = bytearray(), 0
    inner = name[1:-1]
    for found in _ESCAPED.finditer(inner):
        data += os.fsencode(inner[at : found.start()])
        code = found[1]
        data.append(int(code, 8) if code[0].isdigit() else _UNESCAPES[code])
        at = found.end()
    return os.fsdecode(bytes(data) + os.fsencode(inner[at:]))


# --- status -----------------------------------------------------------------------------------


class Lines(NamedTuple):
    """The number of lines that a change adds and removes."""

    added: int
    removed: int

    def __str__(self) -> str:
        """Format as ``+5 -3``, without zeros."""
        counts = ("+", self.added), ("-", self.removed)
        return " ".join(f"{sign}{count}" for sign, count in counts if count)


@dataclass(frozen=True, slots=True)
class Change:
    """A path that differs between the last commit, the index and the folder."""

    path: str
    index: str
    tree: str
    old: str = ""
    is_conflict: bool = False
    is_submodule: bool = False
    staged: Lines | None = None
    lines: Lines | None = None

    @property
    def is_staged(self) -> bool:
        """Whether a commit would contain something of it."""
        return self.index not in ".?" and not self.is_conflict

    @property
    def is_changed(self) -> bool:
        """Whether something of it is not staged."""
        return self.tree != "." or self.is_conflict

    @property
    def is_modified(self) -> bool:
        """Whether a known file has changes that are not staged."""
        return self.is_changed and not self.is_untracked

    @property
    def is_untracked(self) -> bool:
        """Whether git does not know the file."""
        return self.tree == "?"

    @property
    def name(self) -> str:
        """The path for display."""
        return quoted(self.path)


@dataclass(frozen=True, slots=True)
class Status:
    """The branch and all changes.

    Attributes:
        branch: The name of the branch; empty if HEAD is detached.
        ahead: Commits that the upstream does not have.
        changes: The changes in the session's folder, in the order of their paths.
        operation: What git is in the middle of, such as ``merge``.
        prefix: The session's folder in the repository; empty for its top.
    """

    head: str = ""
    branch: str = ""
    ahead: int = 0
    behind: int = 0
    changes: tuple[Change, ...] = ()
    is_cut: bool = False
    operation: str = ""
    prefix: str = ""
    outside: bool = False

    def staged(self) -> list[Change]:
        """The staged changes."""
        return [change for change in self.changes if change.is_staged]

    def conflicts(self) -> list[Change]:
        """The unresolved paths of a merge."""
        return [change for change in self.changes if change.is_conflict]

    def changed(self) -> list[Change]:
        """The changes of known files that are not staged."""
        return [change for change in self.changes if change.is_modified]

    def untracked(self) -> list[Change]:
        """The files that git does not know."""
        return [change for change in self.changes if change.is_untracked]


class Commit(NamedTuple):
    """An entry of the log."""

    id: str
    author: str
    time: int
    subject: str


def parse_status(data: bytes, prefix: str = "") -> Status:
    """Parse the output of ``git status --porcelain=v2 --branch -z``."""
    records = data.split(b"\0")[:-1]
    facts: dict[str, str] = {}
    changes: list[Change] = []
    at = 0
    while at < len(records):
        record = os.fsdecode(records[at])
        at += 1
        kind = record[:2]
        if kind == "# ":
            name, _, value = record[2:].partition(" ")
            facts[name] = value
            continue
        old = ""
        if kind == "2 ":
            old = os.fsdecode(records[at]) if at < len(records) else ""
            at += 1
        if change := _change(kind, record, old, prefix):
            changes.append(change)
    head, branch = facts.get("branch.oid", ""), facts.get("branch.head", "")
    counts = facts.get("branch.ab", "+0 -0").split(" ")
    return Status(
        "" if head == "(initial)" else head,
        "" if branch == "(detached)" else branch,
        int(counts[0]),
        -int(counts[1]),
        tuple(sorted(changes, key=lambda one: one.path)),
        prefix=prefix,
    )


def _change(kind: str, record: str, old: str, prefix: str) -> Change | None:
    fields = {"1 ": 8, "2 ": 9, "u ": 10, "? ": 1}.get(kind)
    if fields is None:
        return None
    parts = record.split(" ", fields)
    path = parts[-1]
    if not path.startswith(prefix):
        return None
    path = path[len(prefix) :]
    old = old[len(prefix) :] if old.startswith(prefix) else ""
    if kind == "? ":
        return Change(path, "?", "?")
    index, tree = parts[1][0], parts[1][1]
    return Change(path, index, tree, old, kind == "u ", parts[2][0] == "S")


def parse_numstat(data: bytes, prefix: str = "") -> dict[str, Lines | None]:
    """Parse the output of ``git diff --numstat -z``; None for files that git takes as binary."""
    found: dict[str, Lines | None] = {}
    records = iter(data.split(b"\0")[:-1])
    for record in records:
        added, removed, path = os.fsdecode(record).split("\t", 2)
        if not path:  # a rename: both names follow
            next(records, b"")
            path = os.fsdecode(next(records, b""))
        counts = None if added == "-" else Lines(int(added), int(removed))
        found[path.removeprefix(prefix)] = counts
    return found


def parse_log(data: bytes) -> list[Commit]:
    """Parse the output of `Repository.log`."""
    found = []
    for record in data.split(b"\0"):
        parts = record.decode(errors="replace").split("\x1f", 3)
        if len(parts) == 4 and parts[2].isdigit():
            found.append(Commit(parts[0], parts[1], int(parts[2]), parts[3]))
    return found


def shown(data: bytes) -> str:
    """Decode what git prints of files; bytes that are not UTF-8 become ``\\xff``."""
    return data.decode(errors="backslashreplace")
