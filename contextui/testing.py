"""Test harness for windows, and a runner for their tests.

def test_adding() -> None:
    with WindowTester(TodoWindow, items=["milk"]) as todo:
        assert todo.act("add", text="eggs") == "Added as 2."
        assert "eggs" in todo.content()
        assert todo.content(Lod.GIST) == "2 to do"
        assert todo.refused("add") == "todo_1.add: text is missing. Expected: text:string"
        assert todo.say("add bread").calls == ("todo_1.add text=bread",), todo.why()
        assert todo.restored().content() == todo.content()

``python -P -m contextui.testing test_my_window.py`` runs tests with pytest, and no other code of
their folder: no ``conftest.py``, no plugin named in a ``pytest.ini``, no module that shadows one of
Python's own. In a folder that you trust, plain ``pytest`` works as well.
"""

import ast
import asyncio
import heapq
import json
import os
import sys
import threading
import time
from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Generic, Self, TypeVar

import psutil

from contextui.events import (
    CallFinished,
    CallStarted,
    Event,
    Progress,
    TurnFinished,
    WindowNotified,
    WindowTroubled,
)
from contextui.files.workspace import Workspace
from contextui.model import ModelEvent, ModelRequest
from contextui.windowing.action import ActionResult
from contextui.windowing.manager import WindowManager
from contextui.windowing.preview import Preview
from contextui.windowing.runtime import runtime_of
from contextui.windowing.snapshot import Lod
from contextui.windowing.window import Clock, Window
from contextui.windowing.worker import PATIENCE, Time
from contextui.words import Lang

__all__ = ["ManualClock", "Reply", "WindowTester", "run_tests"]

W = TypeVar("W", bound=Window)
V = TypeVar("V", bound=Window)
T = TypeVar("T")

_ROUNDS = 4  # how often a window's thread is passed, so that what is due and follows has run
_HELPERS = ("resource_tracker", "forkserver", "contextui/reaper.py")
"""Processes of Python's own multiprocessing, and the one that ends processes of windows."""
_WITH_VALUE = ("-k", "-m", "-n", "-o", "-p", "-r", "-W")  # options of pytest


@dataclass(frozen=True, slots=True)
class Reply:
    """The offline model's reply to a sentence.

    Attributes:
        calls: The tool calls in short form, such as ``kanban_1.move card=1 column=done``.
    """

    calls: tuple[str, ...]
    ok: tuple[bool, ...]
    text: str


class ManualClock(Time):
    """A clock that only a test moves, with `WindowTester.advance`.

    `self.env.clock()` of the windows returns its time, and their timers and ``asyncio.sleep`` go by
    it.

    Args:
        start: The time at which it starts.

    Example:
        >>> with WindowTester(Egg, clock=ManualClock()) as egg:
        ...     egg.act("boil", minutes=5)
        ...     egg.advance(5 * 60)
        ...     assert egg.notices == ["The egg is done."]
    """

    def __init__(self, start: datetime = datetime(2030, 1, 1, 12, tzinfo=UTC)) -> None:
        self._start, self._passed = start, 0.0
        self._moments: list[float] = []
        self._lock = threading.Lock()
        self._released: float | None = None

    def __call__(self) -> datetime:
        """Return the current time."""
        return self._start + timedelta(seconds=self._passed)

    def now(self) -> float:
        """Return the seconds since the start."""
        real = 0.0 if self._released is None else time.monotonic() - self._released
        return self._passed + real

    def expect(self, when: float) -> None:
        """Note that something is due at a time."""
        with self._lock:
            heapq.heappush(self._moments, when)

    def step(self, until: float) -> bool:
        """Move to the next moment at which something is due; False if that is at the end."""
        with self._lock:
            while self._moments and self._moments[0] <= self._passed:
                heapq.heappop(self._moments)
            following = self._moments[0] if self._moments else until
            self._passed = max(min(following, until), self._passed)
        return self._passed < until

    def release(self) -> None:
        """Let it go with the real time: what is left can end."""
        self._released = self._released or time.monotonic()


