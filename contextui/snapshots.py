"""Snapshots: what a window shows at one version of its state."""

from contextui.windowing.snapshot import (
    Anchor,
    AnchorType,
    Body,
    ContextVersion,
    Element,
    Lod,
    Snapshot,
    SnapshotHeader,
    SnapshotState,
)

__all__ = [
    "Anchor",
    "AnchorType",
    "Body",
    "ContextVersion",
    "Element",
    "Lod",
    "Snapshot",
    "SnapshotHeader",
    "SnapshotState",
]
