"""The frame of a window: border with title, actor and cost, body, and the close prompt."""

from collections.abc import Callable
from dataclasses import replace
from typing import cast

from rich.cells import cell_len, set_cell_size
from textual import events, on
from textual.actions import SkipAction, parse
from textual.app import ComposeResult
from textual.binding import Binding, BindingsMap
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input, Static, TextArea

from contextui.tui.desktop.actions import ActionRunner
from contextui.tui.desktop.body import ContentBody
from contextui.tui.desktop.field import Field
from contextui.tui.desktop.shared import (
    ActionRequested,
    Setting,
    facts_of,
    heading,
    name_of,
    progress_of,
)
from contextui.tui.desktop.widgets import (
    Guard,
    OwnWidgetError,
    call_hook,
    hook,
    keeps,
    own_widget,
    settle,
)
from contextui.tui.lines import KEY, MUTED, RULE, LineView, fit, line
from contextui.windowing.runtime import runtime_of
from contextui.windowing.snapshot import ContextVersion, Lod
from contextui.windowing.window import Window
from contextui.words import Words, msg

_HINTS = (
    msg("Enter closes, Esc keeps it. You may type a note for the model."),
    msg("Enter closes, Esc keeps it. A note is optional."),
    msg("Enter closes, Esc keeps it."),
    msg("Enter closes"),
)
_WARNINGS = ("unsaved! enter to close", msg("unsaved! enter"), msg("unsaved!"))
"""Short forms for narrow windows, from longest to shortest."""
_ENOUGH = 40  # minimum columns for a truncated warning


class ClosingField(Field):
    """The field for a summary, of one row."""

    BINDINGS = [
        Binding("enter", "done", "close", priority=True),
        Binding("ctrl+j,shift+enter,alt+enter", "new_line", show=False),
    ]


class Closing(Horizontal):
    """Asks for a summary before a window is closed; it may be empty."""

    BINDINGS = [Binding("escape", "leave", "keep it open")]
    DEFAULT_CSS = """
    Closing {
        display: none; height: 1;
        Static { width: auto; }
        Field { height: 1; max-height: 1; width: 1fr; }
    }
    """

    def __init__(self, words: Words, window_id: str, leave: Callable[[str | None], object]) -> None:
        super().__init__()
        self._words, self._window_id, self._leave = words, window_id, leave
        self._warning = ""

    def compose(self) -> ComposeResult:
        yield Static(Content.assemble((self._label, f"{KEY} bold")))
        yield ClosingField(hint=self._words(_HINTS[-1]))

    def ask(self, warning: str = "") -> None:
        field = self.query_one(Field)
        field.text, self._warning = "", warning
        self._show_text()
        self.display = True
        field.focus()

    @property
    def _label(self) -> str:
        return self._words("Close {window}?", window=line(self._window_id)) + " "

    def _show_text(self) -> None:
        room = self.size.width or self.container_size.width
        forms = [self._words(one) for one in (_WARNINGS if self._warning else _HINTS)]
        if _ENOUGH <= room < cell_len(self._warning):
            forms.insert(0, set_cell_size(self._warning, room - 1) + "…")
        elif self._warning:
            forms.insert(0, self._warning)
        # A warning may take the room of the label; the hint does not make sense without it.
        left = room if self._warning else room - cell_len(self._label)
        text = next((form for form in forms if cell_len(form) <= left), forms[-1])
        has_label = cell_len(self._label + text) <= room
        self.query_one(Static).display = has_label
        style = "$text-warning" if self._warning else ""
        self.query_one(Field).placeholder = Content.assemble((text, style))

    on_resize = _show_text

    def on_descendant_blur(self) -> None:
        self.call_after_refresh(self._withdraw)

    def _withdraw(self) -> None:
        if self.app.app_focus and not self.has_focus_within:
            self.display = False

    @on(Field.Done)
    def _confirm(self, message: Field.Done) -> None:
        message.stop()
        self.display = False
        self._leave(message.field.text.strip())

    def action_leave(self) -> None:
        self.display = False
        self._leave(None)


