"""The connection to one MCP server, kept by a task of its window's event loop.

The library is imported when a server is first connected. It may be of either generation of the
protocol: an older server sends its notifications by itself, a newer one is listened to.
"""

import asyncio
import contextvars
import logging
import os
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from contextui import ActionError, ContextUIError
from contextui.config.servers import Server
from contextui.processes import PIPE, Process
from contextui.secrets import add_named_secret, mask, names_secret
from contextui.text import one_line
from contextui.version import VERSION
from contextui.windows.mcp.catalogue import Catalogue, Info, read_catalogue
from contextui.words import Message, msg

if TYPE_CHECKING:
    from mcp import Client

    from contextui.windows.mcp.transport import Log

Status = Literal["idle", "connecting", "login", "connected", "stopped"]
"""Whether a server is connected. `login`: the person has to log in first."""

MOST_QUESTIONS = 10  # questions to the person within one call; more are not asked
_INHERITED = re.compile(
    r"PATH|HOME|USER|LOGNAME|SHELL|TERM|LANG|LANGUAGE|LC_\w+|TZ|TMPDIR|XDG_\w+|"
    r"(?:HTTPS?|ALL|NO)_PROXY|SSL_CERT_(?:FILE|DIR)|NODE_EXTRA_CA_CERTS",
    re.IGNORECASE,
)
_LONGEST_CALL = 3_600.0  # seconds
_SETTLE = 0.5  # seconds between two looks at what a server says has changed
_LAST_WORDS = 1.0  # seconds for a connection to end by itself

MISSING = msg('MCP servers need the package mcp: pip install "contextui[mcp]".')
"""What to do if the library is not installed."""

Progress = Callable[[float | None, float | None, str], None]
Answer = tuple[str, dict[str, Any] | None]
"""A person's answer to a server's question: ``accept``, ``decline`` or ``cancel``, and the form."""


class StoppedError(ContextUIError):
    """A server cannot be reached; the message says why."""


