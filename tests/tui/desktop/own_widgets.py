"""Widgets that windows bring along: one that works, and each way in which one can fail."""

from types import new_class

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.events import Key
from textual.geometry import Size
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from contextui import Body, Lod, Window, action
from contextui.widgets import ActionRequested


class Plain(Widget, can_focus=True):
    """Counts, and counts up at a key."""

    def __init__(self, window: "OwnWindow") -> None:
        super().__init__()
        self.window = window

    def window_changed(self) -> None:
        self.refresh()

    def render(self) -> Content:
        return Content(f"own widget: {self.window.state.count}")

    def on_key(self, event: Key) -> None:
        if event.key == "k":
            self.post_message(ActionRequested("up"))


class WithFrameKeys(Plain):
    """Has keys while the frame has the focus."""

    frame_bindings = (
        ("k", "up", "count up"),
        ("f", "fail", "fail"),
        ("x", "off", "off"),
    )

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return action != "off"

    def action_up(self) -> None:
        self.post_message(ActionRequested("up"))

    def action_fail(self) -> None:
        raise ValueError("not on this key")


class WithWrongFrameKeys(Plain):
    frame_bindings = (("only one",), 7)


class WithChildren(Plain):
    def compose(self) -> ComposeResult:
        with Vertical(id="within"):
            yield Static("a child of its own")


class FailsToBeMade(Plain):
    def __init__(self, window: "OwnWindow") -> None:
        raise ValueError("[/]not made[@click=app.quit]")


class FailsToCompose(Plain):
    def compose(self) -> ComposeResult:
        raise ValueError("not composed")


class FailsToRender(Plain):
    def render(self) -> Content:
        raise ValueError("not rendered")


class FailsOnChange(Plain):
    def window_changed(self) -> None:
        raise ValueError("not changed")


class FailsInTitle(Plain):
    @property
    def window_title(self) -> str:
        raise ValueError("not titled")


class Child(Static, can_focus=True):
    """Fails in the way it is asked to."""

    class Raised(Message):
        """It asks its parent to fail."""

    def __init__(self, way: str) -> None:
        super().__init__("a child")
        self.way = way
        self.is_bad = False

    def on_key(self, event: Key) -> None:
        if event.key != "space":
            return
        self.is_bad = True
        if self.way == "in a handler of a message":
            self.post_message(self.Raised())
        elif self.way == "in a handler of its own":
            self.post_message(Failing())
        elif self.way == "in a callback":
            self.call_next(self.raise_it)
        elif self.way == "in a worker":
            self.run_worker(self.work())
        elif self.way == "in a thread":
            self.run_worker(self.raise_it, thread=True)
        elif self.way == "in a timer":
            self.set_timer(0.01, self.raise_it)
        else:
            self.refresh(layout=True)

    def on_failing(self) -> None:
        self.raise_it()

    async def work(self) -> None:
        self.raise_it()

    def raise_it(self) -> None:
        raise ValueError(f"not {self.way}")

    def render(self) -> Content:
        if self.is_bad and self.way == "when drawn":
            self.raise_it()
        return Content("a child")

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        if self.is_bad and self.way == "when measured":
            self.raise_it()
        return 1


class Failing(Message):
    """Leads to a failure."""


class FailsWithin(Plain):
    """Has a child, deep within, that fails."""

    way = ""

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Child(self.way)

    @on(Child.Raised)
    def _raise(self) -> None:
        raise ValueError(f"not {self.way}")


WAYS = {
    "in a handler of a message",
    "in a handler of its own",
    "in a callback",
    "in a worker",
    "in a thread",
    "in a timer",
    "when drawn",
    "when measured",
}


class TakesNothing(Widget):
    pass


class OwnWindow(Window):
    """Counts."""

    name = "own"

    class State(Window.State):
        count: int = 0

    state: State

    def content(self, lod: Lod) -> Body:
        return f"{self.state.count} in words"

    @action("Count up")
    def up(self) -> str:
        self.state.count += 1
        return f"Now {self.state.count}."


def window_with(widget: str, name: str = "own") -> type[Window]:
    """A class of windows that brings this widget."""
    body = {"name": name, "widget": widget, "__doc__": "Counts.", "__module__": __name__}
    return new_class("OwnOne", (OwnWindow,), exec_body=lambda members: members.update(body))
