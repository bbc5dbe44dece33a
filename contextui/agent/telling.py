"""Events on their way from a turn to whoever listens, in order, from any thread."""

import asyncio
from contextlib import suppress

from contextui.events import Event


class Telling:
    """Takes events in and gives them out, until it is told that there are no more."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._events: asyncio.Queue[Event | None] = asyncio.Queue()

    def tell(self, event: Event | None) -> None:
        """Take an event; None is the end. Windows tell on their own threads: this way all of it
        stays in order."""
        with suppress(RuntimeError):  # the loop is closed: nobody is there to be told
            self._loop.call_soon_threadsafe(self._events.put_nowait, event)

    async def next(self) -> Event | None:
        """The next event; None at the end."""
        return await self._events.get()
