"""A conversation in words alone, to be read by whoever summarizes it.

No tools are declared where a summary is asked for, so no calls may stand there: a call and what
came of it are told as a part of the answer.
"""

import json
from collections.abc import Iterable, Iterator, Sequence

from contextui.context.compaction.files import FileText
from contextui.context.item import ContextItem, ItemType
from contextui.model import LlmMessage
from contextui.text import cap, for_model
from contextui.tokens import TokenCounter

_LONGEST_RESULT = 2_000  # characters of a tool's result that the summary is made from
_LONGEST_WORDS = 20_000  # characters of one message
_LONGEST_CALL = 1_000  # characters of what a tool was given
_SAID_TO_BE_CUT = 12  # tokens of the words that say so


def transcript(items: Iterable[ContextItem]) -> Iterator[LlmMessage]:
    """What was said and done, oldest first. Summaries are not among it."""
    for item in items:
        match item.type:
            case ItemType.USER:
                yield LlmMessage("user", cap(item.content, _LONGEST_WORDS))
            case ItemType.ASSISTANT:
                if said := _said(item):
                    yield LlmMessage("assistant", said)
            case ItemType.TOOL:
                told = item.gist or cap(item.content, _LONGEST_RESULT)
                failed = "failed: " if item.is_error else ""
                yield LlmMessage("assistant", f"→ {failed}{told}")


def shown_files(
    files: Sequence[FileText], counter: TokenCounter, room: int
) -> list[tuple[FileText, LlmMessage]]:
    """Files as if they had just been read, each with its share of the room."""
    shown: list[tuple[FileText, LlmMessage]] = []
    for number, one in enumerate(files):
        head = f"{_call('read_file', {'path': one.path})}\n→ "
        share = room // (len(files) - number) - counter.count(head)
        if text := fitted(one.text, share, counter):
            shown.append((one, LlmMessage("assistant", head + text)))
            room -= counter.count(head + text)
    return shown


def in_pieces(
    messages: Iterable[LlmMessage], counter: TokenCounter, room: int
) -> list[list[LlmMessage]]:
    """The messages in portions for which there is room; one that is too long is cut."""
    pieces: list[list[LlmMessage]] = []
    left = 0
    for message in messages:
        words = fitted(str(message.content), room - counter.message_overhead(message.role), counter)
        fit = LlmMessage(message.role, words)
        tokens = counter.count_messages([fit])
        if not pieces or tokens > left:
            pieces.append([])
            left = room
        pieces[-1].append(fit)
        left -= tokens
    return pieces


def in_turns(messages: Iterable[LlmMessage]) -> tuple[LlmMessage, ...]:
    """User and assistant in turns, user first, in blocks that any provider takes."""
    turns: list[tuple[str, list[str]]] = [("user", [])]
    for message in messages:
        if turns[-1][0] != message.role:
            turns.append((message.role, []))
        turns[-1][1].append(for_model(str(message.content)).rstrip())
    return tuple(
        LlmMessage(
            "assistant" if role == "assistant" else "user",
            tuple({"type": "text", "text": text} for text in texts if text)
            or ({"type": "text", "text": "…"},),
        )
        for role, texts in turns
    )


def fitted(text: str, room: int, counter: TokenCounter) -> str:
    """The text, cut so that there is room for it; empty if there is none."""
    tokens, length = counter.count(text), len(text)
    while tokens > room and length:
        length = min(length * 9 // 10, length * max(room - _SAID_TO_BE_CUT, 0) // tokens)
        tokens = counter.count(cap(text, length))
    return cap(text, length) if length else ""


def _said(item: ContextItem) -> str:
    calls = (
        _call(str(block["name"]), block.get("input"))
        for block in item.blocks or ()
        if block.get("type") == "tool_use"
    )
    return "\n".join(filter(None, [cap(item.content, _LONGEST_WORDS).strip(), *calls]))


def _call(name: str, given: object) -> str:
    written = json.dumps(given, ensure_ascii=False, default=str)
    return f"[{name} {cap(written, _LONGEST_CALL)}]"
