"""Extract gist facts from code, JSON, CSV and Excel files, and format them."""

import csv
import io
import json
import re
import warnings
import zipfile
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any

from contextui.files import syntax
from contextui.files.outline import Entry, outline
from contextui.files.syntax import Declaration, Syntax, language_of, scan
from contextui.text import byte_size, one_line, shown_name
from contextui.words import Lang, Words, msg

_BLOCK_COMMENT = r"/\*[\s\S]*?(?:\*/|\Z)"
_DOUBLE = r'"(?:\\[\s\S]|[^"\\])*(?:"|\Z)'
_SINGLE = r"'(?:\\[\s\S]|[^'\\])*(?:'|\Z)"


def _declaration(kind: str, pattern: str, *within: str) -> Declaration:
    return Declaration(kind, re.compile(pattern), frozenset(within) or None)


_SQL_WORD = r'(?:[\w$#]+|"[^"\n]{1,200}"|`[^`\n]{1,200}`|\[[^\]\n]{1,200}\])'
_CREATE = r"(?i:\s*create\s+(?:or\s+(?:replace|alter)\s+)?"
_SQL_NAME = rf"(?:if\s+not\s+exists\s+)?)(?P<name>{_SQL_WORD}(?:\.{_SQL_WORD}){{0,3}})"
_SQL = Syntax(
    re.compile(
        rf"--[^\n]*|{_BLOCK_COMMENT}|'(?:''|[^'])*(?:'|\Z)"
        r"|\$(?P<tag>\w{0,60})\$[\s\S]*?(?:\$(?P=tag)\$|\Z)"  # the body of a function
    ),
    (
        _declaration(
            "table",
            rf"{_CREATE}(?:(?:global|local|temp|temporary|unlogged|external|virtual|foreign)\s+)*"
            rf"table\s+{_SQL_NAME}",
        ),
        _declaration(
            "view", rf"{_CREATE}(?:(?:materialized|temp|temporary)\s+)*view\s+{_SQL_NAME}"
        ),
        _declaration(
            "function", rf"{_CREATE}(?:aggregate|function|procedure|proc|trigger)\s+{_SQL_NAME}"
        ),
    ),
)

_R_NAME = r"(?P<name>[^\W\d_][\w.]*|\.[\w.]*|`[^`\n]{1,200}`)"
_R_CLASS = r"(?:R6::|methods::)?(?:R6Class|setRefClass|setClass)\s*\("
_R = Syntax(
    re.compile(rf'#[^\n]*|[rR]"(?P<dashes>-*)\([\s\S]*?(?:\)(?P=dashes)"|\Z)|{_DOUBLE}|{_SINGLE}'),
    (
        _declaration("class", rf"\s*{_R_NAME}\s*(?:<<?-|=)\s*{_R_CLASS}"),
        _declaration("function", rf"\s*{_R_NAME}\s*<<?-\s*(?:function\b|\\\()"),
        # Indented, it would be an argument of a call.
        _declaration("function", rf"{_R_NAME}\s*=\s*(?:function\b|\\\()"),
    ),
)

_CSS = Syntax(
    re.compile(
        rf"{_BLOCK_COMMENT}|url\([^)\n]{{0,2000}}\)|//[^\n]*"
        r"""|"(?:\\[\s\S]|[^"\\\n])*"?|'(?:\\[\s\S]|[^'\\\n])*'?"""
    ),
    (
        _declaration("function", r"\s*@(?:mixin|function)\s+(?P<name>[\w-]+)"),
        _declaration(
            "group", r"\s*@(?P<name>media|supports|layer|container|scope)\b[^;]*$", "top", "group"
        ),
        _declaration(
            "selector",
            r"\s*(?![^{]*:\s)(?P<name>[^\s{};@,$\[][^{};,\[]*)(?:[,\[][^{};]*)?(?:\{|(?<=,)\s*$)",
            *("top", "group"),
        ),
    ),
)

