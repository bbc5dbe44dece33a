"""The command line: parse arguments, run a command, return an exit status.

`program` runs a command and maps errors to exit statuses. `arguments` parses the command line with
the declarations in `commands` and `flags`; each command has a module of its name. `setup` builds
model, session and controller; `screen` opens the app with them, `headless` runs a single turn.
"""

import gc
import sys
from collections.abc import Sequence
from contextlib import suppress

import contextui


def main(words: Sequence[str] | None = None) -> int:
    """Run the command line."""
    is_program = words is None
    if is_program:
        gc.set_threshold(200_000, 20, 20)  # what is imported stays, and looking at it takes long
    words = sys.argv[1:] if words is None else words
    if list(words) == ["--version"] and sys.stdout is not None:
        # A fast path for scripts. If writing fails, the regular path reports the error.
        with suppress(OSError):
            sys.stdout.write(f"contextui {contextui.__version__}\n")
            sys.stdout.flush()
            return 0
    from contextui.cli import watchdog  # noqa: PLC0415  (comes with it)
    from contextui.cli.console import redirect_stdout  # noqa: PLC0415  (comes with it)
    from contextui.cli.program import run  # noqa: PLC0415  (heavy; --version does not need it)

    watchdog.is_wanted = is_program
    status = run(words)
    if is_program:
        watchdog.end_soon()
        redirect_stdout()
    return status
