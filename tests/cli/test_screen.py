"""Open the app on a terminal."""

from typing import Any

import pytest

from contextui import SessionStore
from contextui.cli.arguments import parse
from contextui.cli.setup import open_app_session
from contextui.context.strategies.strategy import StrategyError
from tests.cli.calling import Program
from tests.tui.terminal import Terminal

CTRL_Q = "\x11"


@pytest.mark.parametrize("words", [(), ("fix", "it"), ("-c",)])
def test_without_a_terminal_it_suggests_a_headless_turn(
    program: Program, words: tuple[str, ...]
) -> None:
    done = program(*words)
    done.fails(2, "terminal", "-p")
    assert (done.out, program.files()) == ("", [])


def test_a_dumb_terminal_is_refused_too(program: Program) -> None:
    with terminal(program, TERM="dumb") as screen:
        assert screen.end() == 2
    assert screen.written.startswith(b"contextui: This terminal cannot show the app")
    assert b"\x1b" not in screen.written


def terminal(program: Program, *words: str, **variables: str) -> Terminal:
    size = (120, 40)
    variables["CONTEXTUI_HOME"] = str(program.home)
    return Terminal(words, program.folder, size, **variables)


def test_an_app_in_which_nothing_was_done_leaves_nothing(program: Program) -> None:
    program.write("AGENTS.md", "Speak plainly.")  # stands in the context from the start
    with terminal(program) as screen:
        screen.wait_for(lambda: screen.shows("No model is connected"))  # the session is open
        assert program.files() == []  # so a process that is killed leaves nothing either
        screen.type(CTRL_Q)
        assert screen.end() == 0
    assert program.files() == []
    assert list(program.home.rglob("*.lock")) == []


def test_errors_are_reported_on_the_normal_screen(program: Program) -> None:
    for words in (["--budget", "x"], ["-c"], ["-r", "nonsense"]):
        with terminal(program, *words) as screen:
            assert screen.end() == 2
        assert screen.written.startswith(b"contextui: ")
        assert screen.written.count(b"\n") == 1


def test_a_session_that_is_open_elsewhere_is_resumed_in_a_copy(program: Program) -> None:
    program("-p", "Hello")
    (info,) = program.sessions()
    with SessionStore(program.home).open(info.id):
        desk = open_app_session(parse(["-c"]))
        assert desk.session.id != info.id
        assert "copy" in " ".join(map(str, desk.notices))
        desk.close()


def test_another_strategy_can_be_chosen(program: Program) -> None:
    words = '[strategy]\ntype = "summarization"\nconfig = { threshold = 20 }\n'
    program.write(".contextui/config.toml", words)
    desk = open_app_session(parse([]))
    chosen: Any = desk.controller.strategist
    assert (chosen.strategy.name, chosen.strategy.threshold) == ("summarization", 20)
    assert desk.switch_strategy is not None
    desk.switch_strategy("sliding")
    assert chosen.strategy.name == "sliding"
    desk.switch_strategy("entities")
    assert desk.controller.strategist.strategy.name == "entities"
    with pytest.raises(StrategyError, match="There is no strategy"):
        desk.switch_strategy("magic")
    desk.switch_strategy("summarization")
    assert chosen.strategy.threshold == 20
    desk.close()
