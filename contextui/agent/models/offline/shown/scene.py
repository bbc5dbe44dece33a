"""What a request shows: the open windows, the classes, the person's words, and what was done."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from contextui.agent.models.offline.shown.blocks import ClassView, WindowView, classes_of, window_of
from contextui.model import Block, LlmMessage, ModelRequest


@dataclass(frozen=True, slots=True)
class Call:
    """A call that was made, and what came of it."""

    id: str
    tool: str
    input: Mapping[str, Any]
    ok: bool = True
    result: str = ""

    @property
    def window_id(self) -> str:
        """The window that it acted on, if it did."""
        given = self.input.get("window_id") if self.tool == "action" else ""
        return given if isinstance(given, str) else ""


@dataclass(frozen=True, slots=True)
class Step:
    """One answer within the turn: the windows that it was given before, and its calls."""

    windows: tuple[WindowView, ...]
    calls: tuple[Call, ...]


@dataclass(frozen=True, slots=True)
class Scene:
    """Everything that counts for the next answer.

    Attributes:
        words: The person's words of this turn.
        classes: The windows that can be opened.
        windows: Those that are open now, in the order in which they came.
        steps: What was done in this turn so far.
        earlier: The calls of the turns before, the latest first; read as far as needed.
        before: The person's words of the turn before.
        said: What was answered to those.
        tools: The names of the tools that can be called.
    """

    words: str
    classes: tuple[ClassView, ...]
    windows: tuple[WindowView, ...]
    steps: tuple[Step, ...] = ()
    earlier: tuple[Call, ...] = ()
    before: str = ""
    said: str = ""
    tools: frozenset[str] = frozenset()


_RECENT = 40  # messages before the turn that are looked through for what was done last


def read(request: ModelRequest) -> Scene:
    """Read a request. Whatever is in it, nothing is raised."""
    messages = request.messages
    if not messages:
        return Scene("", _classes(request), ())
    start = _turn_start(messages)
    past = messages[max(0, start - _RECENT) : start]
    windows: dict[str, WindowView] = {}
    for message in messages[_first_lively(request) : start + 1]:
        _take(windows, message)
    steps = tuple(_steps(messages[start + 1 :], windows))
    return Scene(
        words=_words(messages[start]),
        classes=_classes(request),
        windows=tuple(windows.values()),
        steps=steps,
        earlier=tuple(_calls_back([*past, messages[start]])),
        before=_words(past[_turn_start(past)]) if past else "",
        said=_said(past),
        tools=frozenset(one.name for one in request.tools),
    )


def _classes(request: ModelRequest) -> tuple[ClassView, ...]:
    """The classes that can be opened: those of the system prompt, then those of the project."""
    first = _blocks(request.messages[0])[:1] if request.messages else ()
    project = "".join(map(_text, first))
    listed = classes_of(project) if project.startswith("<Project>\n") else ()
    return (*classes_of(request.system), *listed)


def _first_lively(request: ModelRequest) -> int:
    """The first message that is not in its final form: windows stand in none before it."""
    blocks = 0
    for place, message in enumerate(request.messages):
        blocks += len(message.content)
        if blocks > request.stable:
            return place
    return 0


def _blocks(message: LlmMessage) -> Sequence[Block]:
    if isinstance(message.content, str):
        return ({"type": "text", "text": message.content},)
    return [one for one in message.content if isinstance(one, Mapping)]


def _text(block: Block) -> str:
    text = block.get("text") if block.get("type") == "text" else None
    return text if isinstance(text, str) else ""


def _turn_start(messages: Sequence[LlmMessage]) -> int:
    """The last message of the person that ends in words: results alone go on with a turn."""
    for place in range(len(messages) - 1, -1, -1):
        if messages[place].role == "user" and _words(messages[place]):
            return place
    return 0


def _words(message: LlmMessage) -> str:
    """The last text is what the person said, whatever it looks like; windows stand before it.

    Behind results it may be a window that stands in its place.
    """
    blocks = _blocks(message)
    if not blocks or message.role != "user":
        return ""
    text = _text(blocks[-1])
    if blocks[0].get("type") == "tool_result" and window_of(text):
        return ""
    return text.strip()


def _take(windows: dict[str, WindowView], message: LlmMessage) -> None:
    """Take note of the windows that a message brings."""
    if message.role != "user":
        return
    blocks = _blocks(message)
    texts = [_text(one) for one in (blocks[:-1] if _words(message) else blocks)]
    for block in blocks:
        content = block.get("content") if block.get("type") == "tool_result" else None
        if isinstance(content, list | tuple):
            # What the tool itself said comes first, and may look like anything.
            texts += [_text(one) for one in content[1:] if isinstance(one, Mapping)]
    for text in texts:
        window = window_of(text) if text.startswith("<Window ") else None
        known = windows.get(window.id) if window else None
        if window and (known is None or window.version >= known.version):
            windows[window.id] = window


def _steps(messages: Sequence[LlmMessage], windows: dict[str, WindowView]) -> Iterator[Step]:
    for answer, results in zip(messages[::2], messages[1::2], strict=False):
        before = tuple(windows.values())
        calls = tuple(_calls(answer, results))
        _take(windows, results)
        for call in calls:
            if call.ok and call.input.get("action_id") == "close":
                windows.pop(call.window_id, None)
        yield Step(before, calls)


def _calls(answer: LlmMessage, results: LlmMessage | None) -> Iterator[Call]:
    given = {
        str(one.get("tool_use_id")): one
        for one in (_blocks(results) if results else ())
        if one.get("type") == "tool_result"
    }
    for block in _blocks(answer):
        if block.get("type") != "tool_use":
            continue
        inner, result = block.get("input"), given.get(str(block.get("id")), {})
        yield Call(
            str(block.get("id")),
            str(block.get("name")),
            inner if isinstance(inner, Mapping) else {},
            not result.get("is_error"),
            _result_text(result),
        )


def _result_text(block: Block) -> str:
    content = block.get("content")
    if isinstance(content, list | tuple):
        content = _text(content[0]) if content and isinstance(content[0], Mapping) else ""
    return content if isinstance(content, str) else ""


def _calls_back(messages: Sequence[LlmMessage]) -> Iterator[Call]:
    for place in range(len(messages) - 1, -1, -1):
        if messages[place].role == "assistant":
            after = messages[place + 1] if place + 1 < len(messages) else None
            yield from reversed(list(_calls(messages[place], after)))


def _said(messages: Sequence[LlmMessage]) -> str:
    last = messages[-1] if messages and messages[-1].role == "assistant" else None
    return "\n".join(filter(None, map(_text, _blocks(last)))) if last else ""
