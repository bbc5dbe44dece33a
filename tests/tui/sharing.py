"""One app that several tests use, one after another: to start it takes longer than most of them."""

import asyncio
import contextvars
import shutil
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Literal

import pytest
from textual.pilot import Pilot

from contextui.agent.models.scripted import ScriptedModel, Step
from contextui.context.item import ContextItem
from contextui.events import TurnFinished
from contextui.tui.app import ContextUIApp
from contextui.tui.app_session import AppSession
from contextui.tui.conversation.prompt import InputHistory, Pastes
from contextui.tui.desktop.frame import WindowFrame
from contextui.tui.header import Panes
from tests.tui.running import app_of, desk_in, running, until

Start = Callable[[], AbstractAsyncContextManager["Pilot[int]"]]
Act = Callable[["Pilot[int]"], Awaitable[None]]


class SharedApp:
    """Starts an app when it is needed first, and leaves it to the next test as it was.

    A test that fails leaves it to nobody: the next one has a new app.

    Args:
        start: Starts the app.
        tidy: Takes back what a test did to it.
    """

    def __init__(self, start: Start, tidy: Act) -> None:
        self._start, self._tidy = start, tidy
        self._runner = asyncio.Runner()
        self._context = contextvars.copy_context()  # in which the app is the active one
        self._app: AbstractAsyncContextManager[Pilot[int]] | None = None
        self._pilot: Pilot[int] | None = None

    def run(self, act: Act, size: tuple[int, int] = (120, 40)) -> None:
        """Do something in the app, on a terminal of this size."""
        try:
            self._runner.run(self._run(act, size), context=self._context)
        except BaseException:
            self._runner.run(self._end(), context=self._context)
            raise

    def close(self) -> None:
        self._runner.run(self._end(), context=self._context)
        self._runner.close()

    async def _run(self, act: Act, size: tuple[int, int]) -> None:
        if self._pilot is None:
            self._app = self._start()
            self._pilot = await self._app.__aenter__()
        pilot = self._pilot
        if pilot.app.size != size:
            await pilot.resize_terminal(*size)
            await until(pilot, lambda: pilot.app.screen._compositor.size == size)
        await act(pilot)
        while len(pilot.app.screen_stack) > 1:  # what was left open over the main screen
            await pilot.app.pop_screen()
        if isinstance(pilot.app, ContextUIApp) and pilot.app.main.has_class("-zoom"):
            pilot.app.main.action_zoom()
        await self._tidy(pilot)

    async def _end(self) -> None:
        app, self._app, self._pilot = self._app, None, None
        if app is not None:
            await app.__aexit__(None, None, None)


def sharing(
    make: Callable[[pytest.TempPathFactory], SharedApp],
    scope: Literal["module", "session"] = "module",
) -> Any:
    """A fixture: an app for all tests of a module."""

    @pytest.fixture(scope=scope)
    def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedApp]:
        made = make(tmp_path_factory)
        yield made
        made.close()

    return app


class SharedChat(SharedApp):
    """An app and a session that several tests talk in, each with answers of its own.

    Args:
        folder: Holds the session; `work` in it is the workspace.
        inspector: Whether the inspector is shown; it shows the words of earlier tests.
        given: See `desk_in`.
    """

    def __init__(self, folder: Path, *, inspector: bool = False, **given: Any) -> None:
        super().__init__(self._open, self._clear)
        self._folder, self._given, self._number = folder, given, 0
        self._inspector = inspector
        self._desk: AppSession | None = None
        self._first = 0  # item of the present test

    @property
    def desk(self) -> AppSession:
        assert self._desk is not None
        return self._desk

    @property
    def work(self) -> Path:
        return Path(self.desk.session.cwd)

    @property
    def said(self) -> list[ContextItem]:
        """The items that came since the test began."""
        return list(self.desk.session.context.get_all())[self._first :]

    def run(self, act: Act, size: tuple[int, int] = (120, 40)) -> None:
        """Do something in the app; what was said before does not count."""

        async def begin(pilot: "Pilot[int]") -> None:
            self.answer()
            self._first = len(self.desk.session.context.get_all())
            main = app_of(pilot).main
            main.set_class(not self._inspector, "-no-inspector")
            main.query_one(Panes).show("chat")
            main.sizes.fit()
            await act(pilot)

        super().run(begin, size)

    def answer(self, *steps: Step, model: ScriptedModel | None = None) -> None:
        """Let the model answer these steps."""
        self.desk.controller.model = model or ScriptedModel(*steps)

    def _open(self) -> AbstractAsyncContextManager["Pilot[int]"]:
        self._number += 1  # an app after a test that failed has a folder of its own
        folder = self._folder / str(self._number)
        folder.mkdir()
        self._desk = desk_in(folder, **self._given)
        return running(self._desk)

    async def _clear(self, pilot: "Pilot[int]") -> None:
        app, desk = app_of(pilot), self.desk
        main, prompt, conversation = app.main, app.main.prompt, app.main.conversation
        if main.turns is not None and main.turns.is_running:
            main.turns.waiting.clear()
            main.turns.stop()
            await until(pilot, lambda: not desk.controller.is_running)
        for window in desk.session.windows.windows():
            await asyncio.to_thread(desk.session.windows.close, window.id)
        # The next window may have the same id.
        await until(pilot, lambda: not any(one.display for one in main.query(WindowFrame)))
        desk.session.windows._open_windows.numbers.clear()
        main.sizes.drop(is_reset=True)
        for path in self.work.iterdir():
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        prompt.end_search()
        prompt.clear()
        prompt._history, prompt._pastes = InputHistory(), Pastes()
        if main.turns is not None:
            main.turns.waiting.clear()
            main.turns.last = None
        main.handle(TurnFinished("done"))
        conversation.before.clear()
        conversation.after.clear()
        await conversation.remove_children(conversation._widgets)
        conversation.offer_earlier()
        conversation.anchor()
        desk.controller.tools.gate.mode = "ask"
        app.clear_notifications()
        app._clipboard = ""
        prompt.focus()
        await pilot.hover(offset=(0, 0))  # the mouse is nowhere
