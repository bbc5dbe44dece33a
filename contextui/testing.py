"""Test harness for windows, and a runner for their tests.

``python -P -m contextui.testing test_my_window.py`` runs tests with pytest, and no other code of
their folder: no ``conftest.py``, no plugin named in a ``pytest.ini``, no module that shadows one of
Python's own. In a folder that you trust, plain ``pytest`` works as well.
"""

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from contextui.windowing.testing import WindowTester

__all__ = ["WindowTester", "run_tests"]


def run_tests(words: Sequence[str]) -> int:
    """Run tests of windows in isolation.

    The files are linked into an empty folder, so they can import each other but nothing else beside
    them.

    Args:
        words: The test files and the modules that they need; the window of ``test_my_window.py`` is
            found automatically. Flags are passed to pytest.

    Returns:
        The exit status.
    """
    try:
        import pytest  # noqa: PLC0415  (not needed by the program)
    except ImportError:
        command = "python -P -m pip install pytest"
        print(f"The tests need pytest: {command}", file=sys.stderr)  # noqa: T201
        return 2
    files = [Path(word) for word in words if not word.startswith("-")]
    missing = [str(path) for path in files if not path.is_file()]
    if missing or not files:
        message = f"There is no file {missing[0]}." if missing else "Name the test files to run."
        print(message, file=sys.stderr)  # noqa: T201
        return 2
    with TemporaryDirectory(prefix="contextui-tests-") as folder:
        for path in _with_windows(files):
            (Path(folder) / path.name).symlink_to(path.absolute())
        tests = [str(Path(folder) / path.name) for path in files if path.name.startswith("test_")]
        flags = [word for word in words if word.startswith("-")]
        # Ignore settings and plugins of parent folders too.
        alone = [f"--config-file={os.devnull}", f"--rootdir={folder}", "--noconftest"]
        return int(pytest.main([*alone, "-p", "no:cacheprovider", *flags, *tests]))


def _with_windows(files: Sequence[Path]) -> Iterator[Path]:
    found = {path.name: path for path in files}
    for path in files:
        window = path.with_name(path.name.removeprefix("test_"))
        if window.is_file():
            found.setdefault(window.name, window)
    yield from found.values()


if __name__ == "__main__":
    sys.exit(run_tests(sys.argv[1:]))
