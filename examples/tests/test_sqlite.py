"""The SQLite window: first the attacks, then what it is for."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from hashlib import sha256
from pathlib import Path

import pytest

from asking import call
from contextui import Lod, Preview
from contextui.testing import WindowTester
from contextui_examples import database
from contextui_examples.sqlite import SqliteWindow

SCHEMA = """
CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, photo BLOB);
INSERT INTO people VALUES (1, 'Ada', NULL), (2, 'Bo', x'00ff'), (3, 'NULL', NULL);
CREATE TABLE log (line TEXT);
CREATE TRIGGER logged AFTER UPDATE ON people BEGIN
    INSERT INTO log VALUES (old.name || ' was changed');
END;
CREATE VIEW names AS SELECT id, name FROM people;
CREATE TRIGGER through INSTEAD OF DELETE ON names BEGIN
    DELETE FROM people WHERE id = old.id;
END;
CREATE VIRTUAL TABLE notes USING fts5(text);
INSERT INTO notes VALUES ('hello world');
"""
CHANGES = [
    "DELETE FROM people",
    "-- SELECT\nDELETE FROM people",
    "/* SELECT 1 */ delete from people",
    "WITH a AS (SELECT 1) DELETE FROM people",
    "WITH a AS (SELECT 9 AS id) INSERT INTO people SELECT id, 'x', NULL FROM a",
    "INSERT INTO people(name) VALUES ('x') RETURNING *",
    "REPLACE INTO people VALUES (1, 'x', NULL)",
    "INSERT INTO people VALUES (1, 'x', NULL) ON CONFLICT(id) DO UPDATE SET name = 'y'",
    "UPDATE people SET name = 'x'",
    "DELETE FROM names",
    "INSERT INTO notes(notes) VALUES ('optimize')",
    "INSERT INTO notes VALUES ('more')",
    "DELETE FROM notes_data",
    "DROP TABLE people",
    "DROP VIEW names",
    "CREATE TABLE more (a)",
    "CREATE TABLE more AS SELECT * FROM people",
    "CREATE INDEX quick ON people(name)",
    "CREATE TRIGGER t AFTER INSERT ON log BEGIN DELETE FROM people; END",
    "ALTER TABLE people RENAME TO persons",
    "ALTER TABLE people ADD COLUMN age",
    "REINDEX",
    "ANALYZE",
]
REFUSED = [
    "SELECT 1; DELETE FROM people",
    "SELECT 1;\n-- more\nDELETE FROM people",
    "; DELETE FROM people",
    "EXPLAIN SELECT 1; DELETE FROM people",
    "QUERY PLAN SELECT 1",
    "SELECT 1\0; DELETE FROM people",
    "PRAGMA user_version = 7",
    "PRAGMA journal_mode = WAL",
    "PRAGMA writable_schema = ON",
    "PRAGMA query_only = OFF",
    "PRAGMA wal_checkpoint(TRUNCATE)",
    "PRAGMA incremental_vacuum",
    "PRAGMA optimize",
    "VACUUM",
    "VACUUM INTO 'copy.db'",
    "ATTACH 'outside.db' AS other",
    "ATTACH 'file:outside.db?mode=rwc' AS other",
    "DETACH main",
    "BEGIN EXCLUSIVE",
    "COMMIT",
    "ROLLBACK",
    "SAVEPOINT a",
    "SELECT load_extension('evil')",
    "SELECT fts3_tokenizer('simple')",
    "UPDATE sqlite_master SET sql = ''",
    "DELETE FROM sqlite_master",
    "DELETE FROM nothing",
    "",
    "-- nothing",
]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("template") / "a.db"
    with closing(sqlite3.connect(path)) as link:
        link.executescript(SCHEMA)
    return path.read_bytes()


@pytest.fixture
def folder(tmp_path: Path, template: bytes) -> Path:
    work = tmp_path / "work"
    work.mkdir()
    (work / "a.db").write_bytes(template)
    return work


@pytest.fixture
def sql(folder: Path) -> Iterator[WindowTester[SqliteWindow]]:
    with WindowTester(SqliteWindow, folder=folder, path="a.db") as tester:
        yield tester


def preview_of(sql: WindowTester[SqliteWindow], statement: str) -> Preview:
    preview = sql.preview("query", sql=statement)
    assert isinstance(preview, Preview)
    return preview


def everything(folder: Path) -> dict[str, str]:
    """All files around the workspace, and the current folder, by their hashes."""
    found = [path for path in folder.parent.rglob("*") if path.is_file()]
    hashes = {str(path): sha256(path.read_bytes()).hexdigest() for path in found}
    return hashes | dict.fromkeys(map(str, Path.cwd().glob("*.db")), "")


@pytest.mark.parametrize("statement", CHANGES)
def test_nothing_is_written_without_a_question(
    sql: WindowTester[SqliteWindow], folder: Path, statement: str
) -> None:
    before = everything(folder)
    result, asked = call(sql, "query", sql=statement)
    assert not result.ok
    assert everything(folder) == before
    (question,) = asked
    assert question.preview is not None
    assert statement in question.preview.text


@pytest.mark.parametrize("statement", CHANGES)
def test_what_the_person_allows_is_written(sql: WindowTester[SqliteWindow], statement: str) -> None:
    result, asked = call(sql, "query", "once", sql=statement)
    assert result.ok, result.text
    assert len(asked) == 1


@pytest.mark.parametrize("statement", REFUSED)
def test_what_could_leave_the_file_or_the_transaction_is_refused(
    sql: WindowTester[SqliteWindow], folder: Path, statement: str
) -> None:
    before = everything(folder)
    result, asked = call(sql, "query", "once", sql=statement)
    assert not result.ok
    assert asked == []
    assert everything(folder) == before
    with pytest.raises(AssertionError):  # also if the person calls it
        sql.act("query", sql=statement)
    assert everything(folder) == before


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM people",
        "-- DELETE\nSELECT 'DROP TABLE people'",
        "WITH a AS (SELECT 1) SELECT * FROM a",
        "VALUES (1), (2)",
        "SELECT * FROM names;",
        "SELECT * FROM notes WHERE notes MATCH 'hello'",
        "SELECT text FROM notes WHERE notes MATCH 'hello' ORDER BY rank",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n LIMIT 3",
        "SELECT count(*), max(name) FROM people GROUP BY id HAVING count(*) > 0",
    ],
)
def test_reads_ask_nothing(sql: WindowTester[SqliteWindow], folder: Path, statement: str) -> None:
    before = everything(folder)
    result, asked = call(sql, "query", sql=statement)
    assert result.ok, result.text
    assert asked == []
    assert everything(folder) == before


def test_a_read_could_not_write_even_if_the_decision_were_wrong(folder: Path) -> None:
    before = everything(folder)
    for statement in [*CHANGES, *REFUSED]:
        with suppress(sqlite3.Error, sqlite3.Warning):
            database.Database(folder / "a.db").read(statement)
    assert everything(folder) == before


@pytest.mark.parametrize("path", ["../secret.db", "/etc/passwd", "link.db", "none.db", "."])
def test_only_files_of_the_workspace_open(folder: Path, path: str) -> None:
    with closing(sqlite3.connect(folder.parent / "secret.db")) as link:
        link.execute("CREATE TABLE secret (a)")
    (folder / "link.db").symlink_to(folder.parent / "secret.db")
    with pytest.raises(Exception, match=r"workspace|no folder|not a|There is no|directory"):
        WindowTester(SqliteWindow, folder=folder, path=path)
    assert not (folder / "none.db").exists()


def test_a_file_that_becomes_a_link_out_of_the_workspace_is_not_followed(
    sql: WindowTester[SqliteWindow], folder: Path
) -> None:
    (folder / "a.db").rename(folder.parent / "b.db")
    (folder / "a.db").symlink_to(folder.parent / "b.db")
    assert "people" not in sql.refused("query", sql="SELECT * FROM people")


def test_a_name_cannot_change_how_the_file_is_opened(folder: Path) -> None:
    name = "a.db?mode=rwc&x=#y%41"
    (folder / "a.db").rename(folder / name)
    with WindowTester(SqliteWindow, folder=folder, path=name) as tester:
        assert tester.act("query", sql="SELECT 1") == "Page 1: 1 row."
    assert [path.name for path in folder.iterdir()] == [name]


def test_the_preview_shows_rows_of_all_tables_and_their_number(
    sql: WindowTester[SqliteWindow],
) -> None:
    preview = preview_of(sql, "UPDATE people SET name = 'Bea' WHERE id = 2")
    assert preview.target == "a.db"
    assert preview.text.endswith("2 rows would change.")
    assert preview.diff.splitlines()[3:] == [
        "-people: 2, 'Bo', b'\\x00\\xff'",
        "+people: 2, 'Bea', b'\\x00\\xff'",
        "+log: 'Bo was changed'",
    ]
    assert (preview.added, preview.removed) == (2, 1)


def test_one_of_two_equal_rows_is_shown_as_deleted(sql: WindowTester[SqliteWindow]) -> None:
    sql.act("query", sql="INSERT INTO log VALUES ('same'), ('same')")
    preview = preview_of(sql, "DELETE FROM log WHERE rowid = 1")
    assert preview.diff.splitlines()[3:] == ["-log: 'same'"]


def test_too_many_rows_are_counted_instead(
    sql: WindowTester[SqliteWindow], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "_COMPARED", 10)
    preview = preview_of(sql, "DELETE FROM people")
    assert preview.diff == ""
    assert preview.text.endswith("3 rows would change. They cannot be listed.")


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO log VALUES (random())",
        "INSERT INTO log VALUES (CURRENT_TIMESTAMP)",
        "INSERT INTO log VALUES (strftime('%f', 'now'))",
        "INSERT INTO timed(a) VALUES (1)",
        "DELETE FROM timed",
    ],
)
def test_what_differs_at_each_run_can_be_allowed(
    sql: WindowTester[SqliteWindow], statement: str
) -> None:
    sql.act("query", sql="CREATE TABLE timed (a, at DEFAULT (strftime('%f', 'now')))")
    sql.act("query", sql="INSERT INTO timed(a) VALUES (1)")
    sql.act("query", sql="CREATE TRIGGER late AFTER DELETE ON timed BEGIN"
                         " INSERT INTO log VALUES (randomblob(8)); END")  # fmt: skip
    result, asked = call(sql, "query", "once", sql=statement)
    assert result.ok, result.text
    assert len(asked) == 1


def test_values_are_not_confused(sql: WindowTester[SqliteWindow]) -> None:
    sql.act("query", sql="SELECT * FROM people UNION ALL SELECT '', 'a|b', x'616263'")
    assert sql.content().splitlines()[-5:] == [
        "id | name | photo  page=1",
        "1 | Ada | NULL",
        "2 | Bo | x'00ff' (2 bytes)",
        '3 | "NULL" | NULL',
        '"" | "a|b" | x\'616263\' (3 bytes)',
    ]


def test_wide_tables_long_texts_and_bytes_that_are_no_text(
    sql: WindowTester[SqliteWindow],
) -> None:
    columns = ", ".join(f"{n} AS c{n}" for n in range(100))
    sql.act("query", sql=f"SELECT printf('%.200c', 'x'), CAST(x'ff41' AS TEXT), {columns}")
    line = sql.content().splitlines()[-1]
    assert line.endswith("| 27 | … 72 more columns")
    assert len(line) < 400


def test_pages(sql: WindowTester[SqliteWindow]) -> None:
    count = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 120)"
    assert sql.refused("page", number=1).startswith("Pages begin at 1")
    assert sql.act("query", sql=f"{count} SELECT i FROM n") == "Page 1: 50 rows, more follow."
    assert "There are more pages." in sql.content()
    assert sql.act("page", number=3) == "Page 3: 20 rows."
    assert "101" in sql.content()
    assert "There are more pages." not in sql.content()
    assert sql.act("page", number=9) == "Page 9: 0 rows."
    assert sql.restored().content() == sql.content()


@pytest.mark.parametrize(
    "statement",
    [
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n",
        "DELETE FROM people WHERE (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
        " SELECT max(i) FROM n)",
    ],
)
def test_an_endless_statement_is_stopped(folder: Path, statement: str) -> None:
    started = time.monotonic()
    limited = database.Database(folder / "a.db", seconds=0.2)
    with pytest.raises(sqlite3.OperationalError, match="interrupted"):
        limited.read(statement) if statement[0] == "W" else limited.change(statement, commit=True)
    assert time.monotonic() - started < 3


def test_huge_values_are_refused(sql: WindowTester[SqliteWindow]) -> None:
    assert "too big" in sql.refused("query", sql="SELECT zeroblob(900000000)")


def test_a_busy_database_says_so(sql: WindowTester[SqliteWindow], folder: Path) -> None:
    with closing(sqlite3.connect(folder / "a.db", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        result, asked = call(sql, "query", "once", sql="DELETE FROM people")
        assert "locked" in result.text
        assert asked == []
    assert sql.act("query", sql="SELECT 1") == "Page 1: 1 row."


def test_a_file_that_is_no_database(folder: Path) -> None:
    (folder / "b.db").write_text("not a database, but long enough to look at" * 20, "utf-8")
    with pytest.raises(Exception, match="file is not a database"):
        WindowTester(SqliteWindow, folder=folder, path="b.db")


def test_what_it_shows_at_each_level(sql: WindowTester[SqliteWindow]) -> None:
    assert sql.content(Lod.GIST).startswith("a.db: ")
    assert "CREATE VIEW names" in sql.content(Lod.SUMMARY)
    assert '<action id="query" params="sql:string">Run one SQL statement</action>' in sql.xml()


def test_in_chinese(folder: Path) -> None:
    with WindowTester(SqliteWindow, folder=folder, path="a.db", lang="zh") as tester:
        assert tester.act("query", sql="SELECT 1") == "第 1 页：1 行。"
        assert "执行一条 SQL 语句" in tester.xml()
