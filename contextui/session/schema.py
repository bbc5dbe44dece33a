"""The forms of what entries say in ``data``: the gate that everything read from a log passes.

`checked` gives back the facts of one entry in the form that its kind has, or raises. So whoever
replays an entry finds every field there, of its type and within its bounds.
"""

from collections.abc import Callable, Sequence
from typing import Annotated, Any, NotRequired, TypeAlias

from pydantic import AfterValidator, Field, StringConstraints, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from contextui.context.changes import clean_blocks
from contextui.context.item import Hidden, ItemType
from contextui.errors import ContextUIError
from contextui.events import Operation
from contextui.model import Block
from contextui.names import WINDOW_ID
from contextui.windowing.snapshot import HistoryEntry, Lod

HIGHEST_SEQ = 10**8
"""No session has more items: a log of so many would have tens of gigabytes."""


class OddEntryError(ContextUIError):
    """An entry that has not the form of its kind, or does not fit what stands before it."""


def _as_blocks(blocks: Sequence[Any]) -> tuple[Block, ...]:
    try:
        return clean_blocks(blocks, ItemType.ASSISTANT)
    except ContextUIError as problem:
        raise ValueError(str(problem)) from None


def _pattern(name: str) -> Any:
    return StringConstraints(pattern=f"^(?:{name})$")


Count: TypeAlias = Annotated[int, Field(strict=True, ge=0, le=2**53)]
Change: TypeAlias = Annotated[int, Field(strict=True, ge=-(2**53), le=2**53)]
Place: TypeAlias = Annotated[int, Field(strict=True, ge=0, le=HIGHEST_SEQ)]
Seq: TypeAlias = Annotated[int, Field(strict=True, ge=1, le=HIGHEST_SEQ)]
Flag: TypeAlias = Annotated[bool, Field(strict=True)]
Ratio: TypeAlias = Annotated[float, Field(strict=True, gt=0, le=100)]
Version: TypeAlias = Annotated[str, _pattern(r"[0-9]{1,9}\.[0-9]{1,9}\.[0-9]{1,9}")]
WindowId: TypeAlias = Annotated[str, _pattern(WINDOW_ID.pattern)]
Blocks: TypeAlias = Annotated[list[Any], AfterValidator(_as_blocks)] | None
State: TypeAlias = dict[str, Any] | None


class ItemFacts(TypedDict, total=False):
    """An item, besides what its message says. Other programs' entries have no seq."""

    seq: Seq
    pinned: Flag
    gist: str | None
    hidden: Hidden | None
    text: str
    toolName: str | None


class WindowItemFacts(ItemFacts):
    """An item that refers to a window."""

    windowId: WindowId


class CallFacts(TypedDict, total=False):
    """A call. Ours stands in its answer too, and this says in which."""

    itemId: str


class SessionFacts(TypedDict, total=False):
    """The header; whether the schema is one is not a question of form."""

    schema: Any


class ChangedFields(TypedDict, total=False):
    """The values that a change gave to fields of items."""

    pinned: Flag
    hidden: Hidden | None
    content: str
    blocks: Blocks
    gist: str | None
    whole: Flag


class ChangeFacts(TypedDict):
    """Items were pinned, hidden, edited …"""

    operation: Operation
    itemIds: list[str]
    fields: ChangedFields


class CutFacts(TypedDict):
    """The conversation before this seq is left out."""

    cut: Place


class Usage(TypedDict, total=False):
    """The provider's figures."""

    input_tokens: Count | None
    output_tokens: Count | None
    cache_read_input_tokens: Count | None
    cache_creation_input_tokens: Count | None


class UsageFacts(TypedDict):
    """What a request cost that was counted as so many tokens."""

    counted: Count
    usage: Usage


class CopyFacts(TypedDict):
    """A window in the bytes of a request; without XML, as the request before had it."""

    windowId: WindowId
    version: Version
    xml: NotRequired[str]


class RequestFacts(TypedDict):
    """A request left."""

    throughSeq: Place
    carrierId: str | None
    windows: list[CopyFacts]
    waitingIds: list[str]


