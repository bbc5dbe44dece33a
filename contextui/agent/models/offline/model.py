"""`OfflineModel`: the embedded default. No network, no weights, no memory of its own."""

import uuid
from collections.abc import AsyncIterator, Iterator, Sequence

from contextui.agent.models.offline.answering import saying
from contextui.agent.models.offline.measuring import usage_of
from contextui.agent.models.offline.outlining.outline import asked_headings, outline
from contextui.agent.models.offline.outlining.state import filled_state
from contextui.agent.models.offline.planning.plan import Plan, plan
from contextui.agent.models.offline.planning.wishing import Planned
from contextui.agent.models.offline.shown import tags
from contextui.agent.models.offline.shown.scene import Scene, read
from contextui.model import (
    Answer,
    Block,
    CallBegun,
    LlmMessage,
    ModelEvent,
    ModelRequest,
    TextDelta,
)
from contextui.words import Lang

_PIECE = 24  # characters of one delta


class OfflineModel:
    """Matches the person's words to the windows and their declared actions.

    It reads the request and nothing else, so it drives any window, also those of strangers.

    Attributes:
        name: What it is called.

    Example:
        >>> controller = InteractionController(model=OfflineModel())
        >>> async for event in controller.run_turn("make a todo list with milk and eggs"): ...
    """

    name = "offline"

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Answer a request: the next calls, or what came of them in words."""
        answer = answer_to(request)
        for block in answer.blocks:
            for event in _told(block):
                yield event
        yield answer


def answer_to(request: ModelRequest) -> Answer:
    """The whole answer to a request."""
    tagged = () if request.tools else tags.declared_tools(request)
    scene = read(tags.with_tools(request, tagged) if tagged else request)
    lang = saying.language(scene.words, request.system)
    if not (request.tools or tagged):
        blocks = [_text(_beside_the_talk(request, scene, lang))]
    else:
        blocks = _next_step(scene, lang)
        blocks = _in_tags(blocks) if tagged else blocks
    calls = any(one["type"] == "tool_use" for one in blocks)
    return Answer(
        blocks=tuple(blocks),
        stop_reason="tool_use" if calls else "end_turn",
        usage=usage_of(request, blocks),
        model=OfflineModel.name,
    )


def _next_step(scene: Scene, lang: Lang) -> list[Block]:
    made = plan(scene, lang)
    return [_call(one) for one in made.calls] or [_text(_report(scene, made, lang))]


def _in_tags(blocks: Sequence[Block]) -> list[Block]:
    """Calls and words as one text, as is asked for where there are no tools of their own."""
    parts = [
        tags.written(one["name"], one["input"])
        if one["type"] == "tool_use"
        else tags.said(one["text"])
        for one in blocks
    ]
    return [_text("\n".join(parts))]


def _text(words: str) -> Block:
    return {"type": "text", "text": words}


def _beside_the_talk(request: ModelRequest, scene: Scene, lang: Lang) -> str:
    """What is asked for without tools: a state, or a summary."""
    if state := filled_state(scene.words):
        return state
    headings = asked_headings(scene.words)
    if headings is None:
        return saying.phrases(lang).no_tools
    return outline(_before_last(request), headings, lang)


def _before_last(request: ModelRequest) -> list[LlmMessage]:
    """The conversation without the words that ask for its summary."""
    *before, last = request.messages
    kept = () if isinstance(last.content, str) else last.content[:-1]
    return [*before, LlmMessage(last.role, kept)]


def _report(scene: Scene, made: Plan, lang: Lang) -> str:
    """What was done in this turn, and what else there is to say."""
    done = saying.outcomes([call for step in scene.steps for call in step.calls], lang)
    parts = [*done, *made.said]
    return "\n\n".join(parts) if parts else saying.phrases(lang).nothing_said


def _call(planned: Planned) -> Block:
    # An id of its own for each call: a context never takes one twice.
    return {
        "type": "tool_use",
        "id": f"toolu_{uuid.uuid4().hex[:24]}",
        "name": planned.tool,
        "input": planned.input,
    }


def _told(block: Block) -> Iterator[ModelEvent]:
    if block["type"] == "tool_use":
        yield CallBegun(block["name"])
        return
    words = block["text"]
    yield from (TextDelta(words[i : i + _PIECE]) for i in range(0, len(words), _PIECE))
