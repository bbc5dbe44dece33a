"""One session: a context and its windows, and the log that they are kept in."""

import re
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from dataclasses import dataclass
from pathlib import Path

from contextui.config.settings import Lang, Placement
from contextui.context.item import ContextItem, ItemType
from contextui.context.manager import ContextManager
from contextui.events import Event, WindowTroubled
from contextui.files.leftovers import Leftovers, remove_leftovers
from contextui.files.workspace import Workspace
from contextui.plain_file import read_plain
from contextui.session.archive import MemoryStore, older_items
from contextui.session.items import Stamp
from contextui.session.log import SessionLog
from contextui.session.paths import Recent
from contextui.session.record import CHECKPOINT_EVERY, Recorder
from contextui.session.restore import Loaded, check_is_session, load
from contextui.tokens import TokenCounter
from contextui.windowing.env import Clock, utc_now
from contextui.windowing.manager import WindowManager
from contextui.windowing.snapshot import Lod
from contextui.windowing.window import Window

_LARGEST = 4_096  # bytes of .git/HEAD, or of a .git that names another folder
# What git allows in a name, but no blanks or control characters of any script.
_BRANCH = re.compile(r"ref: refs/heads/((?:(?![~^:?*\[\\])\S){1,250})")


def branch_of(folder: Path) -> str | None:
    """The name of the checked-out branch, if the folder is in a repository."""
    for place in (folder, *folder.parents):
        git = place / ".git"
        try:
            if git.is_file():  # a worktree or a submodule names its folder
                git = place / _line(git).removeprefix("gitdir:").strip()
            if git.is_dir():
                found = _BRANCH.fullmatch(_line(git / "HEAD"))
                return found[1] if found and found[1].isprintable() else None
        except (OSError, ValueError):  # not UTF-8, or a path with a NUL
            return None
    return None


def _line(path: Path) -> str:
    return read_plain(path, _LARGEST).decode().strip()


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """How a session's context and windows are made.

    Attributes:
        classes: The window classes that are known.
        lang: The language of the windows.
        lod: The level of detail at which windows open.
        placement: Where live windows stand in a request.
        counter: Makes what counts tokens; each session has its own, as it learns.
        clock: Tells the time.
        checkpoint_every: Entries after which a checkpoint is due.
        max_windows: How many windows may be open at a time.
        secret_files: More patterns of files that may hold secrets, see `SecretFiles`.
    """

    classes: Iterable[type[Window]] = ()
    lang: Lang = "en"
    lod: Lod = Lod.FULL
    placement: Placement = "tail"
    counter: Callable[[], TokenCounter] = TokenCounter
    clock: Clock = utc_now
    checkpoint_every: int = CHECKPOINT_EVERY
    max_windows: int = 100
    secret_files: tuple[str, ...] = ()

    def make(self, session_id: str, cwd: str) -> tuple[WindowManager, ContextManager]:
        """An empty context, and its windows, which work on the files of the folder."""
        files = Workspace(cwd, secret_files=self.secret_files) if Path(cwd).is_dir() else None
        windows = WindowManager(
            self.classes,
            session_id=session_id,
            lod=self.lod,
            lang=self.lang,
            clock=self.clock,
            workspace=files,
            most=self.max_windows,
        )
        return windows, ContextManager(windows, counter=self.counter(), placement=self.placement)


_LOST: dict[Lang, str] = {
    "en": "Interrupted before it finished. It may or may not have been carried out.",
    "zh": "在完成之前被中断。它可能已经执行，也可能没有。",
}


