"""SQLite window: an action whose effect depends on its params, and a preview of real rows."""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal

from pydantic import BaseModel

from contextui import Action, ActionError, Body, Element, Lod, Preview, Window, action
from contextui.text import counted, one_line
from contextui_examples.database import Database, Rows, shown

_PAGE, _COLUMNS, _CELL, _SCHEMA = 50, 30, 80, 60  # rows, columns, characters, definitions


class Query(BaseModel):
    """The params of `query`."""

    sql: str


class SqliteWindow(Window):
    """A SQLite database of the workspace: its schema, and queries. Writing needs approval."""

    name = "sqlite"
    description_zh = "工作区中的 SQLite 数据库：结构与查询。写入前会询问。"

    class State(Window.State):
        path: str = ""
        definitions: list[str] = []
        sql: str = ""  # the query whose rows are shown, if it only reads
        columns: str = ""
        rows: list[str] = []
        page: int = 1
        has_more: bool = False

    state: State

    def opened(self, path: str) -> None:
        self.state.path = self.env.workspace.relative(path)
        self._look()

    def content(self, lod: Lod) -> Body:
        state, say = self.state, self.env.say
        if lod is Lod.GIST:
            count = len(state.definitions)
            return say(f"{state.path}: {counted(count, 'definition')}", f"{state.path}：{count} 项")
        shown = [Element("schema", one_line(sql, 400)) for sql in state.definitions]
        if state.columns and lod is Lod.FULL:
            shown.append(Element("columns", state.columns, page=state.page))
            shown += [Element("row", row) for row in state.rows]
        if state.has_more and lod is Lod.FULL:
            shown.append(Element("more", say("There are more pages.", "还有更多页。")))
        return shown

    def more_actions(self) -> Iterable[Action]:
        # Declared here and not with @action, because its effect depends on the database.
        yield Action(
            "query", "Run one SQL statement", self._effect, Query,
            label_zh="执行一条 SQL 语句", call=self._query,
        )  # fmt: skip

    @action("Show another page of the rows", zh="显示另一页", effect="read")
    def page(self, number: int) -> str:
        if number < 1 or not self.state.sql:
            en, zh = "Pages begin at 1, after a query that reads.", "先执行查询；页码从 1 开始。"
            raise ActionError(self.env.say(en, zh))
        return self._read(self.state.sql, number)

    def preview(self, action_id: str, params: Mapping[str, Any]) -> Preview | None:
        if action_id != "query":
            return None
        with self._database() as database:
            change = database.change(params["sql"], commit=False)
        rows = counted(change.count, "row")
        would = self.env.say(f"{rows} would change.", f"将更改 {change.count} 行。")
        text = f"{params['sql']}\n{would}"
        if change.count and not change.diff:
            text += self.env.say(" They cannot be listed.", "无法逐行列出。")
        return Preview(self.state.path, diff=change.diff, text=text)

    def _effect(self, params: Mapping[str, Any]) -> Literal["read", "write"]:
        with self._database() as database:  # if it raises, the effect is "write"
            return "read" if database.only_reads(params["sql"]) else "write"

    def _query(self, sql: str) -> str:
        # The same decision as before the approval: it does not depend on the schema.
        if self._effect({"sql": sql}) == "read":
            return self._read(sql, 1)
        with self._database() as database:
            change = database.change(sql, commit=True)
        self._show("", change.returned, 1)
        rows = counted(change.count, "row")
        return self.env.say(f"{rows} changed.", f"已更改 {change.count} 行。")

    def _read(self, sql: str, page: int) -> str:
        with self._database() as database:
            rows = database.read(sql, skip=(page - 1) * _PAGE, count=_PAGE + 1)
        self._show(sql, rows, page)
        count, more = len(self.state.rows), self.state.has_more
        en = f"Page {page}: {counted(count, 'row')}{', more follow' if more else ''}."
        return self.env.say(en, f"第 {page} 页：{count} 行{'，还有更多' if more else ''}。")

    def _show(self, sql: str, rows: Rows, page: int) -> None:
        state = self.state
        state.sql, state.page, state.has_more = sql, page, len(rows.rows) > _PAGE
        state.columns, state.rows = _line(rows.columns), [_line(row) for row in rows.rows[:_PAGE]]
        self._look()

    def _look(self) -> None:
        with self._database() as database:
            found = database.read("SELECT sql FROM sqlite_master WHERE sql <> ''", count=_SCHEMA)
        self.state.definitions = [str(row[0])[:400] for row in found.rows]

    @contextmanager
    def _database(self) -> Iterator[Database]:
        """Give access to the file, which must be inside the workspace each time."""
        files, path = self.env.workspace, self.state.path
        files.check_readable(path)  # a file that may hold secrets needs approval
        if files.stat(path).kind != "file":
            raise ActionError(self.env.say(f"{path} is not a file.", f"{path} 不是文件。"))
        try:
            yield Database(files.root / files.real(path))
        except (sqlite3.Error, sqlite3.Warning) as error:
            raise ActionError(f"SQLite: {one_line(str(error), 300)}") from error


def _line(values: Iterable[Any]) -> str:
    cells = [one_line(shown(value), _CELL) for value in values]
    more = f" | … {len(cells) - _COLUMNS} more columns" if len(cells) > _COLUMNS else ""
    return " | ".join(cells[:_COLUMNS]) + more
