"""`Session`: a context and its windows, saved to a log."""

import re
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from contextui.config.schema import Placement
from contextui.context.item import ContextItem, ItemType
from contextui.context.manager import ContextManager
from contextui.events import Event, WindowTroubled
from contextui.files.leftovers import Leftovers, remove_leftovers
from contextui.files.workspace import Workspace
from contextui.plain_file import read_plain
from contextui.session.entry import Entry, Stamp
from contextui.session.log import Recent, SessionLog
from contextui.session.record import CHECKPOINT_EVERY, MemoryStore, Recorder
from contextui.session.restore import Loaded, check_is_session, load, older_items
from contextui.session.usage import scan
from contextui.session.versions import Versions
from contextui.tokens import TokenCounter
from contextui.windowing.manager import WindowManager
from contextui.windowing.runtime import runtime_of
from contextui.windowing.snapshot import Lod
from contextui.windowing.window import Clock, Window, utc_now
from contextui.words import Lang, Words

_LARGEST = 4_096  # bytes of .git/HEAD, or of a .git file that points to another folder
# A branch name as git allows it, without blanks or control characters of any script.
_BRANCH = re.compile(r"ref: refs/heads/((?:(?![~^:?*\[\\])\S){1,250})")


def branch_of(folder: Path) -> str | None:
    """Return the checked-out branch, if the folder is in a repository."""
    for place in (folder, *folder.parents):
        git = place / ".git"
        try:
            if git.is_file():  # a worktree or a submodule points to its folder
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
    """Settings for the context and the windows of a session.

    Attributes:
        classes: The available window classes.
        lang: The language of the windows and notices.
        lod: The level of detail at which windows open.
        placement: Where live windows are placed in a request.
        counter: Creates the token counter; each session has its own, as it is calibrated.
        clock: Returns the current time.
        checkpoint_every: Entries after which a checkpoint is due.
        max_windows: How many windows may be open at a time.
        secret_files: More patterns of files that may hold secrets, see `SecretFiles`.
        sandbox: Whether commands that windows run must run in a sandbox.
    """

    classes: Iterable[type[Window]] = ()
    lang: Lang = "en"
    lod: Lod = Lod.FULL
    placement: Placement = "price"
    counter: Callable[[], TokenCounter] = TokenCounter
    clock: Clock = utc_now
    checkpoint_every: int = CHECKPOINT_EVERY
    max_windows: int = 100
    secret_files: tuple[str, ...] = ()
    sandbox: bool = False

    def make(
        self, session_id: str, cwd: str, *, is_live: bool = True, data: Path | None = None
    ) -> tuple[WindowManager, ContextManager]:
        """Create an empty context and its window manager, with the folder as workspace.

        Windows that are not live are only looked at, see `WindowManager`; `data` is where windows
        keep files.
        """
        files = Workspace(cwd, secret_files=self.secret_files) if Path(cwd).is_dir() else None
        windows = WindowManager(
            self.classes,
            session_id=session_id,
            lod=self.lod,
            lang=self.lang,
            clock=self.clock,
            workspace=files,
            most=self.max_windows,
            is_live=is_live,
            sandbox=self.sandbox,
            data=data,
        )
        return windows, ContextManager(windows, counter=self.counter(), placement=self.placement)


