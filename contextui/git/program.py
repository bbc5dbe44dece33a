"""Run git so that nothing a repository configures is executed.

A repository can name programs in its config, attributes and hooks, and git starts them even for
`status`. `Git` overrides every such setting with the precedence of the command line, and passes an
environment of its own.
"""

import os
import re
import select
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Literal, NamedTuple

from contextui.errors import ContextUIError
from contextui.git.status import quoted
from contextui.words import Message

SECONDS = 20.0
"""Maximum seconds of one call of git."""
OUTPUT = 8_000_000
"""Maximum bytes that are read of what git prints, unless a call names another limit."""

_GRACE = 1.0  # seconds for git to remove its lock files before it is killed
_MOST_DRIVERS = 400  # settings of one repository that are overridden one by one
_ERROR = 400  # characters of git's own message

Reason = Literal["no repository", "no git", "problem"]


class GitError(ContextUIError):
    """Git cannot do it."""

    def __init__(self, message: str, reason: Reason = "problem", **values: object) -> None:
        self.reason = reason
        super().__init__(Message(message, values))


_KEPT = (
    "HOME", "XDG_CONFIG_HOME", "USER", "LOGNAME", "TMPDIR", "TZ", "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM",
    "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL",
)  # fmt: skip
_ENVIRONMENT = {
    "LC_ALL": "C",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "",
    "SSH_ASKPASS": "",
    "GIT_PAGER": "cat",
    "GIT_EDITOR": "true",
    "GIT_SEQUENCE_EDITOR": "true",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_ALLOW_PROTOCOL": "none",  # overrides every protocol.*.allow; no lazy fetch, either
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",  # a diff must show the objects that a commit contains
    "GIT_ATTR_NOSYSTEM": "1",
}
# Settings that name a program or allow one, and the value that switches each off; None if no
# command that `Git` runs starts it. `*` is any text: such a setting is overridden where a config
# has it, the others always. The last ones are a guess: later versions and extensions of git use
# such names.
_PROGRAMS: dict[str, str | None] = {
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "core.useBuiltinFSMonitor": "false",
    "core.pager": "cat",
    "core.editor": "true",
    "core.askPass": "",
    "core.sshCommand": "false",
    "core.alternateRefsCommand": "",
    "core.gitProxy": "none",
    "credential.helper": "",
    "diff.external": "",
    "gpg.program": "false",
    "gpg.openpgp.program": "false",
    "gpg.x509.program": "false",
    "gpg.ssh.program": "false",
    "gpg.ssh.defaultKeyCommand": "",
    "protocol.allow": "never",
    "filter.*.clean": "",
    "filter.*.smudge": "",
    "filter.*.process": "",
    "filter.*.required": "false",
    "diff.*.textconv": "",
    "merge.*.driver": "",
    "hook.*.command": "",
    "hook.*.event": "",
    "pager.*": "false",
    "protocol.*.allow": "never",
    "remote.*.uploadpack": "false",
    "remote.*.receivepack": "false",
    "remote.*.vcs": "false",
    "submodule.*.update": "none",
    "alias.*": None,
    "interactive.diffFilter": None,
    "instaweb.*": None,
    "imap.tunnel": None,
    "sendemail.*smtpServer": None,
    "browser.*.path": None,
    "difftool.*.path": None,
    "man.*.path": None,
    "mergetool.*.path": None,
    "lfs.customtransfer.*": None,
    "lfs.extension.*": None,
    "*browser": "",
    "*cmd": "",
    "*command": "",
    "*editor": "",
    "*helper": "",
    "*hook": "",
    "*pager": "false",
    "*program": "false",
}
_SETTINGS = {
    **{name: value for name, value in _PROGRAMS.items() if value is not None and "*" not in name},
    "core.attributesFile": "/dev/null",
    "core.quotePath": "false",
    "core.bigFileThreshold": "512m",  # a smaller one hides the lines of a diff
    "core.protectHFS": "true",
    "core.protectNTFS": "true",
    "commit.gpgSign": "false",
    "tag.gpgSign": "false",
    "log.showSignature": "false",
    "diff.submodule": "short",
    "diff.context": "3",
    "diff.interHunkContext": "0",
    "submodule.recurse": "false",
    "status.submoduleSummary": "false",
    "fetch.recurseSubmodules": "false",
    "safe.bareRepository": "explicit",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "color.ui": "false",
    "column.ui": "never",
    "i18n.commitEncoding": "UTF-8",
    "i18n.logOutputEncoding": "UTF-8",
    "user.useConfigOnly": "true",
}
# Git prints the names of settings in lower case, but for the part in the middle.
_KINDS = [(kind, *kind.lower().partition("*")) for kind in _PROGRAMS]
_FILTER = re.compile(r"filter\.(.*)\.(?:clean|smudge|process)", re.DOTALL)
_HOOK = re.compile(r"(hook\..*)\.(?:command|event)", re.DOTALL)


