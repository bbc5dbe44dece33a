"""`WindowHarness`: opens a window in a test, acts on it, inspects, saves and restores it.

Tests use it as `contextui.testing.WindowTester`, which adds the offline model.
"""

import asyncio
import json
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Generic, Self, TypeVar

from contextui.events import Event, WindowTroubled
from contextui.files.workspace import Workspace
from contextui.windowing.action import ActionResult
from contextui.windowing.env import Clock
from contextui.windowing.manager import WindowManager
from contextui.windowing.preview import Preview
from contextui.windowing.snapshot import Lod
from contextui.windowing.window import Window
from contextui.words import Lang

W = TypeVar("W", bound=Window)
V = TypeVar("V", bound=Window)
T = TypeVar("T")


class WindowHarness(Generic[W]):
    """The part of `contextui.testing.WindowTester` that needs no model; args are described there.

    Attributes:
        window: The window itself.
        windows: All open windows.
        troubles: The warnings that the windows emitted.
    """

    def __init__(
        self,
        cls: type[W],
        /,
        *,
        folder: Path | str | None = None,
        lang: Lang = "en",
        classes: tuple[type[Window], ...] = (),
        clock: Clock | None = None,
        **args: Any,
    ) -> None:
        self._class, self._others, self._folder = cls, classes, folder
        self._surroundings: dict[str, Any] = {"lang": lang} | ({"clock": clock} if clock else {})
        self.troubles: list[str] = []
        self.windows = self._manager()
        self.window = cls()
        self.windows.open(self.window, **args)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all windows and the workspace."""
        for window in self.windows.windows():
            self.windows.close(window.id)
        if self.windows.workspace is not None:
            self.windows.workspace.close()

    def act(self, action_id: str, /, **params: Any) -> str:
        """Run an action, or an anchor's, that must succeed; return the result."""
        result = self.result(action_id, **params)
        assert result.ok, result.text
        return result.text

    def refused(self, action_id: str, /, **params: Any) -> str:
        """Run an action that must fail and change nothing; return the error message."""
        saved, version = self.window.state.saved(), self.window.version
        result = self.result(action_id, **params)
        assert not result.ok, f"{action_id} was carried out: {result.text}"
        assert self.window.version == version, f"{action_id} failed but left a new version"
        assert self.window.state.saved() == saved, f"{action_id} failed but left a trace"
        return result.text

    def result(self, action_id: str, /, **params: Any) -> ActionResult:
        """Run an action and return its result, whether it succeeds or fails."""
        return run_in_thread(self.windows.act(self.window.id, action_id, params))

    def preview(self, action_id: str, /, **params: Any) -> Preview | str | None:
        """Return the window's preview of an action; plain text if the window returned text.

        Raises:
            PreviewError: The preview cannot be shown, so the action could not be approved.
        """
        preview = run_in_thread(self.window.runtime.preview(action_id, params))
        if preview is not None and preview.target == f"{self.window.id}.{action_id}":
            return preview.diff or preview.text
        return preview

    def tick(self) -> None:
        """Run each timer of the window once, now."""
        worker = self.window.runtime.worker
        for _, _, _, timer in sorted(worker._timers):
            worker.submit(timer).result()

    def content(self, lod: Lod = Lod.FULL) -> str:
        """Return the content at this level as text; fail if it is an error."""
        snapshot = self.window.snapshot(lod)
        assert snapshot.error is None, snapshot.error
        return snapshot.content

    def xml(self, lod: Lod = Lod.FULL) -> str:
        """Return the XML that the model reads at this level."""
        return self.window.to_xml(lod)

    def restored(self) -> Self:
        """Return a tester with the window restored from its saved state."""
        twin: Self = object.__new__(type(self))
        twin._class, twin._others, twin._folder = self._class, self._others, self._folder
        twin._surroundings = self._surroundings
        twin.troubles = []
        twin.windows = twin._manager()
        twin.window = twin._restore(self.window)
        return twin

    def switch_language(self, lang: Lang) -> None:
        """Restore all windows in another language, as if the session were resumed in it.

        `window` and `windows` are new objects afterwards; ids and saved states stay the same.
        """
        before = self.windows
        if lang == before.lang:
            return
        before.shut_down()
        if before.workspace is not None:
            before.workspace.close()
        self._surroundings = self._surroundings | {"lang": lang}
        self.windows = self._manager()
        self.windows.remember({}, before.numbers)
        for window in before.windows():
            if window is self.window:
                self.window = self._restore(self.window)
            else:
                self._restore(window)

    def _restore(self, window: V) -> V:
        """Restore a window of another manager in this one."""
        kept = window.runtime.store.saved
        assert kept.state is not None, "its state cannot be saved"
        state = json.loads(json.dumps(kept.state))  # as a session writes it
        cls = self.windows.classes.get(window.name, type(window))
        back = self.windows.restore(cls, window.id, state, lod=kept.lod, version=kept.version)
        assert isinstance(back, type(window))
        return back

    def _manager(self) -> WindowManager:
        workspace = Workspace(self._folder) if self._folder is not None else None
        classes: list[type[Window]] = [self._class, *self._others]
        windows = WindowManager(classes, workspace=workspace, **self._surroundings)
        windows.subscribe(self._on_event)
        return windows

    def _on_event(self, event: Event) -> None:
        if isinstance(event, WindowTroubled):
            self.troubles.append(f"{event.window_id} {event.reason}")


def run_in_thread(call: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end on another thread: the test may run an event loop of its own."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, call).result()
