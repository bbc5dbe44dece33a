"""The git window: levels, actions, approval, secrets, and repositories of every shape."""

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from contextui import Lod
from contextui.agent.approval import ApprovalGate, Decision, Question
from contextui.config.schema import Approval
from contextui.testing import run_in_thread
from contextui.windowing.action import ActionResult
from contextui.windowing.preview import PreviewError
from contextui.windowing.runtime import runtime_of
from contextui.windows.git import worktree
from contextui.windows.git.window import GitWindow
from tests.windows.git.conftest import Opened, Tester, previewed, run


def change(folder: Path) -> None:
    """One staged file, one changed, one untracked."""
    (folder / "a.txt").write_text("one\n2\nthree\nfour\n")
    (folder / "b.txt").write_text("B\n")
    (folder / "new file").write_text("new\n")
    run(folder, "add", "b.txt")


class Model:
    """Acts on the window as a model does, with a person who answers."""

    def __init__(self, tester: Tester, choice: str = "once", mode: Approval = "ask") -> None:
        self.tester, self.questions = tester, list[Question]()
        self.choice = choice
        self.gate = ApprovalGate(mode, self._answer)

    async def _answer(self, question: Question) -> Decision:
        self.questions.append(question)
        return Decision(self.choice)  # type: ignore[arg-type]

    def act(self, action: str, **params: Any) -> ActionResult:
        windows, window_id = self.tester.windows, self.tester.window.id
        return run_in_thread(
            windows.act(window_id, action, params, actor="model", allow=self.gate.allow)
        )


# --- levels and actions -----------------------------------------------------------------------


def test_the_three_levels(folder: Path, opened: Opened) -> None:
    change(folder)
    tester = opened(folder)
    gist = "main, 1 staged, 1 changed, 1 untracked"
    listed = "staged:\nM b.txt +1 -1\nchanged:\nM a.txt +2 -1\nuntracked:\nnew file"
    assert tester.content(Lod.GIST) == gist
    assert tester.content(Lod.SUMMARY) == f"{gist}\n{listed}"
    assert tester.content(Lod.FULL) == f"{gist}\n{listed}"
    assert tester.act("show", path="a.txt") == "Shown: a.txt: +2 -1."
    diff = (
        "diff of a.txt:\n--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,4 @@\n one\n-two\n+2\n three\n+four"
    )
    assert tester.content() == f"{gist}\n{listed}\n{diff}"
    assert tester.act("log", count=3) == "1 commit."
    assert tester.content().splitlines()[-1].endswith(" Ada: Begin")
    assert tester.act("refresh") == f"{gist}."
    assert tester.content() == f"{gist}\n{listed}"


def test_the_way_from_a_change_to_a_commit(folder: Path, opened: Opened) -> None:
    change(folder)
    tester = opened(folder)
    assert tester.act("stage", paths=["a.txt", "new file"]) == "Staged a.txt, new file."
    assert tester.act("unstage", paths="b.txt") == "Unstaged b.txt."
    preview = previewed(tester, "commit", message="  Say more \n\nWhy not\n")
    assert preview.target == ".git (a commit on main)"
    assert "+four" in preview.diff
    assert "+new" in preview.diff
    assert (preview.added, preview.removed) == (3, 1)
    assert preview.text == (
        "Author: Ada <ada@example.org>\n\nSay more\n\nWhy not\n\nM a.txt +2 -1\nA new file +1"
    )
    result = tester.act("commit", message="  Say more \n\nWhy not\n")
    assert result.startswith("Committed ")
    assert result.endswith(" with 2 files: Say more")
    assert run(folder, "log", "-1", "--format=%an %ae%n%B") == (
        "Ada ada@example.org\nSay more\n\nWhy not\n\n"
    )
    assert run(folder, "status", "--porcelain") == " M b.txt\n"
    assert run(folder, "reflog", "-1", "--format=%gs") == "commit: Say more\n"
    assert "nothing to commit" in str(tester.refused("commit", message="again"))  # X11
    with pytest.raises(PreviewError, match="nothing to commit"):
        previewed(tester, "commit", message="again")
    tester.act("discard", path="b.txt")
    assert tester.content(Lod.GIST) == "main, nothing to commit"
    for message in ("", " \n", "a\0b", "\x1b[2J", "x" * 10_001):
        tester.refused("commit", message=message)


