"""What tests of the inspector share."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest
from textual.pilot import Pilot

from tests.tui.inspector.scene import enter, shop, talk, tidy
from tests.tui.running import running
from tests.tui.sharing import SharedApp


@pytest.fixture(scope="module")
def shared_shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedApp]:
    """The inspector of a shop with a finished conversation."""

    @asynccontextmanager
    async def start() -> "AsyncIterator[Pilot[int]]":
        async with running(shop(tmp_path_factory.mktemp("shop"))) as pilot:
            await talk(pilot)
            await enter(pilot)
            yield pilot

    app = SharedApp(start, tidy)
    yield app
    app.close()


@pytest.fixture
def shared(shared_shop: SharedApp) -> SharedApp:
    return shared_shop
