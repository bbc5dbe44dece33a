"""Keeps keys out of the log: where one of the environment's stands, its name is written.

Read back where the variable is set, the entry is what it was. So no file holds a key, and yet
nothing is lost: a window's text with a key in it, which may be saved to a file, comes back whole.
"""

import json
import re

from contextui.secrets import own_secrets

SHORTEST = 16
"""Characters of a value that is taken for a key: what is shorter may be a word like any other."""

_SEAL = re.compile(r"⟦(=*)(\w+)⟧")
_SIGN = "⟦".encode()


def seal(line: str) -> str:
    """A line of JSON without keys. What looks like a seal already stays apart from one."""
    if "⟦" in line:
        line = _SEAL.sub(r"⟦=\1\2⟧", line)
    for name, value in own_secrets(SHORTEST):
        written = json.dumps(value, ensure_ascii=False)[1:-1]
        if written in line:
            line = line.replace(written, f"⟦{name}⟧")
    return line


def unseal(line: bytes) -> bytes:
    """The line as it was; of variables that are not set the names stay."""
    if _SIGN not in line:
        return line
    return _SEAL.sub(_opened, line.decode("utf-8", "surrogateescape")).encode(
        "utf-8", "surrogateescape"
    )


def _opened(match: re.Match[str]) -> str:
    if match[1]:
        return f"⟦{match[1][1:]}{match[2]}⟧"
    value = dict(own_secrets(SHORTEST)).get(match[2])
    return json.dumps(value, ensure_ascii=False)[1:-1] if value is not None else match[0]
