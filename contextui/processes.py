"""Processes that windows start: each in a session of its own, none left when the program ends.

`start` runs a program, with pipes or in a pseudo terminal, and returns a `Process`. `Process.end`
ends it together with everything it started in its session. If the program itself is killed, the
reaper, a small process started with the first managed one, does the same.

A program that moves to another session on purpose, as `tmux` and daemons do, is left alone.
"""

import asyncio
import atexit
import fcntl
import os
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import psutil

from contextui import reaper
from contextui.errors import ContextUIError, os_reason
from contextui.text import quote

PIPE, DEVNULL, STDOUT = asyncio.subprocess.PIPE, subprocess.DEVNULL, subprocess.STDOUT

# A session leader gets a controlling terminal by opening one. Python code between fork and exec
# could do the same, but it can deadlock in a program with threads.
_OPEN_TERMINAL = 'exec <>"$1" >&0 2>&1; shift; exec "$@"'


_PROVIDERS = (
    *("ANTHROPIC", "CLAUDE", "OPENAI", "AZURE_OPENAI", "AZURE_AI", "GEMINI", "GOOGLE", "MISTRAL"),
    *("COHERE", "CO", "GROQ", "XAI", "DEEPSEEK", "OPENROUTER", "TOGETHER", "TOGETHERAI"),
    *("FIREWORKS", "PERPLEXITY", "REPLICATE", "HUGGINGFACE", "HUGGING_FACE_HUB", "HF", "MOONSHOT"),
    *("DASHSCOPE", "ZHIPUAI", "ZAI", "MINIMAX", "SILICONFLOW", "CEREBRAS", "NVIDIA", "OLLAMA"),
    *("AI21", "VOYAGE", "BEDROCK", "AWS_BEARER", "LITELLM", "VLLM", "LM_STUDIO", "CODESTRAL"),
)
_KEYS = "API_KEY|API_TOKEN|AUTH_TOKEN|ACCESS_TOKEN|OAUTH_TOKEN|KEY|TOKEN|TOKEN_BEDROCK|SECRET"
_PRIVATE = re.compile(
    rf"(?:{'|'.join(_PROVIDERS)})_(?:\w+_)?(?:{_KEYS})(?:_?\d+)?|CONTEXTUI_\w+", re.IGNORECASE
)


def without_keys(environ: Mapping[str, str]) -> dict[str, str]:
    """Return an environment without the keys of model providers and the variables of contextui."""
    return {name: value for name, value in environ.items() if not _PRIVATE.fullmatch(name)}


class ProcessError(ContextUIError):
    """A process cannot be started."""


class Process:
    """A process that leads a session of its own."""

    def __init__(
        self,
        argv: Sequence[str],
        process: asyncio.subprocess.Process,
        terminal: int = -1,
        device: str = "",
    ) -> None:
        self.argv, self.pid, self.terminal = tuple(argv), process.pid, terminal
        self.stdin, self.stdout, self.stderr = process.stdin, process.stdout, process.stderr
        self._process, self._device = process, device
        self._started = _reaper.watch(process.pid)

    @property
    def returncode(self) -> int | None:
        """The exit status; negative if a signal ended it; None while it runs."""
        return self._process.returncode

    async def wait(self) -> int:
        """Wait until the process ends, and return its exit status."""
        return await self._process.wait()

    def members(self) -> list[int]:
        """Return the ids of all processes in its session."""
        return reaper.members(self.pid, self._started)

    async def end(self, grace: float = reaper.GRACE) -> None:
        """End all processes of the session: ask them to, then kill those that remain."""
        for pause in reaper.ending(self.pid, self._started, grace):
            await asyncio.sleep(pause)
        await self.wait()
        _reaper.release(self.pid)

    def terminate(self) -> None:
        """Ask all processes of the session to end, from any thread; see `end` to make sure."""
        reaper.send(self.members(), (signal.SIGTERM, signal.SIGCONT))

    def foreground(self) -> int:
        """Return the process group that reads from the terminal, or 0 if there is none."""
        try:
            return max(0, os.tcgetpgrp(self.terminal))
        except OSError:  # every process of the terminal has ended
            return 0

    def open_device(self) -> int:
        """Open the side of the terminal that programs read from, and return its descriptor.

        Close it soon: as long as it is open, the end of the last program goes unnoticed.
        """
        return os.open(self._device, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)

    def resize(self, rows: int, columns: int) -> None:
        """Set the size of the terminal; the kernel sends SIGWINCH to its foreground group."""
        _set_size(self.terminal, rows, columns)


