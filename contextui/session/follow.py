"""`Follower`: follow a session that another process writes to, by reading what its log gains."""

import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO, TypeAlias

from contextui.context.item import ContextItem, Stage
from contextui.context.replay import ContextReplay
from contextui.plain_file import open_plain
from contextui.session.entry import DamagedLineError, Entry, decode
from contextui.session.reader import Line, begins_line, line_at, lines
from contextui.session.replay import NewerSchemaError, Replay, WindowReplay
from contextui.session.store import SessionStore, SessionView, UnknownSessionError

_HIGHEST = 2**53  # of a figure in the log
_IN_ITEMS = ("prompt", "window_item")


@dataclass(frozen=True, slots=True)
class RequestCost:
    """The cost of a request; None for what the log does not say.

    Attributes:
        number: The number of the request in its session.
        sent: The tokens of the request.
        cached: Those of them that the provider read from its cache.
        outdated: Those of them that a request written from scratch would not have.
        received: The tokens of the answer.
        is_estimate: Whether `sent` is our own count: the provider reported none.
    """

    number: int | None = None
    sent: int | None = None
    cached: int | None = None
    outdated: int | None = None
    received: int | None = None
    is_estimate: bool = False


@dataclass(frozen=True, slots=True)
class Sweep:
    """A request was rewritten from a place on; None for what the log does not say.

    Attributes:
        after: The place.
        reason: Why.
        rent: What the outdated tokens would have cost.
        price: What rewriting costs.
        saved: The tokens that are gone.
    """

    after: int | None = None
    reason: str = ""
    rent: float | None = None
    price: float | None = None
    saved: int | None = None


@dataclass(frozen=True, slots=True)
class Restarted:
    """Another file is in the place of the log; all of its items follow."""


Update: TypeAlias = ContextItem | RequestCost | Sweep | Restarted
"""What happened: an item that is new or may have changed, a request, a sweep, or a new log."""


