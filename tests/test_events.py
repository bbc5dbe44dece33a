"""Listeners receive events in order, and a failing one does not affect the others."""

import pytest

from contextui.events import Event, Listeners, WindowOpened
from tests.windowing.samples import together

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


def test_subscribing_from_many_threads_loses_no_listener() -> None:
    received: list[Event] = []
    listeners = Listeners()

    def subscribe() -> None:
        for _ in range(100):
            listeners.subscribe(received.append)
            listeners.subscribe(print)()

    together(*[subscribe] * 8)
    listeners.emit(OPENED)
    assert len(received) == 800


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
