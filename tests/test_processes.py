"""Managed processes: streams, ending a whole session, and what a killed program leaves behind."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from contextui import processes, reaper

ENV = {"PATH": os.environ["PATH"]}


def run(test: Coroutine[Any, Any, None]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(60):
            await test

    asyncio.run(bounded())


def wait_for(condition: Callable[[], object]) -> None:
    end = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


async def test_streams_and_status(tmp_path: Path) -> None:
    script = "read x; echo out-$x; echo err >&2; pwd; exit 3"
    one = await processes.start(["sh", "-c", script], cwd=tmp_path, env=ENV, stdin=processes.PIPE)
    assert one.stdin is not None
    assert one.stdout is not None
    assert one.stderr is not None
    one.stdin.write(b"in\n")
    assert await one.stdout.read() == f"out-in\n{tmp_path}\n".encode()
    assert await one.stderr.read() == b"err\n"
    assert await one.wait() == one.returncode == 3
    await one.end()


async def test_a_terminal_is_the_controlling_one(tmp_path: Path) -> None:
    script = "tty; echo on > /dev/tty; stty size"
    one = await processes.start(
        ["sh", "-c", script], cwd=tmp_path, env=ENV, pty=True, size=(11, 22)
    )
    assert await one.wait() == 0
    output = b""
    while output.count(b"\n") < 3:  # the kernel may pass it on in parts, a moment later
        with suppress(BlockingIOError):
            output += os.read(one.terminal, 1000)
    lines = output.decode().split()
    assert lines[0].startswith("/dev/")
    assert lines[1:] == ["on", "11", "22"]
    await one.end()
    os.close(one.terminal)


async def test_each_process_leads_a_session(tmp_path: Path) -> None:
    one = await processes.start(["sleep", "100"], cwd=tmp_path, env=ENV)
    assert os.getsid(one.pid) == one.pid != os.getsid(0)
    assert one.members() == [one.pid]
    await one.end()
    assert one.returncode == -signal.SIGHUP
    await one.end()  # ending twice is harmless


@pytest.mark.parametrize("name", ["nonsense", "/nonsense", "./nonsense"])
async def test_a_program_that_does_not_exist_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(processes.ProcessError, match=f'There is no program "{name}"') as caught:
        await processes.start([name], cwd=tmp_path, env=ENV)
    assert caught.value.text("zh") == f'没有程序 "{name}"。'
    with pytest.raises(processes.ProcessError, match="There is no folder"):
        await processes.start(["sh"], cwd=tmp_path / "gone", env=ENV)


async def test_ending_reaches_every_group_and_those_that_refuse(tmp_path: Path) -> None:
    script = """
        set -m
        trap '' TERM HUP
        sleep 1000 &
        (trap '' TERM HUP; while :; do sleep 0.1; done) &
        sh -c 'kill -STOP $$' &
        echo on
        while :; do sleep 0.1; done
    """
    one = await processes.start(["bash", "-c", script], cwd=tmp_path, env=ENV)
    assert one.stdout is not None
    assert await one.stdout.readline() == b"on\n"
    groups = set[int]()
    for pid in one.members():
        with suppress(ProcessLookupError):  # a short sleep has ended since
            groups.add(os.getpgid(pid))
    assert len(groups) >= 3
    await one.end(grace=0.2)
    assert one.members() == []
    assert one.returncode == -signal.SIGKILL


async def test_a_fork_bomb_within_limits_is_ended(tmp_path: Path) -> None:
    # Each process starts two others and ends, up to a number of generations without end.
    script = 'f() { [ "$(ls /proc | grep -c "^[0-9]")" -gt 300 ] && sleep 1; f & f & wait; }; f'
    one = await processes.start(["sh", "-c", f"trap '' TERM HUP; {script}"], cwd=tmp_path, env=ENV)
    for _ in range(200):
        if len(one.members()) > 20:
            break
        await asyncio.sleep(0.02)
    await one.end(grace=0)
    assert one.members() == []


def test_a_session_with_a_reused_id_is_left_alone() -> None:
    with subprocess.Popen(["sleep", "100"], start_new_session=True) as other:
        try:
            when = reaper.started(other.pid)
            assert reaper.members(other.pid, when) == [other.pid]
            assert reaper.members(other.pid, "1") == []
            reaper.keep([f"+{other.pid} 1\n"])
            assert list(reaper.ending(other.pid, "1")) == []
            reaper.keep([f"+{other.pid} {when}\n", f"-{other.pid}\n"])
            assert other.poll() is None
        finally:
            other.kill()


PROGRAM = """
import asyncio, os, sys
from contextui import processes

