"""Summaries and states without a model: sentences and values as they were said."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from contextui.agent.models.offline.lexicon import lexicon, stem
from contextui.agent.models.offline.scene import result_text, window_of
from contextui.agent.models.offline.tokens import is_chinese, tokenize
from contextui.model import LlmMessage
from contextui.text import one_line
from contextui.words import Lang, Words

_HEADING = re.compile(
    r"^[ \t]{0,8}(?:#{1,6}|[-*•]|\d{1,2}[.)、])[ \t]*([^\n]{1,200})$", re.MULTILINE
)
_SENTENCE = re.compile(r"[^\n.!?。！？]+(?:[.!?](?!\s|$)[^\n.!?。！？]*)*[.!?。！？]*")
_WORD = re.compile(r"[^\W_]+")
_SUMMARIZE = re.compile(r"summar|recap|总结|摘要|概括|小结", re.IGNORECASE)
_FIRST, _LAST = 3, 9  # sentences of a heading: from the beginning, and from the end
_LONGEST, _READ = 300, 200_000  # characters of a sentence, and of the conversation that is read
_MOST = 20  # headings
_Sentence = tuple[str, str]  # what was said, and by whom


def asked_headings(text: str) -> tuple[str, ...] | None:
    """Return the headings of the summary that is asked for; None if none is asked for."""
    head = text[:8_000]
    if not _SUMMARIZE.search(head):
        return None
    found = [re.split(r"[:：]|\s[-–—]\s", line)[0].strip(" *_`") for line in _HEADING.findall(head)]
    words = Words("zh" if is_chinese(head) else "en")
    default = (words("What was asked"), words("What was done"), words("Problems"),
               words("What is open"))  # fmt: skip
    return tuple(dict.fromkeys(filter(None, found)))[:_MOST] or default


def summary(messages: Sequence[LlmMessage], headings: Sequence[str], lang: Lang) -> str:
    """Return the sentences of a conversation that fit each heading, as they were said."""
    words, sentences = Words(lang), list(dict.fromkeys(_sentences(messages)))
    parts = []
    for heading in headings:
        fitting = _fitting(heading, sentences)
        if len(fitting) > _FIRST + _LAST:
            fitting = [*fitting[:_FIRST], *fitting[-_LAST:]]
        lines = [f"- {one_line(text, _LONGEST)}" for text in fitting]
        parts.append("\n".join([f"## {one_line(heading, 100)}", *(lines or [words("(none)")])]))
    return "\n\n".join(parts)


def _fitting(heading: str, sentences: Sequence[_Sentence]) -> list[str]:
    asked = _stems(heading)
    for heads, sources, words in lexicon().headings:
        if _names(heads, heading, asked):
            return [text for text, source in sentences if _fits(text, source, sources, words)]
    return [text for text, _ in sentences if asked & _stems(text)]


def _fits(text: str, source: str, sources: Sequence[str], words: Sequence[str]) -> bool:
    if "path" in sources and any(token.kind == "path" for token in tokenize(text)):
        return True
    return source in sources or _names(words, text, _stems(text))


def _names(words: Sequence[str], text: str, stems: frozenset[str]) -> bool:
    """Return whether one of the words is in a text; a Chinese one has no spaces around it."""
    return any(stem(word) in stems if word.isascii() else word in text for word in words)


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in _WORD.findall(text) if len(word) > 2)


def _sentences(messages: Sequence[LlmMessage]) -> Iterator[_Sentence]:
    """Return what was said, oldest first; of a long conversation the later part."""
    parts, room = list[_Sentence](), _READ
    for message in reversed(messages):
        if room > 0:
            new = [part for part in _parts(message) if not window_of(part[0])]
            room -= sum(len(text) for text, _ in new)
            parts[:0] = new
    for text, source in parts:
        for found in _SENTENCE.findall(text[:_READ]):
            if len(line := found.strip(" \t-*•>")) > 1 and not line.startswith("#"):
                yield line, source


def _parts(message: LlmMessage) -> Iterator[_Sentence]:
    person = "person" if message.role == "user" else "model"
    if isinstance(message.content, str):
        yield message.content, person
        return
    for block in message.content:
        if block.get("type") == "text":
            yield str(block.get("text")), person
        elif block.get("type") == "tool_result":
            yield result_text(block), "error" if block.get("is_error") else "result"


# --- a state: "the city is Rome" ---------------------------------------------------------

# The request as `EntityExtraction` writes it, in both languages.
_ASKED = re.compile(
    r"(?:Schema:|模式：)\n(?P<schema>\{.*\})\n\n(?:State:|状态：)\n(?P<state>\{.*\})\n\n"
    r"(?:Said since:|此后的对话：)\n(?P<said>.*)",
    re.DOTALL,
)
_SIGN = r"\s*(?:is now|is|was|are|will be|should be|=|:|：|应该是|改为|改成|是|为)\s*"
_END = r"(?=\s+(?:and|but|then)\s|[,;.!?，；。！？](?:\s|$)|[，；。！？]|$)"
_YES, _NO = ("yes", "true", "on", "是", "对", "要"), ("no", "false", "off", "否", "不", "不要")


def stated(text: str) -> str | None:
    """Return the state that a text asks for, as JSON; None if it asks for none."""
    asked = _ASKED.search(text)
    if asked is None:
        return None
    try:
        properties = json.loads(asked["schema"])["properties"]
        state = dict(json.loads(asked["state"]))
    except (ValueError, KeyError, TypeError):
        return None
    for said in re.findall(r"^user: (.*)$", asked["said"], re.MULTILINE):
        for name, one in properties.items():
            if (value := _value(name, one, said)) is not None:
                state[name] = value
    return json.dumps(state, ensure_ascii=False)


def _value(name: str, one: Mapping[str, Any], said: str) -> Any:
    """Return what was said of a property; None if nothing was."""
    for choice in one.get("enum", ()):
        if re.search(rf"(?<!\w){re.escape(str(choice))}(?!\w)", said, re.IGNORECASE):
            return choice
    named = re.escape(name).replace("_", r"[ _-]")
    found = re.search(rf"(?<![a-z]){named}{_SIGN}(\S.*?){_END}", said, re.IGNORECASE)
    return _typed(str(one.get("type")), found[1].strip()) if found else None


def _typed(kind: str, text: str) -> Any:
    number = re.search(r"-?\d+(?:\.\d+)?", text)
    if kind in ("number", "integer"):
        value = float(number[0]) if number else None
        is_whole = value is not None and value.is_integer()
        return value if kind == "number" else int(value or 0) if is_whole else None
    if kind == "boolean":
        word = text.lower().split()[0]
        return True if word in _YES else False if word in _NO else None
    if kind == "array":
        return [part for one in re.split(r",| and |、|和", text) if (part := one.strip())]
    return text if kind == "string" else None
