"""docs/command-line.md is true: its commands run and print what it says."""

import re
from pathlib import Path

import pytest

from contextui.cli import flags
from contextui.cli.commands import COMMANDS
from tests.cli.calling import Program
from tests.cli.documentation import PAGE, examples, figures, run, settings_table, shape


def test_every_example_prints_what_the_page_says(tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    folder.mkdir()
    told = list(examples(PAGE.read_text("utf-8")))
    assert len(told) >= 10
    for example in told:
        printed = run(example.command, folder)
        assert shape(printed) == shape(example.output), f"$ {example.command}\n{printed}"
        # `python -m tests.cli.documentation` renews them.
        assert figures(printed) == pytest.approx(figures(example.output), rel=0.25), example.command


def test_the_help_is_the_programs_own(program: Program) -> None:
    (help_text,) = [
        one.output for one in examples(PAGE.read_text("utf-8")) if one.command == "contextui --help"
    ]
    assert program("--help").out == help_text


def test_the_settings_are_the_programs_own() -> None:
    assert settings_table() in PAGE.read_text("utf-8")


def test_every_command_is_told_of() -> None:
    text = PAGE.read_text("utf-8")
    for name in COMMANDS:
        assert f"contextui {name}" in text


def test_every_exit_status_is_told_of() -> None:
    column = " ".join(re.findall(r"^\| ([\d, ]+) \|", PAGE.read_text("utf-8"), re.MULTILINE))
    told = {int(number) for number in re.findall(r"\d+", column)}
    assert told == {
        flags.DONE,
        flags.FAILED,
        flags.WRONG,
        flags.BROKEN_PIPE,
        *(flags.SIGNALLED + number for number in (1, 2, 9, 15)),
    }


@pytest.mark.parametrize(
    "other", ["", "x\n", '{"a": 1}', "[✓] [0001] User: x\n[X] [0002] User: y\n"]
)
def test_shapes_differ_where_the_output_does(other: str) -> None:
    assert shape(other) != shape("[✓] [0007] User: anything\n[✓] [0002] Window: todo_1\n")
