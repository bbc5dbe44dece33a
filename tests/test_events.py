"""Listeners are told in order, and none of them can keep the others from it."""

import threading
from dataclasses import FrozenInstanceError

import pytest

from contextui.events import Event, Listeners, WindowActed, WindowChanged, WindowOpened

OPENED = WindowOpened("todo_1")


def test_everyone_is_told_in_the_order_of_subscription() -> None:
    told: list[tuple[int, Event]] = []
    listeners = Listeners()
    listeners.subscribe(lambda event: told.append((1, event)))
    listeners.subscribe(lambda event: told.append((2, event)))
    listeners.emit(OPENED)
    assert told == [(1, OPENED), (2, OPENED)]


def test_unsubscribed_one_is_told_no_more_and_twice_is_once() -> None:
    told: list[Event] = []
    listeners = Listeners()
    stop = listeners.subscribe(told.append)
    stop()
    stop()
    listeners.emit(OPENED)
    assert told == []


def test_one_that_raises_is_logged_and_the_others_are_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail(event: Event) -> None:
        raise ValueError("deaf")

    told: list[Event] = []
    listeners = Listeners()
    listeners.subscribe(fail)
    listeners.subscribe(told.append)
    listeners.emit(OPENED)
    assert told == [OPENED]
    assert "ValueError: deaf" in caplog.text
    assert caplog.records[0].name == "contextui.events"


def test_one_may_subscribe_and_leave_while_it_is_told() -> None:
    told: list[str] = []
    listeners = Listeners()

    def once(event: Event) -> None:
        told.append("once")
        stop()
        listeners.subscribe(lambda event: told.append("new"))

    stop = listeners.subscribe(once)
    listeners.emit(OPENED)
    listeners.emit(OPENED)
    assert told == ["once", "new"]


def test_subscribing_from_many_threads_loses_nobody() -> None:
    listeners = Listeners()
    told: list[Event] = []
    together = threading.Barrier(8)

    def subscribe() -> None:
        together.wait(30)
        for _ in range(50):
            listeners.subscribe(told.append)

    threads = [threading.Thread(target=subscribe) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    listeners.emit(OPENED)
    assert len(told) == 400


def test_events_are_values() -> None:
    assert WindowChanged("todo_1", "1.0.0") == WindowChanged("todo_1", "1.0.0")
    acted = WindowActed("todo_1", "add", "model", True, "Added.")
    with pytest.raises(FrozenInstanceError):
        acted.ok = False  # type: ignore[misc]
