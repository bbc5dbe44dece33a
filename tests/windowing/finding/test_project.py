"""The windows of a project: nothing of them runs before it is trusted, as it is."""

import os
import sys
from pathlib import Path

import pytest

from contextui.windowing.finding.registry import discover
from contextui.windowing.finding.trust import TrustStore
from contextui.words import Words
from tests.windowing.finding.sources import found, lines, only_reason, write

MARK = "\nopen('ran', 'a').close()\n"


@pytest.fixture
def project(there: Path) -> Path:
    """A project whose window would leave a trace if it ran."""
    write(there / "project" / ".contextui" / "windows" / "deploy.py", "Deploy", more=MARK)
    return there / "project"


def ran(there: Path) -> bool:
    return (there / "ran").exists()


def test_a_projects_code_does_not_run_before_it_is_trusted(there: Path, project: Path) -> None:
    registry = found(home=there / "home", project=project)
    path = project / ".contextui" / "windows" / "deploy.py"
    (entry,) = registry.load_all()
    assert entry.status == "untrusted"
    assert str(entry.reason) == f"{path} is not trusted (new): read it, then run contextui trust"
    assert registry.classes() == []
    assert not ran(there)
    assert registry.review is not None
    TrustStore(there / "home").trust(registry.review.folder, registry.review)
    assert lines(found(home=there / "home", project=project)) == ["[✓] deploy: Says hello."]
    assert ran(there)


def test_without_a_home_nothing_of_a_project_runs(there: Path, project: Path) -> None:
    assert found(project=project).entries == []
    assert not ran(there)


def test_only_hashed_bytes_run(there: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, store = project / ".contextui" / "windows", TrustStore(there / "home")
    store.trust(folder)
    honest = TrustStore.review

    def then_exchanged(self: TrustStore, reviewed: Path) -> object:
        review = honest(self, reviewed)
        write(folder / "deploy.py", "Deploy", words="Evil.")
        return review

    monkeypatch.setattr(TrustStore, "review", then_exchanged)
    assert lines(found(home=there / "home", project=project)) == ["[✓] deploy: Says hello."]


def test_a_cache_in_the_projects_folder_is_not_run(there: Path, project: Path) -> None:
    import py_compile

    folder = project / ".contextui" / "windows"
    evil = write(there / "evil.py", "Deploy", words="Evil.")
    os.utime(evil, (0, 0))
    os.utime(folder / "deploy.py", (0, 0))
    TrustStore(there / "home").trust(folder)
    (folder / "__pycache__").mkdir()
    name = f"deploy.{sys.implementation.cache_tag}.pyc"
    py_compile.compile(
        str(evil),
        cfile=str(folder / "__pycache__" / name),
        invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
    )
    assert lines(found(home=there / "home", project=project)) == ["[✓] deploy: Says hello."]


def test_what_a_project_links_to_outside_does_not_run(there: Path, project: Path) -> None:
    folder = project / ".contextui" / "windows"
    write(there / "outside.py", "Outside", more=MARK)
    (folder / "deploy.py").unlink()
    (folder / "out.py").symlink_to(there / "outside.py")
    TrustStore(there / "home").trust(folder)
    assert only_reason(found(home=there / "home", project=project)).endswith(
        "out.py: it is a link that leads out of the folder: put the file itself there"
    )
    assert not ran(there)


def test_a_projects_folder_that_is_a_link_out_is_refused(there: Path, project: Path) -> None:
    folder = project / ".contextui" / "windows"
    folder.rename(there / "away")
    folder.symlink_to(there / "away")
    TrustStore(there / "home").trust(folder)
    assert only_reason(found(home=there / "home", project=project)).endswith(
        "is a link that leads out of the project"
    )
    assert not ran(there)


def test_in_the_home_folder_the_users_windows_need_no_trust(there: Path) -> None:
    write(there / ".contextui" / "windows" / "hello.py")
    registry = found(home=there / ".contextui", project=there)
    assert lines(registry) == ["[✓] hello: Says hello."]
    assert registry.review is None


def test_a_trusted_project_cannot_replace_a_window(there: Path, project: Path) -> None:
    folder = project / ".contextui" / "windows"
    write(folder / "deploy.py", "Todo")
    TrustStore(there / "home").trust(folder)
    registry = discover(home=there / "home", project=project)
    (todo,) = [cls for cls in registry.classes() if cls.name == "todo"]
    assert todo.__module__ == "contextui.windows.todo.window"
    assert "duplicate" in [entry.status for entry in registry.entries]


def test_problems_are_translated(there: Path, project: Path) -> None:
    store = TrustStore(there / "home")
    store.path.parent.mkdir()
    store.path.write_text("{", "utf-8")
    (there / "bad.py").write_text("class A(\n", "utf-8")
    registry = found(home=there / "home", project=project, files=["bad.py"], folders=["none"])
    words = Words("zh")
    assert [words(one) for one in registry.notices] == [
        f"{store.path} 无法使用，因此不信任任何文件夹：它已损坏。"
    ]
    bad, none, *_, last = (words(entry.reason) for entry in registry.entries)
    assert bad.startswith("bad.py 第 1 行有语法错误：")
    assert none == "none：没有这个文件夹"
    assert last.endswith("不受信任（新增）：请先阅读，再运行 contextui trust")
    (file, *_) = store.review(project / ".contextui" / "windows").files
    assert file.text("zh").startswith(f"新增 {file.name} sha256 ")