async def start(
    argv: Sequence[str],
    *,
    cwd: Path | str,
    env: Mapping[str, str],
    stdin: int = DEVNULL,
    stdout: int = PIPE,
    stderr: int = PIPE,
    pty: bool = False,
    size: tuple[int, int] = (24, 80),
) -> Process:
    """Start a program in a new session, on the running event loop.

    Args:
        argv: The program and its arguments; a name without a slash is looked up in `env`'s PATH.
        stdin: A descriptor, or PIPE or DEVNULL; not used with `pty`, like the other two.
        pty: Run it in a pseudo terminal, whose master side is `Process.terminal` (non-blocking).
    """
    program = find_program(argv[0], env)
    if not os.path.isdir(cwd):
        raise ProcessError("There is no folder {name}.", name=quote(str(cwd)))
    command, terminal, device = [program, *argv[1:]], -1, ""
    if pty:
        terminal, slave = os.openpty()
        try:
            _set_size(slave, *size)
            os.set_blocking(terminal, False)
            device = os.ttyname(slave)
            command = ["/bin/sh", "-c", _OPEN_TERMINAL, "sh", device, *command]
            process = await _spawn(command, cwd, env, stdin=slave, stdout=slave, stderr=slave)
        except BaseException:
            os.close(terminal)
            raise
        finally:
            os.close(slave)
    else:
        process = await _spawn(command, cwd, env, stdin=stdin, stdout=stdout, stderr=stderr)
    return Process(argv, process, terminal, device)


async def _spawn(
    argv: Sequence[str], cwd: Path | str, env: Mapping[str, str], **streams: Any
) -> asyncio.subprocess.Process:
    try:
        return await asyncio.create_subprocess_exec(
            *argv,
            cwd=cwd,
            env=dict(env),
            start_new_session=True,
            **streams,
        )
    except OSError as error:
        raise ProcessError(
            "{name} cannot be started: {reason}.", name=quote(argv[0]), reason=os_reason(error)
        ) from error


def find_program(name: str, env: Mapping[str, str]) -> str:
    """Return the absolute path of a program.

    Args:
        name: A path, or a name that is looked up in PATH.
        env: The environment whose PATH counts. Relative folders in PATH are not searched: the
            program found there would depend on the current folder.
    """
    folders = [one for one in env.get("PATH", os.defpath).split(os.pathsep) if os.path.isabs(one)]
    found = shutil.which(name, path=os.pathsep.join(folders)) if folders or "/" in name else None
    if found is None:
        there = "/" in name and os.path.exists(name)
        raise ProcessError(
            "{name} is not executable." if there else "There is no program {name}.",
            name=quote(name),
        )
    return os.path.abspath(found)


def signal_group(group: int, number: signal.Signals) -> bool:
    """Send a signal to a process group; return whether one of its processes got it."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):  # it has ended, or is another user's
        return False
    return True


def is_stopped(pid: int) -> bool:
    """Whether a signal has stopped a process, so that it executes nothing."""
    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_STOPPED)
    except psutil.Error:
        return False


def is_copy(pid: int, of: int) -> bool:
    """Whether a process was forked from another one, such as a shell, and runs no program yet."""
    try:
        return bool(psutil.Process(pid).cmdline() == psutil.Process(of).cmdline())
    except psutil.Error:
        return False


def unread(device: int) -> int:
    """Return how many bytes wait in a terminal until a program reads them.

    While the kernel edits lines (`ICANON`), the bytes of an unfinished line do not count.
    """
    # Linux moves written bytes to the reader's queue a moment later; polling waits for that.
    poll = select.poll()
    poll.register(device, select.POLLIN)
    poll.poll(0)
    try:
        return int.from_bytes(fcntl.ioctl(device, termios.FIONREAD, bytes(4)), sys.byteorder)
    except OSError:  # every process of the terminal has ended
        return 0


def _set_size(terminal: int, rows: int, columns: int) -> None:
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


class _Reaper:
    """The connection to the reaper process. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sessions: dict[int, str] = {}
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """The id of the reaper process, once it was started."""
        return self._process.pid if self._process else None

    def watch(self, session: int) -> str:
        """End this session if the program dies before it is released; return its start time."""
        when = reaper.started(session) or "ended"
        with self._lock:
            self._sessions[session] = when
            self._write(f"+{session} {when}\n")
        return when

    def release(self, session: int) -> None:
        """Forget a session that has ended: another process may get its id."""
        with self._lock:
            if self._sessions.pop(session, None) is not None:
                self._write(f"-{session}\n")

    def _write(self, line: str) -> None:
        if self._process is None:
            self._start()
        try:
            self._send(line)
        except BrokenPipeError:  # the reaper was killed: start another
            self._start()

    def _start(self) -> None:
        self._discard()
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", reaper.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env={},
            start_new_session=True,
            bufsize=0,
        )
        for session, when in self._sessions.items():
            self._send(f"+{session} {when}\n")

    def _send(self, line: str) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(line.encode())  # shorter than PIPE_BUF, so never cut

    def _discard(self) -> None:
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
            self._process.wait()

    def close(self) -> None:
        """Let the reaper end what is left, and wait for it."""
        with self._lock:
            self._discard()
            self._process = None
            self._sessions.clear()

    def forget(self) -> None:
        """Drop the connection in a forked child: the reaper watches only the parent."""
        self._lock, self._sessions = threading.Lock(), {}
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
            self._process.returncode = 0  # not a child of this process
            self._process = None


_reaper = _Reaper()
atexit.register(_reaper.close)
os.register_at_fork(after_in_child=_reaper.forget)
