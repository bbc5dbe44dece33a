"""What the command line takes. Each setting is a flag; the settings themselves say what it is."""

import argparse
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NoReturn

import contextui
from contextui.cli.helping import HELP_AT, Help
from contextui.cli.words import in_ours, words
from contextui.config.settings import Settings, choices, flag_of
from contextui.errors import ContextUIError

_FORMATS = ("text", "json", "stream-json")
_SHELLS = ("bash", "zsh", "fish")
_MODEL_FLAGS = (
    "model", "base_url", "provider", "budget", "max_tokens", "max_steps", "tool_protocol"
)  # fmt: skip
_WINDOW_FLAGS = ("window", "windows", "approval", "placement", "strategy", "lang")
_METAVARS = {
    "model": "NAME", "base_url": "URL", "budget": "TOKENS", "max_tokens": "TOKENS",
    "max_steps": "N", "window": "FILE", "windows": "DIR", "strategy": "NAME",
}  # fmt: skip


class UsageError(ContextUIError):
    """Arguments that do not fit; the text says which, in the language of the person.

    Args:
        english: The words, with names in braces for values.
        values: What stands for these names.
    """

    def __init__(self, english: str, **values: object) -> None:
        super().__init__(words(english, **values))


@dataclass(frozen=True, slots=True)
class Command:
    """A command: the word for it, what it takes, what it does, and what carries it out."""

    name: str
    takes: str
    summary: str
    runs: str
    add: Callable[[argparse.ArgumentParser], None]
    examples: tuple[str, ...] = ()


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        said = in_ours(f"{message[:1].upper()}{message[1:]}.")
        raise UsageError("{said} See {program} --help.", said=said, program=self.prog)


