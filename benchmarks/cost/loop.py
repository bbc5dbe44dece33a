"""Record the requests of the real loop, and of a plain tool loop that does the same work.

Both loops play a script of turns with a `ScriptedModel`. Every request is converted to the
provider's format by `contextui.agent.cache_marks.payload`, with its cache marks; its tokens are
counted with the project's counter.
"""

import asyncio
import difflib
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, get_args

from benchmarks.cost.cache import ANTHROPIC, Block, Sent
from contextui import (
    ContextItem,
    ContextManager,
    InteractionController,
    ItemType,
    TokenCounter,
    TurnOptions,
    WindowManager,
)
from contextui.agent.approval import ApprovalGate
from contextui.agent.cache_marks import Payload, payload
from contextui.agent.models.scripted import ScriptedModel, Step
from contextui.config.schema import Placement
from contextui.events import CallFinished, TurnFinished
from contextui.files.workspace import Workspace
from contextui.model import Answer, LlmMessage, ModelEvent, ModelRequest, Tool
from contextui.tokens import Content
from contextui.windowing.runtime import runtime_of
from contextui.windows.code import CodeWindow
from contextui.windows.editor.window import EditorWindow
from contextui.windows.files import FilesWindow
from contextui.windows.monitor.window import MonitorWindow
from contextui.windows.notebook import NotebookWindow
from contextui.windows.todo.window import TodoWindow

PLACEMENTS: tuple[Placement, ...] = get_args(Placement)
"""The placements that exist."""

WINDOWS = (CodeWindow, EditorWindow, FilesWindow, MonitorWindow, NotebookWindow, TodoWindow)
"""The built-in classes of windows, all of which the system prompt lists."""

BUDGET = 10_000_000  # nothing is trimmed
STEP_SECONDS, TURN_SECONDS = 5.0, 30.0


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn of a script: the person's words, and the answers of the model."""

    words: str
    answers: Sequence[Step]


@dataclass(slots=True)
class Clock:
    """The simulated time of the requests in seconds."""

    now: float = 0.0

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self.now += seconds

    def date(self) -> datetime:
        """Return the time as windows see it."""
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=self.now)


class BlockCounter:
    """Converts payloads to blocks with token counts; every block is counted once."""

    def __init__(self) -> None:
        self._counter = TokenCounter()
        self._known: dict[str, int] = {}

    def sent(self, body: Mapping[str, Any], time: float) -> Sent:
        """Convert the body of a request; its marks are the `cache_control` fields in it."""
        tools, system = (list(body.get(name, ())) for name in ("tools", "system"))
        declared = json.dumps([_without_mark(tool) for tool in tools])
        prompt = "".join(part["text"] for part in system)
        head = Block((declared, prompt), self.count(declared) + self.count(prompt))
        is_marked = any("cache_control" in part for part in (*tools, *system))
        blocks, marks = [head], [1] if is_marked else []
        for message in body["messages"]:
            extra = self._counter.message_overhead(message["role"])
            for block in message["content"]:
                bare = _without_mark(block)
                key = json.dumps([message["role"], extra, bare])
                if key not in self._known:
                    self._known[key] = self._counter.count_content([bare]) + extra
                blocks.append(Block(key, self._known[key]))
                if len(bare) < len(block):
                    marks.append(len(blocks))
                extra = 0
        return Sent(blocks, marks, time)

    def count(self, text: str) -> int:
        """Count the tokens of a text."""
        if text not in self._known:
            self._known[text] = self._counter.count(text)
        return self._known[text]

    def count_message(self, role: str, content: Content) -> int:
        """Count the tokens of a message."""
        return self._counter.message_overhead(role) + self._counter.count_content(content)


def _without_mark(block: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in block.items() if name != "cache_control"}


