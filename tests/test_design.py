"""The design documents: every ID that tests cite is explained, and every name in them exists."""

import ast
import re
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from contextui.version import VERSION

ROOT = Path(__file__).parent.parent
DESIGN = ROOT / "docs" / "design"
ID = re.compile(r"\b(?:S[0-4]\.\d+[a-z]?|[FGHMX]\d\d|[RUW]\d{1,2})\b(?!\+)")
IDS = re.compile(r"\b(S[0-4]\.)(\d+) to \1(\d+)\b")
FAULTS = re.compile(r"\bFAULTS (\d+[a-z]?(?:(?:, | to )\d+[a-z]?)*)")
NAMES = re.findall(
    r"^\| .+ \| `([\w.]+)` \| `([\w.]+)` \| .*\|$",
    (DESIGN / "names.md").read_text("utf-8"),
    re.MULTILINE,
)


def rows() -> dict[str, str]:
    """The rows of the table of requirements: ID, and the rest."""
    text = (DESIGN / "requirements.md").read_text("utf-8")
    return dict(re.findall(r"^\| (FAULTS \w+|[A-Z]\d[\w.]*) \| (.+) \|$", text, re.MULTILINE))


def cited(text: str) -> Iterator[str]:
    """The IDs in a docstring; "18, 24 to 27" names five of them."""
    yield from ID.findall(text)
    for kind, first, last in IDS.findall(text):
        yield from (f"{kind}{number}" for number in range(int(first), int(last) + 1))
    for numbers in FAULTS.findall(text):
        for one in numbers.split(", "):
            first, _, last = one.partition(" to ")
            each = range(int(first), int(last) + 1) if last else [first]
            yield from (f"FAULTS {number}" for number in each)


def docstrings(file: Path) -> Iterator[str]:
    documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    text = file.read_text("utf-8")
    if not any(cited(" ".join(re.findall('""".*?"""', text, re.DOTALL)))):
        return  # to parse all tests takes a second
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, documented):
            yield ast.get_docstring(node) or ""


def test_ids_are_found_in_lists_and_ranges() -> None:
    assert list(cited("R2: S1.3 as amended; FAULTS 20a, 24 to 26")) == [
        *("R2", "S1.3", "FAULTS 20a", "FAULTS 24", "FAULTS 25", "FAULTS 26")
    ]
    assert set(cited("S0.1 to S0.3, not U+200B")) == {"S0.1", "S0.2", "S0.3"}


def test_every_id_that_a_test_cites_is_explained() -> None:
    known = rows()
    assert len(known) > 80
    for file in sorted((ROOT / "tests").rglob("*.py")):
        if file == Path(__file__):
            continue
        for one in {one for text in docstrings(file) for one in cited(text)}:
            assert one in known, f"{file.relative_to(ROOT)} cites {one}: add it to requirements.md"


def test_the_tests_that_cover_a_requirement_exist() -> None:
    for one, rest in rows().items():
        named = re.findall(r"`([\w/]+\.py)(?:::(\w+))?`", rest.rpartition(" | ")[2])
        assert named, one
        for path, name in named:
            assert (ROOT / "tests" / path).is_file(), f"{one}: {path}"
            assert f"def {name}" in (ROOT / "tests" / path).read_text("utf-8"), f"{one}: {name}"


def member(owner: Any, name: str) -> Any:
    """A member of a module or class; fields without a default exist as annotations only."""
    if isinstance(owner, ModuleType):
        return getattr(owner, name)
    annotated = [vars(cls).get("__annotations__", {}) for cls in owner.__mro__]
    return getattr(owner, name, None) or next(one[name] for one in annotated if name in one)


def test_each_of_our_names_can_be_imported() -> None:
    for name, module in sorted(set(NAMES)):
        found: Any = import_module(module)
        if module == "contextui":
            assert name.partition(".")[0] in found.__all__, "it belongs to another module now"
        for part in name.split("."):
            found = member(found, part)
        assert found is not None, name


def test_the_table_of_names_is_read_whole() -> None:
    table = (DESIGN / "names.md").read_text("utf-8")
    lines = [line for line in table.splitlines() if re.match(r"\| (?!theirs)", line)]
    assert len(NAMES) == len(lines) > 90


def test_links_between_documents_lead_somewhere() -> None:
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    for page in pages:
        text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.M | re.S)
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.relative_to(ROOT)}: {target}"


def test_contributing_names_files_that_exist_and_what_is_in_them() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    named = re.findall(r"`(\w+)` in `([\w/.]+)`", text)
    assert len(named) > 8
    for name, path in named:
        assert re.search(rf"\b{name}\b", (ROOT / path).read_text("utf-8")), (name, path)
    for line in text.splitlines():
        folder = ROOT
        for path in re.findall(r"`([\w/-]+(?:\.[a-z]+|/))`", line):
            file = (ROOT if "/" in path else folder) / path
            assert file.exists(), line
            folder = file.parent


def test_the_modules_of_the_api_reference_exist() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    (listed,) = re.findall(r"^DOCUMENTED := ((?:.*\\\n)*.*)$", makefile, re.MULTILINE)
    modules = re.findall(r"(?<![\w!'.])contextui[\w.]*", listed)
    assert len(modules) > 10
    for module in modules:
        assert import_module(module).__doc__, module


def test_the_version_is_the_same_everywhere() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["version"] == VERSION
