"""The editor and the disk: byte for byte, never over what was not read, and nothing lost."""

import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextui import Lod, SessionOptions, SessionStore
from contextui.files.buffer import Buffer
from contextui.files.textfile import TextFile
from contextui.windowing.preview import PreviewError
from contextui.windowing.runtime import runtime_of
from contextui.windows.editor.window import EditorWindow
from tests.windows.test_editor import Editor, looks, open_editor, text_of, title, type_in

STAYS = "The text stays here; save_as saves it under another path."
OLD = "one\ntwo\nthree\nfour\nfive\n"
NEW = "one\ntwo\nTHREE\nfour\nfive\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    path = tmp_path / "work" / "a.txt"
    path.write_text(OLD)
    return path


@pytest.fixture
def editor(path: Path) -> Iterator[Editor]:
    """An editor with an unsaved edit."""
    with open_editor(path.parent, path.name) as tester:
        tester.act("replace", old="three", new="THREE")
        yield tester
        assert tester.troubles == []


# --- bytes -------------------------------------------------------------------------------------

FILES = {
    "crlf": b"one\r\ntwo\r\nthree\r\n",
    "mixed": b"\none\r\n\rtwo\n\r\nthree\r\r\n",
    "bom": b"\xef\xbb\xbfone\ntwo\nthree\n",
    "separators": "one\u2028\x85\ntwo\x0c\x1c\u2029\nthree\x0b\n".encode(),
    "cp1252": b"one \xe9\ntwo\nthree \x80\n",
    "utf-16": "one\r\ntwo\nthree".encode("utf-16"),
}


@pytest.mark.parametrize("name", FILES)
def test_bytes_outside_the_edit_stay(tmp_path: Path, name: str) -> None:
    data, path = FILES[name], tmp_path / "a"
    path.write_bytes(data)
    codec = name if name.startswith("utf-") else "latin-1"
    two, new = (text.encode(codec)[len("".encode(codec)) :] for text in ("two", "2.2"))
    with open_editor(tmp_path, "a") as editor:
        editor.act("replace", old="two", new="2.2")
        assert path.read_bytes() == data
        editor.act("save")
        assert path.read_bytes() == data.replace(two, new)
        editor.act("undo")
        editor.act("save")
        assert path.read_bytes() == data
        editor.act("redo")
        editor.act("undo")
        assert editor.act("save") == "There are no changes to save."


# --- saving ------------------------------------------------------------------------------------


def test_undo_goes_back_behind_a_save(editor: Editor, path: Path) -> None:
    assert editor.act("save") == "Saved a.txt, 5 lines."
    assert (path.read_text(), editor.window.state.edits) == (NEW, ())
    assert editor.act("save") == "There are no changes to save."
    editor.act("undo")
    assert (text_of(editor), path.read_text()) == (OLD, NEW)
    assert editor.content(Lod.GIST) == "a.txt, 5 lines, changed, not saved"
    with editor.restored() as later:
        assert (text_of(later), later.content(Lod.GIST)) == (OLD, editor.content(Lod.GIST))
    editor.act("redo")
    assert editor.content(Lod.GIST) == "a.txt, 5 lines, saved"
    editor.act("undo")
    editor.act("save")
    assert path.read_text() == OLD


def change(path: Path) -> None:
    path.write_text("one\ntwo\nthree\nfour\nfive\nsix\n")


def remove(path: Path) -> None:
    path.unlink()


def make_read_only(path: Path) -> None:
    path.chmod(0o444)


def link_outside(path: Path) -> None:
    outside = path.parent.parent / "outside.txt"
    outside.write_text(OLD)
    path.unlink()
    path.symlink_to(outside)


def link_hard(path: Path) -> None:
    os.link(path, path.parent / "other.txt")


def make_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def make_binary(path: Path) -> None:
    path.write_bytes(b"\0\1\2")


def make_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


