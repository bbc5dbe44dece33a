"""The start screen of a folder with earlier sessions."""

import os
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from contextui.session.fork import fork
from contextui.tui.conversation.prompt import Prompt
from contextui.tui.conversation.recent import ResumeRow
from contextui.tui.conversation.welcome import Try
from contextui.tui.dialogs import guard
from contextui.tui.dialogs.trust import TrustScreen
from contextui.windowing.finding.registry import discover
from contextui.windowing.finding.reload import Reloader
from tests.agent.server import Server
from tests.tui.hostile import PAYLOADS, check
from tests.tui.running import app_of, desk_in, lines, running, shown, until
from tests.tui.test_model_sheet import OLLAMA, connected
from tests.tui.test_sessions import add
from tests.tui.test_switch import Sessions
from tests.windowing.finding.sources import write


async def test_the_last_sessions_are_offered_and_nothing_is_resumed_by_accident(
    tmp_path: Path,
) -> None:
    home, work = tmp_path / "home", tmp_path / "work"
    ids = [add(home, f"Session {n}", work, days=n + 1) for n in range(6)]
    parent = next(home.rglob(f"{ids[1]}.jsonl"))
    copy = parent.with_name(f"{fork(parent, 1, cwd=str(work))}.jsonl")
    os.utime(copy, (parent.stat().st_mtime,) * 2)
    work.mkdir(exist_ok=True)
    (work / "AGENTS.md").write_text("Write tests first.\n")
    sessions = Sessions(tmp_path, ["A new answer."])
    async with sessions.running() as pilot:
        await until(pilot, lambda: shown(pilot, "Session 0"))
        for text in ("Session 2", "3 more: /sessions", "You: Session 0", "1 turn",
                     "just type to start a new session", "AGENTS.md is read"):  # fmt: skip
            assert shown(pilot, text), text
        assert not shown(pilot, "Session 3")
        assert shown(pilot, "fork of turn 1: Session 1")
        assert isinstance(pilot.app.focused, Prompt)
        await pilot.press("enter", "enter")
        await pilot.pause()
        assert sessions.targets == []
        await pilot.press("down")
        await until(pilot, lambda: isinstance(pilot.app.focused, ResumeRow))
        await pilot.press("enter")
        await until(pilot, lambda: sessions.targets)
        assert sessions.targets[0].session_id == ids[0]
        await until(pilot, lambda: shown(pilot, "An answer."))


async def test_hostile_titles_are_inert_and_typing_starts_a_new_session(tmp_path: Path) -> None:
    for payload in PAYLOADS:
        add(tmp_path / "home", payload, tmp_path / "work")
    sessions = Sessions(tmp_path, ["A new answer."])
    async with sessions.running((80, 24)) as pilot:
        await until(pilot, lambda: len(pilot.app.screen.query(ResumeRow)) == len(PAYLOADS))
        await pilot.pause()
        check(pilot)
        pilot.app.export_screenshot()
        await pilot.press(*"hello", "enter")
        await until(pilot, lambda: shown(pilot, "A new answer."))
        assert sessions.targets == []
        assert not pilot.app.screen.query(ResumeRow).first().region


@pytest.mark.parametrize("place", ["http://{at}", "http://192.0.2.1:9"])
async def test_without_a_model_the_screen_says_what_answers_and_finds_a_server(
    tmp_path: Path, place: str
) -> None:
    with Server() as server:
        server.pages = {**OLLAMA}
        add(tmp_path / "home", "Elsewhere", tmp_path / "other")
        desk = connected(tmp_path, {"OLLAMA_HOST": place.format(at=urlsplit(server.url).netloc)})
        desk.session.use_model("offline")
        is_here = "{at}" in place
        async with running(desk) as pilot:
            await until(pilot, lambda: shown(pilot, "No model is connected."))
            found = "use a local server: Ollama found"
            other = "use a local server, or another model"
            await until(pilot, lambda: shown(pilot, found if is_here else other))
            text = " ".join(" ".join(lines(pilot)).split())
            assert "simple requests in" in text
            assert "Elsewhere" not in text  # a folder without sessions has the introduction
            assert pilot.app.screen.query(Try)
            assert not pilot.app.screen.query(ResumeRow)
        assert bool(server.lookups) is is_here  # another machine is not asked


async def test_trust_shows_what_the_folder_brings_and_uses_exactly_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard, "DEAF", 1_000.0)
    home, work = tmp_path / "home", tmp_path / "work"
    file = write(work / ".contextui/windows/hello.py")
    file.write_text(file.read_text() + "\n# [@click=app.quit]x[/] \x1b]0;t\x07\u202e\n")
    (work / ".mcp.json").write_text('{"mcpServers": {"notes": {"command": "notes-server"}}}')

    registry = discover(project=work, home=home)
    desk = desk_in(tmp_path, windows=registry.classes())
    desk.reloader = Reloader(registry, desk.session.windows)
    async with running(desk, reopen=lambda _: desk) as pilot:
        await until(pilot, lambda: shown(pilot, "1 window file, 1 MCP server. /trust shows"))
        app_of(pilot).main.run_command("/trust")
        await until(pilot, lambda: isinstance(pilot.app.screen, TrustScreen))
        await until(pilot, lambda: shown(pilot, ".contextui/windows/hello.py   new"))
        hostile = "# [@click=app.quit]x[/] ⟨U+001B⟩]0;t⟨U+0007⟩⟨U+202E⟩"
        await until(pilot, lambda: shown(pilot, hostile))
        check(pilot)
        await pilot.press("end")
        await until(pilot, lambda: shown(pilot, "notes-server"))
        await pilot.press("y")  # at once: meant for something else
        assert isinstance(pilot.app.screen, TrustScreen)
        file.write_text(file.read_text() + "\nimport sys\n")  # after it was read
        pilot.app.screen._guard.deaf_until = 0.0
        await pilot.press("y")
        await until(pilot, lambda: shown(pilot, "Trusted."))
        await until(pilot, lambda: "notes" in desk.session.windows.classes)
        assert "hello" not in desk.session.windows.classes  # these bytes were not shown