@dataclass(slots=True)
class Recorder:
    """A model that records each request and answers as its script says.

    Attributes:
        script: Answers the requests.
        clock: The simulated time.
        on_request: Called with each request before it is answered.
        requests: What was sent.
    """

    script: ScriptedModel
    clock: Clock
    counter: BlockCounter
    on_request: Callable[[Sent], None] = lambda _: None
    name: str = "recorder"
    requests: list[Sent] = field(default_factory=list)
    _before: Payload | None = None

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Record a request as the provider would receive it, and answer as the script says."""
        self._before = sent = payload(request, self.name, self._before)
        self.requests.append(self.counter.sent(sent.body, self.clock.now))
        self.on_request(self.requests[-1])
        self.clock.advance(STEP_SECONDS)
        async for event in self.script.stream(request):
            yield event


# --- the real loop -------------------------------------------------------------------------


class LoopError(RuntimeError):
    """A script did not run as it was meant to."""


@dataclass(frozen=True, slots=True)
class Played:
    """A played script: its requests, and the cost of the information bound."""

    requests: Sequence[Sent]
    bound: float


class Bound:
    """The information bound: every token is written once, and only what is wanted is read again.

    A window that changes costs its changed lines, wherever it is in the request. No placement
    reaches this in general: what follows a changed place has to be written again.

    Args:
        context: The conversation.
        counter: Counts tokens.
    """

    def __init__(self, context: ContextManager, counter: BlockCounter) -> None:
        self._context, self._counter = context, counter
        self._seen: dict[str, int] = {}  # tokens of each item
        self._shown: dict[str, str] = {}  # the XML of each window in the last request
        self.cost = 0.0

    def count_request(self, sent: Sent) -> None:
        """Add the cost of a request that is being sent; only its head is taken from it."""
        head = sent.blocks[0].tokens
        windows = self._context.windows
        open_windows = windows.windows() if windows is not None else []
        shown = {one.id: runtime_of(one).renders.at().xml for one in open_windows}
        written = 0 if self._seen else head
        new = [item for item in self._context.get_all() if item.id not in self._seen]
        for item in new:
            self._seen[item.id] = self._size(item)
            written += self._seen[item.id]
        for name, xml in shown.items():
            written += self._changed(self._shown.get(name), xml)
        self._shown = shown
        sizes = (self._counter.count(xml) for xml in shown.values())
        total = head + sum(self._seen.values()) + sum(sizes)
        self.cost += ANTHROPIC.write * written + ANTHROPIC.read * max(0, total - written)

    def _size(self, item: ContextItem) -> int:
        match item.type:
            case ItemType.SYSTEM | ItemType.WINDOW:
                return 0
            case ItemType.TOOL:
                return self._counter.count(item.content)
        blocks, count = item.blocks or (), self._counter.count_message
        # The results of all calls of an answer are one message, which has to be there as well.
        results = count("user", "") * any(one.get("type") == "tool_use" for one in blocks)
        return count(item.type.value, item.blocks or item.content) + results

    def _changed(self, before: str | None, now: str) -> int:
        """Count the lines of a window that are new."""
        if before == now:
            return 0
        if before is None:
            return self._counter.count(now)
        old, new = before.splitlines(), now.splitlines()
        parts = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
        lines = (line for tag, _, _, start, end in parts if tag != "equal"
                 for line in new[start:end])  # fmt: skip
        return self._counter.count("\n".join(lines))


def play(turns: Sequence[Turn], folder: Path, placement: Placement) -> Played:
    """Play a script with the real loop and real windows on the files of a folder.

    Args:
        turns: The script.
        folder: The files.
        placement: Where windows are placed in a request.

    Raises:
        LoopError: A turn or a call failed.
    """
    clock, counter = Clock(), BlockCounter()
    windows = WindowManager(
        WINDOWS, session_id="benchmark", clock=clock.date, workspace=Workspace(folder)
    )
    context = ContextManager(windows, placement=placement)
    answers = (answer for turn in turns for answer in turn.answers)
    model = Recorder(ScriptedModel(*answers), clock, counter)
    talk = InteractionController(
        model=model,
        context=context,
        options=TurnOptions(budget=BUDGET, auto_compact=False),
        approval=ApprovalGate("auto"),
    )
    bound = Bound(context, counter)
    model.on_request = bound.count_request
    try:
        asyncio.run(_take_turns(talk, turns, clock))
    finally:
        talk.close()
        windows.shut_down()
    return Played(model.requests, bound.cost)


async def _take_turns(talk: InteractionController, turns: Sequence[Turn], clock: Clock) -> None:
    for turn in turns:
        async for event in talk.run_turn(turn.words):
            match event:
                case CallFinished(ok=False):
                    raise LoopError(f"{event.name}: {event.text}")
                case TurnFinished() if event.reason != "done":
                    raise LoopError(f"{event.reason}: {event.explanation}")
        clock.advance(TURN_SECONDS)


# --- the plain loop ------------------------------------------------------------------------

PLAIN_PROMPT = """\
You help a person with the files of a folder. read_file returns the lines of a file with their \
numbers. edit replaces a text that occurs once in a file with another one, and saves the file.