SPOILED: list[tuple[Callable[[Path], None], str]] = [
    (
        change,
        '"a.txt" was changed on disk since it was read, so it was not overwritten. Read it again, '
        f"or look at the diff first. {STAYS} reload(keep=true) makes the edits in the new file.\n"
        "--- a.txt (on disk)\n+++ a.txt (new)\n@@ -1,6 +1,5 @@\n one\n two\n-three\n+THREE\n four\n"
        " five\n-six\n",
    ),
    (remove, f'"a.txt" was deleted since it was read. Save it as a new file. {STAYS}'),
    (make_read_only, f'"a.txt" is read-only, so it was not saved. Save it elsewhere. {STAYS}'),
    (link_outside, f'"a.txt" is or goes through a link out of the workspace. {STAYS}'),
    (
        link_hard,
        '"a.txt" is one file under 2 names (hard links), and saving would separate it from the '
        "others. "
        f"Save with keep_links to write into all of them. {STAYS}",
    ),
    (make_folder, f'"a.txt" is a folder, not a file. {STAYS}'),
    (
        make_binary,
        '"a.txt" was changed on disk since it was read, so it was not overwritten. Read it again, '
        f"or look at the diff first. {STAYS} reload(keep=true) makes the edits in the new file.\n"
        "a.txt on disk (3 bytes) and the new one (24) differ\n",
    ),
    (make_pipe, f'"a.txt" is a FIFO, not a file. {STAYS}'),
]


def all_of(folder: Path) -> dict[str, object]:
    """Everything in a folder: what is a file, a link, a folder, and what it holds."""
    found: dict[str, object] = {}
    for one in sorted(folder.rglob("*")):
        content: object = one.lstat().st_mode
        if one.is_file() and not one.is_symlink():
            content = (one.stat().st_mode, one.read_bytes())
        found[str(one.relative_to(folder))] = content
    return found


@pytest.mark.parametrize(("spoil", "reply"), SPOILED, ids=lambda one: getattr(one, "__name__", ""))
def test_what_cannot_be_saved_is_neither_lost_nor_written(
    editor: Editor, path: Path, spoil: Callable[[Path], None], reply: str
) -> None:
    spoil(path)
    before = all_of(path.parent.parent)
    assert editor.refused("save") == reply
    assert all_of(path.parent.parent) == before
    assert text_of(editor) == NEW
    assert title(editor) == "a.txt  lines 1-5 of 5, changed, not saved"
    editor.act("undo")
    editor.act("redo")
    assert editor.act("save_as", path="sub/b.txt") == "Saved sub/b.txt, 5 lines."
    assert (path.parent / "sub/b.txt").read_text() == NEW
    assert title(editor, Lod.GIST) == "sub/b.txt, 5 lines, saved"
    assert {name: all_of(path.parent.parent)[name] for name in before} == before


def test_a_deleted_file_is_saved_again_on_request(editor: Editor, path: Path) -> None:
    path.unlink()
    assert editor.act("save_as", path="a.txt") == "Saved a.txt, 5 lines."
    assert path.read_text() == NEW
    path.unlink()
    assert editor.refused("save").startswith('"a.txt" was deleted since it was read.')


def test_all_names_of_a_file_are_written_on_request(editor: Editor, path: Path) -> None:
    link_hard(path)
    assert editor.act("save", keep_links=True) == "Saved a.txt, 5 lines."
    assert (path.parent / "other.txt").read_text() == NEW


# --- noticing ----------------------------------------------------------------------------------

CHANGED, DELETED = "changed on disk: reload", "deleted on disk: save_as"


@pytest.mark.parametrize(
    ("spoil", "reply", "way"),
    [(change, CHANGED, "timer"), (remove, DELETED, "action"), (link_outside, CHANGED, "timer"),
     (make_folder, CHANGED, "action"), (make_binary, CHANGED, "timer"),
     (make_pipe, CHANGED, "action")],
)  # fmt: skip
def test_a_change_on_disk_is_noticed_and_shown(
    editor: Editor, path: Path, spoil: Callable[[Path], None], reply: str, way: str
) -> None:
    version = editor.window.version
    editor.tick()
    assert editor.window.version == version
    spoil(path)
    editor.tick() if way == "timer" else editor.act("goto", line=1)
    assert title(editor) == f"a.txt  lines 1-5 of 5, changed, not saved, {reply}"
    assert title(editor, Lod.GIST) == f"a.txt, 5 lines, changed, not saved, {reply}"
    assert editor.window.version.major == version.major + 1
    editor.tick()
    assert editor.window.version.major == version.major + 1
    assert STAYS in editor.refused("save")
    what = reply.partition(" ")[0]
    with pytest.raises(PreviewError, match=f"a.txt was {what} on disk. {STAYS}"):
        editor.preview("save")
    if path.is_dir():
        path.rmdir()
    path.unlink(missing_ok=True)
    path.write_text(OLD)
    editor.tick()
    assert title(editor) == "a.txt  lines 1-5 of 5, changed, not saved"
    assert editor.act("save") == "Saved a.txt, 5 lines."


