"""Trust of project windows: only code that the user has reviewed may run.

Trust applies to the bytes, not to the folder. They are read once, and the bytes that were hashed
are the ones that run, so they cannot be swapped in between.
"""

import hashlib
import json
import os
import secrets
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeGuard

from contextui.errors import ContextUIError, os_reason
from contextui.files.errors import FileError, FileTooLargeError, PathEscapeError
from contextui.files.listing import FolderEntry, list_folder
from contextui.files.workspace import Workspace
from contextui.plain_file import make_private, read_plain, write_private
from contextui.text import one_line, quote, shown_path
from contextui.windowing.error_text import Clause
from contextui.words import Message, Text, Translatable

PROJECT_WINDOWS = ".contextui/windows"
"""The folder of a project's own windows."""

SOURCE_LIMIT = 1_000_000
"""Maximum bytes of a window's file; more cannot be reviewed before trusting it."""

_MOST_NAMES = 2_000  # files and folders below one folder of windows
_MOST_BYTES = 16_000_000  # of all its Python files
_LARGEST = 16_000_000  # bytes of trust.json
_VERSION = 1

FileStatus = Literal["trusted", "new", "changed", "removed", "refused"]


class TrustError(ContextUIError):
    """A folder cannot be reviewed, or trust cannot be recorded."""


@dataclass(frozen=True, slots=True)
class ReviewedFile:
    """One file of a folder, compared with what was trusted.

    Attributes:
        status: The result of the comparison. A ``refused`` file never runs.
        sha256: The hash of its current bytes; empty if it was removed or refused.
    """

    name: str
    status: FileStatus
    sha256: str = ""
    reason: Translatable | None = None

    def text(self, lang: str) -> str:
        """Format the file as one line, for the trust prompt."""
        name, status = one_line(self.name, 160), Message(self.status).text(lang)
        if self.reason:
            return f"{status} {name}: {self.reason.text(lang)}"
        return f"{status} {name} sha256 {self.sha256}" if self.sha256 else f"{status} {name}"

    @property
    def status_text(self) -> Message:
        """The status, translated."""
        return Message(self.status)

    def data(self) -> dict[str, str]:
        """Return the file as JSON-ready data."""
        return {
            "name": self.name,
            "status": self.status,
            "sha256": self.sha256,
            "reason": str(self.reason or ""),
        }

    def __str__(self) -> str:
        return self.text("en")


@dataclass(frozen=True, slots=True)
class Review:
    """The files of a folder, and which of them are trusted.

    Attributes:
        files: All Python files below it, and those that were removed, by name.
        trusted: Whether all files are exactly those that were trusted.
        contents: The bytes that were hashed, by name. Only these may run.
    """

    folder: Path
    files: tuple[ReviewedFile, ...]
    trusted: bool
    contents: Mapping[str, bytes] = field(repr=False)

    @property
    def hashes(self) -> dict[str, str]:
        """The SHA-256 of each file that could run."""
        return {file.name: file.sha256 for file in self.files if file.sha256}

    def data(self) -> dict[str, Any]:
        """Return the review as JSON-ready data."""
        return {
            "folder": str(self.folder),
            "trusted": self.trusted,
            "files": [file.data() for file in self.files],
        }


