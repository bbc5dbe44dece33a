"""Any single entry of a log may be odd: it is left out, every other one is there (F06)."""

import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from contextui import ContextItem, ItemType
from contextui.context.messages import debug_line
from contextui.session.entry import decode
from contextui.session.export import to_json
from contextui.session.session import Session
from contextui.windowing.runtime import runtime_of
from tests.cli.calling import Program
from tests.session.mutation import make_log, mutants, store_of
from tests.thorough import times

LONGEST = 60.0  # seconds after which something is taken to hang: what goes well takes 0.1
GONE = object()

CASES: list[tuple[str, str, object]] = [
    ("window_opened", "data.version", GONE),
    ("window_opened", "data.name", GONE),
    ("window_state", "data.version", None),
    ("window_state", "data.windowId", 1.5),
    ("checkpoint", "data.seq", "1"),
    ("checkpoint", "data.turn", 1.5),
    ("checkpoint", "data.items", GONE),
    ("checkpoint", "data.items.0", GONE),
    ("checkpoint", "data.items.0.1.hidden", "dropped"),
    ("checkpoint", "data.windows", []),
    ("checkpoint", "data.numbers", {"todo": -1}),
    ("user", "data.seq", 10**19),
    ("user", "data.seq", 10**7),
    ("user", "data.seq", -1),
    ("user", "data.seq", 3),
    ("user", "data.hidden", -1),
    ("assistant", "message.content", 10**300),
    ("cut", "data.cut", 10**7),
    ("turn_end", "data.turn", 10**7),
    ("compact_boundary", "data", GONE),
    ("session", "data.schema", 2),
    ("session", "cwd", "x" * 10**6),
    ("user", "gitBranch", "x" * 10**6),
    ("usage", "data.usage.input_tokens", 10**300),
]


