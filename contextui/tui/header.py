"""The line at the top: where we are and who answers; on a narrow terminal, the panes."""

from pathlib import Path

from textual.content import Content
from textual.widgets import Static

from contextui.session.git import branch_of
from contextui.tui.cells import FAINT, MUTED, line
from contextui.tui.desk import Desk
from contextui.tui.link import Changes
from contextui.tui.words import Words


class Header(Static):
    """The program, the folder, its branch, and the model."""

    def __init__(self, words: Words, folder: str) -> None:
        super().__init__(id="top")
        self._words, self._folder = words, folder
        self._branch, self._model = "", ""

    def attach(self, desk: Desk) -> None:
        """Show who answers."""
        self._branch = branch_of(Path(desk.session.cwd)) or ""
        name = desk.controller.model.name
        self._model = self._words("offline model") if desk.is_offline else name
        self.refresh()

    def render(self) -> Content:
        """The line."""
        left = Content.assemble(
            ("contextui", "bold $text-primary"),
            (f"   {line(self._folder)}", MUTED),
            (f"   {line(self._branch)}", FAINT),
        )
        right = Content.assemble((line(self._model), MUTED))
        gap = max(self.size.width - left.cell_length - right.cell_length, 1)
        return Content.assemble(left, " " * gap, right)


class Panes(Static):
    """The names of the panes, on a terminal too narrow to show them side by side."""

    def __init__(self, words: Words) -> None:
        super().__init__(id="panes")
        self._words = words

    def take(self, changes: Changes) -> None:
        """Show new figures."""
        if changes.context:
            self.refresh()

    def render(self) -> Content:
        """The names, the present one marked."""
        return Content.assemble(("contextui  ", "bold $text-primary"), (self._words("Chat"), MUTED))
