"""What people say to windows, and what must have come of it: read from JSON, set up, checked.

A case in the file is an object with these keys; all but the first three may be left out:

    id, lang    its name, and the language ("en" or "zh") of the words and of the windows
    say         the person's words, one string a turn
    files       the workspace's files before that, text by path
    setup       what happened before: {"open": name, "args"} or {"act": id, "action", "params"}
    expect      what must hold after the last turn; what is left out is not looked at:
        open      the ids of all open windows, no others
        closed    ids of windows that were open once and are not any more
        states    of each window a part of its saved state: of an object the keys that matter,
                  of a list every element in order
        shown     of each window pieces of text that its full content holds
        files     files of the workspace with their whole text
        answer    what the last answer holds, in any case; a list names alternatives
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from contextui import Lod, WindowManager
from contextui.words import Lang

Texts: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Open:
    """Opens a window before the person speaks."""

    open: str
    args: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Act:
    """Acts on a window before the person speaks."""

    act: str
    action: str
    params: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Expectation:
    """What must hold after the last turn; None and empty ones are not looked at."""

    open: frozenset[str] | None = None
    closed: Texts = ()
    states: Mapping[str, Any] = field(default_factory=dict)
    shown: Mapping[str, Texts] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    answer: tuple[Texts, ...] = ()


@dataclass(frozen=True, slots=True)
class Case:
    """What stands open, what the person says, and what is expected of it."""

    id: str
    lang: Lang
    say: Texts
    expect: Expectation
    files: Mapping[str, str] = field(default_factory=dict)
    steps: tuple[Open | Act, ...] = ()

    async def setup(self, windows: WindowManager) -> None:
        """Write the files and bring the windows to where the person begins to speak.

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


def load(name: str) -> list[Case]:
    """The cases of a file that stands beside this module.

    Raises:
        TypeError: A case has a key that means nothing.
    """
    data = json.loads(Path(__file__).with_name(name).read_text("utf-8"))
    return [_case(**one) for one in data]


def check(case: Case, windows: WindowManager, answer: str) -> list[str]:
    """What is not as the case expects; empty if it is fulfilled.

    Within an event loop `await windows.settle()` comes first, so that the windows are drawn.
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
) -> Case:
    steps = tuple(Open(**one) if "open" in one else Act(**one) for one in setup or [])
    return Case(id, lang, tuple(say), _expectation(**expect), files or {}, steps)


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
