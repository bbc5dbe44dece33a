"""A state without a model: of each property what was said behind its name."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

_ASKED = re.compile(
    r"(?:Schema:|模式：)\n(?P<schema>\{.*\})\n\n"
    r"(?:State:|状态：)\n(?P<state>\{.*\})\n\n"
    r"(?:Said since:|此后的对话：)\n(?P<said>.*)",
    re.DOTALL,
)
_PERSON = re.compile(r"^user: (.*)$", re.MULTILINE)
_SIGN = r"\s*(?:is now|is|was|are|will be|should be|=|:|：|应该是|改为|改成|是|为)\s*"
_END = r"(?=\s+(?:and|but|then)\s|[,;.!?，；。！？](?:\s|$)|[，；。！？]|$)"
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_YES = ("yes", "true", "on", "是", "对", "要")
_NO = ("no", "false", "off", "否", "不", "不要")


def filled_state(words: str) -> str | None:
    """The state that the words ask for, as JSON; None if they ask for none.

    Example:
        >>> filled_state('Schema:\\n{"type": "object", "properties": {"city": {"type": "string"}}}'
        ...              '\\n\\nState:\\n{}\\n\\nSaid since:\\nuser: The city is Rome.')
        '{"city": "Rome"}'
    """
    asked = _ASKED.search(words)
    if asked is None:
        return None
    try:
        properties = json.loads(asked["schema"])["properties"]
        state = dict(json.loads(asked["state"]))
    except (ValueError, KeyError, TypeError):
        return None
    for said in _PERSON.findall(asked["said"]):
        for name, one in properties.items():
            value = _value(name, one, said)
            if value is not None:
                state[name] = value
    return json.dumps(state, ensure_ascii=False)


def _value(name: str, one: Mapping[str, Any], said: str) -> Any:
    """What was said of a property; None if nothing was."""
    for choice in one.get("enum", ()):
        if re.search(rf"(?<!\w){re.escape(str(choice))}(?!\w)", said, re.IGNORECASE):
            return choice
    named = re.escape(name).replace("_", r"[ _-]")
    found = re.search(rf"(?<![a-z]){named}{_SIGN}(\S.*?){_END}", said, re.IGNORECASE)
    read = _READ.get(str(one.get("type")))
    return read(found[1].strip()) if found and read else None


def _number(text: str) -> float | None:
    found = _NUMBER.search(text)
    return float(found[0]) if found else None


def _integer(text: str) -> int | None:
    number = _number(text)
    return int(number) if number is not None and number.is_integer() else None


def _boolean(text: str) -> bool | None:
    word = text.lower().split()[0]
    return True if word in _YES else False if word in _NO else None


def _array(text: str) -> list[str]:
    return [one.strip() for one in re.split(r",| and |、|和", text) if one.strip()]


_READ: dict[str, Callable[[str], Any]] = {
    "string": str,
    "number": _number,
    "integer": _integer,
    "boolean": _boolean,
    "array": _array,
}
