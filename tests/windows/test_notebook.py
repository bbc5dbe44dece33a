"""The notebook: entries at their levels, anchors, search, and the project's file."""

import asyncio
import json
import os
import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from contextui import AnchorType, Lod, SessionOptions, SessionStore, TokenCounter
from contextui.testing import WindowTester
from contextui.windows.notebook import FILE, NotebookWindow
from tests.thorough import times
from tests.windowing.samples import action_ids
from tests.windows.git.conftest import previewed
from tests.windows.test_monitor import looks

Notebook = WindowTester[NotebookWindow]

ACTIONS = [
    "write", "edit", "delete", "tag", "untag", "expand", "collapse", "expand_all", "collapse_all",
    "filter", "search", "keep",
]  # fmt: skip
LONG_TEXT = (
    "# Release checklist\n\nBump the version. Run the tests on all three versions of Python, then "
    "build the wheel and install it into an empty environment. Open each window once. Publish only "
    "when all of that worked, and write down what did not: the next one will be grateful for it."
)
HEAD, BRIEF = "Release checklist", LONG_TEXT.partition("\n\n")[2].partition(" Publish")[0]
NO_NOTEBOOK = (
    f"{FILE} is not a notebook that this version can read, so it was not changed. "
    "Move it away to save this one."
)


@pytest.fixture
def book() -> Iterator[Notebook]:
    with WindowTester(NotebookWindow) as tester:
        tester.act("write", text="Use WAL mode", tags=["db"])
        tester.act("write", text=LONG_TEXT, tags=["release", "how to"])
        tester.content()  # anchors are there once they are drawn
        yield tester
        assert tester.troubles == []


def open_in(folder: Path, **args: Any) -> Notebook:
    return WindowTester(NotebookWindow, folder=folder, **args)


def texts(tester: Notebook) -> list[str]:
    return sorted(entry.text for entry in tester.window.state.entries)


def buttons(tester: Notebook, lod: Lod = Lod.FULL) -> list[str]:
    anchors = tester.window.snapshot(lod).anchors
    return [name for name, anchor in anchors.items() if anchor.type is AnchorType.BUTTON]


def act_and_keep(tester: Notebook, name: str, **params: Any) -> str:
    """Change something and write it to the project's file; what the change answered."""
    reply = tester.act(name, **params)
    assert reply.endswith(f" Not in {FILE} yet: keep writes it.") == tester.window.state.unsaved
    tester.act("keep")
    return reply


def stored(folder: Path) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((folder / FILE).read_bytes())
    return data


# --- what is shown ------------------------------------------------------------------------------


def test_the_three_levels(book: Notebook) -> None:
    assert looks(book) == (
        "Use WAL mode  id=1 tags=db\n"
        f"{HEAD}  id=2 tags=release, how to characters={len(LONG_TEXT)}\n  {BRIEF}",
        f"Use WAL mode  id=1 tags=db\n{HEAD}  id=2 tags=release, how to",
        "2 entries, 3 tags",
    )
    book.act("expand", entry=2)
    assert looks(book) == (
        f"Use WAL mode  id=1 tags=db\n{HEAD}  id=2 tags=release, how to\n  {LONG_TEXT}",
        f"Use WAL mode  id=1 tags=db\n{HEAD}  id=2 tags=release, how to",
        "2 entries, 3 tags",
    )


def test_an_empty_one() -> None:
    with WindowTester(NotebookWindow) as book:
        assert looks(book) == ("No entries.", "No entries.", "0 entries, 0 tags")
        book.act("write", text="x", tags=["y"])
        assert book.content(Lod.GIST) == "1 entry, 1 tag"


