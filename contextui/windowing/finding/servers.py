"""Windows of MCP servers: one class for each configured server.

A server costs nothing until its window is opened. A project's servers are used only if exactly the
present bytes of its .mcp.json are trusted.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from contextui.config.servers import (
    PROJECT_SERVERS,
    Problem,
    Server,
    ServerError,
    Servers,
    project_servers,
    read_project,
    users_servers,
    window_name,
)
from contextui.text import shown_path
from contextui.windowing.finding.trust import Review, TrustStore
from contextui.words import Message, Text

if TYPE_CHECKING:
    from contextui.windowing.window import Window


@dataclass(frozen=True, slots=True)
class Found:
    """The configured servers."""

    servers: tuple[Server, ...]
    problems: tuple[Problem, ...]
    review: Review | None = None
    untrusted: tuple[Server, ...] = ()

    @property
    def notice(self) -> Text:
        """What the person can do about servers that are not trusted; or empty."""
        if self.review is None or not self.untrusted:
            return ""
        return Message(
            "{path} is not trusted ({what}): read it, then run contextui trust",
            {"path": shown_path(self.review.folder), "what": self.review.files[0].status_text},
        )


def find_servers(home: Path, project: Path | None) -> Found:
    """Find the servers of the user, and those of the project if they are trusted."""
    users = users_servers(home)
    problems = list(users.problems)
    review: Review | None = None
    theirs = Servers()
    if project is not None:
        try:
            data = read_project(project)
            if data is not None:
                path = project / PROJECT_SERVERS
                review = TrustStore(home).review_file(path, data)
                theirs = project_servers(data, path, users.options)
        except ServerError as error:
            problems.append(Problem(PROJECT_SERVERS, error))
    if review is None or not review.trusted:
        problems += () if theirs.servers else theirs.problems  # nothing in it can be trusted
        return Found(users.servers, tuple(problems), review, theirs.servers)
    problems += theirs.problems
    taken = {server.name for server in users.servers}
    added = tuple(server for server in theirs.servers if server.name not in taken)
    return Found((*users.servers, *added), tuple(problems), review)


def server_classes(
    servers: Collection[Server], home: Path, taken: Collection[str]
) -> Iterator[tuple[Server, "type[Window]"]]:
    """Yield the window class of each server."""
    names = set(taken)
    for server in servers:
        plain = window_name(server.name)
        name = plain if plain not in names else f"{plain[:44]}-mcp"
        number = 2
        while name in names:
            name, number = f"{plain[:40]}-mcp{number}", number + 1
        names.add(name)
        yield server, _built(server, name, home)


@cache  # a server that is unchanged keeps its class
def _built(server: Server, name: str, home: Path) -> "type[Window]":
    # By name: the windows that ship with contextui are not imported, as those of other packages.
    made: Any = import_module("contextui.windows.mcp.window").server_window(server, name, home)
    return made  # type: ignore[no-any-return]
