"""Texts of the agent loop for the model and the person, in both languages."""

from dataclasses import dataclass

from contextui.config.settings import Lang
from contextui.errors import ContextTooLargeError


@dataclass(frozen=True, slots=True)
class Phrases:
    """Texts of the loop: up to `lines_read` mostly for the model, the others for the person."""

    empty: str
    call_cut: str
    failed_too_often: str
    not_finished: str
    stopped_here: str
    full_stop: str
    go_on: str
    unchanged: str
    too_many_calls: str
    lines_read: str
    paused: str
    stuck: str
    calls_refused: str
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
    tried: str
    leave_alone: str
    broke_off: str
    still_working: str
    compaction_stopped: str
    too_much: str
    prompt_and_tools: str


@dataclass(frozen=True, slots=True)
class ToolPhrases:
    """Texts about tool calls for the model, where no window provides one."""

    no_tool: str
    opened: str
    still_opening: str
    takes: str
    optional: str
    missing: str
    unknown: str
    wrong_type: str
    problems: str
    no_folder: str
    no_line: str
    empty_file: str
    more_lines: str
    not_closed: str
    not_readable: str
    failed: str
    would_write: str
    would_delete: str
    would_run: str
    would_read: str
    would_close: str
    writes: str
    read_only: str
    nobody_to_ask: str
    unsaved_edits: str
    may_hold_secrets: str
    not_done: str
    nothing_to_do: str
    declined: str
    they_say: str
    no_result: str
    left_out_before: str


_ALL: dict[Lang, Phrases] = {
    "en": Phrases(
        empty="(Your answer was empty. Answer in words, or go on.)",
        call_cut="(Your answer was cut off within a call, so that call was not carried out. "
        "Make shorter calls.)",
        failed_too_often="Not carried out: this very call failed three times. Try something else.",
        not_finished="The turn was stopped before this was finished. "
        "It may or may not have been carried out.",
        stopped_here="(stopped here)",
        full_stop=".",
        go_on="(Go on.)",
        unchanged="Unchanged since it was read above in this turn.",
        too_many_calls="Not carried out: an answer may make {most} calls. Make fewer at a time.",
        lines_read=", lines {first}-{last}",
        paused="The turn paused at step {steps}, the last that it may take. Say “go on” to let it "
        "continue.",
        stuck="The turn was halted: the same call failed three times.",
        calls_refused="{count:,} calls were refused: an answer may make {most} (max_calls).",
        refused="The model declined to answer.",
        cut_off="The answer was cut off at {tokens} tokens. Say “go on” to hear the rest.",
        silent="The model gave no answer.",
        unknown_stop="The model stopped for a reason that is not known here: {reason}.",
        without_thinking="The provider refused the model's thinking; it is left out of this turn.",
        window_full="The model's context window is full.",
        shrunk="The request was too large for the model: older parts are left out.",
        not_compacted="No room was made: {reason}",
        tried="{reason} Tried {count} times.",
        leave_alone="{reason} It asks to be left alone for {seconds:.0f} s: try again then.",
        broke_off="The answer broke off.",
        still_working="The model is still working. Wait for its end, or stop it.",
        compaction_stopped="The compaction was stopped. Nothing was changed.",
        too_much="The context needs ~{needed} tokens and the budget is {budget}. "
        "What cannot be left out: {largest}.",
        prompt_and_tools="the system prompt and the tools, ~{tokens}",
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
        full_stop="。",
        go_on="（请继续。）",
        unchanged="自本轮上文读取以来没有变化。",
        too_many_calls="没有执行：一个回答最多 {most} 个调用。请分几次调用。",
        lines_read=", 第{first}-{last}行",
        paused="本轮在 {steps} 步后暂停。说“继续”即可接着进行。",
        stuck="本轮已中止：同样的调用失败了三次。",
        calls_refused="有 {count:,} 个调用被拒绝：一个回答最多 {most} 个（max_calls）。",
        refused="模型拒绝回答。",
        cut_off="回答在 {tokens} 个 token 处被截断。说“继续”可以看到其余部分。",
        silent="模型没有给出回答。",
        unknown_stop="模型因未知原因停止：{reason}。",
        without_thinking="服务方拒绝了模型的思考内容；本轮将其省略。",
        window_full="模型的上下文窗口已满。",
        shrunk="请求对模型来说太大：较早的部分已省略。",
        not_compacted="没有腾出空间：{reason}",
        tried="{reason}已尝试 {count} 次。",
        leave_alone="{reason}它要求在 {seconds:.0f} 秒内不要再问：请到时再试。",
        broke_off="回答中断了。",
        still_working="模型仍在工作。请等它结束，或将其停止。",
        compaction_stopped="压缩已停止。没有任何改动。",
        too_much="上下文需要约 {needed} 个 token，而预算是 {budget}。不能省略的有：{largest}。",
        prompt_and_tools="系统提示和工具，约 {tokens}",
        repaired="{reason}修复后再发送一次：{what}。",
        without_odd="去掉并非所有服务方都认识的内容（{what}）",
        shorter_answers="回答最多 {tokens} 个 token",
        strategy_failed="策略 {name} 失败，已改用滑动窗口：{reason}",
        strategy_slow="用时过长。",
    ),
}


