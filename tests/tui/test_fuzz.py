"""Random keys, clicks, resizes, turns and sheets in the whole app: nothing raises or gets lost.

A run that fails prints its seed and its last steps. `CONTEXTUI_SEED=7 CONTEXTUI_STEPS=2000` runs
that seed, for so many steps.
"""

import asyncio
import os
import random
import re
import shutil
import string
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual._context import visible_screen_stack
from textual.geometry import Size
from textual.keys import _character_to_key
from textual.screen import Screen

from contextui.agent.models.scripted import Step, call
from contextui.config.sources import load_settings
from contextui.context.item import ContextItem, ItemType
from contextui.events import Notice
from contextui.model import Answer, ModelError, ModelEvent, ModelRequest
from contextui.session.session import SessionOptions
from contextui.session.store import SessionStore
from contextui.tui.app import ContextUIApp
from contextui.tui.app_session import AppSession
from contextui.tui.conversation.entries import (
    Entry,
    ModelMessage,
    ModelWords,
    PersonMessage,
    entries_of,
)
from contextui.tui.conversation.prompt import Prompt
from contextui.tui.desktop.widgets import Guard
from contextui.tui.dialogs import guard, timing
from contextui.tui.dialogs.command import screen_for
from contextui.tui.dialogs.unsaved import QuitScreen
from contextui.tui.dialogs.whole_text import WholeText
from contextui.tui.main import MainScreen
from contextui.tui.switch import Target
from contextui.windowing.finding.registry import discover
from contextui.windowing.runtime import runtime_of
from contextui.windows.mcp.window import server_window
from tests.patience import quiet
from tests.thorough import times
from tests.tui.change import question
from tests.tui.desktop.own_widgets import WithChildren, window_with
from tests.tui.desktop.samples import FormWindow, NoteWindow
from tests.tui.running import app_of, desk_in, running
from tests.tui.test_command_dialog import question as command_question
from tests.windows.git.conftest import run
from tests.windows.mcp.servers import plain

USUAL = [(80, 24), (120, 40), (200, 60), (100, 30)]
KINDS = ("todo", "editor", "monitor", "notebook", "files", "code", "git", "terminal", "own",
         "form", "server")  # fmt: skip
KEYS = [
    *string.ascii_letters, *string.digits, *string.punctuation, *"ｄ。、 把é",
    *("up", "down", "left", "right", "home", "end", "pageup", "pagedown", "enter", "escape"),
    *("tab", "backspace", "delete", "f1", "f2", "f3", "f5", "f12"),
    *(f"shift+{one}" for one in ("tab", "up", "down", "left", "right", "enter", "end")),
    *(f"ctrl+{one}" for one in string.ascii_lowercase if one != "q"),
    *(f"ctrl+{one}" for one in ("up", "down", "left", "right", "home", "end", "space")),
]  # fmt: skip
OFTEN = [
    "enter",
    "escape",
    "up",
    "down",
    "tab",
    "ctrl+g",
    "ctrl+p",
    "z",
    "a",
    "right_square_bracket",
]
PASTES = [
    "one\ntwo\r\nthree",
    "x" * 300,
    "把牛奶放进待办",
    "line\n" * 150,
    "\x1b[2J\x1b]0;t\x07",
    "",
]
COMMANDS = (
    *("help", "sessions", "rewind", "model", "login openai", "config", "compact", "trust"),
    *("theme contextui-light", "theme contextui-dark", "lang zh", "lang en", "zoom", "inspector"),
    *("undo", "cost", "copy", "stop", "reload", "find word", "export md", "new", "fork", "quit"),
    *("approval auto", "approval ask", "config theme", "reopen", "goto todo_1", "nothing"),
    *("close todo_1", "close editor_1", "close terminal_1", "open todo", "open editor"),
    *("open editor path=a.py line=30", "open terminal", "open git", "open server", "open own"),
)
ANSWER = """# Title

Text with `code` and **more**, 把牛奶放进待办.

```python
print(1)
```

| a | b |
|---|---|
| 1 | 2 |

1. one
2. two
   - [x] three

<code_ref id="sum"/>
"""
MARK = re.compile(r"[a-z]\d+q")