def test_a_change_of_the_folder_is_noticed(folder: Path, opened: Opened) -> None:
    tester = opened(folder)
    version = tester.window.version
    tester.tick()
    assert tester.window.version == version
    (folder / "a.txt").write_text("one\n")
    tester.tick()
    assert "1 changed" in tester.content()
    assert tester.window.version != version
    with tester.restored() as twin:
        assert twin.content() == tester.content()


# --- approval and secrets ---------------------------------------------------------------------


def test_all_that_writes_asks_every_time(folder: Path, opened: Opened) -> None:
    change(folder)
    tester = opened(folder)
    model = Model(tester, "always")
    for path in ("a.txt", "new file"):
        assert model.act("stage", paths=path).ok
    assert model.act("unstage", paths="new file").ok
    assert model.act("commit", message="One").ok
    (folder / "a.txt").write_text("mine\n")
    run(folder, "add", "a.txt")
    assert model.act("commit", message="Two").ok
    for text in ("a\n", "b\n"):
        (folder / "a.txt").write_text(text)
        assert model.act("discard", path="a.txt").ok
    (folder / "c").write_text("x\n")
    assert model.act("discard", path="c").ok
    assert [one.action_id for one in model.questions] == (
        ["stage"] * 2 + ["unstage"] + ["commit"] * 2 + ["discard"] * 3
    )
    assert [one.grant for one in model.questions] == [None] * 8
    verbs = ["write"] * 3 + ["commit"] * 2 + ["write"] * 2 + ["delete"]
    assert [one.verb for one in model.questions] == verbs
    assert not (folder / "c").exists()


WRITES: dict[str, dict[str, Any]] = {
    "stage": {"paths": "a.txt"},
    "unstage": {"paths": "b.txt"},
    "commit": {"message": "x", "paths": "."},
    "discard": {"path": "a.txt"},
}


@pytest.mark.parametrize("mode", ["ask", "read-only"])
def test_a_refused_action_changes_nothing(folder: Path, opened: Opened, mode: Approval) -> None:
    change(folder)
    model = Model(opened(folder), "no", mode)
    index = (folder / ".git/index").read_bytes()
    for action, params in WRITES.items():
        result = model.act(action, **params)
        assert not result.ok
        assert ("read-only" in result.text) == (mode == "read-only")
    assert [one.action_id for one in model.questions] == (list(WRITES) if mode == "ask" else [])
    assert (folder / ".git/index").read_bytes() == index
    assert run(folder, "log", "--format=%s") == "Begin\n"
    assert "four" in (folder / "a.txt").read_text()


def test_nobody_to_ask_stages_nothing(folder: Path, opened: Opened) -> None:
    change(folder)
    model = Model(opened(folder))
    model.gate.ask = None
    for action in ("stage", "unstage"):
        assert "it would write .git/index (+" in model.act(action, **WRITES[action]).text
    assert run(folder, "diff", "--cached", "--name-only") == "b.txt\n"


