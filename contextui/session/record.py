"""Recorder: writes every change of a session's context and windows to its log.

What is in the log need not stay in memory: `MemoryStore` unloads old items. A new field of an entry
is written here, from its event, and declared in `validation`.
"""

import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from contextui.context.item import ContextItem, Stage, is_conversation, reload, unload
from contextui.context.manager import ContextManager
from contextui.events import (
    Compacted,
    CutMoved,
    Event,
    ItemAdded,
    ItemsChanged,
    RequestSent,
    TurnEnded,
    UsageReported,
    WindowActed,
    WindowClosed,
    WindowCommitted,
    WindowDetailChanged,
    WindowFocused,
    WindowOpened,
    WindowReady,
)
from contextui.session.checkpoint import checkpoint_data
from contextui.session.entry import (
    Stamp,
    call_fields,
    header,
    item_fields,
    system_entry,
    with_parent,
)
from contextui.session.log import Pending, Recent, SessionLog
from contextui.session.reader import Content, stored
from contextui.session.restore import Loaded
from contextui.windowing.manager import WindowManager
from contextui.windowing.runtime import runtime_of
from contextui.windowing.window import Window

CHECKPOINT_EVERY = 1_000
"""Entries after which a checkpoint is due at the latest, as soon as no turn is running."""

# A small checkpoint is due earlier: a resume replays all entries after it.
_EARLIEST = 100  # entries
_SHARE = 8  # how many times the size of the last checkpoint the entries have

_BEGINNING = ("session", "prompt", "model", "aside")
"""The entries that alone do not make a session: its start, and notices before anything happens."""

BACKGROUND_RATE = 64_000
"""Bytes per second that the timers of one window may add to the log, averaged over more than a
second. Below that rate a change is written at once; above it, changes are merged and delayed."""

_REPEATED_BY_REPLAY = ("close", "replace")  # replaying their cause repeats them


