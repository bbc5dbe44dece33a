"""Whatever a window does wrong costs itself: never the turn, the loop or another window."""

import asyncio
from typing import Any

import pytest
from pydantic import field_serializer

from contextui import Body, Element, Lod, Transient, Window, WindowManager
from contextui.errors import ActionFailedError, WindowDefinitionError
from contextui.events import WindowTroubled
from contextui.windowing.runtime import runtime_of
from tests.windowing.samples import (
    LONG,
    Blocking,
    Counter,
    Heard,
    act,
    action_ids,
    after_all,
    content_of,
    held,
    opened,
    settled,
)
from tests.windowing.ways import WAYS, leave


@pytest.mark.usefixtures("neighbour")
class TestContent:
    """FAULTS 21."""

    @pytest.mark.parametrize("reason", WAYS)
    def test_that_raises_is_an_error_snapshot(self, windows: WindowManager, reason: str) -> None:
        class Bad(Counter):
            def content(self, lod: Lod) -> Body:
                WAYS[reason]()

        heard = Heard(windows)
        bad = windows.open(Bad)
        assert settled(windows) == []
        snapshot = bad.snapshot()
        assert snapshot.error == snapshot.content
        assert snapshot.content.startswith(f"bad_1 could not be drawn.\n{reason}")
        assert reason in content_of(bad.to_xml())
        assert action_ids(bad.to_xml()) == ["up", "report", "close"]
        assert snapshot.state.custom == {"count": 0}
        assert f"could not be drawn: {reason}" in heard.troubles

    @pytest.mark.parametrize(
        ("body", "reason"),
        [
            (
                None,
                "content() returned None; it must return text, an Element, or a list of Elements.",
            ),
            (5, "content() returned int"),
            (b"raw", "content() returned bytes"),
            ({"a": 1}, "content() returned dict"),
            ([Element("a"), "b"], "content() returned list"),
            ((x for x in "ab"), "content() returned generator"),
        ],
    )
    def test_that_returns_nonsense_is_an_error_snapshot(
        self, windows: WindowManager, body: Any, reason: str
    ) -> None:
        class Bad(Counter):
            def content(self, lod: Lod) -> Body:
                return body  # type: ignore[no-any-return]

        assert reason in (windows.open(Bad).snapshot().error or "")

    @pytest.mark.parametrize("elements", [False, True])
    def test_that_is_too_long_is_cut(self, windows: WindowManager, elements: bool) -> None:
        text = "x" * 50_000_000

        class Long(Counter):
            def content(self, lod: Lod) -> Body:
                return [Element("a", text)] if elements else text

        long = windows.open(Long)
        assert settled(windows) == []
        assert len(long.to_xml()) < 201_000
        assert long.snapshot().content.endswith("… 49800000 more characters left out")

    def test_that_hangs_is_late_and_shows_its_last_render(self, windows: WindowManager) -> None:
        window = opened(windows, Blocking)
        heard = Heard(windows)
        with held(window, "content") as gates:
            assert act(windows, window, "up").ok
            assert gates["content"].reached.wait(LONG)
            assert asyncio.run(windows.settle(0.01)) == [window.id]
            assert "is late: busy for" in heard.troubles
            latest = runtime_of(window).renders.latest()
            assert latest.snapshot.stale
            assert 'version="1.0.0" lod="Full" stale="true"' in latest.xml
        assert settled(windows) == []
        assert window.snapshot().content == "Full: 1"
        assert "stale" not in window.to_xml() + window.snapshot().model_dump_json()

    def test_that_hangs_at_once_is_open_and_not_drawn(self, windows: WindowManager) -> None:
        window = Blocking()
        with held(window, "content"):

            async def open_it() -> str:
                windows.open(window)
                await windows.await_opening(LONG)  # the loop itself waits only briefly
                return window.to_xml()

            xml = asyncio.run(open_it())
            assert 'version="0.0.0" lod="Full" stale="true"' in xml
            assert content_of(xml) == "blocking_1 has not been drawn yet."
        assert settled(windows) == []
        assert window.snapshot().content == "Full: 0"

    def test_that_comes_to_its_senses_is_drawn_again(self, windows: WindowManager) -> None:
        class Moody(Counter):
            well = False

            def content(self, lod: Lod) -> Body:
                if not self.well:
                    raise ValueError("not now")
                return super().content(lod)

        moody = opened(windows, Moody)
        assert moody.snapshot().error
        moody.well = True
        assert act(windows, moody, "report").ok
        after_all(moody)
        after_all(moody)
        assert (moody.snapshot().error, moody.snapshot().content) == (None, "Full: 0")
        assert str(moody.version) == "1.0.1"

    @pytest.mark.parametrize("broken", [False, True])
    def test_that_changes_the_state_is_undone(self, windows: WindowManager, broken: bool) -> None:
        """S1.2: content is a function of the state, not an action."""

        class Greedy(Counter):
            class State(Counter.State):
                cache: Transient[list[int]] = []

            state: State

            def content(self, lod: Lod) -> Body:
                shown = super().content(lod)
                self.state.cache.append(1)
                if broken:
                    self.state = 5  # type: ignore[assignment]
                else:
                    self.state.count += 1
                return shown

        heard = Heard(windows)
        greedy = windows.open(Greedy)
        for _ in range(3):
            assert act(windows, greedy, "report").text == "0"
        assert (str(greedy.version), greedy.snapshot().content) == ("1.0.0", "Full: 0")
        assert heard.troubles == "content() changed the state; the change was rolled back"

    def test_whose_state_cannot_be_saved_is_still_drawn(self, windows: WindowManager) -> None:
        class Handle:
            pass

        class Holder(Window):
            class State(Window.State):
                handle: Handle = Handle()

            def content(self, lod: Lod) -> Body:
                return "here"

        heard = Heard(windows)
        holder = windows.open(Holder)
        assert (holder.snapshot().content, holder.snapshot().state.custom) == ("here", None)
        assert "its state cannot be saved" in heard.troubles


