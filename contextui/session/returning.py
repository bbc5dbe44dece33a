"""The windows of an earlier run, on their way back."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from contextui.config.choices import Lang
from contextui.context.manager import ContextManager
from contextui.errors import ContextUIError
from contextui.session.entry import moment
from contextui.session.facts import CheckpointFacts
from contextui.text import one_line
from contextui.windowing.base import Window
from contextui.windowing.manager import WindowManager
from contextui.windowing.snapshot import ContextVersion, HistoryEntry, Lod


@dataclass(frozen=True, slots=True)
class _Words:
    """What the person is told of windows that are not as they were."""

    no_class: str
    unknown: str
    not_open: str
    stays: str
    stays_without: str
    was_opening: str


_WORDS: dict[Lang, _Words] = {
    "en": _Words(
        no_class="there is no window class {name} any more",
        unknown="{id} no longer knows what it kept as {names}.",
        not_open="{id} is not open: {problem}. It stays in the session as it was, {stays}.",
        stays="and is open again once its class can take that",
        stays_without="and is open again once its class is there: name its file with --window",
        was_opening="{id} was still opening when the session ended. It was not saved: open it "
        "again.",
    ),
    "zh": _Words(
        no_class="窗口类 {name} 已不存在",
        unknown="{id} 不再认识它保存过的 {names}。",
        not_open="{id} 没有打开：{problem}。它原样保留在会话中，{stays}。",
        stays="等它的类能够接受该状态时会再次打开",
        stays_without="等它的类可用时会再次打开：请用 --window 指定其文件",
        was_opening="会话结束时 {id} 仍在打开，没有保存。请重新打开。",
    ),
}


_LONGEST_NUMBER = 10  # digits: a window's number that is longer was never given by us
_MOST_ROUNDS = 1_000  # of a window's history that are held, whatever the window wants to keep
_UNKNOWN_TIME = datetime.fromtimestamp(0, UTC)


class ReturningWindows:
    """Gathers what the log says of windows; then opens each once, as it stood at the end."""

    def __init__(self) -> None:
        self._open: dict[str, dict[str, Any]] = {}  # as `OpenedFacts`
        self._closed: dict[str, str] = {}
        self._renders: dict[str, str] = {}
        self._used: dict[str, None] = {}
        self._numbers: dict[str, int] = {}
        self._histories: dict[str, list[HistoryEntry]] = {}
        self.absent: list[dict[str, Any]] = []
        """What is known of windows that did not come back, as a checkpoint has it."""

    def load(self, data: CheckpointFacts) -> None:
        """Take the windows of a checkpoint."""
        self._open = {facts["windowId"]: dict(facts) for facts in data["windows"]}
        self._used = dict.fromkeys(data["used"])
        self._numbers = dict(data["numbers"])
        for facts in data["windows"]:
            self._histories[facts["windowId"]] = list(facts["history"])

    def apply(self, subtype: str, data: dict[str, Any], timestamp: str) -> None:
        """Take note of an entry about a window."""
        window_id = data["windowId"]
        match subtype:
            case "window_opened":
                self._open[window_id] = dict(data)
                self._count(data["name"], window_id)
                self._use(window_id)
            case "window_state" if window_id not in self._closed:
                # Its opening may be missing. Its name is the beginning of its id.
                name = window_id.rpartition("_")[0] or window_id
                self._open.setdefault(window_id, {"name": name}).update(data)
                self._use_first(window_id)
            case "window_acted":
                self._act(window_id, data, timestamp)
            case "window_focused":
                self._use(window_id)
            case "window_closed":
                self._open.pop(window_id, None)
                self._used.pop(window_id, None)
                self._closed[window_id] = data["render"] or ""
                self._histories.pop(window_id, None)

    @property
    def versions(self) -> dict[str, str]:
        """The version of each open window that the log knows."""
        return {window_id: facts["version"] for window_id, facts in self._open.items()}

    def render(self, facts: Mapping[str, Any]) -> str:
        """The XML of a copy that a request carried: told with it, or with the one before."""
        if "xml" in facts:
            self._renders[facts["windowId"]] = facts["xml"]
        return self._renders.get(facts["windowId"], "")

    def come_back(
        self,
        windows: WindowManager,
        context: ContextManager,
        warn: Callable[[str], None],
    ) -> None:
        """Open every window that was open, in the order in which they were opened.

        One whose class is not there, or does not take the state, is not among them. It stays in
        the session as it was, and comes back when its class does.
        """
        words = _WORDS[windows.lang]
        for window_id, facts in self._open.items():
            cls = windows.classes.get(facts["name"])
            try:
                if cls is None:
                    raise ContextUIError(words.no_class.format(name=facts["name"]))
                self._restore(windows, cls, window_id, facts)
                self._show_again(context, window_id)
                if unknown := set(facts["state"] or ()) - set(cls.State.model_fields):
                    warn(words.unknown.format(id=window_id, names=", ".join(sorted(unknown))))
            except Exception as problem:  # a window's own code may raise anything
                stays = words.stays if cls is not None else words.stays_without
                warn(words.not_open.format(id=window_id, problem=problem, stays=stays))
                self._closed[window_id] = self._renders.get(window_id) or facts.get("render") or ""
                self.absent.append(self._facts(window_id, facts))
        for window_id in self._used:
            if windows.get(window_id):
                windows.focus(window_id)
        for window_id in context.ledger.references:
            self._count(window_id.rpartition("_")[0], window_id)
        windows.remember(self._closed, self._numbers)
        for window_id in list(context.ledger.references):
            if windows.get(window_id) is None:
                shown = any(not item.is_obsolete for item in context.ledger.references[window_id])
                if shown and window_id not in self._closed:
                    warn(words.was_opening.format(id=window_id))
                context.mark_window_obsolete(window_id)

    def _restore(
        self, windows: WindowManager, cls: type[Window], window_id: str, facts: dict[str, Any]
    ) -> None:
        window = windows.restore(
            cls,
            window_id,
            facts["state"] or {},
            lod=Lod(facts["lod"]),
            version=ContextVersion.read(facts["version"]),
        )
        window.runtime.history.recall(self._histories.get(window_id, []))
        window.runtime.focus_id = facts.get("focusId")

    def _facts(self, window_id: str, facts: Mapping[str, Any]) -> dict[str, Any]:
        history = [one.model_dump(mode="json") for one in self._histories.get(window_id, ())]
        kept = {name: facts[name] for name in ("name", "version", "lod", "state")}
        focus = {"focusId": facts["focusId"]} if facts.get("focusId") else {}
        return {"windowId": window_id, **kept, "history": history, **focus}

    @staticmethod
    def _show_again(context: ContextManager, window_id: str) -> None:
        """A run without its class may have left its item hidden."""
        references = context.ledger.references.get(window_id, [])
        if references and references[-1].hidden == "closed":
            context.ledger.set(references[-1:], {"hidden": None})

    def _act(self, window_id: str, data: dict[str, Any], timestamp: str) -> None:
        if window_id in self._open and "focusId" in data:
            self._open[window_id]["focusId"] = data["focusId"]
        rounds = self._histories.setdefault(window_id, [])
        del rounds[:-_MOST_ROUNDS]
        rounds.append(
            HistoryEntry(
                round=rounds[-1].round + 1 if rounds else 1,
                action=data["action"],
                result=one_line(data["text"], 200),
                timestamp=moment(timestamp) or _UNKNOWN_TIME,
            )
        )

    def _use_first(self, window_id: str) -> None:
        """Note that there is a window of which nobody knows whether it was in use."""
        self._used.setdefault(window_id)

    def _use(self, window_id: str) -> None:
        self._used.pop(window_id, None)
        self._used[window_id] = None

    def _count(self, name: str, window_id: str) -> None:
        number = window_id.rpartition("_")[2]
        if number.isdecimal() and len(number) < _LONGEST_NUMBER:
            self._numbers[name] = max(self._numbers.get(name, 0), int(number))
