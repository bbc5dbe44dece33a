"""Stopping a turn cancels the jobs that it waits for, and no others."""

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from contextui import ApprovalGate, Body, Lod, Window, WindowManager, Workspace, action
from contextui.agent.controller import InteractionController
from contextui.agent.models.scripted import Step, call
from contextui.context.item import ItemType
from contextui.context.manager import ContextManager
from contextui.events import CallFinished, Event, TurnFinished
from contextui.model import Model
from contextui.windowing.job import Job
from contextui.windowing.runtime import runtime_of
from contextui.windows.terminal.shell import Shell
from contextui.windows.terminal.window import TerminalWindow
from contextui.words import Lang
from tests.agent.talking import Waiting, controller, end, of, say
from tests.windowing.samples import opened, until

LONG = 30.0
SLOW = ": > begun; sleep 60; touch proof\n"


class Kiln(Window):
    """Burns pots, in a job."""

    def __init__(self) -> None:
        super().__init__()
        self.last: Job | None = None
        self.stop: Callable[[], object] = lambda: None

    def content(self, lod: Lod) -> Body:
        return "a kiln"

    @action("Burn a pot")
    def burn(self, wait: float = LONG) -> Job:
        async def work(_: Job) -> None:
            await asyncio.sleep(LONG * 10)

        self.last = self.env.job("burn", work, wait=wait)
        return self.last

    @action("Burn a pot in no time, while the turn is stopped")
    def flash(self) -> Job:
        async def work(_: Job) -> str:
            self.stop()
            return "burnt"

        self.last = self.env.job("flash", work, wait=LONG)
        return self.last


@pytest.fixture(autouse=True)
def plain_shell(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "slow.sh").write_text(SLOW)
    monkeypatch.setenv("SHELL", "/bin/bash")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


def act(window: str, name: str, **params: Any) -> Any:
    return [call("action", window_id=window, action_id=name, params=params)]


def talk_in(
    folder: Path, *steps: Step, lang: Lang = "en", model: Model | None = None
) -> InteractionController:
    files = Workspace(folder / "work")
    windows = WindowManager([TerminalWindow, Kiln], workspace=files, lang=lang)
    return controller(
        *steps,
        model=model,
        context=ContextManager(windows),
        approval=ApprovalGate("auto"),
    )


def jobs_of(talk: InteractionController, name: str) -> list[str]:
    window = talk.windows.get(name)
    return [one.name for one in runtime_of(window).jobs.running()] if window is not None else []


async def stop_when(
    talk: InteractionController, condition: Callable[[], object], words: str = "go"
) -> list[Event]:
    """Run a turn, stop it as soon as the condition holds, and return its events."""
    turn = asyncio.create_task(say(talk, words))
    await until(condition)
    assert talk.is_running
    talk.stop()
    return await turn


def begun(work: Path) -> bool:
    return (work / "begun").exists()


def last_result(talk: InteractionController) -> tuple[bool, str]:
    item = [one for one in talk.context.get_all() if one.type is ItemType.TOOL][-1]
    return not item.is_error, item.content


def terminal(talk: InteractionController) -> TerminalWindow.State:
    window = talk.windows.get("terminal_1")
    assert isinstance(window, TerminalWindow)
    return window.state


def ends(talk: InteractionController) -> list[int | None]:
    """The exit statuses of the terminal's commands."""
    return [one.status for one in terminal(talk).ran]


def stopped(events: list[Event]) -> TurnFinished:
    finished = end(events)
    assert finished.reason == "stopped"
    return finished


def at_prompt(talk: InteractionController) -> bool:
    shell = terminal(talk).shell
    return shell is not None and shell.at_prompt


async def test_the_command_that_the_turn_waits_for_is_interrupted(tmp_path: Path) -> None:
    one = talk_in(tmp_path, act("terminal_1", "run", command="bash slow.sh"))
    await asyncio.to_thread(one.windows.open, "terminal")
    work = tmp_path / "work"
    events = await stop_when(one, lambda: begun(work) and jobs_of(one, "terminal_1"))
    assert stopped(events).explanation == "Stopped. bash slow.sh was cancelled."
    assert last_result(one) == (False, "bash slow.sh was cancelled.")
    assert [event.ok for event in of(CallFinished, events)] == [False]
    await until(lambda: ends(one) == [130] and at_prompt(one))
    assert not (work / "proof").exists()
    result = await one.windows.act("terminal_1", "run", {"command": "echo free"})
    assert result.text.endswith("free")
    one.windows.close("terminal_1")


async def test_a_command_that_ignores_the_interrupt_is_ended(tmp_path: Path) -> None:
    (tmp_path / "work" / "slow.sh").write_text(f"trap '' INT; {SLOW}")
    one = talk_in(tmp_path, act("terminal_1", "run", command="bash slow.sh"))
    await asyncio.to_thread(one.windows.open, "terminal")
    work = tmp_path / "work"
    stopped(await stop_when(one, lambda: begun(work) and jobs_of(one, "terminal_1")))
    await until(lambda: ends(one) not in ([], [0]))
    assert not (work / "proof").exists()
    one.windows.close("terminal_1")


