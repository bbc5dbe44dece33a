"""Functions as tools of the model: schema from the signature, approval unless they only read."""

import asyncio
import inspect
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, PydanticUserError

from contextui.agent.approval import ApprovalGate
from contextui.errors import ContextUIError, InvalidParamsError
from contextui.model import Tool
from contextui.text import for_model, one_line
from contextui.windowing.action import ActionResult
from contextui.windowing.error_text import reason_of
from contextui.windowing.params import Params, SchemaParams
from contextui.words import Lang, Words

ToolEffect = Literal["read", "write"]
"""What a function changes: nothing, or something; only `read` runs without approval."""

F = TypeVar("F", bound=Callable[..., Any])
_EFFECT = "__contextui_effect__"
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_LONGEST = 4_000  # characters of a description


def tool(effect: ToolEffect) -> Callable[[F], F]:
    """Declare the effect of a function for `InteractionController(tools=[…])`.

    Example:
        >>> @tool("read")
        ... def weather(city: str) -> str:
        ...     return "sunny"
    """
    if effect not in ("read", "write"):
        raise ValueError(f'Write @tool("read") or @tool("write"), not @tool({effect!r}).')

    def declare(function: F) -> F:
        setattr(function, _EFFECT, effect)
        return function

    return declare


@dataclass(frozen=True, slots=True)
class FunctionTool:
    """A function of the application that the model may call, and how it is declared."""

    declared: Tool
    call: Callable[..., Any]
    effect: str
    params: Params

    @classmethod
    def of(cls, given: Any) -> "FunctionTool":
        """Read a function, or an object with `name`, `description`, `input_schema` and `call`."""
        if isinstance(given, cls):
            return given
        if hasattr(given, "input_schema") and not isinstance(given, type):
            return cls._of_object(given)
        if not callable(given) or isinstance(given, type):
            raise ValueError(f"{one_line(repr(given), 60)} is neither a function nor a tool.")
        return cls._of_function(given)

    @classmethod
    def _of_object(cls, given: Any) -> "FunctionTool":
        name, schema = getattr(given, "name", ""), given.input_schema
        call = getattr(given, "call", None) or (given if callable(given) else None)
        if not callable(call) or not isinstance(schema, Mapping):
            raise ValueError(f"{one_line(str(name), 60)}: a tool needs call and input_schema.")
        about = str(getattr(given, "description", "") or "")
        declared = Tool(_checked(name), about[:_LONGEST], dict(schema))
        return cls(declared, call, str(getattr(given, "effect", "write")), SchemaParams(schema))

    @classmethod
    def _of_function(cls, function: Callable[..., Any]) -> "FunctionTool":
        name = _checked(getattr(function, "__name__", type(function).__name__))
        try:
            params = Params(function, "")
            schema = params.json_schema()
        except (ContextUIError, PydanticUserError) as error:
            raise ValueError(f"{name} cannot be a tool: {error}") from error
        about = (inspect.getdoc(function) or "").partition("\nArgs:\n")[0].strip()
        declared = Tool(name, about[:_LONGEST] or name, schema)
        return cls(declared, function, getattr(function, _EFFECT, "write"), params)

    async def run(self, given: Any, gate: ApprovalGate, lang: Lang) -> ActionResult:
        """Validate the arguments, ask if the tool may change something, and call it."""
        name = self.declared.name
        if not isinstance(given, Mapping):
            raise InvalidParamsError("{name} takes an object.", name=name)
        arguments = self.params.validate(given, name, lang)
        if self.effect != "read":
            await gate.allow_call(name, self.declared.description, given, lang)
        try:
            if inspect.iscoroutinefunction(self.call):
                result = await self.call(**arguments)
            else:
                result = await asyncio.to_thread(self._call_here, arguments)
                if inspect.isawaitable(result):
                    result = await result
            return ActionResult(True, _text_of(result, lang))
        except ContextUIError:
            raise
        except (Exception, SystemExit) as error:  # the caller's code
            words = Words(lang)
            text = words("{name} failed: {reason}", name=name, reason=reason_of(error, lang))
            return ActionResult(False, for_model(text))

    def _call_here(self, arguments: Mapping[str, Any]) -> Any:
        """Call the function in a thread, which cannot pass every exception on."""
        try:
            return self.call(**arguments)
        except (StopIteration, SystemExit) as error:
            raise RuntimeError(type(error).__name__) from error


def function_tools(given: Sequence[Any], taken: Sequence[str]) -> tuple[FunctionTool, ...]:
    """Read the tools of a controller."""
    found = tuple(map(FunctionTool.of, given))
    seen = set(taken)
    for one in found:
        if one.declared.name in seen:
            raise ValueError(f"There are two tools {one.declared.name}.")
        seen.add(one.declared.name)
    return found


def _checked(name: Any) -> str:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        shown = one_line(str(name), 60)
        raise ValueError(f"A tool's name has letters, digits, _ and -, not {shown!r}.")
    return name


def _text_of(result: Any, lang: Lang) -> str:
    if result is None:
        return Words(lang)("Done.")
    if isinstance(result, BaseModel):
        result = result.model_dump(mode="json")
    if not isinstance(result, str):
        try:
            result = json.dumps(result, ensure_ascii=False, default=str)
        except (TypeError, ValueError, RecursionError):  # keys that are not text, or a cycle
            result = str(result)
    return for_model(result)
