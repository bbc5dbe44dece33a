"""Every change of a window is in the log when it is committed, whatever caused it."""

import asyncio
import random
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from contextui import Body, Lod, SessionOptions, SessionStore, Transient, Window, action
from contextui.session.record import BACKGROUND_RATE
from contextui.session.session import Session
from contextui.windowing.runtime import runtime_of

LONG = 30.0


class Ticker(Window):
    """Counts by itself."""

    name = "ticker"

    class State(Window.State):
        count: int = 0
        text: str = ""
        sampled: Transient[int] = 0

    state: State

    def content(self, lod: Lod) -> Body:
        return f"{self.state.count} {len(self.state.text)}"

    def count(self) -> None:
        self.state.count += 1

    @action("Set")
    def put(self, text: str, count: int = 0) -> None:
        self.state.text, self.state.count = text, count

    @action("Tick every so many seconds")
    def start(self, seconds: float) -> None:
        self.env.every(seconds, self.count)


class Renewed(Ticker):
    """Changes when it comes back."""

    name = "renewed"

    def restored(self) -> None:
        self.state.count += 1


def store_in(folder: Path, checkpoint_every: int = 1_000) -> SessionStore:
    options = SessionOptions(classes=[Ticker, Renewed], checkpoint_every=checkpoint_every)
    return SessionStore(folder / "home", options)


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    with store_in(tmp_path).create(str(tmp_path)) as session:
        yield session


def background(window: Window, change: Callable[[], object]) -> None:
    """Change a window once as a timer does, and wait until it is drawn."""
    done = threading.Event()

    def tick() -> None:
        if not done.is_set():  # a second tick may be on its way when the timer ends
            change()
        done.set()

    end = window.env.every(0.0001, tick)
    assert done.wait(LONG)
    end()
    for _ in range(2):  # the end of the tick queues the drawing
        runtime_of(window).worker.submit(lambda: None).result(LONG)


def logged(session: Session) -> int:
    return session.path.read_bytes().count(b'"subtype":"window_state"')


def resumed(folder: Path, session: Session) -> Session:
    return store_in(folder).open(session.id)


def state_of(session: Session, window_id: str) -> Ticker.State:
    window = session.windows.get(window_id)
    assert isinstance(window, Ticker)
    return window.state


def test_a_timers_change_is_in_the_log_when_it_is_drawn(session: Session) -> None:
    """W1, FAULTS 53."""
    window = session.windows.open(Ticker)
    seen: list[int] = []

    def look(event: object) -> None:
        if type(event).__name__ == "WindowChanged":
            seen.append(logged(session))

    session.windows.subscribe(look)
    assert isinstance(window, Ticker)
    background(window, window.count)
    assert window.snapshot().content.startswith(str(window.state.count))
    assert seen
    assert seen[0] >= 1


def test_an_action_is_logged_at_its_commit_and_once(session: Session) -> None:
    window = session.windows.open(Ticker)
    order: list[str] = []
    session.windows.subscribe(
        lambda event: order.append(f"{type(event).__name__} {logged(session)}")
    )
    asyncio.run(session.windows.act(window.id, "put", {"text": "x", "count": 5}))
    assert "WindowCommitted 1" in order
    assert order.index("WindowCommitted 1") < order.index("WindowActed 1")
    assert logged(session) == 1


def test_what_is_transient_is_not_logged(session: Session) -> None:
    window = session.windows.open(Ticker)
    size = session.path.stat().st_size

    def sample() -> None:
        window.state.sampled += 1  # type: ignore[attr-defined]

    background(window, sample)
    assert session.path.stat().st_size == size


def test_what_a_restored_hook_changes_is_logged(tmp_path: Path, session: Session) -> None:
    session.windows.open(Renewed)
    session.close()
    with resumed(tmp_path, session) as again:
        assert state_of(again, "renewed_1").count == 1
        assert logged(again) == 1


def test_a_chatty_timer_adds_a_bounded_number_of_bytes(tmp_path: Path, session: Session) -> None:
    """Each tick changes a field of 200 kB: two are written at once, the rest waits for the last."""
    window = session.windows.open(Ticker)
    ticks = 30

    def grow() -> None:
        window.state.text = f"{window.state.count:06}" * 33_000  # type: ignore[attr-defined]
        window.state.count += 1  # type: ignore[attr-defined]

    for _ in range(ticks):
        background(window, grow)
    assert window.version.major > ticks
    size = session.path.stat().st_size
    assert size < 10 * 200_000, "not a line for each tick"
    assert BACKGROUND_RATE < 200_000
    session.close()
    with resumed(tmp_path, session) as again:
        assert state_of(again, window.id) == window.state


def test_a_field_that_went_back_after_a_checkpoint_is_back(tmp_path: Path) -> None:
    with store_in(tmp_path, checkpoint_every=1).create(str(tmp_path)) as session:
        window = session.windows.open(Ticker)

        def put(count: int) -> None:
            asyncio.run(session.windows.act(window.id, "put", {"text": "", "count": count}))

        put(1)
        session._recorder.checkpoint()
        put(2)
        put(1)
    with resumed(tmp_path, session) as again:
        assert state_of(again, window.id).count == 1


@pytest.mark.parametrize(
    ("seed", "steps"),
    [(0, 40), (1, 40), *(pytest.param(n, 300, marks=pytest.mark.long) for n in range(2, 8))],
)
def test_random_commits_survive(tmp_path: Path, seed: int, steps: int) -> None:
    """Whatever changes a window, a resume at any moment has what was committed."""
    dice = random.Random(seed)
    store = store_in(tmp_path, checkpoint_every=7)
    session = store.create(str(tmp_path))
    session.windows.open(Ticker)
    for _ in range(steps):
        window = session.windows.get("ticker_1")
        assert isinstance(window, Ticker)
        match dice.choice(["act", "act", "tick", "tick", "lod", "end", "kill", "close"]):
            case "act":
                given = {"text": "x" * dice.randrange(2_000), "count": dice.randrange(5)}
                asyncio.run(session.windows.act(window.id, "put", given))
            case "tick":
                background(window, window.count)
            case "lod":
                session.windows.set_lod(window.id, dice.choice(list(Lod)))
            case "end":
                session.context.end_turn()
            case "kill" | "close" as how:
                before = window.state.model_copy(), window.lod
                if how == "close":
                    session.close()
                else:  # what was written is all there is
                    session._recorder.stop()
                    session._log.close()
                session = store.open(session.id)
                after = session.windows.get("ticker_1")
                assert isinstance(after, Ticker)
                assert (after.state.saved(), after.lod) == (before[0].saved(), before[1])
    session.close()
