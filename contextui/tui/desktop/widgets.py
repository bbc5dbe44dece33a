"""Custom widgets of windows: lazy loading, and a guard that contains their errors."""

import sys
import types
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import cache
from importlib import import_module
from inspect import isawaitable
from pathlib import Path
from traceback import walk_tb
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from textual import events
from textual.app import ComposeResult
from textual.content import Content
from textual.dom import DOMNode
from textual.geometry import Region, Size
from textual.message import Message
from textual.strip import Strip
from textual.timer import Timer, TimerCallback
from textual.visual import VisualType
from textual.widget import AwaitMount, Widget
from textual.worker import NoActiveWorker, WorkerFailed, get_current_worker

from contextui.windowing.error_text import reason_in
from contextui.windowing.finding.source import siblings_of
from contextui.windowing.runtime import runtime_of
from contextui.windowing.state import WindowState
from contextui.windowing.window import Window

T = TypeVar("T")


class OwnWidgetError(Exception):
    """A window's custom widget cannot be loaded; the message says why."""


if TYPE_CHECKING:
    _Base = Widget
else:
    _Base = object  # Textual looks up styles and keys along the first base that is a widget


class Guard(_Base):
    """Mixin before a custom widget's class that catches its errors and reports them to the frame.

    Widgets mounted inside are guarded too and count as part of it. All of its own names contain
    `guarded`, so that they do not hide those of the widget.
    """

    class Failed(Message):
        """Posted when the widget raised an exception."""

        def __init__(self, window_id: str, reason: str) -> None:
            super().__init__()
            self.window_id, self.reason = window_id, reason

    guarded_id = ""
    guarded_classes: tuple[type, ...] = ()
    """The classes of the widget and of its window: an error names the line in their files."""
    _has_failed = False

    def guarded(self, call: Callable[[], T], instead: T) -> T:
        """Call a function; return `instead` if it raises, or if the widget failed before."""
        if self._has_failed:
            return instead
        try:
            return call()
        except Exception as problem:
            self.guarded_failed(problem)
            return instead

    async def guarded_wait(self, call: Callable[[], Awaitable[object]] | None) -> None:
        if call is not None and not self._has_failed:
            try:
                await call()
            except Exception as problem:
                self.guarded_failed(problem)

    def guarded_failed(self, problem: BaseException) -> None:
        """Report the failure to the parent, once.

        The widget may be unable to report it itself: Textual removes a widget that raised.
        """
        outer = self._outer
        # Before it is mounted it has no parent to report to: it will fail again.
        if outer._has_failed or not isinstance(outer.parent, Widget):
            return
        outer._has_failed = True
        if outer.has_focus_within:
            outer.parent.focus()
        reason = reason_in(type(self).__mro__[2], problem, "en", *outer.guarded_classes)
        outer.parent.post_message(self.Failed(outer.guarded_id, reason))

    @property
    def _outer(self) -> "Guard":
        return [one for one in self.ancestors_with_self if isinstance(one, Guard)][-1]

    def mount(self, *widgets: Widget, **where: Any) -> AwaitMount:
        for widget in widgets:
            if not isinstance(widget, Guard):
                widget.__class__ = _guarded_class(type(widget))
        return super().mount(*widgets, **where)

    def compose(self) -> ComposeResult:
        """Yield the children one by one, as containers collect what is composed within them."""
        try:
            yield from super().compose()
        except Exception as problem:
            self.guarded_failed(problem)

    def render(self) -> VisualType:
        nothing: VisualType = Content("")
        return self.guarded(super().render, nothing)

    def render_line(self, y: int) -> Strip:
        return self.guarded(lambda: super(Guard, self).render_line(y), Strip.blank(self.size.width))

    def render_lines(self, crop: Region) -> list[Strip]:
        blank = [Strip.blank(crop.width)] * crop.height
        return self.guarded(lambda: super(Guard, self).render_lines(crop), blank)

    def get_content_width(self, container: Size, viewport: Size) -> int:
        return self.guarded(lambda: super(Guard, self).get_content_width(container, viewport), 1)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        wanted = super().get_content_height
        return self.guarded(lambda: wanted(container, viewport, width), 1)

    async def on_event(self, event: events.Event) -> None:
        try:
            await super().on_event(event)
        except Exception as problem:
            self.guarded_failed(problem)

    def set_timer(
        self, delay: float, callback: TimerCallback | None = None, **options: Any
    ) -> Timer:
        return super().set_timer(delay, self._timed(callback), **options)

    def set_interval(
        self, interval: float, callback: TimerCallback | None = None, **options: Any
    ) -> Timer:
        return super().set_interval(interval, self._timed(callback), **options)

    def _timed(self, callback: TimerCallback | None) -> TimerCallback | None:
        if callback is None:
            return None

        async def call() -> None:
            result = self.guarded(callback, None)
            if isawaitable(result):
                await self.guarded_wait(lambda: result)

        return call

    def window_changed(self) -> None:
        changed: Callable[[], Any] = getattr(super(), "window_changed", lambda: None)
        self.guarded(changed, None)


