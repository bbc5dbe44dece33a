"""One-line error messages for exceptions of any kind, safe to show."""

import sys
import traceback
from pathlib import Path

from contextui.errors import ContextUIError
from contextui.text import one_line

_LONGEST = 1_000  # characters


def reason_of(problem: BaseException) -> str:
    """Return the exception's type and message, as one sanitized line of bounded length.

    For a `ContextUIError` the message alone is enough.
    """
    try:
        words = str(problem)
    except BaseException as worse:  # its `__str__` may be broken too
        words = f"(it cannot say what: {type(worse).__name__})"
    kind = "" if isinstance(problem, ContextUIError) else f"{type(problem).__name__}: "
    return one_line(kind + words, _LONGEST)


def reason_in(cls: type, problem: BaseException) -> str:
    """As `reason_of`, with the file and line in the class's own module.

    Example:
        >>> reason_in(ShopWindow, problem)                                   # doctest: +SKIP
        "AttributeError: 'ShopWindow' object has no attribute 'itmes' (shop.py:12)"
    """
    file = getattr(sys.modules.get(cls.__module__), "__file__", None)
    frames = traceback.extract_tb(problem.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == file]
    if not file or not lines or isinstance(problem, ContextUIError):
        return reason_of(problem)
    return f"{reason_of(problem)} ({one_line(Path(file).name, 80)}:{lines[-1]})"
