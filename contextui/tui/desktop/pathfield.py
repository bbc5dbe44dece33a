"""A field for a path: while one types, the paths of the workspace that fit are offered below."""

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import TextArea

from contextui.files.index import ALL, Match, PathIndex
from contextui.files.workspace import Workspace
from contextui.tui.desktop.field import Field
from contextui.tui.desktop.rowlist import RowList, marked_name
from contextui.tui.lines import FAINT
from contextui.windowing.worker import in_daemon_thread

OFFERED = 5
"""The maximum number of paths that are offered."""


def is_path(name: str, declared: str) -> bool:
    """Return whether a param is the path of a file or folder."""
    named = name in ("path", "file", "folder", "under") or name.endswith(("_path", "_file"))
    return named and declared == "string"


class PathInput(Field):
    """The text of the path; tab inserts the chosen one, and arrows choose among them."""

    BINDINGS = [
        Binding("tab", "take", "insert", priority=True, show=False),
        Binding("up", "choose(-1)", show=False, priority=True),
        Binding("down", "choose(1)", show=False, priority=True),
        Binding("escape", "close", show=False, priority=True),
    ]

    def __init__(self, text: str, hint: str, offers: "PathOffers") -> None:
        super().__init__(text, hint)
        self._offers = offers
        self.action_take, self.action_choose = offers.action_open, offers.step

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("take", "choose", "close"):
            return bool(self._offers.rows) and self._offers.display
        return super().check_action(action, parameters)

    def action_close(self) -> None:
        self._offers.offer([])

    def action_done(self) -> None:
        """Insert a path that was chosen; what was typed may be a new name, and stays as it is."""
        if self._offers.is_chosen:
            self._offers.action_open()
        else:
            super().action_done()


class PathOffers(RowList[Match], can_focus=False):
    """The paths that fit, best first; the field keeps the focus."""

    DEFAULT_CSS = """
    PathOffers { display: none; height: auto; max-height: 5; scrollbar-gutter: auto; }
    """
    shows_cursor: ClassVar[bool] = True

    def __init__(self) -> None:
        super().__init__(_shown, lambda match: match.path)
        self.is_chosen = False
        """Whether the person chose one: then enter inserts it."""

    def offer(self, matches: Sequence[Match]) -> None:
        self.is_chosen, self.display = False, bool(matches)
        self.styles.height = len(matches)
        self.show(matches, at=matches[0].path if matches else None)

    def step(self, by: int) -> None:
        if self.is_chosen or by < 0:
            self.choose((self.cursor + by) % len(self.rows))
        self.is_chosen = True


def _shown(match: Match, width: int) -> Content:
    end = ("/" if match.kind == "folder" else "", FAINT)
    shown = Content.assemble(marked_name(match.path, match.positions), end)
    return shown.truncate(width, ellipsis=True, pad=True)


class PathField(Vertical):
    """A path with what is offered below it."""

    DEFAULT_CSS = "PathField { height: auto; width: 1fr; }"

    def __init__(self, text: str, hint: str, workspace: Workspace) -> None:
        super().__init__()
        self._index = PathIndex.of(workspace)
        self._offers = PathOffers()
        self.input = PathInput(text, hint, self._offers)
        self._inserted = text

    def compose(self) -> ComposeResult:
        yield self.input
        yield self._offers

    def on_mount(self) -> None:

        async def read() -> None:
            await in_daemon_thread(lambda: self._index.refresh(only_if_stale=True))
            self._offer()

        self.run_worker(read, group="index")  # type: ignore[arg-type]

    @on(TextArea.Changed)
    def _offer(self) -> None:
        query = self.input.text
        if not query.strip() or query == self._inserted or not self.input.has_focus:
            self._offers.offer([])
            return
        self._offers.offer(self._index.match(query, OFFERED, kinds=ALL))

    @on(RowList.Opened)
    def _take(self, message: "RowList.Opened") -> None:
        message.stop()
        if (match := self._offers.row) is None:
            return
        self.input.text = self._inserted = self.given = match.path
        self._inserted = self.input.text  # a field shows control characters escaped
        self.input.move_cursor(self.input.document.end)
        self._offers.offer([])
        self.input.focus()

    given = ""
    """The path that was inserted, with characters that the field only shows escaped."""

    @property
    def value(self) -> str:
        return self.given if self.given and self.input.text == self._inserted else self.input.text
