"""A repository that tries to run a program, or to make git write elsewhere, in every known way.

Each attack leaves a marker where it succeeds. Those that plain git falls for are first tried with
plain git, so that no attack is harmless by mistake.
"""

import os
import shutil
import stat
import subprocess
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from contextui.git.repository import Repository, initialize
from contextui.testing import WindowTester
from contextui.windowing.preview import PreviewError
from contextui.windows.git.window import GitWindow
from tests.windows.git.conftest import Opened, Tester, previewed, run

Plant = Callable[[Path, str], None]
"""Puts an attack into a repository; the text is a command that leaves the marker."""


@dataclass(frozen=True)
class Attack:
    """An attack.

    Attributes:
        plant: Puts it into the repository.
        live: Whether plain git runs it with the commands that people use.
    """

    plant: Plant
    live: bool = True


def config(name: str, value: str = "{}", **more: str) -> Plant:
    def plant(folder: Path, command: str) -> None:
        for key, one in {name: value, **{k.replace("__", "."): v for k, v in more.items()}}.items():
            run(folder, "config", key, one.format(command))

    return plant


def attribute(line: str, *plants: Plant, file: str = ".gitattributes") -> Plant:
    def plant(folder: Path, command: str) -> None:
        path = folder / file
        path.parent.mkdir(exist_ok=True)
        with path.open("a") as added:
            added.write(line + "\n")
        for one in plants:
            one(folder, command)

    return plant


def hook(name: str, folder_name: str = ".git/hooks") -> Plant:
    def plant(folder: Path, command: str) -> None:
        path = folder / folder_name / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{command}\nexit 0\n")
        path.chmod(0o755)

    return plant


def both(*plants: Plant) -> Plant:
    def plant(folder: Path, command: str) -> None:
        for one in plants:
            one(folder, command)

    return plant


def included(folder: Path, command: str) -> None:
    """A program named in a file that the config includes."""
    (folder / ".git/more").write_text(f'[core]\n\tfsmonitor = "{command}"\n')
    run(folder, "config", "include.path", "more")


def included_for_branch(folder: Path, command: str) -> None:
    (folder / "more").write_text(f'[filter "x"]\n\tclean = "{command}; cat"\n')
    run(folder, "config", "includeIf.onbranch:**.path", "../more")
    (folder / ".gitattributes").write_text("* filter=x\n")


def of_worktree(folder: Path, command: str) -> None:
    run(folder, "config", "extensions.worktreeConfig", "true")
    (folder / ".git/config.worktree").write_text(f'[core]\n\tfsmonitor = "{command}"\n')


def promise(folder: Path, url: str, transport: str) -> None:
    """Take an object away that git would fetch from there, with a program of the repository's."""
    blob = run(folder, "rev-parse", "HEAD:a.txt").strip()
    (folder / ".git/objects" / blob[:2] / blob[2:]).unlink()
    settings = {
        "remote.origin.url": url, "remote.origin.promisor": "true",
        "extensions.partialClone": "origin", "core.repositoryFormatVersion": "1",
        f"protocol.{transport}.allow": "always",
    }  # fmt: skip
    for name, value in settings.items():
        run(folder, "config", name, value)


def lazy_fetch(folder: Path, command: str) -> None:
    promise(folder, f"ext::sh -c {command.replace(' ', '% ')}", "ext")


def lazy_fetch_locally(folder: Path, command: str) -> None:
    promise(folder, str(folder), "file")
    run(folder, "config", "remote.origin.uploadpack", f"{command}; git-upload-pack")


def submodule(folder: Path, command: str) -> None:
    """A submodule whose own config names a program: entering it is enough to run it."""
    inner = folder / "inner"
    inner.mkdir()
    run(inner, "init", "--quiet")
    (inner / "x").write_text("x\n")
    run(inner, "add", "x")
    run(inner, "commit", "--quiet", "-m", "Begin")
    run(folder, "add", "inner")
    run(folder, "commit", "--quiet", "-m", "Add inner")
    run(inner, "config", "core.fsmonitor", command)
    (inner / "x").write_text("y\n")
    run(folder, "config", "submodule.recurse", "true")
    run(folder, "config", "diff.submodule", "diff")
    run(folder, "config", "status.submoduleSummary", "true")


def untracked_repository(folder: Path, command: str) -> None:
    inner = folder / "inner"
    inner.mkdir()
    run(inner, "init", "--quiet")
    run(inner, "config", "core.fsmonitor", command)


