"""The model's three tools, create, action and read_file: declarations, calls and execution.

Calls are native tool use of the provider, or tags in the text of an answer.
"""

import asyncio
import hashlib
import json
import re
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from contextui.agent.approval import ApprovalGate
from contextui.agent.functions import FunctionTool
from contextui.agent.request import LONGEST_NAME, fit_id
from contextui.config.schema import ToolProtocol
from contextui.context.gists.gist import gist, gist_of_size, is_workbook
from contextui.context.gists.result import RESULT
from contextui.context.item import ContextItem, ItemType, ItemView
from contextui.errors import ContextUIError, InvalidParamsError, WindowBusyError
from contextui.files.errors import FileError, SecretFileError
from contextui.files.textfile import Page, Version
from contextui.files.workspace import FileInfo, Workspace
from contextui.model import Answer, Block, Tool
from contextui.session.cache import CacheStore
from contextui.session.code.store import CODE_ID, CodeStore
from contextui.text import quote
from contextui.tokens import TokenCounter
from contextui.windowing.action import ActionResult
from contextui.windowing.manager import WindowManager
from contextui.windowing.params import SchemaParams
from contextui.windowing.runtime import runtime_of
from contextui.windowing.window import opening_text
from contextui.windowing.worker import finished
from contextui.words import LANGUAGES, Lang, Words, msg

PAGE = 2_000
"""Maximum number of lines of a `read_file` result; `contextui.files.pager` limits its bytes."""

_MOST_CACHED = 500_000  # characters of a result that is cached
_SETTLED = 100_000_000  # nanoseconds: a younger file may change again with the same mtime


@dataclass(frozen=True, slots=True)
class FileResult(ActionResult):
    """The result of reading a file."""

    gist: str | None = None


class FileReader:
    """Reads files of the session's folder; results and gists are cached per version of a file."""

    def __init__(self, windows: WindowManager) -> None:
        self._windows = windows
        self._words = Words(windows.lang)
        self._gists = CacheStore[str]()
        self._results = CacheStore[FileResult]()

    async def read(self, path: str, start: int = 1, allowed: Collection[str] = ()) -> FileResult:
        """Read lines of a file, from line `start` on."""
        workspace = self._windows.files_for_model(allowed)
        if workspace is None:
            raise InvalidParamsError("There is no folder to read files from.")
        return await asyncio.to_thread(self._read, workspace, path, start)

    def _read(self, workspace: Workspace, path: str, start: int) -> FileResult:
        if path.startswith("@") and not workspace.exists(path):  # people name files with an @
            path = path[1:]
        path = _file_of(workspace, path)
        info = workspace.stat(path)
        workspace.check_readable(path)  # a cached result does not make the permission permanent
        key: tuple[str, Version, int] = (info.path, info.version, start)
        known = self._results.get(key)
        if known is None:
            known = self._read_now(workspace, path, start, info)
            is_settled = time.time_ns() - info.version.mtime_ns > _SETTLED
            if is_settled and len(known.text) <= _MOST_CACHED:
                self._results.put(key, known)
        return known

    def _read_now(self, workspace: Workspace, path: str, start: int, info: FileInfo) -> FileResult:
        if is_workbook(info.path):  # it cannot be read line by line
            return FileResult(
                True, gist(info.path, workspace.read_bytes(info.path), self._windows.lang)
            )
        page = workspace.read_page(path, start, PAGE)
        if not page.lines:
            no_line = self._words("{path} has no line {line}.", path=path, line=start)
            return FileResult(True, no_line if start > 1 else self._words("(empty)"))
        text = _page_text(page, self._words)
        return FileResult(True, text, gist=self._gist(workspace, info, page))

    def _gist(self, workspace: Workspace, info: FileInfo, page: Page) -> str:
        lang = self._windows.lang
        key: tuple[str, Version, Lang] = (info.path, info.version, lang)
        line = self._gists.get_or(key, lambda: _whole_gist(workspace, info, lang))
        if page.start == 1 and not page.more:
            return line
        part = Words(lang)(", lines {first}-{last}", first=page.start, last=page.end)
        return f"{line}{part}"


def _file_of(workspace: Workspace, path: str) -> str:
    if not CODE_ID.fullmatch(path) or workspace.exists(path):
        return path
    with suppress(ContextUIError):  # without a store, report the path as not found
        found = CodeStore.of(workspace).path_of(path)
        if found is not None:
            return workspace.relative(found)
    return path


def _page_text(page: Page, words: Words) -> str:
    more = words("… more from line {line} on", line=page.end + 1)
    return page.numbered() + (f"\n{more}" if page.more else "")


