"""Notes that several sessions share in one file; concurrent changes are merged.

A file that is not a notebook, or has a newer format, is never overwritten.
"""

import re
from collections.abc import Iterable
from datetime import datetime
from typing import Literal
from uuid import uuid4

from pydantic import BaseModel, Field, ValidationError

from contextui.errors import ContextUIError
from contextui.files.errors import ExistingFileError, FileChangedError, MissingFileError
from contextui.files.textfile import Version
from contextui.files.workspace import Workspace
from contextui.words import Message

NOTES_LIMIT = 1_000
"""Maximum number of notes."""

_LONGEST = {"text": 20_000, "gist": 100, "summary": 600}  # characters
_HEAD, _BRIEF, _TAG, _TAGS = 100, 240, 40, 20  # characters of the first three; tags of a note
_TRIES = 6  # attempts to write a file that another session writes too
_SENTENCES = re.compile(r".{40,238}[.!?](?=\s)|.{15,238}[。！？]")
_NUMBER = re.compile(r"(?:entry)?[\s#_-]*0*(\d+)", re.IGNORECASE)


class NotesError(ContextUIError):
    """An operation on the notes or their file failed."""


class Note(BaseModel):
    """One note: `id` is its number in this window, `uid` identifies it across sessions.

    `changed` is the time of the last change in microseconds; it always increases.
    """

    id: int = Field(ge=1, lt=10**9)
    uid: str = Field(default_factory=lambda: uuid4().hex)
    changed: int = 0
    text: str = ""
    gist: str | None = None
    summary: str | None = None
    tags: list[str] = []

    @property
    def head(self) -> str:
        """The gist, or the first line if there is none."""
        return _line(self.gist or self.text.strip().partition("\n")[0].lstrip("#*- "), _HEAD)

    @property
    def brief(self) -> str:
        """The summary, or the start of the text after the first line if there is none."""
        first, _, rest = self.text.strip().partition("\n")
        sentences = _SENTENCES.match(body := _line(rest or first))
        whole = sentences[0] if sentences and len(body) > _BRIEF else _line(body, _BRIEF)
        return self.summary or whole

    @property
    def is_short(self) -> bool:
        """Whether head and brief contain the whole text."""
        return self.text in (self.head, self.brief, f"{self.head}\n{self.brief}")

    def change(self, **given: str | None) -> None:
        """Set text, gist or summary: None keeps it, an empty gist or summary clears it."""
        for name, words in given.items():
            if words is None:
                continue
            if (size := len(words)) > _LONGEST[name]:
                raise NotesError(
                    "A {name} has up to {most} characters, not {size}.",
                    name=name,
                    most=_LONGEST[name],
                    size=size,
                )
            sound = words.encode("utf-8", "replace").decode()
            setattr(self, name, sound if name == "text" else _line(sound) or None)
        if not self.text.strip():
            raise NotesError("An entry needs words.")

    def tag(self, tags: Iterable[str]) -> None:
        """Add tags; one that differs only in case replaces the old one."""
        self.tags = clean_tags([*self.tags, *tags])

    def untag(self, tags: Iterable[str]) -> None:
        """Remove tags."""
        gone = {tag.casefold() for tag in clean_tags(tags)}
        self.tags = [tag for tag in self.tags if tag.casefold() not in gone]

    def has_words(self, words: Iterable[str]) -> bool:
        """Whether each of these words, in lower case, occurs in the note or its tags."""
        everything = "\n".join([self.head, self.brief, self.text, *self.tags]).casefold()
        return all(word in everything for word in words)

    def around(self, words: Iterable[str]) -> str:
        """Return an excerpt around the first match of the words; empty if there is none."""
        text = self.text.casefold()
        at = min((at for word in words if (at := text.find(word)) >= 0), default=-1)
        return f"…{_line(self.text[max(0, at - 40) : at + 60])}…" if at >= 0 else ""


class _File(BaseModel):
    """The content of the file. The newest change of a note wins, be it an edit or a deletion."""

    notebook: Literal[1]
    entries: list[Note]
    deleted: dict[str, int] = {}


