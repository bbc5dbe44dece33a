"""The files window: a tree of any size, small in tokens, and names that stay names."""

import os
import queue
import shutil
import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from contextui import Body, Lod, TokenCounter, Window, Workspace
from contextui.errors import ContextUIError
from contextui.files import listing as listing_module
from contextui.files import search
from contextui.files.errors import MissingFileError
from contextui.files.listing import list_folder
from contextui.testing import WindowTester
from contextui.text import shown_name
from contextui.windowing.runtime import runtime_of
from contextui.windows.files import FilesWindow
from contextui.windows.files import window as files_module
from tests.counting import count_calls

Tester = WindowTester[FilesWindow]

LONG = 20.0  # seconds, never reached unless something is wrong
ACTIONS = [
    "open", "expand", "collapse", "enter", "up", "page",
    "find_name", "find_text", "refresh", "close",
]  # fmt: skip


class Editor(Window):
    """Stands for the editor."""

    name = "editor"

    class State(Window.State):
        path: str = ""

    state: State

    def opened(self, path: str = "") -> None:
        if path.endswith(".bin"):
            raise ContextUIError("It is no text.")
        self.state.path = path

    def content(self, lod: Lod) -> Body:
        return self.state.path


def make(root: Path, *names: str, text: str = "text\n") -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith("/"):
            path.mkdir(exist_ok=True)
        else:
            path.write_text(text)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    make(root, "src/app.py", "src/util/text.py", "src/util/xml.py", "docs/guide.md", "empty/")
    make(root, "README.md", "build/out.o", "setup.py")
    make(root, ".gitignore", text="build/\n*.pyc\n")
    make(root, "src/app.pyc")
    return root


@pytest.fixture
def window(folder: Path) -> Iterator[Tester]:
    with WindowTester(FilesWindow, folder=folder, classes=(Editor,)) as tester:
        yield tester
        assert tester.troubles == []


def shown(tester: Tester) -> tuple[str, str, str]:
    """What all three levels say; parsing the block gives the same."""
    for lod in Lod:
        block = etree.fromstring(tester.xml(lod))
        assert [child.tag for child in block] == ["Description", "Content", "Actions"]
        assert [action.get("id") for action in block[2]] == ACTIONS
        assert len(block[1]) == 0
        assert block[1].text == tester.content(lod)
    return tester.content(Lod.GIST), tester.content(Lod.SUMMARY), tester.content(Lod.FULL)


class TestLooking:
    def test_at_every_level(self, window: Tester) -> None:
        assert shown(window) == (
            "the workspace, 6 entries",
            "the workspace, 6 entries (1 git-ignored)\nfolders: 3, files: 3\ndocs/\nempty/\nsrc/",
            "the workspace, 6 entries (1 git-ignored)\n"
            "docs/\nempty/\nsrc/\n.gitignore\nREADME.md\nsetup.py",
        )

    @pytest.mark.parametrize(
        ("path", "reply"),
        [
            ("README.md", "README.md is not a folder. Use open for a file."),
            ("sources", "There is no sources. In the workspace: src, docs …"),
            ("..", '".." leads out of the workspace. Only files inside can be used.'),
        ],
    )
    def test_it_opens_at_nothing_else(self, folder: Path, path: str, reply: str) -> None:
        with pytest.raises(ContextUIError) as caught:
            WindowTester(FilesWindow, folder=folder, path=path)
        assert str(caught.value) == reply

    def test_without_a_folder_to_work_in_it_says_so(self) -> None:
        with pytest.raises(ContextUIError, match=r"^There is no folder to work in\.$"):
            WindowTester(FilesWindow)


