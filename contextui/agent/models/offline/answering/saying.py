"""What the model says, in both languages. It tells what was done in the words of the results."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from contextui.agent.models.offline.meaning.matching import Meaning
from contextui.agent.models.offline.reading.words import is_chinese
from contextui.agent.models.offline.shown.blocks import ClassView, WindowView
from contextui.agent.models.offline.shown.scene import Call
from contextui.text import one_line
from contextui.words import Lang

_LINES, _WIDTH = 40, 200  # of a result or a content that are told


@dataclass(frozen=True, slots=True)
class Phrases:
    """Sentences with places for what they are about."""

    done: str
    failed: str
    greeting: str
    example: str
    example_list: str
    welcome: str
    bye: str
    dropped: str
    identity: str
    able: str
    try_it: str
    none_open: str
    open_windows: str
    empty: str
    shows: str
    count: str
    there_is: str
    there_is_not: str
    is_not: str
    which_window: str
    which_action: str
    which_item: str
    missing: str
    not_understood: str
    limits: str
    try_asking: str
    cannot_take_back: str
    one_at_a_time: str
    nearest: str
    not_gone_on: str
    nothing_left: str
    nothing_done: str
    was_stopped: str
    left_out: str
    connect: str
    cannot_tell: str
    no_tools: str
    more: str
    actions: str
    nothing_said: str


_ALL: dict[Lang, Phrases] = {
    "en": Phrases(
        done="Done: {0}",
        failed="That did not work: {0}",
        greeting="Hello! I am the small offline model: I open windows and carry out their actions. "
        "Try “{0}”, or ask “what can you do?”.",
        example="open {0}",
        example_list="open {0} with milk and eggs",
        welcome="You are welcome.",
        bye="Goodbye.",
        dropped="All right, I leave it.",
        identity="I am the small offline model of contextui. I know no facts and write no texts: I "
        "match your words to the windows and their actions. {0}",
        able="I am the small offline model: I open windows, carry out their actions and tell what "
        "they show. These can be opened:\n{0}",
        try_it="Try “{0}”, and then say what to do with it.",
        none_open="No window is open.",
        open_windows="Open are:\n{0}",
        empty="{0} shows nothing yet.",
        shows="{0} shows:\n{1}",
        count="{0} in {1}: {2}",
        there_is="Yes, in {0}: {1}",
        there_is_not="No, {0} does not show “{1}”.",
        is_not="No, in {0}: {1}",
        which_window="Which one do you mean: {0}?",
        which_action="Do you mean {0}?",
        which_item="Several fit: {0}. Which one do you mean?",
        missing="For “{0}” of {1} I still need: {2}. What should it be?",
        not_understood="I cannot do that: “{0}”.",
        limits="I am the small offline model, and know only what the windows declare.",
        try_asking="Ask “what can you do?” to see what there is.",
        cannot_take_back="I cannot take that back: no window has an action for it.",
        one_at_a_time="I can take back one thing at a time, the last one first. Say “undo that”.",
        nearest="The nearest that I could do: {0}.",
        not_gone_on="After that I did not go on with: “{0}”.",
        nothing_left="Nothing is left to do. This came last:\n{0}",
        nothing_done="Nothing is left to do: I have done nothing yet.",
        was_stopped="I was stopped there, and do not know what is left. Say what is still to be "
        "done. This came last:\n{0}",
        left_out="I did not understand this part: “{0}”.",
        connect="For a real model, set ANTHROPIC_API_KEY, or ANTHROPIC_BASE_URL for one of your "
        "own.",
        cannot_tell="No open window tells me that. I am the small offline model, and know only "
        "what the windows show.",
        no_tools="I am the small offline model and cannot act here: this request has no tools.",
        more="… {0} more",
        actions="{0} can: {1}.",
        nothing_said="I heard no words.",
    ),
    "zh": Phrases(
        done="完成：{0}",
        failed="没有成功：{0}",
        greeting="你好！我是小型离线模型：可以打开窗口并执行它们的操作。试试“{0}”，或者问“你能做什么”。",
        example="打开 {0}",
        example_list="打开 {0}：牛奶、鸡蛋",
        welcome="不客气。",
        bye="再见。",
        dropped="好的，那就不做了。",
        identity="我是 contextui 的小型离线模型。我没有知识，也不会写文章，只会把你的话对应到窗口和"
        "它们的操作。{0}",
        able="我是小型离线模型：可以打开窗口、执行它们的操作，并说出它们显示的内容。可以打开：\n{0}",
        try_it="试试“{0}”，然后说要做什么。",
        none_open="没有打开的窗口。",
        open_windows="已打开：\n{0}",
        empty="{0} 还没有内容。",
        shows="{0} 显示：\n{1}",
        count="{1} 中有 {0} 项：{2}",
        there_is="有，在 {0} 中：{1}",
        there_is_not="没有，{0} 中没有“{1}”。",
        is_not="不是，在 {0} 中：{1}",
        which_window="你指的是哪一个：{0}？",
        which_action="你指的是 {0} 吗？",
        which_item="有几项符合：{0}。你指的是哪一个？",
        missing="要执行 {1} 的“{0}”还需要：{2}。应该是什么？",
        not_understood="我无法做到“{0}”。",
        limits="我是小型离线模型，只认识窗口声明的内容。",
        try_asking="问“你能做什么”，就知道有哪些窗口。",
        cannot_take_back="这个我无法撤回：没有窗口提供这样的操作。",
        one_at_a_time="我只能一步一步撤回，从最后一步开始。请说“撤销”。",
        nearest="我能做的最接近的是：{0}。",
        not_gone_on="之后没有继续：“{0}”。",
        nothing_left="没有剩下要做的了。上一步是：\n{0}",
        nothing_done="没有剩下要做的：我还什么都没做。",
        was_stopped="我在那里被停下了，不知道还剩什么。请说还要做什么。上一步是：\n{0}",
        left_out="这部分我没有看懂：“{0}”。",
        connect="要使用真正的模型，请设置 ANTHROPIC_API_KEY，或用 ANTHROPIC_BASE_URL 指向"
        "你自己的模型。",
        cannot_tell="打开的窗口没有告诉我这个。我是小型离线模型，只知道窗口显示的内容。",
        no_tools="我是小型离线模型，在这里无法操作：这个请求没有工具。",
        more="… 还有 {0} 行",
        actions="{0} 可以：{1}。",
        nothing_said="我没有听到任何话。",
    ),
}


_CHINESE, _ENGLISH = re.compile("[\u4e00-\u9fff]"), re.compile("[A-Za-z]+")

LANGUAGES: tuple[Lang, ...] = ("en", "zh")
"""The languages that it speaks."""


def phrases(lang: Lang) -> Phrases:
    """The sentences of a language."""
    return _ALL[lang]


def language(words: str, system: str) -> Lang:
    """The person's language; where their words have none, that of the system prompt.

    An English wish may name things in Chinese, and the other way round: what most of it is counts.
    """
    head, at_home = words[:1_000], is_chinese(system[:500])
    chinese, english = len(_CHINESE.findall(head)), len(_ENGLISH.findall(head))
    if chinese and (at_home or chinese >= english):
        return "zh"
    return "en" if any(char.isalpha() for char in head) or not at_home else "zh"


def outcome(call: Call, lang: Lang) -> str:
    """What came of a call, in the tool's own words."""
    if call.ok and call.tool == "read_file":
        return f"{one_line(str(call.input.get('path')), _WIDTH)}:{_as_it_stands(call.result, lang)}"
    text = told(call.result.splitlines(), lang, "")
    text = f"\n{text}" if "\n" in text else text
    say = phrases(lang).done if call.ok else phrases(lang).failed
    return say.format("").rstrip() + text if "\n" in text else say.format(text)


