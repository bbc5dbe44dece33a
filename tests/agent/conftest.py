"""What the tests of the loop share."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agent.server import Server
from tests.agent.wired import Wired


@pytest.fixture
def closed() -> Iterator[str]:
    """An address on loopback where nothing listens."""
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # taken, and not listened to
        yield f"http://127.0.0.1:{nobody.getsockname()[1]}"


@pytest.fixture
def wired(tmp_path: Path) -> Iterator[Wired]:
    """A conversation over the wire; at its end, all that was sent and kept is looked at."""
    with Server() as server:
        wired = Wired(tmp_path, server)
        yield wired
        wired.close()
