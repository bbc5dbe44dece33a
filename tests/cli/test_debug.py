"""`contextui debug`: what the model sees of a session, without opening it."""

import json
from collections.abc import Iterator

import pytest

from contextui import SessionStore
from tests.agent.server import MODEL, Server, answer, call
from tests.cli.calling import Program


@pytest.fixture
def server(program: Program) -> Iterator[Server]:
    """A server that was asked twice: a list was made, then closed."""
    with Server() as server:
        program.set(ANTHROPIC_BASE_URL=server.url)
        server.play(answer(call("create", name="todo", args={"items": ["milk"]})), answer("Made."))
        program("-p", "Make a list")
        closing = call(
            "action", window_id="todo_1", action_id="close", params={"summary": "bought"}
        )
        server.play(answer(closing), answer("Closed."))
        program("-c", "-p", "Close it")
        yield server


def test_looking_at_a_session_neither_locks_nor_writes(program: Program, server: Server) -> None:
    (info,) = program.sessions()
    before = info.path.read_bytes()
    with SessionStore(program.home).open(info.id):
        done = program("debug")
        *lines, items, tokens = done.out.splitlines()
        assert done.status == 0
        assert lines[0].startswith("[✓] [0001] System: You work together with a person")
        assert lines[1] == "[✓] [0002] User: Make a list"
        assert "[X] [0004] Window: todo_1" in lines
        assert lines[-1] == "[✓] [0010] Assistant: Closed."
        assert items == "items   9 in the context, 1 left out; 1 of all 10 are windows"
        assert tokens.startswith("tokens  ~")

        data = program("debug", info.id[:10], "--json").json
        assert set(data) == {"session", "items", "windows", "stats"}
        assert data["stats"]["total_items"] == len(data["items"]) == 10

        # An earlier turn is shown as it was.
        lines = program("debug", "--turn", "1").out.splitlines()
        assert "[✓] [0004] Window: todo_1" in lines
        assert "[✓] [0006] Assistant: Made." in lines
        assert not any("Closed." in line for line in lines)
        program("debug", "--turn", "9").fails(2, "no turn 9")
        request = program("debug", "--messages", "--turn", "1").json
        assert '<item id="1">milk</item>' in str(request["messages"])
        in_place = ("--placement", "in-place")
        request = program("debug", "--messages", "--turn", "1", *in_place).json
        assert "<Window" not in request["messages"][-1]["content"][-1].get("text", "")
        assert "<Window" in str(request["messages"])
    assert info.path.read_bytes() == before


def test_what_the_model_gets_of_a_file_is_shown(program: Program, server: Server) -> None:
    program.write("notes.txt", "the whole secret plan\n")
    server.play(answer(call("read_file", path="notes.txt")), answer("Read."))
    program("-c", "-p", "Read it")
    (line,) = [one for one in program("debug").out.splitlines() if "[0013]" in one]
    assert line == "[✓] [0013] Tool: 1 the whole secret plan"
    assert "secret plan" in str(program("debug", "--messages").json["messages"])
    in_place = ("--placement", "in-place")
    (line,) = [one for one in program("debug", *in_place).out.splitlines() if "[0013]" in one]
    assert line == "[✓] [0013] Tool: [file read] notes.txt (text, 1 line, 22B)"
    request = str(program("debug", "--messages", *in_place).json["messages"])
    assert "[file read] notes.txt" in request
    assert "secret plan" not in request


def test_the_request_is_what_is_sent_next(program: Program, server: Server) -> None:
    request = program("debug", "--messages").json
    server.play(answer("Yes."))
    program("-c", "-p", "And?")
    sent = server.requests[-1].json
    assert {**request, "messages": []} == {**sent, "messages": []}
    assert request["stream"] is True
    blocks = [block for message in request["messages"] for block in message["content"]]
    plain = [{key: block[key] for key in block if key != "cache_control"} for block in blocks]
    assert plain == [block for _, block in server.requests[-1].blocks()][:-1]


def test_the_system_prompt_is_what_would_be_sent_now(program: Program, server: Server) -> None:
    program.write("AGENTS.md", "Speak like a pirate.")
    request = program("debug", "--messages").json
    then = program("debug", "--messages", "--turn", "1").json
    server.play(answer("Aye."))
    program("-c", "-p", "And?")
    assert request["system"] == server.requests[-1].json["system"]
    assert "pirate" in str(request["messages"][0]["content"][0])
    assert "pirate" not in str((then["system"], then["messages"]))
    (info,) = program.sessions()
    before = info.path.read_bytes()
    chinese = program("debug", "--messages", "--lang", "zh").json
    assert "窗口" in chinese["system"][0]["text"]
    by_text = program("debug", "--messages", "--tool-protocol", "text").json
    assert "<tool_call>" in by_text["system"][0]["text"]
    assert info.path.read_bytes() == before


def test_a_session_that_is_not_there_is_an_error(program: Program) -> None:
    program("debug").fails(2, "no session")
    program("debug", "nonsense").fails(2, '"nonsense"')
    assert program.files() == []


def test_the_log_names_the_model_and_what_it_cost(program: Program, server: Server) -> None:
    """S2.2: message.model and message.usage on answers, and an entry for each call."""
    (info,) = program.sessions()
    logged = [json.loads(line) for line in info.path.read_text("utf-8").splitlines()]
    answers = [one["message"] for one in logged if one["type"] == "assistant"]
    assert len(answers) == 4
    assert {one["model"] for one in answers} == {MODEL}
    assert all(one["usage"]["output_tokens"] == 25 for one in answers)
    calls = [one["tool"] for one in logged if one["type"] == "tool_use"]
    assert [call["name"] for call in calls] == ["create", "action"]
    assert calls[0]["input"] == {"name": "todo", "args": {"items": ["milk"]}}
