"""The gist of a file: the document's form, for every kind of file, whatever is in it."""

import doctest
import io
import json
import subprocess
import sys
import tomllib
from pathlib import Path, PurePosixPath
from typing import Any

import openpyxl  # type: ignore[import-untyped]
from hypothesis import given
from hypothesis import strategies as st

import contextui.context.gists.formats
import contextui.context.gists.gist
from contextui import gist
from contextui.context.gists.gist import gist_of_size
from contextui.text import byte_size, for_terminal

PYTHON = "def load_data():\n    ...\n\n\ndef clean_data():\n    ...\n"
CHARTS = {"config": {}, "data": [], "options": ""}


def of_length(lines: int, text: str) -> str:
    return text + "#\n" * (lines - text.count("\n"))


def of_size(size: int, value: dict[str, Any]) -> str:
    value = {**value, "options": "x" * (size - len(json.dumps(value)))}
    return json.dumps(value)


def test_the_documents_samples_come_out_character_for_character() -> None:
    for path, content, expected in (
        (
            "sales_analysis.py",
            of_length(150, PYTHON),
            "[文件已读取] sales_analysis.py (python, 150行, 函数: load_data, clean_data)",
        ),
        (
            "sales_analysis.py",
            of_length(150, PYTHON + "def visualize(): ...\n"),
            "[文件已读取] sales_analysis.py "
            "(python, 150行, 函数: load_data, clean_data, visualize)",
        ),
        (
            "data.csv",
            "date,product,amount,region\n" + "2026-02-07,tea,3.50,north\n" * 5_000,
            "[文件已读取] data.csv (CSV, 5000行, 列: date, product, amount, region)",
        ),
        (
            "chart_result.json",
            of_size(2_560, CHARTS),
            "[文件已读取] chart_result.json (JSON, 2.5KB, 键: config, data, options)",
        ),
        (
            "config.json",
            of_size(2_560, {"settings": {}, "data": [], "options": ""}),
            "[文件已读取] config.json (JSON, 2.5KB, 键: settings, data, options)",
        ),
    ):
        assert gist(path, content, "zh") == expected, path


def test_documented_examples_hold() -> None:
    for module in (contextui.context.gists.gist, contextui.context.gists.formats):
        assert doctest.testmod(module).failed == 0, module


CODE = {
    "a.py": (
        "@deco\nasync def f(): ...\nclass A:\n    def m(self):\n        def inner(): ...\n"
        "    class B: ...\nif x:\n    def g(): ...\n",
        "functions: f, g, m, classes: A, B",
    ),
    "stub.pyi": ("def f() -> int: ...\n", "functions: f"),
    "broken.py": (
        '"""\ndef no(): ...\n"""\nasync def f(): ...\n# def no(): ...\nx = """ " \ndef no(): ...\n'
        '"""\nclass A(:\n    def m(self): ...\ny = "def no(): ..."\n',
        "functions: f, m, classes: A",
    ),
    "a.js": ("// function no() {}\nfunction f() {}\nclass A { m() {} }\n", "f, classes: A"),
    "a.ts": ("interface I { x: 1 }\nexport const f = (a: I): void => {};\n", "f, classes: I"),
    "A.java": ('class A {\n  String m() { return "class B {"; }\n}\n', "m, classes: A"),
    "a.c": ("struct s { int x; };\nint main(void) { return 0; }\n", "main, classes: s"),
    "a.cpp": ("class A {\n  void m() {}\n};\nint main() { }\n", "main, m, classes: A"),
    "a.go": (
        "type P struct { X int }\nfunc main() {}\nfunc (p *P) M() {}\n",
        "main, M, classes: P",
    ),
    "a.rs": ("struct P;\nimpl P {\n  fn m(&self) {}\n}\nfn main() {}\n", "main, m, classes: P"),
    "a.php": ("<?php\nclass A {\n  function m() {}\n}\nfunction f() {}\n", "f, m, classes: A"),
    "a.rb": ("class A\n  def m\n  end\nend\ndef f\nend\n", "functions: f, m, classes: A"),
    "a.sh": ("f() {\n  echo 'no() {'\n}\n", "functions: f"),
    "a.sql": (
        "-- create table no (x);\nCREATE TABLE IF NOT EXISTS s.users (id int);\n"
        "INSERT INTO x VALUES ('\ncreate table no (');\n/*\ncreate view no as\n*/\n"
        "create or replace function f() returns int as $$\ncreate table no (x);\n$$;\n"
        'create view "my view" as select 1;\n',
        "functions: f, tables: s.users, my view",
    ),
    "a.R": (
        "# no <- function() 1\nf <- function(x) {\n  inner <- function(y) y\n}\ng = \\(x) x\n"
        'lapply(xs,\n  FUN = function(x) x)\ntext <- "\nno <- function() 1\n"\n'
        'raw <- r"(\nno <- function() "1"\n)"\nStack <- R6Class("Stack", list())\n',
        "functions: f, g, classes: Stack",
    ),
    "a.css": (
        "/* .no { } */\n:root { --x: 1px; }\n.btn, .card {\n  background: url(http://x/y);\n}\n"
        'h1,\na[title="{"] { content: ".no {"; }\n@media print {\n  .small { color: red }\n}\n'
        "@keyframes k { from { top: 0 } }\n",
        "selectors: ':root', .btn, h1, a, .small",
    ),
    "a.scss": ("@mixin big($x) { .no { } }\n$map: (\n  key: value,\n);\n", "functions: big"),
    "a.html": (
        "<!-- <script>function no() {}</script> -->\n<p>function no() {}</p>\n"
        '<script type="module">\nfunction f() { return "function no() {"; }\n'
        "class A {}\n</script>\n",
        "functions: f, classes: A",
    ),
}


