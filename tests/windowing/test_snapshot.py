"""What a window presented (S1): JSON in and out, frozen, compared by what it says."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import ValidationError

import contextui
from contextui import Anchor, AnchorType, ContextVersion, Lod, Snapshot, WindowManager
from contextui.errors import VersionMismatchError
from tests.windowing.samples import Todo, act

VECTOR_1 = """{
  "header": {
    "appId": "notebook",
    "sessionId": "sess-001",
    "version": { "major": 1, "minor": 0, "patch": 0 },
    "timestamp": "2025-12-10T10:00:00Z"
  },
  "state": {
    "currentLod": "Summary",
    "focusId": null,
    "custom": null
  },
  "content": "# Notebook\\n\\n[SUMMARY] Entry 1",
  "anchors": {},
  "history": null
}"""

VECTOR_2 = """{
  "header": { "appId": "notebook", "sessionId": "sess-002",
    "version": { "major": 1, "minor": 1, "patch": 0 }, "timestamp": "2025-12-10T10:05:00Z" },
  "state": { "currentLod": "Summary", "focusId": "entry-1", "custom": null },
  "content": "# Notebook\\n\\n[SUMMARY] **[entry-1]** PipeMux 概览 [button:expand]",
  "anchors": {
    "expand-entry-1": {
      "type": "Button",
      "params": [],
      "target": "entry-1"
    },
    "entry-1": {
      "type": "Reference",
      "params": [],
      "target": null
    }
  },
  "history": null
}"""


def test_s1_1_the_documents_vectors_round_trip() -> None:
    for vector in (VECTOR_1, VECTOR_2):
        snapshot = Snapshot.model_validate_json(vector)
        assert json.loads(snapshot.model_dump_json(by_alias=True)) == json.loads(vector), vector


def test_s1_1_vector_2_reads_as_what_it_means() -> None:
    snapshot = Snapshot.model_validate_json(VECTOR_2)
    assert snapshot.header.version == ContextVersion(1, 1, 0)
    assert snapshot.state.current_lod is Lod.SUMMARY
    assert snapshot.anchors["expand-entry-1"] == Anchor(type=AnchorType.BUTTON, target="entry-1")


def test_a_live_windows_snapshot_round_trips() -> None:
    for lod in list(Lod):
        windows = WindowManager()
        todo = windows.open(Todo, items=["买菜"])
        act(windows, todo, "add", text="b")
        snapshot = todo.snapshot(lod)
        assert Snapshot.model_validate_json(snapshot.model_dump_json(by_alias=True)) == snapshot, (
            lod
        )


def test_s1_9_required_fields_are_never_null_and_ids_never_empty() -> None:
    """R12."""
    for path in ("appId", "sessionId", "version"):
        for change in ("null", "missing", "empty"):
            _refused(f"header.{path}", change)
    for path in ("state.currentLod", "anchors", "content"):
        for change in ("null", "missing"):
            _refused(path, change)


def _refused(path: str, change: str) -> None:
    data: dict[str, Any] = json.loads(VECTOR_1)
    *folders, name = path.split(".")
    inner = data[folders[0]] if folders else data
    if change == "missing":
        del inner[name]
    else:
        inner[name] = "" if change == "empty" else None
    with pytest.raises(ValidationError):
        Snapshot.model_validate(data)


def test_s1_2_the_time_of_drawing_is_no_part_of_equality() -> None:
    early, late = datetime(2025, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC)
    first = WindowManager(session_id="s", clock=lambda: early).open(Todo, items=["a"])
    second = WindowManager(session_id="s", clock=lambda: late).open(Todo, items=["a"])
    assert first.snapshot() == second.snapshot()
    assert first.snapshot().header.timestamp == early
    assert second.snapshot().header.timestamp == late
    assert len({first.snapshot().header, second.snapshot().header}) == 1


class TestVersion:
    def test_s1_5_vector_3(self) -> None:
        v1, v2, v3 = ContextVersion(1, 0, 0), ContextVersion(1, 1, 0), ContextVersion(2, 0, 0)
        assert v1.is_compatible_with(v2)
        assert not v1.is_compatible_with(v3)

    def test_s1_5_the_same_render_is_the_same_major_and_minor(self) -> None:
        assert ContextVersion(1, 1, 0).same_render_as(ContextVersion(1, 1, 5))
        assert not ContextVersion(1, 1, 0).same_render_as(ContextVersion(1, 2, 0))
        assert not ContextVersion(1, 1, 0).same_render_as(ContextVersion(2, 1, 0))

    def test_s1_4_what_rises_sends_what_is_below_back_to_0(self) -> None:
        version = ContextVersion(3, 2, 1)
        assert version.after_data() == ContextVersion(4, 0, 0)
        assert version.after_lod() == ContextVersion(3, 3, 0)
        assert version.after_detail() == ContextVersion(3, 2, 2)

    def test_a_later_version_is_greater(self) -> None:
        version = ContextVersion(3, 2, 1)
        later = [version.after_detail(), version.after_lod(), version.after_data()]
        assert version < later[0] < later[1] < later[2]


def test_levels_lead_down_to_the_gist() -> None:
    assert [Lod.FULL.below, Lod.SUMMARY.below, Lod.GIST.below] == [Lod.SUMMARY, Lod.GIST, None]


def test_s1_8_a_snapshot_of_other_data_is_a_version_mismatch(windows: WindowManager) -> None:
    """R12: another level of detail is no mismatch; after a change a new snapshot is to be taken."""
    todo = windows.open(Todo)
    before = todo.snapshot()
    windows.set_lod(todo.id, Lod.GIST)
    before.check_shows(todo.version)
    act(windows, todo, "add", text="milk")
    with pytest.raises(VersionMismatchError, match=r"shows version 1\.0\.0, not 2\.0\.0"):
        before.check_shows(todo.version)
    todo.snapshot().check_shows(todo.version)
    assert contextui.VersionMismatchError is VersionMismatchError
    assert issubclass(contextui.AnchorConflictError, contextui.ContextUIError)
