"""One item of the context, and the stages it goes through."""

import uuid
from dataclasses import dataclass, field
from enum import Enum, StrEnum, auto
from typing import Any, Literal, NamedTuple, TypeAlias

from contextui.errors import InvalidItemError
from contextui.model import Block
from contextui.text import quote
from contextui.windowing.snapshot import ContextVersion


class ItemType(StrEnum):
    """What an item is."""

    SYSTEM = "System"
    USER = "User"
    ASSISTANT = "Assistant"
    WINDOW = "Window"
    TOOL = "Tool"


class Stage(Enum):
    """How far an item has come. A turn's items go from NEW to SENT as requests carry them, and
    all of them to FINAL when the turn ends; from then on their bytes never change."""

    NEW = auto()
    SENT = auto()
    FINAL = auto()


Hidden: TypeAlias = Literal["closed", "replaced", "dropped", "trimmed", "compacted"]
"""Why an item is left out: its window was closed, a newer reference to that window took its
place, a person dropped it, there was no room, or a summary stands for it."""


class Carried(NamedTuple):
    """A copy of a window, fixed in the bytes of a request that was sent."""

    window_id: str
    version: ContextVersion
    xml: str


class Face(NamedTuple):
    """What of an item goes into a request."""

    content: str
    blocks: tuple[Block, ...] | None
    hidden: Hidden | None
    gist: str | None


def new_id() -> str:
    """An id that no other item has."""
    return uuid.uuid4().hex


@dataclass(frozen=True, slots=True, eq=False)
class ContextItem:
    """One item: the system prompt, words, an answer, a tool's result, or a window.

    It is read-only. Its manager gives the seq (a caller's own is ignored) and makes every
    change, so that whoever listens hears of it.

    Attributes:
        type: What it is.
        content: Its text; of a window the id only, as the content is live.
        id: Unique among all items.
        seq: Its place in logical time, 0 before it is added.
        pinned: Never left out to make room.
        hidden: Why it is left out, None if it is not.
        blocks: The provider's own blocks of an answer, verbatim.
        tool_call_id: The call that a tool's result answers.
        tool_name: The tool that gave the result.
        is_error: Whether the tool failed.
        gist: The line that stands for the content once the turn is over.
        stage: How far it has come.
        carried: The windows that were sent with it in the turn under way.
        held: What was sent of it, if it was changed since within the turn under way.

    Example:
        >>> context.add(ContextItem(ItemType.USER, "Add milk.")).seq
        1
    """

    type: ItemType
    content: str = ""
    id: str = field(default_factory=new_id)
    seq: int = 0
    pinned: bool = False
    hidden: Hidden | None = None
    blocks: tuple[Block, ...] | None = None
    tool_call_id: str | None = None
    tool_name: str | None = None
    is_error: bool = False
    gist: str | None = None
    stage: Stage = Stage.NEW
    carried: tuple[Carried, ...] = ()
    held: Face | None = None

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "type", ItemType(self.type))
        except ValueError:
            kinds = ", ".join(kind.value for kind in ItemType)
            raise InvalidItemError(
                f"{quote(str(self.type))} is no type of item. There is: {kinds}."
            ) from None

    @property
    def is_obsolete(self) -> bool:
        """Whether it is left out, for whatever reason."""
        return self.hidden is not None

    @property
    def face(self) -> Face:
        """What goes into a request: while a turn is under way, what its first request had."""
        return self.held or self.current_face

    @property
    def current_face(self) -> Face:
        """What goes into the next turn's requests."""
        return Face(self.content, self.blocks, self.hidden, self.gist)

    @property
    def calls(self) -> tuple[str, ...]:
        """The ids of the tool calls in it."""
        return tuple(
            block["id"] for block in self.face.blocks or () if block.get("type") == "tool_use"
        )


def is_conversation(item: ContextItem) -> bool:
    """Whether it is a part of what person, model and tools say to each other."""
    return item.type not in (ItemType.SYSTEM, ItemType.WINDOW)


def assign(item: ContextItem, **changes: Any) -> None:
    """Change an item in place. For its manager alone: everyone else asks the manager."""
    for name, value in changes.items():
        object.__setattr__(item, name, value)
