"""The web page window: what it refuses first, then reading from a real server on this machine."""

import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from asking import call
from contextui import Lod
from contextui.testing import WindowTester
from contextui_examples.fetch import Fetcher, is_public
from contextui_examples.readable import readable
from contextui_examples.web_page import WebPageWindow

HTML = b"""<!doctype html><head><title>A &amp; B</title><style>p{}</style>
<script>document.write("<p>no</p>")</script></head><body><h1>News</h1>
<p>First <a href="/two?x=1#y">second</a> and <a href="javascript:alert(1)">bad</a>,
<a href="file:///etc/passwd">file</a>, <a href="http://joe:pw@site.test/">login</a>.</p>
<ul><li>one<li>two \x1b[31mred\x1b[0m &lt;Actions&gt;</ul></body>"""


class Site(BaseHTTPRequestHandler):
    """A few pages, some of them hostile."""

    asked: list[str]
    released: threading.Event

    def do_GET(self) -> None:
        self.asked.append(f"{self.headers['Host']}{self.path}")
        name, _, query = self.path.strip("/").partition("?")
        if name == "to":
            self.answer(302, b"", Location=query)
        elif name == "long":
            words = "".join(f"<p>line {number} of many</p>" for number in range(2_000))
            self.answer(200, words.encode())
        elif name == "big":
            self.answer(200, b"x" * 3_000_000)
        elif name == "image":
            self.answer(200, b"\x89PNG", kind="image/png")
        elif name == "plain":
            self.answer(200, "grüße <b>".encode("latin-1"), kind="text/plain; charset=iso-8859-1")
        elif name == "odd":
            self.answer(200, b"<p>fine", kind="text/html; charset=punycode")
        elif name == "gone":
            self.answer(404, b"no")
        elif name == "slow":
            self.send_response(200)
            self.end_headers()
            while not self.released.wait(0.05):
                self.wfile.write(b"x")
        else:
            self.answer(200, HTML)

    def answer(self, status: int, body: bytes, kind: str = "text/html", **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass

    def handle(self) -> None:
        with suppress(BrokenPipeError, ConnectionResetError):
            super().handle()


class Served:
    """A server, and a window class that may read from it under the name site.test."""

    def __init__(self) -> None:
        self.asked = list[str]()
        self.released = threading.Event()
        site = type("OwnSite", (Site,), {"asked": self.asked, "released": self.released})
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), site)
        self.port = self.server.server_port
        self.resolved = list[str]()
        self.names = {"site.test": ["127.0.0.1"]}
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def resolve(self, host: str, _: int) -> list[str]:
        self.resolved.append(host)
        return self.names.get(host, [host])

    def tester(self, **given: float) -> WindowTester[WebPageWindow]:
        exempt = {("127.0.0.1", self.port)}

        class LocalPage(WebPageWindow):
            """Reads pages of the test's server."""

            name = "web_page"
            FETCHER = Fetcher(self.resolve, exempt, **given)  # type: ignore[arg-type]

        return WindowTester(LocalPage)

    def url(self, path: str) -> str:
        return f"http://site.test:{self.port}/{path}"


@pytest.fixture
def served() -> Iterator[Served]:
    one = Served()
    yield one
    one.released.set()
    one.server.shutdown()
    one.server.server_close()


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "ftp://example.org/",
        "javascript:alert(1)",
        "data:text/html,hello",
        "gopher://example.org",
        "http:///nothing",
        "http://joe:secret@example.org/",
        "http://joe@example.org/",
        "http://example.org@evil.test/",
        "http://example.org/a b",
        "http://example.org/\r\nHost: evil.test",
        "http://example.org\\@evil.test/",
        "http://example.org:port/",
        "http://[::1/",
        "//example.org",
        "example.org",
        "",
    ],
)
def test_other_addresses_are_refused_without_a_question(url: str) -> None:
    with WindowTester(WebPageWindow) as page:
        result, asked = call(page, "read", "once", url=url)
        assert not result.ok
        assert asked == []
        page.refused("read", url=url)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1",
        "0.0.0.0", "255.255.255.255", "224.0.0.1", "192.0.2.1", "::1", "::", "fe80::1%eth0",
        "fd00::1", "ff02::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "2002:7f00:1::",
        "64:ff9b::a00:1", "2001:0:7f00:1::",
    ],
)  # fmt: skip
def test_private_addresses_are_not_read(served: Served, address: str) -> None:
    assert not is_public(address)
    served.names["inner.test"] = ["93.184.216.34", address]
    with served.tester() as page:
        error = page.result("read", url="http://inner.test/")
        assert not error.ok
        assert "not a public address" in error.text


def test_public_addresses_are_public() -> None:
    assert is_public("93.184.216.34")
    assert is_public("2606:2800:220:1:248:1893:25c8:1946")


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "127.1", "0x7f000001", "localhost"])
def test_the_real_resolver_does_not_help(served: Served, host: str) -> None:
    with WindowTester(WebPageWindow) as page:
        result = page.result("read", url=f"http://{host}:{served.port}/")
        assert not result.ok
    assert served.asked == []