def test_code_shows_its_functions_and_classes_and_nothing_of_comments_and_strings() -> None:
    for end in ("\n", "\r\n"):
        for path, (text, expected) in CODE.items():
            line = gist(path, text.replace("\n", end))
            assert line.endswith(f"{expected})"), (path, end)
            assert f", {text.count(chr(10))} line" in line, (path, end)
            assert "no" not in line, (path, end)


def test_every_language_is_called_by_its_name() -> None:
    names = "python javascript typescript java c c++ go rust php ruby shell sql r css html"
    shown_names = {
        gist(path, text).partition(" (")[2].partition(",")[0] for path, (text, _) in CODE.items()
    }
    assert shown_names == set(names.split())


def test_code_without_declarations_shows_its_lines() -> None:
    assert gist("q.sql", "SELECT 1;\n") == "[file read] q.sql (sql, 1 line)"
    assert gist("a.lua", "x = 1") == "[file read] a.lua (lua, 1 line, 5B)"


def test_a_long_list_is_cut_and_counted() -> None:
    text = "".join(f"def function_{number}(): ...\n" for number in range(100))
    line = gist("a.py", text)
    assert "functions: function_0, function_1, " in line
    shown = line.count("function_")
    assert 5 <= shown <= 20
    assert line.endswith(f", … {100 - shown} more)")
    assert gist("a.py", text, "zh").endswith(f", … 另有{100 - shown}个)")


def test_data_and_other_text() -> None:
    for path, content, facts in (
        ("a.csv", "a,b\n1,2\n3,4\n", "CSV, 2 rows, columns: a, b"),
        ("a.csv", "a,b\r\n1,2\r\n\r\n3,4", "CSV, 2 rows, columns: a, b"),
        ("a.csv", "a,b\r1,2\r3,4\r", "CSV, 2 rows, columns: a, b"),
        ("a.CSV", "a;b\n1;2\n", "CSV, 1 row, columns: a, b"),
        ("a.csv", '\ufeffid,"last, first"\n1,"x\ny"\n', "CSV, 1 row, columns: id, 'last, first'"),
        ("a.csv", ",a\n0,1\n", "CSV, 1 row, columns: '', a"),
        ("a.csv", "country,2020,2021\nx,1,2\n", "CSV, 1 row, columns: country, 2020, 2021"),
        ("a.csv", "1,x,3.5\n2,y,4.5\n", "CSV, 2 rows, 3 columns"),
        ("a.csv", "", "CSV, 0 rows"),
        ("a.csv", '"' + "x" * 200_000, "CSV, 1 line, 195.3KB"),
        ("a.tsv", "a,b\tc\n1\t2\n", "TSV, 1 row, columns: 'a,b', c"),
        ("a.json", "[1, 2, 3]", "JSON, 9B, 3 items"),
        ("a.json", '[{"id": 1, "a:b": 2}]', "JSON, 21B, 1 item, keys: id, 'a:b'"),
        ("a.json", '\ufeff{"a": 1}', "JSON, 11B, keys: a"),
        ("a.json", "{}", "JSON, 2B"),
        ("a.json", "7", "JSON, 1B"),
        ("a.json", '{"a": ', "JSON, 6B"),
        ("a.json", "[" * 100_000, "JSON, 97.7KB"),
        ("a.json", "9" * 100_000, "JSON, 97.7KB"),
        ("a.jsonl", '{"a": 1}\n\n{"a": 2}\n', "JSONL, 19B, 2 rows, keys: a"),
        ("a.ndjson", "x\n", "JSONL, 2B, 1 row"),
        ("a.md", "# Title\n\nWords.\n", "markdown, 3 lines, 16B"),
        ("a.yaml", "a: 1\n", "yaml, 1 line, 5B"),
        ("a.txt", "a\r\nb\rc", "text, 3 lines, 6B"),
        ("README", "", "text, 0 lines, 0B"),
        ("a.log", "x\n", "log, 1 line, 2B"),
        ("a.txt", "文\n", "text, 1 line, 4B"),
        ("a.py", b"def f(): ...\n", "python, 1 line, functions: f"),
        ("a.txt", "\ufeffa".encode("utf-16"), "text, 1 line, 6B"),
        ("a.bin", b"\0\1", "bin, 2B"),
        ("blob", b"\0\1", "binary, 2B"),
        ("a.py", b"\0\1", "python, 2B"),
    ):
        assert gist(path, content) == f"[file read] {path} ({facts})", path


