"""The action with which a window moves one of its things to a place."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from contextui.agent.models.offline.filling.frame import Frame
from contextui.agent.models.offline.filling.pointing import wants_item
from contextui.agent.models.offline.planning.wishing import Planned
from contextui.agent.models.offline.shown.blocks import Action, Item, WindowView
from contextui.agent.models.offline.shown.declared import Param
from contextui.agent.models.offline.shown.items import value_of
from contextui.agent.models.offline.shown.profiles import profile_of


@dataclass(frozen=True, slots=True)
class Mover:
    """The action of a window that moves one of its things to a place."""

    action: Action
    item: Param
    place: Param

    def call(self, window: WindowView, pool: Sequence[Item], at: int, place: int) -> Planned:
        """The call that moves what stands at one place, from 0, to another."""
        return self.call_for(window, value_of(pool[at], self.item, pool), place)

    def call_for(self, window: WindowView, item: Any, place: int) -> Planned:
        """The call that moves a thing to a place, from 0."""
        params = {self.item.name: item, self.place.name: place + 1}
        given = {"window_id": window.id, "action_id": self.action.id, "params": params}
        return Planned("action", given)


def mover_of(window: WindowView) -> Mover | None:
    """The action of a window that moves things, if it has one."""
    for action in window.actions:
        needed = [one for one in action.params if not one.optional]
        verbs = profile_of(action).verbs
        if "@move" not in verbs or len(needed) != 2:
            continue
        frame = Frame(action, window, verbs)
        places = [one for one in needed if one.is_place and one.is_number]
        items = [one for one in needed if one not in places and wants_item(one, frame)]
        if len(places) == len(items) == 1:
            return Mover(action, items[0], places[0])
    return None
