"""What the screen is given: a session, who answers in it, and what to say about both."""

from collections.abc import Callable
from dataclasses import dataclass, field

from contextui.agent.controller import InteractionController
from contextui.session.session import Session
from contextui.windowing.finding.entry import WindowEntry


@dataclass(slots=True)
class Desk:
    """Everything that a screen works on.

    Attributes:
        session: The conversation, its windows, and the log that keeps them.
        controller: The loop.
        entries: The windows that can be opened, and those that cannot, with the reason.
        notices: What the person should know from the start, in one line each.
        is_offline: Whether no model is connected.
        switch_model: Connects another model by name; raises a `ContextUIError` if it cannot.
        switch_strategy: Takes another strategy by name; likewise.
    """

    session: Session
    controller: InteractionController
    entries: list[WindowEntry] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    is_offline: bool = False
    switch_model: Callable[[str], None] | None = None
    switch_strategy: Callable[[str], None] | None = None

    def tokens_of(self, window_id: str) -> int | None:
        """What a window costs in a request; None if no item refers to it."""
        context = self.session.context
        items = context.ledger.references.get(window_id)
        return context.counter.calibrated(context.ledger.size(items[-1])) if items else None

    def close(self) -> None:
        """Write what is not written yet, and let others have the session."""
        self.controller.close()
        self.session.close()
