"""Logins to MCP servers over HTTP: OAuth with a link for the person, and tokens in a private file.

Only `connection` imports this module. The browser returns to a page on this machine, which exists
only while a login is under way.
"""

import asyncio
import hashlib
import json
import re
import secrets
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp.client.auth import OAuthClientProvider
from mcp.client.auth.oauth2 import OAuthContext
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)
from pydantic import ValidationError

from contextui.plain_file import make_private, read_plain, write_private

_LARGEST = 1_000_000  # bytes of a file of tokens
_LONGEST_WAIT = 300.0  # seconds for the person to log in
_REQUEST = re.compile(rb"GET (/\S{0,8000}) HTTP/1\.[01]\r\n")
_PAGE = (
    b"HTTP/1.1 %b\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n"
    b"Cache-Control: no-store\r\nContent-Length: %d\r\n\r\n%b"
)


class LoginError(Exception):
    """The person did not log in, or the server refused it."""


class TokenFile:
    """The tokens of one server, in a file that only the person may read.

    Args:
        url: The server's address; tokens are never used for another one.
    """

    def __init__(self, home: Path, url: str) -> None:
        digest = hashlib.sha256(url.encode()).hexdigest()[:32]
        self.path = home / "mcp" / f"{digest}.json"
        self._url = url

    def _read(self) -> dict[str, Any]:
        try:
            data = json.loads(read_plain(self.path, _LARGEST))
        except (OSError, ValueError, RecursionError):
            return {}
        return data if isinstance(data, dict) and data.get("url") == self._url else {}

    def _write(self, **values: Any) -> None:
        data = {**self._read(), "url": self._url, **values}
        make_private(self.path.parent)
        write_private(self.path, json.dumps(data).encode())

    @property
    def port(self) -> int:
        """The port that the browser returns to; the server has registered it."""
        port = self._read().get("port")
        if isinstance(port, int) and 0 < port < 65_536:
            return port
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = int(free.getsockname()[1])
        self._write(port=port)
        return port

    async def get_tokens(self) -> OAuthToken | None:
        with suppress(ValidationError):
            return OAuthToken.model_validate(self._read().get("tokens"))
        return None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        ends = None if tokens.expires_in is None else time.time() + tokens.expires_in
        self._write(tokens=tokens.model_dump(mode="json", exclude_none=True), ends=ends)

    def recall(self, context: OAuthContext) -> None:
        """Give the library what it does not ask for: when tokens expire, and who renews them."""
        data = self._read()
        ends = data.get("ends")
        context.token_expiry_time = float(ends) if isinstance(ends, int | float) else None
        with suppress(ValidationError):
            context.oauth_metadata = OAuthMetadata.model_validate(data.get("metadata"))
        with suppress(ValidationError):
            context.protected_resource_metadata = ProtectedResourceMetadata.model_validate(
                data.get("resource")
            )

    def note(self, context: OAuthContext) -> None:
        found = (context.oauth_metadata, context.protected_resource_metadata)
        metadata, resource = (
            one and one.model_dump(mode="json", exclude_none=True) for one in found
        )
        self._write(metadata=metadata, resource=resource)

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        with suppress(ValidationError):
            return OAuthClientInformationFull.model_validate(self._read().get("client"))
        return None

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self._write(client=client_info.model_dump(mode="json", exclude_none=True))


def make_login(
    home: Path, url: str, show: Callable[[str], None]
) -> tuple[OAuthClientProvider, "Callback"]:
    """Create the authentication for a server."""
    storage = TokenFile(home, url)
    callback = Callback(storage, show)
    metadata = OAuthClientMetadata(
        client_name="contextui",
        redirect_uris=[callback.address],
        grant_types=["authorization_code", "refresh_token"],
        response_types=["code"],
    )
    provider = _Login(
        url, metadata, storage, redirect_handler=callback.begin, callback_handler=callback.result
    )
    provider.tokens = storage
    return provider, callback


class _Login(OAuthClientProvider):
    """The library's login, which also renews tokens that an earlier connection received."""

    tokens: TokenFile

    async def _initialize(self) -> None:
        await super()._initialize()
        self.tokens.recall(self.context)

    async def _handle_token_response(self, response: httpx2.Response) -> None:
        await super()._handle_token_response(response)
        self.tokens.note(self.context)


class Callback:
    """The page on this machine that the browser returns to after a login.

    It accepts only the answer to the link that was shown: other programs and pages can reach it.
    """

    def __init__(self, storage: TokenFile, show: Callable[[str], None]) -> None:
        self._storage, self._show = storage, show
        self._server: asyncio.Server | None = None
        self._answer: asyncio.Future[AuthorizationCodeResult] | None = None
        self._state = ""

    @property
    def address(self) -> Any:
        return f"http://127.0.0.1:{self._storage.port}/callback"

    async def begin(self, link: str) -> None:
        """Show the link, and wait for the browser from now on."""
        if urlsplit(link).scheme not in ("http", "https"):
            raise LoginError("the server's link is not an address")
        self._answer = asyncio.get_running_loop().create_future()
        self._state = _query(link).get("state", "")
        try:
            self._server = await asyncio.start_server(
                self._handle, "127.0.0.1", self._storage.port, limit=16_384
            )
        except OSError as error:
            raise LoginError(f"port {self._storage.port} is used by another program") from error
        try:
            self._show(link)
        except BaseException:
            self.close()
            raise

    async def result(self) -> AuthorizationCodeResult:
        assert self._answer is not None
        try:
            async with asyncio.timeout(_LONGEST_WAIT):
                return await self._answer
        except TimeoutError:
            raise LoginError("nobody logged in within five minutes") from None
        finally:
            self._show("")
            self.close()

    def close(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None

    async def _handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(5):
                found = _REQUEST.match(await reader.readline())
                page = self._page(found[1].decode("ascii", "replace")) if found else None
                status, text = page or (b"404 Not Found", "Nothing is here.")
                body = text.encode()
                writer.write(_PAGE % (status, len(body), body))
                await writer.drain()
        except (TimeoutError, OSError, ValueError):
            pass
        finally:
            writer.close()

    def _page(self, target: str) -> tuple[bytes, str] | None:
        parts = urlsplit(target)
        if parts.path != "/callback" or self._answer is None or self._answer.done():
            return None
        given = _query(target)
        if not secrets.compare_digest(given.get("state", "").encode(), self._state.encode()):
            return None
        if "code" in given:
            self._answer.set_result(
                AuthorizationCodeResult(
                    code=given["code"], state=given.get("state"), iss=given.get("iss")
                )
            )
            return b"200 OK", "You are logged in. You can close this page."
        if "error" in given:
            self._answer.set_exception(
                LoginError(f"the server refused it ({given['error'][:100]})")
            )
            return b"200 OK", "The login failed. You can close this page."
        return None


def _query(address: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
