"""`CodeStore`: saving, reading, listing and deleting pieces of code (S4.4, S4.5)."""

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

from contextui.config.settings import Lang
from contextui.context.gists.formats import declared
from contextui.files.errors import FileTooLargeError, MissingFileError
from contextui.files.protection import write_private
from contextui.files.save import content_of, is_temporary
from contextui.files.textfile import LINE_END
from contextui.files.workspace import Workspace
from contextui.session.code.index import CodeIndex, CodeStoreError, Row, is_busy
from contextui.text import counted, for_model, one_line, quote
from contextui.windowing.env import Clock, utc_now

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
"""The languages, and how the names of their files end."""

OF_ENDING = {ending: name for name, ending in LANGUAGES.items() if name != "bash"}
"""The languages by the endings."""

_ALIASES = {**OF_ENDING, "yml": "yaml", "golang": "go", "python3": "python"}
_log = logging.getLogger(__name__)


def is_known(asked: str) -> bool:
    """Whether code can be kept in a language of this name."""
    name = asked.strip().lower()
    return name in LANGUAGES or name in _ALIASES


def known_language(asked: str) -> tuple[str, str]:
    """The language to keep code as, and what is to be said about that."""
    name = asked.strip().lower()
    name = name if name in LANGUAGES else _ALIASES.get(name, "")
    if name:
        return name, ""
    note = f"There is no language {quote(asked)}, so it is kept as python."
    _log.warning(note)
    return "python", note


CODE_LIMIT = 4 * 1024 * 1024
"""Bytes of one piece of code."""

DESCRIPTION_LIMIT = 200
"""Characters of a description."""


_LOOKED_THROUGH = 4_000  # characters among which a first comment is looked for
_COMMENT = re.compile(r'(?:#|//|--|/\*+|<!--|"""|\'\'\')(?P<words>.*?)(?:\*/|-->|"""|\'\'\')?$')


@dataclass(frozen=True, slots=True)
class CodeFile:
    """What is known of a piece of code without reading it.

    Attributes:
        code_id: Its id.
        language: One of `LANGUAGES`.
        description: What it is for, in one line.
        line_count: Its lines.
        char_count: Its characters.
        created_at: When it was first saved.
        note: What was done differently than asked for when it was saved, in words.
    """

    code_id: str
    language: str
    description: str
    line_count: int
    char_count: int
    created_at: datetime
    note: str = ""


class OnDisk(NamedTuple):
    """A file of the store, and by what one sees that it was changed."""

    path: Path
    mark: tuple[int, int, int]

    @classmethod
    def at(cls, path: Path, info: os.stat_result) -> "OnDisk":
        """A file of which the system just told."""
        return cls(path, (info.st_size, info.st_mtime_ns, info.st_ino))


def current(files: list[OnDisk], row: Row | None) -> tuple[CodeFile, OnDisk] | None:
    """What is known of a piece of code, and its file: the one in the index, else the newest."""
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
        except FileNotFoundError:  # by someone who does not ask the index
            return None
    # None is made of a file that someone put there: the list goes to the model unasked.
    description = one_line(str(row.description), DESCRIPTION_LIMIT) if row else ""
    created = datetime.fromtimestamp(file.mark[1] / 1e9, UTC)
    with suppress(TypeError, ValueError, OverflowError):
        created = datetime.fromisoformat(row.created_at if row else "").astimezone(UTC)
    return CodeFile(file.path.stem, language, description, *counts, created), file


def row_of(facts: CodeFile, file: OnDisk) -> Row:
    """What the index is to hold of it."""
    created = facts.created_at.isoformat()
    counts = facts.line_count, facts.char_count
    return Row(facts.code_id, facts.language, facts.description, *counts, created, *file.mark)


def described(language: str, code: str, lang: Lang = "en") -> str:
    """A line on what code is for, made of the code: its own first comment, what it declares, or
    how long it is. No other part of the code gets into it."""
    lines = (line.strip() for line in code[:_LOOKED_THROUGH].splitlines())
    first = next((line for line in lines if line and not line.startswith("#!")), "")
    comment = _COMMENT.match(first)
    words = comment["words"].strip(" \t*=-#/<>!") if comment else ""
    if not words:
        names = declared(f"x.{LANGUAGES.get(language, '')}", code, lang)
        words = "; ".join(names) or _length(language, counts_of(code)[0], lang)
    return one_line(words, DESCRIPTION_LIMIT)


