"""The harness for those who write windows: it opens, acts, looks, and catches mistakes."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from contextui import ActionError, Body, Lod, Transient, Window, action
from contextui.errors import UnknownWindowError
from contextui.testing import WindowTester
from tests.windowing.samples import Counter, Todo


class Diary(Window):
    """Uses everything that surrounds a window."""

    class State(Window.State):
        lines: list[str] = []
        ticks: int = 0
        looks: Transient[int] = 0

    state: State

    def opened(self, first: str = "", every: float = 0) -> None:
        if first:
            self.state.lines.append(first)
        if every:
            self.env.every(every, self.beat)

    def restored(self) -> None:
        self.state.lines.append("back")

    def beat(self) -> None:
        self.state.ticks += 1
        self.state.lines.append(f"tick {self.state.ticks}")

    def content(self, lod: Lod) -> Body:
        return f"{self.env.lang} {lod.value}: {', '.join(self.state.lines)}"

    @action("Note the time")
    def note(self) -> str:
        self.state.lines.append(self.env.clock().isoformat())
        return "Noted."

    @action("Read a file", effect="read")
    async def read(self, path: str) -> str:
        await asyncio.sleep(0)
        return self.env.workspace.open_text(path).file.text

    @action("Open a counter")
    def count(self) -> str:
        return f"Opened {self.env.open('counter').id}."

    @action("Fail, having changed something")
    def fail(self) -> None:
        self.state.lines.append("never")
        raise ActionError("It cannot be done.")

    @action("Look")
    def look(self) -> None:
        self.state.looks += 1


def test_an_action_that_should_succeed_and_fails_fails_the_test_with_its_words() -> None:
    with WindowTester(Diary) as diary, pytest.raises(AssertionError, match="It cannot be done"):
        diary.act("fail")


def test_an_action_that_should_fail_and_succeeds_fails_the_test() -> None:
    with WindowTester(Todo) as todo, pytest.raises(AssertionError, match="add was carried out"):
        todo.refused("add", text="milk")


def test_a_refusal_gives_the_words_that_the_model_reads() -> None:
    with WindowTester(Diary) as diary:
        assert diary.refused("fail") == "It cannot be done."
        assert diary.refused("nonsense").startswith('diary_1 has no action "nonsense"')
        assert diary.window.state.lines == []


def test_what_goes_wrong_is_kept_in_words() -> None:
    class Restless(Window):
        """Changes itself while it is looked at."""

        class State(Window.State):
            looks: int = 0

        state: State

        def content(self, lod: Lod) -> Body:
            self.state.looks += 1
            return "?"

    with WindowTester(Restless) as restless:
        assert restless.content() == "?"
        assert restless.troubles == [
            "restless_1 content() changed the state; the change was rolled back"
        ]


def test_the_language_the_clock_and_the_files_are_given() -> None:
    noon = datetime(2030, 1, 2, 12, tzinfo=UTC)
    with WindowTester(Diary, lang="zh", clock=lambda: noon) as diary:
        diary.act("note")
        assert diary.content(Lod.SUMMARY) == "zh Summary: 2030-01-02T12:00:00+00:00"
        with diary.restored() as later:
            later.act("note")
            assert later.window.state.lines[-1] == "2030-01-02T12:00:00+00:00"
            assert later.window.env.lang == "zh"


def test_files_are_those_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hello", "utf-8")
    with WindowTester(Diary, folder=tmp_path) as diary:
        assert diary.act("read", path="a.txt") == "hello"
        assert "leads out of the workspace" in diary.refused("read", path="../a.txt")
        assert diary.restored().act("read", path="a.txt") == "hello"
    with WindowTester(Diary) as diary:
        assert diary.refused("read", path="a.txt") == "There is no folder to work in."


def test_other_windows_can_be_opened_if_they_are_given() -> None:
    with WindowTester(Diary, classes=(Counter,)) as diary:
        assert diary.act("count") == "Opened counter_1."
        assert diary.windows.get("counter_1") is not None
    assert diary.windows.windows() == []
    with WindowTester(Diary) as diary:
        assert diary.refused("count").startswith('There is no window called "counter"')


def test_timers_run_when_the_test_says_so() -> None:
    with WindowTester(Diary, every=3600.0) as diary:
        diary.tick()
        diary.tick()
        assert diary.content() == "en Full: tick 1, tick 2"


def test_a_later_run_has_the_saved_state_the_id_and_the_hook() -> None:
    with WindowTester(Diary, first="one") as diary:
        diary.act("look")
        diary.windows.set_lod("diary_1", Lod.GIST)
        with diary.restored() as later:
            assert later.window is not diary.window
            assert later.window.id == "diary_1"
            assert later.window.lod is Lod.GIST
            assert later.window.state.lines == ["one", "back"]
            assert later.window.state.looks == 0
        assert diary.content() == "en Full: one"


def test_a_state_that_cannot_be_saved_or_shown_fails_the_test() -> None:
    class Odd(Window):
        """Holds what JSON cannot."""

        class State(Window.State):
            thing: Any = None

        state: State

        def content(self, lod: Lod) -> Body:
            return self.state.thing or "odd"

        @action("Hold it")
        def hold(self) -> None:
            self.state.thing = object()

    with WindowTester(Odd) as odd:
        odd.act("hold")
        with pytest.raises(AssertionError, match="cannot be saved"):
            odd.restored()
        with pytest.raises(AssertionError, match="content"):
            odd.content()


async def test_it_works_inside_an_event_loop() -> None:
    with WindowTester(Todo) as todo:
        assert todo.act("add", text="milk") == "Added 1."


def test_the_end_of_the_block_closes_everything() -> None:
    with WindowTester(Todo) as todo:
        pass
    assert todo.windows.windows() == []
    assert isinstance(todo.result("add", text="late").error, UnknownWindowError)
