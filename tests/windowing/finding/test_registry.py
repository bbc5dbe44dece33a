"""Finding windows: in this order, each by name, and one that is broken harms no other."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from contextui import WindowManager
from contextui.errors import UnknownWindowError
from contextui.windowing.finding.registry import Registry, discover
from contextui.windowing.finding.sources import WindowLoadError
from contextui.windowing.finding.trust import TrustStore

SOURCE = '''
from contextui import Body, Lod, Window, action

class {cls}(Window):
    """{words}"""

    class State(Window.State):
        count: int = 0

    state: State

    def opened(self, start: int = 0) -> None:
        self.state.count = start

    def content(self, lod: Lod) -> Body:
        return "{words} %d" % self.state.count

    @action("Count up")
    def up(self) -> str:
        self.state.count += 1
        return "Up."
'''


def write(path: Path, cls: str = "Hello", words: str = "Says hello.", more: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(SOURCE.format(cls=cls, words=words) + more, "utf-8")
    return path


def found(**places: object) -> Registry:
    """What is found there, without the packages that happen to be installed."""
    return discover(**{"packages": (), **places})  # type: ignore[arg-type]


def lines(registry: Registry) -> list[str]:
    return [str(entry) for entry in registry.load_all()]


def only_reason(registry: Registry) -> str:
    (entry,) = registry.load_all()
    assert entry.status == "broken"
    assert registry.classes() == []
    return entry.reason


def point(name: str, value: str) -> EntryPoint:
    return EntryPoint(name, value, "contextui.windows")


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that is the current one, so that paths in messages are short."""
    monkeypatch.chdir(tmp_path)
    path = list(sys.path)
    yield tmp_path
    assert sys.path == path


# --- files -------------------------------------------------------------------------------------


def test_a_file_gives_its_windows(there: Path) -> None:
    write(there / "hello.py")
    registry = found(files=["hello.py"])
    assert lines(registry) == ["[✓] hello: Says hello."]
    windows = WindowManager(registry.classes())
    assert windows.open("hello", start=4).snapshot().content == "Says hello. 4"


def test_entries_are_ready_for_json(there: Path) -> None:
    write(there / "hello.py")
    (there / "bad.py").write_text("1 +", "utf-8")
    registry = found(files=["hello.py", "bad.py"])
    assert json.loads(json.dumps([entry.data() for entry in registry.entries])) == [
        {
            "name": "hello",
            "status": "ready",
            "origin": "Hello in hello.py",
            "reason": None,
            "description": "Says hello.",
            "args": "start:int?",
            "actions": ["up"],
        },
        {
            "name": "bad",
            "status": "broken",
            "origin": "bad.py",
            "reason": "syntax error in bad.py, line 1: invalid syntax",
            "description": None,
            "args": None,
            "actions": None,
        },
    ]


def test_all_windows_that_a_file_defines_and_none_that_it_imports(there: Path) -> None:
    more = SOURCE.format(cls="Second", words="Two.") + (
        "\nfrom contextui.windows.todo import TodoWindow"
        "\nAlias = Hello\nclass _Base(Window): pass\n"
    )
    write(there / "two.py", more=more)
    assert [entry.name for entry in found(files=["two.py"]).entries] == ["hello", "second"]


