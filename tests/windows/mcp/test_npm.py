"""Servers that npm has; `make test-mcp` installs and tests them."""

import os
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("mcp")

from contextui.config.servers import Server
from contextui.windowing.runtime import runtime_of
from tests.windows.mcp.servers import PATIENCE, attend, free_port, listens, opened, until

MODULES = Path(__file__).parents[3] / ".npm" / "node_modules" / "@modelcontextprotocol"
pytestmark = [
    pytest.mark.npm,
    pytest.mark.skipif(not MODULES.exists(), reason="`make test-mcp` installs the servers"),
]


def script(name: str) -> str:
    return str(MODULES / name / "dist" / "index.js")


def of(name: str, *args: str) -> Server:
    return Server(name, command="node", args=(script(name), *args), timeout=60.0)


@pytest.fixture(params=["stdio", "streamableHttp", "sse"])
def everything(request: pytest.FixtureRequest) -> Iterator[Server]:
    if request.param == "stdio":
        yield of("server-everything")
        return
    port = free_port()
    argv = ["node", script("server-everything"), request.param]
    environ = {**os.environ, "PORT": str(port)}
    with subprocess.Popen(argv, env=environ, stderr=subprocess.DEVNULL) as process:
        try:
            until(lambda: listens(port))
            is_sse = request.param == "sse"
            url = f"http://127.0.0.1:{port}/{'sse' if is_sse else 'mcp'}"
            yield Server("everything", kind="sse" if is_sse else "http", url=url, timeout=60.0)
        finally:
            process.terminate()
            process.wait(PATIENCE)


def test_everything(everything: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contextui.windows.mcp.window._WAIT", 2.0)
    with opened(everything, tmp_path) as window:
        attend(window)
        assert "Momo" in window.act("echo", message="Momo")
        assert "kept as" in window.act("get-tiny-image")
        assert "temperature" in window.act("get-structured-content", location="Chicago")
        resource = window.window.state.catalogue.resources[0].uri
        assert len(window.act("read", uri=resource)) > 100
        said = window.act("prompt", name="args-prompt", arguments={"city": "Rome"})
        assert "Rome" in said
        # It reports its progress, and can be cancelled.
        window.act("trigger-long-running-operation", duration=60, steps=120)
        until(lambda: any(one.total == 120 for one in runtime_of(window.window).jobs.running()))
        window.act("cancel")
        until(lambda: not runtime_of(window.window).jobs.running())
        # It asks the person.
        asking = threading.Thread(target=lambda: window.result("trigger-elicitation-request"))
        asking.start()
        until(lambda: "decline" in window.window.actions)
        window.act("decline")
        asking.join(PATIENCE)
        assert "connected" in window.act("reconnect")
        assert "again" in window.act("echo", message="again")
