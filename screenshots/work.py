"""The project with a failing test, and the conversation that mends it, for the pictures."""

import os
import subprocess
import sys
from pathlib import Path

from contextui.agent.approval import ApprovalGate
from contextui.agent.controller import InteractionController
from contextui.agent.models.scripted import ScriptedModel, Step, call
from contextui.session.session import SessionOptions
from contextui.session.store import SessionStore
from contextui.tui.app_session import AppSession
from contextui.windowing.finding.registry import discover
from contextui.words import Lang

FILES = {
    "cart.py": '''\
"""What is in the cart, and what it costs."""

from decimal import Decimal


def total(prices: list[Decimal], discount: Decimal = Decimal(0)) -> Decimal:
    """The sum of the prices, less the discount from 0 to 1."""
    return sum(prices, Decimal(0)) * discount


def count(prices: list[Decimal]) -> int:
    """How many things are in the cart."""
    return len(prices)
''',
    "test_cart.py": """\
from decimal import Decimal

from cart import count, total


def test_total():
    assert total([Decimal(2), Decimal(3)]) == 5


def test_discount():
    assert total([Decimal(10)], Decimal("0.25")) == Decimal("7.5")


def test_count():
    assert count([Decimal(2)]) == 1
""",
    ".gitignore": ".venv\n__pycache__\n",
}
PROMPTS: dict[Lang, list[str]] = {
    "en": ["The tests fail. Find out why, mend it and commit."],
    "zh": ["测试失败了。找出原因，修好并提交。"],
}


def make_project(home: Path) -> Path:
    """A repository with a test that fails, under this home."""
    folder = home / "src" / "shop"
    folder.mkdir(parents=True)
    for name, text in FILES.items():
        (folder / name).write_text(text)
    programs = folder / ".venv" / "bin"
    programs.mkdir(parents=True)
    pytest = programs / "pytest"
    pytest.write_text(f'#!/bin/sh\nexec {sys.executable} -m pytest -p no:cacheprovider "$@"\n')
    pytest.chmod(0o755)
    os.environ["HOME"], os.environ["SHELL"] = str(home), "/bin/bash"
    (home / ".bashrc").write_text("PS1='$ '\n")
    (home / ".gitconfig").write_text("[user]\n  name = Ann\n  email = ann@example.org\n")
    for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-qm", "Begin"]):
        subprocess.run(["git", *words], cwd=folder, check=True)
    return folder


def make_desk(home: Path, folder: Path, lang: Lang) -> AppSession:
    """A session in that folder with a model that mends it."""
    registry = discover()
    options = SessionOptions(classes=registry.classes(), lang=lang)
    session = SessionStore(home / ".contextui", options).create(folder)
    controller = InteractionController(
        model=ScriptedModel(*_script(), name="claude-sonnet-5-5"),
        context=session.context,
        approval=ApprovalGate("ask"),
    )
    controller.install_prompt()
    return AppSession(session, controller, registry)


def _script() -> list[Step]:
    def do(window: str, action: str, **params: object) -> dict[str, object]:
        given = {"window_id": window, "action_id": action, "params": params}
        return dict(call("action", **given))

    return [
        call("create", name="terminal"),
        do("terminal_1", "run", command=".venv/bin/pytest -q", seconds=60),
        call("create", name="editor", args={"path": "cart.py", "line": 8}),
        do("editor_1", "replace", old="* discount", new="* (1 - discount)"),
        do("editor_1", "save"),
        do("terminal_1", "run", command=".venv/bin/pytest -q", seconds=60),
        call("create", name="git"),
        do("git_1", "commit", message="Take the discount off the price", paths=["cart.py"]),
        "The price was multiplied by the discount instead of what is left of it. All three tests "
        "pass, and the change is committed on `main`.",
    ]
