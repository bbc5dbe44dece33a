"""Placement by turn sends what version 1 sent, byte by byte."""

from pathlib import Path

from tests.context.version_one import CONVERSATIONS, lines_of

RECORDED = (Path(__file__).parent / "golden" / "turn.jsonl").read_text("utf-8").splitlines()


def test_requests_by_turn_are_those_of_version_one() -> None:
    for seed in range(CONVERSATIONS):
        recorded = [line for line in RECORDED if line.startswith(f"[{seed}, ")]
        assert len(recorded) > 10, seed
        assert list(lines_of(seed)) == recorded, seed
