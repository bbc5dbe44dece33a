"""References to saved code in what a model says, and the code itself where a person reads it."""

import re
from contextlib import suppress

from contextui.config.choices import Lang
from contextui.files.errors import FileError
from contextui.files.workspace import Workspace
from contextui.session.code.file import CodeFile
from contextui.session.code.index import CodeStoreError
from contextui.session.code.store import CodeStore

_REFERENCE = re.compile(
    r"^ {0,3}(?P<fence>`{3,}+|~{3,}+)[^`\n]*(?:\n[\s\S]*?(?:^ {0,3}(?P=fence)[`~]*+[ \t]*$|\Z)|\Z)"
    r"|(?<!`)(?P<ticks>`++)[^`\n]+(?P=ticks)"
    r"|<code_ref>(?P<id>[^<>]{1,200}+)</code_ref>",
    re.MULTILINE,
)


MARK = "<code_ref>"
"""What a reference begins with."""

LONGEST = 250
"""Characters that a reference has at most."""


def with_code(text: str, workspace: Workspace | None, lang: Lang = "en", *, start: int = 0) -> str:
    """A model's words with the code files of a project that they refer to.

    Args:
        text: The words.
        workspace: The project; None if its folder is gone.
        lang: The language of the mark at what is not found.
        start: Where to begin: what stands before only tells what is code there, and is left out.
    """
    if workspace is None or MARK not in text[start:]:
        return text[start:]
    try:
        return resolve_code_refs(text, CodeStore.of(workspace), lang, start=start)
    except FileError:  # a link leads out of the folder; the reference says what is meant
        return text[start:]


def resolve_code_refs(text: str, store: CodeStore, lang: Lang = "en", *, start: int = 0) -> str:
    """Put the code in the place of each ``<code_ref>id</code_ref>``, for a person to read.

    What comes out is Markdown for a person and must never go back into the context. References
    within code are examples and stay as they are; so do those that lead nowhere, with a mark.

    Args:
        text: What a model said.
        store: Where the code is.
        lang: The language of the mark.
        start: Where to begin; what stands before is left out.
    """
    if MARK not in text[start:]:
        return text[start:]
    known: dict[str, CodeFile] = {}
    with suppress(CodeStoreError):
        known = {file.code_id: file for file in store.list()}

    def resolve(match: re.Match[str]) -> str:
        if match["id"] is None or match.start() < start:
            return match[0]
        code_id = match["id"].strip()
        try:
            return _fenced(known[code_id].language, store.read(code_id), match)
        except (KeyError, CodeStoreError):
            return match[0] + (" (找不到这段代码)" if lang == "zh" else " (code not found)")

    return _REFERENCE.sub(resolve, text)[start:]


def _fenced(language: str, code: str, place: re.Match[str]) -> str:
    """The code on lines of its own, in a fence that is longer than any within it."""
    longest = max(map(len, re.findall("`+", code)), default=0)
    fence = "`" * max(3, longest + 1)
    before = "" if place.start() == 0 or place.string[place.start() - 1] == "\n" else "\n"
    after = "" if place.string[place.end() : place.end() + 1] in ("", "\n") else "\n"
    end = "" if code.endswith("\n") else "\n"
    return f"{before}{fence}{language}\n{code}{end}{fence}{after}"
