"""Fuzzy search over the paths of a workspace, for completion and filters.

`PathIndex.refresh` reads the tree once, in a thread; matching then touches memory only. Paths that
.gitignore hides are not in it.

    >>> fuzzy("crtpy", "src/shop/cart.py").positions
    (9, 11, 12, 14, 15)
"""

import re
import time
import weakref
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import nlargest, nsmallest
from threading import Lock
from typing import NamedTuple

from contextui.files.errors import FileError
from contextui.files.listing import EntryKind, FolderEntry, walk
from contextui.files.paths import AnyPath
from contextui.files.workspace import Workspace

MOST_PATHS = 50_000
"""The maximum number of files in an index."""
STALE = 5.0
"""Seconds after which a path index should be refreshed before its next use."""
FILES: frozenset[EntryKind] = frozenset({"file", "link"})
ALL: frozenset[EntryKind] = frozenset({"file", "link", "folder"})

_BREAKS = frozenset("/_-. ")
_LONGEST_QUERY = 64
_LONGEST_PATH = 400  # characters of a path that are scored exactly
_SCORED = 30  # candidates that are scored exactly for each result
_BETWEEN = "\0"  # in no path
_MATCHED, _NEXT, _START, _NAME_START, _IN_NAME, _GAP = 16, 10, 9, 14, 3, 0.25


class Match(NamedTuple):
    """A path that fits a query.

    Attributes:
        path: The path, to open it by. It may hold control characters: escape it for display.
        positions: The indexes of the matched characters in it, ascending.
        kind: "file", "link" or "folder".
    """

    path: str
    positions: tuple[int, ...] = ()
    score: float = 0.0
    kind: EntryKind = "file"
    size: int = -1
    modified: float = 0.0


@dataclass(frozen=True)
class _Tree:
    """What one refresh found: the entries, and their paths folded to lower case."""

    entries: tuple[FolderEntry, ...] = ()
    folded: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    lengths: tuple[int, ...] = ()
    text: str = _BETWEEN  # all folded paths
    files: int = 0
    read: float = float("-inf")
    is_capped: bool = False


