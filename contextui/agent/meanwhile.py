"""What a person did to windows since the model saw them last, told in one line."""

import threading
from collections.abc import Callable

from contextui.config.choices import Lang
from contextui.context.following import GAVE_UP
from contextui.context.item import ContextItem, ItemType
from contextui.context.manager import ContextManager
from contextui.events import Event, WindowActed, WindowClosed, WindowNotOpened
from contextui.text import one_line

_MOST = 12  # things that are named; of more than these only how many there were
_WORDS: dict[Lang, tuple[str, str]] = {
    "en": ("(Meanwhile the person did: {deeds}.)", "{count} more before"),
    "zh": ("（在此期间用户操作了：{deeds}。）", "以及之前的 {count} 项"),
}
_NOT_OPENED: dict[Lang, str] = {
    "en": "(Did not open and is closed: {id}. {reason})",
    "zh": "（没有打开，已关闭：{id}。{reason}）",
}


class Meanwhile:
    """Listens to the windows of a context for what the person does.

    A closing with a summary is not told: the context has that in words of its own.
    """

    def __init__(self, context: ContextManager) -> None:
        self._context = context
        self._deeds: list[str] = []
        self._failures: list[str] = []
        self._lock = threading.Lock()
        self.stop: Callable[[], None] = lambda: None
        if context.windows is not None:
            self.stop = context.windows.subscribe(self._hear)

    def tell(self) -> ContextItem | None:
        """Put the line into the context, if there is anything to tell."""
        with self._lock:
            deeds, self._deeds = self._deeds, []
        if self._context.windows is None:
            return None
        failures = self.take_failures()
        if not deeds:
            return self._context.add(ContextItem(ItemType.USER, failures)) if failures else None
        line, more = _WORDS[self._context.windows.lang]
        if left_out := len(deeds) - _MOST:
            deeds = [more.format(count=left_out), *deeds[-_MOST:]] if left_out > 0 else deeds
        words = "\n".join(filter(None, [line.format(deeds=", ".join(_counted(deeds))), failures]))
        return self._context.add(ContextItem(ItemType.USER, words))

    def take_failures(self) -> str:
        """Lines for the model on windows that failed to open after their `create` had returned.

        Each failure is reported once: with the next result, or before the next message.
        """
        with self._lock:
            failures, self._failures = self._failures, []
        return "\n".join(failures)

    def _hear(self, event: Event) -> None:
        match event:
            case WindowNotOpened():
                lang = self._context.windows.lang if self._context.windows else "en"
                reason = one_line(event.reason, 500)
                with self._lock:
                    self._failures.append(
                        _NOT_OPENED[lang].format(id=event.window_id, reason=reason)
                    )
            case WindowActed(actor="person", ok=True):
                self._note(f"{event.window_id}.{one_line(event.action_id, 40)}")
            case WindowClosed(actor="person", summary=summary) if not (summary or "").strip():
                self._note(f"{event.window_id}.close{self._given_up(event)}")

    def _given_up(self, event: WindowClosed) -> str:
        lang = self._context.windows.lang if self._context.windows else "en"
        return GAVE_UP[lang].format(what=event.given_up) if event.given_up else ""

    def _note(self, deed: str) -> None:
        with self._lock:
            self._deeds.append(deed)


def _counted(deeds: list[str]) -> list[str]:
    """The same with repetitions in a row counted: ``todo_1.add ×3``."""
    runs: list[tuple[str, int]] = []
    for deed in deeds:
        if runs and runs[-1][0] == deed:
            runs[-1] = (deed, runs[-1][1] + 1)
        else:
            runs.append((deed, 1))
    return [deed if count == 1 else f"{deed} ×{count}" for deed, count in runs]
