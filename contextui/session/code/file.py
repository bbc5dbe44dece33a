"""What is known of a piece of code: by its file, and by its row in the index."""

import os
import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from contextui.config.choices import Lang
from contextui.context.gists.code import declared
from contextui.files.disk import content_of
from contextui.files.encoding import LINE_END
from contextui.session.code.index import Row
from contextui.session.code.languages import LANGUAGES, OF_ENDING
from contextui.text import counted, one_line

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
