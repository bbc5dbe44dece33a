"""Command-line arguments: parsers, help formatter and validation."""

import argparse
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, NoReturn

import contextui
from contextui.cli.commands import COMMANDS, Command
from contextui.cli.console import say, wrapped
from contextui.cli.flags import Once, UsageError, add_help, add_run, add_settings, add_switch
from contextui.config.schema import SETTINGS
from contextui.text import one_line
from contextui.words import Message, msg, t

HELP_AT = 25  # the column of the help texts
_WIDTH = 80


class Help(argparse.RawDescriptionHelpFormatter):
    """Help in 80 columns: each flag once with its value, and its help text beside it."""

    def __init__(self, prog: str) -> None:
        columns = shutil.get_terminal_size((_WIDTH, 24)).columns
        super().__init__(prog, max_help_position=HELP_AT, width=min(_WIDTH, columns))

    def _format_action_invocation(self, action: argparse.Action) -> str:
        if not action.option_strings:
            return str(action.metavar or action.dest)
        takes = f" {action.metavar or action.dest.upper()}" if action.nargs != 0 else ""
        return ", ".join(action.option_strings) + takes

    def _split_lines(self, text: str, width: int) -> list[str]:
        return wrapped(text, width)

    def _get_help_string(self, action: argparse.Action) -> str:
        return t(action.help or "")

    def start_section(self, heading: str | None) -> None:
        """Start a section with a translated heading."""
        super().start_section(t(heading or ""))

    def add_usage(
        self,
        usage: str | None,
        actions: Iterable[argparse.Action],
        groups: Iterable[argparse._MutuallyExclusiveGroup],
        prefix: str | None = None,  # noqa: ARG002
    ) -> None:
        """Add the usage line with a translated prefix."""
        super().add_usage(usage, actions, groups, t("usage: "))


_NEAR_FLAG = 0.68  # similarity, up to 1, from which on a flag is suggested
_FORMATS = ("text", "json", "stream-json")


