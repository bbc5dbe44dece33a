"""The session as the screen uses it, and its changes, collected in batches."""

import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from contextui.agent.controller import InteractionController
from contextui.config.schema import Notify
from contextui.config.settings import OFFLINE
from contextui.config.sources import Loaded, load_settings
from contextui.context.item import ItemType
from contextui.events import (
    Event,
    JobsChanged,
    WindowActed,
    WindowChanged,
    WindowClosed,
    WindowDetailChanged,
    WindowNotified,
    WindowNotOpened,
    WindowOpened,
    WindowOpenedAgain,
    WindowReady,
    WindowRestored,
    WindowTroubled,
)
from contextui.model import has_cache
from contextui.session.session import Session
from contextui.text import turn_cost
from contextui.tokens import Usage
from contextui.windowing.finding.registry import Registry
from contextui.windowing.finding.reload import Reloader
from contextui.windowing.runtime import runtime_of
from contextui.words import Text, Words

if TYPE_CHECKING:
    from contextui.context.messages import Composition


@dataclass(slots=True)
class AppSession:
    """Everything a screen works on."""

    session: Session
    controller: InteractionController
    registry: Registry = field(default_factory=Registry)  # the windows found when it was opened
    notices: list[Text] = field(default_factory=list)  # shown at startup, one line each
    flags: Mapping[str, Any] = field(default_factory=dict)  # settings from the command line
    switch_model: Callable[[str], None] = lambda _: None  # by name; raises a ContextUIError
    switch_strategy: Callable[[str], None] = lambda _: None  # likewise
    wakes: bool = False  # whether a window's notification starts a turn when the model is idle
    notify: Notify = "bell"  # how, while the terminal has not the focus
    load_settings: Callable[[], Loaded] = field(init=False)  # again, with new keys
    reloader: Reloader = field(init=False)  # loads changed window files again
    _figures: "tuple[tuple[int, ...], Composition, dict[str, int]] | None" = None

    def __post_init__(self) -> None:
        home, folder = self.session.path.parents[2], Path(self.session.cwd)
        self.load_settings = lambda: load_settings(self.flags, os.environ, home, folder)
        self.reloader = Reloader(self.registry, self.session.windows)

    @property
    def is_offline(self) -> bool:
        return self.session.model == OFFLINE

    @property
    def model_name(self) -> str:
        """The name that chooses the model again."""
        return self.session.model.partition(" ")[0] or self.controller.model.name

    @property
    def has_messages(self) -> bool:
        return any(one.type is ItemType.USER for one in self.session.context.get_all())

    @property
    def has_cache(self) -> bool:
        """Whether the model has a prompt cache."""
        return has_cache(self.controller.model)

    def cost_of(self, usage: Usage) -> float | None:
        """Return the cost of a usage in dollars, or None if the model has no known prices."""
        cost = getattr(self.controller.model, "cost", None)
        try:
            return float(found) if callable(cost) and (found := cost(usage)) is not None else None
        except Exception:  # models may be third-party code
            return None

    def rewrite_cost(self, tokens: int) -> float | None:
        """Return what tokens cost more if they have to be written to the cache again."""
        written = self.cost_of(Usage(cache_creation_input_tokens=tokens))
        read = self.cost_of(Usage(cache_read_input_tokens=tokens))
        return None if written is None or read is None else max(written - read, 0.0)

    @property
    def sent_tokens(self) -> int:
        """What the next request of the conversation has; 0 if there is none yet."""
        context, tools = self.session.context, self.controller.strategist.reserved
        return context.counter.calibrated(tools + context.outlook().tokens) * self.has_messages

    def note_model(self, name: str, before: str) -> None:
        """Remember in the session which model answers, and say so if it was another one before."""
        session, words = self.session, Words(self.session.windows.lang)
        session.use_model(name)
        if not before or f"/{name}".endswith(f"/{before}"):  # an old log has no provider
            return
        text = words("Model: {old} → {new}", old=before, new=name)
        if self.has_cache and (tokens := self.sent_tokens):
            cost = self.cost_of(Usage(cache_creation_input_tokens=tokens))
            text += f"; {new_cache(words, tokens, cost)}"
        session.notices.append(text)

    def job_in(self, window_id: str) -> str:
        """Return the name of the newest running job of a window; empty if there is none."""
        window = self.session.windows.get(window_id)
        jobs = runtime_of(window).jobs.running() if window is not None else []
        return jobs[-1].name if jobs else ""

    def tokens_of(self, window_id: str) -> int | None:
        """Return a window's tokens in the next request, or None if no item refers to it.

        Of several windows of a class, the first has the actions of all, as in the inspector. One
        that is left out has the tokens that it would have alone.
        """
        context, windows = self.session.context, self.session.windows
        items = context.window_items(window_id)
        if not items:
            return None
        if items[-1].hidden is not None:
            return context.counter.calibrated(context.item_tokens(items[-1]))
        state = (
            context.generation,
            *(hash(runtime_of(window).renders.latest().xml) for window in windows.windows()),
        )
        if self._figures is None or self._figures[0] != state:
            self._figures = state, context.outlook(), {}
        _, outlook, known = self._figures
        if window_id not in known:
            known[window_id] = context.tokens_in(outlook, items[-1])
        return context.counter.calibrated(known[window_id])

    def close(self) -> None:
        self.controller.close()
        self.session.close()


def new_cache(words: Words, tokens: int, dollars: float | None) -> str:
    """Say what a change of the model costs at once: nothing is in its cache."""
    text = words("a new cache starts: {tokens} tokens", tokens=f"{tokens:,}") if tokens else ""
    return text if not dollars else text + words(", {cost}", cost=turn_cost(dollars))


@dataclass(slots=True)
class Changes:
    """What changed since the screen last took changes."""

    windows: set[str] = field(default_factory=set)
    acted: set[str] = field(default_factory=set)
    again: list[str] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)
    notified: dict[str, str] = field(default_factory=dict)
    not_opened: dict[str, str] = field(default_factory=dict)  # and why


class ChangeCollector:
    """Subscribes to a session's events, on any thread, and collects what changed."""

    def __init__(self, desk: AppSession, wake: Callable[[], object]) -> None:
        self._wake = wake
        self._changes: Changes | None = None
        self._lock = threading.Lock()
        self._ends = [
            desk.session.windows.subscribe(self._handle),
            desk.session.context.subscribe(self._handle),
        ]

    def take(self) -> Changes:
        with self._lock:
            changes, self._changes = self._changes or Changes(), None
        return changes

    def close(self) -> None:
        for end in self._ends:
            end()

    def _handle(self, event: Event) -> None:
        with self._lock:
            is_first = self._changes is None
            changes = self._changes = self._changes or Changes()
            match event:
                case WindowActed():
                    changes.acted.add(event.window_id)
                    changes.windows.add(event.window_id)
                case WindowNotified():
                    changes.notified[event.window_id] = event.text
                    changes.windows.add(event.window_id)
                case WindowOpenedAgain():
                    changes.again.append(event.window_id)
                    changes.windows.add(event.window_id)
                case WindowNotOpened():
                    changes.not_opened[event.window_id] = event.reason
                case WindowTroubled():
                    changes.troubles.append(f"{event.window_id} {event.reason}")
                case (
                    WindowOpened() | WindowReady() | WindowRestored() | WindowChanged()
                    | WindowClosed() | WindowDetailChanged() | JobsChanged()
                ):  # fmt: skip
                    changes.windows.add(event.window_id)

        if is_first:
            self._wake()
