"""Render items and windows to messages as a pure function: the specification of `compose`."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from contextui.config.schema import Placement
from contextui.context.arrival import arrival, live_copy
from contextui.context.item import Carried, ContextItem, ItemType, Stage, is_conversation
from contextui.context.messages import Shown, head_first, unit_messages, window_message
from contextui.context.trim import trim
from contextui.context.units import units
from contextui.model import LlmMessage
from contextui.tokens import TokenCounter, check_budget
from contextui.windowing.manager import WindowManager
from contextui.windowing.snapshot import ContextVersion


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
    """Renders a context to messages. Deterministic: the same input gives the same bytes.

    Args:
        placement: ``in-place``, or windows at the end of the conversation: nothing was sent before,
            so ``price`` and ``turn`` are the same.
        counter: Counts the tokens if `max_tokens` is given.
    """

    def __init__(
        self, placement: Placement = "price", *, counter: TokenCounter | None = None
    ) -> None:
        self._placement: Placement = placement
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
            if options.include_obsolete or item.is_shown
            if options.include_system_prompt or item.type is not ItemType.SYSTEM
        ]
        if options.max_tokens is not None:
            limit = self._counter.room_in(options.max_tokens)
            shown = trim(shown, limit, windows=windows, counter=self._counter)
        return [one.message for one in arrange(shown, windows, self._placement)]


def arrange(
    items: Sequence[ContextItem], windows: WindowManager | None, placement: Placement
) -> list[Shown]:
    """The messages for these items, given by rising seq, each with its source items."""
    return _in_place(items, windows) if placement == "in-place" else _tail(items, windows)


def _tail(items: Sequence[ContextItem], windows: WindowManager | None) -> list[Shown]:
    under_way = any(item.stage is Stage.SENT for item in items if is_conversation(item))
    system = [
        item
        for item in items
        if item.type is ItemType.SYSTEM and not (under_way and item.stage is Stage.NEW)
    ]
    live = [item for item in items if item.type is ItemType.WINDOW and not item.is_obsolete]
    conversation = units(
        item
        for item in items
        if item.type is not ItemType.SYSTEM
        if item.type is not ItemType.WINDOW or item.is_obsolete
    )
    turn = [
        unit
        for unit in conversation
        if unit.stage is not Stage.FINAL and unit.head.type is not ItemType.WINDOW
    ]
    new = [unit for unit in turn if unit.stage is Stage.NEW]
    sent = {
        copy.window_id: copy.version
        for unit in turn
        for item in unit.items
        for copy in item.carried
    }
    arriving = arrival(new, bool(turn), sent, live, windows)
    shown = [one for unit in units(head_first(system)) for one in unit_messages(unit)]
    for unit in conversation:
        if unit.head.type is ItemType.WINDOW:
            shown += _closed_window(unit.head, windows)
        else:
            shown += unit_messages(unit, arriving)
    return shown + [window_message(copy) for copy in arriving.at_end]


def _in_place(items: Sequence[ContextItem], windows: WindowManager | None) -> list[Shown]:
    shown: list[Shown] = []
    for unit in units(_background_first(items)):
        if unit.head.type is not ItemType.WINDOW:
            shown += unit_messages(unit)
        elif windows is not None and (copy := live_copy(unit.head, windows)):
            shown.append(window_message(copy))
        else:
            shown += _closed_window(unit.head, windows)
    return shown


def _background_first(items: Sequence[ContextItem]) -> list[ContextItem]:
    """Move the project's text and summaries to directly after the system prompt."""
    is_system = (item.type is ItemType.SYSTEM for item in items)
    first = next((place for place, system in enumerate(is_system) if not system), len(items))
    background = [item for item in items[first:] if item.is_background]
    rest = (item for item in items[first:] if not item.is_background)
    return [*head_first([*items[:first], *background]), *rest]


def _closed_window(item: ContextItem, windows: WindowManager | None) -> list[Shown]:
    """A closed window's last render; nothing if none was kept."""
    xml = windows.last_render(item.content) if windows is not None and item.is_obsolete else None
    return [window_message(Carried(item.content, ContextVersion(0), xml))] if xml else []
