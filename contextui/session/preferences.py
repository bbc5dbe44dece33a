"""Preferences that the screen keeps between runs: a person's theme, a folder's layout."""

import json
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from contextui.plain_file import make_private, read_plain, write_private
from contextui.session.paths import contextui_home, escape_project_path

_NAME = "screen.json"
_LARGEST = 1 << 20  # bytes
_PATIENCE = 0.5  # seconds to wait for another process


class Preferences:
    """A small JSON file of named values that only the person can read.

    Losing it costs little: a damaged or unreadable file counts as empty, and a value that cannot
    be written is lost.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def of_person(cls, home: Path | None = None) -> "Preferences":
        """Return the preferences for all folders."""
        return cls(contextui_home(home) / _NAME)

    @classmethod
    def of_folder(cls, folder: Path, home: Path | None = None) -> "Preferences":
        """Return the preferences for one project folder, beside the logs of its sessions."""
        name = escape_project_path(folder)
        return cls(contextui_home(home) / "projects" / name / _NAME)

    def get(self, name: str) -> Any:
        """Return a value as JSON has it, or None."""
        return self._read().get(name)

    def put(self, name: str, value: Any) -> bool:
        """Replace a value, or remove it with None; return whether it was written."""
        try:
            make_private(self.path.parent)
            with FileLock(f"{self.path}.lock", timeout=_PATIENCE, mode=0o600):
                values = self._read()
                if values.get(name) == value:
                    return True
                values[name] = value
                kept = {key: one for key, one in values.items() if one is not None}
                # A lone surrogate, which JSON can name, stays as it is.
                data = json.dumps(kept, ensure_ascii=False, indent=1).encode(errors="surrogatepass")
                if len(data) > _LARGEST:
                    return False  # it could not be read again, and all else would be lost with it
                write_private(self.path, data, sync=False)
        except (OSError, Timeout):
            return False
        return True

    def _read(self) -> dict[str, Any]:
        try:
            found = json.loads(read_plain(self.path, _LARGEST))
        except (OSError, ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}
