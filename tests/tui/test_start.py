"""The start: what is on the screen before anything heavy is loaded, and what a crash leaves."""

import asyncio
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from contextui.agent.models.offline.model import OfflineModel
from contextui.agent.models.scripted import ScriptedModel
from contextui.tui.app import ContextUIApp
from contextui.tui.app_session import AppSession
from contextui.tui.commands import Commands
from contextui.tui.conversation.prompt import Prompt
from contextui.tui.conversation.welcome import Try, tries_in
from contextui.tui.dialogs.help import HelpScreen
from contextui.words import Lang, Words
from tests.agent.talking import end, run
from tests.tui.running import app_of, desk_in, running, say, shown, until
from tests.tui.terminal import Terminal

FIRST_FRAME = """
import asyncio, sys, threading
from textual.css.stylesheet import Stylesheet
from contextui.tui.app import ContextUIApp

parses, parse = 0, Stylesheet.parse

def counted(self):
    global parses
    parses += 1
    parse(self)

Stylesheet.parse = counted

seen, go_on = [], threading.Event()

def open_desk():
    go_on.wait(60)
    raise SystemExit

async def start():
    app = ContextUIApp(open_desk)
    async with app.run_test(size=(120, 40)) as pilot:
        text = ""
        for _ in range(600):  # a pause ends before the frame does on a machine that is very busy
            await pilot.pause(0.05)
            strips = app.screen._compositor.render_strips()
            text = "".join(segment.text for strip in strips for segment in strip)
            if "Nothing is ever lost." in text:
                break
        assert "Nothing is ever lost." in text
        await pilot.press("a")
        assert app.main.prompt.text == "a"
        await pilot.pause()
        seen.extend(sorted({".".join(name.split(".")[:2]) for name in sys.modules}))
        layouts, styles = app.main.layouts, parses
        app.exit(0)
    go_on.set()
    print(*seen)
    print(layouts, styles)

asyncio.run(start())
"""

LIGHT = (
    *("errors", "interrupt", "lazy", "safe_path", "secrets", "text", "tui", "version"),
    *("windowing", "words"),
)
"""What the first frame loads of the program."""

BROKEN = """
import sys
sys.argv = ["contextui"]
from contextui.session.preferences import Preferences
from contextui.tui.commands import Commands
from contextui.tui.dialogs.help import HelpScreen
from contextui.tui.conversation.pane import Conversation

def fail(self, *_):
    key = "sk-ant-secret-key-0123456789"
    raise ZeroDivisionError(f"no such luck with {key}")

Conversation.handle = fail
from contextui.cli import main
sys.exit(main())
"""


def opening_later(folder: Path, **given: Any) -> tuple[ContextUIApp, asyncio.Event]:
    """The app, and an event that lets it open its session."""
    may_open, loop = asyncio.Event(), asyncio.get_running_loop()

    def slowly() -> AppSession:
        asyncio.run_coroutine_threadsafe(may_open.wait(), loop).result()
        return desk_in(folder, **given)

    return ContextUIApp(slowly, folder=folder / "work"), may_open


@pytest.mark.parametrize(
    ("lang", "readme", "repository"),
    [("en", True, True), ("zh", False, True), ("zh", False, False)],
)
def test_whatever_is_offered_to_be_tried_works_in_this_folder(
    tmp_path: Path, lang: Lang, readme: bool, repository: bool
) -> None:
    """X41: and fits it."""
    work, opened = tmp_path / "work", set[str]()
    work.mkdir()
    if readme:
        (work / "README.md").write_text("# A shop\n")
    if repository:
        subprocess.run(["git", "init", "-q", work], check=True)
    for text in tries_in(work):
        desk = desk_in(tmp_path, model=OfflineModel(), lang=lang)
        end(run(desk.controller, Words(lang)(text)))
        assert not [one.content for one in desk.session.context.get_all() if one.is_error]
        opened |= {one.name for one in desk.session.windows.windows()}
        desk.close()
    assert opened >= {"editor" if readme else "files", "git" if repository else "todo"}


def test_the_first_frame_and_the_first_key_come_before_anything_heavy() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FIRST_FRAME], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    loaded, counts = done.stdout.splitlines()
    names = set(loaded.split())
    heavy = ("anthropic", "httpx", "httpx2", "lxml", "markdown_it", "pydantic", "tiktoken")
    assert names.isdisjoint(heavy)
    ours = {name for name in names if name.startswith("contextui.")}
    assert ours == {f"contextui.{name}" for name in LIGHT}
    layouts, parses = map(int, counts.split())
    assert layouts <= 4
    assert parses <= 5  # as many as a bare app