class Setting(NamedTuple):
    """A setting of git's config.

    Attributes:
        name: Its name, in lower case but for the part in the middle.
    """

    scope: str
    origin: str
    name: str
    value: str

    @property
    def program(self) -> str:
        """The kind of setting if it names a program or allows one, as in ``filter.*.clean``."""
        for kind, before, star, after in _KINDS:
            name = self.name.removeprefix(before)
            is_named = self.name.startswith(before) and name.endswith(after)
            if is_named and (star or not name):
                return kind
        return ""


class Output(NamedTuple):
    """What a call of git printed, and whether there was more."""

    data: bytes
    is_cut: bool = False


def find_git(folder: Path, search: str) -> str:
    """Return the absolute path of git, from absolute entries of PATH outside of the folder."""
    for entry in search.split(os.pathsep):
        if entry.startswith("/") and (found := shutil.which("git", path=entry)):
            real = Path(os.path.realpath(found))
            place = Path(os.path.realpath(entry))
            if not any(path.is_relative_to(folder) for path in (real, place)):
                return found
    raise GitError("Git is not installed.", "no git")


def _closing(process: "subprocess.Popen[bytes]") -> None:
    """End git, and give it time to remove its lock files."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is None:
            os.killpg(process.pid, sign)
            try:
                process.wait(_GRACE)
            except subprocess.TimeoutExpired:
                continue
    process.wait()


def _read(process: "subprocess.Popen[bytes]", limit: int, deadline: float) -> Output | None:
    assert process.stdout is not None
    descriptor, data = process.stdout.fileno(), bytearray()
    while True:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([descriptor], [], [], left)[0]:
            return None
        piece = os.read(descriptor, 65_536)
        if not piece:
            return Output(bytes(data))
        data += piece
        if len(data) > limit:
            return Output(bytes(data[:limit]), True)


class Git:
    """Runs git for one folder.

    Args:
        top: The top of its repository; nothing above it is looked at.
        environment: The environment to take PATH, HOME and the identity from.
        as_person: Whether to read what git reads for the person: bare repositories and the system's
            config, too. The settings that name programs are overridden all the same.

    Attributes:
        filters: The names of all filters that the config defines; none of them is ever run.
        hooks_path: The folder of hooks that the config names, if any; for display only.
        hook_events: The events for which the config names hooks; for display only.
        places: Variables of the environment that lead git to another index or other objects.
    """

    def __init__(
        self,
        folder: Path,
        top: Path,
        environment: Mapping[str, str],
        *,
        as_person: bool = False,
        seconds: float = SECONDS,
    ) -> None:
        self.folder, self.top, self._given, self._seconds = folder, top, environment, seconds
        self.program = find_git(top, environment.get("PATH", os.defpath))
        self.filters = frozenset[str]()
        self.hooks_path, self.hook_events = "", frozenset[str]()
        self.places: Mapping[str, str] = {}
        self._settings = dict(_SETTINGS)
        self._fixed = dict(_ENVIRONMENT)
        if as_person:
            self._settings["safe.bareRepository"] = "all"
            del self._fixed["GIT_CONFIG_NOSYSTEM"]

    def run(
        self,
        *args: str,
        given: bytes = b"",
        limit: int = OUTPUT,
        top: bool = False,
        options: Sequence[str] = (),
    ) -> Output:
        """Run git and return what it prints."""
        command = [self.program, "--no-pager", *options, *args]
        folder, deadline = self.top if top else self.folder, time.monotonic() + self._seconds
        with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as errors:
            source.write(given)
            source.seek(0)
            process = self._started(command, folder, source, errors)
            try:
                made = _read(process, limit, deadline)
                if made is not None and not made.is_cut:
                    process.wait(max(deadline - time.monotonic(), 0.1))
            except subprocess.TimeoutExpired:
                made = None
            finally:
                _closing(process)
                assert process.stdout is not None
                process.stdout.close()
            if made is None:
                raise GitError(
                    "git {command} took longer than {seconds} s and was ended.",
                    command=args[0],
                    seconds=f"{self._seconds:.3g}",
                )
            if process.returncode and not made.is_cut:
                errors.seek(0)
                raise self._failed(args[0], errors.read(10_000).decode(errors="replace"))
            return made

    def _started(
        self, command: Sequence[str], folder: Path, source: IO[bytes], errors: IO[bytes]
    ) -> "subprocess.Popen[bytes]":
        try:
            return subprocess.Popen(
                command,
                cwd=folder,
                env=self._environment(),
                stdin=source,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
            )
        except (FileNotFoundError, NotADirectoryError) as problem:
            if not folder.is_dir():
                raise GitError("The folder does not exist any more.") from problem
            raise GitError("Git is not installed.", "no git") from problem
        except (OSError, ValueError) as problem:
            raise GitError("Git cannot be run: {why}.", why=problem) from problem

    def _environment(self) -> dict[str, str]:
        given = self._given
        made = {name: given[name] for name in _KEPT if name in given}
        made |= {**self._fixed, **self.places}
        made["PATH"] = str(Path(self.program).parent)
        made["GIT_CEILING_DIRECTORIES"] = str(self.top.parent)
        made["GIT_CONFIG_COUNT"] = str(len(self._settings))
        for number, (name, value) in enumerate(self._settings.items()):
            made[f"GIT_CONFIG_KEY_{number}"], made[f"GIT_CONFIG_VALUE_{number}"] = name, value
        return made

    def config(self, options: Sequence[str] = ()) -> list[Setting]:
        """Return all settings but the overrides, those of included files too."""
        args = ("config", "--list", "--show-scope", "--show-origin", "--null", "--includes")
        listed = self.run(*args, options=options)
        if listed.is_cut:
            raise GitError("The repository's config is too long to be read.")
        parts = iter(os.fsdecode(listed.data).split("\0"))
        return [
            Setting(scope, origin, *setting.partition("\n")[::2])
            for scope, origin, setting in zip(parts, parts, parts, strict=False)
            if scope != "command"
        ]

    def override_drivers(self) -> None:
        """Override every setting that names a program, wherever it comes from."""
        found = self.config()
        named = {
            one.name: instead
            for one in found
            if "*" in (kind := one.program) and (instead := _PROGRAMS[kind]) is not None
        }
        hooks = (_HOOK.fullmatch(one.name) for one in found)  # core.hooksPath does not stop these
        named |= {f"{match[1]}.enabled": "false" for match in hooks if match}
        if len(named) > _MOST_DRIVERS:
            raise GitError(
                "The repository's config names too many programs to switch all of them off."
            )
        filters = (_FILTER.fullmatch(one.name) for one in found if one.value)
        self.filters = frozenset(match[1] for match in filters if match)
        paths = [one.value for one in found if one.name == "core.hookspath"]
        self.hooks_path = paths[-1] if paths else ""
        self.hook_events = frozenset(one.value for one in found if one.program == "hook.*.event")
        self._settings |= named

    def _failed(self, command: str, message: str) -> GitError:
        top = quoted(str(self.top))
        if "dubious ownership" in message:
            return GitError(
                "{top} belongs to another user, so git refuses it. If you trust it, run "
                "git config --global --add safe.directory {top}",
                top=top,
            )
        if ".lock" in message and "File exists" in message:
            lock = re.search(r"'([^'\n]*\.lock)'", message)
            name = lock[1] if lock else "index.lock"
            return GitError(
                "Another git is at work here, or one was interrupted: {name} exists. If no git "
                "is running, delete that file.",
                name=name,
            )
        if "identity unknown" in message or "auto-detection is disabled" in message or (
            "empty ident name" in message
        ):  # fmt: skip
            return GitError(
                "Git does not know who you are. Set your name and address with "
                "git config --global user.name and git config --global user.email."
            )
        words = " ".join(message.split())[:_ERROR] or f"git {command} failed."
        return GitError(words)
