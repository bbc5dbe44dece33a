"""Notes that several sessions keep in one file: what each of them did is made one, nothing is lost.

A file that is no notebook, or one of a newer form, is never overwritten.
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

NOTES_LIMIT = 1_000
"""Notes that there may be."""

_LONGEST = {"text": 20_000, "gist": 100, "summary": 600}  # characters
_HEAD, _BRIEF, _TAG, _TAGS = 100, 240, 40, 20  # characters of the first three; tags of a note
_TRIES = 6  # to write a file that another session writes too
_SENTENCES = re.compile(r".{40,238}[.!?](?=\s)|.{15,238}[。！？]")
_NUMBER = re.compile(r"(?:entry)?[\s#_-]*0*(\d+)", re.IGNORECASE)


class NotesError(ContextUIError):
    """What cannot be done with the notes, or with their file."""


class Note(BaseModel):
    """One note: `id` is its number here, `uid` what every session knows it by.

    `changed` is when, in microseconds, and always later than the change before.
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
        """The gist, or the first line if none was given."""
        return _line(self.gist or self.text.strip().partition("\n")[0].lstrip("#*- "), _HEAD)

    @property
    def brief(self) -> str:
        """The summary, or how the text goes on if none was given."""
        first, _, rest = self.text.strip().partition("\n")
        sentences = _SENTENCES.match(body := _line(rest or first))
        whole = sentences[0] if sentences and len(body) > _BRIEF else _line(body, _BRIEF)
        return self.summary or whole

    @property
    def is_short(self) -> bool:
        """Whether head and brief say it all."""
        return self.text in (self.head, self.brief, f"{self.head}\n{self.brief}")

    def change(self, **given: str | None) -> None:
        """Set text, gist or summary; None leaves it, an empty gist or summary is made anew."""
        for name, words in given.items():
            if words is None:
                continue
            if (size := len(words)) > _LONGEST[name]:
                raise NotesError(
                    f"A {name} has up to {_LONGEST[name]} characters, not {size}.",
                    zh=f"{name} 最多 {_LONGEST[name]} 个字符，现有 {size} 个。",
                )
            sound = words.encode("utf-8", "replace").decode()
            setattr(self, name, sound if name == "text" else _line(sound) or None)
        if not self.text.strip():
            raise NotesError("An entry needs words.", zh="笔记不能为空。")

    def tag(self, tags: Iterable[str]) -> None:
        """Add tags; one that differs only in its case takes the place of the other."""
        self.tags = clean_tags([*self.tags, *tags])

    def untag(self, tags: Iterable[str]) -> None:
        """Take tags away."""
        gone = {one.casefold() for one in clean_tags(tags)}
        self.tags = [one for one in self.tags if one.casefold() not in gone]

    def has_words(self, words: Iterable[str]) -> bool:
        """Whether each of these, in small letters, occurs in it or its tags."""
        everything = "\n".join([self.head, self.brief, self.text, *self.tags]).casefold()
        return all(word in everything for word in words)

    def around(self, words: Iterable[str]) -> str:
        """The place in the text where the first of the words is; empty if none is there."""
        text = self.text.casefold()
        at = min((at for word in words if (at := text.find(word)) >= 0), default=-1)
        return f"…{_line(self.text[max(0, at - 40) : at + 60])}…" if at >= 0 else ""


class _File(BaseModel):
    """What the file holds. Of a note the newest change counts, be it an edit or its deletion."""

    notebook: Literal[1]
    entries: list[Note]
    deleted: dict[str, int] = {}


