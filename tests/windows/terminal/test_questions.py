"""H01: a pending question takes no key from a shell, whatever the pause: only the person opens it.

The person of these tests is so slow that no guard of the dialog itself applies.
"""

import random
import shutil
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual import events

from contextui.agent.models.scripted import ScriptedModel, call
from contextui.config.credentials import Credentials
from contextui.tui.app_session import AppSession
from contextui.tui.desktop.frame import WindowFrame
from contextui.tui.dialogs import guard, timing
from contextui.tui.dialogs.approval import ApprovalScreen
from contextui.tui.dialogs.timing import Asker
from contextui.windows.terminal.widget import TerminalBody
from contextui.windows.terminal.window import TerminalWindow
from tests.agent import chat_server
from tests.agent.server import Server
from tests.thorough import times
from tests.tui.running import app_of, desk_in, desk_of, lines, running, shown, until
from tests.tui.terminal import Terminal
from tests.windows.terminal.test_widget import enter, plain_shell
from tests.windows.terminal.test_widget import run as run_in

__all__ = ["plain_shell"]  # a fixture that all tests here use

ASKS = [  # not the same call: refused three times, it would end the turn
    call("action", window_id="terminal_1", action_id="run",
         params={"command": "touch made", "seconds": 20 + number})
    for number in range(4)
]  # fmt: skip
NOTICE = "◆ asks to run touch made   ^g a opens"
PAUSES = (30.0, 2.0, 1.0, 5.0, 1.6)
ANSWERS = ("y", "s", "p", "n", "r", "e", "w")
needs_less = pytest.mark.skipif(shutil.which("less") is None, reason="less is not installed")


class Scene:
    """The app with a shell that has the keys, while the model asks to run a command."""

    def __init__(self, pilot: Any, body: TerminalBody, looks: list[float]) -> None:
        self.pilot, self.body, self._looks = pilot, body, looks
        self.app = app_of(pilot)

    @property
    def desk(self) -> AppSession:
        return desk_of(self.pilot)

    @property
    def work(self) -> Path:
        return Path(self.desk.session.cwd)

    @property
    def answers(self) -> int:
        """How often the model was asked for its next step: once more after each answer."""
        assert isinstance(self.desk.controller.model, ScriptedModel)
        return len(self.desk.controller.model.requests)

    @property
    def is_open(self) -> bool:
        return isinstance(self.app.screen, ApprovalScreen)

    @property
    def is_pending(self) -> bool:
        """Whether the question waits: it is neither open nor answered."""
        return self.app.asker is not None and self.app.asker.is_waiting and not self.is_open

    async def until(self, condition: Callable[[], object]) -> None:
        await until(self.pilot, condition)

    async def shows(self, text: str) -> None:
        await self.until(lambda: shown(self.pilot, text))

    async def pause(self, seconds: float) -> None:
        """Let the question see that nothing was pressed for a while, in two looks at the clock."""
        self.app.last_input = time.monotonic() - seconds
        before = len(self._looks)
        await self.until(lambda: len(self._looks) >= before + 2 or not self.is_pending)

    async def slowly(self, *keys: str) -> None:
        """Press keys with pauses before and after each."""
        for number, key in enumerate(keys):
            await self.pause(PAUSES[number % len(PAUSES)])
            await self.pilot.press(key)
        await self.pause(PAUSES[-1])

    def assert_pending(self) -> None:
        assert not (self.work / "made").exists(), "it was approved"
        assert self.is_pending, "it took the keys"


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """When the question looked whether it may open."""
    found: list[float] = []
    is_busy = Asker._is_busy

    def look(asker: Asker, *given: Any) -> bool:
        found.append(time.monotonic())
        return is_busy(asker, *given)

    monkeypatch.setattr(Asker, "_is_busy", look)
    monkeypatch.setattr(timing, "_LOOK", 0.05)
    monkeypatch.setattr(guard, "DEAF", 0.0)
    monkeypatch.setattr(guard, "SETTLE", 0.001)
    return found


