"""The dialog in which a person reads the code and servers that a folder brings, and trusts them."""

import time
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from contextui.config.servers import PROJECT_SERVERS
from contextui.tui.dialogs.diff import ChangeView, Line
from contextui.tui.lines import KEY, fit, line
from contextui.windowing.finding.servers import find_servers
from contextui.windowing.finding.source import PROJECT_WINDOWS
from contextui.windowing.finding.trust import Review, TrustStore
from contextui.words import Words

_DEAF = 0.5  # seconds in which keys are ignored: they were meant for something else
_KEY = 3  # cells


@dataclass(frozen=True, slots=True)
class FolderCode:
    """What a folder brings: its window files and its MCP servers, as they were read.

    Attributes:
        windows: The review of the window files.
        servers: The review of .mcp.json, if there is one.
    """

    windows: Review
    servers: Review | None

    @classmethod
    def read(cls, home: Path, folder: Path) -> "FolderCode":
        """Read it; nothing is run.

        Raises:
            TrustError: The window files cannot be read.
        """
        windows = TrustStore(home).review(folder / PROJECT_WINDOWS)
        return cls(windows, find_servers(home, folder).review)

    @property
    def reviews(self) -> Sequence[Review]:
        """The parts that are not trusted."""
        both = (self.windows, self.servers)
        return [one for one in both if one is not None and one.files and not one.trusted]

    def trust(self, home: Path) -> None:
        """Trust exactly what was read, even if it has changed since.

        Raises:
            TrustError: Trust cannot be recorded.
        """
        store = TrustStore(home)
        for one in self.reviews:
            store.trust_file(one)


class TrustScreen(ModalScreen[bool]):
    """Shows every file whole, and asks whether to trust them."""

    DEFAULT_CSS = """
    TrustScreen {
        align: center middle;
        background: $background 65%;
        #box {
            width: 108; max-width: 96%; height: auto; max-height: 92%;
            border: round $warning; border-title-style: bold;
            background: $background; padding: 1 2 0 2;
        }
        ChangeView { max-height: 60vh; margin: 1 0; }
        #about, #choices { height: auto; }
        #choices { margin: 0 0 1 0; }
    }
    """

    def __init__(self, words: Words, code: FolderCode) -> None:
        super().__init__()
        self._words, self._code = words, code
        self._opened = time.monotonic()

    def compose(self) -> ComposeResult:
        """Compose what it is about, the files, and the answers."""
        words = self._words
        with Vertical(id="box") as box:
            box.border_title = Content(words("Trust what this folder brings?"))
            about = words("These files run with your permissions. Read them first.")
            yield Static(Content.styled(about, "$text-warning"), id="about")
            yield ChangeView([*self._lines()])
            rows = [
                ("y", words("Trust exactly these files; a change asks again")),
                ("n", words("Cancel; Esc does the same")),
            ]
            keys = [Content.assemble((fit(key, _KEY), f"{KEY} bold"), name) for key, name in rows]
            yield Static(Content("\n").join(keys), id="choices")

    def _lines(self) -> Iterator[Line]:
        for review in self._code.reviews:
            is_servers = review is self._code.servers
            for file in review.files:
                status = self._words(file.status_text)
                name = PROJECT_SERVERS if is_servers else f"{PROJECT_WINDOWS}/{file.name}"
                yield Line("!", f"{line(name)}   {status}")
                if file.reason:
                    yield Line("?", self._words(file.reason))
                content = review.contents.get(file.name, b"").decode("utf-8", "replace")
                for number, text in enumerate(content.removesuffix("\n").split("\n"), 1):
                    yield Line(" ", text, 0, number)

    def on_mount(self) -> None:
        """Focus the files, so that keys scroll them."""
        self._opened = time.monotonic()
        self.query_one(ChangeView).focus()

    def on_key(self, event: events.Key) -> None:
        """Answer by letter, including full-width letters of an input method."""
        key = unicodedata.normalize("NFKC", event.character or "").lower()
        if event.key == "escape" or key in ("y", "n"):
            event.stop()
            if event.time - self._opened >= _DEAF:
                self._decide(key == "y")

    @on(events.Click, "#choices")
    def _choose_clicked(self, event: events.Click) -> None:
        self._decide(event.y == 0)

    def _decide(self, wanted: bool) -> None:
        if self.is_current:
            self.dismiss(wanted)
