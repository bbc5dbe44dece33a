"""When a question opens: never in the way of what the person types, wherever they type it."""

import asyncio
import random
import string
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widgets import Input, TextArea

from contextui.agent.approval import Decision, Question
from contextui.agent.models.scripted import call
from contextui.tui.app import ContextUIApp
from contextui.tui.conversation.pane import Conversation
from contextui.tui.conversation.prompt import Prompt
from contextui.tui.desktop.form import FormScreen
from contextui.tui.desktop.frame import WindowFrame
from contextui.tui.dialogs import guard, timing
from contextui.tui.dialogs.approval import ApprovalScreen
from contextui.tui.dialogs.command import CommandScreen
from contextui.tui.dialogs.help import GoTo
from contextui.tui.dialogs.timing import Asker, WaitingLine
from contextui.windowing.finding.registry import discover
from contextui.windows.editor.widget import EditorBody
from contextui.words import Lang
from tests.thorough import times
from tests.tui.change import question
from tests.tui.desktop.own_widgets import Plain, window_with
from tests.tui.running import app_of, desk_in, desk_of, lines, running, shown, until
from tests.tui.sharing import SharedApp, sharing
from tests.tui.test_command_dialog import question as command_question

ASKED = question(["one"], ["two"], "src/shop/cart.py")
NOTICE = "◆ asks to write src/shop/cart.py   ^g a opens"