def _length(language: str, count: int, lang: Lang) -> str:
    if not count:
        return ""
    return f"{count} 行 {language}" if lang == "zh" else f"{counted(count, 'line')} of {language}"


def counts_of(text: str) -> tuple[int, int]:
    """Lines and characters."""
    unfinished = bool(text) and not text.endswith(("\n", "\r"))
    return len(LINE_END.findall(text)) + unfinished, len(text)


def read_code(path: Path) -> bytes:
    """All of a file of the store; a link in its place is not followed, a pipe not waited for."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        return content_of(descriptor, path.name, CODE_LIMIT)
    finally:
        os.close(descriptor)


CODE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}", re.ASCII)
"""What may be the id of a piece of code; it becomes the name of a file."""

FOLDER = ".contextui/code"
"""Where a project keeps its code files."""

_FORGET = "DELETE FROM code WHERE code_id = ?"


class InvalidCodeIdError(CodeStoreError):
    """Something that cannot be the id of a piece of code."""


class UnknownCodeError(CodeStoreError):
    """An id that no code has."""


Files: TypeAlias = dict[str, list[OnDisk]]


class CodeStore:
    """Keeps pieces of code, each in a file ``<code_id>.<ending of its language>``.

    The files are what counts; each is replaced whole or not at all. The index adds what a file
    cannot tell (the description, when it was made) and the counts, so that a list reads no file.
    Where it is lost, damaged, or older than a file (a crash between the two leaves it so), the
    file is read again. The index's lock also keeps processes apart.

    Args:
        folder: Where they are kept; made when the first one is saved, for the owner alone.
        clock: Tells the time.

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
        """The store of a project.

        Raises:
            FileError: A link leads out of the workspace.
        """
        place = FOLDER
        with suppress(MissingFileError):  # then it is no link either, and will be made
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
        """Save new code, or a new version of the code that has this id.

        Without a description, one is made of the code, with labels in the language `lang`. An
        unknown language is kept as python, and the result's `note` says so. Characters that no
        file can hold are replaced by visible ones.

        Raises:
            InvalidCodeIdError: The id cannot be one, or differs from another only in its case.
            CodeStoreError: It could not be saved; the text says what there is instead.
        """
        _check_id(code_id)
        language, note = known_language(language)
        text = for_model(content)
        data = text.encode()
        if len(data) > CODE_LIMIT:
            raise CodeStoreError(f"{code_id} has {len(data):,} bytes, more than {CODE_LIMIT:,}.")
        failed = f"{code_id} was not saved"
        with _telling(lambda: failed), self._index.changing() as (index, rows):
            there = self._files()
            self._refuse(code_id, name := f"{code_id}.{LANGUAGES[language]}", there)
            old = current(there.get(code_id, []), rows.get(code_id))
            created = old[0].created_at if old else self._clock()
            line = one_line(description, DESCRIPTION_LIMIT).strip()
            line = line or described(language, text, lang)
            facts = CodeFile(code_id, language, line, *counts_of(text), created, note)
            index.execute(_FORGET, [code_id])  # an index that cannot be written says so here
            file = self._write(name, data)
            failed = f"{code_id} was saved, but not its description"
            index.execute(f"INSERT INTO code VALUES ({','.join('?' * 9)})", row_of(facts, file))
            if old and old[1].path != file.path:
                old[1].path.unlink(missing_ok=True)  # it was in another language until now
        return facts

    def read(self, code_id: str) -> str:
        """The code itself.

        Raises:
            UnknownCodeError: There is none; the text says what there is.
            CodeStoreError: It cannot be read, or is no text.
        """
        _check_id(code_id)
        with _telling(lambda: f"{code_id} cannot be read"), self._index.looking() as rows:
            there = self._files()
            found = current(there.get(code_id, []), rows.get(code_id))
            if found is None:
                raise _unknown(code_id, there)
            return read_code(found[1].path).decode()

    def list(self) -> list[CodeFile]:
        """All there is, the oldest first."""
        with _telling(lambda: "The code cannot be listed"), self._index.looking() as rows:
            found = [current(files, rows.get(one)) for one, files in self._files().items()]
        files = [one[0] for one in found if one]
        return sorted(files, key=lambda one: (one.created_at, one.code_id))

    def path_of(self, code_id: str) -> Path | None:
        """The file that has the code of this id, if there is any."""
        _check_id(code_id)
        with _telling(lambda: f"{code_id} cannot be read"), self._index.looking() as rows:
            found = current(self._files().get(code_id, []), rows.get(code_id))
        return found[1].path if found else None

    def path_for(self, code_id: str, language: str) -> Path:
        """The file that `save` would write."""
        _check_id(code_id)
        return self.folder / f"{code_id}.{LANGUAGES[known_language(language)[0]]}"

    def exists(self, code_id: str) -> bool:
        """Whether there is code of this id."""
        with _telling(lambda: "The code cannot be listed"):
            return code_id in self._files()

    def delete(self, code_id: str) -> None:
        """Delete the code of this id.

        Raises:
            UnknownCodeError: There is none; the text says what there is.
        """
        _check_id(code_id)
        with _telling(lambda: f"{code_id} was not deleted"):
            if not self.exists(code_id):
                raise _unknown(code_id, self._files())
            with self._index.changing() as (index, _):
                for file in self._files().get(code_id, []):
                    file.path.unlink(missing_ok=True)
                index.execute(_FORGET, [code_id])

    def _files(self) -> Files:
        """The files by id. Links, and what is too large to be code, do not count."""
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

    def _refuse(self, code_id: str, name: str, there: Files) -> None:
        """Refuse an id that would take the place of something else."""
        twins = [one for one in there if one != code_id and one.lower() == code_id.lower()]
        if twins:
            raise InvalidCodeIdError(
                f"There is code {twins[0]} already; {code_id} differs from it only in its case."
            )
        known = {file.path.name for file in there.get(code_id, [])}
        if name not in known and os.path.lexists(self.folder / name):
            raise CodeStoreError(f"{code_id} was not saved: {name} is there and is no code.")

    def _write(self, name: str, data: bytes) -> OnDisk:
        """Put a file in its place; called while the index is locked."""
        for path in self.folder.iterdir():
            if is_temporary(path.name):  # nobody else writes now: a crash left it
                path.unlink()
        path = self.folder / name
        return OnDisk.at(path, write_private(path, data))


