"""`gist`: describe a file in one line, to replace its text in later turns."""

import os
from pathlib import PurePosixPath

from contextui.context.gists.formats import (
    CODE,
    declared,
    gist_line,
    of_csv,
    of_json,
    of_json_lines,
    of_workbook,
)
from contextui.files.errors import FileError
from contextui.files.syntax import language_of
from contextui.files.textfile import TextFile
from contextui.text import byte_size
from contextui.words import Lang, Words, msg

_LONGEST = 10_000_000  # characters to analyze; longer files get only lines and size
_TABLES = {".csv": ("CSV", None), ".tsv": ("TSV", "\t"), ".tab": ("TSV", "\t")}
_WORKBOOKS = (".xlsx", ".xlsm", ".xls")
_JSON_LINES = (".jsonl", ".ndjson")
_SUFFIX = 8  # characters of a suffix that is shown as the kind


def gist(
    path: str | os.PathLike[str],
    content: str | bytes,
    lang: Lang = "en",
    *,
    was_read: bool = True,
) -> str:
    """Describe a file in one line: its name, its kind, and what is in it.

    For code the lines, functions and classes; for a table the rows and columns; for JSON the size
    and the top-level keys; for all else the lines and the size. Its length is bounded, it is
    sanitized, and even a damaged file has one.

    Args:
        path: The file. A relative path is shown in full, so that the file can be read again; of an
            absolute path only the name.
        content: The file's content. Workbooks are given as bytes; other bytes are decoded.
        lang: The language of the line.
        was_read: Whether to say that the file was read.

    Example:
        >>> gist("a/sales.py", "def load():\\n    ...\\n\\nclass Sale: ...\\n")
        '[file read] a/sales.py (python, 4 lines, functions: load, classes: Sale)'
    """
    where = PurePosixPath(os.fspath(path))
    words = Words(lang)
    return gist_line(_shown(where), _facts(where, content, words), words, was_read=was_read)


def gist_of_size(path: str | os.PathLike[str], size: int, lang: Lang = "en") -> str:
    """The gist of a file of which only the size in bytes is known."""
    where = PurePosixPath(os.fspath(path))
    words = Words(lang)
    return gist_line(_shown(where), [_kind(where, words), byte_size(size)], words)


def is_workbook(path: str | os.PathLike[str]) -> bool:
    """Whether a file is an Excel workbook."""
    return PurePosixPath(os.fspath(path)).suffix.lower() in _WORKBOOKS


def _shown(path: PurePosixPath) -> str:
    return path.name if path.is_absolute() else str(path)


def _kind(path: PurePosixPath, words: Words, otherwise: str = msg("text")) -> str:
    suffix = path.suffix.lower()
    if suffix in _TABLES:
        return _TABLES[suffix][0]
    if suffix in _WORKBOOKS:
        return "Excel"
    if suffix in _JSON_LINES:
        return "JSONL"
    language = language_of(path.name)
    if language:
        return "JSON" if language == "json" else language
    plain = suffix[1:].isascii() and suffix[1:].isalnum() and len(suffix) <= _SUFFIX
    return suffix[1:] if plain and suffix != ".txt" else words(otherwise)


def _facts(path: PurePosixPath, content: str | bytes, words: Words) -> list[str]:
    data = content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass")
    size = byte_size(len(data))
    if is_workbook(path):
        return [_kind(path, words), *(of_workbook(data, words) or [size])]
    text = _text(content)
    if text is None:
        return [_kind(path, words, msg("binary")), size]
    return [_kind(path, words), *_facts_of_text(path, text, size, words)]


def _facts_of_text(path: PurePosixPath, text: str, size: str, words: Words) -> list[str]:
    suffix = path.suffix.lower()
    count = count_lines(text)
    lines = words.plural(count, "{n} line", "{n} lines", n=count)
    if len(text) > _LONGEST:
        return [lines, size]
    if suffix in _TABLES:
        return of_csv(text, _TABLES[suffix][1], words) or [lines, size]
    if suffix in _JSON_LINES:
        return [size, *of_json_lines(text, words)]
    language = language_of(path.name)
    if language == "json":
        return [size, *of_json(text, words)]
    if language in CODE:
        return [lines, *declared(path.name, text, words.lang)]
    return [lines, size]


def _text(content: str | bytes) -> str | None:
    """Decode the text, without a byte order mark; None if it is binary."""
    if isinstance(content, str):
        return content.removeprefix("\ufeff")
    try:
        return TextFile.from_bytes(content).text
    except FileError:
        return None


def count_lines(text: str) -> int:
    """Count the lines of a text, whatever ends them."""
    ends = text.count("\n") + text.count("\r") - text.count("\r\n")
    return ends + (text[-1:] not in ("", "\n", "\r"))
