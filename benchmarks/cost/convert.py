"""Convert trajectories of mini-swe-agent and session files of Claude Code to recorded runs.

Texts are counted with the project's own tokenizer and then left out: a converted run holds sizes
and times only.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from benchmarks.cost.runs import FORMAT, Call, Reader, Run, RunError, parse_json, parse_run
from benchmarks.cost.runs import read_text as read_file
from contextui.tokens import TokenCounter

GIST_FRAME = 25
"""Tokens of a gist beside the first line of what it replaces: the call, the size, how to see it."""

_FIRST_LINE = 80  # characters of the first line that a gist repeats
_ACTION = re.compile(r"```(?:bash|mswea_bash_command)\s*\n(.*?)\n```", re.DOTALL)
_counter = TokenCounter()


def load_runs(path: Path) -> list[Run]:
    """Read a recorded run, a mini-swe-agent trajectory or a Claude Code session.

    Args:
        path: The file; its content decides what it is. A session that was compacted gives one run
            for each part.

    Raises:
        RunError: It is none of them, or it is damaged.
    """
    text, where = read_file(path), str(path)
    if path.suffix == ".jsonl":
        lines = [line for line in text.splitlines() if line.strip()]
        if lines and f'"format": "{FORMAT}"' in lines[0]:
            return [
                parse_run(parse_json(line, f"{where}, run {number}"), f"{where}, run {number}")
                for number, line in enumerate(lines, 1)
            ]
        return claude_code_runs(text, where)
    value = parse_json(text, where)
    if isinstance(value, Mapping) and value.get("format") == FORMAT:
        return [parse_run(value, where)]
    messages = value.get("messages") if isinstance(value, Mapping) else value
    if not isinstance(messages, list):
        raise RunError(f"{where}: it is neither a recorded run nor a list of messages")
    return [mini_swe_agent_run(messages, where)]


def gist_size(text: str) -> int:
    """Estimate the tokens of the gist that can replace a result."""
    lines = text.strip().splitlines()
    return GIST_FRAME + _counter.count(lines[0][:_FIRST_LINE] if lines else "")


def _text_of(content: object) -> str:
    """Return the text of a message's content, which is a text or a list of blocks."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    texts = (one.get("text") for one in blocks if isinstance(one, Mapping))
    return "\n".join(text for text in texts if isinstance(text, str))


# --- mini-swe-agent ------------------------------------------------------------------------


def mini_swe_agent_run(messages: Sequence[object], where: str) -> Run:
    """Convert the messages of a trajectory (``*.traj.json``).

    Supported are tool calls (`tool_calls`, results with the role ``tool``) and commands in fenced
    code, whose output is the next user message.

    Args:
        messages: The list of messages.
        where: The file, for errors.

    Raises:
        RunError: A message has no known role, or a result answers no call.
    """
    reader, head, waiting, start = Reader(where), 0, list[str](), None
    for number, message in enumerate(messages, 1):
        reader.where = f"{where}, message {number}"
        if not isinstance(message, Mapping):
            reader.fail("a message must be an object")
        extra, text = message.get("extra"), _text_of(message.get("content"))
        stamp = extra.get("timestamp") if isinstance(extra, Mapping) else None
        time = float(stamp) if isinstance(stamp, int | float) and math.isfinite(stamp) else None
        if time is not None:
            start = time if start is None else start
            time -= start
        match message.get("role"):
            case "system":
                head += _counter.count(text)
            case "assistant":
                calls = list(_calls_of(message, text, number))
                waiting = [call.id for call in calls]
                thinking = message.get("reasoning_content")
                size = _counter.count(thinking) if isinstance(thinking, str) else 0
                is_in_text = not message.get("tool_calls")
                inside = sum(call.tokens for call in calls) if is_in_text else 0
                reader.answer(max(0, _counter.count(text) - inside), size, calls, time)
            case "tool":
                call = str(message.get("tool_call_id"))
                reader.result(call, _counter.count(text), gist_size(text), time)
            case "user" if waiting and reader.knows(waiting[0]) and not _is_complaint(extra):
                reader.result(waiting.pop(0), _counter.count(text), gist_size(text), time)
            case "user":
                reader.words(_counter.count(text), time)
            case "exit":
                break
            case other:
                reader.fail(f"role must be system, user, assistant, tool or exit, not {other!r}")
    reader.where = where
    return reader.run(Path(where).name.removesuffix(".traj.json"), head)


def _is_complaint(extra: object) -> bool:
    """Whether a message complains about an answer instead of giving the output of its command."""
    return isinstance(extra, Mapping) and "interrupt_type" in extra


def _calls_of(message: Mapping[str, Any], text: str, number: int) -> Iterator[Call]:
    """Yield the calls of an answer: tool calls, or else commands within its text."""
    made = [one for one in message.get("tool_calls") or () if isinstance(one, Mapping)]
    for index, one in enumerate(made):
        function = one.get("function")
        given = function if isinstance(function, Mapping) else {}
        size = _counter.count(f"{given.get('name')} {given.get('arguments')}")
        yield Call(str(one.get("id") or f"m{number}.{index}"), size)
    if made:
        return
    extra = message.get("extra")
    listed = extra.get("actions") if isinstance(extra, Mapping) else None
    actions = (
        [one for one in listed if isinstance(one, Mapping)] if isinstance(listed, list) else []
    )
    commands = [str(one.get("command")) for one in actions] or _ACTION.findall(text)
    for index, command in enumerate(commands):
        yield Call(f"m{number}.{index}", _counter.count(command))