class PathIndex:
    """The paths of a workspace, to be searched while a person types. Thread-safe.

    Example:
        >>> index = PathIndex(".")
        >>> index.refresh()
        >>> [one.path for one in index.match("pyprtoml", 1)]
        ['pyproject.toml']
    """

    def __init__(self, place: Workspace | AnyPath, *, limit: int = MOST_PATHS) -> None:
        self._workspace = place if isinstance(place, Workspace) else Workspace(place)
        self._limit = limit
        self._tree = _Tree()
        self._lock = Lock()
        self.files_so_far = 0
        """How many files the running refresh has found."""

    @classmethod
    def of(cls, workspace: Workspace) -> "PathIndex":
        """The index of a workspace, shared by all who hold it at the same time."""
        with _SHARED_LOCK:
            index = _SHARED.get(str(workspace.root))
            if index is None:
                # Its own descriptor of the folder: the workspace may be closed earlier.
                index = _SHARED[str(workspace.root)] = cls(workspace.root)
            return index

    def __len__(self) -> int:
        """The number of files."""
        return self._tree.files

    @property
    def is_loading(self) -> bool:
        """Whether a refresh is running."""
        return self._lock.locked()

    @property
    def is_ready(self) -> bool:
        """Whether a refresh has finished."""
        return self._tree.read > float("-inf")

    @property
    def is_stale(self) -> bool:
        """Whether the last refresh is so long ago that files may be missing."""
        return time.monotonic() - self._tree.read > STALE

    @property
    def is_capped(self) -> bool:
        """Whether there are more files than the index holds."""
        return self._tree.is_capped

    def refresh(self, *, only_if_stale: bool = False) -> None:
        """Read the tree. This takes a while, so call it in a thread.

        A second call waits for the first and returns with it. Matches come from the previous tree
        until it is done.
        """
        if not self._lock.acquire(blocking=False):
            with self._lock:
                return
        try:
            if not only_if_stale or self.is_stale:
                self._tree = self._read()
        finally:
            self._lock.release()

    def _read(self) -> _Tree:
        began, entries, is_capped = time.monotonic(), list[FolderEntry](), False
        self.files_so_far = 0
        try:
            for entry in walk(self._workspace, details=True):
                if entry.kind == "other":
                    continue
                if self.files_so_far == self._limit or len(entries) == 2 * self._limit:
                    is_capped = True
                    break
                entries.append(entry)
                self.files_so_far += entry.kind != "folder"
        except FileError:
            pass  # the workspace is closed or unreadable: what was found so far is the index
        folded = tuple(_fold(one.path) for one in entries)
        names = tuple(one.rpartition("/")[2] for one in folded)
        lengths = tuple(map(len, folded))
        text = _BETWEEN + "".join(f"{one}{_BETWEEN}" for one in folded)
        # Big trees are read less often: a refresh may take a fiftieth of the time.
        read = max(began, time.monotonic() + 50 * (time.monotonic() - began) - STALE)
        everything = tuple(entries), folded, names, lengths, text
        return _Tree(*everything, self.files_so_far, read, is_capped)

    def match(
        self,
        query: str,
        limit: int = 5,
        *,
        first: Sequence[str] = (),
        kinds: Collection[EntryKind] = FILES,
    ) -> list[Match]:
        """Return the paths that fit best, best first; without a query, the newest."""
        tree, words = self._tree, _words(query)
        preferred = {path: len(first) - at for at, path in enumerate(first)}
        chosen = [at for at in _fitting(tree, words) if tree.entries[at].kind in kinds]
        if not words:
            newest = nlargest(
                limit,
                (tree.entries[at] for at in chosen),
                key=lambda one: (preferred.get(one.path, 0), one.modified),
            )
            return [_match(one, (), 0.0) for one in newest]
        if len(chosen) > (most := _SCORED * limit):
            chosen = _promising(tree, "".join(words), chosen, preferred, most)
        found = []
        for at in chosen:
            entry = tree.entries[at]
            positions, score = _scored(words, entry.path, tree.folded[at])
            # An open file wins over a slightly better name, not over a much better one.
            score += 12 + preferred[entry.path] if entry.path in preferred else 0
            found.append(_match(entry, positions, score))
        return nlargest(limit, found, key=lambda one: (one.score, -len(one.path), one.modified))

    def filter(self, query: str, *, kinds: Collection[EntryKind] = FILES) -> list[FolderEntry]:
        """Return all paths that fit a query, in the order of the tree.

        Where a path contains the letters side by side, only such paths fit; else those that contain
        the letters in order.
        """
        tree, words = self._tree, _words(query)
        for find in (_containing, _fitting):
            entries = [tree.entries[at] for at in find(tree, words)]
            if chosen := [entry for entry in entries if entry.kind in kinds]:
                return chosen
        return []


_SHARED: "weakref.WeakValueDictionary[str, PathIndex]" = weakref.WeakValueDictionary()
_SHARED_LOCK = Lock()


def fuzzy(query: str, path: str) -> Match | None:
    """Match one path with a query; None if it does not fit."""
    words, folded = _words(query), _fold(path)
    if not all(_within(word).match(folded) for word in words):
        return None
    return Match(path, *_scored(words, path, folded))


def _match(entry: FolderEntry, positions: tuple[int, ...], score: float) -> Match:
    return Match(entry.path, positions, score, entry.kind, entry.size, entry.modified)


def _words(query: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_fold(query[:_LONGEST_QUERY]).replace(_BETWEEN, "").split()))


def _fold(text: str) -> str:
    """Lower the case of each character whose lower case is one character: positions stay."""
    if text.isascii():
        return text.lower()
    return "".join(low if len(low := char.lower()) == 1 else char for char in text)


# Possessive quantifiers: the first place of each letter is the best one if only containment counts,
# so a search never goes back, also over names made to be slow.


@lru_cache(maxsize=64)
def _within(word: str) -> re.Pattern[str]:
    return re.compile("".join(f"[^{_class(one)}]*+{re.escape(one)}" for one in word), re.DOTALL)


@lru_cache(maxsize=16)
def _within_line(word: str) -> re.Pattern[str]:
    letters = "".join(f"[^{_class(one)}{_BETWEEN}]*+{re.escape(one)}" for one in word)
    return re.compile(f"{_BETWEEN}{letters}")


