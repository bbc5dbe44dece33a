"""Runs a page of the documentation: its blocks in order, and what they print compared."""

import contextlib
import io
import re
import sys
from pathlib import Path
from types import ModuleType

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def run_guide(page: Path) -> ModuleType:
    """The page's code as a module.

    Raises:
        AssertionError: A block prints something else than the page says.
    """
    module = ModuleType(page.stem.replace("-", "_"))
    sys.modules[module.__name__] = module
    text = page.read_text("utf-8")
    printed, waiting = "", False
    for match in BLOCK.finditer(text):
        language, block = match.groups()
        line = text.count("\n", 0, match.start()) + 1
        if language == "python":
            assert not waiting, f"line {line}: what was printed before it is not shown"
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                # Empty lines in front, so that an error names the line of the page.
                exec(compile("\n" * line + block, str(page), "exec"), vars(module))
            printed, waiting = output.getvalue(), bool(output.getvalue())
        elif language == "text":
            assert block == printed, f"line {line}"
            waiting = False
    assert not waiting
    return module
