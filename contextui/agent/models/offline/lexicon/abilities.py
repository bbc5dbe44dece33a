"""How people ask what can be done at all, in whatever order: patterns over whole sentences."""

import re

_ENGLISH = (
    r"(?:what|which)\b.{0,30}\b(?:can|could)\s+(?:you|u|i|we|it|this)\b.{0,12}"
    r"(?:\bdo\b|\bhelp\b|\bask\b|\bsay\b|\btry\b|\btype\b|$)",
    r"what\s+(?:should|do|must)\s+i\s+(?:do|type|say|try|enter)\b",
    r"what\s+(?:are|r)\s+(?:you|u)\s+(?:good|able|capable|for)\b",
    r"how\s+(?:can|could|do|does|should)\s+(?:you|u|i|this|it|we)\b.{0,20}\b(?:help|use|start|work|begin)",
    r"(?:(?:can|could|will|would)\s+(?:you|u)\s+)?(?:please\s+)?help(?:\s+me)?(?:\s+out)?(?:\s+please)?$",
    r"(?:i\s+need|i'm\s+new|i\s+am\s+new).{0,5}(?:help|here)$",
)
_CHINESE = (
    r"[你您]?(?:们)?(?:都|还|到底|究竟)?(?:会|能|可以)(?:够)?(?:帮|给|替|为)?(?:我|我们)?(?:都)?"
    r"(?:些|点)?(?:做|干|弄|搞|帮|忙)?(?:些|点|的)?(?:什么|啥|嘛|哪些|什么事)",
    r"(?:这个|这|它)?(?:东西|软件|工具)?(?:怎么|如何|咋)(?:用|玩|使用|开始|操作|弄)",
    r"[你您]有(?:什么|啥|哪些)(?:用|功能|本事|本领|能力)",
    r"(?:都)?有(?:哪些|什么|啥|哪几种)(?:样的|种)?窗口(?:是)?(?:可以|能够|能|可)(?:让我|供我|被)?(?:打开|开|用|使用)",
    r"(?:我)?(?:可以|能|该)(?:让你|叫你|怎么)?(?:做|说|输入|问)(?:些)?(?:什么|啥)",
)
_TAIL = r"(?:呢|呀|啊|吗|的)?"

ABLE = re.compile("|".join((*_ENGLISH, *(f"(?:{one}){_TAIL}$" for one in _CHINESE))))
"""A sentence, in small letters and without marks at its end, that asks what can be done."""
