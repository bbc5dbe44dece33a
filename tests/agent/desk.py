"""Windows in a folder, the tools of a model, and a person at the approval gate."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

from contextui import Preview, Window, WindowManager, Workspace
from contextui.agent.approval import ApprovalGate, Choice, Decision, Question
from contextui.agent.tools import ToolBox, ToolCall
from contextui.windowing.action import ActionResult
from contextui.words import Lang

Given = Choice | Decision
Answer = Given | Callable[[Question], Given | Awaitable[Given]]


class Person:
    """Answers questions one after the other, and remembers them."""

    def __init__(self, *answers: Answer, otherwise: tuple[Answer, ...] = ()) -> None:
        self.questions: list[Question] = []
        self._answers, self._otherwise = list(answers), otherwise

    async def __call__(self, question: Question) -> Decision:
        self.questions.append(question)
        answer = (self._answers or [*self._otherwise]).pop(0)
        given: Any = answer(question) if callable(answer) else answer
        given = await given if inspect.isawaitable(given) else given
        return given if isinstance(given, Decision) else Decision(given)


def preview_of(question: Question) -> Preview:
    """The preview that a question must have."""
    assert question.preview is not None
    return question.preview


class Desk:
    """A person who answers questions and remembers them, beside a model with its tools."""

    classes: ClassVar[tuple[type[Window], ...]] = ()
    otherwise: ClassVar[tuple[Answer, ...]] = ()  # the answer when no other is left

    def __init__(
        self, folder: Path, *answers: Answer, mode: Any = "ask", commands: tuple[str, ...] = (),
        lang: Lang = "en", has_person: bool = True,
    ) -> None:  # fmt: skip
        self.folder = folder
        person = Person(*answers, otherwise=self.otherwise)
        self.questions = person.questions
        self.windows = WindowManager(self.classes, workspace=Workspace(folder), lang=lang)
        self.gate = ApprovalGate(mode, person if has_person else None, commands)
        self.tools = ToolBox(self.windows, self.gate)

    def opening(self, window: str | type[Window], **args: Any) -> Self:
        self.windows.open(window, **args)
        return self

    def call(self, tool: str, /, **given: Any) -> ActionResult:
        return asyncio.run(self.tools.run(ToolCall("1", tool, given)))

    def act(self, name: str, /, **params: Any) -> ActionResult:
        window_id, _, action_id = name.partition(".")
        return self.call("action", window_id=window_id, action_id=action_id, params=params)

    def by_person(self, name: str, /, **params: Any) -> ActionResult:
        window_id, _, action_id = name.partition(".")
        return asyncio.run(self.windows.act(window_id, action_id, params, actor="person"))


D = TypeVar("D", bound=Desk)


def desks(kind: type[D], folder: Path) -> Iterator[Callable[..., D]]:
    """Yield what makes desks in a folder; close their windows afterwards."""
    made: list[D] = []

    def make(*answers: Answer, **given: Any) -> D:
        made.append(kind(folder, *answers, **given))
        return made[-1]

    yield make
    for one in made:
        one.windows.shut_down()