def test_staging_shows_all_that_would_be_staged(folder: Path, opened: Opened) -> None:
    change(folder)
    (folder / "empty").touch()
    (folder / "image").write_bytes(b"\0\1")
    (folder / "link").symlink_to("/etc/passwd")
    (folder / ".env").write_text("KEY=secret\n")
    (folder / "[x]\x1b").write_text("evil\n")
    tester = opened(folder)
    preview = previewed(tester, "stage")
    assert preview.target == ".git/index"
    assert (preview.added, preview.removed) == (4, 1)
    for part in ("-two", "+2", "+four", "+++ b/new file", "+new", '+++ b/"[x]\\033"', "+evil"):
        assert f"\n{part}\n" in f"{preview.diff}\n"
    assert preview.text.splitlines() == [
        'Stages "[x]\\033", a.txt, empty, image, link, new file.',
        "empty: an empty file",
        "image: binary, 2 bytes",
        "link: a link to /etc/passwd",
        "Left out, since they may hold secrets: .env. Name them to stage them.",
    ]
    assert "KEY" not in preview.diff
    assert "+KEY=secret" in previewed(tester, "stage", paths=".env").diff  # only the person sees it
    assert ".env" not in runtime_of(tester.window).secrets.withheld()
    assert "Left out, since they may hold secrets: .env." in tester.act("stage")
    assert ".env" not in run(folder, "diff", "--cached", "--name-only")
    assert "nothing to stage" in tester.refused("stage")
    with pytest.raises(PreviewError, match="nothing to stage"):
        tester.preview("stage")
    tester.act("stage", paths=".env")
    assert ".env" in run(folder, "diff", "--cached", "--name-only")


def test_unstaging_shows_what_would_leave_the_index(folder: Path, opened: Opened) -> None:
    change(folder)
    (folder / "b.txt").write_text("later\n")
    preview = previewed(opened(folder), "unstage")
    assert preview.target == ".git/index"
    assert "\n-B\n+b" in preview.diff
    assert preview.text.startswith("Unstages b.txt. The file itself stays as it is. The versions")


def test_a_file_that_changes_after_the_question_is_not_staged(folder: Path, opened: Opened) -> None:
    change(folder)
    model = Model(opened(folder))

    async def sneak(question: Question) -> Decision:
        model.questions.append(question)
        (folder / "a.txt").write_text("evil\n")
        return Decision("once" if len(model.questions) == 1 else "no")

    model.gate.ask = sneak
    assert not model.act("stage", paths="a.txt").ok
    assert [one.changed for one in model.questions] == [False, True]
    assert run(folder, "diff", "--cached", "--name-only") == "b.txt\n"


def test_one_question_stages_and_commits_what_it_shows(
    folder: Path, home: Path, opened: Opened
) -> None:
    """X22: what changes after the question is asked about; what is refused stages nothing."""
    folder = folder.rename(folder.with_name('a:"b\\n'))  # git takes a list of such paths
    change(folder)
    (folder / ".env").write_text("TOKEN=1\n")
    (folder / "sub" / "new").write_bytes(b"\0\1")
    tester = opened(folder)
    model, files = Model(tester), sorted((folder / ".git").rglob("*"))
    index = (folder / ".git/index").read_bytes()

    async def sneak(question: Question) -> Decision:
        model.questions.append(question)
        if len(model.questions) == 1:
            assert sorted((folder / ".git").rglob("*")) == files  # nothing is written to ask
            assert (folder / ".git/index").read_bytes() == index
            (folder / "a.txt").write_text("sneaked in\n")
        elif len(model.questions) == 2:
            run(folder, "add", "new file")
        return Decision("once")

    model.gate.ask = sneak
    result = model.act("commit", message="Both", paths=["a.txt", "sub"])
    assert "Committed" in result.text
    assert [one.changed for one in model.questions] == [False, True, True]
    first, _, second = (one.preview for one in model.questions)
    assert first is not None
    assert second is not None
    assert "+four" in first.diff
    assert "+sneaked in" in second.diff
    assert "Binary files" in second.diff
    assert "+B" in second.diff  # it was staged before
    assert "+new" in second.diff  # and this since the second question
    assert "Stages a.txt, " in second.text
    assert run(folder, "diff", "HEAD~", "HEAD", "--abbrev=16") == second.diff
    assert run(folder, "status", "--porcelain") == "?? .env\n"
    (folder / "last").touch()
    made = tester.act("commit", message="All", paths=".")
    assert "Left out, since they may hold secrets: .env" in made
    assert run(folder, "status", "--porcelain") == "?? .env\n"
    (folder / "b.txt").write_text("mine\n")
    (home / ".gitconfig").write_text("")
    assert "who you are" in tester.refused("commit", message="x", paths="b.txt")
    assert run(folder, "diff", "--cached", "--name-only") == ""


