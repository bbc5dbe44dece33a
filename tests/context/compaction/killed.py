"""A process that is killed in the middle of a compaction: its summary exists in memory alone."""

import asyncio
import os
import signal
import sys
from pathlib import Path

from contextui.agent.models.scripted import ScriptedModel
from contextui.context.compaction.service import CompactionService
from contextui.context.item import SUMMARY
from contextui.events import Event, ItemAdded
from tests.context.compaction.long_talk import OUTLINE
from tests.session.talk import store_in


def die(event: Event) -> None:
    """Die when the summary is an item; it is written once its boundary is."""
    if isinstance(event, ItemAdded) and event.item_id.startswith(SUMMARY):
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    folder, session_id = sys.argv[1:]
    session = store_in(Path(folder)).open(session_id)
    session.context.subscribe(die)
    service = CompactionService(session.context, ScriptedModel(OUTLINE), 128_000)
    asyncio.run(service.compact())