class Session:
    """A persistent conversation: every change is written to its log.

    Attributes:
        id: Its id.
        cwd: The folder it belongs to.
        path: Its log.
        windows: Its windows.
        context: Its items.
        notices: Messages for the person in the session's language, about damage and failed saves.
        versions: What was there before each file that it wrote.

    Use it as a context manager, or `close` it, to release it for other processes.
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
        self._words = Words(options.lang)
        if path.exists():
            check_is_session(path)  # before anything is repaired
        self._log = SessionLog(path, self.notices.append, options.lang, lazy=lazy)
        try:
            data = path.with_suffix("")
            self.windows, self.context = options.make(session_id, cwd, data=data)
            saving = path.parents[2] / "saving"
            remove_leftovers(saving)  # of interrupted saves
            self._leftovers = Leftovers(saving)
            if self.windows.workspace is not None:
                self.windows.workspace.notes = self._leftovers
            loaded = self._load() if path.exists() and path.stat().st_size else None
            stamp = Stamp(session_id, cwd, branch_of(Path(cwd)), options.clock)
            every = options.checkpoint_every
            recent = Recent(path.parent, session_id)
            self._recorder = Recorder(
                self._log, stamp, self.context, self.windows, every, recent=recent
            )
            if loaded is None:
                self._recorder.begin(lazy=lazy)
            else:
                self._recorder.resume(loaded)
            MemoryStore(self.context, self._recorder.offsets, path)
            self.versions = Versions(data, self._recorder.write_through)
            if self.windows.workspace is not None:
                self.windows.workspace.keeper = self.versions
            self._complete_interrupted()
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
    def unsaved(self) -> int:
        """How many entries are queued to be written."""
        return self._log.unsaved

    @property
    def unsaved_turns(self) -> int:
        """How many turns are not completely in the log; all of them if the log is lost."""
        if not self.unsaved:
            return 0
        is_under_way = bool(self.context.open_items)
        saved = 0 if self._log.is_displaced else self._recorder.saved_turn
        return self.turn - saved + is_under_way

    @property
    def problem(self) -> OSError | None:
        """Why saving currently fails; None while it works."""
        return self._log.problem

    @property
    def draft(self) -> str:
        """The person's unsent input."""
        return self._recorder.texts.get("draft", "")

    def keep_draft(self, text: str) -> None:
        """Save the person's unsent input; it is never part of a request."""
        self._recorder.put("draft", text)

    @property
    def title(self) -> str:
        """The title that the person gave the session; may be empty."""
        return self._recorder.texts.get("title", "")

    def rename(self, title: str) -> None:
        """Give the session a title."""
        self._recorder.put("title", title)

    @property
    def model(self) -> str:
        """The model that answers, by the name that chooses it; may be empty."""
        return self._recorder.texts.get("model", "")

    def use_model(self, name: str) -> None:
        """Remember which model answers from now on: a resume and a fork use it too."""
        self._recorder.put("model", name)

    def keep(self, subtype: str, **data: Any) -> None:
        """Write what the conversation shows beside its items: an `aside` or a `command`."""
        self._recorder.keep(subtype, **data)

    def asides(self) -> dict[int, list[Entry]]:
        """Return what the conversation showed beside its items, by the seq of the item before."""
        found, commands = dict[int, list[Entry]](), dict[str, Entry]()
        for entry, seq, _ in scan(self.path, "turn_end", "aside", "command"):
            if entry.subtype == "command":
                first = commands.setdefault(entry.data["id"], entry)
                if first is not entry:  # how it ended
                    first.data = entry.data
                    continue
            found.setdefault(seq, []).append(entry)
        return found

    def save(self) -> bool:
        """Retry writing the queued entries; return whether everything is written.

        The queue is empty unless saving failed. This also notices a log that another program
        deleted or changed, and continues it in a new file.
        """
        self._recorder.save()
        return not self.unsaved

    @property
    def has_older_items(self) -> bool:
        """Whether the log has items that were not restored, as no request includes them."""
        return len(self.context.items) < self.context.current_seq

    def older_items(self) -> list[ContextItem]:
        """Return the items that were not restored, oldest first, read from the log now."""
        items = self.context.items
        return list(older_items(self.path, items, self._recorder.loaded.start))

    def recall(self, item_id: str, log: ContextManager, offsets: Mapping[str, int]) -> None:
        """Load an item that was not restored, hidden, with all that belongs to its tool call."""
        calls, item = log.calls, log.get(item_id)
        asker = calls.asker(item)
        together = {one.id: copy(one) for one in (asker, *calls.results(asker), item)}
        self._recorder.recall({one: offsets[one] for one in together})
        self.context.recall(together.values(), log.folds.among(together))

    def close(self) -> None:
        """Write the queued entries and release the session."""
        self.context.flush_pending()
        self.windows.shut_down()
        self._recorder.flush()
        self._recorder.stop()
        self._recorder.close()
        if self.windows.workspace is not None:
            self.windows.workspace.close()
        self._leftovers.close()

    def _load(self) -> Loaded:
        if not self._log.is_open:
            self._log.expect(self.path.stat().st_size)
        end = self.windows.subscribe(self._on_trouble)
        try:
            return load(self.path, self.context, self.windows, self.notices.append)
        finally:
            end()

    def _on_trouble(self, event: Event) -> None:
        if isinstance(event, WindowTroubled):
            self.notices.append(f"{event.window_id} {self._words(event.reason)}")

    def _complete_interrupted(self) -> None:
        """Complete what a crash interrupted: answer open calls, and list all open windows."""
        for window in self.windows.windows():
            if not self.context.window_items(window.id):
                self.context.add(ContextItem(ItemType.WINDOW, window.id))
            for name in runtime_of(window).interrupted:
                words = self._words("{name} was interrupted when the program ended.", name=name)
                self.notices.append(f"{window.id}: {words}")
        lost = self._words(
            "Interrupted before it finished. It may or may not have been carried out."
        )
        for call in self.context.calls.unanswered:
            item = ContextItem(ItemType.TOOL, lost, tool_call_id=call, is_error=True)
            self.context.add(item)
