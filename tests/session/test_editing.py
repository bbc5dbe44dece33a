"""A file that is edited, by whichever window: `test_editor` has all that a window makes of it."""

from pathlib import Path

import pytest

from contextui import Workspace
from contextui.files.errors import EditError, FileChangedError
from contextui.windows.editor.buffer import EditedFile, Editing


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    (tmp_path / "a.txt").write_bytes(b"one\r\ntwo\r\n")
    return Workspace(tmp_path)


def test_edits_come_back_to_the_file_that_they_were_made_in(workspace: Workspace) -> None:
    state = EditedFile()
    editing = Editing(state, workspace)
    editing.open("a.txt")
    assert editing.edit(editing.buffer.file.insert_lines(2, "and")) == 1
    assert "buffer" not in state.saved(), "the text itself is not kept"
    again = EditedFile.from_saved(state.saved())
    later = Editing(again, workspace)
    later.come_back()
    assert later.buffer.file.text == "one\r\nand\r\ntwo\r\n"
    later.save("a.txt", again.read)
    assert (workspace.root / "a.txt").read_bytes() == b"one\r\nand\r\ntwo\r\n"
    assert again.edits == ()


def test_edits_of_another_file_are_kept_aside(workspace: Workspace) -> None:
    state = EditedFile()
    editing = Editing(state, workspace)
    editing.open("a.txt")
    editing.edit(editing.buffer.file.replace_text("two", "2"))
    (workspace.root / "a.txt").write_bytes(b"three\r\n")
    with pytest.raises(FileChangedError):
        editing.save("a.txt", state.read)
    editing.come_back()
    assert (state.edits, [edit.added for edit in state.lost]) == ((), ["2"])
    assert state.page.lines == ("three",)


def test_what_is_gone_says_so_and_keeps_its_edits(workspace: Workspace) -> None:
    state = EditedFile()
    editing = Editing(state, workspace)
    editing.open("a.txt")
    editing.edit(editing.buffer.file.delete_lines(1, 1))
    (workspace.root / "a.txt").unlink()
    later = EditedFile.from_saved(state.saved())
    Editing(later, workspace).come_back()
    assert len(later.lost) == 1
    with pytest.raises(EditError, match=r'There is no "a\.txt"'):
        Editing(later, workspace).page(1, 1)
