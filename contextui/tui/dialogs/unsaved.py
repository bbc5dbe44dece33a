"""Save status: unsaved data, retries, and the dialog before quitting without saving."""

import errno
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from contextui.errors import DISK_PROBLEMS
from contextui.tui.dialogs.question import QuestionScreen
from contextui.tui.lines import MUTED, line, shown_folder
from contextui.words import Words, msg

if TYPE_CHECKING:
    from contextui.session.session import Session

RETRY = 2.0
"""Seconds between two attempts to save, and two checks of the log."""

_LOOK = 0.5  # seconds between two refreshes of the dialog


def unsaved_mark(session: "Session", words: Words) -> str:
    """Return a short note on what is not saved and why; empty if everything is saved."""
    if not session.unsaved:
        return ""
    return words("not saved: {reason}", reason=_reason(session, words))


def unsaved_words(session: "Session", words: Words) -> str:
    """Return a sentence on what is not saved and why; empty if everything is saved."""
    if not session.unsaved:
        return ""
    count, reason = session.unsaved_turns, _reason(session, words)
    if not count:
        return words("The newest changes are not saved: {reason}.", reason=reason)
    many = msg("{count} turns are not saved: {reason}.")
    return words.plural(count, "1 turn is not saved: {reason}.", many, reason=reason)


def _reason(session: "Session", words: Words) -> str:
    problem = session.problem
    if problem is None:
        return words("not written yet")
    known = DISK_PROBLEMS.get(problem.errno or 0)
    return words(known[0]) if known else line(problem.strerror or str(problem))


class QuitScreen(QuestionScreen):
    """Asks before unsaved data is discarded; saving is retried in the background."""

    DEFAULT_CSS = """
    QuitScreen {
        #box { border: round $error; border-title-color: $text-error; }
        #choices { margin: 1 0 0 0; }
    }
    """

    def __init__(
        self,
        words: Words,
        session: "Session",
        *,
        title: str = "",
        anyway: str = "",
        plain: str = "",
    ) -> None:
        self._session, self._plain = session, plain or words("Quit")
        self._anyway = anyway or words("Quit anyway; unsaved changes are lost")
        super().__init__(words, title or words("Quit without saving?"), "q", self._anyway)

    def details(self) -> ComposeResult:
        yield Static(self._what(), id="what")

    def on_mount(self) -> None:
        self._follow()
        self.set_interval(_LOOK, self._follow)

    def _follow(self) -> None:
        self._yes = self._anyway if self._session.unsaved else self._plain
        self.query_one("#what", Static).update(self._what())
        self.query_one("#choices", Static).update(self.choices())

    def _what(self) -> Content:
        words, session = self._words, self._session
        lost = unsaved_words(session, words)
        if not lost:
            return Content.styled(words("Everything is saved now."), "$text-success")
        number = (session.problem.errno or 0) if session.problem else 0
        folder = line(shown_folder(session.path.parent))
        _, advice = DISK_PROBLEMS.get(number, DISK_PROBLEMS[errno.EACCES])
        retried = words("Saving is retried every {seconds} seconds.", seconds=int(RETRY))
        return Content.assemble(
            (lost, "$text-error"), "\n", (f"{words(advice, folder=folder)} {retried}", MUTED)
        )