def test_gist_and_summary_come_from_the_text() -> None:
    with WindowTester(NotebookWindow) as book:
        for text, head, brief in (
            ("one line", "one line", "one line"),
            ("## Title\n\nbody", "Title", "body"),
            ("- a point\n- another", "a point", "- another"),
            ("x" * 300, "x" * 99 + "…", "x" * 239 + "…"),
            ("  spaced   out\t\n\n\n", "spaced out", "spaced out"),
            ("###", "", "###"),
        ):
            book.act("write", text=text)
            entry = book.window.state.entries[-1]
            assert (entry.text, entry.head, entry.brief) == (text, head, brief)


def test_given_ones_stay_until_they_are_emptied() -> None:
    with WindowTester(NotebookWindow) as book:
        reply = book.act("write", text="A\nB", gist=" my\ngist ", summary="my summary")
        assert reply == "Entry 1 is 'my gist'."
        assert book.content() == "my gist  id=1 characters=3\n  my summary"
        book.act("edit", entry=1, text="C\nD")
        assert book.content() == "my gist  id=1 characters=3\n  my summary"
        assert book.act("edit", entry=1, gist="") == "Entry 1 is 'C'."
        book.act("edit", entry=1, summary="")
        assert book.content() == "C  id=1\n  D"
        book.act("edit", entry=1, text="E\nF")
        assert book.content() == "E  id=1\n  F"


def test_a_thousand_entries_stay_small_and_say_what_is_left_out(tmp_path: Path) -> None:
    counter, words = TokenCounter(), "写测试并更新文档。"
    entries = [
        {"id": n, "uid": f"u{n}", "text": f"{words} {n}\n" + words * 60, "tags": [words]}
        for n in range(1, 1_001)
    ]
    (tmp_path / FILE).parent.mkdir()
    (tmp_path / FILE).write_text(json.dumps({"notebook": 1, "entries": entries}))
    with open_in(tmp_path) as book:
        for lod in (Lod.FULL, Lod.SUMMARY):
            lines = book.content(lod).splitlines()
            hidden = 1_000 - sum("  id=" in line for line in lines)
            assert lines[0] == f"… {hidden} more: search or filter"
            assert counter.count(book.xml(lod)) < 2_500
        assert "id=1000" in book.content()
        book.act("expand", entry=1)
        assert f"{words} 1  id=1 tags={words}\n  {words} 1\n" in book.content()
        reply = book.refused("write", text="one more")
        assert reply == "There are 1000 entries already. Delete some first."
        found = book.act("search", text=words)
        assert found.startswith(f"1000 of 1000 entries.\n1000 {words} 1000: …")
        assert found.splitlines()[-1] == "… 990 older: add a word"
        assert len(found) < 2_000
        assert len(book.refused("delete", entry=5_000)) < 1_000


