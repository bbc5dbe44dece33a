"""Conversations of several turns, about several windows, with corrections and undo."""

from pathlib import Path

import pytest

from tests.agent.models.offline.cases import load, outcome
from tests.agent.models.offline.table import Rate, show
from tests.agent.models.offline.talk import UNKNOWN
from tests.thorough import times

WANTED = 0.95
"""The share of conversations that must be carried out."""

CASES = load(Path(__file__).with_name("conversations.json"))


def test_conversations_are_carried_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every second one; `make test-thorough` tries all of them."""
    rate = Rate("conversations")
    for case in CASES[:: times(2, 1)]:
        (tmp_path / case.id).mkdir()
        came = outcome(case, UNKNOWN, tmp_path / case.id)
        rate.add(
            f"{case.id}: {came.calls} {came.problems}",
            is_right=not came.problems,
            has_acted=bool(came.calls),
        )
    show(rate, capsys)
    assert rate.share >= WANTED, [*rate.wrong, *rate.nothing]