# --- Claude Code ---------------------------------------------------------------------------


@dataclass(slots=True)
class _Reply:
    """An answer that is written on several lines, one for each block."""

    id: str
    time: float | None
    text: int = 0
    thinking: int = 0
    calls: list[Call] = field(default_factory=list)
    prompt: int = 0  # tokens of the request, as the provider reported them


@dataclass(slots=True)
class _Line:
    """What a user line adds: words and results."""

    time: float | None
    words: int = 0
    results: list[tuple[str, int, int]] = field(default_factory=list)


def claude_code_runs(text: str, where: str) -> list[Run]:
    """Convert a session (``~/.claude/projects/*/*.jsonl``).

    Lines of subagents, of errors and of the program itself are left out. The head is not recorded;
    it is what the first request had beside its words, by the usage that the provider reported.

    Args:
        text: The lines of the file.
        where: The file, for errors.

    Raises:
        RunError: A line is not JSON or has no message, or there is no answer.
    """
    parts: list[list[_Reply | _Line]] = [[]]
    replies: dict[str, _Reply] = {}
    seen: set[str] = set()
    start: float | None = None
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        at = f"{where}, line {number}"
        entry = parse_json(line, at)
        if not isinstance(entry, Mapping):
            raise RunError(f"{at}: a line must be an object")
        if entry.get("subtype") == "compact_boundary":
            parts.append([])
        uuid = entry.get("uuid")
        if not _reaches_model(entry) or uuid in seen:
            continue
        if isinstance(uuid, str):
            seen.add(uuid)
        message = entry.get("message")
        if not isinstance(message, Mapping):
            raise RunError(f"{at}: it has no message")
        time = _seconds(entry.get("timestamp"))
        start = time if start is None else start
        time = time - start if time is not None and start is not None else None
        if entry["type"] == "user":
            parts[-1].append(_read_user(message.get("content"), time))
            continue
        name = str(message.get("id") or f"line {number}")
        if name not in replies:
            replies[name] = _Reply(name, time)
            parts[-1].append(replies[name])
        _read_reply(message, replies[name])
    name = Path(where).stem
    answered = [part for part in parts if any(isinstance(one, _Reply) for one in part)]
    if not answered:
        raise RunError(f"{where}: there is no answer in it")
    names = [name] if len(answered) == 1 else [f"{name} {at}" for at in range(1, len(answered) + 1)]
    return [_assemble(part, where, name) for part, name in zip(answered, names, strict=True)]


def _reaches_model(entry: Mapping[str, Any]) -> bool:
    """Whether a line is part of the conversation with the model itself."""
    if entry.get("type") not in ("user", "assistant") or entry.get("isSidechain"):
        return False
    message = entry.get("message")
    is_synthetic = isinstance(message, Mapping) and message.get("model") == "<synthetic>"
    return not is_synthetic and not entry.get("isApiErrorMessage")


def _seconds(stamp: object) -> float | None:
    try:
        return datetime.fromisoformat(stamp).timestamp() if isinstance(stamp, str) else None
    except ValueError:
        return None


def _read_user(content: object, time: float | None) -> _Line:
    line = _Line(time)
    if isinstance(content, str):
        line.words = _counter.count(content)
        return line
    for block in content if isinstance(content, list) else []:
        if not isinstance(block, Mapping):
            continue
        size = _counter.count_content([block])
        if block.get("type") == "tool_result":
            gist = gist_size(_text_of(block.get("content")))
            line.results.append((str(block.get("tool_use_id")), size, gist))
        else:
            line.words += size
    return line


def _read_reply(message: Mapping[str, Any], reply: _Reply) -> None:
    """Add the blocks of one line to an answer."""
    if not reply.prompt and isinstance(usage := message.get("usage"), Mapping):
        names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
        counts = (usage.get(name) for name in names)
        reply.prompt = sum(count for count in counts if isinstance(count, int))
    content = message.get("content")
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    for block in content if isinstance(content, list) else []:
        if not isinstance(block, Mapping):
            continue
        size = _counter.count_content([block])
        match block.get("type"):
            case "tool_use":
                identifier = str(block.get("id"))
                if all(call.id != identifier for call in reply.calls):
                    reply.calls.append(Call(identifier, size))
            case "thinking" | "redacted_thinking":
                reply.thinking += size
            case _:
                reply.text += size


def _assemble(part: Sequence[_Reply | _Line], where: str, name: str) -> Run:
    """Build a run from the lines of one part of a session."""
    reader, head, words = Reader(where), 0, 0
    is_first = True
    for one in part:
        if isinstance(one, _Reply):
            if is_first:
                head, is_first = max(0, one.prompt - words), False
            reader.answer(one.text, one.thinking, one.calls, one.time)
            continue
        for call, size, gist in one.results:
            if reader.knows(call):
                reader.result(call, size, gist, one.time)
            else:  # its call is in a part before, or was left out
                reader.words(size, one.time)
        if one.words:
            reader.words(one.words, one.time)
        words += one.words + sum(size for _, size, _ in one.results)
    return reader.run(name, head)
