"""`contextui new-window`: create a window and its test from a template."""

import shlex
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

from contextui.cli import flags
from contextui.cli.arguments import Arguments
from contextui.cli.console import say
from contextui.cli.flags import UsageError
from contextui.cli.settings import discovered, here, settings_of
from contextui.windowing.template import KINDS, Kind, write_new_window
from contextui.words import t

_ARGS: dict[Kind, str] = {"connection": " host=localhost port=7000", "table": " path=shop.db"}
"""Examples of args for kinds whose windows need some."""


def run(arguments: Arguments) -> int:
    """Write a window and its test, and print how to run them."""
    folder = here()
    _check_free(arguments, folder)
    kind: Kind = next((one for one in KINDS if one == arguments.kind), "simple")
    written = write_new_window(arguments.name, folder, kind)
    window, test, *others = (str(path.relative_to(folder)) for path in written)
    say(t("Wrote {window} and {test}.", window=", ".join([window, *others]), test=test))
    say(t("Try it:   {command}", command=f"contextui dev {window}{_ARGS.get(kind, '')}"))
    say(t("Test it:  {command}", command=f"{_python()} -P -m contextui.testing {test}"))
    if find_spec("pytest") is None:
        command = f"{_python()} -P -m pip install pytest"
        say(t("This needs pytest: {command}", command=command))
    return flags.DONE


def _check_free(arguments: Arguments, folder: Path) -> None:
    """Check that the name is free: of two with one name, only the first could be opened."""
    for entry in discovered(settings_of(arguments, folder), folder).entries:
        if entry.name == arguments.name and entry.usable:
            raise UsageError(
                "There is already a window {name}: {origin}. Choose another name.",
                name=entry.name,
                origin=entry.origin,
            )


def _python() -> str:
    own, called = Path(sys.executable), shutil.which("python")
    is_it = called is not None and Path(called).absolute().parent == own.absolute().parent
    return "python" if is_it else shlex.quote(str(own))
