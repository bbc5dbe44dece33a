"""Who decides whether a model may touch the world outside of a window."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from contextui.agent.phrases import of_tools
from contextui.config.choices import Approval
from contextui.errors import ContextUIError
from contextui.windowing.intent import Intent
from contextui.windowing.preview import Preview, Verb

Choice = Literal["once", "always", "no"]
"""Allow it this time, allow this action of this window from now on, or refuse it."""


class NotAllowedError(ContextUIError):
    """An action that the person, or the mode they chose, did not allow."""


@dataclass(frozen=True, slots=True)
class Grant:
    """What a person allowed for the rest of the session: one action on one target.

    Attributes:
        window_class: The name of the window's class.
        action_id: Its action.
        target: The preview's target; of an action without a preview, its params as JSON.
    """

    window_class: str
    action_id: str
    target: str


@dataclass(frozen=True, slots=True)
class Question:
    """What a person is asked before an action is carried out.

    Attributes:
        window_id: The window that would act; empty for a tool without a window.
        action_id: Its action, or the tool.
        label: The action's label.
        params: The arguments, checked.
        preview: What would change; None if the window gives no preview.
        problem: Why the preview could not be made; then nobody is asked, and it is refused.
        grant: What `always` would allow; None: this target asks every time.
        changed: Whether the person allowed it, and it would now do something else.
    """

    window_id: str
    action_id: str
    label: str
    params: Mapping[str, Any]
    preview: Preview | None = None
    problem: str = ""
    grant: Grant | None = None
    changed: bool = False

    @property
    def name(self) -> str:
        """The action as people and models write it: ``editor_1.save``."""
        return f"{self.window_id}.{self.action_id}" if self.window_id else self.action_id

    @property
    def verb(self) -> Verb:
        """What would be done to the target."""
        return self.preview.verb if self.preview else "run"

    @property
    def target(self) -> str:
        """What would change; without a preview, the action itself."""
        return self.preview.target if self.preview else self.name


@dataclass(frozen=True, slots=True)
class Decision:
    """What the person says to a question; a refusal may come with words for the model.

    Raises:
        ValueError: There is no such choice.
    """

    choice: Choice
    words: str = ""

    def __post_init__(self) -> None:
        _check(self.choice, get_args(Choice))


Ask = Callable[[Question], Awaitable[Decision]]


class ApprovalGate:
    """Lets an action pass, or asks, or refuses; the window's text has no say in it.

    What was allowed for good is known to this gate alone: a session that is continued asks again.

    Args:
        mode: See `Approval`.
        ask: Asks the person; without it there is nobody to ask, and `ask` refuses.

    Raises:
        ValueError: There is no such mode.

    Example:
        >>> gate = ApprovalGate("ask", dialog)
        >>> await windows.act("editor_1", "save", allow=gate.allow)
    """

    def __init__(self, mode: Approval = "ask", ask: Ask | None = None) -> None:
        _check(mode, get_args(Approval))
        self.mode, self.ask = mode, ask
        self._allowed: set[tuple[str, str]] = set()

    async def allow(self, intent: Intent) -> None:
        """Come back if it may be done.

        Raises:
            NotAllowedError: It may not; the text says why, and what would help.
        """
        action, window = intent.action, intent.window
        if action.effect != "write" or self.mode == "auto":
            return
        named, words = f"{window.id}.{action.id}", of_tools(window.env.lang)
        if self.mode == "read-only":
            raise NotAllowedError(words.read_only.format(name=named))
        if (window.id, action.id) in self._allowed:
            return
        if self.ask is None:
            raise NotAllowedError(words.nobody_to_ask.format(name=named))
        text = await window.runtime.preview(action.id, intent.arguments)
        preview = Preview(named, diff=text) if text else None
        label = action.labelled(window.env.lang)
        decision = await self.ask(
            Question(window.id, action.id, label, dict(intent.arguments), preview)
        )
        if decision.choice == "no":
            told = words.declined.format(name=named)
            if said := decision.words.strip():
                told = words.they_say.format(declined=told, words=said)
            raise NotAllowedError(told)
        if decision.choice == "always":
            self._allowed.add((window.id, action.id))


def _check(given: str, known: tuple[str, ...]) -> None:
    """What a misspelt word lets pass is found out too late."""
    if given not in known:
        raise ValueError(f"{given!r} is none of {', '.join(known)}.")
