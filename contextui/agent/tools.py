"""Carrying out a model's calls of its three tools."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from contextui.agent.approval import ApprovalGate
from contextui.agent.file_reader import FileReader, FileResult
from contextui.agent.phrases import ToolPhrases, of_tools
from contextui.agent.toolset import TOOLS
from contextui.errors import ContextUIError, InvalidParamsError, WindowBusyError
from contextui.files.errors import SecretFileError
from contextui.text import quote
from contextui.windowing.action import ActionResult
from contextui.windowing.manager import WindowManager
from contextui.windowing.phrases import of as window_words

_OPENING = 30.0  # seconds that a window may take to open

R = TypeVar("R", bound=ActionResult)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """What a model wants to have done.

    Attributes:
        id: The provider's id of the call; None in the text protocol.
        name: The tool.
        input: What it is given; a model may send anything here.
        problem: Why the call cannot be read, if it cannot.
    """

    id: str | None
    name: str
    input: Any
    problem: str = ""


class ToolBox:
    """Carries out the calls of a model.

    Args:
        windows: The windows it works on.
        gate: Asks before anything outside of a window is touched.

    Example:
        >>> await ToolBox(windows).carry_out(ToolCall("1", "create", {"name": "todo"}))
        ActionResult(ok=True, text='Opened todo_1.', error=None)
    """

    def __init__(self, windows: WindowManager, gate: ApprovalGate | None = None) -> None:
        self.windows = windows
        self.gate = gate or ApprovalGate()
        windows.discloses_all = lambda: self.gate.mode == "auto"
        self.gate.mode_changed = windows.redraw
        self._files = FileReader(windows)
        self._words = of_tools(windows.lang)
        self._tools: dict[str, Callable[..., Awaitable[ActionResult]]] = {
            "create": self.create,
            "action": self.action,
            "read_file": self.read_file,
        }

    async def carry_out(self, call: ToolCall) -> ActionResult:
        """Do what the call says. Whatever is wrong with it comes back as a result that says so."""
        try:
            if call.problem:
                raise InvalidParamsError(call.problem)
            tool = self._tools.get(call.name)
            if tool is None:
                told = self._words.no_tool.format(
                    name=quote(call.name), names=", ".join(self._tools)
                )
                raise InvalidParamsError(told)
            return await tool(**_arguments(call, self._words))
        except ContextUIError as error:
            return ActionResult.failed(error, self.windows.lang)

    def read_key(self, call: ToolCall) -> Hashable | None:
        """What the result of a `read` action depends on; None for every other call."""
        if call.name != "action" or call.problem or not isinstance(call.input, Mapping):
            return None
        window = self.windows.get(str(call.input.get("window_id")))
        action_id = str(call.input.get("action_id"))
        declared = window.actions.get(action_id) if window is not None else None
        if window is None or declared is None or declared.effect != "read":
            return None
        params = json.dumps(call.input.get("params"), sort_keys=True, default=str)
        return (window.id, str(window.runtime.standing.version), action_id, params)

    async def create(self, name: str, args: Mapping[str, Any] | None = None) -> ActionResult:
        """Open a window; a person is asked before it reads files that may hold secrets."""
        given = dict(args or {})
        seconds = getattr(self.windows.classes.get(name), "action_seconds", _OPENING)

        async def open_it(allowed: frozenset[str]) -> ActionResult:
            # Opening may wait for the window's own thread, and the event loop must not.
            opening = asyncio.to_thread(self.windows.open_for_model, name, given, allowed)
            try:
                window = await asyncio.wait_for(opening, seconds)
            except TimeoutError:  # its own __init__ does not return
                late = window_words(self.windows.lang).busy.format(id=name, seconds=seconds)
                raise WindowBusyError(late) from None
            told = self._words.still_opening if window.is_opening else self._words.opened
            return ActionResult(True, told.format(id=window.id))

        return await self._with_secrets("create", {"name": name, **given}, open_it)

    async def action(
        self, window_id: str, action_id: str, params: Mapping[str, Any] | None = None
    ) -> ActionResult:
        """Act on a window, if it is allowed."""
        return await self.windows.act(
            window_id, action_id, params, actor="model", allow=self.gate.allow
        )

    async def read_file(self, path: str, start: int = 1) -> FileResult:
        """Read some lines of a file; a person is asked if it may hold secrets."""

        async def read(allowed: frozenset[str]) -> FileResult:
            return await self._files.read(path, start, allowed)

        return await self._with_secrets("read_file", {"path": path, "start": start}, read)

    async def _with_secrets(
        self, tool: str, params: Mapping[str, Any], call: Callable[[frozenset[str]], Awaitable[R]]
    ) -> R:
        """Make a call; for each file that may hold secrets, ask first and make it again."""
        allowed = frozenset[str]()
        while True:
            try:
                return await call(allowed)
            except SecretFileError as error:
                if error.real in allowed:
                    raise
                files, lang = self.windows.workspace, self.windows.lang
                await self.gate.allow_read(files, error.path, tool, params, lang)
                allowed |= {error.real}


_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,), "integer": (int,), "object": (Mapping,),
}  # fmt: skip


def _arguments(call: ToolCall, words: ToolPhrases) -> dict[str, Any]:
    """What the tool is called with.

    Raises:
        InvalidParamsError: It is not what the schema asks for.
    """
    schema = next(tool.input_schema for tool in TOOLS["en"] if tool.name == call.name)
    expected = ", ".join(
        f"{name} ({kind['type']}{'' if name in schema['required'] else words.optional})"
        for name, kind in schema["properties"].items()
    )
    if not isinstance(call.input, Mapping):
        raise InvalidParamsError(words.takes.format(name=call.name, expected=expected))
    given = {name: value for name, value in call.input.items() if value is not None}
    absent = [name for name in schema["required"] if name not in given]
    problems = [words.missing.format(name=name) for name in absent]
    for name, value in given.items():
        kind = schema["properties"].get(name)
        if kind is None:
            problems.append(words.unknown.format(name=quote(str(name))))
        elif not isinstance(value, _TYPES[kind["type"]]) or isinstance(value, bool):
            problems.append(words.wrong_type.format(name=name, type=kind["type"]))
    if problems:
        found = "; ".join(problems)
        told = words.problems.format(name=call.name, problems=found, expected=expected)
        raise InvalidParamsError(told)
    return given
