"""A window's life: its class, its versions, its levels of detail, its frozen renders."""

import threading
from typing import Any

import pytest

from contextui import Body, ContextVersion, Lod, Snapshot, Transient, Window, WindowManager, action
from contextui.errors import UnknownWindowError, WindowClosedError
from contextui.events import WindowActed, WindowChanged, WindowDetailChanged
from contextui.windowing.runtime import runtime_of
from tests.windowing.samples import (
    LONG,
    Blocking,
    Counter,
    Heard,
    Todo,
    act,
    after_all,
    held,
    opened,
    settled,
    together,
)


def version_of(window: Window) -> str:
    return str(window.version)


class TestClass:
    def test_its_name_comes_from_the_class_unless_it_says_one(self) -> None:
        class MemoryNotebookWindow(Window): ...

        class _Hidden(Window): ...

        class Other(Window):
            name = "my-own_2"

        assert [MemoryNotebookWindow.name, _Hidden.name, Other.name] == [
            "memory_notebook",
            "hidden",
            "my-own_2",
        ]

    def test_it_is_described_in_chinese_where_its_author_did(self) -> None:
        class Plain(Window):
            """Counts."""

        class Both(Plain):
            """Counts up."""

            description_zh = "往上数。"

        class Later(Both):
            """Counts down."""

        assert [cls.described("zh") for cls in (Plain, Both, Later)] == [
            "Counts.",
            "往上数。",
            "Counts down.",
        ]
        assert Both.described("en") == "Counts up."

    def test_a_widget_is_named_and_not_imported(self) -> None:
        class Plain(Window): ...

        class Drawn(Window):
            widget = "no.such_module:Widget2"

        class Heir(Drawn): ...

        assert [one.widget for one in (Plain, Drawn, Heir)] == [None, *[Drawn.widget] * 2]

    def test_its_description_is_what_it_says_of_itself(self) -> None:
        class Plain(Window): ...

        class Documented(Window):
            """First line.

            More.
            """

        class Heir(Documented): ...

        class Own(Documented):
            description = "Mine"

        assert [one.description for one in (Plain, Documented, Heir, Own)] == [
            "plain",
            "First line.",
            "First line.",
            "Mine",
        ]

    def test_never_opened_it_says_so(self) -> None:
        with pytest.raises(WindowClosedError, match="This todo window was never opened"):
            _ = Todo().id


class TestVersions:
    """S1.4: counted by the framework, never from outside."""

    def test_major_counts_the_data_and_returns_the_rest_to_0(self, windows: WindowManager) -> None:
        counter, heard = windows.open(Counter), Heard(windows)
        assert version_of(counter) == "1.0.0"
        for lod in (Lod.FULL, Lod.GIST, Lod.GIST, Lod.FULL):
            windows.set_lod(counter.id, lod)
        assert version_of(counter) == "1.2.0"
        assert [event.lod for event in heard.of(WindowDetailChanged)] == ["Gist", "Full"]
        act(windows, counter, "up")
        assert version_of(counter) == "2.0.0"

    def test_patch_counts_what_is_no_data(self, windows: WindowManager) -> None:
        class Moody(Counter):
            mood = "fine"

            def content(self, lod: Lod) -> Body:
                return self.mood

        window = opened(windows, Moody)
        runtime_of(window).renders.redraw().result(LONG)
        assert version_of(window) == "1.0.0"
        window.mood, heard = "bad", Heard(windows)
        runtime_of(window).renders.redraw().result(LONG)
        assert [event.version for event in heard.of(WindowChanged)] == ["1.0.1"]
        assert (version_of(window), window.snapshot().content) == ("1.0.1", "bad")
        act(windows, window, "up")
        assert version_of(window) == "2.0.0"

    def test_what_changes_nothing_makes_no_version(self, windows: WindowManager) -> None:
        counter = windows.open(Counter)
        act(windows, counter, "report")
        act(windows, counter, "up", by=0)
        act(windows, counter, "nonsense")
        assert version_of(counter) == "1.0.0"

    def test_nobody_outside_can_set_it(self, windows: WindowManager) -> None:
        counter: Any = windows.open(Counter)
        with pytest.raises(AttributeError):
            counter.version = ContextVersion(9)
        with pytest.raises(AttributeError):
            counter.version.major = 9

    def test_a_deep_change_is_seen_and_a_transient_one_is_not(self, windows: WindowManager) -> None:
        class Deep(Window):
            class State(Window.State):
                table: dict[str, list[int]] = {"a": []}
                cache: Transient[list[int]] = []

            state: State

            def content(self, lod: Lod) -> Body:
                return str(self.state.table)

            @action("Deep")
            def deep(self) -> None:
                self.state.table["a"].append(1)

            @action("Look")
            def look(self) -> int:
                self.state.cache.append(1)
                return len(self.state.cache)

        deep = windows.open(Deep)
        act(windows, deep, "look")
        assert act(windows, deep, "look").text == "2"
        assert version_of(deep) == "1.0.0"
        act(windows, deep, "deep")
        assert (version_of(deep), deep.snapshot().content) == ("2.0.0", "{'a': [1]}")
        assert act(windows, deep, "look").text == "3"
        assert deep.snapshot().state.custom == {"table": {"a": [1]}}


