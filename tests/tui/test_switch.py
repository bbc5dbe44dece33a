"""Another session in the running app: nothing of the old one reaches it."""

import re
import threading
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pytest
from textual import events
from textual.pilot import Pilot

from contextui.agent.models.scripted import Step, call
from contextui.config.sources import load_settings
from contextui.errors import ContextUIError
from contextui.tui.app_session import AppSession
from contextui.tui.dialogs.approval import ApprovalScreen
from contextui.tui.dialogs.config import ConfigScreen
from contextui.tui.dialogs.question import QuestionScreen
from contextui.tui.main import MainScreen
from contextui.tui.switch import Target
from tests.tui.running import app_of, desk_in, desk_of, lines, noted, running, say, shown, until
from tests.tui.test_asking import accepts_keys

SAVE: list[Step] = [
    [call("create", name="editor", args={"path": "notes.txt"}),
     call("action", window_id="editor_1", action_id="replace", params={"old": "one", "new": "two"}),
     call("action", window_id="editor_1", action_id="save", params={})],
    "Saved.",
]  # fmt: skip


class Sessions:
    """Opens the sessions of a test, each with its own script; the last one serves all others."""

    def __init__(self, folder: Path, *scripts: Iterable[Step]) -> None:
        self.folder, self.work = folder, folder / "work"
        self.work.mkdir(exist_ok=True)
        self._scripts: list[Iterable[Step]] = [*scripts] or [()]
        self.desks: list[AppSession] = []
        self.targets: list[Target] = []
        self.problem: Exception | None = None
        self.may_open = threading.Event()
        self.may_open.set()

    def open(self, target: Target | None = None) -> AppSession:
        if target is not None:
            self.targets.append(target)
            self.may_open.wait(120)
            if self.problem is not None:
                raise self.problem
        steps = self._scripts.pop(0) if len(self._scripts) > 1 else self._scripts[0]
        desk = desk_in(self.folder, *steps, session_id=target.session_id if target else None)
        self.desks.append(desk)
        return desk

    @asynccontextmanager
    async def running(self, size: tuple[int, int] = (120, 40)) -> AsyncIterator["Pilot[int]"]:
        async with running(self.open, size, reopen=self.open) as pilot:
            yield pilot
            app = app_of(pilot)
            app.switcher.close_rest()


async def switched(pilot: "Pilot[int]", sessions: Sessions, count: int = 2) -> None:
    """Wait until this many sessions were shown, and the last one is on the screen."""
    app = app_of(pilot)
    await until(pilot, lambda: len(sessions.desks) == count and app.desk is sessions.desks[-1])
    await until(pilot, lambda: not app.switcher.is_under_way)
    await pilot.pause()


async def test_neither_a_grant_nor_a_laxer_mode_goes_along(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path, SAVE)
    file = sessions.work / "notes.txt"
    file.write_text("one\n")
    async with sessions.running() as pilot:
        app = app_of(pilot)

        async def leave(mode: str, then: str, target: str | None = None) -> None:
            app.main.run_command(f"/approval {mode}")
            count = len(sessions.desks) + 1
            app.switcher.switch(target)
            await switched(pilot, sessions, count)
            assert sessions.desks[-1].controller.tools.gate.mode == then

        app.main.send("go")
        await until(pilot, lambda: isinstance(app.screen, ApprovalScreen))
        await accepts_keys(pilot, app)
        await pilot.press("s")
        await until(pilot, lambda: shown(pilot, "Saved."))
        assert file.read_text() == "two\n"
        file.write_text("one\n")
        first = sessions.desks[0].session
        await leave("auto", "ask")
        assert shown(pilot, "asks before")
        app.main.send("go")
        await until(pilot, lambda: isinstance(app.screen, ApprovalScreen))
        assert file.read_text() == "one\n"
        sessions.desks[1].controller.stop()
        await until(pilot, lambda: not sessions.desks[1].controller.is_running)
        assert file.read_text() == "one\n"

        await leave("read-only", "read-only")
        desk, home = sessions.desks[-1], first.path.parents[2]
        desk.load_settings = lambda: load_settings({}, {}, home, tmp_path / "work")
        app.main.run_command("/config")
        await until(pilot, lambda: isinstance(app.screen, ConfigScreen))
        stricter = re.compile(r"approval +read-only +this session")
        await until(pilot, lambda: any(map(stricter.search, lines(pilot))))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        await leave("read-only", "read-only", first.id)
        assert desk_of(pilot).session.id == first.id