SYNTAXES = {"sql": _SQL, "r": _R, "css": _CSS}
"""The syntaxes that are scanned only for gists, by language name as in `language_of`."""


_PATH = 200  # characters of a path; its end says more than its beginning
_NAME = 40  # characters of one name in a list
_NAMES, _LETTERS = 20, 240  # maximum names in a list, and characters of all of them


def gist_line(path: str, facts: Iterable[str], words: Words, *, was_read: bool = True) -> str:
    """Format the whole line: the file, whether it was read, and the facts."""
    name = shown_name(path)
    if len(name) > _PATH:
        name = "…" + name[-_PATH:]
    mark = words("file read") if was_read else words("file")
    return f"[{mark}] {name} ({', '.join(facts)})"


def _list(label: str, names: Sequence[str], words: Words) -> str:
    """Format a labeled list of names; truncate a long list and say how many more there are."""
    shown: list[str] = []
    for name in names[:_NAMES]:
        # Names are untrusted: none may be mistaken for another part of the line.
        word = shown_name(one_line(name, _NAME)) or "''"
        if shown and sum(map(len, shown)) + len(word) > _LETTERS:
            break
        shown.append(word)
    if rest := len(names) - len(shown):
        shown.append(words("… {rest} more", rest=rest))
    return f"{words(label)}: {', '.join(shown)}"


CODE = frozenset({"python", "html", *syntax.SYNTAXES, *SYNTAXES})
"""The languages whose declarations are listed."""

_SCANNED = 500_000  # characters to scan: a parser needs a hundred times as much memory
_LABELS = {
    msg("functions"): {"function", "method", "macro"},
    msg("classes"): {
        *("class", "struct", "interface", "enum", "record", "trait", "union", "annotation"),
    },
    msg("tables"): {"table", "view"},
    msg("selectors"): {"selector"},
}
_QUOTES = str.maketrans("", "", '"`[]')  # around names in SQL and R
_PYTHON_TEXT = re.compile(
    r'"""(?P<double>(?:[^"\\]++|\\[\s\S]|"(?!""))*+)(?:""")?'
    r"|'''(?P<single>(?:[^'\\]++|\\[\s\S]|'(?!''))*+)(?:''')?"
    r"""|#[^\n]*+|"(?:[^"\\\n]++|\\[\s\S])*+"?|'(?:[^'\\\n]++|\\[\s\S])*+'?"""
)
_NOT_A_LINE_END = re.compile(r"[^\n]")
_SCRIPTS = re.compile(
    r"<!--[\s\S]*?(?:-->|\Z)"
    r"|<script\b[^>]{0,2000}>(?P<script>[\s\S]*?)(?:</script|\Z)",
    re.IGNORECASE,
)


def declared(name: str, text: str, lang: Lang) -> list[str]:
    """List the functions, classes, tables and selectors of a program, outermost first."""
    words = Words(lang)
    entries = sorted(_entries(name, text), key=lambda entry: entry.depth)
    lists = []
    for label, kinds in _LABELS.items():
        names = dict.fromkeys(entry.name for entry in entries if entry.kind in kinds)
        if names:
            lists.append(_list(label, list(names), words))
    return lists


def _entries(name: str, text: str) -> list[Entry]:
    language, text = language_of(name) or "", text[:_SCANNED]
    if language == "html":
        scripts = (match["script"] or "" for match in _SCRIPTS.finditer(text))
        return outline("scripts.js", "\n".join(scripts))
    if language == "python":
        return outline(name, _PYTHON_TEXT.sub(_emptied, text))
    if language in SYNTAXES:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        return [
            Entry(kind, found.translate(_QUOTES), line, depth)
            for kind, found, line, depth in scan(text, SYNTAXES[language])
        ]
    return outline(name, text)