_BODY = "body"
_LEVELS = [Lod.GIST, Lod.SUMMARY, Lod.FULL]
_BORDER = 6  # cells of an edge that cannot hold text
_SECONDS = 8.0  # seconds to show a result
_MENU = "⋯"
_NUMBER = 3  # cells before the number in the upper border
_MENU_PLACE = 4  # cells from the right end of the lower border
_GAP = 4  # cells between both ends of an edge
_RIGHT = 24  # cells of the right end for which the left one is not cut
_REST = 8  # least cells of what a window shows, beside its name


def ask_for_room(body: Widget) -> None:
    """Draw the border and lay out the windows: what this widget gives for them changed."""
    for ancestor in body.ancestors:
        if isinstance(ancestor, WindowFrame):
            ancestor.draw_border()
            ancestor.post_message(WindowFrame.Resized())


class WindowFrame(Vertical, can_focus=True, can_focus_children=False):
    """The frame of one window; its border says all that is said about the window.

    Above are number, name and what it shows, and right the position or the progress. Below are
    the result of the last action, who acted, and the cost.
    """

    class Resized(Message):
        """Posted when the window wants another number of rows."""

    BINDINGS = [
        Binding("enter", "go_in", "focus"),
        Binding("escape", "out", "back"),
        Binding("a", "menu", "actions"),
        Binding("plus,equals_sign", "detail(1)", "detail", key_display="+-"),
        Binding("minus", "detail(-1)", show=False),
        Binding("x", "close", "close"),
        Binding("u", "undo", show=False),
        Binding("d", "show_all", show=False),
        Binding("up", "scroll(-1)", show=False),
        Binding("down", "scroll(1)", show=False),
        Binding("pageup", "scroll_page(-1)", show=False),
        Binding("pagedown", "scroll_page(1)", show=False),
        Binding("home", "scroll_edge(-1)", show=False),
        Binding("end", "scroll_edge(1)", show=False),
    ]

    def __init__(self, window: Window, number: int, setting: Setting) -> None:
        super().__init__()
        self.window, self._setting, self._number = window, setting, number
        self._trouble = Static(classes="trouble")
        self._own_problem = ""
        self._unregister: Callable[[], None] = lambda: None
        self.runner = ActionRunner(self, window, setting, lambda: self.body, self.show_note)
        self.body = self._make_body()
        self._usual_bindings = self._bindings
        self._bind_keys_of_body()
        self.note = ""
        """The result that the border shows."""
        self._note_style, self._note_timer = "", cast(Timer | None, None)
        self.will_go_in = False
        self.is_pinned = False

    def compose(self) -> ComposeResult:
        yield self._trouble
        yield self.body
        yield Closing(self._setting.words, self.window.id, self._close)

    def on_mount(self) -> None:
        runtime = runtime_of(self.window)
        self._unregister = runtime.commit_input_with(lambda: settle(self.body))
        self._watch_body()
        self.window_changed()

    def on_unmount(self) -> None:
        self._unregister()

    def _make_body(self) -> Widget:
        try:
            own = own_widget(self.window)
        except OwnWidgetError as problem:
            self._own_problem, own = str(problem), None
        if own is None:
            return self._usual_body()
        own.add_class(_BODY)  # fills the remaining room, whatever its own style says
        return own

    def _bind_keys_of_body(self) -> None:
        """Put the keys that the body has for its frame before those of all frames."""
        body, own = self.body, list[tuple[str, Binding]]()
        if isinstance(body, Guard):
            own = body.guarded(lambda: list(BindingsMap(hook(body, "frame_bindings"))), own)
        bindings = dict[str, list[Binding]]()
        for key, one in own:
            of_body = replace(one, action=f"of_body({one.action!r})")
            bindings.setdefault(key, []).append(of_body)
        for key, one in self._usual_bindings:
            bindings.setdefault(key, []).append(one)
        self._bindings = BindingsMap.from_keys(bindings)

    def _usual_body(self) -> ContentBody:
        body = ContentBody(self.window, self._setting.words, self.runner.choose)
        body.add_class(_BODY)
        return body

    def _watch_body(self) -> None:
        if isinstance(self.body, ScrollView):
            self.watch(self.body, "virtual_size", self._content_resized, init=False)
            self.watch(self.body, "scroll_y", self.draw_border, init=False)

    def _content_resized(self) -> None:
        self.draw_border()
        self.post_message(self.Resized())

    def on_resize(self) -> None:
        (self._draw if self.note else self._content_resized)()

    def wanted_rows(self) -> int | None:
        """Return the rows that show the whole content, with the border; None before it has a width.

        They depend on content and width alone, in whatever order both change.
        """
        rows = hook(self.body, "window_rows")
        rows = rows if isinstance(rows, int) else None
        if not self.body.display:
            rows = 0
        elif not self.body.size.width:
            return None
        elif rows is None and isinstance(self.body, LineView):
            rows = self.body.count
        elif rows is None and isinstance(self.body, ScrollView):
            rows = self.body.virtual_size.height
        elif rows is None:
            rows = runtime_of(self.window).renders.latest().snapshot.content.count("\n") + 1
        if self._trouble.display:  # as it wraps, not as it was laid out before
            width = max(self.scrollable_content_region.width, 1)
            rows += self._trouble.visual.get_height({}, width)
        return rows + 2

    # --- rendering ---------------------------------------------------------------------

    def window_changed(self) -> None:
        drawn = runtime_of(self.window).renders.latest().snapshot.error is None
        if drawn and not self.window.is_opening and isinstance(self.body, Guard | ContentBody):
            self.body.window_changed()
        self._draw()

    @on(events.Focus)
    @on(events.DescendantFocus)
    @on(events.Enter)
    def draw_border(self) -> None:
        if not self.is_attached:  # a tick between creating and mounting it
            return
        width = max(self.outer_size.width - _BORDER, 0)
        title, subtitle = self._title(width), self._subtitle(width)
        if self.border_title != title.markup:
            self.border_title = title
        if self.border_subtitle != subtitle.markup:
            self.border_subtitle = subtitle or None

    def _title(self, width: int) -> Content:
        own = hook(self.body, "window_title")
        rest = line(self._setting.gists.of(self.window) if own is None else str(own))
        bare = heading(self._number, self.window, "").cell_length
        free = max(width - bare - _GAP, 0)
        room = free - cell_len(rest)
        right = self._right(room if room >= _RIGHT else free - min(cell_len(rest), _REST))
        if right.cell_length > free:
            right = right.truncate(free, ellipsis=True) if free >= _REST else Content("")
        room = width - bare - 2 - (right.cell_length + _GAP if right.plain else 0)
        left = heading(self._number, self.window, fit(rest, min(room, cell_len(rest))))
        return self._spread(left, right, width) if right.plain else left

    def _right(self, room: int) -> Content:
        notice = self._setting.notices.get(self.window.id, "")
        progress = progress_of(self.window, notice, room)
        return progress if progress.plain else Content.styled("   ".join(self._place(room)), MUTED)

    def _spread(self, left: Content, right: Content, width: int) -> Content:
        gap = width - left.cell_length - right.cell_length
        if gap < _GAP:
            return Content.assemble(left, " " * max(gap, 2 if left.plain else 0), right)
        ink = "$primary" if self.has_focus_within or self.has_focus else RULE
        ink = "$error" if self.has_class("-error") else ink
        return Content.assemble(left, " ", ("─" * (gap - 2), ink), " ", right)

    def _place(self, room: int) -> list[str]:
        words = self._setting.words
        parts = [words("just opened")] if self.window.id in self._setting.opened else []
        parts += [words("pinned")] if self.is_pinned else []
        position = hook(self.body, "window_position")
        if position is None and isinstance(self.body, ScrollView) and self.body.display:
            position = self._scrolled(self.body)
        parts += [line(str(position))] if position else []
        while parts and cell_len("   ".join(parts)) > room:
            parts.pop()
        return parts

    def _scrolled(self, body: ScrollView) -> str:
        count, height = body.virtual_size.height, body.scrollable_content_region.height
        if not 0 < height < count:
            return ""
        first = min(body.scroll_offset.y, count - height) + 1
        words, last = self._setting.words, first + height - 1
        return words("{first}–{last} of {count}", first=first, last=last, count=count)

    def _subtitle(self, width: int) -> Content:
        ends = Content("")
        if self.has_focus or self.has_focus_within or self.is_mouse_over:
            ends = Content.assemble("  ", (_MENU, f"{KEY} bold"))
        has_note = bool(self.note) and not self._has_long_note
        free = width - ends.cell_length - (cell_len(self.note) + 4 if has_note else 0)
        right = Content.assemble(facts_of(self.window, self._setting, free), ends)
        if not has_note:
            return right
        room = max(width - right.cell_length - (4 if right.plain else 0), 0)
        note = fit(self.note, min(room, cell_len(self.note))).rstrip()
        return self._spread(Content.styled(note, self._note_style), right, width)

    def pin(self, is_pinned: bool) -> None:
        if is_pinned != self.is_pinned:
            self.is_pinned = is_pinned
            self.draw_border()

    @property
    def _has_long_note(self) -> bool:
        """Whether the border cannot hold the result: then it is shown above the body."""
        width = self.outer_size.width
        return bool(self.note and width) and cell_len(self.note) > width - _BORDER - _GAP

    def show_note(self, text: str, style: str = "") -> None:
        """Show a result for a while, or a long one until the person does something else."""
        if self._note_timer is not None:
            self._note_timer.stop()
        self.note, self._note_style = text, style
        self._note_timer = None
        if text and not self._has_long_note:
            self._note_timer = self.set_timer(_SECONDS, self.clear_note)
        self._draw()

    def clear_note(self) -> None:
        if self.note:
            self.show_note("")

    @on(events.Blur)
    @on(events.DescendantBlur)
    def _show_blur(self) -> None:
        self.call_after_refresh(self._after_blur)

    def on_leave(self) -> None:
        self.call_after_refresh(self.draw_border)

    def _after_blur(self) -> None:
        self.draw_border()
        if self.is_attached and not (self.has_focus or self.has_focus_within):
            if self._has_long_note:
                self.clear_note()
            call_hook(self.body, "person_left")

    def on_click(self, event: events.Click) -> None:
        if event.widget is not self:
            return
        width, height = self.outer_size
        on_number = event.y == 0 and 0 <= event.x - _NUMBER <= len(str(self._number))
        on_sign = event.y == height - 1 and abs(width - _MENU_PLACE - event.x) <= 1
        if on_number or on_sign:
            event.stop()
            self.action_menu()

    def _draw(self) -> None:
        snapshot = runtime_of(self.window).renders.latest().snapshot
        words, name = self._setting.words, name_of(self.window)
        undrawn = snapshot.header.version == ContextVersion(0)
        reason = self._own_problem
        if snapshot.error and not undrawn:
            reason = snapshot.error.partition("\n")[2] or snapshot.error
        if reason:
            message = words(
                "{name} could not be drawn: {reason}. Everything else still works.",
                name=line(name),
                reason=line(reason).rstrip("."),
            )
            self._trouble.update(Content.assemble((message, "$text-error")))
        elif undrawn:
            state = words("opening…") if self.window.is_opening else words("drawing…")
            self._trouble.update(Content.assemble((state, MUTED)))
        elif self._has_long_note:
            self._trouble.update(Content.styled(self.note, self._note_style))
        self._trouble.display = bool(reason) or undrawn or self._has_long_note
        self.body.display = snapshot.error is None and not undrawn
        self.set_class(bool(reason), "-error")
        self.draw_border()
        self.post_message(self.Resized())
        if self.will_go_in and not undrawn:
            self.call_after_refresh(self._go_in_now)

    @on(Guard.Failed)
    async def _draw_without(self, message: Guard.Failed) -> None:
        failed, self._own_problem = self.body, message.reason
        if isinstance(failed, Guard):
            self.body = self._usual_body()
            self._bind_keys_of_body()
            self.refresh_bindings()
            self._draw()
            await self.mount(self.body, after=self._trouble)
            self._watch_body()
            self.window_changed()
            if failed.is_attached:
                await failed.remove()

    # --- actions -----------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if keeps(self.app.focused, "keeps_keys") or isinstance(self.app.focused, ClosingField):
            return False  # they belong to the widget
        inside = self.app.focused is not self  # `has_focus` of a new frame is set later
        if action == "of_body":
            return not inside and self._body_allows(str(parameters[0]))
        if action in ("go_in", "out"):
            return inside == (action == "out")
        if action == "detail" and isinstance(self.app.focused, TextArea | Input):
            return False  # there, it is text input
        return super().check_action(action, parameters)

    def _body_allows(self, action: str) -> bool | None:
        body, (_, name, parameters) = self.body, parse(action)
        if not isinstance(body, Guard):
            return False
        no: bool | None = False
        return body.guarded(lambda: body.check_action(name, parameters), no)

    async def action_of_body(self, action: str) -> None:
        """Run an action of the body, for a key that it has while the frame has the focus."""
        body = self.body
        if isinstance(body, Guard):
            await body.guarded_wait(lambda: self.app.run_action(action, body))

    def action_go_in(self) -> None:
        for one in (self.body, *self.body.query("*")):
            if one.focusable and one.display:
                one.focus()
                return

    def go_in(self) -> None:
        """Focus the body, as soon as it is drawn, unless the focus is elsewhere by then."""
        self.will_go_in = True
        self._draw()

    def _go_in_now(self) -> None:
        if self.will_go_in and self.app.focused is self:
            self.action_go_in()
        self.will_go_in = False

    def action_out(self) -> None:
        self.focus()

    def action_menu(self) -> None:
        self.runner.menu()

    def action_detail(self, by: int) -> None:
        level = _LEVELS.index(self.window.lod) + by
        if 0 <= level < len(_LEVELS):
            self._setting.windows.set_lod(self.window.id, _LEVELS[level])

    def action_undo(self) -> None:
        if "undo" in self.window.actions:
            self.runner.run("undo", {})
        else:
            self.show_note(self._setting.words("No undo here. Try /undo."))

    def action_show_all(self) -> None:
        if not self.runner.show_all():
            raise SkipAction

    def action_close(self) -> None:
        unsaved = runtime_of(self.window).renders.latest().unsaved
        lost = str(hook(self.body, "closing_warning") or "") or line(unsaved)
        self.query_one(Closing).ask(lost)

    def _close(self, summary: str | None) -> None:
        """Close the window with a summary, which may be empty; with None, it stays."""
        self.focus()
        if summary is not None:
            self.runner.run("close", {"summary": summary or None})

    @on(ActionRequested)
    def _act(self, message: ActionRequested) -> None:
        message.stop()
        if message.fill_in:
            self.runner.choose(message.action_id, fill_in=True)
        else:
            self.runner.run(message.action_id, message.params)

    def action_scroll(self, by: int) -> None:
        self.body.scroll_relative(y=by, animate=False)

    def action_scroll_page(self, by: int) -> None:
        self.action_scroll(by * max(self.body.size.height - 1, 1))

    def action_scroll_edge(self, by: int) -> None:
        scroll = self.body.scroll_end if by > 0 else self.body.scroll_home
        scroll(animate=False)
