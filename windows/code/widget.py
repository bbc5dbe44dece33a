"""Code widget: the code files as rows that unfold, the newest first."""

from collections.abc import Hashable
from typing import ClassVar

from contextui.session.code.store import CodeFile, CodeStore
from contextui.tui.desktop.folds import Fold, FoldBody
from contextui.windowing.runtime import runtime_of
from contextui.windows.code.window import CodeWindow


class CodeBody(FoldBody):
    """The code files of the project."""

    first_actions: ClassVar[tuple[str, ...]] = ("show", "hide", "page", "save")
    has_line_numbers = True

    def __init__(self, window: CodeWindow) -> None:
        super().__init__(window.env.lang)
        self._window = window
        self._count = 0

    @property
    def window_title(self) -> str:
        many = self._words.plural(self._count, "1 file", "{count:,} files")
        return many if self._count else ""

    def window_changed(self) -> None:
        self.run_worker(self._follow, group="follow", exclusive=True)  # type: ignore[arg-type]

    async def _follow(self) -> None:
        state = self._window.state
        seen = await runtime_of(self._window).worker.read(
            lambda: (list(state.files), state.shown, state.problem, state.seen)
        )
        if seen is None:
            return
        files, shown, problem, stamp = seen
        self._count = len(files)
        note = self._words("No code yet. Code saved in the conversation is listed here.")
        folds = [self._fold(file, stamp if file.code_id == shown else "") for file in files]
        opened = [shown] if shown else []
        self.show_folds(folds, "" if problem else note, problem=problem, opened=opened)

    def _fold(self, file: CodeFile, seen: str) -> Fold:
        lines = self._words.plural(file.line_count, "1 line", "{count:,} lines")
        stamp = (file.language, file.line_count, file.char_count, seen)
        facts = f"{file.language}, {lines}"
        return Fold(file.code_id, file.code_id, "", file.description, facts, stamp)

    def text_of(self, key: Hashable) -> str:
        env = self._window.env
        return CodeStore.of(env.workspace, clock=env.clock).read(str(key))
