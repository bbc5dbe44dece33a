"""`contextui compact`: a summary for the older part of a session, without a screen."""

import signal
import time
from collections.abc import Iterator

import pytest

from contextui import ContextItem, ItemType, SessionStore
from contextui.session.session import Session
from tests.agent.server import Reply, Server, Stream, answer, error
from tests.cli.calling import PATIENCE, Program

OUTLINE = "## Goal\nA shop."
ROUNDS = 8


@pytest.fixture
def server(program: Program) -> Iterator[Server]:
    """A server, and a session of eight rounds: one with the server, the others made up."""
    with Server() as server:
        program.set(ANTHROPIC_BASE_URL=server.url)
        server.play(answer(reply(0)))
        program("-p", asked(0))
        with opened(program) as session:
            for number in range(1, ROUNDS):
                session.context.add(ContextItem(ItemType.USER, asked(number)))
                words = reply(number)
                blocks = ({"type": "text", "text": words},)
                session.context.add(ContextItem(ItemType.ASSISTANT, words, blocks=blocks))
                session.context.end_turn()
        yield server


def asked(number: int) -> str:
    return f"question {number} about notes.txt"


def reply(number: int) -> str:
    return f"answer {number} " + "word " * 60


def opened(program: Program) -> Session:
    (info,) = program.sessions()
    return SessionStore(program.home).open(info.id)


def hidden(program: Program) -> int:
    with opened(program) as session:
        return sum(item.hidden == "compacted" for item in session.context.get_all())


