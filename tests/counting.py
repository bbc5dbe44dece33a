"""How much work is done: calls of the system, lines of code."""

import os
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any

import pytest


def count_calls(monkeypatch: pytest.MonkeyPatch, *names: str) -> Counter[str]:
    """Count from now on how often these functions of `os` are called."""
    counted: Counter[str] = Counter()

    def wrap(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            counted[name] += 1
            return call(*args, **kwargs)

        return wrapped

    for name in names:
        monkeypatch.setattr(os, name, wrap(name, getattr(os, name)))
    return counted


def lines_run(call: Callable[[], object]) -> int:
    """Count the lines of the package that a call runs, each pass of a loop included."""
    count = 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        if "contextui" not in frame.f_code.co_filename:
            return None
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    return count


def opened_around(root: Path) -> int:
    """How many descriptors are open of the folder, of what is in it and of what contains it."""
    status = [path.lstat() for path in (root, *root.parents, *root.rglob("*"))]
    near = {(one.st_dev, one.st_ino) for one in status}
    count = 0
    for number in os.listdir("/dev/fd"):
        with suppress(OSError):  # the listing's own
            one = os.fstat(int(number))
            count += (one.st_dev, one.st_ino) in near
    return count