def test_a_secret_file_goes_through_the_gate(folder: Path, opened: Opened) -> None:
    (folder / ".env").write_text("KEY=old-secret\n")
    run(folder, "add", ".env")
    run(folder, "commit", "-qm", "Oops")
    (folder / ".env").write_text("KEY=new-secret\n")
    (folder / "id_rsa").write_text("private-secret\n")
    tester = opened(folder)
    model = Model(tester, "no")
    for path in (".env", "id_rsa"):
        assert not model.act("show", path=path).ok
        assert "secret" not in tester.xml().replace("may hold secrets", "")
    assert [(one.verb, one.target) for one in model.questions] == [
        ("read", ".env"),
        ("read", "id_rsa"),
    ]
    model.choice = "once"
    assert model.act("show", path=".env").ok
    assert "new-secret" in tester.xml()


def test_a_secret_file_that_the_person_looks_at_is_withheld(folder: Path, opened: Opened) -> None:
    (folder / ".env").write_text("KEY=top-secret\n")
    tester = opened(folder)
    tester.act("show", path=".env")
    assert runtime_of(tester.window).secrets.withheld() == (".env",)
    run(folder, "add", ".env")
    tester.tick()
    assert runtime_of(tester.window).secrets.withheld() == (".env",)
    assert not Model(tester, "no").act("log", count=1).ok


def test_a_renamed_or_deleted_secret_is_still_one(folder: Path, opened: Opened) -> None:
    text = "".join(f"KEY{number}=secret{number}\n" for number in range(9))
    (folder / "keys").mkdir()
    (folder / "keys/.env").write_text(text)
    (folder / ".env").write_text(text.replace("KEY", "OTHER"))
    run(folder, "add", "--all")
    run(folder, "commit", "-qm", "Oops")
    run(folder, "mv", ".env", "plain.txt")
    with (folder / "plain.txt").open("a") as file:
        file.write("more\n")
    run(folder, "add", "plain.txt")
    shutil.rmtree(folder / "keys")
    tester = opened(folder)
    model = Model(tester, "no")
    for path in ("plain.txt", "keys/.env"):
        result = model.act("show", path=path)
        assert not result.ok
        assert "secret1" not in result.text + tester.xml()


def test_the_staged_version_that_is_replaced_can_be_found_again(
    folder: Path, opened: Opened
) -> None:
    (folder / "a.txt").write_text("chosen with care\n")
    run(folder, "add", "a.txt")
    (folder / "a.txt").write_text("later\n")
    result = opened(folder).act("unstage", paths="a.txt")
    blob = result.rpartition("a.txt ")[2].rstrip(".")
    assert run(folder, "cat-file", "blob", blob) == "chosen with care\n"


def test_a_file_with_a_filter_is_left_to_the_terminal(
    folder: Path, home: Path, opened: Opened
) -> None:
    with (home / ".gitconfig").open("a") as file:
        file.write('[filter "lfs"]\n\tclean = cat\n\tsmudge = cat\n')
    (folder / ".gitattributes").write_text("*.bin filter=lfs\n")
    (folder / "x.bin").write_text("x\n")
    tester = opened(folder)
    assert "filter lfs" in tester.refused("stage", paths="x.bin")
    tester.act("stage", paths=".gitattributes")


# --- names and kinds --------------------------------------------------------------------------

NAMES = [
    "with space", "-n", "--all", "a\nb", "tab\tx", '"quoted"', "back\\slash", "*", ":(top)x", "é",
    "中文.txt", "\u202egpj.exe", "a -> b", os.fsdecode(b"\xff\xfe.txt"), "dir/inner file", " lead",
]  # fmt: skip


