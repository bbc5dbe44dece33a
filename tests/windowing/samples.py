"""Windows that tests open, and ways to look at what came of it."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, TypeVar

from lxml import etree
from pydantic import BaseModel

from contextui import ActionResult, Body, Element, Lod, Window, WindowManager, action
from contextui.events import Event, WindowTroubled
from contextui.windowing.runtime import runtime_of

LONG = 30.0  # what a window that hangs would take; tests set it free long before
E = TypeVar("E", bound=Event)
W = TypeVar("W", bound=Window)


class Item(BaseModel):
    id: int
    text: str


class Todo(Window):
    """待办事项管理应用"""

    name = "todo"

    class State(Window.State):
        items: list[Item] = []

    state: State

    def opened(self, items: list[str] | None = None) -> None:
        for text in items or []:
            self.add(text)

    def content(self, lod: Lod) -> Body:
        if lod is Lod.GIST:
            return f"{len(self.state.items)} items"
        return [Element("item", item.text, id=item.id) for item in self.state.items]

    @action("添加条目")
    def add(self, text: str) -> str:
        number = len(self.state.items) + 1
        self.state.items.append(Item(id=number, text=text))
        return f"Added {number}."

    @action("删除条目")
    def delete(self, index: int) -> None:
        del self.state.items[index]


class Counter(Window):
    """Counts."""

    class State(Window.State):
        count: int = 0

    state: State
    draws: int = 0

    def content(self, lod: Lod) -> Body:
        self.draws += 1
        return f"{lod.value}: {self.state.count}"

    @action("Count up")
    def up(self, by: int = 1) -> str:
        self.state.count += by
        return f"Now {self.state.count}"

    @action("Report", effect="read")
    def report(self) -> str:
        return str(self.state.count)


class Text(Window):
    """Shows any text."""

    class State(Window.State):
        text: str = ""

    state: State

    def opened(self, text: str = "") -> None:
        self.state.text = text

    def content(self, lod: Lod) -> Body:
        return self.state.text

    @action("Show")
    def show(self, text: str) -> None:
        self.state.text = text


class Stage(Window):
    """Files to commit."""

    def content(self, lod: Lod) -> Body:
        return "nothing"

    @action("Add a file", says=["zustage {file}", " 暂存 {file} "])
    def add(self, file: str) -> None: ...

    @action("Commit")
    def commit(self) -> None: ...


class Gate:
    """Where a window's thread can be held: it says that it came, and waits to be let through."""

    def __init__(self) -> None:
        self.reached, self._open = threading.Event(), threading.Event()

    def hold(self) -> None:
        self.reached.set()
        self._open.wait(LONG)

    def release(self) -> None:
        self._open.set()


class Blocking(Counter):
    """Hangs where the test wants it to: in content, an action or a hook."""

    gates: dict[str, Gate]
    action_seconds: ClassVar[float] = LONG

    def __init__(self) -> None:
        super().__init__()
        self.gates = {}

    def at(self, place: str) -> None:
        if gate := self.gates.get(place):
            gate.hold()

    def content(self, lod: Lod) -> Body:
        self.at("content")
        return super().content(lod)

    def opened(self) -> None:
        self.at("opened")

    @action("Hang")
    def hang(self) -> str:
        self.state.count += 1000
        self.at("hang")
        return "hung"


@contextmanager
def held(window: Blocking, *places: str) -> Iterator[dict[str, Gate]]:
    """Make the window hang in these places, until the block ends."""
    window.gates = gates = {place: Gate() for place in places}
    try:
        yield gates
    finally:
        window.gates = {}
        for gate in gates.values():
            gate.release()


class Heard:
    """The events of a manager."""

    def __init__(self, windows: WindowManager) -> None:
        self.events: list[Event] = []
        self._news = threading.Condition()
        windows.subscribe(self._on_event)

    def _on_event(self, event: Event) -> None:
        with self._news:
            self.events.append(event)
            self._news.notify_all()

    def of(self, kind: type[E]) -> list[E]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def troubles(self) -> str:
        return "\n".join(event.reason for event in self.of(WindowTroubled))

    def wait_for(self, kind: type[E], count: int = 1) -> list[E]:
        with self._news:
            assert self._news.wait_for(lambda: len(self.of(kind)) >= count, LONG)
        return self.of(kind)


def opened(windows: WindowManager, cls: type[W], **args: Any) -> W:
    """Open a window of a class that the manager need not know."""
    window = cls()
    windows.open(window, **args)
    return window


def together(*calls: Callable[[], object]) -> None:
    """Make calls at the same time, each in a thread of its own."""
    start = threading.Barrier(len(calls))

    def make(call: Callable[[], object]) -> None:
        start.wait(LONG)
        call()

    threads = [threading.Thread(target=make, args=(call,), daemon=True) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG * 2)
    assert not any(thread.is_alive() for thread in threads)


def act(windows: WindowManager, window: Window, action_id: str, **params: Any) -> ActionResult:
    return asyncio.run(windows.act(window.id, action_id, params))


def settled(windows: WindowManager) -> list[str]:
    return asyncio.run(windows.settle(LONG))


async def until(condition: Callable[[], object]) -> None:
    while not condition():
        await asyncio.sleep(0.005)


def after_all(window: Window) -> None:
    """Wait until the window's thread has done all that was asked of it before."""
    done: Callable[[], None] = threading.Event().set
    runtime_of(window).worker.submit(done).result(LONG)


def parse(xml: str) -> "etree._Element":
    return etree.fromstring(xml, etree.XMLParser(resolve_entities=False))


def content_of(xml: str) -> str:
    (content,) = parse(xml).findall("Content")
    return content.text or ""


def action_ids(xml: str) -> list[str | None]:
    return [one.get("id") for one in parse(xml).findall("Actions/action")]
