"""Whatever a server does wrong, over the real SDK: no hang, nothing by halves, bounded memory."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.agent.fault_scripts import IS_WHOLE, NAMES, SAMPLE, FaultServer, scripts
from tests.agent.shapes import violations
from tests.thorough import times

MEMORY = 300_000_000  # bytes
STRICT = ("cut/", "bytes/", "endless/", "status/", "bomb/", "connection/")
KNOWN = {"first", "second", NAMES, *map(str, range(64))}


def play(names: Sequence[str], folder: Path) -> tuple[list[dict[str, Any]], int]:
    """What came of each script in a process of its own, and the most memory that it took."""
    kept = {
        name: value for name, value in os.environ.items()
        if not name.upper().startswith("ANTHROPIC_") and not name.upper().endswith("_PROXY")
    }  # fmt: skip
    with FaultServer(scripts()) as server:
        command = [sys.executable, "-m", "tests.agent.fault_scripts", server.url, str(folder)]
        done = subprocess.run([*command, *names], capture_output=True, check=False, env=kept)
        assert done.returncode == 0, done.stderr.decode()[-3_000:]
        for received in server.requests:
            assert violations(received.json) == []
    *outcomes, last = map(json.loads, done.stdout.splitlines())
    assert [one["name"] for one in outcomes] == list(names)
    return outcomes, last["peak"]


def problems(outcome: dict[str, Any]) -> list[str]:
    """What is wrong with what came of a script."""
    name, new = outcome["name"], outcome["after"][1:]
    checks = {
        "it hung": outcome["explanation"] != "HANGS",
        "it does not say why": outcome["reason"] != "failed" or outcome["explanation"],
        "something else is done": outcome["after"][:1] == ["x"] and KNOWN.issuperset(new),
        "something is done twice": len(new) == len(set(new)),
        "half of it is done": name in IS_WHOLE or not name.startswith(STRICT) or not new,
        "too much is done": len(new) <= 64,
        "the whole is not done": name not in IS_WHOLE or new,
        "no good turn follows": outcome["good"] == ["Done.", "Done."],
        "the good turn's action is missing": outcome["items"] == [*outcome["after"], "good 1"],
        "it does not come back": outcome["resumed"] == outcome["items"],
        "it does not go on": outcome["end"] == [*outcome["items"], "good 2"],
        "it comes back damaged": not outcome["notices"] and not outcome["unanswered"],
        "the words are too long": len(outcome["explanation"]) < 1_000,
    }
    return [f"{name}: {problem}: {outcome}" for problem, is_well in checks.items() if not is_well]


def check(names: Sequence[str], folder: Path) -> int:
    outcomes, peak = play(names, folder)
    assert [problem for one in outcomes for problem in problems(one)] == []
    assert peak < MEMORY
    return peak


@pytest.mark.long
def test_a_few_faults_of_every_kind(tmp_path: Path) -> None:
    check(SAMPLE, tmp_path)


def test_there_are_many_scripts() -> None:
    table = scripts()
    assert len(table) >= 150
    assert table.keys() >= {*SAMPLE, *IS_WHOLE}


@pytest.mark.long
@pytest.mark.parametrize(
    "part", ["cut", "bytes", "order", "endless", "status", "bomb", "connection", "content"]
)
def test_all_faults(tmp_path: Path, part: str) -> None:
    names = [name for name in scripts() if name.startswith(f"{part}/")][:: times(3, 1)]
    peak = check(names, tmp_path)
    print(f"{part}: {len(names)} scripts, peak memory {peak // 1_000_000} MB")
