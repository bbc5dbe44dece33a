"""A server's window: tools as actions, results, resources, prompts, questions."""

import json
import threading
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp")

from contextui import Lod
from contextui.agent.prompt import class_list
from contextui.config.credentials import Credentials
from contextui.config.servers import Server
from contextui.errors import ActionError, ContextUIError
from contextui.tokens import TokenCounter
from contextui.windowing.runtime import runtime_of
from contextui.windows.mcp.window import server_window
from tests.windows.git.conftest import previewed
from tests.windows.mcp.servers import answer_as_person, attend, opened, plain, until


def test_tools_are_actions_with_compact_params(tmp_path: Path) -> None:
    with opened(plain(), tmp_path) as server:
        xml = server.xml()
        assert '<action id="echo" params="text:string?">Say it again</action>' in xml
        assert 'id="nested" params="where:{x:int?}?,why:string?"' in xml
        assert server.content().startswith("plain, connected, 10 tools\nThe server says: Be kind.")
        assert '<action id="echo"/>' in server.xml(Lod.GIST)
        assert "And more about it." in server.act("describe", action_id="echo")
        assert "$defs" in server.act("describe", action_id="nested")


def test_a_result_is_what_the_tool_said_and_the_window_keeps_it(tmp_path: Path) -> None:
    with opened(plain(), tmp_path) as server:
        assert server.act("echo", text="<b>hi</b> & 你好") == "<b>hi</b> & 你好"
        assert "Result 1: echo text=<b>hi</b> & 你好" in server.content()
        assert server.result("fail").text == "fail failed: It failed."
        assert server.content(Lod.GIST).endswith("Last: fail, error")
        assert server.refused("echo", nonsense=1).startswith("server_1.echo: there is no param")


def test_an_image_becomes_a_file(tmp_path: Path) -> None:
    with opened(plain(), tmp_path) as server:
        said = server.act("image")
        assert said.startswith("[image/png, 70B, kept as ")
        path = Path(said.rpartition(" ")[2].rstrip("]"))
        assert path.read_bytes().startswith(b"\x89PNG")
        assert path.stat().st_mode & 0o777 == 0o600
    assert not path.parent.exists()  # no session keeps it


@pytest.mark.parametrize("trusts", [False, True])
def test_a_claim_to_only_read_counts_only_if_the_person_trusts_it(
    tmp_path: Path, trusts: bool
) -> None:
    with opened(plain(trust_read_only=trusts), tmp_path) as server:
        effects = {
            name: server.window.actions[name].effect_of({}, server.window)
            for name in ("look", "echo", "grow")
        }
        assert effects == {"look": "read" if trusts else "write", "echo": "write", "grow": "write"}


def test_the_person_sees_exactly_what_would_be_sent(tmp_path: Path) -> None:
    with opened(plain(), tmp_path) as server:
        shown = previewed(server, "echo", text="a\u202eb")
        assert (shown.verb, shown.target) == ("run", "plain.echo")
        assert json.loads(shown.text.partition("\n")[2]) == {"text": "a\u202eb"}
        assert "It claims to only read." in str(server.preview("look"))


def test_a_tool_that_changes_its_description_is_another_target(tmp_path: Path) -> None:
    with opened(plain("flip"), tmp_path) as server:
        before = previewed(server, "look")
        server.act("grow")
        until(lambda: "new1" in server.window.actions)
        assert before.target == "plain.look"
        assert previewed(server, "look").target == "plain.look (description 2)"


def test_new_tools_and_changed_resources_are_new_versions(tmp_path: Path) -> None:
    with opened(plain(), tmp_path) as server:
        assert server.act("read", uri="note://one", keep=True) == "It is shown here."
        assert "Resource note://one\nIt is 0." in server.content()
        version = server.window.version
        server.act("grow")
        until(lambda: "new1" in server.window.actions)
        until(lambda: "It is 1." in server.content())
        assert server.window.version > version
        server.act("read", uri="note://one")
        assert "Resource note://one" not in server.content()


def test_a_listed_resource_may_be_read_another_asks(tmp_path: Path) -> None:
    with opened(plain(), tmp_path) as server:
        read = server.window.actions["read"]
        assert read.effect_of({"uri": "note://one"}, server.window) == "read"
        assert read.effect_of({"uri": "note://one?secret"}, server.window) == "write"
        assert "note://two" in str(server.preview("read", uri="note://two"))


def test_prompts_are_given_as_text(tmp_path: Path) -> None:
    with opened(plain(), tmp_path) as server:
        assert server.act("prompt", name="greet", arguments={"who": "Momo"}) == "Greet Momo kindly."
        assert "The prompt needs who." in server.refused("prompt", name="greet")
        assert "Available: greet." in server.refused("prompt", name="nonsense")


