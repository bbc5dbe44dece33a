"""Resume sessions without a screen, in their folders."""

import os
from pathlib import Path

import pytest

from contextui import SessionStore
from tests.agent.server import Server, answer, call
from tests.cli.calling import Program, texts

# --- sessions -----------------------------------------------------------------------------------


def test_each_turn_is_a_new_session_unless_one_is_resumed(program: Program, server: Server) -> None:
    server.play(*[answer("Yes.")] * 4)
    program("-p", "one")
    program("-p", "two")
    first, second = sorted(program.sessions(), key=lambda info: info.started)
    program("-c", "-p", "three")
    assert texts(server) == "two\nYes.\nthree"
    program("-r", first.id[:12], "-p", "four")
    assert texts(server) == "one\nYes.\nfour"
    assert {info.id for info in program.sessions()} == {first.id, second.id}


def test_a_fork_resumes_a_copy_and_keeps_the_original(program: Program, server: Server) -> None:
    server.play(answer("Yes."), answer("Copied."))
    program("-p", "one")
    (info,) = program.sessions()
    before = info.path.read_bytes()
    done = program("-c", "--fork", "-p", "two", "--output-format", "json")
    assert texts(server) == "one\nYes.\ntwo"
    assert done.json["session_id"] != info.id
    assert info.path.read_bytes() == before


def test_where_there_is_no_session_it_says_so(program: Program, server: Server) -> None:
    program("-c", "-p", "Hi").fails(2, str(program.folder))
    program("-r", "abc", "-p", "Hi").fails(2, '"abc"')
    program("-r", "../x", "-p", "Hi").fails(2, "../x")
    assert (program.files(), server.requests) == ([], [])


def test_a_session_that_is_open_elsewhere_names_the_copy(program: Program, server: Server) -> None:
    server.play(answer("Yes."), answer("Yes."))
    program("-p", "one")
    (info,) = program.sessions()
    with SessionStore(program.home).open(info.id):
        program("-c", "-p", "two").fails(2, "--fork")
        assert program("-c", "--fork", "-p", "two").status == 0


def test_a_session_of_another_folder_resumes_there(
    program: Program, server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    server.play(answer("Yes."), answer("Yes."))
    program.write("AGENTS.md", "Be brief in this folder.")
    program("-p", "one")
    (info,) = program.sessions()
    monkeypatch.chdir(tmp_path)
    program("-r", info.id, "-p", "two").fails(0, str(program.folder))
    assert "Be brief in this folder." in server.requests[-1].blocks()[0][1]["text"]


def test_a_session_resumes_in_a_folder_whose_name_is_not_utf8(
    program: Program, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = program.folder / os.fsdecode(b"caf\xe9")
    folder.mkdir()
    (folder / "notes.md").write_text("what I noted")
    monkeypatch.chdir(folder)
    server.play(answer("Yes."), answer(call("read_file", path="notes.md")), answer("Read."))
    program("-p", "one")
    done = program("-c", "-p", "two", "--verbose")
    assert (done.status, done.out) == (0, "Read.\n")
    assert done.err == '✓ read_file {"path": "notes.md"}\n'
    assert program("debug").status == 0
    assert len(program("sessions").out.splitlines()) == 2


# --- the folder ---------------------------------------------------------------------------------


def test_agents_md_is_the_first_user_message(program: Program, server: Server) -> None:
    server.play(answer("Yes."))
    program.write("AGENTS.md", "Speak like a pirate.")
    assert program("-p", "Hi").err == ""
    assert "pirate" not in str(server.requests[0].json["system"])
    (role, project), (_, words) = server.requests[0].blocks()
    assert (role, words["text"]) == ("user", "Hi")
    assert project["text"] == (
        '<Project>\n<Instructions file="AGENTS.md">\nSpeak like a pirate.\n'
        "</Instructions>\n</Project>"
    )


@pytest.mark.parametrize("kind", ["binary", "link"])
def test_an_unreadable_agents_file_is_reported(program: Program, server: Server, kind: str) -> None:
    server.play(answer("Yes."))
    match kind:
        case "binary":
            program.write("AGENTS.md", b"\0\1\2\xff" * 100)
        case "link":
            (program.folder / "AGENTS.md").symlink_to("/etc/hostname")
    done = program("-p", "Hi")
    done.fails(0, "AGENTS.md is ignored")
    assert done.out == "Yes.\n"


def test_a_very_long_agents_file_is_truncated_with_a_notice(
    program: Program, server: Server
) -> None:
    program.write("AGENTS.md", "Be brief. " * 5_000)
    server.play(answer("Aye."))
    done = program("-p", "Hi")
    done.fails(0, "AGENTS.md has 49,999 characters; the model gets the first 40,000.")


def test_own_windows_load_and_untrusted_ones_do_not(program: Program, server: Server) -> None:
    server.play(answer("Yes."))
    window = (
        "from contextui import Body, Lod, Window\n"
        "class {0}Window(Window):\n"
        '    """Says {0}."""\n'
        "    def content(self, lod: Lod) -> Body:\n"
        '        return "{0}"\n'
    )
    program.write("mine.py", window.format("Mine"))
    program.write(".contextui/windows/theirs.py", "open('ran', 'w')\n" + window.format("Theirs"))
    done = program("-p", "Hi", "--window", "mine.py")
    done.fails(0, "theirs", "contextui trust")
    assert "Mine" not in str(server.requests[0].json["system"])
    project = server.requests[0].blocks()[0][1]["text"]
    assert '<class name="mine">Says Mine.</class>' in project
    assert "Theirs" not in server.requests[0].body.decode()
    assert not (program.folder / "ran").exists()
