"""MCP window in words: its state, and what the model reads of it."""

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel

from contextui import Action, Lod, Transient, Window
from contextui.config.servers import Server
from contextui.secrets import add_secret, names_secret
from contextui.text import one_line
from contextui.windows.mcp.catalogue import Catalogue, Info
from contextui.windows.mcp.result import Result
from contextui.words import Words, msg

SECRET = msg("This asks for a secret: the server gets what you type, not contextui")
"""The warning before an answer that may be a secret."""


class Asked(BaseModel):
    """A question of the server to the person."""

    message: str = ""
    form: dict[str, Any] = {}
    url: str = ""

    @property
    def wants_secret(self) -> bool:
        """Whether it asks for a secret, which the protocol does not allow."""
        return not self.url and (
            names_secret(self.message) or any(map(self._is_secret, self._fields))
        )

    def mask(self, answer: Mapping[str, Any]) -> None:
        """Mask the secrets of an answer from now on: the server may repeat them."""
        named = [one for one in answer if self._is_secret(one)]
        for name in named or (answer if self.wants_secret else ()):
            add_secret(str(answer[name]))

    def _is_secret(self, name: str) -> bool:
        field = self._fields.get(name)
        given = field if isinstance(field, Mapping) else {}
        words = (name, given.get("title"), given.get("description"))
        return any(isinstance(word, str) and names_secret(word) for word in words)

    @property
    def _fields(self) -> Mapping[str, Any]:
        fields = self.form.get("properties")
        return fields if isinstance(fields, Mapping) else {}


class Kept(BaseModel):
    """A resource that is shown and kept up to date."""

    uri: str
    text: str = ""
    changed: float = 0.0


class ServerState(Window.State):
    """What a window of a server shows and keeps; the rest belongs to the running connection."""

    status: str = "idle"
    error: str = ""
    since: float = 0.0
    info: Info = Info()
    digest: str = ""
    results: list[Result] = []
    last: int = 0
    kept: list[Kept] = []
    asked: Asked | None = None
    catalogue: Transient[Catalogue] = Catalogue()
    offered: Transient[tuple[Action, ...]] = ()
    known: Transient[dict[str, list[str]]] = {}
    link: Transient[str] = ""

    def content(self, lod: Lod, server: Server, words: Words) -> str:
        tools = words.plural(len(self.catalogue.tools), "1 tool", "{count} tools")
        name = one_line(self.info.name or server.name, 80)
        head = f"{name}, {self.shown_status(words)}, {tools}"
        last = self.results[-1] if self.results else None
        if lod is Lod.GIST:
            return f"{head}. {words('Last')}: {headline(last)}" if last else head
        lines = [head, *self._notes(lod, words)]
        for kept in self.kept:
            lines.append(f"{words('Resource')} {one_line(kept.uri, 200)}")
            lines.append(kept.text if lod is Lod.FULL else one_line(kept.text, 100))
        for one in self.results if lod is Lod.FULL else self.results[-1:]:
            lines.append(f"{words('Result')} {one.number}: {headline(one)}")
        return "\n".join(lines)

    def shown_status(self, words: Words) -> str:
        match self.status:
            case "connected":
                return words("connected")
            case "connecting":
                return words("connecting")
            case "login":
                return words("waits for the person to log in")
            case "stopped":
                return words("stopped: {error}", error=self.error)
        return words("connected on demand")

    def _notes(self, lod: Lod, words: Words) -> Iterable[str]:
        found = self.catalogue
        if self.asked is not None:
            asked = one_line(self.asked.message, 300)
            yield words("The server asks the person: {asked}", asked=asked)
        if lod is not Lod.FULL:
            return
        if self.info.instructions:
            yield words("The server says: ") + one_line(self.info.instructions, 500)
        if found.dropped:
            yield words(
                "{dropped:,} more tools are left out: enabled_tools in config.toml chooses.",
                dropped=found.dropped,
            )
        if found.resources or found.templates:
            named = [*found.resources[:10], *found.templates[:5]]
            names = ", ".join(one_line(one.uri, 100) for one in named)
            more = len(found.resources) + len(found.templates) - len(named)
            yield words("Resources: ") + names + (f" (+{more})" if more > 0 else "")
        if found.prompts:
            names = ", ".join(one_line(prompt.name, 60) for prompt in found.prompts[:20])
            yield words("Prompts: ") + names


def headline(one: Result) -> str:
    """Describe a result in one line."""
    return one_line(f"{one.tool} {one.params}".rstrip() + f", {one.summary}", 200)


def brief(text: str, name: str) -> str:
    """Cut what the list of windows says about a server: a line of it costs at most 25 tokens."""
    room = 50.0 - len(name)
    for end, one in enumerate(text):
        room -= 1 if one.isascii() else 3
        if room < 0:
            return one_line(text, max(end, 11))
    return one_line(text, 80)
