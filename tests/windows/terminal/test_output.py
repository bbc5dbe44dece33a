"""Output of any size and kind: bounded in memory, whole in the spool, never harmful."""

import asyncio
from pathlib import Path

import psutil
import pytest

from contextui.text import for_terminal
from contextui.windows.terminal import spool
from contextui.windows.terminal.integration import Mark
from contextui.windows.terminal.output import _REST, OutputReader, _flooding
from contextui.windows.terminal.transcript import HEAD, TAIL

from .shells import finished, prompt, shell, until

Patch = pytest.MonkeyPatch

MB = 1024 * 1024
FLOOD = f"yes {'y' * 63}"


def memory() -> int:
    """The memory that this process has, in bytes."""
    return psutil.Process().memory_info().rss


def small_backlog(patch: Patch) -> None:
    """Leave less to interpret when a flood ends."""
    patch.setattr("contextui.windows.terminal.output._BACKLOG", 128 * 1024)
    patch.setattr("contextui.windows.terminal.output._KEPT", 48 * 1024)


async def test_long_output_is_whole_in_the_spool(tmp_path: Path) -> None:
    async with shell(tmp_path) as one:
        ran = await finished(one, "seq 20000")
        transcript = ran.transcript
        assert transcript.head == [str(number) for number in range(1, HEAD + 1)]
        assert transcript.tail[-1] == "20000"
        assert len(transcript.tail) >= TAIL
        assert transcript.lines == 20_000
        assert f"… {transcript.left_out} lines …" in ran.output
        assert ran.spool.page(0, 3) == ["1", "2", "3"]
        assert ran.spool.page(13_456, 2) == ["13457", "13458"]
        assert ran.spool.page(19_999, 10) == ["20000"]
        assert ran.spool.page(20_000, 10) == []
        assert ran.spool.find("7777", 3) == [(7_776, "7777"), (17_776, "17777")]
        assert ran.spool.path.stat().st_mode & 0o777 == 0o600
        await prompt(one)
        shown = one.emulator.text()
        assert "\n19999\n20000\n" in shown


