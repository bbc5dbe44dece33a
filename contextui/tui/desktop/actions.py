"""Window actions: the menu, running an action, and its result."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from textual.content import Content
from textual.notifications import SeverityLevel
from textual.widget import Widget

from contextui.files.errors import FileChangedError
from contextui.tui.desktop.form import FormScreen
from contextui.tui.desktop.menu import Chosen, Entry, MenuScreen
from contextui.tui.desktop.shared import Setting, in_turn, name_of, needs_words, short_name
from contextui.tui.desktop.widgets import call_hook, hook, settle
from contextui.tui.dialogs.diff import Line, diff_lines, is_diff, plain_lines
from contextui.tui.dialogs.whole_text import WholeText
from contextui.tui.keys import focus_of
from contextui.tui.lines import MUTED, line
from contextui.windowing.action import CLOSE, Action, ActionResult, Form, Reference
from contextui.windowing.runtime import runtime_of
from contextui.windowing.window import Window
from contextui.words import Words, msg


@dataclass(frozen=True, slots=True)
class ResultLine:
    """The display form of a result."""

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


def result_lines(text: str, words: Words) -> list[Line]:
    """Return the lines of a result; a diff at its end gets line numbers."""
    start = 0 if text.startswith("--- ") else text.find("\n--- ") + 1
    if not is_diff(diff := text[start:]):
        return plain_lines(text)
    return [*plain_lines(text[:start]), *diff_lines(diff, words)]


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
    """Runs a window's actions for the person and shows the results in its border."""

    def __init__(
        self,
        frame: Widget,
        window: Window,
        setting: Setting,
        body: Callable[[], Widget],
        show_note: Callable[[str, str], None],
    ) -> None:
        self._frame, self._windows, self._words = frame, setting.windows, setting.words
        self._window, self._body, self._show_note = window, body, show_note
        self._last = ResultLine("", "")

    def choose(self, wanted: str, fill_in: bool = False) -> None:
        """Run an action or an anchor, asking for required params first."""
        anchor = runtime_of(self._window).renders.latest().anchors.get(wanted)
        action = self._window.actions.get(wanted)
        if isinstance(anchor, Form):
            bound = self._window.actions[anchor.action]
            self._ask(wanted, bound, anchor.fields, anchor.params)
        elif action is not None and (needs_words(action) or (fill_in and action.params.listing)):
            names = tuple(param.name for param in action.params.listing)
            self._ask(wanted, action, names, {})
        elif not isinstance(anchor, Reference):
            self.run(wanted, {})

    def run(self, action_id: str, params: Mapping[str, Any]) -> None:
        # The screen's worker: closing the window must not cancel the action that closes it.
        self._frame.screen.run_worker(self._carry_out(action_id, params), name=action_id)

    async def _carry_out(self, action_id: str, params: Mapping[str, Any]) -> None:
        running: str | None = self._words("Running {name}…", name=line(action_id))

        def show_running() -> None:
            # The timer may fire just before the result arrives, which must stay.
            if running is not None:
                self._show_note(running, MUTED)

        slow = self._frame.set_timer(_SLOW, show_running)
        screen = self._frame.screen
        focused = focus_of(screen)
        result = await self._act(action_id, params)
        slow.stop()
        running = None
        # It does not open over what the person has gone to since, and may be typing into.
        self._show_result(result, action_id, screen.is_current and focus_of(screen) is focused)

    async def _act(self, action_id: str, params: Mapping[str, Any]) -> ActionResult:
        await settle(self._body())
        result = await self._windows.act(self._window.id, action_id, params, actor="person")
        if result.ok and self._frame.is_attached:
            call_hook(self._body(), "person_acted", action_id)
        return result

    def _ask(
        self, wanted: str, action: Action, names: tuple[str, ...], given: Mapping[str, Any]
    ) -> None:
        def answered(result: ActionResult | None) -> None:
            if result is not None:
                self._show_result(result, action.id)

        run = partial(self._act, wanted)
        form = FormScreen(self._window, action, names, self._words, given=given, run=run)
        self._frame.app.push_screen(form, answered)

    # --- results -----------------------------------------------------------------------

    def _show_result(self, result: ActionResult, action_id: str, may_open: bool = True) -> None:
        self._last = result_line(result, line(name_of(self._window)), self._words)
        if result.ok and action_id == CLOSE.id:
            text = self._words("Closed {window}. /undo reopens it.", window=self._window.id)
            self._frame.app.notify(text, markup=False)
            return
        if not self._frame.is_attached:
            severity: SeverityLevel = "information" if result.ok else "error"
            self._frame.app.notify(self._last.line, severity=severity, markup=False)
            return
        self._show_note(self._last.line, self._last.style)
        action = self._window.actions.get(action_id)
        is_read = action is not None and action.effect == "read"
        if may_open and result.ok and self._last.whole and is_read:
            self.show_all()

    def show_all(self) -> bool:
        if self._last.whole:
            text, words = self._last.whole, self._words
            screen = WholeText(words, self._title(""), text, result_lines(text, words))
            self._frame.app.push_screen(screen)
        return bool(self._last.whole)

    # --- menu --------------------------------------------------------------------------

    def menu(self) -> None:
        keys = [Entry(_KEY + key, self._words(about), key=shown) for key, shown, about in _KEYS]
        groups = [list(self._actions()), list(self._anchors()), keys]
        title = self._title(self._words("actions"))
        menu = MenuScreen(title, groups, self._words, can_fill_in=True)
        self._frame.app.push_screen(menu, self._chosen)

    def _title(self, about: str) -> Content:
        name = (line(self._window.id), "bold")
        return Content.assemble(name, (f"  {about}" if about else "", MUTED))

    def _actions(self) -> Iterator[Entry]:
        for action in in_turn(self._window.actions, hook(self._body(), "first_actions") or ()):
            mark = f"  ({self._words('asks')})" if action.effect == "write" else ""
            about = action.labelled(self._words.lang) + mark
            yield Entry(action.id, short_name(action, self._words), about)

    def _anchors(self) -> Iterator[Entry]:
        for anchor in runtime_of(self._window).renders.latest().anchors.values():
            if not isinstance(anchor, Reference):
                bound = self._window.actions[anchor.action]
                label = anchor.label or bound.labelled(self._words.lang)
                ends = "…" if isinstance(anchor, Form) else ""
                yield Entry(anchor.id, f"{label}{ends}", anchor.id)

    def _chosen(self, chosen: Chosen | None) -> None:
        if chosen is None:
            return
        if chosen.id.startswith(_KEY):
            self._frame.focus()
            app = self._frame.app
            app.call_later(app.simulate_key, chosen.id.removeprefix(_KEY))
        else:
            self.choose(chosen.id, chosen.fill_in)
