"""The last row of a window: what can be done, and what came of what was done."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.message import Message
from textual.style import Style
from textual.timer import Timer
from textual.widget import Widget

from contextui.tui.cells import FAINT, KEY, fit

MENU = "+"
"""Stands for the menu of all actions."""

_ACTION = "action"
_GAP = "  "
_SECONDS = 8.0  # that a result is told
_WORD = "$foreground 75%"


@dataclass(frozen=True, slots=True)
class Offer:
    """An action in the row.

    Attributes:
        id: The action.
        name: What it is called there.
    """

    id: str
    name: str


class ActionRow(Widget):
    """As many actions as fit, each a word that can be clicked; the menu has all of them."""

    DEFAULT_CSS = "ActionRow { height: 1; width: 1fr; }"

    class Chosen(Message):
        """A word was clicked."""

        def __init__(self, action_id: str) -> None:
            super().__init__()
            self.action_id = action_id

    def __init__(self, offers: Sequence[Offer] = ()) -> None:
        super().__init__()
        self._offers = tuple(offers)
        self._said: tuple[str, str] | None = None
        self._forgetting: Timer | None = None
        self._hovered: str | None = None

    def offer(self, offers: Sequence[Offer]) -> None:
        """Show these actions."""
        self._offers = tuple(offers)
        self.refresh()

    def say(self, text: str, style: str = "") -> None:
        """Tell something in the place of the actions, for a while."""
        self.forget()
        self._said = (text, style)
        self._forgetting = self.set_timer(_SECONDS, self.forget)
        self.refresh()

    def forget(self) -> None:
        """Show the actions again."""
        if self._forgetting is not None:
            self._forgetting.stop()
        self._said = self._forgetting = None
        self.refresh()

    def render(self) -> Content:
        """The words, or what is told."""
        if self._said is not None:
            text, style = self._said
            return Content.assemble((fit(text, self.size.width).rstrip(), style))
        parts = list[Content]()
        for number, offer in enumerate(self._offers):
            left = len(self._offers) - number
            room = self.size.width - sum(one.cell_length + len(_GAP) for one in parts)
            more = 0 if left == 1 else len(_GAP) + len(f"+{left - 1}")
            if cell_len(offer.name) + more > room:
                parts.append(self._word(MENU, f"+{left}", FAINT))
                break
            parts.append(self._word(offer.id, offer.name, _WORD))
        return Content(_GAP).join(parts)

    def _word(self, action_id: str, name: str, style: str) -> Content:
        hovered = f"{KEY} underline" if action_id == self._hovered else style
        return Content.assemble((name, hovered)).stylize(Style.from_meta({_ACTION: action_id}))

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Mark the word under the mouse."""
        self._hover(event.style.meta.get(_ACTION))

    def on_leave(self) -> None:
        """Mark none."""
        self._hover(None)

    def _hover(self, action_id: str | None) -> None:
        if action_id != self._hovered:
            self._hovered = action_id
            self.refresh()

    def on_click(self, event: events.Click) -> None:
        """Choose the word that was clicked; a click on a result shows the actions again."""
        action_id = event.style.meta.get(_ACTION)
        if action_id is not None:
            self.post_message(self.Chosen(str(action_id)))
        elif self._said is not None:
            self.forget()
