"""Settings written into the user's config.toml."""

import os
import tomllib
from pathlib import Path

import pytest

from contextui.config.settings import SettingsError
from contextui.config.writer import write_setting

FILE = """# my settings
model = "claude-opus-5-5"  # the good one
budget = 30000

[windows]
lod = "summary"   # small

[strategy]
name = "sliding"
"""


def config(home: Path, text: str | None = FILE) -> Path:
    path = home / "config.toml"
    if text is not None:
        path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("name", "typed", "line"),
    [
        ("model", "claude-sonnet-5-5", 'model = "claude-sonnet-5-5"  # the good one'),
        ("budget", "64000", "budget = 64000"),
        ("windows_lod", "gist", 'lod = "gist"   # small'),
        ("approval", "read-only", 'approval = "read-only"'),
        ("compaction_threshold", "0.5", "threshold = 0.5"),
        ("compaction_auto", "false", "auto = false"),
        ("allow_commands", "git status, pytest *", 'commands = ["git status", "pytest *"]'),
        ("lang", "zh", 'lang = "zh"'),
    ],
)
def test_one_setting_changes_alone(tmp_path: Path, name: str, typed: str, line: str) -> None:
    path = config(tmp_path)
    write_setting(tmp_path, name, typed)
    text = path.read_text()
    assert line in text.splitlines()
    kept = [one for one in FILE.splitlines() if one.partition("=")[0] != line.partition("=")[0]]
    assert [one for one in kept if one not in text.splitlines()] == []
    tomllib.loads(text)


def test_a_file_is_made_if_there_is_none(tmp_path: Path) -> None:
    home = tmp_path / "new"
    write_setting(home, "compaction_auto", "false")
    path = home / "config.toml"
    assert tomllib.loads(path.read_text()) == {"compaction": {"auto": False}}
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("name", "typed"),
    [
        ("budget", "many"),
        ("approval", "yes"),
        ("windows_lod", "huge"),
        ("model", "sk-ant-api03-5f3a9c27e1b84d0f9a6c"),
        ("base_url", "https://joe:hunter2@example.org"),
    ],
)
def test_wrong_values_and_keys_are_refused(tmp_path: Path, name: str, typed: str) -> None:
    path = config(tmp_path)
    with pytest.raises(SettingsError) as caught:
        write_setting(tmp_path, name, typed)
    assert path.read_text() == FILE
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    ['secret_files = [\n  "ls",  # why\n]\n', 'x = """\nsecret_files = []\n"""\n', "not toml"],
)
def test_what_cannot_be_changed_safely_is_left_alone(tmp_path: Path, text: str) -> None:
    path = config(tmp_path, text)
    with pytest.raises(SettingsError):
        write_setting(tmp_path, "secret_files", "ls")
    assert path.read_text() == text


@pytest.mark.parametrize(
    ("text", "name", "typed", "after"),
    [
        ('secret_files = ["a"]\n', "secret_files", "b", {"secret_files": ["b"]}),
        ('secret_files = [\n  "a",\n]\n', "secret_files", "b", {"secret_files": ["b"]}),
        ("", "allow_commands", "ls", {"approval": {"commands": ["ls"]}}),
    ],
)
def test_a_setting_stays_where_it_is(
    tmp_path: Path, text: str, name: str, typed: str, after: object
) -> None:
    path = config(tmp_path, text)
    write_setting(tmp_path, name, typed)
    assert tomllib.loads(path.read_text()) == after


def test_a_table_is_not_put_beside_a_value_of_its_name(tmp_path: Path) -> None:
    path = config(tmp_path, 'approval = "ask"\n')
    with pytest.raises(SettingsError, match="edit"):
        write_setting(tmp_path, "allow_commands", "ls")
    assert path.read_text() == 'approval = "ask"\n'


def test_a_linked_file_stays_linked(tmp_path: Path) -> None:
    real = tmp_path / "dotfiles" / "contextui.toml"
    real.parent.mkdir()
    real.write_text("budget = 1000\n")
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.toml").symlink_to(real)
    write_setting(home, "budget", "64000")
    assert real.read_text() == "budget = 64000\n"
    assert os.path.islink(home / "config.toml")


def test_odd_text_in_a_value_stays_a_value(tmp_path: Path) -> None:
    write_setting(tmp_path, "model", 'a"b\\c]#x')
    parsed = tomllib.loads((tmp_path / "config.toml").read_text())
    assert list(parsed) == ["model"]


def test_comments_line_ends_and_permissions_stay(tmp_path: Path) -> None:
    path = config(tmp_path, None)
    path.write_bytes(b"# mine\r\nwindows = ['a#b'] # why\r\nmodel = 'x'\t# \xe2\x80\xa8\r\n")
    path.chmod(0o664)
    write_setting(tmp_path, "windows", "files, todo")
    write_setting(tmp_path, "model", "y")
    expected = '# mine\r\nwindows = ["files", "todo"] # why\r\nmodel = "y"\t# \u2028\r\n'
    assert path.read_bytes().decode() == expected
    assert path.stat().st_mode & 0o777 == 0o664


def test_a_read_only_file_is_not_replaced(tmp_path: Path) -> None:
    path = config(tmp_path)
    path.chmod(0o444)
    with pytest.raises(SettingsError, match="Permission denied"):
        write_setting(tmp_path, "model", "y")
    assert path.read_text() == FILE
    assert os.listdir(tmp_path) == ["config.toml"]
