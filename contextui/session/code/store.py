"""`CodeStore`: save, read, list and delete code files, with language and description."""

import logging
import os
import re
import sqlite3
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, TypeAlias

from contextui.context.gists.formats import declared
from contextui.errors import os_reason
from contextui.files.errors import FileTooLargeError, MissingFileError
from contextui.files.save import content_of
from contextui.files.textfile import LINE_END
from contextui.files.workspace import Workspace
from contextui.plain_file import is_temporary, write_private
from contextui.session.code.index import CodeIndex, CodeRow, CodeStoreError, is_busy
from contextui.text import for_model, one_line, quote
from contextui.windowing.window import Clock, utc_now
from contextui.words import Lang, Message, Text, Words

LANGUAGES: Mapping[str, str] = {
    "python": "py",
    "javascript": "js",
    "typescript": "ts",
    "html": "html",
    "css": "css",
    "sql": "sql",
    "shell": "sh",
    "bash": "sh",
    "markdown": "md",
    "json": "json",
    "yaml": "yaml",
    "xml": "xml",
    "r": "r",
    "java": "java",
    "c": "c",
    "c++": "cpp",
    "go": "go",
    "rust": "rs",
    "php": "php",
    "ruby": "rb",
}
"""The languages and their file extensions."""

OF_ENDING = {ending: name for name, ending in LANGUAGES.items() if name != "bash"}
"""The languages by file extension."""

_ALIASES = {**OF_ENDING, "yml": "yaml", "golang": "go", "python3": "python"}
_log = logging.getLogger(__name__)


def is_known(asked: str) -> bool:
    """Whether code in this language can be saved."""
    name = asked.strip().lower()
    return name in LANGUAGES or name in _ALIASES


def known_language(asked: str, lang: Lang = "en") -> tuple[str, str]:
    """Return the language to save code as, and a note if it differs from the request."""
    name = asked.strip().lower()
    name = name if name in LANGUAGES else _ALIASES.get(name, "")
    if name:
        return name, ""
    note = Message("There is no language {name}, so it is saved as python.", {"name": quote(asked)})
    _log.warning(note)
    return "python", note.text(lang)


CODE_LIMIT = 4 * 1024 * 1024
"""Maximum bytes of one code file."""

DESCRIPTION_LIMIT = 200
"""Maximum characters of a description."""


_SEARCHED = 4_000  # characters searched for a first comment
_COMMENT = re.compile(r'(?:#|//|--|/\*+|<!--|"""|\'\'\')(?P<words>.*?)(?:\*/|-->|"""|\'\'\')?$')


@dataclass(frozen=True, slots=True)
class CodeFile:
    """The metadata of a code file; the note says how saving it differed from the request."""

    code_id: str
    language: str
    description: str
    line_count: int
    char_count: int
    created_at: datetime
    note: str = ""


class OnDisk(NamedTuple):
    """A file of the store, with its size, mtime and inode to detect changes."""

    path: Path
    mark: tuple[int, int, int]

    @classmethod
    def at(cls, path: Path, info: os.stat_result) -> "OnDisk":
        """Create the record of a file from its stat."""
        return cls(path, (info.st_size, info.st_mtime_ns, info.st_ino))


def current(files: list[OnDisk], row: CodeRow | None) -> tuple[CodeFile, OnDisk] | None:
    """Return the metadata and the file of a code id: the indexed file, else the newest."""
    if not files:
        return None
    indexed = LANGUAGES.get(row.language) if row else None
    file = next((one for one in files if one.path.suffix == f".{indexed}"), None)
    language = row.language if row and file else ""
    if file is None:
        file = max(files, key=lambda one: (one.mark[1], one.path.name))
        language = OF_ENDING[file.path.suffix[1:]]
    if row and (row.size, row.mtime_ns, row.inode) == file.mark:
        counts = row.line_count, row.char_count
    else:
        try:
            counts = counts_of(read_code(file.path).decode(errors="replace"))
        except FileNotFoundError:  # deleted by a program that ignores the index
            return None
    # No description is generated for a file put there by others: the list goes to the model.
    description = one_line(str(row.description), DESCRIPTION_LIMIT) if row else ""
    created = datetime.fromtimestamp(file.mark[1] / 1e9, UTC)
    with suppress(TypeError, ValueError, OverflowError):
        created = datetime.fromisoformat(row.created_at if row else "").astimezone(UTC)
    return CodeFile(file.path.stem, language, description, *counts, created), file


def row_of(facts: CodeFile, file: OnDisk) -> CodeRow:
    """Build the index row of a code file."""
    created = facts.created_at.isoformat()
    counts = facts.line_count, facts.char_count
    return CodeRow(facts.code_id, facts.language, facts.description, *counts, created, *file.mark)


