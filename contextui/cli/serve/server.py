"""The web server: a link for each browser tab, and a process for each open page."""

import asyncio
import json
import logging
import re
import secrets
import signal
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from string import Template

from aiohttp import WSCloseCode, WSMessage, WSMsgType, web
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.log import server_logger

from contextui.cli import flags as status
from contextui.cli.serve.access import AccessCheck, Address
from contextui.cli.serve.process import PageProcess, limited
from contextui.errors import ContextUIError
from contextui.interrupt import is_ignored
from contextui.session.store import SessionStore
from contextui.words import Lang, msg, translate

_OURS = Path(__file__).parent / "page"
_STATUSES = {
    signal.SIGINT: status.DONE,  # the normal way to end it
    signal.SIGTERM: status.SIGNALLED + signal.SIGTERM,
    signal.SIGHUP: status.SIGNALLED + signal.SIGHUP,
}
_HEARTBEAT = 15  # seconds until a page that vanished silently is noticed
_CLOSED = "Open the link that contextui serve has printed.\n"
_TEXTS = {
    "opening": msg("opening…"),
    "ended": msg(
        "The app has ended, or the connection was lost. The session is saved. "
        "If something went wrong, the terminal that runs contextui serve says what."
    ),
    "elsewhere": msg(
        "This session is open in another tab or browser. "
        "Close it there and try again, or start a new session here."
    ),
    "again": msg("Try again"),
    "new": msg("New session"),
}
"""The texts of the page, by their placeholders in `page.html`."""
_TAB = re.compile(r"(?:new-)?[A-Za-z0-9_-]{22}", re.ASCII)
_NEW = "new-"  # prefix of a tab's id that does not resume the session of the flags
_OPEN_ELSEWHERE = 4001  # WebSocket close code: the link is open in another tab
_HANDOVER = 2.0  # seconds until the server notices that a page was left
_ENDING = 10.0  # seconds for the process of such a page to end


@dataclass(slots=True)
class Tab:
    """A browser tab, identified by its link."""

    is_open: bool = False  # whether it has a page, or one whose process is about to end
    is_shown: bool = False  # whether that page is still connected
    session_id: str | None = None  # the session that it showed last


