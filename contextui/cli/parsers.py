"""The parsers: what the program takes without a command, and what each command takes."""

import argparse
import difflib
from typing import Any, NoReturn

import contextui
from contextui.cli.commands import COMMANDS, Command
from contextui.cli.flags import (
    MODEL_FLAGS,
    WINDOW_FLAGS,
    Once,
    add_going_on,
    add_help,
    add_settings,
)
from contextui.cli.helping import HELP_AT, Help
from contextui.cli.speaking import say
from contextui.cli.usage import UsageError
from contextui.cli.words import in_ours, words

_NEAR = 0.68  # of 1: how like a flag a word must be to be taken for it
_FORMATS = ("text", "json", "stream-json")


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        said = in_ours(f"{message[:1].upper()}{message[1:]}.")
        if near := self._nearest(message):
            raise UsageError(
                "{said} Is {near} meant? See {program} --help.",
                said=said,
                near=near[0],
                program=self.prog,
            )
        raise UsageError("{said} See {program} --help.", said=said, program=self.prog)

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        # The value of --resume=-- is "--"; argparse takes that for the end of all flags, and gives
        # an empty list where everyone expects text.
        if action.option_strings and arg_strings == ["--"]:
            value = self._get_value(action, "--")
            self._check_value(action, value)
            return value
        return super()._get_values(action, arg_strings)

    def _nearest(self, message: str) -> list[str]:
        """The flag that may be meant by the first one that there is not."""
        _, _, unknown = message.partition("unrecognized arguments: --")
        flag = unknown.partition(" ")[0].partition("=")[0]
        return difflib.get_close_matches(f"--{flag}", self._option_string_actions, 1, _NEAR)

    def _print_message(self, message: str, file: object = None) -> None:  # noqa: ARG002
        say(message, end="")  # argparse would pass over what cannot be written


def main_parser() -> argparse.ArgumentParser:
    """What there is when no command comes first."""
    parser = _parser(
        "contextui",
        f"contextui [PROMPT]      {words('the app, in this folder')}\n"
        f"       contextui -p PROMPT     {words('one turn, no screen')}\n"
        f"       contextui COMMAND       {words('one of those below')}",
        words("A window system for LLM agents: you and the model share live windows."),
        f"{words('commands (contextui COMMAND --help tells more):')}\n{_command_list()}\n\n"
        + _examples(
            words('contextui -p "Make a to-do list with milk and eggs"'),
            words('contextui -c -p "Mark milk as done"'),
            "git diff | contextui -p - --output-format json",
        ),
    )
    ask = parser.add_argument_group("asking")
    ask.add_argument("words", nargs="*", metavar="PROMPT", help="what the app is told first")
    ask.add_argument(
        "-p",
        "--prompt",
        action=Once,
        metavar="PROMPT",
        help="take one turn without a screen; - reads stdin",
    )
    ask.add_argument(
        "--output-format",
        choices=_FORMATS,
        metavar="|".join(_FORMATS),
        help="with -p: the answer's words, one object, or one object for each event",
    )
    ask.add_argument("--verbose", action="store_true", help="with -p: tell of tool calls on stderr")
    add_going_on(parser.add_argument_group("going on"))
    add_settings(parser.add_argument_group("the model"), MODEL_FLAGS)
    add_settings(parser.add_argument_group("windows and context"), WINDOW_FLAGS)
    more = parser.add_argument_group("more")
    add_help(more)
    more.add_argument(
        "--version",
        action="version",
        version=f"contextui {contextui.__version__}",
        help="say which version this is",
    )
    return parser


def command_parser(command: Command) -> argparse.ArgumentParser:
    """What a command takes."""
    usage = f"contextui {command.name} {command.takes}".rstrip()
    summary = words("{summary}.", summary=_capital(words(command.summary)))
    examples = _examples(*command.examples) if command.examples else ""
    parser = _parser(f"contextui {command.name}", f"{usage} [options]", summary, examples)
    command.add(parser)
    if not any("--lang" in action.option_strings for action in parser._actions):
        add_settings(parser, ("lang",))
    add_help(parser)
    return parser


def _parser(prog: str, usage: str, description: str, epilog: str) -> argparse.ArgumentParser:
    return _Parser(
        prog=prog,
        usage=usage,
        description=description,
        epilog=epilog,
        formatter_class=Help,
        allow_abbrev=False,
        add_help=False,
    )


def _examples(*lines: str) -> str:
    return "\n".join([words("examples:"), *(f"  {line}" for line in lines)])


def _command_list() -> str:
    heads = {f"{one.name} {one.takes}".rstrip(): one.summary for one in COMMANDS.values()}
    return "\n".join(f"  {head:<{HELP_AT - 4}}  {words(what)}" for head, what in heads.items())


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