class Notes(BaseModel):
    """All notes of a window, and which were deleted, so that a merge does not restore them."""

    entries: list[Note] = []
    deleted: dict[str, int] = {}
    last_id: int = 0

    def add(self) -> Note:
        """Add an empty note with an unused number."""
        if len(self.entries) >= NOTES_LIMIT:
            raise NotesError(
                "There are {count} entries already. Delete some first.", count=NOTES_LIMIT
            )
        self.last_id += 1
        self.entries.append(Note(id=self.last_id))
        return self.entries[-1]

    def find(self, wanted: int | str) -> Note:
        """Find a note by its number in any notation: 3, "#3", "entry-3"."""
        number = _NUMBER.fullmatch(str(wanted).strip())
        for note in self.entries:
            if number and str(note.id) == number[1]:
                return note
        newest = ", ".join(f"{entry.id} {entry.head!r}" for entry in self.entries[-20:])
        raise NotesError(
            "There is no entry {asked}. Newest: {newest}.",
            asked=repr(str(wanted)[:80]),
            newest=newest or Message("none"),
        )

    def stamp(self, note: Note, now: datetime) -> None:
        """Update the note's time of change."""
        note.changed = _later(now, note.changed)

    def delete(self, note: Note, now: datetime) -> None:
        """Remove a note; a file that still has it does not bring it back."""
        self.entries.remove(note)
        self.deleted[note.uid] = _later(now, note.changed)

    def tags(self) -> dict[str, str]:
        """Return all tags by their case-folded form."""
        return {tag.casefold(): tag for note in self.entries for tag in note.tags}

    def tagged(self, tag: str | None) -> list[Note]:
        """Return the notes with a tag; all notes without one."""
        wanted = (tag or "").casefold()
        return [one for one in self.entries if not wanted or wanted in map(str.casefold, one.tags)]

    # --- the file ----------------------------------------------------------------------------

    def pull(self, workspace: Workspace, path: str) -> Version | None:
        """Merge the notes of a file; return its version, or None if there is no file."""
        try:
            opened = workspace.open_text(path, encoding="utf-8")
            file = _File.model_validate_json(opened.file.text)
        except MissingFileError:
            return None
        except ValidationError as error:
            raise NotesError(
                "{path} is not a notebook that this version can read, so it was not changed. "
                "Move it away to save this one.",
                path=path,
            ) from error
        self._merge(file)
        return opened.version

    def push(self, workspace: Workspace, path: str) -> None:
        """Write the file, after merging what other sessions wrote; retry on conflict."""
        for tries_left in reversed(range(_TRIES)):
            version = self.pull(workspace, path)
            try:
                workspace.save(path, self.file_text().encode(), expected=version, make_folders=True)
                return
            except (FileChangedError, ExistingFileError, MissingFileError):
                if not tries_left:  # another session always won the race
                    raise

    def file_text(self) -> str:
        """Return what `push` writes if no other session has written."""
        file = _File(notebook=1, entries=self.entries, deleted=self.deleted)
        return f"{file.model_dump_json(indent=1)}\n"

    def _merge(self, file: _File) -> None:
        for uid, when in file.deleted.items():
            self.deleted[uid] = max(when, self.deleted.get(uid, 0))
        mine = {entry.uid: entry for entry in self.entries}
        for theirs in sorted(self._alive(file.entries), key=lambda one: one.id):
            own = mine.get(theirs.uid)
            if own is None:
                theirs.id = self.last_id = max(theirs.id, self.last_id + 1)
                mine[theirs.uid] = theirs
            elif (theirs.changed, theirs.text) > (own.changed, own.text):
                mine[theirs.uid] = theirs.model_copy(update={"id": own.id})
        self.entries = self._alive(mine.values())

    def _alive(self, notes: Iterable[Note]) -> list[Note]:
        return [note for note in notes if note.changed >= self.deleted.get(note.uid, 0)]


def clean_tags(tags: Iterable[str]) -> list[str]:
    """Normalize tags: split at commas, without #, and unique."""
    words = [_line(one).lstrip("#")[:_TAG] for tag in tags for one in tag.split(",")]
    return list({word.casefold(): word for word in words if word}.values())[:_TAGS]


def _later(now: datetime, before: int) -> int:
    """Return the time in microseconds, later than `before` even if the clock was set back."""
    return max(int(now.timestamp() * 1_000_000), before + 1)


def _line(text: str, most: int = 0) -> str:
    line = " ".join(text.encode("utf-8", "replace").decode().split())
    return line[: most - 1] + "…" if len(line) > most > 0 else line
