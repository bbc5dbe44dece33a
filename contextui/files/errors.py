"""Every way in which a file of the workspace can say no, in words a user can act on."""

import errno

from contextui.errors import ContextUIError
from contextui.text import quote


def shown(path: str) -> str:
    """A path in quotes for a message: one inert line, long enough to tell which file it is."""
    return quote(path, 160)


class FileError(ContextUIError):
    """The root of all errors about files.

    Attributes:
        path: The path it is about, as it was given or as it is shown.
    """

    def __init__(self, path: str, message: str, zh: str = "") -> None:
        self.path = path
        super().__init__(message, zh=zh)


class InvalidPathError(FileError):
    """A path that can name nothing: empty, over-long, with NUL or backslashes."""


class PathEscapeError(FileError):
    """A path, or a link on its way, that leads out of the workspace."""


class MissingFileError(FileError):
    """There is nothing of that name, or no longer."""


class NotAFileError(FileError):
    """A folder, a device, a FIFO, a socket, a file of the kernel: nothing to read or to save."""


class NotAFolderError(FileError):
    """Something that is used as a folder and is none."""


class UnreadableFileError(FileError):
    """A file that cannot be read: no permission, damaged text, a failing disk."""


class BinaryFileError(UnreadableFileError):
    """A file that is no text; the message says what speaks against it."""


class SecretFileError(FileError):
    """A file that may hold secrets, whose content no person has allowed the model to read.

    Attributes:
        real: Its path, all links followed.
    """

    def __init__(self, path: str, real: str) -> None:
        self.real = real
        super().__init__(
            path,
            f"{shown(path)} may hold secrets, and the person has not allowed to read it.",
            f"{shown(path)} 可能含有机密，用户没有允许读取它。",
        )


class FileTooLargeError(FileError):
    """A file too large to be held whole; it can still be read in pages."""

    def __init__(self, path: str, size: int, limit: int) -> None:
        self.size, self.limit = size, limit
        super().__init__(
            path,
            f"{shown(path)} has {size:,} bytes and is too large to be opened whole "
            f"(the limit is {limit:,}). Read it in pages.",
            f"{shown(path)} 有 {size:,} 字节，太大，不能整个打开（上限 {limit:,}）。请分页读取。",
        )


class FolderTooLargeError(FileError):
    """A folder with too many names to be listed."""

    def __init__(self, path: str, limit: int) -> None:
        super().__init__(
            path,
            f"{shown(path)} holds more than {limit:,} names and is too large to be listed. "
            "Name the file itself.",
            f"{shown(path)} 中的名称超过 {limit:,} 个，太多，无法列出。请直接给出文件名。",
        )


class EditError(FileError):
    """An edit that does not fit the text; nothing was changed."""


class UnencodableTextError(EditError):
    """Text that the file's encoding has no bytes for; nothing was changed."""


class SaveError(FileError):
    """A save that failed. Unless the message says otherwise, the file is as it was before."""


class FileChangedError(SaveError):
    """The file on disk is no longer what was read, so it was not overwritten.

    Attributes:
        diff: A unified diff from what is on disk now to what was to be saved.
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
    """The file that was read is no longer there; it can be saved as a new one."""


class ExistingFileError(SaveError):
    """A new file was to be made where there is something already."""


class ReadOnlyFileError(SaveError):
    """A file, a folder or a disk that must not be written to."""


class HardLinkedFileError(SaveError):
    """A file with other names: replacing it would part them."""


class DiskFullError(SaveError):
    """No room on the disk, in the quota or under the limit for one file."""


_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_DENIED = {errno.EACCES, errno.EPERM, errno.EROFS}


def reading_failed(path: str, error: OSError) -> FileError:
    """What the system said when something was to be read, as an error of ours."""
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
    """What the system said when something was to be saved, as an error of ours."""
    name, why = shown(path), error.strerror
    if error.errno in _FULL:
        en = f"{name} was not saved: {why}. The file is as it was before."
        return DiskFullError(path, en, f"{name} 没有保存：{why}。文件仍和原来一样。")
    if error.errno in _DENIED:
        en = f"{name} was not saved: the file or its folder must not be written to."
        return ReadOnlyFileError(path, en, f"{name} 没有保存：文件或其所在文件夹不可写。")
    return SaveError(path, f"{name} was not saved: {why}.", f"{name} 没有保存：{why}。")