class WindowTester(Generic[W]):
    """One window opened for a test, and the windows it opens.

    Args:
        classes: Other windows that it may open.
        clock: The function behind `self.env.clock`; by default the real time. With a `ManualClock`,
            `advance` moves the time of the windows.
        args: The args of its `opened`. They can also be given as keywords, except those that have
            the name of a keyword above.
        others: Further args of its `opened`.

    Attributes:
        troubles: The warnings that the windows emitted.
        notices: What the windows reported with ``notify``, and the ends of jobs.
    """

    _conversation: "_Conversation | None" = None

    def __init__(
        self,
        cls: type[W],
        /,
        *,
        folder: Path | str | None = None,
        lang: Lang = "en",
        classes: tuple[type[Window], ...] = (),
        clock: Clock | None = None,
        args: Mapping[str, Any] | None = None,
        **others: Any,
    ) -> None:
        surroundings: dict[str, Any] = {"lang": lang} | ({"clock": clock} if clock else {})
        self._prepare(cls, classes, folder, surroundings)
        self.window = cls()
        self.windows.open(self.window, **{**others, **(args or {})})

    def _prepare(
        self,
        cls: type[W],
        others: tuple[type[Window], ...],
        folder: Path | str | None,
        surroundings: Mapping[str, Any],
    ) -> None:
        self._class, self._others, self._folder = cls, others, folder
        self._surroundings = dict(surroundings)
        self._processes = set(_children())
        self.troubles: list[str] = []
        self.notices: list[str] = []
        self.windows = self._manager()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.close()
        else:  # the test has failed already
            self._close()

    def close(self) -> None:
        """Close all windows and the workspace; no job or process may still run afterwards."""
        left = self._close()
        assert not left, f"Still running after the windows have closed: {', '.join(left)}."

    def _close(self) -> list[str]:
        self._end_conversation()
        if isinstance(clock := self._surroundings.get("clock"), ManualClock):
            clock.release()
        closing = self.windows.windows()
        for window in closing:
            self.windows.close(window.id)
        endings = [runtime_of(window).ending for window in closing]
        wait_for([ending for ending in endings if ending is not None], 2 * PATIENCE)
        if self.windows.workspace is not None:
            self.windows.workspace.close()
        jobs = [f"{one.id}: {name}" for one in closing for name in runtime_of(one).jobs.unended()]
        deadline = time.monotonic() + PATIENCE / 2
        while (left := _children() - self._processes) and time.monotonic() < deadline:
            time.sleep(0.02)
        return [*jobs, *(f"process {one.pid}" for one in left)]

    # --- jobs and time -----------------------------------------------------------------

    @property
    def jobs(self) -> list[Progress]:
        """How far the running jobs of the window are."""
        return runtime_of(self.window).jobs.running()

    def wait_for_jobs(self, seconds: float = 10.0) -> None:
        """Wait until no job of the window is running; fail if one still is after this time."""
        deadline = time.monotonic() + seconds
        while self.jobs and time.monotonic() < deadline:
            jobs = [runtime_of(self.window).jobs.get(job.job) for job in self.jobs]
            wait_for([job.ended for job in jobs if job], max(deadline - time.monotonic(), 0))
        left = ", ".join(map(str, self.jobs))
        assert not left, f"Still running after {seconds:g} s: {left}."
        self._pass_through()

    def cancel(self, job: Progress | int | None = None) -> None:
        """Cancel a running job, by default the last one, and wait until it has ended."""
        number = job.job if isinstance(job, Progress) else job
        found = runtime_of(self.window).jobs.get(number)
        assert found is not None, f"There is no such job. Running: {self.jobs}."
        found.cancel()
        wait_for([found.ended], PATIENCE)
        self._pass_through()

    def advance(self, seconds: float) -> None:
        """Move the tester's `ManualClock`; timers and sleeping jobs that are due run, in order."""
        clock = self._surroundings.get("clock")
        assert isinstance(clock, ManualClock), "advance needs WindowTester(…, clock=ManualClock())"
        self._pass_through()
        until = clock.now() + seconds
        going = True
        while going:
            going = clock.step(until)
            self._pass_through()

    def _pass_through(self) -> None:
        """Wait until the windows have done what is due now."""
        for window in self.windows.windows():
            worker = runtime_of(window).worker
            rounds = 0
            while rounds < _ROUNDS:
                rounds = 0 if worker.wake() else rounds + 1
                worker.submit(lambda: None).result()  # after what was queued before

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
        """Return the window's preview of an action; plain text if the window returned text."""
        preview = run_in_thread(runtime_of(self.window).preview(action_id, params))
        if preview is not None and preview.target == f"{self.window.id}.{action_id}":
            return preview.diff or preview.text
        return preview

    def tick(self) -> None:
        """Run each timer of the window once, now."""
        worker = runtime_of(self.window).worker
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
        twin._prepare(self._class, self._others, self._folder, self._surroundings)
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
        kept = runtime_of(window).core.saved
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
        elif isinstance(event, WindowNotified):
            self.notices.append(event.text)

    # --- the offline model ----------------------------------------------------------------

    def say(self, sentence: str, lang: Lang | None = None) -> Reply:
        """Send a sentence to the offline model and wait for the end of the turn.

        The turn runs as in the program, with every question for approval answered with yes. Later
        sentences continue the conversation.

        Args:
            lang: The language of the windows; by default the current one. Another one restores the
                windows in that language (see `switch_language`) and starts a new conversation.
        """
        if lang is not None:
            self.switch_language(lang)
        talk = self._conversation
        if talk is None or talk.windows is not self.windows:
            self._end_conversation()
            talk = self._conversation = _Conversation(self.windows)
        return run_in_thread(talk.say(sentence))

    def why(self) -> str:
        """Explain the reply to the last sentence: candidates and scores, and what was not clear."""
        from contextui.agent.models.offline import explain  # noqa: PLC0415  (see _Conversation)

        assert self._conversation is not None, "there is no reply yet: call say first"
        assert self._conversation.request is not None, "the last turn sent no request"
        return explain(self._conversation.request)

    def _end_conversation(self) -> None:
        if self._conversation is not None:
            self._conversation.close()
            self._conversation = None


