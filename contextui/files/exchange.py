"""Two names exchanged in one step, where the system can: Linux and macOS, not every disk."""

import ctypes
import errno
import os
import sys
from functools import cache
from typing import Any

_CALL, _FLAG = ("renameatx_np", 2) if sys.platform == "darwin" else ("renameat2", 2)
_UNSUPPORTED = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM}


def exchange(folder: int, one: str, other: str) -> bool:
    """Let each of two names in a folder be the other's file; False if that cannot be done."""
    call = _system_call()
    if call is None:
        return False
    if call(folder, os.fsencode(one), folder, os.fsencode(other), _FLAG) == 0:
        return True
    code = ctypes.get_errno()
    if code in _UNSUPPORTED:
        return False
    raise OSError(code, os.strerror(code))


@cache
def _system_call() -> Any:
    try:
        call = getattr(ctypes.CDLL(None, use_errno=True), _CALL)
    except (OSError, AttributeError):
        return None
    call.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
    call.restype = ctypes.c_int
    return call
