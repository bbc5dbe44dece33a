"""The dialog in which a person reads the code and servers that a folder brings, and trusts them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from textual.content import Content

from contextui.config.servers import PROJECT_SERVERS
from contextui.tui.dialogs.diff import Line
from contextui.tui.dialogs.question import ChangeQuestion
from contextui.tui.lines import line
from contextui.windowing.finding.servers import find_servers
from contextui.windowing.finding.trust import PROJECT_WINDOWS, Review, TrustStore
from contextui.words import Words


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


class TrustScreen(ChangeQuestion):
    """Shows every file whole, and asks whether to trust them."""

    def __init__(self, words: Words, code: FolderCode) -> None:
        about = words("These files run with your permissions. Read them first.")
        super().__init__(
            words,
            words("Trust what this folder brings?"),
            words("Trust exactly these files; a change asks again"),
            about=Content.styled(about, "$text-warning"),
            lines=[*_lines(words, code)],
        )


def _lines(words: Words, code: FolderCode) -> Iterator[Line]:
    for review in code.reviews:
        is_servers = review is code.servers
        for file in review.files:
            name = PROJECT_SERVERS if is_servers else f"{PROJECT_WINDOWS}/{file.name}"
            yield Line("!", f"{line(name)}   {words(file.status_text)}")
            if file.reason:
                yield Line("?", words(file.reason))
            content = review.contents.get(file.name, b"").decode("utf-8", "replace")
            for number, text in enumerate(content.removesuffix("\n").split("\n"), 1):
                yield Line(" ", text, 0, number)
