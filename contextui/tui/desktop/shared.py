"""State and helpers shared by all windows: last actors, gists, facts, and widget hooks."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from textual.content import Content
from textual.message import Message

from contextui.events import Progress
from contextui.text import one_line
from contextui.tui.lines import KEY, MUTED, RULE, age, line, short
from contextui.windowing.action import Action
from contextui.windowing.manager import WindowManager
from contextui.windowing.runtime import runtime_of
from contextui.windowing.snapshot import Lod
from contextui.windowing.window import Window
from contextui.words import Words, msg

_MARKS = {"person": ("◇", msg("you"), "$text-secondary"), "model": ("◆", "model", "$text-accent")}


def last_action(window: Window, words: Words) -> Content:
    """Return who acted last, ``◇ you 12s``.

    A window that changes later by itself, as a clock does, has no actor: only its age is shown.
    """
    core = runtime_of(window).core
    actor, at = core.touched
    ago = (age((core.around.clock() - at).total_seconds()), MUTED)
    if actor not in _MARKS:
        return Content.assemble(ago)
    mark, name, style = _MARKS[actor]
    return Content.assemble((f"{mark} {words(name)} ", style), ago)


_LONGEST = 200  # characters: more than a line of the widest screen needs


class Gists:
    """The newest gists of windows, each requested once for a version of the window's data."""

    def __init__(self, on_ready: Callable[[str], object]) -> None:
        self._on_ready = on_ready
        self._asked = WeakKeyDictionary[Window, int]()

    def of(self, window: Window) -> str:
        renders, major = runtime_of(window).renders, window.version.major
        if self._asked.get(window) != major:
            self._asked[window] = major
            renders.request(Lod.GIST).add_done_callback(lambda _: self._on_ready(window.id))
        gist = renders.finished(Lod.GIST)
        if gist is None or gist.snapshot.error:
            return ""
        return one_line(gist.snapshot.content, _LONGEST)


@dataclass(frozen=True, slots=True)
class Setting:
    """State shared by all windows."""

    windows: WindowManager
    words: Words
    gists: Gists
    tokens: Callable[[str], int | None]  # by window id; None if unknown
    notices: dict[str, str] = field(default_factory=dict)  # reported since the person looked
    opened: dict[str, float] = field(default_factory=dict)  # when; not seen by the person yet


_GAP = "   "


def facts_of(window: Window, setting: Setting, width: int) -> Content:
    """Return actor, level of detail and tokens, as far as they fit into a window's border."""
    words, lod, count = setting.words, window.lod, setting.tokens(window.id)
    actor = last_action(window, words)
    late = (words("busy"), "$text-warning") if runtime_of(window).worker.is_late else ""
    detail = (words(lod.value), MUTED) if lod is not Lod.FULL else ""
    tokens = ("–" if count is None else short(count), MUTED)
    for parts in ((actor, late, detail, tokens), (actor, late, tokens), (late, tokens)):
        row = Content(_GAP).join([Content.assemble(part) for part in parts if part])
        if row.cell_length <= width:
            return row
    return Content("")


def name_of(window: Window) -> str:
    """Return the window's name, or its id if it is not the first of that name."""
    return window.name if window.id == f"{window.name}_1" else window.id


def heading(number: int, window: Window, rest: str) -> Content:
    """Return the title: ``1 todo  3 open``."""
    return Content.assemble(
        (f"{number} ", KEY), (line(name_of(window)), "bold"), (f"  {line(rest)}".rstrip(), MUTED)
    )


_BAR_LEAST, _BAR_MOST = 5, 40  # cells of a progress bar


def progress_of(window: Window, notice: str, room: int) -> Content:
    """Return how far the window's jobs are, and what it reported: ``━━━━──── 4 of 9   12s``."""
    jobs = runtime_of(window).jobs.running()
    parts: list[Content | str] = []
    if jobs:
        job = jobs[-1]
        parts += [line(job.place), f"{max(time.monotonic() - job.started, 0):.0f}s"]
        parts += [f"+{len(jobs) - 1}"] if len(jobs) > 1 else []
    if notice:
        parts.append(Content.assemble(("● ", "$text-accent"), (line(notice), MUTED)))
    shown = [part if isinstance(part, Content) else Content.styled(part, MUTED) for part in parts]
    words = Content(_GAP).join([one for one in shown if one.plain])
    if not jobs:
        return words
    cells = min(max(room - words.cell_length - 1, _BAR_LEAST), _BAR_MOST)
    return Content.assemble(_bar(jobs[-1], cells), " ", words)


def _bar(job: Progress, cells: int) -> Content:
    """Return a bar: filled by what is done, or a piece that moves if that is unknown."""
    if job.done is not None and job.total:
        filled = min(max(round(cells * job.done / job.total), 0), cells)
        return Content.assemble(("━" * filled, "$primary"), ("─" * (cells - filled), RULE))
    place = int((time.monotonic() - job.started) * 4) % (cells - 2)
    rest = cells - 3 - place
    return Content.assemble(("─" * place, RULE), ("━━━", "$primary"), ("─" * rest, RULE))


class ActionRequested(Message):
    """Posted when the person wants to run an action or an anchor of the window.

    Custom widgets of windows may post it. The frame runs the action as the person and shows the
    result in its border.

    Args:
        action_id: The action.
        params: Its params.
        fill_in: Whether the person fills in the params first, in a form.

    Example:
        >>> self.post_message(ActionRequested("done", {"item": 3}))
    """

    def __init__(
        self, action_id: str, params: Mapping[str, Any] | None = None, *, fill_in: bool = False
    ) -> None:
        super().__init__()
        self.action_id, self.fill_in = action_id, fill_in
        self.params: Mapping[str, Any] = params or {}


class MentionRequested(Message):
    """Posted when the person wants to add a file to their message.

    Custom widgets of windows may post it.

    Args:
        path: The file, relative to the workspace. It may hold any character.
    """

    def __init__(self, path: str) -> None:
        super().__init__()
        self.path = path


class WindowRequested(Message):
    """Posted when the person wants to go to another window.

    Custom widgets of windows may post it.
    """

    def __init__(self, window_id: str) -> None:
        super().__init__()
        self.window_id = window_id


class FileRequested(Message):
    """Posted when the person wants to edit a file: the cursor goes into its text.

    Custom widgets of windows may post it.

    Args:
        path: The file, relative to the session's folder.
        line: The line to go to; by default an open editor stays where it is.
    """

    def __init__(self, path: str, line: int | None = None) -> None:
        super().__init__()
        self.path, self.line = path, line


_NAMES = {"undone": msg("Not done")}  # beside "Undo" it would be misread


def short_name(action: Action, words: Words) -> str:
    """Return an action's display name; a trailing … means that it has required params.

    Example:
        >>> short_name(TodoWindow.actions["clear_done"], Words("en"))
        'Clear done'
    """
    name = words(_NAMES.get(action.id) or line(action.id.replace("_", " ").strip().capitalize()))
    return f"{name}…" if needs_words(action) else name


def needs_words(action: Action) -> bool:
    """Return whether the action has required params."""
    return any(not param.optional for param in action.params.listing)


def in_turn(actions: Mapping[str, Action], first: Sequence[str]) -> Iterable[Action]:
    """Return all actions: these first, then the others as declared."""
    ahead = [actions[one] for one in first if one in actions]
    return [*ahead, *(action for action in actions.values() if action not in ahead)]
