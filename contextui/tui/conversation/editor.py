"""The external editor for the prompt: `$VISUAL` or `$EDITOR` with a private temporary file."""

import os
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from contextui.errors import ContextUIError
from contextui.plain_file import read_plain
from contextui.text import quote
from contextui.words import msg

_USUAL = ("nano", "vim", "vi")
_LARGEST = 10 << 20  # bytes of a text that is read back


class EditorError(ContextUIError):
    """The editor did not work; the text is unchanged."""


def editor_of(environ: Mapping[str, str] = os.environ) -> list[str]:
    """Return the command of the person's editor; raise an EditorError if there is none."""
    for name in ("VISUAL", "EDITOR"):
        if environ.get(name, "").strip():
            try:
                return shlex.split(environ[name])
            except ValueError as error:
                raise EditorError(
                    msg("{name} is not a command: {value}."),
                    name=f"${name}",
                    value=quote(environ[name]),
                ) from error
    found = next((one for one in _USUAL if shutil.which(one)), None)
    if found is None:
        raise EditorError(msg("There is no editor. Set $EDITOR to the one you use."))
    return [found]


def edit(text: str, command: list[str]) -> str:
    """Open a text in an editor, and return the new text; raise an EditorError if that fails.

    The file is in a folder of its own that only the person can read, and is removed in any case.
    """
    name = quote(command[0])
    problem = msg("No file for the editor can be written. Your text is unchanged.")
    status = 0
    try:
        with TemporaryDirectory(prefix="contextui-", ignore_cleanup_errors=True) as folder:
            path = Path(folder) / "prompt.md"
            path.touch(0o600)
            path.write_text(text, "utf-8", "replace", newline="")
            problem = msg("The editor {name} did not start. Your text is unchanged.")
            status = subprocess.run([*command, str(path)], check=False).returncode
            problem = msg(
                "The editor {name} left no text that can be read. Your text is unchanged."
            )
            found = "" if status else read_plain(path, _LARGEST).decode("utf-8", "replace")
    except (OSError, ValueError) as error:
        raise EditorError(problem, name=name) from error
    if status:
        problem = msg("The editor {name} ended with {status}. Your text is unchanged.")
        raise EditorError(problem, name=name, status=status)
    return found.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n")
