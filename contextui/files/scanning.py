"""Looking for declarations in a program text, line by line, with its blocks kept in mind."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_OPAQUE = {"function", "method"}  # what is declared in their bodies is nobody else's business
_LONGEST = 1_000  # letters of a line that declares something; minified ones are passed over
_DEEPEST = 20
_SIGNS = re.compile(r"[{};]")
_NOT_A_LINE_END = re.compile(r"[^\n]")


@dataclass(frozen=True)
class Declaration:
    """How one kind of thing is declared.

    Attributes:
        kind: What it is called in an outline.
        pattern: Matched at a line's start; its group "name" is the name.
        within: The kinds it has to stand directly in, "top" for the file itself; None for
            anywhere that is no function.
    """

    kind: str
    pattern: re.Pattern[str]
    within: frozenset[str] | None = None


@dataclass(frozen=True)
class Syntax:
    """What has to be known of a language.

    Attributes:
        blanks: Comments and strings, which are blanked out; a group "keep" stays.
        declarations: What is looked for; the first that matches counts.
        braces: Whether blocks stand in braces; otherwise they end with an "end" as far to the
            right as their beginning.
        members: What a function is called directly in a thing of these kinds: a method.
    """

    blanks: re.Pattern[str]
    declarations: tuple[Declaration, ...]
    braces: bool = True
    members: frozenset[str] = frozenset()


@dataclass(slots=True)
class _Open:
    kind: str
    level: int
    begun: bool  # whether its block has begun


def scan(text: str, syntax: Syntax) -> Iterator[tuple[str, str, int, int]]:
    """The kind, name, line and depth of each declaration."""
    blank = syntax.blanks.sub(_blanked, text)
    open_: list[_Open] = []
    level = 0
    for number, line in enumerate(blank.split("\n"), 1):
        here = level if syntax.braces else len(line) - len(line.lstrip())
        if not syntax.braces and line.strip():
            while open_ and open_[-1].level >= here:
                open_.pop()
        around = [each for each in open_ if each.begun]
        found = _declared(line, around, here, syntax)
        if found:
            kind, name = found
            yield kind, name, number, len(around)
            # What had no block until now will not get one any more.
            open_[:] = [*around, _Open(kind, here, begun=not syntax.braces)]
        if syntax.braces:
            level = _follow(line, level, open_)


def _blanked(match: re.Match[str]) -> str:
    kept = match.groupdict().get("keep") or ""
    return kept + _NOT_A_LINE_END.sub(" ", match[0][len(kept) :])


def _declared(line: str, around: list[_Open], here: int, syntax: Syntax) -> tuple[str, str] | None:
    inmost, level = (around[-1].kind, around[-1].level) if around else ("top", -1)
    if inmost in _OPAQUE or len(around) >= _DEEPEST or len(line) > _LONGEST:
        return None
    for declaration in syntax.declarations:
        if declaration.within is not None and (
            inmost not in declaration.within or (syntax.braces and here != level + 1)
        ):
            continue
        match = declaration.pattern.match(line)
        if match:
            member = declaration.kind == "function" and inmost in syntax.members
            return ("method" if member else declaration.kind), match["name"].strip()
    return None


def _follow(line: str, level: int, open_: list[_Open]) -> int:
    """The level behind a line; what was closed on it, or had no block at all, is taken off."""
    for char in _SIGNS.findall(line):
        if char == "{":
            level += 1
            if open_ and open_[-1].level == level - 1:
                open_[-1].begun = True
        elif char == "}":
            level = max(level - 1, 0)
            while open_ and open_[-1].begun and open_[-1].level >= level:
                open_.pop()
        elif char == ";" and open_ and not open_[-1].begun and open_[-1].level == level:
            open_.pop()  # declared, but without a body
    return level
