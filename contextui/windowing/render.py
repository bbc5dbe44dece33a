"""Renders of windows: snapshots and XML, drawn on the window's thread and cached per version."""

import html
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from contextui import text
from contextui.errors import ContextUIError, InvalidSourceDataError
from contextui.events import Progress, WindowChanged, WindowDetailChanged
from contextui.names import ANCHOR_ID
from contextui.text import quote
from contextui.windowing import anchor as anchor_registry
from contextui.windowing.action import Action
from contextui.windowing.anchor import AnyAnchor, Reference
from contextui.windowing.blocks import ActionLine, parts_of, window_xml
from contextui.windowing.env import Place, SecretReads
from contextui.windowing.error_text import reason_in
from contextui.windowing.snapshot import (
    ContextVersion,
    Element,
    Lod,
    Snapshot,
    SnapshotHeader,
    SnapshotState,
    text_form,
)
from contextui.windowing.store import StateStore
from contextui.windowing.worker import PATIENCE, Worker
from contextui.words import Lang, Words

if TYPE_CHECKING:
    from contextui.windowing.window import Window


Warn = Callable[[str], None]
MOST_ACTIONS = 300
"""Maximum number of actions that `more_actions` may return."""
MOST_CONTENT = 2_000_000
"""Upper limit of `Window.max_content`, which no window can raise."""
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

    def same_output_as(self, other: "Render") -> bool:
        """Whether both show the same, regardless of version."""
        return (
            self.snapshot.content == other.snapshot.content
            and self.snapshot.elements == other.snapshot.elements
            and self.snapshot.error == other.snapshot.error
            and self.snapshot.jobs == other.snapshot.jobs
            and (self.anchors, self.unsaved) == (other.anchors, other.unsaved)
            and self.withheld == other.withheld
        )


@dataclass(frozen=True, slots=True)
class Frame:
    """The metadata of one render."""

    session_id: str
    version: ContextVersion
    lod: Lod
    now: datetime
    state: Mapping[str, Any] | None = None
    jobs: Mapping[int, str] = field(default_factory=dict)


def draw(window: "Window", frame: Frame, warn: Warn, reported: set[str]) -> Render:
    """Render the window; any exception becomes an error snapshot with the reason.

    Args:
        window: The window.
        frame: The render's metadata.
        warn: Callback for warnings.
        reported: Anchor problems that earlier renders reported; they are not repeated.
    """

    def warn_once(problem: ContextUIError) -> None:
        if str(problem) not in reported:
            reported.add(str(problem))
            warn(str(problem))

    try:
        _refresh_actions(window, warn_once)
        content, elements = _coerce(
            window.content(frame.lod), min(window.max_content, MOST_CONTENT)
        )
        registry = anchor_registry.register(window.anchors(frame.lod), window.actions, warn_once)
        snapshot = _snapshot(window, frame, content, elements, registry)
        unsaved = text.one_line(window.unsaved() or "", _LONGEST_UNSAVED)
        return Render(snapshot, _xml(window, snapshot, registry), registry, unsaved)
    except BaseException as problem:
        lang = window.env.lang
        reason, notice = reason_in(type(window), problem, lang), Words(lang)("could not be drawn")
        warn(f"{notice}: {reason}")
        return failure(window, frame, f"{window.id} {notice}.\n{reason}")


def _refresh_actions(window: "Window", warn: Callable[[ContextUIError], None]) -> None:
    """Add what `more_actions` returns to the window's actions."""
    found, declared = {}, type(window).actions
    for count, one in enumerate(window.more_actions()):
        if count == MOST_ACTIONS:
            warn(InvalidSourceDataError(f"has more than {MOST_ACTIONS} further actions"))
            break
        if not isinstance(one, Action) or one.call is None or not ANCHOR_ID.fullmatch(one.id):
            warn(InvalidSourceDataError(f"more_actions() returned {quote(str(one))}: not an Action "
                                        "with a call and a valid id"))  # fmt: skip
        elif one.id in declared or one.id in found or one.id == "close":
            warn(InvalidSourceDataError(f"two actions are called {quote(one.id)}: the first stays"))
        else:
            found[one.id] = one
    if found or "actions" in vars(window):
        window.actions = {**declared, **found}


