"""The one gate that every request passes: it repairs what can be repaired, and checks the rest.

What comes out is in the form that every provider takes: user and assistant in turns, user first;
no empty text; no character that JSON or UTF-8 cannot hold; every call answered at the beginning
of the very next message, and no result without its call. Clean messages pass as they are, so
that the bytes of one request are a prefix of the next one's.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from contextui.errors import ContextUIError
from contextui.model import Block, LlmMessage, ModelRequest, Role, Tool
from contextui.text import for_model

THINKING = ("thinking", "redacted_thinking")
_NO_RESULT = "There is no result of this call."
_BEFORE = "(The conversation before this was left out.)"
_NO_OUTPUT = "(no output)"


class MalformedRequestError(ContextUIError):
    """A request that no provider would take, and that could not be repaired."""


@dataclass(slots=True)
class _Turn:
    """All that one side says before the other side speaks."""

    role: Role
    blocks: list[Block] = field(default_factory=list)
    stable: int = 0  # how many of its first blocks are in their final form


def admit(
    messages: Iterable[LlmMessage],
    *,
    stable: int = 0,
    tools: Sequence[Tool] = (),
    max_tokens: int = 8_192,
    without_thinking: bool = False,
) -> ModelRequest:
    """Make a request of messages.

    Args:
        messages: What the context composed.
        stable: How many of the first messages are in their final form.
        tools: What the model may call.
        max_tokens: How long the answer may be.
        without_thinking: Leave thinking out: the last resort if a provider refuses it.

    Raises:
        MalformedRequestError: There is nothing to send, or no repair helped.
    """
    system, turns = _gather(messages, stable, THINKING if without_thinking else ())
    turns = _paired([turn for turn in turns if turn.blocks])
    if turns and turns[0].role == "assistant":
        turns.insert(0, _Turn("user", [_text(_BEFORE)], 1))
    request = ModelRequest(
        system="\n\n".join(system),
        messages=tuple(LlmMessage(turn.role, tuple(turn.blocks)) for turn in turns),
        tools=tuple(tools),
        stable=_stable_blocks(turns),
        max_tokens=max_tokens,
    )
    if problems := faults(request):
        raise MalformedRequestError(f"The request cannot be sent: {'; '.join(problems[:3])}.")
    return request


# --- repairing ---------------------------------------------------------------------------


def _gather(
    messages: Iterable[LlmMessage], stable: int, left_out: Sequence[str]
) -> tuple[list[str], list[_Turn]]:
    """The system prompt, and what was said with neighbours of one side joined."""
    system: list[str] = []
    turns: list[_Turn] = []
    for position, message in enumerate(messages):
        blocks = [one for one in _clean_blocks(message) if one["type"] not in left_out]
        if message.role == "system" and not turns:
            system += [block["text"] for block in blocks]
            continue
        role: Role = "assistant" if message.role == "assistant" else "user"
        if not turns or turns[-1].role != role:
            turns.append(_Turn(role))
        turn = turns[-1]
        turn.blocks += blocks
        if position < stable:
            turn.stable = len(turn.blocks)
    return system, turns


def _clean_blocks(message: LlmMessage) -> Iterator[Block]:
    content = message.content
    for block in [_text(content)] if isinstance(content, str) else content:
        clean: Block = _fit(block)
        if clean["type"] == "tool_result" and not clean.get("content"):
            clean = {**clean, "content": _NO_OUTPUT}
        if clean["type"] != "text" or clean["text"].strip():
            yield clean


def _fit(value: Any) -> Any:
    """The same with every text made fit; a clean value comes back as the very same object."""
    match value:
        case str():
            return for_model(value)
        case Mapping():
            inner = {key: _fit(one) for key, one in value.items()}
            return value if all(inner[key] is value[key] for key in value) else inner
        case list() | tuple():
            items = [_fit(one) for one in value]
            same = all(one is old for one, old in zip(items, value, strict=True))
            return value if same else items
    return value


def _paired(turns: Sequence[_Turn]) -> list[_Turn]:
    """Calls and results in pairs: what has no partner gets one, or becomes plain words."""
    paired: list[_Turn] = []
    asked: list[str] = []
    known: set[str] = set()
    for turn in turns:
        if turn.role == "user":
            _answer(turn, asked)
            asked = []
        else:
            if asked:  # nobody spoke in between; this cannot come from a context
                paired.append(_Turn("user", [_missing(call) for call in asked]))
            asked = _calls(turn, known)
        paired.append(turn)
    if asked:
        paired.append(_Turn("user", [_missing(call) for call in asked]))
    return paired


def _answer(turn: _Turn, asked: Sequence[str]) -> None:
    """Put the results of these calls first, one for each, in the order of the calls."""
    given = [block for block in turn.blocks if block["type"] == "tool_result"]
    results: dict[str, Block] = {}
    for block in given:
        if block.get("tool_use_id") in asked:
            results.setdefault(block["tool_use_id"], block)
    if not asked and not given:
        return
    used = {id(block) for block in results.values()}
    rest = [block for block in turn.blocks if id(block) not in used]
    kept = [words for block in rest if (words := _as_words(block)) is not None]
    whole = [results.get(call) or _missing(call) for call in asked] + kept
    if len(whole) != len(turn.blocks):
        turn.stable = len(whole) if turn.stable == len(turn.blocks) else 0
    turn.blocks = whole


def _calls(turn: _Turn, known: set[str]) -> list[str]:
    """The ids that an answer asks under; a second call under a known id is left out."""
    asked: list[str] = []
    kept: list[Block] = []
    for block in turn.blocks:
        if block["type"] == "tool_use":
            if block["id"] in known:
                continue
            known.add(block["id"])
            asked.append(block["id"])
        kept.append(block)
    turn.blocks = kept or [_text("(An earlier call again.)")]
    turn.stable = min(turn.stable, len(turn.blocks))
    return asked


def _as_words(block: Block) -> Block | None:
    """A result that answers nothing, as the words it holds; anything else as it is."""
    if block["type"] != "tool_result":
        return block
    content = block.get("content") or ""
    parts = [content] if isinstance(content, str) else [one.get("text", "") for one in content]
    words = "\n".join(part for part in parts if part.strip())
    return _text(words) if words else None


def _missing(call: str) -> Block:
    return {"type": "tool_result", "tool_use_id": call, "content": _NO_RESULT, "is_error": True}


def _text(words: str) -> Block:
    return {"type": "text", "text": words}


def _stable_blocks(turns: Sequence[_Turn]) -> int:
    count = 0
    for turn in turns:
        count += turn.stable
        if turn.stable < len(turn.blocks):
            break
    return count


# --- checking ----------------------------------------------------------------------------


def faults(request: ModelRequest) -> list[str]:
    """What is wrong with a request, in words; nothing if it can be sent."""
    found: list[str] = [] if request.messages else ["there is nothing to send"]
    asked: list[str] = []
    for number, message in enumerate(request.messages):
        if message.role != ("user", "assistant")[number % 2]:
            found.append(f"message {number} is of the {message.role}")
        blocks = [block for block in message.content if not isinstance(block, str)]
        if len(blocks) != len(message.content) or not blocks:
            found.append(f"message {number} is not made of blocks")
        results = [one["tool_use_id"] for one in blocks if one["type"] == "tool_result"]
        first = [one["type"] == "tool_result" for one in blocks[: len(results)]]
        if results != asked or not all(first):
            found.append(f"message {number} does not answer the calls before it")
        asked = [one["id"] for one in blocks if one["type"] == "tool_use"]
        if any(one["type"] == "text" and not one["text"].strip() for one in blocks):
            found.append(f"message {number} has an empty text")
        if message.role == "assistant" and all(one["type"] in THINKING for one in blocks):
            found.append(f"message {number} has thinking only")
    if asked:
        found.append("the last call has no result")
    return found
