"""The external editor for the prompt: `$VISUAL` or `$EDITOR` with a private temporary file."""

import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from contextui.errors import ContextUIError
from contextui.plain_file import read_plain
from contextui.text import quote
from contextui.words import msg

_USUAL = ("nano", "vim", "vi")
_LARGEST = 10 << 20  # bytes of a text that is read back


class EditorError(ContextUIError):
    """The editor did not work; the text is unchanged."""


def editor_of(environ: Mapping[str, str] = os.environ) -> list[str]:
    """Return the command of the person's editor.

    Raises:
        EditorError: There is none.
    """
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
    """Open a text in an editor, wait until it exits, and return the new text.

    The file is in a folder of its own that only the person can read, and is removed in any case.

    Raises:
        EditorError: The editor is missing or failed, or left no text.
    """
    name = quote(command[0])
    folder = Path(tempfile.mkdtemp(prefix="contextui-"))  # mode 0700
    try:
        path = folder / "prompt.md"
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace", newline="") as file:
            file.write(text)
        try:
            status = subprocess.run([*command, str(path)], check=False).returncode
        except (OSError, ValueError) as error:
            raise EditorError(
                msg("The editor {name} did not start. Your text is unchanged."), name=name
            ) from error
        if status != 0:
            raise EditorError(
                msg("The editor {name} ended with {status}. Your text is unchanged."),
                name=name,
                status=status,
            )
        try:
            found = read_plain(path, _LARGEST).decode("utf-8", "replace")
        except OSError as error:
            raise EditorError(
                msg("The editor {name} left no text that can be read. Your text is unchanged."),
                name=name,
            ) from error
        return found.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n")
    except OSError as error:
        raise EditorError(
            msg("No file for the editor can be written. Your text is unchanged.")
        ) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)
