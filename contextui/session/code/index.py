"""SQLite index of a code store: the metadata that the files cannot hold."""

import logging
import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from contextui.errors import ContextUIError
from contextui.plain_file import make_private

BUSY_SECONDS = 10.0
"""Timeout when another process has locked the index."""

_SUPER_JOURNAL = bytes.fromhex("d9d505f920a163d7")
_TABLE = (
    "CREATE TABLE code (code_id TEXT PRIMARY KEY, language TEXT, description TEXT, "
    "line_count INTEGER, char_count INTEGER, created_at TEXT, "
    "size INTEGER, mtime_ns INTEGER, inode INTEGER) WITHOUT ROWID"
)
# SQLite's error codes for a foreign or damaged file; 0 is for errors raised here.
_DAMAGE = {
    0,
    sqlite3.SQLITE_ERROR,
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_SCHEMA,
    sqlite3.SQLITE_FORMAT,
    sqlite3.SQLITE_NOTADB,
}
_log = logging.getLogger(__name__)


class CodeStoreError(ContextUIError):
    """Code cannot be saved, read or deleted; the message says why."""


class CodeRow(NamedTuple):
    """One row of the index: the metadata of a code file."""

    code_id: str
    language: str
    description: str
    line_count: int
    char_count: int
    created_at: str
    size: int
    mtime_ns: int
    inode: int


class CodeIndex:
    """The index: a SQLite file with a rollback journal, which works on every file system.

    It may be in a folder prepared by someone else, so nothing in it is trusted: neither its file
    type, nor its schema, nor its journal.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @contextmanager
    def transaction(self) -> Iterator[tuple[sqlite3.Connection, dict[str, CodeRow]]]:
        """Open the index for writing: commit at the end, or roll back on an error."""
        make_private(self.path.parent)
        try:
            index, rows = self._open()
        except sqlite3.DatabaseError as error:
            if _code(error) not in _DAMAGE:
                raise
            _log.warning("The damaged code index is replaced: %s", error)
            self._set_aside()
            index, rows = self._open()
        with closing(index):
            try:
                yield index, rows
                index.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    index.execute("ROLLBACK")
                raise

    @contextmanager
    def reading(self) -> Iterator[dict[str, CodeRow]]:
        """Read the rows while locked; empty if there is no valid index."""
        index, rows = None, dict[str, CodeRow]()
        if os.path.lexists(self.path):
            try:
                index, rows = self._open()
            except sqlite3.DatabaseError as error:
                if is_busy(error):
                    raise
                _log.debug("The code index is not used: %s", error)
        try:
            yield rows
        finally:
            if index is not None:
                index.close()

    def _open(self) -> tuple[sqlite3.Connection, dict[str, CodeRow]]:
        self._check_names()
        index = sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None)
        index.text_factory = lambda data: data.decode(errors="replace")
        try:
            index.execute("BEGIN IMMEDIATE")
            with suppress(OSError):  # it may belong to another user, or be on a read-only disk
                os.chmod(self.path, 0o600)
            schema = [sql for (sql,) in index.execute("SELECT sql FROM sqlite_master")]
            if not schema:
                index.execute(_TABLE)
            elif schema != [_TABLE]:
                raise sqlite3.DatabaseError("it is not of this program")
            rows = map(CodeRow._make, index.execute("SELECT * FROM code"))
            return index, {row.code_id: row for row in rows}
        except BaseException:
            index.close()
            raise

    def _check_names(self) -> None:
        for name in self._names():
            with suppress(FileNotFoundError):
                if not stat.S_ISREG(os.lstat(name).st_mode):
                    raise CodeStoreError("{name} is not a regular file. Remove it.", name=name.name)
        with suppress(FileNotFoundError), open(f"{self.path}-journal", "rb") as journal:
            # Rolling back such a journal would make SQLite delete a file that it names.
            size = os.fstat(journal.fileno()).st_size
            journal.seek(max(0, size - len(_SUPER_JOURNAL)))
            if size > len(_SUPER_JOURNAL) and journal.read() == _SUPER_JOURNAL:
                raise sqlite3.DatabaseError("its journal is not of this program")

    def _set_aside(self) -> None:
        for name in self._names():
            with suppress(FileNotFoundError):
                os.replace(name, f"{name}.damaged")

    def _names(self) -> list[Path]:
        return [Path(f"{self.path}{suffix}") for suffix in ("", "-journal", "-wal", "-shm")]


def is_busy(error: sqlite3.Error) -> bool:
    """Whether another process held the lock for too long."""
    return _code(error) == sqlite3.SQLITE_BUSY


def _code(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF
