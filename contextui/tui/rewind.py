"""Going back to an earlier turn in a running app: ask, restore files, switch to the fork; undo."""

import asyncio
import shutil
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from contextui.agent.prompt import is_report
from contextui.errors import ContextUIError, os_reason
from contextui.events import Event, ItemAdded, ItemsChanged
from contextui.session.fork import fork
from contextui.session.rewind import Record, Restored, Turn, plan, read_record, restore, undo_plan
from contextui.text import quote
from contextui.tui.app_session import AppSession
from contextui.tui.dialogs.rewind import Around, GoBack, RewindScreen
from contextui.tui.switch import Rewound, Switcher
from contextui.windowing.runtime import runtime_of
from contextui.windowing.window import utc_now
from contextui.windowing.worker import in_daemon_thread
from contextui.words import msg

if TYPE_CHECKING:
    from contextui.tui.main import MainScreen

_LOOK = 0.02  # seconds between two checks whether another session is open
_PATIENCE = 20.0  # seconds for the old session to close
_RELOAD = "reload"  # the action of a window that reads its file again
_SHELL = "terminal"  # the window class whose commands may write files


class Rewinder:
    """Runs ``/rewind`` on the session of an app, and undoes it.

    Only the person can start it: no tool and no action of a window leads here.
    """

    def __init__(self, main: "MainScreen", switcher: Switcher, desk: AppSession) -> None:
        self._main, self._switcher, self._desk, self._words = main, switcher, desk, main.words
        self._is_busy = False
        self._has_warned = False  # that undoing an earlier rewind leaves this branch
        desk.session.context.subscribe(self._on_event)

    def start(self, typed: str) -> None:
        self._desk.controller.check_idle()
        if typed and not (typed.isascii() and typed.isdecimal() and len(typed) < 9):
            raise ContextUIError("{name} is not the number of a turn.", name=quote(typed))
        if self._is_busy:
            raise ContextUIError("The session is going back already.")
        self._is_busy = True
        self._main.app.run_worker(self._run(int(typed) if typed else None), name="rewind")

    def undo(self) -> bool:
        done = self._switcher.rewound
        if done is None or not done.is_last or done.fork != self._desk.session.id:
            return False
        self._switcher.rewound = None
        self._main.app.run_worker(self._undo(done), name="undo rewind")
        return True

    def undo_earlier(self) -> bool:
        """Undo a rewind after which something was said; return whether there is one.

        It leaves the present branch, so the first time this only says so. In the session that the
        rewind left, only its files are to be put back.
        """
        done, here = self._switcher.rewound, self._desk.session.id
        if done is None or here not in (done.fork, done.parent):
            return False
        if here == done.fork and not self._has_warned:
            self._has_warned = True
            text = msg("/undo again undoes the rewind to turn {turn}.")
            text = text if done.turn else msg("/undo again undoes the rewind to the start.")
            stays = self._words("What was said since stays as a session of its own, in /sessions.")
            self._main.note(f"{self._words(text, turn=done.turn)} {stays}")
            return True
        self._switcher.rewound = None
        undo = self._undo if here == done.fork else self._undo_files
        self._main.app.run_worker(undo(done), name="undo rewind")
        return True

    # --- asking ------------------------------------------------------------------------

    async def _run(self, wanted: int | None) -> None:
        try:
            record = await in_daemon_thread(self._record)
            choice = await self._ask(record, wanted)
            if choice is not None:
                await self._go_back(choice, record)
        except ContextUIError as problem:
            self._note(self._words(problem))
        except OSError as problem:
            self._note(self._words(os_reason(problem)))
        finally:
            self._is_busy = False

    def _record(self) -> Record:
        session = self._desk.session
        if not session.save():
            raise ContextUIError(
                "This session cannot be saved now, so it cannot go back: {reason}",
                reason=os_reason(session.problem) if session.problem else "",
            )
        if not session.path.exists():  # nothing has happened yet
            return Record()
        return read_record(session.path, lambda text: not is_report(text))

    async def _ask(self, record: Record, wanted: int | None) -> GoBack | None:
        ended = [turn.number for turn in record.turns if turn.has_ended]
        if len(record.turns) < 2:
            raise ContextUIError("There is no earlier turn yet.")
        if wanted is None:
            newest = record.turns[-1].number
            wanted = max(one for one in ended if one < newest)
        if wanted not in ended:
            raise ContextUIError(
                "There is no turn {turn}. Turns so far: {turns}.", turn=wanted, turns=max(ended)
            )
        screen = RewindScreen(
            self._words,
            record.turns,
            wanted,
            plan=lambda number: plan(self._desk.session, number, record),
            around=self._around(),
            now=utc_now(),
        )
        return await self._main.app.push_screen_wait(screen)

    def _around(self) -> Around:
        windows = self._desk.session.windows.windows()
        ends = [
            f"{window.id} ({job.name})" if job.name else window.id
            for window in windows
            for job in runtime_of(window).jobs.running()
        ]
        shells = [window.id for window in windows if window.name == _SHELL]
        ends += [one for one in shells if not any(other.startswith(f"{one} ") for other in ends)]
        unsaved = [window.id for window in windows if runtime_of(window).renders.at().unsaved]
        return Around(ends, unsaved, has_commands=bool(shells))

    # --- going back --------------------------------------------------------------------

    async def _go_back(self, choice: GoBack, record: Record) -> None:
        desk = self._desk
        desk.controller.check_idle()
        await self._switcher.main.commit_typed()
        draft = next((turn.message for turn in record.turns if turn.number > choice.turn), "")
        made, done = await in_daemon_thread(lambda: self._fork_and_restore(choice, draft))
        sizes = self._switcher.main.sizes
        (turn,) = (one for one in record.turns if one.number == choice.turn)
        try:
            sizes.hand_over(made)
            await self._switcher.switch(made, self._said(turn, done)).wait()
        finally:
            if not self._is_at(made):  # it stays where it was: so do the files
                sizes.hand_over(desk.session.id)
                await in_daemon_thread(lambda: self._take_back(made, done))
        if not self._is_at(made):
            return
        if choice.turn == 0 and (desk_now := self._switcher.desk) is not None:
            # What was typed for the write that began the first turn is undone with it.
            await _reload(desk_now, {record.begins_with} & {*done.restored}, discard=True)
        prompt = self._switcher.main.prompt
        if prompt.whole_text == draft:  # typing replaces the message, an arrow key keeps it
            prompt.select_all()
        self._switcher.rewound = Rewound(desk.session.id, made, done.rewind, choice.turn)
        self._note_left(done)

    def _fork_and_restore(self, choice: GoBack, draft: str) -> tuple[str, Restored]:
        """Create the fork first: if that fails, no file is touched."""
        session = self._desk.session
        session.save()
        made = fork(session.path, choice.turn, cwd=session.cwd, draft=draft)
        return made, restore(session, choice.plan, choice.files)

    def _take_back(self, made: str, done: Restored) -> None:
        """Restore the files, and remove the fork that could not be opened."""
        if done.rewind:
            self._restore_all(self._desk, done.rewind)
        path = self._desk.session.path.with_name(f"{made}.jsonl")
        with suppress(OSError):
            path.unlink()
        shutil.rmtree(path.with_suffix(""), ignore_errors=True)

    def _said(self, turn: Turn, done: Restored) -> str:
        words, number, model = self._words, turn.number, self._desk.session.model
        back = words("Back at turn {turn}.", turn=number) if number else words("Back at the start.")
        parts = [back]
        if turn.model and turn.model != model:
            parts.append(words("{model} answers from now on.", model=model))
        if done.restored:
            count = len(done.restored)
            parts.append(words.plural(count, "{count} file restored.", "{count} files restored."))
        if done.deleted:
            count = len(done.deleted)
            parts.append(words.plural(count, "{count} file deleted.", "{count} files deleted."))
        parts.append(words("/undo undoes."))
        return ("" if words.lang == "zh" else " ").join(parts)

    def _is_at(self, session_id: str) -> bool:
        return self._switcher.desk is not None and self._switcher.desk.session.id == session_id

    # --- undoing -----------------------------------------------------------------------

    async def _undo(self, done: Rewound) -> None:
        """Return to the old branch, then put the files back to how they were."""
        switcher, waited = self._switcher, 0.0
        while switcher.is_closing(done.parent) and waited < _PATIENCE:
            await asyncio.sleep(_LOOK)
            waited += _LOOK
        sizes = switcher.main.sizes
        sizes.hand_over(done.parent)
        await switcher.switch(done.parent).wait()
        if not self._is_at(done.parent):
            sizes.hand_over(done.fork)
            switcher.rewound = done
            return
        await self._undo_files(done)

    async def _undo_files(self, done: Rewound) -> None:
        desk, left = self._switcher.desk, Restored()
        if done.rewind and desk is not None:
            left = await in_daemon_thread(lambda: self._restore_all(desk, done.rewind))
            await _reload(desk, {*left.restored, *left.deleted})
        text = self._words("Undone: the session is where it was.")
        if left.count:
            text = self._words(
                "Undone: the session is where it was, and {files} too.",
                files=self._words.plural(left.count, "{count} file", "{count} files"),
            )
        self._switcher.main.note(text)
        self._note_left(left)

    def _note_left(self, done: Restored) -> None:
        for path, problem in done.left:
            self._note(self._words("Left alone: {file}. {reason}", file=path, reason=problem))

    def _restore_all(self, desk: AppSession, rewind: str) -> Restored:
        made = undo_plan(desk.session, rewind)
        done = restore(desk.session, made, {one.path for one in made.offered})
        reasons = ((file.path, file.reason) for file in made.files if file.reason is not None)
        stays = ((path, ContextUIError(self._words(reason))) for path, reason in reasons)
        return replace(done, left=(*done.left, *stays))

    def _on_event(self, event: Event) -> None:
        """Note that something happened: then ``/undo`` is about that."""
        done = self._switcher.rewound
        is_change = isinstance(event, ItemAdded | ItemsChanged)
        self._has_warned = self._has_warned and not is_change
        if is_change and done is not None and done.fork == self._desk.session.id:
            done.is_last = False

    def _note(self, text: str) -> None:
        self._switcher.main.note(text, is_error=True)


async def _reload(desk: AppSession, paths: set[str], *, discard: bool = False) -> None:
    """Reload the windows with these files; without `discard`, unless they have unsaved edits."""
    windows = desk.session.windows
    for window in windows.windows():
        shows = getattr(window.state, "path", None) in paths
        if shows and (discard or not runtime_of(window).renders.at().unsaved):
            given = {"discard": True} if discard else {}
            await windows.act(window.id, _RELOAD, given, actor="window")
