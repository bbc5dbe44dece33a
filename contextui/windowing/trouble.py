"""What went wrong, in words that are safe to show, whatever raised them."""

import sys
import traceback
from pathlib import Path

from contextui.errors import ContextUIError
from contextui.text import one_line

_LONGEST = 1_000  # characters


def reason_of(problem: BaseException) -> str:
    """Of what kind the problem is and what it says, in one inert line of bounded length.

    What was raised on purpose has said all by its words.
    """
    try:
        words = str(problem)
    except BaseException as worse:  # its author wrote how it speaks, and may have erred there too
        words = f"(it cannot say what: {type(worse).__name__})"
    kind = "" if isinstance(problem, ContextUIError) else f"{type(problem).__name__}: "
    return one_line(kind + words, _LONGEST)


def reason_in(cls: type, problem: BaseException) -> str:
    """The same, with the place in the class's own file, which its author will look for.

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
