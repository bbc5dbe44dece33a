"""Malformed requests: each is answered with a 4xx, and the terminal shows no traceback."""

import logging
import random
import signal
import socket
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from aiohttp.http_exceptions import BadHttpMessage

from contextui.cli.serve.server import _is_our_mistake
from tests.cli.serve.serving import PATIENCE, Serving

TAB = "A" * 22
KEY = "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="
UPGRADE = f"Upgrade: websocket\r\nConnection: Upgrade\r\n{KEY}\r\nSec-WebSocket-Version: 13\r\n"


@dataclass(frozen=True)
class Requests:
    """Writes bytes to a server; `{link}` and `{host}` in them are its own."""

    serving: Serving

    def status(self, request: str | bytes) -> int:
        """The status of the answer; 0 if the connection was closed without one."""
        url = self.serving.url
        raw = request.encode("latin-1") if isinstance(request, str) else request
        raw = raw.replace(b"{link}", url.path.encode())
        raw = raw.replace(b"{host}", f"{url.host}:{url.port}".encode())
        with socket.create_connection((str(url.host), url.port or 0), PATIENCE) as connection:
            try:
                connection.sendall(raw)
                answer = connection.recv(64)
            except (ConnectionError, BrokenPipeError):
                return 0  # it did not read all of it
        return int(answer.split()[1]) if answer else 0


@pytest.fixture(scope="module")
def requests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Requests]:
    with Serving(tmp_path_factory.mktemp("requests") / "work") as serving:
        yield Requests(serving)
        # Whatever was sent: no app was started, and nothing was written to the terminal.
        assert serving.apps() == []
        assert serving.end(signal.SIGINT) == (0, "")


MALFORMED: dict[str, str | bytes] = {
    "options of the server": "OPTIONS * HTTP/1.1\r\nHost: {host}\r\n\r\n",
    "connect": "CONNECT evil.example:443 HTTP/1.1\r\nHost: {host}\r\n\r\n",
    "connect to a path": "CONNECT {link} HTTP/1.1\r\nHost: {host}\r\n\r\n",
    "another method": "DELETE {link} HTTP/1.1\r\nHost: {host}\r\n\r\n",
    "another host": "GET http://evil.example{link} HTTP/1.1\r\nHost: {host}\r\n\r\n",
    "a star": "GET * HTTP/1.1\r\nHost: {host}\r\n\r\n",
    "two slashes": "GET // HTTP/1.1\r\nHost: {host}\r\n\r\n",
    "nul in the path": "GET /\0 HTTP/1.1\r\nHost: {host}\r\n\r\n",
    "escaped nul": "GET {link}static/%00 HTTP/1.1\r\nHost: {host}\r\n\r\n",
    "out of the folder": "GET {link}static/../../pyproject.toml HTTP/1.1\r\nHost: {host}\r\n\r\n",
    "escaped dots": "GET {link}static/%2e%2e%2f%2e%2e HTTP/1.1\r\nHost: {host}\r\n\r\n",
    "a name too long for a file": f"GET {{link}}static/{'a' * 4_000} HTTP/1.1\r\nHost: {{host}}"
    "\r\n\r\n",
    "a long path": f"GET /{'a' * 100_000} HTTP/1.1\r\nHost: {{host}}\r\n\r\n",
    "no host": "GET {link} HTTP/1.1\r\n\r\n",
    "a host that is none": "GET {link} HTTP/1.1\r\nHost: [::1\r\n\r\n",
    "a host of bytes": "GET {link} HTTP/1.1\r\nHost: \xff\xfe\r\n\r\n",
    "a host with a word as port": "GET {link} HTTP/1.1\r\nHost: 127.0.0.1:x\r\n\r\n",
    "an origin of bytes": "GET {link} HTTP/1.1\r\nHost: {host}\r\nOrigin: \xff\xfe\r\n\r\n",
    "a broken chunk": "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nHost: {host}\r\n\r\nzz\r\n",
    "two lengths": "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n"
    "Host: {host}\r\n\r\nabc",
    "a range beyond the file": "GET {link}page/page.js HTTP/1.1\r\nRange: bytes=9999999-\r\n"
    "Host: {host}\r\n\r\n",
    "a tab that is none": "GET {link}tab/ HTTP/1.1\r\nHost: {host}\r\n\r\n",
    "a socket without upgrade": f"GET {{link}}{TAB}/socket HTTP/1.1\r\nHost: {{host}}\r\n"
    "Origin: http://{host}\r\n\r\n",
    "a socket with a key that is none": f"GET {{link}}{TAB}/socket HTTP/1.1\r\nHost: {{host}}\r\n"
    f"Origin: http://{{host}}\r\n{UPGRADE.replace(KEY, 'Sec-WebSocket-Key: x')}\r\n",
    "a socket by post": f"POST {{link}}{TAB}/socket HTTP/1.1\r\nHost: {{host}}\r\n"
    f"Origin: http://{{host}}\r\n{UPGRADE}\r\n",
    "a socket by head": f"HEAD {{link}}{TAB}/socket HTTP/1.1\r\nHost: {{host}}\r\n"
    "Origin: http://{host}\r\n\r\n",
}


def test_a_malformed_request_is_refused(requests: Requests) -> None:
    for name, sent in MALFORMED.items():
        assert 400 <= requests.status(sent) < 500, name


def _mutants(count: int) -> Iterator[bytes]:
    """Requests for the page or its socket, each with some bytes replaced, removed or repeated."""
    whole = [
        b"GET {link} HTTP/1.1\r\nHost: {host}\r\n\r\n",
        b"GET {link}%s/ HTTP/1.1\r\nHost: {host}\r\n\r\n" % TAB.encode(),
        b"GET {link}%s/socket HTTP/1.1\r\nHost: {host}\r\n%s\r\n"
        % (TAB.encode(), UPGRADE.encode()),
        b"OPTIONS * HTTP/1.1\r\nHost: {host}\r\n\r\n",
    ]
    chance = random.Random(13)
    odd = [b"\0", b"\xff", b"\r", b"\n", b" ", b"%", b"/", b":", b"[", b"*", b"\xe2\x80\x8b", b""]
    for _ in range(count):
        request = bytearray(chance.choice(whole))
        for _ in range(chance.randint(1, 4)):
            at = chance.randrange(len(request))
            end = at + chance.choice([0, 1, 1, 1, 8])
            request[at:end] = chance.choice(odd) * chance.choice([1, 1, 1, 300])
        yield bytes(request) + b"\r\n\r\n"


@pytest.mark.parametrize("count", [150, pytest.param(4_000, marks=pytest.mark.long)])
def test_no_request_is_a_mistake_of_the_server(requests: Requests, count: int) -> None:
    """Mutants may still be whole requests; none is answered with a 5xx, none leaves a traceback."""
    statuses = {requests.status(mutant) for mutant in _mutants(count)}
    assert {400, 403} <= statuses
    assert not [status for status in statuses if status >= 500 or status == 101]


def test_a_mistake_of_the_server_itself_is_still_logged() -> None:
    def logged(error: Exception) -> bool:
        facts = (type(error), error, None)
        return _is_our_mistake(logging.LogRecord("x", logging.ERROR, "", 1, "", (), facts))

    assert logged(ValueError("ours"))
    assert not logged(BadHttpMessage("not HTTP"))
