"""Servers that misbehave: nothing but their own window suffers, and no process is left."""

import asyncio
import gzip
import json
import queue
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import psutil
import pytest

pytest.importorskip("mcp")

from lxml import etree

from contextui import secrets
from contextui.config.servers import Server
from contextui.errors import ActionError
from contextui.text import for_terminal
from contextui.windowing.runtime import runtime_of
from contextui.windows.mcp.catalogue import MOST_TOOLS
from contextui.windows.mcp.connection import MOST_QUESTIONS
from contextui.windows.mcp.description import Asked
from tests.windows.git.conftest import previewed
from tests.windows.mcp.servers import attend, opened, plain, until


@pytest.fixture(autouse=True)
def no_process_is_left() -> Any:
    yield

    def is_server(process: psutil.Process) -> bool:
        with suppress(psutil.Error):
            return any(word.endswith("plain.py") for word in process.cmdline())
        return False

    until(lambda: not any(map(is_server, psutil.Process().children(recursive=True))))


def test_one_that_dies_in_a_call_says_why_and_is_started_again(tmp_path: Path) -> None:
    with opened(plain("dies"), tmp_path) as server:
        assert "failed" in server.result("echo", text="x").text
        until(lambda: server.window.state.status == "stopped")
        assert "stopped: exit 3, Error: the token expired" in server.content()
        assert any("stopped: exit 3" in one for one in server.notices)
        assert "connected" in server.act("reconnect")
        until(lambda: server.window.state.status == "connected")
        # A call connects by itself, too.
        server.result("echo", text="x")
        until(lambda: server.window.state.status == "stopped")
        server.result("echo", text="x")


def test_one_that_hangs_costs_its_own_time_limit(tmp_path: Path) -> None:
    with opened(plain("hangs"), tmp_path) as server:
        connection = server.window._connection
        connection.server = replace(connection.server, timeout=1.0)  # of calls, not of the start
        began = time.monotonic()
        said = server.result("echo", text="x")
        assert "The server did not answer within 1 s." in said.text
        assert time.monotonic() - began < 30


@pytest.mark.parametrize(
    ("mode", "reason"),
    [
        ("silent", "it did not answer within 1 s"),
        ("fails", "exit 2, Error: no such database"),
        ("invalid", "it sent something that does not follow the protocol"),
    ],
)
def test_one_that_does_not_start_is_one_clear_line(tmp_path: Path, mode: str, reason: str) -> None:
    limit = 1.0 if mode == "silent" else 20.0
    with pytest.raises(ActionError, match=reason), opened(plain(mode, timeout=limit), tmp_path):
        pass


def test_a_result_of_2_mb_is_cut_and_can_be_read_by_page(tmp_path: Path) -> None:
    with opened(plain("large"), tmp_path) as server:
        said = server.act("echo", text="x")
        assert len(said) < 25_000
        assert "page(result=1, start=" in said
        assert server.act("page", result=1, start=300_000, lines=2).startswith("line\nline\n(")
        assert len(server.xml()) < 10_000
        assert len(str(runtime_of(server.window).core.saved.state)) < 10_000


def test_a_message_without_an_end_ends_the_connection(tmp_path: Path) -> None:
    with opened(plain("huge"), tmp_path) as server:
        assert not server.result("echo", text="x").ok
        until(lambda: server.window.state.status == "stopped")
        assert "a message that is too large" in server.content()


def test_an_error_that_contains_a_secret_of_the_configuration_is_masked(tmp_path: Path) -> None:
    env = (("SERVICE_API_KEY", "k3y-in-env-1234"), ("STAGE", "production"))
    with opened(plain("leaks", env=env), tmp_path) as server:
        said = server.result("environ")
        assert not said.ok
        assert "k3y-in-env-1234" not in said.text + server.xml()
        assert "production" in said.text  # nothing else is


def test_a_header_that_is_a_secret_is_masked() -> None:
    secrets.add_named_secret("Authorization", "Bearer correct-horse-battery")
    secrets.add_named_secret("X-Api-Key", "staple-staple")
    secrets.add_named_secret("X-Team", "blue-team")
    secrets.add_named_secret("PASSPHRASE", "one basic word")
    text = "correct-horse-battery, staple-staple, blue-team, one basic word"
    assert secrets.mask_own(text) == "***, ***, blue-team, ***"


