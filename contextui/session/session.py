"""One session: a context and its windows, and the log that they are kept in."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any

from contextui.context.item import ContextItem, ItemType
from contextui.context.manager import ContextManager
from contextui.context.placement import Placement
from contextui.files.workspace import Workspace
from contextui.session.entry import SCHEMA
from contextui.session.git import branch_of
from contextui.session.loading import Loaded, load
from contextui.session.log import SessionLog
from contextui.session.memory import MemoryStore
from contextui.session.recorder import CHECKPOINT_EVERY, Recorder, Stamp
from contextui.tokens import TokenCounter
from contextui.windowing.base import Window
from contextui.windowing.env import Clock, Lang
from contextui.windowing.manager import WindowManager
from contextui.windowing.snapshot import Lod


def utc_now() -> datetime:
    """The time now."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """How a session's context and windows are made.

    Attributes:
        classes: The window classes that are known.
        lang: The language of the windows.
        lod: The level of detail at which windows open.
        placement: Where live windows stand in a request.
        counter: Counts tokens; each session has its own if none is given.
        clock: Tells the time.
        checkpoint_every: Entries after which the end of a turn gets a checkpoint.
    """

    classes: Iterable[type[Window]] = ()
    lang: Lang = "en"
    lod: Lod = Lod.FULL
    placement: Placement = "tail"
    counter: TokenCounter | None = None
    clock: Clock = utc_now
    checkpoint_every: int = CHECKPOINT_EVERY

    def make(self, session_id: str, cwd: str) -> tuple[WindowManager, ContextManager]:
        """An empty context, and its windows, which work on the files of the folder."""
        windows = WindowManager(
            self.classes,
            session_id=session_id,
            lod=self.lod,
            lang=self.lang,
            clock=self.clock,
            workspace=Workspace(cwd) if Path(cwd).is_dir() else None,
        )
        counter = self.counter or TokenCounter()
        return windows, ContextManager(windows, counter=counter, placement=self.placement)


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

    def __init__(self, session_id: str, cwd: str, path: Path, options: SessionOptions) -> None:
        self.id, self.cwd, self.path = session_id, cwd, path
        self.notices: list[str] = []
        self._log = SessionLog(path, self.notices.append)
        try:
            self.windows, self.context = options.make(session_id, cwd)
            self._is_new = self._log.size == 0
            loaded = Loaded() if self._is_new else self._load()
            stamp = Stamp(session_id, cwd, branch_of(Path(cwd)), options.clock)
            every = options.checkpoint_every
            self._recorder = Recorder(self._log, stamp, self.context, self.windows, every)
            self._recorder.resume(loaded)
            MemoryStore(self.context, self._recorder.offsets, path)
            self._answer_lost_calls()
        except BaseException:
            self._log.close()
            raise

    def __enter__(self) -> "Session":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
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

    def begin(self, facts: Mapping[str, Any]) -> None:
        """Write the header of a new session."""
        data = {"schema": SCHEMA, **facts}
        self._recorder.write({"type": "system", "subtype": "session", "data": data})

    def close(self) -> None:
        """Write what is not written yet, and let others have the session."""
        self._recorder.stop()
        self._log.close()
        if self.windows.workspace is not None:
            self.windows.workspace.close()

    def _load(self) -> Loaded:
        return load(self.path, self.context, self.windows, self.notices.append)

    def _answer_lost_calls(self) -> None:
        """A call without its result was cut short by a crash: the model must not wait for it."""
        lost = "Interrupted before it finished. It may or may not have been carried out."
        for call in self.context.ledger.calls.unanswered:
            item = ContextItem(ItemType.TOOL, lost, tool_call_id=call, is_error=True)
            self.context.add(item)