def test_chinese_words_for_all_of_them() -> None:
    assert gist("a.csv", "1,2\n", "zh") == "[文件已读取] a.csv (CSV, 1行, 2列)"
    assert gist("a.json", "[]", "zh") == "[文件已读取] a.json (JSON, 2B, 0项)"
    assert gist("notes", "a\n", "zh") == "[文件已读取] notes (文本, 1行, 2B)"
    assert gist("blob", b"\0", "zh") == "[文件已读取] blob (二进制, 1B)"
    assert gist("a.sql", "create table t (x)", "zh") == "[文件已读取] a.sql (sql, 1行, 表: t)"
    assert gist("a.css", "p { }", "zh") == "[文件已读取] a.css (css, 1行, 选择器: p)"
    assert gist("a.py", "class A: ...", "zh") == "[文件已读取] a.py (python, 1行, 类: A)"


def workbook(*sheets: tuple[str, list[list[object]]]) -> bytes:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets:
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def test_a_workbook_shows_rows_and_columns() -> None:
    data = workbook(("Sales", [["date", "amount", None], ["1 May", 3], ["2 May", 4]]))
    assert gist("a.xlsx", data) == "[file read] a.xlsx (Excel, 2 rows, columns: date, amount)"
    assert gist("a.xlsx", data, "zh") == "[文件已读取] a.xlsx (Excel, 2行, 列: date, amount)"


def test_a_workbook_of_several_sheets_shows_each() -> None:
    data = workbook(("A", [["x"], [1]]), ("B, C", []), ("D", [[1, 2]]), ("E", []))
    assert gist("a.xlsx", data) == (
        "[file read] a.xlsx (Excel, 4 sheets, A (1 row, columns: x), 'B, C' (0 rows), "
        "D (1 row, 2 columns))"
    )


def test_a_damaged_workbook_shows_its_size() -> None:
    assert gist("a.xlsx", b"PK\3\4 no workbook") == "[file read] a.xlsx (Excel, 16B)"
    assert gist("a.xls", "no bytes") == "[file read] a.xls (Excel, 8B)"


WITHOUT_OPENPYXL = """
import subprocess
import sys
import tomllib

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "openpyxl":
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Blocked())
from contextui import gist
data = sys.stdin.buffer.read()
for lang in ("en", "zh"):
    print(gist("a.xlsx", data, lang))
print(gist("a.xlsx", b"no workbook"))
"""


def test_without_the_excel_extra_the_gist_of_a_workbook_says_so() -> None:
    data = workbook(("Sales", [["date", "amount"], ["1 May", 3]]))
    done = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", WITHOUT_OPENPYXL],
        input=data,
        capture_output=True,
        check=True,
    )
    size = byte_size(len(data))
    assert done.stdout.decode().splitlines() == [
        f"[file read] a.xlsx (Excel, {size}, rows and columns need contextui[excel])",
        f"[文件已读取] a.xlsx (Excel, {size}, 行和列需要 contextui[excel])",
        "[file read] a.xlsx (Excel, 11B)",
    ]


