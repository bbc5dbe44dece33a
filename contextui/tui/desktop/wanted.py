"""What a body asks its frame for."""

from collections.abc import Mapping
from typing import Any

from textual.message import Message


class ActionWanted(Message):
    """The person wants an action of the window, or of one of its anchors, carried out.

    Any widget that a window brings may post it. The frame carries the action out in the person's
    name and tells in its last row what came of it.

    Example:
        >>> self.post_message(ActionWanted("done", {"item": 3}))
    """

    def __init__(self, action_id: str, params: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        self.action_id = action_id
        self.params: Mapping[str, Any] = params or {}
