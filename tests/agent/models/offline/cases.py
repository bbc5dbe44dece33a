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
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from contextui import Lod, Window, WindowManager
from contextui.words import Lang
from tests.agent.models.offline.talk import Talk

Texts: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Open:
    """A window to open before the first turn."""

    open: str
    args: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Act:
    """An action to run before the first turn."""

    act: str
    action: str
    params: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Expectation:
    """What must hold after the last turn. None and empty values are not checked."""

    open: frozenset[str] | None = None
    closed: Texts = ()
    states: Mapping[str, Any] = field(default_factory=dict)
    shown: Mapping[str, Texts] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    answer: tuple[Texts, ...] = ()


@dataclass(frozen=True, slots=True)
class Case:
    """A conversation and what is expected of it."""

    id: str
    lang: Lang
    say: Texts
    expect: Expectation
    files: Mapping[str, str] = field(default_factory=dict)
    steps: tuple[Open | Act, ...] = ()
    by: tuple[Mapping[str, Any], ...] = ()
    nothing: bool = False

    async def setup(self, windows: WindowManager) -> None:
        """Write the files, open the windows and run the actions that come before the first turn.

        Raises:
            AssertionError: A step is not possible.
        """
        for path, text in self.files.items():
            assert windows.workspace is not None, f"{self.id} needs a workspace"
            place = windows.workspace.root / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(text.encode())
        for step in self.steps:
            if isinstance(step, Open):
                windows.open(step.open, **step.args)
            else:
                result = await windows.act(step.act, step.action, step.params, actor="person")
                assert result.ok, f"{self.id}: {result.text}"
        await windows.settle()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a conversation: the calls, what is not as expected, and whether it changed
    windows or files.
    """

    calls: Texts
    problems: Texts
    has_changed: bool


def load(path: Path) -> list[Case]:
    """Read the cases of a file.

    Raises:
        TypeError: A case has an unknown key.
    """
    return [_case(**one) for one in json.loads(path.read_text("utf-8"))]


def outcome(case: Case, classes: tuple[type[Window], ...], folder: Path) -> Outcome:
    """Have the conversation in an empty folder."""
    with Talk(folder, case.lang, classes, files={}) as talk:
        asyncio.run(case.setup(talk.windows))
        before = _everything(talk.windows)
        turns = [talk.say(words) for words in case.say]
        return Outcome(
            tuple(call for turn in turns for call in turn.calls),
            tuple(check(case, talk.windows, turns[-1].text)),
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


def check(case: Case, windows: WindowManager, answer: str) -> list[str]:
    """Return what is not as the case expects.

    Within an event loop, call `await windows.settle()` first, so that the windows are rendered.
    """
    return [
        *_open_problems(case.expect, windows),
        *_state_problems(case.expect, windows),
        *_shown_problems(case.expect, windows),
        *_file_problems(case.expect, windows),
        *_answer_problems(case.expect, answer),
    ]


def _case(
    *,
    id: str,  # noqa: A002  (the names are those of the file)
    lang: Lang,
    say: list[str],
    expect: dict[str, Any],
    files: dict[str, str] | None = None,
    setup: list[dict[str, Any]] | None = None,
    by: list[dict[str, Any]] | None = None,
    nothing: bool = False,
) -> Case:
    steps = tuple(Open(**one) if "open" in one else Act(**one) for one in setup or [])
    expected = _expectation(**expect)
    return Case(id, lang, tuple(say), expected, files or {}, steps, tuple(by or ()), nothing)


def _expectation(
    *,
    open: list[str] | None = None,  # noqa: A002  (the names are those of the file)
    shown: dict[str, list[str]] | None = None,
    answer: list[str | list[str]] | None = None,
    closed: list[str] | None = None,
    **rest: Any,
) -> Expectation:
    return Expectation(
        open=None if open is None else frozenset(open),
        closed=tuple(closed or ()),
        shown={window_id: tuple(texts) for window_id, texts in (shown or {}).items()},
        answer=tuple((one,) if isinstance(one, str) else tuple(one) for one in answer or ()),
        **rest,
    )


def _open_problems(expect: Expectation, windows: WindowManager) -> Iterator[str]:
    there_is = {window.id for window in windows.windows()}
    if expect.open is not None and there_is != expect.open:
        yield f"open: {sorted(there_is)} instead of {sorted(expect.open)}"
    for window_id in expect.closed:
        if window_id in there_is:
            yield f"{window_id} is still open"
        elif windows.last_render(window_id) is None:
            yield f"{window_id} never was open"


def _state_problems(expect: Expectation, windows: WindowManager) -> Iterator[str]:
    for window_id, state in expect.states.items():
        window = windows.get(window_id)
        if window is None:
            yield f"{window_id} is not open"
        else:
            yield from _differences(window_id, state, window.state.saved())


def _shown_problems(expect: Expectation, windows: WindowManager) -> Iterator[str]:
    for window_id, texts in expect.shown.items():
        window = windows.get(window_id)
        content = window.snapshot(Lod.FULL).content if window else ""
        yield from (
            f"{window_id} does not show {text!r}: {content!r}"
            for text in texts
            if text not in content
        )


def _file_problems(expect: Expectation, windows: WindowManager) -> Iterator[str]:
    for path, text in expect.files.items():
        assert windows.workspace is not None, "files are expected, but there is no workspace"
        place = windows.workspace.root / path
        there_is = place.read_bytes().decode() if place.exists() else None
        if there_is != text:
            yield f"{path} holds {there_is!r} instead of {text!r}"


def _answer_problems(expect: Expectation, answer: str) -> Iterator[str]:
    said = answer.casefold()
    for alternatives in expect.answer:
        if not any(one.casefold() in said for one in alternatives):
            yield f"the answer has none of {list(alternatives)}: {answer!r}"


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