@asynccontextmanager
async def asking(
    folder: Path, looks: list[float], size: tuple[int, int] = (120, 40), questions: int = 1
) -> AsyncIterator[Scene]:
    """The app once the shell has the keys and the question is pending."""
    desk = desk_in(folder, *ASKS[:questions], "Well.", windows=[TerminalWindow])
    desk.session.windows.open("terminal")
    async with running(desk, size) as pilot:
        if size[0] < 100:
            await pilot.press("ctrl+g", "1")
        scene = Scene(pilot, await enter(pilot), looks)
        await pilot.press("x", "backspace")
        scene.app.main.send("run it")
        await scene.until(lambda: scene.is_pending)
        await scene.shows(NOTICE)
        yield scene
        desk.controller.stop()
        await scene.until(lambda: not desk.controller.is_running)


# --- keys of the shell are the shell's -------------------------------------------------


async def half_a_line(scene: Scene) -> None:
    await scene.pilot.press(*"echo", "space", *"ab")
    for seconds in PAUSES:
        await scene.pause(seconds)
        scene.assert_pending()
    assert shown(scene.pilot, NOTICE)
    await scene.slowly("y")
    await scene.shows("$ echo aby")
    scene.assert_pending()
    assert scene.body.has_focus
    await scene.pilot.press("enter")


async def a_program_that_asks(scene: Scene) -> None:
    await run_in(scene.pilot, "read -p 'Su''re? [y/N] ' it; echo got=$it")
    await scene.shows("Sure? [y/N]")
    await scene.slowly("y", "enter")
    await scene.shows("got=y")
    scene.assert_pending()


async def every_answer_typed_slowly(scene: Scene) -> None:
    await run_in(scene.pilot, "cat >keys.txt")
    await scene.slowly(*ANSWERS, "left", "up", "escape", "enter")
    scene.assert_pending()
    await scene.pilot.press("enter", "ctrl+d")
    file = scene.work / "keys.txt"
    await scene.until(lambda: file.exists() and "\n" in file.read_text("utf-8", "replace"))
    assert file.read_text("utf-8", "replace").startswith("yspnrew")
    scene.assert_pending()


async def while_another_program_has_the_terminal(scene: Scene) -> None:
    """A terminal that loses the focus takes it from the shell, and gives it back."""
    scene.app.post_message(events.AppBlur())
    await scene.until(lambda: scene.app.focused is None)
    await scene.pause(PAUSES[0])
    scene.assert_pending()
    scene.app.post_message(events.AppFocus())
    await scene.until(lambda: scene.body.has_focus)
    await scene.slowly("y", "backspace")
    scene.assert_pending()


async def a_shell_that_has_ended(scene: Scene) -> None:
    """Keys reach nothing, but the person who typed them may not have seen that it ended."""
    await run_in(scene.pilot, "exit")
    await scene.shows("The shell ended.")
    await scene.slowly(*"yspn", "enter", "escape")
    scene.assert_pending()
    assert shown(scene.pilot, NOTICE)


