"""The checks of a case notice what is not as expected."""

import asyncio
from pathlib import Path

from tests.agent.models.offline.cases import Case, Expectation, Step, check, outcome
from tests.agent.models.offline.talk import Talk

MILK: Step = {"open": "todo", "args": {"items": ["milk"]}}


def problems(folder: Path, expect: Expectation, answer: str) -> list[str]:
    """What is not as expected before the first turn."""
    case = Case("en-x", "en", ["hello"], expect, {"a.txt": "a"}, [MILK])
    with Talk(folder, case.lang, classes=(), files={}) as talk:
        asyncio.run(case.begin(talk.windows))
        return list(check(expect, talk.windows, answer))


def test_each_kind_of_expectation_can_fail(tmp_path: Path) -> None:
    for expect, problem in (
        (Expectation(open=[]), "open: ['todo_1'] instead of []"),
        (Expectation(open=["todo_1", "x_1"]), "instead of ['todo_1', 'x_1']"),
        (Expectation(closed=["todo_1"]), "todo_1 is still open"),
        (Expectation(closed=["todo_2"]), "todo_2 never was open"),
        (Expectation(states={"todo_2": {}}), "todo_2 is not open"),
        (Expectation(states={"todo_1": {"x": 1}}), "todo_1 has no x"),
        (Expectation(states={"todo_1": {"last_id": True}}), "last_id is 1 instead of True"),
        (Expectation(states={"todo_1": {"items": []}}), "instead of []"),
        (Expectation(states={"todo_1": {"items": [{}, {}]}}), "instead of [{}, {}]"),
        (Expectation(states={"todo_1": {"items": [{"text": "Milk"}]}}), "items[0].text is 'milk'"),
        (Expectation(shown={"todo_1": ["milk", "eggs"]}), "todo_1 does not show 'eggs'"),
        (Expectation(files={"a.txt": "b"}), "a.txt holds 'a' instead of 'b'"),
        (Expectation(files={"b.txt": "b"}), "b.txt holds None instead of 'b'"),
        (Expectation(answer=["well", ["no", "never"]]), "has none of ['no', 'never']"),
    ):
        (found,) = problems(tmp_path, expect, "Well, yes.")
        assert problem in found, expect


def test_an_expectation_looks_only_at_what_it_names(tmp_path: Path) -> None:
    states = {"todo_1": {"items": [{"text": "milk"}]}}
    expect = Expectation(states=states, answer=[["cannot", "CAN'T"]])
    assert problems(tmp_path, expect, "I can't do that.") == []


def test_the_outcome_says_whether_anything_changed(tmp_path: Path) -> None:
    for words, calls, has_changed in (
        ("add tea", ("todo_1.add text=tea",), True),
        ("todo_1.find text=milk", ("todo_1.find text=milk",), False),
        ("what is on my list?", (), False),
    ):
        steps: list[Step] = [MILK, {"open": "monitor"}]
        came = outcome(Case("en-x", "en", [words], Expectation(), {}, steps), (), tmp_path)
        assert (came.calls, came.has_changed, came.problems) == (calls, has_changed, ()), words
