"""A stored key leaves its file only towards its server."""

import asyncio
import shlex
import sys
from contextlib import closing
from pathlib import Path

import pytest

from contextui import SessionStore, secrets
from contextui.cli.arguments import parse
from contextui.cli.setup import open_app_session, open_target
from contextui.config.credentials import CREDENTIALS_FILE, Credentials
from contextui.config.settings import SettingsError
from contextui.config.sources import load_settings
from contextui.tui.app import Crash, write_report
from contextui.tui.switch import Target
from contextui.words import Words
from tests.agent import chat_server
from tests.agent.server import Reply, Server, answer
from tests.agent.talking import say
from tests.cli.calling import Program

Patch = pytest.MonkeyPatch

KEY = "k3y-in-a-private-file-8c1d55e0"
# What other people on the machine can see of this process and of all above it.
SEEN = r"""
p=$$; while [ "$p" -gt 1 ]; do
  tr '\0' '\n' <"/proc/$p/environ"; tr '\0' '\n' <"/proc/$p/cmdline"
  p=$(awk '/^PPid/ {print $2}' "/proc/$p/status")
done >seen.txt 2>/dev/null; env >>seen.txt
"""


def at(server: Server, home: Path) -> None:
    """Enter a server and its key, as /model and /login do."""
    credentials = Credentials(home)
    url = f"{server.url}/v1"
    credentials.add_server("box", url)
    credentials.put("box", KEY, url)


def forget(monkeypatch: Patch) -> None:
    """Forget the keys that this process knows, as a new one would."""
    monkeypatch.setattr(secrets, "_entered", set())
    monkeypatch.setattr(secrets, "_own", ({}, {}))


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_stored_key_is_in_no_process_and_no_output(program: Program, monkeypatch: Patch) -> None:
    program.write("see.sh", SEEN)
    run = {"window_id": "terminal_1", "action_id": "run", "params": {"command": "sh see.sh"}}
    script = (
        chat_server.chat(chat_server.call("create", name="terminal")),
        chat_server.chat(chat_server.call("action", **run)),
        chat_server.chat("Nothing to see."),
        chat_server.chat(f"I was called with {KEY}."),  # then the log has it, as it was said
    )
    with Server(*script) as server:
        at(server, program.home)
        words = ("--model", "box/m", "--approval", "auto", "--output-format", "json")
        done = program.run(*words, "-p", "Look around.", is_forked=False)
        assert done.status == 0, done
        assert KEY not in done.out + done.err
        file = program.home / CREDENTIALS_FILE
        assert file.stat().st_mode & 0o777 == 0o600
        kept = [name for name in program.files() if KEY in _text(program.home / name)]
        assert kept == [file.name]

        forget(monkeypatch)
        done = program(*words, "-c", "-p", "What is the key?")
        assert done.json["result"] == "I was called with ***."
        assert KEY not in done.out + done.err
        sent = {received.headers.get("authorization") for received in server.requests}
        assert sent == {f"Bearer {KEY}"}
    seen = (program.folder / "seen.txt").read_text("utf-8", "replace")
    assert "-m\ncontextui\n" in seen  # the program itself was seen, and how it was started
    assert KEY not in seen
    for command in (
        *(f"export --format {form}" for form in ("md", "html", "json")),
        "export --format md --all",
        "debug",
        "debug --messages",
        "debug --json",
        "config",
        "config --json",
        "models",
        "models --json",
        "sessions --json",
    ):
        forget(monkeypatch)
        shown = program(*shlex.split(command))
        assert KEY not in shown.out + shown.err, command
        assert shown.out, shown


@pytest.mark.parametrize("is_old", [False, True], ids=["new log", "old log"])
def test_an_offline_session_stays_offline_when_there_is_a_key(
    program: Program, is_old: bool
) -> None:
    """X04: resumed, copied, gone back or left for a new one, it sends nothing and does not pay."""
    for name in ("milk", "eggs"):
        assert program("-p", f"Make a todo list with {name}").status == 0
    for info in program.sessions() if is_old else ():  # a log did not name the model before 3.3
        written = info.path.read_bytes().splitlines(keepends=True)
        info.path.write_bytes(b"".join(one for one in written if b'"subtype":"model"' not in one))
    with Server(*[answer("Paid.")] * 9) as server:
        program.set(ANTHROPIC_BASE_URL=server.url, ANTHROPIC_API_KEY=KEY)
        last = program.sessions()[-1].id
        for words in (["-c"], ["-r", last], ["-c", "--fork"], ["-r", last, "--fork"]):
            assert program(*words, "-p", "Make a todo list").status == 0
            program("compact", *words[1:2] * (words[0] == "-r"))
        with closing(open_app_session(parse(["-c"]))) as desk:
            here, store = desk.session, SessionStore(program.home)
            ways = {
                "new": Target(program.folder, model=here.model),
                "sessions": Target(program.folder, last, model=here.model),
                "fork": Target(program.folder, here.id, fork=True, model=here.model),
                "fork at a turn": Target(program.folder, last, fork=True, turn=1),
                "rewind": Target(program.folder, store.make_fork(here.id, 1), model=here.model),
            }
            for way, target in ways.items():
                with closing(open_target(parse(["-c"]), target, "en")) as other:
                    assert other.is_offline, way
                    asyncio.run(say(other.controller, "Make a todo list"))
        assert server.requests == []
        assert program("-c", "-p", "Hi.", "--model", "claude-x").out == "Paid.\n"  # if one says so


