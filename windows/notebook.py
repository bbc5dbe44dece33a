"""A notebook: entries that are short until they are expanded, and may outlive the session."""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Literal
from uuid import uuid4

from pydantic import BaseModel, Field, ValidationError

from contextui import (
    ActionError,
    Body,
    Button,
    Element,
    Lod,
    Reference,
    Transient,
    Window,
    action,
)
from contextui.errors import ContextUIError
from contextui.files.errors import ExistingFileError, FileChangedError, MissingFileError
from contextui.files.version import Version

FILE = ".contextui/notebook.json"
Words = str | None

_MOST = {"text": 20_000, "gist": 100, "summary": 600}  # characters
_ENTRIES, _EXPANDED, _FOUND = 1_000, 60_000, 10  # entries; characters of open ones; results
_ROOM = 5_000  # bytes for what nobody asked to see whole: three make about a token
_FRAME = {Lod.GIST: 50, Lod.SUMMARY: 150}  # of an entry: its attributes and its button
_OVERTAKEN = (FileChangedError, ExistingFileError, MissingFileError)  # by another session
_SENTENCES = re.compile(r".{40,238}[.!?](?=\s)|.{15,238}[。！？]")


class Entry(BaseModel):
    """One entry: `id` is its number in this window, `uid` what every session knows it by.

    `changed` is when, in microseconds, and always later than the change before. Without a gist
    `head` is the first line; without a summary `brief` is how the text goes on.
    """

    id: int = Field(ge=1, lt=10**9)
    uid: str = Field(default_factory=lambda: uuid4().hex)
    changed: int = 0
    text: str = ""
    gist: Words = None
    summary: Words = None
    tags: list[str] = []

    @property
    def head(self) -> str:
        return _line(self.gist or self.text.strip().partition("\n")[0].lstrip("#*- "), 100)

    @property
    def brief(self) -> str:
        first, _, rest = self.text.strip().partition("\n")
        sentences = _SENTENCES.match(body := _line(rest or first))
        return self.summary or (sentences[0] if sentences and len(body) > 240 else _line(body, 240))

    @property
    def is_short(self) -> bool:
        return self.text in (self.head, self.brief, f"{self.head}\n{self.brief}")


class Book(BaseModel):
    """The project's file. Of an entry the newest change counts, be it an edit or its deletion."""

    notebook: Literal[1]
    entries: list[Entry]
    deleted: dict[str, int] = {}


