"""Lists: the sessions, the windows, the settings."""

import errno
import json
import os
import sys
from pathlib import Path

import pytest

from contextui import ContextItem, ItemType, SessionStore
from contextui.config.schema import SETTINGS, key_of
from contextui.session.paths import escape_project_path
from contextui.text import width
from tests.cli.calling import Program, Terminal

WINDOW = '''
from contextui import Body, Lod, Window
class OwnWindow(Window):
    """My own \x1b[31mwindow."""
    def content(self, lod: Lod) -> Body:
        return ""
'''


def make_session(program: Program, words: str, folder: Path | None = None) -> str:
    with SessionStore(program.home).create(folder or program.folder) as session:
        session.context.add(ContextItem(ItemType.USER, words))
        return session.id


# --- sessions --------------------------------------------------------------------------------


def test_sessions_of_this_folder_are_listed_newest_first(program: Program, tmp_path: Path) -> None:
    first = make_session(program, "one")
    second = make_session(program, "two\x1b[2J\nlines")
    other = make_session(program, "elsewhere", tmp_path / "other")
    head, *rows = program("sessions").out.splitlines()
    assert head.split() == ["id", "updated", "first", "prompt"]
    assert [row.split()[0] for row in rows] == [second[:8], first[:8]]
    assert rows[0].endswith("two␛[2J lines")
    assert program("-c", "--fork", "-p", "three").status == 0
    assert program("sessions").out.splitlines()[1].endswith("  fork: two␛[2J lines")
    assert other[:8] in program("sessions", "--all").out
    assert "  ~/other  elsewhere\n" in program("sessions", "--all").out
    assert "  ~/work   one\n" in program("sessions", "--all").out


