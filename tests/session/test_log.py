"""The log: whole lines, one writer, nothing lost that was acknowledged; reading what is damaged."""

import io
import json
import os
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextui.session.entry import decode, encode
from contextui.session.lines import DamagedLineError, Line, lines, lines_backwards
from contextui.session.log import LogFile, SessionLog
from contextui.session.reader import Damage, entries, line_at

AGAIN = "Saving is retried until it succeeds."
FULL = f"Not saved: disk full. Free some space on the disk of {{folder}}. {AGAIN}"
"""The notice about a full disk."""

SAMPLES = """\
{"uuid":"msg_001","parentUuid":null,"sessionId":"abc123","timestamp":"2024-01-15T10:00:00Z","type":"user","cwd":"/Users/foo/myproject","gitBranch":"main","version":"0.1.0","message":{"role":"user","content":"帮我重构 utils.ts 文件"}}
{"uuid":"msg_002","parentUuid":"msg_001","sessionId":"abc123","timestamp":"2024-01-15T10:00:05Z","type":"tool_use","tool":{"id":"tool_001","name":"Read","input":{"file_path":"src/utils.ts"}}}
{"uuid":"msg_003","parentUuid":"msg_002","sessionId":"abc123","timestamp":"2024-01-15T10:00:06Z","type":"tool_result","toolResult":{"id":"tool_001","output":"export function add(a, b) { return a + b; }"}}
{"uuid":"boundary_001","parentUuid":"msg_004","sessionId":"abc123","timestamp":"2024-01-15T11:00:00Z","type":"system","subtype":"compact_boundary","message":{"role":"system","content":"=== 上下文压缩边界 ==="},"compactMetadata":{"trigger":"auto","preTokens":50000}}
{"uuid":"summary_001","parentUuid":"boundary_001","sessionId":"abc123","timestamp":"2024-01-15T11:00:01Z","type":"user","isCompactSummary":true,"message":{"role":"user","content":"## Summary\\n用户请求重构 utils.ts..."},"compactMetadata":{"trigger":"auto","preTokens":50000,"postTokens":8000,"filesIncluded":["src/utils.ts"]}}
"""  # noqa: E501


def fields(number: int, text: str = "words") -> dict[str, Any]:
    return {
        "uuid": f"u{number}",
        "parentUuid": None,
        "sessionId": "s",
        "timestamp": "2026-01-01T00:00:00Z",
        "type": "user",
        "message": {"role": "user", "content": f"{number} {text}"},
    }


def disk_full(*_: object, **__: object) -> Any:
    raise OSError(28, "No space left on device")


def numbers(path: Path) -> list[int]:
    with path.open("rb") as file:
        found = entries(lines(file), lambda damage: None)
        return [int(str(e.message["content"]).split()[0]) for _, e in found if e.message]


def test_the_documents_sample_lines_load_as_they_are() -> None:
    """S2.2"""
    loaded = [decode(line) for line in SAMPLES.encode().splitlines()]
    assert [entry.type for entry in loaded] == ["user", "tool_use", "tool_result", "system", "user"]
    assert loaded[0].message is not None
    assert loaded[0].message["content"] == "帮我重构 utils.ts 文件"
    assert loaded[1].tool is not None
    assert loaded[1].tool["input"] == {"file_path": "src/utils.ts"}
    assert loaded[2].tool_result is not None
    assert loaded[2].tool_result["id"] == "tool_001"
    assert loaded[3].subtype == "compact_boundary"
    assert loaded[4].is_compact_summary
    assert loaded[4].metadata["filesIncluded"] == ["src/utils.ts"]


def test_a_line_that_is_no_entry_says_why() -> None:
    for line in (b"", b"{", b"[]", b"5", b"null", b'{"a":1}', b"\xff\xfe", b"[" * 9999):
        with pytest.raises(DamagedLineError, match=r"not JSON|not an entry"):
            decode(line)