def failure(window: "Window", frame: Frame, reason: str) -> Render:
    """Render a window that failed: the reason, and its actions."""
    snapshot = _snapshot(window, frame, reason, None, {}, error=reason)
    return Render(snapshot, _xml(window, snapshot, {}), {})


def placeholder(window: "Window", frame: Frame, content: str) -> Render:
    """Render a window that has no content yet."""
    snapshot = _snapshot(window, frame, content, None, {})
    return Render(snapshot, _xml(window, snapshot, {}), {})


def _recorded(window: "Window", frame: Frame, xml: str) -> Render:
    """Render a window as it was recorded."""
    try:
        content = html.unescape(parts_of(xml).content)
    except ValueError as error:  # the log is damaged
        return failure(window, frame, str(error))
    return replace(placeholder(window, frame, content), xml=xml)


def stale(window: "Window", render: Render) -> Render:
    """Return the render marked as stale."""
    snapshot = render.snapshot.model_copy(update={"stale": True})
    render = replace(render, snapshot=snapshot, xml=_xml(window, snapshot, render.anchors))
    return withhold(window, render, render.withheld)


def withhold(window: "Window", render: Render, files: tuple[str, ...]) -> Render:
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
    window: "Window",
    frame: Frame,
    content: str,
    elements: tuple[Element, ...] | None,
    registry: Mapping[str, AnyAnchor],
    *,
    error: str | None = None,
) -> Snapshot:
    return Snapshot(
        header=SnapshotHeader(
            app_id=window.name,
            session_id=frame.session_id,
            version=frame.version,
            timestamp=frame.now,
        ),
        # Not copied for every render: `Runtime.snapshot` returns a frozen copy.
        state=SnapshotState.model_construct(
            current_lod=frame.lod, focus_id=None, custom=frame.state
        ),
        content=content,
        elements=elements,
        anchors={anchor_id: anchor_registry.entry(one) for anchor_id, one in registry.items()},
        error=error,
        jobs=frame.jobs,
    )


def _coerce(body: object, limit: int) -> tuple[str, tuple[Element, ...] | None]:
    """Convert the content to text within the limit, and to elements if there are any."""
    if isinstance(body, bytes):
        body = body.decode("utf-8", "replace")
    if isinstance(body, str):
        return text.for_model(text.cap(body, limit)), None
    if isinstance(body, Element):
        body = (body,)
    if isinstance(body, Sequence) and all(isinstance(one, Element) for one in body):
        shown = text_form(body)
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


def _xml(window: "Window", snapshot: Snapshot, registry: Mapping[str, AnyAnchor]) -> str:
    lang = window.env.lang
    lod = snapshot.state.current_lod
    lines = [_action_line(one, lod, lang) for one in window.actions.values()]
    for anchor in registry.values():
        if not isinstance(anchor, Reference):
            bound = window.actions[anchor.action]
            fields = anchor_registry.fields_of(anchor)
            open_params = [str(param) for param in bound.params.listing if param.name in fields]
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


