"""The cases are what they should be: well-formed, possible to begin, and able to fail."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from contextui import Window, WindowManager
from contextui.files.workspace import Workspace
from contextui.windows.code import CodeWindow
from contextui.windows.editor.window import EditorWindow
from contextui.windows.files import FilesWindow
from contextui.windows.monitor.window import MonitorWindow
from contextui.windows.notebook import NotebookWindow
from contextui.windows.todo.window import TodoWindow
from tests.agent.models.offline.cases import Case, Expectation, Open, check, load
from tests.agent.models.offline.custom_windows import CUSTOM
from tests.agent.models.offline.fresh_windows import FRESH
from tests.agent.models.offline.later_windows import EVERYDAY

BUILT_IN: tuple[type[Window], ...] = (
    TodoWindow, EditorWindow, MonitorWindow, NotebookWindow, FilesWindow
)  # fmt: skip
EVERY: tuple[type[Window], ...] = (*BUILT_IN, CodeWindow, *CUSTOM, *FRESH, *EVERYDAY)
CASES = load("paraphrases.json")
UNSEEN = load("unseen.json")
LATER = [
    case
    for table in (
        "fresh.json",
        "fresh2.json",
        "fresh3.json",
        "fresh4.json",
        "fresh5.json",
        "fresh7.json",
        "fresh8.json",
    )
    for case in load(table)
]
ALL = [*CASES, *UNSEEN, *LATER]
CHANGING_NOTHING = {
    "en-05", "en-18", "zh-02", "zh-18", "en-57", "en-58", "zh-57", "zh-58", "en-104", "zh-104",
    "zh-119", "en-140", "en-201", "en-202", "en-203", "en-207", "en-212", "en-223", "en-230",
    "zh-201", "zh-202", "zh-203", "zh-207", "zh-212", "zh-223", "zh-227", "zh-230", "en-265",
    "en-267", "en-271", "en-280", "zh-265", "zh-267", "zh-271", "zh-280",
    "en-408", "en-410", "zh-401", "zh-408", "en-424", "en-425", "en-428", "zh-424", "zh-425",
    "zh-430"
}  # fmt: skip


@contextmanager
def begun(case: Case, folder: Path) -> Iterator[WindowManager]:
    """The windows as they are before the person speaks."""
    with Workspace(folder) as workspace:
        windows = WindowManager(EVERY, lang=case.lang, workspace=workspace)
        try:
            asyncio.run(case.setup(windows))
            yield windows
        finally:
            windows.shut_down()


def test_there_are_as_many_cases_in_each_language() -> None:
    assert Counter(case.lang for case in CASES) == {"en": 20, "zh": 20}
    assert Counter(case.lang for case in UNSEEN) == {"en": 10, "zh": 10}
    assert Counter(case.lang for case in LATER) == {"en": 110, "zh": 110}
    assert len({case.id for case in ALL}) == 280
    assert all(case.id.startswith(f"{case.lang}-") for case in ALL)


def test_every_case_says_something_of_its_own() -> None:
    assert all(case.say and all(words.strip() for words in case.say) for case in ALL)
    assert len({case.say for case in ALL}) == 280


@pytest.mark.parametrize("cases", [CASES, UNSEEN], ids=["paraphrases", "unseen"])
@pytest.mark.parametrize("name", [cls.name for cls in (*BUILT_IN, *CUSTOM)])
def test_every_window_is_spoken_of_in_both_languages(name: str, cases: list[Case]) -> None:
    for lang in ("en", "zh"):
        spoken = [case for case in cases if case.lang == lang]
        assert any(f"{name}_1" in _spoken_of(case) for case in spoken), lang


def _spoken_of(case: Case) -> set[str]:
    expect = case.expect
    return {*(expect.open or ()), *expect.closed, *expect.states, *expect.shown}


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.id)
def test_doing_nothing_fulfils_no_case_and_saying_the_right_thing_only_what_changes_nothing(
    case: Case, tmp_path: Path
) -> None:
    right = " ".join(one[0] for one in case.expect.answer).upper()
    with begun(case, tmp_path) as windows:
        assert check(case, windows, "")
        fulfilled = not check(case, windows, right)
    assert fulfilled == (case.id in CHANGING_NOTHING)


@pytest.mark.parametrize(
    ("expect", "problem"),
    [
        (Expectation(open=frozenset()), "open: ['todo_1'] instead of []"),
        (Expectation(open=frozenset({"todo_1", "x_1"})), "instead of ['todo_1', 'x_1']"),
        (Expectation(closed=("todo_1",)), "todo_1 is still open"),
        (Expectation(closed=("todo_2",)), "todo_2 never was open"),
        (Expectation(states={"todo_2": {}}), "todo_2 is not open"),
        (Expectation(states={"todo_1": {"x": 1}}), "todo_1 has no x"),
        (Expectation(states={"todo_1": {"last_id": True}}), "last_id is 1 instead of True"),
        (Expectation(states={"todo_1": {"items": []}}), "instead of []"),
        (Expectation(states={"todo_1": {"items": [{}, {}]}}), "instead of [{}, {}]"),
        (Expectation(states={"todo_1": {"items": [{"text": "Milk"}]}}), "items[0].text is 'milk'"),
        (Expectation(shown={"todo_1": ("milk", "eggs")}), "todo_1 does not show 'eggs'"),
        (Expectation(files={"a.txt": "b"}), "a.txt holds 'a' instead of 'b'"),
        (Expectation(files={"b.txt": "b"}), "b.txt holds None instead of 'b'"),
        (Expectation(answer=(("well",), ("no", "never"))), "has none of ['no', 'never']"),
    ],
)
def test_each_kind_of_expectation_can_fail(
    expect: Expectation, problem: str, tmp_path: Path
) -> None:
    steps = (Open("todo", {"items": ["milk"]}),)
    case = Case("en-x", "en", ("hello",), expect, {"a.txt": "a"}, steps)
    with begun(case, tmp_path) as windows:
        problems = check(case, windows, "Well, yes.")
    assert len(problems) == 1
    assert problem in problems[0]


def test_an_expectation_looks_only_at_what_it_names(tmp_path: Path) -> None:
    expect = Expectation(
        states={"todo_1": {"items": [{"text": "milk"}]}}, answer=(("cannot", "CAN'T"),)
    )
    case = Case("en-x", "en", ("hello",), expect, {}, (Open("todo", {"items": ["milk"]}),))
    with begun(case, tmp_path) as windows:
        assert check(case, windows, "I can't do that.") == []
