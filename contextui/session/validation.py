"""Log entry schemas: validation of everything read back from a log.

`checked` returns the ``data`` of one entry in the form of its kind, or raises. So replay can rely
on every field being present, typed and within bounds. What is not declared here is dropped. The
entries are written by `contextui.session.record`, checkpoints by `checkpoint`.
"""

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal, NotRequired, TypeAlias

from pydantic import AfterValidator, Field, StringConstraints, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from contextui.context.item import Hidden, ItemType, clean_blocks
from contextui.errors import ContextUIError
from contextui.events import Operation, Reason
from contextui.model import Block
from contextui.names import WINDOW_ID
from contextui.session.lines import DamagedLineError
from contextui.windowing.snapshot import HistoryEntry, Lod

HIGHEST_SEQ = 10**8
"""Upper bound of seq: a log with so many items would have tens of gigabytes."""


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
Dollars: TypeAlias = Annotated[float, Field(ge=0, le=2**53, allow_inf_nan=False)]
Ratio: TypeAlias = Annotated[float, Field(strict=True, gt=0, le=100)]
Version: TypeAlias = Annotated[str, _pattern(r"[0-9]{1,9}\.[0-9]{1,9}\.[0-9]{1,9}")]
WindowId: TypeAlias = Annotated[str, _pattern(WINDOW_ID.pattern)]
Digest: TypeAlias = Annotated[str, _pattern("[0-9a-f]{64}")]
Blocks: TypeAlias = Annotated[list[Any], AfterValidator(_as_blocks)] | None
State: TypeAlias = dict[str, Any] | None


class OutcomeFacts(TypedDict, total=False):
    """What is known of a tool's call beside its result: fields of `CallFinished`."""

    allowed: Flag
    added: Count
    removed: Count
    seconds: Dollars
    status: Change
    ran: str
    refused: Flag


class ItemFacts(TypedDict, total=False):
    """An item, without its message. Entries of other programs have no seq."""

    seq: Seq
    pinned: Flag
    gist: str | None
    hidden: Hidden | None
    text: str
    toolName: str | None
    outcome: OutcomeFacts


class WindowItemFacts(ItemFacts):
    """An item that refers to a window."""

    windowId: WindowId


class CallFacts(TypedDict, total=False):
    """A tool call. Our own are also part of an answer, and `itemId` names that."""

    itemId: str


class SessionFacts(TypedDict, total=False):
    """The header of a log; `check_schema` and `origin_of` check its values."""

    schema: Any
    parent: Any
    turn: Any


class ChangedFields(TypedDict, total=False):
    """The values that a change assigned to fields of items."""

    pinned: Flag
    hidden: Hidden | None
    content: str
    blocks: Blocks
    gist: str | None
    whole: Flag


class ChangeFacts(TypedDict):
    """A change of items: pinned, hidden, edited …"""

    operation: Operation
    itemIds: list[str]
    fields: ChangedFields


class CutFacts(TypedDict):
    """The seq before which the conversation is omitted."""

    cut: Place


class Usage(TypedDict, total=False):
    """The provider's usage figures, and what they cost in dollars if that is known."""

    input_tokens: Count | None
    output_tokens: Count | None
    cache_read_input_tokens: Count | None
    cache_creation_input_tokens: Count | None
    cost_usd: Dollars | None


class UsageFacts(TypedDict):
    """What is known once a request was answered: its usage, and our own token count."""

    counted: Count
    usage: Usage


class CopyFacts(TypedDict):
    """A window that version 2 placed at the end of a turn; without XML, the same as before."""

    windowId: WindowId
    xml: NotRequired[str]


class RequestFacts(TypedDict):
    """A request was sent: what `Recorder` writes of `RequestSent`."""

    throughSeq: Place
    windows: NotRequired[list[CopyFacts]]
    waitingIds: list[str]
    plan: NotRequired[State]


class TextFacts(TypedDict):
    """The unsent input, the session's title, the model that answers in it, or a notice."""

    text: str
    isError: NotRequired[Flag]