# --- actions ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("action", "params", "result", "full"),
    [
        ("write", {"text": "Tea", "gist": None, "summary": None, "tags": ["#a, b", " A "]},
         "Entry 3 is 'Tea', tags: A, b.", "Tea  id=3 tags=A, b"),
        ("edit", {"entry": "#1", "gist": "WAL"}, "Entry 1 is 'WAL', tags: db.",
         f"WAL  id=1 tags=db\n  Use WAL mode\n{HEAD}  id=2"),
        ("delete", {"entry": 2}, f"Entry 2 '{HEAD}' is deleted.", "Use WAL mode  id=1 tags=db"),
        ("tag", {"entry": "1", "tags": ["DB", "sql"]}, "Entry 1 is 'Use WAL mode', tags: DB, sql.",
         "Use WAL mode  id=1 tags=DB, sql\n"),
        ("untag", {"entry": "entry-1", "tags": ["#DB", "none"]}, "Entry 1 is 'Use WAL mode'.",
         "Use WAL mode  id=1\n"),
        ("expand", {"entry": "Entry 2"}, "Expanded: 2.", f"\n  {LONG_TEXT}"),
        ("expand_all", {}, "Expanded: 1, 2.", f"\n  {LONG_TEXT}"),
        ("collapse_all", {}, "All entries are collapsed.", f"\n  {BRIEF}"),
        ("filter", {"tag": "DB"}, "Shown: 1 of 2 entries.",
         "Use WAL mode  id=1 tags=db\nfilter  tag=db"),
        ("search", {"text": "PYTHON grateful"},
         f"1 of 2 entries.\n2 {HEAD}: …Run the tests on all three versions of Python, then build "
         "the wheel and install it into an empty en…", BRIEF),
        ("search", {"text": "HOW release"},
         f"1 of 2 entries.\n2 {HEAD}: …# Release checklist Bump the version. Run the tests on "
         "all th…", BRIEF),
        ("search", {"text": "nowhere"}, "0 of 2 entries.", BRIEF),
    ],
)  # fmt: skip
def test_each_action_at_each_level_and_restored(
    book: Notebook, action: str, params: dict[str, Any], result: str, full: str
) -> None:
    assert book.act(action, **params) == result
    assert full in book.content()
    entries = [entry for entry in book.window.state.entries if f"id={entry.id}" in book.content()]
    lines = [line for line in book.content(Lod.SUMMARY).splitlines() if "  id=" in line]
    assert [line.partition("  id=")[0] for line in lines] == [entry.head for entry in entries]
    tags = {tag.casefold() for entry in book.window.state.entries for tag in entry.tags}
    many = len(book.window.state.entries)
    assert book.content(Lod.GIST).startswith(f"{many} entr")
    assert book.content(Lod.GIST).endswith(f", {len(tags)} tag{'' if len(tags) == 1 else 's'}")
    with book.restored() as later:
        assert looks(later) == looks(book)
        assert later.window.version == book.window.version
        assert buttons(later) == buttons(book)


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("write", {"text": " \n"}, "An entry needs words."),
    ("write", {"text": "x" * 20_001}, "A text has up to 20000 characters, not 20001."),
    ("write", {"text": "x", "gist": "g" * 101}, "A gist has up to 100 characters, not 101."),
    ("edit", {"entry": 1, "summary": "s" * 601},
     "A summary has up to 600 characters, not 601."),
    ("edit", {"entry": 1, "text": ""}, "An entry needs words."),
    ("edit", {"entry": 1}, "Say what to change: text, gist or summary."),
    ("delete", {"entry": 9},
     f"There is no entry '9'. Newest: 1 'Use WAL mode', 2 '{HEAD}'."),
    ("expand", {"entry": "WAL"},
     f"There is no entry 'WAL'. Newest: 1 'Use WAL mode', 2 '{HEAD}'."),
    ("collapse", {"entry": "9" * 5_000},
     f"There is no entry '{'9' * 80}'. Newest: 1 'Use WAL mode', 2 '{HEAD}'."),
    ("filter", {"tag": "nope"}, "No entry has the tag 'nope'. Tags: db, release, how to."),
    ("search", {"text": " "}, "Say what to look for."),
    ("keep", {}, "There is no folder to work in."),
    ("collapse-entry-2", {},
     'notebook_1 has no action "collapse-entry-2". It has: ' + ", ".join(ACTIONS)
     + ", expand-entry-2, close."),
    ("entry-1", {}, "entry-1 is a reference and has no action."),
    ("expand-entry-2", {"entry": 1}, "expand-entry-2 takes no params."),
]  # fmt: skip


def test_what_is_refused(book: Notebook) -> None:
    for action, params, reply in REFUSED:
        assert book.refused(action, **params) == reply


def test_ids_do_not_shift_and_are_not_used_again(book: Notebook) -> None:
    book.act("delete", entry=1)
    assert book.act("write", text="Tea") == "Entry 3 is 'Tea'."
    book.act("delete", entry=3)
    with book.restored() as later:
        assert later.act("write", text="Jam") == "Entry 4 is 'Jam'."
        assert [entry.id for entry in later.window.state.entries] == [2, 4]


