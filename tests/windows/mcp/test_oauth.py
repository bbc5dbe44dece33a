"""A login to a real server with OAuth: registered, logged in, renewed, expired; nothing leaks."""

import json
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

pytest.importorskip("mcp")

from contextui.config.servers import Server
from contextui.testing import WindowTester
from contextui.windowing.runtime import runtime_of
from contextui.windows.mcp.login import TokenFile
from tests.cli.calling import Program
from tests.windows.mcp.servers import HERE, PATIENCE, free_port, listens, opened, until

pytestmark = pytest.mark.long


@contextmanager
def guarded(log: Path, *options: str) -> Iterator[str]:
    """Run a server that needs a login; yield its address."""
    ports = free_port(), free_port()
    log.touch()
    argv = [sys.executable, str(HERE / "guarded.py"), *map(str, ports), str(log), *options]
    with subprocess.Popen(argv, stderr=subprocess.DEVNULL) as process:
        try:
            until(lambda: all(map(listens, ports)))
            yield f"http://127.0.0.1:{ports[0]}/mcp"
        finally:
            process.terminate()
            process.wait(PATIENCE)


def log_in(window: WindowTester[Any]) -> str:
    """Be the person who opens the link; return it."""
    link = until(lambda: window.window.state.link)
    with urllib.request.urlopen(link, timeout=PATIENCE) as page:
        assert "You are logged in." in page.read().decode()
    until(lambda: window.window.state.status == "connected")
    return str(link)


def test_a_login_is_kept_and_renewed(tmp_path: Path) -> None:
    home, log = tmp_path / "home", tmp_path / "log"
    with guarded(log, "4") as url:
        server = Server("guarded", kind="http", url=url, timeout=PATIENCE)
        with opened(server, home) as window:
            assert "waits for the person to log in" in window.content()
            link = log_in(window)
            until(lambda: window.notices[-1:] and window.notices[-1].endswith("connected"))
            assert "code_challenge_method=S256" in link
            assert "redirect_uri=http%3A%2F%2F127.0.0.1%3A" in link
            assert window.act("secret") == "the grey men are near"
            tokens = json.loads(TokenFile(home, url).path.read_text("utf-8"))["tokens"]
            secrets = tokens["access_token"], tokens["refresh_token"]
            shown = window.xml() + str(runtime_of(window.window).core.saved) + str(window.notices)
            until(lambda: _expired(home, url))
            assert window.act("secret") == "the grey men are near"
        steps = log.read_text("utf-8").split()
        assert steps[:4] == ["register", "authorize", "code", "refresh"]
        # Another run renews the token, too, at the server that gave it.
        until(lambda: _expired(home, url))
        with opened(server, home) as window:
            assert window.act("secret") == "the grey men are near"
            shown += window.xml() + str(runtime_of(window.window).core.saved) + str(window.notices)
        after = log.read_text("utf-8").split()
        assert len(after) > len(steps)
        assert {*after[3:]} == {"refresh"}
    path = TokenFile(home, url).path
    assert path.stat().st_mode & 0o777 == 0o600
    shown += " ".join(word for one in psutil.Process().children(recursive=True)
                      for word in one.cmdline())  # fmt: skip
    shown += "".join(
        one.read_text("utf-8", "replace")
        for one in tmp_path.rglob("*")
        if one.is_file() and one != path
    )
    assert not [one for one in secrets if one in shown]


def _expired(home: Path, url: str) -> bool:
    ends = json.loads(TokenFile(home, url).path.read_text("utf-8"))["ends"]
    return bool(time.time() > ends)


def test_a_login_that_cannot_be_renewed_is_one_clear_line(tmp_path: Path, program: Program) -> None:
    home, log = tmp_path / "home", tmp_path / "log"
    with guarded(log, "30", "no-refresh") as url:
        server = Server("guarded", kind="http", url=url, timeout=PATIENCE)
        with opened(server, home) as window:
            log_in(window)
            until(lambda: _expired(home, url))
            said = window.result("secret")
            assert not said.ok
            assert "the login has expired: connect again to log in" in said.text
            until(lambda: window.window.state.status == "stopped")
            assert "stopped: the login has expired" in window.content()
            assert "the person to log in" in window.act("reconnect")
            log_in(window)
            assert window.act("secret") == "the grey men are near"
        # A token of the configuration that is wrong is one line as well.
        entry = {"url": url, "headers": {"Authorization": "Bearer ${GUARDED_TOKEN}"}}
        program.write(".mcp.json", json.dumps({"mcpServers": {"guarded": entry}}))
        program("trust", "--yes")
        program("mcp", "test", "guarded").fails(2, "needs the variable GUARDED_TOKEN")
        program.set(GUARDED_TOKEN="access-nonsense")
        done = program("mcp", "test", "guarded")
        done.fails(2, "it refused the login (HTTP 401): the token is missing, wrong or has expired")
        assert "nonsense" not in done.out + done.err
