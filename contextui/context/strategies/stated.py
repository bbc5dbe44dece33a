"""Filling a state without a model: values as they were stated, "the city is Rome".

The offline model answers the request of `EntityExtraction` with it.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

# The request as `EntityExtraction` writes it, in both languages.
_ASKED = re.compile(
    r"(?:Schema:|模式：)\n(?P<schema>\{.*\})\n\n(?:State:|状态：)\n(?P<state>\{.*\})\n\n"
    r"(?:Said since:|此后的对话：)\n(?P<said>.*)",
    re.DOTALL,
)
_SIGN = r"\s*(?:is now|is|was|are|will be|should be|=|:|：|应该是|改为|改成|是|为)\s*"
_END = r"(?=\s+(?:and|but|then)\s|[,;.!?，；。！？](?:\s|$)|[，；。！？]|$)"
_YES, _NO = ("yes", "true", "on", "是", "对", "要"), ("no", "false", "off", "否", "不", "不要")


def stated(text: str) -> str | None:
    """Return the state that a text asks for, as JSON; None if it asks for none.

    Example:
        >>> stated('Schema:\\n{"type": "object", "properties": {"city": {"type": "string"}}}'
        ...        '\\n\\nState:\\n{}\\n\\nSaid since:\\nuser: The city is Rome.')
        '{"city": "Rome"}'
    """
    asked = _ASKED.search(text)
    if asked is None:
        return None
    try:
        properties = json.loads(asked["schema"])["properties"]
        state = dict(json.loads(asked["state"]))
    except (ValueError, KeyError, TypeError):
        return None
    for said in re.findall(r"^user: (.*)$", asked["said"], re.MULTILINE):
        for name, one in properties.items():
            if (value := _value(name, one, said)) is not None:
                state[name] = value
    return json.dumps(state, ensure_ascii=False)


def _value(name: str, one: Mapping[str, Any], said: str) -> Any:
    """Return what was said of a property; None if nothing was."""
    for choice in one.get("enum", ()):
        if re.search(rf"(?<!\w){re.escape(str(choice))}(?!\w)", said, re.IGNORECASE):
            return choice
    named = re.escape(name).replace("_", r"[ _-]")
    found = re.search(rf"(?<![a-z]){named}{_SIGN}(\S.*?){_END}", said, re.IGNORECASE)
    return _typed(str(one.get("type")), found[1].strip()) if found else None


def _typed(kind: str, text: str) -> Any:
    number = re.search(r"-?\d+(?:\.\d+)?", text)
    if kind in ("number", "integer"):
        value = float(number[0]) if number else None
        is_whole = value is not None and value.is_integer()
        return value if kind == "number" else int(value or 0) if is_whole else None
    if kind == "boolean":
        word = text.lower().split()[0]
        return True if word in _YES else False if word in _NO else None
    if kind == "array":
        return [part for one in re.split(r",| and |、|和", text) if (part := one.strip())]
    return text if kind == "string" else None