def test_any_name_can_be_shown_staged_unstaged_committed_and_discarded(
    folder: Path, opened: Opened
) -> None:
    for name in NAMES:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("x\n")
    tester = opened(folder)
    status = tester.window.state.now.status
    assert sorted(one.path for one in status.untracked()) == sorted(NAMES)
    names = [one.name for one in status.untracked()]
    for one in names:
        assert "\n" not in one
        tester.act("show", path=one)
        assert tester.window.state.chosen == one
    tester.act("stage", paths=names)
    assert len(tester.window.state.now.status.staged()) == len(NAMES)
    tester.act("unstage", paths=names[:3])
    assert len(tester.window.state.now.status.staged()) == len(NAMES) - 3
    previewed(tester, "commit", message="Names")
    tester.act("commit", message="Names")
    for one in names[:3]:
        previewed(tester, "discard", path=one)
        tester.act("discard", path=one)
    assert tester.content(Lod.GIST) == "main, nothing to commit"
    tester.xml().encode()


def test_one_path_is_not_a_pattern(folder: Path, opened: Opened) -> None:
    for name in ("*", "x", "y"):
        (folder / name).write_text("x\n")
    tester = opened(folder)
    tester.act("stage", paths="*")
    assert run(folder, "diff", "--cached", "--name-only") == "*\n"
    tester.act("discard", path="x")
    assert sorted(one.name for one in folder.iterdir()) == [
        "*",
        ".git",
        "a.txt",
        "b.txt",
        "sub",
        "y",
    ]


def test_renames_deletes_modes_binaries_and_links(folder: Path, opened: Opened) -> None:
    run(folder, "mv", "a.txt", "renamed.txt")
    (folder / "b.txt").chmod(0o755)
    (folder / "sub/c.txt").unlink()
    (folder / "image").write_bytes(b"\0\1\2")
    (folder / "link").symlink_to("/etc/passwd")
    tester = opened(folder)
    lines = tester.content().splitlines()
    assert lines[1:] == [
        "staged:", "R a.txt -> renamed.txt", "changed:", "M b.txt", "D sub/c.txt -1", "untracked:",
        "image", "link",
    ]  # fmt: skip
    for path, text in (
        ("renamed.txt", "rename from a.txt"),
        ("b.txt", "new mode 100755"),
        ("sub/c.txt", "-c"),
        ("image", "binary, 3 bytes"),
        ("link", "a link to /etc/passwd"),
    ):
        tester.act("show", path=path)
        assert text in tester.content()
        assert "root:" not in tester.content()
    assert "link to /etc/passwd" in previewed(tester, "discard", path="link").text
    tester.act("discard", path="sub/c.txt")
    assert (folder / "sub/c.txt").read_text() == "c\n"
    tester.act("stage")
    assert "Binary files" in previewed(tester, "commit", message="x").diff
    tester.act("unstage", paths="renamed.txt")
    assert "D a.txt" in tester.content()
    tester.act("stage")
    tester.act("commit", message="x")
    assert tester.content(Lod.GIST) == "main, nothing to commit"


def test_a_submodule_is_shown_and_not_entered(folder: Path, opened: Opened) -> None:
    inner = folder / "inner"
    shutil.copytree(folder / ".git", inner / ".git")
    run(folder, "add", "inner")
    run(folder, "commit", "-qm", "Add inner")
    run(inner, "commit", "--quiet", "--allow-empty", "-m", "More")
    tester = opened(folder)
    assert "M inner" in tester.content()
    tester.act("show", path="inner")
    assert "+Subproject commit" in tester.content()
    assert "another repository" in tester.refused("discard", path="inner")
    tester.act("stage", paths="inner")
    assert "+Subproject commit" in previewed(tester, "commit", message="x").diff


# --- repositories of every shape --------------------------------------------------------------