def program_in_folder(folder: Path, command: str) -> None:
    hook("git", ".")(folder, command)
    hook("git", "bin")(folder, command)


def signature(folder: Path, command: str) -> None:
    """A signed commit, which the log would verify with a program."""
    head = run(folder, "cat-file", "commit", "HEAD")
    top, _, rest = head.partition("\n\n")
    signed = f"{top}\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n"
    made = subprocess.run(
        ["git", "hash-object", "-t", "commit", "-w", "--stdin"],
        cwd=folder, input=(signed + rest).encode(), capture_output=True, check=True,
    ).stdout.decode().strip()  # fmt: skip
    run(folder, "update-ref", "HEAD", made)
    config("gpg.program", str(script(folder, command)), log__showSignature="true")(folder, command)


def script(folder: Path, command: str) -> Path:
    path = folder / ".git/program"
    path.write_text(f"#!/bin/sh\n{command}\ncat\n")
    path.chmod(0o755)
    return path


def programmed(*names: str, **more: str) -> Plant:
    """Settings whose value is the path of a program."""

    def plant(folder: Path, command: str) -> None:
        path = str(script(folder, command))
        for name in names:
            run(folder, "config", name, path)
        config("a.b", "c", **more)(folder, command)

    return plant


ATTACKS = {
    "fsmonitor": Attack(config("core.fsmonitor")),
    "fsmonitor, included": Attack(included),
    "fsmonitor of the worktree": Attack(of_worktree),
    "clean filter": Attack(attribute("a.txt filter=x", config("filter.x.clean", "{}; cat"))),
    "clean filter, included for a branch": Attack(included_for_branch),
    "clean filter by info/attributes": Attack(
        attribute(
            "a.txt filter=x", config("filter.x.clean", "{}; cat"), file=".git/info/attributes"
        )
    ),
    "clean filter by core.attributesFile": Attack(
        attribute(
            "* filter=x",
            config("filter.x.clean", "{}; cat"),
            config("core.attributesFile", ".git/attributes"),
            file=".git/attributes",
        ),
        live=False,
    ),
    "clean filter with an odd name": Attack(
        attribute("* filter=a=b.c", config("filter.a=b.c.clean", "{}; cat")), live=False
    ),
    "clean filter with a capital name": Attack(
        attribute("b.txt filter=X.Y", config("filter.X.Y.clean", "{}; cat"))
    ),
    "required clean filter": Attack(
        attribute("b.txt filter=r", config("filter.r.clean", "{}; cat", filter__r__required="true"))
    ),
    "smudge filter": Attack(attribute("a.txt filter=x", config("filter.x.smudge", "{}; cat"))),
    "process filter": Attack(attribute("b.txt filter=p", config("filter.p.process", "{}; cat"))),
    "external diff": Attack(config("diff.external", "{}; :")),
    "diff command": Attack(attribute("* diff=x", config("diff.x.command", "{}; :"))),
    "textconv": Attack(attribute("* diff=x", config("diff.x.textconv", "{}; cat"))),
    "cached textconv": Attack(
        attribute(
            "* diff=x", config("diff.x.textconv", "{}; cat", diff__x__cachetextconv="true")
        )
    ),
    "merge driver": Attack(
        attribute("* merge=x", config("merge.x.driver", "{}; cat")), live=False
    ),
    "pre-commit": Attack(hook("pre-commit")),
    "prepare-commit-msg": Attack(hook("prepare-commit-msg")),
    "commit-msg": Attack(hook("commit-msg")),
    "post-commit": Attack(hook("post-commit")),
    "post-index-change": Attack(hook("post-index-change")),
    "reference-transaction": Attack(hook("reference-transaction")),
    "post-checkout": Attack(hook("post-checkout")),
    "fsmonitor-watchman": Attack(
        both(hook("fsmonitor-watchman"), config("core.fsmonitor", ".git/hooks/fsmonitor-watchman"))
    ),
    "pre-auto-gc": Attack(both(hook("pre-auto-gc"), config("gc.auto", "1")), live=False),
    "hooksPath": Attack(
        both(hook("pre-commit", "hooks"), hook("post-index-change", "hooks"),
             config("core.hooksPath", "hooks"))
    ),
    "pager": Attack(config("core.pager", "{}; cat", pager__status="true"), live=False),
    "pager of a command": Attack(config("pager.status", "{}; cat"), live=False),
    "editor": Attack(config("core.editor", "{}; :"), live=False),
    "alias": Attack(
        config("alias.status", "!{}", alias__diff="!{}", alias__add="!{}"), live=False
    ),
    "signing": Attack(programmed("gpg.program", commit__gpgSign="true")),
    "ssh signing": Attack(
        programmed("gpg.ssh.program", "gpg.ssh.defaultKeyCommand", commit__gpgSign="true",
                   gpg__format="ssh")
    ),
    "signature of the log": Attack(signature),
    "credential helper": Attack(config("credential.helper", "!{}"), live=False),
    "askpass": Attack(config("core.askPass", "{}"), live=False),
    "lazy fetch by ext": Attack(lazy_fetch),
    "lazy fetch from a folder": Attack(lazy_fetch_locally),
    "submodule": Attack(submodule),
    "untracked repository": Attack(untracked_repository, live=False),
    "git in the folder": Attack(program_in_folder, live=False),
    "ssh command": Attack(
        config("core.sshCommand", remote__origin__url="ssh://x/y"), live=False
    ),
    "alternate refs": Attack(config("core.alternateRefsCommand"), live=False),
    "upload hook": Attack(config("uploadpack.packObjectsHook"), live=False),
    "trailer": Attack(config("trailer.x.command", "{}", trailer__x__ifmissing="add"), live=False),
    "interactive filter": Attack(config("interactive.diffFilter"), live=False),
}  # fmt: skip


