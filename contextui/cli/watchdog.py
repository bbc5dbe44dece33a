"""Watchdog process: kills the program if a window freezes it or keeps it from exiting.

A regular expression with catastrophic backtracking holds Python's lock: no thread and no signal
handler of the program runs any more. So a second, tiny process watches a counter in shared memory,
which a thread of the program increments as long as Python runs; it also detects window code that
the main thread does not return from. It restores the terminal, names the window and kills the
program. Saved data stays intact: the log is consistent at any moment.

This file is the program's side and, run as a script, the watchdog itself. The script runs isolated
and imports only the standard library.
"""

import mmap
import os
import select
import signal
import struct
import sys
import threading
import time
from contextlib import suppress
from typing import Any

_HEAD = struct.Struct("<QQ240s")  # heartbeats, whether the program is exiting, who delays that
_SLOT = struct.Struct("<QQ112s")  # as in contextui.windowing.board
_SLOTS = 64
_SIZE = _HEAD.size + _SLOT.size * _SLOTS
_BEAT = 0.5  # seconds between two heartbeats
_GRACE = 1.0  # seconds for a regular exit before it is killed
_RESTORED = (
    "\x1b[?2026l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1015l\x1b[?1016l\x1b[?1004l"
    "\x1b[?2004l\x1b[?2048l\x1b[<u\x1b[>4;0m\x1b[?1049l\x1b[?25h\x1b[0m"
)
"""Resets what a full-screen app turns on: mouse, paste, keys, the alternate screen."""


class Watchdog:
    """The program's side: starts the watchdog process and sends heartbeats.

    Attributes:
        is_wanted: Whether this is the program, not a library in another one.
    """

    def __init__(self) -> None:
        self.is_wanted = False
        self._limit = 0.0
        self._memory: mmap.mmap | None = None
        self._terminal: list[Any] | None = None
        self._ending: float | None = None

    def remember_terminal(self) -> None:
        """Save the terminal settings before a full-screen app changes them.

        The app behind a page of ``contextui serve`` reads from a pipe and has no terminal.
        """
        with suppress(ImportError, OSError, ValueError):
            if sys.__stdin__ is not None and sys.__stdin__.isatty():
                import termios  # noqa: PLC0415  (not everywhere)

                self._terminal = termios.tcgetattr(sys.__stdin__.fileno())

    def start(self, limit: float) -> None:
        """Start the watchdog process, where possible.

        Args:
            limit: Seconds that the program may be frozen, or take to exit.
        """
        if not self.is_wanted or self._memory is not None or not sys.executable:
            return
        from contextui.windowing.board import board  # noqa: PLC0415
        from contextui.words import t  # noqa: PLC0415  (the script has no package)

        self._limit = limit
        messages = {
            "frozen": t(
                "{names} froze the program for {seconds} s, so it was killed. "
                "Saved data is intact: contextui -c resumes the session."
            ),
            "unknown": t(
                "The program was frozen for {seconds} s, so it was killed. "
                "Saved data is intact: contextui -c resumes the session."
            ),
            "ending": self._exit_message(),
        }
        facts = {
            "limit": limit,
            "messages": messages,
            "terminal": _packed(self._terminal),
            "main": threading.main_thread().native_id,
        }
        from json import dumps  # noqa: PLC0415  (--help does not need it)

        with suppress(OSError):
            self._memory = memory = _spawn(dumps(facts))
            # From here on the watchdog can read every call into a window.
            old, board.memory = board.memory, memoryview(memory)[_HEAD.size :]
            board.memory[:] = bytes(old)
            threading.Thread(target=self._beat, daemon=True, name="heartbeat").start()

    def end_soon(self) -> None:
        """Start the time limit for exiting: the program has done its work."""
        if self._memory is not None and self._ending is None:
            self._ending = time.monotonic()
            self._name_holders(self._memory)  # once the interpreter shuts down, no thread can
            self._write(1, 1)

    def _beat(self) -> None:
        memory, count = self._memory, 0
        assert memory is not None
        while True:
            count += 1
            self._write(0, count)
            time.sleep(min(_BEAT, self._limit / 4))
            if self._ending is not None:
                self._hurry(memory, time.monotonic() - self._ending)

    def _hurry(self, memory: mmap.mmap, seconds: float) -> None:
        """Record which windows delay the exit; after the limit, report them and exit."""
        names = self._name_holders(memory)
        if seconds > self._limit:
            line = self._exit_message().format(names=names, seconds=f"{self._limit:g}")
            with suppress(OSError):
                os.write(2, f"contextui: {line}\n".encode("utf-8", "replace"))
            os._exit(1)

    @staticmethod
    def _name_holders(memory: mmap.mmap) -> str:
        from contextui.windowing.board import holding_exit  # noqa: PLC0415

        names = ", ".join(holding_exit())
        memory[16 : _HEAD.size] = names.encode("utf-8", "replace")[:240].ljust(240, b"\0")
        return names

    def _write(self, place: int, value: int) -> None:
        assert self._memory is not None
        self._memory[place * 8 : place * 8 + 8] = struct.pack("<Q", value)

    @staticmethod
    def _exit_message() -> str:
        from contextui.words import t  # noqa: PLC0415

        return t(
            "{names} kept the program from exiting, so it was killed after {seconds} s. "
            "Saved data is intact."
        )


watchdog = Watchdog()
"""The watchdog of this process."""


