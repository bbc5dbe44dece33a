"""`contextui compact`: replace the older part of a session with a summary."""

import asyncio
from collections.abc import Iterable
from contextlib import closing
from typing import Any

from contextui.agent.controller import InteractionController
from contextui.cli import flags
from contextui.cli.arguments import Arguments
from contextui.cli.console import say, say_json, warn
from contextui.cli.folder import session_of
from contextui.cli.progress import Countdown
from contextui.cli.setup import Assembly, assemble
from contextui.context.compaction.plan import CompactionPlan
from contextui.context.item import ContextItem, is_conversation
from contextui.context.messages import debug_line
from contextui.events import CompactionResult, Event, RetryScheduled
from contextui.secrets import mask
from contextui.session.session import Session
from contextui.words import language, plural, t


def run(arguments: Arguments) -> int:
    """Compact a session, or preview that."""
    info, notices = session_of(arguments)
    arguments.resume = info.id
    assembly = assemble(arguments)
    warn(*notices, *assembly.notices)
    if arguments.dry_run:
        _show(assembly, info.id, as_json=arguments.json)
        return flags.DONE
    return _compact(assembly, arguments)


def _compact(assembly: Assembly, arguments: Arguments) -> int:
    with assembly.open_session(fork=arguments.fork) as session:
        printed = len(session.notices)
        warn(*session.notices)
        result = asyncio.run(_take(assembly.controller(session.context)))
        if arguments.json:
            say_json(_data(result, session))
    warn(*session.notices[printed:])
    if session.unsaved:
        warn(t("The summary was not saved: contextui -c resumes without it."))
        return flags.FAILED
    said = result.text(language())
    if result.messages:  # otherwise there is nothing to undo
        said += t(" In the app: {command}", command=f"contextui -r {session.id[:8]}")
    if not result.success:
        warn(said)
        return flags.FAILED
    if not arguments.json:
        say(said)
    return flags.DONE


async def _take(controller: InteractionController) -> CompactionResult:
    countdown = Countdown()

    def on_event(event: Event) -> None:
        if isinstance(event, RetryScheduled):
            countdown.show(event)

    try:
        await controller.windows.settle()
        return await controller.compact(on_event)
    finally:
        countdown.clear()
        await controller.aclose()


# --- the result -----------------------------------------------------------------------------


def _data(result: CompactionResult, session: Session) -> dict[str, Any]:
    return {
        "session_id": session.id,
        "success": result.success,
        "messages": result.messages,
        "pre_tokens": result.pre_tokens,
        "post_tokens": result.post_tokens,
        "files": list(result.files_included),
        "summary": result.summary if result.messages else "",
        "requests": result.requests,
        "usage": result.usage.as_dict(),
        "saved": not session.unsaved,
        **({"error": mask(result.error)} if result.error else {}),
    }


# --- the preview ----------------------------------------------------------------------------


def _show(assembly: Assembly, session_id: str, *, as_json: bool) -> None:
    """Show what would be removed and what would stay; the session is read-only."""
    with closing(assembly.store().view(session_id)) as view:
        warn(*view.notices)
        view.windows.settle_now()
        compaction = assembly.controller(view.context).compaction
        plan = compaction.possible()
        if as_json:
            say_json({"session_id": session_id, **_plan_data(plan)})
        else:
            _print_plan(plan)
        if little := compaction.saves_little(plan):
            warn(little)


def _plan_data(plan: CompactionPlan) -> dict[str, Any]:
    def data_of(items: Iterable[ContextItem]) -> list[dict[str, Any]]:
        return [
            {"seq": item.seq, "id": item.id, "type": item.type.value, "pinned": item.pinned}
            for item in items
        ]

    return {
        "goes": data_of(plan.goes),
        "goes_tokens": plan.tokens,
        "stays": data_of(plan.stays),
        "stays_tokens": plan.stays_tokens,
    }


def _print_plan(plan: CompactionPlan) -> None:
    for item in plan.goes:
        say(t("goes   {item}", item=_line(item)))
    for item in plan.stays:
        say(t("stays  {item}", item=_line(item)))
    goes, stays = sum(map(is_conversation, plan.goes)), len(plan.stays)
    say(
        t(
            "{goes}, ~{tokens} tokens, would go into a summary; "
            "{stays}, ~{rest} tokens, would stay.",
            goes=plural(goes, "{count} message", "{count} messages"),
            tokens=f"{plan.tokens:,}",
            stays=plural(stays, "{count} message", "{count} messages"),
            rest=f"{plan.stays_tokens:,}",
        )
    )


def _line(item: ContextItem) -> str:
    _, line = debug_line(item).split(" ", 1)  # strip the marker: all of them are active
    return t("{line} (pinned)", line=line) if item.pinned else line
