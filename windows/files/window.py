"""Files window: the workspace as a tree, with search."""

import time
from collections.abc import Iterable
from contextlib import suppress
from difflib import get_close_matches
from hashlib import blake2b
from pathlib import PurePosixPath
from typing import NamedTuple

from contextui import ActionError, Body, Lod, Transient, Window, action
from contextui.files import search
from contextui.files.errors import FileError, MissingFileError, NotAFolderError
from contextui.files.listing import EntryKind, Listing, list_folder, tree
from contextui.files.textfile import split
from contextui.files.workspace import FileInfo
from contextui.text import counted, shown_name

ROOM, BRIEF = 2_400, 30  # cost limit for the lines of a page, see `split`; lines of a summary
EXPANDED, KEPT = 100, 50  # folders at once, results of a search
SECONDS, PATIENCE = 5.0, 10.0  # seconds between checks of the disk, and for a search
UNREAD = Listing("", (), 0)


class Row(NamedTuple):
    """A line of the tree or the search results, with text to show after its name."""

    path: str
    kind: EntryKind = "file"
    depth: int = 0
    behind: str = ""
    line: int = 0  # that a search found


class FilesWindow(Window):
    """The files of the workspace as a tree. All paths begin at the workspace."""

    name = "files"
    widget = "contextui.windows.files.widget:FilesBody"

    class State(Window.State):
        root: str = "."
        expanded: list[str] = []
        page: int = 1
        headline: str = ""  # of search results, which replace the tree
        wanted: str = ""  # what was searched for
        found: list[Row] = []
        seen: str = ""  # hash of what is shown: a change on disk changes the state
        top: Transient[Listing] = UNREAD
        tree: Transient[list[Row]] = []
        problem: Transient[str] = ""
        resting: Transient[float] = 0.0

    state: State
    _drawn: tuple[tuple[bool, tuple[Row, ...]], list[str], list[range]] = (
        (False, ()), [], [range(0)],
    )  # fmt: skip

    def opened(self, path: str = ".") -> None:
        self.state.root = self._folder(path)
        self.restored()

    def restored(self) -> None:
        self._look()
        self.env.every(SECONDS, self._tick)

    def shown_files(self) -> list[str]:
        return list(dict.fromkeys(row.path for row in self.state.found if row.behind))

    # --- rendering ---------------------------------------------------------------------------

    def content(self, lod: Lod) -> Body:
        state, say, head = self.state, self.env.say, self._head()
        if lod is Lod.GIST or state.problem:
            return head
        if (ignored := state.top.hidden) and not state.headline:
            head += say(" ({ignored} git-ignored)", ignored=ignored)
        if lod is Lod.SUMMARY:
            lines = self._summary()
            brief, *more = split(lines, ROOM, BRIEF)
            return "\n".join([head, *lines[: brief.stop], *(["…"] if more else [])])
        lines, pages = self._pages()
        number = min(state.page, len(pages))
        page = pages[number - 1]
        if len(pages) > 1:
            head += say(", page {number} of {count}", number=number, count=len(pages))
        if not state.headline and state.tree and (first := state.tree[page.start]).depth:
            head += f"\n({shown_name(str(PurePosixPath(first.path).parent))}/ …)"
        return "\n".join([head, *lines[page.start : page.stop]])

    def _head(self) -> str:
        state, place = self.state, self._name(self.state.root)
        if state.problem:
            return f"{place}: {state.problem}"
        count = len(state.top.entries)
        english = f"{place}, {counted(count, 'entry', 'entries')}"
        return state.headline or self.env.say(english, f"{place}，{count} 项")

    def _pages(self) -> tuple[list[str], list[range]]:
        """Return all lines, and the pages they are split into; remembered until the rows change."""
        found, shown = self.state.found, self.state.tree  # names are drawn differently in each
        rows = bool(found), tuple(found or shown)
        if rows != self._drawn[0]:
            lines = self._lines(rows[1])
            self._drawn = rows, lines, split(lines, ROOM)
        return self._drawn[1:]

    def _summary(self) -> list[str]:
        if self.state.found:
            return list(dict.fromkeys(shown_name(row.path) for row in self.state.found))
        top = [row for row in self.state.tree if not row.depth]
        folders = self._lines(row for row in top if row.kind == "folder")
        counts = self.env.say("folders: {}, files: {}")
        return [counts.format(len(folders), len(top) - len(folders)), *folders]

    def _lines(self, rows: Iterable[Row]) -> list[str]:
        whole, say = bool(self.state.found), self.env.say
        marks = {"folder": "/", "link": say(" (link)"), "other": say(" (cannot be opened)")}
        return [
            "  " * row.depth
            + shown_name(row.path if whole else row.path.rpartition("/")[2])
            + marks.get(row.kind, "")
            + row.behind
            for row in rows
        ]

    def _name(self, folder: str) -> str:
        whole = self.env.say("the workspace")
        return whole if folder == "." else f"{shown_name(folder)}/"

    # --- actions -----------------------------------------------------------------------------

    @action("Open a file in an editor, or expand a folder")
    def open(self, path: str) -> str:
        info = self._at(path)
        name = shown_name(info.path)
        if info.kind == "folder":
            return self.expand(info.path)
        if info.kind == "other":
            raise ActionError("{name} is neither a file nor a folder.", name=name)
        return self.env.open_file(info.path)

    @action("Show what is in a folder, within the tree")
    def expand(self, path: str) -> str:
        folder, state = self._folder(path), self.state
        above = [folder, *map(str, PurePosixPath(folder).parents)]
        root = state.root if state.root in above else "."
        state.expanded = sorted({*state.expanded, *above[: above.index(root)]})
        if len(state.expanded) > EXPANDED:
            raise ActionError(
                "{expanded} folders are expanded. Collapse some of them first.", expanded=EXPANDED
            )
        count = len(list_folder(self.env.workspace, folder).entries)
        if not self._show(root, folder) and folder != root:
            name = shown_name(folder)
            raise ActionError("{name}/ is ignored by git. Its files open by path.", name=name)
        name = self._name(folder)
        return self.env.say("Expanded {name} ({count}).", name=name, count=count)

    @action("Show a folder as one line again")
    def collapse(self, path: str) -> str:
        folder, expanded = self._folder(path), self.state.expanded
        if folder not in expanded:
            name, there_is = shown_name(folder), ", ".join(map(shown_name, expanded[:10]))
            raise ActionError(
                "{name}/ is not expanded. Expanded: {names}.",
                name=name,
                names=there_is or self.env.say("nothing"),
            )
        expanded.remove(folder)
        self._show(self.state.root, folder)
        return self.env.say("Collapsed {name}.", name=self._name(folder))

    @action("Show one folder alone")
    def enter(self, path: str) -> str:
        self._show(self._folder(path))
        return self.env.say("Shown: {head}.", head=self._head())

    @action("Show the folder above")
    def up(self) -> str:
        if self.state.root == ".":
            raise ActionError("This is the workspace itself. Nothing outside of it can be shown.")
        return self.enter(str(PurePosixPath(self.state.root).parent))

    @action("Turn to a page")
    def page(self, number: int) -> str:
        pages = len(self._pages()[1])
        if not 1 <= number <= pages:
            raise ActionError(
                "There is no page {number}; the last is {pages}.", number=number, pages=pages
            )
        self.state.page = number
        self._see()
        return self.env.say("Page {number} of {pages}.", number=number, pages=pages)

    @action("Find names that contain a text, or fit a pattern with * and ?")
    def find_name(self, text: str, under: str | None = None) -> str:
        place, timeout = self._place(text, under), search.SearchTimeout(PATIENCE)
        names = search.find_names(self.env.workspace, text, place, timeout=timeout)
        found = [Row(name.path, name.kind) for name in names]
        return self._keep(text, place, found, timeout.expired)

    @action("Find lines of files that contain a text")
    def find_text(self, text: str, ignore_case: bool = False, under: str | None = None) -> str:
        place, timeout = self._place(text, under), search.SearchTimeout(PATIENCE)
        hits = search.find_text(
            self.env.workspace, text, place, ignore_case=ignore_case, timeout=timeout
        )
        found = [
            Row(hit.path, behind=f":{hit.line}: {hit.text.strip()[:120]}", line=hit.line)
            for hit in hits
        ]
        return self._keep(text, place, found, timeout.expired)

    @action("Show the tree as it is now, without what was found")
    def refresh(self) -> str:
        self._show(self.state.root)
        return self.env.say("Shown: {head}.", head=self._head())

    def _place(self, text: str, under: str | None) -> str:
        if not text.strip() or "\n" in text or "\r" in text:
            raise ActionError("Say what to look for, in one line.")
        return self.state.root if under is None else self._folder(under)

    def _keep(self, text: str, under: str, found: list[Row], early: bool) -> str:
        state, say, words, place = self.state, self.env.say, repr(text[:80]), self._name(under)
        count = f"{len(found)}+" if early or len(found) >= search.HITS else len(found)
        head = say("{count} found for {words} in {place}", count=count, words=words, place=place)
        if early:
            head += say(", stopped after {patience:g} s", patience=PATIENCE)
        if len(found) > KEPT:
            head += say(", the first {kept} are kept", kept=KEPT)
        if found or state.found:
            state.page, state.found, state.headline = 1, found[:KEPT], head if found else ""
            state.wanted = text
            self._see()
        further = say(" Name a folder as under.") if early else ""
        return say("{head}.", head=head) + further

    def _show(self, root: str, entry: str = "") -> bool:
        state = self.state
        state.root, state.page, state.headline, state.found = root, 1, "", []
        self._look()
        paths = [row.path for row in state.tree]
        if entry in paths:
            pages, at = self._pages()[1], paths.index(entry)
            state.page = next(number for number, page in enumerate(pages, 1) if at in page)
            self._see()
        return entry in paths

    def _folder(self, path: str) -> str:
        info = self._at(path)
        if info.kind != "folder":
            name = shown_name(info.path)
            raise ActionError("{name} is not a folder. Use open for a file.", name=name)
        return info.path

    def _at(self, path: str) -> FileInfo:
        files = self.env.workspace
        for place in (path, f"{self.state.root}/{path}"):
            with suppress(MissingFileError, NotAFolderError):
                return files.stat(place)
        wanted = PurePosixPath(files.relative(path))
        folder = next(parent for parent in wanted.parents if files.exists(parent))
        names = [entry.name for entry in list_folder(files, folder).entries]
        if (name := wanted.parts[len(folder.parts)]) in names:
            raise ActionError(
                "{path} leads nowhere, or has a name that cannot be used.", path=shown_name(path)
            )
        near = get_close_matches(name, names[:1_000], 5, 0.5) or names[:10]
        listed = ", ".join(map(shown_name, near)) + (" …" if len(near) < len(names) else "")
        place = self._name(str(folder))
        raise ActionError(
            "There is no {path}. In {place}: {listed}",
            path=shown_name(path),
            place=place,
            listed=listed,
        )

    # --- the disk ----------------------------------------------------------------------------

    def _tick(self) -> None:
        if time.monotonic() >= self.state.resting:
            self._look()

    def _look(self) -> None:
        began, state = time.monotonic(), self.state
        try:
            top = list_folder(self.env.workspace, state.root)
            state.tree = [
                Row(entry.path, entry.kind, depth, "" if count is None else f" ({count})")
                for entry, depth, count in tree(self.env.workspace, top, set(state.expanded))
            ]
            state.top, state.problem = top, ""
        except FileError as error:
            state.top, state.tree, state.problem = UNREAD, [], error.text(self.env.lang)
        self._see()
        now = time.monotonic()
        state.resting = now + 50 * (now - began)  # 50,000 names take a second

    def _see(self) -> None:
        shown = f"{self.content(Lod.FULL)}\0{self.content(Lod.SUMMARY)}"
        self.state.seen = blake2b(shown.encode(), digest_size=8).hexdigest()
