"""The subcommands: name, arguments, help and the function that runs each."""

import argparse
from collections.abc import Callable
from typing import NamedTuple

from contextui.cli.flags import add_json, add_resume, add_settings
from contextui.config.schema import MODEL_SETTINGS, SETTINGS, WINDOW_SETTINGS

KINDS = ("simple", "job", "connection", "table", "widget", "package")
"""The kinds of new windows; `contextui.windowing.template` takes longer to import."""
_FORMS = ("md", "html", "json")
_SHELLS = ("bash", "zsh", "fish")
_OF_TURNS = ("max_steps", "max_calls")
_REQUEST_FLAGS = tuple(name for name in MODEL_SETTINGS if name not in _OF_TURNS)


class Command(NamedTuple):
    """A subcommand: its name, arguments and summary. The module of its name runs it."""

    name: str
    takes: str
    summary: str
    add: Callable[[argparse.ArgumentParser], None]
    examples: tuple[str, ...] = ()


def _add_session(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "session",
        nargs="?",
        metavar="SESSION",
        help="a session id (default: the newest of this folder)",
    )


def _add_debug(parser: argparse.ArgumentParser) -> None:
    _add_session(parser)
    parser.add_argument(
        "--messages", action="store_true", help="print the exact request that would be sent next"
    )
    parser.add_argument(
        "--turn", type=int, metavar="N", help="show the session as it was after turn N"
    )
    parser.add_argument(
        "-f",
        "--follow",
        action="store_true",
        help="print what is added and changed while the session runs, until Ctrl+C",
    )
    add_json(parser, "print items, windows and statistics as JSON")
    add_settings(parser, ("window", "windows", *_REQUEST_FLAGS, "placement", "lang"))


def _add_compact(parser: argparse.ArgumentParser) -> None:
    _add_session(parser)
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--dry-run", action="store_true", help="show what would be replaced, and change nothing"
    )
    which.add_argument("--fork", action="store_true", help="compact a copy of the session")
    add_json(parser, "print the result as JSON")
    add_settings(parser, (*_REQUEST_FLAGS, "window", "windows", "placement", "lang"))


def _add_export(parser: argparse.ArgumentParser) -> None:
    _add_session(parser)
    parser.add_argument(
        "--format",
        dest="form",
        choices=_FORMS,
        default="md",
        metavar="|".join(_FORMS),
        help="Markdown, a page, or everything as JSON (default: md)",
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="write to a new file instead of printing it"
    )
    parser.add_argument(
        "--all", dest="everything", action="store_true", help="include closed and hidden items"
    )
    add_settings(parser, ("window", "windows", "lang"))


def _add_sessions(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--all", dest="everywhere", action="store_true", help="list the sessions of all folders"
    )
    add_json(parser)


def _add_windows(parser: argparse.ArgumentParser) -> None:
    add_json(parser)
    add_settings(parser, ("window", "windows", "lang"))


def _add_config(parser: argparse.ArgumentParser) -> None:
    add_json(parser)
    add_settings(parser, SETTINGS)


def _add_new_window(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="lowercase letters, digits, - and _")
    parser.add_argument(
        "--kind",
        choices=KINDS,
        metavar="|".join(KINDS),
        help="what it shows how to do (default: simple)",
    )


def _add_dev(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file",
        nargs="?",  # `dev.run` says what is missing, with an example
        default="",
        metavar="FILE.py[:CLASS]",
        help="the window's file, and the class if it has several",
    )
    parser.add_argument(
        "args", nargs="*", metavar="NAME=VALUE", help="args for the window, as after /open"
    )


def _add_serve(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--host",
        metavar="HOST",
        help="address to listen on (default: 127.0.0.1); all others expose the app",
    )
    parser.add_argument(
        "--port", type=int, metavar="PORT", help="port to listen on (default: any free port)"
    )
    add_resume(parser.add_argument_group("sessions"))
    add_settings(parser.add_argument_group("model"), MODEL_SETTINGS)
    add_settings(parser.add_argument_group("windows and context"), WINDOW_SETTINGS)


def _add_trust(parser: argparse.ArgumentParser) -> None:
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--yes", action="store_true", help="trust without asking")
    which.add_argument("--revoke", action="store_true", help="revoke trust in this folder")
    add_json(which, "print the files as JSON, and trust nothing")


def _add_mcp(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "verb",
        choices=("list", "test"),
        metavar="list|test",
        help="list the servers, or connect to one and show what it offers",
    )
    parser.add_argument("name", nargs="?", default="", metavar="NAME", help="the server to test")
    add_json(parser)


def _add_models(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "name", nargs="?", default="", metavar="PROVIDER", help="list the models of this provider"
    )
    add_json(parser)
    add_settings(parser, ("base_url", "provider", "lang"))


def _add_completion(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=_SHELLS, metavar="SHELL", help="bash, zsh or fish")


_ALL = (
    Command(
        "debug",
        takes="[SESSION]",
        summary="show what the model sees of a session",
        add=_add_debug,
        examples=(
            "contextui debug",
            "contextui debug --follow",
            "contextui debug 3f2a --turn 4 --messages",
        ),
    ),
    Command(
        "compact",
        takes="[SESSION]",
        summary="replace the older part of a session with a summary",
        add=_add_compact,
        examples=("contextui compact --dry-run", "contextui compact 3f2a --model claude-haiku-5-5"),
    ),
    Command(
        "sessions",
        takes="",
        summary="list the sessions of this folder",
        add=_add_sessions,
    ),
    Command(
        "export",
        takes="[SESSION]",
        summary="write a session as Markdown, HTML or JSON",
        add=_add_export,
        examples=("contextui export > talk.md", "contextui export 3f2a --format html -o talk.html"),
    ),
    Command(
        "windows",
        takes="",
        summary="list the available windows",
        add=_add_windows,
    ),
    Command(
        "config",
        takes="",
        summary="list the settings and where each comes from",
        add=_add_config,
    ),
    Command(
        "models",
        takes="[PROVIDER]",
        summary="list the providers, or the models of one",
        add=_add_models,
        examples=("contextui models", "contextui models ollama"),
    ),
    Command(
        "new-window",
        takes="NAME",
        summary="create a window and its test in this folder",
        add=_add_new_window,
        examples=(
            "contextui new-window shopping-list",
            "contextui new-window build --kind job",
        ),
    ),
    Command(
        "dev",
        takes="FILE.py",
        summary="open a window and what the model reads of it",
        add=_add_dev,
        examples=("contextui dev kanban.py", "contextui dev kanban.py:Kanban columns=todo"),
    ),
    Command(
        "serve",
        takes="",
        summary="serve the app to a browser on this machine",
        add=_add_serve,
        examples=("contextui serve", "contextui serve --continue --port 8000"),
    ),
    Command(
        "trust",
        takes="",
        summary="trust the windows and servers that this folder brings",
        add=_add_trust,
    ),
    Command(
        "mcp",
        takes="list|test",
        summary="list the MCP servers, or test one",
        add=_add_mcp,
        examples=("contextui mcp list", "contextui mcp test github"),
    ),
    Command(
        "completion",
        takes="SHELL",
        summary="print a shell completion script",
        add=_add_completion,
        examples=(
            "contextui completion bash >> ~/.bashrc",
            "contextui completion fish > ~/.config/fish/completions/contextui.fish",
        ),
    ),
)
COMMANDS = {command.name: command for command in _ALL}
"""The commands by name, in the order of the help."""
