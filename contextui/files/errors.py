"""Errors about files of the workspace, with messages that a user can act on."""

import errno

from contextui.errors import ContextUIError
from contextui.text import quote


def shown(path: str) -> str:
    """Quote a path for a message: one sanitized line, long enough to identify the file."""
    return quote(path, 160)


class FileError(ContextUIError):
    """Base class of all errors about files.

    Attributes:
        path: The path concerned, as given or as displayed.
    """

    def __init__(self, path: str, message: str, zh: str = "") -> None:
        self.path = path
        super().__init__(message, zh=zh)


class InvalidPathError(FileError):
    """An invalid path: empty, too long, or with NUL or backslashes."""


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
            f"{shown(path)} may hold secrets, and the person has not allowed to read it.",
            f"{shown(path)} 可能含有机密，用户没有允许读取它。",
        )


class FileTooLargeError(FileError):
    """A file is too large to be loaded as a whole; it can still be read in pages."""

    def __init__(self, path: str, size: int, limit: int) -> None:
        self.size, self.limit = size, limit
        super().__init__(
            path,
            f"{shown(path)} has {size:,} bytes and is too large to be opened whole "
            f"(the limit is {limit:,}). Read it in pages.",
            f"{shown(path)} 有 {size:,} 字节，太大，不能整个打开（上限 {limit:,}）。请分页读取。",
        )


class FolderTooLargeError(FileError):
    """A folder has too many entries to list."""

    def __init__(self, path: str, limit: int) -> None:
        super().__init__(
            path,
            f"{shown(path)} holds more than {limit:,} names and is too large to be listed. "
            "Name the file itself.",
            f"{shown(path)} 中的名称超过 {limit:,} 个，太多，无法列出。请直接给出文件名。",
        )


class EditError(FileError):
    """An edit does not fit the text; nothing was changed."""


class UnencodableTextError(EditError):
    """Text cannot be encoded in the file's encoding; nothing was changed."""


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
            f"{shown(path)} was changed on disk since it was read, so it was not overwritten. "
            "Read it again, or look at the diff first.",
            f"{shown(path)} 在读取之后被改动过，没有覆盖它。请重新读取，或先看差异。",
        )


class FileDeletedError(SaveError, MissingFileError):
    """The file was deleted since it was read; it can be saved as a new one."""


class ExistingFileError(SaveError):
    """A new file cannot be created because something exists at its path."""


class ReadOnlyFileError(SaveError):
    """A file, a folder or a disk is not writable."""


class HardLinkedFileError(SaveError):
    """A file has other hard links, and replacing it would separate them."""


class DiskFullError(SaveError):
    """The disk, the quota or the file size limit is exhausted."""


_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_DENIED = {errno.EACCES, errno.EPERM, errno.EROFS}


def reading_failed(path: str, error: OSError) -> FileError:
    """Convert an `OSError` from reading to a `FileError`."""
    name = shown(path)
    match error.errno:
        case errno.ENOENT:
            en, zh = f"There is no {name} in the workspace.", f"工作区中没有 {name}。"
            return MissingFileError(path, en, zh)
        case errno.ENOTDIR:
            en = f"A part of {name} is used as a folder and is none."
            return NotAFolderError(path, en, f"{name} 的一部分被当作文件夹，但它不是。")
        case errno.ENAMETOOLONG:
            return InvalidPathError(path, f"The path {name} is too long.", f"路径 {name} 太长。")
        case errno.ELOOP:
            en = f"{name} was replaced by a link while being opened."
            return UnreadableFileError(path, en, f"{name} 在打开时被换成了链接。")
        case errno.EACCES | errno.EPERM:
            en, zh = f"There is no permission to read {name}.", f"没有读取 {name} 的权限。"
            return UnreadableFileError(path, en, zh)
        case _:
            why = error.strerror
            en, zh = f"{name} cannot be read: {why}.", f"无法读取 {name}：{why}。"
            return UnreadableFileError(path, en, zh)


def saving_failed(path: str, error: OSError) -> SaveError:
    """Convert an `OSError` from saving to a `SaveError`."""
    name, why = shown(path), error.strerror
    if error.errno in _FULL:
        en = f"{name} was not saved: {why}. The file is as it was before."
        return DiskFullError(path, en, f"{name} 没有保存：{why}。文件仍和原来一样。")
    if error.errno in _DENIED:
        en = f"{name} was not saved: the file or its folder must not be written to."
        return ReadOnlyFileError(path, en, f"{name} 没有保存：文件或其所在文件夹不可写。")
    return SaveError(path, f"{name} was not saved: {why}.", f"{name} 没有保存：{why}。")
