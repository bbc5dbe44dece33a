"""Log entry schemas: validation of everything read back from a log.

`checked` returns the ``data`` of one entry in the form of its kind, or raises. So replay can rely
on every field being present, typed and within bounds. What is not declared here is dropped. The
entries are written by `contextui.session.record`, checkpoints by `checkpoint`.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, NotRequired, TypeAlias

from pydantic import AfterValidator, Field, StringConstraints, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from contextui.context.item import Hidden, ItemType, clean_blocks
from contextui.errors import ContextUIError
from contextui.events import Operation, Reason
from contextui.model import Block
from contextui.names import WINDOW_ID
from contextui.session.lines import DamagedLineError
from contextui.tokens import Usage
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


def _facts(fields: Mapping[str, Any]) -> Any:
    """Return the type of facts with these fields; one whose name ends in ? may be missing."""
    make: Any = TypedDict
    may = NotRequired
    kinds = {n.rstrip("?"): may[kind] if n.endswith("?") else kind for n, kind in fields.items()}
    return make("Facts", kinds)


# --- parts of several kinds ----------------------------------------------------------------

_OUTCOME = {  # of a tool's call, beside its result: fields of `CallFinished`
    "allowed?": Flag,
    "added?": Count,
    "removed?": Count,
    "seconds?": Dollars,
    "status?": Change,
    "ran?": str,
    "refused?": Flag,
}
_ITEM = {  # without its message; entries of other programs have no seq
    "seq?": Seq,
    "pinned?": Flag,
    "gist?": str | None,
    "hidden?": Hidden | None,
    "text?": str,
    "toolName?": str | None,
    "outcome?": _facts(_OUTCOME),
}
_CHANGED = {  # the values that a change assigned to fields of items
    "pinned?": Flag,
    "hidden?": Hidden | None,
    "content?": str,
    "blocks?": Blocks,
    "gist?": str | None,
    "whole?": Flag,
}
_USAGE = _facts({f"{n}?": Count | None for n in Usage().as_dict()} | {"cost_usd?": Dollars | None})
_TEXT = {"text": str, "isError?": Flag}
_WINDOW = {"windowId": WindowId}
_STATE = {
    **_WINDOW,
    "version": Version,
    "lod": Lod,
    "state": State,
    "jobs?": list[str],
    "aside?": dict[str, Any],
}
_BOUNDARY = _facts({"itemIds": list[str], "summaryId": str})
_FINISHED = {  # how a turn ended: fields of `TurnFinished`
    "reason": Reason,
    "steps": Count,
    "usage": _USAGE,
    "explanation": str,
    "seconds": Dollars,
    "calls": Count,
    "cached": Dollars | None,
}
# A window that version 2 placed at the end of a turn; without XML, the same as before.
_COPY = {**_WINDOW, "xml?": str}
_KEPT_WINDOW = {**_STATE, "name": str, "history": list[HistoryEntry], "focusId?": str | None}
_KEPT_ITEM = {**_CHANGED, "id": str, "seq": Seq, "open?": Flag}  # its own entry has the content
_BEFORE = {  # an item before a change, for undo
    "id": str,
    "pinned": Flag,
    "hidden": Hidden | None,
    "gist": str | None,
    "whole?": Flag,
    "content?": str,
    "blocks?": Blocks,
}

# --- the kinds of entries ------------------------------------------------------------------

_KINDS: dict[str, Any] = {
    "prompt": _facts(_ITEM),
    "window_item": _facts(_ITEM | _WINDOW),
    # The header; `check_schema` and `origin_of` check its values.
    "session": _facts({"schema?": Any, "parent?": Any, "turn?": Any}),
    "change": _facts({"operation": Operation, "itemIds": list[str], "fields": _facts(_CHANGED)}),
    "cut": _facts({"cut": Place}),  # the seq before which the conversation is omitted
    "usage": _facts({"counted": Count, "usage": _USAGE}),  # our own count of the request, too
    "request": _facts(
        {
            "throughSeq": Place,
            "windows?": list[_facts(_COPY)],  # type: ignore[misc]
            "waitingIds": list[str],
            "plan?": State,
        }
    ),
    **dict.fromkeys(("draft", "title", "model", "aside"), _facts(_TEXT)),
    "turn_end": _facts({"turn": Place, "early": Flag, "finished?": _facts(_FINISHED)}),
    # What the person typed into the prompt; without seconds, it was running then.
    "command": _facts(
        {
            **dict.fromkeys(("id", "text", "window", "where", "problem"), str),
            "stopped?": Flag,
            "seconds?": Dollars,
            "result?": tuple[Change | None, Count, list[str], Flag],
        }
    ),
    # A file is about to be written: hashes of the content, None where there is no file.
    "file_write": _facts(
        {
            "path": Annotated[str, StringConstraints(min_length=1, max_length=20_000)],
            "before": Digest | None,
            "after": Digest | None,
            "size": Count,
            "mode?": Count | None,
            "kept": Literal["kept", "absent", "large", "failed"],
            "rewind?": str,
        }
    ),
    "file_written": _facts({"of": str}),
    "compact_boundary": _BOUNDARY | None,
    "window_opened": _facts({**_STATE, "name": str, "render?": str | None, "focusId?": str | None}),
    "window_state": _facts(_STATE),
    "window_acted": _facts(
        {**_WINDOW, "action": str, "text": str, "actor?": str, "focusId?": str | None}
    ),
    "window_focused": _facts(_WINDOW),
    "window_closed": _facts({**_WINDOW, "render": str | None}),
    # Everything needed to resume from it.
    "checkpoint": _facts(
        {
            "seq": Place,
            "cut": Place,
            "turn": Place,
            "ratio": Ratio,
            "items": list[tuple[Count, _facts(_KEPT_ITEM)]],  # type: ignore[misc]
            "rest": tuple[Change, Change, Change],
            "folds?": dict[str, str],
            "undo": list[list[_facts(_BEFORE)] | _BOUNDARY],  # type: ignore[misc]
            "windows": list[_facts(_KEPT_WINDOW)],  # type: ignore[misc]
            "used": list[str],
            "numbers": dict[str, Count],
            "closed": list[Count],
            "draft?": str,
            "placement?": State,
            "digest?": str,
        }
    ),
}


def _form(kind: Any) -> Callable[[Any], Any]:
    adapter: TypeAdapter[Any] = TypeAdapter(kind)
    return adapter.validator.validate_python


_FORMS = {kind: _form(facts) for kind, facts in _KINDS.items()}
# Our own calls are also part of an answer, and `itemId` names that.
_CALL = _form(_facts({"itemId?": str}))


def checked(kind: object, subtype: object, data: Any) -> Any:
    """Validate the data of an entry by the form of its kind; None if it has none."""
    form = _FORMS.get(subtype) if isinstance(subtype, str) else None
    if form is None:
        if data is None or kind == "system":
            return None  # another program's entry, or one of an unknown kind
        form = _CALL if kind == "tool_use" else _FORMS["prompt"]
    try:
        return form(data)
    except ValidationError as problem:
        first = problem.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(["data", *map(str, first["loc"])][:6])
        raise DamagedLineError(f"not an entry: {place}: {first['msg']}") from problem
