"""Access to a SQLite file with limits; SQLite itself decides whether a statement writes.

A statement is compiled, not searched for words: its program and the authorizer's calls say what it
does. Reads use a connection that cannot write, so even a wrong decision would change nothing.
"""

import json
import re
import sqlite3
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple
from urllib.parse import quote

SECONDS, PATIENCE = 5.0, 1.0  # for a statement, and for a file that another process has locked
_LONGEST, _COMPARED = 1_000_000, 5_000_000  # bytes of a value; characters of compared tables
_WRITES = {sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE}
_DENIED = {  # what reaches other files, changes settings, or ends the transaction
    sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH, sqlite3.SQLITE_PRAGMA,
    sqlite3.SQLITE_TRANSACTION, sqlite3.SQLITE_SAVEPOINT,
}  # fmt: skip
_DENIED_FUNCTIONS = ("load_extension", "fts3_tokenizer")
_UNSTABLE = re.compile(
    r"(random|randomblob|date|time|datetime|julianday|unixepoch|strftime)\(|current_"
)


@dataclass(frozen=True)
class Rows:
    """Some rows of a result."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]


@dataclass(frozen=True)
class Change:
    """What a statement changes: how many rows, which ones as a diff, and what it returns.

    The diff is empty if there are too many rows, or if their values differ at each run, such as
    the current time: a preview must be the same again after the approval.
    """

    count: int
    diff: str
    returned: Rows


class Database:
    """A SQLite file. Every failure is a `sqlite3.Error`.

    Args:
        path: The file, which must exist.
        seconds: Time limit of a statement.
    """

    def __init__(self, path: Path, seconds: float = SECONDS) -> None:
        self._path, self._seconds = path, seconds

    def only_reads(self, sql: str) -> bool:
        """Whether a statement only reads. If it compiles, this depends on its text alone."""
        with self._connection("ro", patience=0.0) as link:
            return _compile(link, sql).only_reads

    def read(self, sql: str, skip: int = 0, count: int = 50) -> Rows:
        """Run a statement that reads, on a connection that cannot write."""
        with self._connection("ro") as link:
            link.set_authorizer(_allow)
            cursor = link.execute(sql)
            for _ in zip(range(skip), cursor, strict=False):
                pass
            return _rows(cursor, count)

    def change(self, sql: str, *, commit: bool, count: int = 50) -> Change:
        """Run a statement in a transaction, which is rolled back without `commit`."""
        with self._connection("rw") as link:
            link.execute("PRAGMA cache_spill = OFF")  # before the commit nothing reaches the file
            link.execute("BEGIN IMMEDIATE")
            compiled = _compile(link, sql)
            tables = compiled.written if compiled.is_stable and not commit else None
            before, changes = _content(link, tables), link.total_changes
            cursor = link.execute(sql)
            returned = _rows(cursor, count)
            cursor.close()
            change = Change(
                link.total_changes - changes, _diff(before, _content(link, tables)), returned
            )
            if commit:
                link.set_authorizer(None)
                link.execute("COMMIT")
            return change

    @contextmanager
    def _connection(
        self, mode: Literal["ro", "rw"], patience: float = PATIENCE
    ) -> Iterator[sqlite3.Connection]:
        """Connect; closing the connection rolls back what is not committed."""
        address = f"file:{quote(str(self._path))}?mode={mode}"
        end = time.monotonic() + self._seconds
        with closing(
            sqlite3.connect(address, timeout=patience, uri=True, isolation_level=None)
        ) as link:
            link.execute("PRAGMA trusted_schema = OFF")  # its views and triggers may be anyone's
            link.text_factory = lambda data: data.decode("utf-8", "replace")
            link.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
            link.setlimit(sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 200)
            link.set_progress_handler(lambda: time.monotonic() > end, 10_000)
            yield link


def shown(value: object) -> str:
    """Return a value so that NULL, bytes and text cannot be confused."""
    if isinstance(value, bytes):
        return f"x'{value[:16].hex()}{'…' if len(value) > 16 else ''}' ({len(value)} bytes)"
    if isinstance(value, str) and (value in ("", "NULL") or "|" in value or value[:2] == "x'"):
        return json.dumps(value, ensure_ascii=False)
    return "NULL" if value is None else str(value)


def _allow(code: int, first: str | None, second: str | None, *_: str | None) -> int:
    """Authorize one step of a statement; full-text search itself needs a pragma."""
    harmless = code == sqlite3.SQLITE_PRAGMA and first == "data_version" and second is None
    outside = code == sqlite3.SQLITE_FUNCTION and second in _DENIED_FUNCTIONS
    is_denied = outside or (code in _DENIED and not harmless)
    return sqlite3.SQLITE_DENY if is_denied else sqlite3.SQLITE_OK


class _Compiled(NamedTuple):
    only_reads: bool
    written: list[str]  # the tables that it and its triggers write
    is_stable: bool  # whether the same statement does the same again


def _compile(link: sqlite3.Connection, sql: str) -> _Compiled:
    codes, written = list[int](), dict[str, None]()

    def allow(code: int, first: str | None, *rest: str | None) -> int:
        codes.append(code)
        if code in _WRITES and first:
            written[first] = None
        return _allow(code, first, *rest)

    link.set_authorizer(allow)
    program = link.execute(f"EXPLAIN {sql}").fetchall()
    # A write transaction is opened by this instruction with a second operand.
    writes = any(row[1] == "Transaction" and row[3] for row in program)
    calls = [str(row[5]) for row in program if row[1] in ("Function", "PureFunc")]
    is_stable = not any(_UNSTABLE.match(call) for call in calls)
    return _Compiled(codes[:1] == [sqlite3.SQLITE_SELECT] and not writes, list(written), is_stable)


def _rows(cursor: sqlite3.Cursor, count: int) -> Rows:
    return Rows([column[0] for column in cursor.description or ()], cursor.fetchmany(count))


def _content(link: sqlite3.Connection, tables: list[str] | None) -> "Counter[str] | None":
    """Return the rows of some tables as text; None if they cannot be compared."""
    lines, room = Counter[str](), _COMPARED
    if tables is None:
        return None
    for table in tables:
        name = table.replace('"', '""')
        try:
            for row in link.execute(f'SELECT * FROM main."{name}"'):
                lines[line := f"{table}: {', '.join(map(repr, row))}"] += 1
                room -= len(line)
                if room < 0:
                    return None
        except sqlite3.OperationalError as error:
            if "no such table" not in str(error):  # it is dropped, or not created yet
                raise
    return lines


def _diff(before: "Counter[str] | None", after: "Counter[str] | None") -> str:
    if before is None or after is None:
        return ""
    lost, new = list((before - after).elements()), list((after - before).elements())
    if not lost and not new:
        return ""
    spans = f"@@ -{bool(lost):d},{len(lost)} +{bool(new):d},{len(new)} @@"
    rows = [f"-{row}" for row in lost] + [f"+{row}" for row in new]
    return "\n".join(["--- rows before", "+++ rows after", spans, *rows, ""])
