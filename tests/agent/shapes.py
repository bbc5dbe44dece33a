"""What the Messages API refuses, written from its published rules and its SDK's types.

It looks at a request as it goes over the wire, and knows nothing of how requests are made here.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Payload = Mapping[str, Any]

_ID = re.compile(r"[a-zA-Z0-9_-]+")
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")  # as JSON writes it, not a backslash before "u0000"
_MOST_MARKS = 4
_MARKS = [{"type": "ephemeral"}, *({"type": "ephemeral", "ttl": ttl} for ttl in ("5m", "1h"))]
_MOST_MESSAGES = 100_000

_MARKED = {"type", "cache_control"}
_FIELDS: dict[str, tuple[set[str], set[str]]] = {  # needed, allowed beside these
    "text": ({"text"}, {"citations"}),
    "thinking": ({"thinking", "signature"}, set()),
    "redacted_thinking": ({"data"}, set()),
    "tool_use": ({"id", "name", "input"}, {"caller", "toolset_name"}),
    "tool_result": ({"tool_use_id"}, {"content", "is_error", "toolset_name"}),
    "image": ({"source"}, {"transformations"}),
    "document": ({"source"}, {"citations", "context", "title"}),
    "search_result": ({"content", "source", "title"}, {"citations"}),
}
_TEXTS = {"text", "thinking", "signature", "data", "id", "name", "tool_use_id"}
_THINKING = {"thinking", "redacted_thinking"}
_OF_USER = {"text", "tool_result", "image", "document", "search_result"}
_OF_ASSISTANT = {"text", "thinking", "redacted_thinking", "tool_use"}
_IN_RESULT = {"text", "image", "document", "search_result"}


def violations(payload: Payload, *, continues: bool = False) -> list[str]:
    """What the API would refuse about a request; nothing if it can be sent.

    Args:
        payload: The body of the request.
        continues: The last message may be the assistant's, for the model to go on with.
    """
    try:
        written = json.dumps(payload, allow_nan=False, ensure_ascii=False)
        written.encode()
    except (TypeError, ValueError, RecursionError) as error:  # a lone surrogate is a ValueError
        return [f"it is no JSON: {error}"]
    found = ["there is a NUL in it"] if "u0000" in written and _NUL.search(written) else []
    return [*found, *_about(json.loads(written), continues)]


def _about(payload: Payload, continues: bool) -> Iterator[str]:
    limit = payload.get("max_tokens")
    if type(limit) is not int or limit < 1:
        yield f"max_tokens is {limit!r}"
    yield from _about_system(payload.get("system"))
    yield from _about_tools(payload.get("tools", []))
    messages = payload.get("messages")
    if not isinstance(messages, list) or not 0 < len(messages) <= _MOST_MESSAGES:
        yield "there are no messages, or too many"
        return
    yield from _about_marks(payload)
    yield from _about_roles(messages, continues)
    unfit = [line for number, one in enumerate(messages) for line in _about_message(number, one)]
    yield from unfit or [*_about_calls(messages), *_about_end(messages[-1])]


def _about_system(system: Any) -> Iterator[str]:
    if isinstance(system, list):
        for number, block in enumerate(system):
            yield from _about_block(f"system.{number}", block, {"text"})
    elif system is not None and not (isinstance(system, str) and system.strip()):
        yield "system is neither text nor text blocks"


def _about_tools(tools: Any) -> Iterator[str]:
    names = Counter(tool.get("name") for tool in tools)
    yield from (f"two tools are called {name}" for name, count in names.items() if count > 1)
    for number, tool in enumerate(tools):
        if not isinstance(tool.get("name"), str) or not _NAME.fullmatch(tool["name"]):
            yield f"tools.{number}: {tool.get('name')!r} is no name"
        schema = tool.get("input_schema")
        if not isinstance(schema, dict) or schema.get("type") != "object":
            yield f"tools.{number}: the schema is not that of an object"


def _about_roles(messages: Sequence[Any], continues: bool) -> Iterator[str]:
    roles = [one.get("role") for one in messages]
    for number, role in enumerate(roles):
        if role != ("user", "assistant")[number % 2]:
            yield f"messages.{number} is of the {role}"
    if roles[-1] != "user" and not continues:
        yield "the last message is not the user's"


def _about_end(message: Payload) -> Iterator[str]:
    words = message["content"][-1].get("text", "")
    if message["role"] == "assistant" and words != words.rstrip():
        yield "the last message is the assistant's and ends in white space"


def _about_message(number: int, message: Payload) -> Iterator[str]:
    content, is_user = message.get("content"), message.get("role") == "user"
    if message.keys() != {"role", "content"} or not isinstance(content, list) or not content:
        yield f"messages.{number} is not made of blocks"
        return
    for position, block in enumerate(content):
        allowed = _OF_USER if is_user else _OF_ASSISTANT
        yield from _about_block(f"messages.{number}.{position}", block, allowed)
    if not is_user and content[-1].get("type") in _THINKING:
        yield f"messages.{number} ends in thinking"


def _about_block(where: str, block: Any, allowed: set[str]) -> Iterator[str]:
    kind = block.get("type") if isinstance(block, dict) else None
    if kind not in allowed:
        yield f"{where}: a block of the type {kind!r} cannot stand here"
        return
    needed, possible = _FIELDS[kind]
    if not needed <= block.keys() <= needed | possible | _MARKED:
        yield f"{where}: {kind} has the fields {sorted(block)}"
        return
    for name in needed & _TEXTS:
        if not isinstance(block[name], str):
            yield f"{where}: {name} is no text"
            return
    match kind:
        case "text" if not block["text"].strip():
            yield f"{where}: the text is empty"
        case "tool_use":
            yield from _about_call(where, block)
        case "tool_result":
            yield from _about_result(where, block)


def _about_call(where: str, block: Payload) -> Iterator[str]:
    if not _ID.fullmatch(block["id"]):
        yield f"{where}: {block['id']!r} is no id"
    if not _NAME.fullmatch(block["name"]):
        yield f"{where}: {block['name']!r} is no name"
    if not isinstance(block["input"], dict):
        yield f"{where}: the input is no object"


def _about_result(where: str, block: Payload) -> Iterator[str]:
    content, is_error = block.get("content", ""), block.get("is_error", False)
    if not isinstance(is_error, bool):
        yield f"{where}: is_error is {is_error!r}"
    if not isinstance(content, str | list):
        yield f"{where}: the content is neither text nor blocks"
    elif is_error and not content:
        yield f"{where}: an error needs content"
    elif isinstance(content, str):
        if content and not content.strip():
            yield f"{where}: the content is blank"
    else:
        for position, inner in enumerate(content):
            allowed = {"text"} if is_error is True else _IN_RESULT
            yield from _about_block(f"{where}.{position}", inner, allowed)


def _about_calls(messages: Sequence[Payload]) -> Iterator[str]:
    """Each call is answered once, at the beginning of the next message, and nothing else is."""
    seen: set[str] = set()
    asked: list[str] = []
    for number, message in enumerate(messages):
        blocks = message["content"]
        answered = [one["tool_use_id"] for one in blocks if one["type"] == "tool_result"]
        if sorted(answered) != sorted(asked):
            yield f"messages.{number} answers {answered}, asked was {asked}"
        if any(one["type"] != "tool_result" for one in blocks[: len(answered)]):
            yield f"messages.{number} does not begin with its results"
        asked = [one["id"] for one in blocks if one["type"] == "tool_use"]
        if not seen.isdisjoint(asked) or len(set(asked)) < len(asked):
            yield f"messages.{number} uses an id again: {asked}"
        seen.update(asked)
    if asked:
        yield f"{asked} have no results"


def _about_marks(payload: Payload) -> Iterator[str]:
    marked = list(_marked(payload))
    if len(marked) > _MOST_MARKS:
        yield f"there are {len(marked)} cache marks"
    for block in marked:
        mark = block["cache_control"]
        if mark not in _MARKS:
            yield f"{mark!r} is no cache mark"
        if block.get("type") in _THINKING or not block.get("text", "-"):
            yield f"a cache mark cannot stand on {block.get('type')}"


def _marked(payload: Payload) -> Iterator[Payload]:
    """Every block with a cache mark; what looks like one in a call's input is none."""
    system = payload.get("system")
    blocks = [*payload.get("tools", []), *(system if isinstance(system, list) else [])]
    for message in payload["messages"]:
        content = message.get("content")
        blocks += content if isinstance(content, list) else []
    for block in list(blocks):
        inner = block.get("content") if isinstance(block, dict) else None
        blocks += inner if isinstance(inner, list) else []
    yield from (one for one in blocks if isinstance(one, dict) and one.get("cache_control"))
