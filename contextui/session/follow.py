"""`Follower`: follow a session that another process writes to, by reading what its log gains."""

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import BinaryIO, TypeAlias

from contextui.context.item import ContextItem, Hidden, Stage
from contextui.plain_file import open_plain
from contextui.session.entry import Entry
from contextui.session.lines import lines
from contextui.session.reader import entries, line_at
from contextui.session.store import SessionStore, SessionView, UnknownSessionError
from contextui.session.usage import Sweep, planned, usage_of


@dataclass(frozen=True, slots=True)
class RequestCost:
    """The cost of a request, None for what the log does not say; our own count is an estimate."""

    number: int | None = None
    sent: int | None = None
    cached: int | None = None
    outdated: int | None = None
    received: int | None = None
    is_estimate: bool = False


@dataclass(frozen=True, slots=True)
class Restarted:
    """Another file is in the place of the log; all of its items follow."""


Update: TypeAlias = ContextItem | RequestCost | Sweep | Restarted
"""What happened: an item that is new or may have changed, a request, a sweep, or a new log."""


class Follower:
    """Follows the log of a session, without locking it and without writing.

    The items are in the state in which `SessionStore.view` shows them: a log that has grown is
    loaded again from its last checkpoint.
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
        self._request: RequestCost | None = None
        self._forms: dict[int, tuple[Hidden | None, bool, int, bool]] = {}  # of each item by seq
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
        """Yield what happened since the last call; the first time, all items."""
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
        self.close()
        try:
            file = self._file = open_plain(self._path)
            info = os.fstat(file.fileno())
            self._view = self._look()
        except (FileNotFoundError, UnknownSessionError):
            self.close()  # it was just moved; the next call tries again
            return
        self._seen, self._position = (info.st_size, info.st_mtime_ns), self._end_in(file)
        self._request, self._forms = None, {}
        yield from self._changed(self._view.items())

    def _end_in(self, file: BinaryIO) -> int:
        """Return where the entries end that the view has; the log may have grown since."""
        loaded = self._view.loaded
        return loaded.end + len(line_at(file, loaded.end).text) + 1 if loaded.parsed else 0

    def _look(self) -> SessionView:
        view = self._store.view(self._id)
        view.close()  # the windows need not run: only what the log says about them is shown
        for notice in view.notices:
            if notice not in self._warned:
                self._warned.add(notice)
                self._warn(notice)
        return view

    def _read(self) -> Iterator[Update]:
        """Yield what the new entries of the view did."""
        try:
            before, self._view = self._view, self._look()
            with open_plain(self._path) as file:  # a buffer may hold bytes that were taken back
                end = self._end_in(file)
                found = [one for one in lines(file, self._position) if one.offset < end]
        except (FileNotFoundError, UnknownSessionError):
            return
        self._position, context = end, self._view.context
        for _, entry in entries(found):
            data = entry.data or {}
            named = (entry.uuid, *data.get("itemIds", ()))
            yield from self._changed(context.items[name] for name in named if name in context.items)
            if entry.subtype == "window_closed":
                yield from self._changed(context.window_items(data["windowId"]))
            yield from self._costs(entry)
        # A new checkpoint leaves items in the log that may have changed just before it.
        is_later = self._view.loaded.start != before.loaded.start
        yield from self._changed(self._view.items() if is_later else context.get_all())

    def _costs(self, entry: Entry) -> Iterator[Update]:
        """Yield the sweep and the cost of a request; its usage comes after it, if at all."""
        match entry.subtype:
            case "request" | "turn_end":
                # The provider did not report the usage of the request before.
                if self._request is not None and self._request.outdated is not None:
                    yield self._request
                self._request = None
                plan = planned(entry.data.get("plan"))
                if plan is not None:
                    self._request = RequestCost(plan.number, outdated=plan.outdated)
                    if plan.sweep is not None:
                        yield plan.sweep
            case "usage":
                request, self._request = self._request or RequestCost(), None
                usage = usage_of(entry.data["usage"])
                if not usage:
                    yield replace(request, sent=entry.data["counted"], is_estimate=True)
                    return
                read = usage.cache_read_input_tokens
                yield replace(
                    request,
                    sent=usage.input_tokens + read + usage.cache_creation_input_tokens,
                    cached=read,
                    received=usage.output_tokens,
                )

    def _changed(self, items: Iterable[ContextItem]) -> Iterator[ContextItem]:
        """Yield those items that are shown differently than before."""
        for item in items:
            form = item.hidden, item.pinned, item.revision, item.stage is Stage.FINAL
            if self._forms.get(item.seq) != form:
                self._forms[item.seq] = form
                yield item
