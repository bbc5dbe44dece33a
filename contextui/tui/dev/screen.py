"""The screen of `contextui dev`: a window with its actions and log, and what the model reads."""

import subprocess
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult, SuspendNotSupported
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from contextui.errors import ContextUIError
from contextui.events import CallStarted, TurnFinished
from contextui.tui.app import Crash, write_report
from contextui.tui.conversation.editor import editor_of
from contextui.tui.desktop.actions import result_lines
from contextui.tui.desktop.body import ContentBody
from contextui.tui.desktop.field import Field
from contextui.tui.desktop.frame import WindowFrame
from contextui.tui.desktop.menu import Chosen, Entry, MenuScreen
from contextui.tui.desktop.rowlist import spread
from contextui.tui.desktop.shared import Gists, Setting, short_name
from contextui.tui.desktop.widgets import Guard, cause_of, guard_of
from contextui.tui.dev.bench import Bench, LogKind, Reading
from contextui.tui.dev.views import ActionForm, LogList, ModelSheet
from contextui.tui.dialogs.timing import ask_in
from contextui.tui.dialogs.whole_text import WholeText
from contextui.tui.footer import KeyFooter
from contextui.tui.keys import KeyLine
from contextui.tui.lines import KEY, MUTED, age, fit, line
from contextui.tui.shutdown import Shutdown, Signals
from contextui.tui.timers import sure_timer
from contextui.windowing.action import ActionResult
from contextui.windowing.finding.reload import ReloadReport
from contextui.windowing.runtime import runtime_of
from contextui.windowing.worker import in_daemon_thread
from contextui.words import msg

_LOOK = 0.3  # seconds between two looks at the file
_BATCH = 0.05  # seconds in which changes are collected
_LEAST, _EDGES = 6, 3  # rows of a window: at least, and of its border and actions
_SHARE = 0.35  # of the height that the window gets at most


class DevFrame(WindowFrame):
    """The frame of the window; its actions are chosen for the form."""

    def action_menu(self) -> None:
        screen = self.screen
        assert isinstance(screen, DevScreen)
        screen.action_choose()