def edit(folder: Path) -> None:
    """Make all kinds of changes, after the attack is in place."""
    (folder / "a.txt").write_text("one\n2\nthree\n")
    (folder / "b.txt").write_text("B\n")
    (folder / "sub/c.txt").unlink()
    (folder / "new.txt").write_text("new\n")
    os.utime(folder / "a.txt", (1, 1))


def use_plain_git(folder: Path, marks: list[Path]) -> None:
    """Use git until all marks are there, and remove them."""
    for args in (
        ["status"], ["diff"], ["log", "-p"], ["add", "b.txt"], ["diff", "--cached"],
        ["reset", "-q", "b.txt"], ["add", "b.txt"], ["commit", "-m", "x"],
        ["checkout", "HEAD", "a.txt"],
    ):  # fmt: skip
        run(folder, *args, check=False)
        if all(one.exists() for one in marks):
            break
    for one in marks:
        one.unlink()  # if plain git did not run it, the attack shows nothing


def use_window(tester: Tester) -> None:
    """Use every action of the window, whether the repository lets it succeed or not."""
    tester.tick()
    for path in ("a.txt", "new.txt"):
        tester.result("show", path=path)
    tester.result("log", count=5)
    b_file = {"paths": "b.txt"}
    for action, params in (
        ("stage", b_file), ("show", {"path": "b.txt"}), ("unstage", b_file),
        ("commit", {"message": "x", **b_file}), ("stage", {}),
        ("commit", {"message": "x"}), ("discard", {"path": "a.txt"}),
    ):  # fmt: skip
        with suppress(PreviewError):  # a refusal is as good
            tester.preview(action, **params)
        tester.result(action, **params)
    tester.result("refresh")


OTHERS = [name for name, one in ATTACKS.items() if not one.live]
HOOKS = [name for name in ATTACKS if "-" in name and name not in OTHERS]
GROUPS = {
    "programs, signed": ["fsmonitor", "external diff", "signing"],
    "programs, signed by ssh": [
        *("fsmonitor, included", "diff command", "hooksPath", "ssh signing")
    ],
    "programs of the worktree": [
        *("fsmonitor of the worktree", "textconv", "signature of the log")
    ],
    "hooks": ["submodule", "cached textconv", *HOOKS],
    "filters": ["clean filter", "smudge filter", "clean filter with a capital name"],
    "filters, required": ["clean filter by info/attributes", "required clean filter"],
    "filters, included": ["clean filter, included for a branch", "process filter"],
    "lazy fetch by ext": ["lazy fetch by ext"],
    "lazy fetch from a folder": ["lazy fetch from a folder"],
    "others": OTHERS,
}
"""Attacks that do not hinder each other."""


def test_every_attack_is_tried() -> None:
    assert sorted(one for names in GROUPS.values() for one in names) == sorted(ATTACKS)