class Server:
    """Serves the app to everyone who has the link."""

    def __init__(
        self, address: Address, flags: Sequence[str], earlier: Sequence[str], lang: Lang
    ) -> None:
        self._address, self._flags, self._earlier = address, list(flags), list(earlier)
        self._lang = lang
        self._tabs: dict[str, Tab] = {}
        self._changed = asyncio.Condition()  # of any tab
        self._access = AccessCheck(address)
        self._sockets: set[web.WebSocketResponse] = set()

    async def serve(self, on_link: Callable[[str], object]) -> int:
        """Serve until a signal arrives; return the exit status."""
        listening = self._address.listen()
        ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        for number, found in _STATUSES.items():
            if not is_ignored(number):
                asyncio.get_running_loop().add_signal_handler(number, _settle, ended, found)
        server_logger.addFilter(_is_our_mistake)
        runner = web.AppRunner(self._app(), access_log=None, handle_signals=False)
        await runner.setup()
        try:
            await web.SockSite(runner, listening).start()
            port = listening.getsockname()[1]
            for host in self._address.shown:
                on_link(f"http://{host}:{port}/{self._access.token}/")
            return await ended
        finally:
            await runner.cleanup()

    def _app(self) -> web.Application:
        app = web.Application(middlewares=[self._guard])
        inside = f"/{self._access.token}"
        app.router.add_get(inside, _add_slash)
        app.router.add_get(f"{inside}/", _open_tab)
        app.router.add_get(f"{inside}/new", _open_tab)
        app.router.add_get(f"{inside}/{{tab:{_TAB.pattern}}}/", self._page)
        app.router.add_get(f"{inside}/{{tab:{_TAB.pattern}}}/socket", self._socket)
        _add_files(app, f"{inside}/page", _OURS)
        _add_files(app, f"{inside}/static", Path(str(files("textual_serve") / "static")))
        app.on_response_prepare.append(_protect)
        app.on_shutdown.append(self._close)
        return app

    # --- access ------------------------------------------------------------------------

    @web.middleware
    async def _guard(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        """Require the token, a Host header that names this machine, and no foreign Origin."""
        if not request.path.startswith("/"):  # OPTIONS * and CONNECT have no path
            return web.Response(status=400, text=_CLOSED)
        token = request.path.split("/")[1]
        origin = request.headers.get("Origin")
        allowed = self._access.is_own_host(request.host) and self._access.is_token(token)
        if origin is not None:
            allowed = allowed and self._access.is_same_origin(request.host, origin)
        if not allowed:
            return web.Response(status=403, text=_CLOSED)
        return await handler(request)

    async def _page(self, _: web.Request) -> web.Response:
        page = Template((_OURS / "page.html").read_text("utf-8"))
        texts = {name: translate(text, self._lang) for name, text in _TEXTS.items()}
        return web.Response(
            text=page.substitute(texts, lang=self._lang), content_type="text/html", charset="utf-8"
        )

    # --- the app of a page -------------------------------------------------------------

    async def _socket(self, request: web.Request) -> web.WebSocketResponse:
        if "Origin" not in request.headers:  # not a browser: pages always send it
            raise web.HTTPForbidden(text=_CLOSED)
        socket = web.WebSocketResponse(heartbeat=_HEARTBEAT, max_msg_size=0)
        await socket.prepare(request)
        name = request.match_info["tab"]
        tab = self._tabs.setdefault(name, Tab())
        if not await self._claim(tab):
            await socket.close(code=_OPEN_ELSEWHERE)
            return socket
        try:
            flags = await asyncio.to_thread(self._flags_for, name, tab)
            await self._run(socket, await PageProcess.start(flags, _size_of(request.query)), tab)
        finally:
            await self._release(name, tab)
        return socket

    async def _run(self, socket: web.WebSocketResponse, process: PageProcess, tab: Tab) -> None:
        self._sockets.add(socket)
        drawing = asyncio.create_task(_draw(process, socket, tab))
        try:
            async for message in socket:
                if not await _take(message, process, socket):
                    await socket.close(code=WSCloseCode.PROTOCOL_ERROR)
        finally:
            self._sockets.discard(socket)
            drawing.cancel()
            await self._update(tab, is_shown=False)
            await asyncio.wait([drawing])
            await process.end()

    async def _claim(self, tab: Tab) -> bool:
        """Claim a tab for a page; return False if another page keeps it.

        A reloaded page may connect before the server notices that its predecessor is gone, and
        before that one's process has released the session.
        """
        async with self._changed:
            while tab.is_open:
                patience = _HANDOVER if tab.is_shown else _ENDING
                try:
                    await asyncio.wait_for(self._changed.wait(), patience)
                except TimeoutError:
                    return False
            tab.is_open = tab.is_shown = True
            return True

    async def _release(self, name: str, tab: Tab) -> None:
        if tab.session_id is None:
            self._tabs.pop(name, None)
        await self._update(tab, is_open=False)

    async def _update(self, tab: Tab, **facts: bool) -> None:
        async with self._changed:
            for fact, value in facts.items():
                setattr(tab, fact, value)
            self._changed.notify_all()

    def _flags_for(self, name: str, tab: Tab) -> list[str]:
        if tab.session_id is not None:
            with suppress(ContextUIError):  # the session is empty and was not saved
                SessionStore().find(tab.session_id)
                return [f"--resume={tab.session_id}", *self._flags]
        return self._flags if name.startswith(_NEW) else [*self._earlier, *self._flags]

    async def _close(self, _: web.Application) -> None:
        closing = [socket.close(code=WSCloseCode.GOING_AWAY) for socket in list(self._sockets)]
        await asyncio.gather(*closing)


async def _draw(process: PageProcess, socket: web.WebSocketResponse, tab: Tab) -> None:
    def note_session(session_id: str) -> None:
        tab.session_id = session_id

    with suppress(ConnectionError):  # the page was closed
        await process.relay(socket.send_bytes, note_session, socket.send_json)
        await socket.close()


async def _take(message: WSMessage, process: PageProcess, socket: web.WebSocketResponse) -> bool:
    if message.type is not WSMsgType.TEXT:
        return False
    try:
        received = json.loads(message.data)
    except (ValueError, RecursionError):
        return False
    match received:
        case ["stdin", str(text)]:
            await process.type(text)
        case ["paste", str(text)]:
            await process.send(type="paste", text=text.encode("utf-8", "replace").decode())
        case ["resize", {"width": int(columns), "height": int(rows)}]:
            columns, rows = limited(columns, rows)
            await process.send(type="resize", width=columns, height=rows)
        case ["focus" | "blur" as name]:
            await process.send(type=name)
        case ["ping", stamp]:
            await socket.send_json(["pong", stamp])
        case _:
            return False
    return True


def _size_of(query: Mapping[str, str]) -> tuple[int, int]:
    try:
        return limited(int(query["width"]), int(query["height"]))
    except (KeyError, ValueError):
        return limited()


def _add_files(app: web.Application, prefix: str, folder: Path) -> None:
    """Serve the files that a folder has now; request paths are never resolved on disk."""

    def sender(path: Path) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
        async def send(_: web.Request) -> web.StreamResponse:
            return web.FileResponse(path)

        return send

    for path in sorted(one for one in folder.rglob("*") if one.is_file()):
        app.router.add_get(f"{prefix}/{path.relative_to(folder).as_posix()}", sender(path))


async def _open_tab(request: web.Request) -> web.Response:
    new = _NEW if request.path.endswith("/new") else ""
    return web.Response(status=303, headers={"Location": f"{new}{secrets.token_urlsafe(16)}/"})


async def _add_slash(request: web.Request) -> web.Response:
    return web.Response(status=308, headers={"Location": f"{request.path}/"})


async def _protect(request: web.Request, response: web.StreamResponse) -> None:
    """Set headers that block foreign content, framing and caching."""
    response.headers.update(
        {
            "Content-Security-Policy": "default-src 'none'; script-src 'self'; "
            "style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; "
            f"connect-src 'self' ws://{request.host}; base-uri 'none'; form-action 'none'; "
            "frame-ancestors 'none'",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
            "X-Frame-Options": "DENY",
            "Cache-Control": "no-store",
        }
    )


def _is_our_mistake(record: logging.LogRecord) -> bool:
    """Whether to log an error: malformed HTTP is the client's mistake."""
    error = record.exc_info[1] if record.exc_info else None
    return not isinstance(error, HttpProcessingError)


def _settle(ended: "asyncio.Future[int]", found: int) -> None:
    if not ended.done():
        ended.set_result(found)
