"""`ContextStrategy`: decides what of a conversation the model reads. Anybody can write one."""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from contextui.context.item import ContextItem
from contextui.context.strategies.env import StrategyEnv
from contextui.errors import ContextUIError
from contextui.model import Tool


class StrategyError(ContextUIError):
    """A strategy that is not there, is set up wrongly, or gave what cannot be used."""


@dataclass(frozen=True, slots=True)
class Payload:
    """What the model is to read of a conversation.

    Attributes:
        history: The items that stay, of those that were given. What is pinned, and the words that
            are to be answered, stay anyway; so does a call whose result stays, and its other
            results.
        memory: Words that stand for all that went, after the system prompt. None leaves the
            memory as it is.
    """

    history: Sequence[ContextItem]
    memory: str | None = None


class ContextStrategy(ABC):
    """Decides before each turn what stays of the conversation, and may work after it.

    What it leaves out is hidden, not lost: it stands in the log, and a person can bring it back.
    All that it remembers should be in its memory, which is a part of the session; `self.env.memory`
    gives it back after a restart. Settings are keyword arguments of `__init__`.

    Attributes:
        name: What it is chosen by.
        before_compaction: Whether it comes before an automatic compaction. One that keeps nothing
            of what it leaves out should come behind it.
        env: What surrounds it; there before the first call.

    Example:
        >>> class LastRound(ContextStrategy):
        ...     name = "last-round"
        ...     async def compose_payload(self, system_prompt, history, tools, rag_context=None):
        ...         return Payload(self.env.rounds(history)[-1])
    """

    name: ClassVar[str] = ""
    before_compaction: ClassVar[bool] = True
    env: StrategyEnv

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name in ("compose_payload", "on_turn_complete"):
            if not inspect.iscoroutinefunction(getattr(cls, name)):
                raise StrategyError(f"{cls.__name__}.{name} must be an async def.")

    @abstractmethod
    async def compose_payload(
        self,
        system_prompt: str,
        history: Sequence[ContextItem],
        tools: Sequence[Tool],
        rag_context: str | None = None,
    ) -> Payload:
        """Choose what stays. Called before each turn, and once more when `on_turn_complete` ends.

        Args:
            system_prompt: The system prompt, which always stays.
            history: What is visible of the conversation, oldest first. Before a turn the last item
                is what the person just said; it has no seq yet.
            tools: What the model may call; always all of them.
            rag_context: What else the model will see: the open windows, and what was retrieved
                for the person's words (`StrategyEnv.retrieved`).
        """

    async def on_turn_complete(self, history: Sequence[ContextItem]) -> None:  # noqa: B027
        """Work in the background, while the person reads. The next turn never waits for it.

        Args:
            history: What is visible of the conversation, oldest first.
        """
