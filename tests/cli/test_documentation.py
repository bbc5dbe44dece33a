"""The examples of docs/command-line.md run and print what the page shows."""

import re
import signal
from pathlib import Path

import pytest

from contextui.cli import flags
from contextui.cli.commands import COMMANDS
from tests.cli.calling import Program
from tests.cli.documentation import HELP, PAGE, examples, figures, run, settings_table, shape


def test_every_example_prints_what_the_page_says(tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    folder.mkdir()
    found = list(examples(PAGE.read_text("utf-8")))
    assert len(found) >= 10
    for example in found:
        printed = run(example.command, folder)
        assert shape(printed) == shape(example.output), f"$ {example.command}\n{printed}"
        # `python -m tests.cli.documentation` renews them.
        assert figures(printed) == pytest.approx(figures(example.output), rel=0.25), example.command


def test_the_help_is_the_programs_own(program: Program) -> None:
    (help_text,) = [one.output for one in examples(PAGE.read_text("utf-8")) if one.command == HELP]
    assert program("--help").out == help_text


def test_the_settings_are_the_programs_own() -> None:
    assert settings_table() in PAGE.read_text("utf-8")


def test_every_command_is_documented() -> None:
    text = PAGE.read_text("utf-8")
    for name in COMMANDS:
        assert f"contextui {name}" in text


def test_every_exit_status_is_documented() -> None:
    column = " ".join(re.findall(r"^\| ([\d, ]+) \|", PAGE.read_text("utf-8"), re.MULTILINE))
    documented = {int(number) for number in re.findall(r"\d+", column)}
    assert documented == {
        flags.DONE,
        flags.FAILED,
        flags.WRONG,
        flags.BROKEN_PIPE,
        *(
            flags.SIGNALLED + number
            for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGVTALRM)
        ),
    }


def test_shapes_differ_where_the_output_does() -> None:
    for other in ("", "x\n", '{"a": 1}', "[✓] [0001] User: x\n[X] [0002] User: y\n"):
        assert shape(other) != shape("[✓] [0007] User: anything\n[✓] [0002] Window: todo_1\n"), (
            other
        )
