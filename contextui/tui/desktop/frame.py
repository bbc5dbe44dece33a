"""The frame of a window: border with actor and cost, body, actions, and the close prompt."""

from collections.abc import Callable
from dataclasses import replace

from rich.cells import cell_len, set_cell_size
from textual import on
from textual.actions import SkipAction, parse
from textual.app import ComposeResult
from textual.binding import Binding, BindingsMap
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static, TextArea

from contextui.tui.desktop.actions import ActionRow, ActionRunner, Offer
from contextui.tui.desktop.body import ContentBody
from contextui.tui.desktop.form import Field
from contextui.tui.desktop.shared import (
    ActionRequested,
    Setting,
    closing_warning_of,
    facts_of,
    first_actions_of,
    frame_bindings_of,
    heading,
    in_turn,
    keeps_keys,
    name_of,
    progress_of,
    settle,
    short_name,
    title_of,
)
from contextui.tui.desktop.widgets import Guard, OwnWidgetError, own_widget
from contextui.tui.lines import KEY, MUTED, fit, line
from contextui.windowing.host import commit_input_with, latest_render
from contextui.windowing.snapshot import ContextVersion, Lod
from contextui.windowing.window import Window
from contextui.words import Words, msg

_HINTS = ("summary, or enter", msg("summary?"))
_WARNINGS = ("unsaved! enter to close", msg("unsaved! enter"), msg("unsaved!"))
"""Short forms for narrow windows, from longest to shortest."""
_ENOUGH = 40  # minimum columns for a truncated warning


class Closing(Horizontal):
    """Asks for a summary before a window is closed; it may be empty."""

    BINDINGS = [Binding("escape", "leave", "back", show=False)]
    DEFAULT_CSS = """
    Closing {
        display: none; height: 1;
        Static { width: auto; }
        Field { height: 1; max-height: 1; width: 1fr; }
    }
    """

    class Confirmed(Message):
        """Posted when the person confirms closing the window."""

        def __init__(self, summary: str) -> None:
            super().__init__()
            self.summary = summary

    class Left(Message):
        """Posted when the person keeps the window open."""

    def __init__(self, words: Words) -> None:
        super().__init__()
        self._words = words
        self._warning = ""

    def compose(self) -> ComposeResult:
        """Compose the label and the field."""
        yield Static(Content.assemble((self._label, f"{KEY} bold")))
        yield Field(hint=self._words("summary, or enter"))

    def ask(self, warning: str = "") -> None:
        """Show the prompt; a warning names what would be lost."""
        field = self.query_one(Field)
        field.text, self._warning = "", warning
        self._show_text()
        self.display = True
        field.focus()

    def on_resize(self) -> None:
        """Fit the text to the new width."""
        self._show_text()

    @property
    def _label(self) -> str:
        return f"{self._words('Close')} "

    def _show_text(self) -> None:
        """Show the warning or the hint in the longest form that fits."""
        room = self.size.width or self.container_size.width
        forms = [self._words(one) for one in (_WARNINGS if self._warning else _HINTS)]
        if self._warning:
            forms.insert(0, self._cut(room))
        text = next((one for one in forms if cell_len(one) <= room), forms[-1])
        has_label = cell_len(self._label + text) <= room
        self.query_one(Static).display = has_label
        style = "$text-warning" if self._warning else ""
        self.query_one(Field).placeholder = Content.assemble((text, style))

    def _cut(self, room: int) -> str:
        """Return the warning, truncated if enough of it remains."""
        if _ENOUGH <= room < cell_len(self._warning):
            return set_cell_size(self._warning, room - 1) + "…"
        return self._warning

    @on(Field.Done)
    def _confirm(self, message: Field.Done) -> None:
        message.stop()
        self.display = False
        self.post_message(self.Confirmed(message.field.text.strip()))

    def action_leave(self) -> None:
        """Keep the window open."""
        self.display = False
        self.post_message(self.Left())


_BODY = "body"
_LEVELS = [Lod.GIST, Lod.SUMMARY, Lod.FULL]
_BORDER = 6  # cells of an edge that cannot hold text


