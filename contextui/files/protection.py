"""Which files need a person's word each time: those that can run, and those that hold secrets."""

import os
import re
import stat
from collections.abc import Iterable
from dataclasses import replace
from fnmatch import translate
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from contextui.files.errors import FileError, MissingFileError
from contextui.files.save import NEW, flush, temporary_name, write_all

if TYPE_CHECKING:
    from contextui.files.workspace import Workspace


SECRET_FILES = (
    ".env*", "*.env",
    "*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "*.ppk", "*.gpg",
    "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "id_xmss*",
    ".netrc", "_netrc", ".pgpass", ".my.cnf", ".npmrc", ".yarnrc.yml", ".pypirc", ".htpasswd",
    ".git/config", ".git-credentials", ".git/credentials",
    ".aws/*", ".azure/*", ".config/gcloud/*", ".docker/config.json", ".dockercfg",
    ".ssh/*", ".gnupg/*", ".kube/*", "kubeconfig*", "*.kubeconfig",
    "credentials", "credentials*.json", "*credentials.json", "service-account*.json",
    "client_secret*.json", "secret.*", "secrets", "secrets.*", "*.secret", "*.secrets",
    "*.tfstate", "*.tfvars", "vault.yml", "vault.yaml",
)  # fmt: skip
"""Patterns of files that hold secrets by their names. One with "/" is compared with the end of
the path, any other with the file's name; upper and lower case are the same."""

_EXECUTABLE = stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH
_ADDED_SHEBANG = re.compile(r"^\+\ufeff?#!", re.MULTILINE)


class SecretFiles:
    """Tells which files hold secrets by their names.

    Args:
        patterns: Added to the usual ones, see `SECRET_FILES`; one that begins with ``!`` names
            files that hold none.

    Example:
        >>> SecretFiles(["*.vault", "!test.key"]).has("keys/server.key")
        True
    """

    def __init__(self, patterns: Iterable[str] = ()) -> None:
        given = list(patterns)
        self._added = _compiled(one for one in given if not one.startswith("!"))
        self._excepted = _compiled(one[1:] for one in given if one.startswith("!"))

    def has(self, path: str) -> bool:
        """Whether the file of this path is one of them."""
        plain = f"/{path.casefold()}"
        if self._excepted.match(plain):
            return False
        if self._added.match(plain):
            return True
        return bool(_SECRET.match(plain)) and not _PUBLIC.match(plain)


def _compiled(patterns: Iterable[str]) -> re.Pattern[str]:
    """One expression for all patterns, to be compared with a path that begins with "/"."""
    ways = []
    for pattern in patterns:
        plain = pattern.casefold().lstrip("/")
        way = translate(plain)
        ways.append(f"(?s:.*/){way if '/' in plain else way.replace('.*', '[^/]*')}")
    return re.compile("|".join(f"(?:{way})" for way in ways) or r"(?!)")


_SECRET = _compiled(SECRET_FILES)
_PUBLIC = _compiled(["*.pub"])  # the half of a key pair that is made to be shared


def asks_every_time(workspace: "Workspace | None", path: str, new: str = "") -> bool:
    """Whether no grant may cover the writing of a file: each change of it is asked about.

    That is so for what is outside the workspace, for hidden files and all in hidden folders
    (``.git``, ``.contextui``), for what can be executed, and for a file with several names.

    Args:
        workspace: Where the path begins; None if there is none.
        path: The file, or any other name of a target.
        new: What the file would hold, or a diff to that.
    """
    if _is_hidden(path) or path.startswith(("/", "~")) or new.startswith("#!"):
        return True
    if _ADDED_SHEBANG.search(new):
        return True
    if workspace is None:
        return ".." in PurePosixPath(path).parts
    try:
        return _is_hidden(resolved(workspace, path)) or _is_executable(workspace, path)
    except FileError:  # it leads out, or cannot be looked at
        return True


def resolved(workspace: "Workspace", path: str) -> str:
    """The path with all links followed, as far as there is anything on the way.

    Raises:
        FileError: It leads out of the workspace or through a missing folder, or is no path.
    """
    parts = PurePosixPath(workspace.relative(path)).parts
    missing: MissingFileError | None = None
    for count in range(len(parts), -1, -1):
        try:
            real = workspace.real("/".join(parts[:count]) or ".")
        except MissingFileError as error:  # a folder on the way that is yet to be made
            missing = error
            continue
        rest = parts[count:]
        if missing and os.path.lexists(workspace.root / real / rest[0]):
            break  # a link: where it leads is known only when the folders on its way are made
        return "/".join([real, *rest])
    assert missing is not None
    raise missing


def _is_hidden(path: str) -> bool:
    """Whether any name on the way begins with a dot; ``git~1`` is .git on some file systems."""
    names = path.split("/")
    return any(
        (name.startswith(".") and name not in (".", "..")) or name.casefold().startswith("git~")
        for name in names
    )


def _is_executable(workspace: "Workspace", path: str) -> bool:
    try:
        with workspace.reach(path) as spot:
            if spot.info is None:
                return False
            if spot.info.st_mode & _EXECUTABLE or spot.info.st_nlink > 1:
                return True
            descriptor = replace(spot, guard=None).open()
            try:
                return os.pread(descriptor, 2, 0) == b"#!"
            finally:
                os.close(descriptor)
    except MissingFileError:
        return False


def make_private(folder: Path) -> None:
    """Make a folder, and those above it that are missing, for the owner alone."""
    if not folder.is_dir():
        make_private(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def write_private(path: Path, data: bytes) -> os.stat_result:
    """Put a file in its place, or in that of another: whole and on the disk, or not at all.

    Returns:
        What the system knows of it.
    """
    temporary = path.with_name(temporary_name())
    descriptor = os.open(temporary, NEW, 0o600)
    try:
        write_all(descriptor, data)
        flush(descriptor)
        written = os.fstat(descriptor)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    finally:
        os.close(descriptor)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        flush(folder)
    finally:
        os.close(folder)
    return written
