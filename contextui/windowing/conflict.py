"""Conflicts: others have changed a window since the model saw it last, and the model acts on it."""

from contextui.errors import ConflictError
from contextui.windowing.blocks import change_block, is_same
from contextui.windowing.core import WindowCore
from contextui.windowing.render import Renders
from contextui.windowing.snapshot import ContextVersion


class Conflicts:
    """Refuses an action of the model once if the window is not what the model saw."""

    def __init__(self, core: WindowCore, renders: Renders) -> None:
        self._core, self._renders = core, renders
        self._seen: tuple[ContextVersion, str] | None = None  # the version and its XML
        self._changed: ContextVersion | None = None
        self._reported = ContextVersion(0)

    def take_over(self, other: "Conflicts") -> None:
        """Continue for a window of the same id, whose class was replaced."""
        self._seen, self._changed, self._reported = other._seen, other._changed, other._reported

    def note_seen(self, version: ContextVersion) -> None:
        """Note the version that the model saw last: it is in the request that is sent now."""
        shown = self._renders.latest()
        self._seen = version, shown.xml if shown.version == version else ""

    def note_change(self, version: ContextVersion) -> None:
        """Note a version that the person, or a job, made."""
        self._changed = version

    @property
    def is_possible(self) -> bool:
        """Whether others have made a version that the model does not know."""
        if self._seen is None or self._changed is None:
            return False
        return self._changed > max(self._seen[0], self._reported)

    def check(self) -> None:
        """Check that the window is what the model saw, or that the model knows the change.

        If a conflict is possible, the current version must have been rendered.
        """
        changed = self._changed
        if not self.is_possible or self._seen is None or changed is None:
            return
        before, now = self._seen[1], self._renders.latest()
        if before and is_same(before, now.xml):
            return
        self._reported = changed
        shown = (before and change_block(before, now.xml)) or now.xml
        raise ConflictError(
            self._core.words(
                "Not carried out: {id} has changed since you saw it. Call the action again if it "
                "still fits.\n{change}",
                id=self._core.id,
                change=shown,
            )
        )
