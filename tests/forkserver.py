"""Python processes that are forked from one with everything imported.

To start Python and import the program takes a second; to fork a process that has done so takes a
few milliseconds. A forked process differs from a started one in what it has imported only: tests of
the start itself, of Python's options or of untrusted folders use `subprocess`.
"""

import array
import atexit
import gc
import io
import json
import os
import runpy
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from contextui.interrupt import exit_on_interrupt, reset_for_children
from contextui.safe_path import remove_current_folder
from contextui.tokens import TokenCounter
from contextui.windowing.finding.registry import discover
from tests import certificates

_ROOT = Path(__file__).parent.parent
_IMPORTED = (
    *("anthropic", "contextui.agent.models.anthropic", "contextui.agent.models.offline"),
    *("contextui.agent.models.openai", "contextui.cli.headless", "contextui.cli.program"),
    *("contextui.cli.screen", "contextui.testing", "contextui.tui.app", "contextui.tui.main"),
    *("contextui.tui.conversation.pane", "contextui.tui.desktop.pane"),
    *("contextui.tui.inspector.pane", "contextui.tui.rewind", "hypothesis", "pytest"),
)
_STATUS = array.array("i", [0]).itemsize
_ADDRESS = "PYTEST_FORKSERVER"  # a variable with the path of its socket


class Popen(subprocess.Popen[Any]):
    """`subprocess.Popen` for `[sys.executable, "-m", MODULE, …]` and `[sys.executable, "-c", …]`.

    `-P` may precede them.

    Of its other arguments, it takes the streams, `cwd`, `env` and `start_new_session`. With
    `terminal`, the standard input becomes the controlling terminal of the new session. Of the
    three streams, those in `closed` are closed. Signals in `ignored` and `blocked` are so from the
    start.
    """

    def __init__(
        self,
        argv: Sequence[str | Path],
        *,
        terminal: bool = False,
        closed: Sequence[int] = (),
        ignored: Sequence[int] = (),
        blocked: Sequence[int] = (),
        **how: Any,
    ) -> None:
        self._more = {
            "terminal": terminal,
            "closed": list(closed),
            "ignored": list(ignored),
            "blocked": list(blocked),
        }
        super().__init__([str(word) for word in argv], **how)

    def _execute_child(self, args: Any, *given: Any) -> None:
        _executable, _preexec, _close, _pass, cwd, env, _info, _flags, _shell = given[:9]
        ends, is_session = given[9:15], given[20]
        streams = [ends[0], ends[3], ends[5]]
        self._status, theirs = os.pipe()
        wanted = {
            "argv": list(args)[1:],
            "cwd": os.fspath(cwd or os.getcwd()),
            "env": dict(os.environ if env is None else env),
            "session": bool(is_session),
            **self._more,
            "given": [one >= 0 for one in streams],
        }
        passed = [theirs, *(one for one in streams if one >= 0)]
        try:
            self.pid = _server().start(wanted, passed)
        except BaseException:
            os.close(self._status)
            raise
        finally:
            os.close(theirs)
            for ours, child in ((ends[1], ends[0]), (ends[2], ends[3]), (ends[4], ends[5])):
                if ours >= 0 and child >= 0:
                    os.close(child)
        self._child_created = True

    def _internal_poll(self, *_: Any, **__: Any) -> int | None:
        if self.returncode is None and select.select([self._status], [], [], 0)[0]:
            self._take_status()
        return self.returncode

    def _wait(self, timeout: float | None) -> int:
        if self.returncode is None:
            if not select.select([self._status], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(self.args, timeout or 0.0)
            self._take_status()
        return self.returncode

    def _take_status(self) -> None:
        data = os.read(self._status, _STATUS)
        os.close(self._status)
        assert data, "the server of forked processes has ended"
        self.returncode = os.waitstatus_to_exitcode(array.array("i", data)[0])


def run(argv: Sequence[str | Path], **how: Any) -> "subprocess.CompletedProcess[Any]":
    """Do as `subprocess.run` does."""
    given, seconds = how.pop("input", None), how.pop("timeout", None)
    is_checked = how.pop("check", False)
    if how.pop("capture_output", False):
        how |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    if given is not None:
        how["stdin"] = subprocess.PIPE
    with Popen(argv, **how) as process:
        try:
            out, err = process.communicate(given, timeout=seconds)
        except BaseException:
            process.kill()
            raise
    done = subprocess.CompletedProcess(process.args, process.returncode, out, err)
    if is_checked:
        done.check_returncode()
    return done


class _Server:
    """The connection to the process to fork from."""

    def __init__(self) -> None:
        if _ADDRESS not in os.environ:
            share()
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(os.environ[_ADDRESS])

    def start(self, wanted: Mapping[str, Any], passed: list[int]) -> int:
        """Start a process with these descriptors; return its id."""
        data = json.dumps(wanted).encode() + b"\n"
        self._socket.sendall(data[socket.send_fds(self._socket, [data], passed) :])
        return int(self._socket.recv(100))

    def close(self) -> None:
        """End the connection."""
        self._socket.close()


@cache
def _server() -> _Server:
    return _Server()


def disconnect() -> None:
    """Close the connection to the process to fork from, if there is one."""
    if _server.cache_info().currsize:
        _server().close()
        _server.cache_clear()


def share() -> None:
    """Start the process to fork from, for this process and those that it starts.

    It ends with this process; the forked ones go on.
    """
    folder = tempfile.mkdtemp(prefix="contextui-", dir="/tmp")  # the path must be short
    os.environ[_ADDRESS] = f"{folder}/socket"
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(os.environ[_ADDRESS])
    listener.listen()
    life, ours = os.pipe()
    given = [listener.fileno(), life]
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.forkserver", *map(str, given)],
        cwd=_ROOT,
        pass_fds=given,
        stdin=subprocess.DEVNULL,
    )
    for one in given:
        os.close(one)
    listener.detach()

    def end() -> None:
        os.close(ours)
        process.wait()
        shutil.rmtree(folder)

    atexit.register(end)


