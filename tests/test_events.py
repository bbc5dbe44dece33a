"""Listeners receive events in order, and a failing one does not affect the others."""

import threading
from dataclasses import FrozenInstanceError

import pytest

from contextui.events import Event, Listeners, WindowActed, WindowChanged, WindowOpened

OPENED = WindowOpened("todo_1")


def test_listeners_are_called_in_the_order_of_subscription() -> None:
    received: list[tuple[int, Event]] = []
    listeners = Listeners()
    listeners.subscribe(lambda event: received.append((1, event)))
    listeners.subscribe(lambda event: received.append((2, event)))
    listeners.emit(OPENED)
    assert received == [(1, OPENED), (2, OPENED)]


def test_unsubscribing_ends_delivery_and_may_be_repeated() -> None:
    received: list[Event] = []
    listeners = Listeners()
    stop = listeners.subscribe(received.append)
    stop()
    stop()
    listeners.emit(OPENED)
    assert received == []


def test_an_exception_is_logged_and_the_others_are_called(caplog: pytest.LogCaptureFixture) -> None:
    def fail(event: Event) -> None:
        raise ValueError("deaf")

    received: list[Event] = []
    listeners = Listeners()
    listeners.subscribe(fail)
    listeners.subscribe(received.append)
    listeners.emit(OPENED)
    assert received == [OPENED]
    assert "ValueError: deaf" in caplog.text
    assert caplog.records[0].name == "contextui.events"


def test_a_listener_may_subscribe_and_unsubscribe_during_delivery() -> None:
    received: list[str] = []
    listeners = Listeners()

    def once(event: Event) -> None:
        received.append("once")
        stop()
        listeners.subscribe(lambda event: received.append("new"))

    stop = listeners.subscribe(once)
    listeners.emit(OPENED)
    listeners.emit(OPENED)
    assert received == ["once", "new"]


def test_subscribing_from_many_threads_loses_no_listener() -> None:
    listeners = Listeners()
    received: list[Event] = []
    together = threading.Barrier(8)

    def subscribe() -> None:
        together.wait(30)
        for _ in range(50):
            listeners.subscribe(received.append)

    threads = [threading.Thread(target=subscribe) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    listeners.emit(OPENED)
    assert len(received) == 400


def test_events_are_values() -> None:
    assert WindowChanged("todo_1", "1.0.0") == WindowChanged("todo_1", "1.0.0")
    acted = WindowActed("todo_1", "add", "model", True, "Added.")
    with pytest.raises(FrozenInstanceError):
        acted.ok = False  # type: ignore[misc]