_ARGPARSE_ERRORS = {
    r"unrecognized arguments: (?P<words>.*)": msg("Unrecognized arguments: {words}."),
    r"the following arguments are required: (?P<names>.*)": msg("Missing arguments: {names}."),
    r"argument (?P<name>\S+): expected one argument": msg("{name} needs a value."),
    r"argument (?P<name>\S+): ignored explicit argument .*": msg("{name} takes no value."),
    r"argument (?P<name>\S+): invalid int value: (?P<value>.*)": msg(
        "{name} must be a whole number, not {value}."
    ),
    r"argument (?P<name>\S+): invalid choice: (?P<value>.*) \(choose from (?P<choices>.*)\)": msg(
        "{name} must be one of {choices}, not {value}."
    ),
    r"argument (?P<name>\S+): not allowed with argument (?P<other>\S+)": msg(
        "{name} cannot be used with {other}."
    ),
}
"""The errors that argparse formats itself, in English, and our messages for them."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        from difflib import get_close_matches  # noqa: PLC0415  (only for errors)

        error = Message("{error}.", {"error": _capital(message)})
        for pattern, known in _ARGPARSE_ERRORS.items():
            if match := re.fullmatch(pattern, message, re.DOTALL):
                error = Message(known, match.groupdict())
        _, _, unknown = message.partition("unrecognized arguments: --")
        flag = f"--{unknown.partition(' ')[0].partition('=')[0]}"
        if near := get_close_matches(flag, self._option_string_actions, 1, _NEAR_FLAG):
            raise UsageError(
                "{error} Did you mean {near}? See {program} --help.",
                error=error,
                near=near[0],
                program=self.prog,
            )
        raise UsageError("{error} See {program} --help.", error=error, program=self.prog)

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        # The value of --resume=-- is "--"; argparse treats it as the end of all flags and returns
        # an empty list instead of text.
        if action.option_strings and arg_strings == ["--"]:
            value = self._get_value(action, "--")
            self._check_value(action, value)
            return value
        return super()._get_values(action, arg_strings)

    def _print_message(self, message: str, file: object = None) -> None:  # noqa: ARG002
        say(message, end="")  # argparse would ignore write errors


def main_parser() -> argparse.ArgumentParser:
    """Build the parser for calls without a command."""
    heads = {f"{one.name} {one.takes}".rstrip(): one.summary for one in COMMANDS.values()}
    listed = (f"  {head:<{HELP_AT - 4}}  {t(what)}" for head, what in heads.items())
    parser = _parser(
        "contextui",
        f"contextui [PROMPT]      {t('open the app in this folder')}\n"
        f"       contextui -p PROMPT     {t('run one turn and print the answer')}\n"
        f"       contextui COMMAND       {t('run one of the commands below')}",
        t("A window system for LLM agents: you and the model share live windows."),
        "\n".join([t("commands (see contextui COMMAND --help):"), *listed, "", ""])
        + _examples(
            t('contextui -p "Make a to-do list with milk and eggs"'),
            t('contextui -c -p "Mark milk as done"'),
            'git diff | contextui -p "Review this" --output-format json',
        ),
    )
    ask = parser.add_argument_group("prompt and output")
    ask.add_argument("words", nargs="*", metavar="PROMPT", help="first prompt for the app")
    ask.add_argument(
        "-p",
        "--prompt",
        action=Once,
        metavar="PROMPT",
        help="run one turn and print the answer; stdin is added, - is only stdin",
    )
    ask.add_argument(
        "--output-format",
        choices=_FORMATS,
        metavar="|".join(_FORMATS),
        help="with -p: plain text, one JSON object, or one per event (default: text)",
    )
    add_switch(ask, "--verbose", about="with -p: print tool calls to stderr")
    add_run(parser)
    more = parser.add_argument_group("other")
    add_help(more)
    more.add_argument(
        "--version",
        action="version",
        version=f"contextui {contextui.__version__}",
        help="show the version",
    )
    return parser


def command_parser(command: Command) -> argparse.ArgumentParser:
    """Build the parser of a command."""
    usage = f"contextui {command.name} {command.takes}".rstrip()
    summary = t("{summary}.", summary=_capital(t(command.summary)))
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
    return "\n".join([t("examples:"), *(f"  {line}" for line in lines)])


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


OutputFormat = Literal["text", "json", "stream-json"]
_FORMAT = "--output-format"
_WORD = re.compile(r"[A-Za-z][\w.-]*", re.ASCII)  # other scripts write without spaces
_LIKELY = 0.5  # similarity from which on commands are named
_NEAR = 0.8  # similarity from which on a word is taken for a misspelt command


class Arguments(argparse.Namespace):
    """The parsed arguments. The settings among them are in `flags`.

    See `contextui.cli.commands` and `main_parser` for what each is.
    """

    runs: str = "screen"  # a module of `contextui.cli`
    prompt: str | None = None
    words: Sequence[str] = ()
    resume: str | None = None
    newest: bool = False
    fork: bool = False
    output_format: OutputFormat | None = None
    verbose: bool = False
    json: bool = False
    everywhere: bool = False
    form: Literal["md", "html", "json"] = "md"
    output: str | None = None
    everything: bool = False
    session: str | None = None
    dry_run: bool = False
    messages: bool = False
    turn: int | None = None
    strategy_file: str = ""  # given as --strategy FILE.py:Class
    follow: bool = False
    name: str = ""
    kind: str | None = None
    file: str = ""
    args: list[str]
    yes: bool = False
    revoke: bool = False
    verb: str = ""
    shell: str = ""
    host: str = "127.0.0.1"
    port: int = 0

    @property
    def flags(self) -> dict[str, Any]:
        """The settings that were given, by name."""
        given = {name: getattr(self, name, None) for name in SETTINGS}
        return {name: value for name, value in given.items() if value is not None}


def parse(words: Sequence[str]) -> Arguments:
    """Parse and validate the arguments."""
    _check_command(words)
    command = COMMANDS.get(words[0]) if words else None
    parser = command_parser(command) if command else main_parser()
    arguments = parser.parse_args(words[1:] if command else words, Arguments())
    # FILE.py:Class stays apart from the settings: no file or variable may name code to run.
    given = getattr(arguments, "strategy", None)
    if given and (".py:" in given or given.endswith(".py")):
        arguments.strategy_file, arguments.strategy = given, None
    if command is not None:
        arguments.runs = command.name.replace("-", "_")
    elif arguments.prompt is not None:
        arguments.runs = "headless"
    _check(arguments)
    return arguments


def asks_for_json(words: Sequence[str]) -> Literal["json", "stream-json"] | None:
    """Detect JSON output, even if the other arguments are invalid."""
    for form in given_values(words, _FORMAT):
        if form in ("json", "stream-json"):
            return "json" if form == "json" else "stream-json"
    return None


def given_values(words: Sequence[str], flag: str) -> Iterator[str]:
    """Yield the values of a flag among arguments that may be invalid."""
    for word, following in zip(words, [*words[1:], ""], strict=False):
        if word == flag or word.startswith(f"{flag}="):
            yield following if word == flag else word.removeprefix(f"{flag}=")


def _check_command(words: Sequence[str]) -> None:
    """Reject an unknown command given as a single word; a prompt has a space, or comes with -p."""
    alone = len(words) == 1 or (len(words) > 1 and words[1].startswith("-"))
    if not alone or words[0] in COMMANDS or words[0].startswith("-"):
        return
    known = {**dict.fromkeys(COMMANDS), "help": "--help", "version": "--version"}
    from difflib import get_close_matches  # noqa: PLC0415  (only for odd words)

    word = words[0]
    near = get_close_matches(word.lower(), known, 1, _NEAR)
    if not near and _WORD.fullmatch(word):
        likely = get_close_matches(word.lower(), COMMANDS, 3, _LIKELY) or [*COMMANDS]
        raise UsageError(
            "There is no command {word}. Commands: {names}. "
            "To use it as a prompt: contextui -p {word}",
            word=one_line(word),
            names=", ".join(likely),
        )
    if near:
        raise UsageError(
            "There is no command {word}. Did you mean {near}? "
            "To use it as a prompt: contextui -- {word}",
            word=one_line(word),
            near=known[near[0]] or near[0],
        )


def _check(arguments: Arguments) -> None:
    if arguments.prompt is not None and arguments.words:
        raise UsageError("-p takes one prompt. Put it in quotes, or give it on stdin with -p -.")
    if len(arguments.words) == 1 and arguments.words[0] in COMMANDS:
        name = arguments.words[0]
        raise UsageError("The command comes first: contextui {name} …", name=name)
    if arguments.prompt is None and (arguments.output_format or arguments.verbose):
        flag = _FORMAT if arguments.output_format else "--verbose"
        raise UsageError("{flag} needs -p.", flag=flag)
    other = "--turn" if arguments.turn is not None else "--messages" if arguments.messages else ""
    if arguments.follow and other:
        raise UsageError("{name} cannot be used with {other}.", name="--follow", other=other)
    is_named = arguments.newest or arguments.resume or arguments.runs == "compact"
    if arguments.fork and not is_named:
        raise UsageError("--fork needs a session to copy: add -c or -r.")
