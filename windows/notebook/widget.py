"""Notebook widget: the notes as rows that unfold, the newest first."""

from collections.abc import Hashable, Sequence
from typing import ClassVar

from contextui.session.notes import Note
from contextui.tui.desktop.folds import Fold, FoldBody
from contextui.tui.lines import line
from contextui.widgets import stated
from contextui.windows.notebook.window import NotebookWindow


class NotebookBody(FoldBody):
    """The notes, or those with the tag that the window is filtered by."""

    first_actions: ClassVar[tuple[str, ...]] = ("write", "search", "filter", "keep")

    def __init__(self, window: NotebookWindow) -> None:
        super().__init__(window.env.lang)
        self._window = window
        self._state = NotebookWindow.State()
        self._notes = dict[Hashable, Note]()

    @property
    def window_title(self) -> str:
        words, state, count = self._words, self._state, len(self._state.entries)
        parts = [words("1 note") if count == 1 else words("{count} notes", count=f"{count:,}")]
        if state.tag is not None:
            parts.append(words("only tag {tag}", tag=line(state.tag)))
        if state.kept and state.unsaved:
            parts.append(words("unsaved"))
        return "   ".join(parts) if count else ""

    def window_changed(self) -> None:
        state = stated(self._window, NotebookWindow.State)
        if state is None:
            return
        shown = state.tagged(state.tag)[::-1]
        self._state, self._notes = state, {one.uid: one for one in shown}
        opened = [one.uid for one in shown if one.id in state.expanded]
        note = self._words("No notes yet. Write… adds one, or ask for one.")
        folds = [_fold(one) for one in shown]
        self.show_folds(folds, note, problem=state.problem or "", opened=opened)

    def text_of(self, key: Hashable) -> str:
        note = self._notes.get(key)
        if note is None:  # deleted just now
            return ""
        return f"{note.summary}\n\n{note.text}" if note.summary else note.text

    def matches(self, fold: Fold, words: Sequence[str]) -> bool:
        note = self._notes.get(fold.key)
        return note is not None and note.has_words(words)


def _fold(note: Note) -> Fold:
    about = "" if note.brief.startswith(note.head.removesuffix("…")) else note.brief
    tags = " ".join(f"#{tag}" for tag in note.tags)
    return Fold(note.uid, note.head, str(note.id), about, tags, (note.changed, hash(note.text)))
