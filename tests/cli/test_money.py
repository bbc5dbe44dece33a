"""What turns and sessions cost, as scripts read it; and nothing where no price is known."""

import pytest

from contextui.config.credentials import Credentials
from tests.agent import chat_server
from tests.agent.server import Server
from tests.cli.calling import Program

JSON = ("--output-format", "json")


def test_a_turn_and_its_session_have_their_costs(program: Program) -> None:
    """At the prices of the person's own file; a change of the model changes no earlier cost."""
    counted = chat_server.usage(1_000_000, 100_000, cached=400_000)
    answers = [chat_server.chat(text, counted=counted) for text in ("One.", "Two.", "Three.")]
    with Server(*answers) as server:
        Credentials(program.home).add_server("box", f"{server.url}/v1")
        (program.home / "prices.toml").write_text(
            '["box/m"]\ninput = 2\noutput = 10\ncached = 0.5\n'
            '["box/dear"]\ninput = 20\noutput = 100\ncached = 5\n["box/bad"]\ninput = "cheap"\n'
        )
        first = program("--model", "box/m", *JSON, "-p", "1")
        second = program("--model", "box/dear", *JSON, "-c", "-p", "2")
        third = program("--model", "box/unknown", *JSON, "-c", "-p", "3")
    cost = 0.6 * 2 + 0.1 * 10 + 0.4 * 0.5
    assert first.status == 0, first
    assert first.json["cost_usd"] == pytest.approx(cost)
    assert first.json["session_cost_usd"] == pytest.approx(cost)
    assert second.json["cost_usd"] == pytest.approx(10 * cost)
    assert second.json["session_cost_usd"] == pytest.approx(11 * cost)
    assert third.json["usage"]["output_tokens"] == 100_000
    assert not [name for name in third.json if "cost" in name]
    # Nonsense in the file is one line; the rest of the file counts.
    [fault] = [line for line in first.err.splitlines() if "prices.toml" in line]
    assert "box/bad" in fault
