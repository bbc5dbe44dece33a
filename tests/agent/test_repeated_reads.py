"""What is asked for again, and cannot be different, is not read again."""

import os
from pathlib import Path

import pytest

from contextui.agent.models.scripted import Step, call
from contextui.context.manager import ContextManager
from contextui.events import CallFinished, Event
from contextui.files.workspace import Workspace
from contextui.model import Block
from contextui.windowing.action import action
from contextui.windowing.manager import WindowManager
from contextui.windowing.snapshot import Body, Lod
from contextui.windowing.window import Window
from tests.agent.talking import controller, of, run


class Ledger(Window):
    """Numbers."""

    name = "ledger"
    asked = 0

    class State(Window.State):
        total: int = 0

    state: State

    def content(self, lod: Lod) -> Body:
        return f"{lod.value} {self.state.total}"

    @action("Add")
    def add(self, amount: int) -> str:
        self.state.total += amount
        return "Added."

    @action("Sum", effect="read")
    def sum(self, times: int = 1) -> str:
        Ledger.asked += 1
        return str(self.state.total * times)


def act(action_id: str, **params: int) -> Block:
    return call("action", window_id="ledger_1", action_id=action_id, params=params)


def texts(events: list[Event]) -> list[str]:
    return [one.text for one in of(CallFinished, events)]


def talk(*steps: Step, folder: Path | None = None) -> tuple[list[list[str]], int]:
    """Take as many turns as there are answers in words; what the calls gave, and how often the
    window was asked."""
    workspace = Workspace(folder) if folder is not None else None
    windows = WindowManager([Ledger], workspace=workspace)
    windows.open("ledger")
    talking = controller(*steps, context=ContextManager(windows))
    Ledger.asked = 0
    turns = sum(isinstance(step, str) for step in steps)
    return [texts(run(talking, f"turn {number}")) for number in range(turns)], Ledger.asked


def test_a_read_action_of_the_same_version_is_carried_out_once() -> None:
    twice = [act("sum"), act("sum")]
    assert talk(twice, act("sum"), "Done.") == ([["0", "0", "0"]], 1)


def test_it_is_carried_out_again_after_anything_else_was_done() -> None:
    for between in (act("add", amount=0), act("add", amount=2), call("create", name="ledger")):
        (results,), asked = talk([act("sum"), between, act("sum"), act("sum")], "Done.")
        assert asked == 2, between
        assert results[0] == "0", between
        assert (
            results[2]
            == results[3]
            == ("2" if between["input"].get("params") == {"amount": 2} else "0")
        ), between


def test_other_params_and_another_turn_are_another_question() -> None:
    steps: list[Step] = [[act("sum"), act("sum", times=2)], "Done.", act("sum"), "Done."]
    assert talk(*steps) == ([["0", "0"], ["0"]], 3)


def test_a_file_that_is_unchanged_is_read_once_in_a_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("one\ntwo\n")
    os.utime(notes, (1_000, 1_000))
    opened: list[str] = []
    system_open = os.open

    def counted(path: object, *args: object, **kwargs: object) -> int:
        opened.append(str(path))
        return system_open(path, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", counted)

    def reads() -> int:
        count = sum(path.endswith("notes.txt") for path in opened)
        opened.clear()
        return count

    read = call("read_file", path="notes.txt")
    talk(read, "Done.", folder=tmp_path)
    once = reads()
    (results,), _ = talk(
        [read, call("read_file", path="notes.txt")], call("read_file", path="@notes.txt"), "Done.",
        folder=tmp_path,
    )  # fmt: skip
    assert "one" in results[0]
    assert reads() == once > 0
    notes.write_text("three\n")
    (results,), _ = talk(
        [read, call("read_file", path="notes.txt", start=1)], "Done.", folder=tmp_path
    )
    assert "three" in results[0]


def test_a_file_that_changes_between_two_reads_is_read_again(tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("one\n")
    os.utime(notes, (1_000, 1_000))
    windows = WindowManager([Ledger], workspace=Workspace(tmp_path))
    read = [call("read_file", path="notes.txt") for _ in range(2)]
    talking = controller(read[0], "Done.", read[1], "Done.", context=ContextManager(windows))
    assert "one" in texts(run(talking, "first"))[0]
    notes.write_text("two\n")  # as many bytes
    os.utime(notes, (2_000, 2_000))
    assert "two" in texts(run(talking, "second"))[0]
