"""The code blocks of an answer: found, described, and saved to the code store."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from contextui.config.choices import Lang
from contextui.context.gists.code import declared
from contextui.session.code.file import CodeFile, counts_of
from contextui.session.code.languages import LANGUAGES, is_known
from contextui.session.code.store import CodeStore

SHORTEST = 11
"""Lines from which on a block is worth keeping (S4.4: longer than 10 lines)."""

_BLOCK = re.compile(
    r"^(?P<indent> {0,3})(?P<fence>`{3,}+|~{3,}+)[ \t]*(?P<info>[^`\n]*)\n"
    r"(?P<code>[\s\S]*?)^ {0,3}(?P=fence)[`~]*+[ \t]*$",
    re.MULTILINE,
)
_NOT_IN_IDS = re.compile(r"[^A-Za-z0-9]+")
_NAMED = re.compile(r"[^:：]*[:：]\s*(?P<first>\w+)")


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """A fenced block of an answer.

    Attributes:
        language: What its fence says, or text that is no language.
        code: What stands in it, with the last line's end.
    """

    language: str
    code: str


def code_blocks(answer: str, shortest: int = SHORTEST) -> Iterator[CodeBlock]:
    """The blocks of an answer that are whole and long enough, in order."""
    for match in _BLOCK.finditer(answer):
        code = match["code"]
        if match["indent"]:
            code = re.sub(rf"^ {{1,{len(match['indent'])}}}", "", code, flags=re.MULTILINE)
        if counts_of(code)[0] >= shortest:
            words = match["info"].split()
            yield CodeBlock(words[0] if words else "", code)


def save_blocks(store: CodeStore, answer: str, lang: Lang = "en") -> list[CodeFile]:
    """Save the long code blocks of an answer, each under an id of its own.

    A block that the store already has, word for word, is not saved again. Nothing that is there
    is replaced.

    Raises:
        CodeStoreError: One could not be saved; those before it are.
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
    """An id that says what the code is, such as ``code_load_sales``, and is not taken."""
    names = declared(f"x.{LANGUAGES.get(language.lower(), language)}", code, "en")
    found = _NAMED.match(names[0]) if names else None
    plain = _NOT_IN_IDS.sub("_", found["first"] if found else language).strip("_").lower()[:40]
    base = f"code_{plain or 'block'}"
    lower = {one.lower() for one in taken}
    number, free = 2, base
    while free in lower:
        free, number = f"{base}_{number}", number + 1
    return free