def test_without_unsaved_edits_a_changed_file_is_read_again(editor: Editor, path: Path) -> None:
    assert editor.act("save") == "Saved a.txt, 5 lines."
    path.write_text("another\ntext\n")
    editor.tick()
    assert title(editor) == "a.txt  lines 1-2 of 2, saved"
    assert "another" in editor.window.to_xml()
    make_binary(path)  # nothing to show: what was read stays, and the title says why
    editor.tick()
    assert title(editor) == f"a.txt  lines 1-2 of 2, saved, {CHANGED}"
    path.write_text("text again\n")
    editor.tick()
    assert title(editor) == "a.txt  line 1 of 1, saved"
    path.unlink()
    editor.tick()
    assert title(editor) == f"a.txt  line 1 of 1, saved, {DELETED}"


def test_a_new_file_that_another_program_makes_is_noticed(path: Path) -> None:
    with open_editor(path.parent, "new.txt", new=True, lang="zh") as editor:
        editor.tick()
        assert title(editor) == "new.txt  共 0 行，新文件"
        (path.parent / "new.txt").write_text("theirs\n")
        editor.tick()
        assert title(editor) == "new.txt  第 1 行，共 1 行，已保存"


def test_it_is_noticed_again_after_coming_back(editor: Editor, path: Path) -> None:
    with editor.restored() as later:
        change(path)
        later.tick()
        assert title(later).endswith(CHANGED)


# --- reading again -----------------------------------------------------------------------------


def test_reload(editor: Editor, path: Path) -> None:
    change(path)
    assert editor.refused("reload") == ("There are unsaved edits. Give discard=true, or keep=true.")
    assert editor.refused("reload", discard=True, keep=True) == editor.refused("reload")
    assert editor.act("reload", discard=True) == "Read again: lines 1-6 of 6."
    assert text_of(editor) == path.read_text()
    assert title(editor, Lod.GIST) == "a.txt, 6 lines, saved"
    assert editor.act("reload") == "Read again: lines 1-6 of 6."
    editor.act("undo")
    assert text_of(editor) == NEW  # even what was discarded comes back
    assert title(editor, Lod.GIST) == "a.txt, 5 lines, changed, not saved"
    editor.act("undo")
    assert text_of(editor) == OLD
    editor.act("redo")
    editor.act("save")
    assert path.read_text() == NEW


def test_reload_keeps_the_edits_that_fit(editor: Editor, path: Path) -> None:
    path.write_text("zero\n" + OLD + "six\n")
    assert editor.act("reload", keep=True) == "Read again: 1 of 1 edit made again; lines 1-7 of 7."
    assert text_of(editor) == "zero\n" + NEW + "six\n"
    assert editor.act("save") == "Saved a.txt, 7 lines."
    assert path.read_text() == "zero\n" + NEW + "six\n"


def test_reload_of_what_is_gone_changes_nothing(editor: Editor, path: Path) -> None:
    path.unlink()
    for keep in (True, False):
        reply = editor.refused("reload", keep=keep, discard=not keep)
        assert reply == 'There is no "a.txt" in the workspace.'
    assert text_of(editor) == NEW