class Restless:
    """A model that answers at random: at once or slowly, with calls, and with errors."""

    name = "restless"

    def __init__(self, dice: random.Random) -> None:
        self._dice, self._count = dice, 0

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        from contextui.agent.models.scripted import ScriptedModel

        dice = self._dice
        self._count += 1
        text = f"a{self._count}q"
        steps: list[Callable[[], Step]] = [
            lambda: text,
            lambda: f"{text} {ANSWER}",
            lambda: f"{text} " + "word " * 400,
            lambda: [{"type": "thinking", "thinking": "So. " * 40, "signature": ""}, text],
            lambda: [text, call("create", name=dice.choice(KINDS))],
            lambda: [text, *(self._call() for _ in range(dice.randint(1, 4)))],
            self._call,
            lambda: ModelError(dice.choice(["bad_request", "overloaded"]), "No {name}.", name=text),
        ]
        pauses = dice.choice([0, 0, 1, 3, 300])
        async for event in ScriptedModel(dice.choice(steps)(), name=self.name).stream(request):
            for _ in range(0 if isinstance(event, Answer) else pauses):
                await asyncio.sleep(0)
            yield event

    def _call(self) -> Any:
        acts = [
            ("todo_1", "add", {"texts": ["milk"]}),
            ("editor_1", "insert", {"before_line": 1, "text": "new"}),
            ("editor_1", "save", {}),
            ("terminal_1", "run", {"command": "echo 1", "seconds": 1}),
            ("notebook_1", "write", {"text": "A note."}),
            ("git_1", "stage", {"paths": ["a.py"]}),
            ("none_1", "nothing", {}),
        ]
        window, act, params = self._dice.choice(acts)
        return self._dice.choice(
            [call("action", window_id=window, action_id=act, params=params)] * 4
            + [call("read_file", path="a.py"), call("nothing", x=[1])]
        )


