"""What the loop says to the model and to the person, in both languages."""

from dataclasses import dataclass

from contextui.windowing.env import Lang


@dataclass(frozen=True, slots=True)
class Phrases:
    """The loop's words. The first eight are for the model, the others for the person."""

    empty: str
    call_cut: str
    failed_too_often: str
    not_finished: str
    stopped_here: str
    go_on: str
    unchanged: str
    lines_read: str
    paused: str
    stuck: str
    refused: str
    cut_off: str
    silent: str
    unknown_stop: str
    without_thinking: str
    window_full: str
    shrunk: str
    not_compacted: str
    repaired: str
    without_odd: str
    shorter_answers: str
    strategy_failed: str
    strategy_slow: str


_ALL: dict[Lang, Phrases] = {
    "en": Phrases(
        empty="(Your answer was empty. Answer in words, or go on.)",
        call_cut="(Your answer was cut off within a call, so that call was not carried out. "
        "Make shorter calls.)",
        failed_too_often="Not carried out: this very call failed three times. Try something else.",
        not_finished="The turn was stopped before this was finished. "
        "It may or may not have been carried out.",
        stopped_here="(stopped here)",
        go_on="(Go on.)",
        unchanged="Unchanged since it was read above in this turn.",
        lines_read=", lines {first}-{last}",
        paused="The turn paused after {steps} steps. Say “go on” to let it continue.",
        stuck="The turn was halted: the same call failed three times.",
        refused="The model declined to answer.",
        cut_off="The answer was cut off at {tokens} tokens. Say “go on” to hear the rest.",
        silent="The model gave no answer.",
        unknown_stop="The model stopped for a reason that is not known here: {reason}.",
        without_thinking="The provider refused the model's thinking; it is left out of this turn.",
        window_full="The model's context window is full.",
        shrunk="The request was too large for the model: older parts are left out.",
        not_compacted="No room was made: {reason}",
        repaired="{reason} It is sent once more, repaired: {what}.",
        without_odd="without what not every provider knows ({what})",
        shorter_answers="for an answer of {tokens} tokens at most",
        strategy_failed="The strategy {name} failed; the sliding window took its place: {reason}",
        strategy_slow="It took too long.",
    ),
    "zh": Phrases(
        empty="（你的回答是空的。请用文字回答，或继续。）",
        call_cut="（你的回答在一个调用中途被截断，该调用没有执行。请把调用写短一些。）",
        failed_too_often="没有执行：同样的调用已经失败三次。请换一种做法。",
        not_finished="本轮在它完成之前被停止。它可能已经执行，也可能没有。",
        stopped_here="（到此停止）",
        go_on="（请继续。）",
        unchanged="自本轮上文读取以来没有变化。",
        lines_read=", 第{first}-{last}行",
        paused="本轮在 {steps} 步后暂停。说“继续”即可接着进行。",
        stuck="本轮已中止：同样的调用失败了三次。",
        refused="模型拒绝回答。",
        cut_off="回答在 {tokens} 个 token 处被截断。说“继续”可以看到其余部分。",
        silent="模型没有给出回答。",
        unknown_stop="模型因未知原因停止：{reason}。",
        without_thinking="服务方拒绝了模型的思考内容；本轮将其省略。",
        window_full="模型的上下文窗口已满。",
        shrunk="请求对模型来说太大：较早的部分已省略。",
        not_compacted="没有腾出空间：{reason}",
        repaired="{reason} 修复后再发送一次：{what}。",
        without_odd="去掉并非所有服务方都认识的内容（{what}）",
        shorter_answers="回答最多 {tokens} 个 token",
        strategy_failed="策略 {name} 失败，已改用滑动窗口：{reason}",
        strategy_slow="用时过长。",
    ),
}


def of(lang: Lang) -> Phrases:
    """The words of a language."""
    return _ALL[lang]


NUDGES = frozenset(nudge for one in _ALL.values() for nudge in (one.empty, one.call_cut, one.go_on))
"""What the loop says to the model within a turn, in any language."""
