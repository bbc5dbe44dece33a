"""A home without settings, and repositories made with the real git."""

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from contextui.testing import WindowTester
from contextui.windows.git import worktree
from contextui.windows.git.window import GitWindow

Tester = WindowTester[GitWindow]
Git = Callable[..., str]


def run(folder: Path, *args: str, check: bool = True, **env: str) -> str:
    """Run git as a person does, with everything that is configured."""
    made = subprocess.run(
        ["git", *args], cwd=folder, env={**os.environ, **env}, check=check, capture_output=True
    )
    return made.stdout.decode(errors="surrogateescape")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [one for one in os.environ if one.startswith("GIT_")]:
        monkeypatch.delenv(name)
    made = tmp_path / "home"
    made.mkdir()
    (made / ".gitconfig").write_text(
        "[user]\n\tname = Ada\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n"
    )
    monkeypatch.setenv("HOME", str(made))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(made / ".gitconfig"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setattr(worktree, "REST", 0)  # a tick reads, however long the last one took
    return made


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A repository with one commit of ``a.txt``, ``b.txt`` and ``sub/c.txt``."""
    made = tmp_path / "work"
    (made / "sub").mkdir(parents=True)
    (made / "a.txt").write_text("one\ntwo\nthree\n")
    (made / "b.txt").write_text("b\n")
    (made / "sub/c.txt").write_text("c\n")
    run(made, "init", "--quiet")
    run(made, "add", "--all")
    run(made, "commit", "--quiet", "-m", "Begin")
    return made


@pytest.fixture
def opened() -> Iterator[Callable[..., Tester]]:
    """Open the window on a folder; it must report no trouble."""
    testers: list[Tester] = []

    def open_on(folder: Path, **given: object) -> Tester:
        testers.append(WindowTester(GitWindow, folder=folder, **given))  # type: ignore[arg-type]
        return testers[-1]

    yield open_on
    for one in testers:
        one.close()
        assert one.troubles == []
