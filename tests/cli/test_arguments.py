"""Command-line arguments: valid and invalid ones, and the help."""

import pytest

from contextui.cli.arguments import (
    _ARGPARSE_ERRORS,
    asks_for_json,
    command_parser,
    main_parser,
    parse,
)
from contextui.cli.commands import COMMANDS
from contextui.cli.flags import UsageError
from contextui.config.schema import SETTINGS, flag_of
from tests.cli.calling import Program

HELPS = [("--help",), *((name, "--help") for name in COMMANDS)]


def test_help_fits_80_columns(program: Program) -> None:
    for words in HELPS:
        done = program(*words)
        assert done.status == 0, words
        assert done.err == "", words
        assert done.out.startswith("usage: contextui"), words
        assert [line for line in done.out.splitlines() if len(line) > 80] == [], words
    wide = program("--help").out
    program.set(COLUMNS="40")
    assert wide != (narrow := program("--help").out)
    assert narrow.split() == wide.split()


def test_help_names_every_command_and_every_setting(program: Program) -> None:
    text = program("--help").out
    for name, command in COMMANDS.items():
        assert f"  {name} " in text
        assert command.summary in text
    for name in SETTINGS:
        assert f"  {flag_of(name)} " in text
        for word in SETTINGS[name].choices:
            assert word in text


def test_every_flag_has_a_help_text() -> None:
    for parser in (main_parser(), *map(command_parser, COMMANDS.values())):
        assert [action for action in parser._actions if not action.help] == []


def test_settings_are_flags() -> None:
    words = ["-p", "x", "--budget", "5", "--window", "a.py", "--window", "b.py", "--lang=zh"]
    assert parse(words).flags == {"budget": "5", "window": ["a.py", "b.py"], "lang": "zh"}


def test_the_first_word_decides() -> None:
    for words, runs in (
        ([], "screen"),
        (["fix", "it"], "screen"),
        (["--lang", "zh", "fix it"], "screen"),
        (["-p", "fix it"], "headless"),
        (["-p", "debug"], "headless"),
        (["-p", "-"], "headless"),
        (["-p", "-5 degrees, is that cold?"], "headless"),
        (["debug"], "debug"),
        (["new-window", "x"], "new_window"),
        (["--", "debug it"], "screen"),
        (["--", "sesions"], "screen"),
        (["sesions", "of", "therapy"], "screen"),
        (["hello there"], "screen"),
        (["写一个待办列表"], "screen"),  # other scripts write without spaces
        (["?"], "screen"),
    ):
        assert parse(words).runs == runs, words


def test_invalid_arguments_are_an_error_in_one_line(program: Program) -> None:
    for words, message in (
        (["--nonsense"], "--nonsense"),
        (["-p"], "-p"),
        (["-p", "fix", "it"], "quotes"),
        (["--lang", "zh", "sessions"], "contextui sessions"),
        (["--fork"], "-c or -r"),
        (["-p", "x", "-c", "-r", "abc"], " cannot be used with -"),
        (["-p", "x", "--output-format", "xml"], "stream-json"),
        (["--output-format", "json"], "-p"),
        (["--output-format", "text"], "--output-format needs -p."),
        (["--verbose"], "--verbose needs -p."),
        (["serve", "--fork"], "-c or -r"),
        (["compact", "--dry-run", "--fork"], " cannot be used with -"),
        (["trust", "--revoke", "--json"], " cannot be used with -"),
        (["debug", "--max-steps", "3"], "--max-steps"),
        (["debug", "--strategy", "sliding"], "--strategy"),
        (["compact", "--max-steps", "3"], "--max-steps"),
        (["debug", "--turn", "two"], "--turn"),
        (["debug", "-f", "--turn", "1"], "--follow cannot be used with --turn"),
        (["debug", "-f", "--messages"], "--follow cannot be used with --messages"),
        (["new-window"], "NAME"),
        (["completion", "csh"], "csh"),
        (["sessions", "--mod", "x"], "--mod"),
        (["--budge", "5"], "--budge"),
        (["-p", "hi", "-p", "ho"], "-p is given twice"),
        (["-r", "a", "--resume", "b", "-p", "hi"], "--resume is given twice"),
        (["-r", "", "-p", "hi"], '""'),
        (["--promt", "x"], "Unrecognized arguments: --promt. Did you mean --prompt?"),
        (["-p", "x", "--output=json"], "Did you mean --output-format?"),
        (["debug", "--turns", "2"], "Did you mean --turn? See contextui debug --help."),
        (["-p", "x", "--json"], "--json. See contextui --help."),
        (["sesions"], "Did you mean sessions?"),
        (["newwindow"], "Did you mean new-window?"),
        (["sesions", "--all"], "Did you mean sessions?"),
        (["Debug"], "Did you mean debug?"),
        (["help"], "Did you mean --help?"),
        (["trust", "--yes", "--revoke"], " cannot be used with -"),
        (["-p", "hi", "--windows", ""], "--windows"),
        (["windows", "--windows", " "], "--windows"),
        (["windows", "--window", ""], "--window"),
    ):
        done = program(*words)
        done.fails(2, message)
        if "--output-format" not in words:
            assert done.out == "", words


ARGPARSE_ERRORS = {
    ("debug", "--nonsense"): (
        "Unrecognized arguments: --nonsense.",
        "无法识别的参数：--nonsense。",
    ),
    ("new-window",): ("Missing arguments: NAME.", "缺少参数：NAME。"),
    ("debug", "--turn"): ("--turn needs a value.", "--turn 需要一个值。"),
    ("debug", "--json=x"): ("--json takes no value.", "--json 不接受值。"),
    ("debug", "--turn", "two"): (
        "--turn must be a whole number, not 'two'.",
        "--turn 应为整数，而 'two' 不是整数。",
    ),
    ("completion", "csh"): (" must be one of ", " 之一，而不是 'csh'。"),
    ("trust", "--yes", "--json"): (
        "--json cannot be used with --yes.",
        "--json 不能与 --yes 同用。",
    ),
}


def test_errors_of_argparse_have_a_message_in_each_language() -> None:
    assert len(_ARGPARSE_ERRORS) == len(ARGPARSE_ERRORS)
    for words, (english, chinese) in ARGPARSE_ERRORS.items():
        with pytest.raises(UsageError) as refused:
            parse(words)
        assert english in str(refused.value), words
        assert chinese in refused.value.text("zh"), words


def test_json_is_asked_for_even_among_nonsense() -> None:
    for words, form in (
        (["--output-format", "json", "--nonsense"], "json"),
        (["--output-format=stream-json"], "stream-json"),
        (["--output-format"], None),
        (["-p", "x"], None),
        (["-p", "what does --output-format json do?"], None),
    ):
        assert asks_for_json(words) == form, words


def test_an_unknown_word_is_an_error_with_suggestions(program: Program) -> None:
    for word in ("frobnicate", "hello", "exprot"):
        done = program(word)
        done.fails(2, f"There is no command {word}", "prompt")
        assert program.files() == [], word  # no session that -c would resume