def own_widget(window: Window) -> Guard | None:
    """Return the window's custom widget, guarded, or None; raise an OwnWidgetError if broken."""
    spec = type(window).widget
    if spec is None:
        return None
    owner = next(cls for cls in type(window).__mro__ if vars(cls).get("widget") == spec)
    module_name, _, name = spec.partition(":")
    found: list[type] = [owner]
    try:
        cls = getattr(_widget_module(owner, module_name, name), name, None)
        if not isinstance(cls, type) or not issubclass(cls, Widget):
            raise OwnWidgetError(
                f'widget = "{spec}": {module_name} has no class {name} that extends '
                "textual.widget.Widget"
            )
        found.append(cls)
        made: Guard = _guarded_class(cls)(window)
        made.guarded_id, made.guarded_classes = window.id, tuple(found)
    except OwnWidgetError:
        raise
    except (Exception, SystemExit) as problem:
        raise OwnWidgetError(reason_in(owner, problem, "en", *found)) from problem
    return made


def _widget_module(owner: type, module_name: str, name: str) -> ModuleType:
    """Import the module of a widget: the window's own file, an installed one, or one beside it.

    An installed module comes before a file beside the window's, which could hide it. If there is
    none, the error says what to write.
    """
    siblings, own = siblings_of(owner.__module__), sys.modules.get(owner.__module__)
    file = Path(getattr(own, "__file__", None) or "?")
    if own is not None and siblings is not None and file.stem == module_name:
        return own
    try:
        return import_module(module_name)
    except ModuleNotFoundError as problem:
        if siblings is None or problem.name != module_name.partition(".")[0]:
            raise
    if "." not in module_name and (module := siblings.load(module_name)) is not None:
        return module
    raise OwnWidgetError(
        f'widget = "{module_name}:{name}": there is no module {module_name}. Put the class into '
        f"{module_name}.py beside {file.name}; or into {file.name}, and write "
        f'widget = "{file.stem}:{name}"'
    )


@cache
def _guarded_class(cls: type[Widget]) -> type[Any]:
    return types.new_class(cls.__name__, (Guard, cls))


def guard_of(error: BaseException) -> Guard | None:
    """Return the guarded widget whose code raised, or None if it was our own code."""
    found = map(guard_around, nodes_of(error))
    return next((one for one in found if one is not None), None)


def nodes_of(error: BaseException) -> list[object]:
    """Return the objects whose methods raised, outermost first; of a worker, its node is first."""
    found: list[object] = []
    if isinstance(error, WorkerFailed):
        with suppress(NoActiveWorker):
            found.append(get_current_worker().node)
    for frame, _ in walk_tb(cause_of(error).__traceback__):
        found.append(frame.f_locals.get("self"))
    return found


def cause_of(error: BaseException) -> BaseException:
    """Return the original exception of a worker failure."""
    return error.error if isinstance(error, WorkerFailed) else error


def guard_around(node: object) -> Guard | None:
    """Return the guarded widget that a node is or is part of."""
    around = node.ancestors_with_self if isinstance(node, DOMNode) else []
    return next((one for one in around if isinstance(one, Guard)), None)


def hook(widget: object, name: str) -> Any:
    """Return what a custom widget offers to its frame under this name; else None."""
    if not isinstance(widget, Guard):
        return None
    return widget.guarded(lambda: getattr(widget, name, None), None)


def call_hook(widget: Widget, name: str, *given: object) -> None:
    """Call a method that a custom widget offers to its frame, if it has it."""
    call = hook(widget, name)
    if isinstance(widget, Guard) and call is not None:
        widget.guarded(lambda: call(*given), None)


async def settle(widget: Widget) -> None:
    """Await `settle()`, which is called before an action runs for the person or the model."""
    if isinstance(widget, Guard):
        await widget.guarded_wait(hook(widget, "settle"))


def keeps(focused: Widget | None, *names: str) -> bool:
    """Return whether a widget around the focus says so: `keeps_keys`, or `keeps_tab`."""
    around = focused.ancestors_with_self if focused is not None else []
    return any(hook(one, name) is True for one in around for name in names)


S = TypeVar("S", bound=WindowState)


def stated(window: Window, kind: type[S]) -> S | None:
    """Return the saved state of the latest render, or None if there is none yet.

    The window's thread may be changing `window.state` right now; this snapshot does not change.
    """
    saved = runtime_of(window).renders.latest().snapshot.state.custom
    return None if saved is None else kind.from_saved(saved)
