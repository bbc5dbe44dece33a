"""MCP servers: how they are configured, by the user in config.toml and by a project in .mcp.json.

Nothing is started or connected here. Values may name variables, as ``${NAME}`` or
``${NAME:-default}``; they are filled in only when a server is connected, so that no secret is kept.
"""

import json
import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import takewhile
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from contextui.config.schema import CONFIG_FILE
from contextui.config.settings import InvalidValueError, SettingsError, is_address
from contextui.config.sources import read_toml
from contextui.errors import ContextUIError, os_reason
from contextui.names import WINDOW_NAME
from contextui.plain_file import read_plain
from contextui.text import one_line, quote, shown_path
from contextui.words import Message, Translatable, msg

PROJECT_SERVERS = ".mcp.json"
"""The file in which a project configures servers, as other programs read it too."""

LARGEST = 1_000_000
"""Maximum bytes of a file that configures servers."""

TIMEOUT = 60.0
"""Seconds without a sign of life after which a call of a server is cancelled."""

Kind = Literal["stdio", "http", "sse"]
"""How a server is reached: as a process, over streamable HTTP, or over HTTP with SSE (older)."""

_KINDS: Mapping[str, Kind] = {
    "stdio": "stdio",
    "http": "http",
    "streamable-http": "http",
    "streamable_http": "http",
    "streamableHttp": "http",
    "sse": "sse",
}
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_TEXT = {"command", "cwd", "url", "type", "description"}
_LISTS = {"args", "enabled_tools", "disabled_tools"}
_TABLES = {"env", "headers"}
_KNOWN = _TEXT | _LISTS | _TABLES | {"timeout", "trust_read_only", "disabled"}
_OPTIONS = {"enabled_tools", "disabled_tools", "timeout", "description", "disabled"}
_MOST_SERVERS = 100
_LONGEST = 10_000  # characters of a value


class ServerError(ContextUIError):
    """A server is configured incorrectly; the message says where and what to do."""


@dataclass(frozen=True, slots=True)
class Server:
    """How one server is reached, and what of it is used.

    Attributes:
        cwd: The folder it runs in; empty for that of the session.
        timeout: Seconds without a sign of life after which a call is cancelled.
        trust_read_only: Whether tools that claim to only read run without asking.
    """

    name: str
    origin: str = ""
    kind: Kind = "stdio"
    command: str = ""
    args: tuple[str, ...] = field(default=(), repr=False)
    env: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    cwd: str = ""
    url: str = field(default="", repr=False)
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    enabled_tools: tuple[str, ...] | None = None
    disabled_tools: tuple[str, ...] = ()
    timeout: float = TIMEOUT
    trust_read_only: bool = False
    description: str = ""

    @property
    def address(self) -> str:
        """Its program or host, without arguments, which may hold secrets."""
        if self.kind == "stdio":
            return one_line(self._program, 80)
        parts = urlsplit(self.url)
        host = parts.netloc.rpartition("@")[2]
        return one_line(f"{host}{parts.path}".rstrip("/"), 80)

    @property
    def _program(self) -> str:
        program = os.path.basename(self.command)
        if program in ("npx", "uvx", "bunx", "pipx", "uv", "docker", "python", "python3", "node"):
            args = takewhile(lambda arg: arg not in ("-c", "-e", "--eval"), self.args)  # a script
            words = [arg for arg in args if not arg.startswith("-") and arg not in _RUNNERS]
            named = words[0].rpartition("/")[2] if words else ""
            return f"{program} {named}".rstrip() if named else program
        return program

    @property
    def command_line(self) -> str:
        """What is run or connected, before variables are filled in: for review by the person."""
        if self.kind != "stdio":
            return self.url
        return shlex.join([self.command, *self.args])

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables of the environment whose values it gets."""
        texts = [self.command, *self.args, self.cwd, self.url]
        texts += [value for _, value in (*self.env, *self.headers)]
        return tuple(dict.fromkeys(found[1] for one in texts for found in _VARIABLE.finditer(one)))

    def uses(self, tool: str) -> bool:
        """Whether a tool of the server is used."""
        if self.enabled_tools is not None and tool not in self.enabled_tools:
            return False
        return tool not in self.disabled_tools

    def resolved(self, environ: Mapping[str, str]) -> "Server":
        """Return the server with its variables filled in."""

        def fill(text: str) -> str:
            return _VARIABLE.sub(lambda found: self._value(found, environ), text)

        filled = replace(
            self,
            command=fill(self.command),
            args=tuple(map(fill, self.args)),
            env=tuple((name, fill(value)) for name, value in self.env),
            cwd=fill(self.cwd),
            url=fill(self.url),
            headers=tuple((name, fill(value)) for name, value in self.headers),
        )
        if self.kind != "stdio":
            _check_url(self.name, filled.url)
        return filled

    def _value(self, found: re.Match[str], environ: Mapping[str, str]) -> str:
        if value := environ.get(found[1], ""):
            return value
        if found[2] is None:
            raise ServerError(
                "The server {name} needs the variable {variable}, which is not set.",
                name=quote(self.name),
                variable=found[1],
            )
        return found[2]


_RUNNERS = {"run", "exec", "dlx", "tool", "x"}


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with one server, or with a whole file."""

    name: str
    reason: Translatable


