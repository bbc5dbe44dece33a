"""Which language the embedded model answers in."""

import pytest

from contextui.agent.models.offline.answering.saying import language

CHINESE_PROMPT = "你和用户一起使用 contextui"


@pytest.mark.parametrize(
    ("words", "system", "spoken"),
    [
        ("make a to do list with 牛奶", "", "en"),
        ("open 购物清单.md in the editor", "", "en"),
        ("把 milk 标记为完成", "", "zh"),
        ("打开 README.md", "", "zh"),
        ("create todo 牛奶", CHINESE_PROMPT, "zh"),
        ("hello", CHINESE_PROMPT, "en"),
        ("42", CHINESE_PROMPT, "zh"),
        ("42", "", "en"),
    ],
)
def test_it_is_that_of_most_of_the_words(words: str, system: str, spoken: str) -> None:
    assert language(words, system) == spoken
