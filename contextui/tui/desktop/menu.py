"""A modal menu over the windows."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from contextui.tui.footer import KeyBar
from contextui.tui.lines import FAINT, KEY, MUTED, fit, line
from contextui.words import Words, msg

_NAME = 24  # maximum cells of a name
_KEY = 5


@dataclass(frozen=True, slots=True)
class Entry:
    """An action or a key that the menu offers."""

    id: str
    name: str
    about: str = ""
    key: str = ""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The selected entry of a menu."""

    id: str
    fill_in: bool = False


class MenuScreen(ModalScreen[Chosen | None]):
    """Shows entries in groups and returns the selected one."""

    BINDINGS = [
        Binding("escape", "dismiss", "back", show=False),
        Binding("space", "fill_in", show=False),
    ]

    def __init__(
        self,
        title: Content,
        groups: Sequence[Sequence[Entry]],
        words: Words,
        *,
        can_fill_in: bool = False,
        enter: str = msg("run"),
        at: str = "",
    ) -> None:
        super().__init__()
        self._enter, self._at = enter, at
        self._title, self._words, self._can_fill_in = title, words, can_fill_in
        self._groups = [group for group in groups if group]

    def compose(self) -> ComposeResult:
        with Vertical(classes="box") as box:
            box.border_title = self._title
            yield OptionList(*self._options(), compact=True)
            more = [("space", msg("more fields"))] if self._can_fill_in else []
            yield KeyBar(self._words, [("enter", self._enter), *more, ("esc", "close")])

    def on_mount(self) -> None:
        listed = self.query_one(OptionList)
        ids = [option.id for option in listed.options]
        listed.highlighted = ids.index(self._at) if self._at in ids else 0

    def _options(self) -> list[Option | None]:
        options: list[Option | None] = []
        entries = [one for group in self._groups for one in group]
        width = min(max((cell_len(line(entry.name)) for entry in entries), default=0), _NAME)
        for group in self._groups:
            options += [None] if options else []
            options += [Option(_shown(one, width), one.id) for one in group]
        return options

    @on(OptionList.OptionSelected)
    def _choose(self, message: OptionList.OptionSelected) -> None:
        message.stop()
        self.dismiss(Chosen(message.option_id or ""))

    def action_fill_in(self) -> None:
        listed = self.query_one(OptionList)
        if self._can_fill_in and listed.highlighted is not None:
            option = listed.get_option_at_index(listed.highlighted)
            self.dismiss(Chosen(option.id or "", fill_in=True))

    def on_click(self, event: events.Click) -> None:
        if event.widget is self:
            self.dismiss(None)


def _shown(entry: Entry, width: int) -> Content:
    return Content.assemble(
        (fit(entry.key, _KEY), f"{KEY} bold"),
        (fit(entry.name, width + 2), ""),
        (line(entry.about), MUTED if entry.about else FAINT),
    )