@pytest.fixture(autouse=True)
def _in_english(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C.UTF-8")


@pytest.fixture
def program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Program:
    return Program(tmp_path, monkeypatch, capsys)


@contextmanager
def no_hang() -> Iterator[None]:
    def give_up(_signal: int, _frame: FrameType | None) -> None:
        raise AssertionError("it hangs")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, LONGEST)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class Log:
    """A log, what it holds, and what must be there of it when one of its entries is odd."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.store = store_of(program.home)
        self.session = make_log(program.home, program.folder)
        self.lines = self.session.path.read_bytes().splitlines()
        self.whole = self.shown()
        self.loaded = self.opened()
        log_text = b"".join(self.lines).decode()  # opening it adds what a crash cut short
        items = self.loaded["items"].items()
        self.loaded["items"] = {one: content for one, content in items if one in log_text}

    def viewed(self) -> dict[str, Any]:
        """What `debug` says of it, by the same functions without the command line."""
        view = self.store.view(self.session.id)
        try:
            assert [debug_line(item) for item in view.items()]
            view.context.compose()
            return {**to_json(view), "stats": view.context.get_stats()}
        finally:
            view.close()

    def shown(self) -> dict[str, Any]:
        """What `debug` says of it."""
        done = self.program("debug", "--json")
        assert done.status == 0, done
        assert "Traceback" not in done.err
        shown: dict[str, Any] = done.json
        return shown

    def listed(self) -> list[str]:
        """The sessions that `sessions` lists."""
        done = self.program("sessions", "--json")
        assert done.status == 0, done
        return [one["id"] for one in done.json]

    def opened(self) -> dict[str, Any]:
        """What is there when it is continued, and all that the log still has."""
        info = self.store.latest(self.program.folder)
        assert info is not None
        assert info.id == self.session.id
        with self.store.open(info.id) as session:
            session.context.compose()
            items = {item.id: item for item in session.older_items()}
            items |= {item.id: item for item in session.context.get_all()}
            found = {
                "items": {item.id: item.content for item in items.values()},
                "active": {item.id for item in session.context.get_active()},
                "windows": {
                    window.id: runtime_of(window).core.saved.state
                    for window in session.windows.windows()
                },
                "notices": list(session.notices),
            }
            self._go_on(session)
        return found

    @staticmethod
    def _go_on(session: Session) -> None:
        session.context.end_turn()
        session.context.add(ContextItem(ItemType.USER, "go on"))
        session.context.mark_sent(session.context.compose(50_000))
        session.context.add(ContextItem(ItemType.ASSISTANT, "I do"))
        session.context.end_turn()

    def put(self, number: int, line: bytes) -> None:
        # Where the lines behind it stay in their places, checkpoints can be used.
        line = line.ljust(len(self.lines[number])) if number % 4 else line
        lines = [*self.lines[:number], line, *self.lines[number + 1 :]]
        self.session.path.write_bytes(b"\n".join(lines) + b"\n")

    def check(self, number: int, line: bytes, *, by_command: bool = True) -> None:
        """See what is there when this line replaces the one of this number."""
        self.put(number, line)
        with no_hang():
            shown = self.shown() if by_command else self.viewed()
            listed = self.listed() if by_command else [one.id for one in self.store.list()]
            loaded = self.opened()
        assert listed == [self.session.id]
        # What the entry itself is about, or says that it is about, may be different.
        about = self.lines[number].decode() + line.decode("utf-8", "replace")
        is_summary = b'"isCompactSummary":true' in self.lines[number]
        before = {item["seq"]: item for item in self.whole["items"]}
        after = {item["seq"]: item for item in shown["items"]}
        for seq, item in before.items():
            if item["id"] in about:
                continue
            assert seq in after, f"debug lacks {item}"
            assert after[seq]["content"] == item["content"]
            if item["content"] not in about and not is_summary:
                assert after[seq].get("hidden") == item.get("hidden"), item
        contents = list(loaded["items"].values())
        for item_id, content in self.loaded["items"].items():
            if item_id in about:
                continue
            assert content in contents, f"-c lacks {content}"
            if item_id in loaded["items"] and content not in about and not is_summary:
                shows = item_id in loaded["active"]
                assert shows == (item_id in self.loaded["active"]), content
        for window in self.whole["windows"]:
            if window["id"] not in about:
                assert window in shown["windows"], f"debug lacks {window}"
        for window_id, state in self.loaded["windows"].items():
            if window_id not in about:
                assert loaded["windows"].get(window_id) == state, f"-c lacks {window_id}"

    def changed(self, kind: str, path: str, value: object) -> tuple[int, bytes]:
        """The last entry of a kind with another value in one place, and its number."""
        parsed = [json.loads(line) for line in self.lines]
        kinds = [str(entry.get("subtype") or entry["type"]) for entry in parsed]
        number = len(kinds) - 1 - kinds[::-1].index(kind)
        *above, last = (int(key) if key.isdecimal() else key for key in path.split("."))
        holder: Any = parsed[number]
        for key in above:
            holder = holder[key]
        if value is GONE:
            del holder[last]
        else:
            holder[last] = value
        return number, json.dumps(
            parsed[number], ensure_ascii=False, separators=(",", ":")
        ).encode()


@pytest.mark.parametrize(
    ("seed", "count"),
    [(0, 7), *(pytest.param(n, times(120, 1_000), marks=pytest.mark.long) for n in (1, 2))],
)
def test_one_odd_field_costs_at_most_its_entry(program: Program, seed: int, count: int) -> None:
    log, failures = Log(program), list[str]()
    for done, (number, line) in enumerate(mutants(log.lines, count, seed)):
        try:
            log.check(number, line, by_command=done % 5 == 0)
        except Exception as problem:  # all of them are counted
            words = str(problem).partition("\n")[0]
            failures.append(f"{type(problem).__name__}: {words[:300]} <- {line[:4000]!r}")
    if dump := os.environ.get("MUTANTS_FILE"):
        Path(dump).write_text("\n\n".join(failures))
    assert not failures, f"{len(failures)} of {count}:\n" + "\n".join(failures[:10])


def test_every_entry_that_was_found_by_attack_costs_itself_alone(program: Program) -> None:
    """F06, F09: each of these once made a session unopenable, hid others, or never ended."""
    log = Log(program)
    for number, (kind, path, value) in enumerate(CASES):
        try:
            log.check(*log.changed(kind, path, value), by_command=number % 8 == 0)
        except Exception as problem:
            raise AssertionError(f"{kind} {path}: {problem}") from problem


def test_odd_entries_are_counted_and_reported_once(program: Program) -> None:
    log = Log(program)
    number, line = log.changed("user", "data.hidden", -1)
    notice = "Left out as damaged: 1 line, the first at byte "
    log.put(number, line)
    for words in (["debug"], ["debug", "--json"], ["-c", "-p", "hello", "--model", "offline"]):
        done = program(*words)
        assert (done.status, done.err.count(notice)) == (0, 1), done
    header, odd = log.changed("session", "data", 5)
    log.put(header, odd)
    done = program("sessions")
    named = f"skipped: {log.session.id[:8]} (1)."
    assert (done.status, done.err.count(named)) == (0, 1), done


def test_a_folder_that_is_no_text_is_ignored() -> None:
    line = b'{"uuid":"u","type":"user","cwd":"/a\\ud800","gitBranch":"\\udfff","version":"1"}'
    entry = decode(line)
    assert (entry.git_branch, entry.version) == ("", "1")