class Renders:
    """Cache of a window's newest finished render at each level of detail.

    Attributes:
        replacement: Text shown in place of the content: why the window did not open.
        recorded: The block that the log has, of a window that is only looked at.
        jobs: Returns how far the running jobs are.
    """

    def __init__(
        self,
        window: "Window",
        place: Place,
        store: StateStore,
        worker: Worker,
        secrets: SecretReads,
    ) -> None:
        self.replacement: str | None = None
        self.recorded = ""
        self.jobs: Callable[[], Sequence[Progress]] = tuple
        self._secrets = secrets
        self._window, self._place, self._store, self._worker = window, place, store, worker
        self._finished: Mapping[Lod, Render] = {}
        self._drawing: dict[Lod, Future[None]] = {}
        self._lock = threading.Lock()
        self._outdated: tuple[Render, Render] | None = None
        self._reported: set[str] = set()

    def latest(self) -> Render:
        """Return the newest finished render, marked stale if it is out of date. Never waits."""
        finished = self._finished  # read before the version, so that no render can be newer than it
        present = self._store.saved
        render = finished.get(present.lod)
        if render is not None and render.version == present.version:
            return render
        newest = max(
            finished.values(), key=lambda one: (one.version, one.lod is present.lod), default=None
        )
        if newest is None and self._store.is_opening:
            frame = self._frame(present.lod, ContextVersion(0))
            return placeholder(self._window, frame, self._place.words("Opening…"))
        if newest is None:
            reason = self.replacement or self._place.words(
                "{id} has not been drawn yet.", id=self._place.window_id
            )
            frame = self._frame(present.lod, ContextVersion(0))
            newest = failure(self._window, frame, reason)
        known, marked = self._outdated or (None, newest)
        if known is not newest:
            marked = stale(self._window, newest)
            self._outdated = newest, marked
        return marked

    def at(self, lod: Lod | None = None) -> Render:
        """Return the render at this level; wait for it as long as the caller can."""
        level = lod or self._store.lod
        if render := self.current(level):
            return render
        if self._store.is_opening:
            return self.latest()
        self._worker.wait(self.request(level))
        return self.current(level) or self.latest()

    def current(self, lod: Lod | None = None) -> Render | None:
        """Return the render at this level if it shows the current version."""
        render = self._finished.get(lod or self._store.lod)
        return render if render is not None and render.version == self._store.version else None

    def pending(self) -> "Future[None] | None":
        """Return the pending render of the current version, if any.

        There is none to wait for while a window takes long to open: it shows that it is opening.
        """
        if self._store.is_opening and self._worker.busy_for() > PATIENCE:
            return None
        return None if self.current() else self.request()

    def request(self, lod: Lod | None = None) -> "Future[None]":
        """Queue a render of the current version at this level, and return its future."""
        level = lod or self._store.lod
        with self._lock:
            waiting = self._drawing.get(level)
            if waiting is None or waiting.done() or waiting.running():
                waiting = self._drawing[level] = self._worker.submit(lambda: self._draw(level))
            return waiting

    def redraw(self) -> "Future[None]":
        """Render the same data again, after a change outside the state, such as the language."""
        return self._worker.submit(lambda: self._draw_again(self._store.lod))

    def set_lod(self, lod: Lod) -> None:
        """Switch the level of detail and request a render."""
        if self._store.switch(lod):
            self.request(lod)
            self._place.emit(WindowDetailChanged(self._place.window_id, lod.value))

    # --- on the window's thread, where the state does not change ------------------------

    def draw(self) -> None:
        """Render the current version now, unless there is one."""
        self._draw(self._store.lod)

    def _draw(self, lod: Lod) -> None:
        if not self.current(lod):
            version = self._store.version
            self._finish(lod, self._drawn(lod, version))

    def _draw_again(self, lod: Lod) -> None:
        before = self._finished.get(lod)
        if before is None:
            self._draw(lod)
            return
        version = self._store.version.after_detail()
        render = self._drawn(lod, version)
        if not render.same_output_as(before) and self._store.advance(version):
            self._finish(lod, render)

    def _drawn(self, lod: Lod, version: ContextVersion) -> Render:
        frame = self._frame(lod, version, self._store.saved.state)
        if self.replacement:
            return failure(self._window, frame, self.replacement)
        if self.recorded:
            return _recorded(self._window, frame, self.recorded)
        with self._store.read_only("content()"):
            render = draw(self._window, frame, self._place.warn, self._reported)
            return withhold(self._window, render, self._secrets.withheld())

    def _finish(self, lod: Lod, render: Render) -> None:
        if not render.unsaved:
            self._store.edited_by_person = False
        self._finished = {**self._finished, lod: render}  # other threads may read the old one
        if lod is self._store.lod:
            self._place.emit(WindowChanged(self._place.window_id, str(render.version)), False)

    def _frame(
        self, lod: Lod, version: ContextVersion, state: Mapping[str, Any] | None = None
    ) -> Frame:
        jobs = {one.job: str(one) for one in self.jobs()}
        return Frame(self._place.session_id, version, lod, self._place.now(), state, jobs)
