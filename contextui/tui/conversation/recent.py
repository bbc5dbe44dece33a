"""The earlier sessions of a folder on the start screen, and what is ready there."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.widgets import Static

from contextui.plain_file import read_plain
from contextui.session.catalogue import Catalogue, Head, Preview
from contextui.session.session import branch_of
from contextui.tui.app_session import AppSession
from contextui.tui.conversation.welcome import Try
from contextui.tui.lines import FAINT, KEY, MUTED, age, fit, line
from contextui.windowing.finding.servers import find_servers
from contextui.words import Words

_SHOWN = 4  # sessions
_AGE, _TURNS = 5, 10  # cells
_NOW = 60  # seconds
_GUIDE = "AGENTS.md"
_LARGEST = 1_000_000  # bytes


@dataclass(frozen=True, slots=True)
class Recent:
    """What the start screen shows of a folder."""

    heads: tuple[Head, ...]
    newest: Preview
    more: int
    branch: str = ""
    guide: int | None = None
    untrusted: int = 0
    servers: int = 0


def find_recent(desk: AppSession) -> Recent:
    """Read the newest sessions of a folder and what is ready there; runs on its own thread."""
    session, folder = desk.session, Path(desk.session.cwd)
    catalogue = Catalogue(session.path.parents[2])
    places = [one for one in catalogue.places(folder) if one.id != session.id]
    heads: list[Head] = []
    unread = len(places)
    for place in places:
        unread -= 1
        head = catalogue.head(place)
        if head.problem is None and not head.is_empty and head.cwd == session.cwd:
            heads.append(head)
        if len(heads) == _SHOWN:
            break
    newest = catalogue.preview(heads[0].place) if heads else Preview()
    return Recent(
        tuple(heads),
        newest,
        unread,
        branch_of(folder) or "",
        _guide_tokens(desk, folder),
        *untrusted_in(desk),
    )


def untrusted_in(desk: AppSession) -> tuple[int, int]:
    """Return how many window files and MCP servers of the folder wait for trust."""
    session = desk.session
    found = find_servers(session.path.parents[2], Path(session.cwd))
    entries = desk.reloader.registry.entries
    return sum(entry.status == "untrusted" for entry in entries), len(found.untrusted)


def _guide_tokens(desk: AppSession, folder: Path) -> int | None:
    try:
        text = read_plain(folder / _GUIDE, _LARGEST).decode("utf-8", "replace")
    except OSError:
        return None
    counter = desk.session.context.counter
    return counter.calibrated(counter.count(text)) if text.strip() else None


class ResumeRow(Try):
    """An earlier session; Enter or a click resumes it."""

    class Chosen(Message):
        """Posted when the person wants to resume the session."""

        def __init__(self, session_id: str) -> None:
            super().__init__()
            self.session_id = session_id

    def __init__(self, words: Words, head: Head, newest: Preview | None) -> None:
        super().__init__("")
        self._words, self._head, self._newest = words, head, newest

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        return len([*self._lines(width)])

    def render(self) -> Content:
        return Content("\n").join([*self._lines(self.size.width)])

    def _lines(self, width: int) -> Iterator[Content]:
        words, head = self._words, self._head
        seconds = time.time() - head.place.used
        used = words("now") if seconds < _NOW else age(seconds)
        count = head.turns
        turns = "" if count is None else words.plural(count, "1 turn", "{count} turns")
        room = width - 2 - _AGE - _TURNS
        mark = "› " if self._newest is not None else "  "
        title = head.since_fork or head.title or words("(no prompt)")
        if head.origin is not None:
            title = head.origin.titled(title, words)
        yield Content.assemble(
            (mark, KEY), fit(title, room), (fit(used, _AGE, right=True), MUTED),
            (fit(turns, _TURNS, right=True), MUTED),
        )  # fmt: skip
        if self._newest is None:
            return
        if self._newest.said:
            you = words("You")
            said = " ".join(self._newest.said.split())
            yield Content.assemble(
                ("  ", ""),
                (f"{you}: ", "$text-secondary"),
                (fit(said, width - len(you) - 4), MUTED),
            )
        count, left = len(self._newest.windows), list[str]()
        if count:
            left.append(words.plural(count, "1 window", "{count} windows"))
        if self._newest.draft.strip():
            left.append(words("1 message not sent"))
        if left:
            yield Content.styled(f"  {', '.join(left)}", "$text-warning")

    def action_say(self) -> None:
        self.post_message(self.Chosen(self._head.place.id))


def widgets_of(recent: Recent, words: Words, folder: str) -> Iterator[Static]:
    """Yield the widgets of the start screen of a folder with earlier sessions."""
    title = Content.assemble(("contextui", "bold $text-primary"), (f"   {line(folder)}", MUTED))
    yield Static(title)
    hint = words("↓ and Enter, or just type to start a new session")
    resume = Content.assemble((words("Resume"), "bold"), (f"   {hint}", MUTED))
    yield Static(resume, classes="resume")
    for number, head in enumerate(recent.heads):
        row = ResumeRow(words, head, recent.newest if number == 0 else None)
        row.set_class(number == 0 and len(recent.heads) > 1, "-newest")
        yield row
    if recent.more:
        more = words("{count} more: ", count=recent.more)
        yield Static(Content.assemble(("  " + more, MUTED), ("/sessions", f"{KEY} bold")),
                     classes="more")  # fmt: skip
    ready = [*ready_lines(recent, words)]
    if ready:
        yield Static(Content("\n").join(ready), classes="ready")


def ready_lines(recent: Recent, words: Words) -> Iterator[Content]:
    """Yield what is ready in the folder, and what waits for the person."""
    good = ("● ", "$text-success")
    if recent.branch:
        yield Content.assemble(good, words("on branch {branch}", branch=line(recent.branch)))
    if recent.guide is not None:
        tokens = f"{recent.guide:,}"
        yield Content.assemble(good, words("AGENTS.md is read, {tokens} tokens", tokens=tokens))
    if waiting := trust_line(recent.untrusted, recent.servers, words):
        yield waiting


def trust_line(files: int, servers: int, words: Words) -> Content | None:
    """Return a line about window files and MCP servers that wait for trust, if there are any."""
    parts = list[str]()
    if files:
        parts.append(words.plural(files, "1 window file", "{count} window files"))
    if servers:
        parts.append(words.plural(servers, "1 MCP server", "{count} MCP servers"))
    if not parts:
        return None
    text = words("Not trusted yet: {what}. ", what=", ".join(parts))
    shows = words(" shows and allows them.")
    return Content.assemble(
        ("● ", "$text-warning"), text, ("/trust", f"{KEY} bold"), (shows, FAINT)
    )
