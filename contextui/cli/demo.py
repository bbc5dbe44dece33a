"""Demo conversation without a screen, a network or a key: ``python -m contextui.cli.demo``.

After each turn it shows what a person would see: the text, the open windows, and the line of each
item that is new or changed. Everything is stored in temporary folders.
"""

import asyncio
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from contextui.agent.controller import InteractionController
from contextui.agent.models.offline import OfflineModel
from contextui.cli import flags
from contextui.cli.console import discard_unwritable, finish, harden_streams, say
from contextui.cli.progress import call_line
from contextui.events import CallFinished, CallStarted, TurnFinished
from contextui.session.session import Session, SessionOptions
from contextui.session.store import SessionStore
from contextui.windowing.finding.registry import discover
from contextui.windowing.window import Window

TURNS = (
    "Make a to-do list with milk, eggs and bread",
    "Mark milk as done",
    "Write down in a notebook: the bakery closes early",
    "What is on my list?",
    "Close the to-do list",
)
_WIDTH = 80
_LABEL = 7  # columns of the label
_MOST_LINES = 6  # of one window


def main() -> int:
    """Play the conversation and return the exit status; a closed pipe ends it quietly."""
    harden_streams()
    try:
        _play_all()
        finish()
    except BrokenPipeError:
        return flags.BROKEN_PIPE
    finally:
        discard_unwritable()
    return flags.DONE


def _play_all() -> None:
    with TemporaryDirectory() as home, TemporaryDirectory() as folder:
        options = SessionOptions(classes=discover().classes())
        with SessionStore(home, options).create(Path(folder)) as session:
            asyncio.run(_play(session))


async def _play(session: Session) -> None:
    controller = InteractionController(model=OfflineModel(), context=session.context)
    controller.install_prompt()
    shown: set[str] = set()
    for number, words in enumerate(TURNS, 1):
        say(f"── {number} of {len(TURNS)} ".ljust(_WIDTH, "─"))
        _say("you", words)
        await _take_turn(controller, words)
        await session.windows.settle()
        _say("open", *_windows(session))
        lines = session.context.debug_lines()
        _say("items", *(line for line in lines if line not in shown))
        shown.update(lines)
        stats = session.context.get_stats()
        _say("", f"~{stats.estimated_tokens:,} tokens, ~{stats.all_tokens:,} with [X]")
        say()
    controller.close()


async def _take_turn(controller: InteractionController, words: str) -> None:
    started: dict[int, CallStarted] = {}
    async for event in controller.run_turn(words):
        match event:
            case CallStarted(number):
                started[number] = event
            case CallFinished(number):
                _say("", call_line(started[number], event))
            case TurnFinished(_, text, _, _, explanation):
                _say("model", *(text or explanation).splitlines())


def _windows(session: Session) -> Iterator[str]:
    """Yield each open window: its id and level of detail, then its content."""
    windows = session.windows.windows()
    if not windows:
        yield "none is open"
    for window in windows:
        yield f"{window.id} ({window.lod.value})"
        yield from (f"  {line}" for line in _content(window))


def _content(window: Window) -> list[str]:
    lines = window.snapshot().content.splitlines()
    more = [f"… {len(lines) - _MOST_LINES} more lines"] if len(lines) > _MOST_LINES else []
    return lines[:_MOST_LINES] + more


def _say(label: str, *lines: str) -> None:
    """Print lines with a label before the first one."""
    for line in lines:
        indent = " " * (len(line) - len(line.lstrip()))
        wrapped = textwrap.wrap(line, _WIDTH - _LABEL, subsequent_indent=indent) or [""]
        for part in wrapped:
            say(f"{label:<{_LABEL}}{part}".rstrip())
            label = ""


if __name__ == "__main__":
    sys.exit(main())
