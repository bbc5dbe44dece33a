"""What a window presented at one moment: frozen, comparable, JSON in and out."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_serializer
from pydantic.alias_generators import to_camel

from contextui.errors import VersionMismatchError
from contextui.windowing.element import Element
from contextui.windowing.frozen import FrozenDict, freeze


class Lod(StrEnum):
    """Level of detail: how much of itself a window shows."""

    GIST = "Gist"
    SUMMARY = "Summary"
    FULL = "Full"

    @property
    def below(self) -> "Lod | None":
        """The next smaller level, or None below Gist."""
        return {Lod.FULL: Lod.SUMMARY, Lod.SUMMARY: Lod.GIST}.get(self)


@dataclass(frozen=True, order=True, slots=True)
class ContextVersion:
    """Which render this is: major counts the data, minor the level of detail, patch the rest.

    Only the framework makes new versions; a higher one always shows newer things.
    """

    major: int
    minor: int = 0
    patch: int = 0

    def is_compatible_with(self, other: "ContextVersion") -> bool:
        """Whether both show the same data, at whatever level of detail."""
        return self.major == other.major

    def same_render_as(self, other: "ContextVersion") -> bool:
        """Whether both show the same data at the same level of detail."""
        return (self.major, self.minor) == (other.major, other.minor)

    def after_data(self) -> "ContextVersion":
        """The version after the window's data changed."""
        return ContextVersion(self.major + 1)

    def after_lod(self) -> "ContextVersion":
        """The version after the level of detail was switched."""
        return ContextVersion(self.major, self.minor + 1)

    def after_detail(self) -> "ContextVersion":
        """The version after the same data, at the same level, came out differently."""
        return ContextVersion(self.major, self.minor, self.patch + 1)

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"

    @classmethod
    def read(cls, text: str) -> "ContextVersion":
        """The version that was written as ``1.0.0``."""
        major, minor, patch = map(int, text.split("."))
        return cls(major, minor, patch)


class _Frozen(BaseModel):
    model_config = ConfigDict(
        frozen=True, alias_generator=to_camel, validate_by_name=True, validate_by_alias=True
    )


class SnapshotHeader(_Frozen):
    """Whose snapshot this is. The time of drawing is told, but two renders that differ in
    nothing else are equal."""

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
    """How the window stood: level of detail, what has the focus, the window's own extras."""

    current_lod: Lod
    focus_id: str | None = None
    custom: Annotated[Mapping[str, Any] | None, AfterValidator(freeze)] = None


class AnchorType(StrEnum):
    """What an anchor is for: acting at once, acting with fields to fill, or locating."""

    BUTTON = "Button"
    FORM = "Form"
    REFERENCE = "Reference"


class Anchor(_Frozen):
    """One entry of the anchor registry: the fields to fill, and what it points at."""

    type: AnchorType
    params: tuple[str, ...] = ()
    target: str | None = None


class HistoryEntry(_Frozen):
    """One round: which action was carried out, and what came of it."""

    round: int
    action: str
    result: str
    timestamp: datetime


class Snapshot(_Frozen):
    """A window as it was presented. `elements`, `error` and `stale` are written only if set."""

    header: SnapshotHeader
    state: SnapshotState
    content: str
    anchors: Annotated[Mapping[str, Anchor], AfterValidator(FrozenDict)]
    history: tuple[HistoryEntry, ...] | None = None
    elements: tuple[Element, ...] | None = None
    error: str | None = None
    stale: bool = False

    def check_shows(self, version: ContextVersion) -> None:
        """See that the snapshot shows the data of this version, at whatever level of detail.

        Raises:
            VersionMismatchError: It shows older or newer data: take a new snapshot.
        """
        if not self.header.version.is_compatible_with(version):
            raise VersionMismatchError(
                f"The snapshot of {self.header.app_id} shows version {self.header.version}, not "
                f"{version}: take a new one."
            )

    @model_serializer(mode="wrap")
    def _without_unset_extras(self, dump: Callable[["Snapshot"], dict[str, Any]]) -> dict[str, Any]:
        data = dump(self)
        for name in ("elements", "error", "stale"):
            if not data[name]:
                del data[name]
        return data