async def main():
    inner = "trap '' TERM HUP; sleep 1000 & sh -c 'trap \\"\\" TERM HUP; sleep 1000; :'; :"
    found = []
    for pty in (False, True):
        one = await processes.start(
            ["bash", "-mc", inner], cwd="/", env=dict(os.environ), pty=pty
        )
        while len(one.members()) < 4:
            await asyncio.sleep(0.01)
        found.append(one.pid)
    print(processes._reaper.pid, *found, flush=True)
    await asyncio.sleep(1000)

asyncio.run(main())
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_nothing_is_left_of_a_killed_program_and_its_reaper(number: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as program:
        assert program.stdout is not None
        kept, *sessions = map(int, program.stdout.readline().split())
        assert [len(reaper.members(one)) for one in sessions] == [4, 4]
        assert os.getsid(kept) == kept
        program.send_signal(number)
        program.wait()
    for one in (*sessions, kept):
        wait_for(partial(_empty, one))


async def test_the_reaper_ignores_signals_of_the_terminal_and_holds_no_descriptors(
    tmp_path: Path,
) -> None:
    if not os.path.isdir("/proc/self"):
        pytest.skip("needs /proc")
    with (tmp_path / "file").open("w") as file:
        os.set_inheritable(file.fileno(), True)
        processes._reaper.close()
        one = await processes.start(["sleep", "100"], cwd=tmp_path, env=ENV)
    kept = processes._reaper.pid
    assert kept is not None
    wait_for(lambda: b"reaper" in Path(f"/proc/{kept}/cmdline").read_bytes())
    wait_for(lambda: len(os.listdir(f"/proc/{kept}/fd")) == 3)
    assert b"KEY" not in Path(f"/proc/{kept}/environ").read_bytes()
    status = Path(f"/proc/{kept}/status")
    ignored = (1 << 0) | (1 << 1) | (1 << 14)  # SIGHUP, SIGINT, SIGTERM
    wait_for(lambda: _mask(status, "SigIgn") & ignored == ignored)
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        os.kill(kept, number)
    await asyncio.sleep(0.1)
    assert reaper.members(kept) == [kept]
    await one.end()


def _empty(session: int) -> bool:
    return reaper.members(session) == []


def _mask(status: Path, name: str) -> int:
    line = next(one for one in status.read_text().splitlines() if one.startswith(name))
    return int(line.split()[1], 16)


async def test_a_reaper_that_was_killed_is_started_again(tmp_path: Path) -> None:
    one = await processes.start(["sleep", "100"], cwd=tmp_path, env=ENV)
    first = processes._reaper.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    wait_for(lambda: not reaper.members(first))
    other = await processes.start(["sleep", "100"], cwd=tmp_path, env=ENV)
    assert processes._reaper.pid != first
    assert set(processes._reaper._sessions) >= {one.pid, other.pid}
    processes._reaper.close()  # as at exit: it ends both
    assert one.members() == other.members() == []
    await one.end()
    await other.end()


def test_processes_start_from_many_threads(tmp_path: Path) -> None:
    left = list[list[int]]()

    async def test() -> None:
        started = [await processes.start(["sleep", "100"], cwd=tmp_path, env=ENV) for _ in range(4)]
        await asyncio.gather(*(one.end() for one in started))
        left.extend(one.members() for one in started)

    threads = [threading.Thread(target=run, args=(test(),)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert left == [[]] * 16