class Follower:
    """Follows the log of a session, without locking it and without writing.

    The items are in the state in which `SessionStore.view` would show them. New entries are applied
    to that state. What they refer to may be unknown or invalid, and a checkpoint moves old items
    out of memory: in these cases the log is loaded again from its last checkpoint.

    Args:
        store: The sessions.
        session_id: The session.
        warn: Callback for messages about damage and windows that were not restored.

    Raises:
        UnknownSessionError: There is no such session.

    Example:
        >>> with Follower(SessionStore(), "3f2a") as follower:
        ...     while True:
        ...         for update in follower.poll():
        ...             print(update)
        ...         time.sleep(0.3)
    """

    def __init__(
        self, store: SessionStore, session_id: str, warn: Callable[[str], None] = lambda _: None
    ) -> None:
        self._store, self._warn = store, warn
        info = store.find(session_id)
        self._id, self._path = info.id, info.path
        self._file: BinaryIO | None = None  # kept open, or another file could get its number
        self._seen: tuple[int, int] | None = None  # the size and the time of the last change
        self._position = 0
        self._warned: set[str] = set()

    def __enter__(self) -> "Follower":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the log."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def poll(self) -> Iterator[Update]:
        """Yield what happened since the last call; the first time, all items.

        A log that is missing is waited for.

        Raises:
            NewerSchemaError: A newer program wrote the log.
        """
        try:
            info = os.stat(self._path)
        except FileNotFoundError:
            return
        if self._file is None:
            yield from self._load()
        elif not os.path.samestat(info, os.fstat(self._file.fileno())) or (
            info.st_size < self._position
        ):
            yield Restarted()
            yield from self._load()
        elif (info.st_size, info.st_mtime_ns) != self._seen:
            self._seen = (info.st_size, info.st_mtime_ns)
            yield from self._read()

    def _load(self) -> Iterator[Update]:
        """Load the log, and yield all items."""
        self.close()
        try:
            file = self._file = open_plain(self._path)
            info = os.fstat(file.fileno())
            view = self._store.view(self._id)
        except (FileNotFoundError, UnknownSessionError):
            self.close()  # it was just moved; the next call tries again
            return
        view.close()  # the windows need not run: only what the log says about them is shown
        for notice in view.notices:
            if notice not in self._warned:
                self._warned.add(notice)
                self._warn(notice)
        self._seen = (info.st_size, info.st_mtime_ns)
        self._view, self._context = view, view.context
        self._replay = Replay(view.context, WindowReplay())
        self._replay.turn, self._replay.left_out = view.loaded.turn, view.loaded.set_aside
        self._open = {window.id for window in view.windows.windows()}
        self._request: RequestCost | None = None
        self._position = self._end_of_loaded(file, view, info.st_size)
        self._forms = {item.seq: _form(item) for item in view.context.get_all()}
        yield from view.items()

    @staticmethod
    def _end_of_loaded(file: BinaryIO, view: SessionView, size: int) -> int:
        """Return the offset after the last line that was loaded, valid or not."""
        if not view.loaded.parsed:
            return 0
        last = line_at(file, view.loaded.end)
        return max(last.offset + len(last.text) + 1, size if begins_line(file, size) else 0)

    def _read(self) -> Iterator[Update]:
        """Apply the new entries and yield what they did."""
        try:
            file = open_plain(self._path)  # a buffer may hold bytes that were taken back
        except FileNotFoundError:
            return
        with file:
            for line, end in _complete_lines(file, self._position):
                entry = self._decoded(line)
                if entry is not None and not self._continues(entry):
                    yield from self._load()
                    return
                self._position = end
                if entry is not None:
                    yield from self._apply(entry)
        self._settle_windows()
        yield from self._changed(self._context.get_all())

    def _decoded(self, line: Line) -> Entry | None:
        if not line.text.strip():
            return None
        try:
            return decode(line.text)
        except DamagedLineError:
            self._replay.left_out += 1
            return None

    def _continues(self, entry: Entry) -> bool:
        """Whether an entry can be applied to what is loaded."""
        data = entry.data or {}
        if entry.subtype == "checkpoint":
            return False
        if entry.subtype in ("change", "compact_boundary"):
            return all(item_id in self._context.items for item_id in data.get("itemIds", ()))
        is_item = entry.type != "system" or entry.subtype in _IN_ITEMS
        return not is_item or data.get("seq") in (None, self._context.current_seq + 1)

    def _apply(self, entry: Entry) -> Iterator[Update]:
        try:
            item = self._replay.apply(entry)
        except NewerSchemaError:
            raise
        except Exception:  # an invalid entry may cause anything; only it is lost
            self._replay.left_out += 1
            return
        if item is not None:
            self._forms[item.seq] = _form(item)
            yield item
        match entry.subtype:
            case "window_opened" if entry.data["name"] in self._view.windows.classes:
                self._open.add(entry.data["windowId"])
            case "window_closed":
                self._open.discard(entry.data["windowId"])
                self._context.mark_window_obsolete(entry.data["windowId"])
                yield from self._changed(self._context.window_items(entry.data["windowId"]))
            case "change":
                yield from self._changed(map(self._context.get, entry.data["itemIds"]))
            case "request" | "turn_end":
                # The provider did not report the usage of the request before.
                if self._request is not None and self._request.outdated is not None:
                    yield self._request
                self._request = None
                if entry.subtype == "request":
                    yield from self._planned(entry.data.get("plan"))
            case "usage":
                planned, self._request = self._request or RequestCost(), None
                yield _with_usage(planned, entry.data)

    def _planned(self, plan: object) -> Iterator[Update]:
        if not isinstance(plan, Mapping):  # logs of older versions have none
            return
        self._request = RequestCost(_count(plan, "number"), outdated=_count(plan, "outdated"))
        sweep = plan.get("sweep")
        if isinstance(sweep, Mapping):
            reason = sweep.get("reason")
            yield Sweep(
                after=_count(sweep, "after"),
                reason=reason if isinstance(reason, str) else "",
                rent=_figure(sweep, "rent"),
                price=_figure(sweep, "price"),
                saved=_count(sweep, "saved"),
            )

    def _settle_windows(self) -> None:
        """Hide the items of windows that are not open, as a restored session does."""
        context = self._context
        for window_id in context.window_ids:
            if window_id not in self._open:
                context.mark_window_obsolete(window_id)
            elif (newest := context.window_items(window_id)[-1]).hidden == "closed":
                ContextReplay(context).set([newest], {"hidden": None})

    def _changed(self, items: Iterable[ContextItem]) -> Iterator[ContextItem]:
        """Yield those items that are shown differently than before."""
        for item in items:
            form = _form(item)
            if self._forms.get(item.seq) != form:
                self._forms[item.seq] = form
                yield item


def _complete_lines(file: BinaryIO, start: int) -> Iterator[tuple[Line, int]]:
    """Yield the lines from an offset on and where each ends, except for one still being written."""
    held: Line | None = None
    for line in lines(file, start):
        if held is not None:
            yield held, line.offset
        held = line
    end = file.tell()
    if held is not None and begins_line(file, end):
        yield held, end


def _form(item: ContextItem) -> tuple[object, ...]:
    """Return what decides how an item is shown, without its content."""
    return (item.hidden, item.pinned, item.revision, item.stage is Stage.FINAL)


def _with_usage(cost: RequestCost, data: Mapping[str, Any]) -> RequestCost:
    usage = data["usage"]
    cached, received = _count(usage, "cache_read_input_tokens"), _count(usage, "output_tokens")
    names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    sent = sum(_count(usage, name) or 0 for name in names)
    return RequestCost(
        cost.number, sent or data["counted"], cached, cost.outdated, received, not sent
    )


def _count(facts: Mapping[str, Any], name: str) -> int | None:
    value = facts.get(name)
    return value if type(value) is int and 0 <= value <= _HIGHEST else None


def _figure(facts: Mapping[str, Any], name: str) -> float | None:
    value = facts.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) and abs(value) <= _HIGHEST else None
