"""Random keys, clicks, resizes, turns and sheets in the whole app: nothing raises or gets lost.

A run that fails prints its seed and its last steps. `CONTEXTUI_SEED=7 CONTEXTUI_STEPS=2000` runs
that seed, for so many steps; with `-rP` it prints what was driven.
"""

import asyncio
import itertools
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
from textual.geometry import Region, Size
from textual.keys import _character_to_key
from textual.screen import Screen
from textual.widget import Widget

from contextui.agent.models.scripted import ScriptedModel, Step, call
from contextui.config.sources import load_settings
from contextui.context.item import ContextItem, ItemType
from contextui.events import Notice
from contextui.model import Answer, ModelError, ModelEvent, ModelRequest
from contextui.session.code.store import CodeStore
from contextui.session.session import SessionOptions
from contextui.session.store import SessionStore
from contextui.tui.app import ContextUIApp
from contextui.tui.app_session import AppSession
from contextui.tui.code import CodeFence
from contextui.tui.conversation import entries
from contextui.tui.conversation.prompt import Prompt
from contextui.tui.desktop.widgets import Guard
from contextui.tui.dialogs import guard, timing
from contextui.tui.dialogs.command import screen_for
from contextui.tui.dialogs.unsaved import QuitScreen
from contextui.tui.dialogs.whole_text import WholeText
from contextui.tui.inspector.tabs import PAGES
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
NO_ROOM = [(0, 0), (1, 1), (2, 2), (0, 3), (3, 0), (1, 2), (200, 1), (2, 200), (200, 200)]
KINDS = ("todo", "editor", "monitor", "notebook", "files", "code", "git", "terminal", "own",
         "form", "server", "note")  # fmt: skip
OFTEN = ("enter", "escape", "up", "down", "tab", "ctrl+g", "ctrl+p", "z", "a", "]")
ARROWS = ("up", "down", "left", "right", "home", "end")
KEYS = [
    *string.ascii_letters, *string.digits, *string.punctuation, *"ｄ。、 把é", *OFTEN * 7, *ARROWS,
    *("pageup", "pagedown", "backspace", "delete", "f1", "f2", "f3", "f5", "f12", "shift+tab"),
    *(f"ctrl+{one}" for one in (*string.ascii_lowercase, *ARROWS, "space") if one != "q"),
    *(f"shift+{one}" for one in (*ARROWS, "enter")),
]  # fmt: skip
PASTES = ["1\n2\r\n3", "x" * 300, "把牛奶放进待办", "line\n" * 150, "\x1b[2J\x1b]0;t\x07", ""]
ARGUED = ("find word", "open editor path=a.py line=30", "login openai", "rewind 1", "nothing")
ACTS: list[tuple[str, str, dict[str, Any]]] = [
    ("todo_1", "add", {"texts": ["milk"]}),
    ("editor_1", "insert", {"before_line": 1, "text": "new"}),
    ("editor_1", "save", {}),
    ("terminal_1", "run", {"command": "echo 1", "seconds": 1}),
    ("notebook_1", "write", {"text": "A note."}),
    ("git_1", "stage", {"paths": ["a.py"]}),
    ("none_1", "nothing", {}),
]
ANSWER = (
    "# Title\n\nText with `code` and **more**, 把牛奶放进待办.\n\n```python\nprint(1)\n```\n\n"
    "| a | b |\n|---|---|\n| 1 | 2 |\n\n1. one\n2. two\n   - [x] three\n\n<code_ref id='sum'/>\n"
)


class Restless(ScriptedModel):
    """A model that answers at random: at once or slowly, with calls, and with errors."""

    def __init__(self, seed: int) -> None:
        super().__init__(name="restless")
        self._dice, self._steps = random.Random(seed), map(self._step, itertools.count(1))

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        pauses = self._dice.choice([0, 0, 1, 3, 300])
        async for event in super().stream(request):
            for _ in range(0 if isinstance(event, Answer) else pauses):
                await asyncio.sleep(0)
            yield event

    def _step(self, count: int) -> Step:
        text = f"a{count}q"
        steps: list[Step] = [
            text,
            f"{text} {ANSWER}",
            f"{text} " + "word " * 400,
            [{"type": "thinking", "thinking": "So. " * 40, "signature": ""}, text],
            [text, call("create", name=self._dice.choice(KINDS))],
            [text, *(self._call() for _ in range(self._dice.randint(1, 4)))],
            self._call(),
            ModelError(self._dice.choice(["bad_request", "overloaded"]), "No {name}.", name=text),
        ]
        return self._dice.choice(steps)

    def _call(self) -> Any:
        window, act, params = self._dice.choice(ACTS)
        acting = call("action", window_id=window, action_id=act, params=params)
        others = [call("read_file", path="a.py"), call("nothing", x=[1])]
        return self._dice.choice([*[acting] * 4, *others])