class Notes(BaseModel):
    """All notes of a window, and which were deleted, so that nobody brings them back."""

    entries: list[Note] = []
    deleted: dict[str, int] = {}
    last_id: int = 0

    def add(self) -> Note:
        """A new note, empty, with a number that no other had."""
        if len(self.entries) >= NOTES_LIMIT:
            raise NotesError(
                f"There are {NOTES_LIMIT} entries already. Delete some first.",
                zh=f"已有 {NOTES_LIMIT} 条笔记。请先删除一些。",
            )
        self.last_id += 1
        self.entries.append(Note(id=self.last_id))
        return self.entries[-1]

    def find(self, wanted: int | str) -> Note:
        """The note of a number, however that is written: 3, "#3", "entry-3"."""
        number = _NUMBER.fullmatch(str(wanted).strip())
        for note in self.entries:
            if number and str(note.id) == number[1]:
                return note
        newest = ", ".join(f"{one.id} {one.head!r}" for one in self.entries[-20:])
        asked = repr(str(wanted)[:80])
        raise NotesError(
            f"There is no entry {asked}. Newest: {newest or 'none'}.",
            zh=f"没有笔记 {asked}。最新的有：{newest or '无'}。",
        )

    def stamp(self, note: Note, now: datetime) -> None:
        """Note down that it was changed."""
        note.changed = _later(now, note.changed)

    def delete(self, note: Note, now: datetime) -> None:
        """Take a note out."""
        self.entries.remove(note)
        self.deleted[note.uid] = _later(now, note.changed)

    def tags(self) -> dict[str, str]:
        """All tags, each by its small letters."""
        return {tag.casefold(): tag for note in self.entries for tag in note.tags}

    def tagged(self, tag: str | None) -> list[Note]:
        """The notes with a tag; all of them without one."""
        wanted = (tag or "").casefold()
        return [one for one in self.entries if not wanted or wanted in map(str.casefold, one.tags)]

    # --- the file ----------------------------------------------------------------------------

    def pull(self, workspace: Workspace, path: str) -> Version | None:
        """Take over what a file holds; its version, or None if there is no file."""
        try:
            opened = workspace.open_text(path, encoding="utf-8")
            file = _File.model_validate_json(opened.file.text)
        except MissingFileError:
            return None
        except ValidationError as error:
            said = f"{path} is no notebook that can be read here, and is left as it is."
            raise NotesError(f"{said} Move it away to keep this one.") from error
        self._take_over(file)
        return opened.version

    def push(self, workspace: Workspace, path: str) -> None:
        """Write the file, with all that others wrote there meanwhile taken over first."""
        for tries_left in reversed(range(_TRIES)):
            version = self.pull(workspace, path)
            try:
                workspace.save(path, self.file_text().encode(), expected=version, make_folders=True)
                return
            except (FileChangedError, ExistingFileError, MissingFileError):
                if not tries_left:  # another session was always quicker
                    raise

    def file_text(self) -> str:
        """What `push` writes, if no other session has written."""
        file = _File(notebook=1, entries=self.entries, deleted=self.deleted)
        return f"{file.model_dump_json(indent=1)}\n"

    def _take_over(self, file: _File) -> None:
        for uid, when in file.deleted.items():
            self.deleted[uid] = max(when, self.deleted.get(uid, 0))
        mine = {one.uid: one for one in self.entries}
        for theirs in sorted(self._alive(file.entries), key=lambda one: one.id):
            own = mine.get(theirs.uid)
            if own is None:
                theirs.id = self.last_id = max(theirs.id, self.last_id + 1)
                mine[theirs.uid] = theirs
            elif (theirs.changed, theirs.text) > (own.changed, own.text):
                mine[theirs.uid] = theirs.model_copy(update={"id": own.id})
        self.entries = self._alive(mine.values())

    def _alive(self, notes: Iterable[Note]) -> list[Note]:
        return [one for one in notes if one.changed >= self.deleted.get(one.uid, 0)]


def clean_tags(tags: Iterable[str]) -> list[str]:
    """Tags as they are kept: without #, one by one, each once."""
    words = [_line(one).lstrip("#")[:_TAG] for tag in tags for one in tag.split(",")]
    return list({word.casefold(): word for word in words if word}.values())[:_TAGS]


def _later(now: datetime, before: int) -> int:
    """When it is, in microseconds; later than before even if the clock was set back."""
    return max(int(now.timestamp() * 1_000_000), before + 1)


def _line(text: str, most: int = 0) -> str:
    line = " ".join(text.encode("utf-8", "replace").decode().split())
    return line[: most - 1] + "…" if len(line) > most > 0 else line
