"""References to saved code and to files in an answer, and their text where a person reads it."""

import re
from contextlib import suppress

from contextui.config.choices import Lang
from contextui.files.errors import FileError
from contextui.files.languages import language_of
from contextui.files.workspace import Workspace
from contextui.session.code.file import CodeFile
from contextui.session.code.index import CodeStoreError
from contextui.session.code.store import CodeStore

_REFERENCE = re.compile(
    r"^ {0,3}(?P<fence>`{3,}+|~{3,}+)[^`\n]*(?:\n[\s\S]*?(?:^ {0,3}(?P=fence)[`~]*+[ \t]*$|\Z)|\Z)"
    r"|(?<!`)(?P<ticks>`++)[^`\n]+(?P=ticks)"
    r"|<(?P<kind>code|file)_ref>(?P<id>[^<>]{1,200}+)</(?P=kind)_ref>",
    re.MULTILINE,
)


MARKS = ("<code_ref>", "<file_ref>")
"""What a reference begins with."""

LONGEST = 250
"""Characters that a reference has at most."""

FILE_LINES = 400
"""Lines of a file that are shown in the place of a reference to it."""


def has_reference(text: str) -> bool:
    """Whether a reference may begin somewhere in the text."""
    return any(mark in text for mark in MARKS)


def with_code(text: str, workspace: Workspace | None, lang: Lang = "en", *, start: int = 0) -> str:
    """A model's words with the code and the files of a project that they refer to.

    Args:
        text: The words.
        workspace: The project; None if its folder is gone.
        lang: The language of the mark at what is not found.
        start: Where to begin: what stands before only tells what is code there, and is left out.
    """
    if workspace is None or not has_reference(text[start:]):
        return text[start:]
    try:
        store = CodeStore.of(workspace)
        return resolve_code_refs(text, store, lang, start=start, workspace=workspace)
    except FileError:  # a link leads out of the folder; the reference says what is meant
        return text[start:]


def resolve_code_refs(
    text: str,
    store: CodeStore,
    lang: Lang = "en",
    *,
    start: int = 0,
    workspace: Workspace | None = None,
) -> str:
    """Put the code in the place of each ``<code_ref>id</code_ref>``, for a person to read.

    With a workspace, the same for ``<file_ref>path</file_ref>``: the first lines of the file.

    What comes out is Markdown for a person and must never go back into the context. References
    within code are examples and stay as they are; so do those that lead nowhere, with a mark.

    Args:
        text: What a model said.
        store: Where the code is.
        lang: The language of the mark.
        start: Where to begin; what stands before is left out.
        workspace: Where the files are.
    """
    if not has_reference(text[start:]):
        return text[start:]
    known: dict[str, CodeFile] = {}
    with suppress(CodeStoreError):
        known = {file.code_id: file for file in store.list()}

    def resolve(match: re.Match[str]) -> str:
        if match["id"] is None or match.start() < start:
            return match[0]
        name = match["id"].strip()
        try:
            if match["kind"] == "file":
                return _fenced(language_of(name) or "", _beginning(name, workspace, lang), match)
            return _fenced(known[name].language, store.read(name), match)
        except (KeyError, CodeStoreError, FileError):
            return match[0] + _NOT_FOUND[match["kind"]][lang]

    return _REFERENCE.sub(resolve, text)[start:]


_NOT_FOUND: dict[str, dict[Lang, str]] = {
    "code": {"en": " (code not found)", "zh": " (找不到这段代码)"},
    "file": {"en": " (file not found)", "zh": " (找不到这个文件)"},
}
_MORE_LINES: dict[Lang, str] = {"en": "… more lines in {path}", "zh": "… {path} 还有更多行"}


def _beginning(path: str, workspace: Workspace | None, lang: Lang) -> str:
    if workspace is None:
        raise KeyError(path)
    page = workspace.read_page(path, 1, FILE_LINES)
    more = [_MORE_LINES[lang].format(path=path)] if page.more else []
    return "\n".join([*page.lines, *more])


def _fenced(language: str, code: str, place: re.Match[str]) -> str:
    """The code on lines of its own, in a fence that is longer than any within it."""
    longest = max(map(len, re.findall("`+", code)), default=0)
    fence = "`" * max(3, longest + 1)
    before = "" if place.start() == 0 or place.string[place.start() - 1] == "\n" else "\n"
    after = "" if place.string[place.end() : place.end() + 1] in ("", "\n") else "\n"
    end = "" if code.endswith("\n") else "\n"
    return f"{before}{fence}{language}\n{code}{end}{fence}{after}"