class Session:
    """A conversation that lasts: everything that changes it is in its log when it has happened.

    Attributes:
        id: Its id.
        cwd: The folder it belongs to.
        path: Its log.
        windows: Its windows.
        context: Its items.
        notices: What the person should know: what was damaged, what is not saved.

    Use it as a context manager, or `close` it: then others can have it.
    """

    def __init__(
        self,
        session_id: str,
        cwd: str,
        path: Path,
        options: SessionOptions,
        *,
        lazy: bool = False,
    ) -> None:
        self.id, self.cwd, self.path = session_id, cwd, path
        self.notices: list[str] = []
        if path.exists():
            check_is_session(path)  # before anything is mended in it
        self._log = SessionLog(path, self.notices.append, options.lang, lazy=lazy)
        try:
            self.windows, self.context = options.make(session_id, cwd)
            self._leftovers = self._note_saves(path.parents[2] / "saving")
            loaded = self._load() if path.exists() and path.stat().st_size else None
            stamp = Stamp(session_id, cwd, branch_of(Path(cwd)), options.clock)
            every = options.checkpoint_every
            recent = Recent(path.parent, session_id)
            self._recorder = Recorder(
                self._log, stamp, self.context, self.windows, every, recent=recent
            )
            if loaded is None:
                if lazy:
                    self._recorder.hold_back()
                self._recorder.begin()
            else:
                self._recorder.resume(loaded)
            MemoryStore(self.context, self._recorder.offsets, path)
            self._make_whole()
        except BaseException:
            self._log.close()
            raise

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def turn(self) -> int:
        """How many turns have ended."""
        return self._recorder.turn

    @property
    def parsed_entries(self) -> int:
        """How many entries were parsed to bring it back."""
        return self._recorder.parsed

    @property
    def unsaved(self) -> int:
        """How many entries wait to be written."""
        return self._log.unsaved

    @property
    def unsaved_turns(self) -> int:
        """How many turns are not in the log, or not whole; all of them if the log is gone."""
        if not self.unsaved:
            return 0
        is_under_way = bool(self.context.ledger.open)
        saved = 0 if self._log.is_displaced else self._recorder.saved_turn
        return self.turn - saved + is_under_way

    @property
    def problem(self) -> OSError | None:
        """Why saving fails at present; None while it works."""
        return self._log.problem

    @property
    def draft(self) -> str:
        """What the person has typed and not sent."""
        return self._recorder.draft

    def keep_draft(self, text: str) -> None:
        """Write down what the person has typed and not sent; no request ever shows it."""
        self._recorder.keep_draft(text)

    def save(self) -> bool:
        """Try again to write what is not written yet; whether everything is.

        Nothing waits unless saving failed. A log that another program deleted or damaged is
        noticed here too, and written again.
        """
        self._recorder.save()
        return not self.unsaved

    @property
    def has_older_items(self) -> bool:
        """Whether the log has items that were not brought back, as no request shows them."""
        return len(self.context.ledger.items) < self.context.current_seq

    def older_items(self) -> list[ContextItem]:
        """These items as they are now, oldest first, read from the log just now.

        Raises:
            OSError: The log cannot be read.
        """
        items = self.context.ledger.items
        return list(older_items(self.path, items, self._recorder.read_from))

    def recall(self, item_id: str, log: ContextManager, offsets: Mapping[str, int]) -> None:
        """Have an item here again that was not brought back, with all that belongs to its call.

        They come as they stand in the log, hidden; the context can `restore` them then.

        Args:
            item_id: The item.
            log: The whole log, read into a context of its own.
            offsets: Where in the log each of its items stands.
        """
        calls, item = log.ledger.calls, log.get(item_id)
        asker = calls.asker(item)
        together = {one.id: copy(one) for one in (asker, *calls.results(asker), item)}
        self._recorder.recall({one: offsets[one] for one in together})
        self.context.recall(together.values(), log.ledger.folds.among(together))

    def close(self) -> None:
        """Write what is not written yet, and let others have the session."""
        self.context.take_in()
        self.windows.shut_down()
        self._recorder.flush()
        self._recorder.stop()
        self._recorder.close()
        if self.windows.workspace is not None:
            self.windows.workspace.close()
        self._leftovers.close()

    def _note_saves(self, folder: Path) -> Leftovers:
        """Remove what killed saves left, and have those of this session noted."""
        remove_leftovers(folder)
        leftovers = Leftovers(folder)
        if self.windows.workspace is not None:
            self.windows.workspace.notes = leftovers
        return leftovers

    def _load(self) -> Loaded:
        if not self._log.is_open:
            self._log.expect(self.path.stat().st_size)
        end = self.windows.subscribe(self._hear_trouble)
        try:
            return load(self.path, self.context, self.windows, self.notices.append)
        finally:
            end()

    def _hear_trouble(self, event: Event) -> None:
        if isinstance(event, WindowTroubled):
            self.notices.append(f"{event.window_id} {event.reason}")

    def _make_whole(self) -> None:
        """Complete what a crash cut short: a call without its result, which the model must not
        wait for, and a window that was open already but not listed yet."""
        for window in self.windows.windows():
            if window.id not in self.context.ledger.references:
                self.context.add(ContextItem(ItemType.WINDOW, window.id))
        lost = _LOST[self.windows.lang]
        for call in self.context.ledger.calls.unanswered:
            item = ContextItem(ItemType.TOOL, lost, tool_call_id=call, is_error=True)
            self.context.add(item)