# --- refusals ---------------------------------------------------------------------------------


def _check_id(code_id: str) -> None:
    if not CODE_ID.fullmatch(code_id):
        raise InvalidCodeIdError(
            f"{quote(code_id)} cannot be the id of code: take letters, digits, - and _, "
            "64 at most, a letter or digit first.",
            zh=f"{quote(code_id)} 不能作为代码的 id：只用字母、数字、- 和 _，最多 64 个，"
            "以字母或数字开头。",
        )


def _unknown(code_id: str, there: Files) -> UnknownCodeError:
    known = sorted(there)
    listed = ", ".join(known[:20]) + (" …" if len(known) > 20 else "")
    return UnknownCodeError(
        f"There is no code {code_id}. There is: {listed or 'none'}.",
        zh=f"没有代码 {code_id}。现有：{listed or '无'}。",
    )


@contextmanager
def _telling(what: Callable[[], str]) -> Iterator[None]:
    """Turn what the system says into an error that says what was to be done."""
    try:
        yield
    except OSError as error:
        raise CodeStoreError(f"{what()}: {error.strerror}.") from error
    except sqlite3.Error as error:
        reason = "another process is at it. Try again" if is_busy(error) else str(error)
        raise CodeStoreError(f"{what()}: {reason}.") from error
    except (FileTooLargeError, UnicodeDecodeError) as error:
        raise CodeStoreError(f"{what()}: it is no text, or too large to be code.") from error