class Run:
    """One app that is driven at random; its seed decides what is done, but not when."""

    def __init__(self, seed: int, folder: Path, problems: list[str]) -> None:
        self.seed, self.dice, self.folder = seed, random.Random(seed), folder
        self.model = Restless(random.Random(seed))
        self.done: list[str] = []
        self.problems = problems
        self.count = self.quits = 0
        self.desks: list[AppSession] = []
        self.sent: list[str] = []
        self.cleared: list[str] = []
        self.notes: dict[MainScreen, list[str]] = {}
        self.classes = [
            *discover().classes(), NoteWindow, FormWindow,
            window_with(f"{WithChildren.__module__}:WithChildren"),
            server_window(plain(), "server", folder / "home"),
        ]  # fmt: skip
        self.steps: dict[Callable[[], Awaitable[object] | None], int] = {
            self.press: 30, self.write: 8, self.paste: 3, self.click: 8, self.scroll: 3,
            self.drag: 4, self.resize: 12, self.leave: 10, self.send: 8, self.note: 4,
            self.shell: 3, self.command: 8, self.window: 4, self.blur: 1, self.page: 4,
            self.sheet: 4, self.answer: 3,
        }  # fmt: skip

    # --- the app -----------------------------------------------------------------------

    def open(self, target: Target | None = None) -> AppSession:
        home, work = self.folder / "home", self.folder / "work"
        found = target.session_id if target is not None else None
        if target is not None and found is not None and target.fork:
            found = SessionStore(home, SessionOptions(self.classes)).make_fork(found, target.turn)
        desk = desk_in(self.folder, model=self.model, windows=self.classes, session_id=found)
        desk.load_settings = lambda: load_settings({}, {}, home, work)
        self.desks.append(desk)
        return desk

    def first(self) -> AppSession:
        work = self.folder / "work"
        work.mkdir()
        (work / "a.py").write_text("def word():\n    return 1\n" * 30)
        (work / "README.md").write_text(ANSWER)
        run(work, "init", "--quiet")
        run(work, "add", "a.py")
        desk = self.open()
        for number in range(12):
            desk.session.context.add(ContextItem(ItemType.USER, f"question {number}"))
            desk.session.context.add(ContextItem(ItemType.ASSISTANT, "Yes."))
        for kind in KINDS:
            desk.session.windows.open(kind, **({"path": "a.py"} if kind == "editor" else {}))
        return desk

    async def run(self, steps: int) -> None:
        first = self.first()
        try:
            async with running(first, reopen=self.open) as pilot:
                self.app = app_of(pilot)
                for self.count in range(steps):
                    step = self.dice.choices([*self.steps], [*self.steps.values()])[0]
                    self.done.append(step.__name__)
                    if (waits := step()) is not None:
                        await waits
                    await quiet()
                    screen, focused = type(self.app.screen).__name__, self.app.focused
                    self.done[-1] += f"  -> {screen}, {focused}, {self.main.prompt.text!r}"
                    if self.count % 2:
                        self.draw()
                    if self.count % 20 == 19 or self.count == steps - 1:
                        await self.check()
                    assert not self.problems
                self.app.switcher.close_rest()
        except BaseException as error:
            report = [*self.problems, "", *self.done[-40:], f"seed {self.seed}, step {self.count}"]
            raise AssertionError("\n".join(report)) from error

    # --- steps -------------------------------------------------------------------------

    @property
    def main(self) -> MainScreen:
        return self.app.main

    def log(self, what: object) -> None:
        self.done[-1] += f" {what!r}"

    def key(self, *keys: str) -> None:
        self.log(keys)
        for one in keys:
            name = _character_to_key(one) if len(one) == 1 else one
            self.app.post_message(events.Key(name, one if len(one) == 1 else None))

    def press(self) -> None:
        pool = KEYS if self.dice.random() < 0.7 else OFTEN
        self.key(*self.dice.choices(pool, k=self.dice.randint(1, 6)))

    def write(self) -> None:
        self.key(*self.dice.choices("abcxyz123 @/!.(", k=self.dice.randint(1, 30)))

    def paste(self) -> None:
        self.app.post_message(events.Paste(self.dice.choice(PASTES)))

    def leave(self) -> None:
        """Leave what is open, so that it is not in the way for ever."""
        self.key("escape", "escape")

    def mouse(self, kind: type[events.MouseEvent], at: tuple[int, int], button: int = 1) -> None:
        self.app.post_message(kind(None, *at, 0, 0, button, False, False, False, *at))

    def at(self) -> tuple[int, int]:
        width, height = self.app.size
        return self.dice.randrange(max(width, 1)), self.dice.randrange(max(height, 1))

    def click(self) -> None:
        at = self.at()
        self.log(at)
        for _ in range(self.dice.choice([1, 1, 2, 3])):
            self.mouse(events.MouseMove, at, 0)
            self.mouse(events.MouseDown, at)
            self.mouse(events.MouseUp, at)

    def scroll(self) -> None:
        kind = self.dice.choice([events.MouseScrollDown, events.MouseScrollUp])
        at = self.at()
        for _ in range(self.dice.randint(1, 8)):
            self.mouse(kind, at, 0)

    def drag(self) -> None:
        at = self.at()
        self.mouse(events.MouseDown, at)
        for _ in range(3):
            at = self.at()
            self.mouse(events.MouseMove, at)
        if self.dice.random() < 0.9:  # else it is let go outside
            self.mouse(events.MouseUp, at)

    def resize(self, *sizes: tuple[int, int]) -> None:
        def side() -> int:
            return self.dice.choice([self.dice.randint(0, 3), self.dice.randint(0, 200)])

        size = self.dice.choice([*USUAL, *USUAL, (side(), side()), (side(), side())])
        self.log(size)
        assert self.app._driver is not None
        self.app._driver._size = size  # as a pilot does
        self.app.post_message(events.Resize(Size(*size), Size(*size)))

    async def send(self) -> None:
        """Type a message into the prompt and send it."""
        await self.back_to_main()
        text = f"u{self.count}q"
        self.main.prompt.end_search()
        self.cleared += found(self.main.prompt.whole_text)
        self.main.prompt.clear()
        self.key("ctrl+g", "p", *text, "enter")
        self.sent.append(text)

    async def back_to_main(self) -> None:
        for _ in range(5):
            if self.app.screen is not self.main:
                self.key("escape")
                await quiet()
        while self.app.screen is not self.main:
            await self.app.pop_screen()

    async def typed(self) -> None:
        """Wait until the keys have arrived: nothing is opened under the person's fingers."""
        while self.app.has_keys_waiting:
            await asyncio.sleep(0.01)

    def note(self) -> None:
        text = f"n{self.count}q"
        self.notes.setdefault(self.main, []).append(text)
        self.main.note(text, is_error=self.dice.random() < 0.5)

    def shell(self) -> None:
        text = f"echo o{self.count}q"
        self.main.submit(Prompt.Submitted(text, is_shell=True, visible=f"!{text}"))

    async def command(self) -> None:
        await self.typed()
        text = self.dice.choice(COMMANDS)
        self.log(text)
        self.main.run_command(f"/{text}")

    async def window(self) -> None:
        await self.typed()
        windows = self.desks[-1].session.windows
        there = [one.id for one in windows.windows()]
        if there and (self.dice.random() < 0.4 or len(there) > 15):
            text = f"/close {self.dice.choice(there)}"
        else:
            text = f"/open {self.dice.choice(KINDS)}"
        self.log(text)
        self.main.run_command(text)

    def blur(self) -> None:
        self.app.post_message(self.dice.choice([events.AppBlur, events.AppFocus])())

    async def page(self) -> None:
        await self.back_to_main()
        self.key(
            "ctrl+g", "i", *["right_square_bracket"] * self.dice.randint(0, 3), "down", "enter"
        )

    async def sheet(self) -> None:
        await self.typed()
        words, session = self.app.words, self.desks[-1].session
        asked = self.dice.choice([question(["old"], ["new"]), command_question()])
        whole, unsaved = WholeText(words, "title", ANSWER * 20), QuitScreen(words, session)
        screens: list[Screen[Any]] = [screen_for(words, asked), whole, unsaved]
        self.app.push_screen(self.dice.choice(screens))

    def answer(self) -> None:
        """Go to a question that waits, and answer it."""
        self.key("ctrl+g", "a", self.dice.choice("ynse"), "enter")

    # --- checks ------------------------------------------------------------------------

    def draw(self) -> None:
        """Draw the screen: each row is as wide as the terminal."""
        app = self.app
        visible_screen_stack.set(app._background_screens)
        width, height = app.screen._compositor.size
        strips = app.screen._compositor.render_strips()
        assert len(strips) == height
        assert {sum(part.cell_length for part in one) for one in strips} <= {width}

    async def check(self) -> None:
        """Wait until the screen follows, then look for what was said."""
        for _ in range(400):
            await quiet()
            if not (problem := next(self.missing(), "")):
                return
            if self.app.switcher.is_under_way:
                self.key("y")
            await asyncio.sleep(0.01)
        app, prompt = self.app, self.main.prompt
        where = app.screen, app.focused, app.app_focus, prompt.text, prompt.past, app.size
        raise AssertionError(f"{problem} {where}")

    def missing(self) -> Iterator[str]:
        """Yield what is not on the screen, or lost."""
        app, main, desk = self.app, self.main, self.app.desk
        if app.has_keys_waiting or app.switcher.is_under_way or desk is None:
            yield "keys wait"
            return
        conversation = main.conversation
        entries = conversation.entries
        said, wanted = (
            marks(entries),
            marks(entries_of(desk.session.context.get_all(), main.words, {})),
        )
        if said != wanted:
            yield f"the conversation shows {said}, not {wanted}"
        noted = [one for entry in entries if isinstance(entry, Notice) for one in found(entry.text)]
        wanted = self.notes.get(main, [])
        if [one for one in noted if one in wanted] != wanted:
            yield f"noted is {noted}, not {wanted}"
        for words in conversation._widgets:
            if isinstance(words, ModelWords) and words.source != words.shown:
                yield f"not drawn: {words.shown}"
        kept = {one for desk in self.desks for one in self.kept(desk)} | {*self.cleared}
        unsent = main.turns.unsent if main.turns is not None else []
        unsent += [*(one.text for one in main.early), main.prompt.whole_text]
        if lost := {*self.sent} - kept - {*found("\n".join(unsent))}:
            yield f"lost: {lost}"
        for window in desk.session.windows.windows():
            if error := runtime_of(window).renders.latest().snapshot.error:
                yield f"{window.id}: {error}"

    def kept(self, desk: AppSession) -> list[str]:
        texts = [item.content for item in desk.session.context.get_all()]
        return found("\n".join([*texts, desk.session.draft]))