@pytest.mark.parametrize(
    ("message", "fields", "masked"),
    [
        ("Log in", ("user_name", "password"), "first-value, ***"),
        ("User name and password?", ("user_name", "password"), "first-value, ***"),
        ("Your password?", ("first", "second"), "***, ***"),  # the fields do not name it
        ("Which colours?", ("first", "second"), "first-value, second-value"),
    ],
)
def test_an_answer_that_is_a_secret_is_masked(
    message: str, fields: tuple[str, str], masked: str
) -> None:
    form = {"properties": {one: {"type": "string"} for one in fields}}
    answer = dict(zip(fields, ("first-value", "second-value"), strict=True))
    Asked(message=message, form=form).mask(answer)
    assert secrets.mask_own("first-value, second-value") == masked


def test_garbage_between_messages_is_skipped(tmp_path: Path) -> None:
    with opened(plain("garbage"), tmp_path) as server:
        assert server.act("echo", text="x") == "x"


def test_one_that_does_not_end_by_itself_is_ended(tmp_path: Path) -> None:
    with opened(plain("stays"), tmp_path):  # `no_process_is_left` looks
        pass


def test_ten_thousand_tools_are_as_many_as_a_window_takes(tmp_path: Path) -> None:
    with opened(plain("many"), tmp_path) as server:
        assert len(server.window.actions) <= MOST_TOOLS + 10
        assert "9,720 more tools are left out: enabled_tools" in server.content()
        assert server.act("tool7") == "tool7 looked"
        assert not server.troubles


def test_names_and_descriptions_cannot_leave_their_place(tmp_path: Path) -> None:
    with opened(plain("odd"), tmp_path) as server:
        xml = server.xml()
        window = etree.fromstring(xml)
        assert [one.tag for one in window] == ["Description", "Content", "Actions"]
        assert xml.count("<Window") == 1
        assert "\x1b" not in xml
        assert "\x07" not in xml
        ids = [one.get("id") for one in window.iter("action")]
        assert len(ids) == len(set(ids))
        assert {"close_tool", "cancel_tool", "reconnect_tool", "same", "same_tool"} <= {*ids}
        for one in ids:
            shown = for_terminal(
                server.act("describe", action_id=str(one)) if one != "close" else ""
            )
            assert "\x1b" not in shown
        assert max(len(str(one.text or "")) for one in window.iter("action")) <= 110
        assert "Prompts: greet, two words" in server.content()
        evil = next(one for one in ids if one and one.startswith("Window"))
        assert "\x1b" not in previewed(server, str(evil)).target
        assert not server.troubles


def test_a_storm_of_announcements_is_a_few_versions_a_second(tmp_path: Path) -> None:
    with opened(plain("flood"), tmp_path) as server:
        version = server.window.version
        began, used = time.monotonic(), time.process_time()
        time.sleep(0.7)
        # Others get their turn.
        assert time.process_time() - used < 0.9 * (time.monotonic() - began)
        assert server.window.version == version  # nothing has really changed
        assert server.act("echo", text="still there") == "still there"


def test_questions_in_a_loop_end_by_themselves(tmp_path: Path) -> None:
    with opened(plain("asks"), tmp_path) as server:
        attend(server)
        said: list[str] = []
        thread = threading.Thread(target=lambda: said.append(server.result("ask").text))
        thread.start()
        answered = 0
        while thread.is_alive() and answered <= MOST_QUESTIONS + 5:
            if "decline" in server.window.actions and server.result("decline").ok:
                answered += 1
            time.sleep(0.02)
        thread.join(60)
        assert said == ["gave up"]
        assert answered <= MOST_QUESTIONS + 1


def test_a_schema_of_results_that_takes_for_ever_to_check_is_not_checked(tmp_path: Path) -> None:
    with opened(plain("slow-regex"), tmp_path) as server:
        began = time.monotonic()
        assert "aaaa!" in server.act("regex")
        assert time.monotonic() - began < 30


