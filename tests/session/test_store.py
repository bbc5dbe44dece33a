"""Sessions: made, found, continued, forked, listed, looked at; and what may be wrong with them."""

import asyncio
import json
import os
import pwd
import stat
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import BinaryIO

import pytest

from contextui import (
    Body,
    ContextItem,
    ItemType,
    Lod,
    SessionOptions,
    SessionStore,
    Window,
    action,
    escape_project_path,
)
from contextui.context.compaction.plan import plan
from contextui.context.manager import ContextManager
from contextui.errors import InvalidItemError
from contextui.session import reader, record
from contextui.session.export import to_json, to_markdown
from contextui.session.lines import Line
from contextui.session.log import SessionLockedError
from contextui.session.paths import InvalidSessionIdError, NoHomeError, contextui_home
from contextui.session.reader import line_at
from contextui.session.record import KEPT, LIMIT
from contextui.session.replay import NewerSchemaError
from contextui.session.session import Session, branch_of
from contextui.session.store import UnknownSessionError
from contextui.windowing.runtime import runtime_of
from contextui.windows.editor.window import EditorWindow
from contextui.windows.files.window import FilesWindow
from contextui.windows.git.window import GitWindow
from contextui.windows.notebook import NotebookWindow
from tests.context.conversation import NotesWindow, specified, wire
from tests.session.talk import Talk, store_in
from tests.session.test_log import SAMPLES
from tests.windows.git.conftest import run


@pytest.fixture
def store(tmp_path: Path) -> SessionStore:
    ticks = (datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=n) for n in range(10**6))
    return SessionStore(
        tmp_path / "home", SessionOptions(classes=[NotesWindow], clock=lambda: next(ticks))
    )


@pytest.fixture
def session(store: SessionStore, tmp_path: Path) -> Iterator[Session]:
    with store.create(tmp_path) as session:
        yield session


def foreign(store: SessionStore, text: str, name: str = "abc123") -> Path:
    path = store.home / "projects" / "-p" / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def test_a_folders_path_is_one_name() -> None:
    """S2.3"""
    assert escape_project_path("/Users/foo/project") == "-Users-foo-project"
    assert len(escape_project_path("/" + "x" * 5_000).encode()) <= 200


