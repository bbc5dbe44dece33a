"""Writing into a file that has several names (hard links), so that all of them keep it.

This cannot be done in one step, so a copy of the old content stands beside the file until it
is done: after a crash the file is whole, or the copy is.
"""

import os

from contextui.files.beside import forget, give_name, written_beside
from contextui.files.descent import Spot
from contextui.files.disk import content_of, flush, write_all
from contextui.files.errors import FileChangedError, SaveError, shown
from contextui.files.unchanged import check_unchanged
from contextui.files.version import Version

BACKUP_SUFFIX = ".contextui-backup"


def write_in_place(spot: Spot, data: bytes, expected: Version) -> Version:
    """Put new content into the file itself, if it is still what was read."""
    backup = spot.name + BACKUP_SUFFIX
    descriptor = spot.open(os.O_RDWR)
    try:
        old = content_of(descriptor, spot.path)
        _keep(spot, backup, old)
        try:
            info = check_unchanged(spot, expected, data)
            if not os.path.samestat(info, os.fstat(descriptor)):  # same content, another file
                raise FileChangedError(spot.path, "")
        except BaseException:
            forget(spot, backup)
            raise
        try:
            _overwrite(descriptor, data)
        except BaseException:
            _put_back(spot, descriptor, old, backup)
            raise
        forget(spot, backup)
        return Version.of(os.fstat(descriptor), data)
    finally:
        os.close(descriptor)


def _overwrite(descriptor: int, data: bytes) -> None:
    write_all(descriptor, data, at=0)
    os.ftruncate(descriptor, len(data))
    flush(descriptor)


def _keep(spot: Spot, backup: str, old: bytes) -> None:
    with written_beside(spot, old, like=True) as (temporary, _):
        try:
            give_name(spot.folder, temporary, backup)
        except FileExistsError as error:
            raise SaveError(
                spot.path,
                f"An earlier save of {shown(spot.path)} was interrupted: {shown(backup)} beside it "
                "has the content from before. Compare the two and remove that one first.",
                f"先前保存 {shown(spot.path)} 时被中断：旁边的 {shown(backup)} 是之前的内容。"
                "请先比较两者，并移走后者。",
            ) from error
        flush(spot.folder)


def _put_back(spot: Spot, descriptor: int, old: bytes, backup: str) -> None:
    try:
        _overwrite(descriptor, old)
    except OSError as error:
        raise SaveError(
            spot.path,
            f"{shown(spot.path)} was written in part only. {shown(backup)} beside it has the "
            "content from before.",
            f"{shown(spot.path)} 只写入了一部分。旁边的 {shown(backup)} 是之前的内容。",
        ) from error
    forget(spot, backup)