def test_more_than_can_be_shown_is_not_expanded(book: Notebook) -> None:
    for _ in range(4):
        book.act("write", text="line\n" + "x" * 19_000)
    size = len("Use WAL mode") + len(LONG_TEXT) + 4 * 19_005
    assert book.refused("expand_all") == (
        f"{size} characters are too many to show. Collapse some, or filter."
    )
    for entry in (3, 4, 5):
        book.act("expand", entry=entry)
    assert book.refused("expand", entry=6).endswith("Collapse some, or filter.")
    assert book.window.snapshot().elements is not None


# --- anchors ------------------------------------------------------------------------------------


def test_anchors_expand_and_collapse(book: Notebook) -> None:
    book.act("write", text=LONG_TEXT)
    assert buttons(book) == ["expand-entry-2", "expand-entry-3"]
    assert book.act("expand-entry-2") == "Expanded: 2."
    assert buttons(book) == ["collapse-entry-2", "expand-entry-3"]
    snapshot = book.window.snapshot()
    assert snapshot.state.focus_id == "entry-2"
    assert snapshot.anchors["collapse-entry-2"].target == "entry-2"
    assert [name for name, a in snapshot.anchors.items() if a.type is AnchorType.REFERENCE] == [
        "entry-1",
        "entry-2",
        "entry-3",
    ]
    with book.restored() as later:
        assert buttons(later) == buttons(book)
        assert later.act("collapse-entry-2") == "Entry 2 is collapsed."
    assert action_ids(book.xml()) == [*ACTIONS, "collapse-entry-2", "expand-entry-3", "close"]


def test_the_filter_holds_for_new_entries_and_for_expanding_all(book: Notebook) -> None:
    book.act("filter", tag="release")
    assert book.act("write", text="Tea").startswith("Entry 3")
    assert "Tea" not in book.content() + book.content(Lod.SUMMARY)
    assert book.content(Lod.GIST) == "3 entries, 3 tags"
    assert book.act("expand_all") == "Expanded: 2."
    assert book.act("search", text="tea").startswith("1 of 3 entries.")
    book.act("untag", entry=2, tags=["release"])
    assert book.content() == "filter  tag=release"
    book.act("filter", tag=None)
    assert "Tea  id=3" in book.content()


# --- the project's notebook ---------------------------------------------------------------------


def test_nothing_is_written_before_it_is_asked_for_nor_later(tmp_path: Path) -> None:
    with open_in(tmp_path) as book:
        book.act("write", text="one")
        made = previewed(book, "keep")
        assert made.target == FILE
        assert made.text == f"{FILE} then holds 1 entry."
        assert '+   "text": "one",' in made.diff
        assert previewed(book, "keep", on=False).target == FILE
        assert book.preview("write", text="two") is None
        assert list(tmp_path.iterdir()) == []
        assert book.window.actions["keep"].effect == "write"
        assert book.act("keep") == f"Kept in {FILE}: 1 entry."
        assert book.content().endswith(f"project  file={FILE}")
        assert [entry["text"] for entry in stored(tmp_path)["entries"]] == ["one"]
        assert book.act("keep", on=False) == f"Kept no longer. {FILE} stays as it is."
        (tmp_path / FILE).write_text("theirs")
        assert book.act("write", text="two") == "Entry 2 is 'two'."
        assert book.content() == "one  id=1\ntwo  id=2"  # the file is neither read nor named
        assert (tmp_path / FILE).read_text() == "theirs"


