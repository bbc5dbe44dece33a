"""What an MCP server offers: its tools as actions, its resources and its prompts.

Everything here was written by the server, so nothing of it is believed: names become valid ids,
texts are cut, and a claim to only read counts only if the person trusts it.
"""

import asyncio
import hashlib
import json
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from contextui import ActionError
from contextui.plain_file import read_plain, write_private
from contextui.text import one_line
from contextui.words import Message

MOST_TOOLS = 280  # tools that become actions
LISTED_TOOLS, LISTED_RESOURCES, LISTED_PROMPTS = 2_000, 500, 200
"""How many of each are read from the server."""
_OWN = ("read", "prompt", "page", "answer", "decline", "reconnect")
RESERVED = frozenset((*_OWN, "close", "describe", "wait", "cancel"))  # ids of the window's actions

_LARGEST_SCHEMA = 20_000  # characters as JSON; of a larger one only the names are kept
_LARGEST_FILE = 8_000_000
_PAGES = 100  # of a list
_LONGEST_LABEL, _LONGEST_DESCRIPTION, _LONGEST_NAME = 100, 4_000, 200
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s")


class _Described(BaseModel):
    @property
    def digest(self) -> str:
        """A hash of all that the server says about it."""
        return hashlib.sha256(self.model_dump_json().encode("utf-8", "replace")).hexdigest()[:16]


class Tool(_Described):
    """A tool, as the server describes it."""

    name: str
    id: str = ""
    title: str = ""
    description: str = ""
    params: dict[str, Any] = {}
    reads: bool = False  # whether the server claims that it only reads

    @property
    def label(self) -> str:
        text = self.title or self.description.strip()
        first = _SENTENCE.split(one_line(text, 1_000), maxsplit=1)[0]
        return one_line(first.rstrip(".。"), _LONGEST_LABEL) or self.name


class Resource(BaseModel):
    """A resource that can be read."""

    uri: str
    name: str = ""


class Argument(BaseModel):
    """An argument of a prompt."""

    name: str
    description: str = ""
    required: bool = False


class Prompt(BaseModel):
    """A prompt that the server offers to the person."""

    name: str
    description: str = ""
    arguments: list[Argument] = []


class Info(BaseModel):
    """What the server says about itself."""

    name: str = ""
    instructions: str = ""


class Catalogue(_Described):
    """All that a server offers."""

    tools: list[Tool] = []
    resources: list[Resource] = []
    templates: list[Resource] = []
    prompts: list[Prompt] = []
    unused: int = 0  # how many tools the configuration leaves out
    dropped: int = 0  # how many tools there are that are too many

    def tool(self, action_id: str) -> Tool | None:
        return next((one for one in self.tools if one.id == action_id), None)

    def prompt(self, name: str) -> Prompt:
        for one in self.prompts:
            if one.name == name:
                return one
        raise ActionError(
            "There is no prompt {name!r}. Available: {names}.",
            name=one_line(name, 80),
            names=one_line(", ".join(one.name for one in self.prompts), 500) or Message("none"),
        )

    def save(self, path: Path) -> None:
        """Keep it for a later run, in which the server is connected only on demand."""
        data = self.model_dump_json().encode("utf-8", "replace")
        if len(data) <= _LARGEST_FILE:
            write_private(path, data)

    @classmethod
    def load(cls, path: Path) -> "Catalogue":
        try:
            return cls.model_validate_json(read_plain(path, _LARGEST_FILE))
        except (OSError, ValueError):
            return cls()


# --- reading what a server offers --------------------------------------------------------------


