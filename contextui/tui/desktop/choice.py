"""A choice among few: all options in view, none hidden behind a list."""

from collections.abc import Sequence

from textual import events
from textual.binding import Binding
from textual.content import Content
from textual.geometry import Size
from textual.style import Style
from textual.widget import Widget

from contextui.tui.cells import FAINT, MUTED, line
from contextui.tui.sheet.folding import fold

_OPTION = "option"
_SHOWN = 40  # cells of an option


class Choice(Widget, can_focus=True):
    """Options of which one is chosen, or several; left and right go, space chooses.

    Args:
        options: What there is.
        chosen: What is chosen to begin with.
        many: Whether several can be.
        may_be_empty: Whether none needs to be.
        labels: What they are called, if not by themselves.
        note: What else is to be said, behind them.
    """

    BINDINGS = [
        Binding("left", "step(-1)", show=False),
        Binding("right", "step(1)", show=False),
        Binding("space", "choose", show=False),
    ]
    DEFAULT_CSS = "Choice { height: auto; width: 1fr; }"

    def __init__(
        self,
        options: Sequence[str],
        chosen: Sequence[str] = (),
        *,
        many: bool = False,
        may_be_empty: bool = True,
        labels: Sequence[str] = (),
        note: str = "",
    ) -> None:
        super().__init__()
        self._options, self._many, self._may_be_empty = tuple(options), many, may_be_empty
        self._labels, self._note = tuple(labels) or self._options, note
        self.chosen = [one for one in chosen if one in options]
        if not self.chosen and not may_be_empty and not many:
            self.chosen = [self._options[0]]
        self._at = self._options.index(self.chosen[0]) if self.chosen else 0

    def render(self) -> Content:
        """All options; what is chosen is marked, not only coloured."""
        return Content("\n").join(fold(self._row(), max(self.size.width, 1)))

    def get_content_height(self, _: Size, __: Size, width: int) -> int:
        """As many rows as the options take."""
        return len(fold(self._row(), max(width, 1)))

    def _row(self) -> Content:
        shown = [self._shown(number) for number in range(len(self._options))]
        return Content("  ").join(
            [*shown, *([Content.assemble((self._note, FAINT))] if self._note else [])]
        )

    def _shown(self, number: int) -> Content:
        is_chosen = self._options[number] in self.chosen
        label = line(self._labels[number])
        label = label if len(label) <= _SHOWN else label[: _SHOWN - 1] + "…"
        mark, style = ("✓", "bold") if is_chosen else ("·", MUTED)
        here = " on $primary 22%" if self.has_focus and number == self._at else ""
        shown = Content.assemble((f"{mark} ", FAINT + here), (label, style + here))
        return shown.stylize(Style.from_meta({_OPTION: number}))

    def action_step(self, by: int) -> None:
        """Go to the next option; where only one can be chosen, choose it."""
        self._at = (self._at + by) % len(self._options)
        if not self._many:
            self.chosen = [self._options[self._at]]
        self.refresh()

    def action_choose(self) -> None:
        """Choose the option, or let go of it."""
        option = self._options[self._at]
        if option in self.chosen and (self._many or self._may_be_empty):
            self.chosen.remove(option)
        elif self._many:
            self.chosen = [one for one in self._options if one in (*self.chosen, option)]
        else:
            self.chosen = [option]
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        """Choose what was clicked."""
        number = event.style.meta.get(_OPTION)
        if number is not None:
            self._at = int(number)
            self.action_choose()

    def on_focus(self) -> None:
        """Show the cursor."""
        self.refresh()

    def on_blur(self) -> None:
        """Show none."""
        self.refresh()
