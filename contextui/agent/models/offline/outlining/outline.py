"""A summary without a model: for each heading the sentences that fit it, verbatim."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from contextui.agent.models.offline.lexicon.headings import DEFAULT, KINDS, Kind, Source
from contextui.agent.models.offline.lexicon.stems import stem
from contextui.agent.models.offline.reading.token import Kind as TokenKind
from contextui.agent.models.offline.reading.words import is_chinese, tokens_of
from contextui.agent.models.offline.shown.blocks import window_of
from contextui.model import Block, LlmMessage
from contextui.text import one_line
from contextui.words import Lang

_HEADING = re.compile(
    r"^[ \t]{0,8}(?:#{1,6}|[-*•]|\d{1,2}[.)、])[ \t]*([^\n]{1,200})$", re.MULTILINE
)
_SENTENCE = re.compile(r"[^\n.!?。！？]+(?:[.!?](?!\s|$)[^\n.!?。！？]*)*[.!?。！？]*")
_WORD = re.compile(r"[^\W_]+")
_NONE = {"en": "(none)", "zh": "（无）"}
_FIRST, _LAST = 3, 9  # sentences of a heading: from the beginning, and from the end
_LONGEST, _READ = 300, 200_000  # characters of a sentence, and of the conversation that is read
_MOST = 20  # headings


@dataclass(frozen=True, slots=True)
class _Sentence:
    text: str
    source: Source


def asked_headings(words: str) -> tuple[str, ...] | None:
    """The headings of the summary that is asked for; None if none is asked for."""
    head = words[:8_000]
    if not any(one.has("@summarize", "#summary") for one in tokens_of(head)):
        return None
    found = [re.split(r"[:：]|\s[-–—]\s", line)[0].strip(" *_`") for line in _HEADING.findall(head)]
    lang = "zh" if is_chinese(head) else "en"
    return tuple(dict.fromkeys(filter(None, found)))[:_MOST] or DEFAULT[lang]


def outline(messages: Sequence[LlmMessage], headings: Sequence[str], lang: Lang) -> str:
    """The sentences of a conversation that fit each heading, as they were said.

    Args:
        messages: The conversation, without the words that ask for the summary.
        headings: What the summary is to be ordered by.
        lang: The language of the few words that are added.

    Example:
        >>> outline(messages, ["Goal", "Errors"], "en")
        '## Goal\\n- Make a shopping list.\\n\\n## Errors\\n(none)'
    """
    sentences = list(dict.fromkeys(_sentences(messages)))
    parts = []
    for heading in headings:
        fitting = _fitting(heading, sentences)
        if len(fitting) > _FIRST + _LAST:
            fitting = [*fitting[:_FIRST], *fitting[-_LAST:]]
        lines = [f"- {one_line(one.text, _LONGEST)}" for one in fitting]
        parts.append("\n".join([f"## {one_line(heading, 100)}", *(lines or [_NONE[lang]])]))
    return "\n\n".join(parts)


def _fitting(heading: str, sentences: Sequence[_Sentence]) -> list[_Sentence]:
    asked = _stems(heading)
    kind = next((one for one in KINDS if _names(one.headings, heading, asked)), None)
    if kind is None:
        return [one for one in sentences if asked & _stems(one.text)]
    return [one for one in sentences if _fits(one, kind)]


def _fits(sentence: _Sentence, kind: Kind) -> bool:
    if sentence.source in kind.sources:
        return True
    if kind.paths and any(one.kind is TokenKind.PATH for one in tokens_of(sentence.text)):
        return True
    return _names(kind.words, sentence.text, _stems(sentence.text))


def _names(words: Sequence[str], text: str, stems: frozenset[str]) -> bool:
    """Whether one of the words stands in a text; a Chinese one has no spaces around it."""
    return any(stem(one) in stems if one.isascii() else one in text for one in words)


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in _WORD.findall(text) if len(word) > 2)


def _sentences(messages: Sequence[LlmMessage]) -> Iterator[_Sentence]:
    """What was said, oldest first; of a long conversation the later part."""
    found: list[list[_Sentence]] = []
    room = _READ
    for message in reversed(messages):
        if room <= 0:
            break
        parts = [one for one in _parts(message) if not window_of(one[0])]
        room -= sum(len(text) for text, _ in parts)
        found.append([
            _Sentence(line, source)
            for text, source in parts
            for match in _SENTENCE.findall(text[:_READ])
            if len(line := match.strip(" \t-*•>")) > 1 and not line.startswith("#")
        ])  # fmt: skip
    for sentences in reversed(found):
        yield from sentences


def _parts(message: LlmMessage) -> Iterator[tuple[str, Source]]:
    if isinstance(message.content, str):
        yield message.content, "person" if message.role == "user" else "model"
        return
    for block in message.content:
        kind = block.get("type")
        if kind == "text":
            yield str(block.get("text")), "person" if message.role == "user" else "model"
        elif kind == "tool_result":
            yield _result(block), "error" if block.get("is_error") else "result"


def _result(block: Block) -> str:
    content = block.get("content")
    if isinstance(content, list | tuple):
        content = content[0].get("text") if content and isinstance(content[0], Mapping) else ""
    return content if isinstance(content, str) else ""