def _spawn(facts: str) -> mmap.mmap:
    """Start the script with the shared memory as its standard output."""
    descriptor = _shared()
    reading, writing = os.pipe()  # the writing end stays open until the program exits
    try:
        memory = mmap.mmap(descriptor, _SIZE)
        kept = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
        os.posix_spawn(
            sys.executable,
            [sys.executable, "-I", "-S", os.path.abspath(__file__), facts],
            {name: os.environ[name] for name in kept if name in os.environ},  # no keys
            file_actions=[
                (os.POSIX_SPAWN_DUP2, reading, 0),
                (os.POSIX_SPAWN_DUP2, descriptor, 1),
            ],
        )
    except BaseException:
        os.close(writing)
        raise
    finally:
        os.close(reading)
        os.close(descriptor)
    return memory


def _shared() -> int:
    """Create an anonymous file for the shared memory."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("contextui")
    else:
        import tempfile  # noqa: PLC0415  (seldom needed)

        with tempfile.TemporaryFile() as file:
            descriptor = os.dup(file.fileno())
    os.ftruncate(descriptor, _SIZE)
    return descriptor


def _packed(terminal: list[Any] | None) -> list[Any] | None:
    """Convert the terminal settings to JSON values."""
    if terminal is None:
        return None
    return [*terminal[:6], [one if isinstance(one, int) else one.hex() for one in terminal[6]]]


# --- the script ----------------------------------------------------------------------------


def _watch(facts: dict[str, Any], parent: int) -> None:
    """Watch until the program has exited or must be killed."""
    memory = mmap.mmap(1, _SIZE)
    limit, step = facts["limit"], min(_BEAT, facts["limit"] / 4)
    last, held, frozen, stuck, ending = -1, (0, ""), 0.0, 0.0, 0.0
    while os.getppid() == parent:
        begun = time.monotonic()
        if select.select([0], [], [], step)[0]:
            return  # the program has exited
        # A program that was suspended, or slept with the machine, is not frozen: one step at most.
        passed = min(time.monotonic() - begun, 2 * step)
        beats, is_ending, holders = _HEAD.unpack_from(memory)
        frozen = frozen + passed if beats == last else 0.0
        holder = _on_main(memory, facts["main"])
        stuck = stuck + passed if holder == held and holder[0] else 0.0
        last, held = beats, holder
        ending += passed if is_ending else 0.0
        if _is_stopped(parent):
            frozen = stuck = 0.0
        elif is_ending and (frozen > limit or ending > limit + _GRACE):
            names = _names(memory, parent) or holders.rstrip(b"\0").decode("utf-8", "replace")
            _end(facts, parent, "ending" if names else "unknown", names)
        elif frozen > limit:
            names = _names(memory, parent)
            _end(facts, parent, "frozen" if names else "unknown", names)
        elif stuck > limit:  # Python runs, and its main thread waits for a window's code
            _end(facts, parent, "frozen", holder[1])


def _end(facts: dict[str, Any], parent: int, which: str, names: str) -> None:
    """Restore the terminal, report what happened, and kill the program."""
    with suppress(OSError):
        _restore(facts["terminal"])
    line = facts["messages"][which].format(names=names, seconds=f"{facts['limit']:g}")
    with suppress(OSError):
        os.write(2, f"contextui: {line}\n".encode("utf-8", "replace"))
    with suppress(OSError):
        os.kill(parent, signal.SIGKILL)
    sys.exit()


def _restore(terminal: list[Any] | None) -> None:
    if terminal is None:
        return
    import termios  # noqa: PLC0415  (not everywhere)

    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    descriptor = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
    try:
        os.write(descriptor, _RESTORED.encode())
        controls = [one if isinstance(one, int) else bytes.fromhex(one) for one in terminal[6]]
        termios.tcsetattr(descriptor, termios.TCSANOW, [*terminal[:6], controls])
    finally:
        os.close(descriptor)


def _calls(memory: mmap.mmap) -> list[tuple[int, int, str]]:
    """Return the running calls into windows: thread, number, window."""
    slots = (_SLOT.unpack_from(memory, _HEAD.size + n * _SLOT.size) for n in range(_SLOTS))
    return [
        (thread, number, name.rstrip(b"\0").decode("utf-8", "replace"))
        for thread, number, name in slots
        if thread
    ]


def _on_main(memory: mmap.mmap, main: int) -> tuple[int, str]:
    """Return the outermost call into a window on the main thread; number 0 if there is none."""
    return min(((number, name) for thread, number, name in _calls(memory) if thread == main),
               default=(0, ""))  # fmt: skip


def _names(memory: mmap.mmap, parent: int) -> str:
    """Return the window that holds the lock or, if unknown, all whose code was running."""
    names = {thread: name for thread, _, name in _calls(memory)}
    if len(names) > 1:
        before = {thread: _time_of(parent, thread) for thread in names}
        time.sleep(0.2)
        worked = {thread: _time_of(parent, thread) - before[thread] for thread in names}
        busiest = max(worked, key=lambda thread: worked[thread])
        if worked[busiest] > 0:
            return names[busiest]
    return ", ".join(dict.fromkeys(names.values()))


def _time_of(process: int, thread: int) -> int:
    """Return a thread's CPU time in the system's ticks; 0 if unknown."""
    with suppress(OSError, ValueError, IndexError):
        fields = _stat(f"/proc/{process}/task/{thread}/stat")
        return int(fields[11]) + int(fields[12])
    return 0


def _is_stopped(process: int) -> bool:
    """Whether the program was suspended by a signal or a debugger."""
    with suppress(OSError, IndexError):
        return _stat(f"/proc/{process}/stat")[0] in ("T", "t")
    return False


def _stat(path: str) -> list[str]:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read(4_096).rpartition(")")[2].split()


if __name__ == "__main__":
    for one in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(one, signal.SIG_IGN)
    from json import loads

    _watch(loads(sys.argv[1]), os.getppid())
