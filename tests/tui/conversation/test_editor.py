"""The prompt in an external editor."""

import sys
import tempfile
from pathlib import Path

import pytest
from textual.pilot import Pilot

from contextui.tui.conversation.editor import EditorError, edit, editor_of
from contextui.tui.conversation.prompt import Prompt
from tests.tui.running import shown, until


def editor_in(folder: Path, code: str) -> list[str]:
    """A program that is run with a file, as an editor."""
    script = folder / "editor.py"
    script.write_text(f"import os, sys\npath = sys.argv[1]\n{code}\n")
    return [sys.executable, str(script)]


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_the_text_is_edited_in_a_private_file(tmp_path: Path, temporary: Path) -> None:
    code = (
        "text = open(path).read()\n"
        "modes = [oct(os.stat(one).st_mode & 0o777) for one in (path, os.path.dirname(path))]\n"
        "open(path, 'w').write(text.upper() + '\\n' + ' '.join(modes) + '\\n')"
    )
    assert edit("héllo", editor_in(tmp_path, code)) == "HÉLLO\n0o600 0o700"
    assert list(temporary.iterdir()) == []  # removed


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("open(path, 'w').write('half'); sys.exit(3)", "ended with 3"),
        ("os.remove(path)", "left no text"),
        ("os.remove(path); os.mkfifo(path)", "left no text"),
    ],
)
def test_a_failure_keeps_the_text(tmp_path: Path, temporary: Path, code: str, reason: str) -> None:
    with pytest.raises(EditorError, match=reason):
        edit("text", editor_in(tmp_path, code))
    assert list(temporary.iterdir()) == []


def test_a_missing_editor_is_said(temporary: Path) -> None:
    with pytest.raises(EditorError, match="did not start"):
        edit("text", ["/no/such/editor"])
    assert list(temporary.iterdir()) == []


def test_which_editor_it_is() -> None:
    assert editor_of({"VISUAL": "code --wait", "EDITOR": "vi"}) == ["code", "--wait"]
    assert editor_of({"VISUAL": " ", "EDITOR": "'/my editor' -x"}) == ["/my editor", "-x"]
    with pytest.raises(EditorError, match="not a command"):
        editor_of({"EDITOR": "'vi"})


async def test_nothing_opens_where_there_is_no_terminal(
    pilot: "Pilot[int]", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a browser, an editor would open where the server runs."""
    trace = tmp_path / "ran"
    monkeypatch.setenv("VISUAL", f"touch {trace}")
    await pilot.press(*"half", "ctrl+x", "ctrl+e")
    await until(pilot, lambda: shown(pilot, "An editor can only be opened in a terminal"))
    assert pilot.app.screen.query_one(Prompt).text == "half"
    assert not trace.exists()
    await pilot.press("ctrl+x", "s")  # another key after ctrl+x is itself
    assert pilot.app.screen.query_one(Prompt).text == "halfs"
