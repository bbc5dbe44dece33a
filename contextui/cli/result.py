"""What a turn gives to programs: one object at its end, one for each of its events."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any

from contextui.agent.events import ActionRefused, TurnFinished
from contextui.agent.turn import TurnOptions
from contextui.cli.words import counted, in_ours, words
from contextui.events import Event
from contextui.model import Usage
from contextui.secrets import mask, mask_own
from contextui.session.session import Session

_WORD = re.compile(r"(?<!^)(?=[A-Z])")


@dataclass(frozen=True, slots=True)
class Told:
    """All there is to tell at the end of a turn.

    Attributes:
        finished: How it ended.
        session: Where it stands.
        explanation: What the person should know about the end, empty if all went well.
        notices: What they were told beside it.
        refused: The actions that were not allowed.
    """

    finished: TurnFinished
    session: Session
    explanation: str = ""
    notices: tuple[str, ...] = ()
    refused: tuple[ActionRefused, ...] = ()


def explained(finished: TurnFinished, options: TurnOptions, session: Session) -> str:
    """What the person should know about the end; how to go on is told as a command."""
    match finished.reason:
        case "paused":
            steps = counted(options.max_steps, "{count} step", "{count} steps")
            said = words("The turn paused after {steps}.", steps=steps)
        case "cut_off":
            tokens = f"{options.max_tokens:,}"
            said = words("The answer was cut off at {tokens} tokens.", tokens=tokens)
        case _:
            return in_ours(finished.explanation)
    which = "-c" if session.cwd == str(Path.cwd()) else f"-r {session.id}"
    command = f'contextui {which} -p "{words("go on")}"'
    return said + words(" Let it go on: {command}", command=command)


def result_of(told: Told) -> dict[str, Any]:
    """The object at the end of a turn."""
    finished, session = told.finished, told.session
    data = {
        "result": mask_own(finished.text),
        "session_id": session.id,
        "stop_reason": finished.stop_reason or None,
        "steps": finished.steps,
        "usage": finished.usage.as_dict(),
        "windows": [
            {
                "id": window.id,
                "name": window.name,
                "lod": window.lod.value,
                "state": _plain(window.runtime.standing.kept.state),
            }
            for window in session.windows.windows()
        ],
        "is_error": finished.is_error,
        "reason": finished.reason,
        "saved": not session.unsaved,
        "notices": [mask(notice) for notice in told.notices],
        "refused": [_plain(one) for one in told.refused],
    }
    return data | ({"error": mask(told.explanation)} if finished.is_error else {})


def not_started(error: str) -> dict[str, Any]:
    """The same where there was no turn."""
    return {
        "result": "",
        "session_id": None,
        "stop_reason": None,
        "steps": 0,
        "usage": Usage().as_dict(),
        "windows": [],
        "is_error": True,
        "reason": "not_started",
        "saved": False,
        "notices": [],
        "refused": [],
        "error": mask(error),
    }


def event_data(event: Event) -> dict[str, Any]:
    """An event as an object: its type in snake_case, then its fields."""
    kind = _WORD.sub("_", type(event).__name__).lower()
    return {"type": kind, **_plain(event)}


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: _plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return mask_own(value) if isinstance(value, str) else value
