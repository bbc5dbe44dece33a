"""What the command line takes, what it refuses, and how it says what there is."""

import pytest

from contextui.cli.arguments import asks_for_json, command_parser, main_parser, parse
from contextui.cli.commands import COMMANDS
from contextui.cli.flags import UsageError
from contextui.config.settings import Settings, choices, flag_of
from tests.cli.calling import Program

HELPS = [("--help",), *((name, "--help") for name in COMMANDS)]


@pytest.mark.parametrize("words", HELPS, ids=lambda words: words[0])
def test_help_fits_80_columns(program: Program, words: tuple[str, ...]) -> None:
    done = program(*words)
    assert done.status == 0
    assert done.err == ""
    assert done.out.startswith("usage: contextui")
    assert [line for line in done.out.splitlines() if len(line) > 80] == []


def test_help_names_every_command_and_every_setting(program: Program) -> None:
    told = program("--help").out
    for name, command in COMMANDS.items():
        assert f"  {name} " in told
        assert command.summary in told
    for name in Settings.model_fields:
        assert f"  {flag_of(name)} " in told
        for word in choices(name):
            assert word in told


def test_help_stays_whole_on_a_narrow_terminal(program: Program) -> None:
    program.set(COLUMNS="40")
    assert "--approval" in program("--help").out


def test_every_flag_says_what_it_is() -> None:
    for parser in (main_parser(), *map(command_parser, COMMANDS.values())):
        assert [action for action in parser._actions if not action.help] == []


def test_settings_are_flags() -> None:
    words = ["-p", "x", "--budget", "5", "--window", "a.py", "--window", "b.py", "--lang=zh"]
    assert parse(words).flags == {"budget": "5", "window": ["a.py", "b.py"], "lang": "zh"}


@pytest.mark.parametrize(
    ("words", "runs"),
    [
        ([], "screen:open_screen"),
        (["fix", "it"], "screen:open_screen"),
        (["--lang", "zh", "fix it"], "screen:open_screen"),
        (["-p", "fix it"], "headless:run"),
        (["-p", "debug"], "headless:run"),
        (["-p", "-"], "headless:run"),
        (["-p", "-5 degrees, is that cold?"], "headless:run"),
        (["debug"], "debug:run"),
        (["new-window", "x"], "new_window:run"),
        (["--", "debug it"], "screen:open_screen"),
        (["--", "sesions"], "screen:open_screen"),
        (["sesions", "of", "therapy"], "screen:open_screen"),
        (["hello"], "screen:open_screen"),
    ],
)
def test_the_first_word_decides(words: list[str], runs: str) -> None:
    assert parse(words).runs == runs


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--nonsense"], "--nonsense"),
        (["-p"], "-p"),
        (["-p", "fix", "it"], "quotes"),
        (["--lang", "zh", "sessions"], "contextui sessions"),
        (["--fork"], "-c or -r"),
        (["-p", "x", "-c", "-r", "abc"], "not allowed with"),
        (["-p", "x", "--output-format", "xml"], "stream-json"),
        (["--output-format", "json"], "-p"),
        (["--output-format", "text"], "--output-format is for one turn without a screen"),
        (["--verbose"], "--verbose is for one turn without a screen: give it with -p."),
        (["serve", "--fork"], "-c or -r"),
        (["compact", "--dry-run", "--fork"], "not allowed with"),
        (["trust", "--revoke", "--json"], "not allowed with"),
        (["debug", "--max-steps", "3"], "--max-steps"),
        (["debug", "--strategy", "sliding"], "--strategy"),
        (["compact", "--max-steps", "3"], "--max-steps"),
        (["debug", "--turn", "two"], "--turn"),
        (["new-window"], "NAME"),
        (["completion", "csh"], "csh"),
        (["sessions", "--mod", "x"], "--mod"),
        (["--budge", "5"], "--budge"),
        (["-p", "hi", "-p", "ho"], "-p is given twice"),
        (["-r", "a", "--resume", "b", "-p", "hi"], "--resume is given twice"),
        (["-r", "", "-p", "hi"], '""'),
        (["--promt", "x"], "Unrecognized arguments: --promt. Is --prompt meant?"),
        (["-p", "x", "--output=json"], "Is --output-format meant?"),
        (["debug", "--turns", "2"], "Is --turn meant? See contextui debug --help."),
        (["-p", "x", "--json"], "--json. See contextui --help."),
        (["sesions"], "Is sessions meant?"),
        (["newwindow"], "Is new-window meant?"),
        (["sesions", "--all"], "Is sessions meant?"),
        (["Debug"], "Is debug meant?"),
        (["help"], "Is --help meant?"),
        (["trust", "--yes", "--revoke"], "not allowed with"),
        (["-p", "hi", "--windows", ""], "--windows"),
        (["windows", "--windows", " "], "--windows"),
        (["windows", "--window", ""], "--window"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(
    program: Program, words: list[str], told: str
) -> None:
    done = program(*words)
    done.fails(2, told)
    if "--output-format" not in words:
        assert done.out == ""


def test_a_refusal_names_the_help_of_the_command() -> None:
    with pytest.raises(UsageError, match="See contextui debug --help"):
        parse(["debug", "--nonsense"])


@pytest.mark.parametrize(
    ("words", "form"),
    [
        (["--output-format", "json", "--nonsense"], "json"),
        (["--output-format=stream-json"], "stream-json"),
        (["--output-format"], None),
        (["-p", "x"], None),
        (["-p", "what does --output-format json do?"], None),
    ],
)
def test_json_is_asked_for_even_among_nonsense(words: list[str], form: str | None) -> None:
    assert asks_for_json(words) == form
