"""The renders of one window: drawn on its own thread, and there for anyone to take."""

import threading
from collections.abc import Mapping
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from contextui.events import WindowChanged, WindowDetailChanged
from contextui.windowing import drawing
from contextui.windowing.drawing import Frame, Render
from contextui.windowing.place import Place
from contextui.windowing.secret_reads import SecretReads
from contextui.windowing.snapshot import ContextVersion, Lod
from contextui.windowing.standing import Standing
from contextui.windowing.worker import PATIENCE, Worker

if TYPE_CHECKING:
    from contextui.windowing.base import Window


class Renders:
    """The newest finished render of a window at each level of detail.

    Attributes:
        instead: What is shown in place of the content: why the window did not open.
    """

    def __init__(
        self,
        window: "Window",
        place: Place,
        standing: Standing,
        worker: Worker,
        secrets: SecretReads,
    ) -> None:
        self.instead: str | None = None
        self._secrets = secrets
        self._window, self._place, self._standing, self._worker = window, place, standing, worker
        self._finished: Mapping[Lod, Render] = {}
        self._drawing: dict[Lod, Future[None]] = {}
        self._lock = threading.Lock()
        self._outdated: tuple[Render, Render] | None = None
        self._reported: set[str] = set()

    def latest(self) -> Render:
        """The newest finished render, marked if it is not up to date. Never waits."""
        finished = self._finished  # before the version: none of them can be of a newer one then
        present = self._standing.kept
        render = finished.get(present.lod)
        if render is not None and render.version == present.version:
            return render
        newest = max(
            finished.values(), key=lambda one: (one.version, one.lod is present.lod), default=None
        )
        if newest is None and self._standing.is_opening:
            frame = self._frame(present.lod, ContextVersion(0))
            return drawing.placeholder(self._window, frame, self._place.words.opening)
        if newest is None:
            reason = self.instead or self._place.words.not_drawn_yet.format(
                id=self._place.window_id
            )
            frame = self._frame(present.lod, ContextVersion(0))
            newest = drawing.failure(self._window, frame, reason)
        known, marked = self._outdated or (None, newest)
        if known is not newest:
            marked = drawing.stale(self._window, newest)
            self._outdated = newest, marked
        return marked

    def at(self, lod: Lod | None = None) -> Render:
        """The render at this level; waits for it as long as the caller can afford to."""
        level = lod or self._standing.lod
        if render := self.current(level):
            return render
        if self._standing.is_opening:
            return self.latest()
        self._worker.wait(self.request(level))
        return self.current(level) or self.latest()

    def current(self, lod: Lod | None = None) -> Render | None:
        """The render at this level, if it shows the present version."""
        render = self._finished.get(lod or self._standing.lod)
        return render if render is not None and render.version == self._standing.version else None

    def pending(self) -> "Future[None] | None":
        """The drawing that the present render still waits for, if any.

        A window that takes long to open says so: there is nothing to wait for.
        """
        if self._standing.is_opening and self._worker.busy_for() > PATIENCE:
            return None
        return None if self.current() else self.request()

    def request(self, lod: Lod | None = None) -> "Future[None]":
        """Have the present version drawn at this level, if it is not; done when it is."""
        level = lod or self._standing.lod
        with self._lock:
            waiting = self._drawing.get(level)
            if waiting is None or waiting.done() or waiting.running():
                waiting = self._drawing[level] = self._worker.submit(lambda: self._draw(level))
            return waiting

    def redraw(self) -> "Future[None]":
        """Draw the same data again: for what is no data, such as the language."""
        return self._worker.submit(lambda: self._draw_again(self._standing.lod))

    def set_lod(self, lod: Lod) -> None:
        """Switch the level of detail; the new render follows."""
        if self._standing.switch(lod):
            self.request(lod)
            self._place.emit(WindowDetailChanged(self._place.window_id, lod.value))

    # --- on the window's thread, so the state stands still --------------------------------

    def _draw(self, lod: Lod) -> None:
        if not self.current(lod):
            version = self._standing.version
            self._finish(lod, self._drawn(lod, version))

    def _draw_again(self, lod: Lod) -> None:
        before = self._finished.get(lod)
        if before is None:
            self._draw(lod)
            return
        version = self._standing.version.after_detail()
        render = self._drawn(lod, version)
        if not render.same_output_as(before) and self._standing.become(version):
            self._finish(lod, render)

    def _drawn(self, lod: Lod, version: ContextVersion) -> Render:
        frame = self._frame(lod, version, self._standing.kept.state)
        if self.instead:
            return drawing.failure(self._window, frame, self.instead)
        with self._standing.looking("content()"):
            render = drawing.draw(self._window, frame, self._place.warn, self._reported)
            return drawing.withhold(self._window, render, self._secrets.withheld())

    def _finish(self, lod: Lod, render: Render) -> None:
        if not render.unsaved:
            self._standing.edited_by_person = False
        self._finished = {**self._finished, lod: render}  # others may be looking at the old one
        if lod is self._standing.lod:
            self._place.emit(WindowChanged(self._place.window_id, str(render.version)), False)

    def _frame(
        self, lod: Lod, version: ContextVersion, state: Mapping[str, Any] | None = None
    ) -> Frame:
        return Frame(self._place.session_id, version, lod, self._place.now(), state)
