"""Protect files that can run code or hold secrets, and write private files."""

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
"""Name patterns of files that hold secrets. A pattern with "/" is compared with the end of the
path, any other with the file's name; case-insensitive."""

_EXECUTABLE = stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH
_ADDED_SHEBANG = re.compile(r"^\+\ufeff?#!", re.MULTILINE)


class SecretFiles:
    """Recognizes files that hold secrets by their names.

    Args:
        patterns: Added to `SECRET_FILES`; a pattern that begins with ``!`` is an exception.

    Example:
        >>> SecretFiles(["*.vault", "!test.key"]).has("keys/server.key")
        True
    """

    def __init__(self, patterns: Iterable[str] = ()) -> None:
        given = list(patterns)
        self._added = _compiled(one for one in given if not one.startswith("!"))
        self._excepted = _compiled(one[1:] for one in given if one.startswith("!"))

    def has(self, path: str) -> bool:
        """Whether the file at this path may hold secrets."""
        plain = f"/{path.casefold()}"
        if self._excepted.match(plain):
            return False
        if self._added.match(plain):
            return True
        return bool(_SECRET.match(plain)) and not _PUBLIC.match(plain)


def _compiled(patterns: Iterable[str]) -> re.Pattern[str]:
    """Compile patterns into one expression, to match a path that begins with "/"."""
    ways = []
    for pattern in patterns:
        plain = pattern.casefold().lstrip("/")
        way = translate(plain)
        ways.append(f"(?s:.*/){way if '/' in plain else way.replace('.*', '[^/]*')}")
    return re.compile("|".join(f"(?:{way})" for way in ways) or r"(?!)")


_SECRET = _compiled(SECRET_FILES)
_PUBLIC = _compiled(["*.pub"])  # the half of a key pair that is made to be shared


def asks_every_time(workspace: "Workspace | None", path: str, new: str = "") -> bool:
    """Whether every write to a file needs approval, and no grant may cover it.

    True for files outside the workspace, hidden files and all in hidden folders (``.git``,
    ``.contextui``), executable files, and files with several hard links.

    Args:
        workspace: The workspace of the path; None if there is none.
        path: The file, or any other name of a target.
        new: The new content, or a diff to it.
    """
    if _is_hidden(path) or path.startswith(("/", "~")) or new.startswith("#!"):
        return True
    if _ADDED_SHEBANG.search(new):
        return True
    if workspace is None:
        return ".." in PurePosixPath(path).parts
    try:
        return _is_hidden(resolved(workspace, path)) or _is_executable(workspace, path)
    except FileError:  # it leads out, or is not accessible
        return True


def resolved(workspace: "Workspace", path: str) -> str:
    """The path with all links resolved, as far as it exists.

    Raises:
        FileError: It leads out of the workspace or through a missing folder, or is not a valid
            path.
    """
    parts = PurePosixPath(workspace.relative(path)).parts
    missing: MissingFileError | None = None
    for count in range(len(parts), -1, -1):
        try:
            real = workspace.real("/".join(parts[:count]) or ".")
        except MissingFileError as error:  # a folder on the way that does not exist yet
            missing = error
            continue
        rest = parts[count:]
        if missing and os.path.lexists(workspace.root / real / rest[0]):
            break  # a link: its target is known only once the folders on its way exist
        return "/".join([real, *rest])
    assert missing is not None
    raise missing


def _is_hidden(path: str) -> bool:
    """Whether any part begins with a dot; ``git~1`` is .git on some file systems."""
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
    """Create a folder, and missing parents, with access for the owner only."""
    if not folder.is_dir():
        make_private(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def write_private(path: Path, data: bytes, *, sync: bool = True) -> os.stat_result:
    """Write a private file atomically, and sync it to disk unless losing it costs little.

    Returns:
        The stat result of the file.
    """
    temporary = path.with_name(temporary_name())
    descriptor = os.open(temporary, NEW, 0o600)
    try:
        write_all(descriptor, data)
        if sync:
            flush(descriptor)
        written = os.fstat(descriptor)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    finally:
        os.close(descriptor)
    if not sync:
        return written
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        flush(folder)
    finally:
        os.close(folder)
    return written
