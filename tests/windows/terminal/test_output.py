"""Output of any size and kind: bounded in memory, whole in the spool, never harmful."""

import asyncio
import resource
import sys
from pathlib import Path

import pytest

from contextui.text import for_terminal
from contextui.windows.terminal.output import _REST, OutputReader, _flooding
from contextui.windows.terminal.transcript import HEAD, SPOOL_LIMIT, TAIL

from .shells import finished, prompt, run, shell, until

MB = 1024 * 1024


def peak() -> int:
    """The most memory that this process had, in bytes."""
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used if sys.platform == "darwin" else used * 1024


def test_long_output_is_whole_in_the_spool(tmp_path: Path) -> None:
    async def test() -> None:
        async with shell(tmp_path) as one:
            ran = await finished(one, "seq 200000")
            transcript = ran.transcript
            assert transcript.head == [str(number) for number in range(1, HEAD + 1)]
            assert transcript.tail[-1] == "200000"
            assert len(transcript.tail) >= TAIL
            assert transcript.lines == 200_000
            assert f"… {transcript.left_out} lines …" in ran.output
            assert ran.page(0, 3) == ["1", "2", "3"]
            assert ran.page(123_456, 2) == ["123457", "123458"]
            assert ran.page(199_999, 10) == ["200000"]
            assert ran.page(200_000, 10) == []
            assert ran.spool.find("77777", 2) == [(77_776, "77777"), (177_776, "177777")]
            assert ran.spool.path.stat().st_mode & 0o777 == 0o600
            await prompt(one)
            shown = one.emulator.text()
            assert "\n199999\n200000\n" in shown

    run(test())


@pytest.mark.parametrize("size", [64 * MB, pytest.param(1024 * MB, marks=pytest.mark.long)])
@pytest.mark.parametrize("source", ["yes", "cat /dev/urandom"])
def test_a_flood_needs_little_memory_and_leaves_the_loop_alive(
    tmp_path: Path, source: str, size: int
) -> None:
    async def test() -> None:
        async with shell(tmp_path) as one:
            await finished(one, "seq 50000")
            before, turns = peak(), 0
            ran = await one.run(f"{source} | head -c {size}")
            while ran.running:
                await asyncio.sleep(0.01)
                turns += 1
            assert ran.status == 0
            assert turns >= 10
            assert peak() - before < 64 * MB
            assert ran.spool.size + ran.spool.left_out >= size
            assert ran.spool.size <= SPOOL_LIMIT
            assert one._output.waiting == 0
            if source == "yes":
                assert ran.transcript.lines == size // 2
                assert ran.transcript.tail[-1] == "y"
            for line in [*ran.transcript.head, *ran.transcript.tail, *ran.page(1000, 100)]:
                assert for_terminal(line) == line
            await prompt(one)
            assert (await finished(one, "echo on")).output == "on"

    run(test())


def test_a_line_without_end_is_cut(tmp_path: Path) -> None:
    async def test() -> None:
        async with shell(tmp_path) as one:
            ran = await finished(one, "head -c 3000000 /dev/zero | tr '\\0' x; echo; echo end")
            assert ran.transcript.tail[-1] == "end"
            longest = max(map(len, [*ran.transcript.head, *ran.transcript.tail]))
            assert longest < 2100
            assert ran.page(1, 1) == ["end"]
            assert ran.page(0, 1)[0].startswith("x" * 2000 + " …")

    run(test())


def test_the_spool_has_a_limit(tmp_path: Path) -> None:
    async def test() -> None:
        async with shell(tmp_path, spool_limit=100_000) as one:
            ran = await finished(one, "seq 100000")
            assert ran.spool.size == 100_000
            assert ran.spool.left_out == 688_895 - 100_000
            assert ran.spool.path.stat().st_size == 100_000
            assert ran.transcript.tail[-1] == "100000"

    run(test())


def test_a_spool_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    async def test() -> None:
        (tmp_path / "spool").write_text("a file, no folder")
        async with shell(tmp_path) as one:
            ran = await finished(one, "seq 100000")
            assert ran.status == 0
            assert ran.spool.error
            assert ran.transcript.lines == 100_000

    run(test())


def test_escape_sequences_in_output_do_no_harm(tmp_path: Path) -> None:
    async def test() -> None:
        async with shell(tmp_path) as one:
            hostile = "".join(
                f"\\033{one}"
                for one in (
                    *("[999999999999A", "[1;2;3;4;5;6A", "[;;;H", "[?6h", "[5;1d", "[77J", "[9K"),
                    *(
                        "[38;5;999m",
                        "[38;2m",
                        "[4:9m",
                        "[>4;2m",
                        "P1;2qx\\033\\\\",
                        "]0;title\\007",
                    ),
                    *(
                        "_apc\\033\\\\",
                        "#8",
                        "[?1049l",
                        "[999L",
                        "[999@",
                        "[999b",
                        "[0g",
                        "%%G",
                        "c",
                    ),
                )
            )
            ran = await finished(one, f"printf '{hostile}'; echo; echo done")
            assert ran.status == 0
            assert ran.output.endswith("done")
            await prompt(one)
            assert "title" not in one.emulator.text()

    run(test())


def test_a_full_disk_of_old_output_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("contextui.windows.terminal.shell.SPOOLED", 1_000_000)

    async def test() -> None:
        async with shell(tmp_path) as one:
            ran = [await finished(one, "seq 100000") for _ in range(4)]
            await finished(one, "true")
            assert ran[0].page(0, 1) == []
            assert ran[3].page(0, 1) == ["1"]
            assert len(list((tmp_path / "spool").iterdir())) <= 2

    run(test())


def test_a_progress_bar_is_one_line(tmp_path: Path) -> None:
    async def test() -> None:
        async with shell(tmp_path) as one:
            ran = await finished(
                one, "for i in $(seq 100); do printf '\\r%d%%' $i; done; printf '\\r\\033[Kdone\\n'"
            )
            assert ran.output == "done"
            await until(one, lambda: "done" in one.emulator.text())

    run(test())


def test_shells_whose_output_floods_take_turns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads, interpreted = list[OutputReader](), list[OutputReader]()
    read, interpret = OutputReader._read, OutputReader._interpret

    def count_read(self: OutputReader) -> int:
        reads.append(self)
        return read(self)

    def count_slice(self: OutputReader, deadline: float) -> None:
        interpreted.append(self)
        interpret(self, deadline)

    async def test() -> None:
        async with shell(tmp_path) as one, shell(tmp_path) as two, shell(tmp_path) as three:
            shells = (one, two, three)
            for each in shells:
                await each.run("yes")
            await until(one, lambda: len(_flooding) == 3)
            monkeypatch.setattr(OutputReader, "_read", count_read)
            monkeypatch.setattr(OutputReader, "_interpret", count_slice)
            loop = asyncio.get_running_loop()
            start = loop.time()
            await asyncio.sleep(1)
            rounds = (loop.time() - start) / (2 * _REST) + 5
            for each in shells:
                assert 0 < reads.count(each._output) <= rounds
                assert 0 < interpreted.count(each._output) <= rounds
            for each in shells:
                await each.cancel()
            await finished(one, "echo done")
            await until(one, lambda: not _flooding)

    run(test())


def test_a_shell_alone_reads_without_rest(tmp_path: Path) -> None:
    async def test() -> None:
        async with shell(tmp_path) as one:
            await one.run("yes")
            await until(one, lambda: one._output in _flooding)
            assert one._output._rest_between() == 0
            await one.cancel()
        assert not _flooding

    run(test())