class DraftFacts(TypedDict):
    """What the person had typed and not sent."""

    text: str


class TurnFacts(TypedDict):
    """A turn took its final form."""

    turn: Place
    early: Flag


class BoundaryFacts(TypedDict):
    """A summary stands for items."""

    itemIds: list[str]
    summaryId: str


class WindowFacts(TypedDict):
    """Something about a window."""

    windowId: WindowId


class ActedFacts(WindowFacts):
    """An action was carried out."""

    action: str
    text: str
    focusId: NotRequired[str | None]


class StateFacts(WindowFacts):
    """How a window stands."""

    version: Version
    lod: Lod
    state: State


class OpenedFacts(StateFacts):
    """A window was opened."""

    name: str
    render: NotRequired[str | None]
    focusId: NotRequired[str | None]


class ClosedFacts(WindowFacts):
    """A window was closed."""

    render: str | None


class KeptWindow(StateFacts):
    """A window as a checkpoint has it."""

    name: str
    history: list[HistoryEntry]
    focusId: NotRequired[str | None]


class KeptItem(ChangedFields):
    """An item as a checkpoint has it, besides what its own entry says."""

    id: str
    seq: Seq
    open: NotRequired[Flag]


class BeforeFacts(TypedDict):
    """How an item was before a change."""

    id: str
    pinned: Flag
    hidden: Hidden | None
    gist: str | None
    whole: NotRequired[Flag]
    content: NotRequired[str]
    blocks: NotRequired[Blocks]


class CheckpointFacts(TypedDict):
    """How everything stands."""

    seq: Place
    cut: Place
    turn: Place
    ratio: Ratio
    items: list[tuple[Count, KeptItem]]
    rest: tuple[Change, Change, Change]
    folds: NotRequired[dict[str, str]]
    undo: list[list[BeforeFacts] | BoundaryFacts]
    windows: list[KeptWindow]
    used: list[str]
    numbers: dict[str, Count]
    closed: list[Count]
    draft: NotRequired[str]
    digest: NotRequired[str]


_Form: TypeAlias = Callable[[Any], Any]


def _form(kind: Any) -> _Form:
    adapter: TypeAdapter[Any] = TypeAdapter(kind)
    return adapter.validator.validate_python


_ITEM, _CALL = _form(ItemFacts), _form(CallFacts)
_FORMS: dict[str, _Form] = {
    "prompt": _ITEM,
    "window_item": _form(WindowItemFacts),
    "session": _form(SessionFacts),
    "change": _form(ChangeFacts),
    "cut": _form(CutFacts),
    "usage": _form(UsageFacts),
    "request": _form(RequestFacts),
    "draft": _form(DraftFacts),
    "turn_end": _form(TurnFacts),
    "compact_boundary": _form(BoundaryFacts | None),
    "window_opened": _form(OpenedFacts),
    "window_state": _form(StateFacts),
    "window_acted": _form(ActedFacts),
    "window_focused": _form(WindowFacts),
    "window_closed": _form(ClosedFacts),
    "checkpoint": _form(CheckpointFacts),
}


def checked(kind: object, subtype: object, data: Any) -> Any:
    """The facts of an entry in the form of its kind; None if it has none.

    Raises:
        OddEntryError: They do not have that form; the text says where.
    """
    form = _FORMS.get(subtype) if isinstance(subtype, str) else None
    if form is None:
        if data is None or kind == "system":
            return None  # another program's entry, or one of a kind that is not known here
        form = _CALL if kind == "tool_use" else _ITEM
    try:
        return form(data)
    except ValidationError as problem:
        raise OddEntryError(where_odd(problem, "data")) from problem


def where_odd(problem: ValidationError, start: str = "") -> str:
    """Name the first field that is odd, and say why."""
    first = problem.errors(include_url=False, include_context=False, include_input=False)[0]
    place = ".".join([*([start] if start else []), *map(str, first["loc"])][:6]) or "entry"
    return f"{place}: {first['msg']}"
