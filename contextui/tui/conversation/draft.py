"""The unsent text of a folder's new session, offered again at the next start."""

from pathlib import Path
from typing import TYPE_CHECKING

from contextui.session.preferences import Preferences

if TYPE_CHECKING:
    from contextui.tui.app_session import AppSession

_KEY = "draft"
_LONGEST = 2_000_000  # characters; a longer one is only in the log of its session


class FolderDraft:
    """Keeps the draft of a session in which nothing was said yet.

    Such a session is not the one that the next start resumes, so its log alone would hide the
    draft. A folder has one such draft. It is only ever put into the prompt, never sent.
    """

    def __init__(self, desk: "AppSession") -> None:
        self._desk, self._session = desk, desk.session
        home = desk.session.path.parents[2]
        self._preferences = Preferences.of_folder(Path(desk.session.cwd), home)
        self._known = ""  # what this session knows to be kept
        self._is_over = False

    def offer(self) -> str:
        """Return the text for the prompt at the start: the session's own draft, or the folder's."""
        if self._session.draft or self._desk.has_messages:
            return self._session.draft
        found = self._preferences.get(_KEY)
        self._known = found if isinstance(found, str) else ""
        return self._known

    def keep(self, text: str) -> bool:
        """Keep the unsent text; return whether the session's own log should have it too."""
        if self._is_over:
            return True
        if self._desk.has_messages:
            self._is_over = True  # the session is resumed from now on, with its own draft
            if self._known:
                self._preferences.put(_KEY, None)
            return True
        if text == self._known:
            # Offered and not changed: another log with nothing but this text helps nobody.
            return bool(self._session.draft)
        kept = text if len(text) <= _LONGEST else ""
        # Only what this session wrote or offered is removed: another may have a draft of its own.
        if (kept or self._known) and self._preferences.put(_KEY, kept or None):
            self._known = kept
        return True