def test_a_schema_of_params_is_never_followed_nor_matched(tmp_path: Path) -> None:
    with opened(plain("schemas"), tmp_path) as server:
        began = time.monotonic()
        for name in ("itself", "circle", "remote", "broken", "none", "large"):
            given = {} if name == "itself" else {"p1" if name == "large" else "a": 1}
            assert server.act(name, **given) == f"{name} looked"
        assert "aaaa!" in server.act("regex", a="a" * 60 + "!")
        assert time.monotonic() - began < 30
        assert len(server.xml()) < 10_000
        assert not server.troubles


def test_another_tool_under_the_same_id_is_not_covered_by_an_approval(tmp_path: Path) -> None:
    with opened(plain("swap"), tmp_path) as server:
        before = previewed(server, "drop_table")
        server.act("grow")
        until(lambda: "new1" in server.window.actions)
        after = previewed(server, "drop_table")
        assert '"drop table"' in before.text
        assert (before.target, after.target) == (
            "plain.drop_table",
            "plain.drop_table (description 2)",
        )


def test_noise_costs_little(tmp_path: Path) -> None:
    with opened(plain("stderr"), tmp_path) as server:
        assert server.act("echo", text="x") == "x"
    with opened(plain("form"), tmp_path) as server:
        attend(server)
        asking = threading.Thread(target=lambda: server.result("ask"))
        asking.start()
        until(lambda: "decline" in server.window.actions)
        assert len(server.xml()) < 10_000
        assert len(str(runtime_of(server.window).core.saved.state)) < 20_000
        server.act("decline")
        asking.join(20)
    with opened(plain("progress"), tmp_path) as server:
        assert not server.result("echo", text="x").ok
        until(lambda: server.window.state.status == "stopped")
        assert "it sent something that does not follow the protocol" in server.content()
    with opened(plain("requests"), tmp_path) as server:  # of what is not supported
        assert server.act("echo", text="x") == "x"


def test_what_a_server_started_ends_with_it(tmp_path: Path) -> None:
    with opened(plain("orphan"), tmp_path) as server:
        pid = server.window._connection._process.pid
        children = psutil.Process(pid).children(recursive=True)
        assert children
    until(lambda: not any(one.is_running() and one.status() != "zombie" for one in children))


class _Bomb(BaseHTTPRequestHandler):
    """Answers with a few kilobytes that would be megabytes."""

    def do_POST(self) -> None:
        body = gzip.compress(b" " * 5_000_000)
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None: ...


def test_nothing_is_decompressed() -> None:
    import httpx2

    from contextui.windows.mcp.transport import http_client

    async def ask(url: str) -> None:
        async with http_client(Server("x", kind="http", url=url), None, lambda _: None) as client:
            await client.post(url)

    with HTTPServer(("127.0.0.1", 0), _Bomb) as server:
        threading.Thread(target=server.handle_request, daemon=True).start()
        with pytest.raises(httpx2.ReadError, match="compressed"):
            asyncio.run(ask(f"http://127.0.0.1:{server.server_port}/mcp"))


class _Events(BaseHTTPRequestHandler):
    """A server of the older kind over HTTP: answers are events of one long response."""

    mode: ClassVar[str] = ""
    answers: ClassVar[queue.Queue[str]] = queue.Queue()
    sent: ClassVar[int] = 0

    def do_GET(self) -> None:
        answers = type(self).answers = queue.Queue()  # an earlier response may still be open
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        if self.mode == "compressed":
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        began = b"event: endpoint\r\ndata: /messages\r\n\r\n"
        try:
            self.wfile.write(gzip.compress(began) if self.mode == "compressed" else began)
            while text := answers.get(timeout=30):
                for part in (f"data: {text}\r\n", "\r\n"):  # an event need not come at once
                    self.wfile.write(part.encode())
        except (OSError, queue.Empty):
            pass

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(202)
        self.end_headers()
        if answer := _answer(asked, self.mode):
            self.answers.put(answer)
        with suppress(OSError):
            for _ in range(100 if self.mode == "endless" and "id" in asked else 0):
                self.wfile.write(b"x" * 1_000_000)
                type(self).sent += 1

    def log_message(self, *_: object) -> None: ...


