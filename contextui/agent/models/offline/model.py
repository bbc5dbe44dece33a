"""`OfflineModel`: the built-in model. No network, no weights, no memory of its own."""

import uuid
from collections.abc import AsyncIterator, Iterator, Sequence
from functools import lru_cache

from contextui.agent.models.offline import answers, scene, summary
from contextui.agent.models.offline.plan import Planned, plan
from contextui.agent.models.offline.tokens import is_chinese
from contextui.agent.protocol import declaration_tokens
from contextui.model import (
    Answer,
    Block,
    CallBegun,
    LlmMessage,
    ModelEvent,
    ModelRequest,
    TextDelta,
)
from contextui.tokens import TokenCounter, Usage
from contextui.words import Lang, Words

_PIECE = 24  # characters of one delta
# Most of a request was in the one before: its counts are kept.
_counter = TokenCounter(lru_cache(1_024)(TokenCounter().count))


class OfflineModel:
    """Matches what a person types to the windows and their declared actions.

    It reads the request and nothing else, so it works with windows it has never seen.

    Attributes:
        name: The model's name.

    Example:
        >>> controller = InteractionController(model=OfflineModel())
        >>> async for event in controller.run_turn("make a todo list with milk and eggs"): ...
    """

    name = "offline"

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Answer a request: the next calls, or what came of them."""
        answer = answer_to(request)
        for block in answer.blocks:
            for event in _streamed(block):
                yield event
        yield answer


def answer_to(request: ModelRequest) -> Answer:
    """Return the whole answer to a request."""
    tagged = scene.asks_for_tags(request)
    seen = scene.read(scene.with_calls(request) if tagged else request)
    lang = _language(seen.words, request.system)
    if request.tools or tagged:
        made = plan(seen, Words(lang))
        blocks = [_call(one) for one in made.calls] or [_text("\n\n".join(made.said))]
        blocks = _in_tags(blocks) if tagged else blocks
    else:
        blocks = [_text(_without_tools(request, seen, lang))]
    calls = any(one["type"] == "tool_use" for one in blocks)
    return Answer(
        blocks=tuple(blocks),
        stop_reason="tool_use" if calls else "end_turn",
        usage=_usage(request, blocks),
        model=OfflineModel.name,
    )


def _language(text: str, system: str) -> Lang:
    """Return the language of a text, or, where it has no words, that of the system prompt."""
    said = system if answers.language_is_unknown(text) else text
    return "zh" if is_chinese(said) else "en"


def _in_tags(blocks: Sequence[Block]) -> list[Block]:
    parts = [
        scene.as_tag(one["name"], one["input"])
        if one["type"] == "tool_use"
        else scene.without_tags(one["text"])
        for one in blocks
    ]
    return [_text("\n".join(parts))]


def _without_tools(request: ModelRequest, seen: scene.Scene, lang: Lang) -> str:
    """Return what is asked for without tools: a state, or a summary."""
    if state := summary.filled_state(seen.words):
        return state
    headings = summary.asked_headings(seen.words)
    if headings is None:
        return Words(lang)("I am the small offline model and cannot act here: there are no tools.")
    *before, last = request.messages
    kept = () if isinstance(last.content, str) else last.content[:-1]
    return summary.summary([*before, LlmMessage(last.role, kept)], headings, lang)


def _usage(request: ModelRequest, blocks: Sequence[Block]) -> Usage:
    """Count a request and its answer as the context does."""
    asked = _counter.count_messages(request.messages) + declaration_tokens(request.tools, _counter)
    if request.system:
        asked += _counter.message_overhead("system") + _counter.count(request.system)
    return Usage(asked, _counter.count_content(blocks))


def _text(text: str) -> Block:
    return {"type": "text", "text": text}


def _call(planned: Planned) -> Block:
    # Every call has an id of its own: a context never accepts one twice.
    call_id = f"toolu_{uuid.uuid4().hex[:24]}"
    return {"type": "tool_use", "id": call_id, "name": planned.tool, "input": planned.input}


def _streamed(block: Block) -> Iterator[ModelEvent]:
    if block["type"] == "tool_use":
        yield CallBegun(block["name"])
        return
    text = block["text"]
    yield from (TextDelta(text[i : i + _PIECE]) for i in range(0, len(text), _PIECE))