@dataclass(frozen=True, slots=True)
class Servers:
    """The servers of one file, and what is wrong with others of it.

    Attributes:
        options: Options for servers that a project configures, by name.
    """

    servers: tuple[Server, ...] = ()
    problems: tuple[Problem, ...] = ()
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def users_servers(home: Path) -> Servers:
    """Read ``[mcp.servers.NAME]`` of the user's config.toml; problems become lines."""
    path = home / CONFIG_FILE
    shown = shown_path(path)
    try:
        section = read_toml(path).get("mcp")
    except SettingsError as error:
        return Servers(problems=(Problem(shown, error),))
    if section is None:
        return Servers()
    servers = section.get("servers", {}) if isinstance(section, dict) else None
    if not isinstance(servers, dict) or set(section) - {"servers"}:
        return Servers(problems=(Problem(shown, Message(_NO_TABLE, {"file": shown})),))
    options: dict[str, Mapping[str, Any]] = {}
    entries: dict[str, Any] = {}
    for name, entry in servers.items():
        is_option = isinstance(entry, dict) and entry.keys() <= _OPTIONS
        (options if is_option else entries)[str(name)] = entry
    found = _parsed(entries, shown, path.parent)
    checked: dict[str, Mapping[str, Any]] = {}
    problems = list(found.problems)
    for name, entry in options.items():
        try:
            checked[name] = _fields(name, entry, shown)
        except ServerError as error:
            problems.append(Problem(one_line(name, 80), error))
    return replace(found, options=checked, problems=tuple(problems))


_NO_TABLE = msg("{file}: mcp must have tables such as [mcp.servers.github] only.")


def project_servers(data: bytes, path: Path, options: Mapping[str, Mapping[str, Any]]) -> Servers:
    """Read the servers of a project's .mcp.json, whose bytes the person trusted."""
    shown = shown_path(path)
    try:
        content = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        values = {"file": shown, "why": one_line(str(error), 100)}
        reason = Message("{file} is not valid JSON: {why}.", values)
        return Servers(problems=(Problem(PROJECT_SERVERS, reason),))
    entries = content.get("mcpServers") if isinstance(content, dict) else None
    if not isinstance(entries, dict):
        reason = Message('{file} has no "mcpServers" with servers by name.', {"file": shown})
        return Servers(problems=(Problem(PROJECT_SERVERS, reason),))
    found = _parsed(entries, shown, path.parent, is_project=True)
    servers = []
    for server in found.servers:
        chosen = dict(options.get(server.name, {}))
        if not chosen.pop("disabled", False):
            servers.append(replace(server, **chosen))
    return replace(found, servers=tuple(servers))


def read_project(project: Path) -> bytes | None:
    """Read a project's .mcp.json; None if there is none."""
    path = project / PROJECT_SERVERS
    if not os.path.lexists(path):
        return None
    if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(project)):
        raise ServerError("{path} is a link that leads out of the project", path=shown_path(path))
    try:
        return read_plain(path, LARGEST)
    except OSError as error:
        raise ServerError(
            "{file} cannot be read: {why}.", file=shown_path(path), why=os_reason(error)
        ) from error


# --- one server ------------------------------------------------------------------------------


def _parsed(
    entries: Mapping[str, Any], shown: str, folder: Path, *, is_project: bool = False
) -> Servers:
    servers, problems = list[Server](), list[Problem]()
    for number, (name, entry) in enumerate(entries.items()):
        if number == _MOST_SERVERS:
            values = {"file": shown, "count": _MOST_SERVERS}
            reason = Message("{file} has more than {count} servers; the rest is skipped.", values)
            problems.append(Problem(shown, reason))
            break
        try:
            server = _server(str(name), entry, shown, folder, is_project=is_project)
        except ServerError as error:
            problems.append(Problem(one_line(str(name), 80) or "?", error))
        else:
            servers += [server] if server is not None else []
    return Servers(tuple(servers), tuple(problems))