def test_kept_it_is_there_in_the_next_session(tmp_path: Path) -> None:
    with open_in(tmp_path) as book:
        book.act("keep")
        book.act("write", text=LONG_TEXT, gist="gist", summary="summary", tags=["a"])
        book.act("write", text="two")
        book.act("delete", entry=2)
        act_and_keep(book, "write", text="three")
        before = book.window.state.entries
    with open_in(tmp_path) as book:
        assert book.window.state.entries == before
        assert [entry.id for entry in before] == [1, 3]
        assert book.window.state.kept
        unwritten = (tmp_path / FILE).read_bytes()
        reply = book.act("write", text="four")
        assert reply == f"Entry 4 is 'four'. Not in {FILE} yet: keep writes it."
        assert (tmp_path / FILE).read_bytes() == unwritten, "each change of the file is asked about"
        book.act("keep")
        assert [entry["text"] for entry in stored(tmp_path)["entries"]][-1] == "four"
    with open_in(tmp_path, project=False) as book:
        assert looks(book)[2] == "0 entries, 0 tags"
        book.act("write", text="private")
        assert "private" not in (tmp_path / FILE).read_text()
        assert book.act("keep") == f"Kept in {FILE}: 4 entries."
        assert texts(book) == sorted(["four", LONG_TEXT, "private", "three"])


def test_the_file_is_exact(tmp_path: Path) -> None:
    moment = datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=UTC)
    with open_in(tmp_path, clock=lambda: moment) as book:
        act_and_keep(book, "write", text="é 笔\r\n\u2028\0\ud800", tags=["b"])
        (entry,) = book.window.state.entries
        changed = int(moment.timestamp() * 1_000_000)
        assert (tmp_path / FILE).read_bytes().decode() == (
            '{\n "notebook": 1,\n "entries": [\n  {\n   "id": 1,\n'
            f'   "uid": "{entry.uid}",\n   "changed": {changed},\n'
            '   "text": "é 笔\\r\\n\u2028\\u0000?",\n   "gist": null,\n   "summary": null,\n'
            '   "tags": [\n    "b"\n   ]\n  }\n ],\n "deleted": {}\n}\n'
        )
        assert [one.name for one in (tmp_path / FILE).parent.iterdir()] == ["notebook.json"]


def test_two_sessions_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    with open_in(tmp_path) as one, open_in(tmp_path) as other, ThreadPoolExecutor(2) as threads:

        def write(book: Notebook, who: str) -> None:
            book.act("keep")
            for number in range(5):
                act_and_keep(book, "write", text=f"{who} {number}")

        list(threads.map(write, (one, other), ("one", "other")))
        act_and_keep(one, "write", text="end")
        act_and_keep(other, "write", text="end")
        everything = sorted(f"{who} {n}" for who in ("one", "other") for n in range(5))
        assert texts(other) == sorted([*everything, "end", "end"])
        assert sorted(entry["text"] for entry in stored(tmp_path)["entries"]) == texts(other)
        assert [one.name for one in (tmp_path / FILE).parent.iterdir()] == ["notebook.json"]


@pytest.mark.parametrize("seed", range(times(2, 10)))
def test_sessions_that_do_anything_in_any_order_agree_in_the_end(tmp_path: Path, seed: int) -> None:
    """Three sessions add, edit, tag and delete at random; a fourth follows what must remain."""
    dice = random.Random(seed)
    sessions = [open_in(tmp_path) for _ in range(3)]
    for book in sessions:
        book.act("keep")
    expected: dict[str, str] = {}
    for step in range(times(25, 40)):
        book = dice.choice(sessions)
        known = {entry.uid: entry for entry in book.window.state.entries if entry.uid in expected}
        entry = dice.choice([None, *known.values()])
        if entry is None:
            act_and_keep(book, "write", text=f"new {step}")
            newest = max(book.window.state.entries, key=lambda one: one.id)
            expected[newest.uid] = f"new {step}"
            continue
        assert {one.uid: one.id for one in book.window.state.entries}[entry.uid] == entry.id
        match dice.choice(["edit", "tag", "delete"]):
            case "edit":
                act_and_keep(book, "edit", entry=entry.id, text=f"edited {step}")
                expected[entry.uid] = f"edited {step}"
            case "tag":
                act_and_keep(book, "tag", entry=entry.id, tags=[f"t{step}"])
            case "delete":
                act_and_keep(book, "delete", entry=entry.id)
                del expected[entry.uid]
    for book in [*sessions, *sessions]:
        act_and_keep(book, "write", text="end")
    for book in sessions:
        got = {one.uid: one.text for one in book.window.state.entries if one.text != "end"}
        assert got == expected
        ids = [one.id for one in book.window.state.entries]
        assert len(ids) == len(set(ids))
        book.close()


