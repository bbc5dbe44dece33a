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
        path,
        f"{shown(path)} leads out of the workspace. Only files inside can be used.",
        f"{shown(path)} 通向工作区之外。只能使用工作区内的文件。",
    )


def _checked(path: object) -> str:
    if not isinstance(path, str):
        raise InvalidPathError(str(path), "A path must be text.", "路径必须是文字。")
    if not path.strip():
        en = "The path is empty. Name a file of the workspace."
        raise InvalidPathError(path, en, "路径是空的。请写出工作区中的文件。")
    if problem := _problem(path):
        en, zh = problem
        raise InvalidPathError(path, f"The path {shown(path)} {en}.", f"路径 {shown(path)} {zh}。")
    return path


def _problem(path: str) -> tuple[str, str] | None:
    if "\0" in path:
        return "contains a NUL character", "含有 NUL 字符"
    if "\\" in path or _DRIVE.match(path):
        en = 'looks like one of Windows. Write it relative to the workspace, with "/"'
        return en, "像是 Windows 的路径。请写成相对于工作区的路径，用“/”分隔"
    try:
        encoded = path.encode()
    except UnicodeEncodeError:
        return "contains characters that are not valid Unicode", "含有无效的 Unicode 字符"
    if len(encoded) > PATH_LIMIT:
        return f"is longer than {PATH_LIMIT} bytes", f"超过 {PATH_LIMIT} 字节"
    if any(len(name) > NAME_LIMIT for name in encoded.split(b"/")):
        return f"contains a name longer than {NAME_LIMIT} bytes", f"有超过 {NAME_LIMIT} 字节的名称"
    return None
