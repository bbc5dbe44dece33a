"""The desktop pane: a main window, a shelf, and one line for each window that does not fit."""

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Container
from textual.content import Content
from textual.geometry import Region, Size
from textual.widget import Widget
from textual.widgets import Static

from contextui.errors import ContextUIError, UnknownWindowError
from contextui.tui.app_session import AppSession, Changes
from contextui.tui.desktop.frame import WindowFrame
from contextui.tui.desktop.layout import LEAST_ROWS, Arrangement, Mode, WindowLines, Wish, arrange
from contextui.tui.desktop.menu import Chosen, Entry, MenuScreen
from contextui.tui.desktop.order import Order
from contextui.tui.desktop.shared import (
    FileRequested,
    Gists,
    Setting,
    WindowRequested,
    name_of,
)
from contextui.tui.desktop.widgets import call_hook, keeps
from contextui.tui.dividers import NARROW, TWO_COLUMNS, WIDE, Dividers
from contextui.tui.keys import KeyLine, meant_key
from contextui.tui.lines import MUTED, line
from contextui.windowing.runtime import runtime_of
from contextui.windowing.window import Window
from contextui.windowing.worker import in_daemon_thread
from contextui.words import Words, msg

_FRESH = 10.0  # seconds for which a window is marked as just opened
_MOST_HIDDEN = 12  # frames that are kept while there is no room for them


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

    def __init__(
        self,
        words: Words,
        desk: AppSession,
        dividers: Dividers,
        prompt: Callable[[], Widget],
        reordered: Callable[[], object],
    ) -> None:
        super().__init__(id="desktop")
        self._words, self._prompt, self._reordered = words, prompt, reordered
        windows = desk.session.windows
        self._setting = Setting(
            windows,
            words,
            Gists(lambda window_id: self.call_later(self._show_gist, window_id)),
            desk.tokens_of,
        )
        self._order = Order()
        self._arrangement = Arrangement()
        self._frames: dict[str, WindowFrame] = {}
        self._hidden: dict[str, WindowFrame] = {}  # no room for them now
        self._lines = WindowLines(self._setting, self._go, self._list_all)
        self._empty = Static(classes="empty")
        self._wants_focus = False
        self._requested = dict[str, tuple[str, Mapping[str, Any]]]()  # actions of windows to show
        self._will_fit = False
        self._one_file = asyncio.Lock()  # a file that is asked for twice has one editor
        self._rows: dict[str, int] = {}  # that each window wants
        self._widened: set[str] = set()  # with results that need a wide place
        self._dividers = dividers

    def compose(self) -> ComposeResult:
        yield self._empty
        yield self._lines

    def on_mount(self) -> None:
        self.set_interval(1.0, self._tick)

    def show_windows(self, saved_order: object) -> None:
        there = {window.id for window in self._setting.windows.windows()}
        self.take(Changes(windows=there), first_order=saved_order, is_first=True)

    # --- changes -----------------------------------------------------------------------

    def take(self, changes: Changes, *, is_first: bool = False, first_order: object = None) -> None:
        before = (list(self._order.ids), self._order.current)
        windows = {one.id: one for one in self._setting.windows.windows()}
        opened = self._order.follow(
            windows,
            lambda one: type(windows[one]).wide,
            keeps=is_first or self._has_focus,
            former=lambda one: runtime_of(windows[one]).former_id,
        )
        if is_first:
            self._order.restore(first_order)
            self._order.current = self._order.main or self._order.current
        else:
            again = [one for one in changes.again if one in windows]
            self._setting.opened.update(dict.fromkeys(opened + again, time.monotonic()))
            for one in again if not self._has_focus else ():
                self._order.use(one, is_wide=self._wish(one).is_wide and one not in self._frames)
        for window_id in changes.acted:
            self._setting.notices.pop(window_id, None)
        self._setting.notices.update(changes.notified)
        for window_id in changes.windows:
            if window_id not in windows:
                self._setting.notices.pop(window_id, None)
                self._setting.opened.pop(window_id, None)
                self._rows.pop(window_id, None)
                self._widened.discard(window_id)
                if hidden := self._hidden.pop(window_id, None):
                    hidden.remove()
        replaced = [
            one
            for one, frame in self._frames.items()
            if windows.get(one) not in (None, frame.window)
        ]
        if replaced or changes.again or before != (self._order.ids, self._order.current):
            self.refit(replaced)
            self._reordered()
        for window_id in changes.windows & self._frames.keys():
            self._frames[window_id].window_changed()
        self._redraw_lines()

    def _show_gist(self, window_id: str) -> None:
        if frame := self._frames.get(window_id):
            frame.draw_border()
        else:
            self._redraw_lines()

    def _tick(self) -> None:
        """Update ages and late marks; they are in the borders, so nothing moves."""
        key = getattr(self.app, "last_input", 0.0)
        for one, at in list(self._setting.opened.items()):
            if time.monotonic() - at > _FRESH or key > at:
                del self._setting.opened[one]
        for frame in self._frames.values():
            frame.draw_border()
        self._redraw_lines()
        self._fit()

    def _redraw_lines(self) -> None:
        if self._lines.is_attached:
            self._lines.redraw()

    # --- arrangement -------------------------------------------------------------------

    def on_resize(self) -> None:
        self.refit()

    def number_of(self, window_id: str) -> int:
        self.take(Changes())  # it may have been opened just now
        return self._order.number(window_id)

    def with_number(self, text: str, window_id: str) -> str:
        """Add to a message about a window what leads there: a key, or from the tenth a command."""
        number = self.number_of(window_id)
        keys = f"ctrl+g {number}" if 0 < number < 10 else f"/goto {window_id}"
        between = "" if self._words.lang == "zh" else " "
        return text + between + self._words("{keys} goes there.", keys=keys)

    def grow(self, by: int) -> bool:
        """Make the window that has the focus higher or lower; return whether that was possible.

        Where only one window is shown, it takes the whole screen instead, or gives it back.
        """
        window_id = self._order.current
        if not self._has_focus or window_id is None:
            return False
        if self._mode() != "stack":
            is_zoomed = self.screen.has_class("-zoom")
            if is_zoomed != (by > 0):
                self.screen.call_next(self.screen.run_action, "zoom")
            return True
        before = self._height_of(window_id)
        had = self._order.grown.get(window_id, 0)
        self._order.grown[window_id] = had + by
        self.refit()
        if self._height_of(window_id) == before:
            self._order.grown[window_id] = had
            return False
        self._reordered()
        return True

    def reset_sizes(self) -> None:
        self._order.grown.clear()

    def _height_of(self, window_id: str) -> int:
        places = dict(self._arrangement.frames)
        return places[window_id].height if window_id in places else 0

    @property
    def order_to_save(self) -> dict[str, Any]:
        return self._order.saved()

    @on(WindowFrame.Resized)
    def _fit_soon(self, message: WindowFrame.Resized) -> None:
        message.stop()
        if not self._will_fit:
            self._will_fit = True
            self.call_after_refresh(self._fit)

    def _fit(self) -> None:
        self._will_fit = False
        before = {one: self._rows.get(one) for one in self._frames}
        for one, frame in self._frames.items():
            if (rows := frame.wanted_rows()) is not None:
                self._rows[one] = rows
        if before != {one: self._rows.get(one) for one in self._frames}:
            self.refit()

    def _wish(self, window_id: str) -> Wish:
        window = self._setting.windows.get(window_id)
        if window is None:
            return Wish()
        if window_id not in self._rows:  # until it is drawn
            content = runtime_of(window).renders.latest().snapshot.content
            self._rows[window_id] = content.count("\n") + 3
        is_wide = type(window).wide or window_id in self._widened
        return Wish(is_wide, max(self._rows[window_id], LEAST_ROWS))

    def _mode(self) -> Mode:
        if self.screen.has_class("-zoom-windows"):
            return "zoomed"
        return "single" if self.screen.size.width < NARROW else "stack"

    def _arranged(self) -> Arrangement:
        """Arrange the windows; above the chat, the area takes the rows that they need."""
        mode, screen = self._mode(), self.screen.size
        is_above = mode == "stack" and screen.width < WIDE
        rows = self._dividers.most_rows(screen.height)
        opened = self._setting.opened
        found = arrange(
            self._order,
            Size(self.size.width, rows) if is_above else self.size,
            mode,
            self._wish,
            columns=2 if screen.width >= TWO_COLUMNS else 1,
            fills=is_above and self._dividers.rows is not None,
            fresh=next(reversed(opened), None),
        )
        self.styles.height = max(found.rows, LEAST_ROWS) if is_above else None
        return found

    def refit(self, replaced: Sequence[str] = ()) -> None:
        setting, lines = self._setting, self._lines
        if not self.is_attached or not lines.is_attached:
            return
        had_focus = self._has_focus
        self._arrangement = self._arranged()
        places = dict(self._arrangement.frames)
        for window_id in self._frames.keys() - (places.keys() - set(replaced)):
            self._put_away(self._frames.pop(window_id))
        for window_id, region in places.items():
            if (window := setting.windows.get(window_id)) is not None:
                _put(self._frame(window), region)
        _put(lines, self._arrangement.place)
        lines.display = bool(self._arrangement.lines or self._arrangement.more)
        lines.show(self._numbered(self._arrangement.lines), self._arrangement.more)
        self._show_empty()
        for window_id in self._requested.keys() & places.keys():
            self._frames[window_id].runner.run(*self._requested.pop(window_id))
        if had_focus and not self._order.ids:  # the last window was closed
            self.call_after_refresh(lambda: self._prompt().focus())
        elif had_focus or self._wants_focus:
            self._wants_focus = not places  # no room yet: the pane is about to be shown
            self.on_focus()

    @property
    def _has_focus(self) -> bool:
        focused = self.screen.focused if self.is_attached else None
        return focused is not None and self in focused.ancestors_with_self

    def _frame(self, window: Window) -> WindowFrame:
        frame = self._frames.get(window.id)
        if frame is None:
            number = self._order.number(window.id)
            frame = self._brought_back(window)
            if frame is None:
                frame = WindowFrame(window, number, self._setting)
                self.mount(frame)
            self._frames[window.id] = frame
        frame.pin(self._order.is_pinned and self._order.main == window.id)
        return frame

    def _put_away(self, frame: WindowFrame) -> None:
        """Hide a frame, with the caret, the filter and whatever else the person has there."""
        window = frame.window
        if self._setting.windows.get(window.id) is not window:
            frame.remove()
            return
        frame.display = False
        self._hidden[window.id] = frame
        if len(self._hidden) > _MOST_HIDDEN:
            self._hidden.pop(next(iter(self._hidden))).remove()

    def _brought_back(self, window: Window) -> WindowFrame | None:
        """Return the hidden frame of a window, up to date; None if there is none."""
        frame = self._hidden.pop(window.id, None)
        if frame is None:
            return None
        if frame.window is not window:  # its class was replaced
            frame.remove()
            return None
        frame.display = True
        frame.window_changed()
        return frame

    def _numbered(self, ids: Iterable[str]) -> list[tuple[int, Window]]:
        return [
            (self._order.number(one), window)
            for one in ids
            if (window := self._setting.windows.get(one)) is not None
        ]

    def _show_empty(self) -> None:
        words = msg("No window is open. Ask for one, or /open.")
        if self._order.ids:
            words = msg("Too small for windows. Chat still works.")
        shown = self._arrangement
        # A pane that is not laid out yet is not too small.
        is_known = bool(self.size.area) or not self._order.ids
        self._empty.display = is_known and not (shown.frames or shown.lines)
        self._empty.update(Content.assemble((self._words(words), MUTED)))

    # --- focus -------------------------------------------------------------------------

    def on_focus(self) -> None:
        """Focus the window that was used last."""
        frame = self._frames.get(self._order.current or "")
        focused = self.screen.focused
        if frame is not None and (focused is None or frame not in focused.ancestors_with_self):
            frame.focus()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        for one in event.widget.ancestors_with_self:
            if isinstance(one, WindowFrame):
                self._order.use(one.window.id)
                with suppress(UnknownWindowError):  # it was closed in between
                    self._setting.windows.focus(one.window.id)
                if self._setting.notices.pop(one.window.id, None):
                    one.draw_border()

    def keeps_tab(self) -> bool:
        return self.is_attached and keeps(self.screen.focused, "keeps_keys", "keeps_tab")

    def keeps_keys(self) -> bool:
        return self.is_attached and keeps(self.screen.focused, "keeps_keys")

    def leave(self) -> None:
        frame = self._frames.get(self._order.current or "")
        if frame is not None:
            frame.focus()

    def action_go_to(self, number: int) -> None:
        window_id = self._order.numbered(number)
        if window_id is None:
            words = self._words("There is no window {number}.", number=number)
            self.notify(words, severity="warning", markup=False)
        else:
            self._go(window_id)

    def is_at(self, number: int) -> bool:
        window_id = self._order.numbered(number)
        frame = self._frames.get(window_id or "")
        return window_id is None or (frame is not None and frame.has_focus_within)

    def _go(self, window_id: str) -> None:
        # A window in a frame stays in its place; one that was only a line may take the main place.
        is_shown = window_id in self._frames
        self._order.use(window_id, is_wide=self._wish(window_id).is_wide and not is_shown)
        self._wants_focus = True
        self.refit()

    def act_in(self, window_id: str, action_id: str, params: Mapping[str, Any]) -> None:
        """Go to a window, make it wide, and run an action there once it has a frame."""
        self._widened.add(window_id)
        self._requested[window_id] = action_id, params
        self.take(Changes(windows={window_id}))
        self._go(window_id)

    @on(WindowRequested)
    def _go_to_requested(self, message: WindowRequested) -> None:
        message.stop()
        if message.window_id in self._order.ids:
            self._go(message.window_id)

    @on(FileRequested)
    def _edit_file(self, message: FileRequested) -> None:
        message.stop()
        worker = self.run_worker(self._go_to_file(message.path, message.line), group="file")
        if isinstance(self.app, KeyLine):  # the next keys are typed into the file
            frames = self._frames
            self.app.hold(
                lambda: worker.is_finished and not any(one.will_go_in for one in frames.values())
            )

    async def _go_to_file(self, path: str, number: int | None) -> None:
        """Put the cursor into the text of a file, in the editor that has it or in a new one."""
        windows, frame = self._setting.windows, self._frames.get(self._order.current or "")
        given = {"path": path} if number is None else {"path": path, "line": number}
        try:
            async with self._one_file:
                window_id = (await in_daemon_thread(lambda: windows.open("editor", **given))).id
            self.take(Changes(windows={window_id}))
        except ContextUIError as problem:
            if frame is not None:
                frame.show_note(line(self._words(problem)), "$text-error")
        else:
            self._go(window_id)
            if frame := self._frames.get(window_id):
                call_hook(frame.body, "person_acted", "open")
                frame.go_in()

    def action_step(self, by: int) -> None:
        if (window_id := self._order.step(by)) is not None:
            self._go(window_id)

    def action_master(self) -> None:
        self._order.promote()
        self.refit()
        self._reordered()

    def action_move(self, by: int) -> None:
        self._order.move(by, self._arrangement.shown)
        self.refit()
        self._reordered()

    def _list_all(self) -> None:
        """List all windows, for when there is not even a line for each."""
        gists = self._setting.gists
        entries = [
            Entry(one.id, name_of(one), gists.of(one), str(number))
            for number, one in sorted(self._numbered(self._order.ids))
        ]
        title = Content.assemble((self._words("Windows"), "bold"))

        def go(chosen: Chosen | None) -> None:
            if chosen is not None and chosen.id in self._order.ids:
                self._go(chosen.id)

        self.app.push_screen(MenuScreen(title, [entries], self._words), go)

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
