"""`contextui debug`: show what the model sees of a session, without opening it."""

import asyncio
import time
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import NoReturn

from contextui.agent.cache_marks import payload
from contextui.agent.controller import InteractionController
from contextui.agent.models.scripted import ScriptedModel
from contextui.agent.tools import declaration_tokens
from contextui.cli import flags
from contextui.cli.arguments import Arguments
from contextui.cli.console import (
    as_json,
    check_reader,
    finish,
    note,
    say,
    say_json,
    say_json_list,
    warn,
)
from contextui.cli.folder import Earlier, read_guide, session_of
from contextui.cli.settings import here
from contextui.cli.setup import open_store, turn_options
from contextui.config.settings import OFFLINE
from contextui.config.sources import Loaded
from contextui.context.item import ContextItem
from contextui.context.ledger import ContextStats
from contextui.context.messages import debug_line
from contextui.secrets import mask_own
from contextui.session.export import item_data, session_data, window_data
from contextui.session.follow import Follower, RequestCost, Restarted, Update
from contextui.session.store import SessionStore, SessionView
from contextui.session.usage import Sweep
from contextui.text import one_line, shown_path
from contextui.words import msg, t

_SWEEP = ("after", "reason", "rent", "price", "saved")
_PAUSE = 0.3  # seconds between two looks at a log that is followed


def run(arguments: Arguments) -> int:
    """Show a session's items and statistics, or the next request; or follow it."""
    earlier = _awaited_session(arguments) if arguments.follow else session_of(arguments)
    store, loaded = open_store(arguments, earlier)
    if arguments.follow:
        with Follower(store, earlier.info.id, warn) as follower:
            _follow(follower, as_data=arguments.json)
    with closing(store.view(earlier.info.id, arguments.turn)) as view:
        warn(*view.notices)
        _show(arguments, loaded, view)
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


def _awaited_session(arguments: Arguments) -> Earlier:
    """Return the session to follow; wait for one if this folder has none.

    The app creates its log with the first message, so following may well start before.
    """
    if arguments.session is None:
        store, folder = SessionStore(), here()
        survey = store.survey(folder)
        if survey.latest is None and not survey.unreadable:
            note(t("Waiting for a session of {folder} …", folder=shown_path(folder)))
            while store.latest(folder) is None:
                check_reader()
                time.sleep(_PAUSE)
    return session_of(arguments)


def _follow(follower: Follower, *, as_data: bool) -> NoReturn:
    """Print what happens in a session until the process is interrupted or the reader is gone."""
    printed: dict[int, int] = {}  # a hash of the last line of each item, by seq
    while True:
        for update in follower.poll():
            line = mask_own(as_json(_data(update)) if as_data else _line(update))
            if isinstance(update, Restarted):
                printed.clear()
                warn(t("The log was replaced. All items follow."))
            if isinstance(update, ContextItem):
                if printed.get(update.seq) == hash(line):
                    continue
                printed[update.seq] = hash(line)
            if line:
                say(line)
        finish()
        check_reader()
        time.sleep(_PAUSE)


def _line(update: Update) -> str:
    match update:
        case ContextItem():
            return debug_line(update)
        case RequestCost():
            sent = msg("~{n:,} tokens sent") if update.is_estimate else msg("{n:,} tokens sent")
            figures = _known_figures(
                (sent, update.sent),
                (msg("{n:,} cached"), update.cached),
                (msg("{n:,} outdated"), update.outdated),
                (msg("{n:,} received"), update.received),
            )
            number = "" if update.number is None else f" {update.number}"
            return t("[>] request{number}: {figures}", number=number, figures=figures)
        case Sweep():
            figures = _known_figures(
                ("{n}", one_line(update.reason) or None),
                (msg("after {n}"), update.after),
                (msg("{n:,} tokens saved"), update.saved),
                (msg("rent {n:,.0f}"), update.rent),
                (msg("price {n:,.0f}"), update.price),
            )
            return t("[-] sweep: {figures}", figures=figures)
        case Restarted():
            return ""


def _known_figures(*figures: tuple[str, object]) -> str:
    return ", ".join(t(text, n=value) for text, value in figures if value is not None)


def _data(update: Update) -> dict[str, object]:
    match update:
        case ContextItem():
            return {"type": "item", "item": item_data(update)}
        case RequestCost():
            return {"type": "request", **asdict(update)}
        case Sweep():
            figures = {name: getattr(update, name) for name in _SWEEP}
            return {"type": "sweep", **figures}
        case Restarted():
            return {"type": "restarted"}


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