def test_an_edit_after_a_deletion_that_nobody_knew_of_is_kept(tmp_path: Path) -> None:
    """One session deletes and does not write it; another edits later."""
    seconds = iter(range(1_000, 2_000))

    def clock() -> datetime:
        return datetime.fromtimestamp(next(seconds), UTC)

    with open_in(tmp_path, clock=clock) as one, open_in(tmp_path, clock=clock) as other:
        one.act("keep")
        one.act("write", text="kept")
        act_and_keep(one, "write", text="dropped")
        other.act("keep")
        assert one.act("delete", entry=1).startswith("Entry 1 'kept' is deleted. ")
        assert one.act("delete", entry=2).startswith("Entry 2 'dropped' is deleted. ")
        act_and_keep(other, "edit", entry=1, text="edited later")
        act_and_keep(one, "write", text="new")
        act_and_keep(other, "write", text="newer")
        act_and_keep(one, "write", text="newest")
        assert texts(one) == ["edited later", "new", "newer", "newest"]
        assert texts(other) == ["edited later", "new", "newer"]
        assert len(stored(tmp_path)["deleted"]) == 2


def test_a_clock_that_is_set_back_changes_nothing(tmp_path: Path) -> None:
    now = [datetime(2030, 1, 1, tzinfo=UTC)]
    with open_in(tmp_path, clock=lambda: now[0]) as one:
        one.act("keep")
        act_and_keep(one, "write", text="first")
        now[0] = datetime(2020, 1, 1, tzinfo=UTC)
        with open_in(tmp_path, clock=lambda: now[0]) as other:
            other.act("keep")
            act_and_keep(other, "edit", entry=1, text="second")
            act_and_keep(other, "write", text="gone")
            act_and_keep(one, "edit", entry=1, text="third")
            act_and_keep(one, "delete", entry=2)
            act_and_keep(other, "write", text="more")
            assert texts(one) == ["third"]
            assert texts(other) == ["more", "third"]


def test_numbers_of_one_session_are_not_those_of_another(tmp_path: Path) -> None:
    """Both call their own entry 1 before they meet: neither number changes its meaning."""
    with open_in(tmp_path) as one, open_in(tmp_path) as other:
        one.act("write", text="mine")
        other.act("write", text="theirs")
        one.act("keep")
        other.act("keep")
        assert other.content().startswith("theirs  id=1\nmine  id=2\n")
        one.act("tag", entry=1, tags=["x"])
        assert one.content().startswith("mine  id=1 tags=x\ntheirs  id=2\n")


