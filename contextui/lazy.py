"""Lazy exports: names of a package that are imported on first use."""

import sys
from importlib import import_module

TYPE_CHECKING = False  # without `typing`: every start of the program loads this module
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def lazy_exports(package: str) -> "tuple[Callable[[str], Any], Callable[[], list[str]]]":
    """Make the `__getattr__` and `__dir__` of a package.

    It exports what it imports for type checkers; its source is read when a name is first needed.
    `__all__` has the names without those after ``if FORMER``.
    """
    module, home_of, public = sys.modules[package], dict[str, str](), list[str]()

    def read() -> None:
        import re  # noqa: PLC0415  (likewise)

        assert module.__spec__ is not None
        source = module.__spec__.loader.get_source(package)  # type: ignore[union-attr]
        for part in source.split("if FORMER:"):
            found = re.findall(r"^    from (\S+) import (\w+) as \2$", part, re.MULTILINE)
            public.extend(sorted(name for _, name in found if not home_of))
            home_of.update((name, home) for home, name in found)

    def get(name: str) -> "Any":
        if not home_of and not (name.startswith("__") and name != "__all__"):
            read()
        if name == "__all__":
            return public
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(home_of[name]), name)
        setattr(module, name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(module), *get("__all__"), *home_of})

    return get, names
