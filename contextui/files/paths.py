"""What may be a path: checked by its letters alone, before the disk is asked."""

import os
import re
from pathlib import PurePosixPath
from typing import TypeAlias

from contextui.files.errors import InvalidPathError, PathEscapeError, shown

AnyPath: TypeAlias = str | os.PathLike[str]
Parts: TypeAlias = tuple[str, ...]

NAME_LIMIT = 255
"""Bytes of one name: what every common file system holds."""
PATH_LIMIT = 4096

_DRIVE = re.compile(r"[A-Za-z]:(/|$)")


class Root:
    """The workspace's own path, under the names by which absolute paths may begin with it."""

    def __init__(self, path: AnyPath) -> None:
        given = os.path.abspath(os.fspath(path))
        self.path = os.path.realpath(given)
        # A system's links (on macOS /tmp is one) make two names of one folder.
        self._names = {PurePosixPath(self.path).parts, PurePosixPath(given).parts}

    def strip(self, path: str) -> list[str] | None:
        """The parts of an absolute path below the workspace, or None if it is not in there."""
        parts = PurePosixPath("/" + path.lstrip("/")).parts
        for name in self._names:
            if parts[: len(name)] == name:
                return list(parts[len(name) :])
        return None

    def parts(self, path: AnyPath) -> Parts:
        """The names on the way to a path, below the workspace; none for the workspace itself.

        `..` takes back the name before it, as people read it, and cannot go above the
        workspace. An absolute path must begin with the workspace's own.
        """
        text = _checked(os.fspath(path))
        below = self.strip(text) if text.startswith("/") else text.split("/")
        if below is None:
            raise escape(text)
        parts: list[str] = []
        for name in below:
            if name == "..":
                if not parts:
                    raise escape(text)
                parts.pop()
            elif name not in ("", "."):
                parts.append(name)
        return tuple(parts)


def escape(path: str) -> PathEscapeError:
    """The error for a path that leads out."""
    return PathEscapeError(
        path, f"{shown(path)} leads out of the workspace. Only files inside can be used."
    )


def _checked(path: object) -> str:
    if not isinstance(path, str):
        raise InvalidPathError(str(path), "A path must be text.")
    if not path.strip():
        raise InvalidPathError(path, "The path is empty. Name a file of the workspace.")
    if problem := _problem(path):
        raise InvalidPathError(path, f"The path {shown(path)} {problem}.")
    return path


def _problem(path: str) -> str | None:
    if "\0" in path:
        return "contains a NUL character"
    if "\\" in path or _DRIVE.match(path):
        return 'looks like one of Windows. Write it relative to the workspace, with "/"'
    try:
        encoded = path.encode()
    except UnicodeEncodeError:
        return "contains characters that are not valid Unicode"
    if len(encoded) > PATH_LIMIT:
        return f"is longer than {PATH_LIMIT} bytes"
    if any(len(name) > NAME_LIMIT for name in encoded.split(b"/")):
        return f"contains a name longer than {NAME_LIMIT} bytes"
    return None
