"""Errors about files of the workspace, with messages that a user can act on."""

import errno

from contextui.errors import ContextUIError, os_reason
from contextui.text import quote
from contextui.words import Translatable


def shown(path: str) -> str:
    """Quote a path for a message: one sanitized line, long enough to identify the file."""
    return quote(path, 160)


class FileError(ContextUIError):
    """Base class of all errors about files.

    Args:
        path: The path concerned, as given or as displayed.
        values: Values for the placeholders of a message of the catalogue; `name` is by default the
            path.
    """

    def __init__(self, path: str, message: str | Translatable, **values: object) -> None:
        self.path = path
        given = {"name": shown(path)} if isinstance(message, str) and "{name}" in message else {}
        super().__init__(message, zh="", **{**given, **values})


class PathEscapeError(FileError):
    """A path, or a link on its way, leads out of the workspace."""


class MissingFileError(FileError):
    """Nothing exists at this path, or no longer."""


class NotAFileError(FileError):
    """Not a regular file: a folder, a device, a FIFO, a socket, or a kernel file."""


class NotAFolderError(FileError):
    """Something used as a folder is not a folder."""


class UnreadableFileError(FileError):
    """A file cannot be read: no permission, damaged text, a failing disk."""


class BinaryFileError(UnreadableFileError):
    """A file is not text; the message says why."""


class SecretFileError(FileError):
    """A file may hold secrets, and no person has allowed the model to read it.

    Attributes:
        real: Its path with all links resolved.
    """

    def __init__(self, path: str, real: str) -> None:
        self.real = real
        super().__init__(
            path,
            "{name} may hold secrets, and the person has not allowed reading it.",
        )


class FileTooLargeError(FileError):
    """A file is too large to be loaded as a whole; it can still be read in pages."""

    def __init__(self, path: str, size: int, limit: int) -> None:
        self.size, self.limit = size, limit
        super().__init__(
            path,
            "{name} has {size:,} bytes and is too large to be opened whole (the limit is "
            "{limit:,}). Read it in pages.",
            size=size,
            limit=limit,
        )


class EditError(FileError):
    """An edit does not fit the text; nothing was changed."""


class SaveError(FileError):
    """A save failed. Unless the message says otherwise, the file is unchanged."""


class FileChangedError(SaveError):
    """The file on disk changed since it was read, so it was not overwritten.

    Attributes:
        diff: A unified diff from the file on disk to the content to save.
    """

    def __init__(self, path: str, diff: str) -> None:
        self.diff = diff
        super().__init__(
            path,
            "{name} was changed on disk since it was read, so it was not overwritten. "
            "Read it again, or look at the diff first.",
        )


class FileDeletedError(SaveError, MissingFileError):
    """The file was deleted since it was read; it can be saved as a new one."""


class ExistingFileError(SaveError):
    """A new file cannot be created because something exists at its path."""


_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_DENIED = {errno.EACCES, errno.EPERM, errno.EROFS}


def reading_failed(path: str, error: OSError) -> FileError:
    """Convert an `OSError` from reading to a `FileError`."""
    match error.errno:
        case errno.ENOENT:
            return MissingFileError(path, "There is no {name} in the workspace.")
        case errno.ENOTDIR:
            return NotAFolderError(path, "A part of {name} is used as a folder, but is not one.")
        case errno.ENAMETOOLONG:
            return FileError(path, "The path {name} is too long.")
        case errno.ELOOP:
            return UnreadableFileError(path, "{name} was replaced by a link while being opened.")
        case errno.EACCES | errno.EPERM:
            return UnreadableFileError(path, "There is no permission to read {name}.")
        case _:
            return UnreadableFileError(path, "{name} cannot be read: {why}.", why=os_reason(error))


def saving_failed(path: str, error: OSError) -> SaveError:
    """Convert an `OSError` from saving to a `SaveError`."""
    why = os_reason(error)
    if error.errno in _FULL:
        return SaveError(path, "{name} was not saved: {why}. The file is unchanged.", why=why)
    if error.errno in _DENIED:
        return SaveError(path, "{name} was not saved: the file or its folder is not writable.")
    return SaveError(path, "{name} was not saved: {why}.", why=why)
