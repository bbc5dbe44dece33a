"""The real app over a real session, driven by a pilot."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from functools import cache
from importlib.metadata import EntryPoints, entry_points
from pathlib import Path
from typing import Any, TypeVar

from textual._context import visible_screen_stack
from textual.app import ScreenStackError
from textual.pilot import Pilot, WaitForScreenTimeout
from textual.screen import Screen
from textual.widget import Widget

from contextui.agent.approval import ApprovalGate
from contextui.agent.controller import InteractionController
from contextui.agent.models.scripted import ScriptedModel, Step
from contextui.model import Model
from contextui.session.session import SessionOptions
from contextui.session.store import SessionStore
from contextui.tui.app import ContextUIApp
from contextui.tui.app_session import AppSession
from contextui.tui.conversation.entries import AsideLine, ModelWords
from contextui.tui.conversation.prompt import Prompt
from contextui.windowing.finding.registry import GROUP, discover
from contextui.windowing.window import Clock, Window, utc_now
from contextui.words import Lang
from tests.agent.talking import options
from tests.patience import quiet

S = TypeVar("S", bound=Screen[Any])
SIZES = [(80, 24), (120, 40), (200, 60)]
_PATIENCE = 1_200  # pauses that a condition is waited for


@cache
def _installed() -> EntryPoints:
    """The windows of installed packages: to look for them takes a tenth of an app's start."""
    return entry_points(group=GROUP)


def desk_in(
    folder: Path,
    *steps: Step,
    model: Model | None = None,
    windows: Iterable[type[Window]] | None = None,
    lang: Lang = "en",
    session_id: str | None = None,
    clock: Clock = utc_now,
    max_windows: int = 100,
    **given: Any,
) -> AppSession:
    """A session in a folder, with a scripted model, and the windows that are installed."""
    registry = discover(packages=_installed())
    classes = list(windows) if windows is not None else registry.classes()
    home, work = folder / "home", folder / "work"
    work.mkdir(exist_ok=True)
    settings = SessionOptions(classes=classes, lang=lang, clock=clock, max_windows=max_windows)
    store = SessionStore(home, settings)
    session = store.open(session_id) if session_id else store.create(work)
    given.setdefault("options", options())
    given.setdefault("approval", ApprovalGate("ask"))
    answering = model or ScriptedModel(*steps)
    controller = InteractionController(model=answering, context=session.context, **given)
    controller.install_prompt()
    registry.load_all()
    return AppSession(session, controller, registry)


@asynccontextmanager
async def running(
    desk: AppSession | Callable[[], AppSession],
    size: tuple[int, int] = (120, 40),
    lang: Lang = "en",
    **given: Any,
) -> AsyncIterator["Pilot[int]"]:
    """The app on a terminal of this size, once its session is open."""
    opening = desk if callable(desk) else lambda: desk
    app = ContextUIApp(opening, lang=lang, **given)
    async with app.run_test(size=size, notifications=True) as pilot:
        await until(pilot, lambda: app.desk is not None)
        await pilot.pause()
        try:
            yield pilot
        finally:
            if app.desk is not None:
                app.desk.close()


async def _settle(pilot: "Pilot[int]") -> None:
    """Let the widgets do what they have begun: a test looks at more than what it waited for."""
    with suppress(WaitForScreenTimeout):
        await pilot._wait_for_screen(1.0)
    await quiet()  # that has ended early if the process was held up
    with suppress(ScreenStackError):  # the app may be about to end
        pilot.app.screen._on_timer_update()


async def drag(pilot: "Pilot[Any]", widget: Widget, *ends: tuple[int, int]) -> None:
    """Drag the mouse from one place of a widget to another."""
    await pilot.mouse_down(widget, offset=ends[0])
    await pilot.mouse_up(widget, offset=ends[1])
    await pilot.pause()


async def until(pilot: "Pilot[int]", condition: Callable[[], object]) -> None:
    """Wait until it holds, but not for ever."""
    for tries in range(_PATIENCE):
        began = time.thread_time()
        if condition():
            await _settle(pilot)
            return
        # To look at the screen takes time: to do it all the time would hold it up.
        looked = time.thread_time() - began
        await asyncio.sleep(max(0.01 if tries < 3 else 0.03, 4 * looked))
    raise AssertionError("\n".join(["It never came to hold. The screen:", *lines(pilot)]))


async def say(pilot: "Pilot[int]", words: str) -> None:
    """Say something to the model, and wait until the turn has ended and is drawn."""
    app = app_of(pilot)
    app.main.send(words)
    talk = app.main.turns
    assert talk is not None
    before = talk.last
    await until(pilot, lambda: talk.last is not before and not talk.is_running)
    await until(pilot, lambda: not _is_drawing(app))
    await pilot.pause(0.06)  # changes of windows are drawn in batches too


def _is_drawing(app: ContextUIApp) -> bool:
    """Whether streamed text still waits to be drawn."""
    return any(each._will_draw for each in app.main.query(ModelWords))


def app_of(pilot: "Pilot[int]") -> ContextUIApp:
    assert isinstance(pilot.app, ContextUIApp)
    return pilot.app


def desk_of(pilot: "Pilot[int]") -> AppSession:
    """What the app that is driven works on."""
    desk = app_of(pilot).desk
    assert desk is not None
    return desk


def prompt(pilot: "Pilot[int]") -> Prompt:
    return app_of(pilot).main.prompt


async def on_screen(pilot: "Pilot[Any]", kind: type[S]) -> S:
    await until(pilot, lambda: isinstance(pilot.app.screen, kind))
    screen = pilot.app.screen
    assert isinstance(screen, kind)
    return screen


def noted(pilot: "Pilot[int]", text: str) -> bool:
    """Whether the conversation has a note with this text; that is cheaper than to look."""
    return any(text in str(one.content) for one in app_of(pilot).main.query(AsideLine))


def lines(pilot: "Pilot[int]") -> list[str]:
    """What stands on the screen, line by line."""
    visible_screen_stack.set(pilot.app._background_screens)  # what is seen through a dialog
    strips = pilot.app.screen._compositor.render_strips()
    return ["".join(segment.text for segment in strip).rstrip() for strip in strips]


def shown(pilot: "Pilot[int]", text: str) -> bool:
    """Whether a text stands on the screen, in one line."""
    return any(text in line for line in lines(pilot))
