"""Editor window: a text file with one buffer that the person and the model edit.

`contextui.windows.editor.buffer` has the file, the buffer and the page. The widget in which the
person types reads the text from `state.buffer.file` and passes what is typed to `splice`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any

from contextui import ActionError, Body, Lod, Preview, TextFile, Window, action
from contextui.files import errors
from contextui.files.diff import brief_diff, diff_text
from contextui.files.outline import numbered, outline, shallowest
from contextui.files.save import TEXT_LIMIT
from contextui.files.textfile import UTF8, Page, Version, in_lines, shorten
from contextui.text import counted, shown_name, span, spanned
from contextui.windows.editor.buffer import EditedFile, Editing

LISTED, ENTRIES = 20, 60  # matches that a result lists, entries of an outline
SECONDS = 5.0  # between checks of the disk
NO_FILE = "(no file)"  # in the header of a diff
STAYS = "{problem} The text stays here; save_as saves it under another path."
KEEP = "{problem} reload(keep=true) makes the edits in the new file."


class EditorWindow(Window):
    """A text file: read it, edit it, save it."""

    name = "editor"
    widget = "contextui.windows.editor.widget:EditorBody"
    wide = True
    max_content = 20_000

    class State(EditedFile): ...

    state: State

    def opened(self, path: str, line: int = 1, new: bool = False) -> None:
        self._open(path, line, new)
        self.env.every(SECONDS, self._watch)

    def opened_again(self, line: int | None = None, **_: Any) -> None:
        if line is not None:
            self._editing.show(line)

    def restored(self) -> None:
        self._editing.come_back()
        self.env.every(SECONDS, self._watch)

    # --- rendering ----------------------------------------------------------------------------

    def content(self, lod: Lod) -> Body:
        page, lost, parts = self.state.page, len(self.state.lost), [self._title(lod)]
        if lost and lod is not Lod.GIST:
            aside = self.env.say(
                "Unsaved edits that do not apply, since the file changed: {lost}. See diff; then",
                lost=lost,
            )
            parts.append(f"{aside} reload(keep=true) / reload(discard=true)")
        if page.lines and lod is not Lod.GIST:
            parts.append(page.numbered() if lod is Lod.FULL else self._outline(page))
        return "\n".join(parts)

    def _place(self, lod: Lod = Lod.FULL) -> str:
        page = self.state.page
        en, zh = spanned("line", page.start, page.end), f"第 {span(page.start, page.end)} 行"
        if page.total is None:
            return self.env.say(en, zh)
        if lod is not Lod.FULL or not page.lines:
            return self.env.say(counted(page.total, "line"), f"共 {page.total} 行")
        return self.env.say(f"{en} of {page.total}", f"{zh}，共 {page.total} 行")

    def _title(self, lod: Lod) -> str:
        file, say, facts = self.state, self.env.say, [self._place(lod)]
        if file.trouble:
            facts = [file.trouble]
        elif file.buffer is None and file.read:
            facts.append(
                say(
                    "read-only: {size:,} bytes, {text_limit:,} at most can be edited",
                    size=file.read.size,
                    text_limit=TEXT_LIMIT,
                )
            )
        elif file.edits:
            facts.append(say("changed, not saved"))
        else:
            facts.append(say("saved") if file.read else say("new", "新文件"))
        if file.on_disk == "changed":
            facts.append(say("changed on disk: reload"))
        elif file.on_disk == "deleted":
            facts.append(say("deleted on disk: save_as"))
        if (lost := len(file.lost)) and lod is Lod.GIST:
            facts.append(say(f"{counted(lost, 'edit')} kept aside", f"{lost} 处编辑待处理"))
        if file.buffer and lod is not Lod.GIST:
            facts += self._unusual(file.buffer.file)
        comma = say(", ")
        return shown_name(file.path) + (comma if lod is Lod.GIST else "  ") + comma.join(facts)

    def _unusual(self, text: TextFile) -> Iterator[str]:
        if text.encoding != UTF8:
            yield str(text.encoding)
        if set(text.ending_names) - {"LF"}:
            yield " + ".join(text.ending_names)
        if text.endings and not text.endings[-1]:
            yield self.env.say("no line end at the end")

    def _outline(self, page: Page) -> str:
        buffer = self.state.buffer
        entries = outline(self.state.path, buffer.file.text) if buffer else []
        if not entries:
            return replace(page, lines=page.lines[:10]).numbered()
        lines = numbered(shallowest(entries, ENTRIES))
        if rest := len(entries) - len(lines):
            lines.append(self.env.say(f"… {rest} more", f"… 还有 {rest} 项"))
        return "\n".join(lines)

    def preview(self, action_id: str, params: Mapping[str, Any]) -> Preview | None:
        if action_id == "save":
            return self._saving()
        if action_id == "save_as":
            return self._saving_as(params["path"])
        if action_id == "close" or params.get("discard"):
            return self._discarding()
        return None

    def _saving(self) -> Preview:
        state, files = self.state, self.env.workspace
        if self._is_saved():
            nothing = self.env.say("There are no changes to save.")
            return Preview(state.path, text=nothing, changes=False)
        if (fate := files.compare(state.path, state.read)) != "same":
            name, say = shown_name(state.path), self.env.say
            problem = say(f"{name} was {fate} on disk.", f"{name} 在磁盘上已有变化。")
            raise ActionError(say(KEEP, problem=say(STAYS, problem=problem)))
        target, file = files.resolved(state.path), self._editing.buffer.file
        return self._written(target, self._editing.diff(), file)

    def _saving_as(self, path: str) -> Preview:
        files, file = self.env.workspace, self._editing.buffer.file
        target, name = files.resolved(path), shown_name(files.relative(path))
        if files.exists(path):
            raise ActionError(
                "There is a {name} already; a new file does not overwrite it.", name=name
            )
        diff = diff_text(TextFile(encoding=replace(file.encoding, bom=b"")), file, NO_FILE, name)
        return self._written(target, diff, file)

    def _written(self, target: str, diff: str, file: TextFile) -> Preview:
        empty = "" if diff else self.env.say("A new, empty file.")
        return Preview(target, diff=diff, text=empty, whole=file.text)

    def _discarding(self) -> Preview | None:
        if not (self.state.edits or self.state.lost):
            return None
        lost = "".join(edit.shown() for edit in self.state.lost)
        diff = self._editing.diff()
        if lost:  # a diff of the file alone would not show them
            return Preview(self.state.path, text=diff + lost, verb="close")
        return Preview(self.state.path, diff=diff, verb="close")

    def shown_files(self) -> list[str]:
        state = self.state
        return [state.path] if state.read or state.lost else []

    def unsaved(self) -> str | None:
        path, count = shown_name(self.state.path), len(self.state.edits) + len(self.state.lost)
        text = self.env.say(f"{counted(count, 'edit')} of {path}", f"{path} 的 {count} 处编辑")
        return text if count else None

    # --- actions ------------------------------------------------------------------------------

    @action("Save", effect="write")
    def save(self, keep_links: bool = False) -> str:
        if self._is_saved():
            return self.env.say("There are no changes to save.")
        return self._save(self.state.path, self.state.read, keep_links)

    @action("Find text, from here on")
    def find(self, text: str, ignore_case: bool = False) -> str:
        file, hits = self._editing.buffer.file, self._editing.find(text, ignore_case=ignore_case)
        if not hits:
            what = errors.shown(text)
            raise ActionError("{what} does not occur.", what=what)
        lines = islice(dict.fromkeys(line for line, _ in hits), LISTED)
        listing = [f"{line} {shorten(file.lines[line - 1], 160)}" for line in lines]
        en = f"{counted(len(hits), 'hit')}, now at line {self.state.line}."
        summary = self.env.say(en, f"找到 {len(hits)} 处，现在在第 {self.state.line} 行。")
        return "\n".join([summary, *listing])

    @action("Replace exact text; it must occur once, or count times")
    def replace(self, old: str, new: str, count: int = 1) -> str:
        file = self._editing.buffer.file
        numbers = file.lines_with(old)
        self._editing.edit(file.replace_text(old, new, count=count))
        en = f"Replaced {counted(count, 'time')}, {in_lines(numbers)}."
        return self.env.say(en, f"已替换 {count} 处，在{in_lines(numbers).text('zh')}。")

    @action("Undo")
    def undo(self) -> str:
        self._editing.change(self._editing.buffer.undo())
        line, more = self.state.line, len(self._editing.buffer.past)
        return self.env.say(
            "Undone in line {line}; {more} more can be undone.", line=line, more=more
        )

    @action("Redo")
    def redo(self) -> str:
        self._editing.change(self._editing.buffer.redo())
        line, more = self.state.line, len(self._editing.buffer.future)
        return self.env.say(
            "Redone in line {line}; {more} more can be redone.", line=line, more=more
        )

    @action("Show the page that begins with a line")
    def goto(self, line: int) -> str:
        page = self._editing.page(line, 1)
        if line < 1 or not (page.lines or line == 1):
            if page.total is None:
                raise ActionError("Lines are counted from 1, not {line}.", line=line)
            raise ActionError(
                "There is no line {line}; the last is {total}.", line=line, total=page.total
            )
        if self.env.actor() == "person":  # who sees where the cursor is, on the page there is
            self._editing.show(line)
            return self.env.say("Line {line}.", line=line)
        self._editing.look(line)
        self.state.line, self.state.column = line, 0
        return self._place()

    @action("Show the next page; pages=-1: the one before")
    def scroll(self, pages: int = 1) -> str:
        if not self._editing.turn(pages):
            text = self.env.say("There is nothing further")
            raise ActionError(self.state.trouble or f"{text}: {self._place()}.")
        return self._place()

    @action("Insert lines before a line; after the last to append")
    def insert(self, before_line: int, text: str) -> str:
        more = self._editing.edit(self._editing.buffer.file.insert_lines(before_line, text))
        en = f"Inserted {counted(more, 'line')} before {before_line}."
        return self.env.say(en, f"已在第 {before_line} 行之前插入 {more} 行。")

    @action("Replace lines, first to last")
    def replace_lines(self, first: int, last: int, text: str) -> str:
        more = self._editing.edit(self._editing.buffer.file.replace_lines(first, last, text))
        old, new = spanned("line", first, last), spanned("line", first, last + more)
        zh = f"已替换第 {span(first, last)} 行；新文本在第 {span(first, last + more)} 行。"
        return self.env.say(f"Replaced {old}; the new text is {new}.", zh)

    @action("Delete lines, first to last")
    def delete_lines(self, first: int, last: int) -> str:
        more = self._editing.edit(self._editing.buffer.file.delete_lines(first, last))
        return self.env.say(f"Deleted {counted(-more, 'line')}.", f"已删除 {-more} 行。")

    @action(
        "Replace characters, counted from 0, if the text has this revision",
        says=[
            "replace characters {start} to {end} with {text}",
            "把字符 {start} 到 {end} 替换成{text}",
        ],
    )
    def splice(self, start: int, end: int, text: str, revision: int | None = None) -> str:
        if revision not in (None, now := self.state.revision):
            raise ActionError("The text has changed; it has revision {now} now.", now=now)
        self._editing.change(self._editing.buffer.splice(start, end, text))
        return f"Revision {self.state.revision}."

    @action("Show the unsaved edits as a diff", effect="read")
    def diff(self) -> str:
        parts = [self._editing.diff(brief_diff)]
        if self.state.lost:
            path = shown_name(self.state.path)
            parts.append(
                self.env.say("Edits that do not apply, since {path} changed:", path=path) + "\n"
            )
            parts += [edit.shown() for edit in self.state.lost]
        return "".join(parts) or self.env.say("There are no unsaved edits.")

    @action("Save as a new file, and go on in that", effect="write")
    def save_as(self, path: str) -> str:
        return self._save(self.env.workspace.relative(path), None)

    @action("Read the file again; discard unsaved edits, or keep those that fit")
    def reload(self, discard: bool = False, keep: bool = False) -> str:
        count = len(self.state.lost) + len(self.state.edits)
        if count and discard is keep:
            raise ActionError("There are unsaved edits. Give discard=true, or keep=true.")
        again, made = self._editing.read_again(keep=keep), ""
        if keep and count and self.state.buffer:
            en = f"{again} of {counted(count, 'edit')} made again; "
            made = self.env.say(en, f"{count} 处编辑中有 {again} 处已重新应用；")
        return self.env.say("Read again: {}.").format(made + self._place())

    @action("Open another file here; new: begin one; discard: drop unsaved edits")
    def open(self, path: str, line: int = 1, new: bool = False, discard: bool = False) -> str:
        if self.env.showing(path) not in (None, self):
            return self.env.open_file(path, line if line > 1 else None)
        if (self.state.edits or self.state.lost) and not discard:
            raise ActionError("There are unsaved edits. Save them first, or give discard=true.")
        self._open(path, line, new)
        here = f"{shown_name(self.state.path)}: {self._place()}"
        return self.env.say("Opened {here}.", here=here)

    # --- internals ----------------------------------------------------------------------------

    @property
    def _editing(self) -> Editing:
        return Editing(self.state, self.env)

    def _open(self, path: str, line: int, new: bool) -> None:
        try:
            self._editing.open(path, new=new)
        except errors.MissingFileError as error:
            raise ActionError(self._missing(error)) from error
        if new and self.state.read:
            raise ActionError(
                "There is a {shown} already: open it without new.", shown=errors.shown(path)
            )
        self._editing.show_first(line)

    def _missing(self, error: errors.MissingFileError) -> str:
        """Say how to create a file: a person types a command, the model gives a param."""
        if self.env.actor() == "person":
            typed = f"/open editor {shown_name(error.path)} new=true"
            return self.env.say("{problem} To create it, type: {typed}", problem=error, typed=typed)
        return self.env.say("{problem} Use new=true to create it.", problem=error)

    def _is_saved(self) -> bool:
        state = self.state
        is_there = bool(state.read) and self.env.workspace.exists(state.path)
        return is_there and not self._editing.buffer.edits

    def _save(self, path: str, expected: Version | None, keep_links: bool = False) -> str:
        lines = len(self._editing.buffer.file.lines)
        try:
            self._editing.save(path, expected, keep_links=keep_links)
        except errors.FileError as error:
            problem = self.env.say(STAYS, problem=error)
            if isinstance(error, errors.FileChangedError):
                problem = f"{self.env.say(KEEP, problem=problem)}\n{error.diff}"
            raise ActionError(problem) from error
        name = shown_name(path)
        en = f"Saved {name}, {counted(lines, 'line')}."
        return self.env.say(en, f"已保存 {name}，共 {lines} 行。")

    def _watch(self) -> None:
        self._editing.follow()