@pytest.mark.parametrize("group", GROUPS)
def test_nothing_that_the_repository_names_is_run(
    group: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opened: Opened
) -> None:
    names, marks = GROUPS[group], tmp_path / "marks"
    marks.mkdir()
    for number, name in enumerate(names):
        ATTACKS[name].plant(folder, f"touch {marks}/{number}")
    edit(folder)
    if group != "others":
        copy = tmp_path / "copy"
        subprocess.run(["cp", "-a", str(folder), str(copy)], check=True)
        use_plain_git(copy, [marks / str(number) for number in range(len(names))])
    monkeypatch.setenv("PATH", f"{folder}:{folder}/bin:bin::.:{os.environ['PATH']}")
    monkeypatch.chdir(folder)
    use_window(opened(folder))
    assert [names[int(one.name)] for one in marks.iterdir()] == []
    if "filter" not in group and "lazy" not in group and group != "others":
        assert "\tcommit: x\n" in (folder / ".git/logs/HEAD").read_text()


def test_variables_of_the_environment_are_not_passed_on(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opened: Opened
) -> None:
    marker = tmp_path / "marker"
    other = tmp_path / "other"
    other.mkdir()
    run(other, "init", "--quiet")
    edit(folder)
    program = script(folder, f"touch {marker}")
    for name in ("GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_EDITOR", "GIT_SSH_COMMAND", "GIT_ASKPASS",
                 "GIT_PROXY_COMMAND", "PAGER", "EDITOR", "VISUAL"):  # fmt: skip
        monkeypatch.setenv(name, str(program))
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(tmp_path / "objects"))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.fsmonitor")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", str(program))
    monkeypatch.setenv("GIT_TRACE", str(tmp_path / "trace"))
    tester = opened(folder)
    assert "a.txt" in tester.content()
    use_window(tester)
    for path in (marker, tmp_path / "index", tmp_path / "objects", tmp_path / "trace"):
        assert not path.exists()


@pytest.mark.parametrize(
    "place", ["index", "logs/HEAD", "logs", "logs/refs/heads/main", "refs/heads", "objects", "HEAD"]
)
def test_a_link_in_the_repository_is_not_written_through(
    place: str, folder: Path, tmp_path: Path, opened: Opened
) -> None:
    """Git appends to the reflog through a link, so it could write into a shell's startup file."""
    outside = tmp_path / "outside"
    (folder / ".git" / place).rename(outside)
    before = sorted((one, one.stat().st_mtime_ns) for one in [outside, *outside.rglob("*")])
    (folder / ".git" / place).symlink_to(outside)
    edit(folder)
    tester = opened(folder)
    assert "is a link" in tester.content()
    use_window(tester)
    after = sorted((one, one.stat().st_mtime_ns) for one in [outside, *outside.rglob("*")])
    assert after == before