def test_what_json_cannot_hold_becomes_a_placeholder() -> None:
    """FAULTS 12, 38"""
    deep: list[Any] = []
    for _ in range(5_000):
        deep = [deep]
    odd = {
        "nan": float("nan"),
        "inf": float("inf"),
        "text": "a\ud800",
        "thing": object(),
        "deep": deep,
    }
    read = json.loads(encode({**fields(1), "data": odd}))["data"]
    assert read["nan"] == "[nan]"
    assert read["inf"] == "[inf]"
    assert read["text"] == "a\ufffd"
    assert read["thing"] == "[object]"


@pytest.mark.long
@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(st.characters(exclude_categories=())),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_anything_is_one_line(value: Any) -> None:
    line = encode({**fields(1), "data": {"value": value}})
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    assert decode(line).data is not None


@given(
    st.lists(st.binary(max_size=200).map(lambda b: b.replace(b"\n", b"") or b"x"), max_size=30),
    st.booleans(),
)
def test_backwards_is_forwards_reversed(parts: list[bytes], ended: bool) -> None:
    file = io.BytesIO(b"\n".join(parts) + (b"\n" if ended else b""))
    forwards = [line for line in lines(file) if line.text]
    assert list(lines_backwards(file)) == forwards[::-1]
    assert [line_at(file, line.offset) for line in forwards] == forwards


def test_backwards_crosses_blocks() -> None:
    parts = [bytes([65 + n % 26]) * (n * 977 % 150_000 + 1) for n in range(30)]
    file = io.BytesIO(b"\n".join(parts) + b"\n")
    assert [line.text for line in lines_backwards(file)] == parts[::-1]


def test_a_line_that_is_too_long_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contextui.session.lines.LONGEST_LINE", 100)
    for length in (99, 100, 101, 199, 200, 201, 350):
        file = io.BytesIO(b"x" * length + b"\nend\n")
        first, last = lines(file)
        assert first == Line(0, b"x" * min(length, 100))
        assert last == Line(length + 1, b"end")


def test_a_damaged_line_costs_that_line(tmp_path: Path) -> None:
    """S2.4, FAULTS 35; U+2028 is no end of a line."""
    path = tmp_path / "s.jsonl"
    good = [encode(fields(n, "a\u2028b\x85c")) for n in range(3)]
    path.write_bytes(good[0] + b"{broken\n" + good[1] + b"\x00\xff\n" + good[2])
    damage: list[Damage] = []
    with path.open("rb") as file:
        found = [entry.uuid for _, entry in entries(lines(file), damage.append)]
    assert found == ["u0", "u1", "u2"]
    assert [one.offset for one in damage] == [len(good[0]), len(good[0]) + 8 + len(good[1])]


def test_a_log_goes_on_behind_what_a_crash_left(tmp_path: Path) -> None:
    path, notices = tmp_path / "s.jsonl", list[str]()
    path.write_bytes(encode(fields(1)) + encode(fields(2))[:40])
    log = SessionLog(path, notices.append)
    log.append(encode(fields(3)))
    log.close()
    assert numbers(path) == [1, 3]
    assert notices == ["The incomplete last line was removed (40 bytes)."]


def test_a_last_line_without_its_end_is_kept(tmp_path: Path) -> None:
    path, offsets = tmp_path / "s.jsonl", list[int]()
    path.write_bytes(encode(fields(1))[:-1])
    log = SessionLog(path, pytest.fail)
    assert log.append(encode(fields(2)), offsets.append)
    log.close()
    assert (numbers(path), offsets) == ([1, 2], [len(encode(fields(1)))])


def test_a_closed_log_is_free_for_others(tmp_path: Path) -> None:
    def is_open() -> bool:
        for fd in range(1_000):
            with suppress(OSError):  # most are not open
                if os.path.samestat(path.stat(), os.fstat(fd)):
                    return True
        return False

    path = tmp_path / "s.jsonl"
    log = SessionLog(path, pytest.fail)
    assert is_open()
    closing = threading.Thread(target=log.close)
    closing.start()
    closing.join()
    assert not is_open()
    assert not log.append(encode(fields(1)))
    assert not is_open()
    assert path.read_bytes() == b""
    notices = list[str]()
    other = SessionLog(path, notices.append, lazy=True)
    other.expect(7)
    assert not other.append(encode(fields(1)))
    assert not is_open()
    assert "another program" in notices[0]


