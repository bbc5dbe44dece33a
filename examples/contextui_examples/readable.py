"""HTML as readable text, with numbered links, by the standard library's parser."""

import time
from dataclasses import dataclass
from html.parser import HTMLParser
from urllib.parse import urljoin

from contextui_examples.fetch import FetchError, check_url

_HIDDEN = {"script", "style", "noscript", "template", "svg", "head", "iframe", "select", "object"}
_BLOCKS = {
    "p", "div", "section", "article", "header", "footer", "main", "nav", "aside", "ul", "ol", "li",
    "table", "tr", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "blockquote", "dt", "dd",
}  # fmt: skip
_MARKS = {"li": "- ", "h1": "# ", "h2": "## ", "h3": "### ", "td": " | ", "th": " | "}
_PIECE, _PENDING, _SECONDS = 4_096, 65_536, 5.0  # the parser is slow for input that is malformed


@dataclass(frozen=True)
class Readable:
    """A page as text: its title, its lines, and its links, which the text names as [1], [2], …"""

    title: str
    lines: list[str]
    links: list[str]


class _Reader(HTMLParser):
    def __init__(self, base: str) -> None:
        super().__init__()
        self.title, self.text, self.links = "", list[str](), list[str]()
        self._base, self._hidden, self._in_title, self._link = base, list[str](), False, ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "title" and not self.title:
            self._in_title = True
        elif tag in _HIDDEN:
            self._hidden.append(tag)
        elif tag == "body":
            self._hidden.clear()  # an unclosed head hides nothing
        if not self._hidden and tag in _BLOCKS:
            self.text.append("\n")
        if not self._hidden and tag in _MARKS:
            self.text.append(_MARKS[tag])
        if tag == "a":
            self._link = dict(attrs).get("href") or ""

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
        elif tag in self._hidden:
            del self._hidden[self._hidden.index(tag) :]
        elif tag == "a" and self._link and not self._hidden:
            self._number(self._link)
            self._link = ""
        elif tag in _BLOCKS:
            self.text.append("\n")

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title += data
        elif not self._hidden:
            self.text.append(data.replace("\n", " "))

    def _number(self, link: str) -> None:
        try:
            address = urljoin(self._base, link).partition("#")[0]
            check_url(address)
        except (ValueError, FetchError):
            return
        if address != self._base and address not in self.links:
            self.links.append(address)
        if address in self.links:
            self.text.append(f" [{self.links.index(address) + 1}]")


def readable(html: str, base: str, most_links: int = 200) -> Readable:
    """Convert HTML to text; malformed input that takes too long is cut.

    Args:
        html: The page.
        base: Its address, which its links may be relative to.
        most_links: Maximum number of links.
    """
    reader, end = _Reader(base), time.monotonic() + _SECONDS
    for start in range(0, len(html), _PIECE):
        reader.feed(html[start : start + _PIECE])
        stuck = len(reader.rawdata) > _PENDING and not reader.cdata_elem
        if stuck or time.monotonic() > end:
            break
    else:
        reader.close()
    return Readable(
        " ".join(reader.title.split()), lines_of("".join(reader.text)), reader.links[:most_links]
    )


def lines_of(text: str) -> list[str]:
    """Split text into lines without surplus blanks; empty ones only between paragraphs."""
    lines = [" ".join(line.split()) for line in text.splitlines()]
    return [line for line, before in zip(lines, ["", *lines], strict=False) if line or before]
