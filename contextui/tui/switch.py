"""Switching the session of a running app: to a new one, an earlier one, or a fork."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from contextui.errors import ContextUIError
from contextui.tui.dialogs.question import QuestionScreen
from contextui.tui.dialogs.unsaved import QuitScreen
from contextui.windowing.error_text import reason_of
from contextui.words import Text, Words

if TYPE_CHECKING:
    from textual.app import App
    from textual.worker import Worker

    from contextui.tui.app_session import AppSession
    from contextui.tui.main import MainScreen

_LOOK = 0.02  # seconds between two checks whether a turn has ended
_PATIENCE = 5.0  # seconds for a stopped turn to end


@dataclass(frozen=True, slots=True)
class Target:
    """The session to switch to."""

    folder: Path
    session_id: str | None = None
    fork: bool = False
    turn: int | None = None
    model: str = ""  # which answers in the present session: a new one keeps it


Reopen: TypeAlias = Callable[[Target], "AppSession"]
"""Opens another session, on its own thread; raises a `ContextUIError` if it cannot."""


@dataclass(slots=True)
class Rewound:
    """A rewind that can be undone."""

    parent: str  # the session that was left
    fork: str  # the session that continues
    rewind: str  # id of the writes; empty if no file was restored
    turn: int
    is_last: bool = True  # whether nothing happened in the fork since


class Switcher:
    """Replaces the session of a running app by another one.

    The other session is opened first, so that a failure leaves everything as it was. Then a main
    screen of its own replaces the present one: no widget, timer, queue, question or grant of the
    old session reaches the new one. Last, the old session is closed, as on quitting.
    """

    def __init__(
        self,
        app: "App[int]",
        words: Words,
        main: "MainScreen",
        show: "Callable[[AppSession], Awaitable[MainScreen]]",
        reopen: Reopen | None,
    ) -> None:
        self._app, self._words, self._show, self._reopen = app, words, show, reopen
        self.main = main
        self.desk: AppSession | None = None
        self.rewound: Rewound | None = None
        self.is_under_way = False
        self._unclosed: list[AppSession] = []

    def switch(
        self,
        session_id: str | None,
        note: Text | None = None,
        *,
        fork: bool = False,
        turn: int | None = None,
    ) -> "Worker[None]":
        """Switch to another session: an earlier one by its id, or a new one with None.

        A running turn is stopped if the person agrees; windows, jobs and unsent text of the
        present session are kept as on quitting. If the other session cannot be opened, the present
        one stays, with one line that says why.
        """
        if self._reopen is None or self.desk is None:
            raise ContextUIError("Only this session can be opened here.")
        if self.is_under_way:
            raise ContextUIError("Another session is being opened.")
        self.is_under_way = True
        session = self.desk.session
        target = Target(Path(session.cwd), session_id, fork, turn, session.model)
        return self._app.run_worker(self._run(target, note), name="switch", group="switch")

    def is_closing(self, session_id: str) -> bool:
        return any(desk.session.id == session_id for desk in self._unclosed)

    def close_rest(self) -> None:
        """Close the earlier sessions that are not closed yet; the app has ended."""
        while self._unclosed:
            self._unclosed.pop().close()

    async def _run(self, target: Target, note: Text | None) -> None:
        try:
            if await self._may_leave():
                await self._switch(target, note)
        finally:
            self.is_under_way = False

    async def _may_leave(self) -> bool:
        """Return whether the present session may be left: its turn stopped, all of it saved."""
        app, words, desk = self._app, self._words, self.desk
        assert desk is not None
        if desk.controller.is_running:
            yes = words("Stop it and switch; this session stays as it is")
            question = QuestionScreen(words, words("The model is still working"), "y", yes)
            if not await app.push_screen_wait(question):
                return False
            desk.controller.stop()
            end = time.monotonic() + _PATIENCE
            while desk.controller.is_running and time.monotonic() < end:
                await asyncio.sleep(_LOOK)
        await self.main.commit_typed()
        self.main.keep_draft()
        if desk.session.save():
            return True
        screen = QuitScreen(
            words,
            desk.session,
            title=words("Switch without saving?"),
            anyway=words("Switch anyway; unsaved changes are lost"),
            plain=words("Switch"),
        )
        is_wanted: bool = await app.push_screen_wait(screen)
        return is_wanted

    async def _switch(self, target: Target, note: Text | None) -> None:
        from contextui.session.log import SessionLockedError  # noqa: PLC0415  (heavy)
        from contextui.windowing.worker import in_daemon_thread  # noqa: PLC0415

        words, reopen = self._words, self._reopen
        old, desk = self.main, self.desk
        assert desk is not None
        assert reopen is not None
        turns = old.suspend()  # what is sent from now on is for the other session
        before = old.prompt.whole_text
        try:
            opened = await in_daemon_thread(lambda: reopen(target))
        except Exception as error:
            old.resume(turns)
            reason = words(error) if isinstance(error, ContextUIError) else reason_of(error)
            if isinstance(error, SessionLockedError):
                reason = words("The other one is open in another terminal: /sessions forks it.")
            old.note(words("This session stays open. {reason}", reason=reason), is_error=True)
            return
        opened.controller.tools.gate.tighten(desk.controller.tools.gate.mode)
        self._unclosed.append(desk)
        main = await self._show(opened)
        if note is not None:
            main.note(note)
        if (typed := old.prompt.whole_text) not in ("", before):
            main.writing.keep(typed)
        closing = partial(self._close, desk)
        self._app.run_worker(closing, name="close", group="close")  # type: ignore[arg-type]

    async def _close(self, desk: "AppSession") -> None:
        from contextui.windowing.worker import in_daemon_thread  # noqa: PLC0415  (heavy)

        try:
            await desk.controller.aclose()
            await in_daemon_thread(desk.close)
        except Exception as error:  # the new session is not concerned
            self.main.note(reason_of(error), is_error=True)
        finally:
            if desk in self._unclosed:
                self._unclosed.remove(desk)
