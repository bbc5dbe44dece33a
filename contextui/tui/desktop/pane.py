"""The desktop pane: a main window, a stack, and one line for each window that does not fit."""

from collections.abc import Sequence
from contextlib import suppress

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Container
from textual.content import Content
from textual.geometry import Region
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from contextui.errors import UnknownWindowError
from contextui.tui.desktop.frame import WindowFrame
from contextui.tui.desktop.layout import Arrangement, Mode, Order, WindowLines, arrange
from contextui.tui.desktop.menu import Chosen, Entry, MenuScreen
from contextui.tui.desktop.shared import (
    Gists,
    LastActions,
    Setting,
    keeps_keys,
    keeps_tab,
    name_of,
)
from contextui.tui.keys import meant_key
from contextui.tui.lines import MUTED
from contextui.tui.link import Changes, Desk
from contextui.windowing.window import Window
from contextui.words import Words, msg


class Desktop(Container, can_focus=True, can_focus_children=False):
    """All open windows; only visible ones are mounted.

    The pane takes one place in the tab order: the window used last.
    """

    BINDINGS = [
        Binding("1", "go_to(1)", "window", key_display="1-9"),
        *(Binding(str(number), f"go_to({number})", show=False) for number in range(2, 10)),
        Binding("z", "screen.zoom", "zoom"),
        Binding("m", "master", show=False),
        Binding("comma", "move(-1)", show=False),
        Binding("full_stop", "move(1)", show=False),
        Binding("left", "step(-1)", show=False),
        Binding("right", "step(1)", show=False),
    ]

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave all keys to a widget that uses them."""
        return False if self.keeps_keys() else super().check_action(action, parameters)

    class GistDrawn(Message):
        """Posted when the gist of a window is rendered."""

        def __init__(self, window_id: str) -> None:
            super().__init__()
            self.window_id = window_id

    class Emptied(Message):
        """Posted when the last window closed while it had the focus."""

    def __init__(self, words: Words) -> None:
        super().__init__(id="desktop")
        self._words = words
        self._setting: Setting | None = None
        self._order = Order()
        self._arrangement = Arrangement()
        self._frames: dict[str, WindowFrame] = {}
        self._lines: WindowLines | None = None
        self._empty = Static(classes="empty")
        self._wants_focus = False

    def compose(self) -> ComposeResult:
        """Compose the hint for an empty desktop."""
        yield self._empty

    def on_mount(self) -> None:
        """Start the timer that updates the ages in the borders."""
        self.set_interval(1.0, self._tick)

    def attach(self, desk: Desk) -> None:
        """Show the windows of a session."""
        windows = desk.session.windows
        self._setting = Setting(
            windows,
            self._words,
            LastActions(windows.clock),
            Gists(lambda window_id: self.post_message(self.GistDrawn(window_id))),
            desk.tokens_of,
        )
        self._lines = WindowLines(self._setting)
        self.mount(self._lines)
        self.take(Changes(windows={one.id for one in windows.windows()}))

    # --- changes -----------------------------------------------------------------------

    def take(self, changes: Changes) -> None:
        """Redraw what changed, in place."""
        if self._setting is None:
            return
        before = (list(self._order.ids), self._order.current)
        windows = {one.id: one for one in self._setting.windows.windows()}
        self._order.follow(windows)
        self._setting.notices.update(changes.notified)
        for window_id in changes.windows:
            if window := windows.get(window_id):
                self._setting.last_actions.note(window, changes.acted.get(window_id))
            else:
                self._setting.last_actions.forget(window_id)
                self._setting.gists.forget(window_id)
                self._setting.notices.pop(window_id, None)
        replaced = [one for one in self._frames if self._is_replaced(windows.get(one))]
        if replaced or before != (self._order.ids, self._order.current):
            self._arrange(replaced)
        for window_id in changes.windows & self._frames.keys():
            self._frames[window_id].window_changed()
        self._redraw_lines()

    def _is_replaced(self, window: Window | None) -> bool:
        """Whether a window was reloaded with another class since its frame was mounted."""
        return window is not None and self._frames[window.id].window is not window

    @on(GistDrawn)
    def _show_gist(self, message: GistDrawn) -> None:
        message.stop()
        if frame := self._frames.get(message.window_id):
            frame.draw_border()
        else:
            self._redraw_lines()

    def _tick(self) -> None:
        """Update ages and late marks; they are in the borders, so nothing moves."""
        for frame in self._frames.values():
            frame.draw_border()
        self._redraw_lines()

    def _redraw_lines(self) -> None:
        if self._lines is not None and self._lines.is_attached:
            self._lines.redraw()

    # --- arrangement -------------------------------------------------------------------

    def on_resize(self) -> None:
        """Rearrange the windows for the new size."""
        self._arrange()

    def _mode(self) -> Mode:
        if self.screen.has_class("-zoom-window"):
            return "zoomed"
        if self.screen.has_class("-narrow"):
            return "single"
        return "below" if self.screen.has_class("-wide") else "side"

    def _arrange(self, replaced: Sequence[str] = ()) -> None:
        setting, lines = self._setting, self._lines
        if setting is None or lines is None or not self.is_attached:
            return
        had_focus = (
            self.screen.focused is not None and self in self.screen.focused.ancestors_with_self
        )
        self._arrangement = arrange(self._order, self.size, self._mode(), self._arrangement.first)
        places = dict(self._arrangement.frames)
        for window_id in self._frames.keys() - (places.keys() - set(replaced)):
            self._frames.pop(window_id).remove()
        for window_id, region in places.items():
            if (window := setting.windows.get(window_id)) is not None:
                _put(self._frame(window, setting), region)
        _put(lines, self._arrangement.place)
        lines.display = bool(self._arrangement.lines or self._arrangement.more)
        lines.show(self._numbered(setting), self._arrangement.more)
        self._show_empty()
        if had_focus and not self._order.ids:
            self.post_message(self.Emptied())
        elif had_focus or self._wants_focus:
            self._wants_focus = not places  # no room yet: the pane is about to be shown
            self._focus_current()

    def _frame(self, window: Window, setting: Setting) -> WindowFrame:
        number = self._order.number(window.id)
        frame = self._frames.get(window.id)
        if frame is None:
            frame = self._frames[window.id] = WindowFrame(window, number, setting)
            self.mount(frame)
        else:
            frame.renumber(number)
        return frame

    def _numbered(self, setting: Setting) -> list[tuple[int, Window]]:
        return [
            (self._order.number(one), window)
            for one in self._arrangement.lines
            if (window := setting.windows.get(one)) is not None
        ]

    def _show_empty(self) -> None:
        words = msg("No window is open. Ask for one, or /open.")
        if self._order.ids:
            words = msg("Too small for windows. Chat still works.")
        shown = self._arrangement
        self._empty.display = not (shown.frames or shown.lines)
        self._empty.update(Content.assemble((self._words(words), MUTED)))

    # --- focus -------------------------------------------------------------------------

    def on_focus(self) -> None:
        """Pass the focus on to the window used last."""
        self._focus_current()

    def _focus_current(self) -> None:
        frame = self._frames.get(self._order.current or "")
        focused = self.screen.focused
        if frame is not None and (focused is None or frame not in focused.ancestors_with_self):
            frame.focus()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Record which window has the focus."""
        for one in event.widget.ancestors_with_self:
            if isinstance(one, WindowFrame):
                self._order.current = one.window.id
                self._use(one.window.id)
                if self._setting and self._setting.notices.pop(one.window.id, None):
                    one.draw_border()

    def _use(self, window_id: str) -> None:
        if self._setting is not None:
            with suppress(UnknownWindowError):  # it was closed in between
                self._setting.windows.focus(window_id)

    def keeps_tab(self) -> bool:
        """Return whether a window's widget has the focus and uses tab itself."""
        return self.is_attached and keeps_tab(self.screen.focused)

    def keeps_keys(self) -> bool:
        """Return whether a window's widget has the focus and uses all keys."""
        return self.is_attached and keeps_keys(self.screen.focused)

    def leave(self) -> None:
        """Move the focus from a window's widget to its frame."""
        frame = self._frames.get(self._order.current or "")
        if frame is not None:
            frame.focus()

    def go_to(self, number: int) -> None:
        """Focus the window with this number and show it if it was only a line."""
        if not 1 <= number <= len(self._order.ids):
            words = self._words("There is no window {number}.", number=number)
            self.notify(words, severity="warning", markup=False)
            return
        self._go(self._order.ids[number - 1])

    def is_at(self, number: int) -> bool:
        """Whether the window with this number has the focus or does not exist."""
        if not 1 <= number <= len(self._order.ids):
            return True
        frame = self._frames.get(self._order.ids[number - 1])
        return frame is not None and frame.has_focus_within

    def _go(self, window_id: str) -> None:
        self._order.current = window_id
        self._wants_focus = True
        self._arrange()

    def action_go_to(self, number: int) -> None:
        """Focus the window with this number."""
        self.go_to(number)

    def action_step(self, by: int) -> None:
        """Focus the previous or next window."""
        if (window_id := self._order.step(by)) is not None:
            self._go(window_id)

    def action_master(self) -> None:
        """Make the current window the main one."""
        self._order.promote()
        self._arrange()

    def action_move(self, by: int) -> None:
        """Swap the current window with the previous or next one."""
        self._order.move(by)
        self._arrange()

    @on(WindowLines.Chosen)
    def _go_to_clicked(self, message: WindowLines.Chosen) -> None:
        message.stop()
        self._go(message.window_id)

    @on(WindowLines.MoreChosen)
    def _list_all(self, message: WindowLines.MoreChosen) -> None:
        """List all windows, for when there is not even a line for each."""
        message.stop()
        if self._setting is None:
            return
        gists = self._setting.gists
        entries = [
            Entry(one.id, name_of(one), gists.of(one), str(self._order.number(one.id)))
            for one in sorted(
                self._setting.windows.windows(), key=lambda one: self._order.number(one.id)
            )
        ]
        title = Content.assemble((self._words("Windows"), "bold"))
        self.app.push_screen(MenuScreen(title, [entries], self._words), self._go_to_listed)

    def _go_to_listed(self, chosen: Chosen | None) -> None:
        if chosen is not None and chosen.id in self._order.ids:
            self._go(chosen.id)

    def on_key(self, event: events.Key) -> None:
        """Map full-width letters of an input method to the intended keys."""
        if (meant := meant_key(event)) is not None:
            event.stop()
            # Through the app: an event sent by this pane would not bubble past it.
            self.app.call_later(self.app.simulate_key, meant)


def _put(widget: Widget, place: Region) -> None:
    """Position a widget; unchanged styles cause no layout."""
    styles = widget.styles
    styles.offset, styles.width, styles.height = place.offset, place.width, place.height
