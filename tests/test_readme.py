"""The README is true: its examples run, and print what it says."""

import contextlib
import io
import re
import runpy
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"
BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)


def test_the_examples_print_what_the_readme_says() -> None:
    blocks = BLOCK.findall(README.read_text("utf-8"))
    names: dict[str, object] = {"__name__": "readme"}
    printed, checked = "", 0
    for language, text in blocks:
        if language == "python":
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                exec(compile(text, str(README), "exec"), names)
            printed = output.getvalue()
        elif language == "text" and printed:
            assert printed == text
            printed, checked = "", checked + 1
    assert checked == 1


def test_every_make_target_that_the_readme_names_exists() -> None:
    makefile = (README.parent / "Makefile").read_text("utf-8")
    for target in set(re.findall(r"make (\w+)\b", README.read_text("utf-8"))) - {"and"}:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_the_readme_is_short() -> None:
    assert len(README.read_text("utf-8").split()) <= 920


def test_the_windows_cost_what_the_page_about_the_app_says() -> None:
    script = README.parent / "benchmarks" / "window_tokens.py"
    names = runpy.run_path(str(script))
    assert names["table"]() in (README.parent / "docs" / "app.md").read_text("utf-8")