class NotebookWindow(Window):
    """Notes with a gist, a summary and the full text; `keep` makes them last in the project."""

    name = "notebook"

    class State(Window.State):
        entries: list[Entry] = []
        deleted: dict[str, int] = {}
        expanded: list[int] = []
        last_id: int = 0
        tag: Words = None
        kept: bool = False
        problem: Words = None
        allowed: Transient[bool] = False  # to write the file: in this run, by `keep`

    state: State

    def opened(self, project: bool = True) -> None:
        if project and self.env.files:
            try:
                self.state.kept = self._pull() is not None
            except ContextUIError as problem:
                self.state.problem = str(problem)

    def restored(self) -> None:
        self._refresh()

    def content(self, lod: Lod) -> Body:
        state, zh = self.state, self.env.lang == "zh"
        if lod is Lod.GIST:
            many, tags = len(state.entries), len(self._tags())
            english = f"{many} entr{'y' if many == 1 else 'ies'}, {tags} tag{'s' * (tags != 1)}"
            return f"{many} 条笔记，{tags} 个标签" if zh else english
        shown = self._shown(lod)
        body = [self._element(entry, level) for entry, level in shown]
        if hidden := len(self._listed()) - len(shown):
            more = "… 另有 {} 条，可搜索或筛选" if zh else "… {} more: search or filter"
            body.insert(0, Element("more", more.format(hidden)))
        if state.tag is not None:
            body.append(Element("filter", tag=state.tag))
        if state.kept and lod is Lod.FULL:
            body.append(Element("project", file=FILE))
        if state.problem:
            body.append(Element("problem", state.problem))
        return body or ("没有笔记。" if zh else "No entries.")

    def anchors(self, lod: Lod) -> Iterator[Button | Reference]:
        labels = ("展开", "收起") if self.env.lang == "zh" else ("Expand", "Collapse")
        for entry, level in [] if lod is Lod.GIST else self._shown(lod):
            place, is_open = f"entry-{entry.id}", level is Lod.FULL
            yield Reference(place)
            if is_open or (level is Lod.SUMMARY and not entry.is_short):
                verb, label = "collapse" if is_open else "expand", f"{labels[is_open]} {entry.id}"
                yield Button(f"{verb}-{place}", verb, {"entry": entry.id}, place, label)

    @action("Write an entry; gist and summary are made from the text unless given")
    def write(
        self, text: str, gist: Words = None, summary: Words = None, tags: list[str] | None = None
    ) -> str:
        self._refresh()
        if len(self.state.entries) >= _ENTRIES:
            raise ActionError(f"There are {_ENTRIES} entries already. Delete some first.")
        self.state.last_id += 1
        self.state.entries.append(Entry(id=self.state.last_id, tags=_clean(tags or [])))
        return self._change(self.state.entries[-1], text=text, gist=gist, summary=summary)

    @action("Change an entry; an empty gist or summary is made from the text again")
    def edit(
        self, entry: int | str, text: Words = None, gist: Words = None, summary: Words = None
    ) -> str:
        if text is gist is summary is None:
            raise ActionError("Say what to change: text, gist or summary.")
        return self._change(self._find(entry, True), text=text, gist=gist, summary=summary)

    @action("Delete an entry")
    def delete(self, entry: int | str) -> str:
        found = self._find(entry, True)
        self.state.entries.remove(found)
        self.state.deleted[found.uid] = self._later_than(found.changed)
        return self._push(f"Entry {found.id} {found.head!r} is deleted.")

    @action("Add tags to an entry")
    def tag(self, entry: int | str, tags: list[str]) -> str:
        found = self._find(entry, True)
        found.tags = _clean([*found.tags, *tags])
        return self._change(found)

    @action("Take tags from an entry")
    def untag(self, entry: int | str, tags: list[str]) -> str:
        found, gone = self._find(entry, True), {one.casefold() for one in _clean(tags)}
        found.tags = [one for one in found.tags if one.casefold() not in gone]
        return self._change(found)

    @action("Show an entry whole")
    def expand(self, entry: int | str) -> str:
        return self._expand([self._find(entry)])

    @action("Show only the summary of an entry")
    def collapse(self, entry: int | str) -> str:
        found = self._find(entry)
        self.state.expanded = [one for one in self.state.expanded if one != found.id]
        return f"Entry {found.id} is collapsed."

    @action("Show all entries whole, those of the filter if there is one")
    def expand_all(self) -> str:
        return self._expand(self._listed())

    @action("Show only the summaries")
    def collapse_all(self) -> str:
        self.state.expanded = []
        return "All entries are collapsed."

    @action("Show only entries with this tag; without one, all")
    def filter(self, tag: Words = None) -> str:
        wanted, tags = "".join(_clean([tag or ""])), self._tags()
        if wanted and wanted.casefold() not in tags:
            there_is = ", ".join(list(tags.values())[:50]) or "none"
            raise ActionError(f"No entry has the tag {wanted!r}. Tags: {there_is}.")
        self.state.tag = tags[wanted.casefold()] if wanted else None
        return f"{len(self._listed())} of {len(self.state.entries)} entries are shown."

    @action("Find entries by words in text, gist, summary or tags", effect="read")
    def search(self, text: str) -> str:
        words = text.casefold().split()
        if not words:
            raise ActionError("Say what to look for.")
        found = [one for one in self.state.entries if all(word in _all(one) for word in words)]
        lines = [f"{one.id} {one.head}{_around(one, words)}" for one in found[: -_FOUND - 1 : -1]]
        lines += [f"… {len(found) - _FOUND} older: add a word"] * (len(found) > _FOUND)
        return "\n".join([f"{len(found)} of {len(self.state.entries)} entries.", *lines])

    @action(f"Keep the entries in the project, as {FILE}, or no longer", effect="write")
    def keep(self, on: bool = True) -> str:
        self.state.kept, self.state.allowed, self.state.problem = on, on, None
        if not on:
            return f"Kept no longer. {FILE} stays as it is."
        self._pull()  # raises if the file must not be overwritten
        said = self._push(f"{len(self.state.entries)} entries are kept in {FILE}.")
        if self.state.problem:
            raise ActionError(self.state.problem)
        return said

    def _listed(self) -> list[Entry]:
        tag = (self.state.tag or "").casefold()
        return [one for one in self.state.entries if not tag or tag in map(str.casefold, one.tags)]

    def _tags(self) -> dict[str, str]:
        return {tag.casefold(): tag for entry in self.state.entries for tag in entry.tags}

    def _shown(self, lod: Lod) -> list[tuple[Entry, Lod]]:
        """All that is expanded and the newest of the others, each with its own level of detail."""
        shown, room = list[tuple[Entry, Lod]](), _ROOM
        for entry in reversed(self._listed()):
            level = Lod.FULL if entry.id in self.state.expanded else Lod.SUMMARY
            level = level if lod is Lod.FULL else Lod.GIST
            if level is not Lod.FULL and room > 0:
                words = f"{entry.head}{entry.tags}{entry.brief if level is Lod.SUMMARY else ''}"
                room -= len(words.encode()) + _FRAME[level]
            if level is Lod.FULL or room > 0:
                shown.insert(0, (entry, level))
        return shown

    def _element(self, entry: Entry, level: Lod) -> Element:
        more, size = list[Element](), None
        if level is Lod.FULL:
            more = [Element("text", entry.text)]
        elif level is Lod.SUMMARY:
            more = [Element("summary", entry.brief)] * (entry.brief != entry.head)
            size = None if entry.is_short else len(entry.text)
        tags = ", ".join(entry.tags) or None
        return Element("entry", entry.head, *more, id=entry.id, tags=tags, characters=size)

    def _find(self, wanted: int | str, fresh: bool = False) -> Entry:
        if fresh:
            self._refresh()
        number = re.fullmatch(r"(?:entry)?[\s#_-]*0*(\d+)", str(wanted).strip(), re.IGNORECASE)
        for entry in self.state.entries:
            if number and str(entry.id) == number[1]:
                return entry
        newest = ", ".join(f"{one.id} {one.head!r}" for one in self.state.entries[-20:])
        raise ActionError(f"There is no entry {str(wanted)[:80]!r}. Newest: {newest or 'none'}.")

    def _expand(self, entries: list[Entry]) -> str:
        expanded = {*self.state.expanded, *(one.id for one in entries)}
        size = sum(len(one.text) for one in self.state.entries if one.id in expanded)
        if size > _EXPANDED:
            raise ActionError(f"{size} characters are too many to show. Collapse some, or filter.")
        self.state.expanded = sorted(expanded)
        return f"Expanded: {', '.join(str(one.id) for one in entries) or 'nothing'}."

    def _change(self, entry: Entry, **given: Words) -> str:
        for name, words in given.items():
            if words is not None:
                if (size := len(words)) > _MOST[name]:
                    raise ActionError(f"A {name} has up to {_MOST[name]} characters, not {size}.")
                sound = words.encode("utf-8", "replace").decode()
                setattr(entry, name, sound if name == "text" else _line(sound) or None)
        if not entry.text.strip():
            raise ActionError("An entry needs words.")
        entry.changed = self._later_than(entry.changed)
        tags = f", tags: {', '.join(entry.tags)}" if entry.tags else ""
        return self._push(f"Entry {entry.id} is {entry.head!r}{tags}.")

    def _later_than(self, before: int) -> int:
        return max(int(self.env.clock().timestamp() * 1_000_000), before + 1)

    # --- the project's file: what it holds and what is here are made one, and nothing is lost ---

    def _refresh(self) -> None:
        with suppress(ContextUIError):  # writing the file, later, says what is wrong with it
            if self.state.kept:
                self._pull()

    def _pull(self) -> Version | None:
        """Take over what the file holds; its version, or None if there is no file."""
        try:
            opened = self.env.workspace.open_text(FILE, encoding="utf-8")
            book = Book.model_validate_json(opened.file.text)
        except MissingFileError:
            return None
        except ValidationError as error:
            said = f"{FILE} is no notebook that can be read here, and is left as it is."
            raise ActionError(f"{said} Move it away to keep this one.") from error
        state = self.state
        for uid, when in book.deleted.items():
            state.deleted[uid] = max(when, state.deleted.get(uid, 0))
        mine = {one.uid: one for one in state.entries}
        for theirs in sorted(self._alive(book.entries), key=lambda one: one.id):
            own = mine.get(theirs.uid)
            if own is None:
                theirs.id = state.last_id = max(theirs.id, state.last_id + 1)
                mine[theirs.uid] = theirs
            elif (theirs.changed, theirs.text) > (own.changed, own.text):
                mine[theirs.uid] = theirs.model_copy(update={"id": own.id})
        state.entries = self._alive(mine.values())
        return opened.version

    def _alive(self, entries: Iterable[Entry]) -> list[Entry]:
        return [one for one in entries if one.changed >= self.state.deleted.get(one.uid, 0)]

    def _push(self, said: str, tries: int = 5) -> str:
        """Write the file if it is kept; what was said, and why it could not be written."""
        if not self.state.kept:
            return said
        if not self.state.allowed:
            return f"{said} Not in {FILE} yet: keep writes it."
        try:
            version = self._pull()
            book = Book(notebook=1, entries=self.state.entries, deleted=self.state.deleted)
            data = f"{book.model_dump_json(indent=1)}\n".encode()
            self.env.workspace.save(FILE, data, expected=version, make_folders=True)
        except ContextUIError as problem:
            if tries and isinstance(problem, _OVERTAKEN):
                return self._push(said, tries - 1)
            self.state.problem = str(problem)
            return f"{said} {problem}"
        self.state.problem = None
        return said


def _line(text: str, most: int = 0) -> str:
    line = " ".join(text.encode("utf-8", "replace").decode().split())
    return line[: most - 1] + "…" if len(line) > most > 0 else line


def _clean(tags: list[str]) -> list[str]:
    words = [_line(one).lstrip("#")[:40] for tag in tags for one in tag.split(",")]
    return list({word.casefold(): word for word in words if word}.values())[:20]


def _all(entry: Entry) -> str:
    return "\n".join([entry.head, entry.brief, entry.text, *entry.tags]).casefold()


def _around(entry: Entry, words: list[str]) -> str:
    """The place in the text where the first of the words is."""
    at = min((at for word in words if (at := entry.text.casefold().find(word)) >= 0), default=-1)
    return f": …{_line(entry.text[max(0, at - 40) : at + 60])}…" if at >= 0 else ""
