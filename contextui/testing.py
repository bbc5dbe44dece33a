"""Test harness for windows, and a runner for their tests.

def test_adding() -> None:
    with WindowTester(TodoWindow, items=["milk"]) as todo:
        assert todo.act("add", text="eggs") == "Added as 2."
        assert "eggs" in todo.content()
        assert todo.content(Lod.GIST) == "2 to do"
        assert todo.refused("add") == "todo_1.add: text is missing. Expected: text:string"
        assert todo.say("add bread").calls == ("todo_1.add text=bread",), todo.why()
        assert todo.restored().content() == todo.content()

``python -P -m contextui.testing test_my_window.py`` runs tests with pytest, and no other code of
their folder: no ``conftest.py``, no plugin named in a ``pytest.ini``, no module that shadows one of
Python's own. In a folder that you trust, plain ``pytest`` works as well.
"""

import ast
import os
import sys
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from contextui.events import CallFinished, CallStarted, TurnFinished
from contextui.model import ModelEvent, ModelRequest
from contextui.windowing.manager import WindowManager
from contextui.windowing.testing import ManualClock, WindowHarness, run_in_thread
from contextui.windowing.window import Window
from contextui.words import Lang

__all__ = ["ManualClock", "Reply", "WindowTester", "run_tests"]

W = TypeVar("W", bound=Window)
_WITH_VALUE = ("-k", "-m", "-n", "-o", "-p", "-r", "-W")  # options of pytest


@dataclass(frozen=True, slots=True)
class Reply:
    """The offline model's reply to a sentence.

    Attributes:
        calls: The tool calls in short form, such as ``kanban_1.move card=1 column=done``.
        ok: Whether each call succeeded.
        text: The answer.
    """

    calls: tuple[str, ...]
    ok: tuple[bool, ...]
    text: str


class WindowTester(WindowHarness[W]):
    """One window opened for a test, and the windows it opens.

    Args:
        cls: The class to test.
        folder: The workspace folder.
        lang: The language of the window.
        classes: Other windows that it may open.
        clock: The function behind `self.env.clock`; by default the real time. With a `ManualClock`,
            `advance` moves the time of the windows.
        args: The args of its `opened`. They can also be given as keywords, except those that have
            the name of a keyword above.
        others: Further args of its `opened`.

    Attributes:
        window: The window itself.
        windows: All open windows.
        troubles: The warnings that the windows emitted.
        notices: What the windows reported with ``notify``, and the ends of jobs.
    """

    _conversation: "_Conversation | None" = None

    def say(self, sentence: str, lang: Lang | None = None) -> Reply:
        """Send a sentence to the offline model and wait for the end of the turn.

        The turn runs as in the program, with every question for approval answered with yes. Later
        sentences continue the conversation.

        Args:
            sentence: What a person types.
            lang: The language of the windows; by default the current one. Another one restores the
                windows in that language (see `switch_language`) and starts a new conversation.

        Raises:
            AssertionError: The turn failed.
        """
        if lang is not None:
            self.switch_language(lang)
        talk = self._conversation
        if talk is None or talk.windows is not self.windows:
            self._end_conversation()
            talk = self._conversation = _Conversation(self.windows)
        return run_in_thread(talk.say(sentence))

    def why(self) -> str:
        """Explain the reply to the last sentence.

        Returns:
            For each clause the candidates with their scores, the unexplained words and the missing
            params.
        """
        from contextui.agent.models.offline import explain  # noqa: PLC0415  (see _Conversation)

        assert self._conversation is not None, "there is no reply yet: call say first"
        assert self._conversation.request is not None, "the last turn sent no request"
        return explain(self._conversation.request)

    def _close(self) -> list[str]:
        self._end_conversation()
        return super()._close()

    def _end_conversation(self) -> None:
        if self._conversation is not None:
            self._conversation.close()
            self._conversation = None