def found(text: str) -> list[str]:
    return MARK.findall(text)


def marks(entries: list[Entry]) -> list[str]:
    """Return the marks of what was said, in order."""
    said = [one.text for one in entries if isinstance(one, PersonMessage | ModelMessage)]
    return found("\n".join(said))


@pytest.fixture
def problems(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """Errors that the program survives count, and it cannot be quit."""
    found: list[str] = []

    def report(error: BaseException) -> None:
        found.append("".join(traceback.format_exception(error)))

    def stay(self: ContextUIApp, *_: Any, return_code: int = 0, message: Any = None) -> None:
        if return_code:
            found.append(str(message))

    failed = Guard.guarded_failed

    def fail(self: Guard, problem: BaseException) -> None:
        report(problem)
        failed(self, problem)

    monkeypatch.setattr("contextui.tui.app.write_report", report)
    monkeypatch.setattr(Guard, "guarded_failed", fail)
    monkeypatch.setattr(ContextUIApp, "exit", stay)
    monkeypatch.setattr(timing, "QUIET", 0.05)
    monkeypatch.setattr(guard, "DEAF", 0.01)
    monkeypatch.setenv("EDITOR", "true")
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("git", "sh", "bash", "echo", "ls", "cat", "env", "true", "sleep"):
        if path := shutil.which(name):
            (programs / name).symlink_to(path)
    monkeypatch.setenv("PATH", str(programs))  # whatever is typed into a shell does no harm
    return found


_STEPS = int(os.environ.get("CONTEXTUI_STEPS", "0"))


async def test_a_few_things_at_any_size(tmp_path: Path, problems: list[str]) -> None:
    await Run(0, tmp_path, problems).run(60)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(times(2, 20)))
async def test_anything_at_any_size(tmp_path: Path, problems: list[str], seed: int) -> None:
    seed = int(os.environ.get("CONTEXTUI_SEED", seed))
    await Run(seed, tmp_path, problems).run(_STEPS or times(300, 1_000))
