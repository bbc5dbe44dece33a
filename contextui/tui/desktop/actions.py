"""Window actions: the action row, the menu, running an action, and its result."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.notifications import SeverityLevel
from textual.screen import ModalScreen
from textual.style import Style
from textual.timer import Timer
from textual.widget import Widget

from contextui.files.errors import FileChangedError
from contextui.tui.desktop.form import FormScreen, Question
from contextui.tui.desktop.menu import Chosen, Entry, MenuScreen
from contextui.tui.desktop.shared import (
    Setting,
    name_of,
    needs_words,
    person_acted,
    settle,
    short_name,
)
from contextui.tui.dialogs.diff import ChangeView, Line, diff_lines, is_diff, plain_lines
from contextui.tui.footer import KeyHints
from contextui.tui.lines import FAINT, KEY, MUTED, fit, line
from contextui.windowing.action import ActionResult
from contextui.windowing.anchor import Form, Reference
from contextui.windowing.host import latest_render
from contextui.words import Words, msg

if TYPE_CHECKING:
    from contextui.tui.desktop.frame import WindowFrame


MENU = "+"
"""The id of the menu of all actions."""

_ACTION = "action"
_GAP = "  "
_SECONDS = 8.0  # seconds to show a result
_WORD = "$foreground 75%"


@dataclass(frozen=True, slots=True)
class Offer:
    """An action in the row.

    Attributes:
        id: The action.
        name: Its name in the row.
    """

    id: str
    name: str


class ActionRow(Widget):
    """As many actions as fit, each a clickable word; the menu lists all of them."""

    DEFAULT_CSS = "ActionRow { height: 1; width: 1fr; }"

    class Chosen(Message):
        """Posted when an action is clicked."""

        def __init__(self, action_id: str) -> None:
            super().__init__()
            self.action_id = action_id

    def __init__(self, offers: Sequence[Offer] = ()) -> None:
        super().__init__()
        self._offers = tuple(offers)
        self._message: tuple[str, str] | None = None
        self._clear_timer: Timer | None = None
        self._hovered: str | None = None

    def offer(self, offers: Sequence[Offer]) -> None:
        """Show these actions."""
        self._offers = tuple(offers)
        self.refresh()

    def show_message(self, text: str, style: str = "") -> None:
        """Show a message in place of the actions, for some seconds."""
        self.clear_message()
        self._message = (text, style)
        self._clear_timer = self.set_timer(_SECONDS, self.clear_message)
        self.refresh()

    def clear_message(self) -> None:
        """Show the actions again."""
        if self._clear_timer is not None:
            self._clear_timer.stop()
        self._message = self._clear_timer = None
        self.refresh()

    def render(self) -> Content:
        """Render the actions, or the message."""
        if self._message is not None:
            text, style = self._message
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
        """Highlight the action under the mouse."""
        self._hover(event.style.meta.get(_ACTION))

    def on_leave(self) -> None:
        """Remove the highlight."""
        self._hover(None)

    def _hover(self, action_id: str | None) -> None:
        if action_id != self._hovered:
            self._hovered = action_id
            self.refresh()

    def on_click(self, event: events.Click) -> None:
        """Select the clicked action; a click on a message shows the actions again."""
        action_id = event.style.meta.get(_ACTION)
        if action_id is not None:
            self.post_message(self.Chosen(str(action_id)))
        elif self._message is not None:
            self.clear_message()


@dataclass(frozen=True, slots=True)
class ResultLine:
    """The display form of a result.

    Attributes:
        line: The line in the window's action row.
        style: Its style.
        whole: The full text, if there is more to read.
    """

    line: str
    style: str
    whole: str = ""


def result_line(result: ActionResult, name: str, words: Words) -> ResultLine:
    """Return the display form of a result of the window with this name."""
    style = "$text-success" if result.ok else "$text-error"
    text = result.text.strip()
    first, _, rest = text.partition("\n")
    changed = result.error.__cause__ if result.error is not None else None
    if isinstance(changed, FileChangedError):
        warning = words("{name} changed on disk. Not saved. d shows the difference.", name=name)
        return ResultLine(warning, "$text-error", text)
    if not rest:
        return ResultLine(line(first), style, text if not result.ok else "")
    return ResultLine(f"{line(first)}  {words('d for all')}", style, text)


class ResultScreen(ModalScreen[None]):
    """Shows a whole result, scrollable."""

    BINDINGS = [
        Binding("escape,enter,d,q", "leave", "back", show=False),
        Binding("up,k", "scroll(-1)", show=False),
        Binding("down,j", "scroll(1)", show=False),
        Binding("pageup", "scroll(-10)", show=False),
        Binding("pagedown,space", "scroll(10)", show=False),
    ]

    def __init__(self, title: Content, text: str, words: Words) -> None:
        super().__init__()
        self._title, self._text, self._words = title, text, words

    def compose(self) -> ComposeResult:
        """Compose the text in a box, with diffs in color."""
        with Vertical(classes="box") as box:
            box.border_title = self._title
            yield ChangeView(self._lines())
            yield KeyHints(self._words, [("↑↓", "move"), ("esc", "close")])

    def _lines(self) -> list[Line]:
        """Return the lines of the text; a diff at its end gets line numbers."""
        start = 0 if self._text.startswith("--- ") else self._text.find("\n--- ") + 1
        if is_diff(diff := self._text[start:]):
            above = plain_lines(self._text[:start]) if start else []
            return [*above, *diff_lines(diff, self._words)]
        return plain_lines(self._text)

    def action_scroll(self, by: int) -> None:
        """Scroll by lines."""
        self.query_one(ChangeView).scroll_relative(y=by, animate=False)

    def action_leave(self) -> None:
        """Dismiss the screen."""
        self.dismiss(None)

    def on_click(self) -> None:
        """Dismiss the screen."""
        self.dismiss(None)


_KEYS = (  # window keys, offered in the menu for mouse users
    ("plus", "+", msg("more detail")),
    ("minus", "-", msg("less detail")),
    ("z", "z", "zoom"),
    ("m", "m", msg("make it the main window")),
    ("comma", ",", msg("move it to the front")),
    ("full_stop", ".", msg("move it to the back")),
    ("x", "x", msg("close with a summary…")),
)
_KEY = "key:"  # no action id has this prefix
_SLOW = 0.4  # seconds after which an action is shown as running


class ActionRunner:
    """Runs a window's actions for the person and shows the results in its action row.

    Args:
        frame: The window's frame; menus and forms open over it.
        setting: State shared by all windows.
    """

    def __init__(self, frame: "WindowFrame", setting: Setting) -> None:
        self._frame, self._windows, self._words = frame, setting.windows, setting.words
        self._window = frame.window
        self._last = ResultLine("", "")

    def choose(self, wanted: str, fill_in: bool = False) -> None:
        """Run an action or an anchor, asking for required params first.

        Args:
            wanted: The id of an action, an anchor or the menu.
            fill_in: Ask for params even if none is required.
        """
        anchor = latest_render(self._window).anchors.get(wanted)
        action = self._window.actions.get(wanted)
        if wanted == MENU:
            self.menu()
        elif isinstance(anchor, Form):
            self._ask(wanted, Question.of_anchor(self._window, anchor))
        elif action is not None and (needs_words(action) or (fill_in and action.params.listing)):
            self._ask(wanted, Question.of_action(self._window, action))
        elif not isinstance(anchor, Reference):
            self.run(wanted, {})

    def run(self, action_id: str, params: Mapping[str, Any]) -> None:
        """Run an action as the person, without approval."""
        # The screen's worker: closing the window must not cancel the action that closes it.
        self._frame.screen.run_worker(self._carry_out(action_id, params), name=action_id)

    async def _carry_out(self, action_id: str, params: Mapping[str, Any]) -> None:
        running: str | None = self._words("Running {name}…", name=line(action_id))

        def show_running() -> None:
            # The timer may fire just before the result arrives, which must stay.
            if running is not None:
                self._frame.row.show_message(running, MUTED)

        slow = self._frame.set_timer(_SLOW, show_running)
        result = await self._act(action_id, params)
        slow.stop()
        running = None
        self._show_result(result, action_id)

    async def _act(self, action_id: str, params: Mapping[str, Any]) -> ActionResult:
        await settle(self._frame.body)
        result = await self._windows.act(self._window.id, action_id, params, actor="person")
        if self._frame.is_attached:
            person_acted(self._frame.body, action_id)
        return result

    def _ask(self, wanted: str, question: Question) -> None:
        def answered(result: ActionResult | None) -> None:
            if result is not None:
                self._show_result(result, question.action.id)

        form = FormScreen(question, lambda params: self._act(wanted, params), self._words)
        self._frame.app.push_screen(form, answered)

    # --- results -----------------------------------------------------------------------

    def _show_result(self, result: ActionResult, action_id: str) -> None:
        self._last = result_line(result, line(name_of(self._window)), self._words)
        if not self._frame.is_attached:
            severity: SeverityLevel = "information" if result.ok else "error"
            self._frame.app.notify(self._last.line, severity=severity, markup=False)
            return
        self._frame.row.show_message(self._last.line, self._last.style)
        action = self._window.actions.get(action_id)
        if result.ok and self._last.whole and action is not None and action.effect == "read":
            self.show_all()

    def show_all(self) -> bool:
        """Show the whole last result; return whether there is more than the line."""
        if self._last.whole:
            screen = ResultScreen(self._title(""), self._last.whole, self._words)
            self._frame.app.push_screen(screen)
        return bool(self._last.whole)

    # --- menu --------------------------------------------------------------------------

    def menu(self) -> None:
        """Open the menu of actions, anchors and keys."""
        groups = [list(self._actions()), list(self._anchors()), self._keys()]
        menu = MenuScreen(
            self._title(self._words("actions")), groups, self._words, can_fill_in=True
        )
        self._frame.app.push_screen(menu, self._chosen)

    def _title(self, about: str) -> Content:
        name = (line(self._window.id), "bold")
        return Content.assemble(name, (f"  {about}" if about else "", MUTED))

    def _actions(self) -> Iterator[Entry]:
        for action in self._window.actions.values():
            mark = f"  ({self._words('writes')})" if action.effect == "write" else ""
            about = action.labelled(self._words.lang) + mark
            yield Entry(action.id, short_name(action, self._words), about)

    def _anchors(self) -> Iterator[Entry]:
        for anchor in latest_render(self._window).anchors.values():
            if not isinstance(anchor, Reference):
                bound = self._window.actions[anchor.action]
                label = anchor.label or bound.labelled(self._words.lang)
                ends = "…" if isinstance(anchor, Form) else ""
                yield Entry(anchor.id, f"{label}{ends}", anchor.id)

    def _keys(self) -> list[Entry]:
        return [Entry(_KEY + key, self._words(about), key=shown) for key, shown, about in _KEYS]

    def _chosen(self, chosen: Chosen | None) -> None:
        if chosen is None:
            return
        if chosen.id.startswith(_KEY):
            self._frame.focus()
            app = self._frame.app
            app.call_later(app.simulate_key, chosen.id.removeprefix(_KEY))
        else:
            self.choose(chosen.id, chosen.fill_in)
