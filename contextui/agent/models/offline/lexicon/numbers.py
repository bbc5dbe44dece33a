"""Numbers as words, in both languages, and the units that go with them."""

from contextui.agent.models.offline.lexicon.listed import listed

ONES = {
    word: value
    for value, word in enumerate(
        listed(
            "zero one two three four five six seven eight nine ten eleven twelve thirteen "
            "fourteen fifteen sixteen seventeen eighteen nineteen"
        )
    )
}
TENS = {
    word: value
    for value, word in enumerate(
        ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], 2
    )
}
SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000}
ORDINALS = {
    word: value
    for value, word in enumerate(
        listed(
            "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth "
            "thirteenth fourteenth fifteenth"
        ),
        1,
    )
} | {"twentieth": 20}
AMOUNTS = {"once": 1, "twice": 2, "thrice": 3, "dozen": 12, "couple": 2, "pair": 2}

HAN_DIGITS = {char: value for value, char in enumerate("零一二三四五六七八九")} | {
    "〇": 0,
    "两": 2,
    "俩": 2,
}
HAN_SCALES = {"十": 10, "百": 100, "千": 1_000, "万": 10_000}
MEASURES = listed(
    "个 项 条 张 份 只 本 次 行 页 位 名 块 元 度 天 周 年 杯 瓶 袋 盒 斤 公斤 颗 根 件 "
    "支 台 部 首 局 轮 步 分 分钟 秒 秒钟 小时 点 号 遍 下 级 层 列 段 句 字 篇 人 种 家 "
    "样 辆 把 顿 片 朵 盏 档 个小时 个月 星期 枚 颗 场 集 章 节 组 队 盘 道 题 卷 册 幅 株 "
    "棵 头 匹 口 间 座 栋 笔 盆"
)
"""Chinese words that follow a number."""

POINTED = listed("张 份 只 本 行 页 位 笔 首 件 支 台 段 句 篇 辆 盏 把 棵 盆 场 集 章 道 题 幅 间")
"""Those of them that stand for a thing behind 这 and 那."""

SECONDS = {"second": 1, "minute": 60, "hour": 3_600, "day": 86_400, "week": 604_800}
"""How long a unit of time is, by its group among the nouns."""


def han_number(text: str) -> int | None:
    """The value of a Chinese number.

    Example:
        >>> han_number("二十五"), han_number("一百零三")
        (25, 103)
    """
    if all(char in HAN_DIGITS for char in text):
        digits = "".join(str(HAN_DIGITS[char]) for char in text[:15])
        return int(digits) if digits else None
    total = part = digit = 0
    for char in text:
        if char in HAN_DIGITS:
            digit = HAN_DIGITS[char]
        elif char == "万":
            total, part, digit = (total + part + digit) * 10_000, 0, 0
        elif char in HAN_SCALES:
            part += (digit or 1) * HAN_SCALES[char]
            digit = 0
        else:
            return None
    return total + part + digit


def number_of_word(word: str) -> tuple[int, bool] | None:
    """The value of an English word that is a number, and whether it names a place.

    Example:
        >>> number_of_word("third"), number_of_word("twenty-one")
        ((3, True), (21, False))
    """
    if word in ORDINALS:
        return ORDINALS[word], True
    for table in (ONES, AMOUNTS, SCALES):
        if word in table:
            return table[word], False
    first, _, second = word.partition("-")
    if first in TENS and (not second or second in ONES):
        return TENS[first] * 10 + ONES.get(second, 0), False
    return None
