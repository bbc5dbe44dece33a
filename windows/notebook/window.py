"""Notebook window: notes with gist, summary and text, optionally saved in the project."""

from collections.abc import Iterator, Mapping
from typing import Any

from contextui import (
    ActionError,
    Body,
    Button,
    ContextUIError,
    Element,
    Lod,
    Note,
    Notes,
    Preview,
    Reference,
    TextFile,
    Window,
    action,
)
from contextui.files.diff import diff_text
from contextui.session.notes import clean_tags
from contextui.text import counted

FILE = ".contextui/notebook.json"

_EXPANDED, _FOUND = 60_000, 10  # characters of expanded entries; results of a search
_ROOM = 5_000  # bytes for entries that are not expanded: three make about a token
_FRAME = {Lod.GIST: 50, Lod.SUMMARY: 150}  # bytes of an entry's attributes and button


class NotebookWindow(Window):
    """Notes with a gist, a summary and the full text; `keep` makes them last in the project."""

    name = "notebook"
    widget = "contextui.windows.notebook.widget:NotebookBody"

    class State(Window.State, Notes):
        expanded: list[int] = []
        tag: str | None = None
        kept: bool = False
        problem: str | None = None
        unsaved: bool = False  # whether there are changes that the file does not contain yet

    state: State

    def opened(self, project: bool = True) -> None:
        if project and self.env.files:
            try:
                self.state.kept = self.state.pull(self.env.files, FILE) is not None
            except ContextUIError as problem:
                self.state.problem = str(problem)

    def restored(self) -> None:
        self._refresh()

    def content(self, lod: Lod) -> Body:
        state, say = self.state, self.env.say
        if lod is Lod.GIST:
            many, tags = len(state.entries), len(state.tags())
            english = f"{counted(many, 'entry', 'entries')}, {counted(tags, 'tag')}"
            return say(english, f"{many} 条笔记，{tags} 个标签")
        shown = self._shown(lod)
        body = [_element(entry, level) for entry, level in shown]
        if hidden := len(state.tagged(state.tag)) - len(shown):
            more = say("… {hidden} more: search or filter", hidden=hidden)
            body.insert(0, Element("more", more))
        if state.tag is not None:
            body.append(Element("filter", tag=state.tag))
        if state.kept and lod is Lod.FULL:
            body.append(Element("project", file=FILE, unsaved=state.unsaved or None))
        if state.problem:
            body.append(Element("problem", state.problem))
        return body or say("No entries.")

    def anchors(self, lod: Lod) -> Iterator[Button | Reference]:
        say = self.env.say
        for entry, level in [] if lod is Lod.GIST else self._shown(lod):
            place, is_open = f"entry-{entry.id}", level is Lod.FULL
            yield Reference(place)
            if is_open or (level is Lod.SUMMARY and not entry.is_short):
                verb = "collapse" if is_open else "expand"
                label = say("Collapse") if is_open else say("Expand")
                params = {"entry": entry.id}
                yield Button(f"{verb}-{place}", verb, params, place, f"{label} {entry.id}")

    def preview(self, action_id: str, params: Mapping[str, Any]) -> Preview | None:
        if action_id != "keep":
            return None
        if not params.get("on", True):
            return Preview(
                FILE,
                text=self.env.say("{file} is no longer followed. It stays as it is.", file=FILE),
            )
        files, notes = self.env.workspace, self.state.model_copy(deep=True)
        old = files.open_text(FILE, encoding="utf-8").file if files.exists(FILE) else TextFile()
        notes.pull(files, FILE)
        new, count = TextFile(notes.file_text()), len(notes.entries)
        en = f"{FILE} then holds {counted(count, 'entry', 'entries')}."
        text = self.env.say(en, f"{FILE} 将有 {count} 条笔记。")
        diff = diff_text(old, new, FILE, FILE)
        return Preview(files.resolved(FILE), diff=diff, text=text, whole=new.text)

    @action("Write an entry; gist and summary are made from the text unless given")
    def write(
        self,
        text: str,
        gist: str | None = None,
        summary: str | None = None,
        tags: list[str] | None = None,
    ) -> str:
        self._refresh()
        entry = self.state.add()
        entry.change(text=text, gist=gist, summary=summary)
        entry.tag(tags or [])
        return self._changed(entry)

    @action("Change an entry; an empty gist or summary is made from the text again")
    def edit(
        self,
        entry: int | str,
        text: str | None = None,
        gist: str | None = None,
        summary: str | None = None,
    ) -> str:
        if text is gist is summary is None:
            raise ActionError("Say what to change: text, gist or summary.")
        found = self._fresh(entry)
        found.change(text=text, gist=gist, summary=summary)
        return self._changed(found)

    @action("Delete an entry")
    def delete(self, entry: int | str) -> str:
        found = self._fresh(entry)
        self.state.delete(found, self.env.clock())
        named = f"{found.id} {found.head!r}"
        return self._unsaved(self.env.say("Entry {named} is deleted.", named=named))

    @action("Add tags to an entry")
    def tag(self, entry: int | str, tags: list[str]) -> str:
        found = self._fresh(entry)
        found.tag(tags)
        return self._changed(found)

    @action("Take tags from an entry")
    def untag(self, entry: int | str, tags: list[str]) -> str:
        found = self._fresh(entry)
        found.untag(tags)
        return self._changed(found)

    @action("Show an entry whole")
    def expand(self, entry: int | str) -> str:
        return self._expand([self.state.find(entry)])

    @action("Show only the summary of an entry")
    def collapse(self, entry: int | str) -> str:
        found = self.state.find(entry)
        self.state.expanded = [one for one in self.state.expanded if one != found.id]
        return self.env.say("Entry {id} is collapsed.", id=found.id)

    @action("Show all entries whole, those of the filter if there is one")
    def expand_all(self) -> str:
        return self._expand(self.state.tagged(self.state.tag))

    @action("Show only the summaries")
    def collapse_all(self) -> str:
        self.state.expanded = []
        return self.env.say("All entries are collapsed.")

    @action("Show only entries with this tag; without one, all")
    def filter(self, tag: str | None = None) -> str:
        wanted, tags = "".join(clean_tags([tag or ""])), self.state.tags()
        if wanted and wanted.casefold() not in tags:
            there_is = ", ".join(list(tags.values())[:50]) or self.env.say("none")
            raise ActionError(
                "No entry has the tag {wanted!r}. Tags: {there_is}.",
                wanted=wanted,
                there_is=there_is,
            )
        self.state.tag = tags[wanted.casefold()] if wanted else None
        shown, count = len(self.state.tagged(self.state.tag)), len(self.state.entries)
        en = f"Shown: {shown} of {counted(count, 'entry', 'entries')}."
        return self.env.say(en, f"显示 {count} 条笔记中的 {shown} 条。")

    @action("Find entries by words in text, gist, summary or tags", effect="read")
    def search(self, text: str) -> str:
        words = text.casefold().split()
        if not words:
            raise ActionError("Say what to look for.")
        found = [entry for entry in reversed(self.state.entries) if entry.has_words(words)]
        many, count, say = len(found), len(self.state.entries), self.env.say
        en = f"{many} of {counted(count, 'entry', 'entries')}."
        lines = [say(en, f"{count} 条笔记中有 {many} 条。")]
        for one in found[:_FOUND]:
            place = one.around(words)
            lines.append(f"{one.id} {one.head}{f': {place}' if place else ''}")
        if (older := many - _FOUND) > 0:
            lines.append(say("… {older} older: add a word", older=older))
        return "\n".join(lines)

    @action("Keep the entries in the project, as .contextui/notebook.json, or no longer", "write")
    def keep(self, on: bool = True) -> str:
        self.state.kept, self.state.unsaved, self.state.problem = on, False, None
        if not on:
            return self.env.say("Kept no longer. {file} stays as it is.", file=FILE)
        self.state.push(self.env.workspace, FILE)
        count = len(self.state.entries)
        en = f"Kept in {FILE}: {counted(count, 'entry', 'entries')}."
        return self.env.say(en, f"{count} 条笔记已保存在 {FILE} 中。")

    def _shown(self, lod: Lod) -> list[tuple[Note, Lod]]:
        """Return expanded entries and the newest of the others, each with its level of detail."""
        shown, room = list[tuple[Note, Lod]](), _ROOM
        for entry in reversed(self.state.tagged(self.state.tag)):
            level = Lod.FULL if entry.id in self.state.expanded else Lod.SUMMARY
            level = level if lod is Lod.FULL else Lod.GIST
            if level is not Lod.FULL and room > 0:
                words = f"{entry.head}{entry.tags}{entry.brief if level is Lod.SUMMARY else ''}"
                room -= len(words.encode()) + _FRAME[level]
            if level is Lod.FULL or room > 0:
                shown.insert(0, (entry, level))
        return shown

    def _expand(self, entries: list[Note]) -> str:
        expanded = {*self.state.expanded, *(entry.id for entry in entries)}
        size = sum(len(entry.text) for entry in self.state.entries if entry.id in expanded)
        if size > _EXPANDED:
            raise ActionError(
                "{size} characters are too many to show. Collapse some, or filter.", size=size
            )
        self.state.expanded = sorted(expanded)
        ids = ", ".join(str(entry.id) for entry in entries)
        return self.env.say(f"Expanded: {ids or 'nothing'}.", f"已展开：{ids or '无'}。")

    def _fresh(self, wanted: int | str) -> Note:
        """Find an entry to change, after a refresh from the project's file."""
        self._refresh()
        return self.state.find(wanted)

    def _refresh(self) -> None:
        if not self.state.kept:
            return
        try:
            self.state.pull(self.env.workspace, FILE)
            self.state.problem = None
        except ContextUIError as problem:
            self.state.problem = str(problem)

    def _changed(self, entry: Note) -> str:
        self.state.stamp(entry, self.env.clock())
        say, named = self.env.say, f"{entry.head!r}"
        tags = say(", tags: ") + ", ".join(entry.tags) if entry.tags else ""
        return self._unsaved(
            say("Entry {id} is {named}{tags}.", id=entry.id, named=named, tags=tags)
        )

    def _unsaved(self, text: str) -> str:
        """Append a hint that the project's file does not contain the change yet."""
        if not self.state.kept:
            return text
        self.state.unsaved = True
        return text + self.env.say(" Not in {file} yet: keep writes it.", file=FILE)


def _element(entry: Note, level: Lod) -> Element:
    head, more, size = entry.head, list[Element](), None
    if level is Lod.FULL:
        more = [Element("text", entry.text)]
    elif level is Lod.SUMMARY:
        if not entry.gist and entry.brief.startswith(head.removesuffix("…")):
            head = entry.brief  # both are the beginning of the text
        more = [Element("summary", entry.brief)] * (entry.brief != head)
        size = None if entry.is_short else len(entry.text)
    tags = ", ".join(entry.tags) or None
    return Element("entry", head, *more, id=entry.id, tags=tags, characters=size)