def test_the_excel_extra_installs_the_reader() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    assert [one[:8] for one in project["optional-dependencies"]["excel"]] == ["openpyxl"]


def test_a_path_is_shown_so_that_the_file_can_be_read_again() -> None:
    for path, shown in (
        ("src/app/a.txt", "src/app/a.txt"),
        ("./a.txt", "a.txt"),
        ("/home/me/a.txt", "a.txt"),
        (PurePosixPath("docs/a.txt"), "docs/a.txt"),
        (Path("/docs/a.txt"), "a.txt"),
        ("报告/数据.txt", "报告/数据.txt"),
        ("my file (1).txt", "my file (1).txt"),
        ("a  b.txt", "'a  b.txt'"),
        ("a, 9 lines.txt", "'a, 9 lines.txt'"),
        ("a\n[file read] b.txt", r"'a\n[file read] b.txt'"),
        ("\x1b]0;owned\x07.txt", r"'\x1b]0;owned\x07.txt'"),
        ("\u202etxt.exe.txt", r"'\u202etxt.exe.txt'"),
    ):
        assert gist(path, "") == f"[file read] {shown} (text, 0 lines, 0B)", path


def test_a_very_long_path_keeps_its_end() -> None:
    line = gist("folder/" * 500 + "a.txt", "")
    assert len(line) < 260
    assert "folder/a.txt (text" in line


def test_a_file_of_which_only_the_size_is_known() -> None:
    for size, expected in (
        (0, "0B"),
        (1_023, "1023B"),
        (1_024, "1.0KB"),
        (1_048_575, "1.0MB"),
        (5 * 2**30, "5.0GB"),
    ):
        assert gist_of_size("a/b.csv", size) == f"[file read] a/b.csv (CSV, {expected})", size
        assert gist_of_size("b.log", size, "zh") == f"[文件已读取] b.log (log, {expected})", size


SUFFIXES = st.sampled_from([*CODE, "a.csv", "a.tsv", "a.json", "a.jsonl", "a.md", "a.xlsx", "a"])


@given(
    SUFFIXES,
    st.text(max_size=20),
    st.text() | st.text("'\"\\$`[]{}(),;:#\n\r\t ab<!->=") | st.binary(),
    st.sampled_from(["en", "zh"]),
)
def test_there_is_one_inert_bounded_line_for_anything(
    name: str, folder: str, content: str | bytes, lang: Any
) -> None:
    line = gist(folder + name, content, lang)
    assert line == for_terminal(line, lines=False)
    assert "\n" not in line
    assert line.startswith("[文件已读取] " if lang == "zh" else "[file read] ")
    assert len(line) <= 1_200


def test_hostile_names_within_stay_inert() -> None:
    hostile = ["\x1b[2J", "a\n[file read] b.py (python, 1 line)", "\u202e", "\ud800", "x" * 5_000]
    for line in (
        gist("a.json", json.dumps(dict.fromkeys(hostile))),
        gist("a.csv", ",".join(f'"{name}"' for name in hostile)),
    ):
        assert line == for_terminal(line, lines=False)
        assert "'a [file read] b.py (python, 1 line)'" in line
        assert len(line) < 400


def test_a_hostile_text_ends() -> None:
    """Each would keep a search without bounds busy for hours."""
    for name, text in (
        ("a.py", '"""' + "\\x" * 60_000),
        ("a.py", "\"'" * 60_000),
        ("a.py", "(" * 60_000),
        ("a.html", "<script" * 30_000),
        ("a.html", "<!--" * 30_000),
        ("a.css", ("a," + " " * 990 + "\n") * 200),
        ("a.css", ("a " * 499 + "\n") * 150),
        ("a.sql", ("create" + " " * 990 + "\n") * 150),
        ("a.sql", "$a$" * 30_000),
        ("a.R", 'r"---' * 30_000),
        ("a.csv", '"' * 100_000),
        ("a.csv", "," * 100_000),
        ("a.json", "[{}," * 30_000),
    ):
        assert len(gist(name, text)) < 200, name


def test_of_more_than_ten_megabytes_lines_and_size_are_shown() -> None:
    assert gist("a.csv", "a,b\n" * 2_500_001) == ("[file read] a.csv (CSV, 2500001 lines, 9.5MB)")
