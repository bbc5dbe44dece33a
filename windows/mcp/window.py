"""MCP window: a server's tools as actions, its resources, its prompts and its last results.

`server_window` makes a class for each configured server. What a server says is text of strangers:
its tools ask before they run, whatever they claim, unless the person trusts the claim.
"""

import asyncio
import contextvars
import json
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

from pydantic import BaseModel, Field

from contextui import Action, ActionError, Body, Job, Lod, Preview, Window, action
from contextui.config.servers import Server
from contextui.text import one_line
from contextui.windows.mcp import result as results
from contextui.windows.mcp.catalogue import Catalogue, Tool, small_schema
from contextui.windows.mcp.connection import Answer, Connection
from contextui.windows.mcp.description import SECRET, Asked, Kept, ServerState, brief
from contextui.windows.mcp.result import Result, words_of

KEPT_RESULTS, KEPT_RESOURCES = 5, 5  # how many results and resources the window keeps
_OPENING = 15.0  # seconds that opening waits for a connection
_WAIT = 30.0  # seconds that a call waits before it goes on as a job
_ATTENTION = 5.0  # seconds until a question needs a screen to be seen on
_ANSWER = 300.0  # seconds for the person to answer a question
_BEAT = 0.2  # seconds between two records of what has changed
_LONGEST_RESOURCE = 6_000  # characters of a resource that is kept
_CATALOGUE = "catalogue.json"
_PAGE = 200  # lines


