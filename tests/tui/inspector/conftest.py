"""What tests of the inspector share."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.tui.inspector.scene import inspecting, tidy
from tests.tui.sharing import SharedApp, sharing


@asynccontextmanager
async def app_in(folder: Path) -> "AsyncIterator[Pilot[int]]":
    """The inspector of a shop with a finished conversation."""
    async with inspecting(folder) as (pilot, _):
        yield pilot


shared_shop = sharing(lambda temp: SharedApp(lambda: app_in(temp.mktemp("shop")), tidy))


@pytest.fixture
def shared(shared_shop: SharedApp) -> SharedApp:
    return shared_shop