def test_a_recovery_that_fails_leaves_no_file_and_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "s.jsonl"
    log = SessionLog(path, lambda _: None)
    assert log.append(encode(fields(1)))
    path.unlink()
    with monkeypatch.context() as patch:
        patch.setattr(LogFile, "_put_in_place", disk_full)
        assert not log.append(encode(fields(2)))
    assert {each.name for each in tmp_path.iterdir()} == {"s.lock"}
    assert log.retry()
    log.close()
    assert numbers(path) == [1, 2]


class Failing:
    """Fails every nth call of a function of `os`, after having done half of the work."""

    def __init__(self, name: str, every: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.real = getattr(os, name)
        self.name, self.every, self.calls, self.on = name, every, 0, True
        monkeypatch.setattr(os, name, self)

    def __call__(self, fd: int, *args: Any) -> Any:
        self.calls += 1
        if self.on and self.calls % self.every == 0:
            if self.name == "write":
                self.real(fd, args[0][: len(args[0]) // 2])
            disk_full()
        return self.real(fd, *args)


@pytest.mark.parametrize("name", ["write", "fdatasync", "ftruncate"])
@pytest.mark.parametrize("every", [1, 2, 3, 7])
def test_failing_writes_lose_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, every: int
) -> None:
    """FAULTS 36: reported once, retried in order; never half a line in the file."""
    path, notices = tmp_path / "s.jsonl", list[str]()
    log = SessionLog(path, notices.append)
    failing = Failing(name, every, monkeypatch)
    also = Failing("write", 5, monkeypatch) if name == "ftruncate" else None
    for number in range(40):
        acknowledged = log.append(encode(fields(number)))
        log.sync()
        if acknowledged:
            assert path.read_bytes().endswith(b"\n")
    failing.on = False
    if also:
        also.on = False
    log.append(encode(fields(40)))
    log.close()
    assert numbers(path) == list(range(41))
    if name == "write":
        assert notices[0] == FULL.format(folder=path.parent)
        assert notices[-1] == "Saving has resumed; nothing was lost."


def test_an_unconfirmed_disk_is_not_safe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """G11: after such an error the system may have dropped what it had; nobody knows."""
    notices: list[str] = []
    log = SessionLog(tmp_path / "s.jsonl", notices.append)
    log.append(encode(fields(1)))
    failing, writing = Failing("fdatasync", 1, monkeypatch), Failing("write", 1, monkeypatch)
    writing.on = False
    log.sync()
    log.sync()
    assert len(notices) == 1
    assert notices[0].startswith("Written, but the disk did not confirm it: disk full.")
    assert log.unsaved == 0
    writing.on = True
    log.append(encode(fields(2)))
    writing.on = False
    log.append(encode(fields(3)))
    failing.on = False
    log.sync()
    log.close()
    assert notices[1:] == [
        FULL.format(folder=tmp_path),
        "Saving has resumed.",
        "The disk confirms again what is written. What was written before that may still be "
        "missing after a power cut.",
    ]
    assert not any("nothing was lost" in one for one in notices)
    assert numbers(tmp_path / "s.jsonl") == [1, 2, 3]


def test_a_fifo_or_a_link_in_place_of_the_log_is_not_followed(tmp_path: Path) -> None:
    notices: list[str] = []
    (tmp_path / "target").write_text("precious")
    (tmp_path / "s.jsonl").symlink_to(tmp_path / "target")
    log = SessionLog(tmp_path / "s.jsonl", notices.append)
    assert not log.append(encode(fields(0)))
    assert (tmp_path / "target").read_text() == "precious"
    assert notices
    log.close()
    os.mkfifo(tmp_path / "fifo.jsonl")
    log = SessionLog(tmp_path / "fifo.jsonl", notices.append)
    assert not log.append(encode(fields(0)))
    assert notices[-1] == (
        f"Not saved: the log is not a regular file. The folder is {tmp_path}. {AGAIN}"
    )
