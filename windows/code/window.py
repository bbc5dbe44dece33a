"""Code window: list, show, save and delete code files written in the conversation."""

from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

from contextui import (
    ActionError,
    Body,
    CodeFile,
    CodeStore,
    ContextUIError,
    Element,
    Lod,
    Preview,
    TextFile,
    Transient,
    Window,
    action,
)
from contextui.files.diff import diff_text
from contextui.files.textfile import Page, shorten, split
from contextui.text import counted, for_model

LISTED, WORDS = 20, 80  # files on a page of the list, characters of a description there
ROOM = 6_000  # cost limit for the lines of a page of code, see `split`
SECONDS = 5.0  # seconds between checks of the disk


class CodeWindow(Window):
    """Code snippets saved in conversations."""

    name = "code"
    description = (
        "Code snippets saved in conversations. "
        "`<code_ref>id</code_ref>` in an answer shows one to the person."
    )
    widget = "contextui.windows.code.widget:CodeBody"

    class State(Window.State):
        shown: str = ""
        page: int = 1
        seen: str = ""  # hash of what was read: a change on disk changes the state
        files: Transient[list[CodeFile]] = []
        pages: Transient[list[Page]] = []
        problem: Transient[str] = ""

    state: State

    def opened(self) -> None:
        self._look()
        self.env.every(SECONDS, self._tick)

    def restored(self) -> None:
        self._tick()
        self.env.every(SECONDS, self._tick)

    def content(self, lod: Lod) -> Body:
        state, count = self.state, len(self.state.files)
        if state.problem:
            return state.problem
        if lod is Lod.GIST or not count:
            text = self.env.say(counted(count, "code file"), f"{count} 个代码文件")
            shown = self.env.say(", {shown} is shown", shown=state.shown)
            return text + shown * bool(state.shown)
        number = 1 if state.shown else min(state.page, self._count_pages())
        listed = state.files[(number - 1) * LISTED : number * LISTED]
        body = [_element(one) for one in listed]
        if len(listed) < count:
            first = (number - 1) * LISTED + 1
            body.append(Element("files", shown=f"{first}-{first + len(listed) - 1}", of=count))
        if state.shown and lod is Lod.FULL:
            page = state.pages[min(state.page, len(state.pages)) - 1]
            part = f"{page.start}-{page.end}" if len(state.pages) > 1 else None
            code = f"\n{page.numbered(is_aligned=True)}\n"
            body.append(Element("code", code, id=state.shown, lines=page.total, shown=part))
        return body

    def preview(self, action_id: str, params: Mapping[str, Any]) -> Preview | None:
        if action_id not in ("save", "delete"):
            return None
        store, code_id = self._store(), params["code_id"]
        there, old = store.path_of(code_id), TextFile()
        if there or action_id == "delete":
            old = TextFile(store.read(code_id))
        was = self._path(there) if there else "(no file)"
        if action_id == "delete":
            diff = diff_text(old, TextFile(), was, "(no file)")
            empty = "" if diff else self.env.say("An empty file.")
            return Preview(was, diff=diff, text=empty, verb="delete")
        new = TextFile(for_model(params["content"]))
        target = self._path(store.path_for(code_id, params["language"]))
        diff = diff_text(old, new, was, target)
        text = params.get("description", "")
        same = self.env.say("The code stays as it is: {text}", text=text)
        return Preview(target, diff=diff, text="" if diff else same, whole=new.text)

    def _path(self, path: Path) -> str:
        return path.relative_to(self.env.workspace.root).as_posix()

    @action(
        "Save code under an id: new, or in place of what has the id",
        effect="write",
        says=[
            "save this {language} code as {code_id}: {content}",
            "保存代码 {code_id}，语言 {language}：{content}",
        ],
    )
    def save(self, code_id: str, language: str, content: str, description: str = "") -> str:
        saved = self._store().save(code_id, language, content, description, lang=self.env.lang)
        self._tick()  # it is saved, even if the list cannot be read now
        note = f" {saved.note}" if saved.note else ""
        en = f"Saved {code_id}: {saved.language}, {counted(saved.line_count, 'line')}.{note}"
        zh = f"已保存 {code_id}：{saved.language}，{saved.line_count} 行。{note}"
        return self.env.say(en, zh)

    @action("Show the code of an id, with line numbers")
    def show(self, code_id: str) -> str:
        pages = _pages(self._store().read(code_id))
        self.state.shown, self.state.page = code_id, 1
        self._look()
        lines, count, say = pages[0].total or 0, len(pages), self.env.say
        where = say(" on {count} pages", count=count) if count > 1 else ""
        en = f"{code_id} is shown: {counted(lines, 'line')}{where}."
        return say(en, f"正在显示 {code_id}：{lines} 行{where}。")

    @action("Show the list alone again")
    def hide(self) -> str:
        if not self.state.shown:
            raise ActionError("No code is shown.")
        text = self.env.say("{shown} is hidden.", shown=self.state.shown)
        self.state.shown, self.state.page = "", 1
        self._look()
        return text

    @action("Turn to a page of the code, or of the list while no code is shown")
    def page(self, number: int) -> str:
        pages = self._count_pages()
        if not 1 <= number <= pages:
            raise ActionError(
                "There is no page {number}; the last is {pages}.", number=number, pages=pages
            )
        self.state.page = number
        return self.env.say("Page {number} of {pages}.", number=number, pages=pages)

    @action("Delete the code of an id", effect="write")
    def delete(self, code_id: str) -> str:
        self._store().delete(code_id)
        self._tick()
        left = len(self.state.files)
        en = f"Deleted {code_id}. Left: {counted(left, 'code file')}."
        return self.env.say(en, f"已删除 {code_id}。还剩 {left} 个代码文件。")

    def _count_pages(self) -> int:
        state = self.state
        return len(state.pages) if state.shown else max(1, -(-len(state.files) // LISTED))

    def _store(self) -> CodeStore:
        """Open the project's store; links that lead out of the workspace are refused."""
        return CodeStore.of(self.env.workspace, clock=self.env.clock)

    def _tick(self) -> None:
        try:
            self._look()
        except ContextUIError as error:
            self.state.problem = self.state.seen = error.text(self.env.lang)

    def _look(self) -> None:
        state, store = self.state, self._store()
        state.files, state.problem = store.list()[::-1], ""
        if not any(file.code_id == state.shown for file in state.files):
            state.shown = ""
        state.pages = _pages(store.read(state.shown)) if state.shown else []
        shown = repr(([str(_element(file)) for file in state.files], state.pages))
        state.seen = blake2b(shown.encode(), digest_size=8).hexdigest()


def _pages(code: str) -> list[Page]:
    file = TextFile(code)
    pages = split([shorten(line) for line in file.lines], ROOM)
    return [file.page(page.start + 1, len(page)) for page in pages]


def _element(file: CodeFile) -> Element:
    words = file.description
    words = words if len(words) <= WORDS else words[: WORDS - 1] + "…"
    return Element("file", words, id=file.code_id, language=file.language, lines=file.line_count)
