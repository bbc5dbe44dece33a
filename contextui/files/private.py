"""Folders and files that are the owner's alone."""

import os
from pathlib import Path

from contextui.files.beside import NEW, temporary_name
from contextui.files.disk import flush, write_all


def make_private(folder: Path) -> None:
    """Make a folder, and those above it that are missing, for the owner alone."""
    if not folder.is_dir():
        make_private(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def write_private(path: Path, data: bytes) -> os.stat_result:
    """Put a file in its place, or in that of another: whole and on the disk, or not at all.

    Returns:
        What the system knows of it.
    """
    temporary = path.with_name(temporary_name())
    descriptor = os.open(temporary, NEW, 0o600)
    try:
        write_all(descriptor, data)
        flush(descriptor)
        written = os.fstat(descriptor)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    finally:
        os.close(descriptor)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        flush(folder)
    finally:
        os.close(folder)
    return written
