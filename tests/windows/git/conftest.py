"""A home without settings, and repositories made with the real git."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from contextui.testing import WindowTester
from contextui.windowing.preview import Preview
from contextui.windows.git import worktree
from contextui.windows.git.window import GitWindow

Tester = WindowTester[GitWindow]
Opened = Callable[..., Tester]


def run(folder: Path, *args: str, check: bool = True, **env: str) -> str:
    """Run git as a person does, with everything that is configured."""
    made = subprocess.run(
        ["git", *args], cwd=folder, env={**os.environ, **env}, check=check, capture_output=True
    )
    return made.stdout.decode(errors="surrogateescape")


def previewed(tester: WindowTester[Any], action: str, **params: Any) -> Preview:
    """Return the preview of an action, which there must be."""
    preview = tester.preview(action, **params)
    assert isinstance(preview, Preview)
    return preview


def use_home(patch: pytest.MonkeyPatch, folder: Path) -> None:
    """Use a new home without settings but the author's name."""
    for name in [one for one in os.environ if one.startswith("GIT_")]:
        patch.delenv(name)
    folder.mkdir()
    (folder / ".gitconfig").write_text(
        "[user]\n\tname = Ada\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n"
    )
    patch.setenv("HOME", str(folder))
    patch.setenv("GIT_CONFIG_GLOBAL", str(folder / ".gitconfig"))
    patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    patch.delenv("XDG_CONFIG_HOME", raising=False)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    use_home(monkeypatch, tmp_path / "home")
    monkeypatch.setattr(worktree, "REST", 0)  # a tick reads, however long the last one took
    return tmp_path / "home"


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository that `folder` is a copy of: git makes it once."""
    place = tmp_path_factory.mktemp("template")
    made = place / "work"
    (made / "sub").mkdir(parents=True)
    (made / "a.txt").write_text("one\ntwo\nthree\n")
    (made / "b.txt").write_text("b\n")
    (made / "sub/c.txt").write_text("c\n")
    with pytest.MonkeyPatch.context() as patch:
        use_home(patch, place / "home")
        run(made, "init", "--quiet", "--template=")
        run(made, "add", "--all")
        run(made, "commit", "--quiet", "-m", "Begin")
    return made


@pytest.fixture
def folder(tmp_path: Path, template: Path) -> Path:
    """A repository with one commit of ``a.txt``, ``b.txt`` and ``sub/c.txt``."""
    made = tmp_path / "work"
    shutil.copytree(template, made, symlinks=True)
    # The copies have other inodes and times: let the index have them, as after a commit.
    run(made, "update-index", "-q", "--refresh")
    return made


@pytest.fixture
def opened() -> Iterator[Opened]:
    """Open the window on a folder; it must report no trouble."""
    testers: list[Tester] = []

    def open_on(folder: Path, **given: object) -> Tester:
        testers.append(WindowTester(GitWindow, folder=folder, **given))  # type: ignore[arg-type]
        return testers[-1]

    yield open_on
    for one in testers:
        one.close()
        assert one.troubles == []
