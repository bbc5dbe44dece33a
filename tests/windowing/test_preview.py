"""What an action would do, shown before it is done: whole, whatever the window does."""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import pytest

from contextui import Body, Button, Form, Lod, Reference, Window, WindowManager, action
from contextui.errors import ContextUIError
from contextui.windowing import transaction
from contextui.windowing.preview import Preview
from contextui.windowing.runtime import runtime_of
from tests.windowing.samples import Blocking, Counter, Heard, after_all, held, opened
from tests.windowing.ways import WAYS

DIFF = "--- a\n+++ b\n@@ -1 +1 @@\n-a\n+b\n"


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


def preview(window: Window, action_id: str, **params: Any) -> Preview | None:
    return asyncio.run(runtime_of(window).preview(action_id, params))


def words(window: Window, action_id: str, **params: Any) -> str | None:
    """The words of a preview, which a window gave as text alone."""
    result = preview(window, action_id, **params)
    assert result is None or not result.diff
    return result.text if result else None


def problem(window: Window, action_id: str, **params: Any) -> str:
    """Why there is no preview."""
    with pytest.raises(ContextUIError) as caught:
        preview(window, action_id, **params)
    return str(caught.value)


def test_it_is_reported_and_nothing_is_done(windows: WindowManager) -> None:
    for action_id, params, expected in (
        ("write", {"text": "a"}, "+a"),
        ("write", {"text": "a", "times": "3"}, "+aaa"),  # checked, as for the action
        ("hello", {}, "+hellohello"),
        ("again", {"times": 2}, "+againagain"),
        ("forget", {}, None),
    ):
        window, heard = windows.open(Writer), Heard(windows)
        before = window.version
        assert words(window, action_id, **params) == expected, action_id
        after_all(window)
        assert (window.version, window.snapshot().content) == (before, ""), action_id
        assert (runtime_of(window).history.entries, heard.events) == ((), []), action_id


@pytest.mark.parametrize(
    ("action_id", "params", "why"),
    [
        ("write", {}, "writer_1.write: text is missing. Expected: text:string,times:int=1"),
        ("hello", {"times": 1}, "hello takes no params."),
        ("place", {}, "place is a reference and has no action."),
        ("burn", {}, 'writer_1 has no action "burn". It has: write, forget, hello, again, '
         "close."),
    ],
)  # fmt: skip
def test_what_would_be_refused_says_why(
    windows: WindowManager, action_id: str, params: dict[str, Any], why: str
) -> None:
    window = windows.open(Writer)
    assert problem(window, action_id, **params) == why
    windows.close(window.id)
    assert problem(window, "forget") == "writer_1 is closed."


@pytest.mark.usefixtures("neighbour")
@pytest.mark.parametrize("reason", WAYS)
def test_one_that_raises_says_why(windows: WindowManager, reason: str) -> None:
    class Bad(Counter):
        def preview(self, action_id: str, params: Mapping[str, Any]) -> str | None:
            WAYS[reason]()

    message = problem(windows.open(Bad), "up")
    assert message.startswith(f"There is no preview, so it cannot be approved: {reason}")
    assert message.isprintable()


def test_one_that_is_late_says_so_and_holds_nobody_up(
    windows: WindowManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Slow(Blocking):
        asked = 0

        def preview(self, action_id: str, params: Mapping[str, Any]) -> str | None:
            Slow.asked += 1
            self.at("preview")
            return "late"

    slow = opened(windows, Slow)
    late = "There is no preview, so it cannot be approved: slow_1 did not answer in time."
    with held(slow, "preview") as gates:
        monkeypatch.setattr(transaction, "PATIENCE", 0.02)
        while not gates["preview"].reached.is_set():  # a busy machine may not even get there
            assert problem(slow, "up") == late
        assert problem(slow, "up") == late  # waits for the first, and then is not asked for
    after_all(slow)
    assert Slow.asked == 1
    monkeypatch.undo()
    assert words(slow, "up") == "late"


def test_a_change_of_the_state_is_taken_back(windows: WindowManager) -> None:
    class Hasty(Writer):
        def preview(self, action_id: str, params: Mapping[str, Any]) -> str | None:
            self.write(params["text"])
            return self.state.written[-1]

    window, heard = windows.open(Hasty), Heard(windows)
    assert words(window, "write", text="a") == "a"
    assert window.snapshot().content == ""
    assert heard.troubles == "preview() changed the state; the change was rolled back"


class Odd(Writer):
    """Has previews of all kinds."""

    given: ClassVar[Any] = None

    def preview(self, action_id: str, params: Mapping[str, Any]) -> Any:
        return Odd.given


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (None, None),
        ("", None),
        ("words", Preview("odd_1.write", text="words")),
        ("a\ud800", Preview("odd_1.write", text="a\ufffd")),
        ("x" * 300_000, Preview("odd_1.write", text="x" * 300_000)),
        (DIFF, Preview("odd_1.write", diff=DIFF)),
        (Preview("a", diff=DIFF), Preview("a", diff=DIFF)),
        (Preview("a", diff="+no\n-diff"), Preview("a", text="+no\n-diff")),
        (Preview("a", diff=DIFF[:-3]), Preview("a", text=DIFF[:-3])),
        (Preview("a", "", "w", "x" * 20_000_001), Preview("a", text="w")),
        (Preview("a\u200d.txt", text="w"), Preview("a\u200d.txt", text="w")),
        (Preview("a", text="\0"), Preview("a", text="\0")),
    ],
    ids=lambda one: repr(one)[:30],
)
def test_it_is_shown_whole(windows: WindowManager, given: Any, expected: Preview | None) -> None:
    Odd.given = given
    assert preview(windows.open(Odd), "write", text="a") == expected


def test_what_cannot_be_shown_is_no_preview(windows: WindowManager) -> None:
    for value, why in (
        (b"bytes", "preview() returned bytes"),
        (5, "preview() returned int"),
        (["a"], "preview() returned list"),
        (Preview("a", diff=b"-"), "TypeError"),  # type: ignore[arg-type]
        (Preview("a", verb="burn"), "preview() returned 'burn'"),  # type: ignore[arg-type]
        (Preview(""), "names no target"),
        (Preview("   "), "names no target"),
        (Preview("x" * 5_000), "names no target"),
        (Preview("a\nb"), "U+000A"),
        (Preview("a\x1b[2Jb"), "U+001B"),
        (Preview("a\x00"), "U+0000"),
        (Preview("a\u202etxt.sh"), "U+202E"),
        (Preview("a\u2066b"), "U+2066"),
        (Preview("a\u2028b"), "U+2028"),
        (Preview("a\ud800"), "U+D800"),
        (Preview("a", text="x" * 20_000_001), "20,000,001 characters"),
        ("x" * 20_000_001, "20,000,001 characters"),
    ):
        Odd.given = value
        message = problem(windows.open(Odd), "write", text="a")
        assert message.startswith("There is no preview, so it cannot be approved: "), value
        assert why in message, value
        assert message.isprintable(), value


def test_it_may_be_async(windows: WindowManager) -> None:
    class Waiting(Writer):
        async def preview(  # type: ignore[override]
            self, action_id: str, params: Mapping[str, Any]
        ) -> str:
            await asyncio.sleep(0)
            return "waited"

    assert words(windows.open(Waiting), "forget") == "waited"