async def test_no_key_in_a_shell_answers_and_at_the_prompt_it_opens_by_itself(
    tmp_path: Path, looks: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with asking(tmp_path, looks) as scene:
        await half_a_line(scene)
        await a_program_that_asks(scene)
        await every_answer_typed_slowly(scene)
        await while_another_program_has_the_terminal(scene)
        await a_shell_that_has_ended(scene)
        monkeypatch.setattr(timing, "QUIET", 600.0)  # however slowly this runs
        await scene.pilot.press("ctrl+g", "p")
        await scene.until(lambda: scene.app.focused is scene.app.main.prompt)
        await scene.pause(1.0)
        scene.assert_pending()
        await scene.pause(6_000.0)
        await scene.until(lambda: scene.is_open)


@needs_less
async def test_no_key_in_a_pager_or_around_the_shell_answers(
    tmp_path: Path, looks: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with asking(tmp_path, looks, (80, 24)) as scene:
        rows = "".join(f"row {number}\n" for number in range(1, 500))
        (scene.work / "rows.txt").write_text(rows)
        await run_in(scene.pilot, "less rows.txt; echo a1'b2'")
        await scene.shows("row 9")
        await scene.slowly("y", "space", "p", "s", "escape", "n")
        scene.assert_pending()
        await scene.pilot.press("escape", "escape", "q", "q", "enter")
        scene.assert_pending()
        # After ctrl+g and Esc the person may believe to be in the shell.
        await scene.pilot.press("ctrl+g", "escape")
        frame = scene.app.query_one(WindowFrame)
        await scene.until(lambda: scene.app.focused is frame)
        await scene.slowly("y", "s")
        scene.assert_pending()
        # The model closes the shell: the focus moves to the prompt, and the pause begins there.
        monkeypatch.setattr(timing, "QUIET", 600.0)  # however slowly this runs
        scene.app.main.prompt.clear()
        await scene.pilot.press("ctrl+g", "1", "enter")
        await scene.until(lambda: scene.body.has_focus)
        await scene.pause(6_000.0)
        scene.desk.session.windows.close("terminal_1")
        await scene.until(lambda: scene.app.focused is scene.app.main.prompt)
        before = len(looks)
        await scene.until(lambda: len(looks) >= before + 2 or scene.is_open)
        assert not scene.is_open


# --- how the person opens it -----------------------------------------------------------


async def test_two_keys_or_a_click_open_it_and_lead_back(
    tmp_path: Path, looks: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def with_click(scene: Scene) -> None:
        row = next(at for at, text in enumerate(lines(scene.pilot)) if NOTICE in text)
        await scene.pilot.click(offset=(lines(scene.pilot)[row].index(NOTICE) + 2, row))

    async def with_keys(scene: Scene) -> None:
        """Those typed ahead, in one burst, answer nothing: the dialog is not visible yet."""
        await scene.pilot.press("ctrl+g")
        await scene.shows("a question")
        monkeypatch.setattr(guard, "DEAF", 600.0)  # however slowly this runs
        before = scene.answers
        for key in ("a", *"yspyspnry", "enter", "escape"):
            scene.app.post_message(events.Key(key, key if len(key) == 1 else None))
        await scene.until(lambda: scene.is_open)
        await scene.until(lambda: not scene.app.has_keys_waiting)
        await scene.pilot.pause(3 * guard.SETTLE)
        assert scene.is_open
        assert scene.answers == before
        assert isinstance(scene.app.screen, ApprovalScreen)
        scene.app.screen.guard.deaf_until = 0.0
        monkeypatch.setattr(guard, "DEAF", 0.0)

    # The last way leads to the prompt, whose border has the notice unless a pane is zoomed.
    ways = [(with_click, 1), (with_keys, 0), (with_click, 0)]

    async with asking(tmp_path, looks, questions=len(ways)) as scene:
        typed = "$ "
        for way, is_zoomed in ways:
            if scene.app.main.has_class("-zoom") != bool(is_zoomed):
                scene.app.main.action_zoom()
            await scene.pause(30.0)
            await scene.shows(NOTICE)
            scene.assert_pending()
            await way(scene)
            await scene.until(lambda: scene.is_open)
            question = scene.app.screen
            assert isinstance(question, ApprovalScreen)
            await scene.until(lambda question=question: question.guard.deaf_until < float("inf"))  # type: ignore[misc]
            await scene.pilot.press("n")
            await scene.until(lambda: scene.app.screen is scene.app.main)
            if (way, is_zoomed) == (with_click, 0):
                assert scene.app.focused is scene.app.main.prompt
                return
            await scene.until(lambda: scene.body.has_focus)
            await scene.pilot.press("x")
            typed += "x"
            await scene.shows(typed)


# --- the program in a real terminal ----------------------------------------------------

# All times of a question are a hundredth: 0.3 seconds are a pause of 30.
PROGRAM = """
import sys
from contextui.tui.dialogs import guard, timing
timing.QUIET, timing._LOOK = timing.QUIET / 100, 0.002
guard.DEAF, guard.SETTLE = guard.DEAF / 100, guard.SETTLE / 100
from contextui.cli import main
sys.exit(main())
"""
KEYS = (
    *ANSWERS * 4,
    *"abcdghijklmoqtuvxz0123456789 .,/-'",
    *("\r", "\x1b", "\t", "\x7f", "\x03", "\x15") * 2,
    *("\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D", "\x1b[5~", "\x1b[6~", "\x1b[5;2~", "\x1b[H"),
    "\x07\x07",  # the second ctrl+g is the shell's
)
GAPS = (0.0,) * 14 + (0.01, 0.02, 0.02, 0.05, 0.1, 0.3)


@needs_less
@pytest.mark.long
def test_no_key_of_thousands_in_a_shell_answers(tmp_path: Path) -> None:
    home, work = tmp_path / "terminal-home", tmp_path / "work"
    for folder in (home / ".contextui", work):
        folder.mkdir(parents=True)
    (home / ".bashrc").write_text("PS1='$ '\n")
    (work / "rows.txt").write_text("row\n" * 500)
    run = {"window_id": "terminal_1", "action_id": "run", "params": {"command": "touch made"}}
    asks = [chat_server.chat(chat_server.call("action", **run)) for _ in range(1_000)]
    held = chat_server.stream(held=True)
    script = [
        chat_server.chat(chat_server.call("create", name="terminal")),
        replace(held, then=asks[0].events),
        *asks,
    ]
    program, root = (sys.executable, "-c", PROGRAM), str(Path(__file__).parents[3])
    given = {"SHELL": "/bin/bash", "PYTHONPATH": root}
    with Server(*script) as server:
        Credentials(home / ".contextui").add_server("box", f"{server.url}/v1")
        with Terminal(["--model", "box/m"], work, (80, 24), program, **given) as terminal:
            terminal.wait_for(lambda: terminal.shows("Nothing is ever lost."))
            terminal.type("go\r")
            terminal.wait_for(lambda: len(server.requests) == 2)
            terminal.wait_for(lambda: terminal.shows("Windows 1"))
            while not terminal.shows("enter type"):
                terminal.type("\x071")  # ctrl+g: to the window, once it is listed there
                terminal._read(1.0)
            terminal.type("\r")
            terminal.wait_for(lambda: terminal.shows("^g leave"))
            server.release()
            opened = "◆ model wants to run"
            terminal.wait_for(lambda: terminal.shows(NOTICE) or terminal.shows(opened))

            def press(*keys: str) -> None:
                for key in keys:
                    terminal.type(key)
                    terminal._read(rng.choice(GAPS))

            rng = random.Random(1)
            press(*"echo ha", *"ysp", "\r")
            for pause in (0.01, 0.02, 0.05, 0.3):
                press(*"read -p 'Su''re? [y/N] ' it", "\r")
                time.sleep(pause)
                press("y", "\r", *"less rows.txt", "\r")
                time.sleep(pause)
                press("y", "p", "s", "\x1b", "n", "\x1b", "q", "\r", "q", "\x03", *"echo ha")
                time.sleep(pause)
                press("y", "\x15")
            press(*"PATH=", "\r")  # from now on, no word is a program
            press(*rng.choices(KEYS, k=times(700, 20_000)))
            terminal.type("\x07a")  # after all of them, the two keys that open it
            terminal.wait_for(lambda: terminal.shows(opened) or len(server.requests) > 2)
            answers = len(server.requests) - 2
            made = (work / "made").exists()
            assert (answers, made) == (0, False), f"{answers} answers by keys for the shell"
            for _ in range(50):  # once it accepts keys, it is answered, and the count shows it
                terminal.type("n")
                terminal._read(0.2)
                if len(server.requests) > 2:
                    break
            terminal.wait_for(lambda: len(server.requests) == 3)
            assert not (work / "made").exists()
