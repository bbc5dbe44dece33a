"""`new-window`: what it writes works as it is, for every name."""

import os
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from contextui import Window
from contextui.agent.approval import ApprovalGate
from contextui.testing import WindowTester, run_in_thread
from contextui.windowing.action import ActionResult
from contextui.windowing.finding.registry import discover
from contextui.windowing.template import NewWindowError, write_new_window
from tests import forkserver
from tests.agent.desk import Person

Acting = tuple[WindowTester[Window], Callable[..., ActionResult]]
"""A window, and a function that acts on it as the model does."""


def run_tests(folder: Path) -> str:
    """What pytest says of a folder, as its owner would run it."""
    done = forkserver.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "error"),
            *("-W", "ignore:Module already imported", "."),  # in the server of forked processes
            f"--basetemp={folder}-base",  # else it would clear away what other runs left
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    return str(done.stdout + done.stderr)


def test_the_window_and_its_test_work_as_they_are(tmp_path: Path) -> None:
    names = ["shopping-list", "code", "class", "test", "testing-x", "a--1_"]
    for name in names:
        write_new_window(name, tmp_path)
    assert f"{4 * len(names)} passed" in run_tests(tmp_path)
    registry = discover(folders=[tmp_path], packages=())
    assert {entry.name: entry.status for entry in registry.entries} == dict.fromkeys(names, "ready")


def test_a_name_that_is_none_says_what_one_is(tmp_path: Path) -> None:
    for name in ("", "Shop", "1st", "a b", "../x", "a/b", "a.py", "a\n", "é", "x" * 49, "\x1b[31m"):
        with pytest.raises(NewWindowError, match="such as shopping-list") as caught:
            write_new_window(name, tmp_path)
        assert str(caught.value).isprintable(), name
        assert os.listdir(tmp_path) == [], name


@pytest.mark.parametrize("there", ["notes_window.py", "test_notes_window.py"])
def test_nothing_is_overwritten_and_nothing_half_written(tmp_path: Path, there: str) -> None:
    (tmp_path / there).symlink_to("nowhere")
    with pytest.raises(NewWindowError, match=f"{there} exists already and was not overwritten"):
        write_new_window("notes", tmp_path)
    assert os.listdir(tmp_path) == [there]


def test_a_folder_that_is_none_is_reported(tmp_path: Path) -> None:
    with pytest.raises(NewWindowError, match="cannot be written: No such file or directory"):
        write_new_window("notes", tmp_path / "none")


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Callable[..., Acting]]:
    """Open the table window on a database of a given name, and act on it as the model."""
    path, _ = write_new_window("shop", tmp_path, "table")
    (cls,) = discover(files=[path], packages=()).classes()
    testers: list[WindowTester[Window]] = []

    def acting(name: str, gate: ApprovalGate) -> Acting:
        with closing(sqlite3.connect(tmp_path / name)) as database:
            database.execute("create table items (name text)")
            database.execute("insert into items values ('hush')")
            database.commit()
        tester = WindowTester(cls, folder=tmp_path, path=name)
        testers.append(tester)

        def act(action_id: str, **params: object) -> ActionResult:
            acted = tester.windows.act(tester.window.id, action_id, params, allow=gate.allow)
            return run_in_thread(acted)

        return tester, act

    yield acting
    for one in testers:
        one.close()


def test_the_table_window_passes_the_gate_for_secrets(table: Callable[..., Acting]) -> None:
    person = Person(otherwise=("no",))
    gate = ApprovalGate("ask", person)
    tester, act = table("secrets.db", gate)
    for _ in range(2):
        result = act("query", sql="select * from items")
        assert not result.ok
        assert "hush" not in result.text + tester.xml()
    tester.act("query", sql="select * from items")  # the person looks at it
    assert "hush" in tester.content()
    assert "hush" not in tester.xml()
    assert not act("page", number=1).ok
    assert [(one.verb, one.target) for one in person.questions] == [("read", "secrets.db")] * 3
    gate.ask = None
    assert "there is nobody to ask" in act("query", sql="select * from items").text
    gate.ask = Person(otherwise=("once",))
    assert act("query", sql="select name as word from items").ok
    assert "hush" in tester.xml()


@pytest.mark.parametrize("name", ["shop.db", ".hidden.db", "secrets.db"])
def test_the_table_window_asks_before_it_writes(table: Callable[..., Acting], name: str) -> None:
    person = Person(otherwise=("no",))
    gate = ApprovalGate("ask", person)
    tester, act = table(name, gate)
    for sql in ("delete from items", "with a as (select 1) delete from items", "/**/drop table x"):
        assert not act("query", sql=sql).ok
    assert [(one.verb, one.target) for one in person.questions] == [("write", name)] * 3
    assert [one.grant is None for one in person.questions] == [name.startswith(".")] * 3
    gate.mode = "read-only"
    assert "read-only" in act("query", sql="delete from items").text
    assert tester.act("query", sql="select count(*) from items") == "1 rows."
    assert "1" in tester.content()


def test_a_select_of_the_table_window_cannot_write(table: Callable[..., Acting]) -> None:
    person = Person()
    tester, act = table("shop.db", ApprovalGate("ask", person))
    for sql in ("select 1; delete from items", "select load_extension('x')"):
        assert not act("query", sql=sql).ok
    assert not person.questions
    tester.act("query", sql="select * from items")
    assert "hush" in tester.content()