class _Conversation:
    """A conversation with the offline model about a tester's windows.

    It is the model of its own controller: it keeps the first request of a turn and passes all on.
    """

    def __init__(self, windows: WindowManager) -> None:
        # Most tests of windows need no agent, which takes longer to import than all the rest.
        from contextui.agent.approval import ApprovalGate  # noqa: PLC0415
        from contextui.agent.controller import InteractionController  # noqa: PLC0415
        from contextui.agent.models.offline import OfflineModel  # noqa: PLC0415
        from contextui.context.manager import ContextManager  # noqa: PLC0415

        self._model = OfflineModel()
        self.name, self.windows = self._model.name, windows
        # The offline model reads the windows as they were before its calls. At its prices, outdated
        # content stays in the requests of a turn.
        self.prices, self.tool_protocol = self._model.prices, self._model.tool_protocol
        self.request: ModelRequest | None = None
        self._controller = InteractionController(
            model=self, context=ContextManager(windows), approval=ApprovalGate("auto")
        )

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        if self.request is None and request.tools:
            self.request = request
        return self._model.stream(request)

    async def say(self, sentence: str) -> Reply:
        self.request = None
        calls, ok, text = list[str](), list[bool](), ""
        async for event in self._controller.run_turn(sentence):
            match event:
                case CallStarted():
                    calls.append(_short_form(event.name, event.input))
                case CallFinished():
                    ok.append(event.ok)
                case TurnFinished():
                    assert not event.is_error, event.explanation
                    text = event.text
        return Reply(tuple(calls), tuple(ok), text)

    def close(self) -> None:
        self._controller.close()