_TOOLS: dict[Lang, ToolPhrases] = {
    "en": ToolPhrases(
        no_tool="There is no tool {name}. Use: {names}.",
        opened="Opened {id}.",
        still_opening="{id} is still opening; it can be acted on once it has opened. "
        "If it fails, you are told with the next step.",
        takes="{name} takes an object with: {expected}.",
        optional=", optional",
        missing="{name} is missing",
        unknown="there is no {name}",
        wrong_type="{name} must be of type {type}",
        problems="{name}: {problems}. It takes: {expected}.",
        no_folder="There is no folder to read files of.",
        no_line="{path} has no line {line}.",
        empty_file="(empty)",
        more_lines="… more from line {line} on",
        not_closed="The call was not closed. Write {form}.",
        not_readable="The call cannot be read. Write {form}.",
        failed="failed",
        would_write="it would write {target}{counts}",
        would_delete="it would delete {target}{counts}",
        would_run="it would run {target}",
        would_read="it would read {target}, which may hold secrets",
        would_close="it would give up unsaved edits of the person: {target}{counts}",
        writes="it writes",
        read_only="{name} was not carried out: {what}, and the approval mode is read-only.",
        nobody_to_ask="{name} was not carried out: {what}, and there is nobody to ask. "
        "The person can allow it with --approval auto.",
        unsaved_edits="{name} was not carried out: {what}, and there is nobody to ask. "
        "Save them first.",
        may_hold_secrets="{path} may hold secrets. Its content would go to the model.",
        not_done="{name} was not carried out: {reason}",
        nothing_to_do="There is nothing to do.",
        declined="{name} was not carried out: the person declined.",
        they_say="{declined} They say: {words}",
        no_result="There is no result of this call.",
        left_out_before="(The conversation before this was left out.)",
    ),
    "zh": ToolPhrases(
        no_tool="没有工具 {name}。可用的有：{names}。",
        opened="已打开 {id}。",
        still_opening="{id} 仍在打开，打开之后才能操作。如果失败，会在下一步告知。",
        takes="{name} 接受一个对象，包含：{expected}。",
        optional="，可省略",
        missing="缺少 {name}",
        unknown="没有 {name}",
        wrong_type="{name} 的类型必须是 {type}",
        problems="{name}：{problems}。它接受：{expected}。",
        no_folder="没有可以读取文件的文件夹。",
        no_line="{path} 没有第 {line} 行。",
        empty_file="（空）",
        more_lines="… 从第 {line} 行起还有更多",
        not_closed="调用没有结束标签。请写 {form}。",
        not_readable="无法读取这个调用。请写 {form}。",
        failed="失败",
        would_write="它会写入 {target}{counts}",
        would_delete="它会删除 {target}{counts}",
        would_run="它会运行 {target}",
        would_read="它会读取可能含有机密的 {target}",
        would_close="它会丢弃用户未保存的编辑：{target}{counts}",
        writes="它会写入",
        read_only="{name} 没有执行：{what}，而批准模式是只读。",
        nobody_to_ask="{name} 没有执行：{what}，而这里没有人可以询问。"
        "用户可以用 --approval auto 允许它。",
        unsaved_edits="{name} 没有执行：{what}，而这里没有人可以询问。请先保存。",
        may_hold_secrets="{path} 可能含有机密。它的内容会发送给模型。",
        not_done="{name} 没有执行：{reason}",
        nothing_to_do="没有要做的事。",
        declined="{name} 没有执行：用户拒绝了。",
        they_say="{declined}他们说：{words}",
        no_result="这个调用没有结果。",
        left_out_before="（此前的对话已省略。）",
    ),
}


def of(lang: Lang) -> Phrases:
    """Return the loop's texts in a language."""
    return _ALL[lang]


def too_much(error: ContextTooLargeError, lang: Lang) -> str:
    """Return the error message for a context that does not fit the budget."""
    return _ALL[lang].too_much.format(
        needed=error.needed, budget=error.budget, largest="; ".join(error.largest)
    )


def of_tools(lang: Lang) -> ToolPhrases:
    """Return the texts about tool calls in a language."""
    return _TOOLS[lang]


NUDGES = frozenset(nudge for one in _ALL.values() for nudge in (one.empty, one.call_cut, one.go_on))
"""Messages that the loop sends to the model within a turn, in any language."""
