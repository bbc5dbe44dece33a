"""The demo: a conversation that works, in 80 columns."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from contextui.cli import demo


def test_the_conversation_does_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    demo.main()
    captured = capsys.readouterr()
    lines = captured.out.splitlines()
    assert captured.err == ""
    assert [line for line in lines if len(line) > 80] == []
    for words in demo.TURNS:
        assert f"you    {words}" in lines
    assert '       ✓ create todo {"items": ["milk", "eggs", "bread"]}' in lines
    assert "         milk  id=1 done=true" in lines
    assert any(line.startswith("       ✓ notebook_1.") for line in lines)
    assert "items  [X] [0004] Window: todo_1" in lines
    assert "✗" not in captured.out


def test_a_reader_that_closes_the_pipe_leaves_no_traceback() -> None:
    """R15: as `make demo | head -1` does."""
    shown = subprocess.run(
        f"{sys.executable} -u -m contextui.cli.demo | head -1",
        shell=True,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        cwd=Path(__file__).parents[2],
    )
    assert len(shown.stdout.splitlines()) == 1
    assert shown.stderr == ""


def test_benchmarks_end_without_a_traceback_when_nobody_reads() -> None:
    """R15: as `make bench | head -1` does; all of them import the package that sees to it."""
    reader, writer = os.pipe()
    os.close(reader)
    shown = subprocess.run(
        [sys.executable, "-u", "-m", "benchmarks.tokens"],
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        timeout=120,
        cwd=Path(__file__).parents[2],
    )
    os.close(writer)
    assert (shown.returncode, shown.stderr) == (-signal.SIGPIPE, "")
