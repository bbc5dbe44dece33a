"""`contextui mcp`: list the MCP servers, and try one."""

import shutil
import time
from typing import TYPE_CHECKING, Any

from contextui.cli import flags
from contextui.cli.arguments import Arguments
from contextui.cli.console import say, say_json, warn
from contextui.cli.flags import UsageError
from contextui.cli.settings import here
from contextui.config.servers import Server
from contextui.session.paths import contextui_home
from contextui.text import one_line, quote
from contextui.windowing.finding.servers import Found, find_servers, server_classes
from contextui.words import language, t

if TYPE_CHECKING:
    from contextui.windowing.manager import WindowManager

_POLL = 0.1  # seconds between two looks at a server that is being connected
_LOGIN = 300.0  # seconds for the person to log in


def run(arguments: Arguments) -> int:
    """List the servers, or connect to one and show what it offers."""
    found = find_servers(contextui_home(), here())
    if arguments.verb == "test":
        return _test(found, arguments.name)
    if arguments.name:
        raise UsageError("contextui mcp list takes no name.")
    if arguments.json:
        say_json(_data(found))
    else:
        _list(found)
    warn(*(problem.reason for problem in found.problems))
    return flags.FAILED if found.problems else flags.DONE


def _list(found: Found) -> None:
    for server in found.servers:
        problem = fault_of(server)
        mark, about = ("X", problem) if problem else ("✓", server.address)
        say(f"[{mark}] {one_line(server.name, 80)}: {about}  ({server.origin})")
    for server in found.untrusted:
        say(f"[X] {one_line(server.name, 80)}: {t('not trusted')} ({server.address})")
    if found.notice:
        warn(t(found.notice))
    if not (found.servers or found.untrusted or found.problems):
        say(t("No MCP servers are configured in config.toml or .mcp.json."))


def fault_of(server: Server) -> str:
    """Return why a server cannot be started, as far as that is known without starting it."""
    if server.kind == "stdio" and "$" not in server.command and not shutil.which(server.command):
        return t("There is no program {name}.", name=quote(server.command))
    return ""


def _data(found: Found) -> list[dict[str, object]]:
    rows = [(server, True) for server in found.servers] + [(one, False) for one in found.untrusted]
    return [
        {
            "name": one.name,
            "trusted": trusted,
            "kind": one.kind,
            "address": one.address,
            "origin": one.origin,
            "problem": fault_of(one) or None,
        }
        for one, trusted in rows
    ]


def _test(found: Found, name: str) -> int:
    servers = {server.name: server for server in found.servers}
    if not name:
        raise UsageError("Which server? contextui mcp test NAME")
    if name not in servers:
        if any(one.name == name for one in found.untrusted):
            raise UsageError(t(found.notice))
        warn(*(problem.reason for problem in found.problems))
        raise UsageError(
            "There is no MCP server {name}. Available: {names}.",
            name=quote(name),
            names=", ".join(map(quote, servers)) or t("none"),
        )
    from contextui.events import Event, WindowTroubled  # noqa: PLC0415  (the list needs no window)
    from contextui.windowing.manager import WindowManager  # noqa: PLC0415
    from contextui.windowing.snapshot import Lod  # noqa: PLC0415

    [(_, cls)] = server_classes([servers[name]], contextui_home(), ())
    windows = WindowManager([cls], lang=language())
    troubles: list[str] = []

    def note(event: Event) -> None:
        if isinstance(event, WindowTroubled):
            troubles.append(event.reason)

    windows.subscribe(note)
    try:
        window = windows.open(cls.name)
        status = _wait(windows, window)
        if status != "connected":
            reason = fault_of(servers[name]) or (troubles or [t("The server did not connect.")])[-1]
            warn(f"{one_line(name, 80)}: {reason}")
            return flags.FAILED
        say(window.snapshot(Lod.FULL).content)
        for action in window.actions.values():
            say(f"  {action.id}({action.params}): {one_line(action.labelled(language()), 100)}")
        return flags.DONE
    finally:
        windows.shut_down()


def _wait(windows: "WindowManager", window: Any) -> str:
    """Wait until the server is connected or has stopped; show the link of a login."""
    from contextui.windowing.runtime import runtime_of  # noqa: PLC0415

    end, shown, status = time.monotonic() + _LOGIN, "", ""
    while time.monotonic() < end and windows.get(window.id) is not None:
        if not window.is_opening:
            runtime_of(window).worker.call_soon(window.attended.set)
            link, status = window.state.link, window.state.status
            if link and link != shown:
                shown = link
                say(f"{t('Open this page to log in:')} {link}")
            if status in ("connected", "stopped"):
                break
        time.sleep(_POLL)
    return status
