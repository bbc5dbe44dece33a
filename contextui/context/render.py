"""Render items and windows to messages as a pure function, from scratch.

Requests with placement ``in-place`` are made so. Requests by price are not: they keep what was sent
before, see `contextui.context.placement`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from contextui.context.item import THINKING, ContextItem, ItemType, Stage, is_conversation
from contextui.context.messages import (
    Composition,
    Content,
    Messages,
    Piece,
    Shown,
    WindowCopy,
    content_of,
    head_first,
    result_block,
    role_of,
)
from contextui.context.trim import Meter, trim
from contextui.context.units import Unit, units
from contextui.model import LlmMessage
from contextui.tokens import TokenCounter, check_budget
from contextui.windowing.manager import WindowManager
from contextui.windowing.runtime import runtime_of


@dataclass(frozen=True, slots=True)
class RenderOptions:
    """Options of `ContextRenderer.render`.

    Attributes:
        max_tokens: The token limit; `trim` drops what does not fit.
        include_system_prompt: Whether to include the system items.
        include_obsolete: Include hidden items too; a closed window with its last render.

    Raises:
        ValueError: `max_tokens` is not a positive number.
    """

    max_tokens: int | None = None
    include_system_prompt: bool = True
    include_obsolete: bool = False

    def __post_init__(self) -> None:
        if self.max_tokens is not None:
            check_budget(self.max_tokens)


_DEFAULT = RenderOptions()


class ContextRenderer:
    """Renders a context to messages, each window at the place of its item.

    Deterministic: the same input gives the same bytes.

    Args:
        counter: Counts the tokens if `max_tokens` is given.
    """

    def __init__(self, *, counter: TokenCounter | None = None) -> None:
        self._counter = counter or TokenCounter()

    def render(
        self,
        items: Iterable[ContextItem],
        windows: WindowManager | None = None,
        options: RenderOptions = _DEFAULT,
    ) -> list[LlmMessage]:
        """Render the messages for these items.

        Raises:
            ContextTooLargeError: `max_tokens` is given and the items that must stay do not fit.
        """
        if windows is not None:
            windows.settle_now()
        shown = [
            item
            for item in sorted(items, key=lambda item: item.seq)
            if options.include_obsolete or not item.hidden
            if options.include_system_prompt or item.type is not ItemType.SYSTEM
        ]
        if options.max_tokens is not None:
            limit = self._counter.room_in(options.max_tokens)
            shown = trim(shown, limit, windows=windows, counter=self._counter)
        return [one.message for one in _in_place(shown, windows)]


def compose_in_place(
    items: Sequence[ContextItem],
    windows: WindowManager | None,
    meter: Meter,
    through_seq: int,
    generation: int,
) -> Composition:
    """Compose a request of the items that are not hidden, with each window at its own place."""
    pieces = [
        Piece(
            shown,
            sum(map(meter.item, shown.items))
            + sum(meter.window(copy.window_id, copy.xml) for copy in shown.copies),
            shown.items[0].seq if shown.items else through_seq,
        )
        for shown in _in_place(items, windows)
    ]
    stages = [(one, {item.stage for item in one.shown.items}) for one in pieces]
    return Composition(
        Messages([pieces]),
        sum(piece.tokens for piece in pieces),
        0,
        through_seq,
        generation,
        fresh=tuple(piece for piece, found in stages if Stage.NEW in found),
        in_turn=any(item.stage is not Stage.FINAL for item in items if is_conversation(item)),
    )


def _in_place(items: Sequence[ContextItem], windows: WindowManager | None) -> list[Shown]:
    """The messages for items with each window at its own place, and all System items first."""
    is_system = (item.type is ItemType.SYSTEM for item in items)
    first = next((place for place, system in enumerate(is_system) if not system), len(items))
    background = [item for item in items[first:] if item.is_background]
    rest = [item for item in items[first:] if not item.is_background]
    ordered = [*head_first([*items[:first], *background]), *rest]
    return [message for unit in units(ordered) for message in _messages(unit, windows)]


# --- messages of a unit ----------------------------------------------------------------------


def _messages(unit: Unit, windows: WindowManager | None) -> list[Shown]:
    head = unit.head
    match head.type:
        case ItemType.WINDOW:
            return _window(head, windows)
        case ItemType.ASSISTANT:
            return _answer(unit)
        case ItemType.TOOL:
            return _loose(unit.items)
    return [Shown(LlmMessage(role_of(head), content_of(head)), (head,))]


def _answer(unit: Unit) -> list[Shown]:
    answering = tuple(item for item in unit.results if item.tool_call_id is not None)
    shown: list[Shown] = []
    if content := _with_answered_calls(unit.head, {item.tool_call_id for item in answering}):
        shown.append(Shown(LlmMessage("assistant", content), (unit.head,)))
    if answering:
        blocks = tuple(
            result_block(item.tool_call_id, content_of(item), (), is_error=item.is_error)
            for item in answering
        )
        shown.append(Shown(LlmMessage("user", blocks), answering))
    return shown + _loose(item for item in unit.results if item.tool_call_id is None)


def _with_answered_calls(item: ContextItem, answered: set[str | None]) -> Content:
    content = content_of(item)
    if isinstance(content, str):
        return content
    kept = tuple(
        block for block in content if block.get("type") != "tool_use" or block["id"] in answered
    )
    # No provider accepts an answer that has nothing but thinking.
    return kept if any(block.get("type") not in THINKING for block in kept) else ()


def _loose(results: Iterable[ContextItem]) -> list[Shown]:
    """Results of the text protocol: plain user messages."""
    return [Shown(LlmMessage("user", content_of(item)), (item,)) for item in results]


def _window(item: ContextItem, windows: WindowManager | None) -> list[Shown]:
    if windows is None:
        return []
    window = windows.get(item.content)
    if window is not None:
        xml: str | None = runtime_of(window).renders.latest().xml
    else:
        xml = windows.last_render(item.content) if item.is_obsolete else None
    return [Shown(LlmMessage("user", xml), (), (WindowCopy(item.content, xml),))] if xml else []
