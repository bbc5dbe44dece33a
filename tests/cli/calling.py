"""Run the program: in this process, which is fast, or in its own, which is realistic."""

import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from contextui.cli import main
from contextui.session.store import SessionInfo, SessionStore
from tests import forkserver
from tests.agent.server import Server

SECRET = "sk-ant-api03-5f3a9c27e1d84b60"  # an API key that must not appear anywhere
PATIENCE = 300  # the timeout of a process in seconds; far more than a successful one takes


@dataclass(frozen=True)
class Done:
    """The result of a call: its exit status and output."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        """The output, each line parsed."""
        return [json.loads(line) for line in self.out.splitlines()]

    def fails(self, status: int, *words: str) -> None:
        """Check the failure: this status, one line with these texts, no traceback."""
        assert self.status == status, self
        assert self.err.startswith("contextui: "), self
        assert self.err.count("\n") == 1, self
        for word in words:
            assert word in self.err, self


class Terminal(io.StringIO):
    """Captures output as a terminal would."""

    def isatty(self) -> bool:
        return True


class Program:
    """contextui in a folder of its own, with a home of its own.

    Attributes:
        home: Where it keeps what lasts.
        folder: Where it is started.
    """

    def __init__(
        self, folder: Path, patch: pytest.MonkeyPatch, capture: pytest.CaptureFixture[str]
    ) -> None:
        self.home, self.folder = folder / "home", folder / "work"
        self.folder.mkdir()
        self._patch, self._capture = patch, capture
        for name in list(os.environ):
            if name.startswith(("CONTEXTUI_", "ANTHROPIC_", "LC_", "LANG")):
                patch.delenv(name)
        self.set(CONTEXTUI_HOME=str(self.home), LANG="C.UTF-8", COLUMNS="80", HOME=str(folder))
        patch.chdir(self.folder)

    def set(self, **variables: str) -> None:
        """Set variables of the environment, for all calls from now on."""
        for name, value in variables.items():
            self._patch.setenv(name, value)

    def __call__(self, *words: str, stdin: bytes = b"") -> Done:
        """Call it in this process."""
        self._patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        self._capture.readouterr()
        status = main(words)
        captured = self._capture.readouterr()
        return Done(status, captured.out, captured.err)

    def run(
        self,
        *words: str,
        stdin: bytes = b"",
        environ: Mapping[str, str] | None = None,
        is_forked: bool = True,
    ) -> Done:
        """Call it in a process of its own; one that is not forked has a command line of its own."""
        done = (forkserver.run if is_forked else subprocess.run)(
            [sys.executable, "-m", "contextui", *words],
            input=stdin,
            capture_output=True,
            timeout=PATIENCE,
            check=False,
            env={**os.environ, **(environ or {})},
        )
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())

    def start(self, *words: str, **how: Any) -> "subprocess.Popen[bytes]":
        """Start it in a process of its own; its stdin is a pipe only if it is named."""
        pipe, null = subprocess.PIPE, subprocess.DEVNULL
        streams = {"stdin": pipe if "-" in words else null, "stdout": pipe, "stderr": pipe}
        return forkserver.Popen([sys.executable, "-m", "contextui", *words], **{**streams, **how})

    def write(self, path: str, text: str | bytes) -> Path:
        """Write a file of the folder."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return file

    def sessions(self) -> list[SessionInfo]:
        """All sessions."""
        return SessionStore(self.home).list()

    def files(self) -> list[str]:
        """All files in the home, without locks."""
        if not self.home.exists():
            return []
        return sorted(
            str(path.relative_to(self.home)) for path in self.home.rglob("*")
            if path.is_file() and path.suffix != ".lock"
        )  # fmt: skip

    def forget(self) -> None:
        """Remove all stored data."""
        shutil.rmtree(self.home, ignore_errors=True)


def texts(server: Server, number: int = -1) -> str:
    """All text of a request's messages."""
    blocks = server.requests[number].blocks()
    return "\n".join(block["text"] for _, block in blocks if block["type"] == "text")