def outcomes(calls: Sequence[Call], lang: Lang) -> list[str]:
    """What came of calls; what was done in a row is told in one paragraph."""
    found = list[str]()
    done = phrases(lang).done.format("")
    for call in calls:
        text = outcome(call, lang)
        goes_on = bool(found) and found[-1].startswith(done) and text.startswith(done)
        if goes_on and len(text) <= _WIDTH:
            found[-1] += f"\n{text.removeprefix(done)}"
        else:
            found.append(text)
    return found


def _as_it_stands(text: str, lang: Lang) -> str:
    """A file's lines with their indents, marked as what is not words of the model's own."""
    lines = [line.rstrip()[:_WIDTH] for line in text.splitlines()]
    if not any(lines):
        return " –"
    fence = "`" * (1 + max(map(len, ["``", *re.findall("`+", text)])))
    rest = [phrases(lang).more.format(len(lines) - _LINES)] * (len(lines) > _LINES)
    return "\n".join(["", fence, *lines[:_LINES], fence, *rest])


def told(lines: Iterable[str], lang: Lang, bullet: str = "- ") -> str:
    """Lines as they can be told: inert, and not too many."""
    shown = [one_line(line, _WIDTH) for line in lines if line.strip()]
    more = len(shown) - _LINES
    kept = [f"{bullet}{line}" for line in shown[:_LINES]]
    return "\n".join(kept + [phrases(lang).more.format(more)] * (more > 0))


def window_line(window: WindowView) -> str:
    """A window in one line."""
    first = one_line(window.text, 60)
    return f"{window.id} ({one_line(window.description, 80)}){f': {first}' if first else ''}"


def class_lines(classes: Sequence[ClassView], lang: Lang) -> str:
    """Classes, one to a line."""
    return told((f"{one.name}: {_first_sentence(one.description)}" for one in classes), lang)


def _first_sentence(text: str) -> str:
    return re.split(r"(?<=[.。])\s|[;；]\s", text, maxsplit=1)[0]


def offer(meaning: Meaning) -> str:
    """What a meaning would do."""
    if meaning.window is None:
        return f"create {meaning.action.id}"
    label = one_line(meaning.action.label, 60)
    return f"{meaning.window.id}.{meaning.action.id} ({label})"
