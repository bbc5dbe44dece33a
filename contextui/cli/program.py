"""Run a command, and map every error to a message and an exit status."""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from signal import SIGINT

from contextui import interrupt
from contextui.cli import console, flags
from contextui.cli.arguments import Arguments, asks_for_json, parse
from contextui.cli.console import (
    OutputError,
    finish,
    let_go_of_closed,
    make_robust,
    say_json,
    tell,
    tell_crash,
    tell_where,
    words_of,
)
from contextui.cli.language import language
from contextui.cli.words import in_ours, speak, words
from contextui.errors import ContextUIError


def run(given: Sequence[str]) -> int:
    """Run the command line and return the exit status. No error leaves a traceback."""
    make_robust()
    speak(language(given, os.environ))
    try:
        return _run(given)
    except BrokenPipeError:
        return flags.BROKEN_PIPE
    finally:
        let_go_of_closed()


def _run(given: Sequence[str]) -> int:
    try:
        with interrupt.Raised():
            return _carry_out(given)
    except BrokenPipeError:
        raise
    except KeyboardInterrupt:
        return flags.SIGNALLED + SIGINT
    except ContextUIError as error:
        tell_where(error)
        said = in_ours(str(error))
        tell(said)
        return _fail(given, flags.WRONG, said)
    except OutputError as error:
        tell_where(error)
        tell(_unwritten(error))
        return flags.FAILED
    except Exception as error:
        tell_crash(error)
        return _fail(given, flags.FAILED, words_of(error))


def _unwritten(error: OutputError) -> str:
    return words("The output cannot be written: {reason}.", reason=in_ours(str(error.strerror)))


def _carry_out(given: Sequence[str]) -> int:
    try:
        arguments = parse(given)
    except SystemExit as ended:  # --help and --version exit
        finish()
        return int(ended.code or 0)
    return _command(arguments)


def _command(arguments: Arguments) -> int:
    module, _, name = arguments.runs.partition(":")
    # Imported by name, so that each command loads only what it needs.
    carry_out: Callable[[Arguments], int] = getattr(import_module(f"contextui.cli.{module}"), name)
    if module == "screen":
        return carry_out(arguments)
    with console.kept():
        found = carry_out(arguments)
        finish()
        return found


def _fail(given: Sequence[str], found: int, error: str) -> int:
    """Print the error as JSON if JSON output was requested."""
    output = asks_for_json(given)
    if output is None:
        return found
    from contextui.cli.output import not_started  # noqa: PLC0415  (heavy: what a turn needs)

    data = not_started(error)
    with suppress(OSError):  # the error itself was printed
        if output == "json":
            say_json(data)
        else:
            say_json({"type": "result", **data}, indent=None)
    return found