def _serve(listener: socket.socket, life: int) -> None:
    """Fork a process for each request, and report the status with which it ends."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    before = signal.set_wakeup_fd(writing)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    running: dict[int, int] = {}
    clients: list[socket.socket] = []
    while True:
        watched: list[Any] = [listener, life, reading, *clients]
        ready, _, _ = select.select(watched, [], [])
        if life in ready:
            return
        if reading in ready:
            os.read(reading, 1000)
            while ended := _ended_child(running):
                child, status = ended
                os.write(running[child], array.array("i", [status]).tobytes())
                os.close(running.pop(child))
        if listener in ready:
            if not clients:
                import_everything()
                certificates.skip_system()
                os.fsync = os.fdatasync = lambda _: None  # type: ignore[assignment]
                gc.freeze()  # a child does not look through what it shares
            clients.append(listener.accept()[0])
        for client in [one for one in clients if one in ready]:
            data, passed, _, _ = socket.recv_fds(client, 1_000_000, 4)
            if not data:
                clients.remove(client)
                client.close()
                continue
            while not data.endswith(b"\n"):
                data += client.recv(1_000_000)
            child = os.fork()
            if not child:
                signal.set_wakeup_fd(before)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                for one in (listener, *clients):
                    one.close()
                for number in (life, reading, writing, *running.values(), passed[0]):
                    os.close(number)
                _become(json.loads(data), passed[1:])
            running[child] = passed[0]
            for number in passed[1:]:
                os.close(number)
            client.send(str(child).encode())


def _ended_child(running: Mapping[int, int]) -> tuple[int, int] | None:
    if not running:
        return None
    child, status = os.waitpid(-1, os.WNOHANG)
    return (child, status) if child else None


def import_everything() -> None:
    """Import what the program may import, and load its vocabulary."""
    for name in _IMPORTED:
        import_module(name)
    TokenCounter().count("")  # loads the vocabulary
    discover().load_all()


def _become(wanted: Mapping[str, Any], passed: list[int]) -> None:
    """Turn this process into the wanted one, and end with it."""
    threading.main_thread()._set_native_id()  # type: ignore[attr-defined]  # else the server's
    if wanted["session"]:
        os.setsid()
    streams = iter(passed)
    for number, is_given in enumerate(wanted["given"]):
        if is_given:
            stream = next(streams)
            os.dup2(stream, number)
            os.close(stream)
    if wanted["terminal"]:
        import fcntl
        import termios

        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    for signalled in wanted["ignored"]:
        signal.signal(signalled, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, wanted["blocked"])
    os.environ.clear()
    os.environ.update(wanted["env"])
    os.chdir(wanted["cwd"])
    for name, number, mode in (("stdin", 0, "r"), ("stdout", 1, "w"), ("stderr", 2, "w")):
        if number in wanted["closed"]:
            os.close(number)
            setattr(sys, name, None)
            setattr(sys, f"__{name}__", None)
            continue
        raw = open(number, f"{mode}b", closefd=False)  # noqa: SIM115
        errors = "backslashreplace" if name == "stderr" else "surrogateescape"
        is_line_buffered = name == "stderr" or os.isatty(number)
        wrapped = io.TextIOWrapper(raw, "utf-8", errors, line_buffering=is_line_buffered)
        setattr(sys, name, wrapped)
        setattr(sys, f"__{name}__", wrapped)
    sys.orig_argv = [sys.executable, *wanted["argv"]]
    status = 0
    try:
        _run(*wanted["argv"])
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException as error:
        sys.excepthook(type(error), error, error.__traceback__)
        status = 1
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for one in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            one.flush()
    os._exit(status)  # to take the modules apart would take longer than most tests


def _run(first: str, *words: str) -> None:
    path = [one for one in os.environ.get("PYTHONPATH", "").split(os.pathsep) if one]
    is_safe = first == "-P"
    way, what, *rest = words if is_safe else (first, *words)
    sys.argv = ["-P" if is_safe else way, *rest]
    sys.path[:1] = [*([] if is_safe else [os.getcwd() if way == "-m" else ""]), *path]
    if what == "contextui":
        _become_program()
    if way == "-m":
        runpy.run_module(what, run_name="__main__", alter_sys=True)
    else:
        assert way == "-c", way
        exec(compile(what, "<string>", "exec"), {"__name__": "__main__"})


def _become_program() -> None:
    """Do what the package does when it is imported by the program itself."""
    remove_current_folder()
    exit_on_interrupt()
    reset_for_children()


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])), int(sys.argv[2]))