class DevScreen(Screen[None]):
    """Shows a `Bench`; the file is looked at three times a second."""

    BINDINGS = [
        Binding("tab", "switch", "other side", priority=True),
        Binding("a", "choose", "actions"),
        Binding("m", "as_model", "run as model"),
        Binding("s", "say", "say it"),
        Binding("l", "log", "log"),
        Binding("r", "reload", "reload"),
        Binding("R", "restart", "restart empty", key_display="R"),
        Binding("e", "edit", msg("open in $EDITOR")),
        Binding("y", "copy", "copy XML"),
    ]

    def __init__(self, bench: Bench) -> None:
        super().__init__()
        self.bench, self.words = bench, bench.words
        self.form = ActionForm(self.words, lambda: self._run("person"))
        self.log_list = LogList(self.words)
        self.model_sheet = ModelSheet(self.words)
        names = ("dev-top", "dev-heading", "dev-model", "dev-cost")
        self._top, self._heading, self._model, self._cost = (Static(id=name) for name in names)
        self._sentence = Field(hint=self.words("Say what you want"))
        self._sentence.id, self._sentence.display = "dev-say", False
        self._frame: DevFrame | None = None
        self._reading: Reading | None = None
        self._reloaded: datetime | None = None
        self._fault = ""
        self._is_drawing = self._is_reloading = self._is_due = False
        self._setting = Setting(
            bench.windows,
            self.words,
            Gists(lambda _: self.call_later(self._draw_border)),
            self._tokens,
        )

    def compose(self) -> ComposeResult:
        yield self._top
        with Horizontal(id="dev-body"):
            with Vertical(id="dev-left"):
                yield self.form
                yield self._heading
                yield self.log_list
            with Vertical(id="dev-right"):
                yield self._model
                yield self.model_sheet
                yield self._cost
        yield self._sentence
        yield KeyFooter(self.words)

    async def on_mount(self) -> None:
        self.bench.on_change = lambda: self.call_later(self._schedule)
        await self.form.show(self.bench.window, None)
        self.form.focus()
        self._schedule()
        self.set_interval(_LOOK, self._look)
        self.set_interval(1.0, self._draw_top)

    def on_unmount(self) -> None:
        self.bench.on_change = lambda: None

    def _tokens(self, _: str) -> int | None:
        return self._reading.levels[0].tokens if self._reading is not None else None

    # --- drawing -----------------------------------------------------------------------

    def _schedule(self) -> None:
        if not self._is_due:
            self._is_due = True
            sure_timer(self, _BATCH, self._start_drawing)

    on_resize = _schedule

    def _start_drawing(self) -> None:
        self._is_due = False
        if self._is_drawing:
            self._schedule()
        else:
            self._is_drawing = True
            self.run_worker(self._draw(), name="draw")

    async def _draw(self) -> None:
        try:
            self._reading = await in_daemon_thread(self.bench.read)
            await self._draw_frame()
        finally:
            self._is_drawing = False
        self.model_sheet.show(self._reading)
        self._cost.update(self.model_sheet.cost())
        log = self.bench.log
        self.log_list.show(log, at=None if self.log_list.cursor else log[0].at)
        self._draw_top()

    async def _draw_frame(self) -> None:
        window, frame = self.bench.window, self._frame
        if frame is not None and frame.window is not window:
            had_focus = frame.has_focus_within
            await frame.remove()
            self._frame = frame = None
            if had_focus:
                self.form.focus()
        if window is None:
            await self.form.show(None, None)
            return
        if frame is None:
            frame = self._frame = DevFrame(window, 1, self._setting)
            await self.query_one("#dev-left").mount(frame, before=0)
            chosen = self.form.action.id if self.form.action is not None else None
            await self.form.show(window, chosen)
        frame.window_changed()
        rows = len(frame.body.lines) if isinstance(frame.body, ContentBody) else self.size.height
        most = max(int(self.size.height * _SHARE), _LEAST)
        frame.styles.height = min(max(rows + _EDGES, _LEAST), most)
        frame.set_class(bool(self._fault) or frame.has_class("-error"), "-error")

    def _draw_border(self) -> None:
        if self._frame is not None and self._frame.is_attached:
            self._frame.draw_border()

    def _draw_top(self) -> None:
        words, bench, width = self.words, self.bench, max(self.size.width - 2, 10)
        cls = bench.windows.classes[bench.name]
        about = words("{name}, {count} actions", name=cls.__name__, count=len(cls.actions))
        head = Content.assemble(
            ("contextui dev   ", f"{KEY} bold"), (line(bench.path.name), "bold"), "   ",
            (line(about), MUTED),
        )  # fmt: skip
        status = self._status()
        room = width - status.cell_length
        if head.cell_length + 2 > room:
            head = Content.assemble((line(bench.path.name), "bold"))
        self._top.update(spread(head, status, width))
        errors = sum(one.kind == "error" for one in bench.log)
        warnings = sum(one.kind == "warning" for one in bench.log)
        counts = words("errors: {errors}   warnings: {warnings}", errors=errors, warnings=warnings)
        self._heading.update(Content.assemble((words("Log"), "bold"), "   ", (counts, MUTED)))
        title: list[Any] = [(words("What the model reads"), "bold")]
        if (reading := self._reading) is not None:
            title += ["   ", (f"v{reading.version.major}", MUTED)]
            if reading.before is not None:
                since = words("changed since v{version}", version=reading.before.major)
                title += [("   + ", "$text-success"), (since, MUTED)]
        self._model.update(Content.assemble(*title))

    def _status(self) -> Content:
        words = self.words
        if self._fault:
            end = f"   {words('the old code runs on')}"
            room = self.size.width - cell_len(end) - cell_len(self.bench.path.name) - 6
            fault = fit(self._fault, min(cell_len(line(self._fault)), max(room, 10)))
            return Content.assemble((f"✗ {fault}", "$text-error"), (end, MUTED))
        if self._reloaded is None:
            return Content.styled(words("reloaded on every save"), MUTED)
        ago = age((datetime.now() - self._reloaded).total_seconds())
        text = words("reloaded {age} ago, state kept", age=ago)
        return Content.assemble(("✓ ", "$text-success"), (text, MUTED))

    # --- the file ----------------------------------------------------------------------

    def _look(self) -> None:
        if not self._is_reloading:
            self._is_reloading = True
            self.run_worker(self._reload_if_saved(), name="look")

    async def _reload_if_saved(self) -> None:
        if await in_daemon_thread(self.bench.was_saved):
            await self._reload(self.bench.reload)
        self._is_reloading = False

    def action_reload(self) -> None:
        self._is_reloading = True
        self.run_worker(self._reload(lambda: self.bench.reload(fresh=True)), name="reload")

    async def _reload(self, reload: Callable[[], ReloadReport]) -> None:
        try:
            if (window := self.bench.window) is not None:
                await runtime_of(window).commit_typed()
            report = await in_daemon_thread(reload)
        finally:
            self._is_reloading = False
        newest = next((one for one in self.bench.log if one.kind == "error"), None)
        self._fault = ""
        if not report.is_good and newest is not None:
            self._fault = f"{newest.place} {newest.text}".strip()
        elif report.reloaded:
            self._reloaded = datetime.now()
        self._schedule()

    def action_restart(self) -> None:
        self.run_worker(self._restart(), name="restart")

    async def _restart(self) -> None:
        try:
            await in_daemon_thread(self.bench.restart)
        except ContextUIError as error:
            self.bench.note("error", self.words(error))

    def action_edit(self) -> None:
        """Open the place of the log's line, or of the newest error, or the file, in $EDITOR."""
        chosen = self.log_list.row if self.log_list.has_focus else None
        newest = next((one.place for one in self.bench.log if one.place), "")
        path, number = self.bench.file_of(chosen.place if chosen is not None else newest)
        at = [f"+{number}"] if number is not None else []
        try:
            command = editor_of()
            with self.app.suspend():
                subprocess.run([*command, *at, str(path)], check=False)
        except (SuspendNotSupported, OSError, ContextUIError) as error:
            self.bench.note("error", str(error))

    # --- acting ------------------------------------------------------------------------

    def action_choose(self) -> None:
        window = self.bench.window
        if window is None:
            return
        entries = [
            Entry(action.id, short_name(action, self.words), action.labelled(self.words.lang))
            for action in window.actions.values()
        ]
        title = Content.assemble((line(window.id), "bold"), (f"  {self.words('actions')}", MUTED))
        self.app.push_screen(MenuScreen(title, [entries], self.words), self._chosen)

    async def _chosen(self, chosen: Chosen | None) -> None:
        if chosen is not None:
            await self.form.show(self.bench.window, chosen.id)
            fields = list(self.form.query(Field))
            (fields[0] if fields else self.form).focus()

    def action_as_model(self) -> None:
        self._run("model")

    def _run(self, actor: str) -> None:
        window, params, action = self.bench.window, self.form.params, self.form.action
        if window is not None and params is not None and action is not None:
            self.run_worker(self._act(window.id, action.id, params, actor), name="act")

    async def _act(self, window_id: str, action_id: str, params: Any, actor: str) -> None:
        result: ActionResult
        if actor == "model":
            try:
                result = await self.bench.controller.tools.action(window_id, action_id, params)
            except ContextUIError as error:  # not allowed
                result = ActionResult.failed(error, self.words.lang)
                self.bench.note("model", f"{action_id}: {result.text}")
        else:
            result = await self.bench.windows.act(window_id, action_id, params, actor="person")
        self.bench.explain(action_id, result)
        style = "$text-success" if result.ok else "$text-error"
        self.form.show_result(result.text.partition("\n")[0], style)

    # --- saying ------------------------------------------------------------------------

    def action_say(self) -> None:
        field = self._sentence
        field.text, field.display = "", True
        field.focus()

    @on(Field.Done)
    def _said(self, message: Field.Done) -> None:
        message.stop()
        sentence = message.field.text.strip()
        message.field.display = False
        self.form.focus()
        if sentence:
            self.run_worker(self._say(sentence), name="say")

    async def _say(self, sentence: str) -> None:
        self.bench.note("you", f"› {sentence}")
        try:
            async for event in self.bench.controller.run_turn(sentence):
                if isinstance(event, CallStarted):
                    given = event.input.get("params") or event.input.get("args") or {}
                    named = event.input.get("action_id") or event.input.get("name") or event.name
                    text = " ".join(f"{name}={value}" for name, value in given.items())
                    self.bench.note("model", f"› {named} {text}".rstrip())
                elif isinstance(event, TurnFinished):
                    kind: LogKind = "error" if event.is_error else "model"
                    self.bench.note(kind, event.text or event.explanation)
        except ContextUIError as error:
            self.bench.note("error", self.words(error))

    # --- keys --------------------------------------------------------------------------

    def action_log(self) -> None:
        self.remove_class("-right")
        self.call_after_refresh(self.log_list.focus)

    def action_copy(self) -> None:
        if self._reading is not None:
            self.app.copy_to_clipboard(self._reading.levels[0].xml)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Let tab switch sides only where one of them is shown at a time."""
        if action == "switch":
            return self.has_class("-narrow")
        return super().check_action(action, parameters)

    def action_switch(self) -> None:
        self.toggle_class("-right")
        target = self.model_sheet if self.has_class("-right") else self.form
        self.call_after_refresh(target.focus)

    def key_escape(self) -> None:
        field = self._sentence
        if field.display:
            field.display = False
            self.form.focus()

    @on(LogList.Opened)
    def _show_entry(self) -> None:
        entry = self.log_list.row
        assert entry is not None
        title = Content.assemble(
            (f"{entry.at:%H:%M:%S}  ", MUTED), (self.words(entry.kind), "bold")
        )
        text, words = self.bench.whole(entry), self.words
        self.app.push_screen(WholeText(words, title, text, result_lines(text, words)))

    @on(Guard.Failed)
    def _note_widget(self, message: Guard.Failed) -> None:
        self.bench.note("error", message.reason)


class DevApp(KeyLine[int]):
    """The app of `contextui dev`. It has no session: nothing is saved."""

    TITLE = "contextui dev"
    CSS_PATH = [
        Path(__file__).parents[1] / "app.tcss",
        Path(__file__).parents[1] / "desktop" / "desktop.tcss",
        Path(__file__).parent / "dev.tcss",
    ]
    ENABLE_COMMAND_PALETTE = False
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-normal")]
    BINDINGS = [Binding("ctrl+q", "quit", "quit", key_display="^q", priority=True)]

    def __init__(self, bench: Bench) -> None:
        super().__init__()
        self.bench, self.words = bench, bench.words
        self.dev = DevScreen(bench)
        self.shutdown = Shutdown(bench.words, self._close_by_force)
        self.signals = Signals(self._leave_with, self.shutdown)
        bench.controller.tools.gate.ask = partial(ask_in, self, bench.words)

    def get_default_screen(self) -> DevScreen:
        return self.dev

    def on_mount(self) -> None:
        with suppress(ValueError, RuntimeError, NotImplementedError):  # not on the main thread
            self.signals.listen()

    async def on_unmount(self) -> None:
        with suppress(ContextUIError):
            await self.bench.controller.aclose()

    async def action_quit(self) -> None:
        """Quit, even if a widget of the window blocks it."""
        self.shutdown.end_within()
        self._leave_with(0)

    def _leave_with(self, status: int) -> None:
        self.exit(status, return_code=status)

    def _close_by_force(self) -> int:
        """Restore the terminal and end the window before the process is killed."""
        self.signals.restore()
        self.bench.close()
        return self.return_code or 0

    def _handle_exception(self, error: Exception) -> None:
        """Drop a widget of the window that failed; report anything else as a crash."""
        if (guard := guard_of(error)) is not None:
            guard.guarded_failed(cause_of(error))
            return
        super()._handle_exception(Crash(error, write_report(error), self.bench.words, " "))