class Recorder:
    """Writes log entries as a session's context and windows change."""

    def __init__(
        self,
        log: SessionLog,
        stamp: Stamp,
        context: ContextManager,
        windows: WindowManager,
        checkpoint_every: int = CHECKPOINT_EVERY,
        *,
        recent: Recent | None = None,
    ) -> None:
        self._recent = recent
        self._log, self._stamp, self._context, self._windows = log, stamp, context, windows
        self._every = checkpoint_every
        self._lock = threading.RLock()
        self.offsets: dict[str, int] = {}
        """The offset in the log of each item."""
        self.closings: dict[str, int] = {}
        """The offset in the log of each closed window's last render."""
        self.turn = 0
        """How many turns have ended."""
        self.parent: str | None = None
        """The id of the last entry."""
        self.loaded = Loaded()
        """How the session was restored."""
        self.saved_turn = 0
        """The last turn whose end is in the log."""
        self.texts: dict[str, str] = {}
        """The person's unsent input, the title and the model, by the kind of their entries."""
        self._since_checkpoint = self._bytes_since = self._checkpoint_size = 0
        self._wants_checkpoint = self._is_closed = False
        self._summary_id: str | None = None  # it is written after its boundary
        self._last_size = 0
        self._recalled: set[str] = set()  # items that were loaded again
        self._absent: list[dict[str, Any]] = []  # windows that have no class in this run
        self._logged: dict[str, str] = {}  # the newest logged version of each window
        self._paid: dict[str, float] = {}  # when each window's timers are within their rate again
        self._delayed: dict[str, threading.Timer] = {}
        self._held: list[Pending] | None = None
        self._ends = [context.subscribe(self._on_event), windows.subscribe(self._on_event)]
        log.rebuild = self._write_anew

    def resume(self, loaded: Loaded) -> None:
        """Continue a log that was restored."""
        self.offsets.update(loaded.offsets)
        self.closings.update(loaded.closings)
        self.turn, self.parent, self.loaded = loaded.turn, loaded.last_id, loaded
        self.saved_turn, self.texts = loaded.turn, loaded.texts
        self._since_checkpoint = loaded.since_checkpoint
        self._bytes_since = loaded.end - loaded.start
        self._checkpoint_size = loaded.checkpoint_size
        self._logged.update(loaded.versions)
        self._absent = loaded.absent
        self.flush()  # a `restored` hook may have changed its window

    def recall(self, offsets: Mapping[str, int]) -> None:
        """Register items that no checkpoint includes; once they change, one will."""
        self.offsets.update(offsets)
        self._recalled.update(offsets)

    def flush(self) -> None:
        """Write all window changes that are not logged yet."""
        with self._lock:
            for window in self._windows.windows():
                self._window_state(window.id)

    def stop(self) -> None:
        """Stop recording."""
        for end in self._ends:
            end()
        with self._lock:
            for timer in self._delayed.values():
                timer.cancel()
            self._delayed.clear()

    def begin(self, *, lazy: bool) -> None:
        """Write the first entry of a new log; delay it if a session only opened leaves none."""
        self._held = [] if lazy else None
        self.write(header())

    def put(self, kind: str, text: str) -> None:
        """Write one of the texts, unless it is unchanged."""
        with self._lock:
            if text != self.texts.get(kind, ""):
                self.texts[kind] = text
                self.keep(kind, text=text)

    def keep(self, subtype: str, **data: Any) -> None:
        """Write what is not about items or windows, until the session is closed."""
        with self._lock:
            if not self._is_closed:
                self._write_system(subtype, **data)

    def save(self) -> None:
        """Retry queued writes, and notice whether another program changed the log."""
        with self._lock:
            self._log.retry()
            if self._wants_checkpoint:
                self.checkpoint()

    def close(self) -> None:
        """Retry queued writes a last time and release the log."""
        with self._lock:
            self._is_closed = True
            self._log.close()

    def write(
        self,
        fields: dict[str, Any],
        entry_id: str | None = None,
        written: Callable[[int], None] | None = None,
    ) -> None:
        """Write an entry. `written` gets its offset."""
        with self._lock:
            self._since_checkpoint += 1
            line = self._line(fields, entry_id)
            self._last_size = len(line)
            self._bytes_since += len(line)
            if self._held is not None:
                if fields.get("subtype") in _BEGINNING:
                    self._held.append((line, written))
                    return
                for held in self._held:
                    self._log.append(*held)
                self._held = None
            self._log.append(line, written)
            if self._recent is not None and fields.get("subtype") != "session":
                self._recent.touch()

    def write_through(self, fields: dict[str, Any], entry_id: str) -> None:
        """Write an entry and flush it to the disk, before what it announces happens."""
        with self._lock:
            if not self._is_closed:
                self.write(fields, entry_id)
                self._log.sync()

    def _line(self, fields: dict[str, Any], entry_id: str | None = None) -> bytes:
        identity = entry_id or uuid.uuid4().hex
        line = self._stamp.entry(fields, identity, self.parent)
        self.parent = identity
        return line

    def _on_event(self, event: Event) -> None:
        with self._lock:
            self._write_event(event)
            if self._is_checkpoint_due():
                self._wants_checkpoint = True
            if self._wants_checkpoint:
                self.checkpoint()

    def _write_event(self, event: Event) -> None:
        if isinstance(event, ItemAdded | RequestSent | TurnEnded):
            self._write_summary({})  # its boundary did not follow
        match event:
            case ItemAdded():
                self._item_added(event.item_id)
            case ItemsChanged() if event.operation not in _REPEATED_BY_REPLAY:
                self._changed(event)
            case CutMoved():
                self._write_system("cut", cut=event.cut)
            case Compacted():
                self._boundary(event)
            case UsageReported():
                self._write_system("usage", counted=event.counted, usage=dict(event.usage))
            case RequestSent():
                self._request(event)
            case TurnEnded():
                self._turn_ended(event)
            case WindowActed() | WindowFocused() | WindowDetailChanged():
                self._window_used(event)
            case WindowCommitted():
                self._window_committed(event)
            case WindowOpened() | WindowReady():
                self._window_opened(event.window_id)
            case WindowClosed():
                self._window_closed(event)

    def _changed(self, event: ItemsChanged) -> None:
        facts = {"itemIds": list(event.item_ids), "fields": dict(event.fields)}
        self._write_system("change", operation=event.operation, **facts)
        if not self._recalled.isdisjoint(event.item_ids):
            # Otherwise a resume would have to read the whole log to know them.
            self._wants_checkpoint = True

    def _boundary(self, event: Compacted) -> None:
        """Write a compaction, and request a checkpoint: a resume reads nothing before it."""
        metadata = {
            "trigger": event.trigger,
            "preTokens": event.pre_tokens,
            "postTokens": event.post_tokens,
            "filesIncluded": list(event.files),
        }
        data = {"itemIds": list(event.item_ids), "summaryId": event.summary_id}
        boundary = {"type": "system", "subtype": "compact_boundary", "compactMetadata": metadata}
        self.write({**boundary, "data": data})
        if self._summary_id == event.summary_id:
            self._write_summary({"compactMetadata": metadata})
        self._wants_checkpoint = True

    def _item_added(self, item_id: str) -> None:
        item = self._context.get(item_id)
        if item.is_summary:
            self._summary_id = item_id
            return
        self._write_item(item)
        for fields in call_fields(item):
            self.write(fields)

    def _write_summary(self, metadata: dict[str, Any]) -> None:
        if self._summary_id is not None:
            self._write_item(self._context.get(self._summary_id), metadata)
            self._summary_id = None

    def _write_item(self, item: ContextItem, more: Mapping[str, Any] | None = None) -> None:
        written = partial(self.offsets.__setitem__, item.id)
        self.write({**item_fields(item), **(more or {})}, item.id, written)

    def _window_closed(self, event: WindowClosed) -> None:
        self.write(
            _closed_entry(self._windows, event.window_id, event.summary, event.actor),
            written=partial(self.closings.__setitem__, event.window_id),
        )

    def _write_system(self, subtype: str, **data: Any) -> int:
        """Write a system entry; return its size in bytes."""
        self.write(system_entry(subtype, **data))
        return self._last_size

    def _request(self, event: RequestSent) -> None:
        plan = {} if event.plan is None else {"plan": dict(event.plan)}
        for window_id in {one["window"]: None for one in plan.get("plan", {}).get("blocks", ())}:
            self._window_state(window_id)
        self._write_system(
            "request",
            throughSeq=event.through_seq,
            waitingIds=list(event.waiting_ids),
            **plan,
        )

    def _turn_ended(self, event: TurnEnded) -> None:
        self.turn += not event.early
        turn = self.turn

        def written(_: int) -> None:
            self.saved_turn = turn

        entry = system_entry("turn_end", turn=turn, early=event.early)
        if (end := event.finished) is not None:
            names = ("reason", "steps", "explanation", "seconds", "calls", "cached")
            facts = {name: getattr(end, name) for name in names}
            entry["data"]["finished"] = {**facts, "usage": end.usage.figures()}
        self.write(entry, written=written)
        if self._is_checkpoint_due():
            self.checkpoint()
        self._log.sync()

    def checkpoint(self) -> None:
        """Write a snapshot of everything, so that a resume need not read earlier entries."""
        if not self._log.unsaved and self._is_settled():
            self._wants_checkpoint = False
            data = checkpoint_data(
                self._context, self._windows, self.offsets, self.closings, self.turn
            )
            data["windows"] += self._absent  # a later run may have their classes
            self._write_system("checkpoint", **data)
            self._since_checkpoint = self._bytes_since = 0
            self._checkpoint_size = self._last_size
            for entry in self._named():  # they are read from here on
                self.write(entry)

    def _named(self) -> list[dict[str, Any]]:
        return [system_entry(kind, text=text) for kind, text in self.texts.items() if text]

    def _is_checkpoint_due(self) -> bool:
        if self._since_checkpoint >= self._every:
            return True
        is_worth_it = 0 < _SHARE * self._checkpoint_size <= self._bytes_since
        return is_worth_it and self._since_checkpoint >= _EARLIEST

    def _is_settled(self) -> bool:
        """Whether no turn is running and the log is complete."""
        is_written = all(item.id in self.offsets for item in self._context.open_items)
        return is_written and self._context.is_between_turns()

    # --- a new log ---------------------------------------------------------------------

    def _write_anew(self, queue: deque[Pending]) -> None:
        """Encode what is in memory as a new log, before the lines that still wait to be written.

        Past requests and turns are not included. A checkpoint follows as soon as no turn is
        running.
        """
        newest, self.parent = self.parent, None
        entries = [header()]
        for window in self._windows.windows():
            if window.id in self._logged:  # otherwise it is still opening
                self._logged[window.id] = str(runtime_of(window).core.saved.version)
                entries.append(_opened_entry(window))
        entries += [system_entry("window_opened", **facts) for facts in self._absent]
        lines: list[Pending] = [(self._line(entry), None) for entry in entries]
        for window_id in self.closings:
            entry = _closed_entry(self._windows, window_id, None, "person")
            lines.append((self._line(entry), partial(self.closings.__setitem__, window_id)))
        items = [item for item in self._context.get_all() if item.id in self.offsets]
        is_open = {item.id for item in self._context.open_items}
        count = next((at for at, item in enumerate(items) if item.id in is_open), len(items))
        lines += map(self._item_line, items[:count])
        lines.append((self._line(system_entry("turn_end", turn=self.turn, early=False)), None))
        lines += map(self._item_line, items[count:])
        rest = [system_entry("cut", cut=self._context.cut)]
        rest += self._named()
        lines += [(self._line(entry), None) for entry in rest]
        self._wants_checkpoint = True
        if queue:
            line, written = queue.popleft()
            lines.append((with_parent(line, self.parent or ""), written))
            self.parent = newest
        queue.extendleft(reversed(lines))

    def _item_line(self, item: ContextItem) -> Pending:
        """Encode an item as it is now, not as it was added."""
        fields = item_fields(item)
        fields["data"]["hidden"] = item.hidden
        return self._line(fields, item.id), partial(self.offsets.__setitem__, item.id)

    def _window_opened(self, window_id: str) -> None:
        """Write a window, once, as soon as its `opened` hook has finished."""
        window = self._windows.get(window_id)
        if window is None or window.is_opening or window_id in self._logged:
            return
        self._logged[window_id] = str(runtime_of(window).core.saved.version)
        self.write(_opened_entry(window))

    def _window_committed(self, event: WindowCommitted) -> None:
        """Write a change as soon as it is committed.

        `BACKGROUND_RATE` limits what a window changes by itself; delayed changes are written when
        due, or with the next action, request or flush.
        """
        window_id, now = event.window_id, time.monotonic()
        wait = self._paid.get(window_id, now) - now - 1.0
        if event.actor != "window":
            self._window_state(window_id)
        elif wait <= 0:
            self._write_background(window_id)
        elif window_id not in self._delayed:
            timer = threading.Timer(wait, self._write_delayed, [window_id])
            timer.daemon = True
            self._delayed[window_id] = timer
            timer.start()

    def _write_delayed(self, window_id: str) -> None:
        with self._lock:
            if self._delayed.pop(window_id, None) is not None:
                self._write_background(window_id)

    def _write_background(self, window_id: str) -> None:
        now = time.monotonic()
        seconds = self._window_state(window_id) / BACKGROUND_RATE
        self._paid[window_id] = max(self._paid.get(window_id, now), now) + seconds

    def _window_used(self, event: WindowActed | WindowFocused | WindowDetailChanged) -> None:
        if isinstance(event, WindowActed):
            window = self._windows.get(event.window_id)
            focus_id = runtime_of(window).focus_id if window is not None else None
            self._write_system(
                "window_acted",
                windowId=event.window_id,
                action=event.action_id,
                actor=event.actor,
                ok=event.ok,
                text=event.text,
                **({"focusId": focus_id} if focus_id else {}),
            )
        elif isinstance(event, WindowFocused):
            self._write_system("window_focused", windowId=event.window_id)
        self._window_state(event.window_id)

    def _window_state(self, window_id: str) -> int:
        """Write a window's state, unless this version is logged already."""
        window, logged = self._windows.get(window_id), self._logged.get(window_id)
        if window is None or logged is None:  # closed, or not logged before it has opened
            return 0
        kept = runtime_of(window).core.saved
        if logged == str(kept.version):
            return 0
        self._logged[window_id] = str(kept.version)
        return self._write_system("window_state", windowId=window_id, **kept.data())


