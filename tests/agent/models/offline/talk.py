"""Conversations with the offline model through the real controller."""

import asyncio
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from contextui import Window, WindowManager
from contextui.agent.approval import ApprovalGate
from contextui.agent.controller import InteractionController
from contextui.agent.models.offline import OfflineModel
from contextui.config.schema import ToolProtocol
from contextui.context.manager import ContextManager
from contextui.events import CallFinished, CallStarted, TurnFinished
from contextui.files.workspace import Workspace
from contextui.windowing.finding.registry import discover
from contextui.words import Lang
from tests.agent.models.offline.custom_windows import CUSTOM
from tests.agent.models.offline.strangers import STRANGERS
from tests.context.conversation import rough_counter

UNKNOWN: tuple[type[Window], ...] = (*STRANGERS, *CUSTOM)
NOTHING: Mapping[str, Mapping[str, Any]] = {}
FILES = {
    "notes.txt": "one\ntwo\nthree TODO\n",
    "src/main.py": "print('hi')\n# TODO\n",
    "README.md": "# Example\n",
}


class Turn(NamedTuple):
    """What came of a message: the calls in short form, whether each succeeded, and the answer."""

    calls: tuple[str, ...]
    ok: tuple[bool, ...]
    text: str


class Talk:
    """A conversation with the offline model in a folder of its own. Every call is approved."""

    def __init__(
        self,
        folder: Path,
        lang: Lang = "en",
        classes: tuple[type[Window], ...] = UNKNOWN,
        files: Mapping[str, str] = FILES,
        *,
        protocol: ToolProtocol = "native",
        opened: Mapping[str, Mapping[str, Any]] = NOTHING,
    ) -> None:
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(text.encode())
        self.windows = WindowManager(
            [*built_in(), *classes], workspace=Workspace(folder), lang=lang
        )
        self.controller = InteractionController(
            model=OfflineModel(),
            context=ContextManager(self.windows, counter=rough_counter()),
            approval=ApprovalGate("auto"),
            tool_protocol=protocol,
        )
        self.controller.install_prompt()
        for name, args in opened.items():
            self.windows.open(name, **args)
        self.on_call: Callable[[str], None] = lambda _: None
        """Called with each call, in short form, before it is carried out."""

    def __enter__(self) -> "Talk":
        return self

    def __exit__(self, *_: object) -> None:
        for window in self.windows.windows():
            self.windows.close(window.id)
        if self.windows.workspace is not None:
            self.windows.workspace.close()

    def act(self, window_id: str, action_id: str, **params: Any) -> None:
        result = asyncio.run(self.windows.act(window_id, action_id, params, actor="person"))
        assert result.ok, result.text

    def say(self, words: str) -> Turn:
        return asyncio.run(self._say(words))

    async def _say(self, words: str) -> Turn:
        calls, ok, text = list[str](), list[bool](), ""
        async for event in self.controller.run_turn(words):
            match event:
                case CallStarted():
                    calls.append(short(event.name, event.input))
                    self.on_call(calls[-1])
                case CallFinished():
                    ok.append(event.ok)
                case TurnFinished():
                    assert not event.is_error, event.explanation
                    text = event.text
        await self.windows.settle()
        return Turn(tuple(calls), tuple(ok), text)


@cache
def built_in() -> tuple[type[Window], ...]:
    return tuple(discover().classes())


def short(name: str, given: Mapping[str, Any]) -> str:
    """Return a call in short form: ``todo_1.add text=milk``."""
    inner = given.get("args") if name == "create" else given.get("params")
    what = {
        "create": f"create {given.get('name')}",
        "action": f"{given.get('window_id')}.{given.get('action_id')}",
    }.get(name, f"{name} {given.get('path')}")
    return " ".join([what, *(f"{key}={_plain(value)}" for key, value in (inner or {}).items())])


def _plain(value: object) -> object:
    return int(value) if isinstance(value, float) and value.is_integer() else value
