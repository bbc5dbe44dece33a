"""How many columns of a terminal a text takes: Chinese characters take two."""

import re
import unicodedata

# What stays whole, with the spaces behind it. Punctuation stays with the character before it, an
# opening bracket or quote with the one after it.
_WIDE = "[\u2e80-\u3007\u3021-\u9fff\uac00-\ud7af\uf900-\ufaff]"  # Chinese, Japanese, Korean
_WORD = rf"(?:(?!{_WIDE})[^\s（“《])+"
_PIECE = re.compile(rf"[（“《]*(?:{_WIDE}|{_WORD})[，。；：、！？）”》…]*\s*|\s+|.")


def width(text: str) -> int:
    """The columns of a text in one line."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def cut(text: str, columns: int) -> str:
    """The text, or as much of it as there is room for and "…"."""
    if width(text) <= columns:
        return text
    room = columns - 1
    for place, char in enumerate(text):
        room -= _columns(char)
        if room < 0:
            return text[:place] + "…"
    return text


def cut_before(text: str, columns: int) -> str:
    """The text, or "…" and as much of its end as there is room for."""
    return text if width(text) <= columns else cut(text[::-1], columns)[::-1]


def padded(text: str, columns: int) -> str:
    """The text with spaces behind it."""
    return text + " " * (columns - width(text))


def wrapped(text: str, columns: int) -> list[str]:
    """The text in lines of at most so many columns, cut at spaces and between wide characters.

    What is longer than a line and has neither stays whole.

    Example:
        >>> wrapped("one two 三四", 9)
        ['one two', '三四']
    """
    lines, line = list[str](), ""
    for piece in _PIECE.findall(text):
        if line.strip() and width(line + piece.rstrip()) > columns:
            lines.append(line.rstrip())
            line = ""
        line += piece if line else piece.lstrip()
    return [*lines, line.rstrip()] if line.strip() or not lines else lines


def _columns(char: str) -> int:
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