def test_core_worktree_cannot_lead_to_another_folder(
    folder: Path, tmp_path: Path, opened: Opened
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.txt").write_text("precious\n")
    run(folder, "config", "core.worktree", str(other))
    tester = opened(folder)
    assert "core.worktree" in tester.content()
    use_window(tester)
    assert (other / "a.txt").read_text() == "precious\n"


def test_a_git_file_that_leads_to_another_repository_is_not_opened(
    folder: Path, tmp_path: Path, opened: Opened
) -> None:
    trap = tmp_path / "trap"
    trap.mkdir()
    (trap / ".git").write_text(f"gitdir: {folder}/.git\n")
    (trap / "evil.txt").write_text("x")
    before = run(folder, "status", "--porcelain")
    tester = opened(trap)
    assert "elsewhere" in tester.content()
    use_window(tester)
    assert run(folder, "status", "--porcelain") == before


def test_a_linked_worktree_is_opened(folder: Path, tmp_path: Path, opened: Opened) -> None:
    run(folder, "worktree", "add", "--quiet", "-b", "side", str(tmp_path / "side"))
    (tmp_path / "side/a.txt").write_text("side\n")
    tester = opened(tmp_path / "side")
    assert tester.content().startswith("side, 1 changed")
    tester.act("stage")
    tester.act("commit", message="On the side")
    assert run(folder, "log", "-1", "--format=%s", "side").strip() == "On the side"


def test_a_pipe_in_the_repository_does_not_block(folder: Path, opened: Opened) -> None:
    (folder / ".git/HEAD").unlink()
    os.mkfifo(folder / ".git/HEAD")
    (folder / "sub/.git").mkdir()
    os.mkfifo(folder / "sub/.git/commondir")
    assert "elsewhere" in opened(folder / "sub").content()
    trap = folder / "sub/trap"
    trap.mkdir()
    (trap / ".git").write_text(f"gitdir: {folder}/.git\n")
    os.mkfifo(folder / ".git/gitdir")
    assert "elsewhere" in opened(trap).content()


def test_a_bare_repository_in_a_folder_is_not_used(tmp_path: Path, opened: Opened) -> None:
    marker, bare = tmp_path / "marker", tmp_path / "bare"
    bare.mkdir()
    run(bare, "init", "--quiet", "--bare")
    run(bare, "config", "core.bare", "false")
    run(bare, "config", "core.worktree", str(tmp_path))
    run(bare, "config", "core.fsmonitor", f"touch {marker}")
    tester = opened(bare)
    assert "bare repository" in tester.content()
    use_window(tester)
    assert not marker.exists()


def test_a_repository_of_another_user_is_refused(folder: Path, opened: Opened) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a folder away")
    for path in [folder, *folder.rglob("*")]:
        os.chown(path, 12_345, 12_345, follow_symlinks=False)
    assert "belongs to another user" in opened(folder).content()


def test_an_attribute_does_not_hide_lines_from_the_approval(folder: Path, opened: Opened) -> None:
    (folder / ".gitattributes").write_text("evil.py -diff\nother.py diff=x\n*.png binary\n")
    run(folder, "config", "diff.x.binary", "true")
    run(folder, "config", "core.bigFileThreshold", "1")
    run(folder, "config", "diff.ignoreSubmodules", "all")
    (folder / "evil.py").write_text("import evil\n")
    (folder / "other.py").write_text("import other\n")
    (folder / "a.png").write_bytes(b"\x89PNG\0\0\1")
    (folder / "a.txt").write_text("changed\n")
    tester = opened(folder)
    tester.act("stage")
    preview = previewed(tester, "commit", message="x")
    for line in ("+import evil", "+import other", "+changed", "Binary files /dev/null and b/a.png"):
        assert line in preview.diff
    for name in ("evil.py", "other.py"):
        (folder / name).write_text("import worse\n")
    assert previewed(tester, "stage").diff.count("+import worse") == 2
    assert previewed(tester, "unstage", paths="evil.py").diff.count("-import evil") == 1


def test_a_replaced_object_does_not_hide_lines_from_the_approval(
    folder: Path, opened: Opened
) -> None:
    (folder / "good.txt").write_text("harmless\n")
    good = run(folder, "hash-object", "-w", "good.txt").strip()
    (folder / "b.txt").write_text("evil\n")
    run(folder, "add", "b.txt")
    run(folder, "replace", run(folder, "rev-parse", ":b.txt").strip(), good)
    preview = previewed(opened(folder), "commit", message="x")
    assert "+evil" in preview.diff


# --- hooks in the config ----------------------------------------------------------------------

EVENTS = (
    "applypatch-msg", "commit-msg", "fsmonitor-watchman", "post-applypatch", "post-checkout",
    "post-commit", "post-index-change", "post-merge", "post-rewrite", "post-update",
    "pre-applypatch", "pre-auto-gc", "pre-commit", "pre-merge-commit", "pre-push", "pre-rebase",
    "prepare-commit-msg", "reference-transaction", "update",
)  # fmt: skip
HOOK_NAMES = ("x", "a b", "A.B", "x.command", "x.enabled", "a=b", 'q"\\', "", "ü", "x.event")
HOOK_PLACES = ("local", "worktree", "included", "included on a condition", "global")


def config_hook(folder: Path, home: Path, place: str, text: str) -> None:
    """Put hooks into a file that git reads as config."""
    file = {
        "local": folder / ".git/config",
        "worktree": folder / ".git/config.worktree",
        "global": home / ".gitconfig",
    }.get(place, folder / ".git/more")
    with file.open("a") as opened_file:
        opened_file.write(text)
    if place == "worktree":
        run(folder, "config", "extensions.worktreeConfig", "true")
    elif place == "included":
        run(folder, "config", "include.path", "more")
    elif place == "included on a condition":
        run(folder, "config", "includeIf.onbranch:**.path", "more")


def hook_section(name: str, command: str) -> str:
    quoted_name = name.replace("\\", "\\\\").replace('"', '\\"')
    events = "".join(f"\tevent = {event}\n" for event in EVENTS)
    return f'[hook "{quoted_name}"]\n\tcommand = "{command}"\n{events}\tenabled = true\n'


def need_config_hooks(folder: Path) -> None:
    version = run(folder, "version").split()[2]
    if tuple(map(int, version.split(".")[:2])) < (2, 54):
        pytest.skip(f"git {version} has no hooks in its config: 2.54 has")


@pytest.mark.parametrize("place", HOOK_PLACES)
def test_every_hook_of_the_config_is_switched_off(place: str, folder: Path, home: Path) -> None:
    """H03: whichever version of git runs, it reads that the hook is off."""
    for name in HOOK_NAMES:
        config_hook(folder, home, place, hook_section(name, "touch x"))
    git = Repository(folder)._git
    for name in HOOK_NAMES:
        switch = git.run("config", "--get", "--type=bool", f"hook.{name}.enabled").data
        assert switch == b"false\n", name


@pytest.mark.parametrize("place", HOOK_PLACES)
def test_no_hook_of_the_config_is_run(
    place: str, folder: Path, home: Path, tmp_path: Path, opened: Opened
) -> None:
    """H03: since 2.54, git runs hooks that its config names, wherever `core.hooksPath` leads."""
    need_config_hooks(folder)
    marks = tmp_path / "marks"
    marks.mkdir()
    for number, name in enumerate(HOOK_NAMES):
        config_hook(folder, home, place, hook_section(name, f"echo > {marks}/{number}"))
    edit(folder)
    copy = tmp_path / "copy"
    subprocess.run(["cp", "-a", str(folder), str(copy)], check=True)
    use_plain_git(copy, [marks / str(number) for number in range(len(HOOK_NAMES))])
    use_window(opened(folder))
    assert [HOOK_NAMES[int(one.name)] for one in marks.iterdir()] == []
    assert "\tcommit: x\n" in (folder / ".git/logs/HEAD").read_text()


def test_creating_a_repository_runs_no_hook(folder: Path, home: Path, tmp_path: Path) -> None:
    """H03: neither one of the person's config, nor one of a repository around the folder."""
    need_config_hooks(folder)
    config_hook(folder, home, "global", hook_section("x", f"echo > {tmp_path}/global"))
    config_hook(folder, home, "local", hook_section("y", f"echo > {tmp_path}/local"))
    (folder / "plain").mkdir()
    run(folder, "init", "plain")
    (tmp_path / "global").unlink()  # plain git runs it
    shutil.rmtree(folder / "plain/.git")
    initialize(folder / "plain", os.environ)
    assert (folder / "plain/.git/HEAD").exists()
    assert not (tmp_path / "global").exists()
    assert not (tmp_path / "local").exists()


def test_the_preview_names_hooks_that_are_not_run(folder: Path, home: Path, opened: Opened) -> None:
    config_hook(folder, home, "local", '[hook "x"]\n\tcommand = true\n\tevent = pre-commit\n')
    config_hook(folder, home, "global", '[hook "y"]\n\tcommand = true\n\tevent = pre-push\n')
    hook("commit-msg")(folder, "true")
    edit(folder)
    tester = opened(folder)
    tester.act("stage")
    preview = previewed(tester, "commit", message="x")
    assert "Hooks are not run: pre-commit, commit-msg." in preview.text


def test_too_many_drivers_are_refused(folder: Path, opened: Opened) -> None:
    text = "".join(f'[filter "x{number}"]\n\tclean = true\n' for number in range(500))
    with (folder / ".git/config").open("a") as file:
        file.write(text)
    assert "too many programs" in opened(folder).content()


def test_a_hostile_folder_leaves_files_executable_bits_and_links_alone(
    folder: Path, tmp_path: Path, opened: Opened
) -> None:
    """A folder on the way to a file that became a link out of the folder is not followed."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "c.txt").write_text("precious\n")
    (folder / "sub/c.txt").unlink()
    (folder / "sub").rmdir()
    (folder / "sub").symlink_to(outside)
    tester = opened(folder)
    use_window(tester)
    tester.result("discard", path="sub/c.txt")
    assert (outside / "c.txt").read_text() == "precious\n"
    assert stat.S_IMODE((outside / "c.txt").stat().st_mode) == 0o644


def test_the_window_is_not_opened_without_a_folder() -> None:
    with pytest.raises(Exception, match="no folder"):
        WindowTester(GitWindow)
