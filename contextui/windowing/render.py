"""Renders of windows: snapshots and XML, drawn on the window's thread and cached per version.

The content of files that may hold secrets is withheld from the model (`SecretReads`).
"""

import html
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from contextui import text
from contextui.errors import ContextUIError, InvalidSourceDataError
from contextui.events import Progress, WindowChanged, WindowDetailChanged
from contextui.files.errors import FileError, SecretFileError
from contextui.windowing.action import Action, AnyAnchor, Reference, register
from contextui.windowing.blocks import ActionLine, parts_of, window_xml
from contextui.windowing.core import WindowCore
from contextui.windowing.snapshot import (
    Anchor,
    ContextVersion,
    Element,
    Lod,
    Snapshot,
    SnapshotHeader,
    SnapshotState,
)
from contextui.windowing.window import Window
from contextui.windowing.worker import PATIENCE
from contextui.words import Lang, Words

if TYPE_CHECKING:
    from contextui.files.workspace import Workspace

_LONGEST_DESCRIPTION = 2_000  # characters
_LONGEST_UNSAVED = 300  # characters


@dataclass(frozen=True, slots=True)
class Render:
    """One finished render: snapshot, XML, anchors and unsaved edits.

    The person sees the snapshot, the model the XML. They differ where content of files that may
    hold secrets is withheld from the model.
    """

    snapshot: Snapshot
    xml: str
    anchors: Mapping[str, AnyAnchor]
    unsaved: str = ""
    withheld: tuple[str, ...] = ()

    @property
    def version(self) -> ContextVersion:
        """The version that was rendered."""
        return self.snapshot.header.version

    @property
    def lod(self) -> Lod:
        """The level of detail that was rendered."""
        return self.snapshot.state.current_lod

    @property
    def output(self) -> tuple[object, ...]:
        """What it shows, regardless of version."""
        shown = self.snapshot.content, self.snapshot.elements, self.snapshot.error
        return *shown, self.snapshot.jobs, self.anchors, self.unsaved, self.withheld


class Frame(NamedTuple):
    """What a render is drawn for."""

    version: ContextVersion
    lod: Lod
    jobs: Mapping[int, str]
    state: Mapping[str, Any] | None = None


def _further_actions(window: Window) -> dict[str, Action]:
    found: dict[str, Action] = {}
    for action in window.more_actions():
        if not isinstance(action, Action) or action.call is None:
            shown = text.quote(str(action))
            raise InvalidSourceDataError(f"more_actions() gave {shown}, not an Action with a call.")
        found[action.id] = action
    return found


def message(core: WindowCore, frame: Frame, words: str, *, is_error: bool = False) -> Render:
    """Render words in place of the content: that it has none yet, or why it failed."""
    snapshot = _snapshot(core, frame, words, None, {}, error=words if is_error else None)
    return Render(snapshot, _xml(core.window, snapshot, {}), {})


def stale(window: Window, render: Render) -> Render:
    """Return the render marked as stale."""
    snapshot = render.snapshot.model_copy(update={"stale": True})
    render = replace(render, snapshot=snapshot, xml=_xml(window, snapshot, render.anchors))
    return withhold(window, render, render.withheld)


def withhold(window: Window, render: Render, files: tuple[str, ...]) -> Render:
    """Withhold a render's content from the model if it shows any of these files."""
    if not files:
        return render
    names = ", ".join(map(text.shown_name, files))
    notice = Words(window.env.lang)(
        "Content withheld: {names} may hold secrets. Acting on this window asks the person for it.",
        names=names,
    )
    hidden = {"content": notice, "elements": None, "error": None}
    xml = _xml(window, render.snapshot.model_copy(update=hidden), {})
    return replace(render, xml=xml, withheld=files)


