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
    discard_unwritable,
    error_text,
    finish,
    harden_streams,
    print_traceback,
    warn,
)
from contextui.cli.settings import language
from contextui.errors import ContextUIError, os_reason
from contextui.words import set_language, t


def run(given: Sequence[str]) -> int:
    """Run the command line and return the exit status. No error leaves a traceback."""
    harden_streams()
    set_language(language(given, os.environ))
    try:
        return _run(given)
    except BrokenPipeError:
        return flags.BROKEN_PIPE
    finally:
        discard_unwritable()


def _run(given: Sequence[str]) -> int:
    try:
        with interrupt.RaiseInterrupts():
            try:
                arguments = parse(given)
            except SystemExit as ended:  # --help and --version exit
                finish()
                return int(ended.code or 0)
            return _command(arguments)
    except BrokenPipeError:
        raise
    except KeyboardInterrupt:
        return flags.SIGNALLED + SIGINT
    except ContextUIError as error:
        print_traceback(error)
        warn(error)
        return _fail(given, flags.WRONG, t(error))
    except OutputError as error:
        print_traceback(error)
        warn(t("The output cannot be written: {reason}.", reason=os_reason(error)))
        return flags.FAILED
    except Exception as error:
        print_traceback(error)
        warn(error_text(error))
        return _fail(given, flags.FAILED, error_text(error))


def _command(arguments: Arguments) -> int:
    import logging  # noqa: PLC0415  (--help does not need it)

    logging.getLogger("contextui").addHandler(logging.NullHandler())  # nothing on the screen
    # Imported by name, so that each command loads only what it needs.
    carry_out: Callable[[Arguments], int] = import_module(f"contextui.cli.{arguments.runs}").run
    if arguments.runs == "screen":
        return carry_out(arguments)
    with console.reserved_stdout():
        found = carry_out(arguments)
        finish()
        return found


def _fail(given: Sequence[str], found: int, error: str) -> int:
    if form := asks_for_json(given):
        from contextui.cli.output import not_started, say_result  # noqa: PLC0415  (heavy)

        with suppress(OSError):  # the error itself was printed
            say_result(not_started(error), form)
    return found