def _opened_entry(window: Window) -> dict[str, Any]:
    """Build the entry of a window that was opened, in its current state."""
    kept, render = runtime_of(window).core.saved, runtime_of(window).renders.latest().xml
    return system_entry(
        "window_opened", windowId=window.id, name=window.name, render=render, **kept.data()
    )


def _closed_entry(
    windows: WindowManager, window_id: str, summary: str | None, actor: str
) -> dict[str, Any]:
    """Build the entry of a window that was closed, with its last render."""
    render = windows.last_render(window_id)
    return system_entry(
        "window_closed", windowId=window_id, summary=summary, actor=actor, render=render
    )


# --- memory --------------------------------------------------------------------------------

LIMIT, KEPT = 1_000, 800
"""Number of items above which old ones are unloaded, and how many stay loaded."""


class MemoryStore:
    """Unloads the content of old items and reads it from the log on demand.

    What requests show of them is cached before, so a turn reads nothing back.
    """

    def __init__(self, context: ContextManager, offsets: Mapping[str, int], path: Path) -> None:
        self._context, self._offsets, self._path = context, offsets, path
        self._through = 0  # all items up to this seq were considered
        self._reloaded: dict[str, None] = {}  # older items whose content was loaded again
        context.subscribe(self._on_event)

    def _on_event(self, event: Event) -> None:
        if isinstance(event, ItemsChanged):
            for item in map(self._context.get, event.item_ids):
                if not item.is_loaded and not item.hidden:
                    reload(item)
                    self._reloaded[item.id] = None
        elif isinstance(event, TurnEnded) and self._context.current_seq > LIMIT:
            self._unload_old(self._context.current_seq - KEPT)

    def _unload_old(self, newest: int) -> None:
        self._context.outlook()  # cache what requests show of them while it is loaded
        old = [self._context.get(item_id) for item_id in self._reloaded]
        for item in self._context.get_all().since(self._through + 1):
            if item.seq > newest:
                break
            old.append(item)
            self._through = item.seq
        self._reloaded.clear()
        for item in old:
            # An edit is a separate entry in the log, not part of the item's own.
            unchanged = not item.revision and item.stage is Stage.FINAL
            if item.id in self._offsets and unchanged and item.is_loaded and is_conversation(item):
                shown = partial(self._as_shown, item)
                unload(item, stored(self._path, self._offsets, item.id, fallback=shown))

    def _as_shown(self, item: ContextItem) -> Content:
        """Return what requests show of an item, if the log was damaged or removed."""
        shown = self._context.shown_content(item)
        if shown is None or isinstance(shown, str):
            return shown or item.gist or "", None
        texts = (str(block.get("text", "")) for block in shown if block.get("type") == "text")
        return "\n".join(texts), tuple(shown)