def test_edits_that_do_not_fit_are_kept_and_shown(path: Path) -> None:
    lines = [f"line {n}" for n in range(1, 61)]
    path.write_text("\n".join(lines) + "\n")
    with open_editor(path.parent, path.name) as editor:
        editor.act("replace_lines", first=10, last=10, text="TEN")
        editor.act("replace_lines", first=30, last=31, text="THIRTY")
        editor.act("insert", before_line=50, text="FIFTY\nAND A HALF")
        assert len(editor.window.state.edits) == 3
        lines[29] = "somebody's"
        path.write_text("new\n" + "\n".join(lines) + "\n")
        assert "was changed on disk" in editor.refused("save")
        reply = editor.act("reload", keep=True)
        assert reply == "Read again: 2 of 3 edits made again; lines 1-63 of 63."
        note = (
            "Unsaved edits that do not apply, since the file changed: 1. See diff; then "
            "reload(keep=true) / reload(discard=true)"
        )
        assert editor.content().split("\n")[:2] == [
            "a.txt  lines 1-63 of 63, changed, not saved",
            note,
        ]
        assert editor.content(Lod.SUMMARY).split("\n")[1] == note
        diff = editor.act("diff")
        assert diff.endswith(
            "Edits that do not apply, since a.txt changed:\n"
            "@@ line 30 @@\n-line 30\n-line 31\n+THIRTY\n"
        )
        assert "+FIFTY\n+AND A HALF\n" in diff
        editor.act("save")
        assert "THIRTY" not in path.read_text()
        assert "TEN\n" in path.read_text()
        with editor.restored() as later:
            assert looks(later) == looks(editor)
            assert "+THIRTY\n" in later.act("diff")
            assert later.refused("open", path="a.txt").startswith("There are unsaved edits.")
            lines[29], lines[9] = "line 30", "TEN"
            path.write_text("\n".join(lines) + "\n")
            assert later.act("reload", keep=True).startswith("Read again: 1 of 1 edit made again;")
            assert "THIRTY\nline 32\n" in text_of(later)
        assert editor.act("reload", discard=True).startswith("Read again: ")
        assert editor.act("diff") == "There are no unsaved edits."


def test_an_edit_that_would_fit_twice_fits_nowhere(editor: Editor, path: Path) -> None:
    path.write_text(f"x\n{OLD}{OLD}")
    assert " 0 of 1 edit made again; " in editor.act("reload", keep=True)
    assert text_of(editor) == path.read_text()
    assert editor.act("diff").endswith("-three\n+THREE\n")


def test_of_two_edits_of_one_place_one_fits(path: Path) -> None:
    base = f"{'-' * 80}\nthree\n{'=' * 80}\nend "
    path.write_text(base)
    with open_editor(path.parent, path.name) as first:
        first.act("replace", old="three", new="THREE")
        path.write_text(base + "1")
        with first.restored() as second:
            second.act("replace", old="three", new="3")
            path.write_text(base + "2")
            with second.restored() as third:
                assert len(third.window.state.lost) == 2
                assert " 1 of 2 edits made again; " in third.act("reload", keep=True)
                assert text_of(third) == path.read_text().replace("three", "THREE")
                assert third.act("diff").endswith("-three\n+3\n")


def test_no_more_is_taken_out_than_is_known_to_be_the_same(path: Path) -> None:
    path.write_text("x\n" * 3_000)
    with open_editor(path.parent, path.name) as editor:
        editor.act("delete_lines", first=100, last=2_600)
        path.write_text("x\n" * 2_000 + "precious\n" * 1_000)
        assert " 0 of 1 edit made again; " in editor.act("reload", keep=True)
        assert text_of(editor) == path.read_text()


def test_a_long_passage_that_was_taken_out(path: Path) -> None:
    lines = [f"line {n} of a long passage" for n in range(200)]
    path.write_text("\n".join(lines) + "\n")
    with open_editor(path.parent, path.name) as editor:
        editor.act("delete_lines", first=11, last=190)
        assert len(json.dumps(editor.window.state.saved())) < 4_000
        with editor.restored() as later:
            assert text_of(later) == text_of(editor)
        path.write_text("new\n" + path.read_text())
        assert " 0 of 1 edit made again; " in editor.act("reload", keep=True)
        shown = editor.act("diff").split("@@ line 11 @@\n")[1]
        assert shown.startswith("-line 10 of a long passage\n-line 11 of")
        assert "…" in shown
        assert len(shown) < 2_500


def test_a_key_for_the_text_before_a_reload_is_refused(path: Path) -> None:
    with open_editor(path.parent, path.name) as editor:
        editor.act("reload")
        assert editor.window.state.revision == 0
        change(path)
        editor.act("reload")
        assert editor.refused("splice", start=0, end=0, text="x", revision=0) == (
            "The text has changed; it has revision 1 now."
        )


# --- coming back -------------------------------------------------------------------------------