class TestLevels:
    """S1.6: per window, with a default for the session."""

    def test_the_session_has_a_default(self) -> None:
        window = WindowManager(lod=Lod.SUMMARY).open(Counter)
        assert (window.lod, window.snapshot().content) == (Lod.SUMMARY, "Summary: 0")

    def test_each_can_be_looked_at_without_switching(self, windows: WindowManager) -> None:
        counter = windows.open(Counter)
        assert [counter.snapshot(lod).content for lod in Lod] == [
            "Gist: 0",
            "Summary: 0",
            "Full: 0",
        ]
        assert 'lod="Gist"' in counter.to_xml(Lod.GIST)
        assert (counter.lod, version_of(counter)) == (Lod.FULL, "1.0.0")

    def test_switching_while_it_draws_loses_nothing(self, windows: WindowManager) -> None:
        window = opened(windows, Blocking)
        with held(window, "content") as gates:
            windows.set_lod(window.id, Lod.GIST)
            assert gates["content"].reached.wait(LONG)
            windows.set_lod(window.id, Lod.FULL)
            windows.set_lod(window.id, Lod.GIST)
            assert runtime_of(window).renders.latest().snapshot.stale
        assert settled(windows) == []
        latest = runtime_of(window).renders.latest()
        assert (latest.version, latest.snapshot.stale) == (ContextVersion(1, 3), False)
        assert latest.snapshot.content == "Gist: 0"


class TestRenders:
    """S1.3: content is frozen until the data or the level changes."""

    def test_content_is_asked_once_for_each_version_and_level(self, windows: WindowManager) -> None:
        counter = opened(windows, Counter)
        for _ in range(5):
            counter.to_xml()
            counter.snapshot()
            counter.snapshot(Lod.GIST)
            settled(windows)
            act(windows, counter, "report")
        assert counter.draws == 2
        act(windows, counter, "up")
        counter.to_xml()
        after_all(counter)
        assert counter.draws == 3

    def test_the_same_version_gives_the_same_bytes(self, windows: WindowManager) -> None:
        todo = windows.open(Todo, items=["a"])
        assert todo.to_xml() is todo.to_xml()
        assert todo.snapshot() == todo.snapshot()

    def test_of_stale_renders_the_windows_own_level_is_shown(self, windows: WindowManager) -> None:
        window = opened(windows, Blocking)
        window.snapshot(Lod.GIST)
        windows.set_lod(window.id, Lod.GIST)
        settled(windows)
        window.snapshot(Lod.FULL)
        with held(window, "content"):
            act(windows, window, "up")
            assert runtime_of(window).renders.latest().snapshot.content == "Gist: 0"

    def test_looking_while_it_draws_is_always_consistent(self, windows: WindowManager) -> None:
        """What is not marked stale shows the version that it names."""
        counter = windows.open(Counter)
        stop = threading.Event()
        wrong: list[Snapshot] = []

        def change() -> None:
            for _ in range(20):
                act(windows, counter, "up")
            stop.set()

        def look() -> None:
            while not stop.is_set():
                snapshot = runtime_of(counter).renders.latest().snapshot
                shown = int(snapshot.content.split()[-1])
                if shown != snapshot.header.version.major - 1:
                    wrong.append(snapshot)

        def switch() -> None:
            while not stop.is_set():
                for lod in Lod:
                    windows.set_lod(counter.id, lod)
                    counter.snapshot(lod)

        together(change, look, look, switch)
        assert wrong == []
        assert settled(windows) == []
        assert not runtime_of(counter).renders.latest().snapshot.stale
        assert counter.snapshot().content.endswith(": 20")

    def test_a_window_may_look_at_itself_from_its_own_thread(self, windows: WindowManager) -> None:
        class Vain(Counter):
            @action("Look")
            def look(self) -> str:
                self.state.count = 7
                return self.snapshot().content + self.snapshot(Lod.GIST).content

        result = act(windows, windows.open(Vain), "look")
        assert (result.ok, result.text) == (True, "Full: 0Full: 0")


class TestHistory:
    """S1.9: the last 50 rounds, or as many as the window says."""

    def test_it_holds_what_was_done_and_what_came_of_it(self, windows: WindowManager) -> None:
        counter = windows.open(Counter)
        assert counter.snapshot().history is None
        act(windows, counter, "up")
        act(windows, counter, "no\0such")
        first, second = counter.snapshot().history or ()
        assert (first.round, first.action, first.result) == (1, "up", "Now 1")
        assert (second.round, second.action) == (2, "no␀such")
        assert "has no action" in second.result

    @pytest.mark.parametrize("limit", [0, 1, 3, Counter.history_limit])
    def test_it_keeps_the_last_50_or_as_many_as_the_window_says(
        self, windows: WindowManager, limit: int
    ) -> None:
        class Short(Counter):
            history_limit = limit

        counter = windows.open(Short)
        for _ in range(60):
            act(windows, counter, "up")
        history = counter.snapshot().history or ()
        assert [one.round for one in history] == list(range(61 - limit, 61))
        assert Counter.history_limit == 50


class TestEvents:
    def test_each_change_is_reported_with_its_version(self, windows: WindowManager) -> None:
        heard = Heard(windows)
        counter = windows.open(Counter)
        act(windows, counter, "up")
        settled(windows)
        assert [one.version for one in heard.of(WindowChanged)] == ["1.0.0", "2.0.0"]
        assert heard.of(WindowActed) == [WindowActed("counter_1", "up", "model", True, "Now 1")]


def test_a_window_opens_once(windows: WindowManager) -> None:
    todo = windows.open(Todo)
    with pytest.raises(UnknownWindowError, match="todo_1 was opened before"):
        windows.open(todo)


def test_an_input_callback_is_unregistered_only_by_its_owner(windows: WindowManager) -> None:
    async def first() -> None: ...

    async def second() -> None: ...

    window = windows.open(Counter)
    unregister_first = runtime_of(window).commit_input_with(first)
    unregister_second = runtime_of(window).commit_input_with(second)
    unregister_first()
    assert runtime_of(window).commit_input is second
    unregister_second()
    assert runtime_of(window).commit_input is None