class _Conversation:
    """A conversation with the offline model about a tester's windows.

    It is the model of its own controller: it keeps the first request of a turn and passes all on.
    """

    def __init__(self, windows: WindowManager) -> None:
        # Most tests of windows need no agent, which takes longer to import than all the rest.
        from contextui.agent.approval import ApprovalGate  # noqa: PLC0415
        from contextui.agent.controller import InteractionController  # noqa: PLC0415
        from contextui.agent.models.offline import OfflineModel  # noqa: PLC0415
        from contextui.context.manager import ContextManager  # noqa: PLC0415

        self._model = OfflineModel()
        self.name, self.windows = self._model.name, windows
        # The offline model reads the windows as they were before its calls. At its prices, outdated
        # content stays in the requests of a turn.
        self.prices, self.tool_protocol = self._model.prices, self._model.tool_protocol
        self.request: ModelRequest | None = None
        self._controller = InteractionController(
            model=self, context=ContextManager(windows), approval=ApprovalGate("auto")
        )

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        if self.request is None and request.tools:
            self.request = request
        return self._model.stream(request)

    async def say(self, sentence: str) -> Reply:
        self.request = None
        calls, ok, text = list[str](), list[bool](), ""
        async for event in self._controller.run_turn(sentence):
            match event:
                case CallStarted():
                    calls.append(_short_form(event.name, event.input))
                case CallFinished():
                    ok.append(event.ok)
                case TurnFinished():
                    assert not event.is_error, event.explanation
                    text = event.text
        return Reply(tuple(calls), tuple(ok), text)

    def close(self) -> None:
        self._controller.close()


def _short_form(tool: str, given: Mapping[str, Any]) -> str:
    """Return a call in short form, such as ``todo_1.add text=milk`` or ``read_file a.txt``."""
    match tool:
        case "action":
            name = f"{given.get('window_id')}.{given.get('action_id')}"
            params = given.get("params")
        case "create":
            name, params = f"create {given.get('name')}", given.get("args")
        case _:
            name = f"{tool} {given.get('path')}"
            params = {key: value for key, value in given.items() if key != "path"}
    return " ".join([name, *(f"{key}={value}" for key, value in (params or {}).items())])


def run_tests(words: Sequence[str]) -> int:
    """Run tests of windows in isolation.

    The files are linked into an empty folder, so they can import each other but nothing else beside
    them.

    Args:
        words: The test files and the modules that they need; the window of ``test_my_window.py`` is
            found automatically. Options are passed to pytest, such as ``-k WORD``.

    Returns:
        The exit status.
    """
    try:
        import pytest  # noqa: PLC0415  (not needed by the program)
    except ImportError:
        command = "python -P -m pip install pytest"
        print(f"The tests need pytest: {command}", file=sys.stderr)  # noqa: T201
        return 2
    files, options = _files_and_options(words)
    missing = [str(path) for path in files if not path.is_file()]
    if missing or not files:
        message = f"There is no file {missing[0]}." if missing else "Name the test files to run."
        print(message, file=sys.stderr)  # noqa: T201
        return 2
    with TemporaryDirectory(prefix="contextui-tests-") as folder:
        for path in _with_windows(files):
            (Path(folder) / path.name).symlink_to(path.absolute())
        tests = [str(Path(folder) / path.name) for path in files if path.name.startswith("test_")]
        # Ignore settings and plugins of parent folders too.
        alone = [f"--config-file={os.devnull}", f"--rootdir={folder}", "--noconftest"]
        return int(pytest.main([*alone, "-p", "no:cacheprovider", *options, *tests]))


def _files_and_options(words: Sequence[str]) -> tuple[list[Path], list[str]]:
    """Divide the words into files and options of pytest, each with its value.

    A value is attached to its option: pytest must not take it for a file or folder to run.
    """
    files, options = list[Path](), list[str]()
    left, previous = iter(words), ""
    for word in left:
        if word in _WITH_VALUE:
            options.append(word + next(left, ""))
        elif word.startswith("-"):
            options.append(word)
        elif previous.startswith("--") and not ("=" in previous or Path(word).is_file()):
            options[-1] += f"={word}"
        else:
            files.append(Path(word))
        previous = word
    return files, options


def _with_windows(files: Sequence[Path]) -> Iterator[Path]:
    found = {path.name: path for path in files}
    for path in files:
        window = path.with_name(path.name.removeprefix("test_"))
        if window.is_file():
            found.setdefault(window.name, window)
            for widget in _widget_files(window):
                found.setdefault(widget.name, widget)
    yield from found.values()


def _widget_files(window: Path) -> Iterator[Path]:
    """Yield the files beside a window's that it names as ``widget = "module:Class"``."""
    try:
        tree = ast.parse(window.read_bytes())
    except (OSError, SyntaxError, ValueError):  # running its tests reports it
        return
    for node in ast.walk(tree):
        match node:
            case ast.Assign([ast.Name("widget")], ast.Constant(str(named))):
                file = window.with_name(f"{named.partition(':')[0]}.py")
                if file.is_file():
                    yield file


if __name__ == "__main__":
    sys.exit(run_tests(sys.argv[1:]))
