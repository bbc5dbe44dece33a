"""The scenarios of the specification: blocks, marks, sweeps and costs of every request."""

import json
from pathlib import Path
from typing import Any

from benchmarks.cost.replay import blocks
from contextui.context.placement.slots import Rules
from contextui.model import CachePrices
from tests.context.placement.scenario import Scenario

VECTORS: list[dict[str, Any]] = json.loads(
    Path(__file__).with_name("vectors.json").read_text("utf-8")
)["vectors"]


def test_the_scenario_is_reproduced() -> None:
    for vector in VECTORS:
        scenario = Scenario(
            CachePrices(**vector["prices"]), Rules(**vector["rules"]), vector["system"]
        )
        wanted = iter(vector["requests"])
        for event in vector["events"]:
            request = scenario.feed(event)
            if request is None:
                continue
            shown = [
                " ".join(map(str, filter(None, one))) for one in blocks(scenario.transcript.slots)
            ]
            sweep = request.sweep._asdict() if request.sweep else None
            found = {
                "blocks": shown, "marks": request.marks, "sweep": sweep,
                "outdated": request.outdated, "read": request.read, "written": request.written,
                "plain": request.plain,
            }  # fmt: skip
            if request.is_over:
                found["over"] = True
            assert found == next(wanted), vector
        assert next(wanted, None) is None, vector
