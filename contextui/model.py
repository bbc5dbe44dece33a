"""The messages that a model is sent."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Role = Literal["system", "user", "assistant"]

Block = Mapping[str, Any]
"""One part of a message in the provider's own JSON form (text, tool_use, tool_result,
thinking …). It is kept and sent back verbatim, so it stays the provider's mapping."""


@dataclass(frozen=True, slots=True)
class LlmMessage:
    """One message: who speaks, and plain text or blocks.

    Example:
        >>> LlmMessage("user", "Add milk.")
        LlmMessage(role='user', content='Add milk.')
    """

    role: Role
    content: str | tuple[Block, ...]
