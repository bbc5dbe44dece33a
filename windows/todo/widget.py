"""To-do widget: items with check marks, for keyboard and mouse."""

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.binding import Binding
from textual.content import Content
from textual.style import Style

from contextui.tui.lines import FAINT, MUTED, Sheet, fold, line, lit
from contextui.widgets import ActionRequested, stated
from contextui.windowing.snapshot import Lod
from contextui.windows.todo.window import Item, TodoWindow
from contextui.words import Words

_ITEM = "item"


class TodoBody(Sheet):
    """The items of a list; done ones are struck through."""

    BINDINGS = [
        Binding("up", "step(-1)", show=False),
        Binding("down", "step(1)", show=False),
        Binding("space,enter", "tick_off", "tick off", key_display="space"),
        Binding("delete,backspace", "delete", show=False),
    ]
    first_actions: ClassVar[tuple[str, ...]] = ("add", "clear_done")

    def __init__(self, window: TodoWindow) -> None:
        super().__init__()
        self._window, self._words = window, Words(window.env.lang)
        self._items: list[Item] = []
        self._hides_done = False
        self._cursor: int | None = None

    @property
    def window_title(self) -> str:
        count = sum(not item.done for item in self._items)
        return self._words("{count} open", count=count) if self._items else ""

    def window_changed(self) -> None:
        state = stated(self._window, TodoWindow.State)
        if state is not None:
            self._items = state.items
        self._hides_done = self._window.lod is not Lod.FULL
        shown = [one.id for one in self._shown()]
        if self._cursor not in shown:
            self._cursor = shown[0] if shown else None
        self.redraw()

    def _shown(self) -> list[Item]:
        return [item for item in self._items if not (item.done and self._hides_done)]

    def lines_for(self, width: int) -> Sequence[Content]:
        if not self._items:
            hint = self._words("Nothing to do yet. Ask for an item, or press a.")
            return fold(Content.styled(hint, FAINT), width)
        return [row for one in self._shown() for row in self._rows(one, width)]

    def _rows(self, item: Item, width: int) -> list[Content]:
        mark, style = ("✓", "$text-success") if item.done else ("·", MUTED)
        text = (line(item.text), f"strike {FAINT}" if item.done else "")
        content = Content.assemble((f"{mark} ", style), text)
        rows = fold(content.stylize(Style.from_meta({_ITEM: item.id})), width, 2)
        if item.id == self._cursor and self.has_focus:
            rows = [lit(row.pad_right(max(width - row.cell_length, 0))) for row in rows]
        return rows

    # --- keyboard and mouse ------------------------------------------------------------

    def action_step(self, by: int) -> None:
        shown = [one.id for one in self._shown()]
        if self._cursor in shown:
            at = min(max(shown.index(self._cursor) + by, 0), len(shown) - 1)
            self._cursor = shown[at]
            self.redraw()
            if rows := [number for number, one in enumerate(self.lines) if self._is_at(one)]:
                self.show_line(rows[0])

    def _is_at(self, row: Content) -> bool:
        metas = (span.style.meta for span in row.spans if isinstance(span.style, Style))
        return any(meta.get(_ITEM) == self._cursor for meta in metas)

    def action_tick_off(self) -> None:
        for item in self._items:
            if item.id == self._cursor:
                wanted = "undone" if item.done else "done"
                self.post_message(ActionRequested(wanted, {"item": item.id}))

    def action_delete(self) -> None:
        if self._cursor is not None:
            self.post_message(ActionRequested("delete", {"item": self._cursor}))

    def on_click(self, event: events.Click) -> None:
        item_id = event.style.meta.get(_ITEM)
        if item_id is not None:
            self._cursor = int(item_id)
            self.action_tick_off()
