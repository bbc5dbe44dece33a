"""Outlines: the functions, classes and headings of a file, with their lines.

Python is parsed. Other languages are only scanned for declarations, with comments and strings
blanked out: good enough for navigation.
"""

import ast
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

from contextui.files.syntax import SYNTAXES, language_of, scan
from contextui.files.textfile import shorten

_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_SCANNED = 500_000
_PARSED = 2_000_000  # characters: parsing takes some hundred times the memory of the text


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of an outline.

    Attributes:
        kind: "function", "class", "method", "heading", "struct" …
        depth: The number of enclosing entries; a heading's level minus one.
    """

    kind: str
    name: str
    line: int
    depth: int


def outline(name: str, text: str) -> list[Entry]:
    """The outline of a file's text; empty if it has none.

    Example:
        >>> [entry.name for entry in outline("a.py", "class A:\\n    def b(self): ...")]
        ['A', 'b']
    """
    language = language_of(name)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if language == "markdown":
        return list(_headings(text))
    if language == "python":
        return _of_python(text)
    if language in SYNTAXES:
        return [Entry(*found) for found in scan(text[:_SCANNED], SYNTAXES[language])]
    return []


def shallowest(entries: list[Entry], most: int) -> list[Entry]:
    """Limit the number of entries: drop the deepest first, then the last ones."""
    while len(entries) > most and (depth := max(entry.depth for entry in entries)):
        entries = [entry for entry in entries if entry.depth < depth]
    return entries[:most]


def numbered(entries: list[Entry]) -> list[str]:
    """Format entries as lines: line number, kind and name, indented by depth."""
    width = len(str(entries[-1].line)) if entries else 0
    return [
        f"{entry.line:>{width}} {'  ' * entry.depth}{entry.kind} {shorten(entry.name, 80)}"
        for entry in entries
    ]


# --- Python ------------------------------------------------------------------------------------

_PYTHON_LINE = re.compile(r"([ \t]*)(?:async[ \t]+)?(def|class)[ \t]+(\w+)")


def _of_python(text: str) -> list[Entry]:
    if len(text) <= _PARSED:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about invalid escapes in the file
                tree = ast.parse(text)
            return list(_definitions(tree, 0, in_class=False))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            pass
    return list(_python_lines(text))


def _definitions(node: ast.AST, depth: int, *, in_class: bool) -> Iterator[Entry]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _Definition):
            is_class = isinstance(child, ast.ClassDef)
            kind = "class" if is_class else "method" if in_class else "function"
            yield Entry(kind, child.name, child.lineno, depth)
            if is_class:
                yield from _definitions(child, depth + 1, in_class=True)
        elif isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
            yield from _definitions(child, depth, in_class=in_class)  # inside an "if" or "try"


def _python_lines(text: str) -> Iterator[Entry]:
    """Scan a file that does not parse, using its indentation."""
    above: list[tuple[int, str]] = []
    for number, line in enumerate(text.split("\n"), 1):
        match = _PYTHON_LINE.match(line)
        if not match:
            continue
        indent, word = len(match[1].expandtabs()), match[2]
        while above and above[-1][0] >= indent:
            above.pop()
        if above and above[-1][1] == "def":
            continue
        kind = "class" if word == "class" else "method" if above else "function"
        yield Entry(kind, match[3], number, len(above))
        above.append((indent, word))


# --- Markdown ----------------------------------------------------------------------------------

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*))?$")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_CLOSING = re.compile(r"(?:^|[ \t])#+[ \t]*$")
_NO_PARAGRAPH = re.compile(r"$|[ \t]*(?:[>|#]|[-*+][ \t]|\d+[.)][ \t]|```|~~~)| {4}|\t")


def _headings(text: str) -> Iterator[Entry]:
    fence, paragraph, start = "", "", 0
    for number, line in enumerate(text.split("\n"), 1):
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not mark[2].strip():
                fence = ""
            continue
        if mark and not (mark[1][0] == "`" and "`" in mark[2]):
            fence, paragraph = mark[1], ""
        elif heading := _HEADING.match(line):
            name = _CLOSING.sub("", heading[2] or "").strip()
            yield Entry("heading", name, number, len(heading[1]) - 1)
            paragraph = ""
        elif paragraph and (under := _UNDERLINE.match(line)):
            yield Entry("heading", paragraph, start, 0 if under[1][0] == "=" else 1)
            paragraph = ""
        elif paragraph and line.strip():
            paragraph = f"{paragraph} {line.strip()}"
        elif _NO_PARAGRAPH.match(line):
            paragraph = ""
        else:
            paragraph, start = line.strip(), number
