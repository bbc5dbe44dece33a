"""`Bench`: the window under development, its file, and what the model reads of it. No session."""

import re
import threading
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Literal

from contextui.agent.approval import ApprovalGate
from contextui.agent.controller import InteractionController
from contextui.agent.models.offline import OfflineModel
from contextui.context.manager import ContextManager
from contextui.errors import ContextUIError
from contextui.events import Event, WindowActed, WindowNotified, WindowTroubled
from contextui.files.workspace import Workspace
from contextui.text import cap, one_line
from contextui.tui.commands import arguments
from contextui.tui.inspector.draft import line_marks
from contextui.windowing.action import ActionResult
from contextui.windowing.blocks import actions_of, change_block, with_reference
from contextui.windowing.finding.registry import discover
from contextui.windowing.finding.reload import Reloader, ReloadReport
from contextui.windowing.finding.source import WindowLoadError, read_source
from contextui.windowing.manager import WindowManager
from contextui.windowing.runtime import runtime_of
from contextui.windowing.snapshot import ContextVersion, Lod
from contextui.windowing.window import Window
from contextui.words import Lang, Words, msg

LogKind = Literal["reload", "warning", "error", "you", "model", "window", "opened"]

_PLACE = re.compile(r"\(?([\w.\-]+\.py)(?::|, line )(\d+)\)?")
_LEVELS = (Lod.FULL, Lod.SUMMARY, Lod.GIST)
_LONGEST = 300  # characters of a line in the log
_MOST = 500  # entries of the log
_WHOLE = 20_000  # characters of an entry's details
_AROUND = 3  # lines of the source above and below a place
_LARGER = {
    Lod.SUMMARY: msg("Summary is larger than Full."),
    Lod.GIST: msg("Gist is larger than Summary."),
}


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One line of the log."""

    at: datetime
    kind: LogKind
    text: str
    place: str = ""
    details: str = ""


@dataclass(frozen=True, slots=True)
class Level:
    """What the model reads at a level of detail."""

    lod: Lod
    xml: str
    tokens: int
    changed: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Reading:
    """What the model reads of the window."""

    version: ContextVersion
    before: ContextVersion | None
    levels: tuple[Level, ...]  # from most to least detail
    change: str = ""  # the change block since `before`; empty if the whole block is sent
    change_tokens: int = 0

    @property
    def warnings(self) -> list[str]:
        """The messages about levels that are larger than the level above them."""
        pairs = zip(self.levels, self.levels[1:], strict=False)
        return [_LARGER[less.lod] for more, less in pairs if less.tokens > more.tokens]


class Bench:
    """The window under development. Nothing of it is saved."""

    def __init__(self, spec: str, folder: Path, typed: str = "", lang: Lang = "en") -> None:
        registry = discover(files=[spec], packages=())
        entries = registry.load_all()
        for entry in entries:
            if not entry.usable:
                raise WindowLoadError(
                    "{window} cannot be used: {reason}.", window=entry.name, reason=entry.reason
                )
        self.name, self.path = entries[0].name, entries[0].path or Path(spec)
        self.words = Words(lang)
        own = registry.classes()
        names = {cls.name for cls in own}
        others = [cls for cls in discover().classes() if cls.name not in names]
        self.windows = WindowManager([*own, *others], lang=lang, workspace=Workspace(folder))
        self.controller = InteractionController(
            model=OfflineModel(),
            context=ContextManager(self.windows),
            approval=ApprovalGate("ask"),
        )
        self.controller.install_prompt()
        self.reloader = Reloader(registry, self.windows)
        self.log: list[LogEntry] = []
        self.on_change: Callable[[], object] = lambda: None
        self._typed, self._window_id = typed, ""
        self._lock, self._log_lock = threading.Lock(), threading.Lock()
        self._now: Reading | None = None
        self._before: Reading | None = None
        self._seen: list[object] = []
        self.was_saved()
        self.windows.subscribe(self._on_event)
        for entry in entries:
            if entry.warning:
                self.note("warning", self.words(entry.warning))
        self.open()

    @property
    def window(self) -> Window | None:
        return self.windows.get(self._window_id)

    def open(self) -> None:
        cls = self.windows.classes[self.name]
        self._window_id = self.windows.open(self.name, **arguments(self._typed, cls.opening)).id
        self._now = self._before = None
        self.note("opened", self._window_id)

    def restart(self) -> None:
        if self.window is not None:
            self.windows.close(self._window_id)
        self.open()

    def close(self) -> None:
        self.controller.close()
        self.windows.shut_down()
        if self.windows.workspace is not None:
            self.windows.workspace.close()

    # --- the file ----------------------------------------------------------------------

    def was_saved(self) -> bool:
        """Whether the file, or the file of its widget, was saved since the last look."""
        before, self._seen = self._seen, list(map(_file_signature, self._watched()))
        return before != self._seen

    def reload(self, *, fresh: bool = False) -> ReloadReport:
        report = self.reloader.reload(fresh=fresh)
        if report.is_good and report.reloaded:
            window = self.window
            version = f"v{window.version.major}" if window is not None else ""
            text = self.words("{file} saved, state {version} kept", file=self.path.name,
                              version=version)  # fmt: skip
            self.note("reload", text)
        for fault in report.faults:
            self._note_fault(self.words(fault.reason), fault.place)
        for one in report.windows:
            if one.problem:
                self._note_fault(one.problem)
            if kept := dict(one.refused or one.aside):
                self.note("warning", self.words("State kept aside: {state}", state=kept))
        for name in report.removed:
            words = self.words("{name} is no longer defined. The old code runs on.", name=name)
            self._note_fault(words)
        for warning in report.warnings:
            self.note("warning", self.words(warning))
        return report

    def _note_fault(self, reason: str, place: str = "") -> None:
        self.note("error", _PLACE.sub("", reason).rstrip(" ."), place or place_of(reason))

    def _watched(self) -> Iterator[Path]:
        yield self.path
        named = {(cls.widget or "").partition(":")[0] for cls in self.windows.classes.values()}
        for name in sorted(named - {""}):
            if "." not in name:
                yield self.path.with_name(f"{name}.py")

    # --- what the model reads ------------------------------------------------------------

    def read(self) -> Reading | None:
        """Render the window at all levels, and compare with the version before; may wait."""
        window = self.window
        if window is None:
            return None
        version, counter = window.version, self.controller.context.counter
        texts = {lod: runtime_of(window).renders.at(lod).xml for lod in _LEVELS}
        for lod in _LEVELS[1:]:  # as in a request: a list of actions that is known is not repeated
            if actions_of(texts[lod]) == actions_of(texts[Lod.FULL]):
                texts[lod] = with_reference(texts[lod], window.id)
        with self._lock:
            if self._now is not None and self._now.version.major != version.major:
                self._before = self._now
            before = self._before
            old = {level.lod: level.xml for level in before.levels} if before else {}
            levels = tuple(
                Level(lod, xml, counter.count(xml), _changed_lines(old.get(lod), xml))
                for lod, xml in texts.items()
            )
            change = ""
            if before is not None:
                change = change_block(old[Lod.FULL], texts[Lod.FULL]) or ""
            self._now = Reading(
                version,
                before.version if before is not None else None,
                levels,
                change,
                counter.count(change) if change else 0,
            )
            return self._now

    # --- the log -------------------------------------------------------------------------

    def note(self, kind: LogKind, text: str, place: str = "") -> None:
        place, details = place or place_of(text), cap(text, _WHOLE)
        entry = LogEntry(datetime.now(), kind, one_line(text, _LONGEST), place, details)
        with self._log_lock:
            self.log = [entry, *self.log[: _MOST - 1]]
        self.on_change()

    def explain(self, action_id: str, result: ActionResult) -> None:
        cause = result.error.__cause__ if result.error is not None else None
        if result.ok or cause is None or isinstance(cause, ContextUIError):
            return
        trace = self._traceback(cause)
        with self._log_lock:
            for at, entry in enumerate(self.log):
                if entry.kind == "error" and entry.text.startswith(f"{action_id}: "):
                    details = cap(f"{entry.details}\n\n{trace}", _WHOLE)
                    self.log[at] = replace(entry, details=details)
                    break

    def whole(self, entry: LogEntry) -> str:
        """Return the whole text of a line of the log, with the source at its place."""
        parts = [entry.details or entry.text]
        if entry.place and entry.place not in parts[0]:
            parts.append(entry.place)
        if source := self._source_at(entry.place):
            parts.append(f"\n{source}")
        return "\n".join(parts)

    def file_of(self, place: str) -> tuple[Path, int | None]:
        """Return the file and line of a place; without one, the window's file."""
        name, _, number = place.partition(":")
        path = self.path.with_name(name) if name else self.path
        return path, int(number) if number.isdecimal() else None

    def _source_at(self, place: str) -> str:
        """Return the lines around a place, the line itself marked; empty if there are none."""
        path, number = self.file_of(place)
        if not place or number is None:
            return ""
        try:
            lines = read_source(path).splitlines()  # of bytes: those that Python counts
        except WindowLoadError:
            return ""  # the file is gone: the text is all there is
        first = max(number - _AROUND, 1)
        return "\n".join(
            f"{'›' if at == number else ' '} {at:>4}  {text.decode('utf-8', 'replace')}"
            for at, text in enumerate(lines[first - 1 : number + _AROUND], first)
        )

    def _traceback(self, error: BaseException) -> str:
        """Return the traceback of an exception from the window's own code on."""
        trace = traceback.TracebackException.from_exception(error)
        own = [at for at, one in enumerate(trace.stack) if one.filename == str(self.path)]
        trace.stack = traceback.StackSummary.from_list(
            (Path(one.filename).name, one.lineno or 0, one.name, one.line)
            for one in trace.stack[own[0] if own else 0 :]
        )
        return "".join(trace.format()).rstrip()

    def _on_event(self, event: Event) -> None:
        match event:
            case WindowActed():
                kind: LogKind = "you" if event.actor == "person" else "model"
                self.note(kind if event.ok else "error", f"{event.action_id}: {event.text}")
            case WindowTroubled():
                self.note("error", event.reason)
            case WindowNotified():
                self.note("window", event.text)
            case _:
                self.on_change()


def place_of(text: str) -> str:
    """Return the file and line that a message names, such as ``kanban.py:24``."""
    found = _PLACE.search(text)
    return f"{found[1]}:{found[2]}" if found else ""


def _changed_lines(old: str | None, new: str) -> frozenset[int]:
    """Return the numbers of the lines that are new or changed; the first one has the version."""
    marks = line_marks(old.split("\n"), new.split("\n")) if old is not None else []
    return frozenset(number for number, mark in enumerate(marks) if number and mark)


def _file_signature(path: Path) -> object:
    try:
        return sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        return error.errno