def test_one_class_can_be_picked(there: Path) -> None:
    write(there / "two.py", more=SOURCE.format(cls="Second", words="Two."))
    assert lines(found(files=["two.py:Second"])) == ["[✓] second: Two."]
    assert lines(found(files=["two.py:Second", "two.py:Hello"])) == [
        "[✓] second: Two.",
        "[✓] hello: Says hello.",
    ]


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ("two.py:Third", 'two.py has no class "Third". It has: Hello'),
        ("two.py:", 'two.py has no class "". It has: Hello'),
        ("two.py:Lod", "Lod in two.py does not extend contextui.Window"),
        ("two.py:Window", "Window in two.py does not extend contextui.Window"),
        ("none.py", "there is no file none.py: name a Python file"),
        ("none.py:A", "there is no file none.py: name a Python file"),
        ("", ". is a folder: give it with --windows"),
        ("folder", "folder is a folder: give it with --windows"),
        ("notes.txt", "notes.txt is not a Python file: its name must end in .py"),
        ("pipe.py", 'pipe.py: "pipe.py" is a FIFO, not a file'),
        ("huge.py", "huge.py: it has 9,000,000 bytes, and a window's file has 1,000,000 at most"),
        ("loop.py", "loop.py: "),
        ("empty.py", "empty.py defines no window: write a class that extends contextui.Window"),
    ],
)
def test_what_cannot_be_a_windows_file_says_what_to_do(there: Path, spec: str, reason: str) -> None:
    write(there / "two.py")
    (there / "folder").mkdir()
    (there / "notes.txt").write_text("x", "utf-8")
    (there / "empty.py").write_text("", "utf-8")
    (there / "huge.py").write_bytes(b"#" * 9_000_000)
    (there / "loop.py").symlink_to("loop.py")
    os.mkfifo(there / "pipe.py")
    given = only_reason(found(files=[spec]))
    assert given.startswith(reason)
    assert given == reason or reason.endswith(": ")


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("x = 1\ndef f(:\n", "syntax error in bad.py, line 2: invalid syntax"),
        ("  x = 1\n", "syntax error in bad.py, line 1: unexpected indent"),
        ("\0", "syntax error in bad.py, line 1: source code string cannot contain null bytes"),
        ("x = 1\n1 / 0\n", "ZeroDivisionError: division by zero (bad.py, line 2)"),
        ("def f():\n    int('x')\n\nf()", "(bad.py, line 2)"),
        ("import nowhere_at_all", "No module named 'nowhere_at_all' (bad.py, line 1)"),
        ("import sys\nsys.exit(3)", "it ends the program while being loaded (SystemExit: 3)"),
        ("raise BaseException('x')", "BaseException: x (bad.py, line 1)"),
        ("raise ValueError('a\\x1b[31m\\n\\u202eb')", "ValueError: a␛[31m \\u202eb (bad.py"),
        ("class E(Exception):\n    def __str__(self): 1/0\nraise E", "(it cannot say what: Z"),
        ("def f(): f()\nf()", "RecursionError: maximum recursion depth exceeded (bad.py, line 1)"),
        (
            "from contextui import Window\nclass A(Window):\n    name = 'No Name'",
            'digits, - and _). Write name = "no-name" (bad.py, line 2)',
        ),
        (
            "from contextui import Window, action\nclass A(Window):\n"
            "    @action('x')\n    def go(self, where): pass",
            "A.go: where needs a type hint, such as where: str (bad.py, line 2)",
        ),
        ("from contextui import Window\nclass A(Window): pass", "A has no content(): write what"),
        (
            "from contextui import Window\nclass A(Window):\n"
            "    def content(self, lod): return ''\nA.name = 'a\\n[b'",
            '"a [b" cannot be a window\'s name (small letters, digits, - and _) (bad.py)',
        ),
        (
            "from contextui import Window\nclass A(Window):\n"
            "    def content(self, lod): return ''\nA.description = 5",
            "A.description must be text (bad.py)",
        ),
    ],
)
def test_one_broken_file_is_told_in_one_line_and_harms_no_other(
    there: Path, source: str, reason: str
) -> None:
    (there / "windows").mkdir()
    (there / "windows" / "bad.py").write_text(source, "utf-8")
    write(there / "windows" / "good.py")
    before = set(sys.modules)
    # Line and file are told relative to where the user is, as they were given.
    registry = found(folders=["windows"])
    bad, good = lines(registry)
    assert good == "[✓] hello: Says hello."
    assert bad.startswith("[X] bad: ")
    assert reason in bad.replace("windows/bad.py", "bad.py")
    assert bad.isprintable()
    kept = [name for name in set(sys.modules) - before if name.endswith("_bad")]
    assert not kept or "A" in vars(sys.modules[kept[0]])


def test_ctrl_c_still_ends_the_program(there: Path) -> None:
    (there / "slow.py").write_text("raise KeyboardInterrupt", "utf-8")
    with pytest.raises(KeyboardInterrupt):
        found(files=["slow.py"])
    with pytest.raises(KeyboardInterrupt):
        found(
            packages=[point("x", "tests.windowing.finding.test_registry:interrupt.pressed")]
        ).load_all()


