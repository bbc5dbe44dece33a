"""What a conversation is about: the windows that were used, and what "it" stands for."""

import re
from collections.abc import Mapping
from typing import Any

from contextui.agent.models.offline.reading.clauses import Clause
from contextui.agent.models.offline.referring.mentions import mention_of
from contextui.agent.models.offline.referring.references import windows_meant
from contextui.agent.models.offline.shown.blocks import WindowView
from contextui.agent.models.offline.shown.items import AROUND, find_by_words, main_items
from contextui.agent.models.offline.shown.paths import path_meant
from contextui.agent.models.offline.shown.scene import Call, Scene
from contextui.agent.models.offline.shown.surroundings import Last, Surroundings


class Topic:
    """What was used and spoken of last, clause by clause."""

    def __init__(self, scene: Scene) -> None:
        self._classes = scene.classes
        self._used = _used(scene)
        self._mentioned: tuple[str, ...] = tuple(self._used[:1])
        acted = (one for one in scene.earlier if one.tool == "action" and one.ok)
        self._last = next(map(_last, acted), Last())

    def around(self, windows: tuple[WindowView, ...]) -> Surroundings:
        """What a clause is understood in, with these windows open."""
        return Surroundings(windows, self._classes, tuple(self._used), self._mentioned, self._last)

    def use(self, window_id: str) -> None:
        """Take note that a window is used."""
        self._used = [window_id, *(one for one in self._used if one != window_id)]
        self._mentioned = (window_id,)

    def follow(self, call: Call) -> None:
        """Take note of a call that was made."""
        if call.tool in ("action", "create") and call.ok:
            self._last = _last(call)
        if call.window_id:
            self.use(call.window_id)

    def expect(self, window_id: str, params: Mapping[str, Any]) -> None:
        """Take note of a call that is going to be made."""
        self.use(window_id)
        self._last = Last(window_id, tuple(params.items()))

    def hear(self, clause: Clause, around: Surroundings, *, told: bool, asked: bool) -> None:
        """Take note of what a clause is about.

        Args:
            clause: What was said.
            around: What it was understood in.
            told: Whether it was a remark, which wishes for nothing.
            asked: Whether it was a question that got its answer.
        """
        meant = windows_meant(clause, around).windows
        named = [one for one in around.windows if mention_of(clause, one)[0] >= 2.0]
        if told and len(named) == 1:
            self.use(named[0].id)
        if meant or named:
            self._mentioned = tuple(one.id for one in meant or named)
        if told or asked:
            self._hear_of_items(clause, around)

    def _hear_of_items(self, clause: Clause, around: Surroundings) -> None:
        """What a remark or a question is about is what "it" means in the wish behind it."""
        said = [one for one in clause.tokens if not one.is_small]
        for window in around.windows:
            found = find_by_words(main_items(window), " ".join(one.text for one in said))
            path = path_meant(window, said)
            if path is not None:
                self._last = Last(window.id, (("path", path),))
            elif found.fit >= AROUND and len(found.items) == 1:
                self._last = Last(window.id, (("", found.items[0].text),))


def _used(scene: Scene) -> list[str]:
    """The windows in the order of their last use, the latest first."""
    found: dict[str, None] = {}
    for call in scene.earlier:
        if call.window_id:
            found.setdefault(call.window_id)
        elif call.ok:
            words = re.split(r"[\s.。]+", call.result)
            for window in scene.windows:
                if window.id in words:
                    found.setdefault(window.id)
    return list(found)


def _last(call: Call) -> Last:
    given: Any = call.input.get("args" if call.tool == "create" else "params")
    return Last(call.window_id, tuple(given.items()) if isinstance(given, Mapping) else ())