@pytest.mark.parametrize(
    ("source", "size"),
    [
        (FLOOD, 4 * MB),
        ("cat /dev/urandom", MB),
        pytest.param("yes", 64 * MB, marks=pytest.mark.long),
        pytest.param("cat /dev/urandom", 32 * MB, marks=pytest.mark.long),
    ],
)
async def test_a_flood_needs_little_memory_and_leaves_the_loop_alive(
    tmp_path: Path, monkeypatch: Patch, source: str, size: int
) -> None:
    if size <= 8 * MB:
        small_backlog(monkeypatch)
    limit = min(spool.SPOOL_LIMIT, size // 4)
    monkeypatch.setattr(spool, "SPOOL_LIMIT", limit)
    async with shell(tmp_path) as one:
        await finished(one, "seq 10000")
        before, most, turns = memory(), 0, 0
        ran = await one.run(f"{source} | head -c {size}")
        while ran.running:
            await asyncio.sleep(0.01)
            most, turns = max(most, memory()), turns + 1
        assert ran.status == 0
        assert turns > 2
        assert most - before < 8 * MB
        assert ran.spool.size + ran.spool.left_out >= size
        assert ran.spool.size <= limit
        if source.startswith("yes"):
            line = source[4:] or "y"
            assert ran.transcript.lines == size // (len(line) + 1)
            assert ran.transcript.tail[-1] == line
        for line in [*ran.transcript.head, *ran.transcript.tail, *ran.spool.page(1000, 100)]:
            assert for_terminal(line) == line
        await until(one, lambda: one._output.waiting == 0)  # the prompt comes after the end
        await prompt(one)
        assert (await finished(one, "echo on")).output == "on"


async def test_a_line_without_end_is_cut(tmp_path: Path) -> None:
    async with shell(tmp_path) as one:
        ran = await finished(one, "head -c 100000 /dev/zero | tr '\\0' x; echo; echo end")
        assert ran.output.splitlines()[-1] == "end"
        longest = max(map(len, [*ran.transcript.head, *ran.transcript.tail]))
        assert longest < 2100
        assert ran.spool.page(1, 1) == ["end"]
        assert ran.spool.page(0, 1)[0].startswith("x" * 2000 + " …")


async def test_the_spool_has_a_limit(tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.setattr(spool, "SPOOL_LIMIT", 100_000)
    async with shell(tmp_path) as one:
        ran = await finished(one, "seq 20000")
        assert ran.spool.size == 100_000
        assert ran.spool.left_out == 128_894 - 100_000
        assert ran.spool.path.stat().st_size == 100_000
        assert ran.transcript.tail[-1] == "20000"


async def test_a_spool_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    (tmp_path / "spool").write_text("a file, no folder")
    async with shell(tmp_path) as one:
        ran = await finished(one, "seq 20000")
        assert ran.status == 0
        assert ran.spool.error
        assert ran.transcript.lines == 20_000


async def test_a_full_disk_of_old_output_is_not_kept(tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.setattr("contextui.windows.terminal.shell.SPOOLED", 200_000)

    async with shell(tmp_path) as one:
        ran = [await finished(one, "seq 20000") for _ in range(4)]
        await finished(one, "true")
        assert ran[0].spool.page(0, 1) == []
        assert ran[3].spool.page(0, 1) == ["1"]
        assert len(list((tmp_path / "spool").iterdir())) <= 2


async def test_shells_whose_output_floods_take_turns(tmp_path: Path, monkeypatch: Patch) -> None:
    small_backlog(monkeypatch)
    reads, interpreted = list[OutputReader](), list[OutputReader]()
    read, interpret = OutputReader._read, OutputReader._interpret

    def count_read(self: OutputReader) -> int:
        reads.append(self)
        return read(self)

    def count_slice(self: OutputReader, deadline: float) -> None:
        interpreted.append(self)
        interpret(self, deadline)

    async with shell(tmp_path) as one, shell(tmp_path) as two, shell(tmp_path) as three:
        shells = (one, two, three)
        for each in shells:
            await each.run(FLOOD)
        await until(one, lambda: len(_flooding) == 3)
        monkeypatch.setattr(OutputReader, "_read", count_read)
        monkeypatch.setattr(OutputReader, "_interpret", count_slice)
        loop = asyncio.get_running_loop()
        start = loop.time()
        await asyncio.sleep(0.3)
        both = reads, interpreted
        await until(one, lambda: all(x._output in y for x in shells for y in both))
        rounds = (loop.time() - start) / (2 * _REST) + 5
        for each in shells:
            assert reads.count(each._output) <= rounds
            assert interpreted.count(each._output) <= rounds
        for each in shells:
            await each.cancel()
        await finished(one, "echo done")
        await until(one, lambda: not _flooding)


async def test_a_flood_after_a_mark_is_skipped_too(tmp_path: Path, monkeypatch: Patch) -> None:
    small_backlog(monkeypatch)

    async with shell(tmp_path) as one:
        output = one._output
        monkeypatch.setattr("contextui.windows.terminal.output._flooding", {output})
        assert output._rest_between() == 0  # there are no others
        output._items.append(Mark("V", "starts"))
        output._queue(b"y\n" * MB)
        output._drop()
        assert output.waiting == 2 * MB  # the mark is first
        output._slice_of_work()
        assert output.waiting <= 48 * 1024


async def test_a_flood_is_skipped_up_to_the_end_of_a_line(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    monkeypatch.setattr("contextui.windows.terminal.output._KEPT", 4_000)
    skipped = list[bytes]()

    def keep(data: bytes) -> bytes:
        skipped.append(data)
        return data

    async with shell(tmp_path) as one:
        output = one._output
        monkeypatch.setattr(output, "_keep", keep)
        output._queue(b"yes\r\n" * 10_000 + b"yes\r")
        output._queue(b"\n".ljust(3_999, b"n"))
        output._drop()
        assert skipped == [b"yes\r\n" * 10_000]
        assert output._items[0] == b"yes\r"
        output._items.clear()
        output.waiting = 0