class _Interrupt:
    @property
    def pressed(self) -> object:
        raise KeyboardInterrupt


interrupt = _Interrupt()


def test_a_syntax_error_of_another_file_names_that_one(there: Path) -> None:
    (there / "lib").mkdir()
    (there / "lib" / "helper.py").write_text("x = \n", "utf-8")
    (there / "bad.py").write_text(
        "import importlib.util as u\n"
        "s = u.spec_from_file_location('h', 'lib/helper.py')\n"
        "s.loader.exec_module(u.module_from_spec(s))\n",
        "utf-8",
    )
    assert "lib/helper.py, line 1" in only_reason(found(files=["bad.py"]))


def test_objects_that_raise_when_looked_at_do_no_harm(there: Path) -> None:
    proxy = """
class Proxy:
    @property
    def __class__(self):
        raise RuntimeError("not bound")

request = Proxy()
import sys
del sys.modules[__name__]
"""
    write(there / "hello.py", more=proxy)
    write(there / "other.py", "Other")
    assert len(found(files=["hello.py", "other.py"]).classes()) == 2


def test_a_window_without_a_docstring_is_described_by_its_name(there: Path) -> None:
    (there / "bare.py").write_text(
        "from contextui import Window\n"
        "class BareThing(Window):\n    def content(self, lod): return ''",
        "utf-8",
    )
    assert lines(found(files=["bare.py"])) == ["[✓] bare_thing: bare_thing"]


def test_a_description_is_shown_inert(there: Path) -> None:
    write(there / "hello.py", words="a\\x1b]0;x\\x07 [/b] \\u202e")
    assert lines(found(files=["hello.py"])) == ["[✓] hello: a␛]0;x␇ [/b] \\u202e"]


# --- modules -----------------------------------------------------------------------------------


def test_models_dataclasses_and_postponed_hints_work(there: Path) -> None:
    (there / "rich.py").write_text(
        '''
from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from pathlib import Path

from pydantic import BaseModel

from contextui import Body, Lod, Window, action

HERE = Path(__file__)

@dataclass
class Point:
    x: int
    _: KW_ONLY
    y: int = 0

class Node(BaseModel):
    children: list[Node] = []

class Rich(Window):
    """Rich."""

    class State(Window.State):
        node: Node = Node()

    state: State

    def content(self, lod: Lod) -> Body:
        return f"{Point(1, y=2)} {HERE.name} {__name__}"

    @action("Grow")
    def grow(self, by: int) -> None:
        self.state.node.children += [Node() for _ in range(by)]
''',
        "utf-8",
    )
    (cls,) = found(files=["rich.py"]).classes()
    assert sys.modules[cls.__module__].__file__ == str(there / "rich.py")
    content = WindowManager([cls]).open("rich").snapshot().content
    assert content == f"Point(x=1, y=2) rich.py {cls.__module__}"


def test_two_files_of_one_name_do_not_meet(there: Path) -> None:
    write(there / "a" / "same.py", "One")
    write(there / "b" / "same.py", "Two")
    one, two = found(folders=["a", "b"]).classes()
    assert (one.name, two.name) == ("one", "two")
    assert one.__module__ != two.__module__
    assert "same" not in sys.modules


def test_nothing_is_left_in_or_read_from_a_cache(there: Path) -> None:
    write(there / "hello.py")
    found(files=["hello.py"])
    assert os.listdir(there) == ["hello.py"]


def test_a_file_named_like_a_module_of_python_hides_none(there: Path) -> None:
    write(there / "json.py")
    assert lines(found(files=["json.py"])) == ["[✓] hello: Says hello."]
    assert json.dumps({}) == "{}"


def test_a_later_discovery_sees_the_file_as_it_is_then(there: Path) -> None:
    write(there / "hello.py")
    (before,) = found(files=["hello.py"]).classes()
    write(there / "hello.py", words="Changed.")
    (after,) = found(files=["hello.py"]).classes()
    assert (before.description, after.description) == ("Says hello.", "Changed.")


# --- folders -----------------------------------------------------------------------------------