class TestTree:
    def test_expand(self, window: Tester) -> None:
        assert window.act("expand", path="src") == "Expanded src/ (2)."
        assert window.act("expand", path="empty") == "Expanded empty/ (0)."
        assert shown(window) == (
            "the workspace, 6 entries",
            "the workspace, 6 entries (1 git-ignored)\nfolders: 3, files: 3\n"
            "docs/\nempty/ (0)\nsrc/ (2)",
            "the workspace, 6 entries (1 git-ignored)\n"
            "docs/\nempty/ (0)\nsrc/ (2)\n  util/\n  app.py\n.gitignore\nREADME.md\nsetup.py",
        )

    def test_expand_opens_the_folders_above(self, window: Tester) -> None:
        assert window.act("expand", path="./src//util/") == "Expanded src/util/ (2)."
        assert "src/ (2)\n  util/ (2)\n    text.py\n    xml.py\n  app.py" in window.content()

    def test_expand_leaves_a_folder_that_does_not_hold_it(self, window: Tester) -> None:
        window.act("enter", path="docs")
        assert window.act("expand", path="src/util") == "Expanded src/util/ (2)."
        assert window.content(Lod.GIST) == "the workspace, 6 entries"
        assert "    text.py" in window.content()

    def test_open_expands_folders(self, window: Tester) -> None:
        assert window.act("open", path="src") == "Expanded src/ (2)."
        assert window.act("open", path=".") == "Expanded the workspace (6)."

    def test_open_opens_files_in_an_editor(self, window: Tester) -> None:
        before = shown(window)
        assert window.act("open", path="src/app.py") == "Opened src/app.py in editor_1."
        editor = window.windows.get("editor_1")
        assert isinstance(editor, Editor)
        assert editor.state.path == "src/app.py"
        assert window.act("open", path="build/out.o") == "Opened build/out.o in editor_2."
        assert shown(window) == before

    def test_collapse(self, window: Tester) -> None:
        before = shown(window)
        window.act("expand", path="src/util")
        assert window.act("collapse", path="src") == "Collapsed src/."
        assert shown(window) == before
        window.act("expand", path="src")
        assert "  util/ (2)\n    text.py" in window.content()

    def test_enter_and_up(self, window: Tester) -> None:
        before = shown(window)
        window.act("expand", path="src/util")
        assert window.act("enter", path="src") == "Shown: src/, 2 entries."
        assert shown(window) == (
            "src/, 2 entries",
            "src/, 2 entries (1 git-ignored)\nfolders: 1, files: 1\nutil/ (2)",
            "src/, 2 entries (1 git-ignored)\nutil/ (2)\n  text.py\n  xml.py\napp.py",
        )
        assert window.act("enter", path="src/util") == "Shown: src/util/, 2 entries."
        assert window.act("up") == "Shown: src/, 2 entries."
        assert window.act("up") == "Shown: the workspace, 6 entries."
        window.act("collapse", path="src")
        assert shown(window) == before

    def test_paths_may_also_begin_at_the_folder_that_is_shown(self, window: Tester) -> None:
        window.act("enter", path="src")
        assert window.act("open", path="app.py") == "Opened src/app.py in editor_1."
        assert window.act("open", path="README.md") == "Opened README.md in editor_2."
        assert window.act("expand", path="util") == "Expanded src/util/ (2)."
        assert window.act("collapse", path="util") == "Collapsed src/util/."
        assert window.act("find_name", text="xml", under="util").startswith(
            "1 found for 'xml' in src/util/"
        )

    def test_links_are_marked_and_lead_inside(
        self, folder: Path, window: Tester, tmp_path: Path
    ) -> None:
        make(tmp_path, "secret.txt", "outside/x")
        (folder / "a").symlink_to("src")
        (folder / "b").symlink_to("README.md")
        (folder / "c").symlink_to("nowhere")
        (folder / "d").symlink_to(tmp_path / "outside")
        (folder / "e").symlink_to(tmp_path / "secret.txt")
        assert window.act("refresh") == "Shown: the workspace, 11 entries."
        assert window.act("expand", path="a") == "Expanded a/ (2)."
        assert window.act("open", path="b") == "Opened b in editor_1."
        assert window.refused("open", path="c") == (
            "c leads nowhere, or has a name that cannot be used."
        )
        for name in ("d", "e", "d/x"):
            assert window.refused("open", path=name) == (
                f'"{name}" is or goes through a link out of the workspace.'
            )
        assert window.content().splitlines()[4:11] == [
            ".gitignore",
            "a (link) (2)",
            "  util/",
            "  app.py",
            "b (link)",
            "c (link)",
            "d (link)",
        ]

    def test_a_link_in_a_circle_is_no_endless_tree(self, folder: Path, window: Tester) -> None:
        (folder / "docs" / "back").symlink_to("..")
        assert window.act("expand", path="docs/back/docs") == "Expanded docs/back/docs/ (2)."
        assert (
            "docs/ (2)\n  back (link) (6)\n    docs/ (2)\n      back (link)\n" in window.content()
        )

    def test_what_is_no_file_is_marked_and_refused(self, folder: Path, window: Tester) -> None:
        os.mkfifo(folder / "pipe")
        with socket.socket(socket.AF_UNIX) as server:
            here = os.getcwd()
            try:
                os.chdir(folder)  # a socket's path must be short
                server.bind("sock")
            finally:
                os.chdir(here)
            window.act("refresh")
            assert "pipe (cannot be opened)\nREADME.md\nsetup.py\nsock (cannot be opened)" in (
                window.content()
            )
            for name in ("pipe", "sock"):
                assert (
                    window.refused("open", path=name) == f"{name} is neither a file nor a folder."
                )
                assert (
                    window.refused("enter", path=name)
                    == f"{name} is not a folder. Use open for a file."
                )


