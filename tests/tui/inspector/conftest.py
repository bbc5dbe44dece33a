"""What tests of the inspector share."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.tui.inspector.scene import enter, shop, talk, tidy
from tests.tui.running import running
from tests.tui.sharing import SharedApp, sharing


@asynccontextmanager
async def app_in(folder: Path) -> "AsyncIterator[Pilot[int]]":
    """The inspector of a shop with a finished conversation."""
    async with running(shop(folder)) as pilot:
        await talk(pilot)
        await enter(pilot)
        yield pilot


shared_shop = sharing(lambda temp: SharedApp(lambda: app_in(temp.mktemp("shop")), tidy))


@pytest.fixture
def shared(shared_shop: SharedApp) -> SharedApp:
    return shared_shop