def test_a_folder_gives_all_files_but_helpers_and_tests(there: Path) -> None:
    for name in ("b.py", "a.py"):
        write(there / "w" / name, name[0].upper() + "x")
    for name in ("_h.py", "test_a.py", "conftest.py", ".x.py", "notes.md", "sub/c.py", "x.pyc"):
        (there / "w" / name).parent.mkdir(exist_ok=True)
        (there / "w" / name).write_text("raise SystemExit", "utf-8")
    assert [entry.name for entry in found(folders=["w"]).entries] == ["ax", "bx"]


def test_a_folder_that_is_none_says_what_to_do(there: Path) -> None:
    write(there / "hello.py")
    (there / "empty").mkdir()
    assert only_reason(found(folders=["none"])) == "none: there is no such folder"
    assert only_reason(found(folders=["hello.py"])) == (
        "hello.py: it is not a folder to read (Not a directory)"
    )
    assert only_reason(found(folders=["empty"])) == (
        "empty: no window is in it: a window's file is called like deploy.py"
    )


def test_links_in_a_folder_of_the_users_own_are_followed(there: Path) -> None:
    write(there / "elsewhere" / "hello.py")
    (there / "w").mkdir()
    (there / "w" / "link.py").symlink_to(there / "elsewhere" / "hello.py")
    (there / "w" / "gone.py").symlink_to(there / "nowhere.py")
    assert lines(found(folders=["w"])) == [
        "[X] gone: there is no file w/gone.py: name a Python file",
        "[✓] hello: Says hello.",
    ]


# --- packages ----------------------------------------------------------------------------------


def test_the_built_in_windows_are_found_like_anyones() -> None:
    registry = discover()
    (todo,) = [entry for entry in registry.entries if entry.name == "todo"]
    assert todo.status == "found"
    assert todo.origin.startswith("contextui.windows.todo:TodoWindow of the package contextui ")
    assert registry.load("todo").description == "A to-do list."


