"""The façade of a layer is enough: nothing outside reaches for the objects behind it."""

import ast
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

import contextui

PACKAGE = Path(contextui.__file__).parent


def sources() -> dict[Path, str]:
    """The files of the package; its folder of windows may be a link, which `rglob` leaves out."""
    paths = {*PACKAGE.rglob("*.py"), *(PACKAGE / "windows").rglob("*.py")}
    return {path: path.read_text(encoding="utf-8") for path in sorted(paths)}


def uses(attribute: str, *layers: str) -> list[str]:
    """Where the code outside of some layers uses an attribute."""
    return [
        f"{path.relative_to(PACKAGE)}:{node.lineno}"
        for path, text in sources().items()
        if path.relative_to(PACKAGE).parts[0] not in layers and f".{attribute}" in text
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Attribute) and node.attr == attribute
    ]


def test_an_internal_object_is_used_in_its_layer_only() -> None:
    assert uses("ledger", "context", "session") == []  # everyone else asks the ContextManager
    assert uses("_runtime", "windowing") == []


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


def imports(tree: ast.AST, modules: Collection[str]) -> Iterator[str]:
    """The modules that a file imports, also inside functions and for type hints alone."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names = (f"{node.module}.{alias.name}" for alias in node.names)
            yield from (name if name in modules else str(node.module) for name in names)


def import_graph() -> dict[str, set[str]]:
    """Each module and those it imports; what a package exports lazily is not imported by it."""
    texts = {
        ".".join(("contextui", *path.relative_to(PACKAGE).with_suffix("").parts)): text
        for path, text in sources().items()
    }
    modules = {name.removesuffix(".__init__") for name in texts}
    graph: dict[str, set[str]] = {}
    for name, text in texts.items():
        own = name.removesuffix(".__init__")
        is_lazy = own != name and "lazy_exports" in text
        found = set() if is_lazy else set(imports(ast.parse(text), modules))
        graph[own] = {one for one in found & modules if one != own}
    return graph


def circles(graph: Mapping[str, Collection[str]]) -> list[set[str]]:
    """The groups of modules that import each other, directly or not."""

    def reached(start: str) -> set[str]:
        found, waiting = set[str](), [start]
        while waiting:
            new = set(graph[waiting.pop()]) - found
            found |= new
            waiting += new
        return found

    reach = {name: reached(name) for name in graph}
    groups = {frozenset(o for o in reach[n] if n in reach[o]) for n in graph if n in reach[n]}
    return [set(group) for group in groups]


def test_no_modules_import_each_other() -> None:
    assert circles(import_graph()) == []


def test_the_search_finds_circles() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == [{"b", "c"}]
