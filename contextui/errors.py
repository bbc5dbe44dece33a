"""Exception classes of contextui, with messages that a user can act on."""

import errno
from collections.abc import Sequence

from contextui.words import Message, Translatable, msg


class ContextUIError(Exception):
    """Base class of all contextui errors; its message can be shown as is.

    Args:
        message: What is wrong, and what to do, in English; or a message in all languages.
        zh: The message in Chinese, for errors whose message is not in the catalogue.
        values: Values for the placeholders of a message of the catalogue.

    Example:
        >>> error = ContextUIError("There is no session {name}.", name='"abc"')
        >>> str(error), error.text("zh")
        ('There is no session "abc".', '没有会话 "abc"。')
    """

    def __init__(self, message: str | Translatable = "", *, zh: str = "", **values: object) -> None:
        self.message = Message(message, values) if isinstance(message, str) else message
        self.zh = zh
        super().__init__(self.message.text("en"))

    def text(self, lang: str) -> str:
        """Return the message in a language, or in English if there is no translation."""
        return (lang == "zh" and self.zh) or self.message.text(lang)


_FREE, _WRITABLE = msg("Free some space on the disk of {folder}."), msg("Make {folder} writable.")
DISK_PROBLEMS = {
    errno.ENOSPC: (msg("disk full"), _FREE),
    errno.EDQUOT: (msg("disk quota used up"), _FREE),
    errno.EFBIG: (msg("file size limit reached"), msg("Raise the limit on file sizes.")),
    errno.EROFS: (msg("read-only file system"), _WRITABLE),
    errno.EACCES: (msg("no permission"), _WRITABLE),
    errno.EPERM: (msg("no permission"), _WRITABLE),
    errno.EBUSY: (msg("open in another process"), msg("Close the other process.")),
}
"""What a person reads when the disk cannot be written to: the reason, and what to do about it."""


def os_reason(error: OSError) -> Message:
    """Return the operating system's message for an error, such as "Permission denied".

    A full disk is called the same as in `DISK_PROBLEMS`.
    """
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return Message(DISK_PROBLEMS[error.errno][0])
    return Message(error.strerror or str(error))


class InvalidItemError(ContextUIError):
    """A context item is invalid: it has no content, or its id is malformed."""


class DuplicateItemError(ContextUIError):
    """A context item with this id exists already."""


class UnknownItemError(ContextUIError):
    """No context item has this id."""


class StaleRequestError(ContextUIError):
    """A request is stale: the context changed after it was composed."""


class ContextTooLargeError(ContextUIError):
    """The items that cannot be left out exceed the token budget."""

    def __init__(self, needed: int, budget: int, largest: Sequence[str]) -> None:
        self.needed, self.budget, self.largest = needed, budget, tuple(largest)
        super().__init__(
            "The context needs ~{needed} tokens and the budget is {budget}. "
            "What cannot be left out: {largest}.",
            needed=needed,
            budget=budget,
            largest="; ".join(self.largest),
        )


class WindowDefinitionError(ContextUIError):
    """A window class is defined incorrectly."""


class UnknownWindowError(ContextUIError):
    """No window has this id, or no window class has this name."""


class TooManyWindowsError(ContextUIError):
    """The maximum number of windows is open already."""


class UnknownActionError(ContextUIError):
    """The window declares no action with this id."""


class InvalidParamsError(ContextUIError):
    """The params do not match the action's signature; the message says what was expected."""


class ActionError(ContextUIError):
    """Raised by an action to report why it cannot run; the model reads this message verbatim."""


class ConflictError(ContextUIError):
    """The window was changed after the model saw it last; calling the action again runs it."""


class ActionFailedError(ContextUIError):
    """An action or a hook raised; its changes were rolled back."""


class WindowClosedError(ContextUIError):
    """The window was closed before the call reached it."""


class WindowBusyError(ContextUIError):
    """The window did not respond in time; the pending call is discarded."""


class InvalidSourceDataError(ContextUIError):
    """A window's state or content has the wrong type or fails validation."""


class FrozenStateError(ContextUIError):
    """A window's state or snapshot was modified outside the window's own actions."""


class VersionMismatchError(ContextUIError):
    """Two snapshots, or a snapshot and its window, show different versions of the data."""


class AnchorConflictError(ContextUIError):
    """Two anchors or actions of a window have the same id; the first is kept."""


class NoWorkspaceError(ContextUIError):
    """The window needs files, but the session has no workspace folder."""