- Read a file before you edit it, and keep to its style.
- Several calls in one answer run in order. Do what you can in one answer.
- If a call fails, read the reason, and do not repeat the same call.
- Answer briefly, in the person's language, in Markdown. Say what you did and what you did not."""

AROUND = 4
"""Lines before and after a change that `edit` returns, as editing tools for models often do."""


def _plain_tool(name: str, description: str, *params: str) -> Tool:
    properties = {param: {"type": "string"} for param in params}
    schema = {"type": "object", "properties": properties, "required": list(params)}
    return Tool(name, description, schema)


PLAIN_TOOLS = (
    _plain_tool("read_file", "Read a text file of the folder.", "path"),
    _plain_tool("edit", "Replace a text that occurs once in a file.", "path", "old", "new"),
)


def play_plain(turns: Sequence[Turn], folder: Path, *, around: int | None = AROUND) -> list[Sent]:
    """Play a script with plain tools: all that was said and read stays in the conversation.

    Args:
        turns: The script; its calls are `read_file` and `edit`.
        folder: The files.
        around: Lines around a change that `edit` returns; None if it only confirms the change.

    Raises:
        LoopError: A call failed.
    """
    clock = Clock()
    answers = (answer for turn in turns for answer in turn.answers)
    script = ScriptedModel(*answers)
    model = Recorder(script, clock, BlockCounter())

    async def go() -> None:
        messages: list[LlmMessage] = []
        for turn in turns:
            messages.append(LlmMessage("user", ({"type": "text", "text": turn.words},)))
            while True:
                count = sum(len(message.content) for message in messages)
                request = ModelRequest(PLAIN_PROMPT, tuple(messages), PLAIN_TOOLS, stable=count)
                blocks: tuple[Mapping[str, Any], ...] = ()
                async for event in model.stream(request):
                    blocks = event.blocks if isinstance(event, Answer) else blocks
                messages.append(LlmMessage("assistant", blocks))
                calls = [block for block in blocks if block["type"] == "tool_use"]
                if not calls:
                    break
                results = tuple(_plain_result(block, folder, around) for block in calls)
                messages.append(LlmMessage("user", results))
            clock.advance(TURN_SECONDS)

    asyncio.run(go())
    return model.requests


def _plain_result(block: Mapping[str, Any], folder: Path, around: int | None) -> Mapping[str, Any]:
    given = block["input"]
    path = folder / given["path"]
    if block["name"] == "edit":
        text = path.read_text("utf-8")
        if text.count(given["old"]) != 1:
            raise LoopError(f"{given['old']!r} does not occur once in {given['path']}")
        path.write_text(text.replace(given["old"], given["new"]), "utf-8")
        first = text[: text.index(given["old"])].count("\n")
        last = first + given["new"].count("\n")
        found = f"Saved {given['path']}"
        if around is not None:
            found += ":\n" + _numbered(path, first - around, last + around + 1)
    else:
        found = _numbered(path)
    return {"type": "tool_result", "tool_use_id": block["id"], "content": found}


def _numbered(path: Path, first: int = 0, last: int | None = None) -> str:
    """Return lines of a file as the real `read_file` does: with their numbers."""
    lines = list(enumerate(path.read_text("utf-8").splitlines(), 1))
    return "\n".join(f"{number} {line}" for number, line in lines[max(0, first) : last])