@pytest.mark.usefixtures("neighbour")
class TestHooks:
    @pytest.mark.parametrize("reason", WAYS)
    def test_opened_that_raises_opens_nothing(self, windows: WindowManager, reason: str) -> None:
        class Bad(Counter):
            def opened(self) -> None:
                self.env.every(0.001, lambda: None)
                WAYS[reason]()

        with pytest.raises(ActionFailedError) as caught:
            windows.open(Bad)
        assert str(caught.value).startswith(reason)
        assert [one.id for one in windows.windows()] == ["counter_1"]

    @pytest.mark.parametrize("reason", WAYS)
    def test_closed_that_raises_is_reported(self, windows: WindowManager, reason: str) -> None:
        class Bad(Counter):
            def closed(self) -> None:
                WAYS[reason]()

        bad = windows.open(Bad)
        heard = Heard(windows)
        windows.close(bad.id)
        heard.wait_for(WindowTroubled)
        assert heard.troubles.startswith(f"closed() failed: {reason}")
        assert windows.get(bad.id) is None


class TestMaking:
    """What cannot be a window says so in words, when it is opened."""

    def test_a_constructor_that_raises(self, windows: WindowManager) -> None:
        class Bad(Counter):
            def __init__(self) -> None:
                leave()

        with pytest.raises(
            WindowDefinitionError, match="A bad window cannot be created: SystemExit"
        ):
            windows.open(Bad)
        with pytest.raises(
            WindowDefinitionError, match="A bad window cannot be created: SystemExit"
        ):
            windows.restore(Bad, "bad_1", {})

    def test_a_state_that_has_no_defaults(self, windows: WindowManager) -> None:
        with pytest.raises(WindowDefinitionError, match=r"Bad\.State: count needs a default"):

            class Bad(Window):
                class State(Window.State):
                    count: int

        class Good(Window):
            class State(Window.State):
                count: int

            state: State

            def __init__(self) -> None:
                self.state = self.State(count=5)

            def content(self, lod: Lod) -> str:
                return f"{lod.value}: {self.state.count}"

        assert windows.open(Good).snapshot().content == "Full: 5"

    def test_a_serialiser_that_exits_costs_only_saved_state(self, windows: WindowManager) -> None:
        class Bad(Counter):
            class State(Counter.State):
                @field_serializer("count", when_used="json")
                def _leave(self, value: int) -> int:
                    leave()

        bad = windows.open(Bad)
        assert (bad.snapshot().content, bad.snapshot().state.custom) == ("Full: 0", None)
