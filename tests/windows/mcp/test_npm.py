"""Servers that npm has; `make test-mcp` installs and tests them."""

import asyncio
import json
import os
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("mcp")

from contextui.config.servers import Server
from contextui.windowing.runtime import runtime_of
from contextui.windows.mcp.window import server_window
from tests.agent.server import Server as Model
from tests.agent.server import answer, call
from tests.cli.calling import Program
from tests.tui.desktop.samples import enter, region_text
from tests.tui.running import desk_in, running
from tests.tui.running import until as seen
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


def test_filesystem(tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("grey men", "utf-8")
    with opened(of("server-filesystem", str(tmp_path)), tmp_path / "home") as window:
        assert "note.txt" in window.act("list_directory", path=str(tmp_path))
        said = window.act("read_text_file", path=str(tmp_path / "note.txt"))
        assert "grey men" in said
        assert not window.result("read_text_file", path="/etc/passwd").ok


def test_in_the_app_and_after_resume(tmp_path: Path) -> None:
    cls = server_window(of("server-everything"), "everything", tmp_path / "home")

    async def run(words: str, session_id: str | None = None) -> str:
        desk = desk_in(tmp_path, windows=[cls], session_id=session_id)
        if session_id is None:
            desk.session.windows.open("everything")
        async with running(desk, (120, 40)) as pilot:
            frame = await enter(pilot, "everything_1")

            def text() -> str:
                return "\n".join(region_text(pilot, frame))

            if session_id is None:
                await seen(pilot, lambda: "● connected" in text())
            else:
                await seen(pilot, lambda: "Echo: kept" in text())
                assert "connects when used" in text()
            done = await desk.session.windows.act("everything_1", "echo", {"message": words})
            assert done.text == f"Echo: {words}"
            await seen(pilot, lambda: f"Echo: {words}" in text())
            return desk.session.id

    asyncio.run(run("again", asyncio.run(run("kept"))))


def test_without_a_screen(program: Program, server: Model) -> None:
    entry = {"command": "node", "args": [script("server-filesystem"), str(program.folder)]}
    program.write(".mcp.json", json.dumps({"mcpServers": {"disk": entry}}))
    program.write("note.txt", "grey men")
    program("trust", "--yes")
    path = str(program.folder / "note.txt")
    reads = call("action", window_id="disk_1", action_id="read_text_file", params={"path": path})
    server.play(answer(call("create", name="disk")), answer(reads), answer("Done."))
    done = program("-p", "Read it", "--approval", "auto", "--output-format", "json")
    assert done.status == 0, done
    sent = json.loads(server.requests[-1].body)["messages"]
    assert "grey men" in str(sent[1:]), sent[1:]