def _snapshot(
    core: WindowCore,
    frame: Frame,
    content: str,
    elements: tuple[Element, ...] | None,
    registry: Mapping[str, AnyAnchor],
    *,
    error: str | None = None,
) -> Snapshot:
    return Snapshot(
        header=SnapshotHeader(
            app_id=core.window.name,
            session_id=core.around.session_id,
            version=frame.version,
            timestamp=core.around.clock(),
        ),
        # Not copied for every render: `Runtime.snapshot` returns a frozen copy.
        state=SnapshotState.model_construct(
            current_lod=frame.lod, focus_id=None, custom=frame.state
        ),
        content=content,
        elements=elements,
        anchors={
            anchor_id: Anchor(type=one.kind, params=one.fields, target=one.target)
            for anchor_id, one in registry.items()
        },
        error=error,
        jobs=frame.jobs,
    )


def _coerce(body: object, limit: int) -> tuple[str, tuple[Element, ...] | None]:
    """Convert the content to text within the limit, and to elements if there are any."""
    if isinstance(body, str):
        return text.for_model(text.cap(body, limit)), None
    if isinstance(body, Element):
        body = (body,)
    if isinstance(body, Sequence) and all(isinstance(one, Element) for one in body):
        shown = "\n".join(line for element in body for line in element.lines())
        if len(shown) <= limit:
            return text.for_model(shown), tuple(body)
        return text.for_model(text.cap(shown, limit)), None
    raise InvalidSourceDataError(
        f"content() returned {_described(body)}; it must return text, an Element, or a list of "
        "Elements."
    )


def _described(body: object) -> str:
    if isinstance(body, Sequence):
        odd = next((one for one in body if not isinstance(one, Element)), None)
        return f"{type(body).__name__} with {type(odd).__name__} in it"
    return "None" if body is None else type(body).__name__


def _xml(window: Window, snapshot: Snapshot, registry: Mapping[str, AnyAnchor]) -> str:
    lang = window.env.lang
    lod = snapshot.state.current_lod
    lines = [_action_line(action, lod, lang) for action in window.actions.values()]
    for anchor in registry.values():
        if not isinstance(anchor, Reference):
            bound = window.actions[anchor.action]
            listing = bound.params.listing
            open_params = [str(param) for param in listing if param.name in anchor.fields]
            label = text.one_line(anchor.label, 200) if anchor.label else bound.labelled(lang)
            lines.append(ActionLine(anchor.id, ",".join(open_params), label))
    close = ActionLine("close", "summary:string?", Words(lang)("Close"))
    # A description that the window set on itself is not translated.
    is_own = window.description != type(window).description
    described = str(window.description) if is_own else window.described(lang)
    described = text.cap(described, _LONGEST_DESCRIPTION)
    return window_xml(window.id, described, snapshot, [*lines, close])


def _action_line(one: Action, lod: Lod, lang: Lang) -> ActionLine:
    """Describe an action; of one that exists only now, less at lower levels of detail.

    A server may have a hundred tools: as a gist they are names, `describe` has the rest.
    """
    if one.call is None or lod is Lod.FULL:
        return ActionLine(one.id, str(one.params), one.labelled(lang))
    return ActionLine(one.id, str(one.params) if lod is Lod.SUMMARY else "", "")


class Reading:
    """One call into a window, and the secret files it reads.

    Attributes:
        allowed: The files that may be read; None for all, if the model gets no result.
        disclosed: Whether the model may read more of the window afterwards.
    """

    def __init__(self, allowed: frozenset[str] | None) -> None:
        self.allowed = allowed
        self.refused: SecretFileError | None = None
        self.disclosed = False


