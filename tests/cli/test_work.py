"""A piece of real work: a failing test is found, mended, tested again and committed.

The model is a script behind the real SDK; shell, files, editor and repository are real.
"""

import asyncio
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from contextui.agent.approval import ApprovalGate
from contextui.agent.models.anthropic import AnthropicModel
from contextui.tui.app import ContextUIApp
from contextui.tui.dialogs.approval import ApprovalScreen
from contextui.windows.editor.window import EditorWindow
from contextui.windows.git.window import GitWindow
from contextui.windows.terminal.window import TerminalWindow
from tests.agent.server import Server, answer, call
from tests.tui.running import desk_in, lines, running, until

pytestmark = pytest.mark.long

TESTS = f"{sys.executable} -m pytest -q -p no:cacheprovider"
FILES = {
    "cart.py": "def total(prices):\n    return sum(prices) + 1\n",
    "test_cart.py": "from cart import total\n\n\ndef test_it():\n    assert total([2, 3]) == 5\n",
    ".gitignore": "__pycache__\n",
}


def project(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a test that fails."""
    home = folder / "person"
    home.mkdir()
    (home / ".gitconfig").write_text("[user]\n  name = Ann\n  email = ann@example.org\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("SHELL", "/bin/bash")
    work = folder / "work"
    work.mkdir(exist_ok=True)
    for name, text in FILES.items():
        (work / name).write_text(text)
    for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-qm", "Begin"]):
        subprocess.run(["git", *words], cwd=work, check=True)
    return work


def act(window_id: str, action_id: str, **params: Any) -> dict[str, Any]:
    return call("action", window_id=window_id, action_id=action_id, params=params)


def script() -> list[Any]:
    """What the model does, step by step."""
    return [
        answer(call("create", name="terminal")),
        answer(act("terminal_1", "run", command=TESTS, seconds=60)),
        answer(call("create", name="editor", args={"path": "cart.py", "line": 2})),
        answer(act("editor_1", "replace", old="sum(prices) + 1", new="sum(prices)")),
        answer(act("editor_1", "save")),
        answer(act("terminal_1", "run", command=TESTS, seconds=60)),
        answer(call("create", name="git"), act("git_1", "stage", paths=["cart.py"])),
        answer(act("git_1", "commit", message="Do not charge for the bag")),
        answer("The test passes, and the change is committed."),
    ]


def check(work: Path) -> None:
    """The work is done."""
    assert "+ 1" not in (work / "cart.py").read_text()
    log = subprocess.run(
        ["git", "log", "--format=%an %s", "--stat"],
        cwd=work, check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    assert log.startswith("Ann Do not charge for the bag")
    assert "cart.py | 2 +-" in log


def results(server: Server) -> str:
    """All results that the model read."""
    return str(server.requests[-1].body)


async def test_with_the_person_at_the_screen(
    tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = project(tmp_path, monkeypatch)
    server.play(*script())
    titles = list[str]()

    async def allow(app: ContextUIApp, pilot: Any) -> None:
        """Look at each question, and allow it."""
        while True:
            await asyncio.sleep(0.05)
            screen = app.screen
            # A key that is pressed too early or too late would be text in the prompt.
            if isinstance(screen, ApprovalScreen) and screen.guard.deaf_until < time.monotonic():
                title = next((line for line in lines(pilot) if "◆ model wants" in line), "")
                if title and titles[-1:] != [title]:
                    titles.append(title)
                await pilot.press("y")
                await until(pilot, lambda: app.screen is not screen)  # noqa: B023

    model = AnthropicModel("claude-x", base_url=server.url, api_key="k")
    windows = [TerminalWindow, EditorWindow, GitWindow]
    desk = desk_in(tmp_path, model=model, windows=windows, approval=ApprovalGate("ask"))
    async with running(desk, (200, 60)) as pilot:
        app = pilot.app
        assert isinstance(app, ContextUIApp)
        helper = asyncio.create_task(allow(app, pilot))
        app.main.send("The tests fail. Mend it and commit.")
        talk = app.main.turns
        assert talk is not None
        for _ in range(600):  # each wait is bounded
            if talk.last is not None and not talk.is_running:
                break
            await asyncio.sleep(0.5)
        await until(pilot, lambda: talk.last is not None and not talk.is_running)
        helper.cancel()
        assert talk.last is not None
        assert talk.last.reason == "done", talk.last.explanation
    await model.aclose()
    check(work)
    assert len(titles) >= 3
    assert "◆ model wants to run a command" in titles[0]
    assert any("cart.py" in title for title in titles)
    said = results(server)
    assert "1 failed" in said
    assert "1 passed" in said
