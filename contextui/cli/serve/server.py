"""The server: one page, and behind each that is open a process."""

import asyncio
import json
import signal
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from string import Template

from aiohttp import WSCloseCode, WSMessage, WSMsgType, web

from contextui.cli import status
from contextui.cli.serve.address import Address
from contextui.cli.serve.door import Door
from contextui.cli.serve.process import PageProcess, Size
from contextui.config.choices import Lang

_OURS = Path(__file__).parent / "page"
_STATUSES = {
    signal.SIGINT: status.DONE,  # the way to end it
    signal.SIGTERM: status.SIGNALLED + signal.SIGTERM,
    signal.SIGHUP: status.SIGNALLED + signal.SIGHUP,
}
_HEARTBEAT = 15  # seconds after which a page that vanished without a word is missed
_CLOSED = "Open the link that contextui serve has printed.\n"
_WORDS: Mapping[Lang, Mapping[str, str]] = {
    "en": {
        "lang": "en",
        "opening": "opening…",
        "ended": "The app has ended. Everything said is kept. If something went wrong, "
        "the terminal that serves it says what.",
        "go_on": "Go on",
        "anew": "Begin anew",
    },
    "zh": {
        "lang": "zh",
        "opening": "正在打开…",
        "ended": "程序已结束，所有内容都已保存。如果出了问题，启动服务的终端会说明原因。",
        "go_on": "继续",
        "anew": "重新开始",
    },
}
_GOES_ON = ("--continue", "--resume")


class Server:
    """Serves the app to whoever has the link.

    Args:
        address: Where it listens.
        flags: What the app is started with.
        lang: The language of the page.
    """

    def __init__(self, address: Address, flags: Sequence[str], lang: Lang) -> None:
        self._address, self._flags, self._lang = address, list(flags), lang
        self._door = Door(address)
        self._leaving: set[PageProcess] = set()
        self._sockets: set[web.WebSocketResponse] = set()

    async def serve(self, tell: Callable[[str], object]) -> int:
        """Serve until a signal comes; the exit status.

        Args:
            tell: Told the link once it works.

        Raises:
            UsageError: The address cannot be used.
        """
        listening = self._address.listen()
        ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        for number, found in _STATUSES.items():
            asyncio.get_running_loop().add_signal_handler(number, _settle, ended, found)
        runner = web.AppRunner(self._app(), access_log=None, handle_signals=False)
        await runner.setup()
        try:
            await web.SockSite(runner, listening).start()
            port = listening.getsockname()[1]
            tell(f"http://{self._address.shown}:{port}/{self._door.token}/")
            return await ended
        finally:
            await runner.cleanup()

    def _app(self) -> web.Application:
        app = web.Application(middlewares=[self._guard])
        inside = f"/{self._door.token}"
        app.router.add_get(inside, _add_slash)
        app.router.add_get(f"{inside}/", self._page)
        app.router.add_get(f"{inside}/socket", self._socket)
        app.router.add_get(f"{inside}/socket/continue", self._socket)
        app.router.add_static(f"{inside}/page", _OURS)
        app.router.add_static(f"{inside}/static", str(files("textual_serve") / "static"))
        app.on_response_prepare.append(_protect)
        app.on_shutdown.append(self._close)
        return app

    # --- who comes in ------------------------------------------------------------------

    @web.middleware
    async def _guard(
        self,
        request: web.Request,
        handler: Callable[[web.Request], Awaitable[web.StreamResponse]],
    ) -> web.StreamResponse:
        """Let in whoever has the token, calls this machine by its name, and is no other page."""
        token = request.path.split("/")[1]
        origin = request.headers.get("Origin")
        welcome = self._door.is_called(request.host) and self._door.knows(token)
        if origin is not None or _is_websocket(request):
            welcome = welcome and self._door.is_own_page(request.host, origin)
        if not welcome:
            return web.Response(status=403, text=_CLOSED)
        return await handler(request)

    async def _page(self, _: web.Request) -> web.Response:
        page = Template((_OURS / "page.html").read_text("utf-8"))
        return web.Response(
            text=page.substitute(_WORDS[self._lang]), content_type="text/html", charset="utf-8"
        )

    # --- the app behind a page ---------------------------------------------------------

    async def _socket(self, request: web.Request) -> web.WebSocketResponse:
        """Run the app as long as the page is open."""
        socket = web.WebSocketResponse(heartbeat=_HEARTBEAT)
        await socket.prepare(request)
        # A page that is loaded anew finds its session free: whoever had it has let go of it.
        await asyncio.gather(*(one.end() for one in self._leaving))
        goes_on = request.path.endswith("/continue")
        process = await PageProcess.start(self._flags_for(goes_on=goes_on), _size_of(request.query))
        self._sockets.add(socket)
        drawing = asyncio.create_task(_draw(process, socket))
        try:
            async for message in socket:
                if not await _take(message, process, socket):
                    await socket.close(code=WSCloseCode.PROTOCOL_ERROR)
        finally:
            self._sockets.discard(socket)
            self._leaving.add(process)
            drawing.cancel()
            await asyncio.wait([drawing])
            await process.end()
            self._leaving.discard(process)
        return socket

    def _flags_for(self, *, goes_on: bool) -> list[str]:
        if goes_on and not any(flag.startswith(_GOES_ON) for flag in self._flags):
            return ["--continue", *self._flags]
        return self._flags

    async def _close(self, _: web.Application) -> None:
        """Close all pages; each ends its process."""
        closing = [one.close(code=WSCloseCode.GOING_AWAY) for one in list(self._sockets)]
        await asyncio.gather(*closing)


async def _draw(process: PageProcess, socket: web.WebSocketResponse) -> None:
    """Show what the app draws; when it has ended, so has the page."""
    with suppress(ConnectionError):  # the page was closed meanwhile
        await process.relay(socket.send_bytes)
        await socket.close()


async def _take(message: WSMessage, process: PageProcess, socket: web.WebSocketResponse) -> bool:
    """Hand on what comes from the page; whether it could be understood."""
    if message.type is not WSMsgType.TEXT:
        return False
    try:
        told = json.loads(message.data)
    except (ValueError, RecursionError):
        return False
    match told:
        case ["stdin", str(text)]:
            await process.type(text)
        case ["resize", {"width": int(columns), "height": int(rows)}]:
            await process.resize(Size.of(columns, rows))
        case ["focus" | "blur" as name]:
            await process.focus(name == "focus")
        case ["ping", stamp]:
            await socket.send_json(["pong", stamp])
        case _:
            return False
    return True


def _size_of(query: Mapping[str, str]) -> Size:
    try:
        return Size.of(int(query["width"]), int(query["height"]))
    except (KeyError, ValueError):
        return Size()


def _is_websocket(request: web.Request) -> bool:
    return request.path.split("/")[2:3] == ["socket"]


async def _add_slash(request: web.Request) -> web.Response:
    return web.Response(status=308, headers={"Location": f"{request.path}/"})


async def _protect(request: web.Request, response: web.StreamResponse) -> None:
    """Nothing comes from elsewhere, nothing goes elsewhere, and nobody frames the page."""
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


def _settle(ended: "asyncio.Future[int]", found: int) -> None:
    if not ended.done():
        ended.set_result(found)
