"""The subcommands: name, arguments, help and the function that runs each."""

import argparse
from collections.abc import Callable
from typing import NamedTuple

from contextui.cli.flags import add_json, add_run, add_settings, add_switch
from contextui.config.schema import MODEL_SETTINGS, SETTINGS

KINDS = ("simple", "job", "connection", "table", "widget", "package")
"""The kinds of new windows; `contextui.windowing.template` takes longer to import."""
_FORMS = ("md", "html", "json")
_SHELLS = ("bash", "zsh", "fish")
_OF_TURNS = ("max_steps", "max_calls")
_REQUEST_FLAGS = tuple(name for name in MODEL_SETTINGS if name not in _OF_TURNS)

Add = Callable[[argparse.ArgumentParser], None]


class Command(NamedTuple):
    """A subcommand: its name, arguments and summary. The module of its name runs it."""

    name: str
    takes: str
    summary: str
    add: Add
    examples: tuple[str, ...] = ()


COMMANDS = dict[str, Command]()  # the commands by name, in the order of the help


def _command(name: str, takes: str, summary: str, *examples: str) -> Callable[[Add], Add]:
    """Declare a command by the function that adds its arguments."""

    def declare(add: Add) -> Add:
        COMMANDS[name] = Command(name, takes, summary, add, examples)
        return add

    return declare


def _add_session(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "session",
        nargs="?",
        metavar="SESSION",
        help="a session id (default: the newest of this folder)",
    )


@_command(
    "debug",
    "[SESSION]",
    "show what the model sees of a session",
    "contextui debug",
    "contextui debug --follow",
    "contextui debug 3f2a --turn 4 --messages",
)
def _debug(parser: argparse.ArgumentParser) -> None:
    _add_session(parser)
    add_switch(parser, "--messages", about="print the exact request that would be sent next")
    parser.add_argument(
        "--turn", type=int, metavar="N", help="show the session as it was after turn N"
    )
    follows = "print what is added and changed while the session runs, until Ctrl+C"
    add_switch(parser, "-f", "--follow", about=follows)
    add_json(parser, "print items, windows and statistics as JSON")
    add_settings(parser, ("window", "windows", *_REQUEST_FLAGS, "placement", "lang"))


@_command(
    "compact",
    "[SESSION]",
    "replace the older part of a session with a summary",
    "contextui compact --dry-run",
    "contextui compact 3f2a --model claude-haiku-5-5",
)
def _compact(parser: argparse.ArgumentParser) -> None:
    _add_session(parser)
    which = parser.add_mutually_exclusive_group()
    add_switch(which, "--dry-run", about="show what would be replaced, and change nothing")
    add_switch(which, "--fork", about="compact a copy of the session")
    add_json(parser, "print the result as JSON")
    add_settings(parser, (*_REQUEST_FLAGS, "window", "windows", "placement", "lang"))


@_command("sessions", "", "list the sessions of this folder")
def _sessions(parser: argparse.ArgumentParser) -> None:
    add_switch(parser, "--all", about="list the sessions of all folders", dest="everywhere")
    add_json(parser)


@_command(
    "export",
    "[SESSION]",
    "write a session as Markdown, HTML or JSON",
    "contextui export > talk.md",
    "contextui export 3f2a --format html -o talk.html",
)
def _export(parser: argparse.ArgumentParser) -> None:
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
    add_switch(parser, "--all", about="include closed and hidden items", dest="everything")
    add_settings(parser, ("window", "windows", "lang"))


@_command("windows", "", "list the available windows")
def _windows(parser: argparse.ArgumentParser) -> None:
    add_json(parser)
    add_settings(parser, ("window", "windows", "lang"))


@_command("config", "", "list the settings and where each comes from")
def _config(parser: argparse.ArgumentParser) -> None:
    add_json(parser)
    add_settings(parser, SETTINGS)


@_command(
    "models",
    "[PROVIDER]",
    "list the providers, or the models of one",
    "contextui models",
    "contextui models ollama",
)
def _models(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "name", nargs="?", default="", metavar="PROVIDER", help="list the models of this provider"
    )
    add_json(parser)
    add_settings(parser, ("base_url", "provider", "lang"))


@_command(
    "new-window",
    "NAME",
    "create a window and its test in this folder",
    "contextui new-window shopping-list",
    "contextui new-window build --kind job",
)
def _new_window(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="lowercase letters, digits, - and _")
    parser.add_argument(
        "--kind",
        choices=KINDS,
        metavar="|".join(KINDS),
        help="what it shows how to do (default: simple)",
    )


@_command(
    "dev",
    "FILE.py",
    "open a window and what the model reads of it",
    "contextui dev kanban.py",
    "contextui dev kanban.py:Kanban columns=todo",
)
def _dev(parser: argparse.ArgumentParser) -> None:
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


@_command(
    "serve",
    "",
    "serve the app to a browser on this machine",
    "contextui serve",
    "contextui serve --continue --port 8000",
)
def _serve(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--host",
        metavar="HOST",
        help="address to listen on (default: 127.0.0.1); all others expose the app",
    )
    parser.add_argument(
        "--port", type=int, metavar="PORT", help="port to listen on (default: any free port)"
    )
    add_run(parser)


@_command("trust", "", "trust the windows and servers that this folder brings")
def _trust(parser: argparse.ArgumentParser) -> None:
    which = parser.add_mutually_exclusive_group()
    add_switch(which, "--yes", about="trust without asking")
    add_switch(which, "--revoke", about="revoke trust in this folder")
    add_json(which, "print the files as JSON, and trust nothing")


@_command(
    "mcp",
    "list|test",
    "list the MCP servers, or test one",
    "contextui mcp list",
    "contextui mcp test github",
)
def _mcp(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "verb",
        choices=("list", "test"),
        metavar="list|test",
        help="list the servers, or connect to one and show what it offers",
    )
    parser.add_argument("name", nargs="?", default="", metavar="NAME", help="the server to test")
    add_json(parser)


@_command(
    "completion",
    "SHELL",
    "print a shell completion script",
    "contextui completion bash >> ~/.bashrc",
    "contextui completion fish > ~/.config/fish/completions/contextui.fish",
)
def _completion(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=_SHELLS, metavar="SHELL", help="bash, zsh or fish")
