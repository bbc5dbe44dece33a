"""How often the system is asked."""

import os
from collections import Counter
from collections.abc import Callable
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
