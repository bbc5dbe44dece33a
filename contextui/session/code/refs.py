"""References to saved code and files in an answer: resolve them, and save long code blocks."""

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from contextui.context.gists.formats import declared
from contextui.files.errors import FileError
from contextui.files.syntax import language_of
from contextui.files.workspace import Workspace
from contextui.session.code.index import CodeStoreError
from contextui.session.code.store import LANGUAGES, CodeFile, CodeStore, counts_of, is_known
from contextui.words import Lang, Words

_REFERENCE = re.compile(
    r"^ {0,3}(?P<fence>`{3,}+|~{3,}+)[^`\n]*(?:\n[\s\S]*?(?:^ {0,3}(?P=fence)[`~]*+[ \t]*$|\Z)|\Z)"
    r"|(?<!`)(?P<ticks>`++)[^`\n]+(?P=ticks)"
    r"|<(?P<kind>code|file)_ref>(?P<id>[^<>]{1,200}+)</(?P=kind)_ref>",
    re.MULTILINE,
)


MARKS = ("<code_ref>", "<file_ref>")
"""The opening tags of references."""

LONGEST = 250
"""Maximum characters of a reference."""

FILE_LINES = 400
"""Maximum lines of a file shown in place of a reference."""


def has_reference(text: str) -> bool:
    """Whether a reference may start in the text."""
    return any(mark in text for mark in MARKS)


def with_code(text: str, workspace: Workspace | None, lang: Lang = "en", *, start: int = 0) -> str:
    """Resolve a model's references to a project's code and files.

    Text before `start` only provides context (which parts are code) and is not returned.
    """
    if workspace is None or not has_reference(text[start:]):
        return text[start:]
    try:
        store = CodeStore.of(workspace)
        return resolve_code_refs(text, store, lang, start=start, workspace=workspace)
    except FileError:  # a link leads out of the folder; leave the references as they are
        return text[start:]


def resolve_code_refs(
    text: str,
    store: CodeStore,
    lang: Lang = "en",
    *,
    start: int = 0,
    workspace: Workspace | None = None,
) -> str:
    """Replace each ``<code_ref>id</code_ref>`` with the code, for display.

    With a workspace, replace each ``<file_ref>path</file_ref>`` with the file's first lines.

    The result is Markdown for the person and must never go back into the context. References inside
    code are examples and stay as they are; unresolved ones stay, with a mark.

    Args:
        text: The model's text.
        store: The code store.
        lang: The language of the mark.
        start: Offset at which to start; earlier text is not returned.
        workspace: The project's files.
    """
    if not has_reference(text[start:]):
        return text[start:]
    words = Words(lang)
    known: dict[str, CodeFile] = {}
    with suppress(CodeStoreError):
        known = {file.code_id: file for file in store.list()}

    def resolve(match: re.Match[str]) -> str:
        if match["id"] is None or match.start() < start:
            return match[0]
        name = match["id"].strip()
        try:
            if match["kind"] == "file":
                return _fenced(language_of(name) or "", _beginning(name, workspace, words), match)
            return _fenced(known[name].language, store.read(name), match)
        except (KeyError, CodeStoreError, FileError):
            return match[0] + words(
                " (code not found)" if match["kind"] == "code" else " (file not found)"
            )

    return _REFERENCE.sub(resolve, text)[start:]


def _beginning(path: str, workspace: Workspace | None, words: Words) -> str:
    if workspace is None:
        raise KeyError(path)
    page = workspace.read_page(path, 1, FILE_LINES)
    more = [words("… more lines in {path}", path=path)] if page.more else []
    return "\n".join([*page.lines, *more])


def _fenced(language: str, code: str, place: re.Match[str]) -> str:
    longest = max(map(len, re.findall("`+", code)), default=0)
    fence = "`" * max(3, longest + 1)
    before = "" if place.start() == 0 or place.string[place.start() - 1] == "\n" else "\n"
    after = "" if place.string[place.end() : place.end() + 1] in ("", "\n") else "\n"
    end = "" if code.endswith("\n") else "\n"
    return f"{before}{fence}{language}\n{code}{end}{fence}{after}"


SHORTEST = 11
"""Minimum lines of a code block to be saved."""

_BLOCK = re.compile(
    r"^(?P<indent> {0,3})(?P<fence>`{3,}+|~{3,}+)[ \t]*(?P<info>[^`\n]*)\n"
    r"(?P<code>[\s\S]*?)^ {0,3}(?P=fence)[`~]*+[ \t]*$",
    re.MULTILINE,
)
_NOT_IN_IDS = re.compile(r"[^A-Za-z0-9]+")
_NAMED = re.compile(r"[^:：]*[:：]\s*(?P<first>\w+)")


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """A fenced code block of an answer; its language need not be a known one."""

    language: str
    code: str


def code_blocks(answer: str, shortest: int = SHORTEST) -> Iterator[CodeBlock]:
    """Yield the complete code blocks of an answer that are long enough, in order."""
    for match in _BLOCK.finditer(answer):
        code = match["code"]
        if match["indent"]:
            code = re.sub(rf"^ {{1,{len(match['indent'])}}}", "", code, flags=re.MULTILINE)
        if counts_of(code)[0] >= shortest:
            words = match["info"].split()
            yield CodeBlock(words[0] if words else "", code)


def save_blocks(store: CodeStore, answer: str, lang: Lang = "en") -> list[CodeFile]:
    """Save the long code blocks of an answer, each under its own id.

    A block that the store already has verbatim is not saved again. Nothing is overwritten.

    Raises:
        CodeStoreError: One could not be saved; those before it were.
    """
    saved = []
    there = {one.code_id: one for one in store.list()}
    for block in code_blocks(answer):
        counts = counts_of(block.code)
        same = (one for one in there.values() if (one.line_count, one.char_count) == counts)
        if any(store.read(one.code_id) == block.code for one in same):
            continue
        language = block.language if is_known(block.language) else "markdown"
        file = store.save(
            _free_id(language, block.code, set(there)), language, block.code, lang=lang
        )
        there[file.code_id] = file
        saved.append(file)
    return saved


def _free_id(language: str, code: str, taken: set[str]) -> str:
    """Return an unused id that describes the code, such as ``code_load_sales``."""
    names = declared(f"x.{LANGUAGES.get(language.lower(), language)}", code, "en")
    found = _NAMED.match(names[0]) if names else None
    plain = _NOT_IN_IDS.sub("_", found["first"] if found else language).strip("_").lower()[:40]
    base = f"code_{plain or 'block'}"
    lower = {one.lower() for one in taken}
    number, free = 2, base
    while free in lower:
        free, number = f"{base}_{number}", number + 1
    return free
