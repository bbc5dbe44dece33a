"""What a turn gives to programs: one object at its end, one for each of its events."""

import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from contextui.agent.events import TurnFinished
from contextui.events import Event
from contextui.model import Usage
from contextui.secrets import mask
from contextui.session.session import Session

_WORD = re.compile(r"(?<!^)(?=[A-Z])")


def result_of(finished: TurnFinished, session: Session) -> dict[str, Any]:
    """The object at the end of a turn."""
    data = {
        "result": finished.text,
        "session_id": session.id,
        "stop_reason": finished.stop_reason or None,
        "steps": finished.steps,
        "usage": finished.usage.as_dict(),
        "windows": [
            {
                "id": window.id,
                "name": window.name,
                "lod": window.lod.value,
                "state": window.runtime.kept.state,
            }
            for window in session.windows.windows()
        ],
        "is_error": finished.is_error,
        "reason": finished.reason,
    }
    return data | ({"error": mask(finished.explanation)} if finished.is_error else {})


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
    return value
