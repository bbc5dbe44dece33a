"""Opening, finding, acting, closing; ids that are never used twice."""

import asyncio
from typing import Any

import pytest

from contextui import ActionResult, Body, ContextVersion, Lod, Window, WindowManager, action
from contextui.errors import (
    ContextUIError,
    InvalidParamsError,
    InvalidSourceDataError,
    UnknownActionError,
    UnknownWindowError,
    WindowDefinitionError,
)
from contextui.events import WindowClosed, WindowOpened, WindowRestored
from contextui.windowing.runtime import runtime_of
from tests.windowing.samples import Counter, Heard, Todo, act, after_all, parse, settled, together


@pytest.fixture
def windows() -> WindowManager:
    return WindowManager([Todo, Counter])


class TestOpening:
    def test_by_name_class_or_instance(self, windows: WindowManager) -> None:
        by_name, by_class = windows.open("todo"), windows.open(Todo)
        instance = windows.open(Todo())
        assert [by_name.id, by_class.id, instance.id] == ["todo_1", "todo_2", "todo_3"]
        assert windows.windows() == [by_name, by_class, instance]
        assert windows.get("todo_2") is by_class
        assert windows.get("todo_9") is None

    def test_args_are_those_of_opened(self, windows: WindowManager) -> None:
        todo = windows.open("todo", items=["milk", "eggs"])
        assert todo.snapshot().content == "milk  id=1\neggs  id=2"
        assert str(todo.version) == "1.0.0"

    def test_wrong_args_open_nothing(self, windows: WindowManager) -> None:
        for args in ({"things": 1}, {"items": "milk"}, {"items": [1]}):
            heard = Heard(windows)
            with pytest.raises(InvalidParamsError, match="Expected: items:string"):
                windows.open("todo", **args)
            assert windows.windows() == [], args
            assert heard.events == [], args

    def test_an_unknown_name_says_what_there_is(self, windows: WindowManager) -> None:
        for name in ("todo_1", "", "Todo", 'x"><y', "\ud800"):
            with pytest.raises(UnknownWindowError, match="Available: counter, todo"):
                windows.open(name)

    def test_two_classes_of_one_name_are_an_error_that_names_both(self) -> None:
        class Other(Window):
            name = "todo"

        assert WindowManager([Todo, Todo]).classes["todo"] is Todo
        with pytest.raises(WindowDefinitionError, match=r"samples\.Todo and .*Other"):
            WindowManager([Todo, Other])

    def test_sessions_share_nothing(self) -> None:
        """S1.9"""
        one, two = WindowManager([Counter]), WindowManager([Counter])
        first, second = one.open("counter"), two.open("counter")
        act(one, first, "up")
        assert second.snapshot().content == "Full: 0"
        assert one.session_id != two.session_id
        assert first.snapshot().header.session_id == one.session_id


class TestIds:
    def test_a_closed_windows_id_is_not_given_again(self, windows: WindowManager) -> None:
        windows.open("todo")
        windows.close("todo_1")
        assert windows.open("todo").id == "todo_2"

    def test_restored_ids_count(self, windows: WindowManager) -> None:
        windows.restore(Todo, "todo_7", {})
        assert windows.open("todo").id == "todo_8"
        windows.restore(Todo, "todo_3", {})
        assert windows.open("todo").id == "todo_9"

    def test_opened_from_many_threads_each_has_its_own(self, windows: WindowManager) -> None:
        together(*[lambda: [windows.open("counter") for _ in range(5)]] * 8)
        assert len({one.id for one in windows.windows()}) == 40


class TestRestoring:
    def test_state_level_and_version_come_back(self, windows: WindowManager) -> None:
        heard = Heard(windows)
        state = {"items": [{"id": 1, "text": "milk"}]}
        todo = windows.restore(Todo, "todo_5", state, lod=Lod.GIST, version=ContextVersion(5))
        assert (todo.id, todo.lod, str(todo.version)) == ("todo_5", Lod.GIST, "5.0.0")
        assert todo.snapshot().content == "1 items"
        assert todo.snapshot().state.custom == state
        assert heard.of(WindowRestored) == [WindowRestored("todo_5")]
        assert heard.of(WindowOpened) == []

    def test_a_state_that_is_none_is_refused(self, windows: WindowManager) -> None:
        cases: list[Any] = [{"items": 5}, {"items": [{"id": "x"}]}, 5, None]
        for state in cases:
            with pytest.raises(
                InvalidSourceDataError, match="todo_1: the saved state is not one of"
            ):
                windows.restore(Todo, "todo_1", state)
            assert windows.windows() == [], state

    def test_an_id_that_is_none_is_refused(self, windows: WindowManager) -> None:
        for window_id in ("", 'a"><b', "a b", "\ud800", "1", "x" * 81, "todo_1\n"):
            with pytest.raises(UnknownWindowError, match="cannot be a window's id"):
                windows.restore(Todo, window_id, {})

    def test_an_id_that_is_taken_is_refused(self, windows: WindowManager) -> None:
        windows.open("todo")
        with pytest.raises(UnknownWindowError, match="a window todo_1 already"):
            windows.restore(Todo, "todo_1", {})

    def test_when_restored_fails_data_is_there_acting_heals(self, windows: WindowManager) -> None:
        class Sick(Counter):
            def restored(self) -> None:
                self.state.count = 0
                raise ValueError("no network")

        sick = windows.restore(Sick, "sick_1", {"count": 5})
        assert "did not open: ValueError: no network" in (sick.snapshot().error or "")
        assert sick.snapshot().state.custom == {"count": 5}
        assert act(windows, sick, "report").text == "5"
        settled(windows)
        after_all(sick)
        assert (sick.snapshot().error, sick.snapshot().content) == (None, "Full: 5")


