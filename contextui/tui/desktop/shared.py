"""What all windows on the screen share."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from contextui.text import one_line
from contextui.tui.desktop.widgets import Guard
from contextui.tui.lines import KEY, MUTED, age, line, short
from contextui.tui.words import Words
from contextui.windowing.action import Action
from contextui.windowing.env import Clock
from contextui.windowing.manager import WindowManager
from contextui.windowing.snapshot import Lod
from contextui.windowing.window import Window
from contextui.windowing.worker import PATIENCE

_MARKS = {"person": ("◇", "you", "$text-secondary"), "model": ("◆", "model", "$text-accent")}


@dataclass(frozen=True, slots=True)
class Doing:
    """The last thing that happened to a window.

    Attributes:
        actor: Who did it; empty if it was the window itself.
        at: When.
        major: The version of its data since.
    """

    actor: str
    at: datetime
    major: int


class Doings:
    """Remembers for each window who acted last.

    A window that changes later by itself, as a clock does, was acted on by nobody: its age alone
    is told.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last: dict[str, Doing] = {}

    def note(self, window: Window, actor: str | None) -> None:
        """Take in that a window changed, and who acted on it if anyone did."""
        known, major = self._last.get(window.id), window.version.major
        if actor is not None:
            self._last[window.id] = Doing(actor, self._clock(), major)
        elif known is None or known.major != major:
            drawn = window.runtime.renders.latest().snapshot.header.timestamp
            self._last[window.id] = Doing("", drawn, major)

    def forget(self, window_id: str) -> None:
        """Let go of a window that was closed."""
        self._last.pop(window_id, None)

    def told(self, window_id: str, words: Words) -> Content:
        """Who acted and how long ago: ``◇ you 12s``, or the age alone."""
        known = self._last.get(window_id)
        if known is None:
            return Content("")
        ago = (age((self._clock() - known.at).total_seconds()), MUTED)
        if known.actor not in _MARKS:
            return Content.assemble(ago)
        mark, name, style = _MARKS[known.actor]
        return Content.assemble((f"{mark} {words(name)} ", style), ago)


_LONGEST = 200  # characters: more than a line of the widest screen needs


class Gists:
    """Has gists drawn, and remembers them.

    Args:
        tell: Called with a window's id, on any thread, when its gist is there.
    """

    def __init__(self, tell: Callable[[str], object]) -> None:
        self._tell = tell
        self._known: dict[str, str] = {}
        self._asked: dict[str, int] = {}

    def of(self, window: Window) -> str:
        """The gist as it was drawn last; a new one is on its way if the window has changed."""
        major = window.version.major
        if self._asked.get(window.id) != major:
            self._asked[window.id] = major
            drawing = window.runtime.renders.request(Lod.GIST)
            drawing.add_done_callback(lambda done: self._take(window, done))
        return self._known.get(window.id, "")

    def forget(self, window_id: str) -> None:
        """Let go of a window that was closed."""
        self._known.pop(window_id, None)
        self._asked.pop(window_id, None)

    def _take(self, window: Window, drawing: "Future[None]") -> None:
        """On the window's thread, so that its render is there and nobody waits for it."""
        if drawing.cancelled() or drawing.exception() is not None:
            return
        snapshot = window.runtime.renders.at(Lod.GIST).snapshot
        self._known[window.id] = "" if snapshot.error else one_line(snapshot.content, _LONGEST)
        self._tell(window.id)


@dataclass(frozen=True, slots=True)
class Setting:
    """What all windows share.

    Attributes:
        windows: The open windows.
        words: The language.
        doings: Who acted last.
        gists: Each window in a line.
        tokens: What a window costs, by its id; None if that is not known.
    """

    windows: WindowManager
    words: Words
    doings: Doings
    gists: Gists
    tokens: Callable[[str], int | None]


_GAP = "   "


@dataclass(frozen=True, slots=True)
class Facts:
    """What is told of a window below its content."""

    doing: Content
    lod: str
    tokens: str
    is_late: bool = False

    def within(self, width: int, words: Words) -> Content:
        """As much as fits, the least important left out first."""
        late = (words("late"), "$text-warning") if self.is_late else ""
        detail = (words(self.lod), MUTED)
        tokens = (self.tokens, MUTED)
        for parts in (
            (self.doing, late, detail, tokens),
            (self.doing, late, tokens),
            (late, tokens),
        ):
            told = Content(_GAP).join([Content.assemble(one) for one in parts if one])
            if told.cell_length <= width:
                return told
        return Content("")


def facts_of(window: Window, doings: Doings, tokens: int | None, words: Words) -> Facts:
    """Who acted, how much of itself the window shows, and what that costs."""
    return Facts(
        doings.told(window.id, words),
        window.lod.value,
        "–" if tokens is None else short(tokens),
        window.runtime.worker.busy_for() >= PATIENCE,
    )


def name_of(window: Window) -> str:
    """The window's name; its id from the second of that name on."""
    return window.name if window.id == f"{window.name}_1" else window.id


def heading(number: int, window: Window, rest: str) -> Content:
    """``1 todo  3 open``."""
    return Content.assemble(
        (f"{number} ", KEY), (line(name_of(window)), "bold"), (f"  {line(rest)}".rstrip(), MUTED)
    )


class ActionWanted(Message):
    """The person wants an action of the window, or of one of its anchors, carried out.

    Any widget that a window brings may post it. The frame carries the action out in the person's
    name and tells in its last row what came of it.

    Example:
        >>> self.post_message(ActionWanted("done", {"item": 3}))
    """

    def __init__(self, action_id: str, params: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        self.action_id = action_id
        self.params: Mapping[str, Any] = params or {}


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


def short_name(action: Action, words: Words) -> str:
    """An action in a word or two; … says that it wants to know something first.

    Example:
        >>> short_name(TodoWindow.actions["clear_done"], Words("en"))
        'Clear done'
    """
    name = words(line(action.id.replace("_", " ").strip().capitalize()))
    return f"{name}…" if needs_words(action) else name


def needs_words(action: Action) -> bool:
    """Whether the action cannot be carried out without something being filled in."""
    return any(not param.optional for param in action.params.listing)


def in_turn(actions: Mapping[str, Action], first: Sequence[str]) -> Iterable[Action]:
    """All actions, these first, the others as they are declared."""
    ahead = [actions[one] for one in first if one in actions]
    return [*ahead, *(one for one in actions.values() if one not in ahead)]
