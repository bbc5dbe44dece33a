"""Web page window: a job that goes to the network after a question, and links as anchors."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar

from contextui import ActionError, Body, Button, Element, Job, Lod, Preview, Window, action
from contextui.text import one_line, quote
from contextui_examples.fetch import Fetched, Fetcher, FetchError, check_url
from contextui_examples.readable import Readable, lines_of, readable

_PAGE, _KEPT, _LINE = 3_000, 60_000, 1_000  # characters of a page, of all pages, and of a line


class WebPageWindow(Window):
    """Reads a public web page as text, after the person has agreed."""

    name = "web_page"
    description_zh = "把公开网页读成文字，读取前会询问。"
    FETCHER: ClassVar[Fetcher] = Fetcher()

    class State(Window.State):
        url: str = ""
        title: str = ""
        pages: list[str] = []
        links: list[str] = []
        page: int = 1
        is_cut: bool = False

    state: State

    # `opened` takes no address: opening a window asks nothing, so it must not use the network.

    def content(self, lod: Lod) -> Body:
        state, say = self.state, self.env.say
        if not state.url:
            return say("No page yet: use read.", "还没有网页：用 read 读取。")
        title = state.title or state.url
        if lod is Lod.GIST:
            return one_line(title, 100)
        position = f"{state.page}/{len(state.pages)}"
        shown = [Element("source", title, url=state.url, page=position)]
        if lod is Lod.SUMMARY:
            return [*shown, Element("text", one_line(state.pages[state.page - 1], 300))]
        shown.append(Element("text", state.pages[state.page - 1]))
        if state.is_cut and state.page == len(state.pages):
            shown.append(Element("cut", say("The rest is left out.", "其余部分已略去。")))
        return shown + [Element("link", url, id=number) for number, url in self._links()]

    def anchors(self, lod: Lod) -> Iterable[Button]:
        for number, url in self._links() if lod is Lod.FULL else ():
            yield Button(f"link-{number}", "read", {"url": url}, label=one_line(url, 60))

    def preview(self, action_id: str, params: Mapping[str, Any]) -> Preview | None:
        if action_id != "read":
            return None
        with self._explained(params["url"]):
            check_url(params["url"])
        en = "Request this address from the network, and follow its redirects."
        zh = "从网络请求此地址，并跟随其重定向。"
        return Preview(params["url"], text=self.env.say(en, zh), verb="run")

    @action("Read a web page", "write", zh="读取网页", says=["fetch {url}", "打开网页 {url}"])
    def read(self, url: str) -> Job:
        with self._explained(url):
            check_url(url)

        async def work(job: Job) -> str:
            with self._explained(url):
                found = await self.FETCHER.fetch(url, lambda size: job.progress(text=f"{size:,} B"))
            page = await asyncio.to_thread(_page_of, found)
            async with self.env.change():
                return self._show(found, page)

        return self.env.job(one_line(url, 80), work, wait=25.0)

    @action("Turn to a page", zh="翻到某一页")
    def page(self, number: int) -> str:
        if not 1 <= number <= len(self.state.pages):
            count = len(self.state.pages)
            raise ActionError(self.env.say(f"There are {count} pages.", f"共 {count} 页。"))
        self.state.page = number
        return self.env.say(f"Page {number}.", f"第 {number} 页。")

    def _show(self, found: Fetched, page: Readable) -> str:
        state, (pages, is_cut) = self.state, _pages(page.lines)
        state.url, state.title, state.links = found.url, one_line(page.title, 200), page.links
        state.pages, state.page, state.is_cut = pages, 1, is_cut or found.is_cut
        count = len(pages)
        return self.env.say(f"{found.url}: page 1 of {count}.", f"{found.url}：第 1/{count} 页。")

    @contextmanager
    def _explained(self, url: str) -> Iterator[None]:
        """Report a failure as an `ActionError`; other exceptions read like a bug."""
        try:
            yield
        except FetchError as error:
            where, en, zh = quote(url, 200), error.english, error.chinese
            raise ActionError(self.env.say(f"{where}: {en}.", f"{where}：{zh}。")) from error

    def _links(self) -> list[tuple[int, str]]:
        """Return the links that the shown page names."""
        state = self.state
        text = state.pages[state.page - 1] if state.pages else ""
        return [(n, url) for n, url in enumerate(state.links, 1) if f"[{n}]" in text]


def _page_of(found: Fetched) -> Readable:
    if "html" in found.type:
        return readable(found.text, found.url)
    return Readable("", lines_of(found.text), [])


def _pages(lines: list[str]) -> tuple[list[str], bool]:
    """Split lines into pages; return also whether something is left out."""
    short = [
        line[start : start + _LINE] for line in lines for start in range(0, len(line) or 1, _LINE)
    ]
    pages, room = [""], _KEPT
    for line in short:
        room -= len(line) + 1
        if room < 0:
            break
        if len(pages[-1]) + len(line) > _PAGE:
            pages.append("")
        pages[-1] += f"{line}\n"
    return [page.strip("\n") for page in pages], room < 0