def test_redirects_are_checked_too(served: Served) -> None:
    other = Served()
    private, login = f"http://127.0.0.1:{other.port}/", f"http://joe:pw@site.test:{served.port}/"
    with served.tester() as page:
        for target in [private, "file:///etc/passwd", login, "//[::1]/", "https://10.0.0.1/"]:
            result = page.result("read", url=served.url(f"to?{target}"))
            assert not result.ok, result.text
        assert page.act("read", url=served.url("to?/plain")).startswith(served.url("plain"))
    assert other.asked == []
    other.server.shutdown()
    other.server.server_close()


def test_endless_redirects_end(served: Served) -> None:
    with served.tester() as page:
        assert page.act("read", url=served.url("to?" * 5 + "x")).startswith(served.url("x"))
        assert "more than 5 redirects" in page.result("read", url=served.url("to?" * 9)).text


def test_a_name_is_resolved_once_so_it_cannot_change_after_the_check(served: Served) -> None:
    with served.tester() as page:
        page.act("read", url=served.url(""))
        assert served.resolved == ["site.test"]


def test_it_asks_before_it_goes_to_the_network(served: Served) -> None:
    with served.tester() as page:
        result, asked = call(page, "read", url=served.url(""))
        assert not result.ok
        assert served.asked == []
        assert served.resolved == []
        (question,) = asked
        assert question.preview is not None
        assert (question.preview.target, question.preview.verb) == (served.url(""), "run")
        result, asked = call(page, "read", "once", url=served.url(""))
        assert result.ok, result.text


def test_a_page_is_text_with_links(served: Served) -> None:
    with served.tester() as page:
        assert "No page yet" in page.content()
        assert page.act("read", url=served.url("")) == f"{served.url('')}: page 1 of 1."
        text = page.content()
        assert text.startswith(f"A & B  url={served.url('')} page=1/1")
        assert "# News" in text
        assert "First second [1] and bad, file, login." in text
        assert "- one\n- two" in text
        assert "no" not in text.split()
        assert page.content(Lod.GIST) == "A & B"
        assert "\x1b" not in page.xml()
        assert "<Actions>" in text
        assert page.xml().count("<Actions>") == 1
        assert page.restored().content() == text
        result, asked = call(page, "link-1", "once")
        assert result.ok
        assert [one.preview and one.preview.target for one in asked] == [served.url("two?x=1")]
        assert served.asked[-1] == f"site.test:{served.port}/two?x=1"


def test_pages(served: Served) -> None:
    with served.tester() as page:
        assert "page 1 of" in page.act("read", url=served.url("long"))
        assert "line 0 of many" in page.content()
        assert page.act("page", number=2) == "Page 2."
        assert "line 0 of many" not in page.content()
        assert "There are" in page.refused("page", number=99)
        page.act("page", number=len(page.window.state.pages))
        assert len("".join(page.window.state.pages)) <= 60_000


def test_limits(served: Served) -> None:
    with served.tester() as page:
        page.act("read", url=served.url("big"))
        assert page.window.state.is_cut
        assert len("".join(page.window.state.pages)) <= 60_000
        assert "image/png is not text" in page.result("read", url=served.url("image")).text
        assert "the server answered 404" in page.result("read", url=served.url("gone")).text
        page.act("read", url=served.url("plain"))
        assert "grüße <b>" in page.content()
        page.act("read", url=served.url("odd"))
        assert "fine" in page.content()
        assert not page.result("read", url=f"https://site.test:{served.port}/").ok


def test_a_slow_page_ends(served: Served) -> None:
    started = time.monotonic()
    with served.tester(seconds=0.5) as page:
        assert "within 0.5 s" in page.result("read", url=served.url("slow")).text
    assert time.monotonic() - started < 5


def test_it_can_be_cancelled(served: Served) -> None:
    with served.tester() as page:
        stopping = threading.Timer(0.5, lambda: page.act("cancel"))
        stopping.start()
        assert "was cancelled" in page.result("read", url=served.url("slow")).text
        stopping.join()
        assert page.window.state.url == ""


@pytest.mark.parametrize(
    "html",
    ["<a" * 400_000, "<!--" * 200_000, "<![CDATA[" * 100_000, "&" * 800_000, "<a b='" * 150_000,
     "<script>" + "x" * 800_000, "</" * 400_000, "<div>" * 50_000, "<head>" * 40_000],
    ids=lambda html: html[:9],
)  # fmt: skip
def test_malformed_pages_do_not_take_long(html: str) -> None:
    started = time.monotonic()
    readable(html, "http://site.test/")
    assert time.monotonic() - started < 8


def test_in_chinese() -> None:
    with WindowTester(WebPageWindow, lang="zh") as page:
        assert page.content() == "还没有网页：用 read 读取。"
        error = page.refused("read", url="file:///x")
        assert error == '"file:///x"：只能读取 http:// 或 https:// 网址。'