def _server(
    name: str, entry: object, shown: str, folder: Path, *, is_project: bool
) -> Server | None:
    """Return one server; None if it is switched off."""
    if not name.strip() or len(name) > 100 or not window_name(name):
        raise ServerError("{file} has a server without a name.", file=shown)
    if not isinstance(entry, Mapping):
        raise _invalid(name, shown, "", msg("a table with command or url"))
    known = {key: value for key, value in entry.items() if key in _KNOWN}
    if is_project:  # other programs have keys of their own there
        known = {key: value for key, value in known.items() if key != "trust_read_only"}
    elif odd := sorted(map(str, set(entry) - _KNOWN)):
        raise ServerError(
            "{file}: the server {name} sets {key}, which is not a setting. Available: {known}.",
            file=shown,
            name=quote(name),
            key=quote(odd[0]),
            known=", ".join(sorted(_KNOWN)),
        )
    fields = _fields(name, known, shown)
    if fields.pop("disabled", False):
        return None
    kind = fields.pop("type", "")
    command, url = fields.get("command", ""), fields.get("url", "")
    if bool(command) == bool(url):
        raise _invalid(name, shown, "", msg("a table with command or url"))
    fields["kind"] = _kind(name, shown, kind, has_url=bool(url))
    if url and "${" not in url:
        _check_url(name, url)
    if cwd := fields.get("cwd"):
        fields["cwd"] = str(folder / Path(cwd).expanduser())
    return Server(name=name, origin=shown, **fields)


def _kind(name: str, shown: str, given: str, *, has_url: bool) -> Kind:
    kind = _KINDS.get(given or ("http" if has_url else "stdio"))
    if kind is None or (kind == "stdio") == has_url:
        raise _invalid(name, shown, "type", msg("stdio for a command, or http for a url"))
    return kind


def _fields(name: str, entry: Mapping[str, Any], shown: str) -> dict[str, Any]:
    fields = {}
    for key, value in entry.items():
        read, wanted = _CHECKS[key]
        try:
            fields[key] = read(value)
        except ValueError:
            raise _invalid(name, shown, key, wanted) from None
    return fields


def _text(value: object) -> str:
    if not isinstance(value, str) or "\0" in value or len(value) > _LONGEST:
        raise InvalidValueError
    return value


def _list(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise InvalidValueError
    return tuple(map(_text, value))


def _table(value: object) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, Mapping):
        raise InvalidValueError
    plain = {
        str(one): str(given) if isinstance(given, int | float) else given
        for one, given in value.items()
    }
    return tuple((one, _text(given)) for one, given in plain.items())


def _seconds(value: object) -> float:
    if type(value) not in (int, float) or not 1 <= (seconds := float(str(value))) <= 3_600:
        raise InvalidValueError
    return seconds


def _switch(value: object) -> bool:
    if not isinstance(value, bool):
        raise InvalidValueError
    return value


_ON_OR_OFF = (_switch, msg("true or false"))
_CHECKS: Mapping[str, tuple[Callable[[Any], Any], str]] = {
    **dict.fromkeys(_TEXT, (_text, msg("a text"))),
    **dict.fromkeys(_LISTS, (_list, msg("a list of texts"))),
    **dict.fromkeys(_TABLES, (_table, msg("a table of texts"))),
    "timeout": (_seconds, msg("a number of seconds from 1 to 3,600")),
    "trust_read_only": _ON_OR_OFF,
    "disabled": _ON_OR_OFF,
}


def _check_url(name: str, url: str) -> None:
    if not (is_address(url) and url.isprintable() and " " not in url):
        raise ServerError(
            "The url of the server {name} is not an address such as https://example.org/mcp.",
            name=quote(name),
        )


def _invalid(name: str, shown: str, key: str, wanted: str) -> ServerError:
    return ServerError(
        "{file}: {key} of the server {name} must be {allowed}."
        if key
        else "{file}: the server {name} must be {allowed}.",
        file=shown,
        key=key,
        name=quote(name),
        allowed=Message(wanted),
    )


def window_name(name: str) -> str:
    """Return the name of the window of a server, such as ``my-server``; empty if there is none."""
    plain = re.sub(r"[^a-z0-9_]+", "-", name.lower()).strip("-_")
    plain = plain if plain[:1].isalpha() else f"mcp-{plain}" if plain else ""
    plain = plain[:44].strip("-_")
    return plain if WINDOW_NAME.fullmatch(plain) else ""


def describe(server: Server) -> Iterator[Message]:
    """Yield what a person should know before they trust a project's server, line by line.

    Nothing is cut: what is dangerous could be at the end.
    """
    if server.kind == "stdio":
        yield Message("runs {command}", {"command": one_line(server.command_line, LARGEST)})
        if server.cwd:
            yield Message("in the folder {folder}", {"folder": one_line(server.cwd, LARGEST)})
    else:
        yield Message("connects to {url}", {"url": one_line(server.command_line, LARGEST)})
    for name, value in server.env:
        yield Message("sets {variable}", {"variable": one_line(f"{name}={value}", LARGEST)})
    for name, value in server.headers:
        yield Message("sends {header}", {"header": one_line(f"{name}: {value}", LARGEST)})
    if server.variables:
        names = ", ".join(server.variables)
        yield Message("gets your variables {names}", {"names": one_line(names, LARGEST)})