async def test_a_new_session_has_nothing_of_the_old_one_which_stays_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the same folder; its windows, its text and what was typed and not sent are there again.

    What is typed while it opens is put before that, and then comes what is typed later.
    """
    first = [call("create", name="todo"), "SECRET ANSWER"]
    sessions = Sessions(tmp_path, first, ["Other answer."], ["Again."])
    async with sessions.running() as pilot:
        app = app_of(pilot)
        await say(pilot, "SECRET QUESTION")
        before, old = app.main, sessions.desks[0].session.id
        app.main.prompt.put("not sent yet")
        app.main.run_command("/new")
        await switched(pilot, sessions)
        assert sessions.targets == [Target(tmp_path / "work")]
        assert app.main is not before
        assert not before.is_attached
        assert app.main.prompt.text == ""
        assert not shown(pilot, "todo_1")
        assert not shown(pilot, "✓ create")  # the start screen may list the old session
        new = sessions.desks[1].session
        assert not new.windows.windows()
        assert not any("SECRET" in item.content for item in new.context.get_all())
        await say(pilot, "something else")
        assert shown(pilot, "Other answer.")
        await until(pilot, lambda: not app.switcher._unclosed)
        sessions.may_open.clear()
        app.switcher.switch(old)
        await until(pilot, lambda: len(sessions.targets) == 2)
        app.post_message(events.Paste("typed\n" * 100))
        await until(pilot, lambda: app.main.prompt.text.startswith("[pasted"))
        show = app.switcher._show

        async def show_while_typing(*given: Any) -> MainScreen:
            for key in "meanwhile":
                app.post_message(events.Key(key, key))
            return await show(*given)

        monkeypatch.setattr(app.switcher, "_show", show_while_typing)
        sessions.may_open.set()
        await switched(pilot, sessions, 3)
        await until(pilot, lambda: not app.has_keys_waiting)
        assert app.main.prompt.whole_text == "typed\n" * 100 + "\n\nnot sent yetmeanwhile"
        app.main.prompt.clear()
        session = desk_of(pilot).session
        assert session.id == old
        assert not any("something else" in one.content for one in session.context.get_all())
        assert [one.id for one in session.windows.windows()] == ["todo_1"]
        assert shown(pilot, "SECRET QUESTION")
        await say(pilot, "once more")
        assert shown(pilot, "Again.")


def programs() -> set[int]:
    """The processes of windows that still run; the reaper, which ends them, is the program's."""
    started = psutil.Process().children(recursive=True)
    found = set()
    for one in started:
        with suppress(psutil.NoSuchProcess, psutil.ZombieProcess):
            if one.status() != psutil.STATUS_ZOMBIE and "reaper" not in " ".join(one.cmdline()):
                found.add(one.pid)
    return found


@pytest.mark.long
async def test_the_programs_of_a_session_end_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHELL", "/bin/bash")

    sessions = Sessions(tmp_path, [], [], [])
    async with sessions.running() as pilot:
        app, before = app_of(pilot), programs()
        windows = sessions.desks[0].session.windows
        windows.open("terminal")
        command = "trap '' HUP TERM; sleep 600 & sleep 601"
        given = {"command": command, "seconds": 0}
        done = await windows.act("terminal_1", "run", given, actor="person")
        assert done.ok, done.text
        await until(pilot, lambda: len(programs() - before) >= 3)  # a shell and two sleepers
        first = sessions.desks[0].session.id
        app.switcher.switch(None)
        await switched(pilot, sessions)
        await until(pilot, lambda: not app.switcher._unclosed)
        await until(pilot, lambda: programs() <= before)
        app.switcher.switch(first)
        await switched(pilot, sessions, 3)
        assert sessions.desks[2].session.windows.get("terminal_1") is not None
        await until(pilot, lambda: shown(pilot, "sleep 601"))  # what ran is still known


async def test_a_session_that_cannot_be_opened_leaves_the_present_one_and_another_gets_what_is_sent(
    tmp_path: Path,
) -> None:
    sessions = Sessions(tmp_path, ["One.", "Two."], ["Right session."])
    async with sessions.running() as pilot:
        app = app_of(pilot)
        main = app.main
        for problem in (ContextUIError("It is damaged."), RuntimeError("boom")):
            sessions.problem = problem
            app.switcher.switch("0123")
            await until(pilot, partial(noted, pilot, str(problem)))
            await until(pilot, lambda: not app.switcher.is_under_way)
            assert app.main is main
        await say(pilot, "first")
        assert shown(pilot, "One.")

        sessions.problem = None
        sessions.targets.clear()
        sessions.may_open.clear()
        app.main.run_command("/new")
        await until(pilot, lambda: sessions.targets)
        await pilot.press("ctrl+p", *"hi", "enter", *"more")  # the palette is for the other one
        await pilot.pause()
        assert not sessions.desks[0].controller.is_running
        sessions.may_open.set()
        await switched(pilot, sessions)
        await until(pilot, lambda: shown(pilot, "Right session."))
        assert app.main.prompt.text == "more"
        items = sessions.desks[0].session.context.get_all()
        assert not any(one.content == "hi" for one in items)


async def test_a_running_turn_is_stopped_only_if_the_person_agrees(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QuestionScreen, "delay", 1_000.0)  # however slow the machine is
    sessions = Sessions(tmp_path, SAVE, [])
    (sessions.work / "notes.txt").write_text("one\n")
    async with sessions.running() as pilot:
        app = app_of(pilot)

        def is_asked() -> bool:
            question = app.screen
            if not isinstance(question, QuestionScreen):
                return False
            return question._guard.deaf_until < float("inf")

        app.main.prompt.put("x")  # so the question waits, and the turn with it
        app.main.send("go")
        await until(pilot, lambda: app.asker is not None and app.asker.is_waiting)
        app.switcher.switch(None)
        await until(pilot, is_asked)
        await pilot.press("y")  # too early to have been meant
        assert isinstance(app.screen, QuestionScreen)
        monkeypatch.setattr(QuestionScreen, "delay", 0.0)
        app.screen._guard.deaf_until = 0.0
        await pilot.press("escape")
        await until(pilot, lambda: not app.switcher.is_under_way)
        assert any(one.controller.is_running for one in sessions.desks[:1])
        assert app.desk is sessions.desks[0]
        app.switcher.switch(None)
        await until(pilot, is_asked)
        await pilot.press("y")
        await switched(pilot, sessions)
        assert not sessions.desks[0].controller.is_running
        assert (tmp_path / "work" / "notes.txt").read_text() == "one\n"
        await pilot.pause(0.2)
        assert not any(isinstance(one, ApprovalScreen) for one in app.screen_stack)