class TestClosing:
    def test_it_is_gone_its_last_render_stays(self, windows: WindowManager) -> None:
        heard = Heard(windows)
        todo = windows.open("todo", items=["milk"])
        xml = todo.to_xml()
        windows.close("todo_1", "all bought")
        assert windows.get("todo_1") is None
        assert windows.windows() == []
        assert windows.last_render("todo_1") == xml
        assert heard.of(WindowClosed) == [WindowClosed("todo_1", "all bought", "person")]

    @pytest.mark.parametrize("summary", [None, "done"])
    def test_by_action(self, windows: WindowManager, summary: str | None) -> None:
        heard = Heard(windows)
        todo = windows.open("todo")
        result = act(windows, todo, "close", **({"summary": summary} if summary else {}))
        assert result.ok
        assert result.text == ("todo_1 closed: done" if summary else "todo_1 closed.")
        assert heard.of(WindowClosed) == [WindowClosed("todo_1", summary, "model")]

    def test_discarded_edits_are_reported(self, windows: WindowManager) -> None:
        class Draft(Counter):
            def unsaved(self) -> str | None:
                return f"{self.state.count}\ndrafts" if self.state.count else None

        heard = Heard(windows)
        first, second, third = (windows.open(Draft) for _ in range(3))
        assert act(windows, first, "close").text == "draft_1 closed."
        act(windows, second, "up")
        text = act(windows, second, "close", summary="done").text
        assert text.startswith("draft_2 closed: done\nUnsaved and discarded: 1 drafts. ")
        act(windows, third, "up")
        windows.close(third.id)
        assert [one.given_up for one in heard.of(WindowClosed)] == ["", "1 drafts", "1 drafts"]

    def test_by_action_with_wrong_params_closes_nothing(self, windows: WindowManager) -> None:
        todo = windows.open("todo")
        result = act(windows, todo, "close", summary=[1])
        assert isinstance(result.error, InvalidParamsError)
        assert windows.get("todo_1") is todo

    def test_twice_is_an_error(self, windows: WindowManager) -> None:
        windows.open("todo")
        windows.close("todo_1")
        with pytest.raises(UnknownWindowError, match="todo_1 is closed"):
            windows.close("todo_1")
        with pytest.raises(UnknownWindowError, match="There is no window"):
            windows.close("todo_2")

    def test_of_many_at_once_one_succeeds(self, windows: WindowManager) -> None:
        windows.open("todo")
        results: list[bool] = []

        def close() -> None:
            try:
                windows.close("todo_1")
                results.append(True)
            except UnknownWindowError:
                results.append(False)

        together(*[close] * 8)
        assert sorted(results) == [False] * 7 + [True]

    def test_a_closed_window_can_still_be_looked_at(self, windows: WindowManager) -> None:
        counter = windows.open("counter")
        windows.close(counter.id)
        assert counter.snapshot().content == "Full: 0"
        assert counter.snapshot(Lod.GIST).content == "Full: 0"