def _answer(asked: dict[str, Any], mode: str) -> str:
    tool = {"name": "echo", "inputSchema": {"type": "object"}}
    size = 40_000_000 if mode == "huge" else 1
    results: dict[str, Any] = {
        "initialize": {
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "events", "version": "1"},
        },
        "tools/list": {"tools": [tool]},
        "tools/call": {"content": [{"type": "text", "text": "x" * size}]},
    }
    if "id" not in asked:
        return ""
    result = results.get(asked["method"])
    if result is None:
        failed = {"code": -32601, "message": "no"}
        return json.dumps({"jsonrpc": "2.0", "id": asked["id"], "error": failed})
    return json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result})


@pytest.fixture
def events() -> Iterator[Callable[[str], Server]]:
    """Start the server in a mode, and return how it is reached."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Events) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()

        def started(mode: str) -> Server:
            _Events.mode, _Events.answers, _Events.sent = mode, queue.Queue(), 0
            url = f"http://127.0.0.1:{server.server_port}/sse"
            return Server("old", kind="sse", url=url, timeout=10.0)

        yield started
        _Events.answers.put("")
        server.shutdown()


def test_the_older_kind_over_http_works(tmp_path: Path, events: Callable[[str], Server]) -> None:
    with opened(events(""), tmp_path) as server:
        assert server.act("echo") == "x"


def test_the_older_kind_over_http_has_the_same_limits(
    tmp_path: Path, events: Callable[[str], Server]
) -> None:
    with pytest.raises(ActionError, match="compressed"), opened(events("compressed"), tmp_path):
        pass
    with opened(events("huge"), tmp_path) as server:
        assert not server.result("echo").ok
        until(lambda: server.window.state.status == "stopped")
    with suppress(ActionError), opened(events("endless"), tmp_path):
        pass
    assert _Events.sent < 100


@pytest.mark.parametrize("is_secret", [True, False])
def test_a_header_that_travels_unencrypted_is_reported_before_it_does(
    tmp_path: Path,
    events: Callable[[str], Server],
    monkeypatch: pytest.MonkeyPatch,
    is_secret: bool,
) -> None:
    for name in ("http_proxy", "no_proxy", "NO_PROXY", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    local = events("")
    monkeypatch.setenv("HTTP_PROXY", local.url.removesuffix("/sse"))  # it answers for every host
    name = "X-Api-Key" if is_secret else "X-Team"
    headers = ((name, "staple-battery-horse"),)
    there = replace(local, url="http://tools.example/sse", headers=headers)
    with opened(there, tmp_path) as server:
        assert server.act("echo") == "x"
        said = [one for one in server.notices if "tools.example unencrypted" in one]
        assert len(said) == is_secret
        assert "staple-battery-horse" not in str(server.notices)
    monkeypatch.delenv("HTTP_PROXY")
    with opened(replace(local, headers=headers), tmp_path) as server:
        assert not [one for one in server.notices if "unencrypted" in one]


def test_events_in_a_storm_leave_others_their_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    from contextui.windows.mcp import transport

    monkeypatch.setattr(transport, "_BURST", 100)
    monkeypatch.setattr(transport, "_PAUSE", 0.001)

    class Storm(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            self.wfile.write(b": x\n\n" * 300)

        def log_message(self, *_: object) -> None: ...

    async def read(url: str) -> float:
        """Return how many seconds it took: while it pauses, others have their turn."""
        server = Server("x", kind="sse", url=url)
        began = time.monotonic()
        async with (
            transport.http_client(server, None, lambda _: None) as client,
            client.stream("GET", url) as reply,
        ):
            size = sum([len(one) async for one in reply.aiter_bytes()])
        assert size == 5 * 300
        return time.monotonic() - began

    with HTTPServer(("127.0.0.1", 0), Storm) as server:
        threading.Thread(target=server.handle_request, daemon=True).start()
        assert asyncio.run(read(f"http://127.0.0.1:{server.server_port}/")) >= 200 * 0.001
