"""What a shell sees and reaches: its environment and the sandbox."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from contextui import WindowManager, Workspace
from contextui.errors import ActionError
from contextui.processes import ProcessError
from contextui.windows.terminal.sandbox import clean_environment, sandbox_works, sandboxed
from contextui.windows.terminal.window import TerminalWindow

from .shells import KINDS, finished, prompt, shell, until

NOBODY = 65534  # the user id of an ordinary user, for tests that run as root


def problem(uid: int) -> str:
    """Why bubblewrap cannot make a sandbox for a user here; empty if it can."""
    if shutil.which("bwrap") is None:
        return "bubblewrap (bwrap) is not there"
    if os.geteuid() not in (0, uid):
        return "needs root"
    more = () if uid else ("--disable-userns",)
    argv = ["bwrap", "--unshare-user", "--unshare-pid", "--unshare-net", *more]
    argv += ["--ro-bind", "/", "/", "--proc", "/proc", "true"]
    tried = subprocess.run(argv, capture_output=True, text=True, check=False, **as_user(uid))
    return tried.stderr if tried.returncode else ""


def as_user(uid: int) -> dict[str, Any]:
    """Arguments of `subprocess.run` for another user than this one."""
    return {} if uid == os.geteuid() else {"user": uid, "group": uid, "extra_groups": ()}


PROBLEM = problem(os.geteuid())
needs_sandbox = pytest.mark.skipif(bool(PROBLEM), reason=PROBLEM)


@pytest.mark.parametrize(
    "name",
    [
        *("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "OPENROUTER_API_KEY"),
        *("GEMINI_API_KEY", "GOOGLE_API_KEY", "MISTRAL_API_KEY", "GROQ_API_KEY", "HF_TOKEN"),
        *("AZURE_OPENAI_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "CONTEXTUI_HOME", "OPENAI_API_KEY_2"),
        *("AWS_BEARER_TOKEN_BEDROCK", "openai_api_key", "COLUMNS", "TMUX"),
    ],
)
def test_keys_of_providers_are_left_out(name: str) -> None:
    assert name not in clean_environment({name: "x"})


@pytest.mark.parametrize(
    "name", ["PATH", "HOME", "SSH_AUTH_SOCK", "EDITOR", "PAGER", "GITHUB_TOKEN", "COMPANY_KEYS"]
)
def test_other_variables_stay(name: str) -> None:
    assert clean_environment({name: "x"})[name] == "x"


def test_the_terminal_is_described() -> None:
    cleaned = clean_environment({"TERM": "dumb", "COLORTERM": ""})
    assert (cleaned["TERM"], cleaned["COLORTERM"]) == ("xterm-256color", "truecolor")


# --- what a sandbox keeps out: one run for each user, one fact for each test ------------------

# `find` also names the file in the workspace: so it can name files that are writable.
_COLLECT = """
echo in > file
echo out > "$1/file"
cat /proc/self/mountinfo > mounts
cat /proc/self/status > status
find "$PWD/file" /proc -path '/proc/[0-9]*' -prune -o -type f -writable -print > writable
for kind in cgroup ipc mnt net pid user uts; do readlink /proc/self/ns/$kind; done > namespaces
cat /proc/net/dev > interfaces
cat /proc/net/unix > sockets
stat -c %d /run /tmp /dev > devices
find /dev -type b > disks
unshare --user true && echo yes > nested
exit 0
"""


@dataclass
class Facts:
    """What a shell in a sandbox found out.

    Attributes:
        is_root: Whether root started the sandbox.
        work: The workspace, with a file for each subject.
        outside: A folder of the same user, which is not the workspace.
        socket: The name of an abstract socket of the machine.
    """

    is_root: bool
    work: Path
    outside: Path
    socket: str

    def lines(self, subject: str) -> list[str]:
        """What it wrote about a subject."""
        return (self.work / subject).read_text().splitlines()

    def mounts(self) -> dict[str, list[str]]:
        """The options of each mount; of several in one place, those of the topmost."""
        fields = [line.split() for line in self.lines("mounts")]
        return {found[4]: found[5].split(",") for found in fields}


@pytest.fixture(scope="module", params=["root", "ordinary"])
def facts(request: pytest.FixtureRequest) -> Iterator[Facts]:
    """Collect the facts in a real sandbox, as root and as an ordinary user."""
    uid = 0 if request.param == "root" else os.geteuid() or NOBODY
    if why := problem(uid):
        pytest.skip(why)
    # `/var/tmp` is not hidden in a sandbox, so its files are protected by being read-only.
    name = f"contextui-test-{os.urandom(8).hex()}"
    with (
        tempfile.TemporaryDirectory(dir="/tmp") as work,
        tempfile.TemporaryDirectory(dir="/var/tmp") as outside,
        socket.socket(socket.AF_UNIX) as abstract,
    ):
        abstract.bind(f"\0{name}")
        for folder in (work, outside):
            os.chown(folder, uid, -1)
        own = os.geteuid()
        os.seteuid(uid)  # the arguments depend on the user
        try:
            argv = sandboxed(["/bin/sh", "-c", _COLLECT, "sh", outside], Path(work))
        finally:
            os.seteuid(own)
        ran = subprocess.run(argv, capture_output=True, text=True, check=False, **as_user(uid))
        assert ran.returncode == 0, ran.stderr
        yield Facts(uid == 0, Path(work), Path(outside), name)


def test_the_workspace_is_writable(facts: Facts) -> None:
    assert facts.lines("file") == ["in"]


def test_a_folder_of_the_same_user_is_not_writable(facts: Facts) -> None:
    assert not list(facts.outside.iterdir())


def test_every_mount_is_read_only_but_the_workspace_and_new_ones(facts: Facts) -> None:
    """Programs of an ordinary user that make a sandbox of their own write to `/proc`."""
    writable = {place for place, options in facts.mounts().items() if "rw" in options}
    new = {"/tmp", "/run"} if facts.is_root else {"/tmp", "/run", "/proc"}
    assert {place for place in writable if not f"{place}/".startswith("/dev/")} == {
        *new,
        str(facts.work),
    }


def test_nothing_of_the_machine_in_proc_is_writable(facts: Facts) -> None:
    """H05: `/proc/sys` was the machine's, and root could write it."""
    found = {*facts.lines("writable")}
    assert str(facts.work / "file") in found
    if facts.is_root:
        assert found == {str(facts.work / "file")}
    else:  # may write settings of the new namespaces
        assert not found & {"/proc/sys/kernel/core_pattern", "/proc/sys/vm/swappiness"}


