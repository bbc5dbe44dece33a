"""A real Chromium, driven by its DevTools protocol."""

import asyncio
import base64
import itertools
import json
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pyte
from aiohttp import ClientSession, ClientWebSocketResponse

from tests.cli.serve.serving import PATIENCE

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome") or ""
_COLUMNS, _ROWS = 200, 80  # more than the pages here have


class Browser:
    """The connection to a Chromium."""

    def __init__(self, socket: ClientWebSocketResponse) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._tabs: dict[str, Tab] = {}

    async def listen(self) -> None:
        """Take answers and events until the browser ends."""
        async for message in self._socket:
            received = message.json()
            if "id" in received:
                self._answers.pop(received["id"]).set_result(received)
            elif tab := self._tabs.get(received.get("sessionId", "")):
                tab.handle(received["method"], received["params"])

    async def call(self, method: str, session: str = "", **params: Any) -> dict[str, Any]:
        number = next(self._numbers)
        self._answers[number] = asyncio.get_running_loop().create_future()
        to = {"sessionId": session} if session else {}
        await self._socket.send_json({"id": number, "method": method, "params": params, **to})
        async with asyncio.timeout(PATIENCE):
            answer = await self._answers[number]
        assert "error" not in answer, (method, answer)
        return dict(answer["result"])

    async def tab(self, url: str, *, elsewhere: bool = False) -> "Tab":
        """Open a tab; `elsewhere` in a profile of its own, as another browser would."""
        context = {}
        if elsewhere:
            context = await self.call("Target.createBrowserContext")
        target = await self.call("Target.createTarget", url="about:blank", **context)
        attached = await self.call("Target.attachToTarget", flatten=True, **target)
        tab = self._tabs[attached["sessionId"]] = Tab(self, attached["sessionId"])
        for domain in ("Page", "Network", "Runtime"):
            await tab.call(f"{domain}.enable")
        await tab.call("Page.bringToFront")
        await tab.call("Page.navigate", url=url)
        return tab