class _ServerWindow(Window):
    """An MCP server."""

    name = "mcp-server"
    widget = "contextui.windows.mcp.widget:ServerBody"
    wide = True
    job_conflicts = False  # results and announcements arrive all the time
    action_seconds = 90.0
    SERVER: ClassVar[Server] = Server("")
    HOME: ClassVar[Path] = Path()

    class State(ServerState): ...

    state: State
    _connection: Connection
    _folder: Path
    _following: asyncio.Task[None] | None = None
    _answered: asyncio.Future[Answer] | None = None

    def __init__(self) -> None:
        super().__init__()
        self.attended = asyncio.Event()
        """Whether a person can see the window: a server's questions can be answered."""
        self._answering = asyncio.Lock()

    # --- life --------------------------------------------------------------------------

    async def opened(self) -> None:
        self._prepare()
        await self._connect()
        if self._connection.status == "stopped":
            await self.closed()
            raise ActionError(self._connection.error or "The server stopped.")

    async def restored(self) -> None:
        """Show what was there; the server is connected when it is needed."""
        self._prepare()
        self._offer(Catalogue.load(self._folder / _CATALOGUE))
        state = self.state
        state.status, state.asked, state.error = "idle", None, ""

    async def closed(self) -> None:
        if self._following is None:  # it could not be opened
            return
        self._following.cancel()
        await self._connection.close()
        if self.env.data is None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _prepare(self) -> None:
        self._folder = self.env.data_folder() or Path(tempfile.mkdtemp(prefix="contextui-mcp-"))
        changed = asyncio.Event()
        self._connection = Connection(
            self.SERVER,
            self.HOME,
            start=self.env.process,
            changed=changed.set,
            elicit=self._elicit,
            exposed=self._warn,
        )
        self._following = asyncio.get_running_loop().create_task(
            self._follow(changed), context=contextvars.Context()
        )

    def _warn(self, host: str) -> None:
        self.env.notify(
            self.env.say(
                "Its key is sent to {host} unencrypted (http://): others on the network can "
                "read it.",
                host=host,
            )
        )

    async def _connect(self) -> None:
        self._connection.begin()
        await self._connection.ready(min(self.SERVER.timeout + 1, _OPENING))
        self._record()

    async def _follow(self, changed: asyncio.Event) -> None:
        """Record what has changed, a few times a second at most."""
        connection = self._connection
        before = connection.status
        while True:
            await changed.wait()
            changed.clear()
            updated, connection.updated = connection.updated, set()
            texts = {uri: await self._read_again(uri) for uri in updated}
            async with self.env.change():
                self._record()
                for one in self.state.kept:
                    if texts.get(one.uri) not in (None, one.text):
                        one.text, one.changed = str(texts[one.uri]), time.time()
            if connection.status not in (before, "connecting"):
                self._report(before)
                before = connection.status
            await asyncio.sleep(_BEAT)

    def _report(self, before: str) -> None:
        status, say = self._connection.status, self.env.say
        if status == "stopped":
            self.env.notify(say("stopped: {reason}", reason=self._connection.error))
        elif status == "login":
            name = one_line(self.SERVER.name, 60)
            self.env.notify(say("needs a login: contextui mcp test {name}", name=name))
        elif status == "connected" and before == "login":
            self.env.notify(say("connected"))

    async def _read_again(self, uri: str) -> str | None:
        with suppress(Exception):  # the old text stays
            outcome = await self._connection.read_resource(uri)
            return results.take_resource(outcome, Result(), None)[:_LONGEST_RESOURCE]
        return None

    def _record(self) -> None:
        state, connection = self.state, self._connection
        state.status, state.error = connection.status, connection.error
        state.since, state.link = round(connection.since, 1), connection.link
        if connection.status == "connected":
            state.info = connection.info
            if connection.catalogue is not state.catalogue:
                self._offer(connection.catalogue)
                with suppress(OSError):
                    connection.catalogue.save(self._folder / _CATALOGUE)

    def _offer(self, catalogue: Catalogue) -> None:
        """Make the tools actions; note which of them are described differently than before."""
        state = self.state
        state.catalogue, state.digest = catalogue, catalogue.digest
        state.offered = tuple(
            Action(
                tool.id,
                tool.label,
                "read" if tool.reads and self.SERVER.trust_read_only else "write",
                {**tool.params, "description": tool.description},
                call=self._caller(tool),
            )
            for tool in catalogue.tools
        )
        for tool in catalogue.tools:
            seen = state.known.setdefault(tool.id, [])
            if tool.digest not in seen:
                seen.append(tool.digest)

    # --- content -----------------------------------------------------------------------

    def content(self, lod: Lod) -> Body:
        return self.state.content(lod, self.SERVER, self.env.words)

    # --- actions -----------------------------------------------------------------------

    def more_actions(self) -> Iterable[Action]:
        state, found = self.state, self.state.catalogue
        if state.asked is not None:
            label = SECRET if state.asked.wants_secret else "Answer the server"
            yield Action("answer", label, "write", state.asked.form, call=self._answer)
            yield Action("decline", "Do not answer", call=self._decline)
        yield from state.offered
        if found.resources or found.templates:
            label, effect = "Read a resource; keep=true shows it here", self._effect_of_reading
            yield Action("read", label, effect, _Read, call=self._read)
        if found.prompts:
            label = "Get a prompt of the server"
            yield Action("prompt", label, "write", _Prompt, call=self._prompt)
        if any(result.cut for result in state.results):
            yield Action("page", "Read lines of a result", "read", _Page, call=self._page)

    def _effect_of_reading(self, params: Mapping[str, Any]) -> Any:
        """What the server lists may be read; another address may carry anything to it."""
        listed = {resource.uri for resource in self.state.catalogue.resources}
        return "read" if params.get("uri") in listed else "write"

    def preview(self, action_id: str, params: Mapping[str, Any]) -> Preview | None:
        say, server = self.env.say, self.SERVER
        name, place = one_line(server.name, 60), server.address
        tool = self.state.catalogue.tool(action_id)
        target = f"{name}.{action_id}"
        lines = [say("To the MCP server {name} ({place}):", name=name, place=place)]
        if tool is not None and action_id not in type(self).actions:
            seen = self.state.known.get(tool.id, [])
            if len(seen) > 1:  # an approval of the tool as it was does not cover it as it is
                target += f" ({say('description')} {seen.index(tool.digest) + 1})"
            if tool.reads:
                lines.append(say("It claims to only read."))
            if tool.name != tool.id:
                lines.append(json.dumps(tool.name, ensure_ascii=False))
        elif action_id == "answer" and self.state.asked is not None:
            raise _for_the_person()
        elif action_id == "read":
            target = f"{name}: {one_line(str(params.get('uri')), 500)}"
        elif action_id != "prompt":
            return None
        lines.append(json.dumps(dict(params), ensure_ascii=False, indent=2, default=str))
        return Preview(one_line(target, 1_000), text="\n".join(lines), verb="run")

    @action("Connect to the server again")
    async def reconnect(self) -> str:
        """Connect again: what the server does at the moment is cancelled."""
        await self._connection.close()
        await self._connect()
        if self._connection.status == "stopped":
            raise ActionError(self._connection.error)
        return self.state.shown_status(self.env.words)

    def _caller(self, tool: Tool) -> Callable[..., Job]:
        def call(**params: Any) -> Job:
            wait = min(self.SERVER.timeout + 1, _WAIT)
            return self.env.job(tool.id, lambda job: self._call(job, tool, params), wait=wait)

        return call

    async def _call(self, job: Job, tool: Tool, params: Mapping[str, Any]) -> str:
        began = time.monotonic()
        outcome = await self._connection.call(tool.name, params, job.progress)
        record = Result(tool=tool.id, params=words_of(params), at=round(time.time(), 1))
        record.seconds = round(time.monotonic() - began, 2)
        return await self._keep(outcome, record, results.take)

    async def _keep(
        self, outcome: Any, record: Result, take: Callable[[Any, Result, Path], str]
    ) -> str:
        async with self.env.change():
            self.state.last += 1
            record.number = self.state.last
        text = await asyncio.to_thread(take, outcome, record, self._folder)
        shown = await asyncio.to_thread(results.keep, text, record, self._folder)
        async with self.env.change():
            self.state.results = [*self.state.results, record][-KEPT_RESULTS:]
            used = {name for result in self.state.results for name in result.files}
            results.tidy(self._folder, used.__contains__)
        if not record.ok:
            raise ActionError(shown or "The tool failed.")
        return shown or self.env.say("Done, without a result.")

    def _read(self, uri: str, keep: bool) -> Job:
        return self.env.job("read", lambda _: self._read_now(uri, keep), wait=_WAIT)

    async def _read_now(self, uri: str, keep: bool) -> str:
        outcome = await self._connection.read_resource(uri)
        record = Result(tool="read", params=one_line(uri, 80), at=round(time.time(), 1))
        text = await self._keep(outcome, record, results.take_resource)
        async with self.env.change():
            others = [one for one in self.state.kept if one.uri != uri]
            now = Kept(uri=uri, text=text[:_LONGEST_RESOURCE], changed=time.time())
            self.state.kept = ([*others, now] if keep else others)[-KEPT_RESOURCES:]
            watched = [one.uri for one in self.state.kept]
        with suppress(ActionError):
            await self._connection.watch(watched)
        return self.env.say("It is shown here.") if keep else text

    def _prompt(self, name: str, arguments: Mapping[str, Any]) -> Job:
        found = self.state.catalogue.prompt(name)
        given = {str(key): str(value) for key, value in arguments.items()}
        missing = [one.name for one in found.arguments if one.required and one.name not in given]
        if missing:
            names = ", ".join(missing)
            raise ActionError("The prompt needs {names}.", names=names)

        async def work(_: Job) -> str:
            return results.prompt_text(await self._connection.get_prompt(found.name, given))

        return self.env.job("prompt", work, wait=_WAIT)

    def _page(self, result: int, start: int, lines: int) -> str:
        found = results.page(self._folder, result, start, lines)
        if found is None:
            raise ActionError("Result {result} is not kept whole any more.", result=result)
        return found

    # --- questions of the server -----------------------------------------------------------

    async def _elicit(self, params: Any) -> Answer:
        """Ask the person; without a screen, or an answer in time, the question is cancelled."""
        try:
            async with asyncio.timeout(_ATTENTION):
                await self.attended.wait()
        except TimeoutError:
            return "cancel", None
        async with self._answering:
            future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
            self._answered = future
            form = small_schema(getattr(params, "requested_schema", None))
            asked = Asked(
                message=one_line(params.message, 1_000),
                form=form,
                url=one_line(getattr(params, "url", "") or "", 2_000),
            )
            async with self.env.change():
                self.state.asked = asked
            question = one_line(asked.message, 200)
            self.env.notify(self.env.say("asks: {question}", question=question))
            try:
                async with asyncio.timeout(_ANSWER):
                    return await future
            except TimeoutError:
                return "cancel", None
            finally:
                async with self.env.change():
                    self.state.asked = None

    def _answer(self, **content: Any) -> str:
        if self.env.actor() == "model":  # also if it may do everything else without asking
            raise _for_the_person()
        if self.state.asked is not None:
            self.state.asked.mask(content)
        self._settle("accept", content)
        return self.env.say("Answered.")

    def _decline(self) -> str:
        self._settle("decline", None)
        return self.env.say("Declined.")

    def _settle(self, how: str, content: dict[str, Any] | None) -> None:
        if self._answered is not None and not self._answered.done():
            self._answered.set_result((how, content))
        self.state.asked = None


def _for_the_person() -> ActionError:
    return ActionError("Only the person can answer the server.")


class _Read(BaseModel):
    uri: str
    keep: bool = False


class _Prompt(BaseModel):
    name: str
    arguments: dict[str, Any] = {}


class _Page(BaseModel):
    result: int
    start: int = Field(1, ge=1)
    lines: int = Field(_PAGE, ge=1, le=1_000)


def server_window(server: Server, name: str, home: Path) -> type[Window]:
    """Make the window class of a server."""
    about = brief(server.description or f"MCP server, {server.address}", name)
    members = {
        "__module__": "mcp_servers",  # its text is the person's or the project's, not ours
        "__doc__": about,
        "__qualname__": "ServerWindow",
        "name": name,
        "description": about,
        "SERVER": server,
        "HOME": home,
    }
    made: type[Window] = type(_ServerWindow)("ServerWindow", (_ServerWindow,), members)  # type: ignore[misc]
    return made