def described(language: str, code: str, lang: Lang = "en") -> str:
    """Describe code in one line: by its first comment, its declarations, or its length."""
    lines = (line.strip() for line in code[:_SEARCHED].splitlines())
    first = next((line for line in lines if line and not line.startswith("#!")), "")
    comment = _COMMENT.match(first)
    words = comment["words"].strip(" \t*=-#/<>!") if comment else ""
    if not words:
        names = declared(f"x.{LANGUAGES.get(language, '')}", code, lang)
        words = "; ".join(names) or _length(language, counts_of(code)[0], Words(lang))
    return one_line(words, DESCRIPTION_LIMIT)


def _length(language: str, count: int, words: Words) -> str:
    if not count:
        return ""
    return words.plural(
        count, "{count} line of {language}", "{count} lines of {language}", language=language
    )


def counts_of(text: str) -> tuple[int, int]:
    """Count lines and characters."""
    unfinished = bool(text) and not text.endswith(("\n", "\r"))
    return len(LINE_END.findall(text)) + unfinished, len(text)


def read_code(path: Path) -> bytes:
    """Read a file of the store; never follows a link or blocks on a pipe."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        return content_of(descriptor, path.name, CODE_LIMIT)
    finally:
        os.close(descriptor)


CODE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}", re.ASCII)
"""Pattern of a code id; it becomes a file name."""

FOLDER = ".contextui/code"
"""The folder of a project's code files."""

_FORGET = "DELETE FROM code WHERE code_id = ?"


class InvalidCodeIdError(CodeStoreError):
    """The string is not a valid code id."""


class UnknownCodeError(CodeStoreError):
    """No code has this id."""


Files: TypeAlias = dict[str, list[OnDisk]]