def _short_form(tool: str, given: Mapping[str, Any]) -> str:
    """Return a call in short form, such as ``todo_1.add text=milk`` or ``read_file a.txt``."""
    match tool:
        case "action":
            name = f"{given.get('window_id')}.{given.get('action_id')}"
            params = given.get("params")
        case "create":
            name, params = f"create {given.get('name')}", given.get("args")
        case _:
            name = f"{tool} {given.get('path')}"
            params = {key: value for key, value in given.items() if key != "path"}
    return " ".join([name, *(f"{key}={value}" for key, value in (params or {}).items())])


def _children() -> set[psutil.Process]:
    return {child for child in psutil.Process().children(recursive=True) if _is_running(child)}


def _is_running(process: psutil.Process) -> bool:
    try:
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        return not any(one in " ".join(process.cmdline()) for one in _HELPERS)
    except psutil.Error:
        return False


def run_in_thread(call: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end on another thread: the test may run an event loop of its own."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, call).result()


def run_tests(words: Sequence[str]) -> int:
    """Run tests of windows in isolation, and return the exit status.

    The files are linked into an empty folder, so they can import each other but nothing else beside
    them.

    Args:
        words: The test files and the modules that they need; the window of ``test_my_window.py`` is
            found automatically. Options are passed to pytest, such as ``-k WORD``.
    """
    try:
        import pytest  # noqa: PLC0415  (not needed by the program)
    except ImportError:
        command = "python -P -m pip install pytest"
        print(f"The tests need pytest: {command}", file=sys.stderr)  # noqa: T201
        return 2
    files, options = _files_and_options(words)
    missing = [str(path) for path in files if not path.is_file()]
    if missing or not files:
        message = f"There is no file {missing[0]}." if missing else "Name the test files to run."
        print(message, file=sys.stderr)  # noqa: T201
        return 2
    with TemporaryDirectory(prefix="contextui-tests-") as folder:
        for path in _with_windows(files):
            (Path(folder) / path.name).symlink_to(path.absolute())
        tests = [str(Path(folder) / path.name) for path in files if path.name.startswith("test_")]
        # Ignore settings and plugins of parent folders too.
        alone = [f"--config-file={os.devnull}", f"--rootdir={folder}", "--noconftest"]
        return int(pytest.main([*alone, "-p", "no:cacheprovider", *options, *tests]))


def _files_and_options(words: Sequence[str]) -> tuple[list[Path], list[str]]:
    """Divide the words into files and options of pytest, each with its value.

    A value is attached to its option: pytest must not take it for a file or folder to run.
    """
    files, options = list[Path](), list[str]()
    left, previous = iter(words), ""
    for word in left:
        if word in _WITH_VALUE:
            options.append(word + next(left, ""))
        elif word.startswith("-"):
            options.append(word)
        elif previous.startswith("--") and not ("=" in previous or Path(word).is_file()):
            options[-1] += f"={word}"
        else:
            files.append(Path(word))
        previous = word
    return files, options


def _with_windows(files: Sequence[Path]) -> Iterator[Path]:
    found = {path.name: path for path in files}
    for path in files:
        window = path.with_name(path.name.removeprefix("test_"))
        if window.is_file():
            found.setdefault(window.name, window)
            for widget in _widget_files(window):
                found.setdefault(widget.name, widget)
    yield from found.values()


def _widget_files(window: Path) -> Iterator[Path]:
    """Yield the files beside a window's that it names as ``widget = "module:Class"``."""
    try:
        tree = ast.parse(window.read_bytes())
    except (OSError, SyntaxError, ValueError):  # running its tests reports it
        return
    for node in ast.walk(tree):
        match node:
            case ast.Assign([ast.Name("widget")], ast.Constant(str(named))):
                file = window.with_name(f"{named.partition(':')[0]}.py")
                if file.is_file():
                    yield file


if __name__ == "__main__":
    sys.exit(run_tests(sys.argv[1:]))
