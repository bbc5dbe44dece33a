"""The held-out tables: conversations that the offline model was not made with.

A table is a file ``heldout/set<N>.json``; the third has windows of strangers, in
``own_windows3.py``. The ids of its cases say what they are about: ``h3-en-…`` and ``h3-zh-…``
built-in windows in each language, ``h3-own-…`` the windows of strangers. The cases of
``nothing<N>.json`` must change nothing.

Do not look at single cases to change the model: a table that was looked at is no longer held out.
"""

import asyncio
import importlib
from pathlib import Path
from typing import NamedTuple

import pytest

from contextui import Window
from tests.agent.models.offline import heldout
from tests.agent.models.offline.cases import Expectation, check, load, outcome
from tests.agent.models.offline.table import Rate, show, total
from tests.agent.models.offline.talk import Talk

FOLDER = Path(heldout.__file__).parent
TABLES = sorted(FOLDER.glob("set*.json"))
HARMLESS = sorted(FOLDER.glob("nothing*.json"))


class Threshold(NamedTuple):
    """The least share of cases carried out, and the largest share that did something else."""

    carried_out: float
    wrong: float


THRESHOLDS = {
    "set1": Threshold(0.86, 0.05),
    "set2": Threshold(0.70, 0.17),
    "set3": Threshold(0.66, 0.10),
    "set4": Threshold(0.60, 0.15),
    "set5": Threshold(0.80, 0.10),
    "set6": Threshold(0.60, 0.11),
}


@pytest.mark.long
@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_most_conversations_are_carried_out(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rates, harm, classes = dict[str, Rate](), list[str](), _windows(path)
    for case in load(path):
        group = case.id.split("-")[1]
        rate = rates.setdefault(group, Rate(f"{path.stem}, {group}"))
        (tmp_path / case.id).mkdir()
        came = outcome(case, classes, tmp_path / case.id)
        rate.add(case.id, is_right=not came.problems, has_acted=bool(came.calls))
        if case.nothing and came.has_changed:
            harm.append(f"{case.id}: {came.calls}")
    for rate in rates.values():
        show(rate, capsys)
    whole, wanted = total(path.stem, rates.values()), THRESHOLDS[path.stem]
    assert harm == []
    assert whole.share >= wanted.carried_out, str(whole)
    assert whole.wrong_share <= wanted.wrong, str(whole)


@pytest.mark.parametrize("path", HARMLESS, ids=lambda path: path.stem)
def test_nothing_comes_of_what_must_do_nothing(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cases, harm, classes = load(path), list[str](), _windows(path)
    for case in cases:
        (tmp_path / case.id).mkdir()
        came = outcome(case, classes, tmp_path / case.id)
        if came.has_changed:
            harm.append(f"{case.id}: {came.calls}")
    for lang in ("en", "zh"):
        of = [case.id for case in cases if case.lang == lang]
        bad = sum(one.partition(":")[0] in of for one in harm)
        show(f"offline model, {path.stem}, {lang}: {bad} of {len(of)} changed something", capsys)
    assert harm == []


@pytest.mark.long  # it only says something about the tables
@pytest.mark.parametrize("path", [*TABLES, *HARMLESS], ids=lambda path: path.stem)
def test_every_case_can_be_met_and_is_not_met_from_the_start(path: Path, tmp_path: Path) -> None:
    cases, classes, bad = load(path), _windows(path), list[str]()
    assert len({case.id for case in cases}) == len(cases)
    for case in cases:
        expected: Expectation = {**case.expect, "answer": []}
        (tmp_path / case.id).mkdir()
        with Talk(tmp_path / case.id, case.lang, classes, files={}) as talk:
            asyncio.run(case.begin(talk.windows))
            is_met = not list(check(expected, talk.windows, ""))
            if is_met != (not case.by) and not (is_met and case.expect.get("answer")):
                bad.append(f"{case.id}: before")
            asyncio.run(case.carry_out(case.by, talk.windows))
            bad += [f"{case.id}: {one}" for one in check(expected, talk.windows, "")]
    assert bad == []


def _windows(path: Path) -> tuple[type[Window], ...]:
    """Return the windows that were written for a table."""
    number = path.stem.removeprefix("set").removeprefix("nothing")
    own = FOLDER / f"own_windows{number}.py"
    name = f"{heldout.__name__}.{own.stem}"
    return tuple(importlib.import_module(name).WINDOWS) if own.exists() else ()