_RESULT_PATH = re.compile(rf"{RESULT}0*([1-9][0-9]{{0,8}})")
_LONGEST_LINE = 2_000  # characters; a longer line of a result is split, so that all can be read
_LONGEST_PAGE = 20_000  # characters of a page of a result


def read_result(items: ItemView, seq: int, start: int, words: Words) -> FileResult:
    """Read lines of an earlier tool result of this conversation, from line `start` on.

    It needs no approval: the model has read it before. A result that is hidden is not read, as the
    person may have dropped it; neither is a file, which has rules of its own and may have changed.
    """
    item = next(items.since(seq), None)
    if item is None or item.seq != seq or item.type is not ItemType.TOOL or item.is_obsolete:
        raise InvalidParamsError("There is no result {seq} in this conversation.", seq=seq)
    if item.gist is not None:
        raise InvalidParamsError("Result {seq} is a file. Read it by its path.", seq=seq)
    lines = _split_lines(item.content)
    first = max(start, 1)
    taken, size = list[str](), 0
    for line in lines[first - 1 : first - 1 + PAGE]:
        size += len(line) + 1
        if taken and size > _LONGEST_PAGE:
            break
        taken.append(line)
    if not taken:
        name = f"{RESULT}{seq}"
        return FileResult(True, words("{path} has no line {line}.", path=name, line=first))
    page = Page(first, tuple(taken), len(lines), first + len(taken) <= len(lines))
    return FileResult(True, _page_text(page, words))


def _split_lines(text: str) -> list[str]:
    return [
        line[place : place + _LONGEST_LINE]
        for line in text.replace("\r\n", "\n").removesuffix("\n").split("\n")
        for place in range(0, max(len(line), 1), _LONGEST_LINE)
    ]


def _whole_gist(workspace: Workspace, info: FileInfo, lang: Lang) -> str:
    try:
        return gist(info.path, workspace.open_text(info.path).file.text, lang)
    except FileError:  # too large to load, or not text further down
        return gist_of_size(info.path, info.size, lang)


_DESCRIPTIONS = {
    "create": msg(
        "Open a window of one of the classes in the system prompt. The result contains the new "
        "window with its id and its actions."
    ),
    "name": msg("The name of the class."),
    "args": msg("The args that the class declares, by name."),
    "action": msg(
        "Run an action, or an anchor, of an open window. Every window also has the action close "
        "with an optional summary."
    ),
    "window_id": msg("Such as todo_1."),
    "action_id": msg("The id of the action."),
    "params": msg("The params that the action declares, by name."),
    "read_file": msg(
        "Read a text file of the folder, at most {lines} lines; start is the first line."
    ),
    "path": msg("Relative to the folder, or the id of a listed code file."),
    "start": msg("The first line; 1 by default."),
}

_PARAMETERS = {
    "create": ({"name": "string", "args": "object"}, ["name"]),
    "action": (
        {"window_id": "string", "action_id": "string", "params": "object"},
        ["window_id", "action_id"],
    ),
    "read_file": ({"path": "string", "start": "integer"}, ["path"]),
}


def _tool(name: str, lang: Lang) -> Tool:
    kinds, required = _PARAMETERS[name]
    words = Words(lang)
    properties = {
        one: {"type": kind, "description": words(_DESCRIPTIONS[one])} for one, kind in kinds.items()
    }
    schema = {"type": "object", "properties": properties, "required": required}
    return Tool(name, words(_DESCRIPTIONS[name], lines=PAGE), schema)


TOOLS: dict[Lang, tuple[Tool, ...]] = {
    lang: tuple(_tool(name, lang) for name in _PARAMETERS) for lang in LANGUAGES
}
"""The tool declarations of each language."""

_PARAMS = {tool.name: SchemaParams(tool.input_schema) for tool in TOOLS["en"]}


_OPENING, _LATE = 30.0, 10.0  # seconds for a window to be there, and then to have opened