def test_listing_imports_no_package_and_loading_one_imports_only_it(there: Path) -> None:
    script = """
import sys
from importlib.metadata import EntryPoint
from contextui.windowing.finding.registry import discover
points = [EntryPoint("todo", "contextui.windows.todo:TodoWindow", "contextui.windows"),
          EntryPoint("other", "no.such.module:Other", "contextui.windows")]
registry = discover(packages=points)
assert [entry.status for entry in registry.entries] == ["found", "found"]
assert "contextui.windows.todo" not in sys.modules
registry.load("todo")
assert [entry.status for entry in registry.entries] == ["found", "ready"]
print(*registry.load_all(), sep="\\n")
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "[X] other: no.such.module:Other of the package of no name: "
        "ModuleNotFoundError: No module named 'no'",
        "[✓] todo: A to-do list.",
    ]


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("x", "contextui.windows.todo:Nothing", "AttributeError: module 'contextui.windows.todo'"),
        ("x", "contextui.windows.todo:Item", "it does not extend contextui.Window"),
        ("x", "contextui:Window", "it does not extend contextui.Window"),
        ("x", "contextui.windows.todo", "it does not extend contextui.Window"),
        ("x", "not an entry point", "Error"),
        ("x", "contextui.windows.todo:TodoWindow", "its window is called todo: give the entry"),
        ("Bad Name", "contextui.windows.todo:TodoWindow", "this cannot be a window's name"),
    ],
)
def test_a_package_that_is_wrong_says_which_and_why(name: str, value: str, reason: str) -> None:
    registry = found(
        packages=[point(name, value), point("todo", "contextui.windows.todo:TodoWindow")]
    )
    states = {entry.name: entry for entry in registry.load_all()}
    assert states["todo"].status == "ready"
    assert states[name].status == "broken"
    assert states[name].reason.startswith(f"{value} of the package of no name: ")
    assert reason in states[name].reason


def test_a_window_is_loaded_by_name_or_says_why_not(there: Path) -> None:
    (there / "bad.py").write_text("1/0", "utf-8")
    write(there / "hello.py")
    registry = found(files=["bad.py", "hello.py"])
    assert registry.load("hello").name == "hello"
    with pytest.raises(WindowLoadError, match=r"^bad: ZeroDivisionError"):
        registry.load("bad")
    with pytest.raises(UnknownWindowError, match=r'no window called "x"\. There is: hello'):
        registry.load("x")
    with pytest.raises(UnknownWindowError, match="There is: none"):
        found().load("x")


# --- two of one name ---------------------------------------------------------------------------


def test_of_two_with_one_name_the_first_is_used_and_both_are_named(there: Path) -> None:
    write(there / "first.py", words="First.")
    write(there / "more" / "second.py", words="Second.")
    registry = found(files=["first.py"], folders=["more"])
    assert lines(registry) == [
        "[✓] hello: First.",
        "[X] hello: two windows have this name: Hello in first.py, which is used, "
        "and Hello in more/second.py, which is not. Rename one of them",
    ]
    assert [entry.status for entry in registry.entries] == ["ready", "duplicate"]
    assert registry.load("hello").description == "First."
    assert list(WindowManager(registry.classes()).classes) == ["hello"]


def test_a_file_cannot_take_the_place_of_a_package(there: Path) -> None:
    write(there / "mine.py", "Todo")
    registry = discover(files=["mine.py"])
    assert registry.load("todo").__module__ == "contextui.windows.todo"
    (mine,) = [entry for entry in registry.entries if entry.status == "duplicate"]
    assert "TodoWindow of the package contextui" in mine.reason
    assert "Todo in mine.py" in mine.reason


def test_two_in_one_file_are_told_apart_by_class(there: Path) -> None:
    write(there / "two.py", more=SOURCE.format(cls="Other", words="O.") + "    name = 'hello'\n")
    assert (
        "Hello in two.py, which is used, and Other in two.py" in lines(found(files=["two.py"]))[1]
    )


def test_one_file_found_in_two_ways_is_one_and_runs_once(there: Path) -> None:
    count = "\nwith open('runs', 'a') as runs:\n    runs.write('x')\n"
    write(there / "w" / "hello.py", more=count)
    (there / "alias").symlink_to("w")
    registry = found(files=["w/hello.py", "w/hello.py:Hello"], folders=["w", "alias"])
    assert lines(registry) == ["[✓] hello: Says hello."]
    assert (there / "runs").read_text("utf-8") == "x"


# --- the user's and the project's --------------------------------------------------------------


def test_the_order_is_packages_files_folders_user_project(there: Path) -> None:
    home, project = there / "home", there / "project"
    write(there / "file.py", "File")
    write(there / "folder" / "x.py", "Folder")
    write(home / "windows" / "x.py", "Own")
    write(project / ".contextui" / "windows" / "x.py", "Theirs")
    TrustStore(home).trust(project / ".contextui" / "windows")
    registry = discover(
        packages=[point("todo", "contextui.windows.todo:TodoWindow")],
        files=["file.py"],
        folders=["folder"],
        home=home,
        project=project,
    )
    assert [entry.name for entry in registry.entries] == [
        *("todo", "file", "folder", "own", "theirs")
    ]


def test_a_user_or_project_without_windows_has_none(there: Path) -> None:
    registry = found(home=there / "home", project=there)
    assert (registry.entries, registry.review, registry.notices) == ([], None, [])
    (there / "home" / "windows").mkdir(parents=True)
    assert found(home=there / "home", project=there).entries == []


MARK = "\nopen('ran', 'a').close()\n"


@pytest.fixture
def project(there: Path) -> Path:
    """A project whose window would leave a trace if it ran."""
    write(there / "project" / ".contextui" / "windows" / "deploy.py", "Deploy", more=MARK)
    return there / "project"


def ran(there: Path) -> bool:
    return (there / "ran").exists()


def test_a_projects_code_does_not_run_before_it_is_trusted(there: Path, project: Path) -> None:
    registry = found(home=there / "home", project=project)
    path = project / ".contextui" / "windows" / "deploy.py"
    (entry,) = registry.load_all()
    assert entry.status == "untrusted"
    assert entry.reason == f"{path} is not trusted (new): read it, then run contextui trust"
    assert registry.classes() == []
    with pytest.raises(WindowLoadError, match="not trusted"):
        registry.load("deploy")
    assert not ran(there)
    assert registry.review is not None
    TrustStore(there / "home").trust(registry.review.folder, registry.review)
    assert lines(found(home=there / "home", project=project)) == ["[✓] deploy: Says hello."]
    assert ran(there)


def test_without_a_home_nothing_of_a_project_runs(there: Path, project: Path) -> None:
    assert found(project=project).entries == []
    assert not ran(there)


@pytest.mark.parametrize("name", ["deploy.py", "other.py", "_help.py"])
def test_changed_it_does_not_run_before_it_is_trusted_again(
    there: Path, project: Path, name: str
) -> None:
    folder = project / ".contextui" / "windows"
    TrustStore(there / "home").trust(folder)
    write(folder / name, "Other", more=MARK)
    registry = found(home=there / "home", project=project)
    assert {entry.status for entry in registry.load_all()} == {"untrusted"}
    assert not ran(there)


def test_what_runs_is_what_was_hashed(
    there: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, store = project / ".contextui" / "windows", TrustStore(there / "home")
    store.trust(folder)
    honest = TrustStore.review

    def then_exchanged(self: TrustStore, reviewed: Path) -> object:
        review = honest(self, reviewed)
        write(folder / "deploy.py", "Deploy", words="Evil.")
        return review

    monkeypatch.setattr(TrustStore, "review", then_exchanged)
    assert lines(found(home=there / "home", project=project)) == ["[✓] deploy: Says hello."]


def test_a_cache_in_the_projects_folder_is_not_run(there: Path, project: Path) -> None:
    import py_compile

    folder = project / ".contextui" / "windows"
    evil = write(there / "evil.py", "Deploy", words="Evil.")
    os.utime(evil, (0, 0))
    os.utime(folder / "deploy.py", (0, 0))
    TrustStore(there / "home").trust(folder)
    (folder / "__pycache__").mkdir()
    name = f"deploy.{sys.implementation.cache_tag}.pyc"
    py_compile.compile(
        str(evil),
        cfile=str(folder / "__pycache__" / name),
        invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
    )
    assert lines(found(home=there / "home", project=project)) == ["[✓] deploy: Says hello."]


def test_what_a_project_links_to_outside_does_not_run(there: Path, project: Path) -> None:
    folder = project / ".contextui" / "windows"
    write(there / "outside.py", "Outside", more=MARK)
    (folder / "deploy.py").unlink()
    (folder / "out.py").symlink_to(there / "outside.py")
    TrustStore(there / "home").trust(folder)
    assert only_reason(found(home=there / "home", project=project)).endswith(
        "out.py: it is a link that leads out of the folder: put the file itself there"
    )
    assert not ran(there)


def test_a_projects_folder_that_is_a_link_out_is_refused(there: Path, project: Path) -> None:
    folder = project / ".contextui" / "windows"
    folder.rename(there / "away")
    folder.symlink_to(there / "away")
    TrustStore(there / "home").trust(folder)
    assert only_reason(found(home=there / "home", project=project)).endswith(
        "is a link that leads out of the project"
    )
    assert not ran(there)


def test_a_projects_folder_that_is_a_file_is_told(there: Path) -> None:
    (there / ".contextui").mkdir()
    (there / ".contextui" / "windows").write_text("x", "utf-8")
    assert "is not a folder" in only_reason(found(home=there / "home", project=there))


def test_a_damaged_trust_file_is_told(there: Path, project: Path) -> None:
    store = TrustStore(there / "home")
    store.trust(project / ".contextui" / "windows")
    store.path.write_text("{", "utf-8")
    registry = found(home=there / "home", project=project)
    assert registry.notices == [
        f"{store.path} cannot be used, so no folder is trusted: it is damaged."
    ]
    assert not ran(there)


def test_in_the_home_folder_the_users_windows_need_no_trust(there: Path) -> None:
    write(there / ".contextui" / "windows" / "hello.py")
    registry = found(home=there / ".contextui", project=there)
    assert lines(registry) == ["[✓] hello: Says hello."]
    assert registry.review is None


def test_a_trusted_project_cannot_replace_a_window(there: Path, project: Path) -> None:
    folder = project / ".contextui" / "windows"
    write(folder / "deploy.py", "Todo")
    TrustStore(there / "home").trust(folder)
    registry = discover(home=there / "home", project=project)
    assert registry.load("todo").__module__ == "contextui.windows.todo"
    assert "duplicate" in [entry.status for entry in registry.entries]