class Tab:
    """One tab: keys go in, and what the terminal draws comes out.

    Attributes:
        requested: The address of everything that it loaded.
    """

    def __init__(self, browser: Browser, session: str) -> None:
        self._browser, self._session = browser, session
        self.requested: list[str] = []
        self.blank()

    def blank(self) -> None:
        """Clear what was drawn, before another page loads."""
        self._screen = pyte.Screen(_COLUMNS, _ROWS)
        self._stream = pyte.ByteStream(self._screen)

    def handle(self, method: str, params: dict[str, Any]) -> None:
        if method == "Network.requestWillBeSent":
            self.requested.append(params["request"]["url"])
        elif method == "Network.webSocketFrameReceived" and params["response"]["opcode"] == 2:
            self._stream.feed(base64.b64decode(params["response"]["payloadData"]))

    async def call(self, method: str, **params: Any) -> dict[str, Any]:
        return await self._browser.call(method, self._session, **params)

    async def eval(self, script: str) -> Any:
        found = await self.call("Runtime.evaluate", expression=script, returnByValue=True)
        return found["result"].get("value")

    async def type(self, text: str) -> None:
        """Press keys, wherever the focus is."""
        await self.call("Page.bringToFront")
        for letter in text:
            key = (
                {"key": "Enter", "windowsVirtualKeyCode": 13} if letter == "\r" else {"key": letter}
            )
            await self.call("Input.dispatchKeyEvent", type="keyDown", text=letter, **key)
            await self.call("Input.dispatchKeyEvent", type="keyUp", **key)

    async def press(
        self, key: str, code: int, *, ctrl: bool = False, shift: bool = False, **more: Any
    ) -> None:
        """Press a key by its name and its code."""
        one = {"key": key, "windowsVirtualKeyCode": code, "modifiers": 2 * ctrl + 8 * shift}
        await self.call("Input.dispatchKeyEvent", type="rawKeyDown", **one, **more)
        await self.call("Input.dispatchKeyEvent", type="keyUp", **one)

    # Chromium's permissions for the clipboard are left as a person has them: to grant one refuses
    # all others, and a page that writes needs another one within seconds of a key than later.

    async def copy(self, text: str) -> None:
        """Put a text on the clipboard, as another program would."""
        await self.call("Page.bringToFront")
        script = f"navigator.clipboard.writeText({json.dumps(text)})"
        done = await self.call(
            "Runtime.evaluate", expression=script, awaitPromise=True, userGesture=True
        )
        assert "exceptionDetails" not in done, done

    async def paste_from_menu(self) -> None:
        """Paste as a menu of the browser does, wherever the focus is."""
        await self.call("Input.dispatchKeyEvent", type="rawKeyDown", commands=["paste"])

    async def copied(self) -> str:
        """Return the text on the clipboard."""
        both = ["clipboardReadWrite", "clipboardSanitizedWrite"]  # the page may be writing just now
        await self._browser.call("Browser.grantPermissions", permissions=both)
        script = "navigator.clipboard.readText()"
        found = await self.call("Runtime.evaluate", expression=script, awaitPromise=True)
        await self._browser.call("Browser.resetPermissions")
        return str(found["result"]["value"])

    async def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Move the mouse from one point of the page to another with its button down."""
        for kind, (x, y) in (
            ("mouseMoved", start), ("mousePressed", start), ("mouseMoved", end),
            ("mouseReleased", end),
        ):  # fmt: skip
            held = {"button": "left", "buttons": 1, "clickCount": 1}
            await self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **held)

    async def reload(self) -> None:
        self.blank()
        await self.call("Page.reload")

    async def close(self) -> None:
        await self.call("Page.close")

    def place(self, text: str) -> tuple[int, int]:
        """The column and row at which a text is shown, or -1."""
        return max((line.find(text), row) for row, line in enumerate(self._screen.display))

    def text(self) -> str:
        return "\n".join(self._screen.display)

    def shows(self, text: str) -> bool:
        return any(text in line for line in self._screen.display)

    async def until(self, condition: Callable[[], object]) -> None:
        try:
            async with asyncio.timeout(PATIENCE):
                while not condition():
                    await asyncio.sleep(0.05)
        except TimeoutError:
            raise AssertionError("\n".join(["Never shown:", *self._screen.display])) from None

    async def until_shown(self, text: str) -> None:
        await self.until(lambda: self.shows(text))

    async def until_copied(
        self, text: str, attempt: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        found = ""
        try:
            async with asyncio.timeout(PATIENCE):
                while (found := await self.copied()) != text:
                    await (attempt() if attempt else asyncio.sleep(0.05))
        except TimeoutError:
            raise AssertionError(f"Copied: {found!r}\n{self.text()}") from None

    async def until_true(self, script: str) -> None:
        async with asyncio.timeout(PATIENCE):
            while not await self.eval(script):
                await asyncio.sleep(0.05)

    async def picture(self, path: Path) -> None:
        await self.call("Page.bringToFront")
        found = await self.call("Page.captureScreenshot", format="png")
        path.write_bytes(base64.b64decode(found["data"]))


@asynccontextmanager
async def browser(folder: Path) -> AsyncIterator[Browser]:
    """A Chromium with a profile in this folder; it ends with the block."""
    process = await asyncio.create_subprocess_exec(
        CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
        "--no-first-run", "--window-size=1200,800", "--disable-background-networking",
        "--remote-debugging-port=0", f"--user-data-dir={folder}", "about:blank",
        stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stderr is not None
    try:
        async with asyncio.timeout(PATIENCE):
            async for line in process.stderr:
                if line.startswith(b"DevTools listening on "):
                    break
            else:
                raise AssertionError("Chromium did not start")
        draining = asyncio.create_task(process.stderr.read())
        url = line.decode().removeprefix("DevTools listening on ").strip()
        async with ClientSession() as session, session.ws_connect(url, max_msg_size=0) as socket:
            made = Browser(socket)
            listening = asyncio.create_task(made.listen())
            try:
                yield made
            finally:
                listening.cancel()
                await asyncio.wait([listening])
        draining.cancel()
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
