"""Every error that contextui raises on purpose, in words a user can act on."""

from collections.abc import Sequence


class ContextUIError(Exception):
    """The root of all errors raised on purpose; its text can be shown as it is.

    Args:
        words: What is wrong, and what to do.
        zh: The same in Chinese, if it is there.
    """

    def __init__(self, *words: str, zh: str = "") -> None:
        super().__init__(*words)
        self.zh = zh

    def told(self, lang: str) -> str:
        """What is wrong, in a language if it is there in that."""
        return (lang == "zh" and self.zh) or str(self)


class InvalidItemError(ContextUIError):
    """An item that cannot stand in a context: no content, or an id that is none."""


class DuplicateItemError(ContextUIError):
    """An item that was added before."""


class UnknownItemError(ContextUIError):
    """An item id that the context does not hold."""


class StaleRequestError(ContextUIError):
    """A request that was composed before the context changed."""


class ContextTooLargeError(ContextUIError):
    """What must stay does not fit into the budget.

    Attributes:
        needed: The tokens of what must stay.
        budget: The tokens there is room for.
        largest: One line for each of the largest items, largest first.
    """

    def __init__(self, needed: int, budget: int, largest: Sequence[str]) -> None:
        self.needed, self.budget, self.largest = needed, budget, tuple(largest)
        super().__init__(
            f"The context needs ~{needed} tokens and the budget is {budget}. "
            f"What cannot be left out: {'; '.join(self.largest)}."
        )


class WindowDefinitionError(ContextUIError):
    """A window class that cannot work as it is written."""


class UnknownWindowError(ContextUIError):
    """A window id or a window name that there is none of."""


class TooManyWindowsError(ContextUIError):
    """One window more than may be open at a time."""


class UnknownActionError(ContextUIError):
    """An action that the window does not declare."""


class InvalidParamsError(ContextUIError):
    """Params that do not fit the action; the text says what was expected."""


class ActionError(ContextUIError):
    """What an action raises to say why it cannot be done; the model reads just these words."""


class ActionFailedError(ContextUIError):
    """An action or a hook that raised; nothing of it remains."""


class WindowClosedError(ContextUIError):
    """A window that was closed before the call reached it."""


class WindowBusyError(ContextUIError):
    """A window that did not answer in time; what it was doing is discarded."""


class InvalidSourceDataError(ContextUIError):
    """A window's state or content that is not what it must be."""


class FrozenStateError(ContextUIError):
    """A change of a window's state, or of a snapshot, from outside the window's own actions."""


class VersionMismatchError(ContextUIError):
    """Two snapshots, or a snapshot and its window, that show different data."""


class AnchorConflictError(ContextUIError):
    """Two anchors or actions of one id in a window; the first is kept."""


class NoWorkspaceError(ContextUIError):
    """A window that needs files, in a session that belongs to no folder."""
