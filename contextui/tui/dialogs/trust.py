"""The dialog in which a person reads the code and servers that a folder brings, and trusts them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from contextui.config.servers import PROJECT_SERVERS
from contextui.tui.dialogs.diff import ChangeView, Line
from contextui.tui.dialogs.question import QuestionScreen
from contextui.tui.lines import line
from contextui.windowing.finding.servers import find_servers
from contextui.windowing.finding.trust import PROJECT_WINDOWS, Review, TrustStore
from contextui.words import Words, msg


@dataclass(frozen=True, slots=True)
class FolderCode:
    """What a folder brings: its window files and its MCP servers, as they were read."""

    windows: Review
    servers: Review | None

    @classmethod
    def read(cls, home: Path, folder: Path) -> "FolderCode":
        """Read it; nothing is run. Raises a TrustError if that fails."""
        windows = TrustStore(home).review(folder / PROJECT_WINDOWS)
        return cls(windows, find_servers(home, folder).review)

    @property
    def reviews(self) -> Sequence[Review]:
        both = (self.windows, self.servers)
        return [one for one in both if one is not None and one.files and not one.trusted]

    def trust(self, home: Path) -> None:
        """Trust exactly what was read, even if it has changed since, or raise a TrustError."""
        store = TrustStore(home)
        for review in self.reviews:
            store.trust_file(review)


class TrustScreen(QuestionScreen):
    """Shows every file whole, and asks whether to trust them."""

    DEFAULT_CSS = """
    TrustScreen {
        #box { width: 108; }
        ChangeView { max-height: 60vh; margin: 1 0; }
    }
    """
    no = ("n", msg("Cancel; Esc does the same"))

    def __init__(self, words: Words, code: FolderCode) -> None:
        yes = words("Trust exactly these files; a change asks again")
        super().__init__(words, words("Trust what this folder brings?"), "y", yes)
        self._code = code

    def details(self) -> ComposeResult:
        about = self._words("These files run with your permissions. Read them first.")
        yield Static(Content.styled(about, "$text-warning"), id="about")
        yield ChangeView([*self._lines()])

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
        self.query_one(ChangeView).focus()
