"""What a shell sees and reaches: its environment and the sandbox."""

import os
import socket
from pathlib import Path

import pytest

from contextui.windows.terminal.sandbox import clean_environment, sandbox_works

from .shells import finished, prompt, run, shell

needs_sandbox = pytest.mark.skipif(
    not sandbox_works(), reason="bubblewrap is not there, or user namespaces are off"
)


@pytest.mark.parametrize(
    "name",
    [
        *("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "OPENROUTER_API_KEY"),
        *("GEMINI_API_KEY", "GOOGLE_API_KEY", "MISTRAL_API_KEY", "GROQ_API_KEY", "HF_TOKEN"),
        *("AZURE_OPENAI_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "CONTEXTUI_HOME", "OPENAI_API_KEY_2"),
        *("AWS_BEARER_TOKEN_BEDROCK", "openai_api_key", "COLUMNS", "TMUX"),
    ],
)
def test_keys_of_providers_are_left_out(name: str) -> None:
    assert name not in clean_environment({name: "x"})


@pytest.mark.parametrize(
    "name", ["PATH", "HOME", "SSH_AUTH_SOCK", "EDITOR", "PAGER", "GITHUB_TOKEN", "COMPANY_KEYS"]
)
def test_other_variables_stay(name: str) -> None:
    assert clean_environment({name: "x"})[name] == "x"


def test_the_terminal_is_described() -> None:
    cleaned = clean_environment({"TERM": "dumb", "COLORTERM": ""})
    assert (cleaned["TERM"], cleaned["COLORTERM"]) == ("xterm-256color", "truecolor")


@needs_sandbox
@pytest.mark.parametrize("kind", ["bash", "zsh", "fish", "sh"])
def test_only_the_workspace_is_writable_and_there_is_no_network(tmp_path: Path, kind: str) -> None:
    async def test() -> None:
        work, outside = tmp_path / "work", tmp_path / "outside"
        work.mkdir()
        outside.mkdir()
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            async with shell(tmp_path, kind, sandbox=work) as one:
                assert (await finished(one, "echo in > file; cat file")).output == "in"
                assert (work / "file").read_text() == "in\n"
                for place in (outside, Path("/etc"), Path.home()):
                    ran = await finished(one, f"touch {place}/contextui-trial")
                    assert ran.status != 0
                    assert not (place / "contextui-trial").exists()
                ran = await finished(one, f"bash -c 'echo > /dev/tcp/127.0.0.1/{port}'")
                assert ran.status != 0
                assert (await finished(one, "ls /run /tmp | wc -l")).status == 0
                ran = await one.run("sleep 100")
                await one.cancel()
                assert ran.status == 130
                await prompt(one)
                pid = one.pid
        assert not os.path.exists(f"/proc/{pid}")

    run(test())