class TestActing:
    def test_params_and_result(self, windows: WindowManager) -> None:
        counter = windows.open("counter")
        assert act(windows, counter, "up", by="2") == ActionResult(True, "Now 2")
        assert act(windows, counter, "report").text == "2"
        todo = windows.open("todo", items=["a"])
        assert act(windows, todo, "delete", index=0) == ActionResult(True, "Done.")

    @pytest.mark.parametrize("window_id", ["todo_2", "", 'x"><y', "\0", None, 5, ["todo_1"], {}])
    def test_an_unknown_window_is_a_result(self, windows: WindowManager, window_id: Any) -> None:
        windows.open("todo")
        result = asyncio.run(windows.act(window_id, "add", {"text": "x"}))
        assert not result.ok
        assert isinstance(result.error, UnknownWindowError)
        assert "Open windows: todo_1." in result.text

    def test_an_action_that_is_not_declared_is_refused(self, windows: WindowManager) -> None:
        """FAULTS 20."""
        cases: list[Any] = [
            "",
            "ad",
            "state",
            "content",
            "__init__",
            "opened",
            "a\ud800\0",
            None,
            5,
            ["add"],
            {},
        ]
        for action_id in cases:
            todo = windows.open("todo")
            result = asyncio.run(windows.act(todo.id, action_id, {}))
            assert isinstance(result.error, UnknownActionError), action_id
            assert result.text.endswith("It has: add, delete, close."), action_id
            assert str(todo.version) == "1.0.0", action_id

    def test_wrong_params_are_a_result(self, windows: WindowManager) -> None:
        cases: list[Any] = [
            {},
            {"text": 5},
            {"text": None},
            {"text": "x", "y": 1},
            [],
            "text",
            5,
            {5: 6},
        ]
        for params in cases:
            todo = windows.open("todo")
            result = asyncio.run(windows.act(todo.id, "add", params))
            assert isinstance(result.error, InvalidParamsError), params
            assert str(todo.version) == "1.0.0", params

    def test_concurrent_threads_lose_nothing(self, windows: WindowManager) -> None:
        counter = windows.open("counter")
        together(*[lambda: [act(windows, counter, "up") for _ in range(5)]] * 10)
        assert counter.snapshot().content == "Full: 50"
        assert str(counter.version) == "51.0.0"
        history = counter.snapshot().history or ()
        assert [entry.round for entry in history] == list(range(1, 51))

    def test_an_action_may_open_another_window(self, windows: WindowManager) -> None:
        class Files(Window):
            """Files."""

            def content(self, lod: Lod) -> Body:
                return ""

            @action("Open")
            def show(self, name: str) -> str:
                return self.env.open(name, items=["from files"]).id

            @action("Open later")
            async def later(self, name: str) -> str:
                return self.env.open(name).id

        files = windows.open(Files)
        assert act(windows, files, "show", name="todo").text == "todo_1"
        assert act(windows, files, "later", name="todo").text == "todo_2"
        assert "from files" in windows.windows()[1].to_xml()
        failed = act(windows, files, "show", name="nothing")
        assert isinstance(failed.error, UnknownWindowError)

    def test_the_language_and_the_clock_are_at_hand(self) -> None:
        class Polyglot(Window):
            def content(self, lod: Lod) -> Body:
                return self.env.lang

        window = WindowManager(lang="zh").open(Polyglot)
        assert window.snapshot().content == "zh"
        assert parse(window.to_xml()).findtext("Actions/action") == "关闭"


class TestFocus:
    def test_the_last_used_is_the_highest(self, windows: WindowManager) -> None:
        one, two = windows.open("todo"), windows.open("todo")
        assert windows.focused_at(one.id) < windows.focused_at(two.id)
        act(windows, one, "add", text="x")
        assert windows.focused_at(one.id) > windows.focused_at(two.id)
        windows.focus(two.id)
        assert windows.focused_at(one.id) < windows.focused_at(two.id)

    def test_what_is_gone_was_never_used(self, windows: WindowManager) -> None:
        windows.open("todo")
        windows.close("todo_1")
        assert windows.focused_at("todo_1") == 0
        with pytest.raises(ContextUIError):
            windows.focus("todo_1")
        with pytest.raises(ContextUIError):
            windows.set_lod("todo_1", Lod.GIST)


def test_settle_now_draws_for_those_without_a_loop(windows: WindowManager) -> None:
    counter = windows.open("counter")
    windows.set_lod(counter.id, Lod.GIST)
    windows.settle_now()
    assert runtime_of(counter).renders.latest().snapshot.content == "Gist: 0"


class TestReopening:
    def test_a_closed_window_comes_back_with_its_state(self, windows: WindowManager) -> None:
        todo = windows.open("todo", items=["milk"])
        asyncio.run(windows.act(todo.id, "add", {"text": "eggs"}))
        windows.set_lod(todo.id, Lod.SUMMARY)
        content, heard = todo.snapshot(Lod.FULL).content, Heard(windows)
        windows.close(todo.id, actor="model")
        windows.open("counter")
        windows.close("counter_1")
        assert list(windows.closed_titles) == ["counter_1", "todo_1"]
        back = windows.reopen("todo_1")
        assert (back.id, back.lod) == ("todo_2", Lod.SUMMARY)
        assert back.snapshot(Lod.FULL).content == content
        assert WindowOpened("todo_2") in heard.of(WindowOpened)
        assert windows.reopen().id == "counter_2"
        assert windows.closed_titles == {}
        with pytest.raises(UnknownWindowError):
            windows.reopen()