@pytest.mark.parametrize("moment", ["starting", "started"])
async def test_a_command_that_the_shell_is_about_to_start_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """The turn is stopped when the command is typed, and there is no job yet."""
    one = talk_in(tmp_path, act("terminal_1", "run", command="bash slow.sh"))
    typed, stop, loop = threading.Event(), one.stop, asyncio.get_running_loop()

    def stop_first(shell: Shell, *given: Any) -> Any:
        typed.set()
        return submit(shell, *given)

    def job_after_stop(window: TerminalWindow, *given: Any, **named: Any) -> Any:
        job = make_job(window, *given, **named)
        asyncio.run_coroutine_threadsafe(stopping(), loop).result(LONG)
        return job

    async def stopping() -> None:
        stop()
        await asyncio.sleep(0)

    submit, make_job = Shell._submit, TerminalWindow._job
    if moment == "starting":
        monkeypatch.setattr(Shell, "_submit", stop_first)
    else:
        monkeypatch.setattr(TerminalWindow, "_job", job_after_stop)
    await asyncio.to_thread(one.windows.open, "terminal")
    turn = asyncio.create_task(say(one, "go"))
    if moment == "starting":
        await until(typed.is_set)
        stop()
    stopped(await turn)
    await until(lambda: ends(one) not in ([], [0]))
    assert not (tmp_path / "work" / "proof").exists()
    one.windows.close("terminal_1")


@pytest.mark.parametrize(
    ("lang", "said"), [("en", "Stopped. burn was cancelled."), ("zh", "已停止。burn 已取消。")]
)
async def test_jobs_of_every_window_are_cancelled(tmp_path: Path, lang: Lang, said: str) -> None:
    one = talk_in(tmp_path, act("kiln_1", "burn"), lang=lang)
    kiln = opened(one.windows, Kiln)
    events = await stop_when(one, lambda: jobs_of(one, "kiln_1"))
    assert stopped(events).explanation == said
    assert kiln.last is not None
    assert kiln.last.state == "cancelled"
    await until(kiln.last.ended.done)
    history = runtime_of(kiln).history.entries
    assert said.endswith(str(history[-1].result))


async def test_a_job_of_this_turn_is_cancelled_during_a_wait(tmp_path: Path) -> None:
    one = talk_in(tmp_path, act("kiln_1", "burn", wait=0.01), act("kiln_1", "wait"))
    kiln = opened(one.windows, Kiln)
    jobs = runtime_of(kiln).jobs
    events = await stop_when(one, lambda: jobs.waiting)
    assert stopped(events).explanation == "Stopped. burn was cancelled."
    assert last_result(one) == (False, "burn was cancelled.")
    assert jobs_of(one, "kiln_1") == []


async def test_a_job_in_the_background_goes_on_and_the_turn_says_so(tmp_path: Path) -> None:
    run = act("terminal_1", "run", command="bash slow.sh", seconds=0)
    one = talk_in(tmp_path, run, act("terminal_1", "wait"), act("terminal_1", "wait"))
    terminal = await asyncio.to_thread(one.windows.open, "terminal")
    work, jobs = tmp_path / "work", runtime_of(terminal).jobs
    still = "Stopped. bash slow.sh still runs in terminal_1."
    events = await stop_when(one, lambda: jobs.waiting and (work / "begun").exists())
    assert stopped(events).explanation == still
    events = await stop_when(one, lambda: jobs.waiting)  # it is of an earlier turn
    assert stopped(events).explanation == still
    assert jobs_of(one, "terminal_1") == ["bash slow.sh"]
    assert ends(one) == []
    one.windows.close("terminal_1")


async def test_a_job_of_an_earlier_turn_goes_on(tmp_path: Path) -> None:
    steps = act("kiln_1", "burn", wait=0.01), "It burns.", act("kiln_1", "wait")
    one = talk_in(tmp_path, *steps)
    kiln = one.windows.open("kiln")
    assert end(await say(one, "burn a pot")).reason == "done"
    events = await stop_when(one, lambda: runtime_of(kiln).jobs.waiting)
    assert stopped(events).explanation == "Stopped. burn still runs in kiln_1."
    assert jobs_of(one, "kiln_1") == ["burn"]
    one.windows.close("kiln_1")


async def test_commands_of_the_person_go_on(tmp_path: Path) -> None:
    one = talk_in(tmp_path, model=Waiting())
    await asyncio.to_thread(one.windows.open, "terminal")
    given = {"command": "bash slow.sh", "seconds": 0}
    assert (await one.windows.act("terminal_1", "run", given, actor="person")).ok
    work = tmp_path / "work"
    events = await stop_when(one, lambda: (work / "begun").exists() and one.is_running)
    assert stopped(events).explanation == ""  # they know
    assert jobs_of(one, "terminal_1") == ["bash slow.sh"]
    one.windows.close("terminal_1")


async def test_an_action_of_the_person_that_is_cancelled_leaves_its_job(tmp_path: Path) -> None:
    one = talk_in(tmp_path)
    one.windows.open("kiln")
    acting = asyncio.create_task(one.windows.act("kiln_1", "burn", actor="person"))
    await until(lambda: jobs_of(one, "kiln_1"))
    acting.cancel()
    await asyncio.gather(acting, return_exceptions=True)
    assert jobs_of(one, "kiln_1") == ["burn"]
    one.windows.close("kiln_1")


async def test_a_job_that_ends_at_the_same_moment_is_reported_as_it_ended(tmp_path: Path) -> None:
    one = talk_in(tmp_path, *[act("kiln_1", "flash")] * 50)
    kiln, loop = opened(one.windows, Kiln), asyncio.get_running_loop()
    kiln.stop = lambda: loop.call_soon_threadsafe(one.stop)
    for _ in range(50):
        stopped(await say(one, "go"))
        assert kiln.last is not None
        await until(kiln.last.ended.done)
        known = {"done": (True, "burnt"), "cancelled": (False, "flash was cancelled.")}
        assert last_result(one) == known[kiln.last.state]
        assert one.context.calls.unanswered == ()