def test_lists_fit_the_terminal(
    program: Program, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    make_session(program, "said " * 50)
    make_session(program, "你好" * 50, tmp_path / "a" / ("long " * 20) / "folder")
    for words in (["sessions"], ["sessions", "--all"], ["windows"]):
        terminal = Terminal()
        monkeypatch.setattr(sys, "stdout", terminal)
        program(*words)
        lines = terminal.getvalue().splitlines()
        assert [line for line in lines if width(line) > 80] == []
        assert "--all" not in words or any("/folder  你好" in line for line in lines)


def test_sessions_as_json(program: Program) -> None:
    session = make_session(program, "one")
    (listed,) = program("sessions", "--json").json
    assert listed["id"] == session
    assert listed["cwd"] == str(program.folder)
    assert listed["first_words"] == "one"
    assert Path(listed["path"]).exists()


def test_an_empty_list_of_sessions_is_a_message(program: Program) -> None:
    assert "no sessions of this folder" in program("sessions").out
    assert program("sessions", "--json").json == []
    assert program.files() == []


def damage(program: Program) -> list[Path]:
    """Files beside the sessions of the folder that are not sessions."""
    folder = program.home / "projects" / escape_project_path(program.folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "aaaa.jsonl").write_bytes(b"\0\xff\n{}\n" * 20)
    (folder / "bbbb.jsonl").mkdir()
    (folder / "cccc.jsonl").symlink_to("cccc.jsonl")
    return [folder / f"{name}.jsonl" for name in ("aaaa", "bbbb", "cccc")]


def test_unreadable_sessions_are_reported(program: Program) -> None:
    session = make_session(program, "one")
    paths = damage(program)
    for words in (["sessions"], ["sessions", "--all", "--json"]):
        done = program(*words)
        done.fails(0, "Some sessions cannot be read:", *map(str, paths), "damaged")
        assert session[:8] in done.out
        assert "aaaa" not in done.out


def test_resuming_reports_unreadable_sessions(program: Program) -> None:
    paths = damage(program)
    for words in (["-c", "-p", "Hello"], ["debug"], ["compact"]):
        program(*words).fails(2, "No session of", *map(str, paths))
    assert program("sessions").out == "None can be read.\n"
    make_session(program, "one")
    program("debug").fails(0, *map(str, paths))
    done = program("-c", "-p", "Hello", "--output-format", "json")
    done.fails(0, *map(str, paths))
    assert "Some sessions cannot be read" in done.json["notices"][0]


def test_an_unreadable_session_that_was_named_is_reported_with_the_reason(program: Program) -> None:
    damage(program)
    for name, why in (("aaaa", "session"), ("bbbb", "not a file"), ("cccc", "symbolic link")):
        program("-r", name, "-p", "Hello").fails(2, why)
        program("debug", name).fails(2, why)


def test_an_empty_session_is_reported_in_one_line_and_unchanged(program: Program) -> None:
    """A crash, or a full disk, may leave an empty log."""
    session = make_session(program, "one")
    empty = program.home / "projects" / escape_project_path(program.folder) / "dddd.jsonl"
    empty.touch()
    for words in (["sessions"], ["sessions", "--all"], ["debug"], ["-c", "-p", "Hello"]):
        program(*words).fails(0, f"{empty}: it is empty.")
    assert json.loads(program("sessions", "--all", "--json").out)[0]["id"] == session
    program("-r", "dddd", "-p", "Hello").fails(2, "Session dddd cannot be read: it is empty.")
    assert empty.read_bytes() == b""


def test_an_unreadable_folder_of_sessions_is_reported(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    for words in (["-c", "-p", "Hello"], ["-r", "abc", "-p", "Hello"], ["debug"]):
        make_session(program, "one")
        folder = program.home / "projects"

        def refused(path: Path) -> list[Path]:  # root may read all, and tests may run as root
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

        monkeypatch.setattr(Path, "iterdir", refused)
        program(*words).fails(2, f"{folder}: Permission denied")


def test_a_removed_current_folder_is_an_error(program: Program) -> None:
    gone = program.folder / "gone"
    gone.mkdir()
    os.chdir(gone)
    gone.rmdir()
    program("sessions").fails(2, "folder no longer exists")


# --- windows ---------------------------------------------------------------------------------


def test_windows_are_listed_and_those_that_fail_say_why(program: Program) -> None:
    program.write("own.py", WINDOW)
    program.write("broken.py", "1 / 0")
    program.write(".contextui/windows/theirs.py", WINDOW)
    program.write("../home/config.toml", "mcp.servers.away.command = 'nonesuch'")
    done = program("windows", "--window", "own.py", "--window", "broken.py")
    lines = done.out.splitlines()
    assert done.status == 0
    assert "[✓] todo: A to-do list." in lines
    assert "[✓] own: My own ␛[31mwindow." in lines
    assert '[X] away: There is no program "nonesuch".' in lines
    assert any(line.startswith("[X] broken: ") and "division by zero" in line for line in lines)
    assert any(line.startswith("[X] theirs: ") and "contextui trust" in line for line in lines)


def test_windows_as_json(program: Program) -> None:
    listed = {one["name"]: one for one in program("windows", "--json").json}
    assert set(listed) >= {"todo", "editor", "files", "monitor", "notebook", "code", "git"}
    assert listed["todo"]["status"] == "ready"
    assert "add" in listed["todo"]["actions"]


# --- settings --------------------------------------------------------------------------------


def test_every_setting_is_listed_with_where_it_comes_from(program: Program) -> None:
    program.set(CONTEXTUI_MAX_STEPS="7", ANTHROPIC_MODEL="claude-x")
    path = program.write(".contextui/config.toml", "budget = 9000\napproval = 'auto'")
    done = program("config", "--lang", "zh")
    done.fails(0, "approval")  # a project may not raise it
    lines = done.out.splitlines()
    rows = {line.split()[0]: line.split()[1:] for line in lines if line}
    assert rows["max_steps"] == ["7", "CONTEXTUI_MAX_STEPS"]
    assert rows["model"] == ["claude-x", "ANTHROPIC_MODEL"]
    assert rows["budget"] == ["9000", str(path)]
    assert rows["lang"] == ["zh", "--lang"]
    assert rows["provider"] == ["auto", "(offline)", "默认"]
    assert rows["base_url"] == ["-", "默认"]
    assert set(rows) >= set(map(key_of, SETTINGS))


def test_settings_as_json(program: Program) -> None:
    data = program("config", "--json", "--window", "a.py").json
    assert set(data["settings"]) == set(SETTINGS)
    assert data["settings"]["window"] == {"value": ["a.py"], "origin": "--window"}
    assert data["provider"] == "offline"
    assert data["has_key"] is False
    assert data["home"] == str(program.home)


def test_the_key_is_never_shown(program: Program) -> None:
    for words in (["config"], ["config", "--json"]):
        program.set(ANTHROPIC_API_KEY="a-key-of-mine-12345")
        done = program(*words)
        assert "a-key-of-mine-12345" not in done.out + done.err, words
        assert "set" in done.out, words


def test_wrong_settings_are_an_error(program: Program) -> None:
    program("config", "--budget", "x").fails(2, "--budget")
    program("config", "--strategy", "nonsense").fails(2, 'There is no strategy "nonsense"')
    program.write("../home/config.toml", "strategy = {type = 'sliding', config = {most = 5}}")
    program("config").fails(2, 'no setting "most"')
