"""An untrusted folder: files that leave a mark when any of them runs."""

import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests import forkserver

BIN = Path(sys.executable).parent
PATIENCE = 120

PYTHON = "open({mark!r}, 'w').close()\n"
SHELL = "#!/bin/sh\n: > '{mark}'\n"

STANDARD = [
    *("json", "logging", "typing", "argparse", "tomllib", "traceback", "asyncio", "signal", "re"),
    *(
        "enum",
        "dataclasses",
        "pathlib",
        "subprocess",
        "socket",
        "ssl",
        "uuid",
        "tempfile",
        "random",
    ),
    *("copy", "gettext", "locale", "platform", "sqlite3", "webbrowser", "curses", "pdb", "pty"),
]
INSTALLED = [
    *("anthropic", "textual", "pydantic", "lxml", "filelock", "tiktoken", "psutil", "httpx2"),
    *("aiohttp", "textual_serve", "rich", "pygments", "tree_sitter_python", "pytest", "pip"),
    *("windows", "openpyxl", "socksio", "readline"),
]
PROGRAMS = [
    *("git", "uname", "lsb_release", "tail", "cut", "sh", "stty", "tput", "python", "python3"),
    *("sleep", "ps", "ldconfig", "gcc", "less", "xdg-open", "vi"),
]
MCP = """{"mcpServers": {"x": {"command": "sh", "args": ["-c", ": > '{mark}'"]}}}"""
METADATA = "Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"
GROUPS = ["contextui.windows", "contextui.strategies", "pydantic", "pytest11", "pygments.lexers"]
LOAD = (
    "from importlib.metadata import entry_points\n"
    f"for group in {GROUPS}:\n"
    "    for one in entry_points(group=group):\n"
    "        if one.name == 'hostile': one.load()\n"
)
REPOSITORY = {".git/HEAD": "ref: refs/heads/main\n", ".git/objects/x": "", ".git/refs/x": ""}
HOOKS = ("pre-commit", "post-commit", "post-checkout")
CONFIG = """
[core]
    repositoryformatversion = 0
    fsmonitor = {mark_by}/fsmonitor
    hooksPath = {mark_by}/hooks
    editor = {mark_by}/editor
    sshCommand = {mark_by}/ssh
[user]
    name = someone
    email = someone@example.org
[diff]
    external = {mark_by}/external-diff
[diff "hostile"]
    textconv = {mark_by}/textconv
[filter "hostile"]
    clean = {mark_by}/clean
[alias]
    hostile = "!{mark_by}/alias"
"""


