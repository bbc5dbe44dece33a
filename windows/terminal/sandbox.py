"""What a shell may see and reach: its environment, and a sandbox made with bubblewrap."""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from contextui.processes import ProcessError, without_keys

# Of the terminal that the program itself runs in: wrong in this one.
_OUTER = re.compile(
    r"COLUMNS|LINES|TERMCAP|TMUX|TMUX_PANE|STY|WINDOW|WINDOWID|VTE_VERSION|TERM_PROGRAM\w*"
    r"|KITTY_\w+|WEZTERM_\w+|ITERM_\w+|LC_TERMINAL\w*|KONSOLE_\w+|WT_SESSION|VSCODE_\w+"
    r"|GHOSTTY_\w+|ALACRITTY_\w+|TEXTUAL\w*|_"
)


def clean_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment for a shell.

    Left out: the keys of model providers, which a command could print or send away, the variables
    of this program, and those that describe the terminal around it. Pagers stay as they are: they
    work in this terminal.
    """
    kept = {
        name: value for name, value in without_keys(environ).items() if not _OUTER.fullmatch(name)
    }
    return kept | {"TERM": "xterm-256color", "COLORTERM": "truecolor"}


def dropped_keys(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names of keys and tokens that the environment for a shell does not have."""
    left_out = environ.keys() - clean_environment(environ).keys()
    return tuple(sorted(name for name in left_out if "KEY" in name or "TOKEN" in name))


def sandboxed(argv: Sequence[str], workspace: Path, visible: Sequence[Path] = ()) -> list[str]:
    """Return the command that runs another in a sandbox.

    The workspace is writable; all else is read-only. There is no network, `/tmp` and `/run` are
    empty: sockets of other programs, such as an SSH agent's or Docker's, are there. `--new-session`
    is not used: a shell without a controlling terminal has no job control, and this terminal
    belongs to the sandbox alone, so input injected into it (TIOCSTI) reaches no other shell.
    """
    folder = str(workspace.resolve())
    if folder == "/":  # as a workspace, it would bring back all that is hidden or read-only
        raise ProcessError(
            "The folder of a sandbox cannot be /: start contextui in another folder."
        )
    shown = [part for path in visible for part in ("--ro-bind", str(path), str(path))]
    # The machine's settings in /proc belong to root, who can write them without a capability, and
    # who could mount control groups in a further user namespace. Other users own nothing in /proc
    # but their processes. They keep both, for programs that make a sandbox of their own.
    root = ("--unshare-user", "--disable-userns", "--remount-ro", "/proc")
    return [
        *("bwrap", "--die-with-parent", "--unshare-user-try", "--unshare-ipc", "--unshare-pid"),
        *("--unshare-net", "--unshare-uts", "--unshare-cgroup-try", "--cap-drop", "ALL"),
        *("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"),
        *(root if os.geteuid() == 0 else ()),
        *("--tmpfs", "/tmp", "--tmpfs", "/run", *shown, "--bind", folder, folder),
        *("--chdir", folder, "--", *argv),
    ]


# Outside the workspace, files are opened for writing and not written: no trial changes anything.
_TRIAL = """
echo x > inside || exit 1
for file in "$1/file" /proc/sys/kernel/core_pattern /proc/sys/vm/swappiness /proc/sysrq-trigger; do
    ! (: >> "$file") 2>/dev/null || exit 1
done
network=$(readlink /proc/self/ns/net) && test "$network" != "$2"
"""


@cache
def sandbox_works() -> bool:
    """Whether bubblewrap is there and does what it should; tried once, with a real command."""
    if shutil.which("bwrap") is None:
        return False
    try:
        with (  # not in /tmp, which is hidden: then the write outside would not be tried
            tempfile.TemporaryDirectory(dir="/var/tmp") as inside,
            tempfile.TemporaryDirectory(dir="/var/tmp") as outside,
        ):
            network = os.readlink("/proc/self/ns/net")
            tried = subprocess.run(
                sandboxed(["/bin/sh", "-c", _TRIAL, "sh", outside, network], Path(inside)),
                capture_output=True,
                timeout=10,
                check=False,
                env={"PATH": os.environ.get("PATH", os.defpath)},
            )
            return tried.returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False
