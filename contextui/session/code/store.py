"""`CodeStore`: saving, reading, listing and deleting pieces of code (S4.4, S4.5)."""

import os
import re
import sqlite3
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeAlias

from contextui.config.choices import Lang
from contextui.files.beside import is_temporary
from contextui.files.errors import FileTooLargeError, MissingFileError
from contextui.files.private import write_private
from contextui.files.workspace import Workspace
from contextui.session.code.file import (
    CODE_LIMIT,
    DESCRIPTION_LIMIT,
    CodeFile,
    OnDisk,
    counts_of,
    current,
    described,
    read_code,
    row_of,
)
from contextui.session.code.index import CodeIndex, CodeStoreError, is_busy
from contextui.session.code.languages import LANGUAGES, OF_ENDING, known_language
from contextui.text import for_model, one_line, quote
from contextui.windowing.env import Clock, utc_now

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
