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
from contextui.text import counted, shown_name, there_are

ROOM, BRIEF = 2_400, 30  # cost limit for the lines of a page, see `split`; lines of a summary
EXPANDED, KEPT = 100, 50  # folders at once, results of a search
SECONDS, PATIENCE = 5.0, 10.0  # seconds between checks of the disk, and for a search
UNREAD = Listing("", (), 0)
MARKS = {
    "en": {"folder": "/", "link": " (link)", "other": " (cannot be opened)"},
    "zh": {"folder": "/", "link": " (链接)", "other": " (无法打开)"},
}


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
    description_zh = "工作区的文件树。所有路径都从工作区开始。"
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
            head += say(f" ({ignored} git-ignored)", f"（git 忽略 {ignored} 项）")
        if lod is Lod.SUMMARY:
            lines = self._summary()
            brief, *more = split(lines, ROOM, BRIEF)
            return "\n".join([head, *lines[: brief.stop], *(["…"] if more else [])])
        lines, pages = self._pages()
        number = min(state.page, len(pages))
        page = pages[number - 1]
        if len(pages) > 1:
            head += say(f", page {number} of {len(pages)}", f"，第 {number}/{len(pages)} 页")
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
        counts = self.env.say("folders: {}, files: {}", "文件夹 {}，文件 {}")
        return [counts.format(len(folders), len(top) - len(folders)), *folders]

    def _lines(self, rows: Iterable[Row]) -> list[str]:
        whole, marks = bool(self.state.found), MARKS[self.env.lang]
        return [
            "  " * row.depth
            + shown_name(row.path if whole else row.path.rpartition("/")[2])
            + marks.get(row.kind, "")
            + row.behind
            for row in rows
        ]

    def _name(self, folder: str) -> str:
        whole = self.env.say("the workspace", "工作区")
        return whole if folder == "." else f"{shown_name(folder)}/"

    # --- actions -----------------------------------------------------------------------------

    @action("Open a file in an editor, or expand a folder", zh="在编辑器中打开文件，或展开文件夹")
    def open(self, path: str) -> str:
        info = self._at(path)
        name = shown_name(info.path)
        if info.kind == "folder":
            return self.expand(info.path)
        if info.kind == "other":
            raise self._error(
                f"{name} is neither a file nor a folder.", f"{name} 既不是文件也不是文件夹。"
            )
        return self.env.open_file(info.path)

    @action("Show what is in a folder, within the tree", zh="展开文件夹，在树中显示其内容")
    def expand(self, path: str) -> str:
        folder, state = self._folder(path), self.state
        above = [folder, *map(str, PurePosixPath(folder).parents)]
        root = state.root if state.root in above else "."
        state.expanded = sorted({*state.expanded, *above[: above.index(root)]})
        if len(state.expanded) > EXPANDED:
            en = f"{EXPANDED} folders are expanded. Collapse some of them first."
            raise self._error(en, f"已展开 {EXPANDED} 个文件夹。请先收起一些。")
        count = len(list_folder(self.env.workspace, folder).entries)
        if not self._show(root, folder) and folder != root:
            name = shown_name(folder)
            en = f"{name}/ is ignored by git. Its files open by path."
            raise self._error(en, f"{name}/ 被 git 忽略。其中的文件可按路径打开。")
        name = self._name(folder)
        return self.env.say(f"Expanded {name} ({count}).", f"已展开 {name}（{count} 项）。")

    @action("Show a folder as one line again", zh="收起文件夹，只占一行")
    def collapse(self, path: str) -> str:
        folder, expanded = self._folder(path), self.state.expanded
        if folder not in expanded:
            name, there_is = shown_name(folder), ", ".join(map(shown_name, expanded[:10]))
            en = f"{name}/ is not expanded. Expanded is: {there_is or 'nothing'}."
            raise self._error(en, f"{name}/ 没有展开。已展开的有：{there_is or '无'}。")
        expanded.remove(folder)
        self._show(self.state.root, folder)
        return self.env.say(f"Collapsed {self._name(folder)}.", f"已收起 {self._name(folder)}。")

    @action("Show one folder alone", zh="进入文件夹，只显示它")
    def enter(self, path: str) -> str:
        self._show(self._folder(path))
        return self.env.say(f"Shown: {self._head()}.", f"正在显示：{self._head()}。")

    @action("Show the folder above", zh="回到上一级文件夹")
    def up(self) -> str:
        if self.state.root == ".":
            en = "This is the workspace itself. Nothing outside of it can be shown."
            raise self._error(en, "这就是工作区本身，不能显示它之外的内容。")
        return self.enter(str(PurePosixPath(self.state.root).parent))

    @action("Turn to a page", zh="翻到某一页")
    def page(self, number: int) -> str:
        pages = len(self._pages()[1])
        if not 1 <= number <= pages:
            en = f"{there_are('page', pages)}, not {number}."
            raise self._error(en, f"共 {pages} 页，没有第 {number} 页。")
        self.state.page = number
        self._see()
        return self.env.say(f"Page {number} of {pages}.", f"第 {number} 页，共 {pages} 页。")

    @action(
        "Find names that contain a text, or fit a pattern with * and ?",
        zh="查找含有某段文字或符合 * ? 模式的名称",
    )
    def find_name(self, text: str, under: str | None = None) -> str:
        place, timeout = self._place(text, under), search.SearchTimeout(PATIENCE)
        names = search.find_names(self.env.workspace, text, place, timeout=timeout)
        found = [Row(one.path, one.kind) for one in names]
        return self._keep(text, place, found, timeout.expired)

    @action("Find lines of files that contain a text", zh="查找文件中含有某段文字的行")
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

    @action("Show the tree as it is now, without what was found", zh="显示当前的树，不含查找结果")
    def refresh(self) -> str:
        self._show(self.state.root)
        return self.env.say(f"Shown: {self._head()}.", f"正在显示：{self._head()}。")

    def _place(self, text: str, under: str | None) -> str:
        if not text.strip() or "\n" in text or "\r" in text:
            raise self._error("Say what to look for, in one line.", "请用一行说明要找什么。")
        return self.state.root if under is None else self._folder(under)

    def _keep(self, text: str, under: str, found: list[Row], early: bool) -> str:
        state, say, words, place = self.state, self.env.say, repr(text[:80]), self._name(under)
        count = f"{len(found)}+" if early or len(found) >= search.HITS else len(found)
        head = say(f"{count} found for {words} in {place}", f"{words}：{place}中 {count} 处")
        if early:
            head += say(f", stopped after {PATIENCE:g} s", f"，{PATIENCE:g} 秒后停止")
        if len(found) > KEPT:
            head += say(f", the first {KEPT} are kept", f"，保留前 {KEPT} 处")
        if found or state.found:
            state.page, state.found, state.headline = 1, found[:KEPT], head if found else ""
            state.wanted = text
            self._see()
        further = say(" Name a folder as under.", "请用 under 指定文件夹。") if early else ""
        return say(f"{head}.", f"{head}。") + further

    def _show(self, root: str, entry: str = "") -> bool:
        """Show a folder's tree at the page with an entry; return whether it is there."""
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
            en = f"{name} is no folder. Use open for a file."
            raise self._error(en, f"{name} 不是文件夹。打开文件请用 open。")
        return info.path

    def _at(self, path: str) -> FileInfo:
        """Look up a path, relative to the workspace or else to the shown folder."""
        files = self.env.workspace
        for place in (path, f"{self.state.root}/{path}"):
            with suppress(MissingFileError, NotAFolderError):
                return files.stat(place)
        wanted = PurePosixPath(files.relative(path))
        folder = next(one for one in wanted.parents if files.exists(one))
        names = [one.name for one in list_folder(files, folder).entries]
        if (name := wanted.parts[len(folder.parts)]) in names:
            en = f"{shown_name(path)} leads nowhere, or has a name that cannot be used."
            raise self._error(en, f"{shown_name(path)} 指向不存在的地方，或名称无法使用。")
        near = get_close_matches(name, names[:1_000], 5, 0.5) or names[:10]
        listed = ", ".join(map(shown_name, near)) + (" …" if len(near) < len(names) else "")
        place = self._name(str(folder))
        en = f"There is no {shown_name(path)}. In {place}: {listed}"
        raise self._error(en, f"没有 {shown_name(path)}。{place}中有：{listed}")

    def _error(self, english: str, chinese: str) -> ActionError:
        return ActionError(self.env.say(english, chinese))

    # --- the disk ----------------------------------------------------------------------------

    def _tick(self) -> None:
        if time.monotonic() >= self.state.resting:
            self._look()

    def _look(self) -> None:
        """Read only the folders that are shown."""
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
