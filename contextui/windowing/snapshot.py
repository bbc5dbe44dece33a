"""Snapshots of windows: immutable and comparable, with content elements, versions and JSON."""

import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from operator import not_
from typing import Annotated, Any, TypeAlias

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
)
from pydantic.alias_generators import to_camel
from pydantic_core import CoreSchema, core_schema

from contextui.errors import InvalidSourceDataError, VersionMismatchError
from contextui.text import one_line, quote
from contextui.windowing.state import FrozenDict, freeze

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}", re.ASCII)
_DEEPEST = 64  # parsers, and Python, limit nesting
_RESERVED = frozenset({"window", "description", "content", "actions", "action"})


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Element:
    """One XML element of a window's content.

    Children are elements or text; attributes are converted to text (``None`` omits one). The tags
    of the window's own frame are reserved, so content cannot imitate an action.

    Example:
        >>> Element("item", "milk", id=1, done=True)
        Element('item', 'milk', id='1', done='true')
    """

    tag: str
    children: tuple["Element | str", ...]
    attributes: Mapping[str, str] = field(hash=False)
    _depth: int = field(compare=False)
    __frozen__ = True  # `freeze` uses it as it is

    def __init__(self, tag: str, /, *children: "Element | str", **attributes: object) -> None:
        for name in (tag, *attributes):
            if not _NAME.fullmatch(name) or name[:3].lower() == "xml":
                raise InvalidSourceDataError(f"{quote(name)} cannot name an element or attribute.")
        if tag.lower() in _RESERVED:
            raise InvalidSourceDataError(f"<{tag}> belongs to the window's frame: choose another.")
        for child in children:
            if not isinstance(child, Element | str):
                raise InvalidSourceDataError(
                    f"<{tag}> holds a {type(child).__name__}; children are elements or text."
                )
        inner = (child._depth for child in children if isinstance(child, Element))
        depth = 1 + max(inner, default=0)
        if depth > _DEEPEST:
            raise InvalidSourceDataError(f"<{tag}> is nested more than {_DEEPEST} levels deep.")
        texts = {
            name: str(value).lower() if isinstance(value, bool) else str(value)
            for name, value in attributes.items()
            if value is not None
        }
        parts = {"tag": tag, "children": children, "attributes": FrozenDict(texts), "_depth": depth}
        for name, part in parts.items():
            object.__setattr__(self, name, part)

    def __reduce__(self) -> tuple[Any, ...]:
        return Element.from_json, (self.to_json(),)

    def __repr__(self) -> str:
        attributes = [f"{name}={value!r}" for name, value in self.attributes.items()]
        return f"Element({', '.join([repr(self.tag), *map(repr, self.children), *attributes])})"

    def lines(self, depth: int = 0) -> Iterator[str]:
        """Yield the element as lines for screens and logs: text, attributes, indented children."""
        words = "".join(child for child in self.children if isinstance(child, str))
        attributes = " ".join(f"{name}={value}" for name, value in self.attributes.items())
        yield "  " * depth + "  ".join(part for part in (words or self.tag, attributes) if part)
        for child in self.children:
            if isinstance(child, Element):
                yield from child.lines(depth + 1)

    def to_json(self) -> dict[str, Any]:
        """Return the element as JSON-ready data, for `from_json`."""
        return {
            "tag": self.tag,
            "attributes": dict(self.attributes),
            "children": [
                child if isinstance(child, str) else child.to_json() for child in self.children
            ],
        }

    @classmethod
    def from_json(cls, data: "Element | Mapping[str, Any]") -> "Element":
        """Create an element from the data of `to_json`."""
        if isinstance(data, Element):
            return data
        children = (
            child if isinstance(child, str) else cls.from_json(child)
            for child in data.get("children", ())
        )
        return cls(data["tag"], *children, **data.get("attributes", {}))

    @classmethod
    def _validate(cls, data: Any) -> "Element":
        try:
            return cls.from_json(data)
        except Exception as problem:  # pydantic reports only a ValueError as invalid input
            raise ValueError(f"not an element: {problem}") from problem

    @classmethod
    def __get_pydantic_core_schema__(cls, _: Any, __: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            cls._validate,
            serialization=core_schema.plain_serializer_function_ser_schema(cls.to_json),
        )


Body: TypeAlias = str | Element | Sequence[Element]
"""The return type of `Window.content`: text (plain or Markdown), or elements."""


class Lod(StrEnum):
    """Level of detail: how much of its content a window shows."""

    GIST = "Gist"
    SUMMARY = "Summary"
    FULL = "Full"

    @property
    def below(self) -> "Lod | None":
        """The next lower level, or None below Gist."""
        return {Lod.FULL: Lod.SUMMARY, Lod.SUMMARY: Lod.GIST}.get(self)