class SecretReads:
    """Tracks which files that may hold secrets a window has read.

    A window may read them at any time, and the person sees them. The window's content and the
    results of the model's calls are withheld from the model. A call of the model that would read
    such a file is refused and rolled back; the person is asked, and the call is retried.

    Paths are real paths, with links resolved. Belongs to the window's thread.
    """

    def __init__(self, core: WindowCore) -> None:
        self._core = core
        self._read = set[str]()
        self._disclosed = frozenset[str]()
        self._reading = Reading(None)

    def take_over(self, other: "SecretReads") -> None:
        """Treat all that another window has read as read by this one, which has its state."""
        self._read, self._disclosed = set(other._read), other._disclosed

    @property
    def inherited(self) -> frozenset[str] | None:
        """The files that windows opened by the current call may read."""
        return self._reading.allowed

    def guard(self, path: str, real: str) -> None:
        """Record that a file is read, or refuse it; see `Workspace.guarded`."""
        reading = self._reading
        allowed = reading.allowed
        if (
            allowed is None
            or real in allowed | self._disclosed
            or self._core.around.discloses_all()
        ):
            self._read.add(real)
            return
        refused = SecretFileError(path, real)
        reading.refused = reading.refused or refused
        raise refused

    @contextmanager
    def reading(self, allowed: frozenset[str] | None) -> Iterator[Reading]:
        """Wrap a call into the window."""
        self._reading = reading = Reading(allowed)
        before = self._disclosed
        try:
            yield reading
        finally:
            self._reading = Reading(None)
            # A file that is no longer shown needs approval again when it comes back.
            self._disclosed = (before | (allowed or frozenset())) & self._shown()
            reading.disclosed = bool(self._disclosed - before)

    @staticmethod
    def check(withheld: Iterable[str], allowed: frozenset[str]) -> None:
        """Raise if the window shows a file that the model may not read."""
        for real in withheld:
            if real not in allowed:
                raise SecretFileError(real, real)

    def withheld(self) -> tuple[str, ...]:
        """Return the files whose content is withheld from the model."""
        if self._core.around.discloses_all():
            return ()
        return tuple(sorted(self._shown() - self._disclosed))

    def _shown(self) -> frozenset[str]:
        files = self._core.env.files
        try:
            paths = self._core.window.shown_files()
            if paths is None or files is None:
                return frozenset(self._read)
            return frozenset(real_path(files, path) for path in paths if files.is_secret(path))
        except Exception:  # author's code failed: disclose nothing
            return frozenset(self._read)


def real_path(files: "Workspace", path: str) -> str:
    """Return a path with its links resolved, or the path itself if it cannot be."""
    try:
        return files.real(path)
    except FileError:
        return path


