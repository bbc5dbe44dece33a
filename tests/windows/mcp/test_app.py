"""A server's window in the app: drawn, asked about, resumed; and without a screen."""

import asyncio
import json
import sys
from pathlib import Path

import pytest

pytest.importorskip("mcp")

from contextui.tui.desktop.form import FormScreen
from contextui.windowing.window import Window
from contextui.windows.mcp.widget import ServerBody
from contextui.windows.mcp.window import server_window
from tests.agent.server import Server, answer, call
from tests.cli.calling import Program
from tests.tui.desktop.samples import enter, region_text, seen
from tests.tui.running import app_of, desk_in, running, say, until
from tests.windows.mcp.servers import HERE, plain


def of(tmp_path: Path, mode: str = "") -> type[Window]:
    return server_window(plain(mode), "plain", tmp_path / "home")


async def test_it_shows_the_server_its_result_and_its_tools(tmp_path: Path) -> None:
    desk = desk_in(tmp_path, windows=[of(tmp_path, "odd")])
    desk.session.windows.open("plain")
    async with running(desk, (150, 44)) as pilot:
        frame = await enter(pilot, "plain_1")
        assert isinstance(frame.body, ServerBody), frame._own_problem
        text = await seen(pilot, frame, "● connected", "plain odd", "python plain.py", "asks")
        assert "\x1b" not in text
        done = await desk.session.windows.act("plain_1", "table", {})
        assert done.ok
        text = await seen(pilot, frame, "Last result", "10 of 40   n next page")
        assert "Row ⏎ 0" in text or "Row 0" in text


async def test_a_question_for_a_secret_is_a_warning_and_the_answer_is_masked(
    tmp_path: Path,
) -> None:
    typed = "hunter2-and-more"

    desk = desk_in(tmp_path, "Hi.", windows=[of(tmp_path, "secret")])
    desk.session.windows.open("plain")
    async with running(desk, (150, 44)) as pilot:
        frame = await enter(pilot, "plain_1")
        asking = asyncio.create_task(desk.session.windows.act("plain_1", "ask", {}))
        warning = "the server gets what you type, not contextui"
        await seen(pilot, frame, "The server asks: What is your name?", warning)
        window = desk.session.windows.get("plain_1")
        await until(pilot, lambda: window is not None and "answer" in window.actions)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, FormScreen))
        shown = "\n".join(region_text(pilot, pilot.app.screen.query_one(".box")))
        assert warning in shown
        await pilot.press(*typed, "enter")
        await until(pilot, lambda: not isinstance(pilot.app.screen, FormScreen))
        assert typed not in (await asking).text  # the server repeats it
        await say(pilot, "Hello.")
        sent = str(desk.controller.model.requests[-1].messages)  # type: ignore[attr-defined]
        assert "***" in sent
        assert typed not in sent
        assert typed not in pilot.app.export_screenshot()
    for file in (tmp_path / "home").rglob("*"):
        assert not file.is_file() or typed.encode() not in file.read_bytes()


async def test_a_question_is_answered_a_prompt_becomes_a_draft_and_a_resumed_window_connects(
    tmp_path: Path,
) -> None:
    cls = of(tmp_path)
    desk = desk_in(tmp_path, windows=[cls])
    desk.session.windows.open("plain")
    async with running(desk, (150, 44)) as pilot:
        app = app_of(pilot)
        window = desk.session.windows.get("plain_1")
        assert window is not None
        await until(pilot, lambda: "prompt" in window.actions)
        app.main.run_command("/prompt plain.greet who=Momo")
        await until(pilot, lambda: app.main.prompt.text == "Greet Momo kindly.")
        app.main.run_command("/prompt plain.nonsense")
        app.main.run_command("/prompt plain.greet who=Nana")
        app.main.query_one("#log").focus()  # the person goes on elsewhere, and stays there
        await until(pilot, lambda: "Nana" in app.main.prompt.text)
        await pilot.pause()
        assert app.focused is app.main.query_one("#log")
        frame = await enter(pilot, "plain_1")
        asking = asyncio.create_task(desk.session.windows.act("plain_1", "ask", {}))
        asked = ("The server asks: What is your name?", "● asks: What is your name?")
        await seen(pilot, frame, *asked)
        done = await desk.session.windows.act("plain_1", "answer", {"name": "Momo"}, actor="person")
        assert done.ok
        assert json.loads((await asking).text)["content"] == {"name": "Momo"}
        await until(pilot, lambda: "asks: What" not in "\n".join(region_text(pilot, frame)))
        assert (await desk.session.windows.act("plain_1", "echo", {"text": "kept"})).ok
        await pilot.pause(0.1)
    desk = desk_in(tmp_path, windows=[cls], session_id=desk.session.id)
    async with running(desk, (150, 44)) as pilot:
        frame = await enter(pilot, "plain_1")
        await seen(pilot, frame, "kept", "connects when used", "echo")
        done = await desk.session.windows.act("plain_1", "echo", {"text": "again"})
        assert done.text == "again"
        await seen(pilot, frame, "● connected")


def configured(program: Program, **more: object) -> None:
    entry = {"command": sys.executable, "args": [str(HERE / "plain.py")], **more}
    program.write(".mcp.json", json.dumps({"mcpServers": {"plain": entry}}))


def test_the_command_lists_and_tests_servers(program: Program) -> None:
    told = program("mcp", "list").out  # X38: an installed program has no docs/
    assert told.startswith("No MCP servers are configured in config.toml")
    configured(program)
    done = program("mcp", "list")
    assert "[X] plain: not trusted" in done.out
    assert ".mcp.json is not trusted (new)" in done.err
    assert program("mcp", "test", "plain").status != 0
    trusted = program("trust", "--yes")
    assert f"runs {sys.executable} {HERE / 'plain.py'}" in trusted.out
    assert "[✓] plain: " in program("mcp", "list").out
    tested = program("mcp", "test", "plain")
    assert tested.status == 0, tested
    assert "  echo(text:string?): Say it again" in tested.out
    program("mcp", "test", "nonesuch").fails(2, 'There is no MCP server "nonesuch"')
    configured(program, env={"MORE": "1"})
    assert "not trusted (changed)" in program("mcp", "list").err


def test_a_broken_file_fails_and_the_other_one_is_listed(program: Program) -> None:
    configured(program)
    assert program("trust", "--yes").status == 0
    settings = program.write("../home/config.toml", "[mcp.servers.\n")
    done = program("mcp", "list")
    done.fails(1, "config.toml is not valid TOML")
    assert "plain" in done.out
    settings.write_text('[mcp.servers.mine]\ncommand = "mine"\n', "utf-8")
    program.write(".mcp.json", "{")
    done = program("mcp", "list", "--json")
    done.fails(1, ".mcp.json is not valid JSON: Expecting")
    assert "mine" in done.out


@pytest.mark.parametrize("mode", ["ask", "auto"])
def test_without_a_screen_a_tool_runs_only_if_the_person_allowed_it(
    program: Program, server: Server, mode: str
) -> None:
    configured(program)
    program("trust", "--yes")
    tool = call("action", window_id="plain_1", action_id="look", params={})
    server.play(answer(call("create", name="plain")), answer(tool), answer("Done."))
    done = program("-p", "Look", "--approval", mode, "--output-format", "json", "--verbose")
    assert done.status == 0, done
    sent = server.requests[-1].body.decode()
    if mode == "auto":
        assert "look looked" in sent, done
    else:
        assert "look looked" not in sent
        assert "it would run plain.look" in done.err
