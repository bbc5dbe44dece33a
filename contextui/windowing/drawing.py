"""From a window's content to its snapshot and XML: coerced, capped, and never an exception."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from contextui import text
from contextui.errors import ContextUIError, InvalidSourceDataError
from contextui.windowing import anchors as anchor_registry
from contextui.windowing import phrases
from contextui.windowing.anchors import AnyAnchor, Reference
from contextui.windowing.element import Element, text_form
from contextui.windowing.snapshot import (
    ContextVersion,
    Lod,
    Snapshot,
    SnapshotHeader,
    SnapshotState,
)
from contextui.windowing.trouble import reason_in
from contextui.windowing.xml import ActionLine, window_xml

if TYPE_CHECKING:
    from contextui.windowing.base import Window

Warn = Callable[[str], None]
MOST_CONTENT = 2_000_000
"""Characters of content, and of a result, that no window can raise."""
_LONGEST_DESCRIPTION = 2_000  # characters
_LONGEST_UNSAVED = 300  # characters of what a window says that it has not saved


@dataclass(frozen=True, slots=True)
class Render:
    """One finished render: the snapshot, its XML, what its anchors do, and what is not saved.

    The person sees the snapshot, the model the XML. They differ where the content of files that
    may hold secrets is withheld from the model.
    """

    snapshot: Snapshot
    xml: str
    anchors: Mapping[str, AnyAnchor]
    unsaved: str = ""
    withheld: tuple[str, ...] = ()

    @property
    def version(self) -> ContextVersion:
        """The version that was drawn."""
        return self.snapshot.header.version

    @property
    def lod(self) -> Lod:
        """The level of detail that was drawn."""
        return self.snapshot.state.current_lod

    def same_output_as(self, other: "Render") -> bool:
        """Whether both say the same, whatever their versions."""
        return (
            self.snapshot.content == other.snapshot.content
            and self.snapshot.elements == other.snapshot.elements
            and self.snapshot.error == other.snapshot.error
            and (self.anchors, self.unsaved) == (other.anchors, other.unsaved)
            and self.withheld == other.withheld
        )


@dataclass(frozen=True, slots=True)
class Frame:
    """What surrounds the content of one render."""

    session_id: str
    version: ContextVersion
    lod: Lod
    now: datetime
    state: Mapping[str, Any] | None = None


def draw(window: "Window", frame: Frame, warn: Warn, reported: set[str]) -> Render:
    """Draw the window; whatever it does wrong becomes an error snapshot that says what.

    Args:
        window: The window.
        frame: What surrounds the content.
        warn: Takes what is wrong, in words.
        reported: What was said of its anchors in earlier renders, and is not said again.
    """

    def warn_once(problem: ContextUIError) -> None:
        if str(problem) not in reported:
            reported.add(str(problem))
            warn(str(problem))

    try:
        content, elements = _coerce(
            window.content(frame.lod), min(window.max_content, MOST_CONTENT)
        )
        registry = anchor_registry.register(window.anchors(frame.lod), window.actions, warn_once)
        snapshot = _snapshot(window, frame, content, elements, registry)
        unsaved = text.one_line(window.unsaved() or "", _LONGEST_UNSAVED)
        return Render(snapshot, _xml(window, snapshot, registry), registry, unsaved)
    except BaseException as problem:
        reason, said = reason_in(type(window), problem), phrases.of(window.env.lang).not_drawn
        warn(f"{said}: {reason}")
        return failure(window, frame, f"{window.id} {said}.\n{reason}")


def failure(window: "Window", frame: Frame, reason: str) -> Render:
    """The render of a window that cannot show itself: the reason, and its actions."""
    snapshot = _snapshot(window, frame, reason, None, {}, error=reason)
    return Render(snapshot, _xml(window, snapshot, {}), {})


def placeholder(window: "Window", frame: Frame, content: str) -> Render:
    """The render of a window that has nothing to show yet."""
    snapshot = _snapshot(window, frame, content, None, {})
    return Render(snapshot, _xml(window, snapshot, {}), {})


def stale(window: "Window", render: Render) -> Render:
    """The same render, marked as no longer up to date."""
    snapshot = render.snapshot.model_copy(update={"stale": True})
    render = replace(render, snapshot=snapshot, xml=_xml(window, snapshot, render.anchors))
    return withhold(window, render, render.withheld)


def withhold(window: "Window", render: Render, files: tuple[str, ...]) -> Render:
    """The same render; if it shows any of these files, the model reads their names alone."""
    if not files:
        return render
    names = ", ".join(map(text.shown_name, files))
    notice = phrases.of(window.env.lang).withheld.format(names=names)
    hidden = {"content": notice, "elements": None, "error": None}
    xml = _xml(window, render.snapshot.model_copy(update=hidden), {})
    return replace(render, xml=xml, withheld=files)


def _snapshot(
    window: "Window",
    frame: Frame,
    content: str,
    elements: tuple[Element, ...] | None,
    registry: Mapping[str, AnyAnchor],
    *,
    error: str | None = None,
) -> Snapshot:
    return Snapshot(
        header=SnapshotHeader(
            app_id=window.name,
            session_id=frame.session_id,
            version=frame.version,
            timestamp=frame.now,
        ),
        # Not copied at every render: `Runtime.snapshot` hands out a frozen copy.
        state=SnapshotState.model_construct(
            current_lod=frame.lod, focus_id=None, custom=frame.state
        ),
        content=content,
        elements=elements,
        anchors={anchor_id: anchor_registry.entry(one) for anchor_id, one in registry.items()},
        error=error,
    )


def _coerce(body: object, limit: int) -> tuple[str, tuple[Element, ...] | None]:
    """Text within the limit, and the elements if there were any."""
    if isinstance(body, bytes):
        body = body.decode("utf-8", "replace")
    if isinstance(body, str):
        return text.for_model(text.cap(body, limit)), None
    if isinstance(body, Element):
        body = (body,)
    if isinstance(body, Sequence) and all(isinstance(one, Element) for one in body):
        shown = text_form(body)
        if len(shown) <= limit:
            return text.for_model(shown), tuple(body)
        return text.for_model(text.cap(shown, limit)), None
    raise InvalidSourceDataError(
        f"content() returned {_described(body)}; it must return text, an Element, or a list of "
        "Elements."
    )


def _described(body: object) -> str:
    if isinstance(body, Sequence):
        odd = next((one for one in body if not isinstance(one, Element)), None)
        return f"{type(body).__name__} with {type(odd).__name__} in it"
    return "None" if body is None else type(body).__name__


def _xml(window: "Window", snapshot: Snapshot, registry: Mapping[str, AnyAnchor]) -> str:
    lang = window.env.lang
    lines = [
        ActionLine(one.id, str(one.params), one.labelled(lang)) for one in window.actions.values()
    ]
    for anchor in registry.values():
        if not isinstance(anchor, Reference):
            bound = window.actions[anchor.action]
            fields = anchor_registry.fields_of(anchor)
            open_params = [str(param) for param in bound.params.listing if param.name in fields]
            label = text.one_line(anchor.label, 200) if anchor.label else bound.labelled(lang)
            lines.append(ActionLine(anchor.id, ",".join(open_params), label))
    close = ActionLine("close", "summary:string?", phrases.of(lang).close)
    # One of its own, that a window gave itself, is as it is.
    is_own = window.description != type(window).description
    described = str(window.description) if is_own else window.described(lang)
    described = text.cap(described, _LONGEST_DESCRIPTION)
    return window_xml(window.id, described, snapshot, [*lines, close])
