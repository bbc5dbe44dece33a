"""Odd values of flags: each is used as it is or refused in one line, and none is a crash."""

import argparse
from collections.abc import Iterator
from itertools import product

import pytest

from contextui.cli.arguments import command_parser, main_parser, parse
from contextui.cli.commands import COMMANDS
from contextui.cli.flags import UsageError
from contextui.errors import ContextUIError
from tests.cli.calling import Program

FEW = ("--", "", "\udcff")
ODD = (*FEW, "-", "-x", "=", "a" * 5_000, "9" * 5_000, "[]", "%s", "{x}", "٣")
RUNS = {
    "": ["-p", "hello"],
    "serve": ["--port", "99999"],  # is refused before anything is served
    "compact": ["--dry-run"],
    "new-window": ["../none"],
    "trust": [],
    "completion": ["bash"],
}


def _flags(parser: argparse.ArgumentParser) -> Iterator[str]:
    for action in parser._actions:
        if action.option_strings and action.nargs != 0:
            yield action.option_strings[-1]


CASES = [
    *(("", flag) for flag in _flags(main_parser())),
    *((name, flag) for name, one in COMMANDS.items() for flag in _flags(command_parser(one))),
]


ONCE = list({flag: (command, flag) for command, flag in reversed(CASES)}.values())
"""Each flag with the first command that has it."""


def test_two_dashes_are_a_value_like_any_other() -> None:
    """A flag for text takes any text; other flags refuse it."""
    for command, flag in CASES:
        words = [command] if command else []
        needed = {"new-window": ["name"], "completion": ["bash"]}.get(command, [])
        try:
            arguments = parse([*words, *needed, f"{flag}=--"])
        except UsageError:
            continue
        values = [value for value in vars(arguments).values() if value not in ((), [])]
        assert "--" in values or ["--"] in values, (command, flag)


@pytest.mark.parametrize("words", [["-p", "x"], ["serve"], ["-c"]], ids=lambda one: one[0])
def test_resuming_two_dashes_is_a_usage_error(program: Program, words: list[str]) -> None:
    program(*words, "--resume=--").fails(2)
    assert program.files() == []


@pytest.mark.parametrize(
    ("cases", "values"), [(ONCE, FEW), pytest.param(CASES, ODD, marks=pytest.mark.long)], ids=len
)
def test_no_value_of_a_flag_is_a_crash(
    program: Program, cases: list[tuple[str, str]], values: tuple[str, ...]
) -> None:
    program.set(CONTEXTUI_MODEL="offline")
    for (command, flag), odd in product(cases, values):
        given = [word for word in RUNS.get(command, []) if flag != "--prompt"]
        words = [*([command] if command else []), *given, f"{flag}={odd}"]
        if flag == "--prompt":
            words = [f"--prompt={odd}"]
        elif command == "serve" and flag == "--port":
            words = ["serve", "--host", "no such host", f"--port={odd}"]
        done = program(*words)
        assert done.status in (0, 1, 2), (words, done)
        assert "Unexpected error" not in done.err, (words, done)


def test_no_host_is_a_crash() -> None:
    from contextui.cli.serve.access import Address

    for odd in (*ODD, "[::1]", "fe80::1%none", "1.2.3.4.5", "a..b", ".", "*"):
        try:
            assert Address.of(odd, 0).shown
        except ContextUIError:
            continue
