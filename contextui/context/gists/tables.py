"""Tables of data: how many rows there are, and what the columns are called."""

import csv
import io
import re
import warnings
import zipfile
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from contextui.config.choices import Lang
from contextui.context.gists.wording import listed, number_of, size_of
from contextui.text import one_line, shown_name

_DELIMITERS = ",;\t|"
_HEAD = 10_000  # characters of the first line, by which the delimiter is found
_VALUE = re.compile(r"[-+]?(?!(?:19|20)\d\d$)\d[\d.,]*(?:e[-+]?\d+)?%?$", re.IGNORECASE)
_SHEETS = 3
_UNPACKED = 100_000_000  # bytes of a workbook that are worth looking into
_NO_READER: dict[Lang, str] = {
    "en": "rows and columns need contextui[excel]",
    "zh": "行和列需要 contextui[excel]",
}


def of_csv(text: str, delimiter: str | None, lang: Lang) -> list[str] | None:
    """The rows and columns of a CSV or TSV file; None if it is not to be read as one.

    Args:
        text: The file's text.
        delimiter: What stands between two cells; None to find it out.
        lang: The language to word it in.
    """
    records = csv.reader(
        io.StringIO(text, newline=None), delimiter=delimiter or _delimiter_of(text)
    )
    try:
        first = next((record for record in records if record), [])
        rest = sum(1 for record in records if record)
    except csv.Error:  # a cell beyond all measure, such as after a quote that is never closed
        return None
    return _table(first, rest, lang)


def of_workbook(data: bytes, lang: Lang) -> list[str] | None:
    """The rows and columns of a workbook's sheets; None if it cannot be read.

    Without the extra `contextui[excel]`, the size and what to install.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if sum(member.file_size for member in archive.infolist()) > _UNPACKED:
                return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the file's own oddities
            sheets = _sheets(data)
    except ImportError:
        return [size_of(len(data)), _NO_READER[lang]]
    except Exception:  # a damaged workbook may raise anything; its size still tells
        return None
    tables = [(title, ", ".join(_table(first, rest, lang))) for title, first, rest in sheets]
    if len(tables) == 1:
        return [tables[0][1]]
    named = [f"{shown_name(one_line(title, 40))} ({table})" for title, table in tables[:_SHEETS]]
    return [number_of(len(tables), "sheet", lang), *named]


def _delimiter_of(text: str) -> str:
    line = io.StringIO(text[:_HEAD].lstrip("\r\n"), newline=None).readline()
    found = {}
    for delimiter in _DELIMITERS:
        found[delimiter] = len(next(csv.reader([line], delimiter=delimiter), ()))
    return max(found, key=lambda delimiter: found[delimiter])


def _table(first: Sequence[str], rest: int, lang: Lang) -> list[str]:
    """The facts of a table, by its first row and the number of the others."""
    names = [cell.strip() for cell in first]
    if not any(names) or any(map(_VALUE.match, names)):
        facts = [number_of(rest + bool(names), "row", lang)]
        return [*facts, number_of(len(names), "column", lang)] if names else facts
    return [number_of(rest, "row", lang), listed("columns", names, lang)]


def _sheets(data: bytes) -> list[tuple[str, list[str], int]]:
    """The title, the first row and the number of other rows of each sheet."""
    openpyxl: Any = import_module("openpyxl")
    book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
    try:
        sheets = []
        for sheet in book.worksheets:
            cells = next(sheet.iter_rows(max_row=1, values_only=True), ())
            names = ["" if cell is None else str(cell) for cell in cells]
            while names and not names[-1]:
                names.pop()
            sheets.append((str(sheet.title), names, max((sheet.max_row or 1) - 1, 0)))
        return sheets
    finally:
        book.close()