class Connection:
    """Connects to a server on demand, again after it stopped, and follows what it announces.

    Belongs to the window's event loop.
    """

    def __init__(
        self,
        server: Server,
        home: Path,
        *,
        start: Callable[..., Awaitable[Process]],
        changed: Callable[[], None],
        elicit: Callable[[Any], Awaitable[Answer]],
        exposed: Callable[[str], None],
    ) -> None:
        self.server, self._home = server, home
        self._start, self._changed, self._elicit = start, changed, elicit
        self._exposed = exposed
        self.status: Status = "idle"
        self.error, self.link = "", ""
        self.info, self.catalogue = Info(), Catalogue()
        self.updated: set[str] = set()  # resources that were not read again yet
        self.since = 0.0
        self.questions = 0  # of the server, since the last call began
        self._client: Client | None = None
        self._task: asyncio.Task[None] | None = None
        # Whether it is connected or failed; is to end; has to look at what changed, or at its end.
        self._ready, self._stop, self._is_dirty = (asyncio.Event() for _ in range(3))
        self._dirty: set[str] = set()
        self._watched: list[str] = []
        self._listener: asyncio.Task[None] | None = None
        self._log: Log | None = None
        self._process: Process | None = None
        self._is_broken = False  # the process can no longer be spoken with
        self._refusal = ""  # what HTTP said last
        self._requests: dict[asyncio.Task[Any], asyncio.Timeout] = {}

    # --- life ----------------------------------------------------------------------------

    def begin(self) -> None:
        if self._task is not None and not self._task.done():
            return
        self.status, self.error, self.since = "connecting", "", time.time()
        self._ready, self._stop, self._is_dirty = (asyncio.Event() for _ in range(3))
        # Not in the context of the action or job that needs it: it outlives both.
        self._task = asyncio.get_running_loop().create_task(
            self._live(), context=contextvars.Context()
        )
        self._changed()

    async def ready(self, seconds: float) -> None:
        """Wait until it is connected, has stopped, waits for the person, or is late."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._ready.wait()

    async def client(self) -> "Client":
        self.begin()
        await self.ready(self.server.timeout)
        if self._client is None and self.status == "login":
            raise StoppedError(
                "The person has to log in to this server first: the window shows the link."
            )
        if self._client is None:
            raise StoppedError(
                "The server is not connected: {reason}",
                reason=self.error or Message("it did not answer in time"),
            )
        return self._client

    async def close(self) -> None:
        self._stop.set()
        self._is_dirty.set()
        for request in list(self._requests):
            request.cancel()
        if self._listener is not None:
            self._listener.cancel()
        if self._task is not None and not self._task.done():
            await asyncio.wait([self._task], timeout=_LAST_WORDS)
            self._task.cancel()
            await asyncio.wait([self._task], timeout=_LAST_WORDS)
        self._task = None

    async def _live(self) -> None:
        reason = ""
        try:
            async with self._connected() as client:
                self._client, about = client, client.server_info
                name = (about and (about.title or about.name)) or ""
                self.info = Info(
                    name=one_line(name, 80), instructions=(client.instructions or "")[:4_000]
                )
                await self._read(client, {"tools", "resources", "prompts"})
                self.status, self.since = "connected", time.time()
                self._ready.set()
                self._changed()
                self._listen_again()
                await self._follow(client)
        except asyncio.CancelledError:
            pass
        except BaseException as problem:
            reason = self._clear(reason_of(problem))
        finally:
            self._client = None
            if self._listener is not None:
                self._listener.cancel()
            died = self._died()
            if not self._stop.is_set() or reason or died:
                self.status, self.error = "stopped", died or reason or self.error
            else:
                self.status = "idle"
            self._ready.set()
            self._changed()

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator["Client"]:
        try:
            from mcp import Client  # noqa: PLC0415  (takes a second to import)
            from mcp_types import Implementation  # noqa: PLC0415

            from contextui.windows.mcp import transport  # noqa: PLC0415
        except ImportError as error:
            raise StoppedError(MISSING) from error
        for name in ("mcp", "mcp.client", "mcp.client.auth.oauth2", "client"):
            logging.getLogger(name).disabled = True  # it would write to the screen, tokens included
        server = self.server.resolved(os.environ)
        for name, value in (*server.env, *server.headers):
            add_named_secret(name, value)
        self._log = self._process = None
        async with AsyncExitStack() as stack:
            if server.kind == "stdio":
                self._log = transport.Log()
                self._process = await self._start(
                    [server.command, *server.args],
                    cwd=server.cwd or None,
                    env={**environ(os.environ), **dict(server.env)},
                    stdin=PIPE,
                )
                stack.push_async_callback(transport.end_process, self._process)
                streams = transport.process_streams(self._process, self._log, self._ended)
            else:
                is_secret = any(names_secret(name) for name, _ in server.headers)
                if is_secret or "@" in urlsplit(server.url).netloc:
                    self._warn(server.url)
                auth = self._login(server, stack)
                streams = transport.http_streams(server, auth, self._note_status)
            client = Client(
                streams,
                client_info=Implementation(name="contextui", version=VERSION),
                elicitation_callback=self._ask,
                message_handler=self._note,
                cache=None,
                input_required_max_rounds=MOST_QUESTIONS,
            )
            seconds = server.timeout
            try:
                async with asyncio.timeout(seconds) as self._deadline:  # not while a person logs in
                    await stack.enter_async_context(client)
            except TimeoutError:
                late = StoppedError("it did not answer within {seconds:g} s", seconds=seconds)
                raise late from None
            # A server's own schema of its results is not believed: checking against it may take
            # for ever, and what it returns is only shown.
            client.session.validate_tool_result = _accept  # type: ignore[method-assign,assignment]
            yield client

    def _login(self, server: Server, stack: AsyncExitStack) -> Any:
        if any(name.lower() == "authorization" for name, _ in server.headers):
            return None
        from contextui.windows.mcp.login import make_login  # noqa: PLC0415

        provider, callback = make_login(self._home, server.url, self._show_link)
        stack.callback(callback.close)
        return provider

    def _show_link(self, link: str) -> None:
        """Show where the person logs in."""
        if self._client is not None:
            expired = StoppedError("the login has expired: connect again to log in")
            self.error = str(expired)
            raise expired
        if link:
            self._warn(self.server.url)
        self.link = link
        self.status = "login" if link else "connecting"
        self._deadline.reschedule(
            None if link else asyncio.get_running_loop().time() + self.server.timeout
        )
        if link:
            self._ready.set()
        else:
            self._ready.clear()
        self._changed()

    def _warn(self, url: str) -> None:
        """Warn if a secret is about to be sent unencrypted."""
        from contextui.agent.models.connection import exposed_host  # noqa: PLC0415  (seldom needed)

        if host := exposed_host(url):
            self._exposed(one_line(host, 100))

    def _note_status(self, code: int) -> None:
        """Note the status of an HTTP response: the library's own errors do not have it."""
        self._refusal = f"it failed (HTTP {code})" if code >= 400 else ""
        if code in (401, 403):
            why = "the token is missing, wrong or has expired"
            self._refusal = f"it refused the login (HTTP {code}): {why}"
        elif code == 404:
            self._refusal = "there is no MCP server at this address (HTTP 404)"

    def _ended(self, problem: BaseException | None) -> None:
        """Note that a process can no longer be spoken with."""
        if problem is not None and not self.error:
            self.error = reason_of(problem)
        self._is_dirty.set()
        if not self._stop.is_set():
            self._is_broken = True

    def _died(self) -> str:
        if self._process is None or not self._is_broken:
            return ""
        self._is_broken = False
        last = self._log.last if self._log is not None else ""
        code = self._process.returncode
        if code is not None and code < 0 and not self.error:
            return f"ended by signal {-code}"
        how = self.error or (f"exit {code}" if code is not None else "it closed its output")
        return one_line(f"{how}, {last}" if last else how, 300)

    # --- what the server announces -------------------------------------------------------

    async def _follow(self, client: "Client") -> None:
        """Read again what has changed, at most twice a second, until the connection ends."""
        while True:
            await self._is_dirty.wait()
            if not self._is_broken:
                with suppress(TimeoutError):
                    async with asyncio.timeout(_SETTLE):
                        await self._stop.wait()
            if self._stop.is_set() or self._is_broken:
                return
            self._is_dirty.clear()
            kinds, self._dirty = self._dirty, set()
            try:
                await self._read(client, kinds)
            except Exception as problem:  # the old list stays
                self.error = reason_of(problem)
            self._changed()

    async def _note(self, message: Any) -> None:
        """Note what an older server announces; newer ones are listened to."""
        method = getattr(message, "method", "")
        kind = method.removeprefix("notifications/").partition("/")[0]
        if method.endswith("/list_changed"):
            self._mark(kind)
        elif method == "notifications/resources/updated":
            self._mark_updated(message.params.uri)

    def _mark(self, kind: str) -> None:
        self._dirty.add(kind)
        self._is_dirty.set()

    def _mark_updated(self, uri: object) -> None:
        if str(uri) in self._watched:
            self.updated.add(str(uri))
            self._mark("resource")

    def _listen_again(self) -> None:
        """Listen to a newer server; to other resources than before, if they have changed."""
        if self._listener is not None:
            self._listener.cancel()
        self._listener = asyncio.get_running_loop().create_task(
            self._listen(), context=contextvars.Context()
        )

    async def _listen(self) -> None:
        from mcp_types.version import MODERN_PROTOCOL_VERSIONS  # noqa: PLC0415

        client = self._client
        if client is None or client.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            return
        with suppress(Exception):  # a server need not announce anything
            async with client.listen(
                tools_list_changed=True,
                prompts_list_changed=True,
                resources_list_changed=True,
                resource_subscriptions=list(self._watched),
            ) as events:
                async for event in events:
                    name = type(event).__name__
                    if name == "ResourceUpdated":
                        self._mark_updated(event.uri)  # type: ignore[union-attr]
                    else:
                        self._mark(name.removesuffix("ListChanged").lower())

    async def watch(self, uris: list[str]) -> None:
        """Be notified about these resources, and no others."""
        from mcp_types.version import MODERN_PROTOCOL_VERSIONS  # noqa: PLC0415

        client = await self.client()
        before, self._watched = self._watched, list(uris)
        if client.protocol_version in MODERN_PROTOCOL_VERSIONS:
            self._listen_again()
            return
        session = client.session
        changes = [(session.subscribe_resource, one) for one in {*uris} - {*before}]
        changes += [(session.unsubscribe_resource, one) for one in {*before} - {*uris}]
        for change, uri in changes:
            with suppress(Exception):  # a server need not support it
                async with asyncio.timeout(self.server.timeout):
                    await change(uri)

    # --- reading lists ---------------------------------------------------------------------

    async def _read(self, client: "Client", kinds: set[str]) -> None:
        self.catalogue = await read_catalogue(
            client, kinds, self.catalogue, self.server.uses, self.server.timeout
        )

    def _clear(self, reason: str) -> str:
        """Return a reason with what HTTP said, if the library did not say it."""
        refusal, self._refusal = self._refusal, ""
        if reason == _CLOSED:
            return self.error or reason
        return refusal if refusal and reason in _VAGUE else reason

    # --- calls -----------------------------------------------------------------------------

    async def call(self, tool: str, arguments: Mapping[str, Any], report: Progress) -> Any:
        client = await self.client()
        self.questions = 0

        async def work(limit: asyncio.Timeout) -> Any:
            async def beat(progress: float, total: float | None, message: str | None) -> None:
                self._give_time(limit)
                report(progress, total, message or "")

            return await client.call_tool(tool, dict(arguments), progress_callback=beat)

        return await self._request(work, longest=_LONGEST_CALL)

    async def read_resource(self, uri: str) -> Any:
        client = await self.client()
        return await self._request(lambda _: client.read_resource(uri))

    async def get_prompt(self, name: str, arguments: Mapping[str, str]) -> Any:
        client = await self.client()
        return await self._request(lambda _: client.get_prompt(name, dict(arguments)))

    async def _request(
        self,
        work: Callable[[asyncio.Timeout], Coroutine[Any, Any, Any]],
        *,
        longest: float | None = None,
    ) -> Any:
        limit = asyncio.timeout(self.server.timeout)
        # Not in the context of the action that makes it: the library may keep that.
        task = asyncio.get_running_loop().create_task(work(limit), context=contextvars.Context())
        self._requests[task] = limit
        try:
            async with asyncio.timeout(longest), limit:
                await asyncio.wait([task])
        except TimeoutError:
            raise ActionError(
                "The server did not answer within {seconds:g} s.",
                seconds=self.server.timeout if limit.expired() else longest,
            ) from None
        finally:
            task.cancel()
            del self._requests[task]
        if task.cancelled():
            raise StoppedError("The connection was closed.")
        try:
            return task.result()
        except ContextUIError:
            raise
        except Exception as problem:
            reason = self._clear(reason_of(problem))
            raise ActionError("The server answered: {reason}", reason=reason) from problem

    def _give_time(self, limit: asyncio.Timeout, *, endless: bool = False) -> None:
        """Let a request wait as long again, or without an end."""
        now = asyncio.get_running_loop().time()
        with suppress(RuntimeError):  # it has just expired
            limit.reschedule(None if endless else now + self.server.timeout)

    async def _ask(self, context: Any, params: Any) -> Any:  # noqa: ARG002
        from mcp_types import ElicitResult  # noqa: PLC0415

        self.questions += 1
        if self.questions > MOST_QUESTIONS:
            return ElicitResult(action="cancel")
        for limit in self._requests.values():  # the person needs time
            self._give_time(limit, endless=True)
        try:
            answer, content = await self._elicit(params)
        finally:
            for limit in self._requests.values():
                self._give_time(limit)
        return ElicitResult(action=answer, content=content)  # type: ignore[arg-type]


def environ(given: Mapping[str, str]) -> dict[str, str]:
    """Return what every server gets of the environment: nothing that may be a secret."""
    return {name: value for name, value in given.items() if _INHERITED.fullmatch(name)}


_CLOSED = "Connection closed"
_REASONS = {
    "MessageTooLargeError": "it sent a message that is too large",
    "TimeoutError": "it did not answer in time",
    "ValidationError": "it sent something that does not follow the protocol",
    "OverflowError": "it sent something that does not follow the protocol",
}
_VAGUE = ("Server returned an error response", "Not Found", "Session terminated")


def reason_of(problem: BaseException) -> str:
    """Return why something failed, in one line without secrets."""
    while isinstance(problem, BaseExceptionGroup):
        problem = problem.exceptions[0]
    if isinstance(problem, ContextUIError):
        return one_line(str(problem), 300)
    kind = type(problem).__name__
    text = _REASONS.get(kind) or str(problem).strip() or kind
    if kind in ("ConnectError", "ConnectTimeout"):
        text = f"it cannot be reached ({text})"
    return one_line(mask(text), 300)


async def _accept(_name: str, _result: Any) -> None:
    """Accept any result of a tool."""