def test_the_session_keeps_edits_and_not_the_buffer(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("0123456789abcdef\n" * 5_000)
    with open_editor(tmp_path, "a") as editor:
        editor.act("replace_lines", first=2_500, last=2_500, text="x")
        type_in(editor, 0, "typed")
        editor.act("delete_lines", first=2_600, last=4_900)
        saved = json.dumps(editor.window.state.saved())
        assert len(editor.window.state.edits) == 3
        assert len(saved) < 5_000
        versions = editor.window.version.major
        type_in(editor, 0, "key")
        assert editor.window.version.major == versions + 3
        assert len(editor.window.state.edits) == 3
        with editor.restored() as later:
            assert text_of(later) == text_of(editor)
        editor.act("replace", old="5", new="five", count=text_of(editor).count("5"))
        editor.act("undo")
        with editor.restored() as later:
            assert text_of(later) == text_of(editor)


@pytest.mark.parametrize(("count", "edits"), [(150, 150), (250, 1)])
def test_a_replacement_in_many_lines(tmp_path: Path, count: int, edits: int) -> None:
    (tmp_path / "a").write_text(f"{'long ' * 20}old\n" * count)
    with open_editor(tmp_path, "a") as editor:
        editor.act("replace", old="old", new="newer", count=count)
        assert len(editor.window.state.edits) == edits
        with editor.restored() as later:
            assert text_of(later) == text_of(editor)
        editor.act("undo")
        assert editor.window.state.edits == ()


def test_near_edits_are_one_and_edits_that_cancel_out_are_none(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("short\n" * 100)
    with open_editor(tmp_path, "a") as editor:

        def put(line: int, text: str) -> list[int]:
            """Replace a line; the lines of the edits that are kept then."""
            editor.act("replace_lines", first=line, last=line, text=text)
            return [edit.line for edit in editor.window.state.edits]

        assert [put(line, "x") for line in (10, 20, 60, 5)] == [[10], [10], [10, 60], [5, 60]]
        assert [put(line, "short") for line in (5, 10, 20, 60)][2:] == [[60], []]
        editor.act("delete_lines", first=1, last=1)
        editor.act("insert", before_line=100, text="short")
        assert editor.window.state.edits == ()
        assert editor.content(Lod.GIST) == "a, 100 lines, saved"


def test_a_change_in_between_is_never_overwritten(editor: Editor, path: Path) -> None:
    change(path)
    there = path.read_text()
    with editor.restored() as later:
        assert later.content() == (
            "a.txt  lines 1-6 of 6, saved\n"
            "Unsaved edits that do not apply, since the file changed: 1. See diff; then "
            "reload(keep=true) / reload(discard=true)\n1 one\n2 two\n3 three\n4 four\n5 five\n6 six"
        )
        assert later.content(Lod.GIST) == "a.txt, 6 lines, saved, 1 edit kept aside"
        assert later.window.version.major == editor.window.version.major + 1
        assert later.act("diff") == (
            "Edits that do not apply, since a.txt changed:\n@@ line 3 @@\n-three\n+THREE\n"
        )
        assert later.act("save") == "There are no changes to save."
        assert later.refused("undo") == "There is nothing to undo."
        assert path.read_text() == there
        later.act("insert", before_line=1, text="zero")
        later.act("save")
        assert path.read_text() == "zero\n" + there
        with later.restored() as last:
            assert looks(last) == looks(later)
            assert last.act("reload", keep=True).startswith("Read again: 1 of 1 edit made again;")
            assert text_of(last) == "zero\n" + there.replace("three", "THREE")
        assert later.act("reload", discard=True) == "Read again: lines 1-7 of 7."
        assert later.window.state.lost == ()
        assert text_of(later) == "zero\n" + there


@pytest.mark.parametrize("edit", [("one", "zero\none"), ("five", "FIVE five"), ("two\n", "")])
def test_what_was_saved_before_a_crash_is_not_made_twice(path: Path, edit: tuple[str, str]) -> None:
    """The log ends before the save that is on disk."""
    with open_editor(path.parent, path.name) as editor:
        editor.act("replace", old=edit[0], new=edit[1])
        with editor.restored() as later:
            later.act("save")
        there = path.read_text()
        assert there == OLD.replace(*edit)
        with editor.restored() as later:
            assert later.act("save") == "There are no changes to save."
            assert " 0 of 1 edit made again" in later.act("reload", keep=True)
            assert text_of(later) == path.read_text() == there


@pytest.mark.parametrize(
    ("spoil", "reply"),
    [
        (remove, 'There is no "a.txt" in the workspace.'),
        (link_outside, '"a.txt" is or goes through a link out of the workspace.'),
        (make_folder, '"a.txt" is a folder, not a file.'),
        (make_binary, '"a.txt" is not text: it contains NUL bytes.'),
    ],
)
def test_what_cannot_be_read_any_more_keeps_its_edits(
    editor: Editor, path: Path, spoil: Callable[[Path], None], reply: str
) -> None:
    spoil(path)
    before = all_of(path.parent.parent)
    with editor.restored() as later:
        for lod in Lod:
            aside = ", 1 edit kept aside" if lod is Lod.GIST else ""
            assert title(later, lod) == f"a.txt{', ' if aside else '  '}{reply}{aside}"
        assert later.content().split("\n")[1].startswith("Unsaved edits that do not apply")
        assert later.act("diff").endswith("@@ line 3 @@\n-three\n+THREE\n")
        refused: dict[str, dict[str, Any]] = {
            "save": {},
            "save_as": {"path": "b.txt"},
            "undo": {},
            "goto": {"line": 1},
            "scroll": {},
            "find": {"text": "a"},
            "insert": {"before_line": 1, "text": "x"},
            "splice": {"start": 0, "end": 0, "text": "x"},
            "reload": {"keep": True},
        }
        for name, params in refused.items():
            assert later.refused(name, **params) == reply
        assert all_of(path.parent.parent) == before
        with later.restored() as again:
            assert looks(again) == looks(later)
        if path.is_dir():
            path.rmdir()
        path.unlink(missing_ok=True)
        path.write_text(OLD)
        assert later.act("reload", keep=True) == (
            "Read again: 1 of 1 edit made again; lines 1-5 of 5."
        )
        assert text_of(later) == NEW
        assert later.act("save") == "Saved a.txt, 5 lines."


def test_a_new_file_that_another_program_made(path: Path) -> None:
    with open_editor(path.parent, "new.txt", new=True) as editor:
        editor.act("insert", before_line=1, text="mine")
        (path.parent / "new.txt").write_text("theirs\n")
        with editor.restored() as later:
            assert title(later) == "new.txt  line 1 of 1, saved"
            assert later.act("diff").endswith("@@ line 1 @@\n+mine\n \n")
            assert later.act("reload", keep=True).startswith("Read again: 0 of 1 edit made again;")
            assert text_of(later) == "theirs\n"
        (path.parent / "new.txt").write_text("")
        with editor.restored() as later:
            assert later.act("reload", keep=True).startswith("Read again: 1 of 1 edit made again;")
            assert text_of(later) == "mine\n"


def test_bytes_that_pass_for_another_encoding_do_not_misplace_edits(path: Path) -> None:
    path.write_bytes(b"\xc3\xa9 \xff\n")  # two letters of cp1252, and one of UTF-8 without the \xff
    with open_editor(path.parent, path.name) as editor:
        editor.act("replace", old=" ÿ", new="")
        editor.act("save")
        assert path.read_bytes() == b"\xc3\xa9\n"
        editor.act("splice", start=2, end=2, text="!")
        with editor.restored() as later:
            assert text_of(later) == "é\n"
            assert later.act("diff").endswith("-Ã©\n+Ã©!\n")
        editor.act("save")
        assert path.read_bytes() == b"\xc3\xa9!\n"


def test_a_folder_that_is_gone(editor: Editor, path: Path) -> None:
    kept = runtime_of(editor.window).core.saved
    path.unlink()
    path.parent.rmdir()
    store = SessionStore(path.parent.parent / "home", SessionOptions(classes=[EditorWindow]))
    with store.create(path.parent) as session:
        back = session.windows.restore(EditorWindow, "editor_1", kept.state or {})
        assert back.snapshot().error == "editor_1 did not open: There is no folder to work in."
        assert runtime_of(back).core.saved.state == kept.state


# --- huge files --------------------------------------------------------------------------------

GIGABYTE = 1024**3


@pytest.fixture
def huge(tmp_path: Path) -> Path:
    """A gigabyte, of which only the head takes room on the disk."""
    path = tmp_path / "huge.log"
    with path.open("wb") as file:
        file.write(b"".join(b"line %d\n" % n for n in range(1, 50_001)))
        file.truncate(GIGABYTE)
    return path


def test_a_huge_file_is_read_in_pages(huge: Path) -> None:
    why = "read-only: 1,073,741,824 bytes, 16,777,216 at most can be edited"
    with open_editor(huge.parent, huge.name) as editor:
        assert title(editor) == f"huge.log  lines 1-100, {why}"
        assert editor.content().split("\n")[1] == "1 line 1"
        assert editor.content(Lod.SUMMARY).split("\n")[-1] == "10 line 10"
        assert title(editor, Lod.GIST) == f"huge.log, lines 1-100, {why}"
        assert editor.act("scroll") == "lines 101-200"
        assert editor.act("goto", line=20_000) == "lines 20000-20099"
        assert editor.act("scroll", pages=-1) == "lines 19900-19999"
        assert editor.refused("goto", line=0) == "Lines are counted from 1, not 0."
        assert editor.content().split("\n")[1] == "19900 line 19900"
        with editor.restored() as later:
            assert looks(later) == looks(editor)
            assert later.window.version == editor.window.version
        before = huge.stat()
        refused: dict[str, dict[str, Any]] = {
            "save": {},
            "save_as": {"path": "b"},
            "find": {"text": "9"},
            "replace": {"old": "1", "new": "2"},
            "insert": {"before_line": 1, "text": "x"},
            "replace_lines": {"first": 1, "last": 1, "text": "x"},
            "delete_lines": {"first": 1, "last": 1},
            "splice": {"start": 0, "end": 0, "text": "x"},
            "undo": {},
            "redo": {},
        }
        for name, params in refused.items():
            assert editor.refused(name, **params) == (
                "This file is too large to edit (more than 16 MiB). goto and scroll read it."
            )
        assert editor.act("diff") == "There are no unsaved edits."
        assert (huge.stat().st_mtime_ns, huge.stat().st_ino) == (before.st_mtime_ns, before.st_ino)


def test_a_file_that_became_huge_keeps_its_edits(editor: Editor, path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"x" * 20_000)
        file.truncate(GIGABYTE)
    with editor.restored() as later:
        assert "read-only" in title(later)
        assert later.act("diff").endswith("-three\n+THREE\n")
        assert later.act("reload", keep=True).startswith("Read again: ")
        assert later.act("diff").endswith("-three\n+THREE\n")
    assert "was not" in editor.refused("save") or "too large" in editor.refused("save")
    assert text_of(editor) == NEW


# --- anything, in any order --------------------------------------------------------------------

PLACES = st.tuples(st.integers(0, 900), st.sampled_from([0, 0, 1, 3, 40, 300]))
TEXTS = st.lists(
    st.sampled_from(["a", "é", "水", " ", "\n", "\r\n", "\u2028", "<x>"]), max_size=6
).map("".join)


@given(
    st.sampled_from(["", "a\r\nb\r\n", "a\rb\nc\r\nd", "\n\n\n", "some words in a line\n" * 30]),
    st.lists(st.tuples(PLACES, TEXTS), max_size=30),
)
def test_the_edits_that_are_kept_make_the_text_and_undo_unmakes_it(
    begin: str, steps: list[tuple[tuple[int, int], str]]
) -> None:
    base = TextFile(begin)
    buffer, texts = Buffer(base, base), [begin]
    for (place, length), typed in steps:
        now, text = texts[-1], re.sub(r"\r\n|\r|\n", lambda _: buffer.file.ending, typed)  # noqa: B023
        start, end = min(place, len(now)), min(place + length, len(now))
        made = now[:start] + text + now[end:]
        if made == now:
            continue
        buffer = buffer.splice(start, end, typed)
        texts.append(made)
        assert buffer.file.text == made
        assert bool(buffer.edits) == (made != begin)
        again = Buffer(base, base).returned(buffer.edits)
        assert again is not None
        assert again.file.text == made
        while again.past:
            again = again.undo()
        assert again.file.text == begin
    undone = buffer
    while undone.past:
        undone = undone.undo()
        assert undone.file.text in texts
    assert (undone.file.text, undone.edits) == (begin, ())
    while undone.future:
        undone = undone.redo()
    assert undone.file.text == texts[-1]
