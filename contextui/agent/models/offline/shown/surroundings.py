"""What a clause is understood in: windows, classes, and what the conversation was about."""

from dataclasses import dataclass
from typing import Any

from contextui.agent.models.offline.shown.blocks import ClassView, WindowView
from contextui.agent.models.offline.shown.profiles import profile_of


@dataclass(frozen=True, slots=True)
class Last:
    """The call before: what "it" and "there" stand for.

    Attributes:
        window_id: The window that it acted on; empty if it opened one.
        params: Its params, or the args that a window was opened with.
    """

    window_id: str = ""
    params: tuple[tuple[str, Any], ...] = ()

    def get(self, name: str) -> Any:
        """The value of a param of this name, or of its plural; None if there is none."""
        wanted = name.removesuffix("s")
        for one, value in self.params:
            if one.removesuffix("s") == wanted:
                single = isinstance(value, list) and len(value) == 1 and not name.endswith("s")
                return value[0] if single else value
        return None


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a clause is understood in.

    Attributes:
        windows: The open windows, in the order in which they came.
        classes: The classes that can be opened.
        used: The ids of windows in the order of their last use, the latest first.
        mentioned: The ids of the windows that were spoken of last.
        last: The call before.
        opening: Whether another window may be opened for it.
    """

    windows: tuple[WindowView, ...]
    classes: tuple[ClassView, ...]
    used: tuple[str, ...] = ()
    mentioned: tuple[str, ...] = ()
    last: Last = Last()
    opening: bool = True

    def declared(self) -> frozenset[str]:
        """The words with which open windows name their actions."""
        found = set[str]()
        for window in self.windows:
            for action in window.actions:
                profile = profile_of(action)
                for keys in (*profile.names, *profile.heads):
                    found |= {key for key in keys if key[0] not in "@#~'"}
        return frozenset(found)
