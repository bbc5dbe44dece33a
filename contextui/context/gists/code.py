"""What a program declares, as the lists of a gist."""

import re

from contextui.config.choices import Lang
from contextui.context.gists.syntax import SYNTAXES
from contextui.context.gists.wording import listed
from contextui.files import syntax
from contextui.files.languages import language_of
from contextui.files.outline import Entry, outline
from contextui.files.scanning import scan

CODE = frozenset({"python", "html", *syntax.SYNTAXES, *SYNTAXES})
"""The languages whose declarations are told."""

_SCANNED = 500_000  # characters that are looked through: a parser takes a hundred times as much
_LABELS = {
    "functions": {"function", "method", "macro"},
    "classes": {
        *("class", "struct", "interface", "enum", "record", "trait", "union", "annotation"),
    },
    "tables": {"table", "view"},
    "selectors": {"selector"},
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
    """The functions, classes, tables and selectors of a program; what is outermost comes first."""
    entries = sorted(_entries(name, text), key=lambda entry: entry.depth)
    lists = []
    for label, kinds in _LABELS.items():
        names = dict.fromkeys(entry.name for entry in entries if entry.kind in kinds)
        if names:
            lists.append(listed(label, list(names), lang))
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
    """A text of several lines without its words: in a file that does not parse, nothing in them
    must be taken for code."""
    inside = match["double"] or match["single"]
    if not inside:
        return match[0]
    blank = _NOT_A_LINE_END.sub(" ", inside)
    return match[0][:3] + blank + match[0][3 + len(inside) :]