@pytest.fixture(autouse=True)
def no_time_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow machine is no quiet person: only `long_quiet` is."""
    monkeypatch.setattr(timing, "QUIET", 1e9)
    monkeypatch.setattr(timing, "_LOOK", 0.03)


@asynccontextmanager
async def app_in(
    folder: Path, size: tuple[int, int] = (120, 40), lang: Lang = "en"
) -> "AsyncIterator[Pilot[int]]":
    """The app with an editor and a list, and a model that wants to save a file."""
    work = folder / "work"
    work.mkdir()
    for name in ("notes.txt", "more.txt"):
        (work / name).write_text("some words\n")
    classes = [*discover().classes(), window_with(f"{Plain.__module__}:Plain")]
    saves = [
        call("create", name="editor", args={"path": "more.txt"}),
        call("action", window_id="editor_2", action_id="replace",
             params={"old": "some", "new": "SOME"}),
        call("action", window_id="editor_2", action_id="save", params={}),
    ]  # fmt: skip
    desk = desk_in(folder, saves, "Done.", lang=lang, windows=classes)
    desk.session.windows.open("editor", path="notes.txt")
    desk.session.windows.open("todo", items=["milk"])
    async with running(desk, size, lang) as pilot:
        await until(pilot, lambda: pilot.app.screen.query(EditorBody) or size[0] < 100)
        yield pilot


async def tidy(pilot: "Pilot[int]") -> None:
    app, windows = app_of(pilot), desk_of(pilot).session.windows
    for window in windows.windows()[2:]:
        windows.close(window.id)
    for _ in range(3):  # fields of panes and windows, the search in the history
        field = app.focused
        is_kept = isinstance(field, EditorBody) or field is app.main.prompt
        if app.main.prompt.is_searching or (isinstance(field, Input | TextArea) and not is_kept):
            await pilot.press("escape")
    app.main.prompt.clear()
    app.main.prompt.focus()
    await until(pilot, lambda: app.focused is app.main.prompt)
    app.last_input = time.monotonic()


shared = sharing(lambda temp: SharedApp(lambda: app_in(temp.mktemp("asking")), tidy))


@asynccontextmanager
async def asks(app: ContextUIApp, one: Question = ASKED) -> AsyncIterator["asyncio.Task[Decision]"]:
    """A question that the model has."""
    assert app.asker is not None
    task = asyncio.create_task(app.asker.ask(one))
    try:
        yield task
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def is_open(app: ContextUIApp) -> bool:
    return isinstance(app.screen, ApprovalScreen)


async def waiting(pilot: "Pilot[int]", app: ContextUIApp) -> None:
    """Wait until the line about the question is seen, and assert that the dialog is not."""
    assert app.asker is not None
    asker: Asker = app.asker
    await until(pilot, lambda: asker.is_waiting)
    await until(pilot, lambda: any("^g a" in one and "◆" in one for one in lines(pilot)))
    assert not is_open(app)


async def accepts_keys(pilot: "Pilot[int]", app: ContextUIApp) -> None:
    """Wait until the dialog is open, and let it take keys."""
    await until(pilot, lambda: is_open(app))
    screen = app.screen
    assert isinstance(screen, ApprovalScreen)
    await until(pilot, lambda: screen.guard.deaf_until < float("inf"))
    screen.guard.deaf_until = 0.0


def long_quiet(app: ContextUIApp) -> None:
    """As if nothing had been pressed for long."""
    app.last_input = float("-inf")


async def stays_closed(pilot: "Pilot[int]", app: ContextUIApp) -> None:
    """Wait until the asker has looked again, and assert that the dialog is not open."""
    looks: list[bool] = []
    is_busy = Asker._is_busy

    def looked(asker: Asker, prompt: Prompt) -> bool:
        looks.append(is_busy(asker, prompt))
        return looks[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Asker, "_is_busy", looked)
        await until(pilot, lambda: len(looks) > 2 or is_open(app))
    assert not is_open(app)


# --- where the person types ------------------------------------------------------------


async def in_prompt(pilot: "Pilot[int]", app: ContextUIApp) -> TextArea:
    app.main.prompt.focus()
    await until(pilot, lambda: app.focused is app.main.prompt)
    return app.main.prompt


async def in_editor(pilot: "Pilot[int]", app: ContextUIApp) -> TextArea:
    body = app.main.query_one(EditorBody)
    body.focus()
    await until(pilot, lambda: app.focused is body)
    return body


async def in_form(pilot: "Pilot[int]", app: ContextUIApp) -> TextArea:
    app.main.query(WindowFrame).first().runner.choose("save_as")
    await until(pilot, lambda: isinstance(app.screen, FormScreen))
    await until(pilot, lambda: isinstance(app.focused, TextArea))
    field = app.focused
    assert isinstance(field, TextArea)
    return field


Place = Callable[["Pilot[int]", ContextUIApp], Awaitable[Input | TextArea | None]]
PLACES: tuple[Place, ...] = (in_prompt, in_editor, in_form)


async def in_frame(pilot: "Pilot[int]", app: ContextUIApp) -> None:
    await pilot.press("ctrl+g", "2")
    await until(pilot, lambda: isinstance(app.focused, WindowFrame))


async def in_inspector(pilot: "Pilot[int]", app: ContextUIApp) -> None:
    await pilot.press("ctrl+g", "i")
    await until(pilot, lambda: app.main.navigation.present == "context")


async def in_own_widget(pilot: "Pilot[int]", app: ContextUIApp) -> None:
    """A widget of others that takes letters, and does not say so."""
    desk_of(pilot).session.windows.open("own")
    await until(pilot, lambda: app.main.query(Plain))
    app.main.query_one(Plain).focus()
    await until(pilot, lambda: isinstance(app.focused, Plain))


async def in_history(pilot: "Pilot[int]", app: ContextUIApp) -> None:
    """The text that the person writes is set aside for a search."""
    await pilot.press(*"half", "ctrl+r")
    await until(pilot, lambda: app.main.prompt.is_searching)
    assert not app.main.prompt.text


async def leave(pilot: "Pilot[int]", app: ContextUIApp) -> None:
    """Go back to the prompt, and leave it empty."""
    app.last_input = time.monotonic()
    await back(pilot, app)
    await tidy(pilot)


async def test_where_a_letter_is_meant_for_something_else_no_pause_opens_it(
    pilot: "Pilot[int]",
) -> None:
    """H01: `p` pins an item, `y` deletes a file, a widget takes whatever it likes."""
    app = app_of(pilot)
    async with asks(app) as task:
        await waiting(pilot, app)
        for place in (*PLACES, in_frame, in_inspector, in_own_widget, in_history):
            field = await place(pilot, app)
            focused = app.focused
            if field is not None:
                await pilot.press(*"my yes")
            long_quiet(app)  # and yet there is text in the field, or it takes letters
            await stays_closed(pilot, app)
            assert app.focused is focused, place
            if field is not None:
                text = field.value if isinstance(field, Input) else field.text
                assert "my yes" in text, place
            assert not task.done()
            await leave(pilot, app)
        await pilot.press("ctrl+g", "a")
        await until(pilot, lambda: is_open(app))


async def test_whatever_is_pressed_anywhere_counts_and_a_pause_opens_it(
    pilot: "Pilot[int]",
) -> None:
    app = app_of(pilot)
    for event in (
        events.Key("down", None),
        events.Paste(""),
        events.MouseDown(None, 3, 3, 0, 0, 1, False, False, False),
        events.MouseScrollDown(None, 3, 3, 0, 0, 0, False, False, False),
    ):
        long_quiet(app)
        app.post_message(event)
        await until(pilot, lambda: app.last_input > 0)
    app.main.query_one(Conversation).focus()  # the click was in a window
    async with asks(app):
        await stays_closed(pilot, app)
        long_quiet(app)
        await until(pilot, lambda: is_open(app))


async def test_one_that_opened_in_the_absence_of_the_person_leads_back_to_the_prompt(
    pilot: "Pilot[int]",
) -> None:
    """A terminal that loses the focus takes it from the prompt, and the dialog from its screen."""
    app = app_of(pilot)
    app.post_message(events.AppBlur())
    await until(pilot, lambda: app.focused is None)
    long_quiet(app)
    async with asks(app) as task:
        await until(pilot, lambda: is_open(app))
        app.post_message(events.AppFocus())
        await pilot.pause()
        await accepts_keys(pilot, app)
        await pilot.press("n")
        await until(pilot, task.done)
    await until(pilot, lambda: app.focused is app.main.prompt)


async def test_text_in_the_prompt_waits_wherever_the_focus_is(pilot: "Pilot[int]") -> None:
    app = app_of(pilot)
    await pilot.press(*"half", "ctrl+g", "i")
    async with asks(app):
        await waiting(pilot, app)
        long_quiet(app)
        await stays_closed(pilot, app)
        await pilot.press("ctrl+g")
        await until(pilot, lambda: shown(pilot, "a question   1–9 window"))
        await pilot.press("a")
        await until(pilot, lambda: is_open(app))
    await until(pilot, lambda: not is_open(app))
    assert app.main.prompt.text == "half"
    async with asks(app):
        await until(pilot, lambda: shown(pilot, NOTICE))
        await pilot.click("#prompt", offset=(6, 0))
        await until(pilot, lambda: is_open(app))


# --- the line that says so -------------------------------------------------------------


@pytest.mark.parametrize("size", [(80, 8)])
async def test_on_a_low_terminal_the_notice_leaves_the_prompt_alone(pilot: "Pilot[int]") -> None:
    app = app_of(pilot)
    await pilot.press(*"half")
    async with asks(app):
        await waiting(pilot, app)
        assert NOTICE in lines(pilot)[0]
        assert shown(pilot, "half")


async def test_over_another_dialog_it_opens_only_when_wanted(pilot: "Pilot[int]") -> None:
    app = app_of(pilot)
    await pilot.press("f1")
    async with asks(app):
        await waiting(pilot, app)
        long_quiet(app)
        await stays_closed(pilot, app)
        (line,) = app.screen.query(WaitingLine)
        await line.remove()  # with the screen that showed it
        await until(pilot, lambda: app.screen.query(WaitingLine))
        await pilot.pause()
        await pilot.click(WaitingLine)
        await until(pilot, lambda: is_open(app))
    await until(pilot, lambda: not is_open(app))
    async with asks(app, command_question("git status\nls")):
        await until(pilot, lambda: shown(pilot, "asks to run git status"))
        await pilot.press("ctrl+g")
        await until(pilot, lambda: isinstance(app.screen, GoTo))
        await pilot.press("a")
        await until(pilot, lambda: isinstance(app.screen, CommandScreen))


async def test_a_long_target_leaves_room_for_the_key(pilot: "Pilot[int]") -> None:
    target = "a/very/long/path/" * 9 + "cart\u202e.py"

    asker = app_of(pilot).asker
    assert asker is not None
    for room, says in ((76, "cart⟨U+202E⟩.py"), (56, "cart⟨U+202E⟩.py"), (36, "")):
        notice = asker.notice(question(["one"], ["two"], target), room)
        assert notice.plain.endswith(f"{says}   ^g a opens")
        assert notice.cell_length <= room


async def test_questions_come_one_after_the_other_each_deaf_at_first_and_go_with_the_turn(
    pilot: "Pilot[int]", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard, "DEAF", 60.0)

    app = app_of(pilot)
    long_quiet(app)
    async with asks(app) as first, asks(app, replace(ASKED, changed=True)) as second:
        await until(pilot, lambda: shown(pilot, "wants to write src/shop/cart.py"))
        assert not shown(pilot, "changed just now")
        await accepts_keys(pilot, app)
        await pilot.press("y")
        await until(pilot, first.done)
        long_quiet(app)
        await until(pilot, lambda: shown(pilot, "changed just now"))
        await pilot.press("y", "n", "escape")
        await pilot.pause(2 * guard.SETTLE)
        assert not second.done()
        await pilot.press("f1")
    await until(pilot, lambda: not is_open(app))  # the turn was stopped


async def test_a_call_says_that_it_waits(pilot: "Pilot[int]") -> None:
    app = app_of(pilot)
    await pilot.press(*"go", "enter", *"and")
    await until(pilot, lambda: shown(pilot, "waits for you"))
    status = app.main.prompt._status
    assert status is not None
    assert status._waits_since is not None
    status._waits_since -= 3_600
    status._began -= 3_600
    await pilot.press("ctrl+g", "a")
    await accepts_keys(pilot, app)
    await pilot.press("y")
    await until(pilot, lambda: shown(pilot, "Done."))
    assert not shown(pilot, "waits for you")
    assert status._seconds(time.monotonic()) < 3_000  # waiting for the person is no work
    assert app.main.prompt.text == "and"


# --- anything, at any moment -----------------------------------------------------------

_LETTERS = string.ascii_letters + string.digits + " .,;:!?()=+-*'yyyyssssnnrw"
_OTHERS = ("backspace", "left", "right", "up", "down", "home", "end", "space")


async def back(pilot: "Pilot[int]", app: ContextUIApp) -> None:
    """Close what is open above the main screen."""
    while app.screen is not app.main:
        top = app.screen
        if isinstance(top, FormScreen):
            top.dismiss(None)
        elif not isinstance(top, ApprovalScreen):
            app.pop_screen()
        await until(pilot, lambda top=top: app.screen is not top)  # type: ignore[misc]


async def fuzz(pilot: "Pilot[int]", app: ContextUIApp, keys: int) -> int:
    """Type at random while questions come and go; how many of them were answered by that."""
    rng = random.Random(1)
    answered = pressed = 0
    while pressed < keys:
        place = rng.choice((*PLACES, None))
        await back(pilot, app)
        if place is None:  # where there is no field
            app.main.prompt.clear()
            app.main.query_one(Conversation).focus()
            await pilot.pause()
        else:
            await place(pilot, app)
        count = rng.randint(20, 40 + keys // 100)
        comes = rng.randrange(count)
        tasks = AsyncExitStack()
        asked: list[asyncio.Task[Decision]] = []
        async with tasks:
            for number in range(count):
                if number == comes:
                    asked.append(await tasks.enter_async_context(asks(app)))
                key = rng.choice(_OTHERS) if rng.random() < 0.15 else rng.choice(_LETTERS)
                app.post_message(events.Key(key, key if len(key) == 1 else None))
                pressed += 1
                if rng.random() < 0.1:
                    await pilot.pause(rng.choice((0.0, 0.02, 0.15)))
                elif rng.random() < 0.5:
                    await asyncio.sleep(0)
            await pilot.pause()
            answered += sum(one.done() for one in asked)
        await pilot.pause()
    return answered


@pytest.fixture
def short_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """A quiet moment comes often; a slow machine types no slower than the dialog is deaf."""
    monkeypatch.setattr(timing, "QUIET", 0.1)
    monkeypatch.setattr(guard, "DEAF", 30.0)


@pytest.mark.usefixtures("short_quiet")
async def test_no_key_typed_for_something_else_answers(pilot: "Pilot[int]") -> None:
    assert await fuzz(pilot, app_of(pilot), times(100, 20_000)) == 0
