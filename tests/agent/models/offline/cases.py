"""Conversations in JSON files: what was said, and what must hold after the last turn.

A case is an object with these keys; all but the first three are optional:

    id, lang    its name, and the language ("en" or "zh") of the sentences and of the windows
    say         what the person types, one string per turn
    files       the files of the workspace, text by path
    setup       what happened before: {"open": name, "args"} or {"act": id, "action", "params"}
    nothing     true if nothing may change
    by          the calls of a perfect assistant, with {"close": id} too; they only serve to check
                that `expect` can be met
    expect      what must hold after the last turn:
        open      the ids of all open windows
        closed    ids of windows that were open and are closed
        states    of each window a part of its saved state: of an object the keys that matter,
                  of a list every element in order
        shown     of each window texts that its full content contains
        files     files of the workspace with their whole text
        answer    what the last answer contains, in any case; a list gives alternatives
"""

import asyncio
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias, TypedDict

from contextui import Lod, Window, WindowManager
from contextui.words import Lang
from tests.agent.models.offline.talk import Talk

Step: TypeAlias = Mapping[str, Any]


class Expectation(TypedDict, total=False):
    """What must hold after the last turn."""

    open: list[str]
    closed: list[str]
    states: Mapping[str, Any]
    shown: Mapping[str, list[str]]
    files: Mapping[str, str]
    answer: list[str | list[str]]


@dataclass(frozen=True, slots=True)
class Case:
    """A conversation and what is expected of it."""

    id: str
    lang: Lang
    say: list[str]
    expect: Expectation
    files: Mapping[str, str] = field(default_factory=dict)
    setup: Iterable[Step] = ()
    by: Iterable[Step] = ()
    nothing: bool = False

    async def begin(self, windows: WindowManager) -> None:
        """Write the files, and do what comes before the first turn."""
        for path, text in self.files.items():
            place = _place(windows, path)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(text.encode())
        await self.carry_out(self.setup, windows)

    async def carry_out(self, steps: Iterable[Step], windows: WindowManager) -> None:
        """Open, act and close as the person does."""
        for step in steps:
            if "open" in step:
                windows.open(step["open"], **step.get("args", {}))
            elif "close" in step:
                windows.close(step["close"])
            else:
                given = step["act"], step["action"], step.get("params", {})
                result = await windows.act(*given, actor="person")
                assert result.ok, f"{self.id}: {result.text}"
            await windows.settle()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a conversation: the calls, what is not as expected, and whether it changed
    windows or files.
    """

    calls: tuple[str, ...]
    problems: tuple[str, ...]
    has_changed: bool


def load(path: Path) -> list[Case]:
    return [Case(**one) for one in json.loads(path.read_text("utf-8"))]


def outcome(case: Case, classes: tuple[type[Window], ...], folder: Path) -> Outcome:
    with Talk(folder, case.lang, classes, files={}) as talk:
        asyncio.run(case.begin(talk.windows))
        before = _everything(talk.windows)
        turns = [talk.say(words) for words in case.say]
        return Outcome(
            tuple(call for turn in turns for call in turn.calls),
            tuple(check(case.expect, talk.windows, turns[-1].text)),
            before != _everything(talk.windows),
        )


def _everything(windows: WindowManager) -> tuple[object, object]:
    """Return the states of all windows and the bytes of all files, to compare them later."""
    assert windows.workspace is not None
    live = {"figures", "top"}  # of the monitor: these change by themselves
    return (
        {
            one.id: {key: value for key, value in one.state.saved().items() if key not in live}
            for one in windows.windows()
        },
        {path: path.read_bytes() for path in windows.workspace.root.rglob("*") if path.is_file()},
    )


def check(expect: Expectation, windows: WindowManager, answer: str) -> Iterator[str]:
    """Yield what is not as expected.

    Within an event loop, call `await windows.settle()` first, so that the windows are rendered.
    """
    assert expect.keys() <= Expectation.__annotations__.keys()
    there_is = {window.id: window for window in windows.windows()}
    if there_is.keys() != set(expect.get("open", there_is)):
        yield f"open: {sorted(there_is)} instead of {sorted(expect['open'])}"
    for window_id in expect.get("closed", ()):
        if window_id in there_is:
            yield f"{window_id} is still open"
        elif windows.last_render(window_id) is None:
            yield f"{window_id} never was open"
    for window_id, state in expect.get("states", {}).items():
        if window_id not in there_is:
            yield f"{window_id} is not open"
        else:
            yield from _differences(window_id, state, there_is[window_id].state.saved())
    for window_id, texts in expect.get("shown", {}).items():
        window = there_is.get(window_id)
        content = window.snapshot(Lod.FULL).content if window else ""
        missing = [text for text in texts if text not in content]
        yield from (f"{window_id} does not show {text!r}: {content!r}" for text in missing)
    for path, text in expect.get("files", {}).items():
        place = _place(windows, path)
        found = place.read_bytes().decode() if place.exists() else None
        if found != text:
            yield f"{path} holds {found!r} instead of {text!r}"
    for one in expect.get("answer", ()):
        alternatives = [one] if isinstance(one, str) else one
        if not any(words.casefold() in answer.casefold() for words in alternatives):
            yield f"the answer has none of {alternatives}: {answer!r}"


def _place(windows: WindowManager, path: str) -> Path:
    assert windows.workspace is not None
    return windows.workspace.root / path


def _differences(where: str, wanted: Any, found: Any) -> Iterator[str]:
    """Where `found` is not what is wanted: of an object only the wanted keys count."""
    if isinstance(wanted, Mapping) and isinstance(found, Mapping):
        for key, value in wanted.items():
            if key in found:
                yield from _differences(f"{where}.{key}", value, found[key])
            else:
                yield f"{where} has no {key}"
    elif isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
        for number, (one, other) in enumerate(zip(wanted, found, strict=True)):
            yield from _differences(f"{where}[{number}]", one, other)
    elif wanted != found or isinstance(wanted, bool) is not isinstance(found, bool):
        yield f"{where} is {found!r} instead of {wanted!r}"
