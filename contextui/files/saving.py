"""Saving a file so that it is the old one or the new one, whatever happens in between.

The new content is written beside the old file, forced to disk, and takes the old one's name in
one step. Just before that step the old file is read once more, so whoever changed it keeps
their change. What remains is the moment between that look and the step. Where the system can
exchange two names at once, that is closed too: what was replaced is looked at afterwards and
put back if it is not what was expected. Two things remain that nobody could notice: a program
that has the old file open and goes on writing into it, and a third one that reads and replaces
the file in the instant between such an exchange and its being put back.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from contextui.files.beside import (
    StrandedError,
    forget,
    give_name,
    part_from_litter,
    written_beside,
)
from contextui.files.descent import Spot, refuse_all_but_files
from contextui.files.disk import flush
from contextui.files.errors import (
    ExistingFileError,
    HardLinkedFileError,
    SaveError,
    saving_failed,
    shown,
)
from contextui.files.exchange import exchange
from contextui.files.in_place import write_in_place
from contextui.files.unchanged import check_unchanged, deleted
from contextui.files.version import Version


def create(spot: Spot, data: bytes) -> Version:
    """Make a new file; whatever has the name already is left alone."""
    if spot.info is not None:
        raise _taken(spot)
    with _as_save_errors(spot), written_beside(spot, data) as (temporary, version):
        try:
            give_name(spot.folder, temporary, spot.name)
        except FileExistsError as error:
            raise _taken(spot) from error
        forget(spot, temporary)
        _confirm(spot)
    return version


def replace(spot: Spot, data: bytes, expected: Version, *, keep_links: bool) -> Version:
    """Put new content in the place of what was read.

    Args:
        spot: The file.
        data: The new content.
        expected: What was read.
        keep_links: Write into a file with several names, which is refused otherwise.
    """
    if spot.info is not None:
        refuse_all_but_files(spot.path, spot.info)
    with _as_save_errors(spot):
        old = check_unchanged(spot, expected, data)
        names = part_from_litter(spot, old) if old.st_nlink > 1 else 1
        if names > 1:
            if keep_links:
                return write_in_place(spot, data, expected)
            raise HardLinkedFileError(
                spot.path,
                f"{shown(spot.path)} is one file under {names} names (hard links), and saving "
                "would part it from the others. Save with keep_links to write into all of them.",
                f"{shown(spot.path)} 是有 {names} 个名称的同一文件（硬链接），"
                "保存会使它与其他名称分开。用 keep_links 保存可写入全部。",
            )
        beside = written_beside(spot, data, like=True, replaces=expected.digest)
        with beside as (temporary, version):
            check_unchanged(spot, expected, data)
            _take_place(spot, temporary, expected, data)
            _confirm(spot)
    return version


def _take_place(spot: Spot, temporary: str, expected: Version, data: bytes) -> None:
    """Give the new file the old one's name, and make sure of what the old one was."""
    try:
        exchanged = exchange(spot.folder, temporary, spot.name)
    except FileNotFoundError as error:
        raise deleted(spot) from error
    if not exchanged:
        _rename(spot, temporary)
        return
    try:
        info = os.lstat(temporary, dir_fd=spot.folder)
        replaced = Spot(spot.path, spot.folder, temporary, spot.real, info)
        check_unchanged(replaced, expected, data)
    except BaseException:
        try:
            _rename(spot, temporary)
        except OSError as error:
            raise StrandedError(
                spot.path,
                f"{shown(spot.path)} was changed on disk in the very moment of saving. "
                f"What it held is in {shown(temporary)} beside it.",
                f"{shown(spot.path)} 在保存的瞬间被改动。"
                f"它原来的内容在旁边的 {shown(temporary)} 中。",
            ) from error
        raise


def _rename(spot: Spot, temporary: str) -> None:
    os.replace(temporary, spot.name, src_dir_fd=spot.folder, dst_dir_fd=spot.folder)


def _confirm(spot: Spot) -> None:
    """Force the new name onto the disk; a failure here is no failure to save."""
    try:
        flush(spot.folder)
    except OSError as error:
        raise SaveError(
            spot.path,
            f"{shown(spot.path)} was saved, but the disk did not confirm it: {error.strerror}.",
            f"{shown(spot.path)} 已保存，但磁盘没有确认：{error.strerror}。",
        ) from error


def _taken(spot: Spot) -> ExistingFileError:
    return ExistingFileError(
        spot.path,
        f"There is a {shown(spot.path)} already; a new file does not overwrite it.",
        f"已有 {shown(spot.path)}；新文件不会覆盖它。",
    )


@contextmanager
def _as_save_errors(spot: Spot) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise saving_failed(spot.path, error) from error
