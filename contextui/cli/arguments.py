"""What the command line asks for."""

import argparse
import difflib
from collections.abc import Sequence
from typing import Any, Literal

from contextui.cli.commands import COMMANDS
from contextui.cli.parsers import command_parser, main_parser
from contextui.cli.usage import UsageError
from contextui.config.settings import Settings
from contextui.text import one_line

OutputFormat = Literal["text", "json", "stream-json"]
_FORMAT = "--output-format"
_NEAR = 0.8  # how much a word must be like a command to be taken for one


class Arguments(argparse.Namespace):
    """What was asked for. The settings among it are in `flags`.

    Attributes:
        runs: What carries it out: a module of `contextui.cli` and a function in it.
        prompt: The prompt of one turn without a screen, or ``-`` for the standard input.
        words: The prompt for the app.
        resume: The session to go on with.
        newest: Go on with the newest session of this folder.
        fork: Go on in a copy.
        output_format: How the turn is told; as text if nothing is said.
        verbose: Tell of tool calls and notices too.
        json: List as JSON.
        everywhere: List the sessions of all folders.
        session: The session to look at, or to compact.
        dry_run: Show what a compaction would do, and do nothing.
        messages: Show the request.
        turn: Show it as it was after this turn.
        name: What the new window is called.
        yes: Trust without asking.
        revoke: Trust no longer.
        shell: The shell to complete in.
        host: Where the app is served.
        port: On which port; 0 for any that is free.
    """

    runs: str = "screen:open_screen"
    prompt: str | None = None
    words: list[str]
    resume: str | None = None
    newest: bool = False
    fork: bool = False
    output_format: OutputFormat | None = None
    verbose: bool = False
    json: bool = False
    everywhere: bool = False
    session: str | None = None
    dry_run: bool = False
    messages: bool = False
    turn: int | None = None
    name: str = ""
    yes: bool = False
    revoke: bool = False
    shell: str = ""
    host: str = "127.0.0.1"
    port: int = 0

    @property
    def flags(self) -> dict[str, Any]:
        """The settings that were given, by name."""
        given = {name: getattr(self, name, None) for name in Settings.model_fields}
        return {name: value for name, value in given.items() if value is not None}


def parse(words: Sequence[str]) -> Arguments:
    """What these words ask for.

    Raises:
        UsageError: They do not fit.
        SystemExit: They asked for help, which was given.
    """
    _check_command(words)
    command = COMMANDS.get(words[0]) if words else None
    if command is not None:
        arguments = command_parser(command).parse_args(words[1:], Arguments())
        arguments.runs = command.runs
        if command.name == "serve":
            _check_fork(arguments)
        return arguments
    arguments = main_parser().parse_args(words, Arguments())
    _check(arguments)
    _check_fork(arguments)
    if arguments.prompt is not None:
        arguments.runs = "headless:run"
    return arguments


def asks_for_json(words: Sequence[str]) -> Literal["json", "stream-json"] | None:
    """Whether a turn's result was asked for as JSON, even if the rest cannot be understood."""
    for word, following in zip(words, [*words[1:], ""], strict=False):
        form = following if word == _FORMAT else word.removeprefix(f"{_FORMAT}=")
        if form != word and form in ("json", "stream-json"):
            return "json" if form == "json" else "stream-json"
    return None


def _check_command(words: Sequence[str]) -> None:
    """A command with a letter too few is hardly meant as a prompt."""
    alone = len(words) == 1 or (len(words) > 1 and words[1].startswith("-"))
    if not alone or words[0] in COMMANDS or words[0].startswith("-"):
        return
    known = {**dict.fromkeys(COMMANDS), "help": "--help", "version": "--version"}
    near = difflib.get_close_matches(words[0].lower(), known, 1, _NEAR)
    if near:
        raise UsageError(
            "There is no command {word}. Is {near} meant? "
            "As a prompt for the app it is written: contextui -- {word}",
            word=one_line(words[0]),
            near=known[near[0]] or near[0],
        )


def _check(arguments: Arguments) -> None:
    if arguments.prompt is not None and arguments.words:
        raise UsageError("-p takes one prompt. Put it in quotes, or give it on stdin with -p -.")
    if len(arguments.words) == 1 and arguments.words[0] in COMMANDS:
        name = arguments.words[0]
        raise UsageError("Write the command first: contextui {name} …", name=name)
    if arguments.prompt is None and (arguments.output_format or arguments.verbose):
        flag = _FORMAT if arguments.output_format else "--verbose"
        raise UsageError("{flag} is for one turn without a screen: give it with -p.", flag=flag)


def _check_fork(arguments: Arguments) -> None:
    if arguments.fork and not (arguments.newest or arguments.resume):
        raise UsageError("--fork goes on in a copy: say of which session, with -c or -r.")
