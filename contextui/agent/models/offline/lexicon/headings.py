"""What the headings of a summary ask for: words of headings, and words that answer them."""

from dataclasses import dataclass
from typing import Literal

from contextui.agent.models.offline.lexicon.listed import listed

Source = Literal["person", "model", "result", "error"]


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of heading.

    Attributes:
        headings: Words that tell a heading of this kind.
        sources: Who said what fits as a whole.
        words: Words that make any sentence fit.
        paths: Whether the path of a file makes a sentence fit.
    """

    headings: tuple[str, ...]
    sources: tuple[Source, ...] = ()
    words: tuple[str, ...] = ()
    paths: bool = False


KINDS = (
    Kind(
        listed("error problem failure failed trouble issue fix wrong 错误 问题 失败 故障 修复"),
        ("error",),
        listed(
            "error fail failed failure cannot could wrong broken bug problem "
            "错误 失败 无法 不能 问题"
        ),
    ),
    Kind(
        listed("file path code document 文件 代码 路径 文档"),
        words=listed("file folder 文件 文件夹 目录"),
        paths=True,
    ),
    Kind(
        listed(
            "open pending next remaining todo left outstanding unfinished step "
            "待 未 下一步 剩余 后续"
        ),
        words=listed(
            "todo next later pending still must should need remaining tomorrow plan "
            "还要 需要 下一步 之后 以后 待 尚未 明天 计划 应该 必须"
        ),
    ),
    Kind(
        listed("decision decided choice agreed conclusion 决定 决策 结论 选择"),
        words=listed(
            "decide decided choose chose agree agreed instead rather prefer keep "
            "决定 选择 同意 采用 改用 选"
        ),
    ),
    Kind(
        listed(
            "done change action progress result completed work window accomplished current "
            "完成 进展 结果 操作 改动 工作 窗口 已"
        ),
        ("result",),
    ),
    Kind(
        listed(
            "request intent goal wish ask user person purpose task want message words "
            "要求 目标 意图 需求 用户 请求 任务 目的"
        ),
        ("person",),
    ),
    Kind(
        listed(
            "fact important key remember preference note constraint concept "
            "事实 重要 关键 偏好 要点 约束 概念 信息"
        ),
        words=listed(
            "is are was remember note always never prefer important must "
            "是 记住 重要 总是 从不 喜欢"
        ),
    ),
)
"""Kinds of headings; the first whose words stand in a heading counts."""

DEFAULT = {
    "en": ("What was asked", "What was done", "Problems", "What is open"),
    "zh": ("要求", "已完成", "问题", "待办"),
}
"""The headings where none are given."""
