"""Which programs of a repository git may start, asked of real repositories.

H04: each way to name a program is found, and a repository without one has none.
"""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from contextui.git import inspection
from contextui.git.inspection import NamedProgram, named_programs
from contextui.words import Words
from tests.windows.git.conftest import run, use_home
from tests.windows.git.test_attacks import ATTACKS, edit


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    use_home(monkeypatch, tmp_path / "home")
    return tmp_path / "home"


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("template")
    with pytest.MonkeyPatch.context() as patch:
        use_home(patch, place / "home")
        (place / "work").mkdir()
        run(place / "work", "init", "--quiet")
        (place / "work/a.txt").write_text("a\n")
        run(place / "work", "add", "--all")
        run(place / "work", "commit", "--quiet", "-m", "Begin")
    return place / "work"


@pytest.fixture
def folder(tmp_path: Path, template: Path) -> Path:
    """A repository with one commit, and the sample hooks that git adds."""
    return Path(shutil.copytree(template, tmp_path / "work", symlinks=True))


@pytest.fixture(scope="module")
def larger(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository that `attacked` is a copy of."""
    place = tmp_path_factory.mktemp("larger")
    folder = Path(shutil.copytree(template, place / "work", symlinks=True))
    (folder / "sub").mkdir()
    for name, text in {"a.txt": "one\ntwo\n", "b.txt": "b\n", "sub/c.txt": "c\n"}.items():
        (folder / name).write_text(text)
    shutil.rmtree(folder / ".git/hooks")  # only samples
    with pytest.MonkeyPatch.context() as patch:
        use_home(patch, place / "home")
        run(folder, "add", "--all")
        run(folder, "commit", "--quiet", "-m", "More")
    return folder


@pytest.fixture
def attacked(tmp_path: Path, larger: Path) -> Path:
    """The repository that the attacks expect."""
    return Path(shutil.copytree(larger, tmp_path / "work", symlinks=True))


def found(folder: Path, command: str = "git status", **env: str) -> tuple[NamedProgram, ...]:
    workspace = folder.parent if folder.name == "work" else folder
    return named_programs(command.split(), folder, workspace, {**os.environ, **env}, Words())


def texts(folder: Path, command: str = "git status", **env: str) -> list[str]:
    return [one.text for one in found(folder, command, **env)]


def kinds(folder: Path, command: str = "git status", **env: str) -> list[str]:
    return [one.kind for one in found(folder, command, **env)]


def hook(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)


def inner_repository(folder: Path, name: str = "inner") -> Path:
    """A repository inside another, whose config names a program."""
    inner = folder / name
    inner.mkdir(parents=True)
    run(inner, "init", "--quiet")
    run(inner, "commit", "--quiet", "--allow-empty", "-m", "Begin")
    run(inner, "config", "core.fsmonitor", "evil")
    return inner


# --- nothing ----------------------------------------------------------------------------------


def test_an_ordinary_repository_names_nothing(folder: Path) -> None:
    for name, value in {
        "remote.origin.url": "https://example.org/x.git",
        "remote.origin.fetch": "+refs/heads/*:refs/remotes/origin/*",
        "branch.main.remote": "origin",
        "user.email": "ada@example.org",
        "core.fsmonitor": "true",
        "pager.log": "false",
        "color.pager": "true",
        "submodule.x.update": "rebase",
        "protocol.ext.allow": "never",
        "commit.gpgSign": "false",
        "filter.x.required": "true",
    }.items():
        run(folder, "config", name, value)
    for command in ("status", "log -p", "commit -m x", "checkout main", "-C . --no-pager diff"):
        assert texts(folder, f"git {command}") == [], command


def test_what_is_not_git_or_not_in_a_repository_has_none(folder: Path, tmp_path: Path) -> None:
    run(folder, "config", "core.fsmonitor", "evil")
    assert texts(folder, "ls") == []
    assert texts(folder, "no-such-program") == []
    assert texts(tmp_path) == []
    assert texts(tmp_path / "missing") == []


def test_the_persons_own_config_is_not_meant(folder: Path, tmp_path: Path) -> None:
    run(folder, "config", "--global", "core.pager", "delta")
    run(folder, "config", "--global", "core.hooksPath", str(tmp_path / "hooks"))
    run(folder, "config", "--global", "includeIf.gitdir:/.path", str(tmp_path / "more"))
    (tmp_path / "more").write_text("[core]\n\tfsmonitor = watch\n")
    hook(tmp_path / "hooks/pre-commit")
    hook(folder / ".git/hooks/pre-commit")  # not used: the person's folder is
    assert texts(folder, "git commit") == []


# --- settings ---------------------------------------------------------------------------------


SETTINGS = [
    ("core.fsmonitor", "core.fsmonitor"),
    ("core.pager", "core.pager"),
    ("core.editor", "core.editor"),
    ("core.sshCommand", "core.sshCommand"),
    ("core.gitProxy", "core.gitProxy"),
    ("sequence.editor", "*editor"),
    ("diff.external", "diff.external"),
    ("diff.A b.textconv", "diff.*.textconv"),
    ("diff.x.command", "*command"),
    ("filter.x.clean", "filter.*.clean"),
    ("filter.x.y.process", "filter.*.process"),
    ("merge.x.driver", "merge.*.driver"),
    ("credential.helper", "credential.helper"),
    ("credential.https://x.helper", "*helper"),
    ("gpg.program", "gpg.program"),
    ("gpg.x509.program", "gpg.x509.program"),
    ("pager.status", "pager.*"),
    ("protocol.ext.allow", "protocol.*.allow"),
    ("remote.x.uploadpack", "remote.*.uploadpack"),
    ("remote.x.vcs", "remote.*.vcs"),
    ("hook.x.command", "hook.*.command"),
    ("hook.x.event", "hook.*.event"),
    ("trailer.x.cmd", "*cmd"),
    ("tar.x.command", "*command"),
    ("gc.recentObjectsHook", "*hook"),
    ("interactive.diffFilter", "interactive.diffFilter"),
    ("mergetool.x.path", "mergetool.*.path"),
    ("sendemail.smtpServer", "sendemail.*smtpServer"),
    ("lfs.customtransfer.x.path", "lfs.customtransfer.*"),
    ("later.newCommand", "*command"),
]
"""Settings that name a program, and their kinds."""


def test_a_setting_that_names_a_program_is_found(folder: Path) -> None:
    config = (folder / ".git/config").read_bytes()
    for name, kind in SETTINGS:
        run(folder, "config", name, "evil --now")
        [one] = found(folder)
        section, _, key = name.rpartition(".")
        shown = name.lower() if section.count(".") == 0 else f"{section}.{key.lower()}"
        assert one == NamedProgram(kind, f"{shown} = evil --now   (.git/config)")
        (folder / ".git/config").write_bytes(config)


def test_an_alias_counts_for_commands_that_may_be_it(folder: Path) -> None:
    run(folder, "config", "alias.st", "!evil")
    assert kinds(folder, "git st") == ["alias.*"]
    assert kinds(folder, "git status") == []  # git has such a command itself


def test_a_submodule_is_updated_by_a_program_if_its_setting_begins_with_an_exclamation_mark(
    folder: Path,
) -> None:
    run(folder, "config", "submodule.x.update", "!evil")
    assert kinds(folder) == ["submodule.*.update"]


def test_config_of_the_worktree_and_included_files_count(folder: Path) -> None:
    run(folder, "config", "extensions.worktreeConfig", "true")
    run(folder, "config", "--worktree", "core.fsmonitor", "evil")
    (folder / ".git/more").write_text("[core]\n\tpager = evil\n")
    run(folder, "config", "include.path", "more")
    (folder / ".git/onbranch").write_text("[core]\n\teditor = evil\n")
    run(folder, "config", "includeIf.onbranch:**.path", "onbranch")
    assert sorted(texts(folder)) == [
        "core.editor = evil   (.git/onbranch)",
        "core.fsmonitor = evil   (.git/config.worktree)",
        "core.pager = evil   (.git/more)",
    ]


def test_a_file_that_a_command_may_change_is_not_included_by_it(
    folder: Path, tmp_path: Path
) -> None:
    """Another branch may have another `.gitconfig`, or another file may be included there."""
    (folder / ".gitconfig").write_text("[user]\n\tname = Ada\n")
    run(folder, "config", "include.path", "../.gitconfig")
    assert kinds(folder, "git log") == []
    assert kinds(folder, "git checkout other") == ["include.path"]
    run(folder, "config", "include.path", str(tmp_path / "outside"))
    assert kinds(folder, "git checkout other") == []
    run(folder, "config", "includeIf.onbranch:other.path", str(tmp_path / "outside"))
    assert kinds(folder, "git checkout other") == ["include.path"]


def test_invisible_characters_are_spelled_out(folder: Path) -> None:
    run(folder, "config", "core.fsmonitor", "evil\u202e\x1b[2J\n\u200bx")
    assert texts(folder) == [
        "core.fsmonitor = evil⟨U+202E⟩⟨U+001B⟩[2J⟨U+000A⟩⟨U+200B⟩x   (.git/config)"
    ]


# --- hooks ------------------------------------------------------------------------------------


def test_a_hook_counts_for_commands_that_may_run_it(folder: Path) -> None:
    hook(folder / ".git/hooks/pre-commit")
    assert texts(folder, "git commit -m x") == ["the hook pre-commit   (.git/hooks/pre-commit)"]
    assert texts(folder, "git status") == []
    hook(folder / ".git/hooks/post-index-change")
    assert texts(folder, "git status") == [
        "the hook post-index-change   (.git/hooks/post-index-change)"
    ]
    (folder / ".git/hooks/post-index-change").chmod(0o644)
    assert texts(folder, "git status") == []


def test_a_partial_clone_may_fetch_for_a_reading_command(folder: Path) -> None:
    hook(folder / ".git/hooks/pre-auto-gc")
    assert texts(folder, "git log -p") == []
    run(folder, "config", "remote.origin.promisor", "true")
    assert kinds(folder, "git log -p") == ["hooks"]


@pytest.mark.parametrize("scope", ["--local", "--global"])
def test_a_folder_of_hooks_inside_the_repository_counts(folder: Path, scope: str) -> None:
    run(folder, "config", scope, "core.hooksPath", ".husky")
    hook(folder / ".husky/pre-commit")
    assert texts(folder, "git commit") == ["the hook pre-commit   (.husky/pre-commit)"]


def test_a_rebase_under_way_may_run_commands(folder: Path) -> None:
    todo = folder / ".git/rebase-merge/git-rebase-todo"
    todo.parent.mkdir()
    todo.write_text("pick 1234567 x\nexec evil\n# exec no\n")
    where = ".git/rebase-merge/git-rebase-todo"
    assert texts(folder, "git rebase --continue") == [f"exec evil   ({where})"]
    assert texts(folder, "git status") == []


@pytest.mark.parametrize(
    ("name", "value", "is_local"),
    [
        ("remote.origin.url", "https://example.org/x.git", False),
        ("remote.origin.url", "git@example.org:ada/x.git", False),
        ("remote.origin.url", "../evil.git", True),
        ("remote.origin.url", "file:///tmp/evil.git", True),
        ("remote.origin.pushurl", "/tmp/a:b", True),
        ("url.../evil/.insteadOf", "https://example.org/", True),
        ("url.git@example.org:.insteadOf", "https://example.org/", False),
    ],
)
def test_a_push_to_a_folder_runs_the_hooks_there(
    folder: Path, name: str, value: str, is_local: bool
) -> None:
    run(folder, "config", name, value)
    assert kinds(folder, "git push") == (["remote.*.url"] if is_local else [])
    assert kinds(folder, "git fetch") == []


def test_a_push_may_go_where_an_old_file_says(folder: Path) -> None:
    (folder / ".git/remotes").mkdir()
    assert kinds(folder, "git push") == []
    (folder / ".git/remotes/origin").write_text("URL: ../evil.git\n")
    assert kinds(folder, "git push") == ["remote.*.url"]


# --- where the repository is ------------------------------------------------------------------


def test_the_repository_above_a_folder_counts(folder: Path, tmp_path: Path) -> None:
    run(folder, "config", "core.fsmonitor", "evil")
    (folder / "sub/deep").mkdir(parents=True)
    (tmp_path / "link").symlink_to(folder / "sub/deep")
    assert kinds(folder / "sub/deep") == ["core.fsmonitor"]
    assert kinds(tmp_path / "link") == ["core.fsmonitor"]
    assert kinds(folder / ".git/hooks", "git log") == ["core.fsmonitor"]


def test_a_git_file_leads_to_the_config(folder: Path, tmp_path: Path) -> None:
    run(folder, "worktree", "add", "--quiet", str(tmp_path / "side"))
    assert kinds(tmp_path / "side") == []
    run(folder, "config", "core.fsmonitor", "evil")
    assert texts(tmp_path / "side") == [f"core.fsmonitor = evil   ({folder}/.git/config)"]


def test_a_bare_repository_in_a_folder_counts(folder: Path) -> None:
    bare = folder / "bare"
    bare.mkdir()
    run(bare, "init", "--quiet", "--bare")
    assert kinds(bare, "git log") == []
    run(bare, "config", "core.pager", "evil")
    assert kinds(bare, "git log") == ["core.pager"]
    assert kinds(bare / "refs", "git log") == ["core.pager"]


def test_a_folder_that_only_looks_like_a_repository_is_passed_by(folder: Path) -> None:
    run(folder, "config", "core.fsmonitor", "evil")
    (folder / "sub/.git").mkdir(parents=True)
    assert kinds(folder / "sub") == ["core.fsmonitor"]


def test_the_option_of_another_folder_is_followed(folder: Path, tmp_path: Path) -> None:
    run(folder, "config", "core.fsmonitor", "evil")
    assert kinds(tmp_path, "git -C work status") == ["core.fsmonitor"]
    assert kinds(tmp_path, "git --no-pager -c a.b=c -C . -C work log") == ["core.fsmonitor"]


def test_an_option_that_may_lead_elsewhere_is_not_known(folder: Path) -> None:
    for option in ("--git-dir=x", "--work-tree", "--exec-path=bin", "--bare"):
        assert kinds(folder, f"git {option} status") == ["unknown"], option


def test_a_variable_that_leads_elsewhere_is_named(folder: Path) -> None:
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR"):
        assert found(folder, **{name: "/x"}) == (NamedProgram(name, f"{name} leads git to /x"),), (
            name
        )


@pytest.mark.parametrize("name", ["git-lfs", "GIT", "g"])
def test_other_names_of_git_count(
    folder: Path, name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    run(folder, "config", "core.fsmonitor", "evil")
    git, tools = shutil.which("git"), tmp_path_factory.mktemp("tools")
    assert git is not None
    (tools / name).symlink_to(os.path.realpath(git))
    path = f"{tools}:{os.environ['PATH']}"
    assert kinds(folder, f"{name} status", PATH=path) == ["core.fsmonitor"]
    assert kinds(folder, f"{name} status", PATH=str(tools)) == ["unknown"]  # git is not there
    assert kinds(folder, f"{tools}/{name} status") == []  # no pattern allows it


# --- repositories inside ----------------------------------------------------------------------


def test_a_submodules_own_config_counts(folder: Path) -> None:
    inner_repository(folder)
    run(folder, "add", "inner")
    assert texts(folder) == ["core.fsmonitor = evil   (inner/.git/config)"]


def test_a_repository_inside_counts_before_git_knows_it(folder: Path) -> None:
    """A branch, or an older commit that is compared, may have it as a submodule."""
    inner_repository(folder, "a/b/inner")
    assert texts(folder, "git checkout x") == ["core.fsmonitor = evil   (a/b/inner/.git/config)"]


def test_a_submodule_without_files_counts(folder: Path, tmp_path: Path) -> None:
    source = inner_repository(tmp_path, "source")
    file = ("-c", "protocol.file.allow=always")
    run(folder, *file, "submodule", "--quiet", "add", str(source), "libs/inner")
    config = folder / ".git/modules/libs/inner/config"
    run(folder, "config", "--file", str(config), "core.fsmonitor", "evil")
    shutil.rmtree(folder / "libs/inner")
    assert texts(folder) == ["core.fsmonitor = evil   (.git/modules/libs/inner/config)"]


def test_the_worktree_may_be_elsewhere(folder: Path, tmp_path: Path) -> None:
    run(folder, "config", "core.worktree", str(tmp_path / "other"))
    inner_repository(tmp_path / "other")
    assert kinds(folder) == ["core.fsmonitor"]


# --- compared with git ------------------------------------------------------------------------


@pytest.mark.parametrize("name", [one for one in ATTACKS if one != "git in the folder"])
def test_what_git_starts_was_found_before(name: str, attacked: Path, tmp_path: Path) -> None:
    """Every attack on the git window: before the first command that starts the program."""
    mark = tmp_path / "mark"
    ATTACKS[name].plant(attacked, f"touch {mark}")
    edit(attacked)
    started = 0
    for command in (
        "add b.txt", "commit -m x", "status", "log -p", "diff", "checkout -b other", "stash",
        "gc --auto",
    ):  # fmt: skip
        mark.unlink(missing_ok=True)
        before = found(attacked, f"git {command}")
        assert not mark.exists(), command
        run(attacked, *command.split(), check=False)
        assert before or not mark.exists(), command
        started += mark.exists()
        if started:
            break
    assert started or not ATTACKS[name].live


# --- limits -----------------------------------------------------------------------------------


def pipe_as_head(folder: Path) -> None:
    (folder / ".git/HEAD").unlink()
    os.mkfifo(folder / ".git/HEAD")


def broken_config(folder: Path) -> None:
    (folder / ".git/config").write_text("[core\n")


def line_break(folder: Path) -> None:
    (folder / ".git").rename(folder / "a\nb")
    (folder / ".git").write_text("gitdir: a\nb\n")


def long_config(folder: Path) -> None:
    with (folder / ".git/config").open("a") as file:
        file.write("[x]\n" + f"\ty = {'z' * 1_000}\n" * 9_000)


def pipe_as_list(folder: Path) -> None:
    (folder / ".git/rebase-merge").mkdir()
    os.mkfifo(folder / ".git/rebase-merge/git-rebase-todo")


@pytest.mark.parametrize(
    "break_it", [pipe_as_head, broken_config, line_break, long_config, pipe_as_list]
)
def test_what_cannot_be_read_is_not_known(
    folder: Path, break_it: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    if break_it is pipe_as_head:  # git waits for ever
        monkeypatch.setattr(inspection, "SECONDS", 0.5)
    break_it(folder)
    [one] = found(folder, "git rebase")
    assert one.kind == "unknown"
    assert one.text.startswith("it is not known which: ")


def test_a_folder_that_takes_too_long_is_not_known(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inspection, "SECONDS", 0.0)
    assert kinds(folder) == ["unknown"]


@pytest.mark.parametrize("name", ["git", "g"])
def test_a_program_of_the_workspace_named_git_is_not_started(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:  # fmt: skip
    """Neither one in the repository, nor one elsewhere in the workspace, which is around it."""
    git, tools = shutil.which("git"), tmp_path_factory.mktemp("tools")
    assert git is not None
    (tools / "g").symlink_to(os.path.realpath(git))
    for place in (folder, folder / "bin", tmp_path / "bin"):
        place.mkdir(exist_ok=True)
        (place / "git").write_text(f"#!/bin/sh\ntouch {tmp_path}/marker\n")
        (place / "git").chmod(0o755)
    monkeypatch.chdir(folder)
    run(folder, "config", "core.fsmonitor", "evil")
    for entries in (str(folder), f"{folder}/bin", "bin", "", ".", f"{tmp_path}/bin"):
        found(folder, f"{name} status", PATH=f"{entries}:{tools}:{os.environ['PATH']}")
    assert not (tmp_path / "marker").exists()


def test_an_inspection_runs_none_of_the_programs(folder: Path, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    command = f"touch {marker}"
    for name in ("core.fsmonitor", "core.pager", "pager.config", "pager.rev-parse", "diff.external",
                 "filter.x.clean", "alias.config", "hook.x.command", "core.editor"):  # fmt: skip
        run(folder, "config", name, command)
    run(folder, "config", "hook.x.event", "post-index-change")
    (folder / ".gitattributes").write_text("* filter=x\n")
    hook(folder / ".git/hooks/post-index-change")
    (folder / ".git/hooks/post-index-change").write_text(f"#!/bin/sh\n{command}\n")
    inner = inner_repository(folder)
    run(inner, "config", "core.fsmonitor", command)
    marker.unlink(missing_ok=True)
    assert len(found(folder, "git commit")) > 10
    assert not marker.exists()
    subprocess.run(["git", "status"], cwd=folder, check=False, capture_output=True)
    assert marker.exists()  # they are live
