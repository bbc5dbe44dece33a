"""Making room without losing anything of the conversation: windows show less of themselves."""

from collections.abc import Callable, Iterable

from contextui.context.item import ContextItem
from contextui.windowing.manager import WindowManager


def lower_windows(
    references: Iterable[ContextItem], windows: WindowManager, fits: Callable[[], bool]
) -> None:
    """Lower the level of detail, the least recently used window first, until it fits.

    Pinned windows keep theirs. A window that is too slow to show its lower level in time is
    lowered all the same, but helps only from the next request on.
    """
    candidates = [item for item in references if not item.pinned]
    for reference in sorted(candidates, key=lambda item: windows.focused_at(item.content)):
        window = windows.get(reference.content)
        while window is not None and not fits() and (lower := window.lod.below):
            windows.set_lod(window.id, lower)
            window.to_xml()
