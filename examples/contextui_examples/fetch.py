"""Fetch of a public web page: no other schemes, no private addresses, with limits.

Each host is resolved once and its addresses are checked; the connection goes to a checked address,
so a name that resolves differently the next time changes nothing. Redirects are checked the same.
"""

import asyncio
import http.client
import re
import socket
import ssl
import time
from collections.abc import Callable, Collection
from contextlib import closing, suppress
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from urllib.parse import SplitResult, quote, urljoin, urlsplit, urlunsplit

_NAT64 = IPv6Network("64:ff9b::/96")
_TYPES = re.compile(r"text/|application/(json|xhtml\+xml|xml)\b")
_CHARSETS = re.compile(
    r"utf-?(8|16)|us-ascii|iso-8859-\d+|windows-125\d|gb(k|2312|18030)|big5|shift_jis|euc-(jp|kr)|"
    r"koi8-[ru]",
    re.IGNORECASE,
)  # others are rare, and some codecs of Python are no encodings of text
_UNSAFE = re.compile(r"[\x00-\x20\x7f-\xa0\\]")
_HEADERS = {"User-Agent": "contextui-examples", "Accept": "text/html, text/*;q=0.9"}
_SAFE = "%/?&=:@!$'()*+,;~"
_PIECE = 16_384  # bytes


class FetchError(Exception):
    """The page cannot be read; the message says why, also in Chinese."""

    def __init__(self, english: str, chinese: str) -> None:
        super().__init__(english)
        self.english, self.chinese = english, chinese


@dataclass(frozen=True)
class Fetched:
    """What came back: the final address, the media type, the text, and whether it was cut."""

    url: str
    type: str
    text: str
    is_cut: bool


def check_url(url: str) -> SplitResult:
    """Return the parts of an address that may be read.

    Raises:
        FetchError: It is no plain http or https address.
    """
    try:
        parts = urlsplit(url)
        _ = parts.port  # raises if it is no number
    except ValueError as error:
        raise FetchError(f"not an address: {error}", f"不是网址：{error}") from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise FetchError(
            "only addresses with http:// or https:// can be read",
            "只能读取 http:// 或 https:// 网址",
        )
    if "@" in parts.netloc:
        raise FetchError(
            "an address with a user name or password is not read", "不读取带用户名或密码的网址"
        )
    if _UNSAFE.search(url) or len(url) > 2_000:
        raise FetchError(
            "it is too long or contains spaces or control characters",
            "网址太长，或含有空格或控制字符",
        )
    return parts


def is_public(address: str) -> bool:
    """Whether an IP address, and any other address inside of it, belongs to the public internet."""
    ip = ip_address(address.partition("%")[0])
    inside: list[IPv4Address | IPv6Address | None] = [ip]
    if isinstance(ip, IPv6Address):
        inside += [ip.ipv4_mapped, ip.sixtofour, *(ip.teredo or ())]
        inside += [IPv4Address(int(ip) & 0xFFFFFFFF)] if ip in _NAT64 else []
    return all(one.is_global and not one.is_multicast for one in inside if one is not None)


def resolve(host: str, port: int) -> list[str]:
    """Ask the system for the addresses of a host."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(one[4][0]) for one in found))


@dataclass(frozen=True)
class Fetcher:
    """Fetches pages.

    Attributes:
        resolve: Returns the addresses of a host.
        exempt: Pairs of address and port that may be private, such as a server of a test.
        limit: Maximum bytes of a page; the rest is cut.
        seconds: Maximum time for everything.
        redirects: Maximum number of redirects.
    """

    resolve: Callable[[str, int], list[str]] = resolve
    exempt: Collection[tuple[str, int]] = ()
    limit: int = 1_000_000
    seconds: float = 20.0
    redirects: int = 5

    async def fetch(self, url: str, progress: Callable[[int], object]) -> Fetched:
        """Fetch a page in another thread; a cancelled or late one is cut off.

        Args:
            url: The address.
            progress: Callback with the bytes so far.

        Raises:
            FetchError: It cannot be read.
        """
        sockets = list[socket.socket]()
        try:
            async with asyncio.timeout(self.seconds):
                return await asyncio.to_thread(self._follow, url, sockets, progress)
        except TimeoutError as error:
            raise FetchError(
                f"no answer within {self.seconds:g} s", f"{self.seconds:g} 秒内没有回应"
            ) from error
        except (OSError, http.client.HTTPException, UnicodeError) as error:
            raise FetchError(*[str(error) or type(error).__name__] * 2) from error
        finally:
            for one in sockets:
                with suppress(OSError):  # it is closed already
                    one.shutdown(socket.SHUT_RDWR)  # ends a read of the other thread

    def _follow(
        self, url: str, sockets: list[socket.socket], progress: Callable[[int], object]
    ) -> Fetched:
        for _ in range(self.redirects + 1):
            parts = check_url(url)
            path = quote(urlunsplit(("", "", parts.path or "/", parts.query, "")), safe=_SAFE)
            with closing(self._connect(parts, sockets)) as connection:
                connection.request("GET", path, headers=_HEADERS)
                with connection.getresponse() as answer:
                    target = answer.getheader("Location")
                    if answer.status not in (301, 302, 303, 307, 308) or not target:
                        return self._read(url, answer, progress)
            url = urljoin(url, target)
            if parts.scheme == "https" and not url.startswith("https:"):
                raise FetchError(
                    "a redirect leads from https to another scheme", "重定向从 https 转到别的协议"
                )
        raise FetchError(f"more than {self.redirects} redirects", f"重定向超过 {self.redirects} 次")

    def _connect(
        self, parts: SplitResult, sockets: list[socket.socket]
    ) -> http.client.HTTPConnection:
        """Connect to an address of the host, after all of them were checked."""
        host, is_tls = (parts.hostname or "").encode("idna").decode(), parts.scheme == "https"
        port = parts.port or (443 if is_tls else 80)
        addresses = self.resolve(host, port)
        if not addresses:
            raise FetchError(f"{host} has no address", f"{host} 没有地址")
        for one in addresses:
            if (one, port) not in self.exempt and not is_public(one):
                raise FetchError(
                    f"{host} is {one}, which is not a public address",
                    f"{host} 是 {one}，不是公网地址",
                )
        link = socket.create_connection((addresses[0], port), timeout=self.seconds)
        sockets.append(link)
        if is_tls:
            link = ssl.create_default_context().wrap_socket(link, server_hostname=host)
            sockets.append(link)
        connection = http.client.HTTPConnection(host, port)
        connection.default_port = 443 if is_tls else 80  # left out of the Host header
        connection.sock = link
        return connection

    def _read(
        self, url: str, answer: http.client.HTTPResponse, progress: Callable[[int], object]
    ) -> Fetched:
        kind = answer.headers.get_content_type()
        if answer.status != 200:
            raise FetchError(f"the server answered {answer.status}", f"服务器回应 {answer.status}")
        if not _TYPES.match(kind):
            raise FetchError(f"{kind} is not text", f"{kind} 不是文本")
        data, end = b"", time.monotonic() + self.seconds
        while len(data) <= self.limit and (piece := answer.read1(_PIECE)):
            data += piece
            progress(len(data))
            if time.monotonic() > end:
                raise FetchError(
                    f"no end within {self.seconds:g} s", f"{self.seconds:g} 秒内没有读完"
                )
        charset = answer.headers.get_content_charset("")
        charset = charset if _CHARSETS.fullmatch(charset) else "utf-8"
        text = data[: self.limit].decode(charset, "replace")
        return Fetched(url, kind, text, len(data) > self.limit)