def test_home_is_given_or_set_or_the_users(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTEXTUI_HOME", "/elsewhere")
    assert contextui_home("/here") == Path("/here")
    assert contextui_home() == Path("/elsewhere")
    monkeypatch.delenv("CONTEXTUI_HOME")
    monkeypatch.setenv("HOME", "/users/me")
    assert contextui_home() == Path("/users/me/.contextui")
    monkeypatch.setenv("HOME", "")  # as if it were not set
    assert contextui_home() == Path(pwd.getpwuid(os.getuid()).pw_dir) / ".contextui"

    def nobody(uid: int) -> None:
        raise KeyError(uid)

    monkeypatch.setattr(pwd, "getpwuid", nobody)
    with pytest.raises(NoHomeError, match="CONTEXTUI_HOME"):
        contextui_home()


def test_folders_that_share_a_name_are_distinguished(store: SessionStore) -> None:
    """S2.3: the stored cwd decides."""
    assert escape_project_path("/a-b/c") == escape_project_path("/a/b-c")
    with store.create("/a-b/c") as one, store.create("/a/b-c") as other:
        one.context.add(ContextItem(ItemType.USER, "one"))
        other.context.add(ContextItem(ItemType.USER, "other"))
    assert [info.first_words for info in store.list("/a-b/c")] == ["one"]
    latest = store.latest("/a/b-c")
    assert latest is not None
    assert latest.first_words == "other"


def test_everything_is_the_owners_alone(store: SessionStore, tmp_path: Path) -> None:
    """FAULTS 40"""
    old = os.umask(0)
    try:
        with store.create(tmp_path) as session:
            session.context.add(ContextItem(ItemType.USER, "private"))
        store.fork(session.id).close()
    finally:
        os.umask(old)
    for path in store.home.rglob("*"):
        expected = 0o700 if path.is_dir() else 0o600
        assert stat.S_IMODE(path.stat().st_mode) == expected, path


def test_the_branch_is_read_without_running_git(tmp_path: Path) -> None:
    """FAULTS 41"""
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/feature/x\n")
    (tmp_path / "deep").mkdir()
    assert branch_of(tmp_path / "deep") == "feature/x"
    (tmp_path / ".git" / "HEAD").write_text("0123456789abcdef\n")
    assert branch_of(tmp_path) is None


@pytest.mark.parametrize(
    "head",
    [
        b"ref: refs/heads/" + b"x" * 3_000_000,
        b"ref: refs/heads/main\n" + b"\n" * 3_000_000,
        b"ref: refs/heads/a b",
        b"ref: refs/heads/a\nsecond line",
        b"ref: refs/heads/\x1b[31m",
        "ref: refs/heads/a\u202eb".encode(),
        b"ref: refs/heads/" + b"x" * 251,
        b"\xff\xfe",
        b"",
    ],
    ids=["large", "blank", "words", "lines", "escape", "bidi", "long", "no text", "empty"],
)
def test_an_entry_holds_no_large_head(store: SessionStore, tmp_path: Path, head: bytes) -> None:
    """F09: a HEAD of megabytes stood in every entry."""
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_bytes(head)
    with store.create(tmp_path) as session:
        Talk(session).say("hello")
    assert session.path.stat().st_size < 100_000
    entries = [json.loads(line) for line in session.path.read_bytes().splitlines()]
    assert {entry.get("gitBranch") for entry in entries} == {None}


@pytest.mark.parametrize("name", ["HEAD", "."])
def test_a_special_file_in_place_of_head_does_not_block(tmp_path: Path, name: str) -> None:
    git = tmp_path / ".git"
    if name == "HEAD":
        git.mkdir()
        os.mkfifo(git / "HEAD")
    else:
        git.write_bytes(b"gitdir: " + b"x" * 3_000_000)
    assert branch_of(tmp_path) is None


def test_entries_have_the_documents_form(session: Session) -> None:
    """S2.2: other programs read words, answers and results where they expect them."""
    talk = Talk(session)
    talk.say("hello")
    talk.call(1, "I will")
    talk.result("it failed", is_error=True)
    logged = [json.loads(line) for line in session.path.read_text("utf-8").splitlines()]
    header, words, answer, use, result = logged
    assert header["subtype"] == "session"
    for entry in logged:
        assert {"uuid", "parentUuid", "sessionId", "timestamp", "cwd", "version"} <= entry.keys()
        assert entry["sessionId"] == session.id
    assert words["type"] == "user"
    assert words["message"] == {"role": "user", "content": "hello"}
    assert words["parentUuid"] == header["uuid"]
    assert answer["message"]["content"][0] == {"type": "text", "text": "I will"}
    assert use["type"] == "tool_use"
    assert use["tool"] == {"id": "call_1", "name": "action", "input": {"n": 1}}
    assert result["type"] == "tool_result"
    assert result["toolResult"] == {"id": "call_1", "output": "it failed", "error": "it failed"}


def test_a_summary_follows_its_boundary(store: SessionStore, session: Session) -> None:
    """S2.2: boundary first, then the summary; both say what the compaction did."""
    talk = Talk(session)
    talk.turns(4)
    before = session.path.read_bytes()
    talk.context.compact(list(talk.context.get_active())[:4], "They talked.", files=("a.py",))
    composed = wire(talk.composed())
    session.close()
    assert session.path.read_bytes().startswith(before)  # nothing is deleted
    logged = [json.loads(line) for line in session.path.read_text("utf-8").splitlines()]
    boundary, summary, checkpoint = logged[-3:]
    assert boundary["subtype"] == "compact_boundary"
    assert (summary["type"], summary["isCompactSummary"]) == ("user", True)
    assert summary["message"] == {"role": "user", "content": "They talked."}
    assert summary["parentUuid"] == boundary["uuid"]
    assert checkpoint["subtype"] == "checkpoint"
    for entry in (boundary, summary):
        metadata = entry["compactMetadata"]
        assert metadata.keys() == {"trigger", "preTokens", "postTokens", "filesIncluded"}
        assert (metadata["trigger"], metadata["filesIncluded"]) == ("manual", ["a.py"])
    for whole in (False, True):
        view = store.view(session.id, whole=whole)
        assert wire(view.context.compose().messages) == composed
        assert view.notices == []
    # Without its summary a boundary hides nothing: so no crash between the two loses words.
    for count in (len(logged) - 2, len(logged) - 1):
        lines = session.path.read_bytes().splitlines(keepends=True)
        cut = foreign(store, b"".join(lines[:count]).decode(), f"cut{count}")
        with store.open(cut.stem) as again:
            shown = sum(item.type is not ItemType.SYSTEM for item in again.context.get_active())
            assert shown == (8 if count == len(logged) - 2 else 4)


def test_a_log_with_a_summary_before_boundary_loads(store: SessionStore, session: Session) -> None:
    """As version 1 wrote it: a system prompt."""
    talk = Talk(session)
    talk.turns(4)
    talk.context.compact(list(talk.context.get_active())[:4], "They talked.")
    composed = wire(talk.composed())
    session.close()
    *before, boundary, summary, _ = session.path.read_text("utf-8").splitlines()
    old = json.loads(summary)
    del old["compactMetadata"]
    old |= {"type": "system", "subtype": "prompt"}
    old["message"]["role"] = "system"
    path = foreign(store, "\n".join([*before, json.dumps(old), boundary, ""]), "old")
    with store.open(path.stem) as again:
        assert again.notices == []
        assert wire(again.context.compose().messages) == composed


def test_windows_come_back_with_state_lod_and_order(store: SessionStore, session: Session) -> None:
    talk = Talk(session)
    first, second = talk.open("a"), talk.open("b")
    talk.write(first.id, "c")
    talk.windows.set_lod(first.id, Lod.SUMMARY)
    talk.windows.close(second.id)
    third = talk.open("d")
    talk.windows.settle_now()  # a closed session draws no more
    session.close()
    with store.open(session.id) as again:
        back = again.windows.windows()
        assert [window.id for window in back] == [first.id, third.id]
        assert [window.lod for window in back] == [Lod.SUMMARY, Lod.FULL]
        assert back[0].version == first.version
        assert back[0].to_xml() == first.to_xml()
        assert [entry.action for entry in back[0].snapshot().history or ()] == ["write"]
        assert again.windows.open("notes").id == "notes_4", "no id is used twice"
        assert again.context.debug_lines() == [
            "[✓] [0001] Window: notes_1",
            "[X] [0002] Window: notes_2",
            "[✓] [0003] Window: notes_3",
            "[✓] [0004] Window: notes_4",
        ]


class Changed(Window):
    """Another implementation of the notes window."""

    name = "notes"

    class State(Window.State):
        model_config = {"extra": "forbid"}
        pages: int

    state: State

    def __init__(self) -> None:
        self.state = self.State(pages=1)

    def content(self, lod: Lod) -> Body:
        return str(self.state.pages)

    @action("Turn the page")
    def turn(self) -> None:
        self.state.pages += 1


@pytest.mark.parametrize("classes", [[], [Changed]])
def test_a_window_whose_class_is_gone_stays_in_the_session(
    store: SessionStore, session: Session, classes: list[type[Window]]
) -> None:
    talk = Talk(session)
    talk.open("its last line")
    talk.say("look")
    talk.send()
    session.close()
    other = SessionStore(store.home, SessionOptions(classes=classes, checkpoint_every=1))
    with other.open(session.id) as again:
        assert again.notices[0].startswith("notes_1 is not open: ")
        assert "It stays in the session and opens once" in again.notices[0]
        assert ("--window" in again.notices[0]) == (not classes)
        assert again.context.get_all()[0].hidden == "closed"
        assert "its last line" in (again.windows.last_render("notes_1") or "")
        assert again.windows.windows() == []
        Talk(again).turn("and now?", "It is gone.")
    for _ in range(2):  # what the other run wrote down of it has not lost it
        with store.open(session.id) as back:
            assert [(one.id, one.snapshot().content) for one in back.windows.windows()] == [
                ("notes_1", "its last line")
            ]
            assert back.context.get_all()[0].hidden is None
            assert "its last line" in str(back.context.compose().messages)
            assert back.notices == []


def without(path: Path, window_id: str, *subtypes: str) -> None:
    """Remove entries about a window from a log."""
    kept = [
        line
        for line in path.read_text("utf-8").splitlines(keepends=True)
        if not (
            json.loads(line).get("subtype") in subtypes
            and json.loads(line)["data"]["windowId"] == window_id
        )
    ]
    path.write_text("".join(kept), "utf-8")


@pytest.mark.parametrize(
    ("written", "lost", "order"),
    [
        # It changed by itself: an action would have logged that it got the focus.
        (0, ("window_opened", "window_focused", "window_acted"), ["notes_1", "notes_2"]),
        # It was opened last, and used.
        (1, ("window_opened",), ["notes_1", "notes_2"]),
        (0, ("window_opened",), ["notes_2", "notes_1"]),
    ],
)
def test_a_window_without_its_opening_entry_keeps_its_place_in_the_order_of_use(
    store: SessionStore, session: Session, written: int, lost: tuple[str, ...], order: list[str]
) -> None:
    talk = Talk(session)
    window = [talk.open("a"), talk.open("b")][written]
    talk.write(window.id, "c")
    session.close()
    without(session.path, window.id, *lost)
    with store.open(session.id) as again:
        windows = sorted(again.windows.windows(), key=lambda one: again.windows.focused_at(one.id))
        assert [one.id for one in windows] == order


def test_notices_are_in_the_language_of_the_session(store: SessionStore, session: Session) -> None:
    talk = Talk(session)
    talk.open("its last line")
    talk.turn("words", "answer")
    session.close()
    with session.path.open("ab") as file:
        file.write(b'{"torn')
    chinese = SessionStore(store.home, SessionOptions(lang="zh"))
    with chinese.open(session.id) as again:
        assert again.notices[0] == "不完整的最后一行已删除（6 字节）。"
        assert again.notices[1].startswith("notes_1 没有打开：没有窗口类 notes。")
    with pytest.raises(UnknownSessionError) as caught:
        store.find("0" * 32)
    assert caught.value.text("zh") == f'没有会话 "{"0" * 32}"。'


def test_the_focus_of_a_window_comes_back(tmp_path: Path) -> None:
    """S1.1: what was acted on last, also by way of a checkpoint."""
    for every in (1_000, 1):
        store = store_in(tmp_path / str(every), every, [NotebookWindow])
        with store.create(tmp_path) as session:
            window = session.windows.open("notebook", project=False)
            for action_id, params in (("write", {"text": "A note. " * 90}), ("collapse_all", {})):
                assert asyncio.run(session.windows.act(window.id, action_id, params)).ok
            assert asyncio.run(session.windows.act(window.id, "expand-entry-1")).ok
            focus = window.snapshot().state.focus_id
            assert focus is not None
        with store.open(session.id) as again:
            (window,) = again.windows.windows()
            assert window.snapshot().state.focus_id == focus


def test_what_is_folded_and_unfolded_stays_so_and_can_be_turned_again(tmp_path: Path) -> None:
    store = SessionStore(tmp_path / "home", SessionOptions(placement="in-place"))
    session = store.create(tmp_path)
    context = session.context
    context.add(ContextItem(ItemType.USER, "read it"))
    read = context.add(ContextItem(ItemType.TOOL, "a long text", tool_name="x", gist="[a file]"))
    context.end_turn()

    def shown(context: ContextManager) -> str:
        return str(context.compose().messages[-1].content)

    assert shown(context) == "[a file]"
    context.unfold(read.id)
    assert shown(context) == "a long text"
    context.fold(read.id)
    context.unfold(read.id)
    session._recorder.checkpoint()
    session.close()
    with store.open(session.id) as again:
        assert again._recorder.loaded.parsed < 4  # from the checkpoint
        assert shown(again.context) == "a long text"
        again.context.undo()
        assert shown(again.context) == "[a file]"
        again.context.undo()
        assert shown(again.context) == "a long text"
        again.context.fold(read.id)
    with store.open(session.id) as third:
        assert shown(third.context) == "[a file]"
        words = third.context.get_all()[0]
        with pytest.raises(InvalidItemError, match="0001 has no gist"):
            third.context.fold(words.id)


def test_any_turn_can_be_shown_as_it_was_then(store: SessionStore, session: Session) -> None:
    talk, then, sent = Talk(session), list[bytes](), list[bytes]()
    window = talk.open("a")
    for number in range(5):
        talk.turn(f"words {number}", "answer")
        then.append(wire(talk.context.compose().messages))
        request = talk.context.last_request
        assert request is not None
        sent.append(wire(request.messages))
        talk.write(window.id, f"line {number}")
        talk.system(f"rule {number}")
    session.close()
    for turn, composed in enumerate(then, 1):
        assert wire(store.view(session.id, turn).context.compose().messages) == composed
        view = store.view(session.id, turn, as_sent=True)
        assert wire(view.context.outlook().messages) == sent[turn - 1]


def test_windows_are_shown_as_they_were_though_their_state_cannot_be_drawn(tmp_path: Path) -> None:
    """What an editor or a list of files shows is on the disk, not in the log of its state."""
    work, classes = tmp_path / "work", [EditorWindow, FilesWindow, GitWindow]
    work.mkdir()
    (work / "a.py").write_text("first = 1\n")
    run(work, "init", "--quiet")
    store = SessionStore(tmp_path / "home", SessionOptions(classes=classes))
    then, composed = list[dict[str, str]](), list[bytes]()
    with store.create(work) as session:
        talk, windows = Talk(session), session.windows
        opened = [windows.open("editor", path="a.py"), windows.open("files"), windows.open("git")]
        for turn in range(2):
            talk.turn(f"words {turn}", "answer")
            then.append({one.id: runtime_of(one).renders.at().xml for one in opened})
            composed.append(wire(session.context.compose().messages))
            (work / "a.py").write_text("second = 2\n")
            (work / "b.py").touch()
            for one in opened:
                assert asyncio.run(windows.act(one.id, REREAD[one.name], actor="person")).ok
    assert "first = 1" in then[0]["editor_1"]
    assert "second = 2" in then[1]["editor_1"]
    (work / "a.py").unlink()
    for turn, shown in enumerate(then, 1):
        view = store.view(session.id, turn)
        assert {
            one.id: runtime_of(one).renders.latest().xml for one in view.windows.windows()
        } == shown
        assert wire(view.context.compose().messages) == composed[turn - 1]
        view.close()


REREAD = {"editor": "reload", "files": "refresh", "git": "refresh"}


def at(moment: datetime) -> SessionOptions:
    return SessionOptions(classes=[NotesWindow], clock=lambda: moment)


LATE, EARLY = datetime(2031, 1, 1, tzinfo=UTC), datetime(2021, 1, 1, tzinfo=UTC)


def two_sessions(home: Path) -> tuple[Session, Session]:
    """One, and then another one when the clock was set back by ten years."""
    with SessionStore(home, at(LATE)).create("/p") as first:
        first.context.add(ContextItem(ItemType.USER, "first"))
    with SessionStore(home, at(EARLY)).create("/p") as second:
        second.context.add(ContextItem(ItemType.USER, "second"))
    return first, second


def latest_in(home: Path) -> str:
    latest = SessionStore(home).latest("/p")
    assert latest is not None
    return latest.id


def test_a_clock_that_jumps_does_not_mislead(tmp_path: Path) -> None:
    """G14: the session that was written last, whatever time its entries say."""
    first, second = two_sessions(tmp_path)
    assert latest_in(tmp_path) == second.id
    assert [one.id for one in SessionStore(tmp_path).list("/p")] == [second.id, first.id]
    with SessionStore(tmp_path, at(EARLY - timedelta(days=999))).open(first.id) as again:
        again.context.add(ContextItem(ItemType.USER, "later"))
    assert latest_in(tmp_path) == first.id
    with SessionStore(tmp_path, at(LATE)).create("/p"):
        pass  # it has no message
    assert latest_in(tmp_path) == first.id


def test_of_two_open_sessions_the_one_that_wrote_last_is_the_latest(tmp_path: Path) -> None:
    late, early = SessionStore(tmp_path, at(LATE)), SessionStore(tmp_path, at(EARLY))
    with late.create("/p") as first, early.create("/p") as second:
        for number in range(3):
            for session in (first, second):
                session.context.add(ContextItem(ItemType.USER, f"words {number}"))
                assert latest_in(tmp_path) == session.id


@pytest.mark.parametrize(
    "hostile",
    [
        *(b"", b"\n\n", b"no-such-session\n", b"\xff\xfe\x00", b"../../x\n" * 9, b"x" * 10**7),
        *("fifo", "folder", "link", "gone"),
    ],
    ids=lambda one: repr(one[:12]),
)
def test_without_a_sound_recent_file_times_decide(tmp_path: Path, hostile: bytes | str) -> None:
    first, second = two_sessions(tmp_path)
    recent = first.path.with_name("recent")
    recent.unlink()
    outside = tmp_path / "outside"
    outside.write_text("untouched")
    match hostile:
        case bytes():
            recent.write_bytes(hostile)
        case "fifo":
            os.mkfifo(recent)
        case "folder":
            recent.mkdir()
        case "link":
            recent.symlink_to(outside)
    assert latest_in(tmp_path) == first.id
    with SessionStore(tmp_path, at(EARLY)).open(second.id) as again:
        again.context.add(ContextItem(ItemType.USER, "on it goes"))
        assert again.notices == []
    assert latest_in(tmp_path) == (first.id if hostile == "folder" else second.id)
    assert outside.read_text() == "untouched"


def test_a_session_is_found_by_a_beginning_that_no_other_has(store: SessionStore) -> None:
    with store.create("/p") as one:
        pass
    assert store.find(one.id[:6]).id == one.id
    foreign(store, SAMPLES, "abc1")
    foreign(store, SAMPLES, "abc2")
    with pytest.raises(UnknownSessionError, match="Several sessions begin with abc: abc1, abc2"):
        store.find("abc")
    with pytest.raises(UnknownSessionError, match='There is no session "zzz"'):
        store.open("zzz")


def test_lists_say_what_each_session_is(store: SessionStore, session: Session) -> None:
    session.context.add(ContextItem(ItemType.USER, "please\nhelp " + "x" * 100))
    (info,) = store.list()
    assert info.first_words == "please help " + "x" * 48 + "…"
    assert info.cwd == session.cwd
    assert info.size == session.path.stat().st_size
    assert info.started < info.updated


def test_another_programs_log_of_this_form_opens(store: SessionStore) -> None:
    """S2.2, S2.11: the five sample lines, from the last boundary on."""
    path = foreign(store, SAMPLES)
    before = path.read_bytes()
    view = store.view("abc123", whole=True)
    assert [line[:20] for line in view.context.debug_lines()] == [
        "[X] [0001] User: 帮我重",
        "[X] [0002] Assistant",
        "[X] [0003] Tool: exp",
        "[✓] [0004] User: ## ",
    ]
    assert len(view.context.compose().messages) == 1
    assert path.read_bytes() == before


CONTENTS: list[tuple[object, str]] = [
    ("plain", "plain"),
    ([{"type": "text", "text": "a block"}], "a block"),
    ({"type": "text", "text": "one block"}, "one block"),
    ({"text": "an object"}, "an object"),
    ({"parts": ["any", 1]}, '{"parts": ["any", 1]}'),
    (["words", {"type": "text", "text": "and a block"}], "words\nand a block"),
    ([{"odd": True}, 5], '{"odd": true}\n5'),
    ([{"type": "tool_use", "name": "no id"}], '{"type": "tool_use", "name": "no id"}'),
    (42, "42"),
    (True, "true"),
]


@pytest.mark.parametrize("role", ["user", "assistant"])
@pytest.mark.parametrize(("content", "text"), CONTENTS)
def test_any_content_is_taken(store: SessionStore, role: str, content: object, text: str) -> None:
    """S2.2: text, blocks or any object; nothing valid is dropped."""
    first = json.loads(SAMPLES.splitlines()[0])
    second = {**first, "uuid": "m2", "type": role, "message": {"role": role, "content": content}}
    foreign(store, "".join(json.dumps(one) + "\n" for one in (first, second)))
    view = store.view("abc123")
    assert view.notices == []
    assert [item.content for item in view.context.get_all()][1:] == [text]
    assert text.partition("\n")[0] in str(view.context.compose().messages[-1].content)


def test_a_newer_schema_is_rejected(store: SessionStore) -> None:
    header = json.loads(SAMPLES.splitlines()[0])
    header |= {"type": "system", "subtype": "session", "data": {"schema": 99}}
    header["version"] = "99.0.0"
    path = foreign(store, json.dumps(header) + '\n{"uuid":"torn')  # not even that is repaired
    before = path.read_bytes()
    for attempt in (store.open, store.fork, store.view):
        with pytest.raises(NewerSchemaError, match="written by a newer contextui"):
            attempt("abc123")
    assert path.read_bytes() == before


@pytest.mark.parametrize("hostile", ["../../x", "a/b", "", "x\0y", "*", "~", "-" * 100, ".."])
def test_ids_cannot_escape_the_folder(store: SessionStore, hostile: str) -> None:
    with pytest.raises(InvalidSessionIdError):
        store.open(hostile)


def checkpoints(session: Session) -> int:
    return session.path.read_text("utf-8").count('"subtype":"checkpoint"')


def test_a_checkpoint_is_due_when_no_turn_is_running(tmp_path: Path) -> None:
    """S2.11: also where a person only uses windows, and nobody says anything."""
    store = store_in(tmp_path, checkpoint_every=20)
    with store.create("/p") as session:
        talk = Talk(session)
        window = talk.open("a")
        for number in range(40):
            talk.write(window.id, f"line {number}")
        made = checkpoints(session)
        assert made >= 3
        talk.say("look")
        talk.send()
        for number in range(30):
            talk.write(window.id, f"more {number}")
        assert checkpoints(session) == made  # a turn is running
        talk.answer("I see")
        talk.context.end_turn()
        assert checkpoints(session) == made + 1
        composed, turn = wire(talk.composed()), session.turn
    with store.open(session.id) as again:
        assert again.notices == []
        assert again._recorder.loaded.parsed < 20
        assert (wire(again.context.compose().messages), again.turn) == (composed, turn)


def test_a_checkpoint_before_the_first_words_changes_nothing(tmp_path: Path) -> None:
    """What is not final yet when it is written is not final when it is read."""
    store = store_in(tmp_path, checkpoint_every=4)
    with store.create("/p") as session:
        talk = Talk(session)
        talk.system("Rules.")
        window = talk.open("a")
        for number in range(6):
            talk.write(window.id, f"line {number}")
        assert checkpoints(session)
    with store.open(session.id) as again:
        Talk(again).turn("words", "answer")
        assert again.turn == 1
        assert again.context.get_stats().total_items == 4


@pytest.mark.usefixtures("few_in_memory")
def test_old_hidden_items_keep_their_description_and_read_their_content(session: Session) -> None:
    """S2.1: past 1,000 the newest 800 stay in memory; here past 60 the newest 40."""
    assert (LIMIT, KEPT) == (1_000, 800)
    talk = Talk(session)
    for number in range(40):
        talk.say(f"words {number} " + "x" * 200)
        talk.send(600)
        talk.answer(f"answer {number}")
        talk.context.end_turn()
    items = list(talk.context.get_all())
    unloaded = [item for item in items if not item.is_loaded]
    assert len(unloaded) > 20
    assert all(item.seq <= len(items) - 40 + 2 and item.hidden for item in unloaded)
    assert items[0].content.startswith("words 0 xxx")
    assert talk.context.debug_lines()[1] == "[X] [0002] Assistant: answer 0"
    talk.context.restore(items[0].id)
    assert items[0].is_loaded
    assert "words 0 " in str(talk.composed()[0].content)


@pytest.fixture
def few_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Past 60 items the newest 40 stay in memory."""
    monkeypatch.setattr(record, "LIMIT", 60)
    monkeypatch.setattr(record, "KEPT", 40)


@pytest.mark.long
def test_old_active_items_leave_memory_and_a_turn_reads_none_of_them(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S2.1: past 1,000 the newest 800 stay in memory, also of what every request shows."""
    talk, context = Talk(session), session.context
    big = "x" * 2_000
    for number in range(LIMIT // 4 + 50):
        talk.say(f"words {number} {big if number == 3 else ''}")
        talk.send()
        talk.call(1, f"call {number}", thinking="hm" * (number % 2))
        talk.result(f"result {number}")
        talk.send()
        talk.answer(f"answer {number}")
        context.end_turn()
    reads: list[int] = []

    def read(file: BinaryIO, offset: int) -> Line:
        reads.append(offset)
        return line_at(file, offset)

    monkeypatch.setattr(reader, "line_at", read)
    items = list(context.get_all())
    unloaded = [item for item in items if not item.is_loaded]
    assert len(items) == 1_200
    assert [item.seq for item in unloaded] == list(range(1, len(items) - KEPT + 1))
    assert not any(item.hidden for item in items)

    # A turn builds, sends and ends without a look into the log.
    before = wire(context.outlook().messages)
    for number in range(3):
        talk.say(f"more {number}")
        talk.send(10_000_000)
        talk.answer("yes")
        context.end_turn()
        context.get_stats()
        assert context.outlook().messages[0].content == "words 0 "
    assert wire(context.outlook().messages).startswith(before)
    assert reads == []
    assert list(talk.composed()) == specified(talk)
    assert [len(item.calls) for item in unloaded[:8]] == [0, 1, 0, 0, 0, 1, 0, 0]
    reads.clear()

    # Room is made, and a compaction planned, without one either.
    talk.say("is there room?")
    talk.send(context.outlook().tokens * 9 // 10)
    context.end_turn()
    assert sum(item.hidden == "trimmed" for item in items) > 16
    assert plan(context).goes
    assert len(reads) <= 1, "one message was sent with thinking"
    reads.clear()

    # What is asked for is read, one line each; what changes is built again from it.
    item = next(one for one in context.get_active() if not one.is_loaded)
    assert item.content
    assert len(reads) == 1
    context.pin(item.id)
    assert item.is_loaded
    assert list(talk.composed()) == specified(talk)
    talk.say("on")
    talk.send()
    context.end_turn()
    assert not item.is_loaded


@pytest.mark.usefixtures("few_in_memory")
def test_an_item_whose_line_is_lost_has_the_content_of_requests(session: Session) -> None:
    talk = Talk(session)
    for number in range(22):
        talk.say(f"words {number}")
        talk.send()
        talk.call(2, f"call {number}", thinking="hm")
        talk.result(f"first {number}")
        talk.result(f"second {number}")
        talk.send()
        talk.answer(f"answer {number}")
        session.context.end_turn()
    items = list(session.context.get_all())[:5]
    calls = items[1].blocks
    assert calls is not None
    assert not any(item.is_loaded for item in items)
    session.path.rename(session.path.with_suffix(".moved"))
    texts = ["words 0", "call 0", "first 0", "second 0", "answer 0"]
    assert [item.content for item in items] == texts
    assert items[1].blocks == calls[1:]  # thinking of finished turns is not shown
    session.path.with_suffix(".moved").rename(session.path)


@pytest.mark.usefixtures("few_in_memory")
def test_an_emptied_log_gets_what_requests_show(store: SessionStore, session: Session) -> None:
    talk = Talk(session)
    for number in range(40):
        talk.turn(f"words {number}", f"answer {number}")
    before = wire(session.context.outlook().messages)
    assert not session.context.get_all()[0].is_loaded
    os.truncate(session.path, 0)
    talk.turn("And now?", "Still here.")
    assert session.notices
    after = wire(session.context.outlook().messages)
    assert after.startswith(before)
    session.close()
    with store.open(session.id) as again:
        assert wire(again.context.outlook().messages) == after


def test_a_session_is_read_as_markdown_and_as_json(store: SessionStore, session: Session) -> None:
    talk = Talk(session)
    talk.open("a ``` line")
    talk.say("hello\x1b[31m")
    talk.call(1, "I will")
    talk.result("done")
    dropped = talk.answer("no")
    talk.context.drop(dropped.id)
    view = store.view(session.id, whole=True)
    text = to_markdown(view)
    assert text.startswith("# hello␛[31m\n")
    assert "\x1b" not in text
    assert "## You\n\nhello␛[31m" in text
    assert '```\naction {"n": 1}\n```' in text
    assert "## Model (dropped)\n\nno" in text
    assert "````\na ``` line\n````" in text
    data = json.loads(json.dumps(to_json(view)))
    assert [item["type"] for item in data["items"]] == [
        "Window",
        "User",
        "Assistant",
        "Tool",
        "Assistant",
    ]
    assert data["items"][4]["hidden"] == "dropped"
    assert data["windows"] == [
        {"id": "notes_1", "name": "notes", "lod": "Full", "state": {"lines": ["a ``` line"]}}
    ]


def test_a_lazy_session_has_no_file_before_something_happens(tmp_path: Path) -> None:
    store = SessionStore(tmp_path / "home", SessionOptions(classes=[NotesWindow]))
    with store.create(tmp_path, lazy=True) as session:
        session.context.add(ContextItem(ItemType.SYSTEM, "the prompt"))
        assert session.unsaved == 0
    assert list((tmp_path / "home").rglob("*")) == []

    with store.create(tmp_path, lazy=True) as session:
        session.context.add(ContextItem(ItemType.SYSTEM, "the prompt"))
        session.context.add(ContextItem(ItemType.USER, "hello"))
        with pytest.raises(SessionLockedError):
            store.open(session.id)
    lines = session.path.read_bytes().splitlines()
    kinds = [(one["type"], one.get("subtype")) for one in map(json.loads, lines)]
    assert kinds == [("system", "session"), ("system", "prompt"), ("user", None)]
    with store.open(session.id) as again:
        assert [item.content for item in again.context.get_all()] == ["the prompt", "hello"]

    with store.create(tmp_path, lazy=True) as session:
        session.windows.open("notes")
    assert store.find(session.id).is_empty is False


def test_a_lazy_session_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("in the way")
    store = SessionStore(tmp_path / "home")
    with store.create(tmp_path, lazy=True) as session:
        assert session.notices == []
        session.context.add(ContextItem(ItemType.USER, "hello"))
        assert session.unsaved == 2
        assert any("Not saved" in notice for notice in session.notices)


def test_a_small_checkpoint_is_written_earlier(tmp_path: Path) -> None:
    """A resume replays what follows a checkpoint: with few live items that costs most."""
    store = SessionStore(tmp_path / "home", SessionOptions())
    with store.create(str(tmp_path)) as session:
        for number in range(300):
            session.context.add(ContextItem(ItemType.USER, f"{number} " + "words " * 100))
            session.context.mark_sent(session.context.compose(2_000))
            session.context.add(ContextItem(ItemType.ASSISTANT, f"{number} " + "answer " * 100))
            session.context.end_turn()
    lines = session.path.read_bytes().splitlines()
    sizes = [len(line) for line in lines if b'"checkpoint"' in line[:300]]
    assert sum(sizes) < session.path.stat().st_size / 8
    with store.open(session.id) as session:
        assert session._recorder.loaded.parsed < 250
