"""Recorded runs: their JSON form, and the converters of sessions of other agents."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from benchmarks.cost.__main__ import main
from benchmarks.cost.convert import gist_size, load_runs
from benchmarks.cost.runs import Answer, Call, Result, Run, RunError, Words, parse_run
from contextui.tokens import TokenCounter

count = TokenCounter().count

RECORDED: dict[str, Any] = {
    "format": "contextui-run-1",
    "name": "sample",
    "head": 3_200,
    "steps": [
        {"type": "words", "tokens": 120, "time": 0},
        {"type": "answer", "text": 40, "time": 4, "calls": [{"id": "c1", "tokens": 35}]},
        {"type": "result", "call": "c1", "tokens": 900, "gist": 30, "time": 5},
        {"type": "answer", "text": 80, "thinking": 7},
    ],
}


def saved(folder: Path, name: str, value: object) -> Path:
    """Write a file: JSON, or one JSON value per line."""
    path = folder / name
    is_lines = name.endswith(".jsonl") and isinstance(value, list)
    lines = value if is_lines and isinstance(value, list) else [value]
    path.write_text("\n".join(json.dumps(line) for line in lines) + "\n", "utf-8")
    return path


def test_a_recorded_run_is_read(tmp_path: Path) -> None:
    (run,) = load_runs(saved(tmp_path, "sample.json", RECORDED))
    assert run == Run(
        "sample",
        3_200,
        (
            Words(120, 0),
            Answer(40, 0, (Call("c1", 35),), 4),
            Result("c1", 900, 30, 5),
            Answer(80, 7, (), 10.0),
        ),
    )
    assert list(run.requests()) == [(1, 0), (3, 5)]
    assert parse_run(json.loads(json.dumps(run.as_json())), "again") == run


def test_times_never_decrease() -> None:
    steps = [*RECORDED["steps"][:3], {"type": "answer", "text": 1, "time": 2}]
    run = parse_run({**RECORDED, "steps": steps}, "sample.json")
    assert [step.time for step in run.steps] == [0, 4, 5, 5]


def test_a_bad_run_is_refused_in_one_line(tmp_path: Path) -> None:
    for change, why in (
        ({"format": "other"}, "neither a recorded run nor a list of messages"),
        ({"head": -1}, "head must be a number of tokens"),
        ({"steps": None}, "steps must be a list"),
        ({"steps": []}, "no answer"),
        ({"steps": [3]}, "step 1: a step must be an object"),
        ({"steps": [{"type": "song"}]}, "step 1: type must be words, answer or result, not 'song'"),
        ({"steps": [{"type": "words", "tokens": 1, "time": float("nan")}]}, "time must be"),
        ({"steps": [{"type": "result", "call": "c", "tokens": 1}]}, "answers no open call"),
        ({"steps": [{"type": "answer", "calls": [{"tokens": 1}]}]}, "id must be a text"),
        ({"steps": [*RECORDED["steps"], RECORDED["steps"][2]]}, "answers no open call"),
    ):
        path = saved(tmp_path, "bad.json", {**RECORDED, **change})
        with pytest.raises(RunError) as caught:
            load_runs(path)
        assert why in str(caught.value), change
        assert str(caught.value).startswith(str(path)), change
        assert "\n" not in str(caught.value), change


def test_a_damaged_file_is_refused_in_one_line(tmp_path: Path) -> None:
    for content, why in (
        (b"{", "not JSON"),
        (b"\xff\xfe", "not UTF-8"),
        (b"[" * 100_000, "not JSON"),
        (b"3", "neither"),
    ):
        path = tmp_path / "damaged.json"
        path.write_bytes(content)
        with pytest.raises(RunError, match=why) as caught:
            load_runs(path)
        assert "\n" not in str(caught.value), content


def test_the_command_reports_errors_without_a_traceback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", str(tmp_path / "missing.json")]) == 1
    assert capsys.readouterr().err == f"{tmp_path / 'missing.json'}: No such file or directory\n"


OUTPUT = "<returncode>0</returncode>\n<output>\na.py\nb.py\n</output>"


def trajectory(*messages: Mapping[str, Any]) -> dict[str, Any]:
    first = [{"role": "system", "content": "You fix bugs."}, {"role": "user", "content": "Fix it."}]
    return {
        "trajectory_format": "mini-swe-agent-1.1",
        "info": {"exit_status": "Submitted"},
        "messages": [*first, *messages],
    }


def test_a_trajectory_with_tool_calls_is_converted(tmp_path: Path) -> None:
    arguments = '{"command": "ls"}'
    answer = {
        "role": "assistant",
        "content": None,
        "reasoning_content": "Look first.",
        "tool_calls": [
            {"id": "t1", "type": "function", "function": {"name": "bash", "arguments": arguments}}
        ],
        "extra": {"actions": [{"command": "ls", "tool_call_id": "t1"}], "timestamp": 1_000.0},
    }
    result = {
        "role": "tool",
        "tool_call_id": "t1",
        "content": OUTPUT,
        "extra": {"raw_output": "a.py\nb.py\n", "returncode": 0, "timestamp": 1_002.5},
    }
    end = {"role": "exit", "content": "", "extra": {"exit_status": "Submitted"}}
    path = saved(tmp_path, "django-1.traj.json", trajectory(answer, result, end))
    (run,) = load_runs(path)
    assert (run.name, run.head) == ("django-1", count("You fix bugs."))
    assert run.steps == (
        Words(count("Fix it."), 0.0),
        Answer(0, count("Look first."), (Call("t1", count(f"bash {arguments}")),), 0.0),
        Result("t1", count(OUTPUT), min(gist_size(OUTPUT), count(OUTPUT)), 2.5),
    )


def test_a_trajectory_with_commands_in_fenced_code_is_converted(tmp_path: Path) -> None:
    for fence in ("bash", "mswea_bash_command"):
        messages = [
            {"role": "assistant", "content": f"I look.\n\n```{fence}\nls -la\n```"},
            {"role": "user", "content": OUTPUT},
            {"role": "assistant", "content": "I forgot the command."},
            {"role": "user", "content": "Give exactly one action."},
            {"role": "assistant", "content": f"Done.\n```{fence}\necho done\n```"},
        ]
        (run,) = load_runs(saved(tmp_path, "old.traj.json", trajectory(*messages)["messages"]))
        kinds = [type(step) for step in run.steps]
        assert kinds == [Words, Answer, Result, Answer, Words, Answer], fence
        first, forgotten = run.steps[1], run.steps[3]
        assert isinstance(first, Answer), fence
        assert isinstance(forgotten, Answer), fence
        assert first.calls[0].tokens == count("ls -la"), fence
        assert first.text == count(f"I look.\n\n```{fence}\nls -la\n```") - count("ls -la"), fence
        assert forgotten.calls == (), fence
        assert [step.time for step in run.steps] == [0, 5, 10, 15, 20, 25], fence


def test_recorded_actions_come_before_fenced_code(tmp_path: Path) -> None:
    messages: list[dict[str, Any]] = [
        {"role": "assistant", "content": "<go>ls</go>", "extra": {"actions": [{"command": "ls"}]}},
        {"role": "user", "content": OUTPUT, "extra": {"returncode": 0}},
        {"role": "assistant", "content": "```bash\nls\n```", "extra": {"actions": [
            {"command": "one"}, {"command": "two"},
        ]}},
        {"role": "user", "content": OUTPUT},
        {"role": "assistant", "content": "```bash\nls\n```\n```bash\nls\n```"},
        {"role": "user", "content": "Only one.", "extra": {"interrupt_type": "FormatError"}},
    ]  # fmt: skip
    (run,) = load_runs(saved(tmp_path, "text.traj.json", trajectory(*messages)))
    kinds = [type(step) for step in run.steps]
    assert kinds == [Words, Answer, Result, Answer, Result, Answer, Words]
    calls = [one.calls for one in run.steps if isinstance(one, Answer)]
    assert [one.tokens for one in calls[1]] == [count("one"), count("two")]


def test_a_bad_trajectory_is_refused(tmp_path: Path) -> None:
    for messages, why in (
        ([{"role": "narrator", "content": "x"}], "message 3: role must be"),
        ([{"content": "x"}], "message 3: role must be"),
        (["x"], "message 3: a message must be an object"),
        ([{"role": "tool", "tool_call_id": "t9", "content": "x"}], "'t9' answers no open call"),
        ([], "no answer"),
    ):
        with pytest.raises(RunError, match=why):
            load_runs(saved(tmp_path, "bad.traj.json", trajectory(*messages)))


def line(kind: str, content: object, second: float, **more: Any) -> dict[str, Any]:
    message = {"role": kind, "content": content, **more.pop("message", {})}
    stamp = f"2026-05-01T10:00:{second:06.3f}Z"
    return {"type": kind, "timestamp": stamp, "isSidechain": False, "message": message, **more}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def use(name: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": name, "name": "Read", "input": {"file_path": "a.py"}}


def result(name: str, words: str) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": name, "content": [text(words)]}


USAGE = {"input_tokens": 10, "cache_creation_input_tokens": 5_000, "cache_read_input_tokens": 90}
SESSION = [
    {"type": "summary", "summary": "Fix", "leafUuid": "x"},
    line("user", "Fix it.", 1, uuid="u1"),
    line("assistant", [{"type": "thinking", "thinking": "Look first.", "signature": "s"}], 3,
         message={"id": "m1", "usage": USAGE}),
    line("assistant", [text("I look.")], 4, message={"id": "m1", "usage": USAGE}),
    line("assistant", [use("t1")], 5, message={"id": "m1", "usage": USAGE}),
    line("user", [result("t1", "one")], 6),
    line("assistant", [use("t2")], 6.5, message={"id": "m1", "usage": USAGE}),
    line("assistant", [text("I help.")], 7, message={"id": "m9"}, isSidechain=True),
    line("user", [result("t2", "two"), text("Mind the tests.")], 8),
    line("assistant", [text("API error")], 8.5, message={"model": "<synthetic>"}),
    {"type": "file-history-snapshot", "messageId": "x"},
    line("assistant", [text("Done.")], 9, message={"id": "m2"}),
    line("user", "Fix it.", 9.5, uuid="u1"),
]  # fmt: skip


def test_a_session_of_claude_code_is_converted(tmp_path: Path) -> None:
    (run,) = load_runs(saved(tmp_path, "1234.jsonl", SESSION))
    size = TokenCounter().count_content
    assert run.name == "1234"
    assert run.head == 5_100 - count("Fix it.")
    assert run.steps == (
        Words(count("Fix it."), 0.0),
        Answer(count("I look."), count("Look first."),
               (Call("t1", size([use("t1")])), Call("t2", size([use("t2")]))), 2.0),
        Result("t1", count("one"), count("one"), 5.0),
        Result("t2", count("two"), count("two"), 7.0),
        Words(count("Mind the tests."), 7.0),
        Answer(count("Done."), 0, (), 8.0),
    )  # fmt: skip


def test_a_compacted_session_gives_one_run_for_each_part(tmp_path: Path) -> None:
    parts = [
        *SESSION,
        {"type": "system", "subtype": "compact_boundary"},
        line("user", "A summary.", 20, isCompactSummary=True),
        line("user", [result("t1", "one")], 21),
        line("assistant", [text("On it.")], 22, message={"id": "m3"}),
    ]
    first, second = load_runs(saved(tmp_path, "1234.jsonl", parts))
    assert (first.name, second.name) == ("1234 1", "1234 2")
    assert [type(step) for step in second.steps] == [Words, Words, Answer]


def test_a_bad_session_is_refused(tmp_path: Path) -> None:
    for lines, why in (
        ([], "no answer"),
        ([{"type": "summary", "summary": "x"}], "no answer"),
        ([line("user", "Hi", 1)], "no answer"),
        ([*SESSION, {"type": "user"}], "line 14: it has no message"),
        ([*SESSION, [3]], "line 14: a line must be an object"),
    ):
        with pytest.raises(RunError, match=why):
            load_runs(saved(tmp_path, "bad.jsonl", lines))
    path = saved(tmp_path, "cut.jsonl", SESSION)
    path.write_text(path.read_text("utf-8") + '{"type": "assis', "utf-8")
    with pytest.raises(RunError, match="line 14: it is not JSON"):
        load_runs(path)


def test_converted_sessions_hold_no_text_and_can_be_replayed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = saved(tmp_path, "1234.jsonl", SESSION)
    assert main(["convert", str(path), str(path)]) == 0
    printed = capsys.readouterr().out
    assert "Fix" not in printed
    again = tmp_path / "runs.jsonl"
    again.write_text(printed, "utf-8")
    assert load_runs(again) == load_runs(path) * 2
