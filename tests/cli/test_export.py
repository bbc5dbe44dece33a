"""Write a session as Markdown, HTML or JSON."""

import json
from pathlib import Path

import pytest

from tests.cli.calling import Program


@pytest.fixture
def talked(program: Program) -> Program:
    done = program("-p", "Make a todo list with milk and eggs", "--model", "offline")
    assert done.status == 0
    return program


def test_the_newest_session_is_printed(talked: Program) -> None:
    done = talked("export")
    assert done.status == 0
    assert "Make a todo list with milk and eggs" in done.out
    data = json.loads(talked("export", "--format", "json").out)
    assert data["items"]
    page = talked("export", "--format", "html").out
    assert page.startswith("<!doctype html>")


def test_a_file_is_written_and_never_replaced(talked: Program, tmp_path: Path) -> None:
    file = tmp_path / "talk.html"
    done = talked("export", "--format", "html", "-o", str(file))
    assert (done.status, done.out) == (0, "")
    assert file.read_text().startswith("<!doctype html>")
    file.write_text("mine")
    talked("export", "--format", "html", "-o", str(file)).fails(2, "exists")
    assert file.read_text() == "mine"


def test_without_a_session_it_says_so(program: Program) -> None:
    program("export").fails(2, "no session")
