"""What the tests of the command line share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from contextui.cli.words import speak
from tests.agent.server import Server
from tests.cli.calling import SECRET, Program


@pytest.fixture
def program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Program:
    return Program(tmp_path, monkeypatch, capsys)


@pytest.fixture
def server(program: Program) -> Iterator[Server]:
    """A server that is the configured model."""
    with Server() as server:
        program.set(ANTHROPIC_BASE_URL=server.url, ANTHROPIC_API_KEY=SECRET)
        yield server


@pytest.fixture(autouse=True)
def _in_english_again() -> Iterator[None]:
    """A process speaks one language; one that runs tests goes on to the next."""
    yield
    speak("en")
