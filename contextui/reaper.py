"""Reaper process: ends the sessions that a killed program left behind.

The program starts this file as a script (`python -I -S reaper.py`) and writes one line to its
standard input for each session: `+ID STARTED` when it starts and `-ID` when it has ended. When the
pipe closes, the reaper ends the sessions that remain, and exits. It uses the standard library only,
so that it starts fast. The program itself imports it for the same functions.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator

GRACE = 1.0
"""Seconds between the request to end and SIGKILL."""

_TRIES = 100  # of SIGKILL: a fork bomb starts processes while the others are being killed
_PAUSE = 0.02


def processes() -> Iterator[tuple[int, int, str]]:
    """Yield process id, session id and start time of each process that has not ended."""
    if not os.path.isdir("/proc/self"):
        yield from _listed_by_ps()
        return
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                fields = file.read().rpartition(b")")[2].split()
        except OSError:
            continue  # ended since it was listed
        if fields and fields[0] not in b"ZX":
            yield int(name), int(fields[3]), fields[19].decode()


def _listed_by_ps() -> Iterator[tuple[int, int, str]]:
    listed = subprocess.run(
        ["ps", "-A", "-o", "pid=,stat=,lstart="], capture_output=True, text=True, check=True
    )
    for line in listed.stdout.splitlines():
        pid, state, started = line.split(None, 2)
        try:
            session = os.getsid(int(pid))
        except OSError:
            continue
        if not state.startswith("Z"):
            yield int(pid), session, started.replace(" ", "_")


def members(session: int, when: str = "") -> list[int]:
    """Return the processes of a session. Zombies count as ended.

    Args:
        session: The id of the session and of the process that leads it.
        when: When the leader started. Another process may have got its id since: its session has
            no members.
    """
    found = []
    for pid, its, began in processes():
        if pid == session and when and began != when:
            return []
        if its == session:
            found.append(pid)
    return found


def started(pid: int) -> str:
    """Return when a process started, as an opaque text, or "" if it has ended."""
    return next((when for one, _, when in processes() if one == pid), "")


def ending(session: int, when: str = "", grace: float = GRACE) -> Iterator[float]:
    """End all processes of a session; yield the seconds to wait before each next step.

    An interactive shell puts each job into a process group of its own, so signals go to each
    process of the session. A stopped process is continued: it could not act on the signal.
    """
    began = time.monotonic()
    # A shell saves its history on SIGHUP, unless SIGTERM comes in between.
    for number, until in ((signal.SIGHUP, grace / 4), (signal.SIGTERM, grace)):
        send(members(session, when), (number, signal.SIGCONT))
        while members(session, when) and time.monotonic() - began < until:
            yield _PAUSE
    for _ in range(_TRIES):
        if not (left := members(session, when)):
            return
        send(left, (signal.SIGKILL,))
        yield _PAUSE


def send(pids: Iterable[int], signals: Iterable[int]) -> None:
    """Send signals to processes, except to those that have ended or belong to another user."""
    for pid in pids:
        for number in signals:
            try:
                os.kill(pid, number)
            except (ProcessLookupError, PermissionError):
                break


def keep(lines: Iterable[str]) -> None:
    """Follow the program's lines; after the last, end the sessions that remain."""
    sessions: dict[int, str] = {}
    for line in lines:
        match line.split():
            case [number, when] if number[0] == "+":
                sessions[int(number[1:])] = when
            case [number] if number[0] == "-":
                sessions.pop(int(number[1:]), None)
    ends = [ending(session, when) for session, when in sessions.items()]
    while ends:
        ends = [one for one in ends if next(one, None) is not None]
        time.sleep(_PAUSE)


if __name__ == "__main__":
    for _ignored in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM, signal.SIGQUIT, signal.SIGTSTP):
        signal.signal(_ignored, signal.SIG_IGN)
    keep(sys.stdin)
