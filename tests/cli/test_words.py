"""Chinese on the command line: errors, help and lists; widths of wide characters."""

import re

import pytest

from contextui.cli.console import cut_before, wrapped
from contextui.text import cut, width
from contextui.words import t
from tests.cli.calling import Program


def test_errors_are_in_chinese(program: Program) -> None:
    for words, message in (
        (["-p", ""], "提示是空的"),
        (["--nonsense"], "无法识别的参数：--nonsense。见 contextui --help。"),
        (["debug", "--turn", "x"], "不是整数。见 contextui debug --help。"),
        (["-p", "x", "-c", "-r", "y"], "不能与"),
        (["new-window"], "缺少参数：NAME"),
        (["sesions"], "是不是 sessions？"),
        (["-c", "-p", "x"], "还没有会话"),
        (["-r", "abc", "-p", "x"], '没有会话 "abc"。'),
        (["-r", "../x", "-p", "x"], "不能是会话的 id"),
        (["config", "--budget", "x"], '--budget 是 "x"，应为：1 到'),
        (["-p", "x", "--budget", "5"], "而预算是 5"),
        (["-p", "x", "--model", "claude-x"], "需要 ANTHROPIC_API_KEY"),
        (["new-window", "Ä"], "不能是窗口的名称"),
        (["-p", "x", "--window", "none.py"], "none 无法使用：没有文件 none.py：请给出"),
        (["-p", "x", "--window", "."], "work 无法使用：. 是文件夹：请用 --windows 给出"),
        (["-p", "x", "--strategy", "none"], '没有策略 "none"。可用的有：sliding, '),
    ):
        program(*words, "--lang", "zh").fails(2, message)


@pytest.mark.parametrize("how", ["variable", "locale", "file"])
def test_the_language_of_errors_may_be_set(program: Program, how: str) -> None:
    match how:
        case "variable":
            program.set(CONTEXTUI_LANG="zh")
        case "locale":
            program.set(LANG="zh_CN.UTF-8")
        case "file":
            program.home.mkdir()
            (program.home / "config.toml").write_text('lang = "zh"')
    program("--nonsense").fails(2, "无法识别的参数：--nonsense。见 contextui --help。")
    program("-r", "abc", "-p", "x").fails(2, '没有会话 "abc"。')
    program("config", "--budget", "x").fails(2, '--budget 是 "x"，应为：1 到')


def test_a_broken_file_does_not_keep_the_locale_from_counting(program: Program) -> None:
    program.set(LANG="zh_CN.UTF-8")
    program.write(".contextui/config.toml", "budget =")
    program("config").fails(2, "不是有效的 TOML")


def test_help_is_in_chinese_and_fits(program: Program) -> None:
    for words in (["--help"], ["debug", "--help"], ["trust", "--help"]):
        program.set(LANG="zh_CN.UTF-8")
        done = program(*words)
        assert done.out.startswith("用法："), words
        assert [line for line in done.out.splitlines() if width(line) > 80] == [], words
        english = re.findall(r"\b[a-z]{3,} [a-z]{2,} [a-z]{2,}\b", done.out)
        assert [one for one in english if "contextui" not in one] == [], words


def test_lists_are_in_chinese(program: Program) -> None:
    program.set(LANG="zh_CN.UTF-8")
    assert "还没有会话" in program("sessions").out
    program("-p", "你好")
    head, row = program("sessions").out.splitlines()
    assert head.split() == ["id", "更新时间", "第一个提示"]
    assert width(head[: head.index("第")]) == row.index("你")
    assert "条目" in program("debug").out
    assert "[✓] todo: 待办清单。" in program("windows").out
    assert "来源" in program("config").out


# --- columns ---------------------------------------------------------------------------------


def test_wide_characters_take_two_columns() -> None:
    assert [width(one) for one in ("ab", "你好", "a你\u0301")] == [2, 4, 3]
    assert cut("你好吗", 5) == "你好…"
    assert cut("你好", 4) == "你好"
    assert width("👩‍👩‍👧") == 2


def test_truncated_text_fits() -> None:
    for columns in range(-1, 9):
        for text in ("abcdef", "你好吗", "a你b好", "👩‍👩‍👧 and 👍🏽"):
            for short in (cut(text, columns), cut_before(text, columns)):
                assert short == text or "…" in short, (text, columns)
                assert width(short) <= max(columns, 1), (text, columns)


def test_lines_are_cut_where_they_may_be() -> None:
    for columns in (8, 11, 20, 40):
        text = "由谁回答；auto：有密钥或 base URL 时为 anthropic（默认），否则为 offline。"
        lines = wrapped(text, columns)
        assert "".join(lines).replace(" ", "") == text.replace(" ", ""), columns
        assert not [line for line in lines if width(line) > max(columns, len("anthropic（默"))], (
            columns
        )
        assert not [line for line in lines if line[0] in "；：），。 " or line[-1] in "（ "], (
            columns
        )


def test_english_is_cut_at_spaces() -> None:
    assert wrapped("one two-three four", 9) == ["one", "two-three", "four"]
    assert wrapped("", 9) == [""]
    assert t("{flag} is given twice.", flag="-p") == "-p is given twice."
