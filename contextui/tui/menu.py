"""The commands of the main screen: what each does, and what can stand behind it."""

from collections.abc import Callable, Iterable
from typing import get_args

from textual.app import App

from contextui.agent.approval import Approval
from contextui.context.strategies.finding import strategy_names
from contextui.errors import ContextUIError
from contextui.text import quote
from contextui.tui.commands import Command, Commands
from contextui.tui.desk import Desk
from contextui.tui.themes import THEMES

Tell = Callable[[str], object]


class Menu:
    """Carries out commands on a session and its screen.

    Args:
        app: The program.
        desk: The session.
        tell: Says something to the person.
    """

    def __init__(self, app: App[int], desk: Desk, tell: Tell) -> None:
        self._app, self._desk, self._tell = app, desk, tell
        self._windows = desk.session.windows

    def commands(self, others: Iterable[Command] = ()) -> Commands:
        """All of them, and those that the screen adds."""
        return Commands(
            [
                Command("open", "open a window", self.open, "NAME", "o", self._names),
                Command("close", "close a window", self.close, "ID", choices=self._open_ids),
                Command("undo", "take back the last change to the context", self.undo, alias="u"),
                Command("model", "connect another model", self.model, "NAME", "m"),
                Command("strategy", "choose what the model reads of a long talk", self.strategy,
                        "NAME", choices=strategy_names),
                Command("approval", "who decides about writing", self.approval, "MODE",
                        choices=lambda: get_args(Approval)),
                Command("theme", "other colours", self.theme, "NAME", choices=self._themes),
                Command("quit", "leave; everything is kept", self.quit, alias="q"),
                *others,
            ]
        )  # fmt: skip

    def open(self, name: str) -> None:
        """Open a window by name."""
        if not name:
            raise ContextUIError(f"Which one? /open {' | '.join(self._names())}")
        window = self._windows.open(name)
        self._tell(f"{window.id}")

    def close(self, window_id: str) -> None:
        """Close a window."""
        if not window_id and len(only := self._open_ids()) == 1:
            window_id = only[0]
        self._windows.close(window_id, actor="person")

    def undo(self, _: str) -> None:
        """Take back the last change to the context."""
        items = self._desk.session.context.undo()
        if not items:
            raise ContextUIError("There is nothing to take back.")
        self._tell(", ".join(f"{item.seq:04}" for item in items))

    def model(self, name: str) -> None:
        """Connect another model."""
        if self._desk.switch_model is None or not name:
            current = self._desk.controller.model.name
            raise ContextUIError(f"The model is {current}. /model NAME connects another one.")
        self._desk.switch_model(name)
        self._tell(self._desk.controller.model.name)

    def strategy(self, name: str) -> None:
        """Choose what the model reads of a long talk."""
        strategist = self._desk.controller.strategist
        if self._desk.switch_strategy is None or not name:
            others = " | ".join(strategy_names())
            raise ContextUIError(f"The strategy is {strategist.strategy.name}. /strategy {others}")
        self._desk.switch_strategy(name)
        self._tell(f"The strategy is {strategist.strategy.name}.")

    def approval(self, mode: str) -> None:
        """Choose who decides about writing."""
        gate = self._desk.controller.tools.gate
        for known in get_args(Approval):
            if known == mode:
                gate.mode = known
                return
        raise ContextUIError(f"{quote(mode)} is none of {', '.join(get_args(Approval))}.")

    def theme(self, name: str) -> None:
        """Other colours."""
        if name not in self._app.available_themes:
            raise ContextUIError(
                f"There is no theme {quote(name)}. Try {', '.join(self._themes())}."
            )
        self._app.theme = name

    def quit(self, _: str) -> None:
        """Leave."""
        self._app.exit(0)

    def _names(self) -> list[str]:
        return sorted(self._windows.classes)

    def _open_ids(self) -> list[str]:
        return [window.id for window in self._windows.windows()]

    def _themes(self) -> list[str]:
        own = [one.name for one in THEMES]
        return own + sorted(self._app.available_themes.keys() - set(own))