class CodeStore:
    """Stores pieces of code, each in a file ``<code_id>.<extension of its language>``.

    The files are authoritative; each is replaced atomically. The index adds metadata that a file
    cannot have (description, creation time) and the counts, so that a list reads no file. If the
    index is lost, damaged, or older than a file (after a crash in between), the file is read again.
    The index's lock also serializes processes.

    Args:
        folder: Where they are stored; created with owner-only permissions on the first save.
        clock: Returns the current time.

    Example:
        >>> store = CodeStore(Path("code"))                                   # doctest: +SKIP
        >>> store.save("hello", "python", "print('hello')").line_count        # doctest: +SKIP
        1
        >>> store.read("hello")                                               # doctest: +SKIP
        "print('hello')"
    """

    def __init__(self, folder: Path | str, *, clock: Clock = utc_now) -> None:
        self.folder = Path(folder)
        self._clock = clock
        self._index = CodeIndex(self.folder / "index.sqlite")

    @classmethod
    def of(cls, workspace: Workspace, *, clock: Clock = utc_now) -> "CodeStore":
        """Open the store of a project.

        Raises:
            FileError: A link leads out of the workspace.
        """
        place = FOLDER
        with suppress(MissingFileError):  # then it is not a link either, and will be created
            place = workspace.real(FOLDER)
        return cls(workspace.root / place, clock=clock)

    def save(
        self,
        code_id: str,
        language: str,
        content: str,
        description: str = "",
        *,
        lang: Lang = "en",
    ) -> CodeFile:
        """Save new code, or a new version of the code with this id.

        Without a description, one is generated from the code, with labels in the language `lang`.
        Code in an unknown language is saved as python, and the result's `note` says so. Characters
        that no file can hold are replaced with visible ones.

        Raises:
            InvalidCodeIdError: The id is invalid, or differs from another only in case.
            CodeStoreError: It could not be saved; the message says why.
        """
        _check_id(code_id)
        language, note = known_language(language, lang)
        text = for_model(content)
        data = text.encode()
        if len(data) > CODE_LIMIT:
            raise CodeStoreError(
                "{id} has {size:,} bytes, more than {limit:,}.",
                id=code_id,
                size=len(data),
                limit=CODE_LIMIT,
            )
        failed = Message("{id} was not saved", {"id": code_id})
        with _store_errors(lambda: failed), self._index.transaction() as (index, rows):
            there = self._files()
            self._check_conflicts(code_id, name := f"{code_id}.{LANGUAGES[language]}", there)
            old = current(there.get(code_id, []), rows.get(code_id))
            created = old[0].created_at if old else self._clock()
            line = one_line(description, DESCRIPTION_LIMIT).strip()
            line = line or described(language, text, lang)
            facts = CodeFile(code_id, language, line, *counts_of(text), created, note)
            index.execute(_FORGET, [code_id])  # fails here if the index cannot be written
            file = self._write(name, data)
            failed = Message("{id} was saved, but not its description", {"id": code_id})
            index.execute(f"INSERT INTO code VALUES ({','.join('?' * 9)})", row_of(facts, file))
            if old and old[1].path != file.path:
                old[1].path.unlink(missing_ok=True)  # it was in another language until now
        return facts

    def read(self, code_id: str) -> str:
        """Return the code.

        Raises:
            UnknownCodeError: There is none; the message lists the existing ids.
            CodeStoreError: It cannot be read, or is not text.
        """
        _check_id(code_id)
        with _store_errors(lambda: _unreadable(code_id)), self._index.reading() as rows:
            there = self._files()
            found = current(there.get(code_id, []), rows.get(code_id))
            if found is None:
                raise _unknown(code_id, there)
            return read_code(found[1].path).decode()

    def list(self) -> list[CodeFile]:
        """Return the metadata of all code files, oldest first."""
        with _store_errors(lambda: _UNLISTED), self._index.reading() as rows:
            found = [current(files, rows.get(one)) for one, files in self._files().items()]
        files = [one[0] for one in found if one]
        return sorted(files, key=lambda one: (one.created_at, one.code_id))

    def path_of(self, code_id: str) -> Path | None:
        """Return the file of the code with this id, if there is one."""
        _check_id(code_id)
        with _store_errors(lambda: _unreadable(code_id)), self._index.reading() as rows:
            found = current(self._files().get(code_id, []), rows.get(code_id))
        return found[1].path if found else None

    def path_for(self, code_id: str, language: str) -> Path:
        """Return the file that `save` would write."""
        _check_id(code_id)
        return self.folder / f"{code_id}.{LANGUAGES[known_language(language)[0]]}"

    def exists(self, code_id: str) -> bool:
        """Whether there is code with this id."""
        with _store_errors(lambda: _UNLISTED):
            return code_id in self._files()

    def delete(self, code_id: str) -> None:
        """Delete the code with this id.

        Raises:
            UnknownCodeError: There is none; the message lists the existing ids.
        """
        _check_id(code_id)
        failed = Message("{id} was not deleted", {"id": code_id})
        with _store_errors(lambda: failed):
            if not self.exists(code_id):
                raise _unknown(code_id, self._files())
            with self._index.transaction() as (index, _):
                for file in self._files().get(code_id, []):
                    file.path.unlink(missing_ok=True)
                index.execute(_FORGET, [code_id])

    def _files(self) -> Files:
        """Return the files by id, without links and files too large to be code."""
        found: Files = {}
        with suppress(FileNotFoundError), os.scandir(self.folder) as entries:
            for entry in entries:
                code_id, _, ending = entry.name.rpartition(".")
                if ending in OF_ENDING and CODE_ID.fullmatch(code_id):
                    info = entry.stat(follow_symlinks=False)
                    if stat.S_ISREG(info.st_mode) and info.st_size <= CODE_LIMIT:
                        file = OnDisk.at(self.folder / entry.name, info)
                        found.setdefault(code_id, []).append(file)
        return found

    def _check_conflicts(self, code_id: str, name: str, there: Files) -> None:
        twins = [one for one in there if one != code_id and one.lower() == code_id.lower()]
        if twins:
            raise InvalidCodeIdError(
                "There is code {other} already; {id} differs from it only in its case.",
                other=twins[0],
                id=code_id,
            )
        known = {file.path.name for file in there.get(code_id, [])}
        if name not in known and os.path.lexists(self.folder / name):
            raise CodeStoreError(
                "{id} was not saved: {name} exists and is not code.", id=code_id, name=name
            )

    def _write(self, name: str, data: bytes) -> OnDisk:
        """Write a file atomically; called while the index is locked."""
        for path in self.folder.iterdir():
            if is_temporary(path.name):  # no other writer is active: a crash left it
                path.unlink()
        path = self.folder / name
        return OnDisk.at(path, write_private(path, data))


# --- errors -----------------------------------------------------------------------------------


def _check_id(code_id: str) -> None:
    if not CODE_ID.fullmatch(code_id):
        raise InvalidCodeIdError(
            "{id} cannot be the id of code: use letters, digits, - and _, 64 at most, a letter "
            "or digit first.",
            id=quote(code_id),
        )


def _unknown(code_id: str, there: Files) -> UnknownCodeError:
    known = sorted(there)
    listed = ", ".join(known[:20]) + (" …" if len(known) > 20 else "")
    return UnknownCodeError(
        "There is no code {id}. Available: {ids}.", id=code_id, ids=listed or Message("none")
    )


_UNLISTED = Message("The code cannot be listed")


def _unreadable(code_id: str) -> Message:
    return Message("{id} cannot be read", {"id": code_id})


@contextmanager
def _store_errors(what: Callable[[], Message]) -> Iterator[None]:
    """Turn system errors into a `CodeStoreError` that names the failed operation."""
    try:
        yield
    except OSError as error:
        raise CodeStoreError("{what}: {why}.", what=what(), why=os_reason(error)) from error
    except sqlite3.Error as error:
        busy = Message("another process is using it. Try again")
        why: Text = busy if is_busy(error) else str(error)
        raise CodeStoreError("{what}: {why}.", what=what(), why=why) from error
    except (FileTooLargeError, UnicodeDecodeError) as error:
        why = Message("it is not text, or too large to be code")
        raise CodeStoreError("{what}: {why}.", what=what(), why=why) from error
