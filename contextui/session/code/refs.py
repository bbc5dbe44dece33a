"""References to saved code in what a model says, and the code itself where a person reads it."""

import re
from contextlib import suppress

from contextui.config.choices import Lang
from contextui.session.code.file import CodeFile
from contextui.session.code.index import CodeStoreError
from contextui.session.code.store import CodeStore

_REFERENCE = re.compile(
    r"^ {0,3}(?P<fence>`{3,}+|~{3,}+)[^`\n]*(?:\n[\s\S]*?(?:^ {0,3}(?P=fence)[`~]*+[ \t]*$|\Z)|\Z)"
    r"|(?<!`)(?P<ticks>`++)[^`\n]+(?P=ticks)"
    r"|<code_ref>(?P<id>[^<>]{1,200}+)</code_ref>",
    re.MULTILINE,
)


def resolve_code_refs(text: str, store: CodeStore, lang: Lang = "en") -> str:
    """Put the code in the place of each ``<code_ref>id</code_ref>``, for a person to read.

    What comes out is Markdown for the screen and must never go back into the context. References
    within code are examples and stay as they are; so do those that lead nowhere, with a mark.
    """
    if "<code_ref>" not in text:
        return text
    known: dict[str, CodeFile] = {}
    with suppress(CodeStoreError):
        known = {file.code_id: file for file in store.list()}

    def resolve(match: re.Match[str]) -> str:
        if match["id"] is None:
            return match[0]
        code_id = match["id"].strip()
        try:
            return _fenced(known[code_id].language, store.read(code_id), match)
        except (KeyError, CodeStoreError):
            return match[0] + (" (找不到这段代码)" if lang == "zh" else " (code not found)")

    return _REFERENCE.sub(resolve, text)


def _fenced(language: str, code: str, place: re.Match[str]) -> str:
    """The code on lines of its own, in a fence that is longer than any within it."""
    longest = max(map(len, re.findall("`+", code)), default=0)
    fence = "`" * max(3, longest + 1)
    before = "" if place.start() == 0 or place.string[place.start() - 1] == "\n" else "\n"
    after = "" if place.string[place.end() : place.end() + 1] in ("", "\n") else "\n"
    end = "" if code.endswith("\n") else "\n"
    return f"{before}{fence}{language}\n{code}{end}{fence}{after}"
