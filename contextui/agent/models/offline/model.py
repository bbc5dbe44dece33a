"""`OfflineModel`: the built-in model. No network, no weights, no memory of its own."""

import re
import uuid
from collections.abc import AsyncIterator, Iterator, Sequence

from contextui.agent.models.offline import plan, scene, summary
from contextui.agent.models.offline.tokens import is_chinese
from contextui.agent.tools import declaration_tokens
from contextui.model import (
    LOCAL_PRICES,
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
_counter = TokenCounter()


class OfflineModel:
    """Matches what a person types to the windows and their declared actions.

    It reads the request and nothing else, so it works with windows it has never seen. It always
    calls tools natively.

    Example:
        >>> controller = InteractionController(model=OfflineModel())
        >>> async for event in controller.run_turn("make a todo list with milk and eggs"): ...
    """

    name = "offline"
    tool_protocol = "native"
    prices = LOCAL_PRICES  # what it has seen in a turn must stay in its place
    has_cache = False

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Answer a request: the next calls, or what came of them."""
        answer = answer_to(request)
        for block in answer.blocks:
            for event in _streamed(block):
                yield event
        yield answer


def answer_to(request: ModelRequest) -> Answer:
    """Return the whole answer to a request."""
    seen = scene.read(request)
    lang = _language(seen.words, request.system)
    if request.tools:
        made = plan.plan(seen, Words(lang))
        blocks, text = [_call(call) for call in made.calls], "\n\n".join(made.said)
    else:
        blocks, text = [], _without_tools(request, seen, lang)
    calls, blocks = bool(blocks), blocks or [{"type": "text", "text": text}]
    usage = _usage(request, blocks)
    return Answer(tuple(blocks), "tool_use" if calls else "end_turn", usage, OfflineModel.name)


def explain(request: ModelRequest) -> str:
    """Explain how a request is understood: what its first clause could mean, with scores."""
    seen = scene.read(request)
    made, readings = plan.explain(seen, Words(_language(seen.words, request.system)))
    chosen = {str(call.input) for call in made.calls}
    lines = []
    for reading in readings:
        reasons = [f'"{word}" is not explained' for word in reading.unexplained]
        reasons += [f"{param.name} is missing" for param in reading.missing]
        reasons += [f"{len(reading.choices)} items fit"] if reading.choices else []
        reasons += ["does less or more than was said"] if reading.is_doubtful else []
        is_chosen = str(plan.call(reading, reading.params[0]).input) in chosen
        text = "; ".join(reasons) or ("chosen" if is_chosen else "fits less well")
        lines.append(f"{reading.score:.1f} {reading.notation}: {text}")
    return "\n".join(lines) or "Nothing fits. " + " ".join(made.said)


def _language(text: str, system: str) -> Lang:
    """Return the language of a text, or, where it has no words, that of the system prompt."""
    said = text if re.search(r"[^\W\d_]", text) else system
    return "zh" if is_chinese(said) else "en"


def _without_tools(request: ModelRequest, seen: scene.Scene, lang: Lang) -> str:
    """Return what is asked for without tools: a state, or a summary."""
    if state := summary.stated(seen.words):
        return state
    headings = summary.asked_headings(seen.words)
    if headings is None:
        words = Words(lang)
        return words("I am the small offline model and cannot act here: there are no tools.")
    *before, last = request.messages
    kept = () if isinstance(last.content, str) else last.content[:-1]
    return summary.summary([*before, LlmMessage(last.role, kept)], headings, lang)


def _usage(request: ModelRequest, blocks: Sequence[Block]) -> Usage:
    """Count a request and its answer as the context does."""
    if not (asked := request.tokens):
        system = [LlmMessage("system", request.system)] if request.system else []
        asked = _counter.count_messages([*system, *request.messages])
        asked += declaration_tokens(request.tools, _counter)
    return Usage(asked, _counter.count_content(blocks))


def _call(planned: scene.Call) -> Block:
    # Every call has an id of its own: a context never accepts one twice.
    call_id = f"toolu_{uuid.uuid4().hex[:24]}"
    return {"type": "tool_use", "id": call_id, "name": planned.tool, "input": planned.input}


def _streamed(block: Block) -> Iterator[ModelEvent]:
    if block["type"] == "tool_use":
        yield CallBegun(block["name"])
        return
    text = block["text"]
    yield from (TextDelta(text[i : i + _PIECE]) for i in range(0, len(text), _PIECE))
