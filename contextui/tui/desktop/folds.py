"""A list whose entries unfold: the whole text of an entry appears below its row.

What is unfolded, the cursor and the filter are the person's own: they change neither the window nor
what the model reads. Texts are read and wrapped in threads.
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from contextui.errors import ContextUIError
from contextui.tui.desktop.frame import ask_for_room
from contextui.tui.desktop.rowlist import (
    FilterLine,
    RowList,
    found_text,
    marked_name,
    not_found_text,
    positions_of,
    spread,
)
from contextui.tui.lines import FAINT, MUTED, line, numbered
from contextui.windowing.worker import in_daemon_thread
from contextui.words import Lang, Words

INDENT = 4
"""Cells before the text of an entry."""
_FACTS = 40  # cells of a row below which the facts at its end are left out


@dataclass(frozen=True)
class Fold:
    """An entry of the list."""

    key: Hashable  # identifies it while the list changes
    title: str  # all texts may contain anything
    number: str = ""  # before the title
    about: str = ""  # after the title, as far as there is room
    facts: str = ""  # at the end of the row
    stamp: Hashable = None  # changes whenever its text does


@dataclass(frozen=True)
class FoldRow:
    """The row of an entry, or one row of its text."""

    fold: Fold
    at: int = -1
    text: str = ""
    line: int = 0

    @property
    def key(self) -> tuple[Hashable, int]:
        return self.fold.key, self.at


@dataclass(frozen=True)
class _Text:
    """A text as it was read and wrapped."""

    stamp: Hashable
    width: int
    digits: int  # of its last line's number
    rows: Sequence[FoldRow]


class FoldList(RowList[FoldRow]):
    """The rows; a click on the text of an entry does not fold it."""

    def opens(self, place: int, clicks: int) -> bool:  # noqa: ARG002
        return self.rows[place].at < 0


class FoldBody(Vertical):
    """The list, a filter above it, and a line for problems.

    Subclasses call `show_folds` when their entries change, and implement `text_of` and `matches`.
    """

    BINDINGS = [
        Binding("slash", "filter", "filter"),
        Binding("right", "unfold(True)", show=False),
        Binding("left", "unfold(False)", show=False),
        Binding("r", "reload", show=False),
        Binding("escape", "back", show=False),
    ]
    DEFAULT_CSS = """
    FoldBody {
        FoldList { height: 1fr; }
        .problem { display: none; height: auto; max-height: 3; }
    }
    """
    frame_bindings: ClassVar[list[Binding]] = [Binding("slash", "filter", "filter")]
    has_line_numbers: ClassVar[bool] = False
    """Whether the lines of a text are numbered."""

    def __init__(self, lang: Lang) -> None:
        super().__init__()
        self._words = Words(lang)
        self._folds: Sequence[Fold] = ()
        self._note = ""
        self._opened, self._opened_by_model = set[Hashable](), set[Hashable]()
        self._texts = dict[Hashable, _Text]()
        self._list = FoldList(self._draw, lambda row: row.key)
        self._filter = FilterLine(self._list)
        self._problem = Static(classes="problem")

    def compose(self) -> ComposeResult:
        yield self._filter
        yield self._list
        yield self._problem

    # --- for subclasses ----------------------------------------------------------------

    def text_of(self, key: Hashable) -> str:
        """Return the whole text of an entry. Called in a thread; the text may contain anything.

        Raises:
            ContextUIError: It cannot be read.
        """
        raise NotImplementedError

    def matches(self, fold: Fold, words: Sequence[str]) -> bool:
        """Whether an entry has each of these words, which are in lower case."""
        text = f"{fold.title}\n{fold.about}\n{fold.facts}".casefold()
        return all(word in text for word in words)

    def show_folds(
        self,
        folds: Sequence[Fold],
        note: str = "",
        *,
        problem: str = "",
        opened: Iterable[Hashable] = (),
    ) -> None:
        self._folds, self._note = folds, note
        now = set(opened)
        self._opened -= self._opened_by_model - now
        self._opened |= now - self._opened_by_model
        self._opened_by_model = now
        there = {fold.key for fold in folds}
        self._texts = {key: text for key, text in self._texts.items() if key in there}
        self._problem.update(Content.styled(f"✗ {line(problem)}", "$text-error"))
        self._problem.display = bool(problem)
        self._show()

    @property
    def window_rows(self) -> int:
        extra = bool(self._filter.display) + bool(self._problem.display)
        return max(len(self._list.rows), 1) + extra

    # --- rows --------------------------------------------------------------------------

    def on_resize(self) -> None:
        self._show()

    def _show(self, at: Hashable = None) -> None:
        if not self.is_attached:
            return
        before, words = self.window_rows, self._query
        folds = [one for one in self._folds if not words or self.matches(one, words)]
        note = self._note
        if words:
            self._filter.show_found(found_text(len(folds), len(self._folds), self._words))
            note = not_found_text(self._filter.query_text, self._words)
        rows = list[FoldRow]()
        for fold in folds:
            rows.append(FoldRow(fold))
            rows += self._rows_of(fold) if fold.key in self._opened else []
        self._list.show(rows, note, at=at)
        if self.window_rows != before:
            ask_for_room(self)

    @property
    def _query(self) -> list[str]:
        return self._filter.query_text.casefold().split()

    @property
    def _width(self) -> int:
        return max(self._list.line_width - INDENT - 1, 10)

    def _rows_of(self, fold: Fold) -> Sequence[FoldRow]:
        """Return the rows of a text, and read it if it is new, changed, or wrapped otherwise."""
        text = self._texts.get(fold.key)
        is_current = text is not None and (text.stamp, text.width) == (fold.stamp, self._width)
        if not is_current and self._list.line_width:
            self._read(fold)
        return [] if text is None else text.rows

    def _read(self, fold: Fold) -> None:
        # Not a coroutine yet: one that is cancelled at once would never be awaited.
        self.run_worker(partial(self._reading, fold), group=repr(fold.key), exclusive=True)  # type: ignore[arg-type]

    async def _reading(self, fold: Fold) -> None:
        width = self._width
        text = await in_daemon_thread(lambda: self._wrapped(fold, width))
        if self.is_attached:
            self._texts[fold.key] = text
            self._show()

    def _wrapped(self, fold: Fold, width: int) -> _Text:
        try:
            text = self.text_of(fold.key)
        except ContextUIError as error:
            reason = error.text(self._words.lang).rstrip(".。")
            text = "✗ " + self._words("{reason}. r tries again.", reason=reason)
        text = text.removesuffix("\n")
        digits = len(str(text.count("\n") + 1)) if self.has_line_numbers else 0
        rows, last = list[FoldRow](), -1
        for number, row in numbered(text, width - digits):
            rows.append(FoldRow(fold, len(rows), row, 0 if number == last else number + 1))
            last = number
        return _Text(fold.stamp, width, digits, rows)

    def _draw(self, row: FoldRow, width: int) -> Content:
        fold = row.fold
        if row.at >= 0:
            if not self.has_line_numbers:
                return Content(" " * INDENT + row.text)
            number = f"{row.line or '':>{self._texts[fold.key].digits + 2}}  "
            return Content.assemble((number, FAINT), row.text)
        words, room = self._query, width if width >= _FACTS else 0
        shown = Content.assemble(
            ("▾ " if fold.key in self._opened else "▸ ", FAINT),
            (f"{line(fold.number)} " if fold.number else "", MUTED),
            marked_name(line(fold.title), positions_of(line(fold.title), words)),
            (f"  {line(fold.about)}" if fold.about else "", FAINT),
        )
        facts = Content.styled(f"  {line(fold.facts)}" if fold.facts and room else "", FAINT)
        return spread(shown, facts.truncate(room // 3, ellipsis=True), width)

    # --- keys --------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave escape to the frame where there is no filter to clear."""
        if action == "back":
            return bool(self._filter.display)
        return super().check_action(action, parameters)

    def action_filter(self) -> None:
        self._filter.begin()
        self._show()

    def action_back(self) -> None:
        self._filter.end()

    @on(FilterLine.Changed)
    def _changed(self, message: FilterLine.Changed) -> None:
        message.stop()
        self._show()

    @on(RowList.Opened)
    @on(RowList.Toggled)
    def _toggle(self, message: "RowList.Opened | RowList.Toggled") -> None:
        message.stop()
        if (row := self._list.row) is not None:
            self._set_open(row.fold, row.fold.key not in self._opened)

    def action_unfold(self, wanted: bool) -> None:
        if (row := self._list.row) is not None and wanted is not (row.fold.key in self._opened):
            self._set_open(row.fold, wanted)

    def _set_open(self, fold: Fold, wanted: bool) -> None:
        if wanted:
            self._opened.add(fold.key)
            self._texts.pop(fold.key, None)  # it may have changed since it was read
        else:
            self._opened.discard(fold.key)
        self._show(at=(fold.key, -1))

    def action_reload(self) -> None:
        for fold in self._folds:
            if fold.key in self._opened:
                self._read(fold)