@dataclass(frozen=True)
class Trap:
    """Files that run something if they are used carelessly.

    Attributes:
        name: What it is.
        files: The files; each that holds a mark makes it when it runs.
        careless: How one would use them carelessly, in their folder.
        environ: What is set for that.
        is_forked: Whether a forked process does for that, which has imported everything.
    """

    name: str
    files: Mapping[str, str]
    careless: list[str]
    environ: Mapping[str, str] = field(default_factory=dict)
    is_forked: bool = False

    def build(self, folder: Path, marks: Path) -> list[Path]:
        """Write the files; the marks that they can leave."""
        marks.mkdir(exist_ok=True)
        found = []
        for path, template in self.files.items():
            file, mark = folder / path, marks / path.replace("/", "%")
            file.parent.mkdir(parents=True, exist_ok=True)
            facts = {
                "{mark!r}": repr(str(mark)),
                "{mark}": str(mark),
                "{mark_by}": str(folder / BY),
            }
            text = template
            for name, value in facts.items():
                text = text.replace(name, value)
            file.write_text(text)
            if text.startswith("#!"):
                file.chmod(0o755)
            if str(mark) in text:
                found.append(mark)
        return found

    def spring(self, folder: Path) -> None:
        """Use the files carelessly."""
        home = {
            "HOME": str(folder),
            "GIT_CONFIG_NOSYSTEM": "1",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            **self.environ,
        }
        (forkserver.run if self.is_forked else subprocess.run)(
            self.careless,
            cwd=folder, env={**os.environ, **home}, capture_output=True, timeout=PATIENCE,
            check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip


BY = "hostile-programs"  # the folder of programs that a repository's settings name


def _plugin(name: str, suffix: str) -> dict[str, str]:
    points = "".join(f"[{group}]\nhostile = hostile_{name}:x\n" for group in GROUPS)
    metadata = "METADATA" if suffix == "dist-info" else "PKG-INFO"
    return {
        f"{name}{'-1.0' if suffix == 'dist-info' else ''}.{suffix}/{metadata}": METADATA.replace(
            "{name}", name
        ),
        f"{name}{'-1.0' if suffix == 'dist-info' else ''}.{suffix}/entry_points.txt": points,
        f"hostile_{name}.py": PYTHON + "x = None\n",
    }


def _pytest(file: str, head: str) -> Trap:
    plugin = f"hostile_{file.partition('.')[0]}"
    settings = {"pyproject.toml": 'addopts = "-p {0}"\npythonpath = "."\n'}.get(
        file, "addopts = -p {0}\npythonpath = .\n"
    )
    files = {file: f"{head}\n{settings.format(plugin)}", f"{plugin}.py": PYTHON}
    command = [sys.executable, "-m", "pytest", "--co", "-q", "-c", file]
    return Trap(f"settings of pytest in {file}", files, command, is_forked=True)


OWN = [
    Trap("our package", {"contextui/__init__.py": PYTHON}, [sys.executable, "-m", "contextui"]),
    Trap("our module", {"contextui.py": PYTHON}, [sys.executable, "-m", "contextui"]),
]
"""Found by `python -m contextui` itself, before any line of ours runs."""

STARTUP = [
    Trap(
        "what Python runs when it starts",
        {"sitecustomize.py": PYTHON, "usercustomize.py": PYTHON},
        [sys.executable, "-S", "-c", "import sitecustomize, usercustomize"],
    )
]
"""Run by Python itself, before any line of ours, if PYTHONPATH names the folder."""

TRAPS = [
    Trap(
        "modules of Python",
        {f"{name}.py": PYTHON for name in STANDARD},
        [sys.executable, "-S", "-c", f"import {', '.join(STANDARD)}"],
    ),
    Trap(
        "packages that are installed",
        {f"{name}/__init__.py": PYTHON for name in INSTALLED},
        [sys.executable, "-c", f"import {', '.join(INSTALLED)}"],
    ),
    Trap(
        "a file of paths",
        {"hostile.pth": "import sys; open({mark!r}, 'w').close()\n"},
        [sys.executable, "-c", "import site; site.addsitedir('.')"],
    ),
    Trap("a wheel's entry points", _plugin("wheel", "dist-info"), [sys.executable, "-c", LOAD]),
    Trap("an egg's entry points", _plugin("egg", "egg-info"), [sys.executable, "-c", LOAD]),
    Trap(
        "a plugin of the tokenizer",
        {"tiktoken_ext/hostile.py": PYTHON + "ENCODING_CONSTRUCTORS = {}\n"},
        [sys.executable, "-c", "import tiktoken; tiktoken.list_encoding_names()"],
    ),
    Trap(
        "conftest.py",
        {"conftest.py": PYTHON},
        [sys.executable, "-m", "pytest", "--co", "-q"],
        is_forked=True,
    ),
    _pytest("pytest.ini", "[pytest]"),
    _pytest("setup.cfg", "[tool:pytest]"),
    _pytest("tox.ini", "[pytest]"),
    _pytest("pyproject.toml", "[tool.pytest.ini_options]"),
    Trap(
        "a package around the tests",
        {"__init__.py": PYTHON, "test_nothing.py": "def test_nothing():\n    pass\n"},
        [sys.executable, "-m", "pytest", "-q"],
        is_forked=True,
    ),
    Trap(
        "programs",
        dict.fromkeys(PROGRAMS, SHELL),
        ["/bin/sh", "-c", "; ".join(PROGRAMS)],
        {"PATH": f":{os.environ['PATH']}"},
    ),
    Trap(
        "hooks of git",
        {
            **REPOSITORY,
            **{f".git/hooks/{one}": SHELL for one in HOOKS},
        },
        [
            "/bin/sh", "-c",
            "git -c user.name=x -c user.email=x@y.z commit --allow-empty -m x; git checkout -b y",
        ],
    ),
    Trap(
        "settings of git",
        {
            **REPOSITORY,
            ".git/config": CONFIG,
            ".gitattributes": "*.txt diff=hostile filter=hostile\n",
            "some.txt": "one\n",
            **{
                f"{BY}/{one}": SHELL + ("cat\n" if one == "clean" else "")
                for one in ("fsmonitor", "external-diff", "textconv", "clean", "alias", "editor",
                            "ssh", "hooks/pre-commit")
            },
        },
        [
            "/bin/sh", "-c",
            "git status; git add some.txt; git commit --allow-empty -m x; "
            "git commit --allow-empty; echo two >> some.txt; git diff; "
            "git diff --no-ext-diff; git hostile; "
            "git fetch ssh://nowhere.example/x",
        ],
    ),
    Trap(
        "a project's window",
        {".contextui/windows/hostile_window.py": PYTHON},
        [sys.executable, "-m", "contextui", "windows", "--windows", ".contextui/windows"],
        is_forked=True,
    ),
    Trap(".env", {".env": "ANTHROPIC_MODEL=$(: > '{mark}')\n"}, ["/bin/sh", "-c", ". ./.env"]),
    Trap(
        ".mcp.json",
        {".mcp.json": MCP},
        [
            sys.executable, "-c",
            "import json, subprocess; x = json.load(open('.mcp.json'))['mcpServers']['x']; "
            "subprocess.run([x['command'], *x['args']])",
        ],
    ),
    Trap("make", {"Makefile": "all:\n\t: > '{mark}'\n"}, ["make"]),
]  # fmt: skip
"""All others."""


@dataclass(frozen=True)
class UntrustedFolder:
    """A folder with traps, a home beside it, and the marks.

    Attributes:
        path: The folder.
        home: The person's own folder.
        files: How many files can leave a mark.
    """

    path: Path
    home: Path
    marks: Path
    files: int

    @classmethod
    def build(cls, place: Path, traps: Iterable[Trap]) -> "UntrustedFolder":
        folder, home, marks = place / "work", place / "home", place / "marks"
        folder.mkdir(parents=True)
        home.mkdir()
        files = [mark for trap in traps for mark in trap.build(folder, marks)]
        return cls(folder, home, marks, len(set(files)))

    @property
    def sprung(self) -> list[str]:
        """The files that ran."""
        return sorted(path.name.replace("%", "/") for path in self.marks.iterdir())

    def environ(self, **more: str) -> dict[str, str]:
        """A person's environment, whose PATH begins with an empty entry."""
        kept = {one: os.environ[one] for one in ("PYTHONPATH",) if one in os.environ}
        own = {
            **kept, "HOME": str(self.home), "LANG": "C.UTF-8", "TERM": "xterm-256color",
            "PATH": f":{os.environ['PATH']}:.", "TMPDIR": str(self.marks.parent),
        }  # fmt: skip
        return {**own, **more}

    def run(
        self, *command: str, environ: Mapping[str, str] | None = None, is_forked: bool = False
    ) -> "subprocess.CompletedProcess[str]":
        return (forkserver.run if is_forked else subprocess.run)(
            command,
            cwd=self.path, env={**self.environ(), **(environ or {})}, text=True,
            capture_output=True, timeout=PATIENCE, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
