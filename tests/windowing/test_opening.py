"""A window whose `opened` takes long: visibly opening, never cut off, saved only when open."""

import asyncio
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from contextui import Button, ContextVersion, Lod, SessionOptions, SessionStore, WindowManager
from contextui.agent.models.scripted import call
from contextui.agent.tools import ToolBox
from contextui.errors import ContextUIError, WindowBusyError
from contextui.events import Event, WindowClosed, WindowNotOpened, WindowOpened, WindowReady
from contextui.windowing.runtime import runtime_of
from tests.agent.talking import controller, run
from tests.windowing.samples import LONG, Blocking, Counter, Heard, after_all, held, settled


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The patience itself is not what is tested."""
    for module in ("worker", "runtime"):
        monkeypatch.setattr(f"contextui.windowing.{module}.PATIENCE", 0.1)
    monkeypatch.setattr(WindowManager.settle, "__defaults__", (2.0,))


class Slow(Blocking):
    """Opens when it is let."""

    name = "slow"

    def opened(self) -> None:
        super().opened()
        self.state.count = 7

    def anchors(self, lod: Lod) -> Iterable[Button]:
        return [Button("up-one", "up", {"by": 1})]


class Failing(Slow):
    """Fails when it is let."""

    name = "failing"

    def opened(self) -> None:
        super().opened()
        raise ValueError("no network")


def ready(windows: WindowManager, heard: Heard, window: Blocking) -> None:
    heard.wait_for(WindowReady)
    after_all(window)
    assert settled(windows) == []


def test_it_is_visibly_opening_and_then_open(windows: WindowManager) -> None:
    """W2."""
    slow, heard = Slow(), Heard(windows)
    with held(slow, "opened"):
        windows.open(slow)
        assert slow.snapshot().header.version == ContextVersion(0)
        assert heard.of(WindowOpened) == [WindowOpened("slow_1")]
        assert heard.of(WindowReady) == []
        snapshot = slow.snapshot()
        assert (snapshot.content, snapshot.error, snapshot.stale) == ("Opening…", None, False)
        assert "Opening…" in slow.to_xml(Lod.GIST)
        assert asyncio.run(windows.settle(0.01)) == []
    ready(windows, heard, slow)
    assert slow.is_opening is False
    assert slow.snapshot().content == "Full: 7"
    assert str(slow.version) == "1.0.0"


@pytest.mark.parametrize("action_id", ["up-one", "up", "nonsense"])
def test_acting_on_it_says_that_it_is_still_opening(windows: WindowManager, action_id: str) -> None:
    """W3."""
    slow, heard = Slow(), Heard(windows)
    with held(slow, "opened"):
        windows.open(slow)
        result = asyncio.run(windows.act(slow.id, action_id))
        assert isinstance(result.error, WindowBusyError)
        assert result.text == "slow_1 is still opening. Try again when it has opened."
        with pytest.raises(WindowBusyError, match="still opening"):
            asyncio.run(runtime_of(slow).preview(action_id, {}))
    ready(windows, heard, slow)
    assert asyncio.run(windows.act(slow.id, "up-one")).text == "Now 8"


def test_closed_while_opening_it_never_opens(windows: WindowManager) -> None:
    slow, heard = Slow(), Heard(windows)
    with held(slow, "opened"):
        windows.open(slow)
        windows.close(slow.id)
    opening = runtime_of(slow).opening
    assert opening is not None
    assert opening.exception(LONG) is not None
    assert not heard.of(WindowReady)
    assert not heard.of(WindowNotOpened)
    assert windows.windows() == []


def test_who_waits_for_an_opening_has_been_told_of_its_failure(windows: WindowManager) -> None:
    failing, told, has_failed = Failing(), list[str](), threading.Event()

    def listen(event: Event) -> None:
        if isinstance(event, WindowNotOpened):
            has_failed.set()
            time.sleep(0.1)
            told.append(event.reason)

    windows.subscribe(listen)
    with held(failing, "opened"):
        windows.open(failing)
        assert asyncio.run(windows.await_opening(0.01)) == ["failing_1"]
    assert has_failed.wait(LONG)
    assert asyncio.run(windows.await_opening(LONG)) == []
    assert [reason.startswith("ValueError: no network") for reason in told] == [True]
    assert windows.get("failing_1") is None
    assert "did not open: ValueError: no network" in str(windows.last_render("failing_1"))


def test_an_async_opened_is_cancelled_when_it_is_closed(windows: WindowManager) -> None:
    reached, cleaned = threading.Event(), threading.Event()

    class Waiting(Counter):
        async def opened(self) -> None:
            reached.set()
            try:
                await asyncio.Event().wait()
            finally:
                cleaned.set()

    window = windows.open(Waiting)
    assert reached.wait(LONG)
    windows.close(window.id)
    assert cleaned.wait(LONG)


class TestInASession:
    @staticmethod
    def store(folder: Path) -> SessionStore:
        return SessionStore(folder / "home", SessionOptions(classes=[Slow, Failing]))

    def test_it_is_saved_once_it_is_open(self, tmp_path: Path) -> None:
        slow = Slow()
        with self.store(tmp_path).create(str(tmp_path)) as session:
            heard = Heard(session.windows)
            with held(slow, "opened"):
                session.windows.open(slow)
                session._recorder.checkpoint()
                log = session.path.read_text("utf-8")
                assert '"subtype":"window_opened"' not in log
                assert '"name":"slow"' not in log
            ready(session.windows, heard, slow)
        log = session.path.read_text("utf-8")
        assert log.count('"subtype":"window_opened"') == 1
        with self.store(tmp_path).open(session.id) as again:
            back = again.windows.get("slow_1")
            assert isinstance(back, Slow)
            assert back.state.count == 7
            assert again.notices == []

    def test_ended_while_it_opened_nothing_is_saved_with_a_warning(self, tmp_path: Path) -> None:
        slow = Slow()
        with held(slow, "opened"), self.store(tmp_path).create(str(tmp_path)) as session:
            session.windows.open(slow)
        with self.store(tmp_path).open(session.id) as again:
            assert again.windows.windows() == []
            assert again.notices == [
                "slow_1 was still opening when the session ended. It was not saved: open it again."
            ]
            assert again.windows.open(Slow).id == "slow_2"

    def test_one_that_fails_late_leaves_no_state(self, tmp_path: Path) -> None:
        failing = Failing()
        with self.store(tmp_path).create(str(tmp_path)) as session:
            heard = Heard(session.windows)
            with held(failing, "opened"):
                session.windows.open(failing)
            heard.wait_for(WindowClosed)
        assert '"subtype":"window_opened"' not in session.path.read_text("utf-8")
        with self.store(tmp_path).open(session.id) as again:
            assert (again.windows.windows(), again.notices) == ([], [])


class TestTheModel:
    def test_create_says_that_it_is_still_opening(
        self, windows: WindowManager, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("contextui.agent.tools._LATE", 0.0)
        slow = Slow()
        with held(slow, "opened"):
            result = asyncio.run(ToolBox(windows).create(slow))  # type: ignore[arg-type]
            assert result.text.startswith("slow_1 is still opening")

    def test_create_fails_as_the_window_does(self, windows: WindowManager) -> None:
        failing, heard = Failing(), Heard(windows)

        async def create() -> None:
            with held(failing, "opened"):
                creating = asyncio.create_task(ToolBox(windows).create(failing))  # type: ignore[arg-type]
                await asyncio.to_thread(heard.wait_for, WindowOpened)  # it is slow
            with pytest.raises(ContextUIError, match="no network"):
                await creating

        asyncio.run(create())

    @pytest.mark.parametrize("within", [True, False], ids=["with the next step", "the next turn"])
    def test_a_late_failure_is_told(self, monkeypatch: pytest.MonkeyPatch, within: bool) -> None:
        """W2: with the next result of the same turn, or before the next message."""
        made: list[Any] = []
        monkeypatch.setattr("contextui.agent.tools._LATE", 0.0)

        class Here(Failing):
            name = "here"

            def __init__(self) -> None:
                super().__init__()
                made.append(self)
                self.keep = held(self, "opened")
                self.keep.__enter__()

            @staticmethod
            def let() -> None:
                heard = Heard(talk.windows)
                made[0].keep.__exit__(None, None, None)
                heard.wait_for(WindowNotOpened)

        class Opener(Counter):
            name = "opener"

            def __init__(self) -> None:
                super().__init__()
                monkeypatch.setattr("contextui.windowing.worker.PATIENCE", LONG)

            def opened(self) -> None:
                Here.let()

        steps = [call("create", name="here")]
        steps += [call("create", name="opener")] if within else []
        talk = controller(*steps, "Done.", "Hello.", windows=(Here, Opener))
        run(talk, "Open here")
        if not within:
            Here.let()
        run(talk, "Hi")
        lines = [
            line
            for item in talk.context.get_all()
            for line in item.content.splitlines()
            if line.startswith("(Did not open and is closed: here_1. ValueError: no network")
        ]
        assert len(lines) == 1
        requests = talk.model.requests  # type: ignore[attr-defined]
        assert ("Did not open" in str(requests[2 if within else 1].messages)) is within
        assert "Did not open" in str(requests[-1].messages)