class Run:
    """One app that is driven at random; its seed decides what is done, but not when."""

    def __init__(self, seed: int, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.dice, self.folder, self.model = random.Random(seed), folder, Restless(seed)
        self.count = self.inputs = 0
        self.sizes, self.seen = set[tuple[int, int]](), set[type[Screen[Any]]]()
        self.done, self.sent, self.commands = list[str](), list[str](), list[str]()
        self.problems = list[str]()  # also those that the program survives
        self.kept = list[str]()  # what it put back into the prompt: the keys may edit that
        self.desks: list[AppSession] = []
        self.notes: dict[MainScreen, list[str]] = {}
        self.classes = [
            *discover().classes(), NoteWindow, FormWindow,
            window_with(f"{WithChildren.__module__}:WithChildren"),
            server_window(plain(), "server", folder / "home"),
        ]  # fmt: skip
        self.steps: dict[Callable[[], Awaitable[object] | None], int] = {
            self.press: 55, self.point: 15, self.paste: 4, self.resize: 12, self.send: 8,
            self.note: 4, self.shell: 3, self.command: 16,
        }  # fmt: skip
        self._watch(patch)

    def _watch(self, patch: pytest.MonkeyPatch) -> None:
        """Note errors and what is put back, do not quit, and find no program that does harm."""
        load = Prompt.load_text

        def report(error: BaseException) -> None:
            self.problems.append("".join(traceback.format_exception(error)))

        def stay(*_: Any, return_code: int = 0, message: object = None) -> None:
            self.problems += [str(message)] if return_code else []

        def put_back(prompt: Prompt, text: str) -> None:
            self.kept.append(text)
            load(prompt, text)

        patch.setattr("contextui.tui.app.write_report", report)
        patch.setattr(Guard, "guarded_failed", lambda _, problem: report(problem))
        patch.setattr(ContextUIApp, "exit", stay)
        patch.setattr(Prompt, "load_text", put_back)
        patch.setattr(timing, "QUIET", 0.05)
        patch.setattr(guard, "DEAF", 0.01)
        patch.setenv("EDITOR", "true")
        patch.setenv("PATH", str(self.folder / "bin"))
        (self.folder / "bin").mkdir()
        for name in ("git", "sh", "bash", "echo", "ls", "cat", "env", "true", "sleep"):
            if path := shutil.which(name, path=os.defpath):
                (self.folder / "bin" / name).symlink_to(path)

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
        session = self.open().session
        for number in range(12):
            session.context.add(ContextItem(ItemType.USER, f"question {number} " * 60))
            session.context.add(ContextItem(ItemType.ASSISTANT, "Yes."))
        assert session.windows.workspace is not None
        CodeStore.of(session.windows.workspace).save("sum", "python", "print(1)")
        for kind in KINDS:
            session.windows.open(kind, **({"path": "a.py"} if kind == "editor" else {}))
        return self.desks[0]

    async def run(self, steps: int) -> None:
        async with running(self.first(), reopen=self.open) as self.pilot:
            self.app = app_of(self.pilot)
            for self.count in range(steps):
                step = self.dice.choices([*self.steps], [*self.steps.values()])[0]
                self.done.append(step.__name__)
                if (waits := step()) is not None:
                    await waits
                await quiet()
                screen = self.app.screen
                self.log(f"-> {screen}, {self.app.focused}, {self.main.prompt.text!r}")
                if type(screen) not in self.seen and screen is not self.main:
                    await self.squeeze()
                self.seen.add(type(screen))
                if self.count % 2:
                    self.draw()
                if self.count % 20 == 19 or self.count == steps - 1:
                    await self.check()
                assert not self.problems
            await self.back_to_main()
            for page in PAGES:  # what each shows
                self.main.inspector._turn_to(page)
            await self.squeeze()
            assert not self.problems
            self.app.switcher.close_rest()

    # --- steps -------------------------------------------------------------------------

    @property
    def main(self) -> MainScreen:
        return self.app.main

    def log(self, what: object) -> None:
        self.done[-1] += f" {what}"

    def post(self, event: events.Event) -> None:
        self.inputs += 1
        self.app.post_message(event)

    def key(self, *keys: str) -> None:
        self.log(keys)
        for one in keys:
            name = _character_to_key(one) if len(one) == 1 else one
            self.post(events.Key(name, one if len(one) == 1 else None))

    def press(self) -> None:
        """Press anything, write, leave what is open, answer a question or go to the inspector."""
        some = self.dice.choices(KEYS, k=self.dice.randint(1, 20))
        words = self.dice.choices("abcxyz123 @/!.(", k=self.dice.randint(1, 40))
        answer = ["ctrl+g", "a", self.dice.choice("ynse"), "enter"]
        page = ["escape", "escape", "ctrl+g", "i", *"]" * self.dice.randint(0, 3), "down", "enter"]
        ways = [some, words, ["escape", "escape"], answer, page]
        self.key(*self.dice.choices(ways, [30, 8, 10, 3, 4])[0])

    def point(self) -> None:
        """Click, drag or turn the wheel; the button may be let go outside."""
        down, up, move = events.MouseDown, events.MouseUp, events.MouseMove
        wheel: list[type[events.MouseEvent]] = [events.MouseScrollDown, events.MouseScrollUp]
        ways = [[move, down, up], [self.dice.choice(wheel)], [down, move, move, up], [down, move]]
        kinds = self.dice.choices(ways, [80, 30, 36, 4])[0] * self.dice.randint(1, 3)
        is_drag, at = kinds[0] is events.MouseDown, self.app.size
        for number, kind in enumerate(kinds):
            if is_drag or not number:
                at = Size(*(self.dice.randrange(max(side, 1)) for side in self.app.size))
                self.log(tuple(at))
            button = 0 if kind is events.MouseMove and not is_drag else 1
            self.post(kind(None, *at, 0, 0, button, False, False, False, *at))

    def paste(self) -> None:
        """Paste something, or leave the terminal for another program, or come back."""
        paste = events.Paste(self.dice.choice(PASTES))
        self.post(self.dice.choices([paste, events.AppBlur(), events.AppFocus()], [6, 1, 1])[0])

    def resize(self) -> None:
        def side() -> int:
            return self.dice.choice([self.dice.randint(0, 3), self.dice.randint(0, 200)])

        assert self.app._driver is not None
        for _ in range(self.dice.randint(1, 3)):
            size = Size(*self.dice.choice([*USUAL, *[(side(), side()) for _ in USUAL]]))
            self.log(tuple(size))
            self.sizes.add(size)
            self.app._driver._size = size  # as a pilot does
            self.post(events.Resize(size, size))

    async def send(self) -> None:
        """Go back to the prompt, type a message and send it."""
        await self.back_to_main()
        self.main.writing.leave_commands()
        self.kept += found(self.main.prompt.whole_text)
        self.main.prompt.clear()
        self.sent.append(f"u{self.count}q")
        self.key("ctrl+g", "p", *self.sent[-1], "enter")

    async def back_to_main(self) -> None:
        """Leave what is open, once what was begun and typed before has come."""
        for tries in range(200):
            await quiet()
            if self.app.screen is not self.main:
                self.key("escape")
                if tries > 5:
                    await self.app.pop_screen()
            elif not self.app.has_keys_waiting and not any(
                one.node is self.app and not one.is_finished for one in self.app.workers
            ):  # a command may open a sheet later
                break
            await asyncio.sleep(0.01)

    def note(self) -> None:
        self.notes.setdefault(self.main, []).append(f"n{self.count}q")
        self.main.note(self.notes[self.main][-1], is_error=self.dice.random() < 0.5)

    def shell(self) -> None:
        text = f"echo o{self.count}q"
        self.main.submit(Prompt.Submitted(text, is_shell=True, visible=f"!{text}"))

    async def command(self) -> None:
        """Give a command or open a sheet, but not under the fingers: the keys come first."""
        while self.app.has_keys_waiting:
            await asyncio.sleep(0.01)
        words, session = self.app.words, self.desks[-1].session
        sheets: dict[str, Callable[[], Screen[Any]]] = {
            "change": lambda: screen_for(words, question(["old"], ["new"])),
            "typed": lambda: screen_for(words, command_question()),
            "text": lambda: WholeText(words, "title", ANSWER * 20),
            "unsaved": lambda: QuitScreen(words, session),
        }
        known = {one.name: one for one in self.main.writing.commands.all}
        if not self.commands:  # each of them comes, in any order
            self.commands = [*known, *sheets, *ARGUED, *["open", "close"] * 5, "palette"]
            self.dice.shuffle(self.commands)
        text = self.commands.pop() if len(session.windows.windows()) < 16 else "close"
        if text in known and (choices := [one.name for one in known[text].choices()]):
            text += self.dice.choice(["", *(f" {one}" for one in choices)])
        self.log(text)
        if text == "palette":
            self.app.action_command_palette()
        elif text in sheets:
            self.app.push_screen(sheets[text]())
        else:
            self.main.run_command(f"/{text}")

    # --- checks ------------------------------------------------------------------------

    def draw(self) -> None:
        """Draw the screen: each row is as wide as the terminal."""
        visible_screen_stack.set(self.app._background_screens)
        width, height = self.app.screen._compositor.size
        strips = self.app.screen._compositor.render_strips()
        assert len(strips) == height
        assert {sum(part.cell_length for part in one) for one in strips} <= {width}

    async def squeeze(self) -> None:
        """Draw all widgets of the screen with hardly any room, those within others first."""
        own = [one for one in self.app.screen.query("*") if is_own(one)]
        inner = [one for one in own if not any(map(is_own, one.query("*")))]
        for widgets in (inner, [one for one in own if one not in inner]):
            for width, height in NO_ROOM:
                for one in widgets:
                    one.display = True
                    one.styles.min_width = one.styles.min_height = 0
                    one.styles.max_width, one.styles.max_height = width, height
                await self.pilot.pause()
                for one in self.app.screen.query("*"):
                    one.render_lines(Region(0, 0, *one.outer_size))
            for one in widgets:
                for rule in ("max_width", "max_height"):
                    one.styles.inline.clear_rule(rule)

    async def check(self) -> None:
        """Wait until the screen follows, then look for what was said."""
        for _ in range(400):
            await quiet()
            if not (problem := next(self.missing(), "")):
                return
            if self.app.switcher.is_under_way:
                self.key("y")
            await asyncio.sleep(0.01)
        raise AssertionError(problem)

    def missing(self) -> Iterator[str]:
        """Yield what is not on the screen, or lost."""
        main, desk, shown = self.main, self.app.desk, self.main.conversation.entries
        if self.app.has_keys_waiting or self.app.switcher.is_under_way or desk is None:
            yield "keys wait"
            return
        told = entries.entries_of(desk.session.context.get_all(), main.words, {})
        if (said := marks(shown)) != (wanted := marks(told)):
            yield f"the conversation shows {said}, not {wanted}"
        wanted = self.notes.get(main, [])
        noted = [one for one in marks(shown, Notice) if one in wanted]
        if noted != wanted:
            yield f"noted is {noted}, not {wanted}"
        for words in main.conversation._widgets:
            if isinstance(words, entries.ModelWords) and words.source != words.shown:
                yield f"not drawn: {words.shown}"
        unsent = main.turns.unsent if main.turns is not None else []
        texts = [*unsent, *(one.text for one in main.early), main.prompt.whole_text, *self.kept]
        for one in self.desks:
            texts += [*(item.content for item in one.session.context.get_all()), one.session.draft]
        if lost := {*self.sent} - {*found("\n".join(texts))}:
            yield f"lost: {lost}"
        for window in desk.session.windows.windows():
            if error := runtime_of(window).renders.latest().snapshot.error:
                yield f"{window.id}: {error}"


def is_own(widget: Widget) -> bool:
    """Whether a widget is the program's: not of Textual, nor a block of Markdown."""
    classes = {one for one in type(widget).__mro__ if one.__module__.startswith("contextui.")}
    return bool(classes - {Guard, CodeFence})


def found(text: str) -> list[str]:
    return re.findall(r"[a-z]\d+q", text)


def marks(of: list[entries.Entry], *kinds: type[Any]) -> list[str]:
    """Return the marks of what was said, or of entries of these kinds, in order."""
    kinds = kinds or (entries.PersonMessage, entries.ModelMessage)
    return found("\n".join(one.text for one in of if isinstance(one, kinds)))


LONG = int(os.environ.get("CONTEXTUI_STEPS", times(100, 1_000)))
SEEDS = [int(one) for one in os.environ.get("CONTEXTUI_SEED", "").split()] or range(times(2, 20))


@pytest.mark.parametrize(
    ("seed", "steps"),
    [(0, 30), *(pytest.param(seed, LONG, marks=pytest.mark.long) for seed in SEEDS)],
)
async def test_anything_at_any_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, steps: int
) -> None:
    """X01: what is sent, said or noted is shown. X02: a list with no room for text is drawn."""
    tried = Run(seed, tmp_path, monkeypatch)
    try:
        await tried.run(steps)
    except BaseException as error:
        raise AssertionError("\n".join([*tried.problems, "", *tried.done[-40:]])) from error
    finally:
        seen = ", ".join(sorted(one.__name__ for one in tried.seen))
        done = f"{tried.count + 1} steps, {tried.inputs} inputs, {len(tried.sizes)} sizes"
        print(f"seed {seed}: {done}, {seen}")
