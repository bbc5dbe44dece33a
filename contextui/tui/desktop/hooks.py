"""What a window's own widget may tell its frame, if it wants to.

None of it is needed: a widget that is called with the window and has `window_changed()` will do.
"""

from typing import Any

from textual.widget import Widget

from contextui.tui.desktop.own.loading import Guard


def title_of(body: Widget) -> str | None:
    """`window_title`: what stands behind the name in the border; None leaves it to the gist."""
    title = _ask(body, "window_title")
    return None if title is None else str(title)


def first_actions_of(body: Widget) -> tuple[str, ...]:
    """`first_actions`: the ids of the actions that stand first in the row."""
    return tuple(_ask(body, "first_actions") or ())


def closing_warning_of(body: Widget) -> str:
    """`closing_warning`: what would be lost if the window were closed now."""
    return str(_ask(body, "closing_warning") or "")


async def settle(body: Widget) -> None:
    """`async settle()`: called before an action is carried out, for the person or the model."""
    if isinstance(body, Guard):
        await body.guarded_wait(_ask(body, "settle"))


def person_acted(body: Widget, action_id: str) -> None:
    """`person_acted(action_id)`: called when an action was carried out for the person."""
    call = _ask(body, "person_acted")
    if isinstance(body, Guard) and call is not None:
        body.guarded(lambda: call(action_id), None)


def _ask(body: Widget, name: str) -> Any:
    return (
        body.guarded(lambda: getattr(body, name, None), None) if isinstance(body, Guard) else None
    )
