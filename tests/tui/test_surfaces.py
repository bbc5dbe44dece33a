"""Every place that shows text, with text that would act if it could.

A widget that is new must be named here, with what it shows: then it is looked at as well.
"""

import asyncio
import importlib
import pkgutil
import time
from pathlib import Path

import pytest
from textual.widget import Widget

import contextui.tui
import contextui.windows
from contextui.agent.models.scripted import ScriptedModel, call
from contextui.tui.app import ContextUIApp
from contextui.tui.dialogs.approval import ApprovalScreen
from contextui.windowing.action import action
from contextui.windowing.snapshot import Body, Element, Lod
from contextui.windowing.window import Window
from tests.tui.running import SIZES, desk_in, lines, running, until

pytestmark = pytest.mark.long

ACTING = set("\x00\x07\x08\x1b\x7f\x9b\x9d\u200f\u2028\u202e\u2066")
PAYLOADS = {
    "markup and escapes": "[/foo] [/] [/ [b]x[@click=app.quit]y[/] $primary {x}"
    "\x1b]52;c;aGk=\x07\x1b]0;owned\x07\x1b[2J\x9b31m\x9d0;t\x07",
    "bidi and control": "a\u202eb\u2066c\u200fd\u2028e\x00\x08\x7f\r\n\tz",
    "wide": "把牛奶放进待办" * 9 + "👩‍👩‍👧‍👧e\u0301",
}
LOOKED_AT = "looked at below, with hostile text in everything it shows"
OWN_WORDS = "shows words of the program only"
HOLDS = "holds other widgets"
PROGRAMS = "hostile text in tests/tui/test_surfaces_programs.py"
SHEETS = "hostile text in tests/tui/test_surfaces_sheets.py"
FOLDS = "hostile text in tests/windows/test_folds.py"
FILES = "hostile names in tests/windows/test_files_widget.py"


class Hostile(Window):
    """Shows whatever it was given, everywhere."""

    class State(Window.State):
        text: str = ""

    state: State

    def opened(self, text: str = "") -> None:
        self.state.text = text

    def content(self, lod: Lod) -> Body:
        if lod is Lod.GIST:
            return self.state.text
        return [Element("item", self.state.text, name=self.state.text)]

    def preview(self, action_id: str, params: object) -> str | None:
        return f"{action_id} {self.state.text}"

    @action("Write it", effect="write")
    def write(self, text: str) -> str:
        self.state.text = text
        return text


@pytest.mark.parametrize(("kind", "size"), list(zip(PAYLOADS, SIZES, strict=True)))
def test_nothing_becomes_live_anywhere(tmp_path: Path, kind: str, size: tuple[int, int]) -> None:
    payload = PAYLOADS[kind]
    writing = {"window_id": "hostile_1", "action_id": "write", "params": {"text": payload}}
    model = ScriptedModel(
        [payload, call("create", name="hostile", args={"text": payload}),
         call("create", name="todo", args={"items": [payload]}),
         call(payload or "x", anything=payload), call("read_file", path=payload)],
        call("action", **writing),
        f"{payload}.\n\n```python\n{payload}\n```\n",
        name=payload,
    )  # fmt: skip

    async def look() -> None:
        from contextui.windowing.finding.registry import discover

        classes: list[type[Window]] = [*discover().classes(), Hostile]
        desk = desk_in(tmp_path, model=model, windows=classes)
        desk.notices.append(payload)
        async with running(desk, size) as pilot:
            app = pilot.app
            assert isinstance(app, ContextUIApp)
            app.main.send(f"words {payload}")
            await until(pilot, lambda: isinstance(app.screen, ApprovalScreen))
            check(lines(pilot))
            dialog = app.screen
            assert isinstance(dialog, ApprovalScreen)
            await until(pilot, lambda: time.monotonic() > dialog.guard.deaf_until)
            await pilot.press("y")
            talk = app.main.turns
            assert talk is not None
            await until(pilot, lambda: talk.last is not None)
            for keys in (("ctrl+g", "i"), ("right_square_bracket",), ("right_square_bracket",),
                         ("right_square_bracket",), ("left_square_bracket",), ("ctrl+g", "1"),
                         ("ctrl+g", "2"), ("ctrl+g", "c"), ("enter",), ("f1",), ("escape",),
                         ("ctrl+p",), ("escape",), ("ctrl+g", "p")):  # fmt: skip
                await pilot.press(*keys)
                await pilot.pause(0.06)
                check(lines(pilot))
            assert app.is_running
            assert app.return_code is None

    asyncio.run(look())


