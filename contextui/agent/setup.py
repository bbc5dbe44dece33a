"""What all turns of a conversation share."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from contextui.agent.protocol import CallProtocol, declaring
from contextui.agent.turn import TurnOptions
from contextui.config.choices import Lang
from contextui.context.manager import ContextManager
from contextui.model import Model


@dataclass(frozen=True)
class Setup:
    """What all turns of a conversation share.

    Attributes:
        context: The conversation.
        model: Gives who answers; that may change between turns.
        options: What a turn may take.
        calls: How the model calls tools, and which there are.
    """

    context: ContextManager
    model: Callable[[], Model]
    options: TurnOptions
    calls: CallProtocol

    @property
    def lang(self) -> Lang:
        """The language of the person."""
        return self.context.windows.lang if self.context.windows is not None else "en"

    @cached_property
    def reserved(self) -> int:
        """The tokens of the tools, which are part of every request."""
        return declaring(self.calls.tools, self.context.counter)
