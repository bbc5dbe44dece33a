"""The catalogue has each message of the code, and no other."""

import re
from string import Formatter

from contextui.config.schema import SETTINGS
from contextui.config.settings import allowed
from contextui.errors import ContextUIError
from contextui.words import Message, Words, catalogue, read_po, set_language, t
from tests.words import messages

CHINESE = catalogue("zh")


def test_every_message_is_translated() -> None:
    assert sorted(messages.messages() - CHINESE.keys()) == []


def test_every_translation_is_used() -> None:
    assert sorted(CHINESE.keys() - messages.literals()) == []


def test_every_error_for_people_has_a_message_of_the_catalogue() -> None:
    assert messages.untranslatable() == []


def test_there_are_no_other_tables_of_chinese() -> None:
    chinese = re.compile(r"[\u4e00-\u9fff]{2,}")
    found = [
        f"{path.relative_to(messages.PACKAGE)}:{number}"
        for path in messages.sources()
        # The first three read Chinese; windows may give two texts, as those of others do.
        if not {"offline", "stated.py", "secrets.py", "windows"} & {*path.parts}
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if chinese.search(line) and ">>>" not in line and "'" not in line
    ]
    assert found == []


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


def test_a_translation_has_the_placeholders_of_its_message() -> None:
    differ = [one for one, zh in CHINESE.items() if placeholders(one) != placeholders(zh)]
    assert differ == []


def test_messages_without_letters_or_with_names_alone_may_be_the_same() -> None:
    same = {english for english, chinese in CHINESE.items() if english == chinese}
    assert all(not re.search(r"[a-z]{3}", one) or "{" in one for one in same), same


def test_each_message_is_there_once() -> None:
    text = messages.CATALOGUE.read_text(encoding="utf-8")
    assert text.count("\nmsgid ") == len(CHINESE) + 1  # the header is one


def test_values_are_translated_too() -> None:
    why = Message("Permission denied")
    error = ContextUIError("{file} cannot be read: {why}.", file="a", why=why)
    assert str(error) == "a cannot be read: Permission denied."
    assert error.text("zh") == Words("zh")(error) == "a 无法读取：没有权限。"


def test_a_value_with_another_kind_of_text_is_shown_as_it_is() -> None:
    why = SyntaxError("no", ("a.py", 1, 1, "x = ("))
    assert "no" in str(ContextUIError("{file} cannot be read: {why}.", file="a", why=why))


def test_text_with_braces_is_not_a_template_unless_it_has_values() -> None:
    assert str(ContextUIError("a {b} c")) == "a {b} c"
    assert Words("zh")("a {b} c") == "a {b} c"
    assert str(ContextUIError("{name} is closed.", name="{x}")) == "{x} is closed."


def test_an_author_gives_both_texts() -> None:
    error = ContextUIError("No milk.", zh="没有牛奶。")
    assert (error.text("en"), error.text("zh")) == ("No milk.", "没有牛奶。")


def test_the_language_of_the_process_is_set_in_one_place() -> None:
    try:
        set_language("zh")
        assert t("Context") == "上下文"
    finally:
        set_language("en")
    assert t("Context") == "Context"


def test_a_po_file_is_read_as_other_tools_write_it() -> None:
    text = (
        '# A comment.\nmsgid ""\nmsgstr "Language: zh\\n"\n\n'
        '#: a.py:3\nmsgid "two \\"lines\\"\\n"\n'
        '"of text"\nmsgstr ""\n"两\\n"\n"行"\n\nmsgid "not yet"\nmsgstr ""\n'
    )
    assert read_po(text) == {'two "lines"\nof text': "两\n行"}


def test_the_values_a_setting_takes_are_translated() -> None:
    for name in SETTINGS:
        assert allowed(name).text("zh") != str(allowed(name))