def check(shown: list[str]) -> None:
    assert not set("".join(shown)) & ACTING


def test_every_widget_that_shows_text_is_known_here() -> None:
    found = set()
    for package in (contextui.tui, contextui.windows):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            for value in vars(importlib.import_module(module.name)).values():
                is_widget = isinstance(value, type) and issubclass(value, Widget)
                if is_widget and value.__module__ == module.name:
                    found.add(f"{module.name.removeprefix('contextui.tui.')}.{value.__name__}")
    assert sorted(found - KNOWN.keys()) == []
    assert sorted(KNOWN.keys() - found) == []


KNOWN: dict[str, str] = {
    "dialogs.trust.TrustScreen": "hostile text in tests/tui/test_recent.py",
    "dialogs.compact.CompactScreen": "shows what goes, in tests/tui/test_compacting.py",
    "dialogs.compact.What": "shows what goes, in tests/tui/test_compacting.py",
    "dialogs.rewind.FileList": "shows names of files, in tests/tui/test_rewind.py",
    "dialogs.rewind.RewindScreen": "shows names of files, in tests/tui/test_rewind.py",
    "dialogs.rewind.TurnHead": OWN_WORDS,
    "dialogs.rewind.TurnList": "shows messages, in tests/tui/test_rewind.py",
    "dialogs.approval.Head": LOOKED_AT,
    "dialogs.approval.Choice": "shows answers and the target, in tests/tui/test_approval.py",
    "dialogs.approval.Foot": "shows no text from elsewhere",
    "dialogs.approval.ApprovalScreen": LOOKED_AT,
    "dialogs.question.QuestionScreen": OWN_WORDS,
    "lines.CursorView": HOLDS,
    "dialogs.unsaved.QuitScreen": OWN_WORDS,
    "dialogs.timing.WaitingLine": "shows a target, in tests/tui/test_asking.py",
    "dialogs.diff.ChangeView": LOOKED_AT,
    "conversation.entries.CallLine": LOOKED_AT,
    "conversation.entries.FoldedLine": "shown as CallLine and Thought",
    "conversation.entries.YourWords": LOOKED_AT,
    "conversation.entries.ModelWords": LOOKED_AT,
    "conversation.entries.AsideLine": LOOKED_AT,
    "conversation.shell.CommandLine": "hostile text in tests/tui/conversation",
    "desktop.body.ContentBody": LOOKED_AT,
    "desktop.frame.WindowFrame": LOOKED_AT,
    "desktop.layout.WindowLines": LOOKED_AT,
    "contextui.windows.todo.widget.TodoBody": LOOKED_AT,
    "header.Header": LOOKED_AT,
    "header.Panes": LOOKED_AT,
    "inspector.detail.Detail": LOOKED_AT,
    "inspector.items.ItemList": LOOKED_AT,
    "inspector.log.LogPage": LOOKED_AT,
    "inspector.request.Outline": LOOKED_AT,
    "inspector.request.RequestHead": LOOKED_AT,
    "inspector.request.Bytes": LOOKED_AT,
    "inspector.usage.UsagePage": LOOKED_AT,
    "code.CodeFence": LOOKED_AT,
    "conversation.popup.Popup": SHEETS,
    "conversation.turn.TurnLine": "shows figures only",
    "dialogs.model.ModelScreen": SHEETS,
    "dialogs.model.OfferList": SHEETS,
    "dialogs.sheet.ListSheet": SHEETS,
    "dialogs.model.LoginScreen": SHEETS,
    "dialogs.model.ServerScreen": SHEETS,
    "dividers.Grip": OWN_WORDS,
    "desktop.folds.FoldList": FOLDS,
    "desktop.folds.FoldBody": FOLDS,
    "contextui.windows.code.widget.CodeBody": FOLDS,
    "contextui.windows.notebook.widget.NotebookBody": FOLDS,
    "contextui.windows.mcp.widget.ServerBody": "hostile text in tests/windows/mcp",
    "conversation.entries.Thought": "hostile text in tests/tui/conversation",
    "conversation.welcome.Try": OWN_WORDS,
    "conversation.welcome.Welcome": OWN_WORDS,
    "conversation.recent.ResumeRow": "hostile text in tests/tui/test_recent.py",
    "dialogs.session_list.SessionList": "hostile text in tests/tui/test_sessions.py",
    "dialogs.sessions.SessionsScreen": "hostile text in tests/tui/test_sessions.py",
    "switch.StopScreen": OWN_WORDS,
    "dialogs.config.ConfigScreen": SHEETS,
    "dialogs.config.SettingList": SHEETS,
    "conversation.input.InputArea": HOLDS,
    "conversation.pane.Earlier": OWN_WORDS,
    "footer.KeyFooter": OWN_WORDS,
    "dialogs.help.GoTo": OWN_WORDS,
    "dialogs.help.HelpPage": OWN_WORDS,
    "dialogs.help.HelpScreen": OWN_WORDS,
    "footer.KeyBar": OWN_WORDS,
    "inspector.tabs.TabBar": OWN_WORDS,
    "inspector.budget.BudgetBar": OWN_WORDS,
    "conversation.pane.Conversation": HOLDS,
    "desktop.pane.Desktop": HOLDS,
    "inspector.pane.Inspector": HOLDS,
    "main.MainScreen": HOLDS,
    "inspector.detail.BehindSummary": HOLDS,
    "inspector.item_page.ItemPage": HOLDS,
    "inspector.request.RequestPage": HOLDS,
    "lines.LineView": HOLDS,
    "desktop.values.Choice": "hostile text in tests/tui/desktop",
    "desktop.frame.ClosingField": "shows what the person types",
    "desktop.frame.Closing": "hostile text in tests/tui/desktop",
    "desktop.field.InertArea": "hostile text in tests/tui/desktop",
    "desktop.field.Field": "hostile text in tests/tui/desktop",
    "desktop.pathfield.PathInput": "hostile names in tests/tui/desktop/test_pathfield.py",
    "desktop.pathfield.PathOffers": "hostile names in tests/tui/desktop/test_pathfield.py",
    "desktop.pathfield.PathField": "hostile names in tests/tui/desktop/test_pathfield.py",
    "desktop.form.FormField": "hostile text in tests/tui/desktop",
    "desktop.form.FormScreen": "hostile text in tests/tui/desktop",
    "desktop.menu.MenuScreen": "hostile text in tests/tui/desktop",
    "contextui.windows.editor.widget.EditorBody": "hostile text in tests/tui/desktop",
    "contextui.windows.monitor.widget.MonitorBody": "hostile text in tests/tui/desktop",
    "desktop.rowlist.RowList": FILES,
    "desktop.rowlist.FilterInput": FILES,
    "desktop.rowlist.FilterLine": FILES,
    "contextui.windows.files.widget.FilesBody": FILES,
    "contextui.windows.files.widget.Preview": FILES,
    "desktop.actions.ResultScreen": "hostile text in tests/tui/desktop",
    "lines.Sheet": "hostile text in tests/tui/desktop",
    "inspector.edit.EditScreen": "hostile text in tests/tui/inspector",
    "inspector.detail.TextLines": "hostile text in tests/tui/inspector",
    "inspector.detail.WholeText": "hostile text in tests/tui/inspector",
    "conversation.prompt.Prompt": "hostile text in tests/tui/conversation",
    "conversation.input.Queue": "hostile text in tests/tui/conversation",
    "dialogs.command.Rows": "shown as Facts and Examples",
    "dialogs.command.Facts": PROGRAMS,
    "dialogs.command.Examples": PROGRAMS,
    "dialogs.command.CommandField": PROGRAMS,
    "dialogs.command.CommandScreen": PROGRAMS,
    "contextui.windows.git.widget.ChangeList": PROGRAMS,
    "contextui.windows.git.widget.Confirmation": PROGRAMS,
    "contextui.windows.git.widget.GitBody": PROGRAMS,
    "contextui.windows.terminal.widget.TerminalBody": PROGRAMS,
    "dev.views.ModelSheet": PROGRAMS,
    "dev.views.LogSheet": PROGRAMS,
    "dev.views.ActionForm": PROGRAMS,
    "dev.screen.DevFrame": PROGRAMS,
    "dev.screen.DevScreen": PROGRAMS,
}