class _Once(argparse.Action):
    """What cannot be meant twice. Of a setting, the last one counts."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,  # noqa: ARG002
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        if getattr(namespace, self.dest, None) is not None:
            raise UsageError("{flag} is given twice.", flag=option_string)
        setattr(namespace, self.dest, values)


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
        action=_Once,
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
    _add_going_on(parser.add_argument_group("going on"))
    _add_settings(parser.add_argument_group("the model"), _MODEL_FLAGS)
    _add_settings(parser.add_argument_group("windows and context"), _WINDOW_FLAGS)
    more = parser.add_argument_group("more")
    _add_help(more)
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
        _add_settings(parser, ("lang",))
    _add_help(parser)
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
    heads = {name: f"{name} {command.takes}".rstrip() for name, command in COMMANDS.items()}
    return "\n".join(f"  {heads[one.name]:<{HELP_AT - 4}}  {words(one.summary)}" for one in _ALL)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _add_help(parser: argparse._ActionsContainer) -> None:
    parser.add_argument("-h", "--help", action="help", help="say what there is")


def _add_going_on(going_on: argparse._ArgumentGroup) -> None:
    which = going_on.add_mutually_exclusive_group()
    which.add_argument(
        "-c",
        "--continue",
        dest="newest",
        action="store_true",
        help="go on with the newest session of this folder",
    )
    which.add_argument(
        "-r",
        "--resume",
        action=_Once,
        metavar="ID",
        help="go on with this session; its first letters will do",
    )
    going_on.add_argument(
        "--fork", action="store_true", help="with -c or -r: go on in a copy of the session"
    )


def _add_json(parser: argparse.ArgumentParser, what: str = "list them as JSON") -> None:
    parser.add_argument("--json", action="store_true", help=what)


def _add_settings(parser: argparse._ActionsContainer, names: Iterable[str]) -> None:
    for name in names:
        field = Settings.model_fields[name]
        about = words(str(field.description)).replace("%", "%%")
        if field.default and name != "lang":
            about += words(" ({default})", default=field.default)
        several = name in ("window", "windows")
        parser.add_argument(
            flag_of(name),
            dest=name,
            action="append" if several else "store",
            metavar=_METAVARS.get(name) or "|".join(choices(name)),
            help=about + (words("; may be repeated") if several else ""),
        )


# --- commands ------------------------------------------------------------------------------


def _add_debug(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "session", nargs="?", metavar="SESSION", help="by default the newest of this folder"
    )
    parser.add_argument(
        "--messages", action="store_true", help="show the exact request that would be sent next"
    )
    parser.add_argument(
        "--turn", type=int, metavar="N", help="show it as it was when turn N had ended"
    )
    _add_json(parser, "show items, windows and figures as JSON")
    _add_settings(parser, _WINDOW_FLAGS[:2] + _MODEL_FLAGS + _WINDOW_FLAGS[3:])


def _add_compact(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "session", nargs="?", metavar="SESSION", help="by default the newest of this folder"
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="show what would go and what would stay"
    )
    parser.add_argument(
        "--fork", action="store_true", help="do it in a copy of the session, and leave it as it is"
    )
    _add_json(parser, "tell what came of it, or would go, as JSON")
    _add_settings(parser, (*_MODEL_FLAGS, "window", "windows", "placement", "lang"))


def _add_sessions(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--all", dest="everywhere", action="store_true", help="those of all folders"
    )
    _add_json(parser)


def _add_windows(parser: argparse.ArgumentParser) -> None:
    _add_json(parser)
    _add_settings(parser, ("window", "windows", "lang"))


def _add_config(parser: argparse.ArgumentParser) -> None:
    _add_json(parser)
    _add_settings(parser, _MODEL_FLAGS + _WINDOW_FLAGS)


def _add_new_window(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="small letters, digits, - and _")


def _add_serve(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--host",
        metavar="HOST",
        help="listen there, and not on this machine alone; read the warning",
    )
    parser.add_argument("--port", type=int, metavar="PORT", help="by default any that is free")
    _add_going_on(parser.add_argument_group("going on"))
    _add_settings(parser.add_argument_group("the model"), _MODEL_FLAGS)
    _add_settings(parser.add_argument_group("windows and context"), _WINDOW_FLAGS)


def _add_trust(parser: argparse.ArgumentParser) -> None:
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--yes", action="store_true", help="trust them without asking")
    which.add_argument("--revoke", action="store_true", help="trust this folder no longer")
    _add_json(parser, "show what there is as JSON, and trust nothing")


def _add_completion(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=_SHELLS, metavar="SHELL", help="bash, zsh or fish")


_ALL = (
    Command(
        "debug",
        "[SESSION]",
        "show what the model sees of a session and what it costs",
        "debug:run",
        _add_debug,
        ("contextui debug", "contextui debug 3f2a --turn 4 --messages"),
    ),
    Command(
        "compact",
        "[SESSION]",
        "have a summary stand for the older part of a session",
        "compact:run",
        _add_compact,
        ("contextui compact --dry-run", "contextui compact 3f2a --model claude-haiku-5-5"),
    ),
    Command("sessions", "", "list the sessions of this folder", "sessions:run", _add_sessions),
    Command("windows", "", "list the windows there are", "windows:run", _add_windows),
    Command(
        "config", "", "list the settings and where each comes from", "settings:run", _add_config
    ),
    Command(
        "new-window",
        "NAME",
        "write a working window and its test into this folder",
        "new_window:run",
        _add_new_window,
        ("contextui new-window shopping-list",),
    ),
    Command(
        "serve",
        "",
        "open the app in a browser, on this machine alone",
        "serve:run",
        _add_serve,
        ("contextui serve", "contextui serve --continue --port 8000"),
    ),
    Command(
        "trust",
        "",
        "let the windows in this folder's .contextui/windows run",
        "trust:run",
        _add_trust,
    ),
    Command(
        "completion",
        "SHELL",
        "print what makes your shell complete all this",
        "completion:run",
        _add_completion,
        (
            "contextui completion bash >> ~/.bashrc",
            "contextui completion fish > ~/.config/fish/completions/contextui.fish",
        ),
    ),
)
COMMANDS = {command.name: command for command in _ALL}