async def read_catalogue(
    client: Any, kinds: set[str], before: Catalogue, uses: Callable[[str], bool], seconds: float
) -> Catalogue:
    """Read what a server offers."""
    able, new = client.server_capabilities, before.model_copy()
    if "tools" in kinds and able.tools is not None:
        found = await _listed(client.list_tools, "tools", LISTED_TOOLS, seconds)
        new.tools, new.unused, new.dropped = tools_of(found, uses)
    if "resources" in kinds and able.resources is not None:
        found = await _listed(client.list_resources, "resources", LISTED_RESOURCES, seconds)
        new.resources = resources_of(found)
        with suppress(Exception):  # many servers have resources, and no templates
            found = await _listed(
                client.list_resource_templates, "resource_templates", LISTED_RESOURCES, seconds
            )
            new.templates = resources_of(found, "uri_template")
    if "prompts" in kinds and able.prompts is not None:
        found = await _listed(client.list_prompts, "prompts", LISTED_PROMPTS, seconds)
        new.prompts = prompts_of(found)
    return new


async def _listed(
    ask: Callable[..., Awaitable[Any]], name: str, most: int, seconds: float
) -> list[Any]:
    found: list[Any] = []
    cursor: str | None = None
    for _ in range(_PAGES):
        async with asyncio.timeout(seconds):
            answer = await ask(cursor=cursor)
        found += getattr(answer, name)
        cursor = answer.next_cursor
        if cursor is None or len(found) >= most:
            break
    return found[: most * 10]  # those that are too many are counted


def tools_of(found: Iterable[Any], uses: Callable[[str], bool]) -> tuple[list[Tool], int, int]:
    """Return the tools that become actions, how many are not used, and how many are too many."""
    tools, taken, unused, dropped = list[Tool](), set(RESERVED), 0, 0
    for one in found:
        if not uses(one.name):
            unused += 1
        elif len(tools) == MOST_TOOLS:
            dropped += 1
        else:
            tools.append(_tool(one, taken))
    return tools, unused, dropped


def _tool(one: Any, taken: set[str]) -> Tool:
    annotations = one.annotations
    tool = Tool(
        name=one.name[:1_000],
        id=_action_id(one.name, taken),
        title=one_line(one.title or (annotations and annotations.title) or "", 200),
        description=(one.description or "")[:_LONGEST_DESCRIPTION],
        params=small_schema(one.input_schema),
        reads=bool(annotations and annotations.read_only_hint is True),
    )
    taken.add(tool.id)
    return tool


def _action_id(name: str, taken: set[str]) -> str:
    plain = re.sub(r"[^A-Za-z0-9_.:-]+", "_", name).strip("_.:-")[:100]
    plain = plain if plain[:1].isalpha() else f"tool_{plain}".rstrip("_")
    if plain not in taken:
        return plain
    proposed, number = f"{plain}_tool", 2
    while proposed in taken:
        proposed, number = f"{plain}_{number}", number + 1
    return proposed


def small_schema(schema: object) -> dict[str, Any]:
    """Return a schema that is small enough to be kept, shown and validated against."""
    if not isinstance(schema, Mapping):
        return {}
    try:
        size = len(json.dumps(schema))
    except (TypeError, ValueError, RecursionError):
        return {}
    if size <= _LARGEST_SCHEMA:
        return dict(schema)
    given = schema.get("properties")
    names = [str(one)[:100] for one in given][:50] if isinstance(given, Mapping) else []
    return {"type": "object", "properties": {name: {} for name in names},
            "additionalProperties": True}  # fmt: skip


def resources_of(found: Iterable[Any], key: str = "uri") -> list[Resource]:
    """Return the resources, or the templates of resources."""
    return [
        Resource(
            uri=str(getattr(one, key))[:2_000],
            name=one_line(one.title or one.name or "", _LONGEST_NAME),
        )
        for one in found
    ]


def prompts_of(found: Iterable[Any]) -> list[Prompt]:
    """Return the prompts; the person types their names."""
    return [
        Prompt(
            name=one.name,
            description=one_line(one.description or one.title or "", 300),
            arguments=[
                Argument(
                    name=each.name[:_LONGEST_NAME],
                    description=one_line(each.description or "", 300),
                    required=bool(each.required),
                )
                for each in (one.arguments or [])[:20]
            ],
        )
        for one in found
        if one.name.isprintable() and 0 < len(one.name) <= _LONGEST_NAME
    ]
