"""`contextui debug --follow`: a running session, watched from another terminal."""

import json
import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from contextui import SessionStore
from tests.agent.server import Server, answer, call
from tests.cli.calling import PATIENCE, SECRET, Program

_ITEM = re.compile(r"\[[✓X]\] \[(\d+)\] ")


class Watch:
    """A process that follows a session, and what it has printed so far."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self.process = process
        self.out: list[str] = []
        self.err: list[str] = []
        self._threads = [
            threading.Thread(target=self._collect, args=pair)
            for pair in ((process.stdout, self.out), (process.stderr, self.err))
        ]
        for thread in self._threads:
            thread.start()

    @staticmethod
    def _collect(stream: Any, into: list[str]) -> None:
        into.extend(line.decode() for line in stream)

    def until(self, is_met: Callable[[], object]) -> None:
        deadline = time.monotonic() + PATIENCE
        while not is_met():
            assert time.monotonic() < deadline, (self.out, self.err)
            assert self.process.poll() is None, (self.out, self.err)
            time.sleep(0.05)

    def sees(self, text: str) -> None:
        """Wait until a line with this text is printed."""
        self.until(lambda: any(text in line for line in self.out))

    @property
    def items(self) -> list[str]:
        """The last line of each item, by number."""
        last = {int(found[1]): line for line in self.out if (found := _ITEM.match(line))}
        return [last[number].rstrip("\n") for number in sorted(last)]

    def end(self, number: int = signal.SIGINT) -> int:
        self.process.send_signal(number)
        status = self.process.wait(PATIENCE)
        for thread in self._threads:
            thread.join()
        return status


@contextmanager
def following(program: Program, *words: str) -> Iterator[Watch]:
    process = program.start("debug", "--follow", *words)
    watch = Watch(process)
    try:
        yield watch
    finally:
        if process.poll() is None:
            watch.end(signal.SIGKILL)
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                stream.close()


def printed_items(program: Program) -> list[str]:
    return program("debug").out.splitlines()[:-2]


def test_a_session_of_another_process_is_followed(program: Program) -> None:
    program.run("-p", "Make a to-do list with milk", "--model", "offline")
    with following(program, "--model", "offline") as watch:
        watch.sees("Opened todo_1.")
        assert "".join(watch.out).splitlines() == printed_items(program)
        before = len(watch.out)
        program.run("-c", "-p", "Add bread to the list", "--model", "offline")
        watch.sees("Assistant: Added 2 'bread'.")
        added = watch.out[before:]
        assert added[0] == "[✓] [0007] User: Add bread to the list\n"
        sent = r"\[>\] request 3: [\d,]+ tokens sent, 0 cached, 0 outdated, \d+ received\n"
        assert any(re.fullmatch(sent, line) for line in added[1:3])
        assert "[✓] [0008] Assistant: action\n" in added[1:3]
        assert added[3] == "[✓] [0009] Tool: Added 2 'bread'.\n"
        program.run("-c", "-p", "Close todo_1", "--model", "offline")
        watch.sees("[X] [0004] Window: todo_1")
        watch.sees("Tool: todo_1 closed.")
        numbers = [found[1] for line in watch.out[-6:] if (found := _ITEM.match(line))]
        assert numbers.index("0004") < numbers.index("0013"), watch.out
        watch.until(lambda: watch.items == printed_items(program))
        assert watch.end() == 128 + signal.SIGINT
    assert watch.err == []


def test_without_a_session_it_waits_for_one(program: Program) -> None:
    with following(program) as watch:
        watch.until(lambda: watch.err)
        assert watch.err[0].startswith("Waiting for a session of ")
        program("-p", "Make a to-do list with milk", "--model", "offline")
        watch.sees("Opened todo_1.")
        watch.until(lambda: watch.items == printed_items(program))
        assert watch.end() == 128 + signal.SIGINT
    assert len(watch.err) == 1


def test_a_session_that_is_named_but_missing_is_an_error(program: Program) -> None:
    program("debug", "--follow", "nonsense").fails(2, '"nonsense"')


def test_as_json_there_is_one_object_per_line(program: Program) -> None:
    program("-p", "Make a to-do list with milk", "--model", "offline")
    with following(program, "--json") as watch:
        watch.sees("Opened todo_1.")
        program("-c", "-p", "Add bread to the list", "--model", "offline")
        expected = program("debug", "--json").json["items"]

        def items() -> list[object]:
            found = [one["item"] for line in watch.out if "item" in (one := json.loads(line))]
            return list({one["seq"]: one for one in found}.values())

        watch.until(lambda: items() == expected)
        assert watch.end() == 128 + signal.SIGINT
    found = [json.loads(line) for line in watch.out]
    assert {one["type"] for one in found} == {"item", "request"}
    cost = next(one for one in found if one["type"] == "request")
    assert set(cost) == {
        *("type", "number", "sent", "cached", "outdated", "received", "is_estimate")
    }


def test_it_ends_when_its_reader_does_even_if_nothing_happens(program: Program) -> None:
    program("-p", "Make a to-do list with milk", "--model", "offline")
    process = program.start("debug", "--follow", stdin=subprocess.DEVNULL)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(PATIENCE) == 141
    assert process.stderr.read() == b""
    process.stderr.close()


def test_it_neither_locks_nor_writes(program: Program) -> None:
    program("-p", "Make a to-do list with milk", "--model", "offline")
    (info,) = program.sessions()
    before = info.path.read_bytes()
    with following(program) as watch:
        watch.sees("Opened todo_1.")
        with SessionStore(program.home).open(info.id):
            pass
        assert watch.end() == 128 + signal.SIGINT
    assert info.path.read_bytes() == before


def test_nothing_raw_reaches_the_terminal_and_no_key_does(program: Program, server: Server) -> None:
    server.play(answer("Yes."))
    program("-p", "Hello")
    with following(program) as watch:
        watch.sees("Assistant: Yes.")
        hostile = f"\x1b]0;owned\x07\x9b31m\u202e {SECRET}"
        server.play(answer(call(f"x{hostile}"), "ok"), answer(hostile))
        program("-c", "-p", hostile[:40])
        append_plan(program, {"number": 3, "outdated": 1, "sweep": {"reason": hostile}})
        watch.sees("[-] sweep: ")
        assert watch.end() == 128 + signal.SIGINT
    everything = "".join(watch.out)
    assert not set("\x1b\x07\x9b\u202e") & set(everything)
    assert SECRET not in everything


def append_plan(program: Program, plan: dict[str, Any]) -> None:
    """Write the entry of a request as placement by price does."""
    (info,) = program.sessions()
    data: dict[str, Any] = {
        "throughSeq": 1,
        "carrierId": None,
        "windows": [],
        "waitingIds": [],
        "plan": plan,
    }
    entry = {"uuid": "r1", "type": "system", "subtype": "request", "data": data}
    used = {
        "input_tokens": 100,
        "cache_read_input_tokens": 1_200,
        "cache_creation_input_tokens": 34,
        "output_tokens": 5,
    }
    usage = {
        "uuid": "u1", "type": "system", "subtype": "usage",
        "data": {"counted": 1_300, "usage": used},
    }  # fmt: skip
    with info.path.open("ab") as file:
        file.writelines(json.dumps(one).encode() + b"\n" for one in (entry, usage))


@pytest.mark.parametrize(
    ("lang", "expected"),
    [
        (
            "en",
            [
                "[-] sweep: room, after 12, 4,096 tokens saved, rent 512, price 300\n",
                "[>] request 3: 1,334 tokens sent, 1,200 cached, 40 outdated, 5 received\n",
            ],
        ),
        (
            "zh",
            [
                "[-] 清理：room, 12 之后, 节省 4,096 个 token, 保留费用 512, 代价 300\n",
                "[>] 请求 3：发送 1,334 个 token, 缓存 1,200, 过期 40, 收到 5\n",
            ],
        ),
    ],
)
def test_sweeps_and_requests_have_a_line_each(
    program: Program, lang: str, expected: list[str]
) -> None:
    program("-p", "Make a to-do list with milk", "--model", "offline")
    sweep = {"after": 12, "reason": "room", "rent": 512.4, "price": 300, "saved": 4_096}
    with following(program, "--lang", lang) as watch:
        watch.sees("Opened todo_1.")
        append_plan(program, {"number": 3, "outdated": 40, "sweep": sweep})
        watch.sees("1,334")
        assert watch.out[-2:] == expected


def test_a_log_that_was_replaced_is_listed_again(program: Program) -> None:
    program("-p", "Make a to-do list with milk", "--model", "offline")
    (info,) = program.sessions()
    with following(program) as watch:
        watch.sees("Assistant: Opened todo_1.")
        before = len(watch.out)
        copy = Path(f"{info.path}.new")
        copy.write_bytes(info.path.read_bytes())
        os.replace(copy, info.path)
        watch.until(lambda: len(watch.out) == 2 * before)
        assert watch.err == ["contextui: The log was replaced. All items follow.\n"]
        assert watch.out[before:] == watch.out[:before]
