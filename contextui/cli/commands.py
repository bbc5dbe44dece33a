"""The subcommands: name, arguments, help and the function that runs each."""

import argparse
from collections.abc import Callable
from dataclasses import dataclass

from contextui.cli.flags import MODEL_FLAGS, WINDOW_FLAGS, add_going_on, add_json, add_settings

_SHELLS = ("bash", "zsh", "fish")
_OF_TURNS = ("max_steps", "max_calls")
_REQUEST_FLAGS = tuple(name for name in MODEL_FLAGS if name not in _OF_TURNS)


@dataclass(frozen=True, slots=True)
class Command:
    """A subcommand: its name, arguments, summary, and the function that runs it."""

    name: str
    takes: str
    summary: str
    runs: str
    add: Callable[[argparse.ArgumentParser], None]
    examples: tuple[str, ...] = ()


def _add_session(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "session", nargs="?", metavar="SESSION", help="by default the newest of this folder"
    )


def _add_debug(parser: argparse.ArgumentParser) -> None:
    _add_session(parser)
    parser.add_argument(
        "--messages", action="store_true", help="show the exact request that would be sent next"
    )
    parser.add_argument(
        "--turn", type=int, metavar="N", help="show it as it was when turn N had ended"
    )
    add_json(parser, "show items, windows and figures as JSON")
    add_settings(parser, ("window", "windows", *_REQUEST_FLAGS, "placement", "lang"))


def _add_compact(parser: argparse.ArgumentParser) -> None:
    _add_session(parser)
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--dry-run", action="store_true", help="show what would go and what would stay"
    )
    which.add_argument(
        "--fork", action="store_true", help="do it in a copy of the session, and leave it as it is"
    )
    add_json(parser, "tell what came of it, or would go, as JSON")
    add_settings(parser, (*_REQUEST_FLAGS, "window", "windows", "placement", "lang"))


def _add_sessions(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--all", dest="everywhere", action="store_true", help="those of all folders"
    )
    add_json(parser)


def _add_windows(parser: argparse.ArgumentParser) -> None:
    add_json(parser)
    add_settings(parser, ("window", "windows", "lang"))


def _add_config(parser: argparse.ArgumentParser) -> None:
    add_json(parser)
    add_settings(parser, MODEL_FLAGS + WINDOW_FLAGS)


def _add_new_window(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="small letters, digits, - and _")


def _add_serve(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--host",
        metavar="HOST",
        help="listen there, and not on this machine alone; read the warning",
    )
    parser.add_argument("--port", type=int, metavar="PORT", help="by default any that is free")
    add_going_on(parser.add_argument_group("going on"))
    add_settings(parser.add_argument_group("the model"), MODEL_FLAGS)
    add_settings(parser.add_argument_group("windows and context"), WINDOW_FLAGS)


def _add_trust(parser: argparse.ArgumentParser) -> None:
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--yes", action="store_true", help="trust them without asking")
    which.add_argument("--revoke", action="store_true", help="trust this folder no longer")
    add_json(which, "show what there is as JSON, and trust nothing")


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
    Command("config", "", "list the settings and where each comes from", "config:run", _add_config),
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
"""The commands by name, in the order of the help."""