def _emptied(match: re.Match[str]) -> str:
    """Blank out a multi-line string: in a file that does not parse, nothing in it must be taken
    for code."""
    inside = match["double"] or match["single"]
    if not inside:
        return match[0]
    blank = _NOT_A_LINE_END.sub(" ", inside)
    return match[0][:3] + blank + match[0][3 + len(inside) :]


def of_json(text: str, words: Words) -> list[str]:
    """The top-level keys of an object, or the length of an array; empty for anything else."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return []
    if isinstance(value, list):
        items = words.plural(len(value), "{n} item", "{n} items", n=len(value))
        return [items, *_keys(value[0] if value else None, words)]
    return _keys(value, words)


def of_json_lines(text: str, words: Words) -> list[str]:
    """The number of values, one per line, and the keys of the first."""
    lines = [line for line in text.split("\n") if line.strip()]
    try:
        first = json.loads(lines[0]) if lines else None
    except (ValueError, RecursionError):
        first = None
    return [_rows(len(lines), words), *_keys(first, words)]


def _keys(value: object, words: Words) -> list[str]:
    return [_list(msg("keys"), list(value), words)] if isinstance(value, dict) and value else []


_DELIMITERS = ",;\t|"
_HEAD = 10_000  # characters of the first line that are searched for the delimiter
_VALUE = re.compile(r"[-+]?(?!(?:19|20)\d\d$)\d[\d.,]*(?:e[-+]?\d+)?%?$", re.IGNORECASE)
_SHEETS = 3
_UNPACKED = 100_000_000  # unpacked bytes from which on a workbook is skipped


def of_csv(text: str, delimiter: str | None, words: Words) -> list[str] | None:
    """The rows and columns of a CSV or TSV file; None if it cannot be parsed."""
    records = csv.reader(
        io.StringIO(text, newline=None), delimiter=delimiter or _delimiter_of(text)
    )
    try:
        first = next((record for record in records if record), [])
        rest = sum(1 for record in records if record)
    except csv.Error:  # a cell over the limit, such as after an unclosed quote
        return None
    return _table(first, rest, words)


def of_workbook(data: bytes, words: Words) -> list[str] | None:
    """The rows and columns of a workbook's sheets; None if it cannot be read.

    Without the extra `contextui[excel]`, the size and what to install.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if sum(member.file_size for member in archive.infolist()) > _UNPACKED:
                return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # openpyxl warns about unsupported features of the file
            sheets = _sheets(data)
    except ImportError:
        return [byte_size(len(data)), words("rows and columns need contextui[excel]")]
    except Exception:  # a damaged workbook may raise anything; the size is shown instead
        return None
    tables = [(title, ", ".join(_table(first, rest, words))) for title, first, rest in sheets]
    if len(tables) == 1:
        return [tables[0][1]]
    named = [f"{shown_name(one_line(title, 40))} ({table})" for title, table in tables[:_SHEETS]]
    sheets_count = words.plural(len(tables), "{n} sheet", "{n} sheets", n=len(tables))
    return [sheets_count, *named]


def _delimiter_of(text: str) -> str:
    line = io.StringIO(text[:_HEAD].lstrip("\r\n"), newline=None).readline()
    found = {}
    for delimiter in _DELIMITERS:
        found[delimiter] = len(next(csv.reader([line], delimiter=delimiter), ()))
    return max(found, key=lambda delimiter: found[delimiter])


def _rows(count: int, words: Words) -> str:
    return words.plural(count, "{n} row", "{n} rows", n=count)


def _table(first: Sequence[str], rest: int, words: Words) -> list[str]:
    names = [cell.strip() for cell in first]
    if not any(names) or any(map(_VALUE.match, names)):
        columns = words.plural(len(names), "{n} column", "{n} columns", n=len(names))
        return [_rows(rest + bool(names), words), *([columns] if names else [])]
    return [_rows(rest, words), _list(msg("columns"), names, words)]


def _sheets(data: bytes) -> list[tuple[str, list[str], int]]:
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