def test_a_conflict_is_shown_and_prevents_a_commit(folder: Path, opened: Opened) -> None:
    run(folder, "checkout", "-qb", "side")
    (folder / "a.txt").write_text("side\n")
    run(folder, "commit", "-qam", "Side")
    run(folder, "checkout", "-q", "main")
    (folder / "a.txt").write_text("main\n")
    run(folder, "commit", "-qam", "Main")
    run(folder, "merge", "side", check=False)
    tester = opened(folder)
    assert tester.content() == "main, merge in progress, 1 in conflict\nin conflict:\nU a.txt"
    tester.act("show", path="a.txt")
    assert "<<<<<<<" in tester.content()
    assert "conflict markers" in tester.refused("stage", paths="a.txt")
    assert "in conflict" in tester.refused("discard", path="a.txt")
    (folder / "b.txt").write_text("B\n")
    tester.act("stage", paths="b.txt")
    assert "There are conflicts: a.txt." in tester.refused("commit", message="x")
    with pytest.raises(PreviewError, match="There are conflicts"):
        tester.preview("commit", message="x")
    (folder / "a.txt").write_text("both\n")
    tester.act("stage", paths="a.txt")
    assert "merge is in progress" in tester.refused("commit", message="x")


def test_a_detached_head(folder: Path, opened: Opened) -> None:
    run(folder, "checkout", "--quiet", "--detach")
    change(folder)
    tester = opened(folder)
    head = run(folder, "rev-parse", "HEAD")[:7]
    assert tester.content(Lod.GIST).startswith(f"HEAD {head}, detached, 1 staged")
    tester.act("commit", message="Alone")
    assert run(folder, "log", "-1", "--format=%s %D").startswith("Alone HEAD")


def test_no_commits_yet_and_no_repository(tmp_path: Path, opened: Opened) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    tester = opened(folder)
    assert tester.content() == "Not a git repository. init creates one."
    for action, params in (("stage", {}), ("commit", {"message": "x"}), ("show", {"path": "x"})):
        assert "Not a git repository" in tester.refused(action, **params)
    assert previewed(tester, "init").target == ".git"
    assert tester.act("init") == "Created a git repository."
    assert not list((folder / ".git").glob("hooks/*"))
    tester.refused("init")
    assert tester.content() == "main, no commits yet, nothing to commit"
    (folder / "a").write_text("a\n")
    tester.act("stage")
    tester.act("unstage", paths="a")
    tester.act("stage")
    tester.act("commit", message="First")
    assert run(folder, "reflog", "--format=%gs") == "commit (initial): First\n"


def test_ahead_and_behind(folder: Path, tmp_path: Path, opened: Opened) -> None:
    run(folder, "clone", "--quiet", str(folder), str(tmp_path / "clone"))
    clone = tmp_path / "clone"
    run(clone, "commit", "--quiet", "--allow-empty", "-m", "Mine")
    run(folder, "commit", "--quiet", "--allow-empty", "-m", "Theirs")
    run(clone, "fetch", "--quiet")
    assert opened(clone).content() == "main, nothing to commit, ahead 1, behind 1"


def test_only_the_sessions_folder_is_shown_and_staged(folder: Path, opened: Opened) -> None:
    change(folder)
    (folder / "sub/c.txt").write_text("C\n")
    tester = opened(folder / "sub")
    assert tester.content() == (
        "main, 1 changed, only sub/ of the repository\nchanged:\nM c.txt +1 -1"
    )
    tester.act("show", path="c.txt")
    assert "+C" in tester.content()
    tester.act("stage")
    assert run(folder, "diff", "--cached", "--name-only") == "b.txt\nsub/c.txt\n"
    assert "outside of this folder" in tester.refused("commit", message="x")
    run(folder, "reset", "--quiet", "b.txt")
    assert "b/sub/c.txt" in previewed(tester, "commit", message="x").diff
    tester.act("commit", message="x")
    assert run(folder, "show", "--format=", "--name-only") == "sub/c.txt\n"
    assert "no such change" in tester.refused("show", path="../a.txt")
    (folder / "sub/c.txt").write_text("again\n")
    tester.act("discard", path="c.txt")
    assert (folder / "sub/c.txt").read_text() == "C\n"


