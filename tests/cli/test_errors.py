"""Errors before a turn starts: one line, and nothing is written."""

import pytest

from contextui.agent.controller import InteractionController
from contextui.agent.loop import AgentLoop
from tests.agent.server import Server, answer
from tests.cli.calling import SECRET, Program


def test_without_a_key_a_chosen_model_is_an_error(program: Program) -> None:
    program("-p", "Hi", "--model", "claude-x").fails(2, "claude-x", "ANTHROPIC_API_KEY")
    program.set(CONTEXTUI_PROVIDER="anthropic")
    program("-p", "Hi").fails(2, "claude-sonnet-5-5", "ANTHROPIC_API_KEY")
    assert program.files() == []


def test_a_model_in_a_config_file_without_a_key_falls_back_to_the_offline_model(
    program: Program,
) -> None:
    program.set(ANTHROPIC_MODEL="claude-x")
    done = program("-p", "Hello")
    done.fails(0, "claude-x", "ANTHROPIC_API_KEY", "offline")
    assert done.out
    assert program("-p", "Hello", "--model", "offline").err == ""


def test_without_storage_it_prints_a_notice_and_answers(program: Program) -> None:
    """FAULTS 58: the answer is printed; stderr and the status report what was not saved."""
    program.write("file", "")
    home = program.folder / "file" / "home"
    program.set(CONTEXTUI_HOME=str(home))
    done = program("-p", "Hello", "--output-format", "json")
    assert (done.status, bool(done.json["result"])) == (1, True)
    assert "\ncontextui: Not saved: File exists. The folder is " in done.err
    assert done.err.count("resumes") == 1
    assert done.err.endswith("contextui -c resumes without the missing part.\n")
    assert done.json["saved"] is False
    printed = [line.removeprefix("contextui: ") for line in done.err.splitlines()]
    assert done.json["notices"] == printed


def test_a_wrong_address_is_an_error(program: Program) -> None:
    for url in ("ftp://x", "localhost", "http://", "http://u:p@h", "http://h h"):
        program("-p", "Hi", "--base-url", url).fails(2, "--base-url", "http://localhost:11434")
        assert program.files() == [], url


def test_broken_settings_are_an_error(program: Program, server: Server) -> None:
    path = program.write(".contextui/config.toml", 'base_url = "http://evil.example"')
    program("-p", "Hi").fails(2, str(path), "base_url")
    path.write_text("model = \n")
    program("-p", "Hi").fails(2, str(path), "line 1")
    assert (program.files(), server.requests) == ([], [])


def test_a_window_that_was_named_must_be_usable(program: Program, server: Server) -> None:
    program("-p", "Hi", "--window", "missing.py").fails(2, "missing.py")
    program.write("broken.py", "def (")
    program("-p", "Hi", "--window", "broken.py").fails(2, "broken.py, line 1")
    program("-p", "Hi", "--windows", "nowhere").fails(2, "nowhere")
    program.write("own/broken.py", "1 / 0")
    program("-p", "Hi", "--windows", "own").fails(2, "division by zero")
    assert program.files() == []


def test_errors_before_the_turn_are_json_too(program: Program) -> None:
    for form in ("json", "stream-json"):
        done = program("-p", "", "--output-format", form)
        done.fails(2, "empty")
        (result,) = [done.json] if form == "json" else done.lines
        assert result["is_error"] is True, form
        assert result["reason"] == "not_started", form
        assert "empty" in result["error"], form
        assert {"result", "session_id", "stop_reason", "steps", "usage", "windows"} < set(result), (
            form
        )


def test_an_unexpected_error_is_one_line_without_keys(
    program: Program, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(self: InteractionController, guide: str = "") -> None:
        raise RuntimeError(f"boom\nwith {SECRET}")

    monkeypatch.setattr(InteractionController, "install_prompt", crash)
    done = program("-p", "Hi")
    done.fails(1, "RuntimeError: boom")
    assert SECRET not in done.err
    program.set(CONTEXTUI_DEBUG="1")
    done = program("-p", "Hi")
    assert "Traceback" in done.err
    assert SECRET not in done.err


def test_a_crash_within_the_turn_is_reported_and_the_session_can_be_resumed(
    program: Program, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(self: AgentLoop, *given: object) -> None:
        raise RuntimeError(f"boom with {SECRET}")

    server.play(answer("Yes."), answer("Yes."))
    with monkeypatch.context() as patch:
        patch.setattr(AgentLoop, "query", crash)
        done = program("-p", "Hi", "--output-format", "json")
    done.fails(1, "RuntimeError: boom")
    assert (done.json["reason"], done.json["is_error"]) == ("failed", True)
    assert SECRET not in done.err + done.out
    assert program("-r", done.json["session_id"], "-p", "And?").out == "Yes.\n"


def test_debug_prints_the_traceback_of_an_expected_error(program: Program) -> None:
    """R13: as docs/command-line.md says."""
    done = program("-p", "Hi", "--budget", "nothing")
    assert "Traceback" not in done.err
    program.set(CONTEXTUI_DEBUG="1")
    with_traceback = program("-p", "Hi", "--budget", "nothing")
    assert "Traceback" in with_traceback.err
    assert with_traceback.err.endswith(done.err)
    assert with_traceback.status == done.status


def test_a_named_window_whose_name_is_taken_is_an_error_and_a_found_one_a_notice(
    program: Program,
) -> None:
    """R13: as docs/writing-windows.md says."""
    source = 'from contextui import Window\n\nclass Todo(Window):\n    """Mine."""\n'
    source += "    def content(self, lod):\n        return 'mine'\n"
    program.write("mine.py", source)
    done = program("-p", "Hi", "--window", "mine.py")
    done.fails(2, "todo cannot be used: two windows have this name")
    windows = program.home / "windows"
    windows.mkdir(parents=True)
    (windows / "mine.py").write_text(source)
    done = program("-p", "Hi")
    assert done.status == 0
    assert "The window todo is skipped: two windows have this name" in done.err