def test_a_session_keeps_its_model_and_never_gets_another_in_silence(program: Program) -> None:
    """X04: from a resume to a new session; what cannot be used is named, and nothing is sent."""
    with Server(*[chat_server.chat("Hi.")] * 4) as server, Server(answer("Paid.")) as paid:
        at(server, program.home)
        assert program("-p", "Hi.", "--model", "box/m").out == "Hi.\n"
        program.set(ANTHROPIC_BASE_URL=paid.url, ANTHROPIC_API_KEY=KEY)
        for words in ([], ["--fork"]):
            assert program("-c", *words, "-p", "Go on.").out == "Hi.\n"
        with closing(open_target(parse([]), Target(program.folder, model="box/m"), "en")) as new:
            assert (new.session.model, new.controller.model.name) == ("box/m", "m")
            with pytest.raises(SettingsError, match="without spaces"):
                new.switch_model("claude x")
            new.switch_model("ollama/qwen3")  # of another provider, whose address is its own
            assert (new.session.model, new.is_offline) == ("ollama/qwen3", False)
        (program.home / "credentials.json").unlink()
        problem = "The model of this session, box/m, cannot be used: Its server"
        with pytest.raises(SettingsError, match=problem):
            open_app_session(parse(["-c"]))
        assert (len(server.requests), paid.requests) == (3, [])
        changed = program("-c", "-p", "Make a todo list", "--model", "offline")
        assert "Model: box/m → offline" in changed.err
    with Server(answer("Mine.")) as mine:
        assert program("-p", "Hi.", "--base-url", mine.url).out == "Mine.\n"
    program.set(ANTHROPIC_BASE_URL="")
    program("-c", "-p", "Go on.").fails(2, f"({mine.url[7:]}), cannot be used", "--model")


def test_a_refused_key_is_neither_in_the_error_nor_in_a_traceback(program: Program) -> None:
    """The server repeats the key, as some do."""
    refusal = chat_server.chat_error(f"Incorrect API key provided: {KEY}", code="invalid_api_key")
    with Server() as server:
        server.pages = {"/v1/chat/completions": Reply(401, refusal)}
        at(server, program.home)
        for verbose in ((), ("--verbose",)):
            done = program(*verbose, "--model", "box/m", "-p", "Hi.")
            assert done.status == 1, done
            assert KEY not in done.out + done.err
            assert "rejected the API key: check /login" in done.err


def test_a_stored_key_is_in_no_crash_report(program: Program, monkeypatch: Patch) -> None:
    Credentials(program.home).put("openai", KEY)
    forget(monkeypatch)
    load_settings({}, {}, program.home, program.folder)  # as every start of the program does
    error = RuntimeError(f"headers: {{'X-Own': '{KEY}'}}")
    report = write_report(error)
    assert report is not None
    assert "RuntimeError: headers" in report.read_text()
    assert KEY not in report.read_text() + str(Crash(error, report, Words("en")))


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace")


def test_a_key_that_travels_unencrypted_is_reported_once_before_it_does(program: Program) -> None:
    with Server() as server:  # it answers for every host, as a proxy does
        program.set(HTTP_PROXY=server.url, ANTHROPIC_API_KEY=KEY)
        server.play(answer("Hi."), answer("Hi."))
        done = program("-p", "Hi", "--base-url", "http://models.example:8080")
        assert (done.status, done.out) == (0, "Hi.\n"), done
        [line] = done.err.splitlines()
        assert "The API key is sent to models.example unencrypted (http://)" in line
        assert KEY not in done.err
        desk = open_app_session(parse(["--base-url", "http://models.example:8080"]))
        said = [str(one) for one in desk.notices if "unencrypted" in str(one)]
        assert len(said) == 1
        desk.close()
        assert program("-p", "Hi", "--base-url", server.url).err == ""  # this machine


def test_the_list_of_providers_sends_no_key_unencrypted(program: Program) -> None:
    with Server() as server:
        server.pages = {"http://192.168.7.7/v1/models": {"data": [{"id": "served"}]}}
        program.set(HTTP_PROXY=server.url, OLLAMA_HOST="http://192.168.7.7", OLLAMA_API_KEY=KEY)
        listed = program("models")
        assert "not asked: the key would be sent unencrypted" in listed.out
        assert not [one for one in server.lookups if KEY in str(one.headers)]
        named = program("models", "ollama")
        assert "192.168.7.7 unencrypted" in named.err
        assert "ollama/served" in named.out
        assert KEY not in named.err + named.out + listed.out + listed.err
