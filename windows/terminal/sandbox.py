"""What a shell may see and reach: its environment, and a sandbox made with bubblewrap."""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from contextui.processes import without_keys

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

    Args:
        argv: The command.
        workspace: The folder that it may change.
        visible: Folders below `/tmp` that it must be able to read.
    """
    folder = str(workspace.resolve())
    shown = [part for path in visible for part in ("--ro-bind", str(path), str(path))]
    return [
        *("bwrap", "--die-with-parent", "--unshare-user-try", "--unshare-ipc", "--unshare-pid"),
        *("--unshare-net", "--unshare-uts", "--unshare-cgroup-try", "--cap-drop", "ALL"),
        *("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"),
        *("--tmpfs", "/tmp", "--tmpfs", "/run", *shown, "--bind", folder, folder),
        *("--chdir", folder, "--", *argv),
    ]


_TRIAL = (
    "echo x > inside && ! (echo x > {outside}/file) 2>/dev/null && "
    "! (echo x > /etc/contextui-trial) 2>/dev/null && "
    "test $(grep -c : /proc/net/dev) = 1"
)


@cache
def sandbox_works() -> bool:
    """Whether bubblewrap is there and does what it should; tried once, with a real command."""
    if shutil.which("bwrap") is None:
        return False
    with tempfile.TemporaryDirectory() as inside, tempfile.TemporaryDirectory() as outside:
        script = _TRIAL.format(outside=outside)
        try:
            tried = subprocess.run(
                sandboxed(["/bin/sh", "-c", script], Path(inside)),
                capture_output=True,
                timeout=10,
                check=False,
                env={"PATH": os.environ.get("PATH", os.defpath)},
            )
        except (OSError, subprocess.TimeoutExpired):
            return False
        written = os.path.exists(os.path.join(inside, "inside"))
        return tried.returncode == 0 and written and not os.listdir(outside)