class TrustStore:
    """Records in ``<home>/trust.json`` which code is trusted.

    All Python files of a folder count, including those in subfolders (except hidden ones and
    ``__pycache__``): if one is changed, added or removed, the folder must be reviewed again.

    Example:
        >>> store = TrustStore(Path.home() / ".contextui")
        >>> review = store.review(Path(".contextui/windows"))
        >>> print(*review.files, sep="\\n")                                  # doctest: +SKIP
        new deploy.py sha256 5891b5b522d5df08…
        >>> store.trust(review.folder, review)                               # doctest: +SKIP
    """

    def __init__(self, home: Path) -> None:
        self.path = home / "trust.json"

    @property
    def problem(self) -> Message | None:
        """Why trust.json cannot be used, if so; then nothing is trusted."""
        return self._read()[1]

    def review(self, folder: Path) -> Review:
        """Review a folder without running anything; a missing one is empty."""
        folder = Path(os.path.realpath(folder))
        known = self._read()[0].get(str(folder), {})
        files, contents, size = list[ReviewedFile](), dict[str, bytes](), 0
        for name, found in _python_files(folder):
            if not isinstance(found, bytes):
                files.append(ReviewedFile(name, "refused", reason=found))
                continue
            contents[name] = found
            size += len(found)
            if size > _MOST_BYTES:
                raise _too_much(
                    folder, Message("{count} bytes of Python", {"count": f"{_MOST_BYTES:,}"})
                )
            digest, before = hashlib.sha256(found).hexdigest(), known.get(name)
            status: FileStatus = "trusted" if before == digest else "changed" if before else "new"
            files.append(ReviewedFile(name, status, digest))
        gone = known.keys() - {file.name for file in files}
        files += [ReviewedFile(name, "removed") for name in gone]
        files.sort(key=lambda file: file.name)
        hashes = {file.name: file.sha256 for file in files if file.sha256}
        return Review(folder, tuple(files), hashes == known, contents)

    def review_file(self, path: Path, content: bytes) -> Review:
        """Review one file that is not code, such as .mcp.json; `folder` is then its path."""
        name, path = path.name, Path(os.path.realpath(path))
        before = self._read()[0].get(str(path), {}).get(name)
        digest = hashlib.sha256(content).hexdigest()
        status: FileStatus = "trusted" if before == digest else "changed" if before else "new"
        file = ReviewedFile(name, status, digest)
        return Review(path, (file,), status == "trusted", {name: content})

    def trust_file(self, reviewed: Review) -> None:
        """Trust a file as it was reviewed."""
        self._write(reviewed.folder, reviewed.hashes)

    def trust(self, folder: Path, reviewed: Review | None = None) -> Review:
        """Trust a folder as it was reviewed, or as it is now if no review is given.

        Pass the review that was shown, so that later changes are not trusted.
        """
        reviewed = reviewed or self.review(folder)
        self._write(reviewed.folder, reviewed.hashes)
        return self.review(folder)

    def revoke(self, folder: Path) -> None:
        """Withdraw the trust in a folder."""
        self._write(Path(os.path.realpath(folder)), {})

    # --- trust.json --------------------------------------------------------------------

    def _read(self) -> tuple[dict[str, dict[str, str]], Message | None]:
        """Return the trusted hashes by folder, and the problem if they cannot be read."""
        try:
            return self._folders(), None
        except FileNotFoundError:
            return {}, None
        except OSError as error:
            why: Text = os_reason(error)
        except TrustError as error:
            why = error
        except (RecursionError, ValueError):
            why = Message("it is damaged")
        return {}, Message(
            "{path} cannot be used, so no folder is trusted: {why}.",
            {"path": shown_path(self.path), "why": why},
        )

    def _folders(self) -> dict[str, dict[str, str]]:
        info = self.path.stat()
        if not stat.S_ISREG(info.st_mode):
            raise TrustError("it is not a file")
        if info.st_mode & 0o022:
            raise TrustError("others may write to it; restrict it with chmod 600")
        data = json.loads(read_plain(self.path, _LARGEST))
        folders = data.get("folders") if isinstance(data, dict) else None
        if not _is_record(folders):
            raise TrustError("it is damaged")
        if data.get("version") != _VERSION:
            raise TrustError("it was written by another version of contextui")
        return folders

    def _write(self, folder: Path, hashes: Mapping[str, str]) -> None:
        folders, problem = self._read()
        folders.pop(str(folder), None)
        if hashes:
            folders[str(folder)] = dict(sorted(hashes.items()))
        text = json.dumps({"version": _VERSION, "folders": folders}, indent=2) + "\n"
        try:
            make_private(self.path.parent)
            if problem is not None:
                self._set_aside()
            write_private(Path(os.path.realpath(self.path)), text.encode())
        except OSError as error:
            raise TrustError(
                "{path} cannot be written: {why}.", path=shown_path(self.path), why=os_reason(error)
            ) from error

    def _set_aside(self) -> None:
        aside = self.path.with_name(f"trust.json.unusable-{secrets.token_hex(4)}")
        self.path.rename(aside)


def _is_record(folders: object) -> TypeGuard[dict[str, dict[str, str]]]:
    return isinstance(folders, dict) and all(
        isinstance(files, dict) and all(isinstance(sha256, str) for sha256 in files.values())
        for files in folders.values()
    )


# --- reading a folder -------------------------------------------------------------------------


def content_or_reason(workspace: Workspace, path: str) -> bytes | Translatable:
    """Read a window's file; return its bytes, or why it is refused."""
    try:
        return workspace.read_bytes(path, limit=SOURCE_LIMIT)
    except PathEscapeError:
        return Message("it is a link that leads out of the folder: put the file itself there")
    except FileTooLargeError as error:
        return Message(
            "it has {size} bytes, and a window's file may have {limit} at most",
            {"size": f"{error.size:,}", "limit": f"{error.limit:,}"},
        )
    except FileError as error:
        return Clause(error)


def _python_files(folder: Path) -> Iterator[tuple[str, bytes | Translatable]]:
    if not os.path.lexists(folder):
        return
    try:
        with Workspace(folder) as workspace:
            for number, entry in enumerate(_entries_below(workspace), 1):
                if number > _MOST_NAMES:
                    raise _too_much(
                        folder, Message("{count} files and folders", {"count": f"{_MOST_NAMES:,}"})
                    )
                if entry.kind != "folder" and entry.name.endswith(".py") and not _is_ignored(entry):
                    yield entry.path, content_or_reason(workspace, entry.path)
    except FileError as error:
        raise TrustError(
            "{folder} cannot be read: {error}", folder=quote(str(folder), 160), error=error
        ) from error


def _entries_below(workspace: Workspace) -> Iterator[FolderEntry]:
    pending = ["."]
    while pending:
        for entry in list_folder(workspace, pending.pop(), ignored=True).entries:
            yield entry
            if entry.kind == "folder" and not _is_ignored(entry):
                pending.append(entry.path)


def _is_ignored(entry: FolderEntry) -> bool:
    return entry.name.startswith(".") or entry.name == "__pycache__"


def _too_much(folder: Path, limit: Message) -> TrustError:
    return TrustError(
        "{folder} has more than {limit}: keep only windows there.",
        folder=quote(str(folder), 160),
        limit=limit,
    )