class WindowFrame(Vertical, can_focus=True, can_focus_children=False):
    """The frame of one window. Nothing in it ever changes its height."""

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
        self.body = self._make_body()
        self._usual_bindings = self._bindings
        self._bind_keys_of_body()
        self.row = ActionRow(self._offers())
        self.runner = ActionRunner(self, setting)

    def compose(self) -> ComposeResult:
        """Compose the body and the action row."""
        yield self._trouble
        yield self.body
        yield self.row
        yield Closing(self._setting.words)

    def on_mount(self) -> None:
        """Register the input commit and draw the window."""
        self._unregister = commit_input_with(self.window, self._commit_input)
        self._draw()

    def on_unmount(self) -> None:
        """Unregister the input commit."""
        self._unregister()

    async def _commit_input(self) -> None:
        await settle(self.body)

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
        own = [
            (key, replace(one, action=f"of_body({one.action!r})"))
            for key, one in frame_bindings_of(self.body)
        ]
        bindings = dict[str, list[Binding]]()
        for key, one in [*own, *self._usual_bindings]:
            bindings.setdefault(key, []).append(one)
        self._bindings = BindingsMap.from_keys(bindings)

    def _usual_body(self) -> ContentBody:
        body = ContentBody(self.window, self._setting.words)
        body.add_class(_BODY)
        return body

    def _offers(self) -> list[Offer]:
        first = first_actions_of(self.body)
        actions = in_turn(self.window.actions, first)
        return [Offer(one.id, short_name(one, self._setting.words)) for one in actions]

    # --- rendering ---------------------------------------------------------------------

    def window_changed(self) -> None:
        """Redraw the window in place."""
        drawn = latest_render(self.window).snapshot.error is None
        if drawn and not self.window.is_opening and isinstance(self.body, Guard | ContentBody):
            self.body.window_changed()
        self._draw()

    def renumber(self, number: int) -> None:
        """Show another number."""
        self._number = number
        self.draw_border()

    def draw_border(self) -> None:
        """Update title and facts in the border; only changes are drawn."""
        setting, width = self._setting, max(self.size.width + 2 - _BORDER, 0)
        rest = title_of(self.body)
        rest = setting.gists.of(self.window) if rest is None else rest
        notice = setting.notices.get(self.window.id, "")
        progress = progress_of(self.window, notice)
        if progress.plain:  # it comes first: what is cut off is the text before it
            room = width - heading(self._number, self.window, "").cell_length
            rest = fit(line(rest), max(room - progress.cell_length - 4, 0))
        title = heading(self._number, self.window, rest)
        if progress.plain:
            title = Content.assemble(title, "  ", progress)
        facts = facts_of(
            self.window, setting.last_actions, setting.tokens(self.window.id), setting.words
        )
        subtitle = facts.within(width, setting.words)
        if self.border_title != title.markup:
            self.border_title = title
        if self.border_subtitle != subtitle.markup:
            self.border_subtitle = subtitle or None

    def on_resize(self) -> None:
        """Fit the border to the new width."""
        self.draw_border()

    def _draw(self) -> None:
        snapshot = latest_render(self.window).snapshot
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
        self._trouble.display = bool(reason) or undrawn
        self.body.display = snapshot.error is None and not undrawn
        self.set_class(bool(reason), "-error")
        self.row.offer(self._offers())
        self.draw_border()

    @on(Guard.Failed)
    async def _draw_without(self, message: Guard.Failed) -> None:
        """Replace a failed custom widget with the default body."""
        failed, self._own_problem = self.body, message.reason
        if isinstance(failed, Guard):
            self.body = self._usual_body()
            self._bind_keys_of_body()
            self.refresh_bindings()
            self._draw()
            await self.mount(self.body, before=self.row)
            if failed.is_attached:
                await failed.remove()

    # --- actions -----------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Enable only the actions that apply to where the focus is."""
        if keeps_keys(self.app.focused):
            return False  # they belong to the widget
        inside = not self.has_focus
        if action == "of_body":
            return not inside and self._body_allows(str(parameters[0]))
        if action in ("go_in", "out"):
            return inside == (action == "out")
        if action == "detail" and isinstance(self.app.focused, TextArea):
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
        """Focus the first focusable widget of the body."""
        for one in (self.body, *self.body.query("*")):
            if one.focusable and one.display:
                one.focus()
                return

    def action_out(self) -> None:
        """Move the focus from the body back to the frame."""
        self.focus()

    def action_menu(self) -> None:
        """Open the menu of all actions."""
        self.runner.menu()

    def action_detail(self, by: int) -> None:
        """Show more or less detail."""
        level = _LEVELS.index(self.window.lod) + by
        if 0 <= level < len(_LEVELS):
            self._setting.windows.set_lod(self.window.id, _LEVELS[level])

    def action_undo(self) -> None:
        """Run the window's undo action, if it has one."""
        if "undo" in self.window.actions:
            self.runner.run("undo", {})
        else:
            name = line(name_of(self.window))
            self.row.show_message(self._setting.words("{name} has no undo.", name=name))

    def action_show_all(self) -> None:
        """Show the whole last result."""
        if not self.runner.show_all():
            raise SkipAction

    def action_close(self) -> None:
        """Ask for a summary, in place of the action row."""
        self.row.display = False
        lost = closing_warning_of(self.body) or line(latest_render(self.window).unsaved)
        self.query_one(Closing).ask(lost)

    @on(Closing.Confirmed)
    def _close(self, message: Closing.Confirmed) -> None:
        message.stop()
        self.row.display = True
        self.focus()
        self.runner.run("close", {"summary": message.summary or None})

    @on(Closing.Left)
    def _stay(self, message: Closing.Left) -> None:
        message.stop()
        self.row.display = True
        self.focus()

    @on(ActionRow.Chosen)
    def _choose(self, message: ActionRow.Chosen) -> None:
        message.stop()
        self.runner.choose(message.action_id)

    @on(ContentBody.AnchorPressed)
    def _press(self, message: ContentBody.AnchorPressed) -> None:
        message.stop()
        self.runner.choose(message.anchor_id)

    @on(ActionRequested)
    def _act(self, message: ActionRequested) -> None:
        message.stop()
        self.runner.run(message.action_id, message.params)

    def action_scroll(self, by: int) -> None:
        """Scroll by a line."""
        self.body.scroll_relative(y=by, animate=False)

    def action_scroll_page(self, by: int) -> None:
        """Scroll by a page."""
        self.body.scroll_relative(y=by * max(self.body.size.height - 1, 1), animate=False)

    def action_scroll_edge(self, by: int) -> None:
        """Scroll to the start or the end."""
        scroll = self.body.scroll_end if by > 0 else self.body.scroll_home
        scroll(animate=False)
