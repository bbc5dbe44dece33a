"""`contextui models`: the providers with their state, and the models of one."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.agent.server import Reply, Server, answer
from tests.cli.calling import SECRET, Program

OLLAMA: dict[str, Any] = {
    "/api/version": {"version": "0.12.0"},
    "/api/tags": {"models": [{"name": "qwen3:latest"}, {"name": "bad\x1b[2J"}]},
    "/api/ps": {"models": [{"name": "qwen3:latest", "context_length": 4_096}]},
    "/api/show": {"model_info": {"qwen3.context_length": 262_144}},
}
ROUTER: dict[str, Any] = {
    "/v1/models": {
        "data": [
            {
                "id": "meta/llama",
                "context_length": 131_072,
                "pricing": {"prompt": "0.000002", "completion": "0.00001"},
            },
            {"id": "plain"},
        ]
    }
}


@pytest.fixture
def ollama(program: Program) -> Iterator[Server]:
    with Server() as server:
        server.pages = {**OLLAMA}
        program.set(OLLAMA_HOST=server.url)
        yield server


@pytest.fixture
def openai(program: Program) -> Iterator[Server]:
    """A server at the address of OpenAI, with a key."""
    with Server() as server:
        server.pages = dict(ROUTER)
        program.set(OPENAI_BASE_URL=f"{server.url}/v1", OPENAI_API_KEY=SECRET)
        yield server


def row(program: Program, provider: str) -> str:
    done = program("models")
    assert done.status == 0, done
    (found,) = [line for line in done.out.splitlines() if line[2:].startswith(f"{provider} ")]
    return found


def test_providers_are_listed_with_their_state(
    program: Program, ollama: Server, openai: Server
) -> None:
    assert row(program, "ollama").endswith(f"{ollama.url.partition('//')[2]}, running, models: 1")
    assert row(program, "openai").endswith("key in OPENAI_API_KEY")
    assert "no key: set OPENROUTER_API_KEY" in row(program, "openrouter")
    assert row(program, "offline").startswith("* offline")
    assert SECRET not in program("models").out + program("models", "--json").out


def test_listing_sends_no_key_and_asks_no_remote_provider(program: Program, openai: Server) -> None:
    program("models")
    program("models", "--json")
    assert openai.connections == 0
    program("models", "openai")
    assert openai.connections > 0


def test_a_server_that_does_not_run_is_no_error(program: Program) -> None:
    program.set(OLLAMA_HOST="http://127.0.0.1:9")
    assert row(program, "ollama").endswith("127.0.0.1:9, not running")
    program("models", "ollama").fails(1, "127.0.0.1:9", "check OLLAMA_HOST or --base-url")


def test_models_have_their_context_and_price(
    program: Program, ollama: Server, openai: Server
) -> None:
    lines = program("models", "openai").out.splitlines()
    assert lines[0].split() == ["model", "context", "input", "output", "cached"]
    assert lines[1].split() == ["openai/meta/llama", "131,072", "2.00", "10.00", "-"]
    assert lines[2].split() == ["openai/plain", "-", "-", "-", "-"]
    assert lines[-1] == "Prices are dollars for a million tokens."
    done = program("models", "ollama")
    assert "4,096 of 262,144" in done.out
    assert "\x1b" not in done.out
    first, _ = program("models", "openai", "--json").json
    assert first["name"] == "openai/meta/llama"
    assert first["prices"] == {"input": 2.0, "output": 10.0, "cached": None, "written": None}


def test_errors_are_one_line(program: Program, openai: Server) -> None:
    program("models", "olama").fails(2, 'There is no provider "olama". Did you mean ollama?')
    program("models", "x\x1b]0;y").fails(2, "Available: anthropic, openai,")
    program("models", "openrouter").fails(2, "OpenRouter needs OPENROUTER_API_KEY")
    openai.pages = {"/v1/models": Reply(401, {"error": {"message": f"bad key {SECRET}"}})}
    done = program("models", "openai")
    assert done.status == 1, done
    assert SECRET not in done.err + done.out


def test_a_project_cannot_send_the_key_elsewhere(program: Program, openai: Server) -> None:
    with Server() as other:
        other.pages = dict(ROUTER)
        program.write(".contextui/config.toml", f'base_url = "{other.url}"\nprovider = "openai"\n')
        program("models", "openai")
        assert other.connections == 0


def test_the_built_in_model_needs_no_network(program: Program) -> None:
    assert program("models", "offline").out.splitlines()[1].split() == ["offline", *"----"]


def test_providers_are_completed(program: Program) -> None:
    script = program("completion", "bash").out
    (line,) = [one for one in script.splitlines() if one.strip().startswith("models)")]
    assert "ollama" in line


def test_an_unknown_provider_is_named_before_anything_is_sent(program: Program) -> None:
    program.set(ANTHROPIC_API_KEY=SECRET)
    done = program("-p", "Hi", "--model", "nosuch/x")
    done.fails(2, 'There is no provider "nosuch". Available: anthropic, openai,', "offline.")
    program("-p", "Hi", "--model", "olama/x").fails(2, '"olama". Did you mean ollama?')
    program("-p", "Hi", "--model", "ollama/").fails(2, "Which model of Ollama?")
    program.write("../home/config.toml", 'model = "nosuch/x"\n')
    program("-p", "Hi").fails(2, 'There is no provider "nosuch"')


def test_a_server_at_another_address_may_have_names_with_a_slash(program: Program) -> None:
    with Server() as server:
        program.set(ANTHROPIC_API_KEY=SECRET, ANTHROPIC_BASE_URL=server.url)
        server.play(answer("Hi."))
        done = program("-p", "Hi", "--model", "meta/llama")
        assert (done.status, done.out) == (0, "Hi.\n"), done
        assert server.requests[-1].json["model"] == "meta/llama"