class FinishedFacts(TypedDict):
    """How a turn ended: fields of `TurnFinished`."""

    reason: Reason
    steps: Count
    usage: Usage
    explanation: str
    seconds: Dollars
    calls: Count
    cached: Dollars | None


class TurnFacts(TypedDict):
    """A turn took its final form."""

    turn: Place
    early: Flag
    finished: NotRequired[FinishedFacts]


class CommandFacts(TypedDict):
    """A command that the person typed into the prompt; without seconds, it was running then."""

    id: str
    text: str
    window: str
    where: str
    problem: str
    seconds: NotRequired[Dollars]
    result: NotRequired[tuple[Change | None, Count, list[str], Flag]]


class FileWriteFacts(TypedDict):
    """A file is about to be written; `file_written` says when it is.

    `before` and `after` are hashes of the content, None where there is no file.
    """

    path: Annotated[str, StringConstraints(min_length=1, max_length=20_000)]
    before: Digest | None
    after: Digest | None
    size: Count
    mode: NotRequired[Count | None]
    kept: Literal["kept", "absent", "large", "failed"]
    rewind: NotRequired[str]


class FileWrittenFacts(TypedDict):
    """A file was written."""

    of: str


class BoundaryFacts(TypedDict):
    """A summary replaced items."""

    itemIds: list[str]
    summaryId: str


class WindowFacts(TypedDict):
    """An event of a window."""

    windowId: WindowId


class ActedFacts(WindowFacts):
    """An action was run."""

    action: str
    text: str
    actor: NotRequired[str]
    focusId: NotRequired[str | None]


class StateFacts(WindowFacts):
    """The state of a window."""

    version: Version
    lod: Lod
    state: State
    jobs: NotRequired[list[str]]
    aside: NotRequired[dict[str, Any]]


class OpenedFacts(StateFacts):
    """A window was opened."""

    name: str
    render: NotRequired[str | None]
    focusId: NotRequired[str | None]


class ClosedFacts(WindowFacts):
    """A window was closed."""

    render: str | None


class KeptWindow(StateFacts):
    """A window in a checkpoint."""

    name: str
    history: list[HistoryEntry]
    focusId: NotRequired[str | None]


class KeptItem(ChangedFields):
    """An item in a checkpoint, without the content of its own entry."""

    id: str
    seq: Seq
    open: NotRequired[Flag]


class BeforeFacts(TypedDict):
    """An item before a change, for undo."""

    id: str
    pinned: Flag
    hidden: Hidden | None
    gist: str | None
    whole: NotRequired[Flag]
    content: NotRequired[str]
    blocks: NotRequired[Blocks]


class CheckpointFacts(TypedDict):
    """A checkpoint: everything needed to resume from it."""

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
    placement: NotRequired[State]
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
    "draft": _form(TextFacts),
    "title": _form(TextFacts),
    "model": _form(TextFacts),
    "turn_end": _form(TurnFacts),
    "aside": _form(TextFacts),
    "command": _form(CommandFacts),
    "file_write": _form(FileWriteFacts),
    "file_written": _form(FileWrittenFacts),
    "compact_boundary": _form(BoundaryFacts | None),
    "window_opened": _form(OpenedFacts),
    "window_state": _form(StateFacts),
    "window_acted": _form(ActedFacts),
    "window_focused": _form(WindowFacts),
    "window_closed": _form(ClosedFacts),
    "checkpoint": _form(CheckpointFacts),
}


def checked(kind: object, subtype: object, data: Any) -> Any:
    """Validate the data of an entry by the form of its kind; None if it has none."""
    form = _FORMS.get(subtype) if isinstance(subtype, str) else None
    if form is None:
        if data is None or kind == "system":
            return None  # another program's entry, or one of an unknown kind
        form = _CALL if kind == "tool_use" else _ITEM
    try:
        return form(data)
    except ValidationError as problem:
        first = problem.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(["data", *map(str, first["loc"])][:6])
        raise DamagedLineError(f"not an entry: {place}: {first['msg']}") from problem