def test_a_question_is_a_form_for_the_person(tmp_path: Path) -> None:
    with opened(plain(), tmp_path) as server:
        attend(server)
        said: list[str] = []
        thread = threading.Thread(target=lambda: said.append(server.act("ask")))
        thread.start()
        until(lambda: "answer" in server.window.actions)
        assert "The server asks the person: What is your name?" in server.content()
        assert 'id="answer" params="name:string"' in server.xml()
        answer = server.window.actions["answer"]
        assert answer.effect_of({}, server.window) == "write"  # a model cannot answer by itself
        with pytest.raises(ContextUIError, match="Only the person"):
            server.preview("answer", name="Momo")
        assert "Only the person" in server.refused("answer", name="Momo")  # even if nothing asks
        assert answer_as_person(server, name="Momo") == "Answered."
        thread.join(60)
        assert json.loads(said[0]) == {"action": "accept", "content": {"name": "Momo"}}
        until(lambda: "answer" not in server.window.actions)
        assert any("asks: What is your name?" in one for one in server.notices)


def test_a_question_that_nobody_can_see_is_cancelled(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("contextui.windows.mcp.window._ATTENTION", 0.2)
    with opened(plain(), tmp_path) as server:
        assert json.loads(server.act("ask")) == {"action": "cancel"}


def test_progress_is_that_of_a_job_and_it_can_be_cancelled(
    tmp_path: Path, monkeypatch: Any
) -> None:
    with opened(plain(), tmp_path) as server:
        with monkeypatch.context() as patch:
            patch.setattr("contextui.windows.mcp.window._WAIT", 0.3)
            assert "slow goes on as job" in server.act("slow")
        until(lambda: any(one.total == 100 for one in runtime_of(server.window).jobs.running()))
        assert "slow, " in server.xml()
        assert server.act("cancel") == "slow was cancelled."
        until(lambda: not runtime_of(server.window).jobs.running())
        assert server.act("echo", text="still there") == "still there"


def test_nothing_of_the_environment_is_passed_unless_named(
    tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret-one")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "secret-two")
    monkeypatch.setenv("DATABASE_URL", "secret-three")
    Credentials(tmp_path).put("anthropic", "secret-stored-1234")
    env = (("OPENAI_API_KEY", "${OPENAI_API_KEY}"), ("PLAIN", "yes"))
    with opened(plain(env=env), tmp_path) as server:
        given = json.loads(server.act("environ"))
        assert given["OPENAI_API_KEY"] == "***"  # the server has it, the model need not
        assert given["PLAIN"] == "yes"
        assert "PATH" in given
        assert "secret-two" not in str(given)
        assert "secret-three" not in str(given)
        process = Path(f"/proc/{server.window._connection._process.pid}")
        for name in ("environ", "cmdline"):
            if (process / name).exists():  # not on macOS
                public = (process / name).read_bytes()
                assert public
                assert (b"secret-one" in public) == (name == "environ")
                assert b"secret-two" not in public
                assert b"secret-stored" not in public


@pytest.mark.parametrize(
    "server",
    [
        Server("github", kind="http", url="https://api.githubcopilot.com/mcp/"),
        Server("team-server-of-a-whole-company", kind="http", url=f"https://a.example/{'x/' * 99}"),
        Server("x", command="x", description="Reads, writes and closes all there is to do " * 9),
        Server("x", command="x", description="数据库" * 30),
    ],
)
def test_a_server_that_is_not_opened_costs_at_most_25_tokens(server: Server) -> None:
    made = server_window(server, server.name, Path())
    count = TokenCounter().count
    assert 8 < count(class_list([made])) - count(class_list([])) <= 25


def test_tools_can_be_left_out(tmp_path: Path) -> None:
    with opened(plain(enabled_tools=("echo", "look"), disabled_tools=("look",)), tmp_path) as one:
        assert [name for name in one.window.actions if name in ("echo", "look", "fail")] == ["echo"]


def test_a_program_that_is_missing_is_one_clear_line(tmp_path: Path) -> None:
    with (
        pytest.raises(ActionError, match='There is no program "nonesuch"'),
        opened(Server("x", command="nonesuch"), tmp_path),
    ):
        pass
    with (
        pytest.raises(ActionError, match="needs the variable NOT_SET_AT_ALL"),
        opened(Server("x", command="${NOT_SET_AT_ALL}"), tmp_path),
    ):
        pass