@pytest.mark.parametrize(
    "content",
    [
        b"", b"{", b"[]", b'{"notebook": 2, "entries": []}', b"\xff\xfe\x00", b"[" * 100_000,
        b'{"notebook": 1, "entries": [{"id": 1}, {"id": "x"}]}',
        b'{"notebook": 1, "entries": [{"id": 1, "text": "\\ud800"}]}',
    ],
)  # fmt: skip
def test_what_is_no_notebook_is_left_alone(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / FILE
    file.parent.mkdir()
    file.write_bytes(content)
    with open_in(tmp_path) as book:
        problem = book.window.state.problem or ""
        assert problem == NO_NOTEBOOK or FILE in problem
        assert f"problem  {problem}" not in book.content(Lod.GIST)
        assert book.content().endswith(problem)
        assert book.content(Lod.SUMMARY).endswith(problem)
        assert book.act("write", text="works") == "Entry 1 is 'works'."
        assert not book.window.state.kept
        assert book.refused("keep") == problem
        assert file.read_bytes() == content
        file.unlink()
        assert book.act("keep") == f"Kept in {FILE}: 1 entry."
        assert "problem" not in book.content()


def test_a_file_that_breaks_later_is_left_alone_and_nothing_is_lost(tmp_path: Path) -> None:
    file = tmp_path / FILE
    with open_in(tmp_path) as book:
        book.act("keep")
        act_and_keep(book, "write", text="one")
        file.write_bytes(b"<<<<<<< merge")
        assert book.act("write", text="two").startswith("Entry 2 is 'two'. Not in ")
        assert book.refused("keep") == NO_NOTEBOOK
        assert file.read_bytes() == b"<<<<<<< merge"
        assert book.content().endswith(NO_NOTEBOOK)
        with book.restored() as later:
            assert texts(later) == ["one", "two"]
        file.unlink()
        assert act_and_keep(book, "write", text="three").startswith("Entry 3 is 'three'.")
        assert "problem" not in book.content()
        assert [one["text"] for one in stored(tmp_path)["entries"]] == ["one", "two", "three"]


@pytest.mark.parametrize("what", ["folder", "link out", "hard link"])
def test_a_file_that_cannot_be_used_is_shown(tmp_path: Path, what: str) -> None:
    folder, file = tmp_path / "work", tmp_path / "work" / FILE
    file.parent.mkdir(parents=True)
    match what:
        case "folder":
            file.mkdir()
        case "link out":
            (tmp_path / "outside").write_text('{"notebook": 1, "entries": []}')
            file.symlink_to(tmp_path / "outside")
        case "hard link":
            (folder / "other").write_text('{"notebook": 1, "entries": []}')
            os.link(folder / "other", file)
    with open_in(folder) as book:
        assert book.act("write", text="works").startswith("Entry 1 is 'works'.")
        if what == "hard link":  # it can be read: only writing it shows what is wrong
            assert FILE in book.refused("keep")
            return
        assert book.window.state.problem
        assert book.window.state.problem in book.content()
        book.act("keep", on=False)
        assert not book.result("keep").ok
        assert texts(book) == ["works"]
    if what == "link out":
        assert (tmp_path / "outside").read_text() == '{"notebook": 1, "entries": []}'


def test_what_cannot_be_written_now_can_be_written_later(tmp_path: Path) -> None:
    with open_in(tmp_path) as book:
        book.act("keep")
        (tmp_path / FILE).chmod(0o400)
        book.act("write", text="one")
        assert "read-only" in book.refused("keep")
        assert stored(tmp_path)["entries"] == []
        (tmp_path / FILE).chmod(0o600)
        book.act("keep")
        assert [one["text"] for one in stored(tmp_path)["entries"]] == ["one"]


def test_a_session_brings_it_back_with_what_others_wrote(tmp_path: Path) -> None:
    store = SessionStore(tmp_path / "home", SessionOptions(classes=[NotebookWindow]))
    work = tmp_path / "work"
    work.mkdir()
    with store.create(work) as session:
        window = session.windows.open("notebook")
        steps: list[tuple[str, dict[str, Any]]] = [
            ("write", {"text": LONG_TEXT, "tags": ["a"]}),
            ("expand-entry-1", {}),
            ("keep", {}),
        ]
        for name, params in steps:
            window.to_xml()  # an anchor is there once it is drawn
            assert asyncio.run(session.windows.act(window.id, name, params)).ok
        before = window.snapshot().content
    with store.open(session.id) as session:
        back = session.windows.get(window.id)
        assert back is not None
        assert back.snapshot().content == before
    with open_in(work) as other:
        act_and_keep(other, "write", text="from elsewhere")
    with store.open(session.id) as session:
        back = session.windows.get(window.id)
        assert back is not None
        assert "from elsewhere  id=2" in back.snapshot().content
        assert LONG_TEXT in back.snapshot().content