async def opened(pilot: "Pilot[int]", may_open: asyncio.Event) -> AppSession:
    """Open the session; the focus stays, though its panes take the place of outlines."""
    app = app_of(pilot)
    before = app.focused
    assert before is not None
    may_open.set()
    await until(pilot, lambda: app.desk is not None)
    await pilot.pause()
    assert app.desk is not None
    assert app.focused is not None
    assert app.focused.is_attached
    assert app.focused.id == before.id
    if isinstance(before, Try):
        assert str(app.focused.render()) == str(before.render())
    return app.desk


async def test_what_is_chosen_before_the_session_is_open_can_be_tried_then(tmp_path: Path) -> None:
    app, may_open = opening_later(tmp_path, model=OfflineModel())
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("down", "down")  # the second one, about files
        desk = await opened(pilot, may_open)
        await pilot.press("enter")
        await until(pilot, lambda: desk.session.windows.get("files_1"))
        assert app.focused is app.main.prompt
        desk.close()


async def test_what_is_typed_before_the_session_is_open_is_done_then(tmp_path: Path) -> None:
    """U32: in the order in which things were typed; what waits can be taken back."""
    threads: list[threading.Thread] = []

    class Heavy(ScriptedModel):
        def preload(self) -> None:
            threads.append(threading.current_thread())

    app, may_open = opening_later(tmp_path, model=Heavy("Here I am."))
    async with app.run_test(size=(120, 40)) as pilot:
        prompt = app.screen.query_one(Prompt)
        for typed in ("/etc/hosts ?", "/open todo", "/open files", "/fly"):
            prompt.put(typed)
            await pilot.press("enter")
            await until(pilot, partial(shown, pilot, f"· {typed}"))
        assert not shown(pilot, "Unknown command")
        assert shown(pilot, "sent as soon as the session is open   ↑ to edit")
        await pilot.press("up")
        await until(pilot, lambda: prompt.text == "/fly")
        prompt.put("")
        await pilot.press("tab")
        desk = await opened(pilot, may_open)
        await until(pilot, lambda: len(desk.session.windows.windows()) == 2)
        assert [one.name for one in desk.session.windows.windows()] == ["todo", "files"]
        await until(pilot, lambda: shown(pilot, "Here I am."))
        assert not shown(pilot, "Unknown command")
        assert not shown(pilot, "sent as soon as")
        await until(pilot, lambda: threads)
        assert threads[0] is not threading.main_thread()  # the model is loaded beside the frame
        desk.close()


async def test_a_dialog_or_command_that_fails_is_one_line_and_the_app_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_home: Path
) -> None:
    def fail(*_: object) -> None:
        raise ImportError("no such part")

    async with running(desk_in(tmp_path, "Hello.")) as pilot:
        app = app_of(pilot)
        monkeypatch.setattr(HelpScreen, "compose", fail)
        await pilot.press("f1")
        await until(pilot, lambda: shown(pilot, "This failed because of a bug: ImportError"))
        assert app.screen is app.main
        monkeypatch.setattr(Commands, "run", fail)
        app.main.run_command("/help")
        await say(pilot, "Hi")
        assert shown(pilot, "Hello.")
        assert app.return_code is None
    assert "no such part" in (own_home / ".contextui" / "crash.log").read_text()


def test_a_crash_in_a_terminal_leaves_it_as_it_was_and_the_log_whole(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    with Terminal([], work, (80, 24), (sys.executable, "-c", BROKEN)) as terminal:
        terminal.wait_for(terminal.is_ready)
        terminal.type("create a todo list\r")
        assert terminal.end() == 1
        assert terminal.now() == terminal.before
        text = " ".join(line.strip() for line in terminal.lines())
        assert "crashed because of a bug" in text
        assert "ZeroDivisionError" in text.replace(" ", "")  # the end of a row may cut it
        assert "Traceback" not in text
        assert b"secret-key" not in terminal.written
    home = tmp_path / "terminal-home"
    report = home / ".contextui" / "crash.log"
    assert report.stat().st_mode & 0o777 == 0o600
    assert "ZeroDivisionError" in report.read_text()
    assert "secret-key" not in report.read_text()
    (log,) = home.rglob("projects/*/*.jsonl")
    assert log.read_bytes().endswith(b"\n")
    assert b"create a todo list" in log.read_bytes()
