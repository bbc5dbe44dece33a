"""`contextui compact`: have a summary stand for the older part of a session."""

import asyncio
import sys

from contextui.agent.controller import InteractionController
from contextui.agent.events import RetryScheduled
from contextui.cli import status
from contextui.cli.arguments import Arguments
from contextui.cli.assembling import Assembly, assemble
from contextui.cli.earlier import session_of
from contextui.cli.speaking import note, say, tell
from contextui.context.compaction.plan import Plan
from contextui.context.compaction.result import CompactionResult
from contextui.context.item import ContextItem, is_conversation
from contextui.context.report import debug_line
from contextui.events import Event
from contextui.text import counted


def run(arguments: Arguments) -> int:
    """Compact a session, or show what that would do.

    Raises:
        ContextUIError: It cannot be done. Nothing was changed.
    """
    info, notices = session_of(arguments)
    arguments.resume = info.id
    assembly = assemble(arguments)
    for notice in (*notices, *assembly.notices):
        tell(notice)
    if arguments.dry_run:
        _show(assembly, info.id)
        return status.DONE
    return _compact(assembly, fork=arguments.fork)


def _compact(assembly: Assembly, *, fork: bool) -> int:
    with assembly.open_session(fork=fork) as session:
        for notice in session.notices:
            tell(notice)
        result = asyncio.run(_take(assembly.controller(session.context)))
    words = result.told(assembly.loaded.settings.lang)
    if not result.success:
        tell(words)
        return status.FAILED
    say(words)
    return status.DONE


async def _take(controller: InteractionController) -> CompactionResult:
    try:
        await controller.windows.settle()
        return await controller.compact(_hear)
    finally:
        await controller.aclose()


def _hear(event: Event) -> None:
    if isinstance(event, RetryScheduled) and sys.stderr.isatty():
        note(f"{event.reason} Try {event.attempt} of {event.attempts} in {event.seconds} s.")


def _show(assembly: Assembly, session_id: str) -> None:
    """What would go and what would stay; the session is only looked at."""
    view = assembly.store().view(session_id)
    try:
        for notice in view.notices:
            tell(notice)
        view.windows.settle_now()
        _tell(assembly.controller(view.context).compaction.check())
    finally:
        view.close()


def _tell(plan: Plan) -> None:
    for item in plan.goes:
        say(f"goes   {_line(item)}")
    for item in plan.stays:
        say(f"stays  {_line(item)}")
    goes, stays = sum(map(is_conversation, plan.goes)), len(plan.stays)
    say(
        f"{counted(goes, 'message')}, ~{plan.tokens:,} tokens, would go into a summary; "
        f"{counted(stays, 'message')}, ~{plan.stays_tokens:,} tokens, would stay."
    )


def _line(item: ContextItem) -> str:
    _, line = debug_line(item).split(" ", 1)  # all of them are in the context
    return f"{line} (pinned)" if item.pinned else line
