"""Parse and match .gitignore rules like git does.

Patterns are matched name by name along a path, each part in one pass without backtracking, so no
pattern in an untrusted repository can stall the listing. Like git, this matches bytes (for "?", an
"é" is two) and is case-sensitive; a git with `core.ignorecase` may differ.
"""

import os
import re
from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from contextui.files.paths import Parts

_ANY_FOLDERS = None  # "**": any number of names
_CLASSES = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": " \\t",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": "!-/:-@\\[-`{-~",
    "space": " \\t\\n\\r\\f\\v",
    "upper": "A-Z",
    "xdigit": "0-9a-fA-F",
}


@dataclass(frozen=True, slots=True)
class _Rule:
    names: tuple[re.Pattern[str] | None, ...]
    anchored: bool
    folders_only: bool
    hides: bool

    def matches(self, below: Parts, is_folder: bool) -> bool:
        if self.folders_only and not is_folder:
            return False
        if not self.anchored:
            (pattern,) = self.names
            return bool(pattern and pattern.fullmatch(below[-1]))
        return _along(self.names, below)


class Rules:
    """The rules of one .gitignore file, which apply below its folder."""

    def __init__(self, text: bytes, folder: Parts = ()) -> None:
        self._depth = len(folder)
        self._rules = tuple(_parsed(text))

    def verdict(self, path: Parts, is_folder: bool) -> bool | None:
        """True: hidden, False: shown by a "!", None: no rule matches. The last match counts."""
        below = tuple(map(_byte_by_byte, path[self._depth :]))
        for rule in reversed(self._rules):
            if rule.matches(below, is_folder):
                return rule.hides
        return None


def is_hidden(path: Parts, is_folder: bool, chain: Sequence[Rules]) -> bool:
    """Whether the rules on the way to a path hide it; the nearest file has precedence.

    A hidden folder hides everything in it; the caller checks this while descending.
    """
    for rules in reversed(chain):
        verdict = rules.verdict(path, is_folder)
        if verdict is not None:
            return verdict
    return False


def _byte_by_byte(name: str) -> str:
    """Convert a name to one character per byte."""
    return name if name.isascii() else os.fsencode(name).decode("latin-1")


def _parsed(text: bytes) -> Iterator[_Rule]:
    for line in text.removeprefix(BOM_UTF8).decode("latin-1").split("\n"):
        pattern = _without_trailing_spaces(line.removesuffix("\r"))
        if not pattern or pattern.startswith("#"):
            continue
        hides = not pattern.startswith("!")
        pattern = pattern if hides else pattern[1:]
        folders_only = pattern.endswith("/")
        pattern = pattern.removesuffix("/")
        anchored = "/" in pattern
        names = list(_compiled(pattern.removeprefix("/") if anchored else pattern))
        if not anchored and names == [_ANY_FOLDERS]:
            names = list(_compiled("*"))
        if len(names) == 1 or anchored:
            yield _Rule(tuple(names), anchored, folders_only, hides)


def _without_trailing_spaces(line: str) -> str:
    kept = line.rstrip(" ")
    backslashes = len(kept) - len(kept.rstrip("\\"))
    # An odd number of backslashes escapes the first of the spaces.
    return kept + " " if backslashes % 2 and kept != line else kept


def _compiled(pattern: str) -> Iterator[re.Pattern[str] | None]:
    parts = pattern.split("/")
    for number, part in enumerate(parts):
        if len(part) > 1 and not part.strip("*"):
            if number == 0 or parts[number - 1].strip("*") or len(parts[number - 1]) < 2:
                yield _ANY_FOLDERS
            if number == len(parts) - 1 > 0:
                yield _one_name("*")  # "a/**" matches what is in a, not a itself
        else:
            yield _one_name(part)


def _along(names: tuple[re.Pattern[str] | None, ...], path: Parts) -> bool:
    at = place = 0
    retry: tuple[int, int] | None = None  # after the last "**", and where it was tried last
    while place < len(path):
        if at < len(names):
            pattern = names[at]
            if pattern is _ANY_FOLDERS:
                at += 1
                retry = (at, place)
                continue
            if pattern.fullmatch(path[place]):
                at, place = at + 1, place + 1
                continue
        if retry is None:
            return False
        at, place = retry[0], retry[1] + 1
        retry = (at, place)
    return at == len(names)


def _one_name(pattern: str) -> re.Pattern[str]:
    """Compile a regular expression for one name, without backtracking at its stars."""
    pieces: list[str] = [""]  # split at the stars
    at = 0
    while at < len(pattern):
        char = pattern[at]
        at += 1
        if char == "*":
            pieces.append("")
            continue
        if char == "?":
            piece: str | None = "."
        elif char == "[":
            piece, at = _bracket(pattern, at)
        elif char == "\\":
            piece = re.escape(pattern[at]) if at < len(pattern) else None
            at += 1
        else:
            piece = re.escape(char)
        if piece is None:
            return re.compile(r"(?!)")  # broken: git lets it match nothing
        pieces[-1] += piece
    first, *rest = pieces
    if rest:
        *middle, last = rest
        first += "".join(f"(?>.*?{piece})" for piece in middle if piece) + f".*{last}"
    return re.compile(first, re.DOTALL)


def _bracket(pattern: str, at: int) -> tuple[str | None, int]:
    """Parse a bracket expression, from after the "["; None if it is broken."""
    negated = pattern[at : at + 1] in ("!", "^")
    at += negated
    start, inside = at, ""
    while at < len(pattern):
        char = pattern[at]
        if char == "]" and at > start:
            return f"[{'^' if negated else ''}{inside}]", at + 1
        named = re.compile(r"\[:([a-z]*):\]").match(pattern, at)
        if named:
            if named[1] not in _CLASSES:
                return None, at
            inside += _CLASSES[named[1]]
            at = named.end()
            continue
        low, at = _letter(pattern, at)
        if pattern[at : at + 1] == "-" and pattern[at + 1 : at + 2] not in ("", "]"):
            high, at = _letter(pattern, at + 1)
        else:
            high = low
        if low is None or high is None:
            return None, at
        # Of a reversed range git takes the first letter.
        inside += f"{re.escape(low)}-{re.escape(high)}" if low <= high else re.escape(low)
    return None, at


def _letter(pattern: str, at: int) -> tuple[str | None, int]:
    if pattern[at] != "\\":
        return pattern[at], at + 1
    return (pattern[at + 1], at + 2) if at + 1 < len(pattern) else (None, at + 1)
