"""The header line and the pane bar of narrow terminals."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.content import Content
from textual.events import Click
from textual.widgets import Static

from contextui.tui.lines import FAINT, MUTED, line, path_end, shown_folder, spinner
from contextui.words import Words

if TYPE_CHECKING:
    from contextui.tui.app_session import AppSession


class Header(Static):
    """The header: app name, folder, git branch and model."""

    def __init__(self, words: Words, folder: str) -> None:
        super().__init__(id="top")
        self._words, self._folder = words, folder
        self._branch = ""
        self._desk: AppSession | None = None

    def attach(self, desk: "AppSession") -> None:
        from contextui.session.session import branch_of  # noqa: PLC0415  (after the first frame)

        self._desk = desk
        self._folder = shown_folder(desk.session.cwd)
        self._branch = branch_of(Path(desk.session.cwd)) or ""
        self.refresh()

    def render(self) -> Content:
        right = Content.styled(_model_of(self._desk, self._words), MUTED)
        brand = Content.styled("contextui", "bold $text-primary")
        branch = Content.styled(f"   {line(self._branch)}", FAINT)
        branch = branch.truncate(max(self.size.width // 3, 0), ellipsis=True)
        room = self.size.width - sum(one.cell_length for one in (brand, branch, right)) - 4
        folder = path_end(line(self._folder), room)
        left = Content.assemble(brand, (f"   {folder}", MUTED), branch)
        gap = max(self.size.width - left.cell_length - right.cell_length, 1)
        return Content.assemble(left, " " * gap, right)


def _model_of(desk: "AppSession | None", words: Words) -> str:
    if desk is None:
        return words("opening…")
    return words("offline model") if desk.is_offline else line(desk.controller.model.name)


_BRAND = "contextui  "


class Panes(Static):
    """The pane bar, for terminals too narrow to show the panes side by side."""

    def __init__(self, words: Words, choose: Callable[[str], object]) -> None:
        super().__init__(id="panes")
        self._words, self._choose = words, choose
        self._present = "chat"
        self._places: list[tuple[int, str]] = []

    @property
    def _desk(self) -> "AppSession | None":
        return self.screen.desk  # type: ignore[attr-defined,no-any-return]  # the main one

    def show(self, name: str) -> None:
        self._present = name
        shown = {f"-pane-{one}": one == name for one in ("windows", "context")}
        self.screen.update_classes(shown)  # at once: each change restyles the whole screen
        self.refresh()

    def on_click(self, event: Click) -> None:
        chosen = [name for start, name in self._places if event.x - self.gutter.left >= start]
        if chosen:
            self._choose(chosen[-1])

    def render(self) -> Content:
        labels = self._labels()
        room = self.size.width - sum(cell_len(label) + 3 for label in labels.values())
        parts: list[tuple[str, str]] = []
        if room >= len(_BRAND):  # the pane names take precedence
            parts.append((_BRAND, "bold $text-primary"))
        self._places = []
        for name, label in labels.items():
            self._places.append((sum(cell_len(text) for text, _ in parts), name))
            style = "bold $foreground on $primary 25%" if name == self._present else MUTED
            parts += [(f" {label} ", style), (" ", "")]
        if self._desk is not None and self._desk.session.unsaved:
            parts.append((f" ● {self._words('not saved')}", "$text-error"))
        left, model, folder = Content.assemble(*parts), _model_of(self._desk, self._words), ""
        if self._desk is not None:
            folder = line(Path(self._desk.session.cwd).name)
        for facts in (f"  {folder}   {model}", f"  {model}", ""):
            gap = self.size.width - left.cell_length - cell_len(facts)
            if gap >= 0:
                break
        return Content.assemble(left, " " * gap, (facts, MUTED))

    def _labels(self) -> dict[str, str]:
        windows, share = "", ""
        if self._desk is not None:
            from contextui.tui.inspector.snapshot import snapshot_of  # noqa: PLC0415  (heavy)
            from contextui.windowing.runtime import runtime_of  # noqa: PLC0415  (likewise)

            open_windows = self._desk.session.windows.windows()
            count = len(open_windows)
            controller, context = self._desk.controller, self._desk.session.context
            tokens = snapshot_of(context, controller.strategist.reserved).shares.total
            windows = f" {count}" if count else ""
            if any(runtime_of(window).jobs.running() for window in open_windows):
                windows += f" {spinner()}"
            share = f" {100 * tokens / controller.options.budget:.0f}%"
        return {
            "chat": self._words("Chat"),
            "windows": self._words("Windows") + windows,
            "context": self._words("Context") + share,
        }
