"""Prompt history: what the person sent in a folder, kept across sessions."""

import json
import os
import stat
from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from contextui.plain_file import make_private, write_private
from contextui.secrets import mask
from contextui.session.paths import contextui_home, escape_project_path
from contextui.text import for_xml
from contextui.windowing.window import Clock, utc_now

_NAME = "prompts.history"  # not .jsonl, which is the suffix of a session's log
_LONGEST = 20_000  # characters of a prompt that is kept
_MOST = 1_000  # prompts that are kept
_LARGE = 1 << 20  # bytes of them
_READ = 4 << 20  # bytes that are read, from the end
_PATIENCE = 0.5  # seconds to wait for another process


class PromptHistory:
    """The prompts of a folder, oldest first, in a file that only the person can read.

    Each line is a JSON object. Several processes may write the file, one after the other. Damaged
    lines are skipped; secrets are masked before they are written. Losing the file costs little, so
    an error only means that a prompt is not kept.
    """

    def __init__(self, path: Path, folder: Path | str, clock: Clock = utc_now) -> None:
        self.path, self._folder, self._clock = path, os.path.abspath(folder), clock

    @classmethod
    def beside(cls, log: Path, folder: Path | str) -> "PromptHistory":
        """Return the history of a folder, beside the log of one of its sessions."""
        return cls(log.with_name(_NAME), folder)

    @classmethod
    def of_folder(cls, folder: Path | str, home: Path | None = None) -> "PromptHistory":
        """Return the history of one folder, beside the logs of its sessions."""
        projects = contextui_home(home) / "projects"
        return cls(projects / escape_project_path(folder) / _NAME, folder)

    def texts(self) -> list[str]:
        """Return the prompts, oldest first; of equal ones only the newest."""
        try:
            entries = self._read()
        except OSError:
            return []
        return collapse(entry["text"] for entry in entries if entry["cwd"] == self._folder)[-_MOST:]

    def add(self, text: str) -> bool:
        """Append a prompt; return whether it is kept."""
        text = text.strip()
        if not text or len(text) > _LONGEST:
            return False
        entry = {"at": self._clock().isoformat(), "cwd": self._folder, "text": mask(text)}
        try:
            make_private(self.path.parent)
            with FileLock(f"{self.path}.lock", timeout=_PATIENCE, mode=0o600):
                self._write([*self._read(), entry])
        except (OSError, Timeout):
            return False
        return True

    def _write(self, entries: Iterable[dict[str, str]]) -> None:
        """Replace the file with the newest prompts; of equal ones only the newest is kept."""
        newest: dict[tuple[str, str], dict[str, str]] = {}
        for one in reversed(list(entries)):
            newest.setdefault((one["cwd"], one["text"]), one)
        lines, size = list[bytes](), 0
        for one in islice(newest.values(), _MOST):
            line = json.dumps(one).encode() + b"\n"  # ASCII: no unusual line break, no surrogate
            size += len(line)
            if size > _LARGE:
                break
            lines.append(line)
        write_private(self.path, b"".join(reversed(lines)), sync=False)

    def _read(self) -> list[dict[str, str]]:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            descriptor = os.open(self.path, flags)
        except FileNotFoundError:
            return []
        with os.fdopen(descriptor, "rb") as file:
            info = os.fstat(descriptor)
            if not stat.S_ISREG(info.st_mode):
                raise OSError(None, "it is not a regular file")
            start = max(info.st_size - _READ, 0)
            file.seek(start)
            lines = file.read(_READ).split(b"\n")
        return [one for line in lines[bool(start) :] if (one := _entry(line)) is not None]


def _entry(line: bytes) -> dict[str, str] | None:
    """Parse a line; None if it is damaged. Another program may have written anything into it."""
    try:
        found: Any = json.loads(line)
        text, cwd, at = found["text"], found["cwd"], found["at"]
        if not (isinstance(text, str) and isinstance(cwd, str) and isinstance(at, str)):
            return None
        datetime.fromisoformat(at)
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    text = for_xml(text).strip()  # no control characters: it goes to the screen
    if not text or len(text) > _LONGEST:
        return None
    return {"at": at, "cwd": cwd, "text": text}


def collapse(texts: Iterable[str]) -> list[str]:
    """Return the texts in order, of equal ones only the last."""
    return list(reversed(dict.fromkeys(reversed(list(texts)))))


def search(texts: Sequence[str], query: str, limit: int = 100) -> list[str]:
    """Return the texts that match a query, newest first; `texts` are oldest first.

    A text matches if it contains every word of the query in any case; after these come texts that
    contain the letters of the query in order.
    """
    words = query.casefold().split()
    letters = "".join(words)
    whole: list[str] = []
    loose: list[str] = []
    for text in reversed(texts):
        folded = text.casefold()
        if all(word in folded for word in words):
            whole.append(text)
            if len(whole) == limit:
                break
        elif _has_in_order(folded, letters):
            loose.append(text)
    return [*whole, *loose][:limit]


def _has_in_order(text: str, letters: str) -> bool:
    place = -1
    for letter in letters:
        place = text.find(letter, place + 1)
        if place < 0:
            return False
    return True
