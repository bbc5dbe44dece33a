"""Lazy exports: names of a package that are imported on first use."""

import sys
from importlib import import_module

TYPE_CHECKING = False  # without `typing`: every start of the program loads this module
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any


def lazy_exports(
    package: str, *homes: "Mapping[str, Sequence[str]]"
) -> "tuple[Callable[[str], Any], Callable[[], list[str]]]":
    """Make the `__getattr__` and `__dir__` of a package."""
    home_of = {name: home for each in homes for home, names in each.items() for name in names}
    module = sys.modules[package]

    def get(name: str) -> "Any":
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(home_of[name]), name)
        setattr(module, name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(module), *home_of})

    return get, names
