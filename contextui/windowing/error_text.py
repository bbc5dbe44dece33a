"""One-line error messages for exceptions of any kind, safe to show."""

import sys
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from contextui.errors import ContextUIError
from contextui.secrets import mask, mask_own
from contextui.text import one_line
from contextui.words import Translatable

if TYPE_CHECKING:
    from pydantic import ValidationError

_LONGEST = 1_000  # characters
_EXAMINED = 10_000  # characters of a message that may be shown
_FIELDS = 3  # invalid fields of a model that are named


def reason_of(problem: BaseException, lang: str = "en") -> str:
    """Return the exception's type and message, as one sanitized line of bounded length.

    For a `ContextUIError` the message alone is enough, in this language; for a `ValidationError`,
    the invalid fields. Secrets in it are masked; in a `ContextUIError`, only those that are known.
    """
    pydantic = sys.modules.get("pydantic")  # it is heavy, and loaded if it raised the problem
    if pydantic is not None and isinstance(problem, pydantic.ValidationError):
        return one_line(invalid_fields(problem), _LONGEST)
    try:
        words = problem.text(lang) if isinstance(problem, ContextUIError) else str(problem)
    except BaseException as worse:  # its `__str__` may be broken too
        words = f"(its message is unavailable: {type(worse).__name__})"
    if isinstance(problem, ContextUIError):
        return one_line(mask_own(words), _LONGEST)
    return one_line(f"{type(problem).__name__}: {mask(words[:_EXAMINED])}", _LONGEST)


def invalid_fields(error: "ValidationError") -> str:
    """Return what pydantic found, as ``pages: Input should be a valid integer``."""
    found = error.errors(include_url=False, include_context=False, include_input=False)
    rows = [f"{'.'.join(map(str, one['loc'])) or error.title}: {one['msg']}" for one in found]
    return "; ".join(rows[:_FIELDS])


@dataclass(frozen=True, slots=True)
class Clause:
    """The reason of an exception as a part of a sentence: without its full stop.

    It is a value of a message, which translates it.
    """

    problem: BaseException

    def text(self, lang: str) -> str:
        """Return the clause in a language."""
        return reason_of(self.problem, lang).rstrip(".。")

    def __str__(self) -> str:
        return self.text("en")


@dataclass(frozen=True, slots=True)
class Line:
    """A message as one sanitized line of bounded length."""

    message: Translatable

    def text(self, lang: str) -> str:
        """Return the line in a language."""
        return one_line(self.message.text(lang), _LONGEST)

    def __str__(self) -> str:
        return self.text("en")


def reason_in(cls: type, problem: BaseException, lang: str = "en", *others: type) -> str:
    """As `reason_of`, with the file and line in the module of the class, or of other classes.

    Example:
        >>> reason_in(ShopWindow, problem)                                   # doctest: +SKIP
        "AttributeError: 'ShopWindow' object has no attribute 'itmes' (shop.py:12)"
    """
    reason = reason_of(problem, lang)
    if isinstance(problem, ContextUIError):
        return reason
    modules = [sys.modules.get(one.__module__) for one in (cls, *others)]
    files = {getattr(module, "__file__", None) for module in modules} - {None}
    for frame in reversed(traceback.extract_tb(problem.__traceback__)):
        if frame.filename in files:
            return f"{reason} ({one_line(Path(frame.filename).name, 80)}:{frame.lineno})"
    return reason