def _class(char: str) -> str:
    return "\\" + char if char in r"\]^-[&~|" else char


def _containing(tree: _Tree, words: tuple[str, ...]) -> Sequence[int]:
    """The numbers of the entries that contain the letters of each word side by side."""
    chosen: Sequence[int] = range(len(tree.folded))
    for word in words:
        chosen = [at for at in chosen if word in tree.folded[at]]
    return chosen


def _fitting(tree: _Tree, words: tuple[str, ...]) -> Sequence[int]:
    """The numbers of the entries that contain all letters of each word in order."""
    if all(len(word) == 1 for word in words):
        return _containing(tree, words)
    return sorted(set.intersection(*(set(_lines(tree, word)) for word in words)))


def _lines(tree: _Tree, word: str) -> Iterator[int]:
    """The numbers of the lines of the text that contain the letters of a word in order."""
    number, counted = 0, 0
    for found in _within_line(word).finditer(tree.text):
        start = found.start()
        number += tree.text.count(_BETWEEN, counted, start)
        counted = start
        yield number


def _promising(
    tree: _Tree, word: str, chosen: Sequence[int], preferred: Collection[str], most: int
) -> list[int]:
    """The candidates that may score best, by what is cheap to see: preferred, named so, short."""
    names, folded = tree.names, tree.folded
    found = [at for at in chosen if tree.entries[at].path in preferred] if preferred else []
    for group in (
        (at for at in chosen if names[at].startswith(word)),
        (at for at in chosen if word in names[at]),
        (at for at in chosen if word in folded[at]),
        chosen,
    ):
        best = nsmallest(most, group, key=tree.lengths.__getitem__)
        found = list(dict.fromkeys([*found, *best]))
        if len(found) >= most:
            break
    return found[:most]


def _scored(words: tuple[str, ...], path: str, folded: str) -> tuple[tuple[int, ...], float]:
    """The best positions of all words in a path that contains them, and their score."""
    positions, score = set[int](), 0.0
    for word in words:
        places, value = _placed(word, path, folded)
        positions.update(places)
        score += value
    return tuple(sorted(positions)), score - len(path) / 100


def _placed(word: str, path: str, folded: str) -> tuple[list[int], float]:
    """The places of a word's letters that score best, by dynamic programming.

    Side by side, at beginnings of words, and in the file's own name count more.
    """
    skipped = max(len(folded) - _LONGEST_PATH, 0)
    if skipped and not _within(word).match(folded[skipped:]):
        return [], 0.0
    name = folded.rfind("/") + 1
    best: dict[int, float] = {}  # place of the last letter: score so far
    steps: list[dict[int, int]] = []  # for each letter, its place: the place before
    for number, letter in enumerate(word):
        now, came = dict[int, float](), dict[int, int]()
        ahead, ahead_at = float("-inf"), -1  # the best place before this one, less the gap to it
        at = folded.find(letter, skipped)
        previous = iter(sorted(best.items()))
        pending = next(previous, None)
        while at >= 0:
            while pending is not None and pending[0] < at:
                value = pending[1] + _GAP * pending[0]
                if value >= ahead:
                    ahead, ahead_at = value, pending[0]
                pending = next(previous, None)
            worth = _MATCHED + _worth(path, at, name)
            if number == 0:
                now[at], came[at] = worth - min(at - name, 10) * 0.1 * (at >= name), -1
            elif ahead_at >= 0:
                value, origin = ahead - _GAP * at, ahead_at
                if (beside := best.get(at - 1)) is not None and beside + _NEXT > value:
                    value, origin = beside + _NEXT, at - 1
                now[at], came[at] = value + worth, origin
            at = folded.find(letter, at + 1)
        best = now
        steps.append(came)
    at = max(best, key=best.__getitem__)
    places, score = list[int](), best[at]
    for came in reversed(steps):
        places.append(at)
        at = came[at]
    return places[::-1], score


def _worth(path: str, at: int, name: int) -> int:
    worth = _IN_NAME if at >= name else 0
    if at == name:
        return worth + _NAME_START
    before = path[at - 1] if at else "/"
    humps = path[at].isupper() and before.islower()
    return worth + _START if before in _BREAKS or humps else worth
