"""The languages that code is kept in."""

import logging
from collections.abc import Mapping

from contextui.text import quote

LANGUAGES: Mapping[str, str] = {
    "python": "py",
    "javascript": "js",
    "typescript": "ts",
    "html": "html",
    "css": "css",
    "sql": "sql",
    "shell": "sh",
    "bash": "sh",
    "markdown": "md",
    "json": "json",
    "yaml": "yaml",
    "xml": "xml",
    "r": "r",
    "java": "java",
    "c": "c",
    "c++": "cpp",
    "go": "go",
    "rust": "rs",
    "php": "php",
    "ruby": "rb",
}
"""The languages, and how the names of their files end."""

OF_ENDING = {ending: name for name, ending in LANGUAGES.items() if name != "bash"}
"""The languages by the endings."""

_ALIASES = {**OF_ENDING, "yml": "yaml", "golang": "go", "python3": "python"}
_log = logging.getLogger(__name__)


def is_known(asked: str) -> bool:
    """Whether code can be kept in a language of this name."""
    name = asked.strip().lower()
    return name in LANGUAGES or name in _ALIASES


def known_language(asked: str) -> tuple[str, str]:
    """The language to keep code as, and what is to be said about that."""
    name = asked.strip().lower()
    name = name if name in LANGUAGES else _ALIASES.get(name, "")
    if name:
        return name, ""
    note = f"There is no language {quote(asked)}, so it is kept as python."
    _log.warning(note)
    return "python", note