def tight(program: Program) -> str:
    """A budget of which the session and the tools take some 90%."""
    with opened(program) as session:
        context = session.context
        return str(context.counter.calibrated(context.outlook().tokens + 350) * 10 // 9)


def test_a_dry_run_shows_what_would_go_and_changes_nothing(
    program: Program, server: Server
) -> None:
    (info,) = program.sessions()
    before = info.path.read_bytes()
    before_it = len(server.requests)
    with opened(program) as session:  # it may be open elsewhere
        session.context.pin(session.context.get_active()[1].id)
        done = program("compact", "--dry-run")
    *items, figures = done.out.splitlines()
    assert done.status == 0
    assert len(items) == 2 * ROUNDS
    assert items[0].startswith("goes   [0003] Assistant: answer 0")
    assert items[9].endswith("] User: question 0 about notes.txt (pinned)")
    assert figures.startswith("9 messages, ~")
    assert "; 7 messages, ~" in figures
    assert len(server.requests) == before_it
    assert info.path.read_bytes().startswith(before)
    assert hidden(program) == 0


def test_a_session_is_compacted(program: Program, server: Server) -> None:
    program.write("notes.txt", "what I noted")
    server.play(answer(OUTLINE))
    done = program("compact")
    assert done.status == 0
    assert done.out.startswith("Compacted 10 messages: ")
    assert " → " in done.out
    (info,) = program.sessions()
    undo_hint = f"/undo restores them. In the app: contextui -r {info.id[:8]}\n"
    assert f"% less, with notes.txt. {undo_hint}" in done.out
    assert "what I noted" in server.requests[-1].body.decode()
    assert hidden(program) == 10
    server.play(answer("Yes."))
    program("-c", "-p", "And now?")
    request = server.requests[-1]
    assert OUTLINE not in request.json["system"][-1]["text"]
    assert request.blocks()[0][1]["text"].endswith(f"{OUTLINE}\n</Summary>")


def test_as_json(program: Program, server: Server) -> None:
    (info,) = program.sessions()
    data = program("compact", "--dry-run", "--json").json
    assert data["session_id"] == info.id
    assert [item["seq"] for item in data["goes"]] == list(range(2, 12))
    assert data["stays"][0]["type"] == "User"
    assert data["goes_tokens"] > data["stays_tokens"] > 0
    server.play(answer(OUTLINE))
    data = program("compact", "--json").json
    assert (data["success"], data["messages"]) == (True, 10)
    assert data["summary"].endswith(OUTLINE)
    assert data["post_tokens"] < data["pre_tokens"]
    assert (data["session_id"], data["requests"], data["saved"]) == (info.id, 1, True)
    assert data["usage"]["output_tokens"] == 25
    assert "error" not in data


def test_a_summary_that_saves_too_little_is_not_kept(program: Program, server: Server) -> None:
    before, items = program("debug", "--messages").json, program("debug").out
    summary = answer("many words " * 300)
    server.play(summary)
    done = program("compact")
    done.fails(1, "would save less than 20%", "The conversation is unchanged")
    assert done.out == ""
    assert hidden(program) == 0
    assert program("debug", "--messages").json == before
    server.play(summary)
    data = program("compact", "--json").json
    assert (data["success"], data["messages"], data["summary"]) == (False, 0, "")
    assert data["post_tokens"] == data["pre_tokens"]
    assert "less than 20%" in data["error"]
    assert program("debug").out == items


def test_a_short_conversation_stays_as_it_is(program: Program) -> None:
    with Server(answer("Yes.")) as server:
        program.set(ANTHROPIC_BASE_URL=server.url)
        program("-p", "Hello.")
        with opened(program) as session:
            for number in range(9):
                session.context.add(ContextItem(ItemType.USER, f"question {number}"))
                session.context.add(ContextItem(ItemType.ASSISTANT, f"answer {number}"))
                session.context.end_turn()
        server.play(answer(""))
        program("compact").fails(2, "would save less than 20%")
        program("compact", "--dry-run", "--lang", "zh").fails(0, "节省的空间不到 20%")
        assert len(server.requests) == 1  # nobody was asked in vain
    assert hidden(program) == 0


@pytest.mark.parametrize(
    ("form", "lang", "words"),
    [
        ("text", "en", "There is no summary: The summary is empty."),
        ("json", "zh", "没有得到总结"),
        ("stream-json", "en", "There is no summary: The summary is empty."),
    ],
)
def test_an_automatic_compaction_that_fails_is_reported(
    program: Program, server: Server, form: str, lang: str, words: str
) -> None:
    room = ("--budget", tight(program), "--lang", lang)
    server.play(answer(" "), answer("Yes."))
    done = program("-c", "-p", "And now?", "--output-format", form, *room)
    assert done.status == 0
    assert hidden(program) > 0
    (line,) = done.err.splitlines()
    assert line.startswith(f"contextui: {words}")
    if form != "text":
        (notice,) = done.lines[-1]["notices"] if form == "stream-json" else done.json["notices"]
        assert notice.startswith(words)


def test_one_that_would_save_too_little_is_reported_and_changes_nothing(
    program: Program, server: Server
) -> None:
    with opened(program) as session:
        for item in list(session.context.get_active())[1:-2]:
            session.context.pin(item.id)
    server.play(answer("Yes."))
    done = program("-c", "-p", "And now?", "--budget", tight(program), "--output-format", "json")
    assert hidden(program) == 0
    assert "Not compacted: " in done.err
    assert done.json["notices"] == [done.err.removeprefix("contextui: ").rstrip("\n")]


def test_a_fork_compacts_a_copy(program: Program, server: Server) -> None:
    with opened(program):
        program("compact").fails(2, "--fork")
        server.play(answer(OUTLINE))
        assert program("compact", "--fork").status == 0
    assert len(program.sessions()) == 2


def test_without_a_summary_the_newest_part_stays_and_the_status_is_1(
    program: Program, server: Server
) -> None:
    server.play(Reply(400, error("invalid_request_error")))
    program("compact").fails(
        1, "There is no summary:", "The newest part was kept", "/undo restores", "contextui -r"
    )
    assert hidden(program) == 10


def test_what_cannot_be_compacted_is_an_error(program: Program) -> None:
    program("compact").fails(2, "no session")
    program("compact", "nothing").fails(2, "nothing")
    program("-p", "hello")
    program("compact").fails(2, "nothing to compact yet")
    program("compact", "--dry-run").fails(2, "nothing to compact yet")
    program("compact", "--budget", "none").fails(2, "--budget")


def test_interrupted_it_has_changed_nothing(program: Program, server: Server) -> None:
    server.play(Stream(answer(OUTLINE)[:3], held=True))
    before_it = len(server.requests)
    with program.start("compact") as process:
        while len(server.requests) == before_it and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, err.decode()
    assert b"Traceback" not in err
    assert hidden(program) == 0