R = TypeVar("R", bound=ActionResult)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call of a model."""

    id: str | None
    name: str
    input: Any
    problem: str = ""


class ToolBox:
    """Runs the tool calls of a model."""

    def __init__(
        self,
        windows: WindowManager,
        gate: ApprovalGate | None = None,
        items: Callable[[], ItemView] | None = None,
        functions: Sequence[FunctionTool] = (),
    ) -> None:
        self.windows, self._items = windows, items
        self._functions = {function.declared.name: function for function in functions}
        self.more = tuple(function.declared for function in functions)
        self.gate = gate or ApprovalGate()
        windows.discloses_all = lambda: self.gate.mode == "auto"
        self.gate.mode_changed = windows.redraw
        self._files = FileReader(windows)
        self._words = Words(windows.lang)
        self._tools: dict[str, Callable[..., Awaitable[ActionResult]]] = {
            "create": self.create,
            "action": self.action,
            "read_file": self.read_file,
        }

    async def run(self, call: ToolCall) -> ActionResult:
        """Run a call. Errors are returned as a failed result that explains them."""
        try:
            if call.problem:
                raise InvalidParamsError(call.problem)
            if function := self._functions.get(call.name):
                return await function.run(call.input, self.gate, self.windows.lang)
            tool = self._tools.get(call.name)
            if tool is None:
                raise InvalidParamsError(
                    "There is no tool {name}. Use: {names}.",
                    name=quote(call.name),
                    names=", ".join([*self._tools, *self._functions]),
                )
            params = _PARAMS[call.name]
            if not isinstance(call.input, Mapping):
                raise InvalidParamsError(
                    "{name} takes an object with: {expected}.", name=call.name, expected=str(params)
                )
            given = {name: value for name, value in call.input.items() if value is not None}
            return await tool(**params.validate(given, call.name, self.windows.lang))
        except ContextUIError as error:
            return ActionResult.failed(error, self.windows.lang)

    async def create(self, name: str, args: Mapping[str, Any] | None = None) -> ActionResult:
        """Open a window; ask the person before it reads files that may hold secrets."""
        given = dict(args or {})
        seconds = getattr(self.windows.classes.get(name), "action_seconds", _OPENING)

        async def open_it(allowed: frozenset[str]) -> ActionResult:
            # Opening may block on the window's own thread, which the event loop must not.
            opening = asyncio.to_thread(self.windows.open_for_model, name, given, allowed)
            try:
                window = await asyncio.wait_for(opening, seconds)
            except TimeoutError:  # its own __init__ does not return
                raise WindowBusyError(
                    "{id} did not answer within {seconds:g} s.", id=name, seconds=seconds
                ) from None
            runtime = runtime_of(window)
            if runtime.opening is not None and not runtime.was_open:
                await finished([runtime.opening], _LATE)
                if not runtime.opening.done():
                    text = self._words(
                        "{id} is still opening. Use it once it has opened; if it fails, the next "
                        "step reports it.",
                        id=window.id,
                    )
                    return ActionResult(True, text)
                runtime.opening.result()  # raises why it did not open
            return ActionResult(True, opening_text(window, self._words))

        return await self._with_secrets("create", {"name": name, **given}, open_it)

    async def action(
        self, window_id: str, action_id: str, params: Mapping[str, Any] | None = None
    ) -> ActionResult:
        """Run an action of a window, if the gate allows it."""
        return await self.windows.act(
            window_id, action_id, params, actor="model", allow=self.gate.allow
        )

    async def read_file(self, path: str, start: int = 1) -> FileResult:
        """Read `PAGE` lines of a file of any size, or of an earlier result (``result:12``)."""
        if self._items is not None and (named := _RESULT_PATH.fullmatch(path)):
            seq, items = int(named[1]), self._items()
            # The text of an old result may have to be loaded from the log.
            return await asyncio.to_thread(read_result, items, seq, start, self._words)

        async def read(allowed: frozenset[str]) -> FileResult:
            return await self._files.read(path, start, allowed)

        return await self._with_secrets("read_file", {"path": path, "start": start}, read)

    async def _with_secrets(
        self, tool: str, params: Mapping[str, Any], call: Callable[[frozenset[str]], Awaitable[R]]
    ) -> R:
        """Make a call; on each file that may hold secrets, ask the person and retry."""
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


# --- calls in an answer ----------------------------------------------------------------------

_TAG = re.compile(r"<tool_call>(.*?)(</tool_call>|\Z)", re.DOTALL)
_OPEN, _CLOSE = "<tool_call>", "</tool_call>"
_FORM = '<tool_call>{"name": "…", "arguments": {…}}</tool_call>'


class NativeCalls:
    """Native tool use of the provider."""

    def __init__(self, lang: Lang = "en", more: Sequence[Tool] = ()) -> None:
        self.tools: Sequence[Tool] = (*TOOLS[lang], *more)

    def read(
        self, answer: Answer, taken: Iterable[str]
    ) -> tuple[tuple[Block, ...], list[ToolCall]]:
        """Return all blocks except repeated calls with the same id, and the calls.

        Results of calls with the same id could not be distinguished. Some servers restart their ids
        in every answer, send none, or use characters that others reject: such a call gets a new id.
        """
        known, here = set(taken), set[str]()
        blocks: list[Block] = []
        calls: list[ToolCall] = []
        for block in _valid_blocks(answer):
            if block["type"] != "tool_use":
                blocks.append(block)
                continue
            given, name = str(block.get("id") or ""), str(block.get("name") or "")[:LONGEST_NAME]
            if given in here:
                continue
            here.update([given] if given else [])
            free = _free_id(fit_id(given or "call"), known)
            known.add(free)
            same = block.get("id") == free and block.get("name") == name
            blocks.append(block if same else {**block, "id": free, "name": name})
            calls.append(ToolCall(free, name, block.get("input", {})))
        return tuple(blocks), calls

    def result(
        self, call: ToolCall, text: str, *, ok: bool, gist: str | None = None
    ) -> ContextItem:
        """Build a result with the call's id."""
        return ContextItem(
            ItemType.TOOL,
            text,
            tool_call_id=call.id,
            tool_name=call.name,
            is_error=not ok,
            gist=gist,
        )


