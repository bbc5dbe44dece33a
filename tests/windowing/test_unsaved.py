"""What is unsaved when a window closes."""

import threading

from contextui import Body, Lod, Window, action
from contextui.testing import WindowTester


class Drafts(Window):
    name = "drafts"

    class State(Window.State):
        count: int = 0

    state: State

    def __init__(self) -> None:
        super().__init__()
        self.may_draw = threading.Event()
        self.may_draw.set()

    def content(self, lod: Lod) -> Body:
        self.may_draw.wait(60)
        return f"{self.state.count} drafts"

    def unsaved(self) -> str | None:
        return f"{self.state.count} drafts"

    @action("Write")
    def write(self) -> None:
        self.state.count += 1


def test_closing_names_the_newest_edits_also_if_they_are_not_drawn_yet() -> None:
    with WindowTester(Drafts) as drafts:
        drafts.act("write")
        drafts.content()
        drafts.window.may_draw.clear()
        drafts.act("write")
        threading.Timer(0.5, drafts.window.may_draw.set).start()
        assert "Unsaved and discarded: 2 drafts." in drafts.act("close")
