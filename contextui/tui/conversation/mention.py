"""The list of files that opens at an @ in the prompt."""

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from textual.content import Content

from contextui.agent.mention import OUTLINED, estimate, mention_of
from contextui.files.index import STALE, Match, PathIndex
from contextui.tui.conversation.popup import Popup
from contextui.tui.desktop.rowlist import mark_style, marked_name
from contextui.tui.lines import KEY, MUTED, age, fit, line, short
from contextui.windowing.window import file_of
from contextui.words import Words, msg

if TYPE_CHECKING:
    from contextui.files.workspace import Workspace
    from contextui.windowing.manager import WindowManager

_KEYS = (("↑↓", msg("move")), ("tab", msg("insert")), ("esc", msg("close")))
_AGAIN = (("enter", msg("the whole file")), ("esc", msg("close")))
_HITS = 50
_WIDE = 60  # cells from which ages are shown


class MentionList:
    """Finds files for a mention and shows them in the popup."""

    def __init__(
        self,
        popup: Popup,
        windows: "WindowManager",
        workspace: "Workspace",
        words: Words,
        load: Callable[[Callable[[], object], Callable[[], object]], object],
    ) -> None:
        self._popup, self._windows, self._workspace = popup, windows, workspace
        self._words, self._load = words, load
        self._index = PathIndex.of(workspace)
        self._query: str | None = None
        self._is_path = False
        self._marks: Mapping[str, str] = {}
        self._marked = float("-inf")  # when the marks were read
        self.again: tuple[str, str] | None = None
        """An inserted mention of a large file, and what Enter would make of it."""

    def show(self, query: str, *, is_path: bool = False) -> bool:
        """Show the files that match; return whether there are any, or may be soon."""
        is_same, self._query, self.again = query == self._query, query, None
        self._is_path = is_path
        if self._index.is_stale and not self._index.is_loading:
            self._load(lambda: self._index.refresh(only_if_stale=True), self._show_again)
        if time.monotonic() - self._marked > STALE:
            self._marked = time.monotonic()
            self._load(self._read_marks, self._show_again)
        opened = self._opened()
        found = self._index.match(query, _HITS, first=tuple(opened))
        is_complete = is_path and query.strip() in (one.path for one in found)
        if is_complete or (not found and (is_path or self._index.is_ready)):
            self._query = None  # a command with a path can be sent before the index is read
            return False
        title = Content.assemble(
            (line(query) if is_path else f"@{line(query)}", f"bold {KEY}"),
            (f"   {self._words('{count} files', count=f'{len(self._index):,}')}", MUTED),
        )
        rows = [(self._row(one, opened), one) for one in found]
        empty = self._words("Loading…")
        self._popup.show(rows, title=title, hints=_KEYS, empty=empty, keep=is_same)
        return True

    def _read_marks(self) -> None:
        from contextui.git.repository import read_marks  # noqa: PLC0415  (after the first @)

        self._marks = read_marks(self._workspace.root).of_path

    def _show_again(self) -> None:
        if self._query is not None:
            self.show(self._query, is_path=self._is_path)

    def close(self) -> None:
        self._query = self.again = None

    @property
    def chosen(self) -> Match | None:
        found = self._popup.chosen
        return found if isinstance(found, Match) else None

    def offer_whole(self, found: Match) -> bool:
        """After a large file was inserted, offer its whole text; return whether it is large."""
        tokens = estimate(found.size)
        if tokens <= OUTLINED:
            return False
        self._query = None
        self.again = mention_of(found.path), mention_of(found.path, is_whole=True)
        text = self._words("as outline, enter again for all {whole}", whole=short(tokens))
        title = Content.styled(f"@{line(found.path)}", f"bold {KEY}")
        row = Content.styled(fit(text, self._popup.row_width), MUTED)
        self._popup.show([(row, None)], title=title, hints=_AGAIN)
        return True

    def _opened(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for window in reversed(self._windows.windows()):
            path = file_of(window)
            if path is not None:
                found.setdefault(path, window.id)
        return found

    def _row(self, one: Match, opened: dict[str, str]) -> Content:
        words, width = self._words, self._popup.row_width
        parts = []
        if one.path in opened:
            parts.append((words("open as {window}", window=opened[one.path]), MUTED))
        if width >= _WIDE:
            seconds = max(time.time() - one.modified, 0)
            parts.append((f"{age(seconds):>4}", MUTED))
        if self._marks:
            mark = self._marks.get(one.path, "")
            parts.append((f"{mark:1}", mark_style(mark)))
        tokens = words("{tokens} tokens", tokens=short(estimate(one.size)))
        parts.append((f"{tokens:>12}", MUTED))
        facts = Content("  ").join([Content.styled(*part) for part in parts])
        room = max(width - facts.cell_length - 2, 10)
        name = _marked(one, room)
        gap = " " * max(room - name.cell_length + 2, 1)
        return Content.assemble(name, gap, facts)


def _marked(found: Match, width: int) -> Content:
    """Return a path with its folder muted and the matched letters highlighted, cut at its start."""
    content = marked_name(found.path, found.positions)
    content = content.stylize_before(MUTED, 0, content.plain.rfind("/") + 1)
    if content.cell_length <= width:
        return content
    while content.cell_length > width - 1:
        content = content[max(1, content.cell_length - width) :]
    return Content.assemble(("…", MUTED), content)