def test_root_cannot_make_a_user_namespace(facts: Facts) -> None:
    """In one, root could mount the machine's control groups, and write them."""
    assert not (facts.is_root and (facts.work / "nested").exists())


def test_all_namespaces_are_new(facts: Facts) -> None:
    inside = facts.lines("namespaces")
    assert [one.partition(":")[0] for one in inside] == [
        *("cgroup", "ipc", "mnt", "net", "pid", "user", "uts")
    ]
    assert not {os.readlink(f"/proc/self/ns/{one.partition(':')[0]}") for one in inside} & {*inside}


def test_there_is_no_network(facts: Facts) -> None:
    assert [line.split(":")[0].strip() for line in facts.lines("interfaces")[2:]] == ["lo"]


def test_abstract_sockets_are_not_reachable(facts: Facts) -> None:
    assert facts.socket in Path("/proc/net/unix").read_text()
    assert facts.socket not in "\n".join(facts.lines("sockets"))


def test_run_and_tmp_and_dev_are_new(facts: Facts) -> None:
    inside = [int(line) for line in facts.lines("devices")]
    assert len(inside) == 3
    assert not {*inside} & {os.stat(folder).st_dev for folder in ("/run", "/tmp", "/dev")}


def test_there_are_no_disks(facts: Facts) -> None:
    assert facts.lines("disks") == []


def test_there_are_no_capabilities_and_no_way_to_get_them(facts: Facts) -> None:
    status = dict(line.split(":\t", 1) for line in facts.lines("status") if ":\t" in line)
    kinds = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")
    assert [int(status[kind], 16) for kind in kinds] == [0] * 5
    assert status["NoNewPrivs"] == "1"


def test_the_folder_of_a_sandbox_cannot_be_the_root() -> None:
    """Else all that is hidden would be there again, in the workspace."""
    with pytest.raises(ProcessError, match="cannot be /") as caught:
        sandboxed(["true"], Path("/usr/.."))
    assert "不能是 /" in caught.value.text("zh")


# --- the trial, and shells -------------------------------------------------------------------


@pytest.fixture
def untried() -> Iterator[None]:
    sandbox_works.cache_clear()
    yield
    sandbox_works.cache_clear()


@needs_sandbox
def test_the_trial_succeeds_where_bubblewrap_works(untried: None) -> None:
    assert sandbox_works()


@needs_sandbox
@pytest.mark.parametrize(
    ("there", "instead"),
    [
        pytest.param("--unshare-net", "--unshare-net", id="nothing"),
        pytest.param("--ro-bind / /", "--bind / /", id="read-only"),
        pytest.param("--unshare-net", "", id="network"),
        pytest.param(
            *("--remount-ro /proc", ""),
            id="proc",
            marks=pytest.mark.skipif(os.geteuid() != 0, reason="needs root"),
        ),
    ],
)
def test_the_trial_fails_if_bubblewrap_ignores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, untried: None, there: str, instead: str
) -> None:
    assert there in " ".join(sandboxed(["true"], tmp_path))
    (tmp_path / "bwrap").write_text(
        f"#!{sys.executable}\nimport os, sys\n"
        "split = sys.argv.index('--')\n"
        f"options = ' '.join(sys.argv[1:split]).replace({there!r}, {instead!r}).split()\n"
        f"os.execv({shutil.which('bwrap')!r}, ['bwrap', *options, *sys.argv[split:]])\n"
    )
    (tmp_path / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert sandbox_works() is (there == instead)


def test_without_bubblewrap_a_shell_does_not_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, untried: None
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    windows = WindowManager([TerminalWindow], workspace=Workspace(tmp_path), sandbox=True)
    try:
        with pytest.raises(ActionError, match="The sandbox does not work here") as caught:
            windows.open("terminal")
        assert "bubblewrap" in caught.value.text("zh")
    finally:
        windows.shut_down()


@needs_sandbox
@pytest.mark.parametrize("kind", KINDS)
async def test_a_shell_in_a_sandbox_has_job_control_and_no_other_descriptors(
    tmp_path: Path, kind: str
) -> None:
    work = tmp_path / "work"
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.set_inheritable(True)
        async with shell(tmp_path, kind, sandbox=work) as one:
            assert (await finished(one, "echo in > file; cat file")).output == "in"
            assert (work / "file").read_text() == "in\n"
            ran = await finished(one, "ls -l /proc/self/fd")
            assert "socket:" not in ran.output
            assert ran.status == 0
            ran = await one.run("sleep 100")
            await until(one, lambda: one._has_program)
            await one.cancel()
            await one.wait(ran)
            assert ran.status == 130
            await prompt(one)
            pid = one.pid
    assert not os.path.exists(f"/proc/{pid}")
