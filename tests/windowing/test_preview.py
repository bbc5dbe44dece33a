"""What an action would do, told before it is done: safely, whatever the window does."""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from contextui import Body, Button, Form, Lod, Reference, Window, WindowManager, action
from contextui.errors import WindowClosedError
from contextui.windowing import runtime as runtime_module
from tests.windowing.samples import Blocking, Counter, Heard, after_all, held
from tests.windowing.ways import WAYS


class Writer(Window):
    """Writes."""

    class State(Window.State):
        written: list[str] = []

    state: State

    def content(self, lod: Lod) -> Body:
        return "\n".join(self.state.written)

    def anchors(self, lod: Lod) -> Iterable[Button | Form | Reference]:
        yield Reference("place")
        yield Button("hello", "write", {"text": "hello", "times": 2})
        yield Form("again", "write", ("times",), {"text": "again"})

    def preview(self, action_id: str, params: Mapping[str, Any]) -> str | None:
        if action_id == "write":
            return f"+{params['text'] * params.get('times', 1)}"
        return None

    @action("Write", effect="write")
    def write(self, text: str, times: int = 1) -> None:
        self.state.written.append(text * times)

    @action("Forget")
    def forget(self) -> None:
        self.state.written.clear()


def preview(window: Window, action_id: str, **params: Any) -> str | None:
    return asyncio.run(window.runtime.preview(action_id, params))


@pytest.mark.parametrize(
    ("action_id", "params", "told"),
    [
        ("write", {"text": "a"}, "+a"),
        ("write", {"text": "a", "times": "3"}, "+aaa"),  # checked, as for the action
        ("hello", {}, "+hellohello"),
        ("again", {"times": 2}, "+againagain"),
        ("forget", {}, None),
        ("close", {}, None),
    ],
)
def test_it_is_told_and_nothing_is_done(
    windows: WindowManager, action_id: str, params: dict[str, Any], told: str | None
) -> None:
    window, heard = windows.open(Writer), Heard(windows)
    before = window.version
    assert preview(window, action_id, **params) == told
    after_all(window)
    assert (window.version, window.snapshot().content) == (before, "")
    assert (window.runtime.history.entries, heard.events) == ((), [])


def test_without_one_there_is_nothing_to_say(windows: WindowManager) -> None:
    assert preview(windows.open(Counter), "up", by=2) is None


@pytest.mark.parametrize(
    ("action_id", "params", "why"),
    [
        ("write", {}, "writer_1.write: text is missing. Expected: text:string,times:int?"),
        ("hello", {"times": 1}, "hello takes no params."),
        ("place", {}, "place is a reference: it locates, it does not act."),
        ("burn", {}, 'writer_1 has no action "burn". It has: write, forget, place, hello, again, '
         "close."),
    ],
)  # fmt: skip
def test_what_would_be_refused_says_why(
    windows: WindowManager, action_id: str, params: dict[str, Any], why: str
) -> None:
    window = windows.open(Writer)
    assert preview(window, action_id, **params) == f"There is no preview: {why}"


@pytest.mark.usefixtures("neighbour")
@pytest.mark.parametrize("said", WAYS)
def test_one_that_raises_says_why(windows: WindowManager, said: str) -> None:
    class Bad(Counter):
        def preview(self, action_id: str, params: Mapping[str, Any]) -> str | None:
            WAYS[said]()

    told = preview(windows.open(Bad), "up") or ""
    assert told.startswith(f"There is no preview: {said}")
    assert told.isprintable()


def test_one_that_is_late_says_so_and_holds_nobody_up(
    windows: WindowManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Slow(Blocking):
        asked = 0

        def preview(self, action_id: str, params: Mapping[str, Any]) -> str | None:
            Slow.asked += 1
            self.at("preview")
            return "late"

    slow = Slow()
    windows.open(slow)
    late = "There is no preview: slow_1 did not answer in time."
    with held(slow, "preview") as gates:
        monkeypatch.setattr(runtime_module, "PATIENCE", 0.02)
        while not gates["preview"].reached.is_set():  # a busy machine may not even get there
            assert preview(slow, "up") == late
        assert preview(slow, "up") == late  # waits for the first, and then is not asked for
    after_all(slow)
    assert Slow.asked == 1
    monkeypatch.undo()
    assert preview(slow, "up") == "late"


def test_a_change_of_the_state_is_taken_back(windows: WindowManager) -> None:
    class Hasty(Writer):
        def preview(self, action_id: str, params: Mapping[str, Any]) -> str | None:
            self.write(params["text"])
            return self.state.written[-1]

    window, heard = windows.open(Hasty), Heard(windows)
    assert preview(window, "write", text="a") == "a"
    assert window.snapshot().content == ""
    assert heard.troubles == "preview() changed the state; that was taken back"


def test_it_is_text_of_bounded_length_that_any_model_can_read(windows: WindowManager) -> None:
    class Odd(Writer):
        def preview(self, action_id: str, params: Mapping[str, Any]) -> Any:
            return {"": "", "long": "x" * 30_000, "half": "a\ud800", "number": 5}[params["text"]]

    window = windows.open(Odd)
    assert preview(window, "write", text="") is None
    assert preview(window, "write", text="half") == "a\ufffd"
    assert preview(window, "write", text="number") == "5"
    told = preview(window, "write", text="long") or ""
    assert told == f"{'x' * 20_000}\n… 10000 more characters left out"


def test_it_may_be_async(windows: WindowManager) -> None:
    class Waiting(Writer):
        async def preview(  # type: ignore[override]
            self, action_id: str, params: Mapping[str, Any]
        ) -> str:
            await asyncio.sleep(0)
            return "waited"

    assert preview(windows.open(Waiting), "forget") == "waited"


def test_of_a_closed_window_nothing_is_told(windows: WindowManager) -> None:
    window = windows.open(Writer)
    windows.close(window.id)
    assert preview(window, "write", text="a") == "There is no preview: writer_1 is closed."
    with pytest.raises(WindowClosedError):
        preview(Writer(), "write", text="a")
