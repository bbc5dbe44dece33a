"""The package as a whole: what importing it loads, what it exports, how it is cut."""

import inspect
import pkgutil
import re
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

import contextui

PACKAGE = Path(contextui.__file__).parent
HEAVY = {"textual", "anthropic", "tiktoken", "lxml"}


NAMES = ("", "Window", "WindowManager", "ContextManager", "TokenCounter")
SCRIPT = f"""
import contextui, sys
for name in {NAMES}:
    getattr(contextui, name or "__all__")
    print(name, *sys.modules)
"""


def test_the_core_loads_neither_screen_nor_sdk_nor_tokenizer() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True
    )
    lines = dict(zip(NAMES, done.stdout.splitlines(), strict=True))
    assert "pydantic" not in lines[""].split()
    for name, line in lines.items():
        assert HEAVY.isdisjoint(line.split()), name


def test_every_public_name_is_there() -> None:
    promised = {
        *("ItemType", "ContextItem", "ContextManager", "ContextStats", "ContextTooLargeError"),
        *("RenderOptions", "ContextRenderer", "trim", "LlmMessage", "TokenCounter"),
        *("Window", "Body", "action", "Lod", "WindowManager", "ActionResult"),
        *("Snapshot", "SnapshotHeader", "SnapshotState", "ContextVersion"),
        *("Anchor", "AnchorType"),
    }
    for name in {*promised, *contextui.__all__}:
        assert getattr(contextui, name) is not None
    assert len(contextui.__all__) <= 36
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        contextui.nonsense  # noqa: B018


def test_exports_are_typed_and_no_submodule_hides_one() -> None:
    for package in (
        "",
        ".agent",
        ".context",
        ".files",
        ".session",
        ".windowing",
        ".strategies",
        ".snapshots",
    ):
        module = import_module(f"contextui{package}")
        source = Path(str(module.__file__)).read_text(encoding="utf-8")
        for name in module.__all__:
            exported = getattr(module, name)
            assert not inspect.ismodule(exported), name
            assert re.search(rf"\b{name}\b.*(as {name}$|,$)|import .*\b{name}\b", source, re.M), (
                name
            )
        assert not {
            name for _, name, _ in pkgutil.iter_modules(getattr(module, "__path__", []))
        } & set(module.__all__), package


def test_what_is_no_module_is_installed_too() -> None:
    """A clone has every file by itself; an installed package has those that are named."""
    project = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text("utf-8"))
    named = project["tool"]["setuptools"]["package-data"]["contextui"]
    installed = {path for pattern in named for path in PACKAGE.glob(pattern)}
    others = {path for path in PACKAGE.rglob("*") if path.is_file() and path.suffix != ".py"}
    assert {path for path in others if path.suffix != ".pyc"} - installed == set()
    assert any(path.suffix == ".tcss" for path in installed)


def test_the_built_in_windows_are_short_enough_to_learn_from() -> None:
    lengths = {
        path.parent.name if path.stem == "window" else path.stem: len(
            path.read_text("utf-8").splitlines()
        )
        for pattern in ("*.py", "*/window.py")
        for path in (PACKAGE / "windows").glob(pattern)
    }
    assert {"todo", "editor", "monitor", "notebook", "files", "code", "git"} <= lengths.keys()
    assert sum(lengths.values()) < 2_850  # each in two languages
    assert max(lengths.values()) <= 435
