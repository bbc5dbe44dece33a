"""A failed action leaves nothing: state, timers, version, render and history of changes."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any, ClassVar, NoReturn

import pytest
from pydantic import Field, field_validator

from contextui import ActionError, Body, Lod, Transient, Window, WindowManager, action
from contextui.errors import ActionFailedError, InvalidSourceDataError, WindowBusyError
from contextui.events import WindowChanged, WindowCommitted
from contextui.windowing.runtime import runtime_of
from tests.windowing.samples import LONG, Heard, act, after_all, opened, settled


class Ledger(Window):
    """Fails in every way, each time after it has changed everything it can."""

    action_seconds: ClassVar[float] = LONG

    class State(Window.State):
        balance: int = Field(default=10, ge=0)
        lines: list[str] = ["first"]
        table: dict[str, list[int]] = {"a": [1]}
        loose: Any = {"deep": []}
        handle: Transient[object] = None

        @field_validator("lines")
        @classmethod
        def _no_secret(cls, lines: list[str]) -> list[str]:
            if "forbidden" in lines:
                raise ValueError("forbidden")
            return lines

    state: State

    def __init__(self) -> None:
        super().__init__()
        self.ticks, self.go_on, self.waiting = 0, threading.Event(), threading.Event()

    def opened(self) -> None:
        self.state.handle = object()

    def content(self, lod: Lod) -> Body:
        return f"{self.state.balance} {self.state.lines} {self.state.table} {self.state.loose}"

    def change(self) -> None:
        """Change everything: fields, nested values, the transient one, and start a timer."""
        self.state.balance = 99
        self.state.lines.append("second")
        self.state.table["a"].append(2)
        self.state.table["b"] = []
        self.state.loose["deep"].append("z")
        self.state.handle = "other"
        self.env.every(0.001, self.tick)

    def tick(self) -> None:
        self.ticks += 1

    @action("Fail")
    def fail(self, way: str) -> object:
        self.change()
        return FAILURES[way][0](self)

    @action("Fail later")
    async def fail_later(self, way: str) -> object:
        await asyncio.sleep(0)
        self.change()
        await asyncio.sleep(0)
        return FAILURES[way][0](self)

    @action("Take too long")
    def late(self) -> None:
        self.change()
        self.waiting.set()
        self.go_on.wait(LONG)

    @action("Wait too long")
    async def late_async(self) -> None:
        self.change()
        self.waiting.set()
        await asyncio.Event().wait()

    @action("Pay")
    def pay(self, amount: int) -> str:
        self.state.balance -= amount
        self.state.lines.append(f"paid {amount}")
        return f"{self.state.balance} left"


class Hasty(Ledger):
    """Gives its actions next to no time."""

    action_seconds: ClassVar[float] = 0.05


class Mute:
    def __str__(self) -> str:
        raise ValueError("mute")


def throw(error: BaseException) -> NoReturn:
    raise error


FAILURES: dict[str, tuple[Callable[[Any], object], type[Exception]]] = {
    "raises": (lambda _: throw(ValueError("no")), ActionFailedError),
    "refuses": (lambda _: throw(ActionError("not today")), ActionError),
    "exits": (lambda _: throw(SystemExit()), ActionFailedError),
    "invalid": (lambda one: setattr(one.state, "balance", -1), InvalidSourceDataError),
    "refused": (lambda one: one.state.lines.append("forbidden"), InvalidSourceDataError),
    "mistyped": (lambda one: one.state.lines.append(5), InvalidSourceDataError),
    "replaced": (lambda one: setattr(one.state, "lines", 5), InvalidSourceDataError),
    "lost": (lambda one: setattr(one, "state", None), InvalidSourceDataError),
    "unspeakable": (lambda _: Mute(), ActionFailedError),
}


def all_of(window: Ledger) -> dict[str, Any]:
    """Everything a failed action could leave behind."""
    snapshot = window.snapshot()
    return {
        "state": window.state.saved(),
        "transient": window.state.handle,
        "saved": runtime_of(window).core.saved,
        "version": str(window.version),
        "content": snapshot.content,
        "error": snapshot.error,
        "xml": window.to_xml(),
        "timers": len(runtime_of(window).worker._timers),
        "ticks": window.ticks,
    }


def check_no_trace(windows: WindowManager, window: Ledger, fail: Callable[[], object]) -> None:
    settled(windows)
    before, heard = all_of(window), Heard(windows)
    fail()
    after_all(window)
    settled(windows)
    assert all_of(window) == before
    assert heard.of(WindowCommitted) == heard.of(WindowChanged) == []  # type: ignore[comparison-overlap]
    result = act(windows, window, "pay", amount=3)
    assert result.text == f"{before['state']['balance'] - 3} left"
    assert window.state.saved() == before["state"] | {
        "balance": before["state"]["balance"] - 3,
        "lines": [*before["state"]["lines"], "paid 3"],
    }


@pytest.mark.parametrize("action_id", ["fail", "fail_later"])
@pytest.mark.parametrize("way", FAILURES)
def test_a_failed_action_leaves_nothing(windows: WindowManager, way: str, action_id: str) -> None:
    """M03, FAULTS 20a."""
    window = opened(windows, Ledger)

    def fail() -> None:
        result = act(windows, window, action_id, way=way)
        assert type(result.error) is FAILURES[way][1], result
        if type(result.error) is ActionFailedError:
            assert result.text.endswith("The window is unchanged.")
        if way == "mistyped":
            assert result.text.startswith("the state would not be valid: lines.")
            assert result.text.endswith(": Input should be a valid string")

    check_no_trace(windows, window, fail)
    check_no_trace(windows, window, fail)  # also after a change that was committed


@pytest.mark.parametrize("action_id", ["late", "late_async"])
def test_nothing_of_one_that_takes_too_long_remains(
    windows: WindowManager, monkeypatch: pytest.MonkeyPatch, action_id: str
) -> None:
    window = opened(windows, Hasty)

    def fail() -> None:
        result = act(windows, window, action_id)
        assert isinstance(result.error, WindowBusyError)
        if action_id == "late":  # what waits behind it is given up as well
            assert isinstance(act(windows, window, "pay", amount=1).error, WindowBusyError)
        window.go_on.set()
        monkeypatch.setattr(Hasty, "action_seconds", LONG)  # what follows has time

    check_no_trace(windows, window, fail)


@pytest.mark.parametrize("action_id", ["late", "late_async"])
def test_nothing_of_one_that_is_cancelled_remains(windows: WindowManager, action_id: str) -> None:
    window = opened(windows, Ledger)

    async def cancel() -> None:
        acting = asyncio.create_task(windows.act(window.id, action_id))
        await asyncio.to_thread(window.waiting.wait, LONG)
        acting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await acting
        window.go_on.set()

    check_no_trace(windows, window, lambda: asyncio.run(cancel()))


@pytest.mark.parametrize("way", ["raises", "invalid", "exits"])
def test_nothing_of_a_failed_timer_remains(windows: WindowManager, way: str) -> None:
    window = opened(windows, Ledger)

    def fail() -> None:
        ran = threading.Event()

        def tick() -> None:
            ran.set()
            window.fail(way)

        end = window.env.every(0.0005, tick)
        assert ran.wait(LONG)
        end()

    check_no_trace(windows, window, fail)
