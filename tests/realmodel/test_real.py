"""The loop and the program with a real model: llama.cpp's own server over real weights.

`make test-real` runs this. The model is tiny, so the prompt spells out each call, and has several
tries. Its wits are not what is tested: that its calls arrive and are carried out, that its turns
end well, and that a real server takes all that it is sent, is.
"""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from itertools import pairwise
from pathlib import Path
from threading import Timer
from typing import Any, Literal, get_args

import pytest

from contextui.agent import request
from contextui.agent.context_space import TurnOptions
from contextui.agent.controller import InteractionController
from contextui.agent.models.anthropic import AnthropicModel
from contextui.agent.models.openai import OpenAIModel
from contextui.config.credentials import Credentials
from contextui.events import CallFinished, Event, UsageSpent, WindowActed, WindowOpened
from contextui.model import LOCAL_PRICES, CallBegun, ContextSize, TextDelta
from tests.agent.talking import end, of, say
from tests.cli.calling import Program

HERE = Path(__file__).parent
PYTHON = HERE.parents[1] / ".venv-real" / "bin" / "python"
pytestmark = [
    pytest.mark.realmodel,
    pytest.mark.skipif(not PYTHON.exists(), reason="`make test-real` installs the real model"),
]
STARTING, TALKING = 120.0, 1_200.0  # seconds at most; an idle machine takes a few

OPEN = 'Use create with name "todo".'
ADD = 'Use action with window_id "{id}", action_id "add", text "milk".'
TRIES = 6
OPTIONS = TurnOptions(budget=6_000, max_tokens=200, max_steps=4)
CONTEXT = 8_192  # tokens, as serve.py sets them
Api = Literal["messages", "chat"]
CUE = 32  # tokens: more than what the template writes at the end of a message


# --- the server --------------------------------------------------------------------------


@contextmanager
def running_server(log: Path) -> Iterator[str]:
    """The address of a server that is gone afterwards, come what may."""
    if not PYTHON.exists():
        pytest.fail(f"{PYTHON} is missing: `make test-real` sets it up.")
    pipe = subprocess.PIPE
    with (
        log.open("wb") as errors,
        subprocess.Popen(
            [PYTHON, HERE / "serve.py"], stdin=pipe, stdout=pipe, stderr=errors
        ) as one,
    ):
        try:
            yield address(one)
        finally:
            one.kill()


def address(process: "subprocess.Popen[bytes]") -> str:
    assert process.stdout is not None
    late = Timer(STARTING, process.kill)
    late.start()
    try:
        line = process.stdout.readline().decode().strip()  # nothing, if it ended or was killed
    finally:
        late.cancel()
    if not line:
        pytest.fail("The server did not start: its log, as printed, tells why.")
    return line


