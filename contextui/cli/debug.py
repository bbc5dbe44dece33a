"""`contextui debug`: show what the model sees of a session, without opening it."""

import asyncio
from dataclasses import asdict
from pathlib import Path

from contextui.agent.controller import InteractionController
from contextui.agent.models.scripted import ScriptedModel
from contextui.agent.protocol import declaration_tokens
from contextui.agent.wire import payload
from contextui.cli import flags
from contextui.cli.arguments import Arguments
from contextui.cli.console import say, say_json, say_json_list, warn
from contextui.cli.folder import read_guide, session_of
from contextui.cli.settings import settings_of
from contextui.cli.setup import (
    find_windows,
    session_options,
    turn_options,
    window_notices,
)
from contextui.config.settings import OFFLINE
from contextui.config.sources import Loaded
from contextui.context.report import ContextStats, debug_line
from contextui.secrets import mask_own
from contextui.session.export import item_data, session_data, window_data
from contextui.session.store import SessionStore, SessionView
from contextui.words import t


def run(arguments: Arguments) -> int:
    """Show a session's items and statistics, or the next request."""
    info, notices = session_of(arguments)
    folder = Path(info.cwd)
    loaded = settings_of(arguments, folder)
    registry = find_windows(loaded, folder)
    store = SessionStore(options=session_options(loaded, registry))
    view = store.view(info.id, arguments.turn)
    try:
        for notice in (*notices, *loaded.notices, *window_notices(registry), *view.notices):
            warn(notice)
        _show(arguments, loaded, view)
    finally:
        view.close()
    return flags.DONE


def _show(arguments: Arguments, loaded: Loaded, view: SessionView) -> None:
    if arguments.messages:
        say_json(_request(loaded, view, refresh_prompt=arguments.turn is None))
        return
    stats = view.context.get_stats()
    if arguments.json:
        # One item at a time: a log may be larger than the memory.
        items = (item_data(item) for item in view.items())
        after = {"windows": window_data(view), "stats": asdict(stats)}
        say_json_list(session_data(view), ("items", items), after)
        return
    for item in view.items():
        say(mask_own(debug_line(item)))
    say(_figures(stats))


def _request(loaded: Loaded, view: SessionView, *, refresh_prompt: bool) -> dict[str, object]:
    """Build the next request, without the person's next message.

    With `refresh_prompt` it gets the current system prompt: the windows, the language or the
    folder's AGENTS.md may have changed since the last turn.
    """
    controller = InteractionController(
        model=ScriptedModel(),  # not called
        context=view.context,
        options=turn_options(loaded),
        tool_protocol=loaded.settings.tool_protocol,
    )
    if refresh_prompt:
        controller.install_prompt(read_guide(Path(view.info.cwd)).text)
    room = loaded.settings.budget - declaration_tokens(controller.declared, view.context.counter)
    asyncio.run(view.context.prepare(room))
    request = controller.request_of(view.context.compose(room))
    name = OFFLINE if loaded.provider == "offline" else loaded.settings.model
    return {**payload(request, name).body, "stream": True}


def _figures(stats: ContextStats) -> str:
    return t(
        "items   {active:,} in the context, {left_out:,} left out; "
        "{windows:,} of all {total:,} are windows\n"
        "tokens  ~{tokens:,} in the context, ~{all:,} with all items",
        active=stats.active_items,
        left_out=stats.obsolete_items,
        windows=stats.window_items,
        total=stats.total_items,
        tokens=stats.estimated_tokens,
        all=stats.all_tokens,
    )