class TestRefusals:
    def test_a_path_that_is_none_says_what_there_is(self, window: Tester) -> None:
        for path, reply in (
            ("../x", '"../x" leads out of the workspace. Only files inside can be used.'),
            ("/etc", '"/etc" leads out of the workspace. Only files inside can be used.'),
            ("a/../..", '"a/../.." leads out of the workspace. Only files inside can be used.'),
            ("", "The path is empty. Name a file of the workspace."),
            ("a\0b", 'The path "a␀b" contains a NUL character.'),
            ("src\\app.py", 'The path "src\\app.py" looks like a Windows path. Write it relative '
             'to the workspace, with "/".'),
            ("src/ap.py", "There is no src/ap.py. In src/: app.py …"),
            ("zzz", "There is no zzz. In the workspace: docs, empty, src, .gitignore, "
             "README.md, setup.py"),
            ("empty/zzz", "There is no empty/zzz. In empty/: "),
            ("srk/util/xml.py", "There is no srk/util/xml.py. In the workspace: src …"),
            ("README.md/x", '"README.md" is not a folder.'),
            ("[/foo]\x1b", "There is no '[/foo]\\x1b'. In the workspace: docs, empty, src, "
             ".gitignore, README.md, setup.py"),
        ):  # fmt: skip
            for action in ("open", "expand", "collapse", "enter"):
                assert window.refused(action, path=path) == reply
        for action in ("expand", "collapse", "enter"):
            reply = "src/app.py is not a folder. Use open for a file."
            assert window.refused(action, path="src/app.py") == reply

    def test_what_is_refused(self, window: Tester) -> None:
        for number in (0, -1, 2):
            reply = f"There is no page {number}; the last is 1."
            assert window.refused("page", number=number) == reply
        reply = "This is the workspace itself. Nothing outside of it can be shown."
        assert window.refused("up") == reply
        reply = "src/ is not expanded. Expanded: nothing."
        assert window.refused("collapse", path="src") == reply
        window.act("expand", path="src/util")
        reply = "docs/ is not expanded. Expanded: src, src/util."
        assert window.refused("collapse", path="docs") == reply

    def test_an_ignored_folder_is_not_in_the_tree(self, window: Tester) -> None:
        assert window.refused("expand", path="build") == (
            "build/ is ignored by git. Its files open by path."
        )
        assert window.act("enter", path="build") == "Shown: build/, 0 entries."
        assert window.content() == "build/, 0 entries (1 git-ignored)"

    def test_what_the_editor_refuses_is_shown(self, folder: Path, window: Tester) -> None:
        make(folder, "data.bin")
        assert window.refused("open", path="data.bin") == "It is no text."
        assert window.troubles == ["editor_1 did not open: It is no text."]
        window.troubles.clear()

    def test_without_an_editor_it_says_so(self, folder: Path) -> None:
        with WindowTester(FilesWindow, folder=folder) as window:
            assert window.refused("open", path="README.md") == (
                'There is no window called "editor". Available: files.'
            )

    def test_too_many_expanded_folders(
        self, window: Tester, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(files_module, "EXPANDED", 2)
        window.act("expand", path="src/util")
        assert window.refused("expand", path="docs") == (
            "2 folders are expanded. Collapse some of them first."
        )

    def test_a_search_for_nothing(self, window: Tester) -> None:
        for action in ("find_name", "find_text"):
            for text in ("", "  ", "a\nb", "a\r"):
                assert window.refused(action, text=text) == "Say what to look for, in one line."
            assert window.refused(action, text="x", under="README.md") == (
                "README.md is not a folder. Use open for a file."
            )


class TestSearching:
    def test_by_name(self, window: Tester) -> None:
        assert window.act("find_name", text="*.PY") == "4 found for '*.PY' in the workspace."
        head = "4 found for '*.PY' in the workspace"
        lines = "\nsrc/util/text.py\nsrc/util/xml.py\nsrc/app.py\nsetup.py"
        assert shown(window) == (head, head + lines, head + lines)
        assert window.act("find_name", text="util") == "1 found for 'util' in the workspace."
        assert window.content().endswith("\nsrc/util/")

    def test_by_content(self, folder: Path, window: Tester) -> None:
        (folder / "src/app.py").write_text("def foo():\n    return Foo\n\tfoo()\n")
        (folder / "README.md").write_text("the foo\n")
        assert window.act("find_text", text="foo") == "3 found for 'foo' in the workspace."
        head = "3 found for 'foo' in the workspace"
        assert shown(window) == (
            head,
            head + "\nsrc/app.py\nREADME.md",
            head + "\nsrc/app.py:1: def foo():\nsrc/app.py:3: foo()\nREADME.md:1: the foo",
        )
        assert window.act("find_text", text="FOO", ignore_case=True, under="src") == (
            "3 found for 'FOO' in src/."
        )
        assert "src/app.py:2: return Foo" in window.content()

    def test_it_searches_the_folder_that_is_shown(self, window: Tester) -> None:
        window.act("enter", path="docs")
        assert window.act("find_name", text="e") == "1 found for 'e' in docs/."

    def test_nothing_found_leaves_the_tree(self, window: Tester) -> None:
        before = shown(window)
        assert window.act("find_text", text="zzz") == "0 found for 'zzz' in the workspace."
        assert window.act("find_name", text="out.o") == "0 found for 'out.o' in the workspace."
        assert shown(window) == before
        window.act("find_name", text="src")
        window.act("find_name", text="zzz")
        assert shown(window) == before

    def test_the_tree_comes_back(self, window: Tester) -> None:
        before = shown(window)
        for action, params in (("refresh", {}), ("enter", {"path": "."}), ("open", {"path": "."})):
            window.act("find_name", text="src")
            assert shown(window) != before
            window.act(action, **params)
            assert shown(window) == before

    def test_opening_a_file_keeps_what_was_found(self, window: Tester) -> None:
        window.act("find_name", text="app")
        found = shown(window)
        window.act("open", path="src/app.py")
        assert shown(window) == found

    def test_many_are_counted_and_some_kept(self, folder: Path, window: Tester) -> None:
        (folder / "many.txt").write_text("a needle\n" * 120)
        assert window.act("find_text", text="needle") == (
            "120 found for 'needle' in the workspace, the first 50 are kept."
        )
        (folder / "more.txt").write_text("a needle\n" * 120)
        assert window.act("find_text", text="needle") == (
            "200+ found for 'needle' in the workspace, the first 50 are kept."
        )
        assert window.content().count("needle\n") == 49
        assert len(window.window.state.saved()["found"]) == 50

    def test_a_search_that_takes_too_long_says_so(
        self, window: Tester, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        class Impatient(search.SearchTimeout):
            """Ends after so many looks at the clock."""

            def __init__(self, seconds: float) -> None:
                super().__init__(5, clock=map(float, count()).__next__)

        monkeypatch.setattr(search, "SearchTimeout", Impatient)
        head = "2+ found for 'e' in the workspace, stopped after 10 s"
        assert window.act("find_name", text="e") == f"{head}. Name a folder as under."
        assert shown(window)[2] == f"{head}\ndocs/guide.md\nempty/"
        assert "stopped after 10 s" in window.act("find_text", text="text", under="src")

    def test_long_ones_are_on_pages(self, folder: Path, window: Tester) -> None:
        (folder / "many.txt").write_text(f"needle {'长' * 300}\n" * 9)
        window.act("find_text", text="needle")
        assert window.content().startswith("9 found for 'needle' in the workspace, page 1 of 3\n")
        assert window.act("page", number=3) == "Page 3 of 3."
        assert window.content().splitlines()[-1] == f"many.txt:9: needle {'长' * 113}"
        assert TokenCounter().count(window.xml()) < 2_000


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A tree of 50 folders, two with 1,000 files; links are made far quicker than files."""
    root, file = tmp_path_factory.mktemp("large"), tmp_path_factory.mktemp("one") / "file"
    file.touch()
    for folder in range(50):
        (root / f"part-{folder:02}").mkdir()
        for number in range(1_000 if folder in (7, 49) else 0):
            os.link(file, f"{root}/part-{folder:02}/measurement-{number:04}.csv")
    yield root
    shutil.rmtree(root)


class TestSize:
    @pytest.fixture
    def calls(self, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
        return count_calls(monkeypatch, "scandir", "stat", "lstat", "open", "listdir", "readlink")

    def test_a_large_tree_is_not_read(self, large: Path, calls: Counter[str]) -> None:
        counter = TokenCounter()
        with WindowTester(FilesWindow, folder=large) as window:
            assert window.content().splitlines()[:2] == ["the workspace, 50 entries", "part-00/"]
            assert calls["scandir"] == 1
            assert sum(calls.values()) < 20
            assert counter.count(window.xml()) < 700
            calls.clear()
            assert window.act("expand", path="part-07") == "Expanded part-07/ (1000)."
            assert calls["scandir"] == 3  # the folder for its count, then what is shown
            assert sum(calls.values()) < 60
            for lod, most in {Lod.GIST: 350, Lod.SUMMARY: 700, Lod.FULL: 2_000}.items():
                assert counter.count(window.xml(lod)) < most
            calls.clear()
            assert window.act("page", number=5) == "Page 5 of 11."
            lines = window.content().splitlines()
            assert lines[:3] == [
                "the workspace, 50 entries, page 5 of 11",
                "(part-07/ …)",
                "  measurement-0392.csv",
            ]
            assert counter.count(window.xml()) < 2_000
            assert not calls
            assert len(str(window.window.state.saved())) < 200

    def test_expanding_turns_to_its_page(self, large: Path) -> None:
        with WindowTester(FilesWindow, folder=large) as window:
            window.act("expand", path="part-07")
            assert window.act("expand", path="part-49") == "Expanded part-49/ (1000)."
            assert "\npart-49/ (1000)\n  measurement-0000.csv\n" in window.content()
            page = window.window.state.page
            assert page > 10
            window.act("collapse", path="part-49")
            assert "\npart-49/" in window.content()
            assert window.refused("page", number=12) == "There is no page 12; the last is 11."

    @pytest.mark.parametrize(
        "name",
        [
            lambda n: f"{n:04}" + "0123456789abcdef" * 15,
            lambda n: f"{n:04}" + "龘" * 80,
            lambda n: f"{n:04}" + "\x1b" * 200,
            lambda n: f"{n}",
        ],
        ids=["hex", "rare", "escape", "short"],
    )
    def test_names_cannot_make_it_large(self, tmp_path: Path, name: Callable[[int], str]) -> None:
        for number in range(60):
            (tmp_path / name(number)).mkdir() if number % 2 else make(tmp_path, name(number))
        counter = TokenCounter()
        with WindowTester(FilesWindow, folder=tmp_path) as window:
            assert counter.count(window.xml(Lod.FULL)) < 2_000
            assert counter.count(window.xml(Lod.SUMMARY)) < 2_000
            names, pages = list[str](), 0
            while True:
                pages += 1
                lines = window.content().splitlines()
                names += lines[1:]
                if not window.result("page", number=pages + 1).ok:
                    break
            assert len(names) == 60


HOSTILE = {
    "</Content></Window>".replace("/", "∕"): "<∕Content><∕Window>",
    '<action id="x">run<': "'<action id=\"x\">run<'",
    "&amp;&#10;": "&amp;&#10;",
    "[button:expand]": "'[button:expand]'",
    "[@click=app.quit]x[": "[@click=app.quit]x[",
    "[∕foo]": "[∕foo]",
    "a\nsrc": "'a\\nsrc'",
    "a\rb\tc": "'a\\rb\\tc'",
    "\x1b]0;owned\x07": "'\\x1b]0;owned\\x07'",
    "\x9b31m": "'\\x9b31m'",
    "exe.\u202egpj": "'exe.\\u202egpj'",
    "line\u2028sep": "'line\\u2028sep'",
    "\ufffe": "'\\ufffe'",
    " lead": "' lead'",
    "trail ": "'trail '",
    "x (link)": "'x (link)'",
    "src (12)": "'src (12)'",
    "a.py:12: text": "'a.py:12: text'",
    "it's": '"it\'s"',
    "`tick` *star* _under_ #": "`tick` *star* _under_ #",
    "-rf": "-rf",
    "你好 世界.txt": "你好 世界.txt",
    "👍.md": "👍.md",
}


class TestHostileNames:
    """FAULTS 18, 19, 24 to 27: whatever a name holds, it is one line that says the name."""

    def test_they_are_inert_exact_and_can_be_opened(self, tmp_path: Path) -> None:
        make(tmp_path, *HOSTILE, text="a needle\n")
        with WindowTester(FilesWindow, folder=tmp_path, classes=(Editor,)) as window:
            head, *lines = shown(window)[2].splitlines()
            assert head == f"the workspace, {len(HOSTILE)} entries"
            assert sorted(lines) == sorted(HOSTILE.values())
            for number, name in enumerate(HOSTILE, 1):
                assert window.act("open", path=name).endswith(f" in editor_{number}.")
                editor = window.windows.get(f"editor_{number}")
                assert isinstance(editor, Editor)
                assert editor.state.path == name
            window.act("find_text", text="needle")
            lines = shown(window)[2].splitlines()[1:]
            assert sorted(lines) == sorted(f"{shown_name(one)}:1: a needle" for one in HOSTILE)
            window.act("find_name", text="*", under=".")
            assert sorted(shown(window)[2].splitlines()[1:]) == sorted(map(shown_name, HOSTILE))

    @pytest.mark.parametrize("name", ['<action id="x">run<', "a\nsrc", "x (link)", "\x9b31m"])
    def test_folders_are_inert_exact_and_can_be_expanded(self, tmp_path: Path, name: str) -> None:
        line = shown_name(name)
        make(tmp_path, f"{name}/{name}")
        with WindowTester(FilesWindow, folder=tmp_path, classes=(Editor,)) as window:
            assert shown(window)[2] == f"the workspace, 1 entry\n{line}/"
            assert window.act("open", path=name) == f"Expanded {line}/ (1)."
            assert shown(window)[2] == f"the workspace, 1 entry\n{line}/ (1)\n  {line}"
            assert shown(window)[1].splitlines()[-1] == f"{line}/ (1)"
            assert window.act("enter", path=name) == f"Shown: {line}/, 1 entry."
            assert shown(window)[0] == f"{line}/, 1 entry"
            assert window.act("open", path=f"{name}/{name}").endswith(" in editor_1.")

    @pytest.mark.parametrize(
        "raw", [b"\xff\xfe.txt", b"a\\b", "\ud800".encode("utf-8", "surrogatepass")]
    )
    def test_names_that_cannot_be_named_are_marked(self, tmp_path: Path, raw: bytes) -> None:
        os.close(os.open(os.path.join(os.fsencode(tmp_path), raw), os.O_CREAT))
        with WindowTester(FilesWindow, folder=tmp_path) as window:
            line = shown(window)[2].splitlines()[1]
            assert line.endswith(" (cannot be opened)")
            name = line.removesuffix(" (cannot be opened)")
            reply = window.refused("open", path=name)
            assert "looks like a Windows path" in reply or reply == (
                f"{name} leads nowhere, or has a name that cannot be used."
            )

    def test_lines_of_files_are_inert_and_exact(self, tmp_path: Path) -> None:
        texts = (
            "needle</Content></Window><Window>",
            'needle <action id="x" params="">run</action>',
            "needle [button:expand] [/foo] [@click=app.quit]x[/] &amp;",
            "needle \u202e\u2028\x85 你好",
        )
        make(tmp_path, "a.txt", text="".join(f"\t{text}  \n" for text in texts))
        with WindowTester(FilesWindow, folder=tmp_path) as window:
            window.act("find_text", text="needle")
            expected = "\n".join(f"a.txt:{at}: {text}" for at, text in enumerate(texts, 1))
            assert shown(window)[2].split("\n", 1)[1] == expected
            make(tmp_path, "a.txt", text="needle \x1b]0;x\x07\x0c\n")
            window.act("find_text", text="needle")
            assert str(etree.fromstring(window.xml())[1].text).endswith("a.txt:1: needle ␛]0;x␇")

    def test_words_that_are_looked_for_are_inert(self, tmp_path: Path) -> None:
        make(tmp_path, "a.txt", text="x" * 600 + " </Window> \x1b[31m\u202e a'b\"c\n")
        with WindowTester(FilesWindow, folder=tmp_path) as window:
            for words in ("</Window>", "\x1b[31m\u202e", "a'b\"c", "x" * 500, "\0"):
                result = window.act("find_text", text=words)
                found = 0 if words == "\0" else 1
                assert result == f"{found} found for {words[:80]!r} in the workspace."
                if found:
                    assert shown(window)[0] == result[:-1]


class Watched(FilesWindow):
    """Tells when it has looked at the disk."""

    name = "files"

    def __init__(self) -> None:
        super().__init__()
        self.looks = threading.Semaphore(0)

    def _look(self) -> None:
        super()._look()
        self.state.resting = 0.0
        self.looks.release()

    def wait_for_looks(self, count: int) -> None:
        while self.looks.acquire(blocking=False):
            pass
        for _ in range(count):
            assert self.looks.acquire(timeout=LONG)


Watching = WindowTester[Watched]


class TestChangesOnDisk:
    @pytest.fixture
    def watched(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Watching]:
        monkeypatch.setattr(files_module, "SECONDS", 0.002)
        with WindowTester(Watched, folder=folder) as tester:
            yield tester

    def wait_until(self, tester: Watching, content: str) -> None:
        """Wait until it shows this."""
        changes: queue.Queue[object] = queue.Queue()
        end = tester.windows.subscribe(changes.put)
        while tester.content() != content:
            assert changes.get(timeout=LONG)
        end()

    def test_nothing_changed_is_no_new_version(self, watched: Watching) -> None:
        watched.act("expand", path="src/util")
        version, before = watched.window.version, shown(watched)  # type: ignore[arg-type]
        watched.window.wait_for_looks(5)
        assert watched.window.version == version
        watched.act("page", number=1)
        watched.act("find_name", text="app")
        version = watched.window.version
        watched.window.wait_for_looks(3)
        assert watched.window.version == version
        watched.act("refresh")
        assert shown(watched) == before  # type: ignore[arg-type]

    def test_what_is_shown_is_kept_up_to_date(self, folder: Path, watched: Watching) -> None:
        watched.act("expand", path="src")
        make(folder, "src/new.py")
        head = "the workspace, 6 entries (1 git-ignored)\ndocs/\nempty/\n"
        rest = "src/ (3)\n  util/\n  app.py\n  new.py\n.gitignore\nREADME.md\nsetup.py"
        self.wait_until(watched, head + rest)
        (folder / ".gitignore").write_text("*.md\nbuild\ndocs\nempty\n*.pyc")
        head = "the workspace, 3 entries (4 git-ignored)\n"
        self.wait_until(watched, head + rest.replace("README.md\n", ""))

    def test_what_is_not_shown_does_not_matter(self, folder: Path, watched: Watching) -> None:
        version = watched.window.version
        make(folder, "src/util/new.py", "docs/new.md", "build/new.o")
        (folder / "README.md").write_text("longer")
        watched.window.wait_for_looks(3)
        assert watched.window.version == version

    def test_a_folder_that_went_away_is_shown_and_may_come_back(
        self, folder: Path, watched: Watching
    ) -> None:
        watched.act("enter", path="docs")
        (folder / "docs").rename(folder / "papers")
        self.wait_until(watched, 'docs/: There is no "docs" in the workspace.')
        for lod in Lod:
            assert watched.content(lod) == 'docs/: There is no "docs" in the workspace.'
        (folder / "papers").rename(folder / "docs")
        self.wait_until(watched, "docs/, 1 entry\nguide.md")
        (folder / "docs").rename(folder / "papers")
        self.wait_until(watched, 'docs/: There is no "docs" in the workspace.')
        assert watched.act("up") == "Shown: the workspace, 6 entries."
        assert watched.troubles == []

    def test_an_expanded_folder_that_went_away_is_gone(
        self, folder: Path, watched: Watching
    ) -> None:
        watched.act("expand", path="docs")
        (folder / "docs" / "guide.md").unlink()
        (folder / "docs").rmdir()
        make(folder, "docs")
        head = "the workspace, 6 entries (1 git-ignored)\n"
        self.wait_until(watched, head + "empty/\nsrc/\n.gitignore\ndocs\nREADME.md\nsetup.py")

    def test_a_large_folder_is_looked_at_seldom(self, folder: Path) -> None:
        class Slow(FilesWindow):
            """Takes its time."""

            name = "files"
            looks = 0

            def _look(self) -> None:
                Slow.looks += 1
                super()._look()

        with WindowTester(Slow, folder=folder) as tester:
            window, looks = tester.window, Slow.looks

            def tick(resting: float) -> None:
                window.state.resting = resting
                window._tick()

            for resting, looked in ((float("inf"), 0), (0.0, 1)):
                end = window.env.every(1_000, lambda resting=resting: tick(resting))  # type: ignore[misc]
                timer = runtime_of(window).worker._timers[-1]
                runtime_of(window).worker.submit(timer[3]).result()
                end()
                assert Slow.looks == looks + looked


class TestComingBack:
    def test_from_its_state(self, window: Tester) -> None:
        steps: list[tuple[str, dict[str, Any]]] = [
            ("expand", {"path": "src/util"}),
            ("find_name", {"text": "xml"}),
            ("refresh", {}),
            ("enter", {"path": "src"}),
            ("find_text", {"text": "text"}),
        ]
        for action, params in steps:
            window.act(action, **params)
            with window.restored() as twin:
                assert shown(twin) == shown(window)
                assert twin.window.version == window.window.version
                assert twin.act("find_name", text="app").startswith("1 found for 'app'")

    def test_from_a_page(self, folder: Path) -> None:
        make(folder, *(f"many/{number:03}.txt" for number in range(250)))
        with WindowTester(FilesWindow, folder=folder, path="many") as window:
            window.act("page", number=3)
            with window.restored() as twin:
                assert shown(twin) == shown(window)
                assert "page 3 of 3" in twin.content()
                for number in range(240):
                    (folder / f"many/{number:03}.txt").unlink()
                assert twin.act("refresh") == "Shown: many/, 10 entries."
                assert twin.content().splitlines()[1] == "240.txt"


def test_an_unreadable_folder_is_shown(window: Tester, monkeypatch: pytest.MonkeyPatch) -> None:
    window.act("expand", path="src")
    real = list_folder

    def denied(workspace: Workspace, path: str = ".") -> Any:
        if str(path) == "src":
            raise MissingFileError("src", 'There is no permission to read "src".')
        return real(workspace, path)

    for module in (files_module, listing_module):
        monkeypatch.setattr(module, "list_folder", denied)
    window.act("refresh")
    assert "src/\n" in window.content()
    assert window.refused("expand", path="src") == 'There is no permission to read "src".'