@pytest.fixture
def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Where the server listens. Its log is printed at the end: pytest shows it on failure."""
    for name in list(os.environ):
        if name.upper().startswith("ANTHROPIC_") or name.upper().endswith("_PROXY"):
            monkeypatch.delenv(name)
    log = tmp_path / "server.log"
    log.touch()
    try:
        with running_server(log) as found:
            yield found
    finally:
        print(log.read_text("utf-8", "replace"))


# --- the loop ----------------------------------------------------------------------------


async def converse(talk: InteractionController) -> list[list[Event]]:
    """Ask for a window, then for an action on it, until both were done or too much was tried."""
    turns: list[list[Event]] = []
    async with asyncio.timeout(TALKING):
        while len(turns) < TRIES and not (turns and is_acted_on(turns[-1])):
            opened = [window for window in talk.windows.windows() if window.name == "todo"]
            turns.append(await say(talk, ADD.format(id=opened[-1].id) if opened else OPEN))
            check(talk, turns[-1])
    return turns


@asynccontextmanager
async def talking(url: str, api: Api = "messages") -> AsyncIterator[InteractionController]:
    """A conversation with the model."""
    model: AnthropicModel | OpenAIModel = OpenAIModel("local", base_url=url)
    if api == "messages":
        model = AnthropicModel("local", base_url=url, prices=LOCAL_PRICES)
    talk = InteractionController(model=model, options=OPTIONS)
    talk.install_prompt()
    yield talk
    await model.aclose()


def is_acted_on(events: Sequence[Event]) -> bool:
    """Whether the model acted on a window, and then ended the turn by itself."""
    acted = any(one.ok and one.actor == "model" for one in of(WindowActed, events))
    return acted and end(events).reason == "done"


def check(talk: InteractionController, events: Sequence[Event]) -> None:
    """Whatever the model did: the turn came to an end, and what it left can be sent."""
    finished = end(events)
    assert finished.reason != "failed", finished
    assert talk.context.ledger.calls.unanswered == ()
    assert request.faults(talk.request_of(talk.context.compose()).messages) == []
    # Within a turn nothing that was sent changes: the server finds it in its cache.
    for before, after in pairwise(one.usage for one in of(UsageSpent, events)):
        sent = before.input_tokens + before.cache_read_input_tokens
        assert after.cache_read_input_tokens >= sent - CUE, (before, after)


@pytest.mark.parametrize("api", get_args(Api))
def test_a_real_model_opens_a_window_and_acts_on_it(url: str, api: Api) -> None:
    async def run() -> list[list[Event]]:
        async with talking(url, api) as talk:
            size = await talk.model.context_size()  # type: ignore[attr-defined]
            assert size == ContextSize(CONTEXT, sees=False)
            return await converse(talk)

    turns = asyncio.run(run())
    events = [event for turn in turns for event in turn]
    spent = [one.usage for one in of(UsageSpent, events)]
    assert all(one.output_tokens for one in spent), spent
    assert any(one.cache_read_input_tokens for one in spent), spent
    assert len(of(TextDelta, events)) + len(of(CallBegun, events)) > 1, "nothing was streamed"
    assert of(WindowOpened, events), events
    assert is_acted_on(turns[-1]), events
    assert any(one.ok and one.name == "action" for one in of(CallFinished, turns[-1])), turns[-1]


def test_a_real_model_acts_on_a_window_of_which_it_reads_what_changed(url: str) -> None:
    async def run() -> None:
        async with talking(url) as talk:
            window = talk.windows.open("todo", items=[f"thing {number}" for number in range(20)])
            assert is_acted_on((await converse(talk))[-1])
            assert is_acted_on((await converse(talk))[-1])
            sent = str([one.content for one in talk.context.compose().messages])
            assert f'<Window id="{window.id}" version="' in sent
            assert ' since="' in sent, "no block with what changed"

    asyncio.run(run())


# --- the program -------------------------------------------------------------------------


def ask(*words: str, model: str) -> tuple[int, dict[str, Any]]:
    """The exit status and the result of one turn without a screen."""
    limits = ("--budget", "6000", "--max-tokens", "200", "--max-steps", "4")
    command = [sys.executable, "-m", "contextui", "--model", model, *limits]
    done = subprocess.run(
        [*command, "--output-format", "json", *words],
        stdin=subprocess.DEVNULL, capture_output=True, timeout=TALKING, check=False,
    )  # fmt: skip
    assert done.stdout, done
    result = json.loads(done.stdout)
    assert result["reason"] != "failed", result
    return done.returncode, result


@pytest.mark.parametrize("model", ["local", "box/local"])
def test_the_program_takes_a_turn_with_a_real_model(
    url: str,
    model: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Through Anthropic's API, and as a server that the person added, through OpenAI's."""
    program = Program(tmp_path, monkeypatch, capsys)
    program.set(ANTHROPIC_BASE_URL=url)
    Credentials(program.home).add_server("box", f"{url}/v1")
    status, result = ask("-p", OPEN, model=model)
    tries = 1
    while tries < TRIES and not (result["windows"] and status == 0):
        status, result = ask("-c", "-p", OPEN, model=model)
        tries += 1
    assert status == 0, result
    assert result["windows"], result
    assert result["usage"]["output_tokens"] > 0
    assert "cost_usd" not in result  # of a model without a price
