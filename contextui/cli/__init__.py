"""The command line: arguments in, words and an exit status out.

`program` goes from words to a command; `parsers` are made of `commands` and `flags`, and each
command has a module of its name. `assembling` is the one place where a model, a session and a
controller meet; `screen` gives them to the app, `headless` takes one turn without it.
"""

import sys
from collections.abc import Sequence
from contextlib import suppress

import contextui


def main(words: Sequence[str] | None = None) -> int:
    """Do what the command line says.

    Args:
        words: What stands behind the program's name; by default what it was started with.

    Returns:
        The exit status, see `contextui.cli.flags`.
    """
    is_program = words is None
    words = sys.argv[1:] if words is None else words
    if list(words) == ["--version"] and sys.stdout is not None:
        # Asked for by scripts, which should not wait for the rest. If it cannot be written, the
        # long way says so.
        with suppress(OSError):
            sys.stdout.write(f"contextui {contextui.__version__}\n")
            sys.stdout.flush()
            return 0
    from contextui.cli.console import give_away  # noqa: PLC0415  (comes with it)
    from contextui.cli.program import run  # noqa: PLC0415  (heavy: all that the version needs not)
    from contextui.cli.watchdog import watchdog  # noqa: PLC0415  (comes with it)

    watchdog.is_wanted = is_program
    status = run(words)
    if is_program:
        watchdog.end_soon()
        give_away()
    return status
