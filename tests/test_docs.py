"""The guide is true: its blocks run in order, print what it says, and its tests pass."""

import contextlib
import inspect
import io
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).parent.parent / "docs"
GUIDE = DOCS / "writing-windows.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def guide(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """The guide's code, run block by block, with what it printed compared."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(tmp_path_factory.mktemp("guide")))
        yield run_guide()


def run_guide() -> ModuleType:
    module = ModuleType("writing_windows")
    sys.modules[module.__name__] = module
    text = GUIDE.read_text("utf-8")
    printed, waiting = "", False
    for match in BLOCK.finditer(text):
        language, block = match.groups()
        line = text.count("\n", 0, match.start()) + 1
        if language == "python":
            assert not waiting, f"line {line}: what was printed before it is not shown"
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                # Empty lines in front, so that an error names the line of the guide.
                exec(compile("\n" * line + block, str(GUIDE), "exec"), vars(module))
            printed, waiting = output.getvalue(), bool(output.getvalue())
        elif language == "text":
            assert block == printed, f"line {line}"
            waiting = False
    assert not waiting
    return module


def test_the_guide_prints_what_it_says(guide: ModuleType) -> None:
    assert len(re.findall(r"^```text$", GUIDE.read_text("utf-8"), re.MULTILINE)) == 12


def test_the_guides_own_tests_pass(guide: ModuleType, tmp_path: Path) -> None:
    tests = [test for name, test in vars(guide).items() if name.startswith("test_")]
    assert len(tests) == 2
    for test in tests:
        test(*[tmp_path for _ in inspect.signature(test).parameters])


def test_the_first_window_has_about_20_lines() -> None:
    first = next(block for language, block in BLOCK.findall(GUIDE.read_text("utf-8")))
    assert "class ReadingWindow(Window)" in first
    assert len(first.splitlines()) <= 21


def test_the_built_in_windows_use_only_what_it_names() -> None:
    guide = GUIDE.read_text("utf-8")
    for path in (DOCS.parent / "windows").glob("*.py"):
        for module, names in re.findall(
            r"^from (contextui[\w.]*) import \(?([\w\s,]+)", path.read_text("utf-8"), re.MULTILINE
        ):
            used = [f"{module}.{names.strip()}"] if module == "contextui.files" else [module]
            assert all(f"`{one}`" in guide or one == "contextui" for one in used), (path, used)


def test_what_it_links_to_is_there() -> None:
    for target in re.findall(r"\]\((\.\.?/[^)#]+)\)", GUIDE.read_text("utf-8")):
        assert (DOCS / target).exists(), target


def test_its_sample_of_packaging_is_the_samples_own() -> None:
    sample = (DOCS.parent / "tests" / "thirdparty" / "pyproject.toml").read_text("utf-8")
    (shown,) = [block for kind, block in BLOCK.findall(GUIDE.read_text("utf-8")) if kind == "toml"]
    for line in filter(None, shown.splitlines()):
        assert line in sample.splitlines()
