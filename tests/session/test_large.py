"""Logs that are long: resuming reads from their end, and any turn can be looked at.

What is measured is measured in processes of its own, which do that and nothing else.
"""

import json
import os
import random
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from contextui import SessionOptions, SessionStore, TokenCounter
from contextui.cli import main
from contextui.session import record
from tests.context.conversation import NotesWindow
from tests.session.writer import Writer, apart, peak_memory

pytestmark = pytest.mark.long

BUDGET = 20_000
MEGABYTE = 1_000_000
HOLES = {"before": 1 << 30, "behind": 1 << 27}  # either is longer than any entry


def store_of(home: Path) -> SessionStore:
    def counter() -> TokenCounter:
        return TokenCounter(encode=lambda text: len(text) // 4 + 1)

    return SessionStore(home, SessionOptions(classes=[NotesWindow], counter=counter))


def talk_at_length(writer: Writer, turns: int) -> None:
    """Turns of some 13 KB each; at this budget the cut moves with every few of them."""
    for number in range(turns):
        for part in range(4):
            writer.say(f"{number} {part} " + "words " * 255)
        writer.send(BUDGET)
        for part in range(4):
            writer.answer(f"{number} {part} " + "answer " * 220)
        writer.context.end_turn()


def facts_of(writer: Writer) -> dict[str, Any]:
    stats = writer.context.get_stats()
    return {"id": writer.session.id, "digest": writer.digest, "items": stats.total_items}


def make(home: Path, hole: str | None = None) -> dict[str, Any]:
    """Write a long log as a real session does, or one with a hole in its middle."""
    os.fdatasync = lambda fd: None  # nobody pulls the plug here
    with store_of(home).create("/project") as session:
        writer = Writer(session, random.Random(0))
        writer.open("a line")
        if hole:
            record._SHARE = 1 << 60  # checkpoints only by the number of entries
            talk_at_length(writer, 150)
            dig_hole(writer, HOLES[hole])
            talk_at_length(writer, 150 if hole == "before" else 20)
        else:
            talk_at_length(writer, 2_400)
        return facts_of(writer)


def dig_hole(writer: Writer, size: int) -> None:
    """As if so many zeros had come between two entries."""
    file, path = writer.session._log._file, writer.session.path
    assert file is not None
    os.truncate(path, path.stat().st_size + size)
    with path.open("ab") as hole:
        hole.write(b"\n")
    file.begin(path.stat().st_size)


def bytes_read() -> int:
    (line,) = (line for line in Path("/proc/self/io").read_text().splitlines() if "rchar" in line)
    return int(line.split()[1])


def resume(home: Path, session_id: str) -> dict[str, Any]:
    """Open a session and compose; what that took."""
    memory, read = peak_memory(), bytes_read()
    with store_of(home).open(session_id) as session:
        session.context.compose()
        memory, read = peak_memory() - memory, bytes_read() - read
        writer = Writer(session, random.Random(0))
        figures = {"memory": memory, "read": read, "parsed": session._recorder.loaded.parsed}
        return facts_of(writer) | figures | {"notices": session.notices}


def show(home: Path, *words: str) -> dict[str, Any]:
    """Call `contextui debug`; the memory that it took, and how much it wrote."""
    os.environ["CONTEXTUI_HOME"] = str(home)
    os.chdir(home)
    from contextui.cli import debug  # noqa: F401  loaded before it is measured

    before = peak_memory()
    with Path(home / "shown").open("w") as file, redirect_stdout(file):
        assert main(["debug", *words]) == 0
    return {"memory": peak_memory() - before, "size": (home / "shown").stat().st_size}


def in_a_process(*arguments: str | Path) -> Any:
    return json.loads(apart("-m", "tests.session.test_large", *arguments))


def test_a_long_session_resumes_from_its_end(tmp_path: Path) -> None:
    """25,000 entries, 35 MB; G12: `debug` reads and writes items one after the other."""
    made = in_a_process("make", tmp_path)
    path = store_of(tmp_path).find(made["id"]).path
    with path.open("rb") as file:
        assert sum(1 for _ in file) >= 25_000
    assert path.stat().st_size > 35 * MEGABYTE
    resumed = in_a_process("resume", tmp_path, made["id"])
    assert resumed["notices"] == []
    assert resumed["parsed"] < 2_000
    assert resumed["memory"] < 25 * MEGABYTE
    assert resumed["read"] < 5 * MEGABYTE
    assert resumed["digest"] == made["digest"]
    assert resumed["items"] == made["items"]
    for words in ([], ["--json"]):
        shown = in_a_process("debug", tmp_path, made["id"], *words)
        assert shown["memory"] < 25 * MEGABYTE


@pytest.mark.parametrize(("hole", "read", "memory"), [("before", 20, 100), ("behind", 1_000, 300)])
def test_a_hole_costs_its_line_alone(tmp_path: Path, hole: str, read: int, memory: int) -> None:
    """FAULTS 35, 39: before the last checkpoint it is not read, behind it never all at once."""
    made = in_a_process("make", tmp_path, hole)
    resumed = in_a_process("resume", tmp_path, made["id"])
    notices = ["Left out as damaged: 1 line"] if hole == "behind" else []
    assert [text[:27] for text in resumed["notices"]] == notices
    assert resumed["read"] < read * MEGABYTE
    assert resumed["memory"] < memory * MEGABYTE
    assert (resumed["digest"], resumed["items"]) == (made["digest"], made["items"])


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["debug", home, *words]:
            print(json.dumps(show(Path(home), *words)))
        case ["make", home, *hole]:
            print(json.dumps(make(Path(home), *hole)))
        case ["resume", home, session_id]:
            print(json.dumps(resume(Path(home), session_id)))
