"""What a person does to a window: choosing, filling in, carrying out, and being told."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from textual.content import Content
from textual.notifications import SeverityLevel

from contextui.tui.cells import MUTED, line
from contextui.tui.desktop.actions import MENU
from contextui.tui.desktop.border import name_of
from contextui.tui.desktop.form import FormScreen, Question
from contextui.tui.desktop.hooks import person_acted, settle
from contextui.tui.desktop.menu import Chosen, Entry, MenuScreen
from contextui.tui.desktop.naming import needs_words, short_name
from contextui.tui.desktop.results import ResultScreen, Told, told
from contextui.tui.desktop.setting import Setting
from contextui.windowing.action import ActionResult
from contextui.windowing.anchors import Form, Reference

if TYPE_CHECKING:
    from contextui.tui.desktop.frame import WindowFrame

_KEYS = (  # what keys do to a window, for whoever cannot press them
    ("plus", "+", "more detail"),
    ("minus", "-", "less detail"),
    ("z", "z", "zoom"),
    ("m", "m", "make it the large one"),
    ("comma", ",", "move it to the front"),
    ("full_stop", ".", "move it to the back"),
    ("x", "x", "close with a summary…"),
)
_KEY = "key:"  # no action has such an id
_SLOW = 0.4  # seconds after which it is said that an action runs


class Acting:
    """Carries out what a person wants from a window, and tells in its last row what came of it.

    Args:
        frame: Where the window is; menus and forms open over it.
        setting: What all windows share.
    """

    def __init__(self, frame: "WindowFrame", setting: Setting) -> None:
        self._frame, self._windows, self._words = frame, setting.windows, setting.words
        self._window = frame.window
        self._last = Told("", "")

    def choose(self, wanted: str, fill_in: bool = False) -> None:
        """Carry out an action or an anchor's, asking first for what it needs.

        Args:
            wanted: The id of the action or anchor, or that of the menu.
            fill_in: Ask even if nothing is needed.
        """
        anchor = self._window.runtime.renders.latest().anchors.get(wanted)
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
        """Carry it out in the person's name, without asking anyone."""
        # The screen's worker: closing the window must not cut off what closes it.
        self._frame.screen.run_worker(self._carry_out(action_id, params), name=action_id)

    async def _carry_out(self, action_id: str, params: Mapping[str, Any]) -> None:
        running: str | None = self._words("{name} runs…", name=line(action_id))

        def tell_slow() -> None:
            # The timer may have gone off already when the result comes: that must stay.
            if running is not None:
                self._frame.row.say(running, MUTED)

        slow = self._frame.set_timer(_SLOW, tell_slow)
        result = await self._act(action_id, params)
        slow.stop()
        running = None
        self._tell(result, action_id)

    async def _act(self, action_id: str, params: Mapping[str, Any]) -> ActionResult:
        await settle(self._frame.body)
        result = await self._windows.act(self._window.id, action_id, params, actor="person")
        if self._frame.is_attached:
            person_acted(self._frame.body, action_id)
        return result

    def _ask(self, wanted: str, question: Question) -> None:
        def answered(result: ActionResult | None) -> None:
            if result is not None:
                self._tell(result, question.action.id)

        form = FormScreen(question, lambda params: self._act(wanted, params), self._words)
        self._frame.app.push_screen(form, answered)

    # --- what came of it ---------------------------------------------------------------

    def _tell(self, result: ActionResult, action_id: str) -> None:
        self._last = told(result, line(name_of(self._window)), self._words)
        if not self._frame.is_attached:
            severity: SeverityLevel = "information" if result.ok else "error"
            self._frame.app.notify(self._last.line, severity=severity, markup=False)
            return
        self._frame.row.say(self._last.line, self._last.style)
        action = self._window.actions.get(action_id)
        if result.ok and self._last.whole and action is not None and action.effect == "read":
            self.show_all()

    def show_all(self) -> bool:
        """Show the last result in full; whether there is more of it than was told."""
        if self._last.whole:
            screen = ResultScreen(self._title(""), self._last.whole, self._words)
            self._frame.app.push_screen(screen)
        return bool(self._last.whole)

    # --- the menu ----------------------------------------------------------------------

    def menu(self) -> None:
        """Show everything that can be done."""
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
        for anchor in self._window.runtime.renders.latest().anchors.values():
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
