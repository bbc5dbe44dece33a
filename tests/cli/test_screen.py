"""The way to the screen, where there is none."""

import io
import sys

import pytest

from contextui.cli import screen
from contextui.cli.arguments import parse
from contextui.cli.parsers import UsageError
from tests.cli.calling import Program


@pytest.mark.parametrize("words", [(), ("fix", "it"), ("-c",)])
def test_without_a_terminal_it_names_the_way_without_one(
    program: Program, words: tuple[str, ...]
) -> None:
    done = program(*words)
    done.fails(2, "terminal", "-p")
    assert (done.out, program.files()) == ("", [])


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_without_a_screen_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(screen, "find_spec", lambda name: None)
    monkeypatch.setattr(sys, "stdin", Terminal())
    monkeypatch.setattr(sys, "stdout", Terminal())
    with pytest.raises(UsageError, match=r"not there yet; contextui -p"):
        screen.open_screen(parse([]))