class Renders:
    """Cache of a window's newest finished render at each level of detail.

    Attributes:
        replacement: Text shown in place of the content: why the window did not open.
        recorded: The block that the log has, of a window that is only looked at.
    """

    def __init__(self, core: WindowCore, secrets: SecretReads) -> None:
        self.replacement: str | None = None
        self.recorded = ""
        self.jobs: Callable[[], Sequence[Progress]] = tuple
        self._core, self._secrets = core, secrets
        self._finished: Mapping[Lod, Render] = {}
        self._drawing: dict[Lod, Future[None]] = {}
        self._lock = threading.Lock()
        self._outdated: tuple[Render, Render] | None = None
        self._reported: set[str] = set()

    def latest(self) -> Render:
        """Return the newest finished render, marked stale if it is out of date. Never waits."""
        finished = self._finished  # read before the version, so that no render can be newer than it
        present = self._core.saved
        render = finished.get(present.lod)
        if render is not None and render.version == present.version:
            return render
        newest = max(
            finished.values(), key=lambda one: (one.version, one.lod is present.lod), default=None
        )
        if newest is None:
            frame, words = self._frame(present.lod, ContextVersion(0)), self._core.words
            if self._core.is_opening:
                return message(self._core, frame, words("Opening…"))
            reason = self.replacement or words("{id} has not been drawn yet.", id=self._core.id)
            newest = message(self._core, frame, reason, is_error=True)
        known, marked = self._outdated or (None, newest)
        if known is not newest:
            marked = stale(self._core.window, newest)
            self._outdated = newest, marked
        return marked

    def at(self, lod: Lod | None = None) -> Render:
        """Return the render at this level; wait for it as long as the caller can."""
        level = lod or self._core.lod
        if render := self.current(level):
            return render
        if self._core.is_opening:
            return self.latest()
        self._core.worker.wait(self.request(level))
        return self.current(level) or self.latest()

    def finished(self, lod: Lod) -> Render | None:
        """Return the newest finished render at this level, of whatever version."""
        return self._finished.get(lod)

    def current(self, lod: Lod | None = None) -> Render | None:
        """Return the render at this level if it shows the current version."""
        render = self._finished.get(lod or self._core.lod)
        return render if render is not None and render.version == self._core.version else None

    def pending(self) -> "Future[None] | None":
        """Return the pending render of the current version, if any.

        There is none to wait for while a window takes long to open: it shows that it is opening.
        """
        if self._core.is_opening and self._core.worker.busy_for() > PATIENCE:
            return None
        return None if self.current() else self.request()

    def request(self, lod: Lod | None = None) -> "Future[None]":
        """Queue a render of the current version at this level, and return its future."""
        level = lod or self._core.lod
        with self._lock:
            waiting = self._drawing.get(level)
            if waiting is None or waiting.done() or waiting.running():
                waiting = self._drawing[level] = self._core.worker.submit(lambda: self.draw(level))
            return waiting

    def redraw(self) -> "Future[None]":
        """Render the same data again, after a change outside the state, such as the language."""
        return self._core.worker.submit(lambda: self._draw_again(self._core.lod))

    def set_lod(self, lod: Lod) -> None:
        """Switch the level of detail and request a render."""
        if self._core.switch(lod):
            self.request(lod)
            self._core.emit(WindowDetailChanged(self._core.id, lod.value))

    # --- on the window's thread, where the state does not change ------------------------

    def draw(self, lod: Lod | None = None) -> None:
        """Render the current version at this level now, unless there is one."""
        level = lod or self._core.lod
        if not self.current(level):
            self._finish(level, self._drawn(level, self._core.version))

    def _draw_again(self, lod: Lod) -> None:
        before = self._finished.get(lod)
        if before is None:
            self.draw(lod)
            return
        version = self._core.version.after_detail()
        render = self._drawn(lod, version)
        if render.output != before.output and self._core.advance(version):
            self._finish(lod, render)

    def _drawn(self, lod: Lod, version: ContextVersion) -> Render:
        core, frame = self._core, self._frame(lod, version, self._core.saved.state)
        if self.replacement:
            return message(core, frame, self.replacement, is_error=True)
        if self.recorded:
            try:
                content = html.unescape(parts_of(self.recorded).content)
            except ValueError as error:  # the log is damaged
                return message(core, frame, str(error), is_error=True)
            return replace(message(core, frame, content), xml=self.recorded)
        with core.read_only("content()"):
            return withhold(core.window, self._of_window(frame), self._secrets.withheld())

    def _of_window(self, frame: Frame) -> Render:
        """Render what the window shows; any exception becomes an error snapshot with the reason."""
        core, window = self._core, self._core.window
        try:
            found, declared = _further_actions(window), type(window).actions
            if found or "actions" in vars(window):
                window.actions = {**declared, **found, **declared}
            content, elements = _coerce(window.content(frame.lod), core.max_content)
            registry = register(window.anchors(frame.lod), window.actions, self._warn_once)
            snapshot = _snapshot(core, frame, content, elements, registry)
            unsaved = text.one_line(window.unsaved() or "", _LONGEST_UNSAVED)
            return Render(snapshot, _xml(window, snapshot, registry), registry, unsaved)
        except BaseException as problem:
            reason, notice = core.reason(problem), core.words("could not be drawn")
            core.warn(f"{notice}: {reason}")
            return message(core, frame, f"{core.id} {notice}.\n{reason}", is_error=True)

    def _warn_once(self, problem: ContextUIError) -> None:
        if str(problem) not in self._reported:
            self._reported.add(str(problem))
            self._core.warn(str(problem))

    def _finish(self, lod: Lod, render: Render) -> None:
        if not render.unsaved:
            self._core.edited_by_person = False
        self._finished = {**self._finished, lod: render}  # other threads may read the old one
        if lod is self._core.lod:
            self._core.emit(WindowChanged(self._core.id, str(render.version)), False)

    def _frame(
        self, lod: Lod, version: ContextVersion, state: Mapping[str, Any] | None = None
    ) -> Frame:
        jobs = {job.job: str(job) for job in self.jobs()}
        return Frame(version, lod, jobs, state)
