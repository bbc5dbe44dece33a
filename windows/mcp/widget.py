"""MCP widget: the server's state, its resources, its last result and its tools.

All text of a server is drawn without markup, and control characters of it never reach the terminal.
"""

import time
from collections.abc import Iterator, Sequence
from typing import ClassVar

from rich.cells import cell_len
from textual.binding import Binding
from textual.content import Content

from contextui.tui.desktop.rowlist import spread
from contextui.tui.lines import FAINT, MUTED, Sheet, age, fit, fold, line, spinner
from contextui.widgets import ActionRequested, stated
from contextui.windowing.runtime import runtime_of
from contextui.windows.mcp.catalogue import Tool
from contextui.windows.mcp.description import SECRET, ServerState
from contextui.windows.mcp.result import Result, Table
from contextui.windows.mcp.window import _ServerWindow
from contextui.words import Words

_BEAT = 1.0  # seconds between two looks at the time
_ROWS = 10  # of a table at a time
_PREVIEW = 12  # lines of a result that is not a table


class ServerBody(Sheet):
    """A server: what it is, what it said last, and what it can do."""

    frame_bindings: ClassVar[list[Binding]] = [
        Binding("r", "reconnect", "reconnect"),
        Binding("n", "next_page", "next page"),
        Binding("o", "open_page", "open the page"),
        Binding("enter", "answer", "answer"),
    ]
    BINDINGS = [*frame_bindings]

    def __init__(self, window: _ServerWindow) -> None:
        super().__init__()
        self._window, self._words = window, Words(window.env.lang)
        self._state = ServerState()
        self._page = 0

    def on_mount(self) -> None:
        runtime_of(self._window).worker.call_soon(self._window.attended.set)
        self.set_interval(_BEAT, self._tick)

    def _tick(self) -> None:
        runtime_of(self._window).worker.call_soon(self._window.attended.set)
        if self._state.status != "idle":
            self.redraw()

    def window_changed(self) -> None:
        state = stated(self._window, ServerState) or self._state
        if state.last != self._state.last:
            self._page = 0
        self._state = state
        self.redraw()

    @property
    def window_title(self) -> str:
        return self._words("mcp server")

    @property
    def first_actions(self) -> tuple[str, ...]:
        if self._state.asked is not None:
            return ("answer", "decline")
        return () if self._state.status == "connected" else ("reconnect",)

    def action_reconnect(self) -> None:
        self.post_message(ActionRequested("reconnect"))

    def action_answer(self) -> None:
        if self._state.asked is not None:
            self.post_message(ActionRequested("answer", fill_in=True))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only what there is: further rows, a page to open."""
        if action == "open_page":
            return bool(self._address)
        if action == "answer":
            return self._state.asked is not None
        if action == "next_page":
            last = self._state.results[-1:]
            return any(one.table is not None and len(one.table.rows) > _ROWS for one in last)
        return super().check_action(action, parameters)

    @property
    def _address(self) -> str:
        """The page that the server wants to be opened: to log in, or to answer."""
        asked = self._state.asked
        found = self._window.state.link or (asked.url if asked is not None else "")
        return found if found.startswith(("https://", "http://")) else ""

    def action_open_page(self) -> None:
        """Open the page in the browser: only the person can."""
        if self._address:
            self.app.open_url(self._address)

    def action_next_page(self) -> None:
        self._page += 1
        self.redraw()

    # --- drawing ---------------------------------------------------------------------------

    def lines_for(self, width: int) -> Sequence[Content]:
        return [one for part in self._parts(width) for one in part]

    def _parts(self, width: int) -> Iterator[list[Content]]:
        state = self._state
        yield [self._head(width)]
        if state.status == "stopped":
            reason = self._words("stopped: {reason}", reason=line(state.error))
            again = f"   r {self._words('reconnects')}"
            yield fold(Content.assemble((reason, "$text-error"), (again, MUTED)), width)
        if state.asked is not None:
            yield self._question(width)
        if state.status == "login" and (link := self._window.state.link):
            said, opens = self._words("Open this page to log in:"), self._words("opens it")
            yield [Content.assemble((said, "$text-warning"), (f"   o {opens}", MUTED))]
            yield fold(Content(line(link)), width)
        for kept in state.kept:
            label = Content.styled(f"{self._words('Resource')}  {line(kept.uri)}", MUTED)
            ago = Content.styled(f"  {age(time.time() - kept.changed)}", FAINT)
            yield [spread(label, ago, width)]
        if state.results:
            yield [Content("")]
            yield self._result(state.results[-1], width)
        tools = self._window.state.catalogue.tools
        if tools:
            yield [Content(""), Content.styled(self._words("Actions"), "bold")]
            yield self._tools(tools, width)

    def _head(self, width: int) -> Content:
        state, server = self._state, self._window.SERVER
        name = fit(line(state.info.name or server.name), 24).rstrip()
        catalogue = self._window.state.catalogue
        on = len(catalogue.tools)
        count = on + catalogue.unused + catalogue.dropped
        tools = self._words("{count} tools, {on} on", count=count, on=on)
        status, style = self._status()
        about = f"  {line(server.address)}   {tools}"
        left = Content.assemble((name, "bold"), (about, MUTED))
        return spread(left, Content.assemble(" ", (line(status), style)), width)

    def _status(self) -> tuple[str, str]:
        state = self._state
        ago = age(time.time() - state.since) if state.since else ""
        match state.status:
            case "connected":
                return f"● {self._words('connected')} {ago}".rstrip(), "$text-success"
            case "connecting":
                seconds = int(max(time.time() - state.since, 0))
                said = self._words("connecting, {count} s", count=seconds)
                return f"{spinner()} {said}", "$text-warning"
            case "login":
                return self._words("log in"), "$text-warning"
            case "stopped":
                return "", ""
        return self._words("connects when used"), FAINT

    def _question(self, width: int) -> list[Content]:
        asked = self._state.asked
        assert asked is not None
        said = self._words("The server asks: {text}", text=line(asked.message))
        lines = fold(Content.styled(said, "$text-warning"), width)
        if asked.wants_secret:
            lines += fold(Content.styled(self._words(SECRET), "$text-error"), width)
        if asked.url:
            lines += fold(Content(line(asked.url)), width)
        return [*lines, Content.styled(self._words("enter answers, decline refuses"), MUTED)]

    def _result(self, result: Result, width: int) -> list[Content]:
        is_old = self._state.status != "connected"
        what = f"{line(result.tool)} {line(result.params)}".rstrip()
        style = FAINT if is_old else ""
        title = (self._words("Last result"), f"bold {style}".rstrip())
        took = f"{age(time.time() - result.at)}  {result.seconds:.1f}s"
        facts = Content.styled(fit(took, 16, right=True), FAINT)
        lines = [spread(Content.assemble(title, (f"  {what}", MUTED)), facts, width)]
        if result.table is not None:
            return [*lines, *self._table(result.table, width, style)]
        if not result.ok:
            style = "$text-error"
        shown = result.preview.splitlines()
        lines += [Content.styled(fit(line(one), width), style) for one in shown[:_PREVIEW]]
        if (more := result.lines - len(shown[:_PREVIEW])) > 0:
            lines.append(Content.styled(self._words("{count} more lines", count=more), FAINT))
        return lines

    def _table(self, table: Table, width: int, style: str) -> list[Content]:
        pages = max(1, -(-len(table.rows) // _ROWS))
        start = self._page % pages * _ROWS
        rows = table.rows[start : start + _ROWS]
        widths = _widths(table, width)

        def cells(values: Sequence[str]) -> str:
            return "  ".join(
                fit(line(one), room) for one, room in zip(values, widths, strict=False)
            )

        lines = [Content.styled(cells(table.columns), MUTED)]
        lines += [Content.styled(fit(cells(row), width), style) for row in rows]
        if table.total > len(rows):
            said = self._words("{count} of {total}", count=len(rows), total=table.total)
            key = f"   n {self._words('next page')}" if pages > 1 else ""
            lines.append(Content.styled(said + key, FAINT))
        return lines

    def _tools(self, tools: Sequence[Tool], width: int) -> list[Content]:
        asks = self._words("asks")
        rows = [(line(tool.id), self._params(tool), line(tool.label)) for tool in tools]
        needs = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
        room = min(needs[0], 24)
        rest = max(width - room - cell_len(asks) - 6, 0)
        middle = min(needs[1], max(rest // 2, rest - needs[2]))
        lines = []
        for one, (name, params, label) in zip(tools, rows, strict=True):
            trusted = one.reads and self._window.SERVER.trust_read_only
            lines.append(
                Content.assemble(
                    fit(name, room),
                    "  ",
                    (fit(params, middle), MUTED),
                    "  ",
                    fit(label, rest - middle),
                    "  ",
                    ("" if trusted else asks, "$text-warning"),
                )
            )
        return lines

    def _params(self, tool: Tool) -> str:
        """The params of a tool in a few words; most are texts, so these go without a type."""
        known = self._window.actions.get(tool.id)
        params = str(known.params) if known is not None else ""
        return line(params.replace(":string", "").replace(",", ", "))


def _widths(table: Table, width: int) -> list[int]:
    """Share the room among the columns: each gets what it needs, the widest one gives way."""
    needs = [
        max([len(name), *(len(row[at]) for row in table.rows if at < len(row))])
        for at, name in enumerate(table.columns)
    ]
    needs = [min(need, 60) for need in needs]
    while needs and sum(needs) + 2 * (len(needs) - 1) > width and max(needs) > 4:
        needs[needs.index(max(needs))] -= 1
    return needs
