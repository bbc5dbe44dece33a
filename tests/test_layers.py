"""The façade of a layer is enough: nothing outside reaches for the objects behind it."""

import ast
from pathlib import Path

import contextui

PACKAGE = Path(contextui.__file__).parent


def sources() -> dict[Path, str]:
    """The files of the package; its folder of windows may be a link, which `rglob` leaves out."""
    paths = {*PACKAGE.rglob("*.py"), *(PACKAGE / "windows").rglob("*.py")}
    return {path: path.read_text(encoding="utf-8") for path in sorted(paths)}


def uses(attribute: str, layer: str) -> list[str]:
    """Where the code outside a layer uses an attribute."""
    return [
        f"{path.relative_to(PACKAGE)}:{node.lineno}"
        for path, text in sources().items()
        if path.relative_to(PACKAGE).parts[0] != layer and f".{attribute}" in text
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Attribute) and node.attr == attribute
    ]


def test_an_internal_object_is_used_in_its_layer_only() -> None:
    for attribute, layer in (
        ("ledger", "context"),  # ContextManager has queries, ContextReplay has changes
        ("_runtime", "windowing"),
    ):
        assert uses(attribute, layer) == [], attribute


def test_the_rule_finds_uses() -> None:
    assert uses("ledger", "tui")
    assert uses("_runtime", "tui")
    assert any(path.is_relative_to(PACKAGE / "windows") for path in sources())


def test_only_the_session_reads_bytes_of_the_log() -> None:
    readers = [
        str(path.relative_to(PACKAGE))
        for path, text in sources().items()
        if path.relative_to(PACKAGE).parts[0] != "session" and "contextui.session.reader" in text
    ]
    assert readers == []
