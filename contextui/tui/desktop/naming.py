"""What actions are called where there is little room."""

from collections.abc import Iterable, Mapping, Sequence

from contextui.tui.cells import line
from contextui.tui.words import Words
from contextui.windowing.action import Action


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
