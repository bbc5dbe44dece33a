"""CI runs every test: none is left out by a marker, by its name or by a setting."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
SELECTED = {
    "test": None,  # the default of pyproject.toml
    "test-long": "long",
    "test-real": "realmodel",
}
"""The targets that run tests, and the marker that each selects."""


def recipe(target: str) -> str:
    """What a target of the Makefile runs."""
    makefile = (ROOT / "Makefile").read_text("utf-8")
    found = re.search(rf"^{target}:[^\n]*\n((?:\t[^\n]*\n)+)", makefile, re.MULTILINE)
    assert found, target
    return found[1]


def test_ci_runs_the_linters_and_the_tests_once() -> None:
    script = (ROOT / ".ci" / "run").read_text("utf-8")
    assert script.startswith("#!/usr/bin/env bash\n")
    assert "\nset -euo pipefail\n" in script
    runs = re.findall(r"^.*\b(?:make|pytest)\b.*$", re.sub(r"^#.*$", "", script, flags=re.M), re.M)
    assert runs == [f"make {target}" for target in ("lint", *SELECTED)]


def test_the_targets_together_select_every_test() -> None:
    settings = (ROOT / "pyproject.toml").read_text("utf-8")
    assert '"-m", "not realmodel and not long and not npm"]' in settings
    for target, marker in SELECTED.items():
        run = recipe(target)
        assert re.findall(r" -m (\w+)\n", run) == ([marker] if marker else [])
        for option in ("--ignore", "--deselect", " -k ", " tests"):
            assert option not in run, target


def test_no_test_is_left_out_by_its_name() -> None:
    hooks = ("collect_ignore", "pytest_ignore_collect", "pytest_deselected", "modifyitems")
    for file in ROOT.glob("tests/**/conftest.py"):
        text = file.read_text("utf-8")
        assert not [hook for hook in hooks if hook in text], file


def test_ci_installs_the_versions_of_the_lock_file() -> None:
    script = (ROOT / ".ci" / "run").read_text("utf-8")
    assert script.index("\nexport LOCK=requirements-dev.lock\n") < script.index("\nmake ")
    makefile = (ROOT / "Makefile").read_text("utf-8")
    (locked,) = re.findall(r"^ifeq \(\$\(LOCK\),\)\n.*?^else\n(.*?)^endif", makefile, re.M | re.S)
    assert "--require-hashes --requirement $(LOCK)" in locked
    assert "--no-deps --no-build-isolation" in locked


def test_the_lock_file_pins_everything_with_hashes() -> None:
    lock = (ROOT / "requirements-dev.lock").read_text("utf-8")
    pins = re.findall(r"^(\S+?)(?:\[\S+\])?==(\S+)[^\n]*\\\n    --hash=sha256:", lock, re.MULTILINE)
    assert len(pins) == len(re.findall(r"^[^#\s]", lock, re.MULTILINE)), "a line without a hash"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    extras = project["project"]["optional-dependencies"].values()
    wanted = [*project["project"]["dependencies"], *project["dependency-groups"]["dev"]]
    wanted += [one for extra in extras for one in extra]
    names = {re.split(r"[\[<>=]", one)[0] for one in wanted} - {"contextui"}
    assert names - {name for name, _ in pins} == set(), "run `make lock`"