@dataclass(frozen=True, order=True, slots=True)
class ContextVersion:
    """The version of a render: major.minor.patch.

    Major counts changes of the data, minor switches of the level of detail, patch other changes of
    the output. Only the framework creates versions; a higher one is always newer.
    """

    major: int
    minor: int = 0
    patch: int = 0

    def is_compatible_with(self, other: "ContextVersion") -> bool:
        """Whether both show the same data, at any level of detail."""
        return self.major == other.major

    def same_render_as(self, other: "ContextVersion") -> bool:
        """Whether both show the same data at the same level of detail."""
        return (self.major, self.minor) == (other.major, other.minor)

    def after_data(self) -> "ContextVersion":
        """Return the version after a change of the data."""
        return ContextVersion(self.major + 1)

    def after_lod(self) -> "ContextVersion":
        """Return the version after a switch of the level of detail."""
        return ContextVersion(self.major, self.minor + 1)

    def after_detail(self) -> "ContextVersion":
        """Return the version after the same data, at the same level, rendered differently."""
        return ContextVersion(self.major, self.minor, self.patch + 1)

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"

    @classmethod
    def read(cls, text: str) -> "ContextVersion":
        """Parse a version such as ``1.0.0``."""
        major, minor, patch = map(int, text.split("."))
        return cls(major, minor, patch)


class _Frozen(BaseModel):
    model_config = ConfigDict(
        frozen=True, alias_generator=to_camel, validate_by_name=True, validate_by_alias=True
    )


class SnapshotHeader(_Frozen):
    """The identity of a snapshot.

    The timestamp is not compared: renders that differ only in it are equal.
    """

    app_id: Annotated[str, Field(min_length=1)]
    session_id: Annotated[str, Field(min_length=1)]
    version: ContextVersion
    timestamp: datetime

    def _identity(self) -> tuple[str, str, ContextVersion]:
        return self.app_id, self.session_id, self.version

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SnapshotHeader) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())


class SnapshotState(_Frozen):
    """The window's level of detail, focus and saved state."""

    current_lod: Lod
    focus_id: str | None = None
    custom: Annotated[Mapping[str, Any] | None, AfterValidator(freeze)] = None


class AnchorType(StrEnum):
    """The kinds of anchors: run an action, fill in a form, or refer to a place."""

    BUTTON = "Button"
    FORM = "Form"
    REFERENCE = "Reference"


class Anchor(_Frozen):
    """One entry of the anchor registry: the fields to fill in, and the target."""

    type: AnchorType
    params: tuple[str, ...] = ()
    target: str | None = None


class HistoryEntry(_Frozen):
    """One action of the history, with its result."""

    round: int
    action: str
    result: str
    timestamp: datetime
    actor: str = Field(default="", exclude_if=not_)


class Snapshot(_Frozen):
    """A window at one moment.

    `elements`, `error`, `stale` and `jobs` are serialized only if set. `jobs` says how far each
    running job is, by its number.
    """

    header: SnapshotHeader
    state: SnapshotState
    content: str
    anchors: Annotated[Mapping[str, Anchor], AfterValidator(FrozenDict)]
    history: tuple[HistoryEntry, ...] | None = None
    elements: tuple[Element, ...] | None = Field(default=None, exclude_if=not_)
    error: str | None = Field(default=None, exclude_if=not_)
    stale: bool = Field(default=False, exclude_if=not_)
    jobs: Mapping[int, str] = Field(default={}, exclude_if=not_)

    def check_shows(self, version: ContextVersion) -> None:
        """Check that the snapshot shows the data of this version, at any level of detail.

        Raises:
            VersionMismatchError: It shows older or newer data: take a new snapshot.
        """
        if not self.header.version.is_compatible_with(version):
            raise VersionMismatchError(
                f"The snapshot of {self.header.app_id} shows version {self.header.version}, not "
                f"{version}: take a new one."
            )


class History:
    """The actions run on a window and their results; the oldest are dropped."""

    def __init__(self, limit: int) -> None:
        self._limit, self._round = limit, 0
        self._lock = threading.Lock()
        self.entries: tuple[HistoryEntry, ...] = ()

    def note(self, action_id: str, result: str, now: datetime, actor: str = "") -> None:
        """Append an action and the text of its result."""
        with self._lock:
            self._round += 1
            facts = {"action": action_id, "result": one_line(result, 200), "actor": actor}
            entry = HistoryEntry(round=self._round, timestamp=now, **facts)
            self.entries = self._newest((*self.entries, entry))

    def recall(self, entries: Sequence[HistoryEntry]) -> None:
        """Restore the entries of an earlier run."""
        with self._lock:
            self.entries = self._newest(tuple(entries))
            self._round = entries[-1].round if entries else 0

    def _newest(self, entries: tuple[HistoryEntry, ...]) -> tuple[HistoryEntry, ...]:
        return entries[max(0, len(entries) - self._limit) :]
