"""What is asked for again, and cannot be different, is not read again."""

import os
from pathlib import Path

import pytest

from contextui.agent.models.scripted import Step, call
from contextui.context.manager import ContextManager
from contextui.events import CallFinished, Event
from contextui.files.workspace import Workspace
from contextui.windowing.manager import WindowManager
from tests.agent.talking import controller, of, run


def texts(events: list[Event]) -> list[str]:
    return [one.text for one in of(CallFinished, events)]


def talk(*steps: Step, folder: Path) -> list[str]:
    windows = WindowManager([], workspace=Workspace(folder))
    return texts(run(controller(*steps, context=ContextManager(windows)), "turn"))


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
    results = talk(
        [read, call("read_file", path="notes.txt")], call("read_file", path="@notes.txt"), "Done.",
        folder=tmp_path,
    )  # fmt: skip
    assert "one" in results[0]
    assert reads() == once > 0
    notes.write_text("three\n")
    results = talk([read, call("read_file", path="notes.txt", start=1)], "Done.", folder=tmp_path)
    assert "three" in results[0]


def test_a_file_that_changes_between_two_reads_is_read_again(tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("one\n")
    os.utime(notes, (1_000, 1_000))
    windows = WindowManager([], workspace=Workspace(tmp_path))
    read = [call("read_file", path="notes.txt") for _ in range(2)]
    talking = controller(read[0], "Done.", read[1], "Done.", context=ContextManager(windows))
    assert "one" in texts(run(talking, "first"))[0]
    notes.write_text("two\n")  # as many bytes
    os.utime(notes, (2_000, 2_000))
    assert "two" in texts(run(talking, "second"))[0]