def test_a_file_moved_into_the_sessions_folder_is_staged_outside_too(
    folder: Path, opened: Opened
) -> None:
    run(folder, "mv", "a.txt", "sub/a.txt")
    tester = opened(folder / "sub")
    assert "A a.txt +3" in tester.content()
    assert "outside of this folder" in tester.refused("commit", message="x")
    tester.act("unstage", paths="a.txt")
    assert run(folder, "diff", "--cached", "--name-status") == "D\ta.txt\n"


def test_a_huge_diff_and_a_thousand_files_are_bounded_and_paged(
    folder: Path, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "a.txt").write_text("".join(f"line {number}\n" for number in range(6_000)))
    for number in range(1_000):
        (folder / f"a-file-with-a-long-name-{number:05}").touch()
    tester = opened(folder)
    assert tester.content(Lod.GIST) == "main, 1 changed, 1000 untracked"
    assert len(tester.content(Lod.SUMMARY).splitlines()) < 40
    tester.act("page", number=2)
    assert tester.content().startswith("main, 1 changed, 1000 untracked, page 2 of ")
    tester.act("show", path="a.txt")
    assert len(tester.content()) < 30_000
    assert " of 6006" in tester.content()
    tester.act("show", path="a.txt", line=5_000)
    assert "lines 5000 to " in tester.content()
    tester.refused("show", path="a.txt", line=6_007)
    assert tester.act("stage").endswith(", 991 more.")
    assert len(previewed(tester, "commit", message="x").diff) > 60_000
    monkeypatch.setattr(worktree, "PREVIEW_LIMIT", 30_000)
    with pytest.raises(PreviewError, match="too large"):
        tester.preview("commit", message="x")


def test_what_git_cannot_do_is_said_clearly(
    folder: Path, home: Path, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("contextui.windowing.transaction.PATIENCE", 60)  # git may be slow here
    change(folder)
    tester = opened(folder)
    (folder / ".git/index.lock").touch()
    assert "index.lock exists" in tester.refused("stage", paths="a.txt")
    assert "delete" in tester.refused("unstage", paths="b.txt")
    (folder / ".git/index.lock").unlink()
    (home / ".gitconfig").write_text("")
    assert "who you are" in tester.refused("commit", message="x")
    with pytest.raises(PreviewError, match="who you are"):
        tester.preview("commit", message="x")
    with monkeypatch.context() as patch:
        patch.setenv("PATH", str(folder))
        assert "not installed" in tester.refused("stage", paths="a.txt")
        tester.tick()
        assert tester.content() == "Git is not installed."
    folder.rename(folder.with_name("moved"))
    tester.tick()
    assert tester.content() == "The folder does not exist any more."
    assert "not exist" in tester.refused("stage", paths="a.txt")
    folder.with_name("moved").rename(folder)
    (folder / ".git/HEAD").write_text("nonsense\n")
    tester.tick()
    assert ".git is damaged" in tester.content() or "not a git repository" in tester.content()


def test_a_name_that_does_not_fit_is_answered_with_names_that_do(
    folder: Path, opened: Opened
) -> None:
    change(folder)
    tester = opened(folder)
    answer = "a.text has no such change. Available: a.txt, b.txt."
    assert tester.refused("show", path="a.text") == answer
    assert "new file" in tester.refused("discard", path="/etc/passwd")
    assert tester.act("show", path="./a.txt") == "Shown: a.txt: +2 -1."
    assert tester.act("show", path=str(folder / "a.txt")) == "Shown: a.txt: +2 -1."


def test_only_what_changes_nothing_outside_the_window_does_not_ask() -> None:
    effects = {name: one.effect for name, one in GitWindow.actions.items()}
    assert [name for name, effect in effects.items() if effect == "write"] == [
        "stage", "unstage", "commit", "discard", "init",
    ]  # fmt: skip
    assert {name for name, effect in effects.items() if effect == "state"} == {
        "show", "log", "open", "page", "refresh",
    }  # fmt: skip