class TextCalls:
    """Calls written as tags, for models without native tools."""

    tools: Sequence[Tool] = ()

    def __init__(self, lang: Lang = "en") -> None:
        self._words = Words(lang)

    def read(
        self,
        answer: Answer,
        taken: Iterable[str],  # noqa: ARG002  there are no ids
    ) -> tuple[tuple[Block, ...], list[ToolCall]]:
        """Return the text blocks unchanged and every tagged call; native calls are ignored."""
        blocks = tuple(block for block in _valid_blocks(answer) if block["type"] != "tool_use")
        words = "".join(block["text"] for block in blocks if block["type"] == "text")
        return blocks, [_parse_call(match, self._words) for match in _TAG.finditer(words)]

    def result(
        self, call: ToolCall, text: str, *, ok: bool, gist: str | None = None
    ) -> ContextItem:
        """Build a result that follows the answer; there are no ids."""
        words = f"[{call.name}] {text}" if ok else f"[{call.name} {self._words('failed')}] {text}"
        return ContextItem(ItemType.TOOL, words, tool_name=call.name, is_error=not ok, gist=gist)


CallProtocol = NativeCalls | TextCalls


def calls_of(protocol: ToolProtocol, lang: Lang, more: Sequence[Tool] = ()) -> CallProtocol:
    """Return the protocol, with its texts in a language and an application's further tools."""
    return TextCalls(lang) if protocol == "text" else NativeCalls(lang, more)


def declaration_tokens(tools: Sequence[Tool], counter: TokenCounter) -> int:
    """Count the tokens of the tool declarations."""
    declared = [
        {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}
        for tool in tools
    ]
    return counter.count(json.dumps(declared, ensure_ascii=False)) if declared else 0


def digest_of(tools: Sequence[Tool]) -> str:
    """Identify a list of tools: with another one the provider's cache is of no use."""
    text = repr([(tool.name, tool.description, tool.input_schema) for tool in tools])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _valid_blocks(answer: Answer) -> list[Block]:
    """Drop text blocks without text: some servers start one and send nothing."""
    return [
        one for one in answer.blocks if one["type"] != "text" or isinstance(one.get("text"), str)
    ]


def _free_id(wanted: str, taken: set[str]) -> str:
    number, free = 1, wanted
    while free in taken:
        number += 1
        free = f"{wanted}-{number}"
    return free


def _parse_call(match: "re.Match[str]", words: Words) -> ToolCall:
    written, closed = match[1], match[2]
    problem = msg("The call was not closed. Write {form}.")
    if closed:
        try:
            call = json.loads(written)
            return ToolCall(None, str(call["name"]), call.get("arguments", {}))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            problem = msg("The call cannot be read. Write {form}.")
    return ToolCall(None, "tool_call", {}, words(problem, form=_FORM))


class TagFilter:
    """Filters tool calls out of streamed text, in linear time and with little memory."""

    def __init__(self) -> None:
        self._held = ""
        self._in_call = False

    def feed(self, text: str) -> str:
        """Return the text that can be shown now, and buffer the rest."""
        text, self._held = self._held + text, ""
        shown: list[str] = []
        place = 0
        while True:
            tag = _CLOSE if self._in_call else _OPEN
            found = text.find(tag, place)
            end = found if found >= 0 else len(text) - _partial_tag(text, tag, place)
            if not self._in_call:
                shown.append(text[place:end])
            if found < 0:
                self._held = text[end:]
                return "".join(shown)
            place, self._in_call = found + len(tag), not self._in_call


def _partial_tag(text: str, tag: str, place: int) -> int:
    """Count the trailing characters, after a position, that may be the start of a tag."""
    longest = min(len(text) - place, len(tag) - 1)
    return next((n for n in range(longest, 0, -1) if text.endswith(tag[:n])), 0)
